#!/usr/bin/env python3
"""Times the pipelines of `mega-batch bench --backend` written for tensors: CuPy on a GPU, or NumPy.

    mega-batch bench --backend cuda --export grids.json
    python3 crates/mega-batch-cli/src/commands/prove/cupy_pipeline.py --grids grids.json [--sizes N,N,...] [--rounds N] > cupy.json

A batch is one tensor of n x 30 x 30 bytes, padded with zeroes, and two of heights and widths: how such
a program is written without an engine for grids. With `--grids` it is run on the exported grids, and
every output is compared with the reference's; without, on random grids, and a sample is compared with
a plain version of the ten operations, a grid at a time. A difference ends the run with exit code 1.
Without CuPy or a GPU it uses NumPy, and the document says so: those figures are not a GPU's.
"""

import argparse
import json
import sys
import time

import numpy

SIDE = 30
SIZES = [1, 10, 20, 50, 100, 200, 1_000, 10_000, 100_000, 1_000_000]
LENGTHS = [1, 3, 10, 30]
SAMPLE = 1_000


def backend():
    """CuPy, or NumPy and why."""
    try:
        import cupy
    except ImportError as error:
        return numpy, f"CuPy is missing ({error})"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return numpy, f"CuPy finds no GPU ({error})"
    return (cupy, None) if count else (numpy, "CuPy finds no GPU")


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
        return self.like(self.xp.ascontiguousarray(self.cells.transpose(0, 2, 1)), turned=True)

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


def of_digits(rows):
    return numpy.array([[int(digit) for digit in row] for row in rows], numpy.uint8)


def work(path):
    """The grids, and the expected outputs by length of the pipeline."""
    if path:
        with open(path, encoding="utf-8") as file:
            exported = json.load(file)
        grids = [of_digits(rows) for rows in exported["grids"]]
        outputs = {int(length): [of_digits(rows) for rows in all_rows] for length, all_rows in exported["outputs"].items()}
        return grids, outputs
    random = numpy.random.default_rng(1)
    sides = random.integers(1, SIDE + 1, (SAMPLE, 2))
    grids = [random.integers(0, 10, tuple(side), numpy.uint8) for side in sides]
    return grids, {length: [pipeline(Plain(grid), length).cells for grid in grids] for length in LENGTHS}


def check(result, expected, to_host):
    """Ends the run if an output is not the expected one; the batch repeats the grids."""
    found = [to_host(tensor) for tensor in (result.cells, result.heights, result.widths)]
    n = len(found[0])
    for have, want in zip(found, padded(expected)):
        for start in range(0, n, len(want)):
            part = have[start : start + len(want)]
            wrong = numpy.nonzero((part != want[: len(part)]).reshape(len(part), -1).any(axis=1))[0]
            if len(wrong):
                sys.exit(f"output {start + wrong[0]} of {n} is wrong")
    return n


def median(times):
    return sorted(times)[len(times) // 2]


def measure(xp, batch, length, rounds, expected):
    """Seconds of the pipeline on tensors already on the device, and with copies there and back."""
    on_gpu = xp is not numpy
    to_host = xp.asnumpy if on_gpu else (lambda tensor: tensor)
    wait = xp.cuda.Device().synchronize if on_gpu else (lambda: None)
    tensors = Tensors(xp, *(xp.asarray(part) for part in batch))
    compared = check(pipeline(tensors, length), expected, to_host)
    alone, there_and_back = [], []
    for _ in range(rounds):
        if on_gpu:
            begin, end = xp.cuda.Event(), xp.cuda.Event()
            begin.record()
            pipeline(tensors, length)
            end.record()
            end.synchronize()
            alone.append(xp.cuda.get_elapsed_time(begin, end) / 1e3)
        else:
            began = time.perf_counter()
            pipeline(tensors, length)
            alone.append(time.perf_counter() - began)
    del tensors
    for _ in range(rounds):
        began = time.perf_counter()
        result = pipeline(Tensors(xp, *(xp.asarray(part) for part in batch)), length)
        for part in (result.cells, result.heights, result.widths):
            to_host(part)
        wait()
        there_and_back.append(time.perf_counter() - began)
    n = len(batch[0])
    return {
        "operations": length,
        "grids": n,
        "seconds": median(alone),
        "seconds_there_and_back": median(there_and_back),
        "rounds": rounds,
        "grids_per_second": n / max(median(alone), 1e-9),
        "operations_per_second": n * length / max(median(alone), 1e-9),
        "compared": compared,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--grids", help="what `mega-batch bench --backend ... --export` wrote")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    xp, reason = backend()
    sizes = arguments.sizes or [size for size in SIZES if xp is not numpy or size <= 10_000]
    if arguments.rounds < 1 or min(sizes) < 1:
        parser.error("sizes and rounds are at least 1")
    grids, outputs = work(arguments.grids)
    some = padded(grids)
    document = {"library": f"{xp.__name__} {xp.__version__}", "device": "CPU", "rows": [], "left_out": []}
    if xp is numpy:
        document["note"] = f"NumPy on the CPU, not run on a GPU: {reason}"
        no_room = MemoryError
    else:
        document["device"] = xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
        no_room = (MemoryError, xp.cuda.memory.OutOfMemoryError)
    for size in sizes:
        for length in LENGTHS:
            try:
                take = numpy.arange(size) % len(grids)
                batch = tuple(numpy.ascontiguousarray(part[take]) for part in some)
                row = measure(xp, batch, length, arguments.rounds, outputs[length])
                document["rows"].append(row)
            except no_room as error:
                document["left_out"].append({"operations": length, "grids": size, "reason": str(error)})
                if xp is not numpy:
                    xp.get_default_memory_pool().free_all_blocks()
                continue
            print(f"{length:>3} operations {size:>9} grids {row['grids_per_second']:>16,.0f} a second", file=sys.stderr)
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
