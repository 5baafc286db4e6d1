# %% [markdown]
# # mega-batch on Kaggle
#
# This notebook inspects the machine, checks and benchmarks the engine on it, runs ARC DSL programs on the
# competition's tasks, searches for programs for the remaining tasks, and leaves `submission.json` in the working
# folder.
#
# When the competition reruns it on the hidden tasks, it only runs and searches. In both cases every failure is
# printed and recorded; from the third cell on there is a valid `submission.json`.

# %% [markdown]
# ## Settings
#
# The names are those of the competition and of the dataset with the engine. Environment variables override the values
# below.

# %%
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import traceback
from collections import deque

COMPETITION = "arc-prize-2026-arc-agi-2"
OWNER = "KAGGLE_USER"
DATASET = "mega-batch-engine"

# What evaluates: "auto" uses the GPUs if that is expected to be faster.
MODE = os.environ.get("MEGA_BATCH_MODE", "auto")
# Hours for the notebook as a whole. Kaggle ends it after 12.
HOURS = os.environ.get("MEGA_BATCH_HOURS", "11")
# "0" skips the benchmark.
BENCH = os.environ.get("MEGA_BATCH_BENCH", "1")

KAGGLE = pathlib.Path(os.environ.get("MEGA_BATCH_KAGGLE_ROOT", "/kaggle"))
RERUN = os.environ.get("KAGGLE_IS_COMPETITION_RERUN", "").lower() not in ("", "0", "false")
BEGAN = time.monotonic()
INPUT = KAGGLE / "input"
WORKING = KAGGLE / "working"
SUBMISSION = WORKING / "submission.json"

# %% [markdown]
# ## Helpers
#
# A step that fails is recorded and the next one runs. The engine's running time and output lines are limited.

# %%
# The failures, for the last cell.
FAILED = []
# How many lines of a command's output are shown from its beginning and its end, and the characters of each.
HEAD, TAIL, WIDTH = 300, 20, 500
# The largest file that is read as JSON, as in the engine.
MOST_BYTES = 1 << 30
# How many folders below the inputs are searched.
MOST_FOLDERS = 10_000


def say(*words):
    print(" ".join(str(word) for word in words)[:2000], flush=True)


@contextlib.contextmanager
def step(name):
    """Notes what fails within, and goes on."""
    try:
        yield
    except Exception as error:
        FAILED.append(f"{name}: {type(error).__name__}: {error}"[:2000])
        say("FAILED:", FAILED[-1])
        if not RERUN and not isinstance(error, RuntimeError):
            say(traceback.format_exc(limit=-3))


def seconds_left():
    """Seconds until the notebook is to have ended."""
    try:
        hours = float(HOURS)
    except ValueError:
        hours = 0.0
    if not 0.0 < hours <= 1000.0:
        hours = 11.0
    return BEGAN + hours * 3600.0 - time.monotonic()


def folders():
    """The folders below the inputs, those near their root first."""
    waiting = deque([INPUT])
    for _ in range(MOST_FOLDERS):
        if not waiting:
            return
        folder = waiting.popleft()
        yield folder
        with contextlib.suppress(OSError):
            waiting.extend(sorted(path for path in folder.iterdir() if path.is_dir()))


def find(places, pattern):
    """The first file of this pattern: in one of the places, or else anywhere below the inputs."""
    for folder in [*places, *folders()]:
        with contextlib.suppress(OSError):
            for path in sorted(folder.glob(pattern)):
                if path.is_file():
                    return path
    return None


def read_json(path):
    if path.stat().st_size > MOST_BYTES:
        raise RuntimeError(f"{path}: expected {MOST_BYTES} bytes at most")
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise RuntimeError(f"{path}: expected JSON: {error}") from error


def write_whole(path, value):
    """Writes JSON beside the file and renames it, so that the file is whole at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with open(partial, "w") as file:
        json.dump(value, file, separators=(",", ":"))
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def end(process, how):
    """Sends a signal to a command and to all that it has started."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, how)


