"""Programs: read, printed, called, traced, built, changed."""

import _thread
import itertools
import pickle
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb


def test_a_program_is_read_from_def_and_from_bare_lines() -> None:
    text = "def solve_a(I):\n    O = vmirror(I)\n    return O\n"
    program = mb.Program.parse(text)
    assert str(program) == text
    assert (program.name, program.task_id, program.dialect, len(program)) == ("solve_a", "a", "public", 1)
    bare = mb.Program.parse("O = vmirror(I)", name="solve_a")
    assert bare == program and hash(bare) == hash(program) and {bare, program} == {program}
    assert program.type == "grid"
    assert program.source is None


def test_the_digest_is_of_the_steps_alone() -> None:
    a = mb.Program.parse("x = vmirror(I)\nO = hmirror(x)", name="a")
    b = mb.Program.parse("def b(I):\n    return hmirror(vmirror(I))")
    c = mb.Program.parse("def b(I):\n    return vmirror(hmirror(I))")
    assert a != b and a.digest == b.digest != c.digest and len(a.digest) == 32


def test_the_typed_dialect_is_read() -> None:
    program = mb.Program.parse("def solve(S, I, C):\n    return I\n")
    assert program.dialect == "typed"
    with pytest.raises(ValueError, match="public dialect"):
        mb.mutate(program, 1)
    with pytest.raises(ValueError, match="expected one of"):
        mb.Program.parse("O = I", dialect="x")  # type: ignore[arg-type]


def test_text_that_is_no_program_says_where() -> None:
    with pytest.raises(mb.ProgramError, match="did you mean `vmirror`") as caught:
        mb.Program.parse("def f(I):\n    return vmiror(I)")
    assert (caught.value.line, caught.value.column) == (2, 12)
    assert isinstance(caught.value, ValueError)
    for text in ["", "   ", "# nothing", "def", "def f(I):", "O = ", "(" * 100_000, "\0", "é = 1"]:
        with pytest.raises(ValueError):
            mb.Program.parse(text)
    for text in ["solvers.py", "/programs/answers.jsonl"]:
        with pytest.raises(ValueError, match=r"pathlib\.Path"):
            mb.Program.parse(text)
    with pytest.raises(ValueError, match="2 programs: expected one"):
        mb.Program.parse("def a(I):\n    return I\ndef b(I):\n    return I\n")
    with pytest.raises(TypeError):
        mb.Program.parse(b"O = I")  # type: ignore[arg-type]


def test_what_a_model_gives_instead_of_text_is_a_program_error() -> None:
    given: list[tuple[Any, str]] = [
        (None, "found NoneType"),
        ([{"role": "assistant", "content": "O = I"}], "found list"),
        ({"role": "assistant", "content": "O = I"}, "found dict"),
        ("x1 = vmirror(I)\nO = \ud800", "line 2, column 5: half of a surrogate pair"),
    ]
    for text, reason in given:
        with pytest.raises(mb.ProgramError, match=reason) as caught:
            mb.Program.parse(text)
        assert caught.value.line == (2 if isinstance(text, str) else 1) and caught.value.reason
        (error,) = mb.parse_programs(text)
        assert isinstance(error, mb.ProgramError) and str(error) == str(caught.value)
    with pytest.raises(mb.ProgramError, match=r"programs\[1\]: line 2, column 5: half") as caught:
        mb.read_programs(["O = I", "x1 = vmirror(I)\nO = \ud800"])
    assert (caught.value.line, caught.value.column) == (2, 5)


EVIL = ["evil(I): return I\ndef a", "a b", "", "1a", "a-b", "def", "None", "rot90", "a\nb", "a#"]


@pytest.mark.parametrize("name", EVIL)
def test_names_of_programs_are_checked(name: str) -> None:
    program = mb.Program.parse("O = vmirror(I)")
    batt = mb.Batt(inputs=[[[1, 2]]])
    calls: list[Callable[[], object]] = [
        lambda: mb.Program.parse("O = I", name=name),
        lambda: mb.parse_programs("O = I", name=name),
        lambda: program.with_name(name),
        lambda: mb.ProgramBuilder(name),
        lambda: batt.program(batt.input, name),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="is no name of a program"):
            call()


@pytest.mark.parametrize("task", ["a-b", "7", "1d_move 3", "é\n", "p"])
def test_programs_by_task_belong_to_it_whatever_names_and_ids_say(task: str) -> None:
    pair = {"input": [[1, 2]], "output": [[2, 1]]}
    other = {"id": "solve", "train": [{"input": [[1, 2]], "output": [[1, 2]]}], "test": []}
    tasks = [{"id": task, "train": [pair], "test": []}, other]
    for text in ("O = vmirror(I)", "def solve(I):\n    return vmirror(I)", "def solve_x(I):\n    return vmirror(I)"):
        for program in (text, mb.read_programs(text)[0]):
            report = mb.run({task: program}, tasks)
            assert (report.evaluations, report.right) == (1, 1), (text, program)
            assert str(mb.read_programs({task: program})[0]).startswith("def solve")


