"""Which node evaluates which shard: on a pool in this process, whose nodes come, go and lose their shards."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import mega_batch as mb
from mega_batch import _shards
from mega_batch._engine import _PackedBatch
from mega_batch._shards import Lost, Outcome, Shards

CALLS = ["vmirror", "hmirror", "rot90", "rot180", "trim", "dmirror", "palette", "first", "height", "cmirror"]
PROGRAMS = [f"x1 = {a}(I)\nO = {b}(x1)" for a in CALLS for b in CALLS]


def tasks() -> list[mb.Task]:
    def pair(number: int) -> dict[str, Any]:
        rows = [[(number + 3 * row + column) % 10 for column in range(3)] for row in range(3)]
        return {"input": rows, "output": [row[::-1] for row in rows]}

    return [mb.Task(f"t{at}", [pair(at), pair(at + 1)], [pair(at + 2)] * (at % 3)) for at in range(4)]


class Pool:
    """Nodes in this process. A shard is evaluated when it is waited for; `rate` sets how fast it appears."""

    def __init__(self, run: mb.Coordinator, nodes: dict[str, int], **options: Any) -> None:
        self.batch = _PackedBatch(run._packed().data())
        self.engine = mb.Engine(**options)
        self.threads = dict(nodes)
        self.rate = 20_000.0
        self.shards: dict[int, tuple[str, int, int]] = {}
        self.submitted: list[tuple[str, int, int]] = []
        self.dropped: set[int] = set()
        self.stuck: set[int] = set()
        self.lost: dict[int, Lost] = {}
        self.most = 0
        self.ends_early: Callable[[], bool] = lambda: False
        self.ends: dict[int, int] = {}
        self.before_wait: Callable[[], None] = lambda: None

    def nodes(self) -> dict[str, int]:
        return self.threads

    def submit(self, node: str, first: int, end: int, time: float) -> int:
        assert time == pytest.approx(_shards.MOST * _shards.SECONDS * max(1, len(self.threads) / _shards.MANY))
        number = len(self.submitted)
        self.submitted.append((node, first, end))
        self.shards[number] = (node, first, end)
        self.most = max(self.most, len(self.shards))
        return number

    def wait(self, numbers: Sequence[int], timeout: float) -> list[int]:
        assert set(numbers) <= set(self.shards)
        self.before_wait()
        return [number for number in numbers if number not in self.stuck][::-1]

    def outcome(self, number: int) -> Outcome:
        if number in self.lost:
            del self.shards[number]
            raise self.lost[number]
        _, first, end = self.shards[number]
        if self.ends_early():
            end = (first + end + 1) // 2
        self.ends[number] = end
        evaluations = 3 * (end - first)
        return Outcome(evaluations / self.rate, end, evaluations)

    def fetch(self, number: int) -> NDArray[np.uint8]:
        _, first, _ = self.shards.pop(number)
        if number in self.lost:
            raise self.lost[number]
        end = self.ends[number]
        results, made, _ = self.batch.evaluate(self.engine, first, end)
        assert made == end
        return results

    def drop(self, number: int) -> None:
        del self.shards[number]
        self.dropped.add(number)


def columns(report: mb.Report) -> dict[str, Any]:
    results = report.results
    # Times differ, and properties computed from the columns are not columns.
    others = {"seconds", "error", "padded", "too_large", "foreign", "to_arrow", "to_pandas"}
    names = [name for name in dir(results) if not name.startswith("_") and name not in others]
    return {name: None if (column := getattr(results, name)) is None else column.tolist() for name in names}


def same(found: mb.Report, expected: mb.Report) -> None:
    """Everything except times and backends."""
    assert columns(found) == columns(expected)
    names = ["evaluations", "planned", "skipped", "complete", "right", "wrong", "no_expected", "errors", "limits"]
    names += ["tasks_solved", "task_states", "pairs_right", "pairs_expected"]
    for name in names:
        assert getattr(found, name) == getattr(expected, name), name


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of about this many evaluations."""
    monkeypatch.setattr(_shards, "FIRST", 10)
    monkeypatch.setattr(_shards, "WAIT", 0.0)
    monkeypatch.setattr(_shards, "SECONDS", 0.002)
    monkeypatch.setattr(_shards, "REST", 0.0)


def started(nodes: dict[str, int], **options: Any) -> tuple[mb.Coordinator, Pool, Shards]:
    run = mb.Coordinator(PROGRAMS, tasks(), jobs="all", **options)
    pool = Pool(run, nodes, **options)
    return run, pool, Shards(run._packed(), pool)


