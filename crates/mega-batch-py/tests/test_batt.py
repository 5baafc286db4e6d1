"""Batts and searches."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb


def test_a_batt_grows(task: mb.Task) -> None:
    batt = mb.Batt(task)
    pushed = batt.push("vmirror", batt.input)
    assert pushed.is_new and pushed.node is not None
    node = pushed.node
    values = [value.tolist() for value in batt.values(node) if isinstance(value, np.ndarray)]
    assert values == [[[2, 1]], [[4, 3]], [[6, 5]]]
    assert batt.is_solution(node) and batt.distance(node) == [0, 0, None]
    assert batt.distance(batt.input) == [2, 2, None]
    back = batt.push("vmirror", node)
    assert not back.is_new and back.node == batt.input
    assert (batt.type(node), batt.length(node), len(batt), batt.inputs) == ("grid", 1, 2, 3)
    assert batt.program(node, "solve_a") == mb.Program.parse("O = vmirror(I)", name="solve_a")
    assert [node.index for node in batt.nodes] == [0, 1] and batt.bytes > 0


def test_hashes_are_the_same_in_every_batt(task: mb.Task) -> None:
    a, b = mb.Batt(task), mb.Batt(task)
    first, second = a.push("rot180", a.input).node, b.push("vmirror", b.input).node
    assert first is not None and second is not None
    assert a.hash(first) == b.hash(second) != a.hash(a.input)


def test_arguments_are_values_and_functions(task: mb.Task) -> None:
    batt = mb.Batt(task)
    filled = batt.push("fill", batt.input, 3, frozenset({(0, 0)}))
    assert filled.node is not None
    value = batt.values(filled.node)[0]
    assert isinstance(value, np.ndarray) and value.tolist() == [[3, 2]]
    function = batt.push("lbind", "mapply", "identity").node
    assert function is not None and batt.type(function) is None
    assert isinstance(batt.values(function)[0], mb.Function)
    failed = batt.push("argmax", frozenset(), "size")
    assert failed.node is None and failed.error is not None and failed.input == 0
    bad: list[tuple[Any, tuple[Any, ...], type[Exception], str]] = [
        ("vmiror", (batt.input,), ValueError, "no primitive"),
        (3, (), TypeError, "expected the name of a primitive"),
        ("vmirror", (mb.Batt(task).input,), ValueError, "another Batt"),
        ("vmirror", ("no_name",), ValueError, "no primitive and no constant"),
        ("vmirror", (object(),), TypeError, r"arguments\[0\]: expected a value"),
    ]
    for called, arguments, error, message in bad:
        with pytest.raises(error, match=message):
            batt.push(called, *arguments)


def test_nothing_is_a_solution_without_a_target(task: mb.Task) -> None:
    for batt in (mb.Batt(inputs=[[[1, 2]]]), mb.Batt(inputs=[[[1, 2]]], targets=[None]), mb.Batt(inputs=[])):
        assert not batt.is_solution(batt.input)
    one = mb.Batt(inputs=[[[1, 2]], [[3]]], targets=[[[1, 2]]])
    assert one.is_solution(one.input)


@pytest.mark.parametrize("value", [None, 3, 1.5, "x", b"x", [], object(), np.zeros(2)])
def test_what_is_no_node_and_no_list_is_told_by_name(task: mb.Task, value: Any) -> None:
    batt = mb.Batt(task)
    for call in (batt.values, batt.hash, batt.type, batt.distance, batt.is_solution, batt.length, batt.program):
        with pytest.raises(TypeError, match=r"^node: expected a Node of the Batt, found "):
            call(value)
    with pytest.raises(TypeError, match=r"^program: expected a Program, as .* makes it of text, found "):
        batt.add(value)
    if isinstance(value, (list, np.ndarray, type(None))):
        return
    with pytest.raises(TypeError, match=r"^calls: expected a list of tuples of a function and its arguments, found "):
        batt.push_many(value)
    with pytest.raises(TypeError, match=r"^nodes: expected a list of Nodes of the Batt, found "):
        batt.distances(value)
    with pytest.raises(TypeError, match=r"^nodes\[1\]: expected a Node of the Batt, found "):
        batt.distances([batt.input, value])
    for name in ("inputs", "targets"):
        with pytest.raises(TypeError, match=rf"^{name}: expected a list of grids, found "):
            mb.Batt(**{"inputs": [[[1]]]} | {name: value})


def test_marks_are_released(task: mb.Task) -> None:
    batt = mb.Batt(task)
    mark = batt.mark()
    node = batt.push("vmirror", batt.input).node
    assert node is not None
    batt.release(mark)
    assert len(batt) == 1
    with pytest.raises(ValueError, match="forgotten"):
        batt.values(node)
    again = batt.push("hmirror", batt.input)
    assert again.node is not None
    # A node of the same number in another batt differs.
    with pytest.raises(ValueError, match="forgotten"):
        batt.values(node)
    batt.release(mark)
    with pytest.raises(ValueError, match="mark"):
        batt.release(mark + 1)


def test_programs_are_added(task: mb.Task, largest: mb.Program) -> None:
    batt = mb.Batt(task)
    added = batt.add(largest)
    assert added.node is not None and added.is_new and added.error is None
    value = batt.values(added.node)[0]
    assert isinstance(value, np.ndarray) and value.tolist() in ([[1]], [[2]])
    over = mb.Batt(inputs=[[[0, 0]], [[0, 3]]], targets=[None, [[3]]])
    partly = over.add(largest)
    assert partly.error is not None and partly.input == 0 and partly.error.primitive == "argmax"


def test_what_a_batt_is_made_of_is_checked(task: mb.Task) -> None:
    bad: list[tuple[dict[str, Any], type[Exception]]] = [
        ({}, TypeError),
        ({"task": task, "inputs": [[[1]]]}, TypeError),
        ({"inputs": [[[1]]], "targets": [None, None]}, ValueError),
        ({"inputs": [[[128]]]}, ValueError),
        ({"task": 3}, TypeError),
    ]
    for arguments, error in bad:
        with pytest.raises(error):
            mb.Batt(**arguments)
    full = mb.Batt(task, max_bytes=1)
    with pytest.raises(MemoryError):
        full.push("vmirror", full.input)
    assert mb.Batt(inputs=[]).inputs == 0


def test_a_search_finds_programs(task: mb.Task, tmp_path: Path) -> None:
    told: list[str] = []
    (found,) = mb.search(
        task, nodes=300, on_task=lambda searched: told.append(searched.state), submission=tmp_path / "s.json"
    )
    assert found.state == "solved" and told == ["solved"] and (tmp_path / "s.json").exists()
    best = found.attempts[0]
    assert best.fits == 2 and best.kind in ("chain", "stack")
    assert mb.run(best.program, task, jobs="all").tasks_solved == 1
    assert found.answers[0][0].tolist() == [[6, 5]] == best.outputs[0].tolist()
    assert found.task == task and found.index == 0 and found.failure is None

    def fail(_: object) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mb.search(task, nodes=300, on_task=fail)


def test_many_calls_are_pushed_at_once(task: mb.Task) -> None:
    one, many = mb.Batt(task), mb.Batt(task)
    calls: list[tuple[str, object]] = [("vmirror", one.input), ("palette", one.input), ("size", 7), ("vmirror", one.input)]
    single = [one.push(name, argument) for name, argument in calls]  # type: ignore[arg-type]
    given = [(name, many.input if isinstance(argument, mb.Node) else argument) for name, argument in calls]
    pushed = many.push_many(given)  # type: ignore[arg-type]
    assert [each.node.index if each.node else None for each in pushed] == [
        each.node.index if each.node else None for each in single
    ]
    assert [each.is_new for each in pushed] == [True, True, False, False]
    assert pushed[2].error is not None and pushed[2].error.kind == single[2].error.kind  # type: ignore[union-attr]
    assert many.push_many([]) == []


def test_a_call_of_many_that_is_none_says_its_place_and_none_is_pushed(task: mb.Task) -> None:
    batt = mb.Batt(task)
    length = len(batt)
    good = ("vmirror", batt.input)
    for bad, error, message in [
        (("vmiror", batt.input), ValueError, r"calls\[1\]: .*vmiror"),
        ((3, batt.input), TypeError, r"calls\[1\]\[0\]: expected the name of a primitive or a Node"),
        ("vmirror", TypeError, r"calls\[1\]: expected a tuple"),
        (("vmirror", mb.Batt(task).input), ValueError, r"calls\[1\]: a Node of another Batt"),
    ]:
        with pytest.raises(error, match=message):
            batt.push_many([good, bad])  # type: ignore[list-item]
    assert len(batt) == length


def test_distances_are_an_array(task: mb.Task) -> None:
    batt = mb.Batt(task)
    right = batt.push("vmirror", batt.input).node
    large = batt.push("hconcat", batt.input, batt.input).node
    assert right is not None and large is not None
    found = batt.distances([batt.input, right, large])
    assert found.dtype == np.int64 and found.tolist() == [[2, 2, -2], [0, 0, -2], [-1, -1, -2]]
    assert batt.distances().shape == (len(batt), 3)
    with pytest.raises(ValueError, match=r"nodes\[0\]: a Node of another Batt"):
        batt.distances([mb.Batt(task).input])
