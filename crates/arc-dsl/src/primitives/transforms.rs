//! Grids and objects turned, cut, joined and scaled.

use std::ops::Range;

use arc_isa::ContainerKind;

use super::arithmetic::{floor_div, loc};
use super::extents::{Bounds, extent};
use super::patches;
use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult, ValueKind};
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::types::{Patch, PatchItems, Piece};
use crate::value::Value;
use crate::value::sets::order::How;

/// The grid of `height` x `width` cells, each copied from the location that `source` returns.
fn sampled(
    grid: &Grid,
    height: usize,
    width: usize,
    source: impl Fn(usize, usize) -> (usize, usize),
) -> Grid {
    let mut cells = Vec::with_capacity(height * width);
    for i in 0..height {
        for j in 0..width {
            let (row, column) = source(i, j);
            cells.push(grid.at(row, column));
        }
    }
    Grid::from_cells(height, width, cells)
}

pub(super) fn rot90(grid: &Grid) -> Grid {
    let (height, width) = (grid.height(), grid.width());
    sampled(grid, width, height, |i, j| (height - 1 - j, i))
}

pub(super) fn rot180(grid: &Grid) -> Grid {
    let mut cells = grid.cells().to_vec();
    cells.reverse();
    Grid::from_cells(grid.height(), grid.width(), cells)
}

pub(super) fn rot270(grid: &Grid) -> Grid {
    let (height, width) = (grid.height(), grid.width());
    sampled(grid, width, height, |i, j| (j, width - 1 - i))
}

pub(super) fn hmirror(piece: Piece<'_>) -> EvalResult<Value> {
    match piece {
        Piece::Grid(grid) => {
            let cells = grid.rows().rev().flatten().copied().collect();
            Ok(Grid::from_cells(grid.height(), grid.width(), cells).into())
        }
        Piece::Patch(patch) => moved(patch, How::HorizontalMirror, |b, loc| {
            Loc::new(b.top + (b.bottom - loc.i), loc.j)
        }),
    }
}

pub(super) fn vmirror(piece: Piece<'_>) -> EvalResult<Value> {
    match piece {
        Piece::Grid(grid) => {
            let cells = grid
                .rows()
                .flat_map(|row| row.iter().rev())
                .copied()
                .collect();
            Ok(Grid::from_cells(grid.height(), grid.width(), cells).into())
        }
        Piece::Patch(patch) => moved(patch, How::VerticalMirror, |b, loc| {
            Loc::new(loc.i, b.left + (b.right - loc.j))
        }),
    }
}

pub(super) fn dmirror(piece: Piece<'_>) -> EvalResult<Value> {
    match piece {
        Piece::Grid(grid) => Ok(sampled(grid, grid.width(), grid.height(), |i, j| (j, i)).into()),
        Piece::Patch(patch) => moved(patch, How::DiagonalMirror, |b, loc| {
            Loc::new(loc.j - b.left + b.top, loc.i - b.top + b.left)
        }),
    }
}

pub(super) fn cmirror(piece: Piece<'_>) -> EvalResult<Value> {
    match piece {
        Piece::Grid(grid) => {
            let (height, width) = (grid.height(), grid.width());
            Ok(sampled(grid, width, height, |i, j| (height - 1 - j, width - 1 - i)).into())
        }
        // Mirrored left to right, along the diagonal, and left to right again: the upper left corner of the bounding
        // box stays.
        Piece::Patch(patch) => moved(patch, How::CounterMirror, |b, loc| {
            Loc::new(b.top + (b.right - loc.j), b.left + (b.bottom - loc.i))
        }),
    }
}

