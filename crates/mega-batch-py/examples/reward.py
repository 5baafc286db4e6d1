"""A reward for programs that a model writes: text in, a score from 0 to 1 out, by batches.

A program that is right on every train pair gets 1; otherwise the mean part of the cells that are right.
Text that is no program and programs that fail get 0 for what they do not give.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import mega_batch as mb


class Reward:
    """The reward on one task. Threads may share it."""

    def __init__(self, task: mb.Task, max_steps: int = 100_000) -> None:
        self._task = task
        self._engine = mb.Engine(scores=True, max_steps=max_steps)
        outputs = [pair.output for pair in task.train]
        cells = [output.size for output in outputs if output is not None]
        if len(cells) != len(outputs):
            raise ValueError(f"task {task.id}: a train pair has no output")
        self._cells = np.array(cells)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Scores of shape (len(texts),)."""
        rewards = np.zeros(len(texts))
        programs, places = [], []
        for place, text in enumerate(texts):
            try:
                programs.append(mb.Program.parse(text))
                places.append(place)
            except mb.ProgramError:
                continue
        if not programs:
            return rewards
        report = self._engine.run(programs, self._task, jobs="all", train_only=True)
        right = report.results.cells_right
        assert right is not None
        parts = np.maximum(right, 0).reshape(len(programs), -1) / self._cells
        rewards[places] = parts.mean(axis=1)
        return rewards


def main() -> None:
    train = [([[1, 2], [3, 4]], [[2, 1], [4, 3]]), ([[5, 0]], [[0, 5]])]
    reward = Reward(mb.Task("67a3c6ac", train))
    texts = ["O = vmirror(I)", "O = rot180(I)", "O = I", "O = height(I)", "O = nothing(I)"]
    scores = reward(texts)
    for text, score in zip(texts, scores, strict=True):
        print(f"{score:.2f}  {text}")
    assert scores[0] == 1.0 and scores[3] == scores[4] == 0.0
    many = [f"x1 = replace(I, {a}, {b})\nO = replace(x1, {c}, {d})" for a in range(10) for b in range(10)
            for c in range(10) for d in range(10)]
    for size in (1, 10, 100, 1_000, 10_000):
        batch = many[:size]
        reward(batch)
        began = time.perf_counter()
        reward(batch)
        print(f"a batch of {size:>6,}: {(time.perf_counter() - began) * 1e3:8.2f} ms")


if __name__ == "__main__":
    main()
