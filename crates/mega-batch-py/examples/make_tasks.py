"""Makes tasks of programs and writes them, and says how fast and what was dropped.

    python make_tasks.py --count 100000 --out tasks.jsonl
    python make_tasks.py --count 100000 --out tasks.parquet --programs solvers.py --tasks training/
    python make_tasks.py --count 100000 --out folder/ --augment 3
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from mega_batch import synth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="tasks to make")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a file (.jsonl, .jsonl.gz, .arrow, .parquet) or a folder [default: none is kept]")
    parser.add_argument("--programs", type=Path, help="a file or folder of programs [default: the engine's own]")
    parser.add_argument("--tasks", type=Path, help="a file or folder of tasks whose inputs are used too")
    parser.add_argument("--augment", type=int, default=0, help="augmentations of each task")
    parser.add_argument("--easy-nodes", type=int, default=300, help="tasks that a search of so many nodes solves are dropped")
    parser.add_argument("--workers", type=int, help="threads [default: one for each core]")
    parser.add_argument("--progress", action="store_true")
    asked = parser.parse_args()

    made = synth.tasks(
        asked.programs,
        asked.tasks,
        count=asked.count,
        seed=asked.seed,
        easy_nodes=asked.easy_nodes,
        workers=asked.workers,
        progress=asked.progress,
    )
    stream = synth.augmented(made, asked.seed, count=asked.augment)
    begin, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        out: Path = asked.out or Path(folder) / "tasks.jsonl"
        if ".jsonl" in out.name:
            written = synth.write_jsonl(out, stream)
        elif out.suffix == ".arrow":
            written = synth.write_arrow(out, stream)
        elif out.suffix == ".parquet":
            written = synth.write_parquet(out, stream)
        else:
            written = synth.write_dataset(out, stream)["train"]
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    counts = made.counts
    print(f"{counts['made']} tasks made, {written} written in {seconds:.1f} s and {cpu:.1f} s of processors")
    print(f"{counts['made'] / seconds * 3600:,.0f} tasks an hour")
    print(", ".join(f"{count} {reason}" for reason, count in counts.items() if reason != "made"))


if __name__ == "__main__":
    main()
