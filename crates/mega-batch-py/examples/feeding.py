"""Measures how many pairs a second come out of a data set, augmented and padded, by number of workers.

    python feeding.py --seconds 5
"""

from __future__ import annotations

import argparse
import sys

from mega_batch import synth

try:
    from mega_batch.torch import SynthDataset, TaskDataset, best_workers
except ImportError as error:
    sys.exit(str(error))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--batch", type=int, nargs="*", default=[512, 2048])
    parser.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2])
    asked = parser.parse_args()
    tasks = list(synth.tasks(count=asked.tasks, easy_nodes=0))
    for size in asked.batch:
        print(f"pairs of {len(tasks)} tasks, batches of {size}")
        print(best_workers(TaskDataset(tasks, batch_size=size), asked.workers, seconds=asked.seconds), flush=True)
        print(f"pairs of tasks made meanwhile, batches of {size}, each drawn 64 times")
        print(best_workers(SynthDataset(batch_size=size, easy_nodes=0), asked.workers, seconds=asked.seconds), flush=True)


if __name__ == "__main__":
    main()
