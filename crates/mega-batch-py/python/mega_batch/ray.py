"""`run`, `Coordinator` and `search` over the nodes of a Ray cluster.

>>> from mega_batch import ray  # doctest: +SKIP
>>> ray.run(programs, tasks, jobs="all")  # doctest: +SKIP

They return what those of `mega_batch` return on one machine, except for times. A batch is cut into shards of about a
second, which Ray tasks evaluate; a task uses the free cores of its node. A search is one Ray task for each ARC task,
on one core. The driver, the process that calls this, delivers the results and keeps the checkpoint. See docs/runs.md.

Ray is not imported before a run: it comes with `pip install "ray[default]"`.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._engine import Coordinator as _Coordinator
from ._engine import Engine, Task, _PackedBatch, __version__
from ._engine import search as _search
from ._progress import Progress
from ._results import Report, Results
from ._shards import SILENT, WAIT, Lost, Outcome, Shards
from ._values import Searched

if TYPE_CHECKING:
    from typing import Unpack

    from .typing import DialectName, Jobs, Options, Programs, Solutions, Tasks

__all__ = ["Coordinator", "run", "search"]

_NODES = 1.0
"""For how many seconds a list of the nodes is used."""


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ImportError('mega_batch.ray needs Ray on every node, which the extra "ray" has: pip install "mega-batch[ray]", or "ray[default]"') from error
    return ray


def _connected() -> Any:
    """Ray, connected to a cluster."""
    ray = _ray()
    if not ray.is_initialized():
        ray.init()
    return ray


def _check(version: str) -> None:
    """Compares this node's version with the driver's."""
    if version != __version__:
        raise RuntimeError(
            f"this node has mega_batch {__version__}, the driver {version}: expected one version everywhere"
        )


def _cannot_import(error: Exception) -> bool:
    """Whether a task has failed because its node has no mega_batch."""
    return isinstance(getattr(error, "cause", None), ImportError) or "No module named 'mega_batch'" in str(error)


_NOT_INSTALLED = (
    "a node cannot import mega_batch: install the same wheel on every node, or let Ray do so, "
    'ray.init(runtime_env={"pip": ["numpy", WHEEL]})'
)


_kept: tuple[object, _PackedBatch, Engine] | None = None
"""The batch that this process evaluated last, with its key, and the engine with its threads."""


def _evaluate(
    version: str, batch: list[Any], options: dict[str, Any], first: int, end: int, seconds: float
) -> tuple[Outcome, NDArray[np.uint8]]:
    """The body of a Ray task: evaluates a shard."""
    global _kept
    _check(version)
    began = time.perf_counter()
    key = (batch[0], sorted(options.items()))
    if _kept is None or _kept[0] != key:
        _kept = None
        _kept = (key, _PackedBatch(_ray().get(batch[0])), Engine(**options))
        # The set-up must not count as the node's speed.
        began = time.perf_counter()
    results, end, evaluations = _kept[1].evaluate(_kept[2], first, end, seconds)
    return Outcome(time.perf_counter() - began, end, evaluations), results


def _free_cpus() -> dict[str, float]:
    """How many CPUs of each node no task and no actor holds, if Ray says so: it has no public function for that."""
    try:
        from ray._private.state import available_resources_per_node
    except ImportError:
        return {}
    return {name: has.get("CPU", 0.0) for name, has in available_resources_per_node().items()}


class _Nodes:
    """The nodes of the cluster as a `Pool`."""

    def __init__(self, batch: _PackedBatch, options: Mapping[str, Any], cores: int | None) -> None:
        if cores is not None and cores < 1:
            raise ValueError("cores: expected 1 or more")
        self._ray = _connected()
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._affinity = NodeAffinitySchedulingStrategy
        # The driver keeps the time limit of the run.
        self._options = {name: value for name, value in options.items() if name != "time_limit"}
        self._takes_gpus = options.get("mode") in ("gpu", "auto") or options.get("backend") == "cuda"
        self._cores = cores
        self._batch = self._ray.put(batch.data())
        self._task = self._ray.remote(_evaluate)
        self._numbers = itertools.count()
        self._references: dict[int, tuple[Any, Any]] = {}
        """The outcome and the results of each shard."""
        self._under_way: dict[int, str] = {}
        """The node of each shard that has not finished."""
        self._listed: tuple[float, dict[str, tuple[int, int]]] = (0.0, {})
        """When the nodes were listed, and how many of their CPUs and GPUs shards use."""

    def _list(self) -> dict[str, tuple[int, int]]:
        listed, before = self._listed
        now = time.monotonic()
        if before and now - listed < _NODES:
            return before
        nodes, free = {}, {} if self._cores else _free_cpus()
        for node in self._ray.nodes():
            name, has = node["NodeID"], node["Resources"]
            cpus = int(has.get("CPU", 0))
            if not node["Alive"] or cpus < (self._cores or 1):
                continue
            if name in before and name in self._under_way.values():
                cores, _ = before[name]
            else:
                # Leaves others what they hold, unless they hold everything.
                cores = self._cores or min(int(free.get(name, cpus)), cpus) or cpus
            nodes[name] = (cores, int(has.get("GPU", 0)))
        self._listed = (now, nodes)
        return nodes

    def nodes(self) -> dict[str, int]:
        return {name: cores for name, (cores, _) in self._list().items()}

    def submit(self, node: str, first: int, end: int, time: float) -> int:
        cores, gpus = self._list().get(node, (1, 0))
        options = {"mode": "parallel", "workers": cores, **self._options}
        if options["mode"] == "parallel" and options["workers"] == 1:
            # Nor is there a core for a second thread to pass results to.
            options["mode"] = "sequential"
        task = self._task.options(
            num_cpus=cores,
            num_gpus=gpus if self._takes_gpus else 0,
            num_returns=2,
            max_retries=0,
            scheduling_strategy=self._affinity(node, soft=False),
        )
        number = next(self._numbers)
        made, results = task.remote(__version__, [self._batch], options, first, end, time)
        self._references[number] = (made, results)
        self._under_way[number] = node
        return number

    def wait(self, numbers: Sequence[int], timeout: float) -> list[int]:
        by_reference = {self._references[number][0]: number for number in numbers}
        ready, left = self._ray.wait(list(by_reference), num_returns=1, timeout=timeout)
        if left and ready:
            more, _ = self._ray.wait(left, num_returns=len(left), timeout=0)
            ready += more
        return [by_reference[reference] for reference in ready]

    def outcome(self, number: int) -> Outcome:
        reference, results = self._references[number]
        self._under_way.pop(number, None)
        try:
            outcome = Outcome(*self._get(reference))
        except BaseException:
            del self._references[number]
            raise
        # Starts fetching the results while others are delivered.
        self._ray.wait([results], timeout=0, fetch_local=True)
        return outcome

    def fetch(self, number: int) -> NDArray[np.uint8]:
        _, results = self._references.pop(number)
        values: NDArray[np.uint8] = self._get(results)
        return values

    def drop(self, number: int) -> None:
        self._under_way.pop(number, None)
        references = self._references.pop(number, None)
        if references is not None:
            self._ray.cancel(references[0])

    def _get(self, reference: Any) -> Any:
        exceptions = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except exceptions.RayTaskError as error:
            if _cannot_import(error):
                raise RuntimeError(_NOT_INSTALLED) from error
            raise
        except exceptions.RuntimeEnvSetupError:
            raise
        except exceptions.RayError as error:
            crashed = isinstance(error, (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError))
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise Lost(lines[0], crashed=crashed) from error


def _run(
    run: _Coordinator,
    ranks: bool,
    options: Mapping[str, Any],
    cores: int | None,
    on_results: Callable[[Results], object] | None,
    chunk: int,
    progress: Progress,
) -> Report:
    packed = run._packed()
    nodes = _Nodes(packed, options, cores)
    with closing(Shards(packed, nodes)) as shards:
        return run._run_shards(
            shards,
            ranks=ranks,
            workers=max(sum(nodes.nodes().values()), 1),
            on_results=on_results,
            chunk=chunk,
            progress=progress,
        )


def run(
    programs: Programs,
    tasks: Tasks,
    *,
    solutions: Solutions | None = None,
    jobs: Jobs = "own",
    train_only: bool = False,
    dialect: DialectName | None = None,
    on_results: Callable[[Results], object] | None = None,
    chunk: int = 65536,
    progress: Progress = False,
    cores: int | None = None,
    **options: Unpack[Options],
) -> Report:
    """Run programs on tasks over the nodes of a Ray cluster, and say which outputs are right.

    It takes and returns the same as `mega_batch.run`. If this process is not connected to a cluster, ``ray.init()``
    finds the one that ``RAY_ADDRESS`` names or that runs here, or starts one on this machine. ``cores`` is how many
    cores of a node a shard uses; nodes that have fewer are left out. By default it uses those that no other task or
    actor holds when the node has no shard, or all if others hold all. With ``mode`` ``"gpu"`` or ``"auto"`` it uses
    all GPUs of its node too.

    Nodes may come and go: what is lost is evaluated again, and nothing counts twice. Ctrl-C, errors and threads are
    as in `mega_batch.run`. Raises ImportError if Ray is not installed, and RuntimeError if a node cannot import this
    package or has another version of it, and for a shard that crashes one worker after the other.
    """
    coordinator = _Coordinator(
        programs,
        tasks,
        solutions=solutions,
        jobs=jobs,
        train_only=train_only,
        dialect=dialect,
        **options,
    )
    return _run(coordinator, False, options, cores, on_results, chunk, progress)


class Coordinator:
    """A run over the nodes of a Ray cluster that can be resumed.

    It takes and returns the same as `mega_batch.Coordinator`, and ``cores`` as in `run`. The checkpoint and the
    submission are files of the driver. A checkpoint does not depend on where evaluations ran: a run can be resumed on
    one machine or on a cluster.
    """

    def __init__(
        self,
        programs: Programs,
        tasks: Tasks,
        *,
        solutions: Solutions | None = None,
        jobs: Jobs = "own",
        train_only: bool = False,
        dialect: DialectName | None = None,
        checkpoint: str | PathLike[str] | None = None,
        resume: bool = False,
        submission: str | PathLike[str] | None = None,
        cores: int | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._options: dict[str, Any] = {**options, "scores": True}
        self._cores = cores
        self._run = _Coordinator(
            programs,
            tasks,
            solutions=solutions,
            jobs=jobs,
            train_only=train_only,
            dialect=dialect,
            checkpoint=checkpoint,
            resume=resume,
            submission=submission,
            **options,
        )

    def run(
        self,
        *,
        on_results: Callable[[Results], object] | None = None,
        chunk: int = 65536,
        progress: Progress = False,
    ) -> Report:
        """Run everything that is not in the checkpoint, and return the report of the whole run."""
        return _run(self._run, True, self._options, self._cores, on_results, chunk, progress)

    def cancel(self) -> None:
        """End the current run, from another thread: it returns what is finished."""
        self._run.cancel()

    def to_submission(self, path: str | PathLike[str] | None = None) -> dict[str, list[dict[str, list[list[int]]]]]:
        """The submission in Kaggle's form; with a path it is also written there. Requires an earlier run."""
        return self._run.to_submission(path)


