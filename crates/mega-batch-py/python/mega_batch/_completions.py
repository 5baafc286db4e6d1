"""What a language model writes: evaluated, as a reward, counted and voted on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine import Engine, Evaluated
from ._progress import Progress

if TYPE_CHECKING:
    from typing import Unpack

    from .typing import Completion, DialectName, EvaluateTasks, Options

__all__ = ["compute_score", "compute_scores", "evaluate", "majority_attempts", "pass_at_k", "reward"]

MAX_STEPS = 100_000
"""The steps of an evaluation: some milliseconds."""


_engines: dict[str, Engine] = {}
"""Engines from call to call, by their options; their threads sleep in between."""

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


def evaluate(
    texts: Iterable[Completion],
    tasks: EvaluateTasks,
    *,
    train_only: bool = False,
    dialect: DialectName | None = None,
    progress: Progress = False,
    **options: Unpack[Options],
) -> list[Evaluated]:
    """Judge programs in texts as a language model writes them: an Evaluated for each text.

    A text is a ``str``, a message (``{"role": ..., "content": ...}``), or a list of messages, of which the
    assistant's last one counts. Its program is the last one that can be read of its fenced code, or where there is no
    fence of the lines that are code. What is no program, None among it, is the verdict ``"no_program"`` with ``line`` and
    ``reason``; nothing that a text holds raises.

    ``tasks`` is one task for all texts, or a list of one for each text. A task is what `read_tasks` takes, or JSON
    text of one. Each program is evaluated on all pairs of its task, or on those of train with ``train_only``.
    Programs of a task that make the same calls are evaluated once, whatever they and their variables are called, also
    with independent steps in another order, and with steps that the output does not need and that cannot fail.

    Further keywords are those of `run`; ``scores`` is on, and ``max_steps`` is 100,000 where nothing else is given, so
    that the same texts get the same verdicts on every machine. ``outputs`` keeps what programs give for test pairs.
    Engines are kept from call to call.

    Raises TypeError and ValueError, with the place, for what is no task, and OSError where ``time_limit`` ends it.
    """
    kept: dict[str, Any] = {"max_steps": MAX_STEPS, **options, "scores": True}
    engine = _engine(kept)
    return engine.evaluate(texts, tasks, train_only=train_only, dialect=dialect, progress=progress)


def reward(
    completions: Sequence[Completion],
    task: EvaluateTasks,
    *,
    prompts: Sequence[Any] | None = None,
    train_only: bool = False,
    max_steps: int = MAX_STEPS,
    **columns: Any,
) -> list[float]:
    """A reward function as TRL's trainers call it: `Evaluated.score` of each completion, from 0 to 1.

    TRL gives ``completions``, texts or lists of messages, and the columns of the data set as lists, of which ``task``
    is used: dicts, or JSON text. Other columns and ``prompts`` are not looked at. Raises as `evaluate` does.
    """
    evaluated = evaluate(completions, task, train_only=train_only, max_steps=max_steps)
    return [each.score for each in evaluated]


def compute_score(
    data_source: Any, solution_str: Completion, ground_truth: Any, extra_info: Any = None, **options: Any
) -> float:
    """A reward function as verl calls it for one text: `Evaluated.score`, from 0 to 1.

    ``ground_truth`` is the task: a dict, or JSON text. ``options`` are ``train_only`` and ``max_steps``.
    ``data_source`` and ``extra_info`` are not looked at. `compute_scores` takes many at once, which is faster.
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
    return reward(list(solution_strs), list(ground_truths), **options)


@overload
def pass_at_k(samples: int, correct: int, k: int) -> float: ...
@overload
def pass_at_k(samples: ArrayLike, correct: ArrayLike, k: int) -> NDArray[np.float64]: ...
def pass_at_k(samples: ArrayLike, correct: ArrayLike, k: int) -> float | NDArray[np.float64]:
    """How likely one of ``k`` samples is correct, estimated without bias from ``correct`` of ``samples``.

    It is one minus the part of all choices of ``k`` samples that hold no correct one. Of arrays, by problem, it gives an
    array of float64 of their shape. Raises ValueError unless 0 <= correct <= samples and 1 <= k <= samples.
    """
    all_samples, all_correct = np.broadcast_arrays(np.asarray(samples), np.asarray(correct))
    if np.any((all_correct < 0) | (all_correct > all_samples)):
        raise ValueError("correct: expected 0 to the number of samples")
    if k < 1 or np.any(all_samples < k):
        raise ValueError(f"k: expected 1 to the number of samples, found {k}")
    # The next choice is a wrong sample too, k times.
    at = np.arange(k, dtype=np.float64)
    all_samples, all_correct = all_samples[..., None], all_correct[..., None]
    wrong = np.maximum(all_samples - all_correct - at, 0) / (all_samples - at)
    likely = 1.0 - np.prod(wrong, axis=-1)
    return float(likely) if likely.ndim == 0 else likely


def majority_attempts(evaluated: Iterable[Evaluated], k: int = 2) -> list[list[NDArray[np.int8]]]:
    """The outputs to submit for each test pair of one task, the best first, at most ``k``.

    Programs vote for the grids that they give; `evaluate` has to be called with ``outputs=True``. What a program that
    is right on more train pairs gives comes first, then what more programs give, then what came first. Test
    outputs are not looked at, where they are known.
    """
    ranks: list[dict[tuple[tuple[int, ...], bytes], list[Any]]] = []
    for each in evaluated:
        outputs = each.outputs
        fits = each.verdicts[: len(each.verdicts) - len(outputs)].count("match")
        ranks.extend({} for _ in outputs[len(ranks) :])
        for of_pair, output in zip(ranks, outputs, strict=False):
            if output is None:
                continue
            rank = of_pair.setdefault((output.shape, output.tobytes()), [0, 0, output])
            rank[0], rank[1] = max(rank[0], fits), rank[1] + 1
    best = [sorted(of_pair.values(), key=lambda rank: (-rank[0], -rank[1])) for of_pair in ranks]
    return [[output for _, _, output in of_pair[:k]] for of_pair in best]