def test_names_of_any_letters_are_kept() -> None:
    for name in ("solve_1d_move", "résolu", "_", "f"):
        program = mb.Program.parse("O = vmirror(I)").with_name(name)
        assert program.name == name and mb.Program.parse(str(program)) == program


def test_one_bad_program_of_a_text_is_an_error_in_its_place() -> None:
    good, bad = mb.parse_programs("def a(I):\n    return I\ndef b(I):\n    return J\n")
    assert isinstance(good, mb.Program) and isinstance(bad, mb.ProgramError) and bad.line == 4
    two = mb.parse_programs("O = vmirror(I)\nO = hmirror(I)", name="x")
    assert [program.name for program in two if isinstance(program, mb.Program)] == ["x", "x2"]


def test_programs_of_files_dicts_and_lists(tmp_path: Path) -> None:
    file = tmp_path / "solve_67a3c6ac.py"
    file.write_text("O = vmirror(I)\n")
    (read,) = mb.read_programs(file)
    assert (read.task_id, read.source) == ("67a3c6ac", str(file))
    assert mb.read_programs([tmp_path])[0] == read
    named = mb.read_programs({"67a3c6ac": "O = vmirror(I)"})
    assert named[0].name == "solve_67a3c6ac"
    many = mb.read_programs({"a": ["O = I", mb.Program.parse("O = vmirror(I)")], "b": ("O = I",)})
    assert [program.task_id for program in many] == ["a", "a", "b"]
    bad: list[tuple[Any, type[Exception], str]] = [
        ([["O = I"]], TypeError, r"programs\[0\]: expected programs"),
        (3, TypeError, "programs: expected programs"),
        ({"a": 3}, TypeError, r'programs\["a"\]: expected text'),
        ({"a": ["O = I", 3]}, TypeError, r'programs\["a"\]\[1\]: expected text'),
        ({"a": [["O = I"]]}, TypeError, r'programs\["a"\]\[0\]: expected text'),
        (["O = I", "O = J"], ValueError, r"programs\[1\]: line 1"),
        (tmp_path / "x.py", ValueError, "no such file"),
        (["O = I", ""], ValueError, r"programs\[1\]: no program"),
    ]
    for data, error, message in bad:
        with pytest.raises(error, match=message):
            mb.read_programs(data)


ROWS = [
    {"task_id": "67a3c6ac", "program": "O = vmirror(I)", "score": 1.0},
    {"task_id": "67a3c6ac", "program": "def solve(I):\n    return rot180(I)", "score": 0.5},
]


