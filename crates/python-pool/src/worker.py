# A worker of the pool: one thread, with the modules of its programs imported, that forks a child for each program.
#
# What comes in are inputs and texts, which the child reads; what comes out is a range of memory that it shares with
# its child. `pool.rs` is the other side.

import ctypes
import gc
import io
import itertools
import json
import mmap
import os
import random
import resource
import select
import signal
import socket
import struct
import sysconfig
import time
import types
import warnings

PAGE = 1 << 24
MOST_CELLS = 1_000_000
MOST_TEXT = 400
# The state of a child, how many bytes of records, the line and the length of a note, the note.
HEAD = struct.Struct("<BIII243s")
READ, ENDED = 1, 2
# What became of a pair, its line, and its rows and columns, or the length of a message and 1.
RECORD = struct.Struct("<BIII")
GRID, EXCEPTION, NOT_A_GRID, MEMORY, NO_PROGRAM = range(5)
# Why a child was killed, and the statuses with which one says so itself.
CPU, WALL = 1, 2
STEPS, FORBIDDEN = 113, 114
# prctl(2) and landlock(7).
SET_PDEATHSIG, SET_SECCOMP, SET_NO_NEW_PRIVS = 1, 22, 38
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
# madvise(2).
HUGE, COLLAPSE = 1 << 21, 25
# Modules that programs and numpy import late, when no file may be opened any more, or for each child anew.
LATE = (
    "abc array bisect cmath collections contextlib copy dataclasses datetime decimal enum fractions functools hashlib heapq "
    "itertools json math numbers operator pprint queue random re statistics string textwrap time traceback types typing"
).split()
LATE_OF = {"numpy": ("numpy.random", "numpy.lib.stride_tricks"), "scipy": ("scipy.ndimage",)}

parent = socket.socket(fileno=0)
libc = ctypes.CDLL(None, use_errno=True)
# Of a process with one thread, which needs none of what `os.fork` does in the child: that writes to 200 pages.
fork = ctypes.PyDLL(None).fork


def receive():
    head = received(4)
    if not head:
        os._exit(0)
    return received(int.from_bytes(head, "little"))


def received(size):
    got = bytearray()
    while len(got) < size:
        part = parent.recv(size - len(got))
        if not part:
            return b""
        got += part
    return bytes(got)


def send(*parts):
    parent.sendall(sum(map(len, parts)).to_bytes(4, "little"))
    for part in parts:
        parent.sendall(part)


def tell(**what):
    send(json.dumps(what).encode())


def set_up():
    """Imports what programs need, and tells the parent what files that takes."""
    for module in LATE + [late for module in options["modules"] for late in (module, *LATE_OF.get(module, ()))]:
        try:
            importlib.import_module(module)
        except Exception as error:
            # A module that is not there is the caller's mistake, but one beside it is not.
            if module in options["modules"]:
                hint = "install it, or leave it out of `modules` (none: `--python-modules ''`)"
                tell(error=f"the module `{module}` cannot be imported: {type(error).__name__}: {error}; {hint}")
                os._exit(1)
    global numpy
    numpy = sys.modules.get("numpy")
    if "numpy" not in options["modules"]:
        numpy = None
    if options["max_steps"] is not None:
        vars(builtins)[STEP] = lambda: None
    if options["prelude"]:
        name, text = options["prelude"]
        module = sys.modules[name] = types.ModuleType(name)
        try:
            exec(compiled(ast.parse(text, name + ".py"), name + ".py", options["max_steps"] is not None), vars(module))
        except BaseException as error:
            tell(error=f"the prelude `{name}` failed: line {line_of_error(error, name + '.py')}: {told(error)}")
            os._exit(1)
        names = names_of(name)
        given.update((key, value) for key, value in vars(module).items() if key in names)
    if numpy:
        given.update(np=numpy, numpy=numpy)
    abi = libc.syscall(ctypes.c_long(LANDLOCK_CREATE_RULESET), None, ctypes.c_long(0), ctypes.c_long(1))
    tell(python="%d.%d.%d" % sys.version_info[:3], landlock=max(abi, 0), folders=readable())


