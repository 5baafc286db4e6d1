"""Self-consistency: many completions for each task, of which those that fit vote for two outputs.

    python examples/self_consistency.py [--tasks N] [--samples N]

There is no model here. In its place stands a sampler that writes, in prose and fences, mutants of a program that is right,
and the program itself now and then. Replace `sample` by what your model gives.
"""

from __future__ import annotations

import argparse
import random
import time

import numpy as np

import mega_batch as mb
from mega_batch import synth


def sample(made: mb.SynthTask, samples: int, seed: int) -> list[str]:
    """Completions as a model might write them: one in twenty is right."""
    assert made.program is not None
    dice = random.Random(seed)
    wrong = mb.mutate(made.program, seed, count=samples)
    codes = [made.program if dice.random() < 0.05 else dice.choice(wrong) for _ in range(samples)]
    return [f"The outputs follow from this:\n\n```python\n{code}```\n" for code in codes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=50)
    parser.add_argument("--samples", type=int, default=100, help="completions of each task")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()

    tasks = list(synth.tasks(count=asked.tasks, seed=asked.seed, easy_nodes=0))
    texts = [sample(made, asked.samples, asked.seed + at) for at, made in enumerate(tasks)]
    first = voted = 0.0
    began, cpu = time.perf_counter(), time.process_time()
    for made, of_task in zip(tasks, texts, strict=True):
        evaluated = mb.evaluate(of_task, made.task, outputs=True)
        right = sum(each.verdict == "match" for each in evaluated)
        first += float(mb.pass_at_k(len(evaluated), right, k=2))
        # The test outputs are known here, and used only to measure how good the votes are.
        expected = [pair.output for pair in made.task.test]
        attempts = mb.majority_attempts(evaluated)
        voted += all(
            any(output is not None and np.array_equal(output, attempt) for attempt in of_pair)
            for output, of_pair in zip(expected, attempts, strict=True)
        )
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    judged = len(tasks) * asked.samples
    print(f"{len(tasks)} tasks of {asked.samples} completions: two of them right by chance {first / len(tasks):.0%}, by votes {voted / len(tasks):.0%}")
    print(f"{judged:,} completions judged in {seconds:.2f} s and {cpu:.2f} s of processors: {judged / cpu:,.0f} a second of processors")


if __name__ == "__main__":
    main()
