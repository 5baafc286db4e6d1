"""Tasks from files, folders and dicts."""

import json
import pickle
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb

PAIR = {"input": [[1, 2]], "output": [[2, 1]]}
TASK: dict[str, Any] = {"train": [PAIR], "test": [{"input": [[3, 4]]}]}


def test_dicts_are_tasks() -> None:
    (task,) = mb.read_tasks(TASK)
    assert (len(task.train), len(task.test)) == (1, 1)
    assert task.train[0].output is not None and task.train[0].output.tolist() == [[2, 1]]
    assert task.test[0].output is None
    both = mb.read_tasks({"a": TASK, "b": task})
    assert [task.id for task in both] == ["a", "b"]
    assert both[0].to_dict() == TASK
    assert mb.read_tasks([TASK, {"x": TASK}, both[1]])[1].id == "x"


def test_dicts_have_the_layouts_of_files() -> None:
    (expected,) = mb.read_tasks({"aaaa0000": TASK})
    grids = {"train_inputs": [[[1, 2]]], "train_outputs": [np.array([[2, 1]])], "test_inputs": [[[3, 4]]]}
    layouts: list[dict[str, Any]] = [
        {"id": "aaaa0000", "task": TASK},
        {"id": "training/aaaa0000", **grids},
        {"training": {"aaaa0000": TASK}},
        {"version": 1, "tasks": [{"id": "aaaa0000", **TASK}]},
    ]
    for row in layouts:
        assert mb.read_tasks(row) == [expected]
        assert mb.read_tasks([row]) == [expected]
    rows = [{"id": "aaaa0000", "train": [PAIR], "test": [{"input": [[i, i]]}], "test_index": i} for i in (1, 0)]
    (joined,) = mb.read_tasks(rows)
    assert [pair.input.tolist() for pair in joined.test] == [[[0, 0]], [[1, 1]]]
    assert mb.evaluate(["O = vmirror(I)"], [{"id": "aaaa0000", **grids}]) is not None


TESTS = [
    ("query", "answer"),
    ("input", "output"),
    ("question", "solution"),
    ("test_input", "test_output"),
    ("test_inputs", "test_outputs"),
]


@pytest.mark.parametrize("given", [dict, json.dumps, np.array], ids=["dict", "text", "array"])
@pytest.mark.parametrize("keys", TESTS, ids=lambda keys: keys[0])
def test_columns_beside_train_are_test_pairs(keys: tuple[str, str], given: Any, tmp_path: Path) -> None:
    test: tuple[Any, Any] = ([[3, 4]], [[4, 3]])
    if keys[0].endswith("s"):
        test = ([test[0]], [test[1]])
    if given is np.array:
        test = (np.array(test[0]), np.array(test[1], dtype=np.uint8))
    row: Any = {"id": "11aa22bb", "train": [PAIR], **dict(zip(keys, test, strict=True))}
    row = json.dumps(row) if given is json.dumps else row
    (of,) = mb.evaluate(["x = replace(I, 1, 9)\ny = replace(x, 2, 1)\nO = replace(y, 9, 2)"], row)
    assert (of.right, of.expected) == (1, 2)
    if given is not json.dumps:
        assert mb.read_tasks([row])[0].test[0].output.tolist() == [[4, 3]]  # type: ignore[union-attr]
        mb.search([row], submission=tmp_path / "s.json")
        assert len(json.loads((tmp_path / "s.json").read_text())["11aa22bb"]) == 1


@pytest.mark.parametrize("key", ["label", "solution", "test_outputs"])
def test_outputs_alone_may_stand_beside_test(key: str) -> None:
    row: dict[str, Any] = {**TASK, key: [[[4, 3]]]}
    (task,) = mb.read_tasks(row)
    assert task.test[0].output is not None and task.test[0].output.tolist() == [[4, 3]]