def readable():
    """The files that an import may need: the standard library, and packages that are already imported. Others may hold
    tasks."""
    library = sysconfig.get_path("stdlib")
    found = {os.path.join(library, name) for name in os.listdir(library) if not name.endswith("-packages")}
    found |= {"/lib", "/lib64", "/usr/lib", "/usr/lib64"}
    beside = os.path.dirname(library)
    found |= {os.path.join(beside, name) for name in os.listdir(beside) if ".so" in name}
    for name in {name.partition(".")[0] for name in sys.modules}:
        module = sys.modules.get(name)
        for path in getattr(module, "__path__", [getattr(module, "__file__", None)]):
            if isinstance(path, str) and path != library:
                found |= {path, path + ".libs"}
    return sorted(found)


class Null(io.TextIOBase):
    def writable(self):
        return True

    def write(self, text):
        return len(text)


def noted(page, line, text):
    text = text.encode("utf-8", "replace")[:243]
    state, used, *_ = HEAD.unpack_from(page)
    HEAD.pack_into(page, 0, state, used, line, len(text), text)


def line_in(frame):
    while frame and frame.f_code.co_filename != TEXT:
        frame = frame.f_back
    return frame.f_lineno if frame else 0


def line_of_error(error, text=TEXT):
    line, trace = 0, BaseException.__traceback__.__get__(error)
    while trace:
        if trace.tb_frame.f_code.co_filename == text:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def told(error):
    try:
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
    except BaseException:
        text = "an exception that cannot be shown"
    is_module = isinstance(error, PermissionError) and str(error.filename).endswith((".py", ".pyc", ".so"))
    if is_module or isinstance(error, ModuleNotFoundError):
        text += " (`modules` names what may be imported beside the standard library)"
    return text


# What the filter of system calls ends the process for. That could not be told afterwards, nor on which line.
ENDS = {
    "os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.posix_spawn", "os.system", "pty.spawn", "socket.__new__",
    "subprocess.Popen", "_thread.start_new_thread", "_thread.start_joinable_thread",
}  # fmt: skip


def guard(ruleset):
    """Gives up, before any text is compiled, what no program needs. Returns what the system refused: names, or that it
    refused nothing."""
    if libc.prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) or os.getppid() != WORKER:
        os._exit(1)
    limits = resource.setrlimit
    limits(resource.RLIMIT_CORE, (0, 0))
    limits(resource.RLIMIT_FSIZE, (0, 0))
    limits(resource.RLIMIT_AS, (BASE + options["memory"],) * 2)
    # Reached only if nobody watches the child any more.
    limits(resource.RLIMIT_CPU, (int(options["cpu"]) + 2,) * 2)
    refused = []
    if libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        refused.append("no_new_privs")
    if ruleset is not None and libc.syscall(ctypes.c_long(LANDLOCK_RESTRICT_SELF), ctypes.c_long(ruleset), ctypes.c_long(0)):
        refused.append("landlock")
    os.closerange(0, 64)
    if seccomp and libc.prctl(SET_SECCOMP, 2, seccomp, 0, 0):
        refused.append("seccomp")
    return ",".join(refused) or "nothing"


def try_guards(ruleset):
    """What a child that gives everything up is refused."""
    page = mmap.mmap(-1, mmap.PAGESIZE)
    child = fork()
    if child == 0:
        noted(page, 0, guard(ruleset))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    *_, size, text = HEAD.unpack_from(page)
    return text[:size].decode() or f"everything (status {status})"


class NotAGrid(Exception):
    pass


