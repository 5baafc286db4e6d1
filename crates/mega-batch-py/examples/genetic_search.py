"""A genetic search: programs that are nearly right are changed until one is right on all train pairs.

    python examples/genetic_search.py [--population N] [--generations N]

A generation is the best programs, no two of which give the same, mutants of them, and each with one more step behind. How
good one is is the part of cells that are right. It begins with programs of which none is right.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mega_batch as mb

HIDDEN = "x1 = objects(I, T, F, T)\nx2 = argmax(x1, size)\nx3 = subgrid(x2, I)\nO = vmirror(x3)"
FIRST = [
    "O = identity(I)",
    "x1 = hmirror(I)\nO = vmirror(x1)",
    "x1 = ofcolor(I, ONE)\nO = subgrid(x1, I)",
    "x1 = objects(I, F, F, T)\nx2 = argmin(x1, height)\nO = subgrid(x2, I)",
]
MORE = ["vmirror", "hmirror", "rot90", "rot180", "dmirror", "trim", "tophalf", "lefthalf"]


def longer(program: mb.Program, primitive: str) -> mb.Program:
    """The program with a call appended."""
    head, _, output = str(program).strip().rpartition("\n    return ")
    return mb.Program.parse(f"{head}\n    last{len(program)} = {primitive}({output})\n    return last{len(program)}\n")


def task(seed: int) -> mb.Task:
    """Pairs of a program that are hidden from the search."""
    dice = np.random.default_rng(seed)
    hidden = mb.Program.parse(HIDDEN)
    pairs = list[tuple[np.ndarray, np.ndarray]]()
    while len(pairs) < 4:
        grid = np.where(dice.random((12, 12)) < 0.5, dice.integers(1, 4, size=(12, 12)), 0).astype(np.int8)
        output = hidden(grid)
        if isinstance(output, np.ndarray) and output.size > 6:
            pairs.append((grid, output))
    return mb.Task("hidden", pairs[:3], pairs[3:])


def fitness(report: mb.Report, programs: int, of: mb.Task) -> tuple[np.ndarray, np.ndarray]:
    """The fraction of right train cells of each program, and a number that identifies its behaviour."""
    results = report.results
    assert results.cells_right is not None and results.hashes is not None
    right = np.maximum(results.cells_right, 0).reshape(programs, len(of.train))
    cells = np.array([0 if pair.output is None else pair.output.size for pair in of.train])
    _, behaviour = np.unique(results.hashes.reshape(programs, -1), axis=0, return_inverse=True)
    return right.sum(axis=1) / cells.sum(), behaviour.reshape(-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--population", type=int, default=1000)
    parser.add_argument("--generations", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()

    of = task(asked.seed)
    engine = mb.Engine(scores=True, max_steps=100_000)
    best = [mb.Program.parse(text) for text in FIRST]
    evaluations, began, cpu = 0, time.perf_counter(), time.process_time()
    for generation in range(asked.generations):
        share = max(1, asked.population // len(best))
        changed = [
            mutant
            for at, program in enumerate(best)
            for mutant in mb.mutate(program, 1000 * generation + at + asked.seed, count=share)
        ]
        programs = [*best, *changed, *(longer(program, primitive) for program in best for primitive in MORE)]
        report = engine.run(programs, of, jobs="all", train_only=True)
        good, behaviour = fitness(report, len(programs), of)
        evaluations += len(report.results)
        # The best of each behaviour; the shorter program wins a tie.
        order = sorted(range(len(programs)), key=lambda at: (-good[at], len(programs[at])))
        known: dict[int, mb.Program] = {}
        for at in order:
            known.setdefault(int(behaviour[at]), programs[at])
        best = list(known.values())[:50]
        print(f"generation {generation}: best {good[order[0]]:.3f}, {len(known):,} behaviours among {len(programs):,} programs")
        if good[order[0]] == 1.0:
            break
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(best[0], end="")
    (judged,) = engine.evaluate([str(best[0])], of)
    print(f"on the test pair too: {judged.verdicts[-1]}")
    print(f"{evaluations:,} evaluations in {seconds:.2f} s and {cpu:.2f} s of processors: {evaluations / cpu:,.0f} a second of processors")


if __name__ == "__main__":
    main()