def test_rows_of_data_sets_may_hold_other_things() -> None:
    row = {"id": 7, **TASK, "when": object(), "score": float("nan"), "label": None, "many": 10**30, "parts": {1: {2}}}
    for rows in ([row], [row, {**row, "id": "b"}]):
        assert [task.id for task in mb.read_tasks(rows)] == ["7", "b"][: len(rows)]
        assert all(task.to_dict() == TASK for task in mb.read_tasks(rows))
    assert [len(task.train) for task in mb.read_tasks([PAIR, PAIR])] == [2]
    assert [task.id for task in mb.read_tasks([TASK, TASK])] == ["task0_0", "task0_1"]
    assert [task.id for task in mb.read_tasks([{"id": "a b", **TASK}, {"id": "c", **TASK}])] == ["a b", "c"]
    assert mb.read_tasks([]) == mb.read_tasks({}) == []


def test_a_task_takes_pairs_of_any_kind() -> None:
    pair = mb.Pair([[1, 2]], [[2, 1]])
    assert mb.Task("a", [PAIR, ([[1, 2]], [[2, 1]]), pair, [np.array([[1, 2]]), ((2, 1),)]], ()).train == [pair] * 4
    for bad, error, message in [
        (3, TypeError, "train: expected a list of pairs, found int"),
        ([{"inputs": [[1]]}], ValueError, r"train\[0\]: expected the key `input` with a grid, found `inputs`"),
        ([pair, {"input": [[1, 200]]}], ValueError, r"train\[1\]\.input\[0\]\[1\]: colour 200"),
        ([{"code": "def solve(I): return I"}], ValueError, "train: expected"),
    ]:
        with pytest.raises(error, match=message):
            mb.Task("a", bad)  # type: ignore[arg-type]


def test_rows_given_by_their_columns_are_tasks() -> None:
    rows: list[dict[str, Any]] = [{"id": id, **TASK} for id in ("a", "b")]
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    by_index = {key: dict(enumerate(column)) for key, column in columns.items()}
    assert mb.read_tasks(columns) == mb.read_tasks(by_index) == mb.read_tasks(rows)
    single: dict[str, Any] = {**TASK, "id": [3], "when": [object()]}
    assert [task.id for task in mb.read_tasks(single)] == ["3"]


def test_a_list_of_paths_is_read_as_the_command_reads_it(tmp_path: Path) -> None:
    other = {"train": [{"input": [[5, 6]], "output": [[6, 5]]}], "test": [{"input": [[7, 8]]}]}
    same = {"train": [PAIR], "test": [{"input": [[3, 4]], "output": [[4, 3]]}]}
    for folder, of in [("a", TASK), ("b", other), ("c", same)]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "task_001.json").write_text(json.dumps(of))
        (tmp_path / folder / "11aa22bb.json").write_text(json.dumps(TASK))
    a, b, c = (tmp_path / name for name in "abc")
    assert [task.id for task in mb.read_tasks([a, str(b)])] == ["11aa22bb", "a/task_001", "b/task_001"]
    both = mb.read_tasks([a, c])
    assert [task.id for task in both] == ["11aa22bb", "task_001"]
    assert both[1].test[0].output is not None
    # A dict is another place of a task, too; an `mb.Task` is not merged.
    (merged,) = mb.read_tasks([a / "11aa22bb.json", {"11aa22bb": same}])
    assert merged.test[0].output is not None
    assert len(mb.read_tasks([merged, merged, {"x": TASK}])) == 3
    (tmp_path / "solutions.json").write_text(json.dumps({"11aa22bb": [[[4, 3]]]}))
    (solved,) = mb.read_tasks([a / "11aa22bb.json", tmp_path / "solutions.json"])
    assert solved.test[0].output is not None
    submission = tmp_path / "submission.json"
    mb.Coordinator("def solve_11aa22bb(I): return vmirror(I)", [a, b], submission=submission).run()
    assert submission.read_text().count('"11aa22bb"') == 1
    with pytest.raises(ValueError, match=r"/b/11aa22bb.json: 11aa22bb.train\[0\].input: differs from what `.*/a/11aa22bb.json` has"):
        (b / "11aa22bb.json").write_text(json.dumps(other))
        mb.read_tasks([a, b])


