"""Batches of ARC pairs and tasks for PyTorch, and measurements that help a training loop use its machine.

>>> from mega_batch import synth
>>> from mega_batch.torch import TaskDataset, loader
>>> data = TaskDataset(synth.tasks(count=4, easy_nodes=0), batch_size=8)
>>> batch = next(iter(loader(data, workers=0)))
>>> tuple(batch["inputs"].shape), batch["inputs"].dtype
((8, 30, 30), torch.uint8)

Requires torch, which the extra "torch" installs: ``pip install "mega-batch[torch]"``.
"""

from __future__ import annotations

import gc
import hashlib
import math
import numbers
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from ._arguments import truths, whole
from ._engine import Synthesis, Task, _Pool
from ._values import SynthTask

try:
    import torch
    import torch.distributed
    from torch.utils.data import DataLoader, IterableDataset, get_worker_info
except ImportError:
    raise ImportError(
        'mega_batch.torch needs torch, which the extra "torch" has: pip install "mega-batch[torch]", or pip install torch'
    ) from None

if TYPE_CHECKING:
    from .typing import Programs, Tasks

__all__ = [
    "Batch",
    "MaxBatch",
    "MemoryReport",
    "SynthDataset",
    "TaskDataset",
    "WorkerRates",
    "best_workers",
    "find_max_batch",
    "loader",
    "memory_report",
]


class Batch(TypedDict):
    """A batch of a data set: tensors of n pairs, or with ``unit="task"`` of n tasks of p pairs.

    A grid is at the top left of its square of ``side`` rows and columns, which is filled with ``fill`` around it; the
    mask is True where the grid has a cell.
    """

    inputs: Any
    """uint8 of shape (n, side, side), or (n, p, side, side)."""
    input_mask: Any
    """bool of the same shape."""
    outputs: Any
    """uint8 of the same shape."""
    output_mask: Any
    """bool of the same shape."""
    task: Any
    """int64 of shape (n,): the index of each pair's task in the data set."""


def _number(name: str, value: Any) -> float:
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number, found {value!r}")
    return float(value)


class _Parts:
    """The part of the batches that this process generates, among all workers of all ranks."""

    def __init__(self, rank: int | None, world: int | None) -> None:
        if (rank is None) != (world is None):
            raise ValueError("rank, world: expected both, or none of them")
        if rank is not None and world is not None:
            rank, world = whole("rank", rank, 0), whole("world", world, 1)
            if rank >= world:
                raise ValueError(f"rank: expected 0 to before {world}, found {rank}")
        if rank is None:
            # A worker does not know the process group; the process that creates the data set does.
            is_there = torch.distributed.is_available() and torch.distributed.is_initialized()
            rank, world = (torch.distributed.get_rank(), torch.distributed.get_world_size()) if is_there else (0, 1)
        self.rank, self.world = rank, world or 1

    def of_worker(self) -> tuple[int, int]:
        """The worker's index, and the number of workers."""
        info = get_worker_info()
        return (0, 1) if info is None else (info.id, info.num_workers)


def _seed(*of: object) -> int:
    digest = hashlib.blake2b(" ".join(map(str, of)).encode(), digest_size=8).digest()
    return int.from_bytes(digest)


@dataclass(frozen=True)
class _Drawing:
    """How pairs become arrays."""

    unit: Literal["pair", "task"]
    pairs: int
    symmetries: bool
    colours: bool
    order: bool
    fixed: list[int]
    fill: int
    side: int

    def __post_init__(self) -> None:
        if self.unit not in ("pair", "task"):
            raise ValueError(f'unit: expected "pair" or "task", found {self.unit!r}')
        whole("pairs", self.pairs, 1)
        whole("fill", self.fill, 0, 255)
        whole("side", self.side, 1, 1024)
        truths(symmetries=self.symmetries, colours=self.colours, order=self.order)

    @property
    def least(self) -> int:
        """The number of pairs that a task needs."""
        return self.pairs if self.unit == "task" else 1

    def batch(self, pool: _Pool, tasks: NDArray[np.int64], pairs: NDArray[np.int64], seed: int) -> Batch:
        is_pair = self.unit == "pair"
        first = pairs if is_pair else None
        arrays = pool.draw(
            tasks, first, self.least, seed, self.symmetries, self.colours, self.order, self.fixed, self.fill
        )
        tensors = (torch.from_numpy(array[:, 0] if is_pair else array) for array in arrays)
        inputs, input_mask, outputs, output_mask = tensors
        return {
            "inputs": inputs,
            "input_mask": input_mask,
            "outputs": outputs,
            "output_mask": output_mask,
            "task": torch.from_numpy(tasks),
        }


