"""What the engine returns: plain data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from ._arguments import place, same, warn_of_old_name
from ._engine import Batt, EvalError, Node, Program, Task, _augmented, _checked, _drawn, _Errors, _Subject, _unpickled
from ._results import Report, Result, Results
from .typing import Value


@final
@dataclass(frozen=True, slots=True)
class Device:
    """A device that can evaluate programs. It can be pickled, is hashable, and compares by value."""

    kind: Literal["cpu", "gpu", "emulated", "interpreted"]
    name: str
    """Its name; empty for a GPU that cannot be used."""
    units: int
    """Threads of the CPU; multiprocessors of a GPU."""
    memory: int
    """Total memory in bytes, 0 if not known."""
    unavailable: str | None
    """Why it cannot be used, or None."""

    def __repr__(self) -> str:
        why = "" if self.unavailable is None else f": {self.unavailable}"
        return f"<Device {self.kind} {self.name}{why}>"


@final
@dataclass(frozen=True, slots=True, eq=False)
class TraceStep:
    """A step of a trace: its line, the variable that it sets, the type of its value if it has one, and the value or the
    EvalError with which the program ended. It can be pickled, and compares by value; it is not hashable, since the
    value may be an array."""

    line: int
    """The line in the text of the program."""
    name: str
    """The variable."""
    call: str
    """The call, as text."""
    type: str | None
    """The type of the value, or None."""
    value: Value | EvalError

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __eq__(self, other: object, /) -> bool:
        if not isinstance(other, TraceStep):
            return False
        mine, others = ((step.line, step.name, step.call, step.type) for step in (self, other))
        if isinstance(self.value, np.ndarray) and isinstance(other.value, np.ndarray):
            return mine == others and same(self.value, other.value)
        is_array = isinstance(self.value, np.ndarray) or isinstance(other.value, np.ndarray)
        return mine == others and not is_array and self.value == other.value

    def __repr__(self) -> str:
        return f"line {self.line}: {self.name} = {self.call}: {self.type or '?'} = {self.value!r}"


@final
@dataclass(frozen=True, slots=True)
class Enumerated:
    """An enumerated value of one kind."""

    node: Node
    """The node of the enumeration's Batt, which has its values, type and program."""
    kind: str
    """Its kind, a type or a refinement of one, such as "grid", "colour" or "object->number"."""
    cost: int
    """Its cost: with `by="size"` the number of operations."""

    def __repr__(self) -> str:
        return f"<Enumerated node {self.node.index}: {self.kind}, cost {self.cost}>"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Enumeration:
    """The result of an enumeration: a sequence of Enumerated, the cheapest first."""

    batt: Batt
    """The Batt that holds all values; it can be extended."""
    _values: list[tuple[Node, str, int]]
    stopped: Literal["nodes", "calls", "memory", "time", "exhausted"]
    """Why it ended; "exhausted" if nothing is left."""
    calls: int
    """How many calls were tried."""
    finished_cost: int
    """The greatest cost whose calls were all tried."""

    @property
    def whole_cost(self) -> int:
        """The old name of `finished_cost`."""
        warn_of_old_name("Enumeration.whole_cost", "finished_cost")
        return self.finished_cost

    def of(self, kind: str) -> list[Enumerated]:
        """The values of a kind."""
        return [Enumerated(*value) for value in self._values if value[1] == kind]

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: SupportsIndex, /) -> Enumerated:
        return Enumerated(*self._values[place(at, "value", len(self))])

    def __iter__(self) -> Iterator[Enumerated]:
        return (Enumerated(*value) for value in self._values)

    def __repr__(self) -> str:
        return f"<Enumeration of {len(self)} values by {self.calls} calls, ended by {self.stopped}>"


