"""`stream`: an endless stream of mutants, shared out among workers."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from typing import Literal

from ._arguments import whole
from ._engine import Program, mutate

_CHUNK = 64
"""How many mutants are generated from one seed."""

_EMPTY = 20
"""After this many chunks without a new mutant the stream ends."""


def stream(
    program: Program,
    seed: int,
    *,
    worker: int = 0,
    of: int = 1,
    kind: Literal["mutant", "variation"] = "mutant",
) -> Iterator[Program]:
    """An endless stream of mutants of a program, as from `mutate`: the share of worker ``worker`` of ``of``.

    The same arguments give the same mutants on every machine. All workers together get the same mutants however many
    they are, so that a data loader with another number of workers sees the same programs. Each mutant of a worker
    differs from the program and from the worker's earlier ones; two workers may get the same. The stream ends if a
    program has no further mutants. ``seed`` is any integer.

    Raises ValueError unless 0 <= ``worker`` < ``of`` and for an unknown ``kind``, TypeError for anything but a
    program or an integer, and as `mutate` does.
    """
    if not isinstance(program, Program):
        raise TypeError(f"program: expected a Program, found {type(program).__name__}")
    seed, worker, of = whole("seed", seed), whole("worker", worker), whole("of", of)
    if kind not in ("mutant", "variation"):
        raise ValueError(f'kind: expected "mutant" or "variation", found {kind!r}')
    if of < 1:
        raise ValueError(f"of: expected 1 or more, found {of}")
    if not 0 <= worker < of:
        raise ValueError(f"worker: expected 0 to {of - 1}, since there are {of}, found {worker}")
    return _stream(program, seed, worker, of, kind)


def _stream(
    program: Program, seed: int, worker: int, of: int, kind: Literal["mutant", "variation"]
) -> Iterator[Program]:
    known: set[str] = set()
    empty = 0
    for chunk in itertools.count(worker, of):
        digest = hashlib.blake2b(f"{seed} {chunk}".encode(), digest_size=8).digest()
        empty += 1
        for mutant in mutate(program, int.from_bytes(digest), count=_CHUNK, kind=kind):
            if mutant.digest not in known:
                known.add(mutant.digest)
                empty = 0
                yield mutant
        if empty == _EMPTY:
            return
