"""Charts, as far as their content can be inspected."""

from __future__ import annotations

import io
import sys

import pytest

import mega_batch as mb
from mega_batch import charts

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def test_a_grid_is_drawn_in_its_colours() -> None:
    ax = charts.plot_grid([[0, 1], [2, 9], [5, 5]], title="a grid")
    (image,) = ax.get_images()
    drawn = image.get_array()
    assert drawn.shape == (3, 2, 3) and drawn[1, 1].tolist() == list(mb.PALETTE[9])
    assert ax.get_title() == "a grid" and image.get_extent() == [0, 2, 3, 0]
    with pytest.raises(ValueError, match="colour 200"):
        charts.plot_grid([[200]])


def test_a_task_is_drawn_pair_by_pair(task: mb.Task) -> None:
    def titles(figure: object) -> list[str]:
        axes = [ax for ax in figure.axes if ax.axison]  # type: ignore[attr-defined]
        return [ax.get_title() for ax in axes]

    pairs = [f"{pair} {what}" for pair in ("train[0]", "train[1]", "test[0]") for what in ("input", "output")]
    assert titles(charts.plot_task(task)) == pairs
    figure = charts.plot_task(task.to_dict(), outputs=[[[6, 5]]])
    assert titles(figure) == [*pairs, "test[0] program's output"]
    unknown = {"train": [], "test": [{"input": [[1]]}]}
    assert titles(charts.plot_task(unknown, outputs=[None])) == ["test[0] input"]
    with pytest.raises(ValueError, match="outputs: expected 1 at most"):
        charts.plot_task(task, outputs=[[[1]], [[1]]])
    with pytest.raises(TypeError, match="outputs: expected a list of grids, found str"):
        charts.plot_task(task, outputs="12")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="task: expected one task, found 2"):
        charts.plot_task({"a": unknown, "b": unknown})


def test_a_report_is_drawn_with_its_counts(task: mb.Task) -> None:
    report = mb.run(["O = vmirror(I)", "O = I", "O = first(height)"], task, jobs="all")
    figure = charts.plot_report(report)
    verdicts, tasks, times = figure.axes
    assert [bar.get_height() for bar in verdicts.patches] == [3, 3, 0, 3, 0]
    assert [bar.get_height() for bar in tasks.patches] == [1, 0, 0]
    assert sum(bar.get_height() for bar in times.patches) == 9
    file = io.BytesIO()
    figure.savefig(file, format="png")
    assert file.getvalue().startswith(b"\x89PNG")
    streamed = mb.run("O = I", task, jobs="all", on_results=lambda results: None)
    assert charts.plot_report(streamed).axes[2].texts[0].get_text() == "no results were kept"


def test_that_matplotlib_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        charts.plot_grid([[1]])


def test_a_notebook_shows_charts(task: mb.Task) -> None:
    drawn = [charts.plot_grid([[1]]), charts.plot_task(task), charts.plot_report(mb.run("O = I", task, jobs="all"))]
    for chart in drawn:
        assert chart._repr_png_().startswith(b"\x89PNG")


def test_what_is_missing_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"mega-batch\[charts\]"):
        charts.plot_grid([[1]])
