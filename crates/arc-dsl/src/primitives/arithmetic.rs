//! Integers, pairs of integers and truth values.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::comparison::improves;
use crate::error::{ErrorKind, EvalResult, Limit};
use crate::patch::Loc;
use crate::types::Number;
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

/// `f` by component; an integer next to a pair counts for both components.
fn zip(a: Number, b: Number, f: impl Fn(i64, i64) -> EvalResult<i64>) -> EvalResult<Number> {
    let f = |a: i32, b: i32| int(f(i64::from(a), i64::from(b))?);
    Ok(match (a, b) {
        (Number::Int(a), Number::Int(b)) => Number::Int(f(a, b)?),
        (Number::Pair(a), Number::Pair(b)) => Number::Pair(Loc::new(f(a.i, b.i)?, f(a.j, b.j)?)),
        (Number::Int(a), Number::Pair(b)) => Number::Pair(Loc::new(f(a, b.i)?, f(a, b.j)?)),
        (Number::Pair(a), Number::Int(b)) => Number::Pair(Loc::new(f(a.i, b)?, f(a.j, b)?)),
    })
}

/// `f` by component.
fn map(n: Number, f: impl Fn(i64) -> i64) -> EvalResult<Number> {
    let f = |n: i32| int(f(i64::from(n)));
    Ok(match n {
        Number::Int(n) => Number::Int(f(n)?),
        Number::Pair(n) => Number::Pair(Loc::new(f(n.i)?, f(n.j)?)),
    })
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

pub(super) fn add(a: Number, b: Number) -> EvalResult<Number> {
    zip(a, b, |a, b| Ok(a + b))
}

pub(super) fn subtract(a: Number, b: Number) -> EvalResult<Number> {
    zip(a, b, |a, b| Ok(a - b))
}

pub(super) fn multiply(a: Number, b: Number) -> EvalResult<Number> {
    zip(a, b, |a, b| Ok(a * b))
}

pub(super) fn divide(a: Number, b: Number) -> EvalResult<Number> {
    zip(a, b, floor_div)
}

pub(super) fn invert(n: Number) -> EvalResult<Number> {
    map(n, |n| -n)
}

pub(super) fn even(n: i32) -> bool {
    n % 2 == 0
}

pub(super) fn double(n: Number) -> EvalResult<Number> {
    map(n, |n| n * 2)
}

pub(super) fn halve(n: Number) -> EvalResult<Number> {
    // An arithmetic shift rounds down; division rounds towards zero.
    map(n, |n| n >> 1)
}

pub(super) fn increment(x: Number) -> EvalResult<Number> {
    map(x, |x| x + 1)
}

pub(super) fn decrement(x: Number) -> EvalResult<Number> {
    map(x, |x| x - 1)
}

pub(super) fn crement(x: Number) -> EvalResult<Number> {
    map(x, |x| x + x.signum())
}

pub(super) fn sign(x: Number) -> EvalResult<Number> {
    map(x, i64::signum)
}

pub(super) fn positive(x: i32) -> bool {
    x > 0
}

pub(super) fn greater(a: i32, b: i32) -> bool {
    a > b
}

pub(super) fn flip(b: bool) -> bool {
    !b
}

pub(super) fn both(a: &Value, b: &Value) -> Value {
    if a.is_truthy() { b.clone() } else { a.clone() }
}

pub(super) fn either(a: &Value, b: &Value) -> Value {
    if a.is_truthy() { a.clone() } else { b.clone() }
}

pub(super) fn toivec(i: i32) -> Loc {
    Loc::new(i, 0)
}

pub(super) fn tojvec(j: i32) -> Loc {
    Loc::new(0, j)
}

pub(super) fn maximum(container: Container<'_>) -> EvalResult<Value> {
    outermost(container, Ordering::Greater)
}

pub(super) fn minimum(container: Container<'_>) -> EvalResult<Value> {
    outermost(container, Ordering::Less)
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

/// What Python returns for arguments that do not have the types of their rows.
pub(super) mod untyped {
    use arc_isa::{ContainerKind, Primitive};

    use crate::budget::Context;
    use crate::error::ErrorKind;
    use crate::primitives::untyped::{
        PythonResult, Refusal, int, is_tuple, item, less, minus, number, plus, tuple,
    };
    use crate::value::Value;

    pub(in crate::primitives) fn call(
        cx: &mut Context<'_>,
        primitive: Primitive,
        arguments: &[&Value],
    ) -> PythonResult {
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
            (P::Greater, &[a, b]) => less(b, a).map(Value::Bool),
            _ => Err(Refusal::Raises),
        }
    }

    /// An operation on two numbers, or on other types for which Python defines it.
    type Operation = fn(&mut Context<'_>, &Value, &Value) -> PythonResult;

    /// The pair of the results of the operation for the components; an integer counts for both. Components after the
    /// second are not read.
    fn by_component(
        cx: &mut Context<'_>,
        a: &Value,
        b: &Value,
        operation: Operation,
    ) -> PythonResult {
        if a.as_int().is_some() && b.as_int().is_some() {
            return operation(cx, a, b);
        }
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
        let first = operation(cx, &component(a, 0)?, &of_b(0)?)?;
        let second = operation(cx, &component(a, 1)?, &of_b(1)?)?;
        Ok(Value::pair(&first, &second))
    }

    /// The function applied to the integer, or to the first two components.
    fn each(cx: &mut Context<'_>, x: &Value, function: fn(i64) -> i64) -> PythonResult {
        let apply = |x: &Value| number(function(i64::from(int(x)?)));
        cx.work(1)?;
        match x.as_int() {
            Some(_) => apply(x),
            None => Ok(Value::pair(&apply(&item(x, 0)?)?, &apply(&item(x, 1)?)?)),
        }
    }

    /// `a * b`: a tuple is repeated.
    fn times(cx: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
        match (a.as_int(), b.as_int()) {
            (Some(a), Some(b)) => number(i64::from(a) * i64::from(b)),
            (None, Some(n)) => repeated(cx, a, n),
            (Some(n), None) => repeated(cx, b, n),
            (None, None) => Err(Refusal::Raises),
        }
    }

    fn repeated(cx: &mut Context<'_>, value: &Value, n: i32) -> PythonResult {
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

    /// `a // b`
    fn quotient(_: &mut Context<'_>, a: &Value, b: &Value) -> PythonResult {
        let (a, b) = (i64::from(int(a)?), i64::from(int(b)?));
        if b == 0 {
            return Err(ErrorKind::DivisionByZero.into());
        }
        number(a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_count_for_both_components_of_a_pair() {
        let pair = Number::Pair(Loc::new(3, -4));
        assert_eq!(add(Number::Int(1), pair), Ok(Number::Pair(Loc::new(4, -3))));
        assert_eq!(
            subtract(pair, Number::Int(1)),
            Ok(Number::Pair(Loc::new(2, -5)))
        );
        assert_eq!(multiply(pair, pair), Ok(Number::Pair(Loc::new(9, 16))));
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
        assert_eq!(
            divide(Number::Int(1), Number::Int(0)),
            Err(ErrorKind::DivisionByZero)
        );
        assert_eq!(halve(Number::Int(-3)), Ok(Number::Int(-2)));
    }

    #[test]
    fn integers_past_the_bound_are_a_limit() {
        let large = Number::Int(MAX_INT);
        assert_eq!(increment(large), Err(Limit::Integer.into()));
        assert_eq!(multiply(large, large), Err(Limit::Integer.into()));
        assert_eq!(invert(large), Ok(Number::Int(-MAX_INT)));
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
            let found = [minimum, maximum]
                .map(|of| of(container.as_container().unwrap()).unwrap().to_string());
            assert_eq!(found, [smallest, largest], "{container}");
        }
        let cell = cells[0].as_container().unwrap();
        assert!(maximum(cell).is_err());
    }

    #[test]
    fn steps_away_from_zero() {
        let pair = Number::Pair(Loc::new(-2, 0));
        assert_eq!(crement(pair), Ok(Number::Pair(Loc::new(-3, 0))));
        assert_eq!(sign(pair), Ok(Number::Pair(Loc::new(-1, 0))));
    }
}
