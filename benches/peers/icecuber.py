#!/usr/bin/env python3
"""Times the C++ of icecuber (top-quarks/ARC-solution) beside mega-batch's search, by turns, on one core.

    cargo build --release --package mega-batch --example search
    python3 benches/peers/icecuber.py --checkout DIR --tasks DIR --search target/release/examples/search
                                      [--depth N] [--calls N] [--rounds N] [--core N] [--flags FLAGS]

Both make calls on images, keep each result that is new, and call on that again. Of icecuber that is
`brutePieces2`, and an image call is one of its functions applied to one image, or to one list of them. Of
the search it is making calls, and an evaluation is a call on one input. What either does with what it has
made is not in the times. They are processor time: that of the search's process, by the share that making
calls has of its time by the clock, as it prints it.

DIR is a checkout of icecuber, in which nothing is written: its sources are compiled as they stand into a
folder that is removed in the end, but that the header of its timers is another one, which counts and
looks at no clock. Its own timers look at it in one of a hundred calls.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

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


def output(command, core, folder=None):
    command = ["taskset", "-c", str(core), *map(str, command)]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def icecuber(program, inputs, arguments, folder):
    """Its image calls, the seconds of making them, and the test inputs that it was run for."""
    text = output([program, inputs, arguments.depth], arguments.core, folder)
    times = [float(seconds) for seconds in re.findall(r"brutePieces time: (\S+)", text)]
    return int(re.search(r"image calls: (\d+)", text)[1]), sum(times), len(times)


def search(arguments):
    """The evaluations and the calls of the search, and the seconds of making them."""
    used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    text = output([arguments.search, arguments.tasks, arguments.calls], arguments.core)
    clock, before, used = time.monotonic() - start, used, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    found = re.search(r"(\d+) calls \(.*\), (\d+) evaluations \(([\d.]+) million/s\)", text)
    if not found:
        sys.exit(f"{arguments.search}: expected its counts of calls and evaluations, found\n{text}")
    calls, evaluations, rate = int(found[1]), int(found[2]), float(found[3])
    return evaluations, calls, evaluations / rate / 1e6 * processor / clock


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=pathlib.Path, required=True)
    parser.add_argument("--tasks", type=pathlib.Path, required=True, help="a folder of tasks as JSON")
    parser.add_argument("--search", type=pathlib.Path, required=True)
    parser.add_argument("--depth", type=int, default=2, help="how many calls icecuber makes of each other")
    parser.add_argument("--calls", type=int, default=400_000, help="calls a task of the search")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int, default=min(os.sched_getaffinity(0)))
    parser.add_argument("--flags", default="-std=c++17 -O2", help="of the compiler; as icecuber's Makefile has them")
    arguments = parser.parse_args()
    tasks = [path.resolve() for path in sorted(arguments.tasks.glob("*.json"))]
    if not tasks:
        sys.exit(f"{arguments.tasks}: expected a folder of tasks as JSON, found none")
    arguments.search = arguments.search.resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(arguments.checkout.resolve(), arguments.flags.split(), folder)
        (folder / "output").mkdir()
        (folder / "dataset" / "evaluation").mkdir(parents=True)
        inputs = 0
        for task in tasks:
            text, tests = as_it_reads(task)
            (folder / "dataset" / "evaluation" / task.name).write_text(text, encoding="utf-8")
            inputs += tests
        print(f"{len(tasks)} tasks, depth {arguments.depth}, {arguments.calls} calls a task, {arguments.flags}")
        ratios = []
        for number in range(arguments.rounds):
            images, their_time, runs = icecuber(program, inputs, arguments, folder)
            evaluations, calls, our_time = search(arguments)
            theirs, ours = images / their_time / 1e6, evaluations / our_time / 1e6
            ratios.append(ours / theirs)
            print(
                f"  {number}: icecuber {images} image calls in {their_time:.2f} s ({runs} test inputs),"
                f" {theirs:.2f} million/s; search {calls} calls, {evaluations} evaluations in {our_time:.2f} s,"
                f" {ours:.2f} million/s: {ratios[-1]:.2f} times as many"
            )
        print(f"  middle: {statistics.median(ratios):.2f} times as many ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
