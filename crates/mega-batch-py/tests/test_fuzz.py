"""For any input: a value, a ValueError or a TypeError, and the interpreter survives."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb

CASES = 3000


def scrap(dice: random.Random, depth: int = 3) -> Any:
    """Any object, often nearly a grid, a task or a program."""
    leaves: list[Any] = [
        0, 1, 9, 10, -1, 2**31, 2**70, True, None, 1.5, float("nan"), "", "0", "I", "O = I", "vmirror", b"x",
        "def f(I):\n    return I", "O = vmirror(", "\ud800", "\0", object(), int, np.int8(3), np.float32(1),
        np.zeros((2, 2), dtype=np.uint8), np.zeros((2, 2)), np.array(3), np.array([[1, 2]], dtype=object),
        [[1, 2], [3, 4]], [[1], [2, 3]], Path("/nowhere.py"), mb.Grid([[1]]), range(3), frozenset({1}), {1, 2},
    ]
    kind = dice.randrange(8) if depth else 0
    if kind < 3:
        return dice.choice(leaves)
    parts = [scrap(dice, depth - 1) for _ in range(dice.randrange(4))]
    if kind == 3:
        return tuple(parts)
    if kind == 4:
        keys = ["train", "test", "input", "output", "id", "a", 3]
        return {dice.choice(keys): part for part in parts}
    if kind == 5:
        return {"train": [{"input": part, "output": part} for part in parts], "test": []}
    return parts


def try_all(value: Any, other: Any) -> None:
    """Passes it to every function that takes something."""
    program = mb.Program.parse("O = vmirror(I)")
    batt = mb.Batt(inputs=[[[1, 2]]])
    builder = mb.ProgramBuilder("a")
    calls: list[Any] = [
        lambda: mb.Grid(value),
        lambda: program(value),
        lambda: program([[1]], max_steps=value, timeout=other),
        lambda: mb.trace(program, value),
        lambda: mb.Pair(value, other),
        lambda: mb.Task("a", value, other),
        lambda: mb.read_tasks(value, other),
        lambda: mb.read_programs(value),
        lambda: mb.Program.parse(value),
        lambda: mb.parse_programs(value),
        lambda: mb.run("O = I", value, jobs="all", mode="sequential"),
        lambda: mb.run(value, {"train": [{"input": [[1]]}]}, jobs=other, mode="sequential"),
        lambda: mb.run("O = I", {"train": [{"input": [[1]]}]}, jobs="all", mode=value),
        lambda: mb.mutate(program, value),
        lambda: batt.push("fill", value, other, batt.input),
        lambda: batt.push(value, other),
        lambda: batt.constant(value),
        lambda: mb.Batt(inputs=value, targets=other),
        lambda: builder.call("fill", value, other, builder.input),
        lambda: builder.finish(value),
    ]
    for call in calls:
        try:
            call()
        except (ValueError, TypeError, OverflowError, OSError):
            pass


@pytest.mark.parametrize("seed", range(4))
def test_any_object_is_taken_or_refused(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(CASES // 20):
        try_all(scrap(dice), scrap(dice))


def test_any_text_is_read_or_refused() -> None:
    dice = random.Random(5)
    words = "def f(I): return O = x1 ( ) , I vmirror objects T F argmax size \n \t 1 -1 ; # \" ' lambda [ ] {".split(" ")
    for _ in range(CASES):
        text = " ".join(dice.choice(words) for _ in range(dice.randrange(30)))
        for program in mb.parse_programs(text):
            if isinstance(program, mb.Program):
                program([[1, 2], [3, 4]])


def test_mutants_of_mutants_end_with_values() -> None:
    program = mb.Program.parse("x1 = objects(I, T, F, T)\nx2 = argmax(x1, size)\nO = subgrid(x2, I)")
    grid = np.arange(30).reshape(5, 6) % 10
    for seed in range(300):
        (program,) = mb.mutate(program, seed, unique=False)
        for _ in range(2):
            program(grid, max_steps=100_000)
            program(grid)
        mb.trace(program, grid, max_steps=100_000)
        assert isinstance(program.digest, str)
