//! Grids and objects turned, cut, joined and scaled.

use std::borrow::Cow;
use std::iter::repeat_n;
use std::ops::Range;

use arc_isa::{ContainerKind, Primitive};

use super::arithmetic::{floor_div, loc};
use super::extents::{Bounds, LOWER_RIGHT, UPPER_LEFT, corner, shape};
use super::patches;
use super::patches::untyped::{moved, shift};
use super::untyped::{
    PythonResult, Refusal, Rows, copied_set_of, elements, grid_of, int, is_coloured, is_tuple,
    item, list, minus, plus, rows, sides, tuple, tuple_rows_of_tuples, tuple_value, unpack,
};
use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult, ValueKind};
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::types::{PatchItems, Piece, as_patch};
use crate::value::Value;
use crate::value::sets::order::How;

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

/// The rows of a grid, or of a tuple of rows with any elements.
enum Sheet<'a> {
    Grid(Cow<'a, Grid>),
    Rows(Rows),
}

impl<'a> Sheet<'a> {
    fn of(grid: &'a Value) -> PythonResult<Self> {
        Ok(match grid.as_grid() {
            Some(grid) => Self::Grid(grid),
            None => Self::Rows(rows(tuple_value(grid)?)?),
        })
    }

    /// The number of rows, and of columns: as many as the shortest row has cells.
    fn size(&self) -> (usize, usize) {
        match self {
            Self::Grid(grid) => (grid.height(), grid.width()),
            Self::Rows(rows) => (rows.len(), rows.iter().map(Vec::len).min().unwrap_or(0)),
        }
    }

    /// `height` rows and `width` columns, each cell copied from the row and column that `source` returns.
    fn sampled(
        &self,
        cx: &mut Context<'_>,
        (height, width): (usize, usize),
        source: impl Fn(usize, usize) -> (usize, usize),
    ) -> PythonResult {
        match self {
            Self::Grid(grid) => Ok(sampled(grid, height, width, source).into()),
            Self::Rows(rows) => {
                let cell = |i, j| {
                    let (row, column) = source(i, j);
                    rows[row][column].clone()
                };
                let row = |i| (0..width).map(|j| cell(i, j)).collect();
                grid_of(cx, (0..height).map(row))
            }
        }
    }
}

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

/// Some rows of a tuple, which may be any values.
fn some_rows(grid: &Value, rows: impl Fn(usize) -> Range<usize>) -> PythonResult {
    if let Some(grid) = grid.as_grid() {
        let rows = rows(grid.height());
        let cells = grid.cells()[rows.start * grid.width()..rows.end * grid.width()].to_vec();
        return Ok(Grid::from_cells(rows.len(), grid.width(), cells).into());
    }
    let all = list(tuple_value(grid)?)?;
    Ok(Value::tuple(all[rows(all.len())].to_vec()))
}

/// The columns of these rows that `columns` returns for the length of each.
fn part(
    cx: &mut Context<'_>,
    grid: &Value,
    rows: Range<usize>,
    columns: impl Fn(usize) -> PythonResult<Range<usize>>,
) -> PythonResult {
    if let Some(grid) = grid.as_grid() {
        if rows.is_empty() {
            return Ok(Grid::default().into());
        }
        let columns = columns(grid.width())?;
        let (height, width) = (rows.len(), columns.len());
        let mut cells = Vec::with_capacity(height * width);
        for i in rows {
            cells.extend_from_slice(&grid.row(i)[columns.clone()]);
        }
        return Ok(Grid::from_cells(height, width, cells).into());
    }
    let mut kept = Vec::with_capacity(rows.len());
    for i in rows {
        let row = list(tuple_value(&item(grid, i)?)?)?;
        kept.push(row[columns(row.len())?].to_vec());
    }
    grid_of(cx, kept)
}

