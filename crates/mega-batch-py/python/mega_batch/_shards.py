"""Decides which node evaluates which shard of a batch, and when; a `Pool` is the interface to a cluster."""

from __future__ import annotations

import heapq
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lost", "Outcome", "Pool", "Shards"]

SECONDS = 1.0
"""The target time of a shard, in seconds."""

MANY = 300
"""The nodes that a driver keeps busy with such shards; with more nodes shards take longer in proportion."""

MOST = 2.0
"""A shard ends early after this many times its target time, and the rest of it becomes new shards: some programs are
slow."""

FIRST = 1000
"""Evaluations in the first shard of a node, for each of its threads."""

GROWTH = 4
"""A shard has at most this many times as many evaluations as the largest one before it on its node."""

UNDER_WAY = 2
"""Shards that a node has at a time: the second one begins when the first one ends."""

AHEAD = 8
"""The most shards per node that are cut and not yet delivered, since the oldest one may take long."""

WAIT = 0.1
"""The longest wait for results, in seconds, before the caller is told that there are none yet."""

STRAGGLER = 4.0
"""A shard that has taken longer than this many seconds, times `UNDER_WAY`, is also evaluated on another node, if
there is no other work."""

CRASHES = 5
"""A shard that has crashed this many workers is not tried again."""

LOSSES = 50
"""A shard that was lost this many times, for whatever reason, is not tried again."""

REST = 0.5
"""Seconds for which a node that has lost a shard gets none; doubled each time until it finishes one."""

NO_NODE = 30.0
"""A warning is given after this many seconds without any node."""

SILENT = 10.0
"""A warning is given, once, if a node with shards has finished none for this many seconds."""


class Lost(Exception):
    """A shard must be evaluated again: its node, its worker or its results are gone."""

    def __init__(self, why: str, *, crashed: bool = False) -> None:
        super().__init__(why)
        self.crashed = crashed
        """Whether the worker itself crashed, perhaps because of the programs it ran."""


class Outcome(NamedTuple):
    """The outcome of a shard."""

    seconds: float
    """How long it took."""
    end: int
    """The job at which it ended, which may be before the shard's end because of the time limit."""
    evaluations: int
    """How many evaluations were run."""


class Pool(Protocol):
    """Evaluates shards. A node is identified by its name, a submitted shard by a number."""

    def nodes(self) -> Mapping[str, int]:
        """The usable nodes, with the number of threads that evaluate on each."""

    def submit(self, node: str, first: int, end: int, time: float) -> int:
        """Queues the jobs from `first` to before `end` on a node. The node stops after `time` seconds, but evaluates
        at least one job."""

    def wait(self, numbers: Sequence[int], timeout: float) -> list[int]:
        """Waits up to `timeout` seconds for one of these shards to finish or get lost; returns all that have."""

    def outcome(self, number: int) -> Outcome:
        """The outcome of a finished shard. Raises Lost."""

    def fetch(self, number: int) -> NDArray[np.uint8]:
        """The results of a finished shard, which the pool then forgets. Raises Lost."""

    def drop(self, number: int) -> None:
        """Releases a shard, finished or not: it will not be asked for again."""


class Batch(Protocol):
    """The part of the batch that is needed here: see `_engine._PackedBatch`."""

    @property
    def jobs(self) -> int: ...
    def shard(self, first: int, evaluations: int) -> tuple[int, int]: ...


@dataclass(frozen=True)
class _Shard:
    first: int
    end: int


@dataclass(frozen=True)
class _Flight:
    """A shard submitted to a node."""

    shard: _Shard
    node: str
    began: float


@dataclass
class _Node:
    """Statistics of a node."""

    rate: float = 0.0
    """Evaluations per second; 0 if not known."""
    largest: int = 0
    """The size of its largest shard, in evaluations."""
    losses: int = 0
    """How many shards it has lost since it last finished one."""
    rests_until: float = 0.0
    """When it may get shards again."""
    heard: float = 0.0
    """When it last finished a shard."""
    is_silent: bool = False
    """Whether it was warned about since then."""


