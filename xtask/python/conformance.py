"""Evaluates calls and programs with a checkout of a Python DSL.

Usage: python3 conformance.py DIR public|typed plain|canonical|reversed < commands > results

The checkout is of the public arc-dsl or of the typed dialect's project.

Commands and results are lines of JSON. `["primitives", [name...]]` gives the names in the order in
which functions sort. `["pool", text]` adds an expression to the pool. The others print one result
each, the literal of the value or null where Python raised:

    ["case", primitive, [pool index...], [pool index...]]    a call; then its result called
    ["solver", name, [pool index...]]                        a function of the file of solvers
    ["batt", path, [[pool index...]...]]                     `batt` of a file, called with each list
    ["default", primitive]                                   what a failing call gives
    ["program", text, pool index]                            a program in text
    ["bounded", text, pool index]                            the same, in a process of its own

What is bounded has bounds of time and memory, and its result says more, as a list:

    ["grid", literal]             equally long rows of colours from 0 to 9
    ["truths", literal]           the same, truth values among the colours
    ["tuples", literal]           any other tuple of tuples
    ["function", literal]         a function, whose literal is its name where it is a primitive
    ["value", literal]            any other value
    ["raised", exception, name]   an exception, and the innermost function of dsl.py, if any
    ["time"], ["memory"]          it reached a bound
    ["died"]                      the process ended otherwise

With `plain` the reference runs as it is. With `canonical` its sets iterate in one order (nothing,
numbers, tuples, sets, functions; numbers ascending, containers element by element, functions that
are no primitives by age) and sets that are compared as keys compare by number of elements.
`reversed` is the same backwards, which shows what depends on the order at all.
"""

import ast
import builtins
import functools
import itertools
import json
import os
import resource
import signal
import sys
import types

TIMEOUT = 60

# The bounds of a bounded evaluation: processor seconds, which other load does not affect, and bytes.
BOUNDED_SECONDS = 2
BOUNDED_MEMORY = 1 << 30

ANY_SET = (builtins.frozenset, builtins.set)

# Names of primitives in the order in which functions sort; other functions come after them.
RANKS = {}


def sort_key(value):
    """A key that orders any values canonically."""
    if value is None:
        return (0,)
    if isinstance(value, (int, float)):
        # NaN comes first.
        return (1, 0, 0) if value != value else (1, 1, value)
    if isinstance(value, tuple):
        return (2, tuple(map(sort_key, value)))
    if isinstance(value, ANY_SET):
        return (3, tuple(map(sort_key, canonical(value))))
    rank = RANKS.get(getattr(value, "named", ""), len(RANKS))
    return (4, rank, getattr(value, "age", 0))


def is_loc(value):
    return type(value) is tuple and len(value) == 2 and type(value[0]) is type(value[1]) is int


def is_cell(value):
    return type(value) is tuple and len(value) == 2 and type(value[0]) is int and is_loc(value[1])


def canonical(values):
    """The elements of a set in canonical order."""
    base = builtins.frozenset if isinstance(values, builtins.frozenset) else builtins.set
    values = list(base.__iter__(values))
    # The most common sets sort natively.
    if all(map(is_loc, values)) or all(map(is_cell, values)):
        return builtins.sorted(values)
    return builtins.sorted(values, key=sort_key)


