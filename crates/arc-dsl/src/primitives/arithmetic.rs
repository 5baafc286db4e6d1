//! Integers, pairs of integers and truth values.

use std::borrow::Cow;
use std::cmp::Ordering;

use arc_isa::{ContainerKind, Primitive};

use super::comparison::improves;
use super::untyped::{
    PythonResult, Refusal, elements, int as int_of, is_tuple, item, less, minus, plain, plus, tuple,
};
use crate::budget::Context;
use crate::error::{ErrorKind, EvalResult, Limit};
use crate::patch::Loc;
use crate::types::{Number, as_number};
use crate::value::container::{Container, Items};
use crate::value::{MAX_INT, Value};

/// `n`, if a program may hold it.
pub(super) fn int(n: i64) -> EvalResult<i32> {
    if n.abs() <= i64::from(MAX_INT) {
        Ok(n as i32)
    } else {
        Err(Limit::Integer.into())
    }
}

/// The pair, if a program may hold it.
pub(super) fn loc(i: i64, j: i64) -> EvalResult<Loc> {
    Ok(Loc::new(int(i)?, int(j)?))
}

/// `a` moved by `b`.
pub(super) fn sum(a: Loc, b: Loc) -> EvalResult<Loc> {
    // Components lie within MAX_INT, so a sum of two cannot wrap.
    let sum = a.wrapping_add(b);
    if sum.i.unsigned_abs().max(sum.j.unsigned_abs()) <= MAX_INT as u32 {
        Ok(sum)
    } else {
        Err(Limit::Integer.into())
    }
}

/// `a / b` rounded down, like Python's `//`.
pub(super) fn floor_div(a: i64, b: i64) -> EvalResult<i64> {
    if b == 0 {
        return Err(ErrorKind::DivisionByZero);
    }
    let quotient = a / b;
    Ok(if a % b != 0 && (a < 0) != (b < 0) {
        quotient - 1
    } else {
        quotient
    })
}

fn outermost(container: Container<'_>, wanted: Ordering) -> EvalResult<Value> {
    let best = match container.items {
        Items::Loc(loc) => {
            let first = loc.j.cmp(&loc.i) != wanted;
            Some(Value::Int(if first { loc.i } else { loc.j }))
        }
        // Sets of these are stored in the order in which they compare.
        Items::Locs(_) | Items::Cells(_) => {
            let at = match wanted {
                Ordering::Greater => container.len() - 1,
                _ => 0,
            };
            container.stored(at).map(Cow::into_owned)
        }
        Items::Rows(grid) => {
            let better = |best, row| {
                let ordering = grid.row(row).cmp(grid.row(best));
                if ordering == wanted { row } else { best }
            };
            let best = (0..grid.height()).reduce(better);
            best.and_then(|row| container.value(row))
        }
        Items::Values(values) => {
            // The order matters for elements that are no numbers: not all of them may be comparable.
            let are_numbers = values.iter().all(|value| matches!(value, Value::Int(_)));
            let places = if are_numbers {
                None
            } else {
                container.places()
            };
            let mut best: Option<&Value> = None;
            for at in 0..values.len() {
                let item = &values[places.map_or(at, |places| places[at] as usize)];
                let improved = match (item, best) {
                    (Value::Int(item), Some(Value::Int(best))) => item.cmp(best) == wanted,
                    (_, Some(best)) => improves(item, best, wanted)?,
                    (_, None) => true,
                };
                if improved {
                    best = Some(item);
                }
            }
            best.cloned()
        }
        Items::Cell(cell) => {
            let (colour, loc) = (Value::Int(cell.colour), Value::Loc(cell.loc));
            improves(&loc, &colour, wanted)?;
            Some(colour)
        }
    };
    Ok(best.unwrap_or(Value::Int(0)))
}

