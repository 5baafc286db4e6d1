"""A reward for what a language model writes: completions in, scores from 0 to 1 out.

    python examples/reward.py [--completions N] [--rounds N]

It shows the verdicts on some completions, and how long batches of them take: different programs in fenced code with
prose around it, as `mega_batch.reward` gets them from TRL's trainers; ten times as many, of which a tenth are
different programs that run into a limit; and one such program under other names. Engines are warm: a round before is not counted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import mega_batch as mb

PROGRAM = """def solve(I):
    x1 = objects(I, T, F, T)
    x2 = argmax(x1, size)
    x3 = subgrid(x2, I)
    x4 = replace(x3, TWO, FIVE)
    x5 = hmirror(x4)
    x6 = trim(x5)
    O = vmirror(x6)
    return O
"""
LOOP = """def solve(I):
    x1 = asobject(I)
    x2 = shift(x1, {step})
    x3 = order(x2, first)
    x4 = product(x3, x3)
    x5 = product(x4, x4)
    O = fill(I, ONE, x5)
    return O
"""


def completion(code: str) -> list[dict[str, str]]:
    """A message as a chat model writes it."""
    text = f"Let me look at the pairs. The largest object counts.\n\n```python\n{code}```\n\nThis is right on all pairs."
    return [{"role": "assistant", "content": text}]


def task() -> mb.Task:
    dice = np.random.default_rng(0)
    grids = [dice.integers(0, 4, size=(12, 12)) for _ in range(4)]
    pairs = [(grid, grid[::-1, ::-1]) for grid in grids]
    return mb.Task("a", pairs[:3], pairs[3:])


def milliseconds(work: Callable[[], object], rounds: int) -> str:
    """The time of a round, by the clock and of processors; the latter depends less on other work."""
    taken, cpu = list[float](), list[float]()
    work()
    for _ in range(rounds):
        began, before = time.perf_counter(), time.process_time()
        work()
        cpu.append((time.process_time() - before) * 1e3)
        taken.append((time.perf_counter() - began) * 1e3)
    clock = f"{statistics.median(taken):8.1f} ms ({min(taken):.1f} to {max(taken):.1f})"
    return f"{clock}, of processors {statistics.median(cpu):.1f} ms ({min(cpu):.1f} to {max(cpu):.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--completions", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    of = task()
    shown = ["Mirrored both ways: O = rot180(I)\n\nO = rot180(I)", "O = hmirror(I)", "O = height(I)", "I do not know.", None]
    for text, each in zip(shown, mb.evaluate(shown, of), strict=True):
        print(f"{each.score:.2f}  {each.verdict:10}  {text!r}")
    assert mb.reward(shown, of) == [each.score for each in mb.evaluate(shown, of)]
    many = arguments.completions
    programs = [PROGRAM, *map(str, mb.mutate(mb.Program.parse(PROGRAM), 1, count=many - 1))]
    batch = [completion(program) for program in programs]
    print(f"{many:>8,} completions: {milliseconds(lambda: mb.reward(batch, of), arguments.rounds)}")
    loops = [completion(LOOP.format(step=(at, at))) for at in range(many)]
    ten = [loops[at // 10] if at % 10 == 0 else batch[at % many] for at in range(10 * many)]
    limits = sum(each.verdict == "limit" for each in mb.evaluate(ten, of))
    told = milliseconds(lambda: mb.reward(ten, of), arguments.rounds)
    print(f"{len(ten):>8,} completions, {limits:,} different ones at the limit: {told}")
    copies = [completion(LOOP.format(step=(0, 0)).replace("x", f"v{at}_")) for at in range(many)]
    print(f"{many:>8,} copies of one at the limit: {milliseconds(lambda: mb.reward(copies, of), arguments.rounds)}")


if __name__ == "__main__":
    main()
