"""What the documents show."""

import builtins
import doctest
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb

README = Path(__file__).parents[1] / "README.md"
PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def blocks(page: str) -> list[str]:
    """The Python of a page, block by block."""
    return [part.split("```")[0] for part in PAGE.with_name(page).read_text().split("```python\n")[1:]]


def test_the_examples_of_the_pages_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, enumerates = blocks("python.md")
    judged, _ = blocks("language-models.md")
    _, makes = blocks("training.md")
    names: dict[str, Any] = {}
    exec(code, names)
    report: mb.Report = names["report"]
    assert "1 of 1 tasks solved" in str(report)
    assert report[0].verdict == "match"
    output, error = report[1].output, report[-1].error
    assert isinstance(output, np.ndarray) and output.tolist() == [[6, 5], [8, 7]]
    assert error is not None and (error.line, error.primitive, error.kind) == (2, "first", "type")
    exec(judged, names)
    assert [each.verdict for each in names["evaluated"]] == ["match", "mismatch", "no_program", "no_program"]
    assert "did you mean `vmirror`" in names["evaluated"][2].reason
    exec(enumerates, names)
    assert names["found"].batt.is_solution(names["found"].of("grid")[0].node) is False
    monkeypatch.chdir(tmp_path)
    exec(makes, names)
    turned: mb.SynthTask = names["turned"]
    assert turned.program is not None and names["makes"].counts["made"] == 6
    assert np.array_equal(np.asarray(turned.program(turned.task.test[0].input)), np.asarray(turned.task.test[0].output))
    assert len((tmp_path / "tasks.jsonl").read_text().splitlines()) == 24


@pytest.mark.skipif(sys.platform != "linux", reason="free Python runs on Linux only")
def test_the_example_of_free_python_runs() -> None:
    names: dict[str, Any] = {}
    for code in blocks("language-models.md"):
        exec(code, names)
    assert [(each.verdict, each.language) for each in names["evaluated"]] == [("match", "python"), ("match", "dsl")]


def test_the_example_of_the_package_s_own_page_runs() -> None:
    (code,) = (part.split("```")[0] for part in README.read_text().split("```python\n")[1:])
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["report"][0].verdict == "match" and names["report"][1].output.tolist() == [[6, 5], [8, 7]]
    assert mb.reward([names["completion"]], names["task"]) == [1.0]


def test_all_that_the_page_names_is_there() -> None:
    calls = PAGE.read_text().split("## Calls")[1].split("\n\n")[1]
    names = {row.split("`")[1].split("(")[0] for row in calls.splitlines()[2:]}
    assert len(names) > 8
    for name in names - {"program"}:
        owner, _, attribute = name.partition(".")
        assert hasattr(getattr(mb, owner), attribute or "__doc__"), name


def test_docstrings_run() -> None:
    for module in (mb, mb.synth):
        results = doctest.testmod(module)
        assert results.failed == 0 and results.attempted > 2


def test_all_that_is_imported_hides_nothing_of_python() -> None:
    assert not {*mb.__all__} & {*dir(builtins)} - {"__doc__", "__name__"}


def test_all_that_is_public_has_a_docstring() -> None:
    for module in (mb, mb.synth):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                assert value.__doc__, name
