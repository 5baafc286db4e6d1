"""Which shards of a batch are evaluated where, and when: what is to be known of a cluster is a `Pool`."""

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

__all__ = ["Lost", "Made", "Pool", "Shards"]

SECONDS = 1.0
"""How long a shard is to take."""

MANY = 300
"""A driver keeps so many nodes busy with such shards; with more nodes shards take longer in proportion."""

MOST = 2.0
"""After so many times that a shard ends early: what is left of it is cut anew. Some programs take long."""

FIRST = 1000
"""The evaluations that the first shard of a node has for each of its threads."""

GROWTH = 4
"""How many times as many evaluations a shard has at most as the largest one before it on its node."""

UNDER_WAY = 2
"""Shards that a node has at a time: the second one begins when the first one ends."""

AHEAD = 8
"""Shards for each node that are cut and not delivered, at most: the oldest one may take long."""

WAIT = 0.1
"""How long a wait is, at most, until whoever asked is told that there is nothing yet."""

STRAGGLER = 4.0
"""After so many seconds, for each shard of a node, one is evaluated elsewhere too, where nothing else is left to
do."""

CRASHES = 5
"""A shard that has ended so many workers is not tried again."""

LOSSES = 50
"""Nor is one that was lost so often for whatever reason."""

REST = 0.5
"""So many seconds a node that has lost a shard is given none; twice as long each time until it makes one."""

NO_NODE = 30.0
"""After so many seconds without any node a warning says so."""

SILENT = 10.0
"""After so many seconds in which a node that has shards has ended none a warning says so, once."""


class Lost(Exception):
    """A shard that is to be evaluated again: its node, its worker or its results are gone."""

    def __init__(self, why: str, *, crashed: bool = False) -> None:
        super().__init__(why)
        self.crashed = crashed
        """Whether the worker itself ended, perhaps by what it evaluated."""


class Made(NamedTuple):
    """What became of a shard."""

    seconds: float
    """How long it took."""
    end: int
    """Where it ended: perhaps before its end, since it took too long."""
    evaluations: int
    """How many evaluations were made."""


class Pool(Protocol):
    """What evaluates shards. A node goes by its name, a shard under way by a number."""

    def nodes(self) -> Mapping[str, int]:
        """The nodes that can be used now, and how many threads evaluate on each."""

    def submit(self, node: str, first: int, end: int, time: float) -> int:
        """Has the jobs from `first` to before `end` evaluated by a node, after what it has been given, as far
        as that comes in so many seconds but one job at least."""

    def wait(self, numbers: Sequence[int], timeout: float) -> list[int]:
        """Those that are finished or lost; waits for the first one, so many seconds at most."""

    def made(self, number: int) -> Made:
        """What became of a finished one. Raises Lost."""

    def fetch(self, number: int) -> NDArray[np.uint8]:
        """The results of a finished one, which are given up by that. Raises Lost."""

    def drop(self, number: int) -> None:
        """Lets go of one, finished or not: it is not asked for any more."""


class Batch(Protocol):
    """What is known of the batch: see `_engine._PackedBatch`."""

    @property
    def jobs(self) -> int: ...
    def shard(self, first: int, evaluations: int) -> tuple[int, int]: ...


@dataclass(frozen=True)
class _Shard:
    first: int
    end: int


@dataclass(frozen=True)
class _Flight:
    """A shard on a node."""

    shard: _Shard
    node: str
    began: float


@dataclass
class _Node:
    """What a node has shown."""

    rate: float = 0.0
    """Evaluations a second; 0 where nothing is known."""
    largest: int = 0
    """The evaluations of its largest shard."""
    losses: int = 0
    """How many shards it has lost since it made one."""
    rests_until: float = 0.0
    """When it is given shards again."""
    heard: float = 0.0
    """When it has last ended a shard."""
    is_silent: bool = False
    """Whether it was told that it ends none."""


