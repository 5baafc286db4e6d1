"""Measures how many pairs a second come out of a data set, augmented and padded, by number of workers.

    python feeding.py --seconds 5
"""

from __future__ import annotations

import argparse
import sys
import time

from mega_batch import synth

try:
    from mega_batch.torch import SynthDataset, TaskDataset, best_workers, loader
except ImportError as error:
    sys.exit(str(error))


def by_processor(data: TaskDataset | SynthDataset, seconds: float) -> float:
    """Pairs per second of processor time, in this process alone: unaffected by other work on the machine."""
    batches = iter(loader(data, workers=0))
    next(batches)
    begin, done = time.process_time(), 0
    while time.process_time() - begin < seconds:
        for batch in batches:
            done += len(batch["inputs"])
            if time.process_time() - begin >= seconds:
                break
        else:
            batches = iter(loader(data, workers=0))
    return done / (time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--batch", type=int, nargs="*", default=[512, 2048])
    parser.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2])
    asked = parser.parse_args()
    tasks = list(synth.tasks(count=asked.tasks, easy_nodes=0))
    for size in asked.batch:
        kinds: list[tuple[str, TaskDataset | SynthDataset]] = [
            (f"pairs of {len(tasks)} tasks", TaskDataset(tasks, batch_size=size)),
            ("pairs of tasks made meanwhile, each drawn 64 times", SynthDataset(batch_size=size, easy_nodes=0)),
        ]
        for name, data in kinds:
            print(f"{name}, batches of {size}")
            print(f"{by_processor(data, asked.seconds / 2):,.0f} a second of processors")
            print(best_workers(data, asked.workers, seconds=asked.seconds), flush=True)


if __name__ == "__main__":
    main()
