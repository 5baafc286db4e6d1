//! Grids.

use arc_isa::{ContainerKind, Primitive as P};

use super::TypedPrimitive as T;
pub(super) use super::extents::{portrait, shape};
use super::objects::cell;
pub(super) use super::patches::{commonest, numcolors};
pub(super) use super::python::by_number;
use super::python::{
    NEGATIVE_INFINITY, PythonResult, Refusal, both, call, elements, empty_tuple, equal, int,
    is_empty_tuple, is_tuple, item, length, public, two,
};
use crate::budget::Context;
use crate::error::ValueKind;
use crate::patch::Loc;
use crate::primitives::patches;
use crate::primitives::untyped::rows;
use crate::value::foreign::Foreign;
use crate::value::{MAX_INT, Value};

const TUPLE: ContainerKind = ContainerKind::Tuple;
const SET: ContainerKind = ContainerKind::Set;

pub(super) fn width_t(_: &mut Context<'_>, piece: &Value) -> PythonResult {
    Ok(Value::Int(length(&item(piece, 0)?)?))
}

pub(super) fn square_t(_: &mut Context<'_>, grid: &Value) -> PythonResult {
    Ok(Value::Bool(length(grid)? == length(&item(grid, 0)?)?))
}

/// Whether it is a tuple of tuples of integers.
fn is_grid(value: &Value) -> bool {
    let rows = match value {
        Value::Grid(_) => return true,
        _ if !is_tuple(value) => return false,
        _ => value.as_container(),
    };
    rows.is_some_and(|rows| {
        rows.iter().all(|row| {
            is_tuple(&row)
                && row
                    .as_container()
                    .is_some_and(|row| row.iter().all(|cell| cell.as_int().is_some()))
        })
    })
}

pub(super) fn is_no_grid(_: &mut Context<'_>, x: &Value) -> PythonResult {
    Ok(Value::Bool(!is_grid(x)))
}

/// All cells of a grid, row by row.
pub(super) fn colours(grid: &Value) -> PythonResult<Vec<Value>> {
    Ok(rows(grid)?.concat())
}

pub(super) fn palette_t(cx: &mut Context<'_>, element: &Value) -> PythonResult {
    let mut palette = cx.collector(SET);
    for colour in colours(element)? {
        palette.push(cx, colour)?;
    }
    Ok(palette.finish(cx)?)
}

pub(super) fn colorcount_t(_: &mut Context<'_>, grid: &Value, color: &Value) -> PythonResult {
    let mut count = 0;
    for row in elements(grid)?.iter() {
        if !is_tuple(&row) {
            return Err(Refusal::Raises);
        }
        count += elements(&row)?.iter().filter(|c| **c == *color).count();
    }
    Ok(Value::Int(count as i32))
}

pub(super) fn asobject(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
    if !is_grid(grid) {
        return Ok(Value::empty_set());
    }
    patches::untyped::asobject(cx, grid, cell)
}

pub(super) fn index(_: &mut Context<'_>, grid: &Value, loc: &Value) -> PythonResult {
    if is_empty_tuple(loc) {
        return Ok(NEGATIVE_INFINITY);
    }
    let (i, j) = two(loc)?;
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    // A number that is not finite is off the grid; a value that is not a number raises an exception.
    for (place, end) in [(&i, height), (&j, width)] {
        if place.kind() == ValueKind::NotFinite || !(0..end).contains(&int(place)?) {
            return Ok(NEGATIVE_INFINITY);
        }
    }
    item(&item(grid, int(&i)?)?, int(&j)?)
}

/// A public primitive applied to a tuple; raises an exception for any other value.
pub(super) fn of_tuple(cx: &mut Context<'_>, grid: &Value, primitive: P) -> PythonResult {
    if !is_tuple(grid) {
        return Err(Refusal::Raises);
    }
    public(cx, primitive, &[grid])
}

pub(super) fn downscale(cx: &mut Context<'_>, grid: &Value, factor: &Value) -> PythonResult {
    let factor = match factor {
        // Of the indices, only 0 is a multiple of it.
        Value::Foreign(Foreign::Infinity | Foreign::NegativeInfinity) => &Value::Int(MAX_INT),
        _ => factor,
    };
    // Rows without cells need not be tuples, since none is read.
    if let Ok(0) = item(grid, 0).and_then(|row| length(&row)) {
        let factor = int(factor)?;
        let height = length(grid)?;
        let kept = (0..height).filter_map(|i| Some(i.checked_rem(factor)? == 0));
        let kept = kept.filter(|kept| *kept).count();
        return if factor == 0 {
            Err(Refusal::Raises)
        } else {
            Ok(Value::tuple(vec![empty_tuple(); kept]))
        };
    }
    public(cx, P::Downscale, &[grid, factor])
}

