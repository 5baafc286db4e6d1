"""Programs written by language models: evaluated, rewarded, counted and voted on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arguments import truths
from ._engine import Engine, Evaluated, PythonPool
from ._progress import Progress

if TYPE_CHECKING:
    from typing import Unpack

    from .typing import Completion, DialectName, EvaluateTasks, Options

__all__ = ["compute_score", "compute_scores", "evaluate", "majority_attempts", "pass_at_k", "reward"]

MAX_STEPS = 100_000
"""The step limit of an evaluation: some milliseconds."""


_engines: dict[str, Engine] = {}
"""Engines kept between calls, by their options; their threads sleep in between."""

_MOST_ENGINES = 4


def _engine(options: dict[str, Any]) -> Engine:
    key = repr(sorted(options.items()))
    engine = _engines.get(key)
    if engine is None:
        engine = Engine(**options)
        while len(_engines) >= _MOST_ENGINES:
            _engines.pop(next(iter(_engines)), None)
        _engines[key] = engine
    return engine


_pools: list[PythonPool] = []
"""The pool with the defaults, once it was asked for."""


def _pool(python: bool | PythonPool | None) -> PythonPool | None:
    if python is None or isinstance(python, PythonPool):
        return python
    truths(python=python)
    if python and not _pools:
        _pools.append(PythonPool())
    return _pools[0] if python else None


def evaluate(
    texts: Iterable[Completion],
    tasks: EvaluateTasks,
    *,
    train_only: bool = False,
    dialect: DialectName | None = None,
    python: bool | PythonPool | None = False,
    progress: Progress = False,
    **options: Unpack[Options],
) -> list[Evaluated]:
    """Judge programs in the output of a language model: an Evaluated for each text.

    A text is a ``str``, a message (``{"role": ..., "content": ...}``), or a list of messages, of which the
    assistant's last one counts. Its program is the last readable one in its fenced code or, without a fence, in the
    lines that look like code. A text without a program, such as None, has the verdict ``"no_program"`` with ``line``
    and ``reason``; no text raises.

    ``tasks`` is one task for all texts, or a list of one for each text. A task is anything that `read_tasks` takes,
    or its JSON text. Each program is evaluated on all pairs of its task, or only on the train pairs with
    ``train_only``. Programs of a task that make the same calls are evaluated once, whatever they and their variables
    are called and, if they finish, in whatever order independent steps are, and with or without steps that the output
    does not need and that cannot fail.

    A text without a program of the DSL may have one in free Python. Nothing of it is executed unless ``python`` is a
    PythonPool, or True for one with the defaults, which is kept: each program then runs in an isolated process, with the
    inputs alone. Its `language` is ``"python"``; its errors are of the kinds exception, not_a_grid, forbidden and
    crashed, its limits cpu, wall, memory and steps. After a limit on time or steps all further pairs count as reaching
    it. Texts that are equal run once.

    Further keywords are those of `run`; ``scores`` is on, and ``max_steps`` defaults to 100,000, so that the same
    texts get the same verdicts on every machine. ``outputs`` keeps the outputs for test pairs. Engines are kept
    between calls.

    Raises TypeError and ValueError, with the place, for an invalid task, and OSError if ``time_limit`` ends it.
    """
    kept: dict[str, Any] = {"max_steps": MAX_STEPS, **options, "scores": True}
    engine = _engine(kept)
    return engine.evaluate(
        texts, tasks, train_only=train_only, dialect=dialect, python=_pool(python), progress=progress
    )


def reward(
    completions: Sequence[Completion],
    task: EvaluateTasks,
    *,
    prompts: Sequence[Any] | None = None,
    train_only: bool = False,
    max_steps: int = MAX_STEPS,
    python: bool | PythonPool | None = False,
    **columns: Any,
) -> list[float]:
    """A reward function as TRL's trainers call it: `Evaluated.score` of each completion, from 0 to 1.

    TRL passes ``completions``, texts or lists of messages, and the columns of the data set as lists, of which
    ``task`` is used: dicts, or JSON text. Other columns and ``prompts`` are ignored. ``python`` is that of `evaluate`: a
    reward function of your own passes it on. Raises as `evaluate` does.
    """
    evaluated = evaluate(completions, task, train_only=train_only, max_steps=max_steps, python=python)
    return [each.score for each in evaluated]


def compute_score(
    data_source: Any, solution_str: Completion, ground_truth: Any, extra_info: Any = None, **options: Any
) -> float:
    """A reward function as verl calls it for one text: `Evaluated.score`, from 0 to 1.

    ``ground_truth`` is the task: a dict, or JSON text. ``options`` are ``train_only``, ``max_steps`` and ``python``.
    ``data_source`` and ``extra_info`` are ignored. `compute_scores` takes many texts at once, which is faster.
    """
    (score,) = reward([solution_str], [ground_truth], **options)
    return score


def compute_scores(
    data_sources: Sequence[Any],
    solution_strs: Sequence[Completion],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Any] | None = None,
    **options: Any,
) -> list[float]:
    """A reward function as verl's batch reward manager calls it: see `compute_score`."""
    for name, given in (("solution_strs", solution_strs), ("ground_truths", ground_truths)):
        if isinstance(given, str | dict) or not isinstance(given, Iterable):
            raise TypeError(f"{name}: expected a list, found one {type(given).__name__}")
    return reward(list(solution_strs), list(ground_truths), **options)


