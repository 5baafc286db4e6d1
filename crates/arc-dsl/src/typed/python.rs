//! Python's operations on values of any type.
//!
//! Most of them are those of [`untyped`], for arguments that do not have the types of a row in the public dialect. Here
//! they return their errors as [`ErrorKind`], since a failing call returns its default whatever failed.

use std::cmp::Ordering;

use arc_isa::{ContainerKind, Primitive};

use super::TypedPrimitive;
use crate::budget::Context;
use crate::error::{ErrorKind, ValueKind};
use crate::primitives::comparison;
use crate::primitives::untyped::{self, Refusal};
use crate::value::Value;
use crate::value::container::Container;
use crate::value::foreign::Foreign;

pub(super) type TypedResult<T = Value> = Result<T, ErrorKind>;

/// The error where Python raises an exception. It is never reported, since the call returns its default.
pub(super) const RAISES: ErrorKind = ErrorKind::NoMatch;

impl From<Refusal> for ErrorKind {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Raises => RAISES,
            Refusal::Error(kind) => kind,
        }
    }
}

/// Calls a primitive of this dialect, which returns its default if it fails.
pub(super) fn call(
    cx: &mut Context<'_>,
    primitive: TypedPrimitive,
    arguments: &[&Value],
) -> TypedResult {
    cx.call_typed(primitive, arguments)
}

/// Calls a primitive of the public dialect, whose failure is an error.
pub(super) fn public(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
) -> TypedResult {
    cx.call_primitive(primitive, arguments)
}

pub(super) const NOT_A_NUMBER: Value = Value::Foreign(Foreign::NotANumber);
pub(super) const INFINITY: Value = Value::Foreign(Foreign::Infinity);
pub(super) const NEGATIVE_INFINITY: Value = Value::Foreign(Foreign::NegativeInfinity);

pub(super) fn empty_tuple() -> Value {
    Value::tuple(Vec::new())
}

/// The elements that `for element in value` iterates over.
pub(super) fn elements(value: &Value) -> TypedResult<Container<'_>> {
    Ok(untyped::elements(value)?)
}

pub(super) fn list(value: &Value) -> TypedResult<Vec<Value>> {
    Ok(untyped::list(value)?)
}

pub(super) fn length(value: &Value) -> TypedResult<i32> {
    Ok(untyped::length(value)? as i32)
}

/// The length, if it has one.
pub(super) fn len(value: &Value) -> Option<usize> {
    value.as_container().map(Container::len)
}

pub(super) fn is_tuple(value: &Value) -> bool {
    untyped::is_tuple(value)
}

pub(super) fn is_empty_tuple(value: &Value) -> bool {
    is_tuple(value) && len(value) == Some(0)
}

/// Whether it is the empty tuple or the empty set.
pub(super) fn is_empty(value: &Value) -> bool {
    len(value) == Some(0)
}

/// The value of a truth value or an integer.
pub(super) fn int(value: &Value) -> TypedResult<i32> {
    Ok(untyped::int(value)?)
}

/// `value[at]` for a tuple; negative indices count from the end.
pub(super) fn item(value: &Value, at: i32) -> TypedResult {
    let tuple = untyped::tuple(value)?;
    let at = if at < 0 { at + tuple.len() as i32 } else { at };
    let at = usize::try_from(at).map_err(|_| RAISES)?;
    tuple.value(at).ok_or(RAISES)
}

/// The first element of an iterable value.
pub(super) fn first(value: &Value) -> TypedResult {
    elements(value)?.value(0).ok_or(RAISES)
}

/// `a, b = value`
pub(super) fn two(value: &Value) -> TypedResult<(Value, Value)> {
    Ok(untyped::unpack(value)?)
}

/// `a, b, c = value`
pub(super) fn three(value: &Value) -> TypedResult<(Value, Value, Value)> {
    let all = elements(value)?;
    match (all.len(), all.value(0), all.value(1), all.value(2)) {
        (3, Some(a), Some(b), Some(c)) => Ok((a, b, c)),
        _ => Err(RAISES),
    }
}

/// `a == b`
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    a == b && !a.is_nan()
}

/// Compares as `a < b` and similar operators do; `None` if one of them is `nan`, which has no order.
pub(super) fn compare(a: &Value, b: &Value) -> TypedResult<Option<Ordering>> {
    let ordering = comparison::compare(a, b)?;
    Ok((!a.is_nan() && !b.is_nan()).then_some(ordering))
}

pub(super) fn plus(cx: &mut Context<'_>, a: &Value, b: &Value) -> TypedResult {
    Ok(untyped::plus(cx, a, b)?)
}

pub(super) fn minus(cx: &mut Context<'_>, a: &Value, b: &Value) -> TypedResult {
    Ok(untyped::minus(cx, a, b)?)
}

pub(super) fn negated(cx: &mut Context<'_>, n: &Value) -> TypedResult {
    minus(cx, &Value::Int(0), &Value::Int(int(n)?))
}

/// `max` or `min`
pub(super) fn outermost(values: &[Value], wanted: Ordering) -> TypedResult {
    Ok(untyped::outermost(values, wanted)?)
}

/// The elements as a tuple; a tuple is not copied.
pub(super) fn as_tuple(cx: &mut Context<'_>, value: &Value) -> TypedResult {
    as_kind(cx, value, ContainerKind::Tuple)
}

/// The elements as a set; a set is not copied.
pub(super) fn as_set(cx: &mut Context<'_>, value: &Value) -> TypedResult {
    as_kind(cx, value, ContainerKind::Set)
}

fn as_kind(cx: &mut Context<'_>, value: &Value, kind: ContainerKind) -> TypedResult {
    let container = elements(value)?;
    if container.kind == kind {
        return Ok(value.clone());
    }
    let mut all = cx.collector(kind);
    all.extend(cx, container)?;
    all.finish(cx)
}

/// A tuple or a set of the function's results for each element.
pub(super) fn collected<'c>(
    cx: &mut Context<'c>,
    kind: ContainerKind,
    of: &Value,
    mut make: impl FnMut(&mut Context<'c>, &Value) -> TypedResult<Option<Value>>,
) -> TypedResult {
    let mut all = cx.collector(kind);
    for element in elements(of)?.iter() {
        if let Some(result) = make(cx, &element)? {
            all.push(cx, result)?;
        }
    }
    all.finish(cx)
}

/// The tuple of three.
pub(super) fn triple(i: Value, j: Value, c: Value) -> Value {
    Value::tuple(vec![i, j, c])
}

/// The index of a rank among `count` elements; `None` if it is out of range.
pub(super) fn place(rank: &Value, count: usize) -> TypedResult<Option<usize>> {
    let count = i64::try_from(count).map_err(|_| RAISES)?;
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
