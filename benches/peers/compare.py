#!/usr/bin/env python3
"""Times mega-batch beside CPython on the same programs and tasks, by turns, on one core.

    cargo build --release --package mega-batch
    python3 benches/peers/compare.py --reference DIR --tasks DIR --engine target/release/mega-batch
                                     [--rounds N] [--without ID]...

On both sides the time is that of the evaluations alone: no process start, no parsing. With
`--without` everything is timed a second time without those programs.
"""

import argparse
import ast
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def without(text, ids):
    """The text of solvers.py without the programs of these ids."""
    lines = text.splitlines(keepends=True)
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef) and node.name.rpartition("_")[2] in ids:
            del lines[node.lineno - 1 : node.end_lineno]
    return "".join(lines)


def cpython(arguments, ids):
    command = [sys.executable, HERE / "cpython.py", "--reference", arguments.reference]
    command += ["--tasks", arguments.tasks, "--json", "-"]
    for task in ids:
        command += ["--without", task]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def engine(arguments, programs, folder):
    report = folder / "report.json"
    command = [arguments.engine, "run", "--mode", "sequential", "--quiet", "--json", report]
    command += ["--tasks", arguments.tasks, "--programs", programs]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(report.read_text(encoding="utf-8"))


def measure(arguments, ids, folder):
    """Both sides by turns; prints a line a round and the ratio of the medians."""
    programs = folder / "solvers.py"
    text = pathlib.Path(arguments.reference, "solvers.py").read_text(encoding="utf-8")
    programs.write_text(without(text, ids), encoding="utf-8")
    print(f"without {', '.join(ids)}" if ids else "all programs")
    print(f"  {'CPython':>12} {'mega-batch':>12} {'ratio':>8}")
    times = []
    for _ in range(arguments.rounds):
        theirs, ours = cpython(arguments, ids), engine(arguments, programs, folder)
        if theirs["evaluations"] != ours["evaluations"]:
            sys.exit(f"not the same work: {theirs['evaluations']} and {ours['evaluations']} evaluations")
        times.append((theirs["seconds"], ours["seconds"]))
        print(f"  {times[-1][0]:>10.3f} s {times[-1][1]:>10.4f} s {times[-1][0] / times[-1][1]:>8.1f}")
    theirs_median, ours_median = map(statistics.median, zip(*times))
    print(f"  {theirs_median:>10.3f} s {ours_median:>10.4f} s {theirs_median / ours_median:>8.1f}  median")
    print(
        f"  {theirs['evaluations']} evaluations; right: {theirs['engine']} {theirs['pairs_right']}, "
        f"mega-batch {ours['pairs_right']}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", required=True, metavar="DIR", help="Python arc-dsl")
    parser.add_argument("--tasks", required=True, metavar="DIR", help="task JSON")
    parser.add_argument("--engine", required=True, metavar="PATH", help="the binary mega-batch")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each side")
    parser.add_argument("--without", action="append", default=[], metavar="ID", help="time again without this program")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        # What is started from here stays on the core too.
        core = max(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {core})
        print(f"on core {core}")
    else:
        print("not bound to a core: this system does not offer it")
    with tempfile.TemporaryDirectory() as folder:
        for ids in [[], arguments.without] if arguments.without else [[]]:
            measure(arguments, ids, pathlib.Path(folder))


if __name__ == "__main__":
    main()
