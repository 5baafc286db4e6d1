//! Values as literals of program text, and sets that are made of literals.

use std::borrow::Cow;
use std::fmt;

use super::Value;
use super::container::Container;
use crate::error::ValueKind;
use crate::literal::{write_set, write_tuple};

/// A value as program text: what reads it has its sets in the same order.
pub(crate) struct Literal<'a>(pub(crate) &'a Value);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Tuple(elements) => write_tuple(f, elements.as_slice().iter().map(Literal)),
            Value::Set(_) | Value::Indices(_) | Value::Object(_) => {
                let (elements, is_display) = in_order_of_text(self.0);
                let elements = elements.iter().map(Literal);
                if is_display {
                    return write_set(f, elements);
                }
                f.write_str("frozenset(")?;
                write_tuple(f, elements)?;
                f.write_str(")")
            }
            value => value.fmt(f),
        }
    }
}

impl Value {
    /// The set of `frozenset({...})` with these elements. If they are more than two literals without names, CPython 3.9
    /// and later make one constant of them, and add its elements to another set. The constant is a set that was made of
    /// the elements of a first one.
    #[must_use]
    pub fn of_display(elements: Vec<Value>, have_names: bool) -> Self {
        if elements.len() > 2 && !have_names {
            return Value::set(elements).added_again();
        }
        Value::frozenset(elements)
    }

    /// The places of a set's elements, in the order of iteration, in an order in which they can be added to a set that then
    /// iterates like this one, if there is such an order; none for other values.
    #[must_use]
    pub fn adding_order(&self) -> Vec<usize> {
        exchanged(&in_order(self).collect::<Vec<_>>(), Value::set)
    }

    /// Whether a set to which its elements are added in the order of iteration, or a copy of that, is like it or its copy.
    #[must_use]
    pub fn is_added_in_order(&self) -> bool {
        let added = Value::set(in_order(self));
        let table = |set: &Value| set.copied_set().and_then(|copy| copy.set_table());
        in_order(&added).eq(in_order(self)) && table(&added) == table(self)
    }

    /// The same value with its sets as they are read from its text.
    #[must_use]
    pub fn into_literal(self) -> Self {
        match &self {
            Value::Tuple(elements) => {
                let elements = elements.as_slice().iter().cloned();
                Value::tuple(elements.map(Value::into_literal).collect())
            }
            Value::Set(_) | Value::Indices(_) | Value::Object(_) => {
                let elements: Vec<Value> = in_order(&self).map(Value::into_literal).collect();
                let have_names = elements.iter().any(has_name);
                Value::of_display(elements, have_names)
            }
            _ => self,
        }
    }
}

/// The elements of a set in the order of iteration.
fn in_order(set: &Value) -> impl Iterator<Item = Value> {
    let elements = set.as_container().into_iter().flat_map(Container::iter);
    elements.map(Cow::into_owned)
}

/// Whether the text of a value has a name in it.
fn has_name(value: &Value) -> bool {
    match value {
        Value::Set(_) | Value::Indices(_) | Value::Object(_) => true,
        Value::Tuple(elements) => elements.as_slice().iter().any(has_name),
        value => value.kind() == ValueKind::Function || matches!(value, Value::Foreign(_)),
    }
}

/// The elements of a set in an order in which a set that is read iterates like this one, and whether it is read from a
/// display: a `frozenset` of a tuple, to which they are added one by one, may have an order that no display has.
fn in_order_of_text(set: &Value) -> (Vec<Value>, bool) {
    let elements: Vec<Value> = in_order(set).collect();
    let have_names = elements.iter().any(has_name);
    let is_like_it = |read: Value| in_order(&read).eq(elements.iter().cloned());
    let all = set.as_container();
    // CPython makes one constant of all equal displays in a file, in the order of the first. So they all have to have the
    // order of the one that ascends.
    let has_display = have_names || elements.len() <= 2 || {
        let ascending = all.into_iter().flat_map(Container::iter_stored);
        is_like_it(Value::of_display(
            ascending.map(Cow::into_owned).collect(),
            false,
        ))
    };
    let written = || {
        let places = set.written().unwrap_or_default();
        let stored = |at: u32| all.and_then(|all| all.stored(at as usize));
        let added = places.into_iter().filter_map(stored).map(Cow::into_owned);
        Some(added.collect())
            .filter(|added: &Vec<Value>| is_like_it(Value::of_display(added.clone(), have_names)))
    };
    if let (true, Some(written)) = (has_display, written()) {
        return (written, true);
    }
    let arranged = |build: &dyn Fn(Vec<Value>) -> Value| -> Vec<Value> {
        let places = exchanged(&elements, build).into_iter();
        places.map(|at| elements[at].clone()).collect()
    };
    let displayed = arranged(&|added| Value::of_display(added, have_names));
    if !has_display || !is_like_it(Value::of_display(displayed.clone(), have_names)) {
        let added = arranged(&Value::set);
        if is_like_it(Value::set(added.clone())) {
            return (added, false);
        }
        return (written().unwrap_or(displayed), true);
    }
    (displayed, true)
}