def test_rows_of_a_table_are_programs_as_in_files(task: mb.Task) -> None:
    given: list[Any] = [ROWS, tuple(ROWS), (row for row in ROWS), [ROWS[0]], ROWS[0]]
    given += [[{"task_id": "67a3c6ac", "completion": "The answer is `vmirror(I)`."}]]
    given += [{"task_id": ["67a3c6ac"], "program": ["O = vmirror(I)"]}]
    for rows in given:
        report = mb.run(rows, task)
        names = ["solve_67a3c6ac", "solve2_67a3c6ac"][: len(report.programs)]
        assert [program.name for program in report.programs] == names
        assert [each.verdict for each in report] == ["match"] * 3 * len(names)
    bad: Any = [ROWS[0], {"task_id": "67a3c6ac", "program": "O = vmiror(I)"}]
    with pytest.raises(ValueError, match=r"programs\[1\].program: line 1, column 5 of the program: .*`vmirror`"):
        mb.run(bad, task)
    # Programs by task may be for a task that is called as a key is.
    assert [program.task_id for program in mb.read_programs({"task": "O = I", "id": ["O = I"]})] == ["task", "id"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_and_columns_are_programs(library: str, task: mb.Task) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    columns = {key: [row[key] for row in ROWS] for key in ROWS[0]}
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    column = table["program"]
    for given in (table, column, {"67a3c6ac": column}):
        assert [each.verdict for each in mb.run(given, task, jobs="all")] == ["match"] * 6
    assert [program.task_id for program in mb.read_programs(table)] == ["67a3c6ac"] * 2


def test_a_call_gives_a_value_or_an_error(largest: mb.Program) -> None:
    grid = np.array([[0, 3, 3], [0, 3, 0]], dtype=np.uint8)
    for _ in range(3):  # by the reference, then compiled
        output = largest(grid)
        assert isinstance(output, np.ndarray) and output.dtype == np.int8
        assert output.tolist() == [[3, 3], [3, 0]]
        error = largest([[0, 0]])
        assert isinstance(error, mb.EvalError)
        assert (error.kind, error.line, error.primitive, error.limit) == ("empty", 3, "argmax", None)
    assert isinstance(error, mb.EvalError)
    assert error.kind in mb.ERROR_KINDS and error.primitive in mb.PRIMITIVES
    assert error == largest([[0, 0]]) and hash(error) == hash(largest([[0, 0]]))


def test_values_are_pythons_own() -> None:
    def value(text: str) -> Any:
        program = mb.Program.parse(text)
        first, second = program([[1, 0]]), program([[1, 0]])
        assert repr(first) == repr(second)
        return second

    assert value("O = palette(I)") == frozenset({0, 1})
    assert value("O = asindices(I)") == frozenset({(0, 0), (0, 1)})
    assert value("O = asobject(I)") == frozenset({(1, (0, 0)), (0, (0, 1))})
    assert value("O = shape(I)") == (1, 2)
    assert value("O = square(I)") is False
    assert value("O = height(I)") == 1
    assert isinstance(value("O = compose(size, first)"), mb.Function)
    assert value("O = hsplit(I, TWO)") == (((1,),), ((0,),))


def test_frozensets_iterate_as_the_sets_of_the_program() -> None:
    grid = [[1, 0, 1], [0, 1, 0], [2, 2, 0]]
    for text in ("palette(I)", "ofcolor(I, 1)", "toindices(asobject(I))", "objects(I, T, F, F)", "combine(x1, x1)"):
        ordered = mb.Program.parse(f"x1 = ofcolor(I, ONE)\nx2 = {text}\nO = totuple(x2)")(grid)
        found = mb.Program.parse(f"x1 = ofcolor(I, ONE)\nO = {text}")(grid)
        assert isinstance(ordered, tuple) and isinstance(found, frozenset)
        assert tuple(found) == ordered and len(found) > 1


def test_a_set_with_elements_that_collide_is_pickled_in_its_order() -> None:
    for text in ("{7, 15}", "{15, 7}"):
        program = mb.Program.parse(f"O = totuple(frozenset({text}))")
        again = pickle.loads(pickle.dumps(program))
        assert again == program and again([[0]]) == program([[0]])
    assert mb.Program.parse("O = first(frozenset({7, 15}))") != mb.Program.parse("O = first(frozenset({15, 7}))")


def test_bounds_end_an_evaluation() -> None:
    lines = ["x1 = hconcat(I, I)"] + [f"x{n + 1} = vconcat(x{n}, x{n})" for n in range(1, 18)]
    program = mb.Program.parse("\n".join([*lines, "O = cellwise(x18, x18, ZERO)"]))
    limited = program(np.zeros((30, 30), dtype=int), max_steps=100)
    assert isinstance(limited, mb.EvalError) and (limited.kind, limited.limit) == ("limit", "steps")
    grown = program(np.zeros((30, 30), dtype=int))
    assert isinstance(grown, mb.EvalError) and grown.kind == "limit"
    assert grown == program(np.zeros((30, 30), dtype=int))
    with pytest.raises(ValueError, match="timeout"):
        program([[0]], timeout=-1)
    with pytest.raises(ValueError, match="timeout"):
        program([[0]], timeout=float("nan"))


def test_a_trace_ends_where_the_program_fails(largest: mb.Program) -> None:
    steps = mb.trace(largest, [[0, 3]])
    assert [(step.line, step.name) for step in steps] == [(2, "x1"), (3, "x2"), (4, steps[2].name)]
    assert steps[0].type == "set<object>" and steps[0].call == "objects(I, T, F, T)"
    assert isinstance(steps[2].value, np.ndarray) and steps[2].value.tolist() == [[3]]
    failed = mb.trace(largest, [[0, 0]])
    assert len(failed) == 2 and isinstance(failed[1].value, mb.EvalError)
    assert failed[1].value.kind == "empty"


def test_programs_are_built() -> None:
    builder = mb.ProgramBuilder("solve_a")
    objects = builder.call("objects", builder.input, True, "F", "T")
    largest = builder.call("argmax", objects, "size")
    filled = builder.call("fill", builder.input, 3, largest)
    program = builder.finish(filled)
    text = str(program)
    assert "objects(I, True, F, T)" in text and "fill(I, 3, x2)" in text
    assert mb.Program.parse(text) == program
    function = builder.call("compose", "size", "first")
    builder.finish(builder.call(function, objects))
    bad: list[tuple[Any, tuple[Any, ...], type[Exception], str]] = [
        ("nothing", (), ValueError, "no primitive"),
        ("fill", (builder.input,), ValueError, "argument"),
        ("identity", (mb.ProgramBuilder("b").input,), ValueError, "another ProgramBuilder"),
        ("identity", (1.5,), TypeError, r"arguments\[0\]: expected a value"),
        ("identity", (2**40,), ValueError, "integer out of range"),
        (3, (), TypeError, "expected a name or a Variable"),
    ]
    for called, arguments, error, message in bad:
        with pytest.raises(error, match=message):
            builder.call(called, *arguments)


def test_mutants_are_the_same_for_the_same_seed(largest: mb.Program) -> None:
    a = mb.mutate(largest, 7, count=50)
    assert a == mb.mutate(largest, 7, count=50) != mb.mutate(largest, 8, count=50)
    assert mb.mutate(largest, 7, count=10) == a[:10]
    with pytest.raises(ValueError, match="kind"):
        mb.mutate(largest, 7, kind="x")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["mutant", "variation"])