@pytest.mark.parametrize("options", [{}, {"outputs": True, "scores": True}, {"stop_after_wrong": True}])
def test_shards_give_what_one_run_gives(options: dict[str, Any]) -> None:
    run, pool, shards = started({"a": 1, "b": 2}, **options)
    same(run._run_shards(shards, workers=3), mb.run(PROGRAMS, tasks(), jobs="all", **options))
    assert shards.counts == {"shards": len(pool.submitted), "lost": 0, "twice": 0}
    assert len(pool.submitted) > 10 and not pool.shards
    assert {node for node, _, _ in pool.submitted} == {"a", "b"}
    # The shards cover the batch.
    ends = sorted((first, end) for _, first, end in pool.submitted)
    assert [first for first, _ in ends] == [0] + [end for _, end in ends[:-1]]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_lost_counts_once(seed: int) -> None:
    dice = random.Random(seed)
    run, pool, shards = started({"a": 1, "b": 1, "c": 2})
    spare = [f"n{at}" for at in range(100)]
    pool.ends_early = lambda: dice.random() < 0.2

    def chance() -> None:
        for number, (node, _, _) in list(pool.shards.items()):
            if node not in pool.threads or dice.random() < 0.1:
                pool.lost.setdefault(number, Lost("gone"))
        if dice.random() < 0.2 and len(pool.threads) > 1:
            del pool.threads[dice.choice(sorted(pool.threads))]
        if dice.random() < 0.2:
            pool.threads[spare.pop()] = dice.choice([1, 2])
        pool.stuck = {number for number in pool.shards if dice.random() < 0.3}

    pool.before_wait = chance
    same(run._run_shards(shards), mb.run(PROGRAMS, tasks(), jobs="all"))
    assert shards.counts["lost"] > 0


def test_a_shard_takes_about_its_time_whatever_the_node() -> None:
    run, pool, shards = started({"a": 1, "b": 1})
    pool.rate = 100_000.0
    made: list[int] = []
    run._run_shards(shards, on_results=lambda results: made.append(len(results)), chunk=1)
    sizes = [3 * (end - first) for _, first, end in pool.submitted]
    # Sizes begin small, grow to the rate times the target time, and shrink towards the end.
    assert sizes[0] <= 24 and max(sizes) <= 100_000 * 0.002 * 2 and sizes[-1] < max(sizes)
    assert max(sizes) > 4 * sizes[0]


def test_shards_take_longer_where_there_are_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shards, "MANY", 2)
    made = []
    for nodes in (["a", "b"], ["a", "b", "c", "d", "e", "f"]):
        run = mb.Coordinator(PROGRAMS * 10, tasks(), jobs="all")
        pool = Pool(run, dict.fromkeys(nodes, 1))
        pool.rate = 30_000.0
        run._run_shards(Shards(run._packed(), pool))
        made.append(max(end - first for _, first, end in pool.submitted))
    # Each pool gets its time limit.
    assert made[1] > 2 * made[0]


def test_what_is_left_of_a_shard_is_cut_anew() -> None:
    run, pool, shards = started({"a": 1, "b": 1})
    pool.ends_early = lambda: len(pool.ends) % 3 == 1
    same(run._run_shards(shards), mb.run(PROGRAMS, tasks(), jobs="all"))
    assert shards.counts["shards"] == len(pool.submitted) and shards.counts["lost"] == 0


def test_a_shard_without_time_is_its_first_job() -> None:
    run, pool, _ = started({"a": 1})
    for first in (0, 7):
        results, end, evaluations = pool.batch.evaluate(pool.engine, first, 300, 0.0)
        assert first < end < 300 and (end, evaluations) == pool.batch.shard(first, evaluations)
        assert len(results) > evaluations


def test_what_is_ahead_is_bounded() -> None:
    run, pool, shards = started({"a": 1, "b": 1})
    pool.stuck = {0}
    waits = 0

    def let_go() -> None:
        nonlocal waits
        waits += 1
        if waits == 200:
            pool.stuck = set()

    pool.before_wait = let_go
    run._run_shards(shards)
    assert pool.most == _shards.AHEAD * 2


def test_a_straggler_is_evaluated_elsewhere_and_counts_once() -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1.0
        return now

    run = mb.Coordinator(PROGRAMS, tasks(), jobs="all")
    pool = Pool(run, {"a": 1, "b": 1})
    pool.stuck = {0}
    shards = Shards(run._packed(), pool, clock)
    # All is cut before the shard is late.
    report = run._run_shards(shards)
    same(report, mb.run(PROGRAMS, tasks(), jobs="all"))
    firsts = [first for _, first, _ in pool.submitted]
    assert firsts.count(0) == 2 and shards.counts["twice"] == 1 and pool.dropped == {0}


def test_a_node_that_loses_shards_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shards, "REST", 8.0)
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1.0
        return now

    run = mb.Coordinator(PROGRAMS, tasks(), jobs="all")
    pool = Pool(run, {"bad": 1, "good": 1})

    def lose() -> None:
        pool.lost.update({at: Lost("gone") for at, (node, _, _) in pool.shards.items() if node == "bad"})

    pool.before_wait = lose
    same(run._run_shards(Shards(run._packed(), pool, clock)), mb.run(PROGRAMS, tasks(), jobs="all"))
    nodes = [node for node, _, _ in pool.submitted]
    assert 1 <= nodes.count("bad") < nodes.count("good") / 2