/// The patch with each location mapped by `to`, which also receives the bounding box.
fn moved(patch: Patch<'_>, how: How, to: impl Fn(Bounds, Loc) -> Loc) -> EvalResult<Value> {
    let bounds = Bounds::of(patch.locs())?;
    let to = |from: Loc| {
        let Loc { i, j } = to(bounds, from);
        loc(i64::from(i), i64::from(j))
    };
    let built = patches::built_from(patch, how);
    Ok(match patch.items {
        PatchItems::Locs(locs) => {
            Indices::built(patches::moved(locs, |&loc| to(loc))?, built).into()
        }
        PatchItems::Cells(cells) => {
            let to = |cell: &Cell| {
                Ok(Cell {
                    loc: to(cell.loc)?,
                    ..*cell
                })
            };
            Object::built(patches::moved(cells, to)?, built).into()
        }
    })
}

/// The rows or columns that Python's `[start:stop]` selects from `length`.
fn slice(length: usize, start: i64, stop: i64) -> Range<usize> {
    let length = length as i64;
    let place = |at: i64| {
        if at < 0 {
            (at + length).max(0)
        } else {
            at.min(length)
        }
    };
    let (start, stop) = (place(start), place(stop));
    start as usize..stop.max(start) as usize
}

/// The grid of these rows and columns.
fn cut(grid: &Grid, rows: Range<usize>, columns: &Range<usize>) -> Grid {
    let (height, width) = (rows.len(), columns.len());
    let mut cells = Vec::with_capacity(height * width);
    for i in rows {
        cells.extend_from_slice(&grid.row(i)[columns.clone()]);
    }
    Grid::from_cells(height, width, cells)
}

pub(super) fn crop(grid: &Grid, start: Loc, dims: Loc) -> Grid {
    let range = |length, start: i32, size: i32| {
        slice(length, i64::from(start), i64::from(start) + i64::from(size))
    };
    let columns = range(grid.width(), start.j, dims.j);
    cut(grid, range(grid.height(), start.i, dims.i), &columns)
}

pub(super) fn subgrid(patch: Patch<'_>, grid: &Grid) -> EvalResult<Grid> {
    let start = Bounds::of(patch.locs())?.start();
    Ok(crop(grid, start, extent(patch)))
}

pub(super) fn trim(grid: &Grid) -> Grid {
    cut(
        grid,
        slice(grid.height(), 1, -1),
        &slice(grid.width(), 1, -1),
    )
}

pub(super) fn tophalf(grid: &Grid) -> Grid {
    cut(grid, 0..grid.height() / 2, &(0..grid.width()))
}

pub(super) fn bottomhalf(grid: &Grid) -> Grid {
    cut(
        grid,
        grid.height().div_ceil(2)..grid.height(),
        &(0..grid.width()),
    )
}

pub(super) fn lefthalf(grid: &Grid) -> Grid {
    columns(grid, &(0..grid.width() / 2))
}

pub(super) fn righthalf(grid: &Grid) -> Grid {
    columns(grid, &(grid.width().div_ceil(2)..grid.width()))
}

/// The grid of these columns. Without columns there are no rows either, since the DSL computes left and right halves by
/// turning the grid.
fn columns(grid: &Grid, columns: &Range<usize>) -> Grid {
    if columns.is_empty() {
        Grid::default()
    } else {
        cut(grid, 0..grid.height(), columns)
    }
}

pub(super) fn hsplit(cx: &mut Context<'_>, grid: &Grid, n: i32) -> EvalResult<Value> {
    split(cx, grid, n, grid.width(), |part| {
        cut(grid, 0..grid.height(), &part)
    })
}

pub(super) fn vsplit(cx: &mut Context<'_>, grid: &Grid, n: i32) -> EvalResult<Value> {
    split(cx, grid, n, grid.height(), |part| {
        cut(grid, part, &(0..grid.width()))
    })
}