/// Of arguments of any types.
#[inline(always)]
#[allow(
    clippy::inline_always,
    reason = "each primitive has a copy without the others: 1% of all instructions"
)]
pub(super) fn untyped(
    cx: &mut Context<'_>,
    primitive: Primitive,
    arguments: &[&Value],
) -> PythonResult {
    use Primitive as P;
    let two = Value::Int(2);
    match (primitive, arguments) {
        (P::Add, &[a, b]) => by_component(cx, a, b, |a, b| Ok(a + b), plus),
        (P::Subtract, &[a, b]) => by_component(cx, a, b, |a, b| Ok(a - b), minus),
        (P::Multiply, &[a, b]) => by_component(cx, a, b, |a, b| Ok(a * b), times),
        (P::Divide, &[a, b]) => by_component(cx, a, b, floor_div, raises),
        (P::Double, &[x]) => by_component(cx, x, &two, |a, b| Ok(a * b), times),
        (P::Halve, &[x]) => by_component(cx, x, &two, floor_div, raises),
        (P::Increment, &[x]) => by_component(cx, x, &Value::Int(1), |a, b| Ok(a + b), raises),
        (P::Decrement, &[x]) => by_component(cx, x, &Value::Int(1), |a, b| Ok(a - b), raises),
        (P::Invert, &[x]) => by_component(cx, &Value::Int(0), x, |a, b| Ok(a - b), raises),
        (P::Sign, &[x]) => by_component(cx, x, &two, |n, _| Ok(n.signum()), raises),
        (P::Crement, &[x]) => by_component(cx, x, &two, |n, _| Ok(n + n.signum()), raises),
        (P::Even, &[n]) => Ok(Value::Bool(int_of(n)? % 2 == 0)),
        (P::Positive, &[x]) => Ok(Value::Bool(int_of(x)? > 0)),
        (P::Flip, &[b]) => Ok(Value::Bool(!b.is_truthy())),
        (P::Both, &[a, b]) => Ok(if a.is_truthy() { b } else { a }.clone()),
        (P::Either, &[a, b]) => Ok(if a.is_truthy() { a } else { b }.clone()),
        (P::Maximum, &[container]) => Ok(outermost(elements(container)?, Ordering::Greater)?),
        (P::Minimum, &[container]) => Ok(outermost(elements(container)?, Ordering::Less)?),
        (P::Toivec, &[i]) => Ok(Value::pair(&plain(i), &Value::Int(0))),
        (P::Tojvec, &[j]) => Ok(Value::pair(&Value::Int(0), &plain(j))),
        (P::Greater, &[a, b]) => less(b, a).map(Value::Bool),
        _ => Err(Refusal::Raises),
    }
}

