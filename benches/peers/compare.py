#!/usr/bin/env python3
"""Times mega-batch beside CPython on the same programs and tasks, by turns, on one core.

    cargo build --release --package mega-batch-cli
    python3 benches/peers/compare.py --reference DIR --tasks DIR --engine target/release/mega-batch
                                     [--rounds N] [--without ID]... [--backend NAME]...

On both sides the time is that of the evaluations alone: no process start, no parsing. Compiling is
in the time of the compiled backends; `evaluating` is what is left without it. With `--without`
everything is timed a second time without those programs. Every backend is to give the same results.
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

BACKENDS = ["reference", "compiled", "auto"]
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


def engine(arguments, backend, programs, folder):
    report = folder / "report.json"
    command = [arguments.engine, "run", "--mode", "sequential", "--quiet", "--json", report]
    command += ["--tasks", arguments.tasks, "--programs", programs, "--backend", backend]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(report.read_text(encoding="utf-8"))


def measure(arguments, ids, folder):
    """All by turns; prints the medians, and CPython's time as a multiple of each of ours."""
    programs = folder / "solvers.py"
    text = pathlib.Path(arguments.reference, "solvers.py").read_text(encoding="utf-8")
    programs.write_text(without(text, ids), encoding="utf-8")
    print(f"without {', '.join(ids)}" if ids else "all programs")
    rows = {"CPython": []}
    for _ in range(arguments.rounds):
        theirs = cpython(arguments, ids)
        rows["CPython"].append(theirs["seconds"])
        results = None
        for backend in arguments.backend:
            ours = engine(arguments, backend, programs, folder)
            if theirs["evaluations"] != ours["evaluations"]:
                sys.exit(f"not the same work: {theirs['evaluations']} and {ours['evaluations']} evaluations")
            if results not in (None, ours["results"]):
                sys.exit(f"{backend}: not the results of {arguments.backend[0]}")
            results = ours["results"]
            rows.setdefault(backend, []).append(ours["seconds"])
            if ours["compile_seconds"]:
                rows.setdefault(f"{backend}, evaluating", []).append(ours["seconds"] - ours["compile_seconds"])
    print(f"  {'median':<24} {'time':>12} {'CPython / it':>12}  (least to most)")
    medians = {label: statistics.median(times) for label, times in rows.items()}
    for label, times in rows.items():
        ratios = sorted(theirs / ours for theirs, ours in zip(rows["CPython"], times))
        ratio = medians["CPython"] / medians[label]
        spread = f"({ratios[0]:.1f} to {ratios[-1]:.1f})"
        print(f"  {label:<24} {medians[label]:>10.5f} s {ratio:>12.1f}  {spread}")
    print(
        f"  {theirs['evaluations']} evaluations; right: {theirs['engine']} {theirs['pairs_right']}, "
        f"mega-batch {ours['pairs_right']}; by machines: {ours['backend']['compiled']} ({arguments.backend[-1]})"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", required=True, metavar="DIR", help="Python arc-dsl")
    parser.add_argument("--tasks", required=True, metavar="DIR", help="task JSON")
    parser.add_argument("--engine", required=True, metavar="PATH", help="the binary mega-batch")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each side")
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="time this one [default: reference, compiled]")
    parser.add_argument("--without", action="append", default=[], metavar="ID", help="time again without this program")
    arguments = parser.parse_args()
    arguments.backend = arguments.backend or ["reference", "compiled"]
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
