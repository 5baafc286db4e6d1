//! The extent of patches: rows and columns, corners, centres.

use std::cmp::Ordering;

use arc_isa::ContainerKind;

use super::TypedPrimitive as T;
use super::patches::{LocationsOf, center_of};
pub(super) use super::python::by_number;
use super::python::{
    NOT_A_NUMBER, PythonResult, both, call, elements, empty_tuple, equal, int, length, minus,
    outermost, plus, two,
};
use crate::budget::Context;
use crate::patch::Loc;
use crate::primitives::{extents, untyped};
use crate::value::Value;

const SET: ContainerKind = ContainerKind::Set;

/// The first or last row or column; `nan` for an empty patch.
pub(super) fn extreme(
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

pub(super) fn extreme_of_some(
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

/// The distance from the first to the last row or column, both included.
pub(super) fn extent(cx: &mut Context<'_>, patch: &Value, last: T, first: T) -> PythonResult {
    if length(patch)? == 0 {
        return Ok(Value::Int(0));
    }
    let (last, first) = both(cx, last, first, patch)?;
    let difference = minus(cx, &last, &first)?;
    plus(cx, &difference, &Value::Int(1))
}

pub(super) fn shape(cx: &mut Context<'_>, piece: &Value, height: T, width: T) -> PythonResult {
    let (height, width) = both(cx, height, width, piece)?;
    Ok(Value::pair(&height, &width))
}

pub(super) fn portrait(cx: &mut Context<'_>, piece: &Value, height: T, width: T) -> PythonResult {
    let (height, width) = both(cx, height, width, piece)?;
    Ok(Value::Bool(int(&height)? > int(&width)?))
}

pub(super) fn square_f(cx: &mut Context<'_>, patch: &Value) -> PythonResult {
    let height = int(&call(cx, T::HeightF, &[patch])?)?;
    let width = int(&call(cx, T::WidthF, &[patch])?)?;
    let full = i64::from(height) * i64::from(width) == i64::from(length(patch)?);
    Ok(Value::Bool(full && height == width))
}

/// Whether its length in one direction equals its number of cells, and it is 1 wide in the other.
pub(super) fn line(cx: &mut Context<'_>, patch: &Value, along: T, across: T) -> PythonResult {
    let along = call(cx, along, &[patch])?;
    let full = equal(&along, &Value::Int(length(patch)?));
    Ok(Value::Bool(
        full && equal(&call(cx, across, &[patch])?, &Value::Int(1)),
    ))
}

/// A corner: for each component, the least or the greatest.
pub(super) fn corner_of(
    cx: &mut Context<'_>,
    patch: &Value,
    of: LocationsOf,
    wanted: [Ordering; 2],
) -> PythonResult {
    extents::corner_of(&of.locations(cx, patch)?, wanted)
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
    extents::mean(&locations, untyped::length(patch)?)
}

pub(super) fn position(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    let mut center = |patch| -> PythonResult<Loc> {
        let locations = LocationsOf::Patch.locations(cx, patch)?;
        let (i, j) = center_of(cx, &locations)?;
        Ok(Loc::new(i, j))
    };
    Ok(extents::position(center(a)?, center(b)?).into())
}
