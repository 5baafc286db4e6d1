"""What it costs to run programs from Python, beside the command.

    python examples/overhead.py SOLVERS TASKS COMMAND

SOLVERS is a file of programs named by tasks, TASKS a folder of tasks, COMMAND the command `mega-batch`. Programs
are given as one text and tasks as lists, as Python has them. It tells the memory of the process while ten
million evaluations are streamed, how many pairs are right, what one call of a program takes, and the time of a
hundred thousand evaluations over that of the command, by turns.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import mega_batch as mb


def beside_the_command(text: str, tasks: dict[str, Any], arguments: argparse.Namespace) -> None:
    """The time of Python from text and lists to arrays, and of the command from files to its end."""
    programs = len(mb.parse_programs(text))
    some, pairs = {}, 0
    for name, task in tasks.items():
        if programs * pairs >= arguments.evaluations:
            break
        some[name] = task
        pairs += len(task["train"]) + len(task["test"])
    with tempfile.TemporaryDirectory() as folder:
        for name in some:
            shutil.copy(arguments.tasks / f"{name}.json", folder)
        command = [arguments.command, "run", "--quiet", "--all-pairs", "--tasks", folder, "--programs", arguments.solvers]
        ratios = []
        for _ in range(arguments.rounds):
            began = time.perf_counter()
            # The command ends with 1 if programs are wrong on a foreign task.
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
            of_command = time.perf_counter() - began
            began = time.perf_counter()
            report = mb.run(text, some, jobs="all")
            assert len(report.results.verdicts) == programs * pairs
            ratios.append((time.perf_counter() - began) / of_command)
            print(f"  command {of_command:.2f} s, Python {ratios[-1] * of_command:.2f} s", flush=True)
    print(f"{programs * pairs} evaluations: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) "
          f"of the command's time, {arguments.rounds} rounds")


def one_call(rounds: int) -> None:
    program = mb.Program.parse("O = vmirror(I)")
    for kind in (np.int8, np.int64):
        grid = np.arange(100, dtype=kind).reshape(10, 10) % 10
        taken = []
        for _ in range(rounds):
            began = time.perf_counter()
            for _ in range(100_000):
                program(grid)
            taken.append((time.perf_counter() - began) * 10)
        print(f"one call, 10 x 10 of {kind.__name__}: {statistics.median(taken):.2f} us ({min(taken):.2f} to {max(taken):.2f})")


def memory() -> float:
    """The memory of this process in megabytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def streamed(tasks: dict[str, Any], evaluations: int) -> None:
    calls = ["vmirror", "hmirror", "rot90", "rot180", "rot270", "dmirror", "cmirror", "trim", "tophalf", "lefthalf"]
    texts = [f"x1 = {a}(I)\nx2 = {b}(x1)\nO = {c}(x2)" for a in calls for b in calls for c in calls]
    pairs = sum(len(task["train"]) + len(task["test"]) for task in tasks.values())
    texts *= -(-evaluations // (len(texts) * pairs))
    seen: list[float] = []
    programs = [mb.Program.parse(text) for text in texts]
    began = time.perf_counter()
    report = mb.run(programs, tasks, jobs="all", on_results=lambda results: seen.append(memory()))
    taken = time.perf_counter() - began
    quarters = ", ".join(f"{seen[len(seen) * quarter // 4 - (quarter == 4)]:.0f}" for quarter in range(5))
    print(f"{report.evaluations} evaluations streamed in {taken:.1f} s: {quarters} MB at their beginning, quarters and end, "
          f"{max(seen):.0f} MB at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("solvers", type=Path)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("command", type=Path)
    parser.add_argument("--evaluations", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--streamed", type=int, default=10_000_000)
    arguments = parser.parse_args()
    text = arguments.solvers.read_text()
    tasks = {path.stem: json.loads(path.read_text()) for path in sorted(arguments.tasks.glob("*.json"))}
    # Runs first, since memory freed by the others would still count.
    if Path("/proc/self/status").exists():
        streamed(tasks, arguments.streamed)
    report = mb.run(text, tasks)
    print(f"{report.right} of {report.evaluations} pairs right, {report.tasks_solved} of {len(tasks)} tasks")
    one_call(arguments.rounds)
    beside_the_command(text, tasks, arguments)


if __name__ == "__main__":
    main()