def test_mutants_differ_from_the_program_and_from_each_other(largest: mb.Program, kind: Any) -> None:
    for seed in range(5):
        digests = {program.digest for program in mb.mutate(largest, seed, count=300, kind=kind)}
        assert len(digests) == 300 and largest.digest not in digests
    as_they_fall = [program.digest for program in mb.mutate(largest, 1, count=300, kind=kind, unique=False)]
    assert largest.digest in as_they_fall and len(as_they_fall) == 300 > len(set(as_they_fall))


def test_a_program_may_have_few_mutants() -> None:
    few = mb.mutate(mb.Program.parse("O = square(I)"), 1, count=10_000, kind="variation")
    assert 0 < len(few) == len({program.digest for program in few}) < 10_000


def test_a_stream_of_mutants_is_shared_out(largest: mb.Program) -> None:
    def first(count: int, **options: Any) -> list[str]:
        return [program.digest for program in itertools.islice(mb.stream(largest, -3, **options), count)]

    assert first(200) == first(200) != first(200, kind="variation")
    assert len({*first(500)}) == 500 and largest.digest not in first(500)
    together = {*first(400, worker=0, of=2), *first(400, worker=1, of=2)}
    # A chunk has 64, some of which were in an earlier chunk.
    assert {*first(300)} <= together
    assert first(50, worker=1, of=2) != first(50, worker=0, of=2)
    few = mb.Program.parse("O = square(I)")
    assert 0 < len(list(mb.stream(few, 1, kind="variation"))) < 10_000
    for worker, of in [(2, 2), (-1, 2)]:
        with pytest.raises(ValueError, match="worker: expected 0 to"):
            mb.stream(largest, 1, worker=worker, of=of)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"of": 0}, ValueError, "of: expected 1 or more, found 0"),
        ({"of": "2"}, TypeError, "of: expected a whole number, found '2'"),
        ({"worker": 0.5}, TypeError, "worker: expected a whole number, found 0.5"),
        ({"seed": float("nan")}, TypeError, "seed: expected a whole number, found nan"),
        ({"kind": "clone"}, ValueError, "kind: expected \"mutant\" or \"variation\", found 'clone'"),
        ({"program": "O = I"}, TypeError, "program: expected a Program, found str"),
    ],
)
def test_a_stream_that_is_none_says_why(
    largest: mb.Program, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    """The error is raised by the call, not with the first mutant."""
    given: dict[str, Any] = {"program": largest, "seed": 1} | arguments
    with pytest.raises(error, match=message):
        mb.stream(**given)


def test_control_c_ends_mutate(largest: mb.Program) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    try:
        threading.Timer(0.3, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            mb.mutate(largest, 1, count=5_000_000)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 5


def test_programs_are_pickled(largest: mb.Program) -> None:
    assert pickle.loads(pickle.dumps(largest)) == largest
    assert pickle.loads(pickle.dumps(mb.Grid([[1]]))) == mb.Grid([[1]])


def test_threads_share_a_program(largest: mb.Program) -> None:
    wrong: list[Any] = []

    def work(colour: int) -> None:
        for _ in range(500):
            output = largest([[0, colour], [0, 0]])
            if not isinstance(output, np.ndarray) or output.tolist() != [[colour]]:
                wrong.append(output)

    threads = [threading.Thread(target=work, args=(colour,)) for colour in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_variations_return_what_the_program_returns() -> None:
    for text in ("O = hconcat(vmirror(I), I)", "O = argmax(objects(I, T, F, T), size)", "x1 = palette(I)\nO = size(x1)"):
        program = mb.Program.parse(text)
        kinds = {each.type for each in mb.mutate(program, 5, count=100, kind="variation")}
        assert kinds == {program.type}, text


def test_text_without_a_program_is_a_program_error_however_it_is_given() -> None:
    for given in ("", ["O = I", ""], {"a": ""}, [{"role": "assistant", "content": "O = I"}]):
        with pytest.raises(mb.ProgramError):
            mb.read_programs(given)
