//! Numbers, containers and functions.

use std::cmp::Ordering;

use arc_isa::{ContainerKind, Primitive as P};

use super::TypedPrimitive as T;
use super::python::{
    INFINITY, NEGATIVE_INFINITY, NOT_A_NUMBER, PythonResult, Refusal, as_set, as_tuple, call,
    collected, compare, elements, empty_tuple, equal, first as first_of, int, is_empty_tuple,
    is_tuple, item, key, len, length, list, plus, public, triple, two,
};
use super::samples::sorted;
use crate::budget::Context;
use crate::primitives::untyped::set_union;
use crate::value::Value;
use crate::value::foreign::Foreign;

/// Like the public primitive, where an empty tuple counts as `instead`; but also for a pair and a number that is not
/// finite: the only case in which Python calculates with such numbers.
pub(super) fn arithmetic(
    cx: &mut Context<'_>,
    a: &Value,
    b: &Value,
    primitive: P,
    instead: i32,
) -> PythonResult {
    let instead = Value::Int(instead);
    let or = |value| {
        if is_empty_tuple(value) {
            &instead
        } else {
            value
        }
    };
    let (a, b) = (or(a), or(b));
    if let Value::Foreign(number) = b
        && is_tuple(a)
    {
        let component = |at: i32| with_number(primitive, int(&item(a, at)?)?, *number);
        return Ok(Value::pair(&component(0)?, &component(1)?));
    }
    public(cx, primitive, &[a, b])
}

/// An integer and a number that is not finite, as in floating-point arithmetic.
fn with_number(primitive: P, n: i32, number: Foreign) -> PythonResult {
    let infinite = |positive: bool| {
        if positive {
            INFINITY
        } else {
            NEGATIVE_INFINITY
        }
    };
    let positive = match number {
        Foreign::NotANumber => return Ok(NOT_A_NUMBER),
        Foreign::Infinity => true,
        Foreign::NegativeInfinity => false,
        Foreign::Primitive(_) | Foreign::Default => return Err(Refusal::Raises),
    };
    Ok(match primitive {
        P::Add => infinite(positive),
        P::Subtract => infinite(!positive),
        P::Multiply if n == 0 => NOT_A_NUMBER,
        P::Multiply => infinite(positive == (n > 0)),
        _ => Value::Int(if n == 0 || positive == (n > 0) { 0 } else { -1 }),
    })
}

pub(super) fn greater(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    if len(a).is_some() && len(b).is_some() {
        return public(cx, P::Greater, &[a, b]);
    }
    Ok(Value::Bool(compare(a, b)? == Some(Ordering::Greater)))
}

pub(super) fn equality(_: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    Ok(Value::Bool(equal(a, b)))
}

pub(super) fn combine_t(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    match (a.as_int(), b) {
        (Some(n), Value::Foreign(number)) => with_number(P::Add, n, *number),
        _ => plus(cx, a, b),
    }
}

pub(super) fn combine_f(_: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    if let (Value::Bool(a), Value::Bool(b)) = (a, b) {
        return Ok(Value::Bool(*a || *b));
    }
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return Ok(Value::Int(a | b));
    }
    match (elements(a)?.kind, elements(b)?.kind) {
        (ContainerKind::Set, ContainerKind::Set) => set_union(a, b),
        _ => Err(Refusal::Raises),
    }
}

pub(super) fn first(_: &mut Context<'_>, container: &Value) -> PythonResult {
    Ok(elements(container)?.value(0).unwrap_or(Value::Nothing))
}

pub(super) fn second(_: &mut Context<'_>, container: &Value) -> PythonResult {
    first_of(container)?;
    Ok(elements(container)?.value(1).unwrap_or(Value::Nothing))
}

pub(super) fn item_at(_: &mut Context<'_>, container: &Value, at: i32) -> PythonResult {
    item(container, at)
}

/// The first element or the last one; the empty set if there is none.
pub(super) fn at_end(_: &mut Context<'_>, container: &Value, is_last: bool) -> PythonResult {
    if !container.is_truthy() {
        return Ok(Value::empty_set());
    }
    let all = elements(container)?;
    let at = if is_last { all.len() - 1 } else { 0 };
    all.value(at).ok_or(Refusal::Raises)
}

pub(super) fn remove(cx: &mut Context<'_>, value: &Value, container: &Value) -> PythonResult {
    if value.is_nan() {
        // Nothing equals it, so nothing is removed.
        elements(container)?;
        return Ok(container.clone());
    }
    public(cx, P::Remove, &[value, container])
}

pub(super) fn remove_t(cx: &mut Context<'_>, value: &Value, container: &Value) -> PythonResult {
    let tuple = as_tuple(cx, container)?;
    remove(cx, value, &tuple)
}