/// The part of a grid of this size, from a location on.
fn crop(cx: &mut Context<'_>, grid: &Value, start: &Value, dims: &Value) -> PythonResult {
    let range = |length: usize, at: usize| {
        let (from, count) = (int(&item(start, at)?)?, int(&item(dims, at)?)?);
        let from = i64::from(from);
        Ok(slice(length, from, from + i64::from(count)))
    };
    let rows = range(tuple(grid)?.len(), 0)?;
    part(cx, grid, rows, |length| range(length, 1))
}

/// `n` parts of a grid, with one line left out between them if they do not divide it evenly.
fn split(cx: &mut Context<'_>, primitive: Primitive, grid: &Value, n: &Value) -> PythonResult {
    let (height, width) = sides(grid)?;
    let n = i64::from(int(n)?);
    let side = match primitive {
        Primitive::Hsplit => width,
        _ => height,
    } as i64;
    let size = floor_div(side, n)?;
    let step = size + i64::from(side % n != 0);
    // Each part is a grid, even if it is empty.
    let empty = Value::from(Grid::default()).weight();
    cx.reserve(n.max(0) as u64 * (height as u64 + u64::from(empty)))?;
    let mut parts = Vec::with_capacity(n.max(0) as usize);
    for start in (0..n).map(|k| step * k) {
        if !matches!(grid, Value::Grid(_)) {
            // All rows are copied for each part.
            cx.work(u64::from(grid.work()))?;
        }
        parts.push(match primitive {
            Primitive::Hsplit => part(cx, grid, 0..height, |length| {
                Ok(slice(length, start, start + size))
            })?,
            _ => part(cx, grid, slice(height, start, start + size), |length| {
                Ok(0..width.min(length))
            })?,
        });
    }
    Ok(Value::tuple(parts))
}

/// Every row and column whose index is a multiple of the factor. Only the cells that stay are read, of the rows that do
/// not stay too.
fn downscale(cx: &mut Context<'_>, grid: &Value, factor: &Value) -> PythonResult {
    let (height, width) = sides(grid)?;
    let step = int(factor)?.unsigned_abs() as usize;
    if step == 0 {
        return Err(ErrorKind::DivisionByZero.into());
    }
    if let Some(grid) = grid.as_grid() {
        let (height, width) = (height.div_ceil(step), width.div_ceil(step));
        return Ok(sampled(&grid, height, width, |i, j| (i * step, j * step)).into());
    }
    let row = |i| {
        let row = item(grid, i)?;
        let read = (0..width).step_by(step).map(|j| item(&row, j));
        read.collect::<PythonResult<Vec<Value>>>()
    };
    let rows: Rows = (0..height).map(row).collect::<PythonResult<_>>()?;
    grid_of(cx, rows.into_iter().step_by(step))
}

fn hmirror(grid: &Value) -> PythonResult {
    if let Some(grid) = grid.as_grid() {
        let cells = grid.rows().rev().flatten().copied().collect();
        return Ok(Grid::from_cells(grid.height(), grid.width(), cells).into());
    }
    Ok(Value::tuple(reversed(list(tuple_value(grid)?)?)))
}

fn vmirror(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
    if let Some(grid) = grid.as_grid() {
        let cells = grid.rows().flat_map(|row| row.iter().rev());
        let cells = cells.copied().collect();
        return Ok(Grid::from_cells(grid.height(), grid.width(), cells).into());
    }
    let rows = tuple_rows_of_tuples(grid)?;
    grid_of(cx, rows.into_iter().map(reversed))
}

fn dmirror(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
    let sheet = Sheet::of(grid)?;
    let (height, width) = sheet.size();
    sheet.sampled(cx, (width, height), |i, j| (j, i))
}

/// Where a mirror puts a location of a patch with this bounding box.
fn mirror(primitive: Primitive) -> (How, fn(Bounds, Loc) -> Loc) {
    match primitive {
        Primitive::Hmirror => (How::HorizontalMirror, |b, loc| {
            Loc::new(b.top + (b.bottom - loc.i), loc.j)
        }),
        Primitive::Vmirror => (How::VerticalMirror, |b, loc| {
            Loc::new(loc.i, b.left + (b.right - loc.j))
        }),
        Primitive::Dmirror => (How::DiagonalMirror, |b, loc| {
            Loc::new(loc.j - b.left + b.top, loc.i - b.top + b.left)
        }),
        // Mirrored left to right, along the diagonal, and left to right again: the upper left corner of the bounding
        // box stays.
        _ => (How::CounterMirror, |b, loc| {
            Loc::new(b.top + (b.right - loc.j), b.left + (b.bottom - loc.i))
        }),
    }
}

