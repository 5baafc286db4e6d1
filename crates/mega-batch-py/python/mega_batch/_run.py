"""`run`: one call for programs on tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._engine import Engine
from ._progress import Progress
from ._results import Report, Results

if TYPE_CHECKING:
    from typing import Unpack

    from .typing import DialectName, Jobs, Options, Programs, Solutions, Tasks

__all__ = ["run"]


def run(
    programs: Programs,
    tasks: Tasks,
    *,
    solutions: Solutions | None = None,
    jobs: Jobs = "own",
    train_only: bool = False,
    dialect: DialectName | None = None,
    on_results: Callable[[Results], object] | None = None,
    chunk: int = 65536,
    progress: Progress = False,
    **options: Unpack[Options],
) -> Report:
    """Run programs on tasks and say which outputs are right.

    Programs are text (one or several programs; ``def NAME(I):``, ``def NAME(S, I, C):``, or bare lines that end in
    ``O = ...``), Programs, a dict from task id to text or to a list of texts, files and folders as ``pathlib.Path``,
    or a list of these. Tasks are Tasks, dicts (``{"train": [...], "test": [...]}``, or a dict of such by id, like
    Kaggle's challenges), files and folders, or a list of these; ``solutions`` is Kaggle's file or dict of the test
    outputs.

    ``jobs`` says which programs run on which tasks: ``"own"``, each program on the task whose id ends its name
    (``solve_007bbfb7``), ``"all"``, every program on every task, or a list of ``(program, task)`` indices.

    The report has flat arrays with one element per evaluation. A program that fails is a verdict with a typed error,
    never an exception. With ``on_results`` the results are passed to that function as they come, ``chunk`` at a time,
    as Results, and the report keeps none: memory stays bounded. ``progress`` is True for a bar by tqdm, or a function
    that is called with the evaluations done and in total.

    Further keywords: ``mode`` (``"sequential"``, ``"parallel"``, ``"gpu"``, ``"auto"``), ``workers``, ``backend``
    (``"reference"``, ``"compiled"``, ``"auto"``, ``"emulated"``, ``"ptx"``, ``"cuda"``), ``placement``, ``merging``,
    ``gpus``, ``threshold``, ``batch_size``; ``max_steps`` and ``timeout`` (seconds) limit an
    evaluation, ``time_limit`` (seconds) the run; ``outputs`` keeps the grids that programs return, ``scores`` adds
    hashes and numbers of right cells; ``stop_after_wrong`` stops running a program on a task after the first wrong
    pair.

    Raises TypeError and ValueError, with the place, for an invalid program, grid or task; ProgramError, a ValueError
    with line and column, for text that is not a program. Ctrl-C ends the run: KeyboardInterrupt. The GIL is released
    while the engine works. The logger ``mega_batch`` records the end of each run, at INFO.
    """
    engine = Engine(**options)
    return engine.run(
        programs,
        tasks,
        solutions=solutions,
        jobs=jobs,
        train_only=train_only,
        dialect=dialect,
        on_results=on_results,
        chunk=chunk,
        progress=progress,
    )
