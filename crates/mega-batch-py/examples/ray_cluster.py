"""What a Ray cluster brings and costs, on a cluster of one-core nodes that this machine plays.

    python examples/ray_cluster.py PROGRAMS TASKS scale --nodes 1 2 4 --rounds 5
    python examples/ray_cluster.py PROGRAMS TASKS losses --runs 20 --evaluations 2000000
    python examples/ray_cluster.py PROGRAMS TASKS driver

`scale` runs every program on tasks until there are `--evaluations`, by turns on so many nodes and by as many
processes without Ray, which is what the cores of the machine are worth, and tells the share of a run in which its nodes evaluate, which says what is lost between shards and at
the end, and how long the processes of the cluster have had a core, by what they do. `losses` removes a node in the middle of each run. `driver` has the shards evaluated beforehand and
measures how fast the driver alone delivers them, and how many Ray tasks it can start. All compare every result.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import mega_batch as mb
from mega_batch import _shards
from mega_batch import ray as over_ray

STORE = 200 << 20

CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
"""The CPUs of this process at its start."""

loaded: dict[str, Any]


class Digest:
    """Collects results, and compares equal for equal results apart from times."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b()
        self.evaluations = 0

    def __call__(self, results: mb.Results) -> None:
        for name in ("programs", "tasks", "splits", "pairs", "verdicts", "error_kinds", "error_lines", "error_primitives"):
            self.hash.update(np.ascontiguousarray(getattr(results, name)).data)
        self.evaluations += len(results)


@contextmanager
def cluster(cores: int = 0) -> Iterator[Any]:
    """A cluster with a head that has this many cores for shards."""
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": cores, "include_dashboard": False, "object_store_memory": STORE}
    made = Cluster(initialize_head=True, head_node_args=head)
    ray.init(address=made.address, log_to_driver=False)
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def timed(run: Callable[..., mb.Report], **arguments: Any) -> tuple[float, str, int]:
    digest = Digest()
    began = time.perf_counter()
    run(**arguments, on_results=digest)
    return time.perf_counter() - began, digest.hash.hexdigest(), digest.evaluations


def load(work: dict[str, Any]) -> None:
    """The set-up of a process without Ray."""
    global loaded
    loaded = work


def evaluate_part(part: tuple[int, int]) -> int:
    at, parts = part
    tasks = loaded["tasks"][at::parts]
    return mb.run(loaded["programs"], tasks, jobs="all", mode="sequential", on_results=lambda results: None).evaluations


def by_processes(work: dict[str, Any], count: int, pool: ProcessPoolExecutor) -> float:
    """How long this many independent processes take."""
    parts = 20 * count
    began = time.perf_counter()
    done = sum(pool.map(evaluate_part, ((at, parts) for at in range(parts))))
    assert done == len(work["programs"]) * sum(len(task.train) + len(task.test) for task in work["tasks"])
    return time.perf_counter() - began


class Watched(_shards.Shards):
    """The shards of the last run."""

    last: _shards.Shards

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        Watched.last = self


def cpu_seconds() -> dict[str, float]:
    """The CPU time of the processes of the cluster, and of all others; nothing without /proc."""
    if not Path("/proc/stat").exists():
        return {}
    tick = os.sysconf("SC_CLK_TCK")
    seconds = dict.fromkeys(["workers", "driver", "raylet", "gcs_server", "the rest of Ray"], 0.0)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ")
            times = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
        except OSError:
            continue
        if int(process.name) == os.getpid():
            kind = "driver"
        elif command.startswith(b"ray::"):
            kind = "workers"
        elif b"/ray/" in command:
            name = command.split()[0].rpartition(b"/")[2].decode()
            kind = name if name in seconds else "the rest of Ray"
        else:
            continue
        seconds[kind] += sum(map(int, times)) / tick
    user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().split()[1:9])
    seconds["others"] = (user + nice + system + sum(interrupts)) / tick - sum(seconds.values())
    return seconds


def pin(node: int) -> None:
    """Pins what this thread starts from now on to the one core of a node."""
    all_cores = sorted(CORES)
    os.sched_setaffinity(0, {all_cores[node % len(all_cores)]})