/// In sets of more elements none are exchanged.
const MOST_EXCHANGED: usize = 64;

/// The places of these elements in an order in which a set that is built of them iterates over them as they are here.
/// Most often that is their own order; if elements collide, some have to be exchanged. There may be no such order.
fn exchanged(elements: &[Value], build: impl Fn(Vec<Value>) -> Value) -> Vec<usize> {
    let differing = |places: &[usize]| {
        let built = build(places.iter().map(|at| elements[*at].clone()).collect());
        in_order(&built)
            .zip(elements)
            .filter(|(a, b)| a != *b)
            .count()
    };
    let own: Vec<usize> = (0..elements.len()).collect();
    let (mut best, mut least) = (own.clone(), differing(&own));
    // From their own order, from its reverse, and from both begun at another element.
    for turn in 0..2 * elements.len() {
        if least == 0 || elements.len() > MOST_EXCHANGED {
            break;
        }
        let mut start = own.clone();
        start.rotate_left(turn / 2);
        if turn % 2 == 1 {
            start.reverse();
        }
        let (found, differ) = exchanged_from(start, differing);
        if differ < least {
            (best, least) = (found, differ);
        }
    }
    best
}

/// The order that is reached from this one by exchanging two places as long as that helps, and how many elements differ.
fn exchanged_from(
    mut best: Vec<usize>,
    differing: impl Fn(&[usize]) -> usize,
) -> (Vec<usize>, usize) {
    let mut least = differing(&best);
    while least > 0 {
        let before = best.clone();
        for a in 1..before.len() {
            for b in 0..a {
                let mut places = before.clone();
                places.swap(a, b);
                let found = differing(&places);
                if found < least {
                    (best, least) = (places, found);
                }
            }
        }
        if best == before {
            break;
        }
    }
    (best, least)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The value of a literal of numbers, truth values, `None`, tuples and sets. The crate arc-text reads all literals, but
    /// imports this one.
    pub(crate) fn read(literal: &str) -> Value {
        let mut rest = literal;
        let value = read_first(&mut rest);
        assert_eq!(rest, "", "{literal}");
        value
    }

    /// Reads what the text begins with, and leaves the rest.
    fn read_first(rest: &mut &str) -> Value {
        let mut take = |word: &str| match rest.strip_prefix(word) {
            Some(after) => {
                *rest = after;
                true
            }
            None => false,
        };
        let (is_set, end) = if take("frozenset()") {
            return Value::empty_set();
        } else if take("frozenset({") {
            (true, "})")
        } else if take("{") {
            (true, "}")
        } else if take("(") {
            (false, ")")
        } else {
            let word = rest.split([',', ')', '}']).next().unwrap();
            *rest = &rest[word.len()..];
            return match word {
                "None" => Value::Nothing,
                "True" => true.into(),
                "False" => false.into(),
                number => Value::Int(number.parse().unwrap()),
            };
        };
        let mut elements = Vec::new();
        loop {
            if let Some(after) = rest.strip_prefix(end) {
                *rest = after;
                break;
            }
            elements.push(read_first(rest));
            *rest = rest.trim_start_matches([',', ' ']);
        }
        if is_set {
            let have_names = elements.iter().any(has_name);
            return Value::of_display(elements, have_names);
        }
        Value::tuple(elements)
    }

    #[test]
    fn a_set_is_built_again_by_adding_its_elements() {
        let locs = [(0, 0), (1, 1), (0, 2)].map(|(i, j)| Value::Loc(crate::Loc::new(i, j)));
        for at in 0..6 {
            let order = [at / 2, (at / 2 + 1 + at % 2) % 3, (at / 2 + 2 - at % 2) % 3];
            let set = Value::set(order.map(|at| locs[at].clone()));
            let elements: Vec<Value> = in_order(&set).collect();
            let added = set
                .adding_order()
                .into_iter()
                .map(|at| elements[at].clone());
            assert_eq!(Value::set(added).to_string(), set.to_string());
        }
    }
}
