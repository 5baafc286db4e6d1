"""The engine. `mega_batch` exports everything public in here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Literal, SupportsIndex, Unpack, final, overload

import numpy as np
from numpy.typing import NDArray

from ._progress import Progress
from ._results import Report, Results
from ._values import Device, Enumeration, Searched, SynthTask, TraceStep
from .typing import Argument, Completion, DialectName, EvaluateTasks, GridLike, Jobs, Options, PairLike, PoolGuards, PoolOptions, Programs, Solutions, SynthKind, Tasks, Value, VerdictName

__version__: str
ERROR_KINDS: tuple[str, ...]
"""The kinds of errors, indexed by `Results.error_kinds`."""
VERDICTS: tuple[str, ...]
"""The names of verdicts, indexed by `Results.verdicts`."""
PALETTE: tuple[tuple[int, int, int], ...]
"""Red, green and blue of the colours 0 to 9, as ARC's viewers show them."""
PRIMITIVES: tuple[str, ...]
"""All primitives, indexed by `Results.error_primitives`."""

_SIGNATURES: list[tuple[str, str, str, list[tuple[str, str]], str]]
"""Name, family, text, parameters and result type of each primitive."""

class ProgramError(ValueError):
    """Text that is not a program."""

    line: int
    column: int
    reason: str

