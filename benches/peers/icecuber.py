#!/usr/bin/env python3
"""Compares the search with icecuber (top-quarks/ARC-solution): tests right within 1, 2 and 3 attempts, and the
processor time that takes.

    cargo build --release --package mega-batch-cli
    python3 benches/peers/icecuber.py --checkout DIR --tasks DIR... --mega-batch target/release/mega-batch
                                             [--depths 2,3] [--nodes N] [--first N] [--rounds N] [--core N]
                                             [--gib N] [--flags FLAGS]

Each DIR of tasks is a set. Both are given the same tasks without their test outputs, and what they answer is
compared here with these. They run on one core, set by set, by turns: who begins
changes from set to set and from round to round. Times are user and system time of the processes, with all
that they do: reading tasks, searching, writing answers, and the exit.

Of icecuber the answers are those of `output/answer_<test>_<depth>.csv`, three for each depth at most, in the
order of its scores, a grid that comes twice counted once: so its `safe_run.py` joins runs of several depths,
which are 3, 23, 33 and 4 there (23 and 33 are depth 3 with mirrored tasks added). As there, each test and
depth is a process of its own, but that it finds nothing else to read. Where it ends early, for memory
(`--gib`) or by an assertion, the test has no answer of that depth; how often that was is told.

Of the search they are those of `mega-batch search --attempts 3 --json FILE`, with one worker.

The checkout is of icecuber, and nothing is written in it: its sources are compiled as they stand into a folder that
is removed in the end, but that the header of its timers is another one, which counts and looks at no clock.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

# In the place of `timer.hpp`, with what its sources call.
TIMER = """
struct Timer {
  long long count = 0;
  void start() { ++count; }
  void stop() {}
  void print(const string&) {}
};
"""

# In the place of `main.cpp`. The linker gives `now`, by which its runner takes times, to this file.
MAIN = """
#include <ctime>
#include <cstdio>
#include <cstdlib>
#include <string>
using std::string;
#include "timer.hpp"
#include "runner.hpp"
extern Timer real_f_time;
extern "C" double __wrap__Z3nowv() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}
int main(int, char **arguments) {
  int inputs = atoi(arguments[1]), depth = atoi(arguments[2]);
  for (int input = 0; input < inputs; ++input) run(input, depth);
  printf("image calls: %lld\\n", real_f_time.count);
}
"""

LEFT_OUT = {"main.cpp", "count_tasks.cpp"}


def build(checkout, flags, folder):
    """The program that runs icecuber on the tasks of `dataset/evaluation` where it is started."""
    (folder / "timer.hpp").write_text(TIMER, encoding="utf-8")
    (folder / "main.cpp").write_text(MAIN, encoding="utf-8")
    sources = [path for path in sorted((checkout / "src").glob("*.cpp")) if path.name not in LEFT_OUT]
    if not sources:
        sys.exit(f"{checkout}: expected a checkout with C++ in src/, found none")
    objects = []
    for source in [*sources, folder / "main.cpp"]:
        objects.append(folder / f"{source.stem}.o")
        command = ["g++", "-w", *flags, "-c", source, "-o", objects[-1], "-I", folder, "-I", checkout / "headers"]
        subprocess.run(command, check=True)
    program = folder / "icecuber"
    subprocess.run(["g++", *flags, *objects, "-Wl,--wrap=_Z3nowv", "-lstdc++fs", "-o", program], check=True)
    return program


def as_it_reads(path):
    """A task's JSON with its names in the order in which icecuber's reader expects them, and no others, and
    how many test inputs it has."""
    task = json.loads(path.read_text(encoding="utf-8"))
    pairs = {part: [{side: pair[side] for side in ("input", "output")} for pair in task[part]] for part in ("train", "test")}
    return json.dumps(pairs), len(pairs["test"])


# How many attempts are looked at.
ATTEMPTS = 3


class TaskSet:
    """The tasks of a folder, written without test outputs where each of both reads them."""

    def __init__(self, source, first, folder):
        self.source, self.folder = source, folder
        paths = sorted(source.glob("*.json"))[:first]
        if not paths:
            sys.exit(f"{source}: expected a folder of tasks as JSON, found none")
        self.read = folder / "read"
        self.read.mkdir(parents=True)
        # Test outputs by task and test, and where icecuber is started for them.
        self.expected, self.starts = {}, {}
        for path in paths:
            text, _ = as_it_reads(path)
            task = json.loads(text)
            for test, pair in enumerate(task["test"]):
                self.expected[path.stem, test] = pair.pop("output")
            for test, pair in enumerate(task["test"]):
                start = folder / "tests" / f"{path.stem}_{test}"
                (start / "dataset" / "evaluation").mkdir(parents=True)
                (start / "output").mkdir()
                alone = {"train": task["train"], "test": [pair]}
                (start / "dataset" / "evaluation" / path.name).write_text(json.dumps(alone), encoding="utf-8")
                self.starts[path.stem, test] = start
            (self.read / path.name).write_text(json.dumps(task), encoding="utf-8")


def measured(command, folder, gib=None):
    """What became of a command, and its processor time."""

    def bound():
        if gib:
            resource.setrlimit(resource.RLIMIT_AS, (int(gib * 2**30),) * 2)

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
    done = subprocess.run([*map(str, command)], cwd=folder, preexec_fn=bound, **pipes)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def or_end(done):
    if done.returncode != 0:
        sys.exit(f"{' '.join(done.args)}: exit code {done.returncode}\n{done.stderr[-2000:]}")


def read_answers(path):
    """The grids of a file of icecuber's answers, with their scores."""
    grids = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        rows, score = line.split()
        grids.append((float(score), [[int(cell) for cell in row] for row in rows.strip("|").split("|")]))
    return grids


