//! Functions as values, and containers taken through functions.

use std::cmp::Ordering;

use super::containers::merge_into;
use crate::container::{Container, ContainerKind, Items};
use crate::error::ErrorKind;
use crate::function::FunctionKind;
use crate::interpreter::Context;
use crate::value::Value;

pub(super) fn compose(cx: &mut Context<'_>, outer: &Value, inner: &Value) -> Value {
    cx.function(FunctionKind::Compose {
        outer: outer.clone(),
        inner: inner.clone(),
    })
}

pub(super) fn chain(cx: &mut Context<'_>, h: &Value, g: &Value, f: &Value) -> Value {
    cx.function(FunctionKind::Chain {
        h: h.clone(),
        g: g.clone(),
        f: f.clone(),
    })
}

pub(super) fn matcher(cx: &mut Context<'_>, function: &Value, target: &Value) -> Value {
    cx.function(FunctionKind::Matcher {
        function: function.clone(),
        target: target.clone(),
    })
}

pub(super) fn fork(cx: &mut Context<'_>, outer: &Value, a: &Value, b: &Value) -> Value {
    cx.function(FunctionKind::Fork {
        outer: outer.clone(),
        a: a.clone(),
        b: b.clone(),
    })
}

pub(super) fn rbind(cx: &mut Context<'_>, function: &Value, fixed: &Value) -> Value {
    let parameters = parameters_left(function);
    cx.function(FunctionKind::RBind {
        function: function.clone(),
        fixed: fixed.clone(),
        parameters,
    })
}

pub(super) fn lbind(cx: &mut Context<'_>, function: &Value, fixed: &Value) -> Value {
    let parameters = parameters_left(function);
    cx.function(FunctionKind::LBind {
        function: function.clone(),
        fixed: fixed.clone(),
        parameters,
    })
}

/// How many parameters are left when one is fixed. The DSL's rule: one of two, two of three, and
/// three of any other number, so that a bound function of one parameter fails when it is called.
fn parameters_left(function: &Value) -> u8 {
    let parameters = match function {
        Value::Primitive(primitive) => primitive.parameters().len() as u8,
        Value::Function(function) => function.parameters(),
        _ => 0,
    };
    match parameters {
        2 => 1,
        3 => 2,
        _ => 3,
    }
}

pub(super) fn power(cx: &mut Context<'_>, function: &Value, n: i32) -> Result<Value, ErrorKind> {
    match n {
        ..1 => Err(ErrorKind::NotPositive(n)),
        1 => Ok(function.clone()),
        _ => Ok(cx.function(FunctionKind::Power {
            function: function.clone(),
            n,
        })),
    }
}

pub(super) fn apply(
    cx: &mut Context<'_>,
    function: &Value,
    container: Container<'_>,
) -> Result<Value, ErrorKind> {
    // A pair of integers is taken through functions more often than anything else.
    if let Items::Loc(loc) = container.items {
        let i = cx.call(function, &[&Value::Int(loc.i)])?;
        let j = cx.call(function, &[&Value::Int(loc.j)])?;
        return Ok(Value::pair(&i, &j));
    }
    let mut results = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| results.push(cx.call(function, &[item])?))?;
    Ok(results.finish())
}

pub(super) fn rapply(
    cx: &mut Context<'_>,
    functions: Container<'_>,
    value: &Value,
) -> Result<Value, ErrorKind> {
    let mut results = cx.collector(functions.kind);
    for function in functions.iter() {
        results.push(cx.call(&function, &[value])?)?;
    }
    Ok(results.finish())
}

pub(super) fn mapply(
    cx: &mut Context<'_>,
    function: &Value,
    container: Container<'_>,
) -> Result<Value, ErrorKind> {
    let mut merged = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| merge_into(&mut merged, &cx.call(function, &[item])?))?;
    Ok(merged.finish())
}

pub(super) fn papply(
    cx: &mut Context<'_>,
    function: &Value,
    a: Container<'_>,
    b: Container<'_>,
) -> Result<Value, ErrorKind> {
    let mut results = cx
        .collector(ContainerKind::Tuple)
        .expecting(a.len().min(b.len()));
    for (a, b) in a.iter().zip(b.iter()) {
        results.push(cx.call(function, &[&a, &b])?)?;
    }
    Ok(results.finish())
}

pub(super) fn mpapply(
    cx: &mut Context<'_>,
    function: &Value,
    a: Container<'_>,
    b: Container<'_>,
) -> Result<Value, ErrorKind> {
    let mut merged = cx.collector(ContainerKind::Tuple);
    for (a, b) in a.iter().zip(b.iter()) {
        merge_into(&mut merged, &cx.call(function, &[&a, &b])?)?;
    }
    Ok(merged.finish())
}

pub(super) fn prapply(
    cx: &mut Context<'_>,
    function: &Value,
    a: Container<'_>,
    b: Container<'_>,
) -> Result<Value, ErrorKind> {
    let mut results = cx.collector(ContainerKind::Set);
    for second in b.iter() {
        for first in a.iter() {
            results.push(cx.call(function, &[&first, &second])?)?;
        }
    }
    Ok(results.finish())
}