@final
class EvalError:
    """Why a program returned no value: a value, not an exception."""

    @property
    def kind(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def primitive(self) -> str | None: ...
    @property
    def limit(self) -> str | None: ...
    @property
    def message(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Function:
    """A function of the DSL as a value; `str` is its text."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Grid:
    """A grid that displays itself in a notebook and in a terminal."""

    def __new__(cls, data: GridLike) -> Grid: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def array(self) -> NDArray[np.int8]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def tolist(self) -> list[list[int]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _repr_html_(self) -> str: ...

@final
class Pair:
    """An input grid and its expected output, if known."""

    def __new__(cls, input: GridLike, output: GridLike | None = None) -> Pair: ...
    @property
    def input(self) -> NDArray[np.int8]: ...
    @property
    def output(self) -> NDArray[np.int8] | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _repr_html_(self) -> str: ...

@final
class Task:
    """Pairs to learn from and pairs to be judged by."""

    def __new__(
        cls,
        id: str,
        train: Sequence[PairLike],
        test: Sequence[PairLike] | None = None,
        others: Sequence[tuple[str, Sequence[PairLike]]] | None = None,
    ) -> Task: ...
    @property
    def id(self) -> str: ...
    @property
    def train(self) -> list[Pair]: ...
    @property
    def test(self) -> list[Pair]: ...
    @property
    def others(self) -> list[tuple[str, list[Pair]]]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _repr_html_(self) -> str: ...

@final
class Program:
    """A straight-line sequence of calls of primitives, from an input grid to an output."""

    @staticmethod
    def parse(text: str, *, name: str = "solve", dialect: DialectName | None = None) -> Program: ...
    @property
    def name(self) -> str: ...
    @property
    def task_id(self) -> str: ...
    @property
    def source(self) -> str | None: ...
    @property
    def line(self) -> int: ...
    @property
    def dialect(self) -> DialectName: ...
    @property
    def type(self) -> str | None: ...
    @property
    def digest(self) -> str: ...
    def with_name(self, name: str) -> Program: ...
    def __call__(self, grid: GridLike, *, max_steps: int | None = None, timeout: float | None = None) -> Value | EvalError: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Variable:
    """The result of a step of a ProgramBuilder."""

@final
class ProgramBuilder:
    """Builds a program step by step."""

    def __new__(cls, name: str) -> ProgramBuilder: ...
    @property
    def input(self) -> Variable: ...
    def call(self, function: str | Variable, *arguments: Variable | Argument) -> Variable: ...
    def finish(self, output: Variable | Argument) -> Program: ...

@final
class Engine:
    """Threads that evaluate, with the programs that they have compiled, kept from run to run."""

    def __new__(cls, **options: Unpack[Options]) -> Engine: ...
    @property
    def workers(self) -> int: ...
    @property
    def devices(self) -> list[str]: ...
    def cancel(self) -> None: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    def run(
        self,
        programs: Programs,
        tasks: Tasks,
        *,
        solutions: Solutions | None = None,
        jobs: Jobs | None = None,
        train_only: bool = False,
        dialect: DialectName | None = None,
        on_results: Callable[[Results], object] | None = None,
        chunk: int = 65536,
        progress: Progress = None,
    ) -> Report: ...
    def evaluate(
        self,
        texts: Iterable[Completion],
        tasks: EvaluateTasks,
        *,
        train_only: bool = False,
        dialect: DialectName | None = None,
        python: PythonPool | None = None,
        progress: Progress = None,
    ) -> list[Evaluated]: ...

@final
class PythonPool:
    """Workers that run programs in free Python."""

    def __new__(cls, **keywords: Unpack[PoolOptions]) -> PythonPool: ...
    @property
    def workers(self) -> int: ...
    @property
    def guards(self) -> PoolGuards: ...
    def run(
        self, texts: Iterable[Completion], inputs: Iterable[GridLike], *, progress: Progress = None
    ) -> list[list[NDArray[np.int8] | EvalError] | ProgramError]: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Evaluated:
    """The result for one text."""

    @property
    def verdict(self) -> VerdictName | Literal["no_program"]: ...
    @property
    def program(self) -> Program | None: ...
    @property
    def language(self) -> Literal["dsl", "python"] | None: ...
    @property
    def line(self) -> int: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def error(self) -> EvalError | None: ...
    @property
    def verdicts(self) -> list[VerdictName]: ...
    @property
    def right(self) -> int: ...
    @property
    def expected(self) -> int: ...
    @property
    def score(self) -> float: ...
    @property
    def outputs(self) -> list[NDArray[np.int8] | None]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Coordinator:
    """A run that can be resumed: checkpoint, ranked attempts, submission."""

    def __new__(
        cls,
        programs: Programs,
        tasks: Tasks,
        *,
        solutions: Solutions | None = None,
        jobs: Jobs | None = None,
        train_only: bool = False,
        dialect: DialectName | None = None,
        checkpoint: str | PathLike[str] | None = None,
        resume: bool = False,
        submission: str | PathLike[str] | None = None,
        **options: Unpack[Options],
    ) -> Coordinator: ...
    def run(
        self,
        *,
        on_results: Callable[[Results], object] | None = None,
        chunk: int = 65536,
        progress: Progress = None,
    ) -> Report: ...
    def cancel(self) -> None: ...
    def to_submission(self, path: str | PathLike[str] | None = None) -> dict[str, list[dict[str, list[list[int]]]]]: ...
    def _packed(self) -> _PackedBatch: ...
    def _run_shards(
        self,
        shards: Callable[[int], NDArray[np.uint8] | None],
        *,
        ranks: bool = False,
        workers: int = 1,
        on_results: Callable[[Results], object] | None = None,
        chunk: int = 65536,
        progress: Progress = None,
    ) -> Report: ...

@final
class _PackedBatch:
    """A batch for other processes, which evaluate shards of it."""

    def __new__(cls, data: NDArray[np.uint8]) -> _PackedBatch: ...
    def data(self) -> NDArray[np.uint8]: ...
    @property
    def jobs(self) -> int: ...
    def shard(self, first: int, evaluations: int) -> tuple[int, int]: ...
    def evaluate(
        self, engine: Engine, first: int, end: int, time: float | None = None
    ) -> tuple[NDArray[np.uint8], int, int]: ...

@final
class Node:
    """A node of a Batt."""

    @property
    def index(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Pushed:
    """The result of a call in a Batt."""

    @property
    def node(self) -> Node | None: ...
    @property
    def is_new(self) -> bool: ...
    @property
    def error(self) -> EvalError | None: ...
    @property
    def input(self) -> int | None: ...

@final
class Batt:
    """A growing program over the inputs of one task."""

    def __new__(
        cls,
        task: Task | Mapping[str, Any] | str | PathLike[str] | None = None,
        *,
        inputs: Sequence[GridLike] | None = None,
        targets: Sequence[GridLike | None] | None = None,
        max_bytes: int | None = None,
        keeps_failing: bool = False,
        by_reference: bool = True,
    ) -> Batt: ...
    @property
    def input(self) -> Node: ...
    @property
    def inputs(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def nodes(self) -> list[Node]: ...
    def __len__(self) -> int: ...
    def constant(self, value: Argument) -> Node: ...
    def push(self, function: str | Node, *arguments: Node | Argument) -> Pushed: ...
    def push_many(self, calls: Iterable[tuple[str | Node, Unpack[tuple[Node | Argument, ...]]]]) -> list[Pushed]: ...
    def add(self, program: Program) -> Pushed: ...
    def values(self, node: Node) -> list[Value | EvalError]: ...
    def hash(self, node: Node) -> int: ...
    def type(self, node: Node) -> str | None: ...
    def distance(self, node: Node) -> list[int | None]: ...
    def distances(self, nodes: Sequence[Node] | None = None) -> NDArray[np.int64]: ...
    def is_solution(self, node: Node) -> bool: ...
    def length(self, node: Node) -> int: ...
    def program(self, node: Node, name: str = "solve") -> Program: ...
    def mark(self) -> int: ...
    def release(self, mark: int) -> None: ...

@final
class Synthesis:
    """Tasks generated from programs: an iterator of SynthTask."""

    def __new__(
        cls,
        programs: Programs | None = None,
        tasks: Tasks | None = None,
        *,
        count: int | None = None,
        seed: int = 0,
        train: int = 3,
        test: int = 1,
        kinds: Sequence[SynthKind] | None = None,
        inputs: Literal["both", "scenes", "tasks"] = "both",
        scene_side: int = 20,
        keep_identity: bool = False,
        keep_constant: bool = False,
        max_side: int | None = ...,
        keep_foreign: bool = False,
        keep_duplicates: bool = False,
        easy_nodes: int = 300,
        max_steps: int = 100000,
        shard: tuple[int, int] = ...,
        workers: int | None = None,
        progress: Progress = None,
    ) -> Synthesis: ...
    @property
    def counts(self) -> dict[str, int]: ...
    def __iter__(self) -> Synthesis: ...
    def __next__(self) -> SynthTask: ...

@final
class _Pool:
    """The pairs of tasks, drawn as arrays."""

    def __new__(cls, side: int) -> _Pool: ...
    def add(self, task: Task | SynthTask, least: int, at: int | None = None) -> bool: ...
    def __len__(self) -> int: ...
    def counts(self) -> NDArray[np.int64]: ...
    def pairs(
        self,
        tasks: NDArray[np.int64],
        pairs: NDArray[np.int64],
        seed: int,
        symmetries: bool,
        colours: bool,
        fixed: Sequence[int],
        fill: int,
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.uint8], NDArray[np.bool_]]: ...
    def groups(
        self,
        tasks: NDArray[np.int64],
        count: int,
        seed: int,
        symmetries: bool,
        colours: bool,
        order: bool,
        fixed: Sequence[int],
        fill: int,
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.uint8], NDArray[np.bool_]]: ...

def parse_programs(text: str, *, name: str = "solve", dialect: DialectName | None = None) -> list[Program | ProgramError]: ...
def extract_programs(text: Completion, *, dialect: DialectName | None = None) -> list[Program | ProgramError]: ...
def read_programs(programs: Programs, *, dialect: DialectName | None = None) -> list[Program]: ...
def read_tasks(tasks: Tasks, solutions: Solutions | None = None) -> list[Task]: ...
def trace(program: Program, grid: GridLike, *, max_steps: int | None = None, timeout: float | None = None) -> list[TraceStep]: ...
def mutate(
    program: Program,
    seed: int,
    *,
    count: int = 1,
    kind: Literal["mutant", "variation"] = "mutant",
    unique: bool = True,
) -> list[Program]: ...
def dedup_by_behaviour(
    programs: Programs,
    tasks: Tasks,
    *,
    train_only: bool = False,
    dialect: DialectName | None = None,
    progress: Progress = None,
    **options: Unpack[Options],
) -> NDArray[np.int64]: ...
def devices() -> list[Device]: ...
def enumerate(
    task: Task | Mapping[str, Any] | str | PathLike[str] | Sequence[GridLike],
    *,
    nodes: int = 10000,
    calls: int | None = None,
    max_bytes: int = 536870912,
    time_limit: float | None = None,
    by: Literal["cost", "size"] = "cost",
    primitives: bool = False,
    language: str | None = None,
    functions: str = "",
) -> Enumeration: ...
def search(
    tasks: Tasks,
    *,
    solutions: Solutions | None = None,
    nodes: int | None = None,
    attempts: int | None = None,
    workers: int | None = None,
    time_per_task: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    submission: str | PathLike[str] | None = None,
    on_task: Callable[[Searched], object] | None = None,
    progress: Progress = None,
    by: Callable[[list[tuple[int, Task]]], Iterable[tuple[int, Searched | str] | None]] | None = None,
) -> list[Searched]: ...
def _unpickled(class_: str, state: Any, /) -> Any: ...
def _padded(
    cells: NDArray[np.int8] | None,
    offsets: NDArray[np.int64] | None,
    shapes: NDArray[np.int32] | None,
    side: int,
    fill: int,
    drop_foreign: bool,
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]: ...
def _checked(
    task: Task,
    program: Program | None,
    kind: str | None,
    parents: Sequence[str],
    behaviour: str | None,
    candidate: int | None,
    augmented_from: str | None,
) -> tuple[list[str], int | None]: ...
def _augmented(
    task: Task, program: Program | None, symmetry: str, colours: Sequence[int] | None, order: Sequence[int] | None
) -> tuple[Task, Program | None]: ...
def _drawn(
    task: Task,
    program: Program | None,
    seed: int,
    number: int,
    symmetries: bool,
    colours: bool,
    order: bool,
    fixed: Sequence[int],
) -> tuple[Task, Program | None]: ...

@final
class _Errors:
    """The errors of evaluations, by their indices."""

    def __new__(cls, errors: dict[int, EvalError]) -> _Errors: ...
    def get(self, at: int) -> EvalError | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class _Subject:
    """The programs and tasks of a run."""

    def __new__(cls, programs: Sequence[Program], tasks: Sequence[Task]) -> _Subject: ...
    @property
    def programs(self) -> list[Program]: ...
    @property
    def tasks(self) -> list[Task]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