@overload
def pass_at_k(samples: int, correct: int, k: int) -> float: ...
@overload
def pass_at_k(samples: ArrayLike, correct: ArrayLike, k: int) -> NDArray[np.float64]: ...
def pass_at_k(samples: ArrayLike, correct: ArrayLike, k: int) -> float | NDArray[np.float64]:
    """The probability that one of ``k`` samples is correct, estimated without bias from ``correct`` of ``samples``.

    It is one minus the fraction of all choices of ``k`` samples without a correct one. For arrays, one element per
    problem, it returns an array of float64 of their shape. Raises ValueError unless 0 <= correct <= samples and 1 <=
    k <= samples, and for fractions, and TypeError for anything but numbers.
    """
    all_samples, all_correct, of_k = _whole("samples", samples), _whole("correct", correct), _whole("k", k)
    if of_k.ndim > 0:
        raise TypeError(f"k: expected a whole number, found {type(k).__name__}")
    try:
        all_samples, all_correct = np.broadcast_arrays(all_samples, all_correct)
    except ValueError:
        raise ValueError(
            f"samples, correct: expected shapes that go together, found {all_samples.shape} and {all_correct.shape}"
        ) from None
    if np.any((all_correct < 0) | (all_correct > all_samples)):
        raise ValueError("correct: expected 0 to the number of samples")
    if of_k < 1 or np.any(all_samples < of_k):
        raise ValueError(f"k: expected 1 to the number of samples, found {k}")
    likely = _likely(all_samples, all_correct, of_k)
    return float(likely) if likely.ndim == 0 else likely


def _whole(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """An argument's whole numbers, as floats, which do not overflow."""
    try:
        found = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: expected a number or an array, found lists of several lengths") from None
    if found.dtype.kind not in "biuf":
        raise TypeError(f"{name}: expected whole numbers of 64 bits at most, found {value!r}")
    numbers = found.astype(np.float64)
    wrong = numbers[~(np.isfinite(numbers) & (np.floor(numbers) == numbers))]
    if wrong.size > 0:
        raise ValueError(f"{name}: expected whole numbers, found {wrong.flat[0]}")
    return numbers


_STEPS = 4096
"""The most factors that are multiplied one by one."""


def _likely(samples: NDArray[Any], correct: NDArray[Any], k: NDArray[Any]) -> NDArray[np.float64]:
    # Either k times: the next choice is again a wrong sample. Or once for each correct sample: it is not chosen. Both
    # give the same product; the one with fewer factors is used.
    few, many = np.minimum(correct, k), np.maximum(correct, k)
    steps = np.minimum(few, _STEPS)
    # With more factors, each step stands for several: the product is then practically 0, or the logarithms of
    # neighbouring factors are almost equal.
    width = few / np.maximum(steps, 1)
    logarithm = np.zeros(samples.shape)
    is_sure = many + few > samples
    for step in range(int(np.max(steps, initial=0))):
        place = (step + 0.5) * width - 0.5
        part = np.where(is_sure | (step >= steps), 0, many / (samples - place))
        logarithm += np.log1p(-part)
    # A single factor is exact.
    is_one, all_samples = few == 1, np.maximum(samples, 1)
    likely: NDArray[np.float64] = np.where(is_one, many / all_samples, -np.expm1(width * logarithm))
    # Avoids negative zero.
    return np.where(is_sure, 1.0, likely) + 0.0


_MOST_SIDE = 30
"""The most rows and columns of an answer."""


def _fits(grid: NDArray[np.int8]) -> bool:
    return 0 < grid.size and max(grid.shape) <= _MOST_SIDE and bool(np.all((grid >= 0) & (grid <= 9)))


def majority_attempts(evaluated: Iterable[Evaluated], k: int = 2) -> list[list[NDArray[np.int8]]]:
    """The outputs to submit for each test pair of one task, the best first, at most ``k``.

    Programs vote for the grids that they return; `evaluate` must be called with ``outputs=True``. Outputs are ranked
    by how many train pairs their program is right on, then by the number of programs, then by order of appearance.
    Known test outputs are not used. Grids that no competition accepts, with more than 30 rows or columns or with
    colours other than 0 to 9, are left out.

    Raises ValueError if the outputs of an evaluated program were not kept, and for a ``k`` below 0.
    """
    most = _whole("k", k)
    if most.ndim > 0 or most < 0:
        raise ValueError(f"k: expected 0 or more, found {k}")
    if not isinstance(evaluated, Iterable):
        raise TypeError(f"evaluated: expected what `evaluate` gives, found {type(evaluated).__name__}")
    ranks: list[dict[tuple[tuple[int, ...], bytes], list[Any]]] = []
    for each in evaluated:
        if not isinstance(each, Evaluated):
            raise TypeError(f"evaluated: expected what `evaluate` gives, found {type(each).__name__}")
        outputs = each.outputs
        if each.verdicts and not outputs:
            raise ValueError(
                "evaluated: expected outputs of test pairs, found none: `evaluate(.., outputs=True)` keeps them, of a task "
                "that has test pairs"
            )
        fits = each.verdicts[: len(each.verdicts) - len(outputs)].count("match")
        ranks.extend({} for _ in outputs[len(ranks) :])
        for of_pair, output in zip(ranks, outputs, strict=False):
            if output is None or not _fits(output):
                continue
            rank = of_pair.setdefault((output.shape, output.tobytes()), [0, 0, output])
            rank[0], rank[1] = max(rank[0], fits), rank[1] + 1
    best = [sorted(of_pair.values(), key=lambda rank: (-rank[0], -rank[1])) for of_pair in ranks]
    return [[output for _, _, output in of_pair[: int(most)]] for of_pair in best]
