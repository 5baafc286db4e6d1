"""Runs over Ray's own local cluster, with nodes that are removed, workers and drivers that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_shards import CALLS, PROGRAMS, same, tasks

import mega_batch as mb
from mega_batch import _shards
from mega_batch import ray as over_ray

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError:
    ray = None

needs_ray = pytest.mark.skipif(ray is None, reason="Ray is not installed: cargo xtask wheel --check --all has it")

MANY = [f"x1 = {a}(I)\nx2 = {b}(x1)\nO = {c}(x2)" for a in CALLS for b in CALLS for c in CALLS]


def inputs() -> dict[str, Any]:
    """46,000 evaluations, a third of a second of one core and more."""
    return {"programs": MANY, "tasks": [*tasks(), *tasks(), *tasks(), *tasks()], "jobs": "all"}


def test_ray_is_not_imported_before_a_run() -> None:
    code = "import sys, mega_batch, mega_batch.ray; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_that_ray_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r'needs Ray on every node, which the extra "ray" has: pip install "mega-batch\[ray\]"'):
        over_ray.run(PROGRAMS, tasks(), jobs="all")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without cores, and two nodes of one core."""
    memory = 100 << 20
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": memory}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=memory)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of a few milliseconds, so that there are many."""
    monkeypatch.setattr(_shards, "SECONDS", 0.005)
    monkeypatch.setattr(_shards, "FIRST", 100)


def once_at(share: float, do: Callable[[], object]) -> Callable[[int, int], None]:
    """A progress callback that does something once."""
    is_done = False

    def progress(done: int, total: int) -> None:
        nonlocal is_done
        if not is_done and share * total <= done < total:
            is_done = True
            do()

    return progress


@needs_ray
def test_nodes_give_what_one_machine_gives(cluster: Any) -> None:
    for options in ({"outputs": True, "scores": True}, {"stop_after_wrong": True, "max_steps": 40}):
        same(over_ray.run(**inputs(), **options), mb.run(**inputs(), **options))


@needs_ray
def test_cores_that_actors_hold_are_waited_for_and_told(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shards, "SILENT", 1.0)

    class Holder:
        def is_there(self) -> bool:
            return True

    remote = ray.remote(num_cpus=1)(Holder)
    holders = [remote.remote() for _ in range(2)]
    assert ray.get([holder.is_there.remote() for holder in holders]) == [True, True]
    timer = threading.Timer(4.0, lambda: [ray.kill(holder) for holder in holders])
    timer.start()
    with pytest.warns(UserWarning, match="other tasks or actors may hold its CPUs, of which a shard takes 1 "):
        same(over_ray.run(**inputs()), mb.run(**inputs()))
    timer.join()


@needs_ray
def test_cores_that_actors_hold_are_left_to_them(cluster: Any) -> None:
    class Holder:
        def is_there(self) -> bool:
            return True

    node = cluster.add_node(num_cpus=3, object_store_memory=100 << 20)
    affinity = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.node_id, soft=False)
    holder = ray.remote(num_cpus=1)(Holder).options(scheduling_strategy=affinity).remote()
    assert ray.get(holder.is_there.remote())
    pool = over_ray._Nodes(mb.Coordinator(PROGRAMS, tasks(), jobs="all")._packed(), {}, None)
    try:
        assert pool.nodes()[node.node_id] == 2
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same(over_ray.run(**inputs()), mb.run(**inputs()))
    finally:
        ray.kill(holder)
        cluster.remove_node(node)


@needs_ray
@pytest.mark.usefixtures("short")
def test_a_node_that_is_removed_loses_and_doubles_nothing(cluster: Any) -> None:
    expected = mb.run(**inputs())
    node = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    report = over_ray.run(**inputs(), progress=once_at(0.2, lambda: cluster.remove_node(node)))
    same(report, expected)


def workers(function: str = "_evaluate") -> list[int]:
    """The processes with this in their command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if name.startswith(b"ray::") and function.encode() in name:
            found.append(int(process.name))
    return found


@needs_ray
@pytest.mark.usefixtures("short")
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are found in /proc")
def test_a_worker_that_is_killed_loses_and_doubles_nothing(cluster: Any) -> None:
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        # Between two shards a worker has another name.
        if not killed and total / 10 <= done < total:
            for process in workers():
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    report = over_ray.run(**inputs(), progress=kill)
    assert killed
    same(report, mb.run(**inputs()))


DRIVER = """
import sys
sys.path.insert(0, sys.argv[2])
import ray
from test_ray import inputs
from mega_batch import _shards
from mega_batch.ray import Coordinator
_shards.SECONDS, _shards.FIRST = 0.005, 100
ray.init(address=sys.argv[1], log_to_driver=False)
def told(done, total):
    print(done, total, flush=True)