/// `n` parts of an axis of `length`, with one line left out between them if it does not divide evenly.
fn split(
    cx: &mut Context<'_>,
    grid: &Grid,
    n: i32,
    length: usize,
    part: impl Fn(Range<usize>) -> Grid,
) -> EvalResult<Value> {
    grid.require_row()?;
    let size = floor_div(length as i64, i64::from(n))?;
    let gap = i64::from(length as i64 % i64::from(n) != 0);
    // Each part is a grid, even if it is empty.
    let empty = Value::from(Grid::default()).weight();
    cx.reserve(n.max(0) as u64 * (grid.height() as u64 + u64::from(empty)))?;
    let parts = (0..i64::from(n)).map(|k| {
        let start = (size + gap) * k;
        part(slice(length, start, start + size)).into()
    });
    Ok(Value::tuple(parts.collect()))
}

pub(super) fn hconcat(cx: &mut Context<'_>, a: &Grid, b: &Grid) -> EvalResult<Grid> {
    let (height, width) = (a.height().min(b.height()), a.width() + b.width());
    cx.reserve_grid(height as u64, width as u64)?;
    let mut cells = Vec::with_capacity(height * width);
    for (left, right) in a.rows().zip(b.rows()) {
        cells.extend_from_slice(left);
        cells.extend_from_slice(right);
    }
    Ok(Grid::from_cells(height, width, cells))
}

pub(super) fn vconcat(cx: &mut Context<'_>, a: &Grid, b: &Grid) -> EvalResult<Value> {
    let height = a.height() + b.height();
    cx.reserve_grid(height as u64, a.width().max(b.width()) as u64)?;
    if a.width() == b.width() || a.height() == 0 || b.height() == 0 {
        let cells = [a.cells(), b.cells()].concat();
        return Ok(Grid::from_cells(height, a.width().max(b.width()), cells).into());
    }
    let mut rows = cx.collector(ContainerKind::Tuple);
    for grid in [a, b] {
        let grid = Value::from(grid.clone());
        if let Some(container) = grid.as_container() {
            rows.extend(cx, container)?;
        }
    }
    rows.finish(cx)
}

pub(super) fn hupscale(cx: &mut Context<'_>, grid: &Grid, factor: i32) -> EvalResult<Grid> {
    scaled(cx, grid, 1, factor)
}

pub(super) fn vupscale(cx: &mut Context<'_>, grid: &Grid, factor: i32) -> EvalResult<Grid> {
    scaled(cx, grid, factor, 1)
}

/// Each cell `down` rows high and `right` columns wide.
fn scaled(cx: &mut Context<'_>, grid: &Grid, down: i32, right: i32) -> EvalResult<Grid> {
    let (down, right) = (down.max(0) as usize, right.max(0) as usize);
    let (height, width) = (grid.height() * down, grid.width() * right);
    cx.reserve_grid(height as u64, width as u64)?;
    Ok(sampled(grid, height, width, |i, j| (i / down, j / right)))
}

pub(super) fn upscale(cx: &mut Context<'_>, element: Piece<'_>, factor: i32) -> EvalResult<Value> {
    let patch = match element {
        Piece::Grid(grid) => return scaled(cx, grid, factor, factor).map(Value::from),
        Piece::Patch(patch) => patch,
    };
    let cells = match patch.items {
        PatchItems::Cells(cells) => cells,
        PatchItems::Locs([]) => return Ok(Value::empty_set()),
        PatchItems::Locs(_) => {
            return Err(ErrorKind::Element {
                expected: ValueKind::Cell,
                found: ValueKind::Pair,
            });
        }
    };
    let factor = factor.max(0);
    let square = u64::from(factor.unsigned_abs()).pow(2);
    let count = square.saturating_mul(cells.len() as u64);
    cx.reserve(count)?;
    // They are created cell by cell and have to be sorted.
    cx.work(2 * count)?;
    let start = Bounds::of(patch.locs())?.start();
    let scaled = |at: i32, from: i32, within: i32| {
        i64::from(at - from) * i64::from(factor) + i64::from(within) + i64::from(from)
    };
    let mut large = Vec::with_capacity(cells.len() * square as usize);
    for cell in cells {
        for i in 0..factor {
            for j in 0..factor {
                let i = scaled(cell.loc.i, start.i, i);
                large.push(Cell {
                    loc: loc(i, scaled(cell.loc.j, start.j, j))?,
                    ..*cell
                });
            }
        }
    }
    Ok(Object::built(large, patches::built_from(patch, How::Scaled)).into())
}