def test_files_folders_challenges_and_solutions(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "aaaa0000.json").write_text(json.dumps(TASK))
    (tmp_path / "challenges.json").write_text(json.dumps({"aaaa0000": TASK, "bbbb0000": TASK}))
    solutions = {"aaaa0000": [[[4, 3]]], "bbbb0000": [[[0]]]}
    (tmp_path / "solutions.json").write_text(json.dumps(solutions))
    (single,) = mb.read_tasks(tmp_path / "tasks")
    assert [single] == mb.read_tasks(str(tmp_path / "tasks" / "aaaa0000.json"))
    from_files = mb.read_tasks(tmp_path / "challenges.json", tmp_path / "solutions.json")
    from_dicts = mb.read_tasks({"aaaa0000": TASK, "bbbb0000": TASK}, solutions)
    assert from_files == from_dicts
    assert from_files[0].test[0].output.tolist() == [[4, 3]]  # type: ignore[union-attr]


def test_tasks_are_built_and_pickled() -> None:
    pair = mb.Pair([[1, 2]], [[2, 1]])
    task = mb.Task("a", [pair, PAIR, ([[1]], [[2]])], [([[3]],)])
    assert len(task.train) == 3 and task.test[0].output is None
    assert pickle.loads(pickle.dumps(task)) == task
    assert pickle.loads(pickle.dumps(pair)) == pair
    assert task._repr_html_().count("<svg") == 7 and "<svg" in pair._repr_html_()
    assert "<b>" not in mb.Task("<b>", [])._repr_html_()