@final
@dataclass(frozen=True, slots=True)
class Attempt:
    """A program that is right on train pairs. It can be pickled, is hashable, and compares by value."""

    fits: int
    """The number of train pairs on which it is right."""
    kind: Literal["chain", "stack", "partly"]
    """"chain", one layer that is right on all train pairs, "stack", several layers, or "partly"."""
    score: float
    """Its score by the ranker."""
    cost: int
    """The greatest cost of a piece."""
    text: str
    """The program as text."""
    outputs: list[NDArray[np.int8]] = field(compare=False)
    """The output for each test pair."""
    _train: int
    _json: str

    @property
    def program(self) -> Program:
        """The program."""
        return Program.parse(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, ("Attempt", (self._json, self._train))

    def __repr__(self) -> str:
        return f"<Attempt, {self.kind}, right on {self.fits} of {self._train} train pairs>"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The result of a search for one task. It can be pickled, and equals results that differ at most in times and
    bytes; it is not hashable."""

    task: Task
    index: int
    """The index of the task."""
    state: Literal["solved", "fits", "partly", "nothing"]
    """"solved" if the test outputs are known and one of the first two answers to each is right, "fits" if an attempt
    is right on all train pairs, "partly", or "nothing"."""
    failure: str | None
    """Why the task could not be searched, or None."""
    attempts: list[Attempt]
    """The attempts, the best one first."""
    answers: list[list[NDArray[np.int8]]]
    """For each test pair the answers, the best first."""
    nodes: int
    """How many values were kept."""
    calls: int
    """How many calls were tried."""
    seconds: float
    """How long it took."""
    _json: str

    __hash__: ClassVar[None]  # type: ignore[assignment]

    @property
    def counts(self) -> tuple[int, int]:
        """The old name of `nodes` and `calls`."""
        warn_of_old_name("Searched.counts", "nodes and calls")
        return self.nodes, self.calls

    def _facts(self) -> tuple[object, ...]:
        return self.index, self.task, json.loads(self._json) | {"seconds": 0, "bytes": 0}

    def __eq__(self, other: object, /) -> bool:
        return isinstance(other, Searched) and self._facts() == other._facts()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, ("Searched", (self._json, self.task, self.index))

    def __repr__(self) -> str:
        return f"<Searched {self.task.id}: {self.state}, {len(self.attempts)} attempts>"


@final
@dataclass(frozen=True, slots=True)
class SynthTask:
    """A task with the program that computes its outputs.

    `SynthTask(task, program=None)` wraps a given task and its solver, to be augmented or written. It can be pickled
    and is hashable.
    """

    task: Task
    """The task; its id is a hash of its program and its pairs."""
    program: Program | None = None
    """The program, named `solve_` and the task's id, or None."""
    kind: str | None = field(default=None, kw_only=True)
    """How the program was generated: "program", "mutant", "variation", "composition" or "crossover"; None if it was
    not generated."""
    parents: Sequence[str] = field(default=(), kw_only=True)
    """The names of the programs that it was derived from."""
    behaviour: str | None = field(default=None, kw_only=True)
    """32 hexadecimal digits: a hash of the program's outputs, equal for programs that are taken to behave alike, in
    every run of one version; None if the task was not generated."""
    candidate: int | None = field(default=None, kw_only=True)
    """The number of its candidate, within the seed."""
    augmented_from: str | None = field(default=None, kw_only=True)
    """The id of the task that it was augmented from, or None."""

    def __post_init__(self) -> None:
        parents, candidate = _checked(
            self.task, self.program, self.kind, self.parents, self.behaviour, self.candidate, self.augmented_from
        )
        object.__setattr__(self, "parents", parents)
        object.__setattr__(self, "candidate", candidate)

    def __hash__(self) -> int:
        return hash((self.task, self.program, self.kind, self.behaviour, self.candidate, self.augmented_from))

    @property
    def id(self) -> str:
        """The id of the task."""
        return self.task.id

    def to_dict(self) -> dict[str, Any]:
        """The task in the form of the public data, with "id", "program" (text), "kind", "parents", "behaviour" and
        "augmented_from" besides "train" and "test"."""
        return {
            "id": self.id,
            **self.task.to_dict(),
            "program": None if self.program is None else str(self.program),
            "kind": self.kind,
            "parents": [*self.parents],
            "behaviour": self.behaviour,
            "augmented_from": self.augmented_from,
        }

    def augmented(
        self, *, symmetry: str = "identity", colours: Sequence[int] | None = None, order: Sequence[int] | None = None
    ) -> SynthTask:
        """The same task transformed, in other colours and with another order of pairs, with a program that computes
        these outputs: it undoes the changes, does what the program did, and redoes them.

        `symmetry` is "identity", "rot90", "rot180", "rot270", "hmirror", "vmirror", "dmirror" or "cmirror". `colours`
        is a permutation of 0 to 9; other colours stay. `order` lists the indices of pairs in their new order, those
        of train first: the number of train pairs stays the same, and a test pair whose output is not known must stay
        one.

        Raises ValueError for invalid arguments.
        """
        task, program = _augmented(self.task, self.program, symmetry, colours, order)
        train = len(self.task.train)
        pairs = self.task.train + self.task.test
        for at in (order or ())[:train]:
            if at >= train and pairs[at].output is None:
                raise ValueError(
                    f"order: the output of pair {at} is not known: expected it behind the {train} train pairs"
                )
        return replace(self, task=task, program=program, augmented_from=self.id)

    def _drawn(
        self, seed: int, number: int, symmetries: bool, colours: bool, order: bool, fixed: Sequence[int]
    ) -> SynthTask:
        """The augmentation of this number, as `augment` draws them."""
        task, program = _drawn(self.task, self.program, seed, number, symmetries, colours, order, fixed)
        return replace(self, task=task, program=program, augmented_from=self.id)

    def __repr__(self) -> str:
        of = f" by a {self.kind}" if self.kind else ""
        if self.augmented_from is not None:
            of = f" augmented from {self.augmented_from}"
        return f"<SynthTask {self.id} of {len(self.task.train)} train and {len(self.task.test)} test pairs{of}>"

    def _repr_html_(self) -> str:
        return self.task._repr_html_()


def unpickled(name: str, state: Any) -> Any:
    """An object that an earlier version has pickled, by the name of its class."""
    match name:
        case "Device":
            return Device(*state)
        case "TraceStep":
            return TraceStep(*state)
        case "Result":
            return Result(*state)
        case "Results":
            columns, errors = state
            return Results(**columns, _errors=_Errors({at: _unpickled("EvalError", error) for at, error in errors}))
        case "Report":
            programs, tasks, counts, *others = state
            return Report(_Subject(programs, tasks), *counts, *others)
        case "SynthTask":
            task, program, kind, parents, behaviour, candidate, augmented_from = state
            return SynthTask(
                task,
                program,
                kind=kind,
                parents=parents,
                behaviour=behaviour,
                candidate=candidate,
                augmented_from=augmented_from,
            )
    raise ValueError(f'"{name}": another version of mega_batch pickled this')