pub(super) fn downscale(grid: &Grid, factor: i32) -> EvalResult<Grid> {
    grid.require_row()?;
    let factor = factor.unsigned_abs() as usize;
    if factor == 0 {
        return Err(ErrorKind::DivisionByZero);
    }
    let (height, width) = (
        grid.height().div_ceil(factor),
        grid.width().div_ceil(factor),
    );
    Ok(sampled(grid, height, width, |i, j| {
        (i * factor, j * factor)
    }))
}

/// What Python returns for tuples of any values in place of grids, and for patches with any values as colours.
pub(super) mod untyped {
    use arc_isa::{ContainerKind, Primitive};

    use crate::budget::Context;
    use crate::patch::Loc;
    use crate::primitives::extents::untyped::{UPPER_LEFT, corner, shape};
    use crate::primitives::patches::untyped::{moved, shift};
    use crate::primitives::untyped::{
        PythonResult, Refusal, Rows, copied_set_of, elements, grid_of, int, ints, is_coloured,
        is_tuple, item, list, plus, rows, sides, to_indices, transposed, tuple_rows_of_tuples,
        tuple_value, typed, unpack,
    };
    use crate::value::Value;

    pub(in crate::primitives) fn call(
        cx: &mut Context<'_>,
        primitive: Primitive,
        arguments: &[&Value],
    ) -> PythonResult {
        use Primitive as P;
        match (primitive, arguments) {
            (P::Rot90, &[grid]) => {
                let turned = turned_right(tuple_rows(grid)?);
                grid_of(cx, turned)
            }
            (P::Rot180, &[grid]) => {
                let rows = reversed(tuple_rows_of_tuples(grid)?);
                grid_of(cx, rows.into_iter().map(reversed))
            }
            (P::Rot270, &[grid]) => {
                let turned = turned_left(tuple_rows(grid)?);
                grid_of(cx, turned)
            }
            (P::Hmirror, &[piece]) if is_tuple(piece) => Ok(Value::tuple(reversed(list(piece)?))),
            (P::Vmirror, &[piece]) if is_tuple(piece) => {
                let rows = tuple_rows_of_tuples(piece)?;
                grid_of(cx, rows.into_iter().map(reversed))
            }
            (P::Dmirror, &[piece]) if is_tuple(piece) => {
                let transposed = transposed(&rows(piece)?);
                grid_of(cx, transposed)
            }
            (P::Cmirror, &[piece]) if is_tuple(piece) => {
                let rows = reversed(tuple_rows_of_tuples(piece)?);
                let rows: Rows = rows.into_iter().map(reversed).collect();
                grid_of(cx, transposed(&rows))
            }
            (P::Hmirror | P::Vmirror | P::Dmirror | P::Cmirror, &[patch]) => {
                mirrored(cx, primitive, patch)
            }
            (P::Crop, &[grid, start, dims]) => crop(cx, grid, start, dims),
            (P::Subgrid, &[patch, grid]) => {
                let start = corner(patch, UPPER_LEFT)?;
                let dims = Value::Loc(shape(cx, patch)?);
                crop(cx, grid, &start, &dims)
            }
            (P::Trim, &[grid]) => {
                let inner = |row: Vec<Value>| cut(&row, 1, -1);
                let rows = cut(&list(tuple_value(grid)?)?, 1, -1);
                let rows = rows
                    .iter()
                    .map(|row| Ok(inner(list(tuple_value(row)?)?)))
                    .collect::<PythonResult<Rows>>()?;
                grid_of(cx, rows)
            }
            (P::Tophalf, &[grid]) => {
                let mut rows = list(tuple_value(grid)?)?;
                rows.truncate(rows.len() / 2);
                Ok(Value::tuple(rows))
            }
            (P::Bottomhalf, &[grid]) => {
                let rows = list(tuple_value(grid)?)?;
                Ok(Value::tuple(rows[rows.len().div_ceil(2)..].to_vec()))
            }
            (P::Lefthalf | P::Righthalf, &[grid]) => {
                let mut turned = turned_right(tuple_rows(grid)?);
                let half = turned.len() / 2;
                match primitive {
                    P::Lefthalf => turned.truncate(half),
                    _ => drop(turned.drain(..turned.len().div_ceil(2))),
                }
                grid_of(cx, turned_left(turned))
            }
            (P::Hsplit | P::Vsplit, &[grid, n]) => split(cx, primitive, grid, n),
            (P::Hconcat, &[a, b]) => {
                let mut all = cx.collector(ContainerKind::Tuple);
                for (a, b) in elements(a)?.iter().zip(elements(b)?.iter()) {
                    let sum = plus(cx, &a, &b)?;
                    all.push(cx, sum)?;
                }
                Ok(all.finish(cx)?)
            }
            (P::Vconcat, &[a, b]) => plus(cx, a, b),
            (P::Hupscale, &[grid, factor]) => scaled(cx, &rows(grid)?, &Value::Int(1), factor),
            (P::Vupscale, &[grid, factor]) => {
                let mut all = cx.collector(ContainerKind::Tuple);
                for row in elements(grid)?.iter() {
                    for _ in 0..int(factor)? {
                        all.push(cx, row.clone().into_owned())?;
                    }
                }
                Ok(all.finish(cx)?)
            }
            (P::Upscale, &[element, factor]) if is_tuple(element) => {
                scaled(cx, &rows(element)?, factor, factor)
            }
            (P::Upscale, &[element, factor]) => upscale_patch(cx, element, factor),
            (P::Downscale, &[grid, factor]) => downscale(cx, grid, factor),
            _ => Err(Refusal::Raises),
        }
    }

