"""How notebooks display grids, pairs and tasks; called by the engine."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ._engine import PALETTE, Grid

if TYPE_CHECKING:
    from ._engine import Pair, Task
    from .typing import GridLike

_CELL = 12
"""The side of a cell, in pixels."""

_OTHER = (0xFF, 0xFF, 0xFF)
"""The colour of cells with none of ARC's colours."""


def svg(grid: GridLike) -> str:
    rows = Grid(grid).tolist()
    width = len(rows[0]) if rows else 0
    cells = "".join(
        f'<rect x="{column * _CELL}" y="{row * _CELL}" width="{_CELL}" height="{_CELL}" '
        f'fill="#{bytes(PALETTE[colour] if 0 <= colour < len(PALETTE) else _OTHER).hex()}" '
        'stroke="#555" stroke-width="0.5"/>'
        for row, of_row in enumerate(rows)
        for column, colour in enumerate(of_row)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * _CELL}" height="{len(rows) * _CELL}" '
        f'shape-rendering="crispEdges">{cells}</svg>'
    )


def _cells(pair: Pair) -> str:
    output = "?" if pair.output is None else svg(pair.output)
    return f"<td>{svg(pair.input)}</td><td>&rarr;</td><td>{output}</td>"


def of_pair(pair: Pair) -> str:
    """Input and output side by side."""
    return f"<table><tr>{_cells(pair)}</tr></table>"


def of_task(task: Task) -> str:
    rows = "".join(
        f"<tr><th>{html.escape(name, quote=False)}[{at}]</th>{_cells(pair)}</tr>"
        for name, pairs in [("train", task.train), ("test", task.test), *task.others]
        for at, pair in enumerate(pairs)
    )
    return f"<table><caption>{html.escape(task.id, quote=False)}</caption>{rows}</table>"