Coordinator(**inputs(), checkpoint=sys.argv[3], resume=True).run(progress=told)
"""


@needs_ray
def test_a_driver_that_is_killed_is_gone_on_with(cluster: Any, tmp_path: Path) -> None:
    checkpoint = tmp_path / "run.checkpoint"
    arguments = [cluster.address, str(Path(__file__).parent), str(checkpoint)]
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, *arguments], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    for line in driver.stdout:
        done, total = map(int, line.split())
        # A fifth of a second later the delivered results are in the file.
        if checkpoint.stat().st_size > 10_000 and done < total:
            driver.kill()
            break
    driver.wait()
    driver.stdout.close()
    assert driver.returncode == -signal.SIGKILL
    made: list[int] = []
    rest = over_ray.Coordinator(**inputs(), checkpoint=checkpoint, resume=True)
    report = rest.run(progress=lambda done, total: made.append(done))
    expected = mb.Coordinator(**inputs())
    same(report, expected.run())
    assert made[0] > 0 and rest.to_submission() == expected.to_submission()


@needs_ray
def test_what_a_callback_raises_ends_the_run_and_leaves_the_cluster_as_it_was(cluster: Any) -> None:
    def fail(results: mb.Results) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        over_ray.run(**inputs(), on_results=fail, chunk=100)
    same(over_ray.run(PROGRAMS, tasks(), jobs="all"), mb.run(PROGRAMS, tasks(), jobs="all"))


NODES = 300
"""Values of a task that take some milliseconds each."""


def tasks_and_one_that_is_none() -> list[mb.Task]:
    return [*tasks(), mb.Task("none", [])]


@needs_ray
def test_a_search_over_nodes_is_that_of_one_machine(cluster: Any, tmp_path: Path) -> None:
    given = tasks_and_one_that_is_none()
    expected = mb.search(given, nodes=NODES, submission=tmp_path / "one.json")
    told: list[int] = []
    found = over_ray.search(
        given,
        nodes=NODES,
        submission=tmp_path / "nodes.json",
        on_task=lambda it: told.append(it.index),
        progress=lambda done, total: None,
    )
    assert found == expected and found[-1].failure == "no train pairs"
    assert told == list(range(len(given)))
    assert (tmp_path / "nodes.json").read_bytes() == (tmp_path / "one.json").read_bytes()


@needs_ray
def test_a_search_goes_on_where_a_search_of_one_machine_was_ended(cluster: Any, tmp_path: Path) -> None:
    given, checkpoint = tasks_and_one_that_is_none(), tmp_path / "search.checkpoint"

    def end(found: mb.Searched) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        mb.search(given, nodes=NODES, checkpoint=checkpoint, on_task=end)
    done: list[int] = []
    found = over_ray.search(
        given, nodes=NODES, checkpoint=checkpoint, resume=True, progress=lambda now, total: done.append(now)
    )
    assert done[0] > 0 and found == mb.search(given, nodes=NODES)
    with pytest.raises(KeyError, match="enough"):
        over_ray.search(given, nodes=NODES, on_task=end)


@needs_ray
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are found in /proc")
def test_a_search_whose_worker_is_killed_loses_nothing(cluster: Any) -> None:
    given = [*tasks(), *tasks()]
    killed: list[int] = []

    def kill(found: mb.Searched) -> None:
        if not killed:
            killed.extend(workers("_search_one"))
            for process in killed:
                os.kill(process, signal.SIGKILL)

    found = over_ray.search(given, nodes=5000, on_task=kill)
    assert killed and found == mb.search(given, nodes=5000)


@needs_ray
def test_another_version_on_a_node_is_told(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_ray, "__version__", "0.0.0")
    with pytest.raises(RuntimeError, match=r"this node has mega_batch .*, the driver 0\.0\.0"):
        over_ray.run(PROGRAMS, tasks(), jobs="all")
    with pytest.raises(RuntimeError, match=r"this node has mega_batch .*, the driver 0\.0\.0"):
        over_ray.search(tasks())


@needs_ray
def test_bad_input_is_told_before_anything_is_sent(cluster: Any) -> None:
    with pytest.raises(ValueError, match="cores: expected 1 or more"):
        over_ray.run(PROGRAMS, tasks(), jobs="all", cores=0)
    with pytest.raises(mb.ProgramError):
        over_ray.run("O = no_such(I)", tasks(), jobs="all")