pub(super) fn vconcat(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    // The public primitive returns a grid if the rows form one.
    match (a, b) {
        (Value::Grid(_), Value::Grid(_)) => public(cx, P::Vconcat, &[a, b]),
        _ => super::containers::combine_t(cx, a, b),
    }
}

pub(super) fn crop(
    cx: &mut Context<'_>,
    grid: &Value,
    start: &Value,
    dims: &Value,
) -> PythonResult {
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    let component = |pair: &Value, at: i32| int(&item(pair, at)?).map(i64::from);
    let fits = |at: i32, end: i32| -> PythonResult<bool> {
        let (first, end) = (component(start, at)?, i64::from(end));
        Ok((0..end).contains(&first) && first + component(dims, at)? <= end)
    };
    if fits(0, height)? && fits(1, width)? {
        return public(cx, P::Crop, &[grid, start, dims]);
    }
    Ok(empty_tuple())
}

pub(super) fn subgrid(cx: &mut Context<'_>, patch: &Value, grid: &Value) -> PythonResult {
    let (start, dims) = both(cx, T::Ulcorner, T::ShapeF, patch)?;
    call(cx, T::Crop, &[grid, &start, &dims])
}

/// The length of each of `n` parts of a side, the number of lines between two parts, and the number of parts.
fn parts(side: i32, n: &Value) -> PythonResult<(i32, i32, i32)> {
    let n = int(n)?;
    match n {
        0 => Err(Refusal::Raises),
        ..0 => Ok((0, 0, 0)),
        _ => Ok((side / n, i32::from(side % n != 0), n)),
    }
}

/// The parts of a grid side by side, or one below the other.
pub(super) fn split(
    cx: &mut Context<'_>,
    grid: &Value,
    n: &Value,
    by_columns: bool,
) -> PythonResult {
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    let (part, gap, count) = parts(if by_columns { width } else { height }, n)?;
    let mut parts = cx.collector(TUPLE);
    for at in 0..count {
        let first = at * (part + gap);
        let (start, dims) = if by_columns {
            (Loc::new(0, first), Loc::new(height, part))
        } else {
            (Loc::new(first, 0), Loc::new(part, width))
        };
        let part = call(cx, T::Crop, &[grid, &start.into(), &dims.into()])?;
        parts.push(cx, part)?;
    }
    Ok(parts.finish(cx)?)
}

pub(super) fn cellwise(
    cx: &mut Context<'_>,
    a: &Value,
    b: &Value,
    fallback: &Value,
) -> PythonResult {
    if let (Value::Grid(one), Value::Grid(other)) = (a, b)
        && one.height() <= other.height()
        && one.width() <= other.width()
    {
        return public(cx, P::Cellwise, &[a, b, fallback]);
    }
    let (height, width) = (length(a)?, length(&item(a, 0)?)?);
    // The result of `index` for each cell of `b`; the size of `b` and each row are looked up only once.
    let size = length(b).and_then(|rows| Ok((rows, length(&item(b, 0)?)?)));
    let index = |row: &PythonResult, i: i32, j: i32| match (&size, row) {
        (Err(_), _) => Value::Int(0),
        (Ok((rows, columns)), _) if i >= *rows || j >= *columns => NEGATIVE_INFINITY,
        (_, Ok(row)) => item(row, j).unwrap_or(Value::Int(0)),
        (_, Err(_)) => Value::Int(0),
    };
    let mut rows = cx.collector(TUPLE);
    for i in 0..height {
        let (row, other) = (item(a, i)?, item(b, i));
        let mut cells = cx.collector(TUPLE);
        for j in 0..width {
            let own = item(&row, j)?;
            let cell = if equal(&own, &index(&other, i, j)) {
                own
            } else {
                fallback.clone()
            };
            cells.push(cx, cell)?;
        }
        let row = cells.finish(cx)?;
        rows.push(cx, row)?;
    }
    Ok(rows.finish(cx)?)
}
