//! Compares values as Python's reference does with `<`: keys of elements, and elements of which the largest or smallest
//! is wanted.

use std::borrow::Cow;
use std::cmp::Ordering;

use arc_isa::ContainerKind;

use crate::error::{ErrorKind, EvalResult, ValueKind};
use crate::value::Value;
use crate::value::container::Container;

/// Whether a key is greater, or less if that is `wanted`, than the best one so far.
pub(super) fn improves(key: &Value, best: &Value, wanted: Ordering) -> EvalResult<bool> {
    match wanted {
        Ordering::Greater => less(best, key),
        _ => less(key, best),
    }
}

/// `a < b`: integers by value, tuples by the first elements that differ; a set is less than those of which it is a
/// proper subset.
pub(crate) fn less(a: &Value, b: &Value) -> EvalResult<bool> {
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return Ok(a < b);
    }
    if let (Value::Loc(a), Value::Loc(b)) = (a, b) {
        return Ok(a < b);
    }
    if let (Value::Cell(a), Value::Cell(b)) = (a, b) {
        return Ok(a < b);
    }
    match (a.as_container(), b.as_container()) {
        (Some(a), Some(b)) if a.kind == b.kind => match a.kind {
            ContainerKind::Set => {
                Ok(a.len() < b.len() && a.iter_stored().all(|element| b.contains(&element)))
            }
            ContainerKind::Tuple => match first_difference(a, b) {
                None => Ok(false),
                Some(Difference::Length(ordering)) => Ok(ordering == Ordering::Less),
                Some(Difference::Elements(a, b)) => less(&a, &b),
            },
        },
        _ => numbers(a, b)
            .map(Ordering::is_lt)
            .ok_or(ErrorKind::Incomparable(a.kind(), b.kind())),
    }
}

/// Compares two numbers at least one of which is not finite. NaN comes before all others, so that sorting has a
/// consistent order.
#[cold]
fn numbers(a: &Value, b: &Value) -> Option<Ordering> {
    let is_number =
        |value: &Value| value.as_int().is_some() || value.kind() == ValueKind::NotFinite;
    (is_number(a) && is_number(b)).then(|| a.cmp(b))
}

/// Where two tuples differ.
enum Difference<'a> {
    /// One of them ends first.
    Length(Ordering),
    /// In two elements that are not both tuples.
    Elements(Cow<'a, Value>, Cow<'a, Value>),
}

/// The first difference of two tuples, at any depth. Found in one pass: checking elements for equality before comparing
/// them would traverse them once more for every level.
fn first_difference<'a>(a: Container<'a>, b: Container<'a>) -> Option<Difference<'a>> {
    for (a, b) in a.iter().zip(b.iter()) {
        if a.as_tuple().is_none() || b.as_tuple().is_none() {
            if a != b {
                return Some(Difference::Elements(a, b));
            }
            continue;
        }
        match (a, b) {
            (Cow::Borrowed(a), Cow::Borrowed(b)) => {
                if let (Some(a), Some(b)) = (a.as_container(), b.as_container())
                    && let Some(difference) = first_difference(a, b)
                {
                    return Some(difference);
                }
            }
            // Rows and pairs hold integers, so comparing them twice costs little.
            (a, b) => {
                if a != b {
                    return Some(Difference::Elements(a, b));
                }
            }
        }
    }
    let by_length = a.len().cmp(&b.len());
    by_length.is_ne().then_some(Difference::Length(by_length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Primitive;
    use crate::primitives::testing::{call, ints};

    #[test]
    fn sets_compare_as_subsets_and_kinds_do_not_mix() {
        let set = |numbers: &[i32]| Value::set(numbers.iter().map(|&n| Value::Int(n)));
        assert_eq!(less(&set(&[1]), &set(&[1, 2])), Ok(true));
        assert_eq!(less(&set(&[9]), &set(&[1, 2])), Ok(false));
        assert_eq!(less(&set(&[1]), &set(&[1])), Ok(false));
        assert_eq!(less(&ints(&[1, 2]), &ints(&[1, 2, 0])), Ok(true));
        assert!(less(&Value::Int(1), &set(&[9])).is_err());
        assert!(less(&Value::Nothing, &Value::Nothing).is_err());
        // Only a comparison of keys fails, and a single element is compared with nothing.
        let nothing = Value::tuple(vec![Value::Nothing]);
        assert_eq!(
            call(
                Primitive::Argmax,
                &[&nothing, Value::primitive(Primitive::Identity)]
            ),
            Ok(Value::Nothing)
        );
    }
}
