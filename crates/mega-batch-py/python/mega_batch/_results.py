"""Results of runs: as columns, one by one, and as reports."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, SupportsIndex, final, overload

import numpy as np
from numpy.typing import NDArray

from . import _tables
from ._arguments import integer, place, same
from ._engine import VERDICTS, EvalError, Program, Task, _Errors, _padded, _Subject
from .typing import VerdictName

_MAX_SIDE = 30
"""The most rows and columns of a grid of ARC."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """The result of one evaluation. It can be pickled, is hashable, and equals results that differ at most in the
    time."""

    program: int
    """The index of the program."""
    task: int
    """The index of the task."""
    split: Literal["train", "test", "other"]
    pair: int
    """The index of the pair in its split of the task."""
    verdict: VerdictName
    seconds: float
    """How long it took."""
    cells_right: int | None
    """How many cells are as expected; None without `scores` and without an output."""
    hash: int | None
    """The hash of the output; None without `scores` and without an output."""
    error: EvalError | None
    """Why there is no output, or None."""
    output: NDArray[np.int8] | None
    """The output; None without `outputs` and if it is not a grid."""

    def _facts(self) -> tuple[object, ...]:
        at = (self.program, self.task, self.split, self.pair)
        return (*at, self.verdict, self.cells_right, self.hash, self.error)

    def __eq__(self, other: object, /) -> bool:
        return isinstance(other, Result) and self._facts() == other._facts() and same(self.output, other.output)

    def __hash__(self) -> int:
        return hash(self._facts())

    def __repr__(self) -> str:
        error = "" if self.error is None else f": {self.error.message}"
        at = f"program {self.program} on task {self.task}, {self.split}[{self.pair}]"
        return f"<Result of {at}: {self.verdict}{error}>"


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Results:
    """Results of evaluations as flat arrays, one element per evaluation, in the order of the batch: by program, then
    by task, then by pair. Also a sequence of Result.

    They can be pickled, and equal results that differ at most in times; they are not hashable, since arrays can be
    changed.
    """

    programs: NDArray[np.uint32]
    """The index of the program."""
    tasks: NDArray[np.uint32]
    """The index of the task."""
    splits: NDArray[np.uint8]
    """0 for a train pair, 1 for a test pair, 2 for one of another split."""
    pairs: NDArray[np.uint32]
    """The index of the pair in its split of the task."""
    verdicts: NDArray[np.uint8]
    """The index of the verdict in `VERDICTS`, a `Verdict`."""
    seconds: NDArray[np.float64]
    """How long the evaluation took."""
    cells_right: NDArray[np.int32] | None
    """How many cells are as expected, -1 without an output; None without `scores`."""
    hashes: NDArray[np.uint64] | None
    """Of shape (n, 2): the hash of the output, its upper and its lower half; None without `scores`. Equal for equal
    grids in every run; 0 for an output that is not a grid, and without an output."""
    error_kinds: NDArray[np.uint8]
    """The index of the error in `ERROR_KINDS`, 0 if there is none."""
    error_lines: NDArray[np.int32]
    """The line on which the program failed, 0 if there is none."""
    error_primitives: NDArray[np.int16]
    """The index of the primitive that failed in `PRIMITIVES`, -1 if there is none."""
    cells: NDArray[np.int8] | None
    """The cells of all outputs, one after the other; None without `outputs`."""
    offsets: NDArray[np.int64] | None
    """Of length n + 1: where each output begins and ends in `cells`; None without `outputs`."""
    shapes: NDArray[np.int32] | None
    """Of shape (n, 2): rows and columns of each output, -1 if it is not a grid; None without `outputs`."""
    _errors: _Errors

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.verdicts)

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Result: ...
    @overload
    def __getitem__(self, at: slice, /) -> Results: ...
    def __getitem__(self, at: SupportsIndex | slice, /) -> Result | Results:
        """The result at an index, counted from the end if it is negative; for a slice new Results."""
        return self._sliced(at) if isinstance(at, slice) else self._result(place(at, "result", len(self)))

    def __iter__(self) -> Iterator[Result]:
        return map(self._result, range(len(self)))

    def _result(self, at: int) -> Result:
        cells_right = hash_ = None
        if self.cells_right is not None and self.hashes is not None and self.cells_right[at] >= 0:
            cells_right = self.cells_right.item(at)
            hash_ = self.hashes.item(at, 0) << 64 | self.hashes.item(at, 1)
        return Result(
            self.programs.item(at),
            self.tasks.item(at),
            _tables.SPLITS[self.splits[at]],
            self.pairs.item(at),
            VERDICTS[self.verdicts[at]],
            self.seconds.item(at),
            cells_right,
            hash_,
            self._errors.get(at),
            self._output(at),
        )

    def _output(self, at: int) -> NDArray[np.int8] | None:
        if self.cells is None or self.offsets is None or self.shapes is None or self.shapes[at, 0] < 0:
            return None
        return self.cells[self.offsets[at] : self.offsets[at + 1]].reshape(self.shapes[at]).copy()

    def _columns(self) -> dict[str, NDArray[Any] | None]:
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "_errors"}

    def _sliced(self, part: slice) -> Results:
        columns: dict[str, Any] = {
            name: None if column is None else column[part].copy() for name, column in self._columns().items()
        }
        if self.cells is not None and self.offsets is not None:
            begins, ends = self.offsets[:-1][part], self.offsets[1:][part]
            outputs = [self.cells[begin:end] for begin, end in zip(begins, ends, strict=True)]
            columns["cells"] = np.concatenate([self.cells[:0], *outputs])
            columns["offsets"] = np.concatenate([self.offsets[:1], np.cumsum(ends - begins)])
        places = enumerate(range(len(self))[part])
        errors = {number: error for number, at in places if (error := self._errors.get(at)) is not None}
        return Results(**columns, _errors=_Errors(errors))

    def padded(
        self, side: int = 30, fill: int = 0, drop_foreign: bool = False
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """The outputs as an array of int8 of shape (n, side, side), each at the top left of its square and surrounded
        by `fill`, and a mask of bool of the same shape, True where the output has a cell.

        The square is all `fill` and its mask empty if there is no output, it is not a grid, or it has more rows or
        columns than `side`; with `drop_foreign` also if it has colours other than 0 to 9. Raises ValueError without
        `outputs` and for a side that is not from 1 to 1024, MemoryError if there is not enough memory.
        """
        return _padded(self.cells, self.offsets, self.shapes, side, fill, drop_foreign)

    @property
    def too_large(self) -> NDArray[np.bool_]:
        """Which outputs have more than 30 rows or columns. Raises ValueError without `outputs`."""
        if self.shapes is None:
            raise ValueError("too_large: expected results of a run with outputs=True")
        large: NDArray[np.bool_] = self.shapes.max(axis=1) > _MAX_SIDE
        return large

    @property
    def foreign(self) -> NDArray[np.bool_]:
        """Which outputs have colours other than 0 to 9. Raises ValueError without `outputs`."""
        if self.cells is None or self.offsets is None:
            raise ValueError("foreign: expected results of a run with outputs=True")
        cells = np.flatnonzero((self.cells < 0) | (self.cells > 9))
        foreign = np.zeros(len(self), dtype=np.bool_)
        foreign[np.searchsorted(self.offsets, cells, side="right") - 1] = True
        return foreign

    def to_arrow(self, *, drop_unfit: bool = False) -> Any:
        """The results as a `pyarrow.Table`, one row per evaluation: "program", "task", "split", "pair", "verdict",
        "seconds", "error_kind", "error_line" and "error_primitive" (null if there is none); with `scores`
        "cells_right" and "hash" (32 hexadecimal digits); with `outputs` "height", "width", "too_large", "foreign" and
        "output", a list of lists of int8 (null if there is none).

        `drop_unfit` leaves out the rows whose output has more than 30 rows or columns or colours other than 0 to 9,
        which needs `outputs`. Raises ImportError, which names the extra, without pyarrow.
        """
        return _tables.arrow(self, {}, drop_unfit)

    def to_pandas(self, *, drop_unfit: bool = False) -> Any:
        """The results as a `pandas.DataFrame`, with the columns of `to_arrow`; an output is a list of its rows, arrays
        of int8, or None. Raises ImportError, which names the extra, without pandas."""
        return _tables.pandas(self, {}, drop_unfit)

    def error(self, at: int) -> EvalError | None:
        """The EvalError of the evaluation at this index, or None."""
        return self._errors.get(integer("at", at))

    def __eq__(self, other: object, /) -> bool:
        if not isinstance(other, Results) or self._errors != other._errors:
            return False
        others = other._columns()
        return all(name == "seconds" or same(column, others[name]) for name, column in self._columns().items())

    def __repr__(self) -> str:
        return f"<Results of {len(self)} evaluations>"


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report:
    """The results of a run: its counts, and the results of all evaluations, unless a callback took them.

    `len(report)` and `report[i]` are those of `report.results`. It can be pickled, and equals reports of the same
    programs and tasks that differ at most in times and `backends`; like its results it is not hashable.
    """

    _subject: _Subject
    evaluations: int
    """How many evaluations were run."""
    right: int
    """Evaluations that gave the expected output."""
    wrong: int
    """Evaluations that gave another output."""
    no_expected: int
    """Evaluations whose expected output is not known."""
    errors: int
    """Evaluations that failed."""
    limits: int
    """Evaluations that reached a limit."""
    planned: int
    """How many evaluations the batch has."""
    skipped: int
    """How many evaluations were skipped after a wrong pair, with `stop_after_wrong`."""
    tasks_solved: int
    """How many tasks have a program that is right on every pair whose output is known."""
    pairs_right: int
    """On how many pairs at least one program is right."""
    pairs_expected: int
    """How many pairs of the tasks that were tried have a known output."""
    _states: list[Literal["solved", "unsolved", "untried"]]
    seconds: float = field(compare=False)
    """Seconds of evaluating and compiling, by the clock."""
    _backends: str = field(compare=False)
    results: Results
    """The results as arrays."""

    __hash__: ClassVar[None]  # type: ignore[assignment]

    @property
    def programs(self) -> list[Program]:
        """The programs, indexed by `Results.programs`."""
        return self._subject.programs

    @property
    def tasks(self) -> list[Task]:
        """The tasks, indexed by `Results.tasks`."""
        return self._subject.tasks

    @property
    def complete(self) -> bool:
        """Whether the run finished: it was not cancelled, and its time was not over."""
        return self.evaluations + self.skipped == self.planned

    @property
    def task_states(self) -> list[tuple[str, Literal["solved", "unsolved", "untried"]]]:
        """"solved", "unsolved" or "untried", by task id."""
        return [(task.id, state) for task, state in zip(self.tasks, self._states, strict=True)]

    @property
    def evaluations_per_second(self) -> float:
        """Evaluations per second; 0 if there are none."""
        return self.evaluations / self.seconds if self.seconds > 0 else 0.0

    @property
    def backends(self) -> dict[str, Any]:
        """What the backends did: the object `backend` of the command's JSON document."""
        found: dict[str, Any] = json.loads(self._backends)
        return found

    def _names(self) -> dict[str, NDArray[Any]]:
        programs = np.array([program.name for program in self.programs], dtype=object)
        tasks = np.array([task.id for task in self.tasks], dtype=object)
        return {"program_name": programs[self.results.programs], "task_id": tasks[self.results.tasks]}

    def to_arrow(self, *, drop_unfit: bool = False) -> Any:
        """The results as a `pyarrow.Table`, as from `Results.to_arrow`, with "program_name" and "task_id" before its
        columns. Empty if a callback took the results."""
        return _tables.arrow(self.results, self._names(), drop_unfit)

    def to_pandas(self, *, drop_unfit: bool = False) -> Any:
        """The results as a `pandas.DataFrame`, with the columns of `to_arrow`."""
        return _tables.pandas(self.results, self._names(), drop_unfit)

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Result: ...
    @overload
    def __getitem__(self, at: slice, /) -> Results: ...
    def __getitem__(self, at: SupportsIndex | slice, /) -> Result | Results:
        return self.results[at]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __eq__(self, other: object, /) -> bool:
        names = [each.name for each in fields(self) if each.compare]
        return isinstance(other, Report) and all(getattr(self, name) == getattr(other, name) for name in names)

    def __repr__(self) -> str:
        return f"<Report: {self._line()}>"

    def __str__(self) -> str:
        return (
            f"{self._line()}\nright {self.right}  wrong {self.wrong}  without expected output {self.no_expected}  "
            f"errors {self.errors}  limits {self.limits}"
        )

    def _repr_html_(self) -> str:
        rows = {
            "tasks solved": f"{self.tasks_solved} of {len(self._states)}",
            "pairs right": f"{self.pairs_right} of {self.pairs_expected}",
            "evaluations": self.evaluations,
            "right": self.right,
            "wrong": self.wrong,
            "without expected output": self.no_expected,
            "errors": self.errors,
            "limits": self.limits,
            "seconds": f"{self.seconds:.3f}",
        }
        cells = (f"<tr><th>{name}</th><td>{count}</td></tr>" for name, count in rows.items())
        return f"<table>{''.join(cells)}</table>"

    def _line(self) -> str:
        return (
            f"{self.tasks_solved} of {len(self._states)} tasks solved, {self.pairs_right} of {self.pairs_expected} pairs "
            f"right, {self.evaluations} evaluations in {self.seconds:.3f} s{'' if self.complete else ', incomplete'}"
        )


_LOGGER = logging.getLogger("mega_batch")


def logged(**of: Any) -> Report:
    """The report of a run that has ended just now, which is logged."""
    report = Report(**of)
    if _LOGGER.isEnabledFor(logging.INFO):
        _LOGGER.info("%s", report._line())
    return report