    /// The rows of a tuple of iterable values.
    fn tuple_rows(value: &Value) -> PythonResult<Rows> {
        rows(tuple_value(value)?)
    }

    fn reversed<T>(mut items: Vec<T>) -> Vec<T> {
        items.reverse();
        items
    }

    fn turned_right(rows: Rows) -> Rows {
        transposed(&reversed(rows))
    }

    fn turned_left(rows: Rows) -> Rows {
        let turned = turned_right(rows);
        reversed(turned.into_iter().map(reversed).collect())
    }

    /// `items[start:stop]`, where negative numbers count from the end.
    fn cut(items: &[Value], start: i64, stop: i64) -> Vec<Value> {
        let len = items.len() as i64;
        let place = |at: i64| {
            if at < 0 {
                (at + len).max(0)
            } else {
                at.min(len)
            }
        };
        let (start, stop) = (place(start), place(stop));
        if start >= stop {
            return Vec::new();
        }
        items[start as usize..stop as usize].to_vec()
    }

    fn crop(cx: &mut Context<'_>, grid: &Value, start: &Value, dims: &Value) -> PythonResult {
        let slice = |items: &[Value], at: usize| -> PythonResult<Vec<Value>> {
            let (from, count) = (int(&item(start, at)?)?, int(&item(dims, at)?)?);
            let from = i64::from(from);
            Ok(cut(items, from, from + i64::from(count)))
        };
        let mut kept = Vec::new();
        for row in slice(&list(tuple_value(grid)?)?, 0)? {
            kept.push(slice(&list(tuple_value(&row)?)?, 1)?);
        }
        grid_of(cx, kept)
    }