def scale(work: dict[str, Any], rounds: int, nodes: list[int], pins: bool) -> None:
    seconds: dict[str, list[float]] = {}
    shares: dict[str, list[float]] = {}
    cores: dict[str, dict[str, list[float]]] = {}
    setattr(over_ray, "Shards", Watched)  # noqa: B010
    _, expected, evaluations = timed(mb.run, **work)
    spawn = get_context("spawn")
    program = mb.Program.parse("O = I")
    with ExitStack() as stack:
        pools = {count: ProcessPoolExecutor(count, spawn, load, (work,)) for count in nodes}
        for count, pool in pools.items():
            stack.enter_context(pool)
            list(pool.map(evaluate_part, ((0, 1000) for _ in range(count))))
        if pins:
            pin(0)
        # The head is the first node, and runs the driver.
        made = stack.enter_context(cluster(cores=1))
        for at in range(rounds):
            for count in nodes:
                seconds.setdefault(f"{count} processes", []).append(by_processes(work, count, pools[count]))
                added = []
                for node in range(1, count):
                    if pins:
                        pin(node)
                    added.append(made.add_node(num_cpus=1, object_store_memory=STORE))
                if pins:
                    pin(0)
                # Starts the workers outside the timed run.
                started = 0
                while started < count:
                    over_ray.run([program] * 100_000, work["tasks"][:1], jobs="all")
                    started = len(Watched.last.seconds)
                before = cpu_seconds()
                wall, found, _ = timed(over_ray.run, **work)
                for kind, after in cpu_seconds().items():
                    cores.setdefault(f"{count} nodes", {}).setdefault(kind, []).append((after - before[kind]) / wall)
                assert found == expected, "the results differ"
                seconds.setdefault(f"{count} nodes", []).append(wall)
                shares.setdefault(f"{count} nodes", []).append(sum(Watched.last.seconds.values()) / count / wall)
                for node in added:
                    made.remove_node(node)
            print(f"round {at + 1} of {rounds}: {evaluations} evaluations,", ", ".join(
                f"{name} {taken[-1]:.2f} s" for name, taken in seconds.items()
            ), "others had", ", ".join(f"{kinds['others'][-1]:.2f}" for kinds in cores.values() if kinds), "cores", flush=True)
    for name, taken in seconds.items():
        # Those of one round, measured under the same conditions.
        firsts = seconds[f"{nodes[0]} {name.split()[1]}"]
        times = [first / each for first, each in zip(firsts, taken, strict=True)]
        print(f"{name}: {statistics.median(taken):.2f} s ({min(taken):.2f} to {max(taken):.2f}), "
              f"{statistics.median(times):.2f} times ({min(times):.2f} to {max(times):.2f}) {nodes[0]} {name.split()[1]}")
    for name, taken in shares.items():
        print(f"{name}: evaluating {statistics.median(taken):.3f} ({min(taken):.3f} to {max(taken):.3f}) of the time")
    for name, kinds in cores.items():
        print(f"{name}: cores taken:", ", ".join(f"{kind} {statistics.median(taken):.3f}" for kind, taken in kinds.items()))


def losses(work: dict[str, Any], runs: int) -> None:
    _, expected, evaluations = timed(mb.run, **work)
    with cluster() as made:
        for _ in range(2):
            made.add_node(num_cpus=1, object_store_memory=STORE)
        for at in range(runs):
            node = made.add_node(num_cpus=1, object_store_memory=STORE)
            share = (at + 1) / (runs + 2)
            removed_at: list[int] = []

            def remove(done: int, total: int, node: Any = node, share: float = share) -> None:
                if not removed_at and done >= share * total:
                    removed_at.append(done)
                    made.remove_node(node)

            taken, found, _ = timed(over_ray.run, **work, progress=remove)
            assert removed_at and removed_at[0] < evaluations, "the run was over too soon"
            same = found == expected
            print(f"run {at + 1}: node removed at {removed_at[0]} of {evaluations}, {taken:.2f} s, the same: {same}", flush=True)
            assert same