pub(super) fn other_t(cx: &mut Context<'_>, container: &Value, value: &Value) -> PythonResult {
    let rest = remove_t(cx, value, container)?;
    item(&rest, 0)
}

pub(super) fn other_f(cx: &mut Context<'_>, container: &Value, value: &Value) -> PythonResult {
    let rest = call(cx, T::RemoveF, &[value, container])?;
    at_end(cx, &rest, false)
}

pub(super) fn ascell(_: &mut Context<'_>, ij: &Value, c: &Value) -> PythonResult {
    Ok(triple(item(ij, 0)?, item(ij, 1)?, c.clone()))
}

pub(super) fn astriple(_: &mut Context<'_>, i: &Value, j: &Value, c: &Value) -> PythonResult {
    Ok(triple(i.clone(), j.clone(), c.clone()))
}

pub(super) fn toij(_: &mut Context<'_>, c: &Value) -> PythonResult {
    Ok(Value::pair(&item(c, 0)?, &item(c, 1)?))
}

pub(super) fn celltuple(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    let colours = list(b)?;
    let mut colours = colours.into_iter();
    let mut cells = cx.collector(ContainerKind::Tuple);
    for loc in elements(a)?.iter() {
        // Python takes the next location before it checks whether there is a colour for it, and unpacks it afterwards.
        let Some(c) = colours.next() else { break };
        let (i, j) = two(&loc)?;
        cells.push(cx, triple(i, j, c))?;
    }
    Ok(cells.finish(cx)?)
}

pub(super) fn sizefilter_t(cx: &mut Context<'_>, container: &Value, n: &Value) -> PythonResult {
    collected(cx, ContainerKind::Tuple, container, |_, item| {
        let size = Value::Int(length(item)?);
        Ok(equal(&size, n).then(|| item.clone()))
    })
}

pub(super) fn sfilter_f(
    cx: &mut Context<'_>,
    container: &Value,
    condition: &Value,
) -> PythonResult {
    let kept = public(cx, P::Sfilter, &[container, condition])?;
    as_set(cx, &kept)
}

/// The first element with the outermost key. Without a key function, the elements themselves are compared.
fn extreme(
    cx: &mut Context<'_>,
    container: &Value,
    key: Option<&Value>,
    wanted: Ordering,
) -> PythonResult<Option<Value>> {
    let mut best: Option<(Value, Value)> = None;
    for element in elements(container)?.iter() {
        let key = match key {
            Some(function) => cx.call(function, &[&element])?,
            None => element.clone().into_owned(),
        };
        let further = match &best {
            None => true,
            Some((_, best)) => {
                cx.charge_read(key.weight().min(best.weight()))?;
                compare(&key, best)? == Some(wanted)
            }
        };
        if further {
            best = Some((element.into_owned(), key));
        }
    }
    Ok(best.map(|(element, _)| element))
}

pub(super) fn with_outermost_key(
    cx: &mut Context<'_>,
    container: &Value,
    compfunc: &Value,
    wanted: Ordering,
) -> PythonResult {
    extreme(cx, container, key(compfunc), wanted)?.ok_or(Refusal::Raises)
}

pub(super) fn outermost_key(
    cx: &mut Context<'_>,
    container: &Value,
    compfunc: &Value,
    wanted: Ordering,
) -> PythonResult {
    let element = extreme(cx, container, key(compfunc), wanted)?;
    Ok(cx.call(compfunc, &[&element.unwrap_or(Value::Int(0))])?)
}

pub(super) fn outermost(cx: &mut Context<'_>, container: &Value, wanted: Ordering) -> PythonResult {
    let element = extreme(cx, container, None, wanted)?;
    Ok(element.unwrap_or(Value::Int(0)))
}

pub(super) fn order(cx: &mut Context<'_>, container: &Value, compfunc: &Value) -> PythonResult {
    Ok(Value::tuple(sorted(cx, container, key(compfunc), false)?))
}

pub(super) fn extract(cx: &mut Context<'_>, container: &Value, condition: &Value) -> PythonResult {
    for element in elements(container)?.iter() {
        if cx.call(condition, &[&element])?.is_truthy() {
            return Ok(element.into_owned());
        }
    }
    Ok(Value::empty_set())
}

/// Python calls `power` and its wrapper one inside the other. Where that gets too deep, the innermost call returns the
/// empty tuple, which cannot be called.
pub(super) fn power(cx: &mut Context<'_>, function: &Value, n: &Value) -> PythonResult {
    let has_end = match n {
        Value::Foreign(number) if !number.is_function() => false,
        _ => (1..=498).contains(&int(n)?),
    };
    if has_end {
        return public(cx, P::Power, &[function, n]);
    }
    public(cx, P::Compose, &[function, &empty_tuple()])
}

pub(super) fn nothing(_: &mut Context<'_>, _: &Value) -> PythonResult {
    Ok(Value::Nothing)
}