    fn split(cx: &mut Context<'_>, primitive: Primitive, grid: &Value, n: &Value) -> PythonResult {
        let (height, width) = sides(grid)?;
        let n = int(n)?;
        let count = usize::try_from(n).unwrap_or(0);
        if n == 0 {
            return Err(Refusal::Raises);
        }
        let side = match primitive {
            Primitive::Hsplit => width,
            _ => height,
        } as i64;
        let part = side.div_euclid(i64::from(n));
        let over = i64::from(side % i64::from(n) != 0);
        let mut all = cx.collector(ContainerKind::Tuple);
        for at in 0..count {
            let start = (part + over) * at as i64;
            // Past the end of the grid there are no cells, however far.
            let start = start.min(side) as i32;
            let (start, dims) = match primitive {
                Primitive::Hsplit => (Loc::new(0, start), Loc::new(height as i32, part as i32)),
                _ => (Loc::new(start, 0), Loc::new(part as i32, width as i32)),
            };
            // All rows are copied for each part.
            cx.work(u64::from(grid.work()))?;
            let part = crop(cx, grid, &Value::Loc(start), &Value::Loc(dims))?;
            all.push(cx, part)?;
        }
        Ok(all.finish(cx)?)
    }

    /// A mirrored patch whose colours may be any values.
    fn mirrored(cx: &mut Context<'_>, primitive: Primitive, patch: &Value) -> PythonResult {
        if primitive == Primitive::Cmirror {
            let turned = mirrored(cx, Primitive::Vmirror, patch)?;
            let turned = mirrored(cx, Primitive::Dmirror, &turned)?;
            return mirrored(cx, Primitive::Vmirror, &turned);
        }
        let container = elements(patch)?;
        if container.is_empty() || !is_coloured(container)? {
            return Err(Refusal::Raises);
        }
        let indices = to_indices(patch)?;
        let upper = ints(&typed(cx, Primitive::Ulcorner, &[&indices])?)?;
        let lower = ints(&typed(cx, Primitive::Lrcorner, &[&indices])?)?;
        moved(cx, patch, |_, i, j| {
            let (i, j) = (int(i)?, int(j)?);
            let there = match primitive {
                Primitive::Hmirror => Loc::new(upper.i + lower.i - i, j),
                Primitive::Vmirror => Loc::new(i, upper.j + lower.j - j),
                _ => Loc::new(j - upper.j + upper.i, i - upper.i + upper.j),
            };
            Ok(Value::Loc(there))
        })
    }

    /// Every cell repeated `down` times downwards and `right` times to the right.
    fn scaled(cx: &mut Context<'_>, rows: &Rows, down: &Value, right: &Value) -> PythonResult {
        if rows.is_empty() {
            return Ok(Value::tuple(Vec::new()));
        }
        let mut all = cx.collector(ContainerKind::Tuple);
        for row in rows {
            let times = if row.is_empty() {
                0
            } else {
                int(right)?.max(0)
            };
            let weight: u64 = row.iter().map(|cell| u64::from(cell.own_weight())).sum();
            cx.reserve(weight.saturating_mul(u64::from(times.unsigned_abs())))?;
            let cells = row
                .iter()
                .flat_map(|cell| vec![cell.clone(); times as usize]);
            let wide = Value::tuple(cells.collect());
            for _ in 0..int(down)? {
                all.push(cx, wide.clone())?;
            }
        }
        Ok(all.finish(cx)?)
    }

    fn upscale_patch(cx: &mut Context<'_>, patch: &Value, factor: &Value) -> PythonResult {
        let container = elements(patch)?;
        if container.is_empty() {
            return Ok(Value::empty_set());
        }
        if !is_coloured(container)? {
            return Err(Refusal::Raises);
        }
        let corner = ints(&typed(cx, Primitive::Ulcorner, &[&to_indices(patch)?])?)?;
        let factor = i64::from(int(factor)?.max(0));
        cx.reserve((factor * factor) as u64 * container.len() as u64)?;
        let normed = shift(cx, patch, &Value::Loc(Loc::new(-corner.i, -corner.j)))?;
        let mut all = Vec::new();
        for element in elements(&normed)?.iter() {
            let (value, loc) = unpack(&element)?;
            let (i, j) = unpack(&loc)?;
            let (i, j) = (int(&i)?, int(&j)?);
            for down in 0..factor as i32 {
                for right in 0..factor as i32 {
                    let there = Loc::new(i * factor as i32 + down, j * factor as i32 + right);
                    all.push(Value::pair(&value, &Value::Loc(there)));
                }
            }
        }
        let large = copied_set_of(cx, all)?;
        shift(cx, &large, &Value::Loc(corner))
    }