/// A mirrored patch, whose colours may be any values.
fn mirrored(cx: &mut Context<'_>, primitive: Primitive, patch: &Value) -> PythonResult {
    if let Value::Indices(_) | Value::Object(_) = patch
        && let Some(patch) = as_patch(patch)
    {
        let patch = patch.borrow();
        let (how, to) = mirror(primitive);
        let bounds = Bounds::of(patch.locs())?;
        let to = |from: Loc| {
            let Loc { i, j } = to(bounds, from);
            loc(i64::from(i), i64::from(j))
        };
        let built = patches::built_from(patch, how);
        return Ok(match patch.items {
            PatchItems::Locs(locs) => {
                let images = patches::moved(locs, |&loc| to(loc))?;
                Indices::built(images, built).into()
            }
            PatchItems::Cells(cells) => {
                let to = |cell: &Cell| Ok(Cell::new(cell.colour, to(cell.loc)?));
                let images = patches::moved(cells, to)?;
                Object::built(images, built).into()
            }
        });
    }
    match primitive {
        Primitive::Hmirror | Primitive::Vmirror => {
            let at = usize::from(primitive == Primitive::Vmirror);
            let [first, last] =
                [UPPER_LEFT, LOWER_RIGHT].map(|wanted| item(&corner(patch, wanted)?, at));
            let sum = plus(cx, &first?, &last?)?;
            moved(cx, patch, |cx, i, j| {
                Ok(match at {
                    0 => Value::pair(&minus(cx, &sum, i)?, j),
                    _ => Value::pair(i, &minus(cx, &sum, j)?),
                })
            })
        }
        Primitive::Dmirror => {
            let (top, left) = unpack(&corner(patch, UPPER_LEFT)?)?;
            moved(cx, patch, |cx, i, j| {
                let (down, right) = (minus(cx, j, &left)?, minus(cx, i, &top)?);
                Ok(Value::pair(
                    &plus(cx, &down, &top)?,
                    &plus(cx, &right, &left)?,
                ))
            })
        }
        _ => {
            let turned = mirrored(cx, Primitive::Vmirror, patch)?;
            let turned = mirrored(cx, Primitive::Dmirror, &turned)?;
            mirrored(cx, Primitive::Vmirror, &turned)
        }
    }
}

fn reversed<T>(mut items: Vec<T>) -> Vec<T> {
    items.reverse();
    items
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
    let mut cells = Vec::with_capacity(height * width);
    for row in grid.rows().filter(|_| down > 0) {
        let start = cells.len();
        cells.extend(row.iter().flat_map(|cell| repeat_n(*cell, right)));
        for _ in 1..down {
            cells.extend_from_within(start..start + width);
        }
    }
    Ok(Grid::from_cells(height, width, cells))
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
    cx.work(2 * count)?;
    let start = Bounds::of(patch.locs())?.start();
    let scaled = |at: i32, from: i32, within: i32| {
        i64::from(at - from) * i64::from(factor) + i64::from(within) + i64::from(from)
    };
    let mut large = Vec::with_capacity(cells.len() * square as usize);
    // The cells of an object ascend, and so do these.
    for line in cells.chunk_by(|a, b| (a.colour, a.loc.i) == (b.colour, b.loc.i)) {
        for down in 0..factor {
            let i = scaled(line[0].loc.i, start.i, down);
            for cell in line {
                for right in 0..factor {
                    let loc = loc(i, scaled(cell.loc.j, start.j, right))?;
                    large.push(Cell { loc, ..*cell });
                }
            }
        }
    }
    Ok(Object::built(large, patches::built_from(patch, How::Scaled)).into())
}

