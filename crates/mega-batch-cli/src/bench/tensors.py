#!/usr/bin/env python3
"""Times the pipelines of `mega-batch bench` written for tensors: with CuPy or JAX on a GPU, or with NumPy.

    python3 tensors.py --library cupy|jax|numpy [--sizes N,N,...] [--rounds N]

A batch is one tensor of n x 30 x 30 bytes, padded with zeroes, and two of heights and widths: how such
a program is written without an engine for grids. CuPy launches a kernel or several for an operation;
JAX compiles and fuses the whole pipeline before it is timed. It is run on random grids, and every output
is compared with a plain version of the ten operations, a grid at a time: a difference ends the run with
exit code 1.
"""

import argparse
import importlib
import json
import sys
import time

import numpy

SIDE = 30
SIZES = [1, 1_000, 10_000]
LENGTHS = [1, 3, 10, 30]
SAMPLE = 1_000


class Library:
    """An array library: what it makes tensors with, how it runs the pipeline, and how it times that."""

    def __init__(self, name):
        self.module = importlib.import_module(name)
        self.xp = importlib.import_module("jax.numpy") if name == "jax" else self.module
        self.name = name

    def prepared(self, batch, length):
        """The pipeline on these tensors, as a function without arguments."""

        def whole(*parts):
            result = pipeline(Tensors(self.xp, *parts), length)
            return result.cells, result.heights, result.widths

        whole = self.module.jit(whole) if self.name == "jax" else whole
        parts = [self.xp.asarray(part) for part in batch]
        return lambda: whole(*parts)

    def seconds(self, run):
        """How long it takes: with CuPy by the GPU's clock."""
        if self.name == "cupy":
            begin, end = self.xp.cuda.Event(), self.xp.cuda.Event()
            begin.record()
            run()
            end.record()
            end.synchronize()
            return self.xp.cuda.get_elapsed_time(begin, end) / 1e3
        began = time.perf_counter()
        result = run()
        if self.name == "jax":
            self.module.block_until_ready(result)
        return time.perf_counter() - began

    def to_host(self, tensor):
        return tensor.get() if self.name == "cupy" else numpy.asarray(tensor)

    def has_no_room(self, error):
        return isinstance(error, MemoryError) or "memory" in str(error).lower()


class Tensors:
    """A batch: cells of n x 30 x 30 with zeroes past each grid's height and width.

    Rows and columns are looked up by number. Past the end of a grid of height h, `h - 1 - i` is
    negative and so counts from the end of the tensor: it names a row of the padding, which stays zero.
    """

    def __init__(self, xp, cells, heights, widths):
        self.xp, self.cells, self.heights, self.widths = xp, cells, heights, widths
        self.number = xp.arange(len(cells))[:, None, None]
        self.up = xp.arange(SIDE)

    def like(self, cells, turned=False):
        new = Tensors.__new__(Tensors)
        new.xp, new.number, new.up, new.cells = self.xp, self.number, self.up, cells
        sizes = (self.heights, self.widths)
        new.heights, new.widths = reversed(sizes) if turned else sizes
        return new

    def down(self):
        """Row indices from each grid's last row on."""
        return self.heights[:, None] - 1 - self.up

    def left(self):
        """Column indices from each grid's last column on."""
        return self.widths[:, None] - 1 - self.up

    def hmirror(self):
        return self.like(self.cells[self.number, self.down()[:, :, None], self.up[None, None, :]])

    def vmirror(self):
        return self.like(self.cells[self.number, self.up[None, :, None], self.left()[:, None, :]])

    def dmirror(self):
        return self.like(self.cells.transpose(0, 2, 1).copy(), turned=True)

    def cmirror(self):
        cells = self.cells[self.number, self.down()[:, None, :], self.left()[:, :, None]]
        return self.like(cells, turned=True)

    def rot90(self):
        cells = self.cells[self.number, self.down()[:, None, :], self.up[None, :, None]]
        return self.like(cells, turned=True)

    def rot180(self):
        return self.like(self.cells[self.number, self.down()[:, :, None], self.left()[:, None, :]])

    def replace(self, old, new):
        where = self.xp.where
        return self.like(where(self.cells == old, self.xp.uint8(new), self.cells))

    def switch(self, a, b):
        where, cells = self.xp.where, self.cells
        a_for_b = where(cells == b, self.xp.uint8(a), cells)
        return self.like(where(cells == a, self.xp.uint8(b), a_for_b))

    def cellwise(self, other, fallback):
        where = self.xp.where
        return self.like(where(self.cells == other.cells, self.cells, self.xp.uint8(fallback)))