def driver(work: dict[str, Any], rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kinds: dict[str, tuple[bool, dict[str, Any], dict[str, Any]]] = {
            "verdicts, handed on": (False, {}, {"on_results": lambda results: None}),
            "verdicts, kept": (False, {}, {}),
            "verdicts, handed on, checkpoint": (False, {"checkpoint": "run"}, {"on_results": lambda results: None}),
            "scores, ranked, kept": (True, {}, {}),
            "outputs, handed on": (False, {"outputs": True}, {"on_results": lambda results: None}),
        }
        for name, (ranks, options, callbacks) in kinds.items():
            engine_options = {name: value for name, value in options.items() if name != "checkpoint"}
            run = mb.Coordinator(**work, **engine_options)
            packed = run._packed()
            engine = mb.Engine(**engine_options, scores=ranks)
            shards, first = {}, 0
            while first < packed.jobs:
                end, _ = packed.shard(first, 500_000)
                shards[first], first, _ = packed.evaluate(engine, first, end)
            rates, evaluations = [], 0
            for at in range(rounds):
                if "checkpoint" in options:
                    options = {**options, "checkpoint": Path(folder) / f"{at}.checkpoint"}
                run = mb.Coordinator(**work, **options)
                # It is one thread, and the machine may have other work.
                began = time.process_time()
                report = run._run_shards(shards.get, ranks=ranks, **callbacks)
                evaluations = report.evaluations
                rates.append(evaluations / (time.process_time() - began))
            size = sum(len(shard) for shard in shards.values()) / evaluations
            print(f"{name}: {statistics.median(rates) / 1e6:.1f} ({min(rates) / 1e6:.1f} to {max(rates) / 1e6:.1f}) "
                  f"million evaluations a CPU-second, {size:.1f} bytes each, {evaluations} evaluations", flush=True)
    began = time.perf_counter()
    data = run._packed().data()
    print(f"the batch packed: {len(data)} bytes in {time.perf_counter() - began:.3f} s")
    shards_a_second(rounds)


class Empty:
    """A batch of empty shards."""

    jobs = 3_000

    def data(self) -> Any:
        return np.zeros(1, np.uint8)

    def shard(self, first: int, evaluations: int) -> tuple[int, int]:
        return first + 1, 1


def nothing(*arguments: Any) -> tuple[_shards.Outcome, Any]:
    *_, end, _ = arguments
    return _shards.Outcome(1.0, end, 1), np.zeros(1, np.uint8)


def shards_a_second(rounds: int) -> None:
    """How many shards a driver can submit and collect, on two nodes that do nothing."""
    original = over_ray._evaluate
    setattr(over_ray, "_evaluate", nothing)  # noqa: B010
    try:
        with cluster() as made:
            for _ in range(2):
                made.add_node(num_cpus=1, object_store_memory=STORE)
            rates = []
            for _ in range(rounds):
                batch: Any = Empty()
                nodes = over_ray._Nodes(batch, {}, None)
                shards = _shards.Shards(batch, nodes)
                began = time.perf_counter()
                for first in range(batch.jobs):
                    while shards(first) is None:
                        pass
                rates.append(batch.jobs / (time.perf_counter() - began))
    finally:
        over_ray._evaluate = original
    print(f"empty shards by Ray: {statistics.median(rates):.0f} ({min(rates):.0f} to {max(rates):.0f}) a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("what", choices=["scale", "losses", "driver"])
    parser.add_argument("--evaluations", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--pin", action="store_true", help="a core for each node and all that runs on it: Linux only")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=_shards.SECONDS, help="how long a shard is to take")
    arguments = parser.parse_args()
    _shards.SECONDS = arguments.seconds
    programs, tasks = mb.read_programs(arguments.programs), mb.read_tasks(arguments.tasks)
    each = len(programs) * sum(len(task.train) + len(task.test) for task in tasks) / len(tasks)
    while each * len(tasks) < arguments.evaluations:
        tasks += tasks
    work: dict[str, Any] = {"programs": programs, "tasks": tasks[: round(arguments.evaluations / each)], "jobs": "all"}
    if arguments.what == "scale":
        scale(work, arguments.rounds, arguments.nodes, arguments.pin)
    elif arguments.what == "losses":
        losses(work, arguments.runs)
    else:
        driver(work, arguments.rounds)


if __name__ == "__main__":
    main()
