//! The extent of patches: rows and columns, corners, centres.

use std::cmp::Ordering;

use arc_isa::ContainerKind;

use super::TypedPrimitive as T;
use super::patches::{LocationsOf, center_of};
use super::python::{
    NOT_A_NUMBER, PythonResult, Refusal, both, call, elements, empty_tuple, equal, int, length,
    list, minus, outermost, plus, two,
};
use crate::budget::Context;
use crate::value::Value;

const SET: ContainerKind = ContainerKind::Set;

/// The first or last row or column; `nan` for an empty patch.
fn extreme(
    cx: &mut Context<'_>,
    patch: &Value,
    of: LocationsOf,
    row: bool,
    wanted: Ordering,
) -> PythonResult {
    if !patch.is_truthy() {
        return Ok(NOT_A_NUMBER);
    }
    extreme_of_some(cx, patch, of, row, wanted)
}

fn extreme_of_some(
    cx: &mut Context<'_>,
    patch: &Value,
    of: LocationsOf,
    row: bool,
    wanted: Ordering,
) -> PythonResult {
    let locations = of.locations(cx, patch)?;
    let mut values = Vec::new();
    for loc in elements(&locations)?.iter() {
        let (i, j) = two(&loc)?;
        values.push(if row { i } else { j });
    }
    outermost(&values, wanted)
}

macro_rules! extremes {
    ($($name:ident: $function:ident($of:ident, $row:literal, $wanted:ident);)+) => {
        $(pub(super) fn $name(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
            $function(cx, patch, LocationsOf::$of, $row, Ordering::$wanted)
        })+
    };
}

extremes! {
    uppermost: extreme(Patch, true, Less);
    uppermost_i: extreme(Indices, true, Less);
    uppermost_o: extreme(Object, true, Less);
    lowermost: extreme(Patch, true, Greater);
    lowermost_i: extreme(Indices, true, Greater);
    lowermost_o: extreme(Object, true, Greater);
    leftmost: extreme(Patch, false, Less);
    leftmost_i: extreme(Indices, false, Less);
    leftmost_o: extreme(Object, false, Less);
    rightmost: extreme(Patch, false, Greater);
    rightmost_i: extreme_of_some(Indices, false, Greater);
    rightmost_o: extreme_of_some(Object, false, Greater);
}

pub(super) fn col_row(cx: &mut Context<'_>, patch: &Value, number: &Value) -> PythonResult {
    match number.as_int() {
        Some(0) => call(cx, T::Lowermost, &[patch]),
        Some(1) => call(cx, T::Uppermost, &[patch]),
        Some(2) => call(cx, T::Leftmost, &[patch]),
        Some(3) => call(cx, T::Rightmost, &[patch]),
        _ => Ok(Value::Nothing),
    }
}

/// The distance from the first to the last row or column, both included.
fn extent(cx: &mut Context<'_>, patch: &Value, last: T, first: T) -> PythonResult {
    if length(patch)? == 0 {
        return Ok(Value::Int(0));
    }
    let (last, first) = both(cx, last, first, patch)?;
    let difference = minus(cx, &last, &first)?;
    plus(cx, &difference, &Value::Int(1))
}

macro_rules! extents {
    ($($name:ident: $last:ident - $first:ident;)+) => {
        $(pub(super) fn $name(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
            extent(cx, patch, T::$last, T::$first)
        })+
    };
}

extents! {
    height_f: Lowermost - Uppermost;
    height_i: LowermostI - UppermostI;
    height_o: LowermostO - UppermostO;
    width_f: Rightmost - Leftmost;
    width_i: RightmostI - LeftmostI;
    width_o: RightmostO - LeftmostO;
}

pub(super) fn shape_f(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let (height, width) = both(cx, T::HeightF, T::WidthF, patch)?;
    Ok(Value::pair(&height, &width))
}

pub(super) fn portrait_f(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let (height, width) = both(cx, T::HeightF, T::WidthF, patch)?;
    Ok(Value::Bool(int(&height)? > int(&width)?))
}

pub(super) fn square_f(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let height = int(&call(cx, T::HeightF, &[patch])?)?;
    let width = int(&call(cx, T::WidthF, &[patch])?)?;
    let full = i64::from(height) * i64::from(width) == i64::from(length(patch)?);
    Ok(Value::Bool(full && height == width))
}

/// Whether its length in one direction equals its number of cells, and it is 1 wide in the other.
fn line(cx: &mut Context<'_>, patch: &Value, along: T, across: T) -> PythonResult {
    let along = call(cx, along, &[patch])?;
    let full = equal(&along, &Value::Int(length(patch)?));
    Ok(Value::Bool(
        full && equal(&call(cx, across, &[patch])?, &Value::Int(1)),
    ))
}

pub(super) fn vline_i(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    line(cx, patch, T::HeightI, T::WidthI)
}

pub(super) fn vline_o(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    line(cx, patch, T::HeightO, T::WidthO)
}

pub(super) fn hline_i(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    line(cx, patch, T::WidthI, T::HeightI)
}

