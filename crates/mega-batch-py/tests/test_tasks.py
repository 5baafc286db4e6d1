"""Tasks from files, folders and dicts."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import mega_batch as mb

PAIR = {"input": [[1, 2]], "output": [[2, 1]]}
TASK = {"train": [PAIR], "test": [{"input": [[3, 4]]}]}


def test_dicts_are_tasks() -> None:
    (task,) = mb.read_tasks(TASK)
    assert (len(task.train), len(task.test)) == (1, 1)
    assert task.train[0].output is not None and task.train[0].output.tolist() == [[2, 1]]
    assert task.test[0].output is None
    both = mb.read_tasks({"a": TASK, "b": task})
    assert [task.id for task in both] == ["a", "b"]
    assert both[0].to_dict() == TASK
    assert mb.read_tasks([TASK, {"x": TASK}, both[1]])[1].id == "x"


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


BAD: list[tuple[Any, type[Exception], str]] = [
    ({"train": [{"input": [[1, 200]]}]}, ValueError, r"tasks\.train\[0\]\.input\[0\]\[1\]: colour 200"),
    ({"a": {"train": [{"output": [[1]]}]}}, ValueError, r'tasks\["a"\]\.train\[0\]: expected the key "input"'),
    ({"a": {"train": [{"input": [[1]], "output": 3}]}}, TypeError, r"train\[0\]\.output: expected a grid"),
    ({"a": {"train": {}}}, TypeError, r"train: expected a list of pairs, found dict"),
    ({"a": {}}, ValueError, r'expected the keys "train" and "test"'),
    ({"a": 3}, TypeError, r'tasks\["a"\]: expected a task'),
    ({1: TASK}, TypeError, r"expected the id of a task"),
    ([3], TypeError, r"tasks\[0\]: expected tasks"),
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
    # What does not fit is said alike, with the place in a file.
    for bad, message in [({"a": [[[1]], [[2]]]}, "a: expected 1 output"), ({"c": [[[1]]]}, "c: a solution for a task that is not")]:
        file.write_text(json.dumps(bad))
        both: list[tuple[Any, str]] = [(bad, "solutions: "), (file, rf"{file}:1:\d+: ")]
        for solutions, place in both:
            with pytest.raises(ValueError, match=place + message):
                mb.read_tasks({"a": TASK}, solutions)
    with pytest.raises(ValueError, match="no such file"):
        mb.read_tasks({"a": TASK}, tmp_path / "none.json")


def test_solutions_that_do_not_fit_are_refused() -> None:
    for solutions, message in [
        ({"a": [[[1]], [[2]]]}, "expected 1 output"),
        ({"b": [[[1]]]}, "not among the tasks"),
        ({"a": [[[128]]]}, r'solutions\["a"\]\[0\]\[0\]\[0\]: colour 128'),
    ]:
        with pytest.raises(ValueError, match=message):
            mb.read_tasks({"a": TASK}, solutions)