def test_a_shard_that_ends_its_workers_ends_the_run() -> None:
    run, pool, shards = started({"a": 1})

    def crash() -> None:
        for number, (_, first, _) in pool.shards.items():
            if first == 0:
                pool.lost[number] = Lost("worker died\nmore", crashed=True)

    pool.before_wait = crash
    with pytest.raises(RuntimeError, match="jobs 0 to .* was lost 5 times, .*worker died"):
        run._run_shards(shards)
    shards.close()
    assert not pool.shards


def test_a_run_waits_for_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shards, "NO_NODE", 5.0)
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1.0
        if now > 10:
            pool.threads["late"] = 1
        return now

    run = mb.Coordinator(PROGRAMS[:10], tasks(), jobs="all")
    pool = Pool(run, {})
    with pytest.warns(UserWarning, match="no node of the cluster"):
        same(run._run_shards(Shards(run._packed(), pool, clock)), mb.run(PROGRAMS[:10], tasks(), jobs="all"))


def test_a_node_whose_shards_do_not_begin_is_told_once() -> None:
    now = 0.0
    run = mb.Coordinator(PROGRAMS, tasks(), jobs="all")
    pool = Pool(run, {"free": 2, "held": 4})

    def clock() -> float:
        nonlocal now
        now += 0.5
        return now

    def hold() -> None:
        is_held = now < 40
        pool.stuck = {at for at, (node, _, _) in pool.shards.items() if node == "held" and is_held}

    pool.before_wait = hold
    with pytest.warns(UserWarning, match="no shard for 1[0-9] seconds: .* takes 4 ") as told:
        same(run._run_shards(Shards(run._packed(), pool, clock)), mb.run(PROGRAMS, tasks(), jobs="all"))
    assert ["node held" in str(each.message) for each in told] == [True]


def test_a_checkpoint_is_the_same_whoever_evaluates(tmp_path: Path) -> None:
    expected = mb.Coordinator(PROGRAMS, tasks(), jobs="all", outputs=True)
    report = expected.run()
    path = tmp_path / "run.checkpoint"

    class Stop(Exception):
        pass

    def sharded(resume: bool) -> tuple[mb.Coordinator, Shards]:
        run = mb.Coordinator(PROGRAMS, tasks(), jobs="all", outputs=True, checkpoint=path, resume=resume)
        return run, Shards(run._packed(), Pool(run, {"a": 1}, scores=True, outputs=True))

    def stop_at(most: int) -> Callable[[int, int], None]:
        def progress(done: int, total: int) -> None:
            if most <= done < total:
                raise Stop

        return progress

    run, shards = sharded(resume=False)
    with pytest.raises(Stop):
        run._run_shards(shards, ranks=True, progress=stop_at(100))
    run, shards = sharded(resume=True)
    with pytest.raises(Stop):
        run._run_shards(shards, ranks=True, progress=stop_at(400))
    rest = mb.Coordinator(PROGRAMS, tasks(), jobs="all", outputs=True, checkpoint=path, resume=True)
    same(rest.run(), report)
    run, shards = sharded(resume=True)
    same(run._run_shards(shards, ranks=True), report)
    assert shards.counts["shards"] == 0
    assert run.to_submission() == expected.to_submission() == rest.to_submission()


def test_what_is_not_what_was_asked_for_is_refused() -> None:
    run, pool, _ = started({"a": 1})
    for wrong, expected in [
        (np.zeros(0, np.uint8), "no header"),
        (pool.batch.evaluate(pool.engine, 3, 5)[0], "found jobs 3 to 5"),
        (pool.batch.evaluate(pool.engine, 0, 5)[0][:-3], "cannot be read"),
    ]:
        with pytest.raises(OSError, match=expected):
            run._run_shards({0: wrong}.get)
    with pytest.raises(TypeError):
        run._run_shards(lambda first: [1, 2])  # type: ignore[arg-type, return-value]
    with pytest.raises(ValueError, match="expected a packed batch"):
        _PackedBatch(np.zeros(9, np.uint8))
    with pytest.raises(ValueError, match="jobs 5 to 5"):
        pool.batch.evaluate(pool.engine, 5, 5)


def test_a_run_is_cancelled_by_its_time_and_by_a_callback() -> None:
    run, _, shards = started({"a": 1}, time_limit=0.0)
    report = run._run_shards(shards)
    assert not report.complete and report.evaluations == 0
    run, _, shards = started({"a": 1})
    report = run._run_shards(shards, progress=lambda done, total: run.cancel() if done > 50 else None)
    assert not report.complete and 50 < report.evaluations < report.planned
