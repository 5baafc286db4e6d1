//! Python's operations on values of any type.
//!
//! Most of them are those of [`untyped`], for arguments that do not have the types of a row
//! in the public dialect.

use std::cmp::Ordering;

use arc_isa::{ContainerKind, Primitive};

use super::TypedPrimitive;
use crate::budget::Context;
use crate::error::ValueKind;
pub(super) use crate::primitives::untyped::{
    PythonResult, Refusal, elements, int, is_empty, is_tuple, list, minus, outermost, plus,
    unpack as two,
};
use crate::primitives::{comparison, untyped};
use crate::value::Value;
use crate::value::container::Container;
use crate::value::foreign::Foreign;

/// Calls a primitive of this dialect, which returns its default if it fails.
pub(super) fn call(
    cx: &mut Context<'_>,
    primitive: TypedPrimitive,
    arguments: &[&Value],
) -> PythonResult {
    Ok(cx.call_typed(primitive, arguments)?)
}

/// The results of two primitives of this dialect for one argument.
pub(super) fn both(
    cx: &mut Context<'_>,
    first: TypedPrimitive,
    second: TypedPrimitive,
    value: &Value,
) -> PythonResult<(Value, Value)> {
    Ok((call(cx, first, &[value])?, call(cx, second, &[value])?))
}

/// The result of the primitive with this number, or what there is otherwise.
pub(super) fn by_number(
    cx: &mut Context<'_>,
    piece: &Value,
    number: &Value,
    primitives: &[TypedPrimitive],
    otherwise: fn(&mut Context<'_>, &Value) -> PythonResult,
) -> PythonResult {
    let at = number.as_int().and_then(|at| usize::try_from(at).ok());
    match at.and_then(|at| primitives.get(at)) {
        Some(primitive) => call(cx, *primitive, &[piece]),
        None => otherwise(cx, piece),
    }
}

/// Calls a primitive of the public dialect, whose failure is an error.
pub(super) fn public(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
) -> PythonResult {
    Ok(cx.call_primitive(primitive, arguments)?)
}

pub(super) const NOT_A_NUMBER: Value = Value::Foreign(Foreign::NotANumber);
pub(super) const INFINITY: Value = Value::Foreign(Foreign::Infinity);
pub(super) const NEGATIVE_INFINITY: Value = Value::Foreign(Foreign::NegativeInfinity);

pub(super) fn empty_tuple() -> Value {
    Value::tuple(Vec::new())
}

pub(super) fn length(value: &Value) -> PythonResult<i32> {
    Ok(untyped::length(value)? as i32)
}

/// The length, if it has one.
pub(super) fn len(value: &Value) -> Option<usize> {
    value.as_container().map(Container::len)
}

/// Whether it is empty, or no container.
pub(super) fn has_no_elements(value: &Value) -> bool {
    matches!(len(value), None | Some(0))
}

pub(super) fn is_empty_tuple(value: &Value) -> bool {
    is_tuple(value) && is_empty(value)
}

/// `value[at]` for a tuple; negative indices count from the end.
pub(super) fn item(value: &Value, at: i32) -> PythonResult {
    let tuple = untyped::tuple(value)?;
    let at = if at < 0 { at + tuple.len() as i32 } else { at };
    let at = usize::try_from(at).map_err(|_| Refusal::Raises)?;
    tuple.value(at).ok_or(Refusal::Raises)
}

/// The first element of an iterable value.
pub(super) fn first(value: &Value) -> PythonResult {
    elements(value)?.value(0).ok_or(Refusal::Raises)
}

/// `a, b, c = value`
pub(super) fn three(value: &Value) -> PythonResult<(Value, Value, Value)> {
    let all = elements(value)?;
    match (all.len(), all.value(0), all.value(1), all.value(2)) {
        (3, Some(a), Some(b), Some(c)) => Ok((a, b, c)),
        _ => Err(Refusal::Raises),
    }
}

/// `a == b`
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    a == b && !a.is_nan()
}

/// Compares as `a < b` and similar operators do; `None` if one of them is `nan`, which has no order.
pub(super) fn compare(a: &Value, b: &Value) -> PythonResult<Option<Ordering>> {
    let ordering = if comparison::less(a, b)? {
        Ordering::Less
    } else if comparison::less(b, a)? {
        Ordering::Greater
    } else {
        Ordering::Equal
    };
    Ok((!a.is_nan() && !b.is_nan()).then_some(ordering))
}

pub(super) fn negated(cx: &mut Context<'_>, n: &Value) -> PythonResult {
    minus(cx, &Value::Int(0), &Value::Int(int(n)?))
}

/// The elements as a tuple; a tuple is not copied.
pub(super) fn as_tuple(cx: &mut Context<'_>, value: &Value) -> PythonResult {
    as_kind(cx, value, ContainerKind::Tuple)
}

/// The elements as a set; a set is not copied.
pub(super) fn as_set(cx: &mut Context<'_>, value: &Value) -> PythonResult {
    as_kind(cx, value, ContainerKind::Set)
}

fn as_kind(cx: &mut Context<'_>, value: &Value, kind: ContainerKind) -> PythonResult {
    let container = elements(value)?;
    if container.kind == kind {
        return Ok(value.clone());
    }
    let mut all = cx.collector(kind);
    all.extend(cx, container)?;
    Ok(all.finish(cx)?)
}

/// A tuple or a set of the function's results for each element.
pub(super) fn collected<'c>(
    cx: &mut Context<'c>,
    kind: ContainerKind,
    of: &Value,
    mut make: impl FnMut(&mut Context<'c>, &Value) -> PythonResult<Option<Value>>,
) -> PythonResult {
    let mut all = cx.collector(kind);
    for element in elements(of)?.iter() {
        if let Some(result) = make(cx, &element)? {
            all.push(cx, result)?;
        }
    }
    Ok(all.finish(cx)?)
}

/// The tuple of three.
pub(super) fn triple(i: Value, j: Value, c: Value) -> Value {
    Value::tuple(vec![i, j, c])
}

/// The index of a rank among `count` elements; `None` if it is out of range.
pub(super) fn place(rank: &Value, count: usize) -> PythonResult<Option<usize>> {
    let count = i64::try_from(count).map_err(|_| Refusal::Raises)?;
    if rank.kind() == ValueKind::NotFinite {
        return Ok(None);
    }
    let rank = i64::from(int(rank)?);
    let at = if rank < 0 { rank + count } else { rank };
    Ok((0..count).contains(&at).then_some(at as usize))
}

/// The key function for comparing elements; `None` in Python means that there is none.
pub(super) fn key(function: &Value) -> Option<&Value> {
    (*function != Value::Nothing).then_some(function)
}
