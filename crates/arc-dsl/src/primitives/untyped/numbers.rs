//! Arithmetic, tuples and sets.

use std::cmp::Ordering;

use arc_isa::{ContainerKind, Primitive};

use super::functions::no_pairs;
use super::{
    Refusal, Taken, elements, empty_like, int, is_empty, is_tuple, item, length, list, order,
    set_of, tuple,
};
use crate::budget::Context;
use crate::error::{ErrorKind, Limit};
use crate::value::{MAX_INT, Value};

pub(super) fn take(cx: &mut Context<'_>, primitive: Primitive, arguments: &[&Value]) -> Taken {
    use Primitive as P;
    match (primitive, arguments) {
        (P::Add, &[a, b]) => by_component(cx, a, b, plus),
        (P::Subtract, &[a, b]) => by_component(cx, a, b, minus),
        (P::Multiply, &[a, b]) => by_component(cx, a, b, times),
        (P::Divide, &[a, b]) => by_component(cx, a, b, quotient),
        (P::Double, &[x]) => by_component(cx, x, &Value::Int(2), times),
        (P::Halve, &[x]) => by_component(cx, x, &Value::Int(2), quotient),
        (P::Increment, &[x]) => by_component(cx, x, &Value::Int(1), |_, a, b| {
            number(i64::from(int(a)?) + i64::from(int(b)?))
        }),
        (P::Decrement, &[x]) => by_component(cx, x, &Value::Int(1), |_, a, b| {
            number(i64::from(int(a)?) - i64::from(int(b)?))
        }),
        (P::Invert, &[x]) => each(cx, x, |n| -n),
        (P::Sign, &[x]) => each(cx, x, i64::signum),
        (P::Crement, &[x]) => each(cx, x, |n| n + n.signum()),
        (P::Toivec, &[i]) => Ok(Value::pair(i, &Value::Int(0))),
        (P::Tojvec, &[j]) => Ok(Value::pair(&Value::Int(0), j)),
        (P::Greater, &[a, b]) => greater(a, b).map(Value::Bool),
        (P::Intersection, &[Value::Bool(a), Value::Bool(b)]) => Ok(Value::Bool(*a && *b)),
        (P::Intersection, &[a, b]) => number(i64::from(int(a)? & int(b)?)),
        (P::Dedupe, &[tup]) if is_empty(tup) => Ok(Value::tuple(Vec::new())),
        (P::Difference, &[a, _]) if is_empty(a) => empty_like(a),
        (P::Product, &[a, b]) if no_pairs(a, b) => Ok(Value::empty_set()),
        (P::Sizefilter, &[container, n]) => sizefilter(cx, container, n),
        _ => Err(Refusal::Raises),
    }
}

/// An operation on two numbers, or on what else Python has it for.
type Operation = fn(&mut Context<'_>, &Value, &Value) -> Taken;

/// The pair of what the operation gives for the components; an integer counts for both. Components
/// past the second are not looked at.
fn by_component(cx: &mut Context<'_>, a: &Value, b: &Value, operation: Operation) -> Taken {
    if a.as_int().is_some() && b.as_int().is_some() {
        return operation(cx, a, b);
    }
    let component = |value: &Value, at: usize| match value.as_int() {
        Some(n) => Ok(Value::Int(n)),
        None => item(value, at),
    };
    // With something else than a tuple beside an integer Python asks for the integer's components.
    let of_b = |at: usize| match is_tuple(b) {
        true => item(b, at),
        false if is_tuple(a) => Ok(b.clone()),
        false => Err(Refusal::Raises),
    };
    let first = operation(cx, &component(a, 0)?, &of_b(0)?)?;
    let second = operation(cx, &component(a, 1)?, &of_b(1)?)?;
    Ok(Value::pair(&first, &second))
}

/// The function of the integer, or of the first two components.
fn each(cx: &mut Context<'_>, x: &Value, function: fn(i64) -> i64) -> Taken {
    let apply = |x: &Value| number(function(i64::from(int(x)?)));
    cx.work(1)?;
    match x.as_int() {
        Some(_) => apply(x),
        None => Ok(Value::pair(&apply(&item(x, 0)?)?, &apply(&item(x, 1)?)?)),
    }
}

fn number(n: i64) -> Taken {
    match i32::try_from(n) {
        Ok(n) if n.unsigned_abs() <= MAX_INT as u32 => Ok(Value::Int(n)),
        _ => Err(Limit::Integer.into()),
    }
}

/// `a + b`: tuples are put one behind the other.
pub(crate) fn plus(cx: &mut Context<'_>, a: &Value, b: &Value) -> Taken {
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return number(i64::from(a) + i64::from(b));
    }
    let mut all = cx.collector(ContainerKind::Tuple);
    all.extend(cx, tuple(a)?)?;
    all.extend(cx, tuple(b)?)?;
    Ok(all.finish(cx)?)
}