class Shards:
    """Has shards of a batch evaluated by a pool, and gives their results in the order of the batch.

    Called with the place of a job it gives the results of the shard that begins with it, or None where they
    are not there yet. A shard counts when it is given: one that is lost is evaluated again, one that comes
    twice is given once. What is under way and what waits to be given is bounded.
    """

    def __init__(self, batch: Batch, pool: Pool, clock: Callable[[], float] = time.monotonic) -> None:
        self._batch = batch
        self._pool = pool
        self._clock = clock
        self._next: int | None = None
        """The first job that is in no shard yet."""
        self._again: list[tuple[int, int]] = []
        """First and end of what was lost or left, as a heap."""
        self._flights: dict[int, _Flight] = {}
        self._done: dict[int, tuple[_Shard, int]] = {}
        """Finished shards by their first job, with their numbers."""
        self._nodes: defaultdict[str, _Node] = defaultdict(_Node)
        self._crashes: dict[int, int] = {}
        self._losses: dict[int, int] = {}
        self._cut = (0, 0)
        """How many jobs were cut, and their evaluations."""
        self._idle_since: float | None = None
        self._stretch = 1.0
        """How many times as long shards are, since there are many nodes."""
        self.counts = {"shards": 0, "lost": 0, "twice": 0}
        """Shards that were given, that were lost, and that came twice."""
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
        """Lets go of all that is under way."""
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
        # One that comes twice is of no use any more.
        for other in [at for at, flight in self._flights.items() if flight.shard.first == first]:
            self._forget(other)
        return results

    def _forget(self, number: int) -> None:
        del self._flights[number]
        self._pool.drop(number)
        self.counts["twice"] += 1

    def _look(self, timeout: float) -> None:
        """Sees what is finished."""
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
                made = self._pool.made(number)
            except Lost as lost:
                del self._flights[number]
                node = self._nodes[flight.node]
                if not lost.crashed:
                    # That it is gone may be known a moment later.
                    node.rests_until = self._clock() + REST * 2 ** min(node.losses, 6)
                    node.losses += 1
                self._lose(shard, lost)
                continue
            if shard.first in self._done:
                self._forget(number)
                continue
            del self._flights[number]
            self._done[shard.first] = (_Shard(shard.first, made.end), number)
            if made.end < shard.end:
                heapq.heappush(self._again, (made.end, shard.end))
            node = self._nodes[flight.node]
            node.losses = 0
            node.heard, node.is_silent = self._clock(), False
            self.seconds[flight.node] += made.seconds
            rate = made.evaluations / max(made.seconds, 1e-6)
            # What has become slow is believed at once.
            node.rate = (node.rate + rate) / 2 if 0 < node.rate < rate else rate
            node.largest = max(node.largest, made.evaluations)

    def _lose(self, shard: _Shard, lost: Lost) -> None:
        """Has a shard evaluated again, unless that is under way."""
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
        """Gives nodes work."""
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
        """Warns of nodes that hold shards and end none: most likely theirs do not begin."""
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
        """What a node is to evaluate: what was lost or left, or what follows."""
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
        jobs, made = self._cut
        self._cut = (jobs + end - self._next, made + evaluations)
        self._next = end
        return shard

    def _seconds(self) -> float:
        """How long a shard is to take now."""
        return SECONDS * self._stretch

    def _size(self, node: str, threads: int, nodes: Mapping[str, int]) -> int:
        """How many evaluations a node makes in the time that a shard is to take."""
        known = ((name, self._nodes[name].rate) for name in nodes if name in self._nodes)
        rates = {name: rate for name, rate in known if rate}
        by_thread = sum(rates.values()) / max(sum(nodes[name] for name in rates), 1)
        rate = rates.get(node) or by_thread * threads
        if not rate:
            return FIRST * threads
        largest = max(self._nodes[node].largest, FIRST * threads)
        size = min(rate * self._seconds(), largest * GROWTH)
        # Towards the end shards are smaller, so that the nodes end together.
        jobs, made = self._cut
        left = (self._batch.jobs - (self._next or 0)) * made / max(jobs, 1)
        share = rate / max(by_thread * sum(nodes.values()), rate)
        return max(int(min(size, left * share / UNDER_WAY)), int(rate * self._seconds() / 10), 1)

    def _straggler(self, node: str, now: float) -> _Shard | None:
        """What has been under way for long, on one other node. It may hold up all that is ahead."""
        flights = sorted(self._flights.values(), key=lambda flight: flight.shard.first)
        firsts = [flight.shard.first for flight in flights]
        for flight in flights:
            late = now - flight.began >= STRAGGLER * self._stretch * UNDER_WAY
            if late and flight.node != node and firsts.count(flight.shard.first) == 1:
                return flight.shard
        return None
