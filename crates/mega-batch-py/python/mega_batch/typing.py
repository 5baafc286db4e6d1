"""Types of arguments and results, for annotations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict, Union

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._engine import Function, Pair, Program, Task


class HasArray(Protocol):
    """Anything with `__array__`: a `Grid`, a tensor of another library."""

    def __array__(self) -> NDArray[Any]: ...


Row: TypeAlias = Union[Sequence[SupportsIndex], NDArray[np.integer[Any]]]

GridLike: TypeAlias = Union[Sequence[Row], NDArray[np.integer[Any]], HasArray]
"""A list or tuple of rows, or an array of integers of shape (rows, columns): up to 1,000,000 cells, colours from -128
to 127. Anything else raises TypeError or ValueError with the place."""

PairLike: TypeAlias = Union["Pair", Mapping[str, Any], Sequence[Union[GridLike, None]]]
"""A Pair, a dict with "input" and "output", or a tuple or list of both."""

_Text: TypeAlias = Union[str, "Program", PathLike[str]]
_ByTask: TypeAlias = Mapping[str, Union[_Text, Sequence[_Text]]]


class _OfPandas(Protocol):
    def iterrows(self) -> Any: ...


class _OfPolars(Protocol):
    def to_dicts(self) -> Any: ...


class _OfArrow(Protocol):
    def to_pylist(self) -> Any: ...


_Table: TypeAlias = Union[_OfPandas, _OfPolars, _OfArrow]
Programs: TypeAlias = Union[_Text, _ByTask, _Table, Iterable[Union[_Text, Mapping[str, Any]]]]
"""Text, a Program, a path, a dict from task id to one of these or to a list of them, a table, or a list of these or of
rows. A `str` is text."""

_Task: TypeAlias = Union[str, "Task", PathLike[str], Mapping[str, Any]]
Tasks: TypeAlias = Union[_Task, _Table, Iterable[_Task]]
"""A Task, a dict, a path, a table of pandas, polars or pyarrow, or a list of these. A `str` is a path."""

EvaluateTasks: TypeAlias = Union[_Task, bytes, Iterable[Union[_Task, bytes]]]
"""One task for all texts, or one for each text; also as JSON text, as `str` or bytes."""

Completion: TypeAlias = Union[str, Mapping[str, Any], Sequence[Mapping[str, Any]], None]
"""The output of a language model: text, a message with "content", or a list of messages."""

Solutions: TypeAlias = Union[str, PathLike[str], Mapping[str, Sequence[Any]]]
"""Kaggle's file of solutions, or its contents: a list of grids, one for each test pair, by task id."""

Value: TypeAlias = Union[None, bool, int, tuple[Any, ...], frozenset[Any], NDArray[np.int8], "Function"]
"""The result of a program: a grid is an array of int8, a location `(row, column)`, a cell `(colour, (row, column))`;
inside tuples and sets a grid is a tuple of tuples."""

Argument: TypeAlias = Union[None, bool, int, str, tuple[Any, ...], frozenset[Any], set[Any], GridLike, "Function"]
"""An argument of a call in a ProgramBuilder or a Batt: values, and primitives and constants by name."""

Jobs: TypeAlias = Union[Literal["own", "all"], Iterable[tuple[int, int]], Iterable[Sequence[int]]]
DialectName: TypeAlias = Literal["public", "typed"]
SynthKind: TypeAlias = Literal["program", "mutant", "variation", "composition", "crossover"]
VerdictName: TypeAlias = Literal["match", "mismatch", "no_expected", "error", "limit"]


class Options(TypedDict, total=False):
    """The keywords that say how programs are evaluated: see `run`."""

    mode: Literal["sequential", "parallel", "gpu", "auto"]
    workers: int | None
    backend: Literal["reference", "compiled", "auto", "emulated", "ptx", "cuda"]
    placement: Literal["auto", "host", "devices"] | None
    merging: Literal["auto", "never", "always"]
    gpus: int | None
    threshold: int | None
    batch_size: int | None
    max_steps: int | None
    timeout: float | None
    time_limit: float | None
    outputs: bool
    scores: bool
    stop_after_wrong: bool


class PoolOptions(TypedDict, total=False):
    """The keywords of `PythonPool`."""

    workers: int | None
    cpu_seconds: float
    wall_seconds: float
    memory: int
    max_steps: int | None
    modules: Iterable[str]
    prelude: str | PathLike[str] | tuple[str, str] | None
    entry: str | None
    grid: Literal["auto", "array", "list", "tuple"]
    axes: Literal["rc", "xy"]
    isolation: Literal["strict", "best_effort", "none"]
    landlock: bool


class PoolGuards(TypedDict):
    """What isolates programs in free Python."""

    seccomp: bool
    landlock: int