class Shards:
    """Has a pool evaluate shards of a batch, and delivers their results in the order of the batch.

    Called with the index of a job it returns the results of the shard that begins there, or None if they are not
    there yet. A shard counts once it is delivered: a lost one is evaluated again, and one that was evaluated twice is
    delivered once. The numbers of submitted and of undelivered shards are bounded.
    """

    def __init__(self, batch: Batch, pool: Pool, clock: Callable[[], float] = time.monotonic) -> None:
        self._batch = batch
        self._pool = pool
        self._clock = clock
        self._next: int | None = None
        """The first job that is in no shard yet."""
        self._again: list[tuple[int, int]] = []
        """First job and end of the ranges that were lost or not reached, as a heap."""
        self._flights: dict[int, _Flight] = {}
        self._done: dict[int, tuple[_Shard, int]] = {}
        """Finished shards by their first job, with their numbers."""
        self._nodes: defaultdict[str, _Node] = defaultdict(_Node)
        self._crashes: dict[int, int] = {}
        self._losses: dict[int, int] = {}
        self._cut = (0, 0)
        """How many jobs were cut into shards, and their evaluations."""
        self._idle_since: float | None = None
        self._stretch = 1.0
        """The factor by which shards are longer because there are many nodes."""
        self.counts = {"shards": 0, "lost": 0, "twice": 0}
        """Shards that were delivered, that were lost, and that were evaluated twice."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        """How long each node has evaluated."""

    def __call__(self, first: int) -> NDArray[np.uint8] | None:
        if self._next is None:
            self._next = first
        results = self._take(first)
        if results is None:
            self._fill()
            self._look(WAIT)
            results = self._take(first)
        if results is not None:
            # The nodes go on while the results are delivered.
            self._look(0)
            self._fill()
        return results

    def close(self) -> None:
        """Releases all submitted shards."""
        for number in [*self._flights, *(number for _, number in self._done.values())]:
            self._pool.drop(number)
        self._flights.clear()
        self._done.clear()

    def _take(self, first: int) -> NDArray[np.uint8] | None:
        if first not in self._done:
            return None
        shard, number = self._done.pop(first)
        try:
            results = self._pool.fetch(number)
        except Lost as lost:
            self._lose(shard, lost)
            return None
        self.counts["shards"] += 1
        self._crashes.pop(first, None)
        self._losses.pop(first, None)
        # Other evaluations of the same shard are no longer needed.
        for other in [at for at, flight in self._flights.items() if flight.shard.first == first]:
            self._forget(other)
        return results

    def _forget(self, number: int) -> None:
        del self._flights[number]
        self._pool.drop(number)
        self.counts["twice"] += 1

    def _look(self, timeout: float) -> None:
        """Takes note of finished shards."""
        if not self._flights:
            if timeout > 0:
                time.sleep(timeout)
            return
        for number in self._pool.wait(list(self._flights), timeout):
            if number not in self._flights:
                continue
            flight = self._flights[number]
            shard = flight.shard
            try:
                outcome = self._pool.outcome(number)
            except Lost as lost:
                del self._flights[number]
                node = self._nodes[flight.node]
                if not lost.crashed:
                    # The pool may notice only later that the node is gone.
                    node.rests_until = self._clock() + REST * 2 ** min(node.losses, 6)
                    node.losses += 1
                self._lose(shard, lost)
                continue
            if shard.first in self._done:
                self._forget(number)
                continue
            del self._flights[number]
            self._done[shard.first] = (_Shard(shard.first, outcome.end), number)
            if outcome.end < shard.end:
                heapq.heappush(self._again, (outcome.end, shard.end))
            node = self._nodes[flight.node]
            node.losses = 0
            node.heard, node.is_silent = self._clock(), False
            self.seconds[flight.node] += outcome.seconds
            rate = outcome.evaluations / max(outcome.seconds, 1e-6)
            # A node that has become slower is believed at once.
            node.rate = (node.rate + rate) / 2 if 0 < node.rate < rate else rate
            node.largest = max(node.largest, outcome.evaluations)

    def _lose(self, shard: _Shard, lost: Lost) -> None:
        """Queues a shard again, unless another evaluation of it is in progress."""
        self.counts["lost"] += 1
        first = shard.first
        self._losses[first] = self._losses.get(first, 0) + 1
        self._crashes[first] = self._crashes.get(first, 0) + lost.crashed
        if self._crashes[first] >= CRASHES or self._losses[first] >= LOSSES:
            raise RuntimeError(
                f"the shard of jobs {first} to {shard.end - 1} was lost {self._losses[first]} times, "
                f"the last time since: {lost}"
            ) from lost
        others = (flight.shard.first for flight in self._flights.values())
        if first not in self._done and first not in others:
            heapq.heappush(self._again, (first, shard.end))

    def _fill(self) -> None:
        """Submits work to the nodes."""
        now = self._clock()
        known = self._pool.nodes()
        self._stretch = max(1.0, len(known) / MANY)
        nodes = {
            name: threads
            for name, threads in known.items()
            if name not in self._nodes or self._nodes[name].rests_until <= now
        }
        if nodes:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        elif now - self._idle_since >= NO_NODE:
            warnings.warn("no node of the cluster can be used: the run waits for one", stacklevel=2)
            self._idle_since = now
        self._tell_of_silent(known, now)
        load = dict.fromkeys(nodes, 0)
        for flight in self._flights.values():
            if flight.node in load:
                load[flight.node] += 1
        # Each node gets its first shard before any gets its second.
        for most in range(1, UNDER_WAY + 1):
            for node, threads in nodes.items():
                if load[node] >= most:
                    continue
                shard = self._shard_for(node, threads, nodes) or (
                    self._straggler(node, now) if load[node] == 0 else None
                )
                if shard is not None:
                    number = self._pool.submit(node, shard.first, shard.end, MOST * self._seconds())
                    self._flights[number] = _Flight(shard, node, now)
                    load[node] += 1

    def _tell_of_silent(self, known: Mapping[str, int], now: float) -> None:
        """Warns about nodes that hold shards and finish none: most likely the shards do not start."""
        oldest: dict[str, float] = {}
        for flight in self._flights.values():
            oldest[flight.node] = min(oldest.get(flight.node, now), flight.began)
        for name, began in oldest.items():
            node = self._nodes[name]
            since = now - max(began, node.heard)
            if name in known and not node.is_silent and since >= SILENT * self._stretch:
                node.is_silent = True
                warnings.warn(
                    f"node {name} has ended no shard for {since:.0f} seconds: other tasks or actors may hold its CPUs, of "
                    f"which a shard takes {known[name]} (cores= takes fewer), or a program takes that long",
                    stacklevel=2,
                )

    def _shard_for(self, node: str, threads: int, nodes: Mapping[str, int]) -> _Shard | None:
        """The next shard for a node: a lost or unfinished range, or the next jobs."""
        if self._again:
            first, end = heapq.heappop(self._again)
            own_end, _ = self._batch.shard(first, self._size(node, threads, nodes))
            if own_end < end:
                heapq.heappush(self._again, (own_end, end))
            return _Shard(first, min(own_end, end))
        undelivered = len(self._flights) + len(self._done)
        if self._next is None or self._next >= self._batch.jobs or undelivered >= AHEAD * len(nodes):
            return None
        end, evaluations = self._batch.shard(self._next, self._size(node, threads, nodes))
        shard = _Shard(self._next, end)
        jobs, total = self._cut
        self._cut = (jobs + end - self._next, total + evaluations)
        self._next = end
        return shard

    def _seconds(self) -> float:
        """The target time of a shard now."""
        return SECONDS * self._stretch

    def _size(self, node: str, threads: int, nodes: Mapping[str, int]) -> int:
        """How many evaluations a node does in the target time."""
        known = ((name, self._nodes[name].rate) for name in nodes if name in self._nodes)
        rates = {name: rate for name, rate in known if rate}
        by_thread = sum(rates.values()) / max(sum(nodes[name] for name in rates), 1)
        rate = rates.get(node) or by_thread * threads
        if not rate:
            return FIRST * threads
        largest = max(self._nodes[node].largest, FIRST * threads)
        size = min(rate * self._seconds(), largest * GROWTH)
        # Towards the end shards get smaller, so that all nodes finish at the same time.
        jobs, total = self._cut
        left = (self._batch.jobs - (self._next or 0)) * total / max(jobs, 1)
        share = rate / max(by_thread * sum(nodes.values()), rate)
        return max(int(min(size, left * share / UNDER_WAY)), int(rate * self._seconds() / 10), 1)

    def _straggler(self, node: str, now: float) -> _Shard | None:
        """A shard that has been running for long on just one other node, and may hold up all later ones."""
        flights = sorted(self._flights.values(), key=lambda flight: flight.shard.first)
        firsts = [flight.shard.first for flight in flights]
        for flight in flights:
            late = now - flight.began >= STRAGGLER * self._stretch * UNDER_WAY
            if late and flight.node != node and firsts.count(flight.shard.first) == 1:
                return flight.shard
        return None