def _fixed(fixed: Any) -> list[int]:
    if not isinstance(fixed, Iterable):
        raise TypeError(f"fixed: expected colours from 0 to 9, found {fixed!r}")
    return [whole("fixed", colour, 0, 9) for colour in fixed]


_INT64 = (-(2**63), 2**63 - 1)
"""The range of int64."""


class TaskDataset(IterableDataset[Batch]):  # type: ignore[misc]
    """Batches of the pairs of tasks: each pair once per epoch, in a new order, newly augmented.

    Use it with `loader`, or with a ``DataLoader`` of ``batch_size=None``: it yields whole batches. With
    ``unit="pair"`` a batch has ``batch_size`` pairs; with ``unit="task"`` it has as many tasks, each with ``pairs``
    pairs that are augmented alike, of which the last one can serve as the query. Tasks with fewer pairs are left out,
    as are pairs whose output is not known, and those with more than ``side`` rows or columns or colours other than 0
    to 9.

    ``symmetries`` applies one of the eight symmetries to each, ``colours`` permutes colours except those that are
    ``fixed``, ``order`` takes the pairs of a task in any order (otherwise they are the first train pairs, and a test
    pair last). ``shuffle=False`` keeps the order of pairs, ``drop_last`` leaves out a last batch that is shorter.

    The batches of an epoch depend only on ``seed``, `set_epoch` and the tasks. They are shared out among ranks and
    workers: of W ranks rank r gets batches r, r + W and so on, all ranks equally many. ``rank`` and ``world`` default
    to those of ``torch.distributed`` if that is initialised when the data set is created.

    Raises ValueError, with the name of the argument, for invalid arguments, and if no pair is left.
    """

    def __init__(
        self,
        tasks: Iterable[Task | SynthTask],
        *,
        batch_size: int = 256,
        unit: Literal["pair", "task"] = "pair",
        pairs: int = 4,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
        symmetries: bool = True,
        colours: bool = True,
        order: bool = True,
        fixed: Sequence[int] = (0,),
        side: int = 30,
        fill: int = 0,
        rank: int | None = None,
        world: int | None = None,
    ) -> None:
        super().__init__()
        self.batch_size: int = whole("batch_size", batch_size, 1)
        self.seed: int = whole("seed", seed)
        truths(shuffle=shuffle, drop_last=drop_last)
        self.shuffle = shuffle
        self.drop_last = drop_last
        self._drawing = _Drawing(unit, pairs, symmetries, colours, order, _fixed(fixed), fill, side)
        self._parts = _Parts(rank, world)
        # The epoch, and its first batch. In shared memory, so that persistent workers see changes.
        self._epoch: Any = torch.zeros(2, dtype=torch.int64).share_memory_()
        if not isinstance(tasks, Iterable):
            raise TypeError(f"tasks: expected tasks, found {type(tasks).__name__}")
        pool = _Pool(side)
        self._tasks = [task for task in tasks if pool.add(task, self._drawing.least)]
        self._pool: _Pool | None = pool
        counts = pool.counts()
        if unit == "task":
            self._of_task = np.arange(len(counts), dtype=np.int64)
            self._of_pair = np.zeros(len(counts), dtype=np.int64)
        else:
            self._of_task = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
            self._of_pair = np.concatenate([np.arange(count, dtype=np.int64) for count in counts] or [counts])
        if self.batches == 0:
            raise ValueError(f"tasks: {len(self._of_task)} of them or of their pairs are left, too few for a batch")

    @property
    def examples(self) -> int:
        """How many pairs, or tasks, an epoch has, over all ranks."""
        return len(self._of_task)

    @property
    def batches(self) -> int:
        """How many batches of an epoch a rank gets."""
        whole, left = divmod(self.examples, self.batch_size)
        all_ = whole if self.drop_last or left == 0 else whole + 1
        return all_ // self._parts.world

    def set_epoch(self, epoch: int, start: int = 0) -> None:
        """Start the next iteration with this epoch, also in persistent workers, and with this batch of the rank, to
        resume a training."""
        epoch, start = whole("epoch", epoch, *_INT64), whole("start", start, 0, _INT64[1])
        self._epoch[0] = epoch
        self._epoch[1] = start

    def __len__(self) -> int:
        return self.batches

    def __getstate__(self) -> dict[str, Any]:
        # The pool is rebuilt from the tasks when needed.
        return self.__dict__ | {"_pool": None}

    def _filled(self) -> _Pool:
        if self._pool is None:
            self._pool = _Pool(self._drawing.side)
            for task in self._tasks:
                self._pool.add(task, self._drawing.least)
        return self._pool

    def __iter__(self) -> Iterator[Batch]:
        epoch, start = map(int, self._epoch)
        pool = self._filled()
        order = np.arange(self.examples)
        if self.shuffle:
            np.random.default_rng(_seed(self.seed, epoch)).shuffle(order)
        worker, workers = self._parts.of_worker()
        for number in range(start + worker, self.batches, workers):
            batch = number * self._parts.world + self._parts.rank
            places = order[batch * self.batch_size : (batch + 1) * self.batch_size]
            seed = _seed(self.seed, epoch, batch)
            yield self._drawing.batch(pool, self._of_task[places], self._of_pair[places], seed)