def call(arguments, seconds, heartbeat=None):
    """Runs a command and shows what it prints; gives its exit code.

    After so many seconds it is asked to end, and 60 seconds later it is ended. `heartbeat` is a file of
    JSON lines, the last of which is shown from time to time.
    """
    say("$", *arguments)
    process = subprocess.Popen(
        [str(word) for word in arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    head, tail = deque(), deque(maxlen=TAIL)
    counted = 0

    def read():
        nonlocal counted
        # A line without an end arrives in pieces.
        for line in iter(lambda: process.stdout.readline(1 << 16), b""):
            counted += 1
            (head if counted <= HEAD else tail).append(line[:WIDTH].decode(errors="replace").rstrip())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    deadline, asked = time.monotonic() + seconds, False
    pause, next_beat = 60.0, time.monotonic() + 60.0
    while process.poll() is None:
        reader.join(0.2)
        if not reader.is_alive():
            # Its output has ended, so the process will end too.
            time.sleep(0.05)
        while head:
            say(head.popleft())
        now = time.monotonic()
        if now >= deadline:
            end(process, signal.SIGKILL if asked else signal.SIGTERM)
            asked, deadline = True, now + 60.0
        if heartbeat is not None and now >= next_beat:
            # Less and less often: 12 hours are some 80 lines.
            pause = min(pause * 2.0, 600.0)
            next_beat = now + pause
            with contextlib.suppress(OSError, IndexError):
                with open(heartbeat, "rb") as file:
                    file.seek(max(0, heartbeat.stat().st_size - 4096))
                    say(file.read().splitlines()[-1][:WIDTH].decode(errors="replace"))
    # Its child processes may keep its output open.
    reader.join(5.0)
    end(process, signal.SIGKILL)
    reader.join(5.0)
    while head:
        say(head.popleft())
    if counted > HEAD + len(tail):
        say(f"... {counted - HEAD - len(tail)} lines are left out")
    while tail:
        say(tail.popleft())
    return process.returncode


def engine(*arguments, seconds, good=(0,), heartbeat=None):
    """Runs the engine, and fails where its exit code is none of the good ones."""
    if ENGINE is None:
        raise RuntimeError("the engine is not there")
    code = call([ENGINE, *arguments], seconds, heartbeat)
    if code not in good:
        raise RuntimeError(f"mega-batch {arguments[0]} ended with {code}")
    return code


# %% [markdown]
# ## A submission first
#
# For each test input the input itself and one black cell: wrong, but valid. It remains until the engine writes a
# better one.

# %%
SCRATCH = pathlib.Path(tempfile.gettempdir())
ENGINE = CHALLENGES = None
PROGRAMS = []
# The attempts for tasks without any other.
FALLBACK = {}


def is_grid(value):
    """Whether this is a grid of 1 to 30 rows and columns of colours 0 to 9."""
    return (
        isinstance(value, list)
        and 1 <= len(value) <= 30
        and all(isinstance(row, list) and len(row) == len(value[0]) for row in value)
        and 1 <= len(value[0]) <= 30
        and all(type(cell) is int and 0 <= cell <= 9 for row in value for cell in row)
    )


def fallback_of(challenges):
    """Two attempts for each test input of each task."""
    if not isinstance(challenges, dict):
        raise RuntimeError("expected an object of tasks")
    submission = {}
    for task, content in challenges.items():
        tests = content.get("test") if isinstance(content, dict) else None
        submission[task] = []
        for pair in tests if isinstance(tests, list) else []:
            grid = pair.get("input") if isinstance(pair, dict) else None
            first = grid if is_grid(grid) else [[0]]
            second = [[0]] if first != [[0]] else [[1]]
            submission[task].append({"attempt_1": first, "attempt_2": second})
    return submission


def is_attempt(value):
    return isinstance(value, dict) and is_grid(value.get("attempt_1")) and is_grid(value.get("attempt_2"))


def mended(submission):
    """A submission with the fallback in the place of all that is not valid, and in how many places."""
    submission = submission if isinstance(submission, dict) else {}
    result, places = {}, 0
    for task, attempts in FALLBACK.items():
        found = submission.get(task)
        found = found if isinstance(found, list) and len(found) == len(attempts) else [None] * len(attempts)
        result[task] = [ours if is_attempt(ours) else theirs for ours, theirs in zip(found, attempts)]
        places += sum(not is_attempt(ours) for ours in found)
    return result, places


with step("a folder for what is not kept"):
    SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="mega-batch-"))

