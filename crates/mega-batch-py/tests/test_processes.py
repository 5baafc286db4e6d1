"""Engines and results in other processes: forked, spawned, pickled."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_shards import tasks

import mega_batch as mb

PROGRAMS = ["O = vmirror(I)", "O = height(I)", "x1 = palette(I)\nO = argmax(x1, first)"]
METHODS = [method for method in ("fork", "spawn", "forkserver") if method in multiprocessing.get_all_start_methods()]
SECONDS = 60
"""A process that takes longer is taken to hang."""

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


class Dataset:
    """What a data loader passes to its workers: an engine created beforehand."""

    def __init__(self, task: mb.Task, **options: Any) -> None:
        self.task = task
        self.engine = mb.Engine(scores=True, **options)
        self.right = self.engine.run(PROGRAMS, task, jobs="all").right

    def __getitem__(self, at: int) -> tuple[int, int]:
        return os.getpid(), self.engine.run(PROGRAMS[at % 3], self.task, jobs="all").right


def in_a_fork(work: Callable[[], object]) -> int:
    """The exit status of a forked process that runs this: 0 on success, -SIGALRM if it hangs."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS // 2)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@needs_fork
@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_an_engine_starts_anew_in_a_fork(task: mb.Task, mode: Any) -> None:
    engine = mb.Engine(mode=mode, workers=3, scores=True)
    many = PROGRAMS * 2000
    expected = engine.run(many, task, jobs="all")

    def work() -> None:
        report = engine.run(many, task, jobs="all")
        assert report == expected and engine.workers == (3 if mode == "parallel" else 1)
        # A fork of a fork.
        assert in_a_fork(lambda: engine.run(PROGRAMS, task, jobs="all")) == 0
        assert engine.run(PROGRAMS, task, jobs="all").right == 3

    assert in_a_fork(work) == 0
    assert engine.run(many, task, jobs="all") == expected


@needs_fork
def test_a_fork_while_an_engine_runs_in_another_thread(task: mb.Task) -> None:
    engine = mb.Engine(workers=2, backend="reference")
    pair = mb.Pair([[at % 10 for at in range(30)]] * 30, [[0]])
    slow = mb.Program.parse("x1 = asobject(I)\nx2 = order(x1, first)\nx3 = product(x2, x2)\nO = size(x3)")
    thread = threading.Thread(target=lambda: engine.run([slow] * 10_000, mb.Task("a", [pair]), jobs="all"))
    thread.start()
    time.sleep(0.3)
    assert thread.is_alive()
    assert in_a_fork(lambda: engine.run(PROGRAMS, task, jobs="all")) == 0
    engine.cancel()
    thread.join()


@needs_fork
def test_an_engine_of_the_parent_is_let_go_in_a_fork(task: mb.Task) -> None:
    engines = [mb.Engine(workers=4)]
    engines[0].run(PROGRAMS * 2000, task, jobs="all")
    assert in_a_fork(engines.clear) == 0


@pytest.mark.parametrize("method", METHODS)
def test_workers_hold_an_engine_that_was_made_before(task: mb.Task, method: str) -> None:
    dataset = Dataset(task, workers=2)
    with multiprocessing.get_context(method).Pool(2) as pool:
        made = pool.map_async(dataset.__getitem__, range(6)).get(SECONDS)
    assert [right for _, right in made] == [3, 0, 0] * 2
    assert os.getpid() not in {process for process, _ in made} and dataset.right == 3


def report_of(engine: mb.Engine, task: mb.Task) -> tuple[mb.Report, mb.Results, Sequence[mb.Result]]:
    report = engine.run(PROGRAMS, task, jobs="all")
    return report, report.results, list(report)


@pytest.mark.parametrize("method", METHODS)
def test_results_come_back_from_workers(task: mb.Task, method: str) -> None:
    engine = mb.Engine(outputs=True, scores=True, mode="sequential")
    with multiprocessing.get_context(method).Pool(1) as pool:
        report, results, each = pool.apply_async(report_of, (engine, task)).get(SECONDS)
    here = engine.run(PROGRAMS, task, jobs="all")
    assert report == here and results == here.results and each == list(here)


def test_an_engine_is_pickled_by_its_options() -> None:
    engine = mb.Engine(mode="sequential", backend="reference", max_steps=1)
    for other in (pickle.loads(pickle.dumps(engine)), copy.deepcopy(engine)):
        assert repr(other) == repr(engine) == "<Engine in mode sequential, backend reference>"
        report = other.run("x1 = objects(I, T, F, T)\nO = fill(I, ONE, x1)", {"train": [{"input": [[1]]}]}, jobs="all")
        assert report.limits == 1


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_reports_and_results_are_pickled_and_compared(task: mb.Task) -> None:
    report = mb.run(PROGRAMS, task, jobs="all", outputs=True, scores=True)
    bare = mb.run(PROGRAMS, task, jobs="all")
    read = again(report)
    assert read == report and str(read) == str(report) and read.backends == report.backends
    assert read.task_states == report.task_states and read.seconds == report.seconds
    assert read.results.seconds.tolist() == report.results.seconds.tolist()
    assert again(report.results) == report.results and again(bare) == bare != report
    # Times vary, and are not compared.
    assert mb.run(PROGRAMS, task, jobs="all", outputs=True, scores=True) == report
    assert mb.run(PROGRAMS[::-1], task, jobs="all", outputs=True, scores=True) != report
    assert report != 3 and report.results != 3
    for unhashable in (report, report.results):
        with pytest.raises(TypeError, match="unhashable"):
            hash(unhashable)