/// `a - b`: of sets, what the second lacks.
pub(crate) fn minus(cx: &mut Context<'_>, a: &Value, b: &Value) -> Taken {
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return number(i64::from(a) - i64::from(b));
    }
    let (from, without) = (elements(a)?, elements(b)?);
    if [from.kind, without.kind] != [ContainerKind::Set; 2] {
        return Err(Refusal::Raises);
    }
    let kept = list(a)?.into_iter();
    set_of(cx, kept.filter(|element| !without.contains(element)))
}

/// `a * b`: a tuple is repeated.
pub(crate) fn times(cx: &mut Context<'_>, a: &Value, b: &Value) -> Taken {
    match (a.as_int(), b.as_int()) {
        (Some(a), Some(b)) => number(i64::from(a) * i64::from(b)),
        (None, Some(n)) => repeated(cx, a, n),
        (Some(n), None) => repeated(cx, b, n),
        (None, None) => Err(Refusal::Raises),
    }
}

fn repeated(cx: &mut Context<'_>, value: &Value, n: i32) -> Taken {
    let once = tuple(value)?;
    let n = n.max(0).unsigned_abs();
    cx.reserve(u64::from(n) * u64::from(value.weight()))?;
    let mut all = cx.collector(ContainerKind::Tuple);
    if !once.is_empty() {
        for _ in 0..n {
            all.extend(cx, once)?;
        }
    }
    Ok(all.finish(cx)?)
}

/// `a // b`
fn quotient(_: &mut Context<'_>, a: &Value, b: &Value) -> Taken {
    let (a, b) = (i64::from(int(a)?), i64::from(int(b)?));
    if b == 0 {
        return Err(ErrorKind::DivisionByZero.into());
    }
    number(a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0))
}

/// `a > b`: of tuples the first components that differ decide; a set is greater than its proper
/// subsets.
pub(crate) fn greater(a: &Value, b: &Value) -> Taken<bool> {
    match (a.as_container(), b.as_container()) {
        (Some(a), Some(b)) if [a.kind, b.kind] == [ContainerKind::Set; 2] => {
            Ok(a.len() > b.len() && b.iter().all(|element| a.contains(&element)))
        }
        (Some(left), Some(right)) if [left.kind, right.kind] == [ContainerKind::Tuple; 2] => {
            let mut components = left.iter().zip(right.iter());
            match components.find(|(a, b)| a != b) {
                Some((a, b)) => greater(&a, &b),
                None => Ok(left.len() > right.len()),
            }
        }
        _ => Ok(order(a, b)? == Ordering::Greater),
    }
}

/// No number of elements equals something else than a number.
fn sizefilter(cx: &mut Context<'_>, container: &Value, n: &Value) -> Taken {
    let mut kept = Vec::new();
    for element in list(container)? {
        if Value::Int(length(&element)? as i32) == *n {
            kept.push(element);
        }
    }
    set_of(cx, kept)
}
