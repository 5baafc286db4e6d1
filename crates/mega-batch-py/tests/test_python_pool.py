"""Programs in free Python: what a pool runs, judges, isolates and leaves behind."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_processes import in_a_fork, needs_fork

import mega_batch as mb

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="free Python runs on Linux only")

MIRROR = "import numpy as np\ndef transform(grid):\n    return np.fliplr(grid)"
LISTS = "def transform(grid):\n    return [row[::-1] for row in grid]"
ENDLESS = "def transform(grid):\n    while True:\n        pass"
DSL = "O = vmirror(I)"
BAD = "def solve(I):\n    return vmiror(I)"


@pytest.fixture(scope="module")
def pool() -> Iterator[mb.PythonPool]:
    yield mb.PythonPool(workers=2, cpu_seconds=0.5, wall_seconds=20)


def test_both_languages_are_judged_alike(pool: mb.PythonPool, task: mb.Task) -> None:
    fenced = f"It is mirrored.\n\n```python\n{LISTS}\n```\nThis prints it:\n```python\nprint(transform([[1]]))\n```"
    wrong = "def transform(grid):\n    if grid[0][0] == 3:\n        raise ValueError('three')\n    return grid"
    texts = [DSL, MIRROR, fenced, wrong, BAD, None, "p = lambda g: [r[::-1] for r in g]"]
    told: list[tuple[int, int]] = []
    evaluated = mb.evaluate(texts, task, python=pool, outputs=True, progress=lambda *done: told.append(done))
    assert [each.verdict for each in evaluated] == ["match"] * 3 + ["error"] + ["no_program"] * 2 + ["match"]
    assert [each.language for each in evaluated] == ["dsl", "python", "python", "python", None, None, "python"]
    assert [each.program is None for each in evaluated] == [False] + [True] * 6
    assert all(each.outputs[0].tolist() == [[6, 5]] for each in evaluated[:3] if each.outputs[0] is not None)
    error = evaluated[3].error
    assert error is not None and (error.kind, error.line, error.limit) == ("exception", 3, None)
    assert evaluated[3].reason == "line 3: ValueError: three" and evaluated[3].line == 3
    assert evaluated[3].verdicts == ["mismatch", "error", "mismatch"] and evaluated[3].score == 0
    assert evaluated[4].reason == mb.evaluate([BAD], task)[0].reason
    assert told[-1][0] == told[-1][1] == 15
    assert pickle.loads(pickle.dumps(evaluated)) == evaluated and evaluated[1] != evaluated[0]
    assert mb.majority_attempts(evaluated)[0][0].tolist() == [[6, 5]]
    only = mb.evaluate(texts, task, python=pool, train_only=True, stop_after_wrong=True)
    assert [each.verdicts for each in only[1:4]] == [["match"] * 2, ["match"] * 2, ["mismatch"]]


def test_nothing_is_executed_unless_asked(task: mb.Task) -> None:
    for text in (MIRROR, LISTS, ENDLESS, "def f(g):\n    return list(g)"):
        reason = mb.evaluate([text], task)[0].reason
        assert reason is not None and reason.endswith("; python=True runs programs in free Python")
    for text in (BAD, "O = vmiror(I)", "No."):
        reason = mb.evaluate([text], task)[0].reason
        assert reason is not None and "free Python" not in reason


def test_rewards_take_both(pool: mb.PythonPool, task: mb.Task) -> None:
    texts = [DSL, MIRROR, "def transform(grid):\n    return grid"]
    assert mb.reward(texts, task, python=pool) == [1.0, 1.0, 0.0]
    assert mb.compute_score("arc", MIRROR, task, python=pool) == 1.0
    assert mb.compute_scores(["arc"] * 2, texts[1:], [task] * 2, python=pool) == [1.0, 0.0]
    assert mb.reward(texts, task) == [1.0, 0.0, 0.0]


def fenced(*codes: str) -> str:
    return "\nor rather\n".join(f"```python\n{code}\n```" for code in codes)


def test_the_last_program_counts_in_whatever_language(pool: mb.PythonPool, task: mb.Task) -> None:
    mirror = "def solve(I):\n    return vmirror(I)"
    python = [
        fenced("def transform(grid):\n    return grid  # TODO", MIRROR),
        fenced("def solve(I):\n    return hmirror(I)", MIRROR),
        fenced("def turn(g):\n    return rot90(g)", "import numpy as np\ndef mirrored(grid):\n    return np.fliplr(grid)"),
        fenced("def main(I): return I\n" + MIRROR),
        fenced("def solve_helper(g): return g\n" + MIRROR),
        fenced(MIRROR + "\ndef solve_helper(g): return g"),
        "def unused(g):\n    return g\n" + MIRROR,
        "ident = lambda g: g\n" + MIRROR,
        MIRROR + "\ndef main(grid):\n    return transform(grid)",
    ]
    dsl = [
        fenced(MIRROR, mirror),
        fenced(mirror, "def transform(grid):\n    return [row for row in"),
        fenced(mirror, "def solve(I):\n    for x in I:\n        y = fill(I, 1, x)\n    return y"),
        fenced(mirror, "def helper(g):\n    return [row for row in g]"),
        fenced(mirror, "print(solve([[1]]))"),
        f"{mirror}\ndef unused(g):\n    return [row for row in g]",
    ]
    for texts, language in ((python, "python"), (dsl, "dsl")):
        for text, each in zip(texts, mb.evaluate(texts, task, python=pool), strict=True):
            assert (each.verdict, each.language) == ("match", language), (text, each.reason)
        for text, each in zip(texts, mb.evaluate(texts, task), strict=True):
            assert each.verdict == ("match" if language == "dsl" else "no_program"), (text, each.reason)
            if language == "python":
                assert each.reason is not None and each.reason.endswith("; python=True runs programs in free Python")


def test_names_say_the_same_in_both_languages(pool: mb.PythonPool, task: mb.Task) -> None:
    names = "solve main p program solution generate_puzzle_output solve2 solve_2 solve_v2 solve__v2 solvev2 solve_ p1 p_x flip"
    names += " solve_67a3c6ac flip_67a3c6ac verify_67a3c6ac verify solve_helper transform_grid main_2 Transform"
    dsl = "def transform(I):\n    return hmirror(I)\ndef {}(I):\n    return vmirror(I)"
    python = "def transform(g):\n    return [r for r in g[::-1]]\ndef {}(g):\n    return [r[::-1] for r in g]"
    for name in names.split():
        both = mb.evaluate([dsl.format(name), python.format(name)], task, python=pool, outputs=True)
        assert [each.language for each in both] == ["dsl", "python"], name
        one, other = (each.verdict for each in both)
        assert one == other, name


def test_a_variable_that_is_the_grid_is_used_as_the_grid(pool: mb.PythonPool) -> None:
    for given in ("grid", "grid.copy()", "copy.deepcopy(grid)"):
        text = f"import copy\nimport numpy as np\ndef transform(grid):\n    g = {given}\n    return g[:, ::-1]"
        (outputs,) = pool.run([text], [[[1, 2]]])
        assert isinstance(outputs, list) and isinstance(outputs[0], np.ndarray), (text, outputs)
        assert outputs[0].tolist() == [[2, 1]]
    rows = "def transform(grid):\n    g = list(grid)\n    return [row[::-1] for row in g]"
    assert isinstance(pool.run([rows], [[[1, 2]]])[0], list)


def test_what_is_no_entry_says_why(pool: mb.PythonPool, task: mb.Task) -> None:
    (evaluated,) = mb.evaluate(["async def transform(g):\n    return g"], task, python=pool)
    assert evaluated.reason == "line 1: `transform` is an `async def`, which gives no grid: expected `def`"


def test_limits_have_their_names(task: mb.Task) -> None:
    some = "def transform(grid):\n    while grid[0][0] == 3:\n        pass\n    return grid"
    with_steps = mb.PythonPool(workers=1, max_steps=1000)
    evaluated = mb.evaluate([some], task, python=with_steps)[0]
    assert evaluated.verdicts == ["mismatch", "limit", "limit"] and evaluated.verdict == "limit"
    assert evaluated.error is not None and (evaluated.error.limit, evaluated.line) == ("steps", 3)
    short = mb.PythonPool(workers=1, cpu_seconds=0.1, wall_seconds=2, memory=1 << 28)
    texts = [ENDLESS, "import time\ndef p(g):\n    time.sleep(9)", "import numpy as np\ndef p(g):\n    return np.ones(1 << 30)"]
    limits = [each.error and each.error.limit for each in mb.evaluate(texts, task, python=short)]
    assert limits == ["cpu", "wall", "memory"]
    kinds = "import socket\ndef p(g):\n    socket.socket()", "def p(g):\n    return 1.5", "import os\ndef p(g):\n    os._exit(0)"
    found = [each.error and each.error.kind for each in mb.evaluate(kinds, task, python=short)]
    assert found == ["forbidden", "not_a_grid", "crashed"] and set(found) <= set(mb.ERROR_KINDS)


def test_a_pool_runs_texts_for_their_outputs(pool: mb.PythonPool) -> None:
    inputs: list[Any] = [[[1, 2]], np.array([[3], [4]])]
    mirrored, failed, none = pool.run([MIRROR, "def p(g):\n    return g[1]", "x"], inputs)
    assert isinstance(mirrored, list) and [each.tolist() for each in mirrored if isinstance(each, np.ndarray)] == [[[2, 1]], [[3], [4]]]
    assert isinstance(failed, list) and [type(each) for each in failed] == [mb.EvalError] * 2
    assert isinstance(none, mb.ProgramError) and none.line == 1
    with pytest.raises(ValueError, match=r"inputs\[0\]"):
        pool.run([MIRROR], [[[200]]])


def test_an_output_may_be_any_grid(pool: mb.PythonPool) -> None:
    given = {
        "np.zeros((1, 2))": [[0, 0]],
        "np.array([[1.5]])": None,
        "np.array([[1, 2]], dtype=object)": [[1, 2]],
        "[np.array([1, 2]), (3, True)]": [[1, 2], [3, 1]],
        "[[np.int64(3), np.float32(4)]]": [[3, 4]],
        "np.ma.masked_array([[1]])": [[1]],
        "np.array([[True]])": [[1]],
        "np.zeros((1, 1, 1))": None,
        "np.zeros((0, 3))": None,
        "np.array([[np.nan]])": None,
        "np.zeros((5000, 5000))": None,
        "[['1']]": None,
        "[]": None,
        "[range(2)]": None,
    }
    texts = [f"import numpy as np\ndef transform(grid):\n    return {text}" for text in given]
    found = pool.run(texts, [[[1]]])
    for (text, expected), outputs in zip(given.items(), found, strict=True):
        assert isinstance(outputs, list)
        output = outputs[0]
        assert (output.kind == "not_a_grid" if isinstance(output, mb.EvalError) else output.tolist() == expected), (text, output)


def test_an_array_cannot_lie(pool: mb.PythonPool, task: mb.Task) -> None:
    lies = "def {name}(self, *a, **k):\n        return {result}\n    "
    methods = {"__eq__": "True", "tolist": "[[2, 1]]", "astype": "np.array([[2, 1]])", "__array__": "np.array([[2, 1]])"}
    body = "".join(lies.format(name=name, result=result) for name, result in methods.items())
    array = f"import numpy as np\nclass A(np.ndarray):\n    {body}shape = (1, 2)\ndef transform(grid):\n    return np.array([[9, 9]]).view(A)"
    other = f"import numpy as np\nclass A:\n    __class__ = np.ndarray\n    {body}pass\ndef transform(grid):\n    return A()"
    patched = "import numpy as np\nnp.ndarray.__eq__ = np.array_equal = lambda *a: True\ndef transform(grid):\n    return grid"
    assert [each.verdict for each in mb.evaluate([array, other], task, python=pool)] == ["mismatch", "error"]
    assert mb.evaluate([patched], task, python=pool)[0].right == 0


def test_what_numpy_and_the_next_program_see(pool: mb.PythonPool) -> None:
    shape = "def transform(grid):\n    return [[grid.shape[0], grid.ndim]]"
    helper = "def size(g):\n    return g[0, 0]\ndef transform(grid):\n    return [[size(grid)]]"
    patched = "import numpy as np\nnp.fliplr = np.array = None\ndef transform(grid):\n    return grid"
    bare = "def transform(grid):\n    return np.rot90(grid)"
    found = pool.run([shape, helper, patched, MIRROR, bare], [[[1, 2]]])
    grids = [each[0].tolist() if isinstance(each, list) and isinstance(each[0], np.ndarray) else each for each in found]
    assert grids == [[[1, 2]], [[1]], [[1, 2]], [[2, 1]], [[2], [1]]]


def test_a_prelude_is_a_file_or_text(tmp_path: Path) -> None:
    file = tmp_path / "common.py"
    file.write_text("import numpy as np\ndef corner(grid):\n    return grid[0:1, 1:2]\n")
    text = "from common import *\ndef main(grid):\n    return corner(grid)"
    pool = mb.PythonPool(workers=1, prelude=file, axes="xy")
    file.unlink()
    for each in (pool, pickle.loads(pickle.dumps(pool))):
        (outputs,) = each.run([text], [[[1, 2], [3, 4]]])
        assert isinstance(outputs, list) and isinstance(outputs[0], np.ndarray) and outputs[0].tolist() == [[3]]
    with pytest.raises(OSError, match="prelude: .*common.py: "):
        mb.PythonPool(prelude=file)
    with pytest.raises(ValueError, match="prelude: .*common.py\" is taken for text: a file is given as a pathlib.Path"):
        mb.PythonPool(prelude=str(file))


def test_bad_keywords_say_so() -> None:
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"cpu_seconds": 0}, ValueError, "cpu_seconds: expected a time above 0"),
        ({"axes": "yx"}, ValueError, 'axes: expected one of "rc", "xy"'),
        ({"modules": "numpy"}, TypeError, "modules: expected a list of names"),
        ({"modules": ["no_such"]}, OSError, "PythonPool: the module `no_such` cannot be imported: ModuleNotFoundError"),
        ({"no": 1}, TypeError, "PythonPool: unexpected keyword"),
        ({"memory": True}, TypeError, "memory: expected an integer"),
    ]
    for keywords, error, message in cases:
        with pytest.raises(error, match=message):
            mb.PythonPool(**keywords)
    untyped: Any = 1
    with pytest.raises(TypeError, match="python: expected True or False"):
        mb.evaluate([], {"train": []}, python=untyped)


def test_guards_are_told_and_best_effort_warns(pool: mb.PythonPool) -> None:
    assert pool.guards["seccomp"] is True and pool.workers == 2
    with pytest.warns(UserWarning, match="not fully isolated"):
        assert mb.PythonPool(workers=1, isolation="best_effort", landlock=False).guards == {"seccomp": True, "landlock": 0}
    assert mb.PythonPool(workers=1, isolation="none").guards == {"seccomp": False, "landlock": 0}


def test_tasks_beside_the_interpreter_cannot_be_read(pool: mb.PythonPool, tmp_path: Path) -> None:
    """Not even those in packages that are installed, unless `modules` names them."""
    file = tmp_path / "task.json"
    file.write_text("[[1]]")
    texts = [f"def transform(g):\n    return eval(open({str(each)!r}).read())" for each in (file, pytest.__file__)]
    if pool.guards["landlock"]:
        for outputs in pool.run([*texts, "import pytest\ndef p(g):\n    return g"], [[[1]]]):
            assert isinstance(outputs, list) and isinstance(outputs[0], mb.EvalError), outputs
            assert "PermissionError" in outputs[0].message or "ModuleNotFoundError" in outputs[0].message


def workers_of(process: int) -> set[int]:
    """The processes below one."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text()
            except OSError:
                continue
            if int(status.rpartition(")")[2].split()[1]) == process:
                found |= {int(folder.name)} | workers_of(int(folder.name))
    return found


