"""Charts by matplotlib: a grid, a task, a report.

matplotlib is not imported before a chart is drawn: it comes with `pip install matplotlib`. Each function returns what
it has drawn on, for `savefig` and for a notebook to display.
"""

from __future__ import annotations

import functools
import io
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._engine import PALETTE, VERDICTS, Grid, Task, read_tasks
from ._results import Report

if TYPE_CHECKING:
    from .typing import GridLike, Tasks

__all__ = ["plot_grid", "plot_report", "plot_task"]

_VERDICT_COLOURS = ("#2ecc40", "#ff4136", "#aaaaaa", "#ff851b", "#ffdc00")


def _figure(**options: Any) -> Any:
    """A new figure, not registered with pyplot, so that it is freed when nobody uses it."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            'mega_batch.charts needs matplotlib, which the extra "charts" has: pip install "mega-batch[charts]", or '
            "pip install matplotlib"
        ) from error
    figure = Figure(layout="constrained", **options)
    # A notebook displays objects with this method, which figures unknown to pyplot lack.
    figure._repr_png_ = functools.partial(_png, figure)  # type: ignore[attr-defined]
    return figure


def _png(figure: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def plot_grid(grid: GridLike | Grid, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw a grid in ARC's colours, on the given axes of matplotlib or on new ones; returns the axes."""
    cells = Grid(grid).array
    if ax is None:
        ax = _figure(figsize=(2.5, 2.5)).subplots()
        ax._repr_png_ = ax.figure._repr_png_
    rows, columns = cells.shape
    # Cells with none of ARC's colours are white.
    colours = np.array([*PALETTE, (255, 255, 255)], np.uint8)
    known = np.where((cells >= 0) & (cells < len(PALETTE)), cells, len(PALETTE))
    ax.imshow(colours[known], extent=(0, columns, rows, 0), interpolation="nearest")
    ax.set_xticks(range(columns + 1), [])
    ax.set_yticks(range(rows + 1), [])
    ax.grid(visible=True, color="#555555", linewidth=0.5)
    ax.tick_params(length=0)
    if title is not None:
        ax.set_title(title, fontsize="small")
    return ax


def plot_task(task: Tasks, *, outputs: Sequence[GridLike | None] = ()) -> Any:
    """Draw the pairs of a task, one per row: input, and expected output if known.

    `outputs` are a program's outputs for the test inputs, drawn beside them. Returns the Figure.
    """
    found = [task] if isinstance(task, Task) else read_tasks(task)
    if len(found) != 1:
        raise ValueError(f"task: expected one task, found {len(found)}")
    (one,) = found
    if isinstance(outputs, str) or not isinstance(outputs, Sequence | np.ndarray):
        raise TypeError(f"outputs: expected a list of grids, found {type(outputs).__name__}")
    named = [("train", at, pair) for at, pair in enumerate(one.train)]
    named += [("test", at, pair) for at, pair in enumerate(one.test)]
    if len(outputs) > len(one.test):
        raise ValueError(f"outputs: expected {len(one.test)} at most, one for each test input, found {len(outputs)}")
    columns = 3 if len(outputs) else 2
    rows = max(len(named), 1)
    figure = _figure(figsize=(2.3 * columns, 2.3 * rows))
    figure.suptitle(one.id)
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for (split, at, pair), line in zip(named, axes, strict=False):
        given = outputs[at] if split == "test" and at < len(outputs) else None
        drawn = [("input", pair.input), ("output", pair.output), ("program's output", given)]
        for ax, (name, cells) in zip(line, drawn, strict=False):
            if cells is not None:
                ax.set_axis_on()
                plot_grid(cells, ax=ax, title=f"{split}[{at}] {name}")
    return figure


def plot_report(report: Report) -> Any:
    """Draw the results of a report: evaluations by verdict, tasks by state, and how long evaluations took.

    The times are those of `report.results`; if a callback took the results, there are none. Returns the Figure.
    """
    figure = _figure(figsize=(11, 3.2))
    figure.suptitle(str(report).splitlines()[0])
    verdicts, tasks, times = figure.subplots(1, 3)
    counts = [report.right, report.wrong, report.no_expected, report.errors, report.limits]
    verdicts.bar_label(verdicts.bar(VERDICTS, counts, color=_VERDICT_COLOURS), fontsize="small")
    verdicts.set_title("evaluations", fontsize="small")
    verdicts.tick_params(axis="x", labelsize="small")
    states = Counter[str](state for _, state in report.task_states)
    names = ["solved", "unsolved", "untried"]
    bars = tasks.bar(names, [states[name] for name in names], color=_VERDICT_COLOURS)
    tasks.bar_label(bars, fontsize="small")
    tasks.set_title("tasks", fontsize="small")
    # The clock may not have advanced between beginning and end.
    seconds = np.maximum(report.results.seconds, 1e-9)
    if len(seconds):
        edges = np.logspace(np.log10(np.min(seconds) * 0.999), np.log10(np.max(seconds) * 1.001), 40)
        times.hist(seconds, bins=edges, color="#0074d9")
        times.set_xscale("log")
        times.set_yscale("log")
    else:
        times.text(0.5, 0.5, "no results were kept", ha="center", va="center", transform=times.transAxes)
    times.set_title("seconds of an evaluation", fontsize="small")
    return figure
