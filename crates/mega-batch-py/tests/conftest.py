"""Fixtures."""

import pytest

import mega_batch as mb


def swapped(a: int, b: int) -> dict[str, list[list[int]]]:
    """A pair whose output is its input mirrored."""
    return {"input": [[a, b]], "output": [[b, a]]}


@pytest.fixture
def task() -> mb.Task:
    """A task that `vmirror` and `rot180` solve."""
    data = {"67a3c6ac": {"train": [swapped(1, 2), swapped(3, 4)], "test": [swapped(5, 6)]}}
    return mb.read_tasks(data)[0]


@pytest.fixture
def largest() -> mb.Program:
    """A program that fails if there is no object."""
    return mb.Program.parse(
        "def solve_a(I):\n    x1 = objects(I, T, F, T)\n    x2 = argmax(x1, size)\n    return subgrid(x2, I)\n"
    )