def cells_of(output):
    """Rows, columns and cells of what a program returned, whose methods may lie."""
    if numpy and issubclass(type(output), numpy.ndarray):
        array = as_array(output)
        if array.ndim != 2:
            raise NotAGrid(f"an array of {array.ndim} dimensions")
        check_sides(*array.shape)
        if array.dtype.kind in "biuf":
            if array.dtype.kind == "f" and not (array == floor(array)).all():
                raise NotAGrid("an array with a number that is not whole")
            if array.min() < -128 or array.max() > 127:
                raise NotAGrid("an array with a colour beyond -128 to 127")
            array = array.astype("int8")
            return array.T if options["axes"] == "xy" else array
        output = array.tolist()
    rows = items(output, "")
    check_sides(len(rows), 1)
    for at, row in enumerate(rows):
        row = rows[at] = items(row, f"row {at} is")
        if at == 0:
            check_sides(len(rows), len(row))
        if len(row) != len(rows[0]):
            raise NotAGrid(f"rows of {len(rows[0])} and {len(row)} cells")
        if not set(map(type, row)) <= {int}:
            row = rows[at] = [whole(cell) for cell in row]
        if min(row) < -128 or max(row) > 127:
            raise NotAGrid(f"row {at} has a colour beyond -128 to 127")
    return list(zip(*rows)) if options["axes"] == "xy" else rows


def items(value, of):
    for kind in (list, tuple):
        if issubclass(type(value), kind):
            return list(kind.__iter__(value))
    if numpy and issubclass(type(value), numpy.ndarray) and as_array(value).ndim == 1:
        return as_array(value).tolist()
    raise NotAGrid(f"{of} a value of the type {type(value).__name__}".strip())


def whole(cell):
    kind = type(cell)
    if numpy and issubclass(kind, numpy.generic):
        cell = numpy.generic.item(cell)
        kind = type(cell)
    if issubclass(kind, int):
        return int.__add__(cell, 0)
    if issubclass(kind, float) and float.is_integer(cell):
        return float.__int__(cell)
    raise NotAGrid(f"a cell is not a whole number: it is of the type {kind.__name__}")


def check_sides(height, width):
    if not 0 < height * width <= MOST_CELLS:
        raise NotAGrid(f"{height} x {width}: expected 1 to {MOST_CELLS} cells")


class Child:
    """Runs one program."""

    def __init__(self, page):
        self.page, self.used = page, HEAD.size
        self.job = json.loads(receive())

    def record(self, kind, line, rows, columns, data):
        start = self.used + RECORD.size
        # What is left is for the messages of the pairs after it.
        if kind == GRID and start + len(data) > PAGE - (PAGE >> 4):
            raise NotAGrid("more cells than a program may return in all")
        RECORD.pack_into(self.page, self.used, kind, line, rows, columns)
        self.page[start : start + len(data)] = data
        self.used = start + len(data)
        struct.pack_into("<I", self.page, 1, self.used)

    def fail(self, kind, line, text):
        data = text.encode("utf-8", "replace")[:MOST_TEXT]
        self.record(kind, line, len(data), 1, data)

    def failed(self, error):
        try:
            line = line_of_error(error)
        except BaseException:
            line = 0
        self.fail(MEMORY if isinstance(error, MemoryError) else EXCEPTION, line, told(error))

    def run(self):
        inputs = self.job["inputs"]
        for tries in self.job["programs"]:
            try:
                program = answer(tries, options["entry"], given)
            except NoProgram as error:
                for _ in inputs or [None]:
                    self.fail(NO_PROGRAM, error.line, error.reason)
                continue
            if inputs:
                self.execute(*program, inputs)
            else:
                # It is recognised.
                self.record(GRID, 0, 1, 1, b"\0")

    def execute(self, tree, name, definitions, inputs):
        shape = options["grid"]
        if shape == "auto":
            shape = "array" if options["axes"] == "xy" else form(name, definitions)
        module = sys.modules["program"] = types.ModuleType("program")
        scope = vars(module)
        scope.update(given)
        try:
            self.begin()
            code = compiled(tree, TEXT, options["max_steps"] is not None)
            gc.enable()
            exec(code, scope)
            function = scope[name]
        except BaseException as error:
            for _ in inputs:
                self.failed(error)
            return
        for grid in inputs:
            try:
                grid = shaped(grid, shape)
                self.begin()
                output = function(grid)
            except BaseException as error:
                self.failed(error)
                continue
            try:
                cells = cells_of(output)
                height, width = len(cells), len(cells[0])
                is_array = not isinstance(cells, list)
                data = cells.tobytes() if is_array else b"".join(struct.pack(f"{width}b", *row) for row in cells)
                self.record(GRID, 0, height, width, data)
            except NotAGrid as error:
                self.fail(NOT_A_GRID, 0, f"not a grid: {error}")
            except BaseException as error:
                self.failed(error)

    def begin(self):
        """Each pair has all its steps."""
        if options["max_steps"] is not None:
            none = itertools.repeat(None, options["max_steps"])
            vars(builtins)[STEP] = itertools.chain(none, self.end()).__next__

    def end(self):
        noted(self.page, line_in(sys._getframe()), "")
        os._exit(STEPS)
        yield


