//! Containers taken through functions, whatever calls them: a function value of the interpreter or
//! a region of the first-order form.

use std::cmp::Ordering;

use super::containers::merge_into;
use crate::container::{Container, ContainerKind, Items};
use crate::error::ErrorKind;
use crate::interpreter::Context;
use crate::value::Value;

/// What a loop does with its elements.
pub(crate) trait Body:
    FnMut(&mut Context<'_>, &[&Value]) -> Result<Value, ErrorKind>
{
}

impl<F: FnMut(&mut Context<'_>, &[&Value]) -> Result<Value, ErrorKind>> Body for F {}

pub(crate) fn apply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    container: Container<'_>,
) -> Result<Value, ErrorKind> {
    // A pair of integers is taken through functions more often than anything else.
    if let Items::Loc(loc) = container.items {
        let i = function(cx, &[&Value::Int(loc.i)])?;
        let j = function(cx, &[&Value::Int(loc.j)])?;
        return Ok(Value::pair(&i, &j));
    }
    let mut results = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| results.push(function(cx, &[item])?))?;
    Ok(results.finish())
}

pub(crate) fn mapply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    container: Container<'_>,
) -> Result<Value, ErrorKind> {
    let mut merged = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| merge_into(&mut merged, &function(cx, &[item])?))?;
    Ok(merged.finish())
}

pub(crate) fn papply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    a: Container<'_>,
    b: Container<'_>,
) -> Result<Value, ErrorKind> {
    let mut results = cx
        .collector(ContainerKind::Tuple)
        .expecting(a.len().min(b.len()));
    for (a, b) in a.iter().zip(b.iter()) {
        results.push(function(cx, &[&a, &b])?)?;
    }
    Ok(results.finish())
}

pub(crate) fn mpapply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    a: Container<'_>,
    b: Container<'_>,
) -> Result<Value, ErrorKind> {
    let mut merged = cx.collector(ContainerKind::Tuple);
    for (a, b) in a.iter().zip(b.iter()) {
        merge_into(&mut merged, &function(cx, &[&a, &b])?)?;
    }
    Ok(merged.finish())
}

pub(crate) fn prapply(
    cx: &mut Context<'_>,
    mut function: impl Body,
    a: Container<'_>,
    b: Container<'_>,
) -> Result<Value, ErrorKind> {
    let mut results = cx.collector(ContainerKind::Set);
    for second in b.iter() {
        for first in a.iter() {
            results.push(function(cx, &[&first, &second])?)?;
        }
    }
    Ok(results.finish())
}

pub(crate) fn sfilter(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut condition: impl Body,
) -> Result<Value, ErrorKind> {
    let mut kept = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| {
        if condition(cx, &[item])?.is_truthy() {
            kept.push(item.clone())?;
        }
        Ok(())
    })?;
    Ok(kept.finish())
}

pub(crate) fn mfilter(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut function: impl Body,
) -> Result<Value, ErrorKind> {
    let mut merged = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| {
        if function(cx, &[item])?.is_truthy() {
            merge_into(&mut merged, item)?;
        }
        Ok(())
    })?;
    Ok(merged.finish())
}

pub(crate) fn extract(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut condition: impl Body,
) -> Result<Value, ErrorKind> {
    for item in container.iter() {
        if condition(cx, &[&item])?.is_truthy() {
            return Ok(item.into_owned());
        }
    }
    Err(ErrorKind::NoMatch)
}