pub(super) fn sfilter(
    cx: &mut Context<'_>,
    container: Container<'_>,
    condition: &Value,
) -> Result<Value, ErrorKind> {
    let mut kept = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| {
        if cx.call(condition, &[item])?.is_truthy() {
            kept.push(item.clone())?;
        }
        Ok(())
    })?;
    Ok(kept.finish())
}

pub(super) fn mfilter(
    cx: &mut Context<'_>,
    container: Container<'_>,
    function: &Value,
) -> Result<Value, ErrorKind> {
    let mut merged = cx.collector(container.kind).expecting(container.len());
    container.try_each(|item| {
        if cx.call(function, &[item])?.is_truthy() {
            merge_into(&mut merged, item)?;
        }
        Ok(())
    })?;
    Ok(merged.finish())
}

pub(super) fn extract(
    cx: &mut Context<'_>,
    container: Container<'_>,
    condition: &Value,
) -> Result<Value, ErrorKind> {
    for item in container.iter() {
        if cx.call(condition, &[&item])?.is_truthy() {
            return Ok(item.into_owned());
        }
    }
    Err(ErrorKind::NoMatch)
}

pub(super) fn order(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: &Value,
) -> Result<Value, ErrorKind> {
    let mut keyed = container
        .iter()
        .map(|item| Ok((cx.call(compfunc, &[&item])?, item.into_owned())))
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

pub(super) fn valmax(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: &Value,
) -> Result<Value, ErrorKind> {
    outermost_key(cx, container, compfunc, Ordering::Greater)
}

pub(super) fn valmin(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: &Value,
) -> Result<Value, ErrorKind> {
    outermost_key(cx, container, compfunc, Ordering::Less)
}

pub(super) fn argmax(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: &Value,
) -> Result<Value, ErrorKind> {
    outermost(cx, container, compfunc, Ordering::Greater)?
        .map(|(_, item)| item)
        .ok_or(ErrorKind::Empty)
}

pub(super) fn argmin(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: &Value,
) -> Result<Value, ErrorKind> {
    outermost(cx, container, compfunc, Ordering::Less)?
        .map(|(_, item)| item)
        .ok_or(ErrorKind::Empty)
}

fn outermost_key(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: &Value,
    wanted: Ordering,
) -> Result<Value, ErrorKind> {
    match outermost(cx, container, compfunc, wanted)? {
        Some((key, _)) => Ok(key),
        None => cx.call(compfunc, &[&Value::Int(0)]),
    }
}

/// The first element with the outermost key, and that key.
fn outermost(
    cx: &mut Context<'_>,
    container: Container<'_>,
    compfunc: &Value,
    wanted: Ordering,
) -> Result<Option<(Value, Value)>, ErrorKind> {
    let mut best = None;
    container.try_each(|item| {
        let key = cx.call(compfunc, &[item])?;
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
    fn functions_apply_to_tuples_and_sets() {
        let double = Primitive::double.value();
        let tuple = call(Primitive::apply, &[double, &ints(&[3, 1, 3])]).unwrap();
        assert_eq!(tuple.to_string(), "(6, 2, 6)");
        let set = Value::set([Value::Int(3), Value::Int(-3)]);
        let same = call(Primitive::apply, &[Primitive::sign.value(), &set]).unwrap();
        assert_eq!(same.to_string(), "frozenset({-1, 1})");
    }

    #[test]
    fn of_equal_keys_the_first_element_wins() {
        let tuple = ints(&[-2, 2, 5, -5]);
        let square = call(
            Primitive::fork,
            &[
                Primitive::multiply.value(),
                Primitive::identity.value(),
                Primitive::identity.value(),
            ],
        )
        .unwrap();
        assert_eq!(
            call(Primitive::argmax, &[&tuple, &square]),
            Ok(Value::Int(5))
        );
        assert_eq!(
            call(Primitive::argmin, &[&tuple, &square]),
            Ok(Value::Int(-2))
        );
        assert_eq!(
            call(Primitive::valmax, &[&tuple, &square]),
            Ok(Value::Int(25))
        );
        let ordered = call(Primitive::order, &[&tuple, &square]).unwrap();
        assert_eq!(ordered.to_string(), "(-2, 2, 5, -5)");
    }

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

    #[test]
    fn binding_leaves_the_number_of_parameters_that_the_dsl_says() {
        let add_one = call(Primitive::rbind, &[Primitive::add.value(), &Value::Int(1)]).unwrap();
        assert_eq!(
            call(Primitive::apply, &[&add_one, &ints(&[1, 2, 3])]),
            Ok(ints(&[2, 3, 4]))
        );
        let bound = call(Primitive::lbind, &[Primitive::size.value(), &ints(&[1])]).unwrap();
        assert_eq!(
            call(Primitive::apply, &[&bound, &ints(&[1, 2, 3])]),
            Err(ErrorKind::ArgumentCount {
                expected: 3,
                found: 1
            }),
        );
    }

    #[test]
    fn powers_apply_over_and_over() {
        let thrice = call(
            Primitive::power,
            &[Primitive::double.value(), &Value::Int(3)],
        )
        .unwrap();
        assert_eq!(
            call(Primitive::apply, &[&thrice, &ints(&[1, 5, 0])]),
            Ok(ints(&[8, 40, 0]))
        );
        assert!(
            call(
                Primitive::power,
                &[Primitive::double.value(), &Value::Int(0)]
            )
            .is_err()
        );
    }
}
