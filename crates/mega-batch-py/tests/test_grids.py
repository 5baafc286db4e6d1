"""Grids in all forms that users have, and invalid ones."""

from typing import Any

import numpy as np
import pytest

import mega_batch as mb

ROWS = [[0, 1, 2], [3, 4, 5]]
DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", ">i4", ">u2"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_integer_type_are_grids(dtype: str, order: Any) -> None:
    array = np.array(ROWS, dtype=dtype, order=order)
    assert mb.Grid(array).tolist() == ROWS
    assert mb.Grid(array[::-1, ::2]).tolist() == [[3, 5], [0, 2]]


def test_lists_tuples_and_rows_of_arrays_are_grids() -> None:
    mixed: Any = [ROWS[0], tuple(ROWS[1])]
    assert mb.Grid(mixed).tolist() == ROWS
    assert mb.Grid(tuple(map(tuple, ROWS))).tolist() == ROWS
    assert mb.Grid([np.array(row, dtype=np.uint8) for row in ROWS]).tolist() == ROWS
    assert mb.Grid([[np.int64(3), np.uint8(1)]]).tolist() == [[3, 1]]
    assert mb.Grid(mb.Grid(ROWS)) == mb.Grid(ROWS)

    class Tensor:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array(ROWS)

    assert mb.Grid(Tensor()).tolist() == ROWS

    class Row:
        def __init__(self, row: list[int]) -> None:
            self.row = row

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array(self.row)

    rows: Any = [Row(row) for row in ROWS]
    assert mb.Grid(rows).tolist() == ROWS


def test_a_masked_array_is_refused() -> None:
    masked = np.ma.masked_array(ROWS, mask=np.zeros((2, 3), dtype=bool))
    for grid in (masked, list(masked), masked.astype(object)):
        with pytest.raises(TypeError, match="a masked array: expected one without a mask, as its `filled` gives"):
            mb.Grid(grid)
    assert mb.Grid(masked.filled(0)).tolist() == ROWS


def test_the_array_given_is_copied() -> None:
    array = np.array(ROWS, dtype=np.int8)
    grid = mb.Grid(array)
    array[0, 0] = 9
    assert grid.tolist() == ROWS
    out = np.asarray(grid)
    assert str(out.dtype) == "int8" and out.shape == (2, 3)
    out[0, 0] = 9
    assert grid.tolist() == ROWS
    assert np.asarray(grid, dtype=np.int64).dtype == np.int64


def test_grids_past_competitions_are_grids() -> None:
    grids: list[Any] = [[[10, -1] * 23] * 40, np.full((31, 64), 127, dtype=np.int16)]
    for wide in grids:
        assert np.array_equal(np.asarray(mb.Grid(wide)), np.asarray(wide))


BAD: list[tuple[Any, type[Exception], str]] = [
    ([[1, 2], [3]], ValueError, r"grid\[1\]: row of 1 cells where row 0 has 2"),
    ([[1.0]], TypeError, r"grid\[0\]\[0\]: expected a colour.*found float"),
    ([[0, -129]], ValueError, r"grid\[0\]\[1\]: colour -129: expected -128 to 127"),
    ([[128]], ValueError, r"colour 128"),
    ([[10**40]], ValueError, r"out of range"),
    ([[True]], TypeError, r"found bool"),
    ([["1"]], TypeError, r"found str"),
    ([[None]], TypeError, r"found NoneType"),
    ([[[1]]], TypeError, r"found list"),
    (["123"], TypeError, r"grid\[0\]: expected a row.*found str"),
    ([], ValueError, r"grid of 0 rows"),
    ([[]], ValueError, r"row of 0 cells"),
    ([[0] * 1_000_001], ValueError, r"row of 1000001 cells: expected 1 to 1000000"),
    ([[0] * 1001] * 1000, ValueError, r"grid of 1000 rows and 1001 columns: expected 1000000 cells"),
    ("0", TypeError, r"found str"),
    (b"0", TypeError, r"found bytes"),
    (7, TypeError, r"found int"),
    (None, TypeError, r"found NoneType"),
    ({(0, 0): 1}, TypeError, r"found dict"),
    ({0}, TypeError, r"found set"),
    (np.zeros((2, 2)), TypeError, r"found an array of float64"),
    (np.zeros((2, 2), dtype=bool), TypeError, r"found an array of bool"),
    (np.full((2, 2), None, dtype=object), TypeError, r"grid\[0\]\[0\]: expected a colour.*found NoneType"),
    (np.zeros((2, 2), dtype="U1"), TypeError, r"found an array of"),
    (np.zeros((2, 2), dtype="M8[s]"), TypeError, r"found an array of"),
    (np.zeros(4, dtype=int), ValueError, r"1 dimensions: expected 2"),
    (np.zeros((1, 2, 2), dtype=int), ValueError, r"3 dimensions: expected 2"),
    (np.zeros((0, 5), dtype=int), ValueError, r"grid of 0 rows"),
    (np.zeros((5, 0), dtype=int), ValueError, r"grid of 0 columns"),
    (np.full((2, 2), 2**63, dtype=np.uint64), ValueError, r"expected -128 to 127"),
    (np.full((2, 2), 300, dtype=np.int16), ValueError, r"colour 300"),
    (np.full((2, 2), -300, dtype=np.int16), ValueError, r"grid\[0\]\[0\]: colour -300"),
    (np.broadcast_to(np.int8(0), (10**9, 10**9)), ValueError, r"1000000000 rows"),
]


@pytest.mark.parametrize(("data", "error", "message"), BAD)
def test_what_is_no_grid_is_refused_with_its_place(
    data: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        mb.Grid(data)


def test_a_list_that_holds_itself_is_refused() -> None:
    rows: list[Any] = []
    rows.append(rows)
    with pytest.raises(TypeError, match="expected a colour"):
        mb.Grid(rows)


def test_grids_show_themselves() -> None:
    grid = mb.Grid(ROWS)
    assert grid._repr_html_().count("<rect") == 6
    assert repr(grid) == "Grid(((0, 1, 2), (3, 4, 5)))"
    assert str(grid).count("\n") == 2
    assert grid.shape == (2, 3) and hash(grid) == hash(mb.Grid(ROWS))


def test_unsigned_integers_do_not_wrap_around() -> None:
    for value in (2**64 - 1, 2**64 - 128, 2**63):
        for grid in (np.array([[value]], dtype=np.uint64), [np.array([value], dtype=np.uint64)], np.array([[value]], dtype=">u8")):
            with pytest.raises(ValueError, match=rf"colour {value}: expected -128 to 127"):
                mb.Grid(grid)
        with pytest.raises(ValueError, match="out of range"):
            mb.Grid([[np.uint64(value)]])
    assert mb.Grid(np.array([[3]], dtype=">u8")).tolist() == mb.Grid([[np.uint64(3)]]).tolist() == [[3]]