def by_icecuber(program, tasks, arguments):
    """How many tests are right, the processor time, and how many processes have ended early."""
    answers, seconds, ended = {}, 0.0, 0
    for test, start in tasks.starts.items():
        scored = []
        for depth in arguments.depths:
            # One test: its number is 0.
            done, used = measured([program, 1, depth], start, arguments.gib)
            seconds += used
            answer = start / "output" / f"answer_0_{depth}.csv"
            if done.returncode == 0:
                scored += read_answers(answer)
            else:
                ended += 1
            answer.unlink(missing_ok=True)
        answers[test] = []
        for _, grid in sorted(scored, key=lambda scored: -scored[0]):
            if grid not in answers[test]:
                answers[test].append(grid)
    return right(answers, tasks), seconds, ended


def right(answers, tasks):
    """How many tests are right within 1, 2 and 3 attempts."""
    counts = [0] * ATTEMPTS
    for test, expected in tasks.expected.items():
        given = answers.get(test, [])[:ATTEMPTS]
        if expected in given:
            for attempts in range(given.index(expected), ATTEMPTS):
                counts[attempts] += 1
    return counts


def by_mega_batch(tasks, arguments):
    """The same of the search."""
    document = tasks.folder / "found.json"
    nodes = ["--nodes", arguments.nodes] if arguments.nodes else []
    command = [arguments.mega_batch, "search", "--tasks", tasks.read, "--attempts", ATTEMPTS, "--workers", 1]
    done, seconds = measured([*command, *nodes, "--json", document, "--quiet"], tasks.folder)
    or_end(done)
    answers = {}
    for result in json.loads(document.read_text(encoding="utf-8"))["results"]:
        for test, attempts in enumerate(result["answers"]):
            answers[result["task"], test] = [result["attempts"][attempt]["outputs"][test] for attempt in attempts]
    return right(answers, tasks), seconds, 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    depths = lambda text: [int(depth) for depth in text.split(",")]
    parser.add_argument("--checkout", type=pathlib.Path, required=True)
    parser.add_argument("--tasks", type=pathlib.Path, nargs="+", required=True, help="folders of tasks as JSON")
    parser.add_argument("--mega-batch", type=pathlib.Path, required=True, help="the command")
    parser.add_argument("--depths", type=depths, default=[2], help="icecuber's depths, as 3,23,33")
    parser.add_argument("--nodes", type=int, help="values that the search keeps for a task")
    parser.add_argument("--first", type=int, help="so many tasks of each folder, the first ones")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--core", type=int, default=min(os.sched_getaffinity(0)))
    parser.add_argument("--gib", type=float, default=8, help="memory that a process of icecuber may take")
    parser.add_argument("--flags", default="-std=c++17 -O2", help="of the compiler; as icecuber's Makefile has them")
    arguments = parser.parse_args()
    arguments.mega_batch = arguments.mega_batch.resolve()
    os.sched_setaffinity(0, {arguments.core})
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(arguments.checkout.resolve(), arguments.flags.split(), folder)
        sets = enumerate(path.resolve() for path in arguments.tasks)
        sets = [TaskSet(path, arguments.first, folder / str(number)) for number, path in sets]
        nodes = arguments.nodes or "as many as it keeps by itself"
        print(f"icecuber: depths {arguments.depths}, {arguments.flags}; the search: nodes {nodes}; core {arguments.core}")
        solvers = [
            ("icecuber", lambda tasks: by_icecuber(program, tasks, arguments)),
            ("search", lambda tasks: by_mega_batch(tasks, arguments)),
        ]
        turn = 0
        for number in range(arguments.rounds):
            for tasks in sets:
                tests = len(tasks.expected)
                print(f"round {number}, {tasks.source}: {tests} tests", flush=True)
                for name, solve in solvers[::-1] if turn % 2 else solvers:
                    counts, seconds, ended = solve(tasks)
                    note = f", {ended} processes ended early" if ended else ""
                    print(
                        f"  {name:8} right within 1, 2, 3 attempts: {', '.join(map(str, counts))};"
                        f" {seconds:.1f} CPU s, {seconds / tests:.2f} a test{note}",
                        flush=True,
                    )
                turn += 1


if __name__ == "__main__":
    main()