pub(super) fn hline_o(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    line(cx, patch, T::WidthO, T::HeightO)
}

/// The columns of a table whose rows are the elements, as many as the shortest row has cells.
fn columns(table: &Value) -> PythonResult<Vec<Vec<Value>>> {
    let mut columns: Option<Vec<Vec<Value>>> = None;
    for row in elements(table)?.iter() {
        let row = list(&row)?;
        match &mut columns {
            None => columns = Some(row.into_iter().map(|value| vec![value]).collect()),
            Some(columns) => {
                columns.truncate(row.len());
                for (column, value) in columns.iter_mut().zip(row) {
                    column.push(value);
                }
            }
        }
    }
    Ok(columns.unwrap_or_default())
}

/// A corner: for each component, the least or the greatest. If the two differ, there are at most two components.
fn corner_of(
    cx: &mut Context<'_>,
    patch: &Value,
    of: LocationsOf,
    wanted: [Ordering; 2],
) -> PythonResult {
    let locations = of.locations(cx, patch)?;
    let columns = columns(&locations)?;
    if columns.len() > wanted.len() && wanted[0] != wanted[1] {
        return Err(Refusal::Raises);
    }
    let wanted = wanted.iter().chain(std::iter::repeat(&wanted[0]));
    let corner = columns
        .iter()
        .zip(wanted)
        .map(|(column, &wanted)| outermost(column, wanted));
    Ok(Value::tuple(corner.collect::<PythonResult<_>>()?))
}

macro_rules! corners {
    ($($name:ident: $of:ident, $row:ident, $column:ident;)+) => {
        $(pub(super) fn $name(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
            corner_of(cx, patch, LocationsOf::$of, [Ordering::$row, Ordering::$column])
        })+
    };
}

corners! {
    ulcorner: Patch, Less, Less;
    ulcorner_i: Indices, Less, Less;
    ulcorner_o: Object, Less, Less;
    urcorner: Patch, Less, Greater;
    urcorner_i: Indices, Less, Greater;
    urcorner_o: Object, Less, Greater;
    llcorner: Patch, Greater, Less;
    llcorner_i: Indices, Greater, Less;
    llcorner_o: Object, Greater, Less;
    lrcorner: Patch, Greater, Greater;
    lrcorner_i: Indices, Greater, Greater;
    lrcorner_o: Object, Greater, Greater;
}

pub(super) fn corner(cx: &mut Context<'_>, patch: &Value, number: &Value) -> PythonResult {
    let corner = match number.as_int() {
        Some(1) => T::Urcorner,
        Some(2) => T::Llcorner,
        Some(3) => T::Lrcorner,
        _ => T::Ulcorner,
    };
    call(cx, corner, &[patch])
}

pub(super) fn corners(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let mut all = cx.collector(SET);
    for corner in [T::Ulcorner, T::Urcorner, T::Llcorner, T::Lrcorner] {
        let corner = call(cx, corner, &[patch])?;
        all.push(cx, corner)?;
    }
    Ok(all.finish(cx)?)
}

pub(super) fn center(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let mut middle = |first: T, extent: T| -> PythonResult<Option<i32>> {
        let first = call(cx, first, &[patch])?;
        if first.is_nan() {
            return Ok(None);
        }
        let extent = call(cx, extent, &[patch])?;
        Ok(Some(int(&first)? + int(&extent)?.div_euclid(2)))
    };
    let Some(i) = middle(T::Uppermost, T::HeightF)? else {
        return Ok(empty_tuple());
    };
    let Some(j) = middle(T::Leftmost, T::WidthF)? else {
        return Ok(empty_tuple());
    };
    Ok(Value::pair(&Value::Int(i), &Value::Int(j)))
}

pub(super) fn centerofmass(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let locations = LocationsOf::Patch.locations(cx, patch)?;
    let mut means = Vec::new();
    for column in columns(&locations)? {
        let mut sum = 0;
        for n in &column {
            sum += i64::from(int(n)?);
        }
        let mean = sum.div_euclid(i64::from(length(patch)?));
        means.push(Value::Int(
            i32::try_from(mean).map_err(|_| Refusal::Raises)?,
        ));
    }
    Ok(Value::tuple(means))
}

/// The centre of the locations of a patch.
fn center_of_locations(cx: &mut Context<'_>, patch: &Value) -> PythonResult<(i32, i32)> {
    let locations = LocationsOf::Patch.locations(cx, patch)?;
    center_of(cx, &locations)
}

pub(super) fn position(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    let (ia, ja) = center_of_locations(cx, a)?;
    let (ib, jb) = center_of_locations(cx, b)?;
    let right = if ja < jb { 1 } else { -1 };
    let (i, j) = match (ia.cmp(&ib), ja == jb) {
        (Ordering::Equal, _) => (0, right),
        (Ordering::Less, true) => (1, 0),
        (Ordering::Greater, true) => (-1, 0),
        (Ordering::Less, false) => (1, right),
        (Ordering::Greater, false) => (-1, right),
    };
    Ok(Value::pair(&Value::Int(i), &Value::Int(j)))
}