pub(crate) fn order(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut compfunc: impl Body,
) -> Result<Value, ErrorKind> {
    let mut keyed = container
        .iter()
        .map(|item| Ok((compfunc(cx, &[&item])?, item.into_owned())))
        .collect::<Result<Vec<_>, ErrorKind>>()?;
    cx.work(keyed.len() as u64 * u64::from(keyed.len().checked_ilog2().unwrap_or(0)))?;
    let mut failed = None;
    keyed.sort_by(|(a, _), (b, _)| {
        compare(a, b).unwrap_or_else(|error| {
            failed = Some(error);
            Ordering::Equal
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    Ok(Value::tuple(
        keyed.into_iter().map(|(_, item)| item).collect(),
    ))
}

pub(crate) fn valmax(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: impl Body,
) -> Result<Value, ErrorKind> {
    outermost_key(cx, container, compfunc, Ordering::Greater)
}

pub(crate) fn valmin(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: impl Body,
) -> Result<Value, ErrorKind> {
    outermost_key(cx, container, compfunc, Ordering::Less)
}

pub(crate) fn argmax(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: impl Body,
) -> Result<Value, ErrorKind> {
    outermost(cx, container, compfunc, Ordering::Greater)?
        .map(|(_, item)| item)
        .ok_or(ErrorKind::Empty)
}

pub(crate) fn argmin(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: impl Body,
) -> Result<Value, ErrorKind> {
    outermost(cx, container, compfunc, Ordering::Less)?
        .map(|(_, item)| item)
        .ok_or(ErrorKind::Empty)
}

fn outermost_key(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut compfunc: impl Body,
    wanted: Ordering,
) -> Result<Value, ErrorKind> {
    match outermost(cx, container, &mut compfunc, wanted)? {
        Some((key, _)) => Ok(key),
        None => compfunc(cx, &[&Value::Int(0)]),
    }
}

/// The first element with the outermost key, and that key.
fn outermost(
    cx: &mut Context<'_>,
    container: Container<'_>,
    mut compfunc: impl Body,
    wanted: Ordering,
) -> Result<Option<(Value, Value)>, ErrorKind> {
    let mut best = None;
    container.try_each(|item| {
        let key = compfunc(cx, &[item])?;
        if improves(&key, best.as_ref().map(|(key, _)| key), wanted)? {
            best = Some((key, item.clone()));
        }
        Ok(())
    })?;
    Ok(best)
}

/// Whether a key is `wanted` (greater, less) in comparison with the best one so far.
pub(super) fn improves(
    key: &Value,
    best: Option<&Value>,
    wanted: Ordering,
) -> Result<bool, ErrorKind> {
    match best {
        Some(best) => Ok(compare(key, best)? == wanted),
        None => Ok(true),
    }
}

/// How two keys compare: integers by size, tuples by the first elements that differ, sets by number
/// of elements. Python takes `<` of sets for "subset of", which orders almost nothing.
pub(super) fn compare(a: &Value, b: &Value) -> Result<Ordering, ErrorKind> {
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return Ok(a.cmp(&b));
    }
    if let (Value::Loc(a), Value::Loc(b)) = (a, b) {
        return Ok(a.cmp(b));
    }
    match (a.as_container(), b.as_container()) {
        (Some(a), Some(b)) if a.kind == b.kind => match a.kind {
            ContainerKind::Set => Ok(a.len().cmp(&b.len())),
            ContainerKind::Tuple => {
                for (a, b) in a.iter().zip(b.iter()) {
                    if a != b {
                        return compare(&a, &b);
                    }
                }
                Ok(a.len().cmp(&b.len()))
            }
        },
        _ => Err(ErrorKind::Incomparable(a.kind(), b.kind())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Primitive;
    use crate::primitives::testing::{call, ints};

    #[test]
    fn sets_compare_by_number_of_elements_and_kinds_do_not_mix() {
        let small = Value::set([Value::Int(9)]);
        let large = Value::set([Value::Int(1), Value::Int(2)]);
        assert_eq!(compare(&small, &large), Ok(Ordering::Less));
        assert_eq!(
            compare(&ints(&[1, 2]), &ints(&[1, 2, 0])),
            Ok(Ordering::Less)
        );
        assert!(compare(&Value::Int(1), &small).is_err());
        assert!(compare(&Value::Nothing, &Value::Nothing).is_err());
        // Found where keys are compared, not before: one element has nothing to be compared with.
        let nothing = Value::tuple(vec![Value::Nothing]);
        assert_eq!(
            call(Primitive::argmax, &[&nothing, Primitive::identity.value()]),
            Ok(Value::Nothing)
        );
    }
}
