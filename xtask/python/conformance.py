"""Evaluates calls and programs with a checkout of a Python DSL, as it comes.

Usage: python3 conformance.py DIR SOLVERS SECONDS < commands > results

Commands and results are lines of JSON. `{"pool": text}` adds an expression to the pool. Each of the others is evaluated
within bounds of time and memory, and prints one result:

    {"case": [name, [pool index...], [pool index...]]}    a call of a primitive or solver; then its result called
    {"program": [text, [pool index...]]}                  a program in text
    {"batt": [path, [pool index...]]}                     `batt` of a file

    {"value": literal}      the value's text, its sets in their order
    "unordered"             a value with a set of several elements, some of which hash by address
    {"raised": exception}
    "unfinished"            it reached a bound
"""

import functools
import json
import os
import random
import resource
import signal
import sys
import time
import types

# What an evaluation may use, in bytes.
MEMORY = 1 << 30

UNFINISHED = "unfinished"


class Unordered(Exception):
    """A set has no order that another process would repeat."""


class Overtime(BaseException):
    """The evaluation took more processor time than it may, which other load does not affect."""


def overtime(*_):
    raise Overtime


def hashes_by_address(value):
    """Whether it holds a function, NaN, or None where that has no hash of its own: before CPython 3.12."""
    if isinstance(value, (tuple, frozenset, set)):
        return any(map(hashes_by_address, value))
    return callable(value) or value != value or (value is None and sys.version_info < (3, 12))


def literal(value, named):
    """The text of a value; functions that are no primitives all have the same one."""
    if isinstance(value, (tuple, frozenset, set)):
        texts = [literal(element, named) for element in value]
        if isinstance(value, tuple):
            return "(" + ", ".join(texts) + ("," if len(texts) == 1 else "") + ")"
        if len(texts) > 1 and hashes_by_address(value):
            raise Unordered
        return "frozenset({" + ", ".join(texts) + "})" if texts else "frozenset()"
    return named.get(value, "<function>") if callable(value) else repr(value)


def within_bounds(evaluate, seconds, named):
    """The result of an evaluation."""
    # If a single operation of the interpreter outlasts the timer, the system kills the process.
    until = int(time.process_time()) + seconds + 2
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            return {"value": literal(evaluate(), named)}
        except Unordered:
            return "unordered"
        except MemoryError:
            return UNFINISHED
        except Exception as error:
            return {"raised": type(error).__name__}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except Overtime:
        return UNFINISHED


def in_process(evaluations, seconds, named):
    """Prints the results in a process of its own, up to the first evaluation that reaches a bound;
    returns how many it printed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        # Whatever happens, the child never continues with the parent's work.
        try:
            os.close(reader)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            signal.signal(signal.SIGPROF, overtime)
            with open(writer, "w", encoding="utf-8") as results:
                for evaluate in evaluations:
                    result = within_bounds(evaluate, seconds, named)
                    print(json.dumps(result), file=results, flush=True)
                    if result == UNFINISHED:
                        break
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    done = 0
    with open(reader, encoding="utf-8") as results:
        for line in results:
            print(line.rstrip())
            done += 1
    _, status = os.waitpid(child, 0)
    if status != 0:
        print(json.dumps(UNFINISHED))
        done += 1
    return done


def run_file(path, scope):
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), scope)
    return scope


def load(directory, solvers):
    """The names that programs see, the solvers among them, and the names of functions."""
    sys.path.insert(0, directory)
    # Leave the checkout unchanged.
    sys.dont_write_bytecode = True
    if os.path.exists(os.path.join(directory, "safe_dsl.py")):
        # The typed dialect imports numpy, which only code that runs on a GPU needs.
        sys.modules.setdefault("numpy", types.ModuleType("numpy"))
        os.environ["EXPECT_GPU"] = "0"
    # So that functions, which hash by address, are elsewhere in each process.
    names = {"_elsewhere": [lambda: None for _ in range(random.randrange(1000))]}
    import dsl

    names.update(vars(dsl))
    if os.path.exists(os.path.join(directory, "constants.py")):
        import constants

        names = {**vars(constants), **names}
    functions = {value: name for name, value in vars(dsl).items() if callable(value)}
    return run_file(os.path.join(directory, solvers), names), functions


def main():
    directory, solvers, seconds = sys.argv[1:]
    names, named = load(directory, solvers)
    pool = []
    batts = {}

    def values(indices):
        return [eval(pool[index], names) for index in indices]

    def case(name, arguments, applied_to):
        result = names[name](*values(arguments))
        return result(*values(applied_to)) if applied_to else result

    def program(text, inputs):
        scope = dict(names)
        exec(text, scope)
        return scope[text.split("def ", 1)[1].split("(", 1)[0]](*values(inputs))

    def batt(path, inputs):
        if path not in batts:
            batts[path] = run_file(path, {"__name__": "batt"})["batt"]
        return tuple(map(tuple, batts[path]("", *values(inputs), "")))

    commands = {"case": case, "program": program, "batt": batt}
    evaluations = []
    for line in sys.stdin:
        [(command, operands)] = json.loads(line).items()
        if command == "pool":
            pool.append(compile(operands, "pool", "eval"))
        else:
            evaluations.append(functools.partial(commands[command], *operands))
    done = 0
    while done < len(evaluations):
        sys.stdout.flush()
        done += in_process(evaluations[done:], int(seconds), named)


if __name__ == "__main__":
    main()
