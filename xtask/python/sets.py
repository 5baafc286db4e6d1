"""Writes the vectors of sets: how CPython hashes values, and in which order it iterates over sets.

Usage: python3 sets.py DIR > sets.txt

DIR is a checkout of the public arc-dsl. CPython 3.12 also writes values with None, whose hash was its address before;
3.13 sorts otherwise. Like the other vectors the file has sections, and a digest is the end of an FNV-1a hash of a text:

    [hash]      a literal, and its hash
    [table]     integers in sets, step by step, and for each step a digest of the set's elements in order
    [sort]      a state, a count, a chance and a number of bits, of which keys are made, and a digest of their places once
                they are sorted
    [grid]      the number of a grid, and its literal
    [order]     the number of a grid and a program of it, and for each step a digest of its value as it prints

The steps of a table, of which each makes a set: `a START STEP COUNT MODULUS` adds the integers (START + k STEP) modulo
MODULUS one by one; `c S` copies set S, counted from 0; `u S T` is the union of two, `d S T` the difference, `i S T` the
intersection; `f S T` are the elements of S, in a comprehension, that T contains.
"""

import random
import sys

SEED = 1
HASHES, TABLES, SORTS, GRIDS, PROGRAMS = 300, 500, 300, 24, 700

# Sets that are larger say no more, and take longer.
MOST = 600


def digest(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value % 2**32:08x}"


def some_value(rng, depth):
    kinds = ["int", "int", "small", "bool", "loc", "cell", "tuple", "set", "set"]
    if sys.version_info >= (3, 12):
        kinds.append("none")
    kind = rng.choice(kinds[:6] if depth == 0 else kinds)
    if kind == "int":
        return rng.choice([rng.randrange(-99, 100), rng.randrange(-(2**30) + 1, 2**30)])
    if kind == "small":
        return rng.randrange(-3, 10)
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "none":
        return None
    loc = (rng.randrange(-5, 40), rng.randrange(-5, 40))
    if kind == "loc":
        return loc
    if kind == "cell":
        return (rng.randrange(10), loc)
    values = [some_value(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 3, 5, 9, 20]))]
    return tuple(values) if kind == "tuple" else frozenset(values)


def write_hashes(rng):
    print("[hash]")
    for _ in range(HASHES):
        value = some_value(rng, 3)
        print(f"{value!r}={hash(value)}")


def write_tables(rng):
    print("[table]")
    for _ in range(TABLES):
        steps, sets = [], []
        for at in range(rng.randrange(2, 9)):
            operation = "a" if at < 2 else rng.choice("aacuuddif")
            if operation == "a":
                # Multiples of powers of two collide.
                step = rng.choice([1, 3, 7, 8, 32, 96, 1024, rng.randrange(1, 10**6)])
                count = rng.choice([1, 3, 4, 5, 8, 19, 20, 60, 80, rng.randrange(300)])
                start, modulus = rng.randrange(1000), rng.choice([10, 97, 4096, 2**30])
                operands = [start, step, count, modulus]
                made = set()
                for k in range(count):
                    made.add((start + k * step) % modulus)
            else:
                operands = [rng.randrange(at)]
                a = sets[operands[0]]
                if operation != "c":
                    operands.append(rng.randrange(at))
                    b = sets[operands[1]]
                made = {
                    "c": lambda: a.copy(),
                    "u": lambda: a | b,
                    "d": lambda: a - b,
                    "i": lambda: a & b,
                    "f": lambda: {element for element in a if element in b},
                }[operation]()
            steps.append(" ".join([operation, *map(str, operands)]))
            sets.append(made)
        digests = [digest(" ".join(map(str, made))) for made in sets]
        print("; ".join(steps) + "=" + " ".join(digests))


