"""Results as tables of other libraries, and primitives with their signatures."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb

PROGRAMS = [
    "O = vmirror(I)",
    "O = upscale(I, 40)",
    "x1 = asindices(I)\nO = fill(I, NEG_ONE, x1)",
    "x1 = palette(I)\nO = argmax(x1, first)",
    "O = size(I)",
]


@pytest.fixture
def report(task: mb.Task) -> mb.Report:
    return mb.run(PROGRAMS, task, jobs="all", outputs=True, scores=True)


def test_what_is_too_large_or_foreign_is_said_and_left_out(report: mb.Report) -> None:
    results = report.results
    assert results.too_large.tolist() == [at // 3 == 1 for at in range(15)]
    assert results.foreign.tolist() == [at // 3 == 2 for at in range(15)]
    for table in (report.results.to_arrow, report.to_arrow):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        assert table(drop_unfit=True)["program"].to_pylist() == [0] * 3 + [3] * 3 + [4] * 3
    _, mask = results.padded(80)
    _, kept = results.padded(80, drop_foreign=True)
    assert mask[3:9].any((1, 2)).all() and kept[3:6].any((1, 2)).all() and not kept[6:9].any()
    without = mb.run(PROGRAMS[0], report.tasks, jobs="all").results
    with pytest.raises(ValueError, match="too_large: expected results of a run with outputs=True"):
        _ = without.too_large


def test_arrow_has_the_results(report: mb.Report) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    rows = report.to_arrow().to_pylist()
    assert len(rows) == 15
    for row, result in zip(rows, report, strict=True):
        assert row["verdict"] == result.verdict and row["split"] == result.split and row["seconds"] == result.seconds
        assert row["task_id"] == "67a3c6ac" and row["program_name"] == report.programs[result.program].name
        output = None if result.output is None else result.output.tolist()
        assert row["output"] == output
        assert (row["error_kind"], row["error_primitive"]) == (
            (result.error.kind, result.error.primitive) if result.error else (None, None)
        )
        assert row["hash"] == ("0" * 32 if result.hash is None else f"{result.hash:032x}")
    assert rows[9]["error_line"] == 2 and rows[0]["error_line"] is None
    assert "output" not in mb.run(PROGRAMS, report.tasks, jobs="all").to_arrow().column_names


def test_pandas_has_the_same(report: mb.Report) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = report.to_pandas()
    assert len(frame) == 15 and frame["verdict"][0] == "match"
    assert np.array_equal(frame["output"][0], np.asarray(report[0].output)) and frame["output"][9] is None
    assert frame["error_line"][9] == 2 and frame["error_line"].isna()[0]
    dropped = report.results.to_pandas(drop_unfit=True)
    assert dropped["program"].tolist() == [0] * 3 + [3] * 3 + [4] * 3 and "task_id" not in dropped


def test_a_frame_is_written_by_other_libraries(report: mb.Report, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = report.to_pandas()
    expected = report.to_arrow()["output"].to_pylist()
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.feather")
    for again in (pandas.read_parquet(tmp_path / "a.parquet"), pandas.read_feather(tmp_path / "a.feather")):
        outputs = again["output"].tolist()
        assert [None if each is None else [row.tolist() for row in each] for each in outputs] == expected
    assert pa.Table.from_pandas(frame)["output"].to_pylist() == expected
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert polars.from_pandas(frame)["output"].to_list() == expected
    assert polars.from_arrow(report.to_arrow())["output"].to_list() == expected


@pytest.mark.parametrize(("library", "extra"), [("pyarrow", "arrow"), ("pandas", "pandas")])
def test_a_library_that_is_not_there_is_named(
    report: mb.Report, monkeypatch: pytest.MonkeyPatch, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"mega-batch\[{extra}\]"):
        getattr(report, f"to_{extra}")()


def test_primitives_say_what_they_take_give_and_do() -> None:
    names = [str(primitive) for primitive in mb.PRIMITIVES]
    assert len(names) >= 160 and "vmirror" in mb.PRIMITIVES and mb.PRIMITIVES.index("fill") == names.index("fill")
    fill = mb.PRIMITIVES[names.index("fill")]
    assert fill.signature == "fill(grid: Grid, value: Integer, patch: Patch) -> Grid"
    assert (fill.family, fill.returns, fill.parameters[1]) == ("painting", "Grid", ("value", "Integer"))
    assert "patch" in fill.text and not any("](" in each.text for each in mb.PRIMITIVES)
    again: Any = pickle.loads(pickle.dumps(fill))
    assert again == fill and again.signature == fill.signature
    text = mb.primitives_text(["transforms", "fill"])
    assert text.count("\n") == 1 + sum(each.family == "transforms" for each in mb.PRIMITIVES)
    assert "\nvmirror(piece: Piece) -> Piece: Left and right exchanged." in text
    assert mb.primitives_text().count("\n") == len(mb.PRIMITIVES)
    with pytest.raises(ValueError, match="names: 'vmiror': expected a primitive or a family"):
        mb.primitives_text(["vmiror"])
    one: list[tuple[Any, str]] = [
        ("vmirror", "names: expected a list of names, found one text, 'vmirror'"),
        (mb.PRIMITIVES[0], f"found one text, '{mb.PRIMITIVES[0]}'"),
        (3, "names: expected a list of names, found int"),
    ]
    for names, message in one:
        with pytest.raises(TypeError, match=message):
            mb.primitives_text(names)
    with pytest.raises(ValueError, match=r"names: \[\]: expected a primitive or a family"):
        mb.primitives_text([[]])  # type: ignore[list-item]
    assert mb.primitives_text([]) == ""
