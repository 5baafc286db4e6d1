//! Objects of a grid, and painting; converts cells between this dialect and the public one.

use arc_isa::{ContainerKind, Primitive as P};

use super::TypedPrimitive as T;
use super::python::{
    PythonResult, call, collected, int, is_empty, item, length, minus, public, three, triple, two,
};
use crate::budget::Context;
use crate::patch::Loc;
use crate::primitives::objects::untyped::{self, by_rank};
use crate::primitives::patches;
use crate::primitives::untyped::copied_set_of;
use crate::value::Value;

const TUPLE: ContainerKind = ContainerKind::Tuple;
const SET: ContainerKind = ContainerKind::Set;

/// Converts cells (row, column, colour) to the public dialect, in a container of this kind.
pub(super) fn public_cells(
    cx: &mut Context<'_>,
    kind: ContainerKind,
    cells: &Value,
) -> PythonResult {
    collected(cx, kind, cells, |_, cell| {
        let (i, j, c) = three(cell)?;
        Ok(Some(Value::pair(&c, &Value::pair(&i, &j))))
    })
}

/// The cell of a value at a row and a column.
pub(super) fn cell(value: &Value, i: i32, j: i32) -> Value {
    triple(Value::Int(i), Value::Int(j), value.clone())
}

/// The locations of a patch, as a set of pairs of integers, which public primitives accept.
pub(super) fn locs_of(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let locations = call(cx, T::Toindices, &[patch])?;
    if matches!(locations, Value::Indices(_)) {
        return Ok(locations);
    }
    collected(cx, SET, &locations, |_, loc| {
        let (i, j) = two(loc)?;
        Ok(Some(Value::Loc(Loc::new(int(&i)?, int(&j)?))))
    })
}

pub(super) fn objects(
    cx: &mut Context<'_>,
    grid: &Value,
    univalued: &Value,
    diagonal: &Value,
    without_bg: &Value,
    kind: ContainerKind,
) -> PythonResult {
    let flags = [univalued, diagonal, without_bg].map(Value::is_truthy);
    let objects = by_rank(cx, grid, flags, cell)?.into_iter();
    match kind {
        ContainerKind::Tuple => Ok(Value::tuple(objects.map(Value::tuple).collect())),
        ContainerKind::Set => copied_set_of(cx, objects.map(Value::frozenset)),
    }
}

/// The objects, with the bits of `number` as flags.
pub(super) fn by_bits(
    cx: &mut Context<'_>,
    grid: &Value,
    number: &Value,
    objects: T,
) -> PythonResult {
    let Some(number @ 0..=7) = number.as_int() else {
        return Ok(Value::Nothing);
    };
    let [univalued, diagonal, without_bg] = [4, 2, 1].map(|bit| Value::Bool(number & bit != 0));
    call(cx, objects, &[grid, &univalued, &diagonal, &without_bg])
}

pub(super) fn partition(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
    let palette = call(cx, T::PaletteT, &[grid])?;
    untyped::partition(cx, grid, &palette, cell)
}

pub(super) fn fgpartition(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
    let palette = call(cx, T::PaletteT, &[grid])?;
    let background = Value::set([call(cx, T::MostcolorT, &[grid])?]);
    let palette = minus(cx, &palette, &background)?;
    untyped::partition(cx, grid, &palette, cell)
}

pub(super) fn frontiers(cx: &mut Context<'_>, grid: &Value) -> PythonResult {
    untyped::frontiers(cx, grid, cell)
}

pub(super) fn occurrences(cx: &mut Context<'_>, grid: &Value, obj: &Value) -> PythonResult {
    let normalized = call(cx, T::Normalize, &[obj])?;
    // An object that cannot be moved becomes empty, and an empty object occurs everywhere.
    let moved = call(cx, T::Shift, &[&normalized, &Value::Loc(Loc::new(0, 0))])?;
    if !is_empty(&moved) {
        let object = public_cells(cx, SET, &moved)?;
        return public(cx, P::Occurrences, &[grid, &object]);
    }
    let (height, width) = (length(grid)?, length(&item(grid, 0)?)?);
    let (rows, columns) = two(&call(cx, T::ShapeF, &[obj])?)?;
    let (rows, columns) = (height - int(&rows)? + 1, width - int(&columns)? + 1);
    let all = (0..rows).flat_map(|i| (0..columns).map(move |j| Value::Loc(Loc::new(i, j))));
    copied_set_of(cx, all)
}

pub(super) fn toobject(cx: &mut Context<'_>, patch: &Value, grid: &Value) -> PythonResult {
    let locs = call(cx, T::Toindices, &[patch])?;
    patches::untyped::toobject(cx, &locs, grid, cell)
}

/// The locations of a patch as cells of a colour, converted to the public dialect.
fn filled(cx: &mut Context<'_>, color: &Value, patch: &Value) -> PythonResult {
    let locs = call(cx, T::Toindices, &[patch])?;
    collected(cx, TUPLE, &locs, |_, loc| {
        let (i, j) = two(loc)?;
        Ok(Some(Value::pair(color, &Value::pair(&i, &j))))
    })
}

pub(super) fn fill(
    cx: &mut Context<'_>,
    grid: &Value,
    color: &Value,
    patch: &Value,
) -> PythonResult {
    let cells = filled(cx, color, patch)?;
    public(cx, P::Paint, &[grid, &cells])
}

pub(super) fn underfill(
    cx: &mut Context<'_>,
    grid: &Value,
    color: &Value,
    patch: &Value,
) -> PythonResult {
    let cells = filled(cx, color, patch)?;
    on_background(cx, grid, &cells)
}

pub(super) fn paint(cx: &mut Context<'_>, grid: &Value, obj: &Value) -> PythonResult {
    let cells = public_cells(cx, TUPLE, obj)?;
    public(cx, P::Paint, &[grid, &cells])
}

pub(super) fn underpaint(cx: &mut Context<'_>, grid: &Value, obj: &Value) -> PythonResult {
    let cells = public_cells(cx, TUPLE, obj)?;
    on_background(cx, grid, &cells)
}

/// Paints cells of the public dialect. A grid without cells has no background here, and no cells to paint.
fn on_background(cx: &mut Context<'_>, grid: &Value, cells: &Value) -> PythonResult {
    let primitive = if call(cx, T::MostcolorT, &[grid])?.is_nan() {
        P::Paint
    } else {
        P::Underpaint
    };
    public(cx, primitive, &[grid, cells])
}
