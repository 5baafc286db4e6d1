"""The evaluation loop of a trainer, beside the same loop by a thread and an `exec` for each program.

A trainer gives programs as bare lines and wants a grid or an error for each, within a rule of size and a
limit of steps. `evaluate` is the drop-in. `--seconds` says how long each way is measured.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import mega_batch as mb

Rows: TypeAlias = list[list[int]]
Outcome: TypeAlias = NDArray[np.int8] | str

MOST_LINES = 30
MOST_STEPS = 100_000


def evaluate(engine: mb.Engine, texts: Sequence[str], grids: Sequence[Rows]) -> list[list[Outcome]]:
    """For each text and each grid the resulting grid, or the error."""
    outcomes: list[list[Outcome]] = []
    programs: list[mb.Program] = []
    places: list[int] = []
    for place, text in enumerate(texts):
        outcome = f"more than {MOST_LINES} lines"
        if text.count("\n") < MOST_LINES:
            try:
                programs.append(mb.Program.parse(text))
                places.append(place)
                outcome = "no grid"
            except mb.ProgramError as error:
                outcome = str(error)
        outcomes.append([outcome for _ in grids])
    task = mb.Task("inputs", [mb.Pair(grid) for grid in grids])
    results = engine.run(programs, task, jobs="all").results
    cells, offsets, shapes = results.cells, results.offsets, results.shapes
    assert cells is not None and offsets is not None and shapes is not None
    # Python's numbers are faster to iterate over than array elements.
    begins, sides, kinds = offsets.tolist(), shapes.tolist(), results.error_kinds.tolist()
    of = zip(results.programs.tolist(), results.pairs.tolist(), strict=True)
    for at, (program, pair) in enumerate(of):
        if kinds[at]:
            fault = results.error(at)
            outcomes[places[program]][pair] = fault.message if fault else "error"
        elif sides[at][0] >= 0:
            # A view of the one array of all cells.
            outcomes[places[program]][pair] = cells[begins[at] : begins[at + 1]].reshape(sides[at])
    return outcomes


def by_exec(texts: Sequence[str], grids: Sequence[Rows], dsl: Mapping[str, object]) -> list[list[Any]]:
    """The same with a thread and an `exec` for each line of a program, on each grid, as in such trainers."""

    def step(line: str, names: dict[str, Any], failed: list[str]) -> None:
        try:
            exec(line, names)
        except Exception as error:
            failed.append(repr(error))

    outcomes: list[list[Any]] = []
    for text in texts:
        row: list[Any] = []
        for grid in grids:
            names: dict[str, Any] = {**dsl, "I": tuple(map(tuple, grid))}
            failed: list[str] = []
            for line in text.splitlines():
                thread = threading.Thread(target=step, args=(line, names, failed))
                thread.start()
                thread.join(timeout=0.5)
                if failed:
                    break
            row.append(failed[0] if failed else names.get("O"))
        outcomes.append(row)
    return outcomes


def small_dsl() -> dict[str, object]:
    """The few primitives that the programs of this example call, in Python."""
    Grid: TypeAlias = tuple[tuple[int, ...], ...]

    def vmirror(grid: Grid) -> Grid:
        return tuple(row[::-1] for row in grid)

    def hmirror(grid: Grid) -> Grid:
        return grid[::-1]

    def dmirror(grid: Grid) -> Grid:
        return tuple(zip(*grid, strict=True))

    def hconcat(a: Grid, b: Grid) -> Grid:
        return tuple(i + j for i, j in zip(a, b, strict=True))

    def vconcat(a: Grid, b: Grid) -> Grid:
        return a + b

    def replace(grid: Grid, old: int, new: int) -> Grid:
        return tuple(tuple(new if cell == old else cell for cell in row) for row in grid)

    functions: list[Callable[..., Grid]] = [vmirror, hmirror, dmirror, hconcat, vconcat, replace]
    return {function.__name__: function for function in functions}


def programs(count: int) -> list[str]:
    """Programs of five lines, all different."""
    texts = []
    unary = ["vmirror", "hmirror", "dmirror"]
    for number in range(count):
        a, b, c = number % 3, number // 3 % 3, number // 9 % 3
        old, new = number // 27 % 10, number // 270 % 10
        texts.append(
            f"x1 = {unary[a]}(I)\nx2 = {unary[b]}(x1)\nx3 = replace(x2, {old}, {new})\n"
            f"x4 = {unary[c]}(x3)\nO = hconcat(x4, x4)"
        )
    return texts


def rate(evaluations: int, seconds: float, work: Callable[[], object]) -> float:
    """Evaluations per second, over as many repetitions as there is time for."""
    work()
    began, made = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        work()
        made += evaluations
    return made / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    seconds = parser.parse_args().seconds
    grids = np.random.default_rng(1).integers(0, 10, (4, 10, 10)).tolist()
    dsl = small_dsl()
    few = programs(20)
    engine = mb.Engine(outputs=True, max_steps=MOST_STEPS)
    for ours, theirs in zip(evaluate(engine, few, grids), by_exec(few, grids, dsl), strict=True):
        for grid, expected in zip(ours, theirs, strict=True):
            assert isinstance(grid, np.ndarray) and tuple(map(tuple, grid.tolist())) == expected
    bad = evaluate(engine, ["O = nothing(I)", "O = first(I", "x = I\n" * 40 + "O = I"], grids[:1])
    for (outcome,) in bad:
        print("refused:", outcome)
    threads = rate(len(few) * len(grids), seconds, lambda: by_exec(few, grids, dsl))
    print(f"a thread and an exec for each line: {threads:,.0f} evaluations a second")
    many = programs(2700)
    counted = mb.Engine(max_steps=MOST_STEPS)
    read = mb.read_programs(many)
    dice = np.random.default_rng(2)
    tasks = [
        mb.Task(f"inputs{number}", [mb.Pair(grid) for grid in dice.integers(0, 10, (4, 10, 10))])
        for number in range(50)
    ]
    with_grids = rate(len(many) * len(grids), seconds, lambda: evaluate(engine, many, grids))
    print(f"evaluate, text in and grids out: {with_grids:,.0f} a second, {with_grids / threads:,.0f} times")
    verdicts = rate(len(many) * len(tasks) * 4, seconds, lambda: counted.run(read, tasks, jobs="all"))
    print(f"run on 50 tasks, programs in and verdicts out: {verdicts:,.0f} a second, {verdicts / threads:,.0f} times")


if __name__ == "__main__":
    main()