class Plain:
    """One grid, with the simplest implementation."""

    def __init__(self, cells):
        self.cells = cells

    def hmirror(self):
        return Plain(self.cells[::-1])

    def vmirror(self):
        return Plain(self.cells[:, ::-1])

    def dmirror(self):
        return Plain(self.cells.T)

    def cmirror(self):
        return Plain(self.cells[::-1, ::-1].T)

    def rot90(self):
        return Plain(numpy.rot90(self.cells, -1))

    def rot180(self):
        return Plain(numpy.rot90(self.cells, 2))

    def replace(self, old, new):
        cells = self.cells.copy()
        cells[self.cells == old] = new
        return Plain(cells)

    def switch(self, a, b):
        cells = self.cells.copy()
        cells[self.cells == a] = b
        cells[self.cells == b] = a
        return Plain(cells)

    def cellwise(self, other, fallback):
        cells = self.cells.copy()
        cells[self.cells != other.cells] = fallback
        return Plain(cells)


# The operations; each takes the results so far, the latest one last.
PIPELINE = [
    lambda results: results[-1].rot90(),
    lambda results: results[-1].replace(1, 2),
    lambda results: results[-1].vmirror(),
    lambda results: results[-1].switch(3, 4),
    lambda results: results[-1].dmirror(),
    lambda results: results[-1].hmirror(),
    lambda results: results[-1].cellwise(results[-2], 0),
    lambda results: results[-1].rot180(),
    lambda results: results[-1].replace(5, 7),
    lambda results: results[-1].cmirror(),
]


def pipeline(first, length):
    results = [first]
    for number in range(length):
        # No operation looks back further than two; older results are freed.
        results = results[-2:] + [PIPELINE[number % len(PIPELINE)](results)]
    return results[-1]


def padded(grids):
    cells = numpy.zeros((len(grids), SIDE, SIDE), numpy.uint8)
    for number, grid in enumerate(grids):
        cells[number, : grid.shape[0], : grid.shape[1]] = grid
    heights = numpy.array([grid.shape[0] for grid in grids], numpy.int32)
    widths = numpy.array([grid.shape[1] for grid in grids], numpy.int32)
    return cells, heights, widths


def work():
    """The grids, and the expected outputs by length of the pipeline."""
    random = numpy.random.default_rng(1)
    sides = random.integers(1, SIDE + 1, (SAMPLE, 2))
    grids = [random.integers(0, 10, tuple(side), numpy.uint8) for side in sides]
    return grids, {length: [pipeline(Plain(grid), length).cells for grid in grids] for length in LENGTHS}


def check(result, expected, to_host):
    """Ends the run if an output is not the expected one; the batch repeats the grids."""
    found = [to_host(tensor) for tensor in result]
    n = len(found[0])
    for have, want in zip(found, padded(expected)):
        for start in range(0, n, len(want)):
            part = have[start : start + len(want)]
            wrong = numpy.nonzero((part != want[: len(part)]).reshape(len(part), -1).any(axis=1))[0]
            if len(wrong):
                sys.exit(f"output {start + wrong[0]} of {n} is wrong")
    return n


def measure(library, batch, length, rounds, expected):
    """Seconds of the pipeline on tensors that are on the device already."""
    run = library.prepared(batch, length)
    compared = check(run(), expected, library.to_host)
    seconds = [library.seconds(run) for _ in range(rounds)]
    return {"operations": length, "grids": len(batch[0]), "seconds": seconds, "compared": compared}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--library", choices=["cupy", "jax", "numpy"], default="numpy")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=SIZES)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.rounds < 1 or min(arguments.sizes) < 1:
        parser.error("sizes and rounds are at least 1")
    library = Library(arguments.library)
    grids, outputs = work()
    some = padded(grids)
    document = {"library": f"{library.name} {library.module.__version__}", "rows": [], "left_out": []}
    for size in arguments.sizes:
        for length in LENGTHS:
            try:
                take = numpy.arange(size) % len(grids)
                batch = tuple(numpy.ascontiguousarray(part[take]) for part in some)
                row = measure(library, batch, length, arguments.rounds, outputs[length])
            except Exception as error:
                if not library.has_no_room(error):
                    raise
                document["left_out"].append({"operations": length, "grids": size, "reason": str(error)})
                if library.name == "cupy":
                    library.xp.get_default_memory_pool().free_all_blocks()
                continue
            document["rows"].append(row)
            print(f"{length:>3} operations {size:>9} grids {min(row['seconds']):>12.6f} s", file=sys.stderr)
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
