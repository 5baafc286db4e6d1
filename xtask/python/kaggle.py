"""Runs the notebook for Kaggle here, cell by cell, in a folder that imitates Kaggle's.

Usage: python3 kaggle.py PACKED ENGINE TASKS

PACKED has the folders `dataset` and `notebook` as they are uploaded; ENGINE is the engine, which runs from where it is
too; TASKS is a JSON object of tasks with their solutions, which the programs of the dataset solve. With ARC_DATA_DIR the
notebook also searches for ARC-AGI-1's evaluation tasks. Whatever is missing or fails, a run must end without an exception
and leave a valid submission.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace

# How many of the 419 test inputs of ARC-AGI-1's evaluation tasks the search must get right.
FOUND = 130

# The maximum number of lines that a rerun prints.
MOST_LINES = 100

# Runs the code cells of a notebook in their order, as a Jupyter kernel does.
RUNNER = """
import json, sys
with open(sys.argv[1]) as file:
    cells = json.load(file)["cells"]
names = {"__name__": "__main__"}
for number, cell in enumerate(cells):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
"""

# Engines that fail, as shell scripts. `{engine}` stands for the one that works.
CRASHING_ONCE = """\
[ "$1" = run ] && [ ! -e "$0.run" ] && : > "$0.run" && kill -SEGV $$
exec '{engine}' "$@"
"""
CRASHING = "kill -SEGV $$\n"
# It writes half a submission and crashes.
SPOILING = """\
while [ $# -gt 0 ]; do
[ "$1" = --submission ] && printf '{{"a' > "$2"
shift
done
kill -SEGV $$
"""


@dataclass(frozen=True)
class Scenario:
    """One run of the notebook."""

    name: str
    rerun: bool = False
    # Where Kaggle puts inputs; both layouts have occurred: `competitions/NAME` and `datasets/OWNER/NAME`, or `NAME`.
    flat: bool = False
    bench: bool = False
    # Whether there is the dataset, whether it has programs, and a script in the place of its engine.
    dataset: bool = True
    programs: bool = False
    script: str = ""
    # Whether the file of challenges is truncated; then there is a sample submission.
    broken: bool = False
    # Whether the tasks are ARC-AGI-1's evaluation tasks.
    evaluation: bool = False

    @property
    def works(self):
        """Whether the engine can produce a submission."""
        return self.dataset and self.script in ("", CRASHING_ONCE)


ALL = Scenario("all of it, folders by kind", bench=True, programs=True)
SCENARIOS = [
    ALL,
    replace(ALL, name="a rerun, folders by kind", rerun=True),
    Scenario("without benchmark and programs, flat folders", flat=True),
    Scenario("a rerun without programs, flat folders", rerun=True, flat=True, bench=True),
    Scenario("a rerun without the dataset", rerun=True, dataset=False),
    Scenario("an engine that crashes once", script=CRASHING_ONCE),
    Scenario("an engine that crashes", script=CRASHING),
    Scenario("a rerun, an engine that spoils the submission", rerun=True, script=SPOILING),
    Scenario("a rerun, broken tasks and no dataset", rerun=True, dataset=False, broken=True),
]
SEARCHED = Scenario("a rerun that searches, ARC-AGI-1's evaluation tasks", rerun=True, evaluation=True)


def expect(holds, what):
    if not holds:
        raise SystemExit(what)


def is_grid(value):
    """Whether this is a grid that Kaggle accepts."""
    return (
        isinstance(value, list)
        and 1 <= len(value) <= 30
        and all(isinstance(row, list) and 1 <= len(row) <= 30 and len(row) == len(value[0]) for row in value)
        and all(type(cell) is int and 0 <= cell <= 9 for row in value for cell in row)
    )


def right(submission, tasks):
    """How many test inputs a submission gets right, if it is valid for these tasks.

    It is independent of the engine's and the notebook's scorer.
    """
    expect(isinstance(submission, dict), "submission.json: expected an object")
    found = len(submission)
    expect(found == len(tasks), f"submission.json: expected {len(tasks)} tasks, found {found}")
    count = 0
    for task, content in tasks.items():
        attempts, tests = submission.get(task), content["test"]
        expect(isinstance(attempts, list), f"submission.json: {task}: expected a list")
        found = len(attempts)
        expect(found == len(tests), f"submission.json: {task}: expected {len(tests)} test inputs, found {found}")
        for at, (attempt, test) in enumerate(zip(attempts, tests)):
            both = [isinstance(attempt, dict) and attempt.get(name) for name in ("attempt_1", "attempt_2")]
            for grid in both:
                expect(is_grid(grid), f"submission.json: {task}[{at}]: expected a grid, found {grid}")
            count += test["output"] in both
    return count


def check_the_scorer():
    """A submission is looked at place by place."""

    def fault(submission):
        try:
            right(submission, {"a": {"test": [{"output": [[1]]}, {"output": [[2]]}]}})
        except SystemExit as error:
            return str(error)

    good, half = {"attempt_1": [[0]], "attempt_2": [[1]]}, {"attempt_1": [[2]], "attempt_2": [[0]]}
    assert right({"a": [good, half]}, {"a": {"test": [{"output": [[1]]}, {"output": [[2]]}]}}) == 2
    assert fault([]).endswith("expected an object")
    assert fault({}).endswith("expected 1 tasks, found 0")
    assert fault({"b": []}).endswith("a: expected a list")
    assert fault({"a": []}).endswith("expected 2 test inputs, found 0")
    for grid in ([], [[]], [[10]], [[0, 0], [0]], [[True]], [[0]] * 31, None):
        assert "[1]: expected a grid" in fault({"a": [good, {"attempt_1": [[0]], "attempt_2": grid}]}), grid


class Place:
    """Kaggle's folders."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.input, self.working = self.folder / "kaggle/input", self.folder / "kaggle/working"
        for path in (self.input, self.working, self.folder / "tmp"):
            path.mkdir(parents=True)

    def write_tasks(self, scenario, tasks, competition):
        folder = self.input / (competition if scenario.flat else f"competitions/{competition}")
        folder.mkdir(parents=True)

        def write(name, text):
            (folder / name).write_text(text)

        inputs = {
            task: {"train": content["train"], "test": [{"input": pair["input"]} for pair in content["test"]]}
            for task, content in tasks.items()
        }
        challenges = json.dumps(inputs)
        if scenario.broken:
            write("arc-agi_test_challenges.json", challenges[: len(challenges) // 2])
            zeros = {"attempt_1": [[0, 0], [0, 0]], "attempt_2": [[0, 0], [0, 0]]}
            sample = {task: [zeros for _ in content["test"]] for task, content in tasks.items()}
            write("sample_submission.json", json.dumps(sample))
            return
        write("arc-agi_test_challenges.json", challenges)
        write("arc-agi_evaluation_challenges.json", challenges)
        solutions = {task: [pair["output"] for pair in content["test"]] for task, content in tasks.items()}
        write("arc-agi_evaluation_solutions.json", json.dumps(solutions))

    def write_dataset(self, scenario, packed, engine, name):
        """The dataset as on Kaggle: read-only and not executable."""
        if not scenario.dataset:
            return
        folder = self.input / (name.split("/")[1] if scenario.flat else f"datasets/{name}")
        shutil.copytree(packed / "dataset", folder)
        if not scenario.programs:
            shutil.rmtree(folder / "programs")
        binary = folder / "mega-batch"
        if scenario.script:
            body = scenario.script.format(engine=engine)
            binary.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exit 0\n{body}')
        binary.chmod(0o444)

    def run(self, scenario, notebook):
        """Runs a notebook's cells; returns their output."""
        environment = {
            **os.environ,
            "MEGA_BATCH_KAGGLE_ROOT": str(self.folder / "kaggle"),
            "MEGA_BATCH_BENCH": "1" if scenario.bench else "0",
            "TMPDIR": str(self.folder / "tmp"),
            "PYTHONUNBUFFERED": "1",
        }
        for name in ("MEGA_BATCH_MODE", "MEGA_BATCH_HOURS", "KAGGLE_IS_COMPETITION_RERUN"):
            environment.pop(name, None)
        if scenario.rerun:
            environment["KAGGLE_IS_COMPETITION_RERUN"] = "1"
        ended = subprocess.run(
            [sys.executable, "-c", RUNNER, notebook],
            cwd=self.working,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
        )
        said, errors = (text.decode(errors="replace") for text in (ended.stdout, ended.stderr))
        is_good = ended.returncode == 0 and not errors
        expect(is_good, f"expected no exception, found ({ended.returncode})\n{errors}\n{said}")
        return said

    def check(self, scenario, tasks, said):
        """Checks the result of a run."""
        count = right(json.loads((self.working / "submission.json").read_text()), tasks)
        everything = sum(len(content["test"]) for content in tasks.values())
        # The dataset's programs solve the tasks; for these the input and a black cell are wrong answers.
        least, most = (everything * 9 // 10, everything) if scenario.works else (0, everything // 10)
        if scenario.evaluation:
            least = FOUND
        expected = f"expected {least} to {most} of {everything} test inputs to be right, found {count}"
        expect(least <= count <= most, expected)
        ends = said.splitlines()[-1] if said else ""
        expect(ends.startswith("0 steps failed") == scenario.works, f"the last line is `{ends}`")
        names = sorted(path.name for path in self.working.iterdir())
        if scenario.rerun:
            found = ", ".join(names)
            expect(names == ["submission.json"], f"expected nothing but submission.json, found {found}")
            lines = len(said.splitlines())
            expect(lines <= MOST_LINES, f"a rerun printed {lines} lines, expected {MOST_LINES} at most")
        elif scenario.works:
            for name in ("mega-batch.log", "report-scored.html", "report-test.html"):
                expect(name in names, f"there is no {name}")
            expect(scenario.bench == ("bench" in names), "the benchmark")
            expect("test inputs right" in said, "nothing was scored")
        left = [path.name for path in (self.folder / "tmp").iterdir()]
        expect(not left, f"the notebook left {left} behind")


def run(scenario, packed, engine, tasks):
    metadata = json.loads((packed / "notebook/kernel-metadata.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        place.write_tasks(scenario, tasks, metadata["competition_sources"][0])
        place.write_dataset(scenario, packed, engine, metadata["dataset_sources"][0])
        said = place.run(scenario, packed / "notebook" / metadata["code_file"])
        try:
            place.check(scenario, tasks, said)
        except SystemExit as error:
            # The notebook's output is what one has to read in that case.
            raise SystemExit(f"{error}; the notebook printed\n{said}") from None


def main():
    check_the_scorer()
    packed, engine, tasks = map(pathlib.Path, sys.argv[1:])
    given = json.loads(tasks.read_text())
    arc = os.environ.get("ARC_DATA_DIR")
    for scenario in SCENARIOS + [SEARCHED] * bool(arc):
        print(f"notebook: {scenario.name}", flush=True)
        if scenario.evaluation:
            files = sorted((pathlib.Path(arc) / "arc-agi-1/evaluation").glob("*.json"))
            given = {file.stem: json.loads(file.read_text()) for file in files}
        try:
            run(scenario, packed, engine, given)
        except SystemExit as error:
            raise SystemExit(f"the notebook, {scenario.name}: {error}") from None
    if not arc:
        print("notebook: the search on ARC tasks: skipped: ARC_DATA_DIR is not set")


if __name__ == "__main__":
    main()