/// Of arguments of any types.
pub(super) fn untyped(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
) -> PythonResult {
    use Primitive as P;
    match (primitive, arguments) {
        (P::Rot90, &[grid]) => {
            let sheet = Sheet::of(grid)?;
            let (height, width) = sheet.size();
            sheet.sampled(cx, (width, height), |i, j| (height - 1 - j, i))
        }
        (P::Rot180, &[grid]) => hmirror(&vmirror(cx, grid)?),
        (P::Rot270, &[grid]) => {
            let sheet = Sheet::of(grid)?;
            let (height, width) = sheet.size();
            sheet.sampled(cx, (width, height), |i, j| (j, width - 1 - i))
        }
        (P::Hmirror, &[piece]) if is_tuple(piece) => hmirror(piece),
        (P::Vmirror, &[piece]) if is_tuple(piece) => vmirror(cx, piece),
        (P::Dmirror, &[piece]) if is_tuple(piece) => dmirror(cx, piece),
        (P::Cmirror, &[piece]) if is_tuple(piece) => {
            let turned = hmirror(&vmirror(cx, piece)?)?;
            dmirror(cx, &turned)
        }
        (P::Hmirror | P::Vmirror | P::Dmirror | P::Cmirror, &[patch]) => {
            mirrored(cx, primitive, patch)
        }
        (P::Crop, &[grid, start, dims]) => crop(cx, grid, start, dims),
        (P::Subgrid, &[patch, grid]) => {
            let start = corner(patch, UPPER_LEFT)?;
            let dims = Value::Loc(shape(patch)?);
            crop(cx, grid, &start, &dims)
        }
        (P::Trim, &[grid]) => {
            let rows = slice(tuple(grid)?.len(), 1, -1);
            part(cx, grid, rows, |length| Ok(slice(length, 1, -1)))
        }
        (P::Tophalf, &[grid]) => some_rows(grid, |height| 0..height / 2),
        (P::Bottomhalf, &[grid]) => some_rows(grid, |height| height.div_ceil(2)..height),
        // The DSL turns the grid to cut it, so without columns there are no rows either.
        (P::Lefthalf | P::Righthalf, &[grid]) => {
            let sheet = Sheet::of(grid)?;
            let (height, width) = sheet.size();
            let half = width / 2;
            let first = match primitive {
                P::Lefthalf => 0,
                _ => width - half,
            };
            let height = if half == 0 { 0 } else { height };
            sheet.sampled(cx, (height, half), |i, j| (i, first + j))
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
        (P::Hupscale, &[grid, factor]) => scaled_rows(cx, &rows(grid)?, &Value::Int(1), factor),
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
            scaled_rows(cx, &rows(element)?, factor, factor)
        }
        (P::Upscale, &[element, factor]) => upscale_patch(cx, element, factor),
        (P::Downscale, &[grid, factor]) => downscale(cx, grid, factor),
        _ => Err(Refusal::Raises),
    }
}

/// Every cell repeated `down` times downwards and `right` times to the right.
fn scaled_rows(cx: &mut Context<'_>, rows: &Rows, down: &Value, right: &Value) -> PythonResult {
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
    let corner = Bounds::of_patch(patch)?.start();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Primitive;
    use crate::error::Limit;
    use crate::primitives::testing::{at, call};
    use crate::value::literal::tests::read;

    fn grid(rows: &[&[i32]]) -> Value {
        Grid::from_rows(rows).unwrap().into()
    }

    /// The right value is CPython's.
    #[test]
    fn a_set_with_truth_values_is_mirrored_in_its_order() {
        let text = "frozenset({(7, 7), (6, 5), (5, 8), (True, True), (6, 8), (5, 7), (7, 6), (5, 6), (7, 5), (7, 8)})";
        let expected = "frozenset({(7, 4), (7, 1), (6, 1), (True, 8), (5, 1), (6, 4), (7, 3), (7, 2), (5, 3), (5, 2)})";
        let patch = read(text);
        let found = call(Primitive::Vmirror, &[&patch]).unwrap();
        assert_eq!(found.to_string(), expected);
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