def write_sorts(rng):
    print("[sort]")
    for _ in range(SORTS):
        start = state = rng.randrange(2**32)
        count = rng.choice([rng.randrange(64), rng.randrange(64, 200), rng.randrange(64, 1000)])
        chance, bits = rng.choice([2, 5, 20, 50, 100]), rng.randrange(2, 12)
        keys = []
        for at in range(count):
            state = (state * 6364136223846793005 + 1) % 2**64
            draw = state >> 33
            mask = draw % 2**bits if (draw >> 16) % 100 < chance else 2 ** (at * bits // count) - 1
            keys.append(frozenset(bit for bit in range(bits) if mask >> bit & 1))
        places = sorted(range(count), key=keys.__getitem__)
        print(f"{start} {count} {chance} {bits}={digest(' '.join(map(str, places)))}")


def some_grid(rng):
    height, width = rng.randrange(1, 13), rng.randrange(1, 13)
    colours = rng.sample(range(10), rng.randrange(1, 5))
    rows = [[rng.choice(colours) for _ in range(width)] for _ in range(height)]
    for _ in range(rng.randrange(4)):
        top, left, colour = rng.randrange(height), rng.randrange(width), rng.choice(colours)
        for i in range(top, min(height, top + 4)):
            for j in range(left, min(width, left + 5)):
                rows[i][j] = colour
    return tuple(map(tuple, rows))


class Chain:
    """A program of which each step makes a set from those before it."""

    def __init__(self, rng, names, grid):
        self.rng = rng
        self.scope = {**names, "I": grid}
        self.steps = []
        # The names of the steps by what is in their sets.
        self.of = {"loc": [], "cell": [], "object": [], "int": []}

    def colour(self):
        return self.rng.choice([self.rng.randrange(10), *self.rng.choice(self.scope["I"])])

    def loc(self):
        return (self.rng.randrange(-2, 12), self.rng.randrange(-2, 12))

    def known(self, kind):
        return self.rng.choice(self.of[kind]) if self.of[kind] else self.made(kind)

    def patch(self):
        return self.known(self.rng.choice(["loc", "cell"]))

    def elements(self, kind):
        count = self.rng.choice([0, 1, 2, 3, 4, 5, 6, 12, 25])
        of = {"loc": self.loc, "cell": lambda: (self.colour(), self.loc())}
        element = of.get(kind, lambda: self.rng.randrange(-9, 40))
        return [element() for _ in range(count)]

    def made(self, kind):
        """A call that makes a set without others."""
        rng = self.rng
        if kind == "object":
            flags = [rng.choice("TF") for _ in range(3)]
            return rng.choice([f"objects(I, {', '.join(flags)})"] * 3 + ["partition(I)", "frontiers(I)", "fgpartition(I)"])
        if kind == "int" and rng.random() < 0.3:
            return "palette(I)"
        if kind == "loc" and rng.random() < 0.6:
            a, b = self.loc(), self.loc()
            return rng.choice([f"ofcolor(I, {self.colour()})"] * 3 + [
                "asindices(I)", f"neighbors({a})", f"dneighbors({a})", f"ineighbors({a})", f"connect({a}, {b})",
                f"shoot({a}, (1, -1))", f"vfrontier({a})", f"hfrontier({a})", f"initset({a})",
            ])
        if kind == "cell" and rng.random() < 0.6:
            return "asobject(I)"
        elements = self.elements(kind)
        if not elements:
            return "frozenset()"
        text = ", ".join(map(repr, elements))
        # One by one, or as the constant that CPython makes of a display.
        return rng.choice([f"frozenset(({text},))", f"frozenset({{{text}}})"])

    def call(self, kind):
        rng = self.rng
        same, other = self.known(kind), self.known(kind)
        element = {"loc": self.loc, "cell": lambda: (self.colour(), self.loc()), "int": self.colour}.get(kind)
        element = repr(element()) if element else f"first({same})"
        calls = [
            f"combine({same}, {other})", f"intersection({same}, {other})", f"difference({same}, {other})",
            f"insert({element}, {same})", f"remove({element}, {same})", f"remove(first({same}), {same})",
        ]
        if kind in ("loc", "cell"):
            mirror = rng.choice(["hmirror", "vmirror", "dmirror", "cmirror"])
            calls += [
                f"shift({same}, {self.loc()})", f"normalize({same})", f"{mirror}({same})",
                f"sfilter({same}, compose(even, {'first' if kind == 'loc' else 'chain(first, last, identity)'}))",
            ]
        if kind == "loc":
            around = rng.choice(["neighbors", "dneighbors", "ineighbors", "initset", "rbind(connect, (3, 3))"])
            patch, numbers = self.patch(), self.known("int")
            calls += [
                f"toindices({patch})", f"delta({patch})", f"backdrop({patch})", f"box({patch})", f"inbox({patch})",
                f"outbox({patch})", f"corners({patch})", f"mapply({around}, {same})", f"product({numbers}, {numbers})",
                f"occurrences(I, {self.known('cell')})", f"apply(rbind(add, {self.loc()}), {same})",
                f"apply(rbind(multiply, {rng.randrange(-1, 3)}), {same})", f"apply(ulcorner, {self.known('object')})",
                f"prapply(add, {same}, {other})", f"mapply(toindices, {self.known('object')})",
            ]
        if kind == "cell":
            patch, objects = self.patch(), self.known("object")
            calls += [
                f"recolor({self.colour()}, {patch})", f"toobject({patch}, I)", f"merge({objects})",
                f"upscale({same}, {rng.randrange(1, 4)})", f"argmax({objects}, size)", f"first({objects})",
                f"mapply(lbind(shift, {same}), {self.known('loc')})", f"mfilter({objects}, compose(even, size))",
            ]
        if kind == "object":
            calls += [
                f"colorfilter({same}, {self.colour()})", f"sizefilter({same}, {rng.randrange(1, 5)})",
                f"sfilter({same}, compose(even, size))", f"apply(normalize, {same})", f"apply(cmirror, {same})",
                f"initset({self.known('cell')})", f"apply(lbind(recolor, {self.colour()}), {same})",
            ]
        if kind == "int":
            calls += [
                f"apply(first, {self.known('loc')})", f"apply(size, {self.known('object')})",
                f"palette({self.known('cell')})", f"apply(double, {same})", f"apply(invert, {same})",
            ]
        return rng.choice(calls)

    def grow(self):
        """Adds a step, unless it fails or makes no set."""
        kind = self.rng.choice(["loc", "loc", "cell", "cell", "object", "int"])
        text = self.call(kind) if self.steps else self.made(kind)
        name = f"x{len(self.steps) + 1}"
        try:
            value = eval(text, self.scope)
        except (TypeError, ValueError, IndexError, StopIteration, RuntimeError):
            return
        if not isinstance(value, frozenset) or len(value) < 2 and self.rng.random() < 0.8:
            return
        if len(value) <= MOST and len(repr(value)) < 20_000:
            self.scope[name] = value
            self.steps.append((f"{name} = {text}", digest(repr(value))))
            self.of[kind].append(name)


def write_programs(rng, names):
    grids = [some_grid(rng) for _ in range(GRIDS)]
    print("[grid]")
    for number, grid in enumerate(grids):
        print(f"{number}={grid}")
    print("[order]")
    for _ in range(PROGRAMS):
        number = rng.randrange(GRIDS)
        chain = Chain(rng, names, grids[number])
        for _ in range(rng.choice([5, 10, 20])):
            chain.grow()
        if chain.steps:
            steps, digests = zip(*chain.steps)
            print(f"{number} " + "; ".join(steps) + "=" + " ".join(digests))


def main():
    sys.path.insert(0, sys.argv[1])
    sys.dont_write_bytecode = True
    import constants
    import dsl

    # Each section is the same, whatever the others draw.
    write_hashes(random.Random(SEED))
    write_tables(random.Random(SEED))
    write_sorts(random.Random(SEED))
    write_programs(random.Random(SEED), {**vars(constants), **vars(dsl)})


if __name__ == "__main__":
    main()