def _search_one(version: str, task: Task, options: dict[str, Any]) -> Searched:
    """The body of a Ray task that searches."""
    _check(version)
    return _search([task], workers=1, **options)[0]


def _search_all(todo: list[tuple[int, Task]], options: dict[str, Any]) -> Iterator[tuple[int, Searched | str] | None]:
    """The nodes' results as they come; None if nothing has come for a moment."""
    ray = _connected()
    remote = ray.remote(_search_one).options(num_cpus=1)
    places = {remote.remote(__version__, task, options): at for at, task in todo}
    heard, is_told = time.monotonic(), False
    try:
        while places:
            ready, _ = ray.wait(list(places), num_returns=1, timeout=WAIT)
            if not ready:
                if not is_told and time.monotonic() - heard >= SILENT:
                    is_told = True
                    warnings.warn(
                        f"no task was searched to its end for {SILENT:.0f} seconds: other tasks or actors may hold all CPUs "
                        "of the cluster",
                        stacklevel=2,
                    )
                yield None
                continue
            heard = time.monotonic()
            at = places.pop(ready[0])
            found: Searched | str
            try:
                found = ray.get(ready[0])
            except ray.exceptions.RayTaskError as error:
                if _cannot_import(error):
                    raise RuntimeError(_NOT_INSTALLED) from error
                raise
            except ray.exceptions.RuntimeEnvSetupError:
                raise
            except ray.exceptions.RayError as error:
                # Ray has already retried where that may help. Only this task is affected.
                found = f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')}"
            yield at, found
    finally:
        for reference in places:
            ray.cancel(reference)


def search(
    tasks: Tasks,
    *,
    solutions: Solutions | None = None,
    nodes: int | None = None,
    attempts: int | None = None,
    time_per_task: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    submission: str | PathLike[str] | None = None,
    on_task: Callable[[Searched], object] | None = None,
    progress: Progress = False,
) -> list[Searched]:
    """Search programs for tasks over the nodes of a Ray cluster.

    It takes and returns the same as `mega_batch.search`, but without ``workers``: as many tasks are searched at a
    time as the cluster has cores. Checkpoint and submission are files of the driver, and a search that was begun on
    one machine can be resumed on a cluster. A task whose node is lost is searched again; a task that crashes its
    worker several times is one that could not be searched. Raises ImportError if Ray is not installed, and
    RuntimeError if a node cannot import this package or has another version of it.
    """
    _connected()
    options: dict[str, Any] = {"nodes": nodes, "attempts": attempts, "time_per_task": time_per_task}
    return _search(
        tasks,
        solutions=solutions,
        checkpoint=checkpoint,
        resume=resume,
        submission=submission,
        on_task=on_task,
        progress=progress,
        by=lambda todo: _search_all(todo, options),
        **options,
    )
