"""Runs ARC DSL programs on ARC tasks by the million and says which outputs are right.

>>> import mega_batch as mb
>>> task = {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": [{"input": [[3, 4]]}]}
>>> report = mb.run("O = vmirror(I)", task, jobs="all", outputs=True)
>>> report[0].verdict, report[1].output.tolist()
('match', [[4, 3]])
"""

from enum import IntEnum

from . import synth
from ._arguments import renamed
from ._completions import compute_score, compute_scores, evaluate, majority_attempts, pass_at_k, reward
from ._engine import (
    ERROR_KINDS,
    PALETTE,
    VERDICTS,
    Batt,
    Coordinator,
    Engine,
    EvalError,
    Evaluated,
    Function,
    Grid,
    Node,
    Pair,
    Program,
    ProgramBuilder,
    ProgramError,
    Pushed,
    PythonPool,
    Synthesis,
    Task,
    Variable,
    __version__,
    dedup_by_behaviour,
    devices,
    enumerate_programs,
    extract_programs,
    mutate,
    parse_programs,
    read_programs,
    read_tasks,
    search,
    trace,
)
from ._mutants import stream
from ._primitives import PRIMITIVES, Primitive, primitives_text
from ._results import Report, Result, Results
from ._run import run
from ._values import Attempt, Device, Enumerated, Enumeration, Searched, SynthTask, TraceStep


# Pickles name the place of a class, which is not to be a private module.
for _class in (Attempt, Device, Enumerated, Enumeration, Report, Result, Results, Searched, SynthTask, TraceStep):
    _class.__module__ = __name__

enumerate = renamed("mega_batch.enumerate", enumerate_programs)
"""The old name of `enumerate_programs`; it hid the built-in."""


class Verdict(IntEnum):
    """The verdict on an evaluation, as in `Results.verdicts`."""

    MATCH = 0
    MISMATCH = 1
    NO_EXPECTED = 2
    ERROR = 3
    LIMIT = 4


__all__ = [
    "ERROR_KINDS",
    "PALETTE",
    "PRIMITIVES",
    "VERDICTS",
    "Attempt",
    "Batt",
    "Coordinator",
    "Device",
    "Engine",
    "Enumerated",
    "Enumeration",
    "EvalError",
    "Evaluated",
    "Function",
    "Grid",
    "Node",
    "Pair",
    "Primitive",
    "Program",
    "ProgramBuilder",
    "ProgramError",
    "Pushed",
    "PythonPool",
    "Report",
    "Result",
    "Results",
    "Searched",
    "SynthTask",
    "Synthesis",
    "Task",
    "TraceStep",
    "Variable",
    "Verdict",
    "__version__",
    "compute_score",
    "compute_scores",
    "dedup_by_behaviour",
    "devices",
    "enumerate_programs",
    "evaluate",
    "extract_programs",
    "majority_attempts",
    "mutate",
    "parse_programs",
    "pass_at_k",
    "primitives_text",
    "read_programs",
    "read_tasks",
    "reward",
    "run",
    "search",
    "stream",
    "synth",
    "trace",
]