def test_a_result_and_its_error_are_pickled_hashed_and_compared(task: mb.Task) -> None:
    first, second = (list(mb.run(PROGRAMS, task, jobs="all", outputs=True, scores=True)) for _ in range(2))
    assert first == second and len({*first, *second}) == len(first) == 9
    assert again(first) == first and again(first[0]).output.tolist() == [[2, 1]]
    assert first[0] != first[1] and first[0] != 3
    error = first[-1].error
    assert error is not None and again(error) == error and hash(again(error)) == hash(error)
    assert (again(error).kind, again(error).line, again(error).primitive, again(error).limit) == ("type", 2, "first", None)
    limit = mb.run("x1 = objects(I, T, F, T)\nO = fill(I, ONE, x1)", task, jobs="all", max_steps=1)[0].error
    assert limit is not None and again(limit) == limit and again(limit).limit == "steps"


def test_tasks_and_pairs_are_pickled_and_hashed(task: mb.Task) -> None:
    pair = task.train[0]
    assert {pair, again(pair), mb.Pair([[1, 2]], [[2, 1]])} == {pair} and pair != mb.Pair([[1, 2]])
    other = mb.Task(task.id, task.train)
    assert {task, again(task)} == {task} and other != task and len({task, other}) == 2


def test_attempts_are_pickled_hashed_and_compared(task: mb.Task) -> None:
    (found,), (same,) = mb.search(task, nodes=300), mb.search(task, nodes=300)
    assert found.attempts == same.attempts and len({*found.attempts, *same.attempts}) == len(found.attempts)
    best = again(found.attempts[0])
    assert best == found.attempts[0] and best.program == found.attempts[0].program
    assert [output.tolist() for output in best.outputs] == [[[6, 5]]]


def test_what_a_search_came_to_is_pickled_and_compared(task: mb.Task) -> None:
    (found,), (same,) = mb.search(task, nodes=300), mb.search(task, nodes=300)
    read = again(found)
    assert read == found == same and read != mb.search(task, nodes=10)[0]
    assert (read.task, read.index, read.state, read.seconds) == (task, 0, found.state, found.seconds)
    assert read.attempts == found.attempts and read.counts == found.counts and read.answers[0][0].tolist() == [[6, 5]]
    other = mb.Task("b", task.train, task.test)
    assert mb.search([task, other], nodes=300)[1] != found
    # Scores are numbers that need all their digits.
    for one in mb.search(tasks(), nodes=300):
        assert again(one) == one


@needs_fork
def test_a_batt_that_another_thread_has_at_a_fork_raises_in_the_child(task: mb.Task) -> None:
    pair = mb.Pair([[at % 10 for at in range(30)]] * 30)
    batt = mb.Batt(mb.Task("a", [pair] * 10))
    free = mb.Batt(task)
    indices = batt.push("asindices", batt.input).node
    assert indices is not None
    calls = [("shift", indices, (down, right)) for down in range(300) for right in range(300)]

    def in_child() -> None:
        free.push("vmirror", free.input)
        try:
            len(batt)
        except RuntimeError as error:
            assert "forked while another thread" in str(error)
            os._exit(7)

    thread = threading.Thread(target=batt.push_many, args=[calls])
    thread.start()
    codes = []
    while thread.is_alive() and 7 not in codes:
        codes.append(in_a_fork(in_child))
    thread.join()
    # Before the calls begin the batt is free, and works in the child; no child hangs.
    assert set(codes) <= {0, 7} and 7 in codes
    assert in_a_fork(lambda: batt.push("vmirror", batt.input)) == 0


def right_of(engine: mb.Engine, text: str, task: mb.Task) -> tuple[int, int]:
    return os.getpid(), engine.run(text, task, jobs="all").right


def test_jobs_of_joblib_take_an_engine(task: mb.Task) -> None:
    joblib: Any = pytest.importorskip("joblib", reason="joblib is not installed")
    engine = mb.Engine(workers=2, scores=True)
    made = joblib.Parallel(n_jobs=2)(joblib.delayed(right_of)(engine, text, task) for text in PROGRAMS * 2)
    assert [right for _, right in made] == [3, 0, 0] * 2
    assert os.getpid() not in {process for process, _ in made}


def test_workers_of_pytest_xdist_each_have_their_engine(tmp_path: Path) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    (tmp_path / "test_engines.py").write_text(
        "import pytest, mega_batch as mb\n"
        "ENGINE = mb.Engine(workers=2, scores=True)\n"
        "@pytest.mark.parametrize('at', range(8))\n"
        "def test_it_is_right(at):\n"
        "    task = {'train': [{'input': [[at, 1]], 'output': [[1, at]]}]}\n"
        "    assert ENGINE.run('O = vmirror(I)', task, jobs='all').right == 1\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", str(tmp_path)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=tmp_path)
    assert made.returncode == 0 and "8 passed" in made.stdout, made.stdout + made.stderr
