//! Functions as values, and loops over containers.

pub(super) use super::loops::{
    apply, argmax, argmin, extract, mapply, mfilter, mpapply, order, papply, prapply, sfilter,
    valmax, valmin,
};
use arc_isa::Primitive;

use super::untyped::{PythonResult, Refusal, either_is_empty, empty_like, int, is_empty, no_pairs};
use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult};
use crate::value::Value;
use crate::value::container::Container;
use crate::value::function::{Function, FunctionKind};

fn function_value(kind: FunctionKind) -> Value {
    Function::new(kind).into()
}

pub(super) fn rbind(function: &Value, fixed: &Value) -> Value {
    function_value(FunctionKind::RBind {
        function: function.clone(),
        fixed: fixed.clone(),
        parameters: parameters_left(function),
    })
}

pub(super) fn lbind(function: &Value, fixed: &Value) -> Value {
    function_value(FunctionKind::LBind {
        function: function.clone(),
        fixed: fixed.clone(),
        parameters: parameters_left(function),
    })
}

/// How many parameters remain after one is fixed. The DSL's rule: one of two, two of three, and three of any other
/// number, so a bound function of one parameter fails when it is called.
fn parameters_left(function: &Value) -> u8 {
    let parameters = match function {
        Value::Primitive(primitive) => primitive.parameters().len() as u8,
        Value::Function(function) => function.parameters(),
        Value::Foreign(foreign) => foreign.parameters(),
        _ => 0,
    };
    match parameters {
        2 => 1,
        3 => 2,
        _ => 3,
    }
}

/// How often `power` applies a function at most: it calls itself so often, and Python allows 1,000 calls one inside the
/// other (`sys.getrecursionlimit()`), of which a program and the module that calls it are two.
pub const MOST_ROUNDS: i32 = 998;

pub(super) fn rapply(
    cx: &mut Context<'_>,
    functions: Container<'_>,
    value: &Value,
) -> EvalResult<Value> {
    let mut results = cx.collector(functions.kind);
    for function in functions.iter() {
        let result = cx.call(&function, &[value])?;
        results.push(cx, result)?;
    }
    results.finish(cx)
}

/// Of arguments of any types. Combinators build a function of what is none, which fails when it is called, and loops over
/// empty containers call nothing.
pub(super) fn untyped(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
) -> PythonResult {
    use Primitive as P;
    match (primitive, arguments) {
        (P::Compose, &[outer, inner]) => Ok(function_value(FunctionKind::Compose {
            outer: outer.clone(),
            inner: inner.clone(),
        })),
        (P::Chain, &[h, g, f]) => Ok(function_value(FunctionKind::Chain {
            h: h.clone(),
            g: g.clone(),
            f: f.clone(),
        })),
        (P::Fork, &[outer, a, b]) => Ok(function_value(FunctionKind::Fork {
            outer: outer.clone(),
            a: a.clone(),
            b: b.clone(),
        })),
        (P::Matcher, &[function, target]) => Ok(function_value(FunctionKind::Matcher {
            function: function.clone(),
            target: target.clone(),
        })),
        (P::Power, &[function, n]) => match int(n)? {
            1 => Ok(function.clone()),
            n @ 2..=MOST_ROUNDS => Ok(function_value(FunctionKind::Power {
                function: function.clone(),
                n,
            })),
            n => Err(ErrorKind::Recursion(n).into()),
        },
        (P::Apply | P::Mapply, &[_, container]) | (P::Sfilter | P::Mfilter, &[container, _])
            if is_empty(container) =>
        {
            empty_like(container)
        }
        (P::Order, &[container, _]) if is_empty(container) => Ok(Value::tuple(Vec::new())),
        // Without a key, Python compares the elements themselves.
        (P::Order | P::Argmax | P::Argmin, &[container, Value::Nothing]) => {
            let key = Value::primitive(P::Identity);
            Ok(cx.call_primitive(primitive, &[container, key])?)
        }
        (P::Papply | P::Mpapply, &[_, a, b]) if either_is_empty(a, b) => {
            Ok(Value::tuple(Vec::new()))
        }
        (P::Prapply, &[_, a, b]) if no_pairs(a, b) => Ok(Value::empty_set()),
        _ => Err(Refusal::Raises),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::testing::{call, ints};

    #[test]
    fn functions_apply_to_tuples_and_sets() {
        let double = Value::primitive(Primitive::Double);
        let tuple = call(Primitive::Apply, &[double, &ints(&[3, 1, 3])]).unwrap();
        assert_eq!(tuple.to_string(), "(6, 2, 6)");
        let set = Value::set([Value::Int(3), Value::Int(-3)]);
        let same = call(Primitive::Apply, &[Value::primitive(Primitive::Sign), &set]).unwrap();
        assert_eq!(same.to_string(), "frozenset({1, -1})");
    }

    #[test]
    fn of_equal_keys_the_first_element_wins() {
        let tuple = ints(&[-2, 2, 5, -5]);
        let square = call(
            Primitive::Fork,
            &[
                Value::primitive(Primitive::Multiply),
                Value::primitive(Primitive::Identity),
                Value::primitive(Primitive::Identity),
            ],
        )
        .unwrap();
        assert_eq!(
            call(Primitive::Argmax, &[&tuple, &square]),
            Ok(Value::Int(5))
        );
        assert_eq!(
            call(Primitive::Argmin, &[&tuple, &square]),
            Ok(Value::Int(-2))
        );
        assert_eq!(
            call(Primitive::Valmax, &[&tuple, &square]),
            Ok(Value::Int(25))
        );
        let ordered = call(Primitive::Order, &[&tuple, &square]).unwrap();
        assert_eq!(ordered.to_string(), "(-2, 2, 5, -5)");
    }

    #[test]
    fn binding_leaves_the_number_of_parameters_that_the_dsl_says() {
        let add_one = call(
            Primitive::Rbind,
            &[Value::primitive(Primitive::Add), &Value::Int(1)],
        )
        .unwrap();
        assert_eq!(
            call(Primitive::Apply, &[&add_one, &ints(&[1, 2, 3])]),
            Ok(ints(&[2, 3, 4]))
        );
        let bound = call(
            Primitive::Lbind,
            &[Value::primitive(Primitive::Size), &ints(&[1])],
        )
        .unwrap();
        assert_eq!(
            call(Primitive::Apply, &[&bound, &ints(&[1, 2, 3])]),
            Err(ErrorKind::ArgumentCount {
                expected: 3,
                found: 1
            }),
        );
    }

    #[test]
    fn elements_are_their_own_keys_by_none() {
        for (primitive, expected) in [
            (Primitive::Argmax, "9"),
            (Primitive::Argmin, "2"),
            (Primitive::Order, "(2, 4, 9)"),
        ] {
            let found = call(primitive, &[&ints(&[2, 9, 4]), &Value::Nothing]);
            assert_eq!(found.unwrap().to_string(), expected);
        }
    }

    #[test]
    fn powers_apply_over_and_over() {
        let thrice = call(
            Primitive::Power,
            &[Value::primitive(Primitive::Double), &Value::Int(3)],
        )
        .unwrap();
        assert_eq!(
            call(Primitive::Apply, &[&thrice, &ints(&[1, 5, 0])]),
            Ok(ints(&[8, 40, 0]))
        );
        for n in [0, -1, MOST_ROUNDS + 1] {
            let times = Value::Int(n);
            let function = Value::primitive(Primitive::Double);
            let result = call(Primitive::Power, &[function, &times]);
            assert_eq!(result, Err(ErrorKind::Recursion(n)));
        }
    }
}
