"""Programs in free Python, as most models write them: what a pool of isolated workers takes for them.

    python examples/free_python.py [--programs N] [--rounds N]

It judges different programs of four pairs beside an `exec` of each in this process, which isolates nothing; programs
that never end; and a batch of which all but a hundredth are programs of the DSL. Times are of processors, of this
process and of the workers, and medians of rounds, by turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mega_batch as mb

PROGRAM = "import numpy as np\n\ndef transform(grid):\n    # Number {number}.\n    grid = np.array(grid)\n    return np.fliplr(grid)\n"
DSL = "def solve(I):\n    x1 = vmirror(I)\n    x2 = replace(x1, {number}, {number})\n    O = hmirror(x2)\n    return hmirror(O)\n"


def task() -> mb.Task:
    dice = np.random.default_rng(0)
    grids = [dice.integers(0, 10, size=(12, 12)) for _ in range(4)]
    pairs = [(grid, grid[:, ::-1]) for grid in grids]
    return mb.Task("a", pairs[:3], pairs[3:])


def executed(texts: list[str], of: mb.Task) -> int:
    """How many are right, as a check without isolation says."""
    right = 0
    for text in texts:
        names: dict[str, Any] = {}
        exec(text, names)
        pairs = [*of.train, *of.test]
        right += all(np.array_equal(names["transform"](pair.input.tolist()), np.asarray(pair.output)) for pair in pairs)
    return right


def seconds(work: Callable[[], object]) -> float:
    """The time of processors, of this process and of those that it has ended."""
    began = sum(os.times()[:4])
    work()
    return sum(os.times()[:4]) - began


def judged(texts: list[str], of: mb.Task) -> None:
    # A pool of its own, whose workers end with it, so that their time counts.
    evaluated = mb.evaluate(texts, of, python=mb.PythonPool(workers=1))
    assert all(each.verdict == "match" for each in evaluated)


def main() -> None:
    arguments = argparse.ArgumentParser(description="Judges programs in free Python and says how fast that was.")
    arguments.add_argument("--programs", type=int, default=1000, help="how many in a batch")
    arguments.add_argument("--rounds", type=int, default=5, help="how many times each is measured")
    options = arguments.parse_args()
    count, of = options.programs, task()
    texts = [PROGRAM.format(number=number) for number in range(count)]
    assert executed(texts, of) == count
    pool, bare = list[float](), list[float]()
    for _ in range(options.rounds):
        start = seconds(lambda: judged(texts[:1], of))
        pool.append((seconds(lambda: judged(texts, of)) - start) / max(count - 1, 1))
        bare.append(seconds(lambda: executed(texts, of)) / count)
    of_pool, of_exec = (1000 * statistics.median(each) for each in (pool, bare))
    print(f"{count} programs of four pairs: {of_pool:.2f} ms each, {of_exec:.2f} ms by exec in this process")
    limit, workers = 0.25, len(os.sched_getaffinity(0))
    short = mb.PythonPool(cpu_seconds=limit)
    endless = [f"def transform(grid):\n    while True: {number}" for number in range(count // 10)]
    began = time.perf_counter()
    assert all(each.verdict == "limit" for each in mb.evaluate(endless, of, python=short))
    taken = time.perf_counter() - began
    print(f"{len(endless)} endless ones: {taken:.2f} s by the clock, {len(endless) * limit / workers:.2f} s are their limits")
    mixed = [DSL.format(number=number % 10) + f"# {number}" for number in range(count * 10)]
    began = time.perf_counter()
    mb.evaluate(mixed, of)
    alone = time.perf_counter() - began
    mixed[::100] = texts[: len(mixed[::100])]
    began = time.perf_counter()
    assert all(each.verdict == "match" for each in mb.evaluate(mixed, of, python=short))
    taken = time.perf_counter() - began
    print(f"{len(mixed)} texts, a hundredth in free Python: {taken:.2f} s by the clock; all of the DSL: {alone:.2f} s")
    print(f"peak memory of a worker: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10} MB")


if __name__ == "__main__":
    main()