def shaped(grid, form):
    if options["axes"] == "xy":
        grid = list(map(list, zip(*grid)))
    if form == "array":
        if not numpy:
            raise ModuleNotFoundError("the program takes an array: No module named 'numpy'")
        return as_array(grid)
    return grid if form == "list" else tuple(map(tuple, grid))


def child(page, ruleset, refused):
    of = Child(page)
    page[0] = READ
    if guard(ruleset) != refused:
        # It would have more than the parent was told.
        os._exit(1)

    def stopped(_, frame):
        noted(page, line_in(frame), "")
        os._exit(0)

    def hook(event, _):
        if event in ENDS:
            noted(page, line_in(sys._getframe()), event)
            os._exit(FORBIDDEN)

    sys.addaudithook(hook)
    stop[0] = stopped
    of.run()
    page[0] = ENDED
    os._exit(0)


ends = select.poll()
ends.register(0, select.POLLRDHUP)
# What a child does when its time is over. The filter of system calls lets no program replace the handler.
stop = [None]
signal.signal(signal.SIGUSR1, lambda *of: stop[0] and stop[0](*of))


def watch(pid):
    """Waits for a child to end, or ends it when its time is over. Returns why, its status and the time it took."""
    # Whatever is used here is written to, and copied, since the child shares it: so it is little.
    began, why = time.monotonic(), 0
    process = os.pidfd_open(pid)
    ends.register(process, select.POLLIN)
    # The clock of another process, as `clock_getcpuclockid` makes it.
    clock = (~pid << 3) | 2

    def left():
        try:
            used = time.clock_gettime(clock)
        except OSError:
            used = 0.0
        return options["cpu"] - used, options["wall"] - (time.monotonic() - began)

    least = min(options["cpu"], options["wall"])
    while True:
        # `poll` would round up to milliseconds.
        if least < 0.001:
            time.sleep(least)
        ended = dict(ends.poll(int(min(least, 1.0) * 1000)))
        if process in ended:
            break
        if ended or os.getppid() != PARENT:
            os.kill(pid, signal.SIGKILL)
            os._exit(0)
        cpu, wall = left()
        if (least := min(cpu, wall)) <= 0:
            why = CPU if cpu == least else WALL
            # It may still say on which line it is, once it has a core; not within a call of C.
            os.kill(pid, signal.SIGUSR1)
            while not ends.poll(5) and all(now > then for now, then in zip(left(), (cpu - 0.02, wall - 1.0))):
                pass
            os.kill(pid, signal.SIGKILL)
            break
    _, status, used = os.wait4(pid, 0)
    ends.unregister(process)
    os.close(process)
    return why, os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def serve(ruleset, refused):
    jobs = select.poll()
    jobs.register(0, select.POLLIN)
    while True:
        # A parent that was forked leaves the socket open when it ends.
        while not jobs.poll(1000):
            if os.getppid() != PARENT:
                os._exit(0)
        if not parent.recv(1, socket.MSG_PEEK):
            os._exit(0)
        # Fresh for each program, so that none sees what another left.
        page = mmap.mmap(-1, PAGE)
        pid = fork()
        if pid == 0:
            try:
                child(page, ruleset, refused)
            finally:
                os._exit(1)
        why, status, used = watch(pid)
        if page[0] not in (READ, ENDED):
            os._exit(1)
        size = min(max(HEAD.unpack_from(page)[1], HEAD.size), PAGE)
        # Without a copy, which later children would have in their memory.
        with memoryview(page)[:size] as written:
            send(struct.pack("<Bid", why, status, used), written)
        page.close()