def are_gone(processes: set[int]) -> bool:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if not any(Path(f"/proc/{each}").exists() for each in processes):
            return True
        time.sleep(0.05)
    return False


def test_no_process_is_left_of_a_pool() -> None:
    before = workers_of(os.getpid())
    pool = mb.PythonPool(workers=2)
    own = workers_of(os.getpid()) - before
    assert len(own) == 2
    del pool
    assert are_gone(own)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_of_a_trainer_that_ends(sent: int) -> None:
    code = "import mega_batch as mb\npool = mb.PythonPool(workers=2, cpu_seconds=60, wall_seconds=600)\nprint(1, flush=True)\n"
    code += f"pool.run([{ENDLESS!r}, {ENDLESS + ' '!r}], [[[1]]])"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "1\n"
    until = time.monotonic() + 20
    while len(workers_of(process.pid)) < 4 and time.monotonic() < until:
        time.sleep(0.05)
    own = workers_of(process.pid)
    assert len(own) == 4
    process.send_signal(sent)
    _, told = process.communicate(timeout=20)
    assert (process.returncode, "KeyboardInterrupt" in told) in [(-signal.SIGINT, True), (-signal.SIGKILL, False)]
    assert are_gone(own)


@needs_fork
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_workers_of_its_own(pool: mb.PythonPool) -> None:
    def work() -> None:
        (outputs,) = pool.run([LISTS], [[[1, 2]]])
        assert isinstance(outputs, list) and isinstance(outputs[0], np.ndarray) and outputs[0].tolist() == [[2, 1]]

    work()
    assert in_a_fork(work) == 0
    work()
