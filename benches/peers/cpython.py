#!/usr/bin/env python3
"""Times the programs of a Python arc-dsl checkout on ARC tasks.

Every program is run once on each pair of the task that ends its name, in this one process. Loading
is not timed, comparing the output with the expected one is.

    python3 benches/peers/cpython.py --reference DIR --tasks DIR [--repeat N] [--without ID]...
                                     [--json FILE]
"""

import argparse
import json
import pathlib
import platform
import sys
import time


def grid(rows):
    return tuple(tuple(row) for row in rows)


def load_tasks(directory):
    """The pairs of each task by its id."""
    tasks = {}
    for path in sorted(pathlib.Path(directory).glob("*.json")):
        task = json.loads(path.read_text(encoding="utf-8"))
        pairs = task["train"] + task["test"]
        tasks[path.stem] = [(grid(pair["input"]), grid(pair["output"])) for pair in pairs]
    return tasks


def load_programs(directory):
    """The functions of solvers.py by the id of their task."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(directory))
    import solvers

    named = (name.rpartition("_") for name in vars(solvers))
    return {task: getattr(solvers, f"{kind}_{task}") for kind, _, task in named if kind == "solve"}


def run(programs, tasks):
    """One run of everything: seconds, seconds by program, evaluations, right ones."""
    by_program = {}
    evaluations = right = 0
    clock = time.perf_counter
    start = clock()
    for task, program in programs.items():
        begin = clock()
        for given, expected in tasks[task]:
            evaluations += 1
            try:
                right += program(given) == expected
            except Exception:
                pass
        by_program[task] = clock() - begin
    return clock() - start, by_program, evaluations, right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", required=True, metavar="DIR", help="dsl.py and solvers.py")
    parser.add_argument("--tasks", required=True, metavar="DIR", help="task JSON")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of everything")
    parser.add_argument("--without", action="append", default=[], metavar="ID", help="leave a program out")
    parser.add_argument("--json", metavar="FILE", help="write the figures, `-` to standard output")
    arguments = parser.parse_args()

    tasks = load_tasks(arguments.tasks)
    programs = {
        task: program
        for task, program in load_programs(arguments.reference).items()
        if task in tasks and task not in arguments.without
    }
    if not programs:
        sys.exit("no program of the reference has its task among the tasks")
    runs = [run(programs, tasks) for _ in range(max(arguments.repeat, 1))]
    seconds, by_program, evaluations, right = min(runs)
    slowest = sorted(by_program.items(), key=lambda item: -item[1])[:5]
    figures = {
        "engine": f"CPython {platform.python_version()}",
        "programs": len(programs),
        "evaluations": evaluations,
        "pairs_right": right,
        "seconds": seconds,
        "evaluations_per_second": evaluations / seconds,
        "all_seconds": [figure[0] for figure in runs],
        "slowest": dict(slowest),
    }
    if arguments.json == "-":
        print(json.dumps(figures))
        return
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(f"{figures['engine']}: {len(programs)} programs, {evaluations} evaluations, {right} right")
    print(f"{seconds:.3f} s, {evaluations / seconds:,.0f} evaluations a second (best of {len(runs)})")
    for task, taken in slowest:
        print(f"  {task}  {taken:.3f} s")


if __name__ == "__main__":
    main()
