"""Results as tables of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._engine import ERROR_KINDS, PRIMITIVES, VERDICTS

if TYPE_CHECKING:
    from ._results import Results

SPLITS: tuple[Literal["train", "test", "other"], ...] = ("train", "test", "other")
"""The names of splits, by their codes."""


def _words(words: tuple[str, ...], places: NDArray[Any]) -> NDArray[Any]:
    found: NDArray[Any] = np.array(words, dtype=object)[places]
    return found


def _columns(results: Results, names: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    columns = names | {
        "program": results.programs,
        "task": results.tasks,
        "split": _words(SPLITS, results.splits),
        "pair": results.pairs,
        "verdict": _words(VERDICTS, results.verdicts),
        "seconds": results.seconds,
    }
    has_error = results.verdicts >= VERDICTS.index("error")
    kinds = _words(ERROR_KINDS, results.error_kinds)
    kinds[~has_error] = None
    lines = results.error_lines.astype(object)
    lines[~has_error] = None
    primitives = _words(PRIMITIVES, results.error_primitives)
    primitives[results.error_primitives < 0] = None
    columns |= {"error_kind": kinds, "error_line": lines, "error_primitive": primitives}
    if results.cells_right is not None and results.hashes is not None:
        columns["cells_right"] = results.cells_right
        hashes = [f"{int(upper):016x}{int(lower):016x}" for upper, lower in results.hashes]
        columns["hash"] = np.array(hashes, dtype=object)
    if results.shapes is not None:
        columns["height"] = results.shapes[:, 0]
        columns["width"] = results.shapes[:, 1]
        columns["too_large"] = results.too_large
        columns["foreign"] = results.foreign
    return columns


def _wanted(results: Results, drop_unfit: bool) -> NDArray[Any] | None:
    """The indices of the rows to keep; None for all."""
    if not isinstance(drop_unfit, (bool, np.bool_)):
        raise TypeError(f"drop_unfit: expected True or False, found {type(drop_unfit).__name__}")
    if not drop_unfit:
        return None
    return np.flatnonzero(~(results.too_large | results.foreign))


def arrow(results: Results, names: dict[str, NDArray[Any]], drop_unfit: bool) -> Any:
    wanted = _wanted(results, drop_unfit)
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(
            'to_arrow needs pyarrow, which the extra "arrow" has: pip install "mega-batch[arrow]", or pip install pyarrow'
        ) from error
    columns = _columns(results, names)
    types: dict[str, Any] = {
        "program_name": pa.string(),
        "task_id": pa.string(),
        "split": pa.string(),
        "verdict": pa.string(),
        "error_kind": pa.string(),
        "error_line": pa.int32(),
        "error_primitive": pa.string(),
        "hash": pa.string(),
    }
    arrays = {name: pa.array(column, type=types.get(name)) for name, column in columns.items()}
    if results.cells is not None and results.offsets is not None and results.shapes is not None:
        height, width = results.shapes[:, 0], results.shapes[:, 1]
        is_grid = height >= 0
        rows = np.where(is_grid, height, 0)
        of_rows = np.concatenate([[0], np.cumsum(np.repeat(np.where(is_grid, width, 0), rows))])
        of_grids = np.concatenate([[0], np.cumsum(rows)])
        inner = pa.ListArray.from_arrays(pa.array(of_rows, pa.int32()), pa.array(results.cells))
        arrays["output"] = pa.ListArray.from_arrays(
            pa.array(of_grids, pa.int32()), inner, mask=pa.array(~is_grid)
        )
    table = pa.table(arrays)
    return table if wanted is None else table.take(pa.array(wanted))


def pandas(results: Results, names: dict[str, NDArray[Any]], drop_unfit: bool) -> Any:
    wanted = _wanted(results, drop_unfit)
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            'to_pandas needs pandas, which the extra "pandas" has: pip install "mega-batch[pandas]", or pip install pandas'
        ) from error
    columns = _columns(results, names)
    # Columns of words have the dtype object, whatever their values: what pandas infers depends on these and on its
    # version.
    frame = pd.DataFrame({name: pd.Series(column, dtype=column.dtype) for name, column in columns.items()})
    frame["error_line"] = frame["error_line"].astype("Int32")
    if results.cells is not None:
        outputs = np.empty(len(results), dtype=object)
        for at in range(len(results)):
            output = results._output(at)
            # Of arrays of two dimensions no column of a file can be made.
            outputs[at] = None if output is None else list(output)
        frame["output"] = outputs
    return frame if wanted is None else frame.iloc[wanted].reset_index(drop=True)