class Columns(Mapping[str, Any]):
    """A table row that is not a dict."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row

    def __getitem__(self, key: str) -> Any:
        return self.row[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.row)

    def __len__(self) -> int:
        return len(self.row)


def objects(*elements: Any) -> Any:
    """A list as pandas 2.3.3 reads it from Parquet (findings/pandas-grids-in-parquet.sh)."""
    array = np.empty(len(elements), dtype=object)
    for at, element in enumerate(elements):
        array[at] = element
    return array


def test_what_is_like_dicts_and_lists_is_a_task() -> None:
    (expected,) = mb.read_tasks(TASK)
    row = objects(np.array([1, 2]))
    pair = {"input": row, "output": objects(np.array([2, 1], dtype=object))}
    given: list[Any] = [
        types.MappingProxyType(TASK),
        Columns(TASK),
        Columns({"train": [Columns(PAIR)], "test": [([[3, 4]],)]}),
        {"train": [[[[1, 2]], [[2, 1]]]], "test": [[[[3, 4]]]]},
        {"train": objects(pair), "test": objects({"input": objects(objects(3, 4)), "output": None}), "id": None},
        {**TASK, "test": [{"input": [[3, 4]], "output": []}]},
        {**TASK, "test": ({"input": [[3, 4]], "output": np.empty((0, 0), dtype=np.int8)},)},
    ]
    for of in given:
        (task,) = mb.read_tasks(of)
        assert task == expected
        (evaluated,) = mb.evaluate(["O = vmirror(I)"], of)
        assert (evaluated.right, evaluated.expected) == (1, 1)
    of_all = mb.read_tasks(types.MappingProxyType({"a": Columns(TASK)}), types.MappingProxyType({"a": ([[4, 3]],)}))
    assert of_all[0].test[0].output is not None
    assert [task.id for task in mb.read_tasks([{**TASK, "id": 3}, {**TASK, "id": "x"}, {**TASK, "id": np.int64(5)}])] == ["3", "x", "5"]
    assert mb.read_tasks({"train": None, "test": []})[0].train == []


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_is_its_rows(library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    columns: dict[str, list[Any]] = {"id": ["a", "b"], "train": [[PAIR], [PAIR, PAIR]], "test": [[{"input": [[3, 4]]}], [PAIR]]}
    expected = [{key: column[at] for key, column in columns.items()} for at in range(2)]
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert mb.read_tasks(table) == mb.read_tasks(expected)


class Foreign:
    """A task as another library has it."""

    def to_dict(self) -> dict[str, Any]:
        return {"id": "a", **TASK}


def test_an_object_that_gives_its_dict_is_a_task() -> None:
    whole: dict[str, Any] = {"id": "a", **TASK}
    (expected,) = mb.read_tasks(whole)
    for given in (Foreign(), [Foreign()], iter([Foreign()])):
        assert mb.read_tasks(given) == [expected]  # type: ignore[arg-type]
    foreign: Any = Foreign()
    assert mb.evaluate(["O = vmirror(I)"], foreign)[0].right == 1


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_row_and_a_query_are_tasks(library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    table = module.DataFrame({"id": ["a", "b"], "train": [[PAIR], [PAIR, PAIR]], "test": [[PAIR], [PAIR]]})
    expected = mb.read_tasks(table)
    if library == "pandas":
        assert mb.read_tasks(table.iloc[1]) == expected[1:]
    else:
        assert mb.read_tasks(table.lazy()) == expected


def test_a_column_without_any_value_holds_none(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import feather, parquet

    hidden = {"input": [[3, 4]], "output": None}
    table = pa.Table.from_pylist([{"task_id": "a", "train": [PAIR], "test": [hidden], "program": None}])
    parquet.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    expected = mb.read_tasks(table)
    assert expected[0].test[0].output is None
    for name in ("a.parquet", "a.feather"):
        assert mb.read_tasks(tmp_path / name) == expected
    with pytest.raises(ValueError, match="a.parquet:1:1: no programs beside the tasks"):
        mb.read_programs(tmp_path / "a.parquet")


WITHIN_ITSELF: dict[str, Any] = {}
WITHIN_ITSELF["a"] = WITHIN_ITSELF


BAD: list[tuple[Any, type[Exception], str]] = [
    ({"train": [{"input": [[1, 200]]}]}, ValueError, r"tasks\.train\[0\]\.input\[0\]\[1\]: colour 200"),
    ([TASK, {"train": [{"input": [[1, 200]]}]}], ValueError, r"tasks\[1\]\.train\[0\]\.input\[0\]\[1\]: colour 200"),
    ([Path("/dev/null"), {"train": [[[[1, 200]]]]}], ValueError, r"tasks\[1\]\.train\[0\]\[0\]\[0\]\[1\]: colour 200"),
    ({"a": {"train": [{"output": [[1]]}]}}, ValueError, r"tasks\.a\.train\[0\]: expected the key `input`"),
    (
        {"a": {"train": [{"input": [[1]], "ouput": [[1]]}]}},
        ValueError,
        r"tasks\.a\.train\[0\]: expected the key `output`, found `ouput`",
    ),
    ({"a": {"train": [{"input": [[1]], "output": 3}]}}, ValueError, r"train\[0\]\.output: expected a grid"),
    ({"a": {"train": {}}}, ValueError, r"tasks\.a\.train: expected a list of pairs, found an object"),
    ({"trains": [PAIR], "test": []}, ValueError, r"tasks: expected the key `train` with a list of pairs, found the keys `trains`, `test`"),
    ({"train": [[]]}, ValueError, r"train\[0\]: expected a pair: an object, or a list of an input and an output"),
    ({"train": [{"input": []}]}, ValueError, r"train\[0\]\.input: grid of 0 rows"),
    ({"train": [{"input": object()}]}, ValueError, r'train\[0\]\.input: expected a grid: .*"a value of the type object"'),
    ({"train": [{"input": np.ma.masked_array([[1]])}]}, TypeError, r"tasks: a masked array: expected one without a mask"),
    ({"train": [{"input": np.ma.masked_array([[1]]).astype(object)}]}, TypeError, r"tasks: a masked array: expected"),
    ({"a": {}}, ValueError, r"tasks: expected a task: an object with the keys `train` and `test`, found the key `a`"),
    ({"a": 3}, ValueError, r"tasks: expected a task"),
    ({1: TASK}, TypeError, r"expected the id of a task"),
    (WITHIN_ITSELF, ValueError, r"tasks: more than 64 lists and dicts within one another"),
    ([3], TypeError, r"tasks\[0\]: expected tasks"),
    ([[TASK]], TypeError, r"tasks\[0\]: expected tasks"),
    (3, TypeError, r"tasks: expected tasks"),
    (Path("/nowhere"), ValueError, r"/nowhere: no such file or folder"),
    ("/dev/null", ValueError, r"expected a file, found a device"),
]


@pytest.mark.parametrize(("data", "error", "message"), BAD)
def test_what_is_no_task_is_refused_with_its_place(
    data: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        mb.read_tasks(data)


def test_solutions_are_alike_as_dict_and_file(tmp_path: Path) -> None:
    file, tasks = tmp_path / "solutions.json", tmp_path / "challenges.json"
    solved = {"a": [[[4, 3]]], "b": [[[0]]]}
    file.write_text(json.dumps(solved))
    tasks.write_text(json.dumps({"a": TASK}))
    (tmp_path / "b.json").write_text(json.dumps(TASK))
    given: list[Any] = [{"a": TASK, "b": TASK}, [{"a": TASK}, mb.Task("b", [PAIR], TASK["test"])], [tasks, tmp_path / "b.json"]]
    for of in given:
        by_dict, by_file = mb.read_tasks(of, solved), mb.read_tasks(of, file)
        assert by_dict == by_file == mb.read_tasks(of, str(file))
        assert [task.test[0].output.tolist() for task in by_file] == [[[4, 3]], [[0]]]  # type: ignore[union-attr]
        report = mb.run("O = vmirror(I)", of, jobs="all", solutions=file)
        assert (report.right, report.no_expected) == (3, 0)
    # The errors are the same, with the place in a file.
    for bad, message in [({"a": [[[1]], [[2]]]}, "a: expected 1 output"), ({"c": [[[1]]]}, "c: a solution for a task that is not")]:
        file.write_text(json.dumps(bad))
        both: list[tuple[Any, str]] = [(bad, "solutions: "), (file, rf"{file}:1:\d+: ")]
        for solutions, place in both:
            with pytest.raises(ValueError, match=place + message):
                mb.read_tasks({"a": TASK}, solutions)
    with pytest.raises(ValueError, match="no such file"):
        mb.read_tasks({"a": TASK}, tmp_path / "none.json")


def test_solutions_of_other_tasks_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "solutions.json"
    solved = {"b": [[[0]]], "a": [[[4, 3]]], "c": [[[0]]]}
    file.write_text(json.dumps(solved))
    given: list[Any] = [solved, file]
    for solutions in given:
        (task,) = mb.read_tasks({"a": TASK}, solutions)
        assert task.test[0].output is not None and task.test[0].output.tolist() == [[4, 3]]
        report = mb.run("O = vmirror(I)", {"a": TASK}, jobs="all", solutions=solutions)
        assert (report.right, report.no_expected) == (2, 0)
        with pytest.raises(ValueError, match="b: a solution for a task that is not among the tasks, like the 2 others"):
            mb.read_tasks({"d": TASK}, solutions)


def test_solutions_that_do_not_fit_are_refused() -> None:
    for solutions, message in [
        ({"a": [[[1]], [[2]]]}, "expected 1 output"),
        ({"b": [[[1]]]}, "not among the tasks"),
        ({"a": [[[128]]]}, r"solutions\.a\[0\]\[0\]\[0\]: colour 128"),
    ]:
        with pytest.raises(ValueError, match=message):
            mb.read_tasks({"a": TASK}, solutions)


def test_a_dict_is_read_as_its_file_is(tmp_path: Path) -> None:
    pair = {"input": [[1, 2]], "output": [[2, 1]]}
    for key in ("task_id", "id", "name"):
        given = {"train": [pair], "test": [pair], "arc-gen": [pair, pair], key: "zz", "note": ["text"]}
        path = tmp_path / "task.json"
        path.write_text(json.dumps(given))
        (of_dict,), (of_file,) = mb.read_tasks(given), mb.read_tasks(path)
        assert of_dict == of_file and of_dict.id == "zz" and [name for name, _ in of_dict.others] == ["arc-gen"]
