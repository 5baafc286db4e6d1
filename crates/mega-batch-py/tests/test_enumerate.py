"""Bottom-up enumeration of typed programs."""

from __future__ import annotations

import numpy as np
import pytest

import mega_batch as mb

GRIDS = [[[1, 2, 3], [4, 5, 6]], [[7, 0], [0, 2], [3, 3]]]


def test_values_come_by_cost_each_once_with_a_program_that_gives_them() -> None:
    found = mb.enumerate(GRIDS, nodes=400)
    costs = [value.cost for value in found]
    assert costs == sorted(costs) and len(found) >= 400 and found.stopped == "nodes"
    assert found.whole_cost < costs[-1] and found.calls >= 400
    batt = found.batt
    hashes = [batt.hash(value.node) for value in found.of("grid")]
    assert len(set(hashes)) == len(hashes) > 50
    for value in [*found.of("grid")[:40], *found.of("number")[:20], *found.of("objects")[:5]]:
        program = batt.program(value.node)
        for grid, expected in zip(GRIDS, batt.values(value.node), strict=True):
            np.testing.assert_array_equal(program(grid), expected)
    assert {batt.type(value.node) for value in found.of("grid")} == {"grid"}
    assert (found[0].cost, found[-1].cost) == (costs[0], costs[-1])
    with pytest.raises(IndexError):
        found[len(found)]


def test_by_size_an_operation_costs_one(task: mb.Task) -> None:
    found = mb.enumerate(task, nodes=300, by="size", primitives=True)
    batt = found.batt
    for value in found.of("grid"):
        assert batt.length(value.node) <= value.cost
    # The task is solved by one call, and that is found.
    assert 1 in [value.cost for value in found.of("grid") if batt.is_solution(value.node)]
    # The batt can be extended.
    assert batt.push("vmirror", found.of("grid")[0].node).node is not None


def test_a_language_is_the_callers() -> None:
    table = "[calls]\n1 grid -> grid: vmirror twice\n[seeds]\n1 grid: I\n"
    found = mb.enumerate(GRIDS, language=table, functions="def twice(a): return hconcat(a, a)", nodes=8)
    texts = [str(found.batt.program(value.node)) for value in found]
    assert "vmirror" in texts[1] and "hconcat" in texts[2]
    assert {value.kind for value in found} == {"grid"}
    exhausted = mb.enumerate(GRIDS, language="[calls]\n1 grid -> grid: vmirror\n[seeds]\n1 grid: I\n")
    assert exhausted.stopped == "exhausted" and len(exhausted) == 2


def test_it_ends_at_its_bounds() -> None:
    assert mb.enumerate(GRIDS, nodes=10**6, calls=500).calls == 500
    assert mb.enumerate(GRIDS, nodes=10**6, time_limit=0.0).stopped == "time"
    assert mb.enumerate(GRIDS, nodes=10**6, max_bytes=200_000).stopped == "memory"
    same = [mb.enumerate(GRIDS, nodes=300) for _ in range(2)]
    assert [repr(value) for value in same[0]] == [repr(value) for value in same[1]]


def test_what_is_wrong_is_told() -> None:
    with pytest.raises(ValueError, match='by: expected "cost" or "size"'):
        mb.enumerate(GRIDS, by="length")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="language: line 1 of the table"):
        mb.enumerate(GRIDS, language="[call]")
    with pytest.raises(ValueError, match="functions: expected a language"):
        mb.enumerate(GRIDS, functions="def f(a): return a")
    with pytest.raises(ValueError, match=r"task\[1\]\[0\]\[0\]: colour 128"):
        mb.enumerate([[[1]], [[128]]])
    with pytest.raises(ValueError, match="time_limit"):
        mb.enumerate(GRIDS, time_limit=-1.0)


def test_old_names_are_kept_with_a_warning(task: mb.Task) -> None:
    with pytest.warns(DeprecationWarning, match="mega_batch.enumerate is now enumerate_programs"):
        old = mb.enumerate(task, nodes=50)
    new = mb.enumerate_programs(task, nodes=50)
    assert [repr(value) for value in old] == [repr(value) for value in new]
    with pytest.warns(DeprecationWarning, match="whole_cost is now finished_cost"):
        assert new.whole_cost == new.finished_cost
    (found,) = mb.search(task, nodes=50)
    with pytest.warns(DeprecationWarning, match="counts is now nodes and calls"):
        assert found.counts == (found.nodes, found.calls)