# Programs as most are.
LISTS = """
from collections import Counter

def cells(grid, colour=None):
    # Where it is.
    return [(i, j) for i, row in enumerate(grid) for j, cell in enumerate(row) if cell and colour in (None, cell)]

def transform(grid):
    height, width = len(grid), len(grid[0])
    output = [[0] * width for _ in range(height)]
    counts = Counter(cell for row in grid for cell in row)
    least = min(counts, key=lambda colour: counts[colour])
    for i, j in cells(grid):
        for di, dj in ((0, 1), (1, 0)):
            if 0 <= i + di < height and 0 <= j + dj < width and grid[i + di][j + dj] != 0:
                output[i + di][j + dj] = grid[i][j]
        while output[i][j] < least:
            output[i][j] += 1
    return output
"""
ARRAYS = """
import numpy as np

def transform(grid: np.ndarray) -> np.ndarray:
    output = np.zeros_like(grid)
    colours, counts = np.unique(grid, return_counts=True)
    for x, y in np.argwhere((grid != 0) & (grid < 9) | ~(grid > -1)):
        output[x, y] = colours[np.argmax(counts)] + grid[x, y] * 2 - 1
    if np.any(output == grid) and not np.array_equal(output, np.full((2, 2), 0)):
        output[:1] = np.max(output) * np.where(grid == 1, grid, 0)[:1] - np.sum(np.rot90(np.flipud(grid).copy()))
    return output
"""


def main():
    global options, seccomp, given, as_array, floor, PARENT, WORKER, BASE
    PARENT, WORKER, given = os.getppid(), os.getpid(), {}
    # Arenas of Python, which are more contiguous now than after libraries are mapped between them. They are kept.
    arenas = [None] * 50_000
    for at in range(len(arenas)):
        arenas[at] = bytes(450)
    arenas = arenas[::1000]
    for descriptor in os.listdir("/proc/self/fd"):
        if int(descriptor) > 2:
            try:
                os.close(int(descriptor))
            except OSError:
                pass
    options = json.loads(receive())
    warnings.simplefilter("ignore")
    sys.stdin, sys.stdout, sys.stderr = None, Null(), Null()
    time.localtime()
    set_up()
    if numpy:
        as_array, floor = numpy.asarray, numpy.floor
    head, descriptors, _, _ = socket.recv_fds(parent, 4, 1)
    code = ctypes.create_string_buffer(bytes.fromhex(received(int.from_bytes(head, "little")).decode()))
    # With a zero at the end.
    seccomp = struct.pack("@HP", len(code) // 8, ctypes.addressof(code)) if len(code) > 1 else None
    with open("/proc/self/statm") as sizes:
        BASE = int(sizes.read().split()[0]) * mmap.PAGESIZE + PAGE
    ruleset = descriptors[0] if descriptors else None
    refused = try_guards(ruleset)
    tell(refused=refused)
    # As they are now: a program may replace them.
    globals().update((name, value) for name, value in vars(builtins).items() if not name.startswith("_"))
    # All programs start with the same random numbers.
    random.seed(0)
    if numpy:
        numpy.random.seed(0)
    # What is used for the first time takes longer and writes to memory, which each child would then copy.
    for text in (LISTS, ARRAYS if numpy else LISTS) * 20:
        tree, name, definitions = answer([[[0, text]]], None, given)
        scope = {}
        exec(compiled(tree, TEXT, options["max_steps"] is not None), scope)
        cells_of(scope[name](shaped([[0, 1], [2, 0]], form(name, definitions))))
    gc.collect()
    # What is free lies between what is not. A child that fills such gaps copies many pages, so they are filled or given
    # back, which musl does not know.
    filled = [bytes(size - 33) for size in range(48, 513, 16) for _ in range(65536 // size)]
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
    gc.freeze()
    # Until a program runs: what its text is parsed to are many objects, none of them garbage.
    gc.disable()
    # A fork copies the tables of pages, which are few for huge ones.
    with open("/proc/self/maps") as maps:
        for line in maps:
            start, end = (int(address, 16) // HUGE * HUGE for address in line.split()[0].split("-"))
            if start + HUGE < end:
                libc.madvise(ctypes.c_void_p(start + HUGE), ctypes.c_size_t(end - start - HUGE), COLLAPSE)
    serve(ruleset, refused)


main()