COMPETITION_FOLDERS = [INPUT / "competitions" / COMPETITION, INPUT / COMPETITION]
with step("the tasks"):
    CHALLENGES = find(COMPETITION_FOLDERS, "*test_challenges.json")
    if CHALLENGES is None:
        raise RuntimeError(f"no *test_challenges.json below {INPUT}: is {COMPETITION} attached?")
    FALLBACK = fallback_of(read_json(CHALLENGES))
    say(f"{CHALLENGES}: {len(FALLBACK)} tasks")
if not FALLBACK:
    with step("the sample submission"):
        SAMPLE = find(COMPETITION_FOLDERS, "sample_submission.json")
        SAMPLE = read_json(SAMPLE) if SAMPLE is not None else {}
        if isinstance(SAMPLE, dict):
            FALLBACK = {
                task: attempts
                for task, attempts in SAMPLE.items()
                if isinstance(attempts, list) and all(is_attempt(attempt) for attempt in attempts)
            }
with step("the first submission"):
    write_whole(SUBMISSION, FALLBACK)
    say(f"{SUBMISSION}: {len(FALLBACK)} tasks")

# %% [markdown]
# ## The engine
#
# Files in the dataset cannot be executed, so the engine is copied. The programs are those in the dataset's folder
# `programs`; without them the built-in ones are run.

# %%
DATASET_FOLDERS = [INPUT / "datasets" / OWNER / DATASET, INPUT / DATASET, INPUT / OWNER / DATASET]