_PATIENCE = 20_000
"""After this many candidates in a row without a suitable task the data set ends."""


class SynthDataset(IterableDataset[Batch]):  # type: ignore[misc]
    """Batches of tasks that are generated in the meantime, without end.

    Each worker of each rank generates tasks of its own, as `mega_batch.synth.tasks` does with ``programs``, ``tasks``
    and ``settings`` (except ``count``, ``seed``, ``shard``, ``workers`` and ``progress``), and keeps the last
    ``pool`` of them. A batch is drawn from these and augmented; after it so many new tasks are generated that each is
    drawn ``reuse`` times on average. The first batch comes when ``first`` tasks are there. Everything else is as in
    `TaskDataset`.

    ``task`` of a batch is the index in the worker's pool. The batches of a worker depend on ``seed``, on the numbers
    of workers and ranks, and on the epoch (`set_epoch`). The data set ends after ``batches`` batches per rank, or if
    no further tasks are found (as when 20,000 candidates in a row give none that fits), once the existing ones have
    been drawn ``reuse`` times on average.

    Raises ValueError and TypeError, with the name of the argument, for invalid arguments, also if no task can have
    ``pairs`` pairs; and RuntimeError, from the iterator, if not one task is found.
    """

    def __init__(
        self,
        programs: Programs | None = None,
        tasks: Tasks | None = None,
        *,
        batch_size: int = 256,
        unit: Literal["pair", "task"] = "pair",
        pairs: int = 4,
        seed: int = 0,
        batches: int | None = None,
        pool: int = 4096,
        first: int = 256,
        reuse: float = 64,
        symmetries: bool = True,
        colours: bool = True,
        order: bool = True,
        fixed: Sequence[int] = (0,),
        side: int = 30,
        fill: int = 0,
        rank: int | None = None,
        world: int | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        for name in ("count", "shard", "workers", "progress"):
            if name in settings:
                raise TypeError(f"{name}: not to be set, the data set does")
        pool, first = whole("pool", pool, 1), whole("first", first, 1)
        if not _number("reuse", reuse) >= 1:
            raise ValueError(f"reuse: expected 1 or more, found {reuse}")
        self.batch_size: int = whole("batch_size", batch_size, 1)
        self.seed: int = whole("seed", seed)
        self.batches: int | None = None if batches is None else whole("batches", batches, 0)
        self._drawing = _Drawing(unit, pairs, symmetries, colours, order, _fixed(fixed), fill, side)
        self._parts = _Parts(rank, world)
        self._sizes = (pool, min(first, pool), reuse)
        settings.setdefault("max_side", min(side, 30))
        if unit == "task" and "train" not in settings:
            settings["train"] = max(pairs - whole("test", settings.get("test", 1), 0), 1)
        # They are read here once, since an iterator among them could not be read again in each worker and epoch.
        given = {"programs": programs, "tasks": tasks}
        kept = {name: list(each) if isinstance(each, Iterator) else each for name, each in given.items()}
        self._settings: dict[str, Any] = kept | settings
        self._epoch: Any = torch.zeros(1, dtype=torch.int64).share_memory_()
        # Errors in the settings are raised here and not in a worker.
        Synthesis(**self._settings)
        train, test = self._settings.get("train", 3), self._settings.get("test", 1)
        if self._drawing.least > train + test:
            raise ValueError(f"pairs: expected 1 to {train + test}, of train={train} and test={test}, found {pairs}")

    def set_epoch(self, epoch: int) -> None:
        """Start the next iteration with the tasks of this epoch, also in persistent workers."""
        self._epoch[0] = whole("epoch", epoch, *_INT64)

    def __iter__(self) -> Iterator[Batch]:
        epoch = int(self._epoch[0])
        worker, workers = self._parts.of_worker()
        part = self._parts.rank * workers + worker
        of = self._parts.world * workers
        threads = None if get_worker_info() is None else 1
        seed = _seed(self.seed, epoch)
        made = Synthesis(**self._settings, seed=seed, shard=(part, of), workers=threads)
        most, first, reuse = self._sizes
        pool = _Pool(self._drawing.side)
        fresh = self.batch_size / reuse
        random = np.random.default_rng(_seed(seed, part, of))
        oldest, due, is_over = 0, float(first), False
        # The number of tasks taken, the candidate of the last one, and the total number of draws.
        taken, last, drawn = 0, 0, 0
        batches = None if self.batches is None else range(worker, self.batches, workers)
        number = worker
        while batches is None or number < batches.stop:
            while due >= 1 and not is_over:
                task = next(made, None)
                if task is None:
                    is_over = True
                    break
                is_full, candidate = len(pool) == most, task.candidate or 0
                if pool.add(task, self._drawing.least, oldest if is_full else None):
                    due, taken, last = due - 1, taken + 1, candidate
                    oldest = (oldest + is_full) % most
                else:
                    is_over = candidate - last >= _PATIENCE * of
            if taken == 0:
                pairs, side = self._drawing.least, self._drawing.side
                raise RuntimeError(
                    f"no task with {pairs} pairs within {side} rows and columns is made of these programs: {made.counts}"
                )
            if is_over and drawn > 0 and drawn >= reuse * taken:
                return
            counts = pool.counts()
            tasks = random.integers(0, len(pool), self.batch_size)
            places = (random.random(self.batch_size) * counts[tasks]).astype(np.int64)
            yield self._drawing.batch(pool, tasks, places, _seed(seed, part, number))
            number += workers
            due += fresh
            drawn += self.batch_size


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def loader(
    dataset: TaskDataset | SynthDataset,
    *,
    workers: int | None = None,
    prefetch: int = 4,
    pin_memory: bool | None = None,
    persistent: bool = True,
    context: str | None = None,
    timeout: float = 0,
) -> Any:
    """A ``torch.utils.data.DataLoader`` over batches of a data set.

    ``workers`` are processes that prepare batches (0: this process does). The default is 0 for a `TaskDataset`, whose
    batches are quicker to prepare than to receive from another process, and one fewer than there are cores for a
    `SynthDataset`, which generates tasks in the meantime; `best_workers` measures what is best. Each worker prepares
    up to ``prefetch`` batches ahead and stays from epoch to epoch if ``persistent``. Memory is pinned, so that
    ``.to(device, non_blocking=True)`` copies while the device computes, if there is a CUDA device, unless
    ``pin_memory`` says otherwise. ``context`` is how processes are started: ``"fork"``, ``"spawn"`` or
    ``"forkserver"``. ``timeout`` is how many seconds to wait for a batch, 0 for ever.
    """
    if not isinstance(dataset, IterableDataset):
        raise TypeError(f"dataset: expected a TaskDataset or a SynthDataset, found {type(dataset).__name__}")
    truths(persistent=persistent, pin_memory=False if pin_memory is None else pin_memory)
    if not 0 <= _number("timeout", timeout) < math.inf:
        raise ValueError(f"timeout: expected 0 or more seconds, found {timeout}")
    if workers is None:
        workers = 0 if isinstance(dataset, TaskDataset) else max(_cores() - 1, 0)
    workers, prefetch = whole("workers", workers, 0), whole("prefetch", prefetch, 1)
    options: dict[str, Any] = {}
    if workers > 0:
        options = {
            "prefetch_factor": prefetch,
            "persistent_workers": persistent,
            "multiprocessing_context": context,
            "timeout": timeout,
        }
    pin = torch.cuda.is_available() if pin_memory is None else pin_memory
    return DataLoader(dataset, batch_size=None, num_workers=workers, pin_memory=pin, **options)


@dataclass(frozen=True)
class WorkerRates:
    """What `best_workers` measured."""

    best: int
    """The number of workers with the highest rate; the smallest of those within a twentieth of it."""
    rates: dict[int, float]
    """Pairs, or tasks, per second by number of workers."""

    def __str__(self) -> str:
        lines = [f"{workers} workers: {rate:,.0f} a second" for workers, rate in self.rates.items()]
        return "\n".join([*lines, f"best: {self.best}"])


def best_workers(
    dataset: TaskDataset | SynthDataset,
    candidates: Iterable[int] | None = None,
    *,
    seconds: float = 2.0,
    step: Callable[[Batch], object] | None = None,
    **options: Any,
) -> WorkerRates:
    """Measure how many workers feed a training loop best: each of ``candidates`` for ``seconds``, after a first batch.

    The candidates are 0, 1, 2, 4 and so on up to the number of cores by default. ``step`` is called with each batch,
    as the training step would be: without it only the feeding is measured. ``options`` are those of `loader`. A data
    set that ends is restarted.

    Raises ValueError and TypeError for invalid arguments, and ValueError if the data set yields no batches.
    """
    if not 0 < _number("seconds", seconds) < math.inf:
        raise ValueError(f"seconds: expected a number above 0, found {seconds}")
    if step is not None and not callable(step):
        raise TypeError(f"step: expected a function of a batch, found {type(step).__name__}")
    if candidates is None:
        cores = _cores()
        candidates = sorted({0, *(2**power for power in range(cores.bit_length()) if 2**power <= cores), cores})
    elif not isinstance(candidates, Iterable):
        raise TypeError(f"candidates: expected numbers of workers, found {candidates!r}")
    # All are checked before the first one is measured.
    candidates = [whole("candidates", workers, 0) for workers in candidates]
    rates: dict[int, float] = {}
    for workers in candidates:
        batches = loader(dataset, workers=workers, **options)
        rates[workers] = _rate(batches, seconds, step)
        del batches
        gc.collect()
    if not rates:
        raise ValueError("candidates: expected one or more")
    most = max(rates.values())
    best = min(workers for workers, rate in rates.items() if rate >= 0.95 * most)
    return WorkerRates(best, rates)


def _rate(batches: Any, seconds: float, step: Callable[[Batch], object] | None) -> float:
    """Examples per second."""
    done, begin, has_begun = 0, 0.0, False
    while True:
        is_empty = True
        for batch in batches:
            is_empty = False
            if step is not None:
                step(batch)
            if not has_begun:
                # Until the first batch is there, processes are starting.
                has_begun, begin = True, time.perf_counter()
                continue
            done += len(batch["inputs"])
            passed = time.perf_counter() - begin
            if passed >= seconds:
                return done / passed
        if is_empty:
            raise ValueError("dataset: expected batches, found none in its epoch, from the start that `set_epoch` gave it")


@dataclass(frozen=True)
class MaxBatch:
    """The result of `find_max_batch`."""

    size: int
    """The largest size that fit."""
    recommended: int
    """The size with the margin taken off, at least 1."""
    tried: list[tuple[int, bool, int]] = field(default_factory=list[tuple[int, bool, int]])
    """Each size tried, whether it fit, and the peak of device memory in bytes (0 on a CPU)."""


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    # The allocators of CPUs and of libraries raise this type, recognisable only by the message.
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text)