def literal(value):
    """The text of a value; equal values have equal texts, whatever order their sets are in."""
    if value is None or isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(map(literal, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, ANY_SET):
        # Different function values may have the same text.
        texts = dict.fromkeys(map(literal, canonical(value)))
        return "frozenset({" + ", ".join(texts) + "})" if value else "frozenset()"
    if getattr(value, "named", "") in RANKS:
        return value.named
    return f"<{type(value).__name__}>"


def in_order(base, backwards):
    """A subclass of `frozenset` or `set` that iterates in order and whose operations stay in it."""

    def arranged(values):
        return canonical(values)[::-1] if backwards else canonical(values)

    class Ordered(base):
        def __iter__(self):
            if base is builtins.set:
                return iter(arranged(self))
            # A frozen set is sorted once.
            try:
                return iter(self.ordered)
            except AttributeError:
                self.ordered = arranged(self)
                return iter(self.ordered)

    def kept(method):
        @functools.wraps(method)
        def call(*operands):
            result = method(*operands)
            return Ordered(result) if type(result) in ANY_SET else result

        return call

    operators = [f"__{side}{name}__" for side in ("", "r") for name in ("and", "or", "sub", "xor")]
    methods = ["union", "intersection", "difference", "symmetric_difference", "copy"]
    for name in operators + methods:
        setattr(Ordered, name, kept(getattr(base, name)))
    return Ordered


@functools.total_ordering
class Key:
    """A value as `max`, `min` and `sorted` compare it: sets by number of elements."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return not less(self.value, other.value) and not less(other.value, self.value)

    def __lt__(self, other):
        return less(self.value, other.value)

    def __gt__(self, other):
        return less(other.value, self.value)


def less(a, b):
    if isinstance(a, tuple) and isinstance(b, tuple):
        for x, y in zip(a, b):
            if x != y:
                return less(x, y)
        return len(a) < len(b)
    if isinstance(a, ANY_SET) and isinstance(b, ANY_SET):
        return len(a) < len(b)
    return a < b


def by_size(function):
    """`max`, `min` or `sorted` with sets compared by number of elements."""

    def call(*values, key=None, **options):
        compared = Key if key is None else lambda value: Key(key(value))
        return function(*values, key=compared, **options)

    return call


class Overtime(BaseException):
    """The evaluation took longer than TIMEOUT."""


def overtime(*_):
    raise Overtime


def kind(value):
    """What a value is, as results of what is bounded say it."""
    if callable(value):
        return "function"
    if type(value) is not tuple or not value or any(type(row) is not tuple for row in value):
        return "value"
    cells = [cell for row in value for cell in row]
    rectangular = len(value[0]) > 0 and len({len(row) for row in value}) == 1
    if not rectangular or any(not isinstance(cell, int) or not 0 <= cell <= 9 for cell in cells):
        return "tuples"
    return "truths" if any(type(cell) is bool for cell in cells) else "grid"


def innermost(traceback, path):
    """The function of the file in which an exception was raised; nothing where it was in none."""
    name = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == path:
            # Lambdas and comprehensions belong to the enclosing function.
            name = getattr(code, "co_qualname", code.co_name).split(".")[0]
        traceback = traceback.tb_next
    return name


def within_bounds(evaluate, path):
    """The result of `evaluate` as JSON, in a process that ends after it."""
    # If a single operation of the interpreter outlasts the timer, the system kills the process.
    hard = BOUNDED_SECONDS + 2
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
    resource.setrlimit(resource.RLIMIT_AS, (BOUNDED_MEMORY, BOUNDED_MEMORY))
    signal.signal(signal.SIGPROF, overtime)
    try:
        signal.setitimer(signal.ITIMER_PROF, BOUNDED_SECONDS)
        try:
            value = evaluate()
            return json.dumps([kind(value), literal(value)])
        except MemoryError:
            return '["memory"]'
        except Exception as error:
            name = innermost(error.__traceback__, path)
            return json.dumps(["raised", type(error).__name__, name])
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except Overtime:
        return '["time"]'


def in_process(evaluate, path):
    """The result of `evaluate`, called in a process of its own within the bounds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        # Whatever happens, the child never continues with the parent's work.
        try:
            os.close(reader)
            result = within_bounds(evaluate, path)
            with open(writer, "w", encoding="utf-8") as pipe:
                pipe.write(result)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        result = pipe.read()
    _, status = os.waitpid(child, 0)
    if status == 0:
        return json.loads(result)
    stopped = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
    return ["time"] if stopped else ["died"]


def aged():
    """What numbers functions in the order in which they are made, since their sets need one."""
    ages = itertools.count()

    def made(function):
        function.age = next(ages)
        return function

    return made


class Calls(ast.NodeTransformer):
    """Sends set displays and comprehensions through the name `set`, and lambdas and functions inside
    of others through `_made`, which may be ours."""

    def __init__(self):
        self.inside = False

    def visit_FunctionDef(self, node):
        if self.inside:
            made = ast.Name(id="_made", ctx=ast.Load())
            node.decorator_list.append(ast.copy_location(made, node))
        before, self.inside = self.inside, True
        self.generic_visit(node)
        self.inside = before
        return node

    def wrap(self, node, name):
        self.generic_visit(node)
        name = ast.Name(id=name, ctx=ast.Load())
        return ast.copy_location(ast.Call(func=name, args=[node], keywords=[]), node)

    def visit_Set(self, node):
        return self.wrap(node, "set")

    visit_SetComp = visit_Set

    def visit_Lambda(self, node):
        return self.wrap(node, "_made")


# The file of solvers of each dialect.
SOLVERS = {"public": "solvers", "typed": "solvers_pre"}


def load(directory, dialect, order):
    """The names that programs see: those of dsl.py, constants.py and the file of solvers."""
    sys.path.insert(0, directory)
    if dialect == "typed":
        # Imported but needed only by code that runs on a GPU.
        sys.modules.setdefault("numpy", types.ModuleType("numpy"))
        os.environ["EXPECT_GPU"] = "0"
    # Leave the checkout unchanged.
    sys.dont_write_bytecode = True
    dsl = types.ModuleType("dsl")
    path = os.path.join(directory, "dsl.py")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    if order != "plain":
        backwards = order == "reversed"
        tree = ast.fix_missing_locations(Calls().visit(tree))
        dsl.frozenset = in_order(builtins.frozenset, backwards)
        dsl.set = in_order(builtins.set, backwards)
        dsl._made = aged()
        dsl.max, dsl.min, dsl.sorted = map(by_size, (builtins.max, builtins.min, builtins.sorted))
    # Other modules import it by this name, some during its own import.
    sys.modules["dsl"] = dsl
    if dialect == "typed":
        import safe_dsl

        if order != "plain":
            # The set that a failing call returns.
            safe_dsl.frozenset = dsl.frozenset
    exec(compile(tree, path, "exec"), dsl.__dict__)
    import constants

    solvers = __import__(SOLVERS[dialect])
    return {**vars(constants), **vars(dsl)}, vars(solvers)


def main():
    signal.signal(signal.SIGALRM, overtime)
    names, solvers = load(*sys.argv[1:4])
    pool = []
    batts = {}
    programs = {}

    def value(index):
        return eval(pool[index], names)

    def case(primitive, arguments, applied_to):
        result = names[primitive](*map(value, arguments))
        return result(*map(value, applied_to)) if applied_to else result

    def program(text, index):
        if text not in programs:
            scope = dict(names)
            exec(text, scope)
            programs[text] = scope[text.split("def ", 1)[1].split("(", 1)[0]]
        return programs[text](value(index))

    def bounded(text, index):
        path = os.path.join(sys.argv[1], "dsl.py")
        return in_process(lambda: program(text, index), path)

    def batt(path, calls):
        if path not in batts:
            scope = {"__name__": "batt"}
            with open(path, encoding="utf-8") as file:
                exec(compile(file.read(), path, "exec"), scope)
            batts[path] = scope["batt"]
        return tuple(
            tuple(map(tuple, batts[path]("", *map(value, arguments), ""))) for arguments in calls
        )

    def default(name):
        from safe_dsl import _get_safe_default

        return _get_safe_default(names[name])

    commands = {
        "case": case,
        "solver": lambda name, inputs: solvers[name](*map(value, inputs)),
        "program": program,
        "batt": batt,
        "default": default,
    }
    for line in sys.stdin:
        command, *operands = json.loads(line)
        if command == "primitives":
            for rank, name in enumerate(operands[0]):
                RANKS[name] = rank
                names[name].named = name
        elif command == "pool":
            pool.append(compile(operands[0], "pool", "eval"))
        elif command == "bounded":
            print(json.dumps(bounded(*operands)))
        else:
            signal.alarm(TIMEOUT)
            try:
                result = literal(commands[command](*operands))
            except (MemoryError, Overtime):
                result = False
            except Exception:
                result = None
            finally:
                signal.alarm(0)
            print(json.dumps(result))


if __name__ == "__main__":
    main()