/// An operation on two values that are not both integers.
type Operation = fn(&mut Context<'_>, &Value, &Value) -> PythonResult;

fn raises(_: &mut Context<'_>, _: &Value, _: &Value) -> PythonResult {
    Err(Refusal::Raises)
}

/// The pair of the results of an operation for the components, or its result for two integers; an integer counts for
/// both components.
#[inline(always)]
#[allow(clippy::inline_always, reason = "the same")]
fn by_component(
    cx: &mut Context<'_>,
    a: &Value,
    b: &Value,
    of_integers: impl Fn(i64, i64) -> EvalResult<i64>,
    of_others: Operation,
) -> PythonResult {
    let integers = |a: i32, b: i32| int(of_integers(i64::from(a), i64::from(b))?);
    if let (Some(a), Some(b)) = (as_number(a), as_number(b)) {
        let ((a_i, a_j), (b_i, b_j)) = (a.components(), b.components());
        let i = integers(a_i, b_i)?;
        return Ok(match (a, b) {
            (Number::Int(_), Number::Int(_)) => Value::Int(i),
            _ => Value::Loc(Loc::new(i, integers(a_j, b_j)?)),
        });
    }
    of_values(a, b, &mut |a, b| match (a.as_int(), b.as_int()) {
        (Some(a), Some(b)) => Ok(Value::Int(integers(a, b)?)),
        _ => of_others(cx, a, b),
    })
}

/// The same of other values, of which one should be a tuple. Components after the second are not read.
#[cold]
fn of_values(
    a: &Value,
    b: &Value,
    operation: &mut dyn FnMut(&Value, &Value) -> PythonResult,
) -> PythonResult {
    let component = |value: &Value, at: usize| match value.as_int() {
        Some(n) => Ok(Value::Int(n)),
        None => item(value, at),
    };
    // If neither argument is a tuple, as with an integer and a set, Python asks the first for components and raises.
    let of_b = |at: usize| match is_tuple(b) {
        true => item(b, at),
        false if is_tuple(a) => Ok(b.clone()),
        false => Err(Refusal::Raises),
    };
    let mut result = |at: usize| operation(&component(a, at)?, &of_b(at)?);
    let both = [result(0), result(1)];
    // Where Python raises for the second one, it has no limit for the first one.
    if let [Err(Refusal::Error(_)), Err(Refusal::Raises)] = both {
        return Err(Refusal::Raises);
    }
    let [first, second] = both;
    Ok(Value::pair(&first?, &second?))
}

/// `a * b` of an integer and a tuple, which is repeated.
fn times(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
    let (value, n) = match (a.as_int(), b.as_int()) {
        (None, Some(n)) => (a, n),
        (Some(n), None) => (b, n),
        _ => return Err(Refusal::Raises),
    };
    let once = tuple(value)?;
    let n = n.max(0).unsigned_abs();
    cx.reserve(u64::from(n) * u64::from(value.own_weight()))?;
    let mut all = cx.collector(ContainerKind::Tuple);
    if !once.is_empty() {
        for _ in 0..n {
            all.extend(cx, once)?;
        }
    }
    Ok(all.finish(cx)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Primitive as P;
    use crate::primitives::testing::{at, call};
    use crate::value::literal::tests::read;

    #[test]
    fn what_python_refuses_is_at_no_limit() {
        for (primitive, arguments) in [
            (P::Subtract, vec![read("(1073741823,)"), Value::Int(-665)]),
            (P::Double, vec![read("(1073741821,)")]),
            (
                P::Add,
                vec![read("(1073741821, frozenset())"), Value::Int(7)],
            ),
        ] {
            let arguments: Vec<&Value> = arguments.iter().collect();
            let found = call(primitive, &arguments);
            assert!(
                !matches!(found, Ok(_) | Err(ErrorKind::Limit(_))),
                "{found:?}"
            );
        }
    }

    #[test]
    fn integers_count_for_both_components_of_a_pair() {
        let pair = at(3, -4);
        assert_eq!(call(P::Add, &[&Value::Int(1), &pair]), Ok(at(4, -3)));
        assert_eq!(call(P::Subtract, &[&pair, &Value::Int(1)]), Ok(at(2, -5)));
        assert_eq!(call(P::Multiply, &[&pair, &pair]), Ok(at(9, 16)));
    }

    #[test]
    fn division_rounds_down() {
        for (a, b, quotient) in [
            (7, 2, 3),
            (-7, 2, -4),
            (7, -2, -4),
            (-7, -2, 3),
            (-6, 2, -3),
        ] {
            assert_eq!(floor_div(a, b), Ok(quotient), "{a} // {b}");
        }
        let zero = call(P::Divide, &[&Value::Int(1), &Value::Int(0)]);
        assert_eq!(zero, Err(ErrorKind::DivisionByZero));
        assert_eq!(call(P::Halve, &[&Value::Int(-3)]), Ok(Value::Int(-2)));
    }

    #[test]
    fn integers_past_the_bound_are_a_limit() {
        let large = &Value::Int(MAX_INT);
        assert_eq!(call(P::Increment, &[large]), Err(Limit::Integer.into()));
        let square = call(P::Multiply, &[large, large]);
        assert_eq!(square, Err(Limit::Integer.into()));
        assert_eq!(call(P::Invert, &[large]), Ok(Value::Int(-MAX_INT)));
    }

    #[test]
    fn the_outermost_of_every_container_is_that_of_its_tuple() {
        let ints = |numbers: &[i32]| numbers.iter().map(|&n| Value::Int(n)).collect::<Vec<_>>();
        let cells = [(2, 1), (1, 5), (1, 3)]
            .map(|(colour, i)| Value::Cell(crate::Cell::new(colour, Loc::new(i, 0))));
        let rows = Value::from(crate::Grid::from_rows(&[[1, 2, 3], [4, 0, 0], [4, 0, 0]]).unwrap());
        for (container, smallest, largest) in [
            (Value::tuple(ints(&[3, -1, 7])), "-1", "7"),
            (Value::tuple(ints(&[3, -1])), "-1", "3"),
            (Value::set(ints(&[3, -1, 7])), "-1", "7"),
            (Value::set(cells.clone()), "(1, (3, 0))", "(2, (1, 0))"),
            (Value::tuple(cells.to_vec()), "(1, (3, 0))", "(2, (1, 0))"),
            (rows.clone(), "(1, 2, 3)", "(4, 0, 0)"),
            (
                Value::tuple(vec![Value::Bool(true), Value::Int(1)]),
                "True",
                "True",
            ),
            (Value::empty_set(), "0", "0"),
        ] {
            let found =
                [P::Minimum, P::Maximum].map(|of| call(of, &[&container]).unwrap().to_string());
            assert_eq!(found, [smallest, largest], "{container}");
        }
        assert!(call(P::Maximum, &[&cells[0]]).is_err());
    }

    #[test]
    fn steps_away_from_zero() {
        assert_eq!(call(P::Crement, &[&at(-2, 0)]), Ok(at(-3, 0)));
        assert_eq!(call(P::Sign, &[&at(-2, 0)]), Ok(at(-1, 0)));
    }
}