def _free(model: Any) -> None:
    """Free what a step has left."""
    for parameter in model.parameters():
        parameter.grad = None
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def find_max_batch(
    model: Any,
    step: Callable[[Any, int], object],
    *,
    first: int = 1,
    most: int = 65536,
    margin: float = 0.1,
    bytes_: int | None = None,
) -> MaxBatch:
    """Find the largest batch with which a training step fits into memory.

    ``step(model, size)`` runs a step, forwards and backwards, on a batch of this size, and must not change the
    parameters. From ``first`` on sizes are doubled until one is too large or ``most`` is reached, followed by a
    binary search in between. After a step that runs out of memory, on a device or on the CPU, what it left is freed
    and the next size tried; any other exception is raised. ``bytes_`` sets a lower limit: a step that takes more of
    the CUDA device counts as out of memory. The mode, gradients and random state of the model are restored.
    ``margin`` is the fraction that ``recommended`` leaves free.

    Raises ValueError for invalid limits, MemoryError if even ``first`` is too large.
    """
    first, most = whole("first", first), whole("most", most)
    bytes_ = None if bytes_ is None else whole("bytes_", bytes_, 0)
    if not callable(step):
        raise TypeError(f"step: expected a function of the model and a size, found {type(step).__name__}")
    if not 1 <= first <= most:
        raise ValueError(f"first, most: expected 1 <= first <= most, found {first} and {most}")
    if not 0 <= _number("margin", margin) < 1:
        raise ValueError(f"margin: expected 0 to below 1, found {margin}")
    tried: list[tuple[int, bool, int]] = []
    has_cuda = torch.cuda.is_available()

    def goes_well(size: int) -> bool:
        taken, is_well = 0, True
        if has_cuda:
            torch.cuda.reset_peak_memory_stats()
        try:
            step(model, size)
            if has_cuda:
                torch.cuda.synchronize()
        except Exception as error:
            if not _is_out_of_memory(error):
                raise
            is_well = False
        if has_cuda:
            taken = torch.cuda.max_memory_allocated()
            is_well = is_well and (bytes_ is None or taken <= bytes_)
        # Outside of the handler, whose exception holds the frames of the step and with them its tensors.
        _free(model)
        tried.append((size, is_well, taken))
        return is_well

    gradients = [parameter.grad for parameter in model.parameters()]
    random = torch.random.get_rng_state()
    was_training = model.training
    model.train()
    try:
        well, bad = 0, most + 1
        size = first
        while size < bad and goes_well(size):
            well = size
            if size == most:
                break
            size = min(2 * size, most)
        else:
            bad = size
        while bad - well > 1 and well > 0 and well < most:
            middle = (well + bad) // 2
            if goes_well(middle):
                well = middle
            else:
                bad = middle
    finally:
        _free(model)
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter.grad = gradient
        model.train(was_training)
        torch.random.set_rng_state(random)
    if well == 0:
        raise MemoryError(f"a batch of {first} is too large")
    return MaxBatch(well, max(int(well * (1 - margin)), 1), tried)