def install(found):
    """Copies the engine to where it runs."""
    reasons = []
    for folder in (SCRATCH, WORKING):
        copy = folder / "mega-batch"
        try:
            shutil.copyfile(found, copy)
            copy.chmod(0o755)
            said = subprocess.run(
                [str(copy), "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60
            )
            if said.returncode == 0:
                say(said.stdout[:WIDTH].decode(errors="replace").strip(), "in", folder)
                return copy
            reason = f"ended with {said.returncode}: {said.stdout[:WIDTH].decode(errors='replace').strip()}"
        except (OSError, subprocess.SubprocessError) as error:
            reason = f"{error}"
        reasons.append(f"{folder}: {reason}")
        with contextlib.suppress(OSError):
            copy.unlink()
    raise RuntimeError(f"{found} cannot be run: " + "; ".join(reasons))


def programs_beside(found):
    """The folders of programs in the dataset. Kaggle unpacks what was uploaded packed, if late."""
    folder = found.parent / "programs"
    for packed in sorted(found.parent.glob("programs.*")):
        if not folder.is_dir() and packed.suffix in (".zip", ".tar"):
            folder = SCRATCH / "programs"
            shutil.unpack_archive(str(packed), str(folder))
    return sorted({path.parent for path in folder.rglob("*.py")}) if folder.is_dir() else []


with step("the engine"):
    FOUND = find(DATASET_FOLDERS, "mega-batch")
    if FOUND is None:
        raise RuntimeError(f"no file mega-batch below {INPUT}: is {OWNER}/{DATASET} attached?")
    ENGINE = install(FOUND)
with step("the programs"):
    if ENGINE is not None:
        PROGRAMS = programs_beside(FOUND)
        say("programs:", ", ".join(str(folder) for folder in PROGRAMS) or "the built-in ones")

# %% [markdown]
# ## The machine
#
# The GPUs and the settings of a run for them. If there is a GPU, the conformance suite compares it with the
# reference; a difference means that its results cannot be trusted, and the run does not use it. The rerun checks
# nothing: set `MODE` to "parallel" after a difference.

# %%
if not RERUN:
    GPUS = []
    with step("the machine"):
        DEVICES = SCRATCH / "devices.json"
        engine("devices", "--json", DEVICES, seconds=120)
        GPUS = read_json(DEVICES)["run"]["gpus"]
    if GPUS:
        with step("the check of the GPU"):
            try:
                engine("selfcheck", "--backend", "cuda", "--cases", "20000", seconds=300)
            except RuntimeError:
                MODE = "parallel"
                raise
    else:
        say("no GPU that can be used: nothing to check")

# %% [markdown]
# ## The benchmark
#
# The modes by kind and size of batch, in brief, with the speedup of the GPU and the check of its results. The tables are in
# the folder `bench`.

# %%
if not RERUN and BENCH != "0":
    with step("the benchmark"):
        engine("bench", "--quick", "--out", WORKING / "bench", seconds=900)

# %% [markdown]
# ## The run
#
# Every program on every task, and then a search for the tasks on whose train pairs none is right. The submission is
# valid at all times. A run that crashes continues from its checkpoint, the third time without GPUs; a run or a search
# that has no time left ends with what it has.

# %%
KEPT = SCRATCH if RERUN else WORKING


def digest():
    """What the checkpoint is named by: another engine, other tasks or programs have another one."""
    state = hashlib.sha256()
    files = [path for folder in PROGRAMS for path in sorted(folder.glob("*.py"))]
    for path in [ENGINE, CHALLENGES, *files]:
        state.update(path.name.encode(errors="replace") + b"\0")
        state.update(hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()[:12]


def written(path):
    """What is another one after a file was replaced."""
    try:
        status = path.stat()
        return (status.st_ino, status.st_mtime_ns)
    except OSError:
        return None


def run_all(tasks, submission, seconds, *more, checkpoint=None):
    """Runs every program on these tasks; 2 is a good exit code, since the good ones were run."""
    began = time.monotonic()
    log = KEPT / "mega-batch.log"
    arguments = ["run", "--tasks", tasks, "--all-pairs", "--submission", submission, *more, "--log", log]
    if PROGRAMS:
        arguments += ["--programs", *PROGRAMS]
    arguments += ["--unsolved", unsolved_of(submission)]
    if checkpoint is not None:
        arguments += ["--checkpoint", checkpoint, "--resume"]
    modes = [MODE, MODE, "parallel"] if checkpoint is not None else [MODE, "parallel"]
    for number, mode in enumerate(modes):
        left = max(1.0, began + seconds - time.monotonic())
        try:
            limits = ["--mode", mode, "--time-limit", f"{left:.0f}"]
            watch = None if RERUN else log
            before = written(submission)
            code = engine(*arguments, *limits, seconds=left + 120.0, good=(0, 2), heartbeat=watch)
            if code == 2 and written(submission) == before:
                raise RuntimeError("mega-batch run took its options or inputs for bad, and did nothing")
            return code
        except RuntimeError as error:
            if ENGINE is None or number + 1 == len(modes):
                raise
            say(f"{error}; once more")


def unsolved_of(submission):
    """Where a run names the tasks whose train pairs no program has right."""
    return SCRATCH / f"{submission.stem}-unsolved.txt"


def search_rest(tasks, submission, seconds, checkpoint=None):
    """Searches programs for the tasks that a run has left, and puts what they answer into its submission.

    Where the time is up, or the search crashes, what it has found until then is there.
    """
    unsolved = unsolved_of(submission)
    chosen = []
    if unsolved.is_file():
        if not unsolved.read_text().strip():
            return
        chosen = ["--ids-file", unsolved]
    # It is valid at all times, and no worse than the run's.
    found = SCRATCH / f"{submission.stem}-found.json"
    arguments = ["search", "--tasks", tasks, *chosen, "--submission", found, "--over", submission]
    if checkpoint is not None:
        arguments += ["--checkpoint", checkpoint, "--resume"]
    began = time.monotonic()
    try:
        for number in range(2):
            left = max(1.0, began + seconds - time.monotonic())
            try:
                # 143: the time was up.
                return engine(*arguments, "--log", KEPT / "mega-batch.log", seconds=left, good=(0, 2, 143))
            except RuntimeError as error:
                if ENGINE is None or number == 1:
                    raise
                say(f"{error}; once more")
    finally:
        if found.is_file():
            write_whole(submission, read_json(found))


CHECKPOINT = None
with step("the run"):
    if CHALLENGES is None:
        raise RuntimeError("there are no tasks")
    if ENGINE is not None:
        CHECKPOINT = KEPT / f"{digest()}.checkpoint"
    DETAILS = [] if RERUN else ["--json", SCRATCH / "test.json", "--attempts"]
    # The search needs a minute or two for a hundred tasks on one core.
    LEFT = seconds_left() - 300.0
    run_all(CHALLENGES, SUBMISSION, LEFT - min(LEFT / 2.0, 3600.0), *DETAILS, checkpoint=CHECKPOINT)
with step("the search"):
    SEARCHED = CHECKPOINT.with_suffix(".search") if CHECKPOINT is not None else None
    search_rest(CHALLENGES, SUBMISSION, seconds_left() - 180.0, checkpoint=SEARCHED)
with step("the submission"):
    try:
        LAST = read_json(SUBMISSION)
    except (OSError, RuntimeError):
        LAST = None
    MENDED, PLACES = mended(LAST)
    if isinstance(LAST, dict) and PLACES == 0 and (LAST or not FALLBACK):
        say(f"{SUBMISSION}: valid, {len(LAST)} tasks")
    else:
        write_whole(SUBMISSION, MENDED)
        say(f"{SUBMISSION}: {PLACES} places were not valid and have the first attempts again")

# %% [markdown]
# ## What it is worth
#
# The same programs and the same search on the tasks with known solutions, their score, and both runs as pages for a
# browser.

# %%
if not RERUN:
    SCORED = None
    for kind in ("evaluation", "training", "test"):
        tasks = find(COMPETITION_FOLDERS, f"*{kind}_challenges.json")
        solutions = find(COMPETITION_FOLDERS, f"*{kind}_solutions.json")
        if SCORED is None and tasks is not None and solutions is not None:
            SCORED = (tasks, solutions)
    if SCORED is None:
        say("no solutions: nothing is scored")
    elif ENGINE is not None:
        with step("the score"):
            tasks, solutions = SCORED
            scored = SCRATCH / "scored-submission.json"
            details = ["--solutions", solutions, "--json", SCRATCH / "scored.json", "--attempts"]
            run_all(tasks, scored, min(3600.0, seconds_left() / 2.0), *details)
            search_rest(tasks, scored, min(3600.0, seconds_left() - 180.0))
            engine("score", scored, "--solutions", solutions, seconds=300)
    for name in ("test", "scored"):
        if (SCRATCH / f"{name}.json").is_file():
            with step(f"the report {name}"):
                page = WORKING / f"report-{name}.html"
                engine("report", SCRATCH / f"{name}.json", "--html", page, seconds=300)

# %% [markdown]
# ## What failed

# %%
if not FAILED and CHECKPOINT is not None and seconds_left() > 300.0:
    # The run is complete, so nothing will continue from it.
    for KEPT_FILE in (CHECKPOINT, SEARCHED):
        with contextlib.suppress(OSError):
            KEPT_FILE.unlink()
with contextlib.suppress(OSError):
    if SCRATCH.name.startswith("mega-batch-"):
        shutil.rmtree(SCRATCH, ignore_errors=True)
for failure in FAILED:
    say("FAILED:", failure)
say(f"{len(FAILED)} steps failed; {SUBMISSION} is there:", SUBMISSION.is_file())