    fn downscale(cx: &mut Context<'_>, grid: &Value, factor: &Value) -> PythonResult {
        let (height, width) = sides(grid)?;
        let step = match int(factor)?.unsigned_abs() as usize {
            0 => return Err(Refusal::Raises),
            step => step,
        };
        // Only the cells that stay are read, of the rows that do not stay too.
        let row = |i| {
            let row = item(grid, i)?;
            let read = (0..width).step_by(step).map(|j| item(&row, j));
            read.collect::<PythonResult<Vec<Value>>>()
        };
        let rows: Rows = (0..height).map(row).collect::<PythonResult<_>>()?;
        grid_of(cx, rows.into_iter().step_by(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Primitive;
    use crate::error::Limit;
    use crate::primitives::testing::{at, call};

    fn grid(rows: &[&[i32]]) -> Value {
        Grid::from_rows(rows).unwrap().into()
    }

    #[test]
    fn a_row_need_not_have_the_cells_that_are_left_out() {
        let row = |cells: &[i32]| Value::tuple(cells.iter().map(|n| Value::Int(*n)).collect());
        let rows = [
            row(&[6, 2]),
            row(&[6, 2]),
            Value::tuple(vec![Value::Int(-3)]),
            row(&[6, 2]),
        ];
        let three = Value::Int(3);
        let result = call(
            Primitive::Downscale,
            &[&Value::tuple(rows.to_vec()), &three],
        );
        assert_eq!(result.unwrap().to_string(), "((6,), (6,))");
        let rows = [row(&[6, 2]), Value::tuple(Vec::new())];
        assert!(
            call(
                Primitive::Downscale,
                &[&Value::tuple(rows.to_vec()), &three]
            )
            .is_err()
        );
    }

    #[test]
    fn turns_and_mirrors_of_a_grid() {
        let start = grid(&[&[1, 2, 3], &[4, 5, 6]]);
        for (primitive, expected) in [
            (Primitive::Rot90, "((4, 1), (5, 2), (6, 3))"),
            (Primitive::Rot180, "((6, 5, 4), (3, 2, 1))"),
            (Primitive::Rot270, "((3, 6), (2, 5), (1, 4))"),
            (Primitive::Hmirror, "((4, 5, 6), (1, 2, 3))"),
            (Primitive::Vmirror, "((3, 2, 1), (6, 5, 4))"),
            (Primitive::Dmirror, "((1, 4), (2, 5), (3, 6))"),
            (Primitive::Cmirror, "((6, 3), (5, 2), (4, 1))"),
            (Primitive::Trim, "()"),
            (Primitive::Tophalf, "((1, 2, 3),)"),
            (Primitive::Bottomhalf, "((4, 5, 6),)"),
            (Primitive::Lefthalf, "((1,), (4,))"),
            (Primitive::Righthalf, "((3,), (6,))"),
        ] {
            assert_eq!(
                call(primitive, &[&start]).unwrap().to_string(),
                expected,
                "{primitive}"
            );
        }
    }

    #[test]
    fn mirrors_of_a_patch_stay_in_its_box() {
        let object: Value = Object::new(vec![
            Cell::new(1, Loc::new(2, 3)),
            Cell::new(2, Loc::new(2, 4)),
            Cell::new(3, Loc::new(3, 3)),
        ])
        .into();
        for (primitive, expected) in [
            (
                Primitive::Hmirror,
                "frozenset({(3, (2, 3)), (1, (3, 3)), (2, (3, 4))})",
            ),
            (
                Primitive::Vmirror,
                "frozenset({(3, (3, 4)), (1, (2, 4)), (2, (2, 3))})",
            ),
            (
                Primitive::Dmirror,
                "frozenset({(2, (3, 3)), (1, (2, 3)), (3, (2, 4))})",
            ),
            (
                Primitive::Cmirror,
                "frozenset({(1, (3, 4)), (3, (3, 3)), (2, (2, 4))})",
            ),
        ] {
            assert_eq!(
                call(primitive, &[&object]).unwrap().to_string(),
                expected,
                "{primitive}"
            );
            assert_eq!(
                call(primitive, &[&Value::empty_set()]),
                Err(ErrorKind::Empty)
            );
        }
    }

    #[test]
    fn cropping_counts_negative_starts_from_the_end() {
        let start = grid(&[&[1, 2, 3], &[4, 5, 6], &[7, 8, 9]]);
        let crop = |start_at, dims| call(Primitive::Crop, &[&start, &start_at, &dims]).unwrap();
        assert_eq!(crop(at(1, 1), at(9, 1)), grid(&[&[5], &[8]]));
        assert_eq!(crop(at(-2, 0), at(1, 2)), grid(&[&[4, 5]]));
        // A slice with a negative start and a stop counted from the beginning is empty.
        assert_eq!(crop(at(-1, 0), at(1, 2)).to_string(), "()");
        assert_eq!(crop(at(0, 5), at(2, 2)).to_string(), "((), ())");
    }

    #[test]
    fn what_does_not_divide_evenly_is_left_between_the_parts() {
        let start = grid(&[&[1, 2, 3, 4, 5]]);
        let parts = call(Primitive::Hsplit, &[&start, &Value::Int(2)]).unwrap();
        assert_eq!(parts.to_string(), "(((1, 2),), ((4, 5),))");
        assert_eq!(
            call(Primitive::Hsplit, &[&start, &Value::Int(0)]),
            Err(ErrorKind::DivisionByZero)
        );
        let huge = Value::Int(1_000_000_000);
        assert_eq!(
            call(Primitive::Vsplit, &[&start, &huge]),
            Err(Limit::Elements.into())
        );
    }

    #[test]
    fn grids_of_different_size_join_as_far_as_they_go() {
        let (a, b) = (grid(&[&[1, 2], &[3, 4]]), grid(&[&[5]]));
        assert_eq!(call(Primitive::Hconcat, &[&a, &b]), Ok(grid(&[&[1, 2, 5]])));
        let rows = call(Primitive::Vconcat, &[&a, &b]).unwrap();
        assert_eq!(rows.to_string(), "((1, 2), (3, 4), (5,))");
        assert!(rows.as_grid().is_none());
    }

    #[test]
    fn scaling_up_and_down() {
        let start = grid(&[&[1, 2]]);
        let large = call(Primitive::Upscale, &[&start, &Value::Int(2)]).unwrap();
        assert_eq!(large, grid(&[&[1, 1, 2, 2], &[1, 1, 2, 2]]));
        assert_eq!(
            call(Primitive::Downscale, &[&large, &Value::Int(-2)]),
            Ok(start.clone())
        );
        assert_eq!(
            call(Primitive::Hupscale, &[&start, &Value::Int(0)])
                .unwrap()
                .to_string(),
            "((),)"
        );
        assert_eq!(
            call(Primitive::Upscale, &[&start, &Value::Int(-1)])
                .unwrap()
                .to_string(),
            "()"
        );
        assert_eq!(
            call(Primitive::Upscale, &[&start, &Value::Int(100_000)]),
            Err(Limit::Cells.into())
        );
        let object: Value = Object::new(vec![Cell::new(1, Loc::new(5, 5))]).into();
        assert_eq!(
            call(Primitive::Upscale, &[&object, &Value::Int(2)])
                .unwrap()
                .to_string(),
            "frozenset({(1, (6, 5)), (1, (5, 6)), (1, (6, 6)), (1, (5, 5))})",
        );
    }
}