@dataclass(frozen=True)
class MemoryReport:
    """The use of memory, in bytes; 0 for what does not exist."""

    parameters: int
    gradients: int
    buffers: int
    optimiser: int
    """The optimiser's state."""
    process: int
    """The peak resident memory of this process."""
    device: str
    """The name of the CUDA device; empty without one."""
    allocated: int
    """Bytes of tensors on it."""
    reserved: int
    """Bytes that the allocator holds."""
    most: int
    """The peak of `allocated`."""
    total: int
    """The device's memory."""

    def __str__(self) -> str:
        rows = [
            ("parameters", self.parameters),
            ("gradients", self.gradients),
            ("buffers", self.buffers),
            ("optimiser", self.optimiser),
            ("process, at most", self.process),
        ]
        if self.device:
            rows += [
                (f"{self.device}, allocated", self.allocated),
                (f"{self.device}, reserved", self.reserved),
                (f"{self.device}, at most", self.most),
                (f"{self.device}, in all", self.total),
            ]
        return "\n".join(f"{name}: {count / 2**20:,.1f} MiB" for name, count in rows)


def _bytes(tensors: Iterable[Any]) -> int:
    return sum(int(tensor.numel()) * int(tensor.element_size()) for tensor in tensors)


def memory_report(model: Any = None, optimiser: Any = None) -> MemoryReport:
    """The memory used by a model, its optimiser, this process and the current CUDA device."""
    parameters = [] if model is None else list(model.parameters())
    kept: list[Any] = []
    if optimiser is not None:
        states = optimiser.state.values()
        kept = [value for state in states for value in state.values() if torch.is_tensor(value)]
    device, allocated, reserved, most, total = "", 0, 0, 0, 0
    if torch.cuda.is_available():
        device = str(torch.cuda.get_device_name())
        allocated, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        most, total = torch.cuda.max_memory_allocated(), torch.cuda.mem_get_info()[1]
    return MemoryReport(
        parameters=_bytes(parameters),
        gradients=_bytes(parameter.grad for parameter in parameters if parameter.grad is not None),
        buffers=0 if model is None else _bytes(model.buffers()),
        optimiser=_bytes(kept),
        process=_resident(),
        device=device,
        allocated=allocated,
        reserved=reserved,
        most=most,
        total=total,
    )


def _resident() -> int:
    try:
        import resource
    except ImportError:  # Windows.
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Kilobytes on Linux, bytes on macOS.
    return most if os.uname().sysname == "Darwin" else most * 1024
