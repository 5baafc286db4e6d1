//! Values as literals of program text, and sets that are made of literals.

use std::borrow::Cow;
use std::fmt;

use super::Value;
use super::container::Container;
use crate::error::ValueKind;
use crate::literal::{write_set, write_tuple};

/// The set of `frozenset({...})` with these elements. If they are more than two literals without names, CPython 3.9 and
/// later make one constant of them, and add its elements to another set. The constant is a set that was made of the
/// elements of a first one.
pub(crate) fn frozenset(elements: Vec<Value>, have_names: bool) -> Value {
    if elements.len() > 2 && !have_names {
        return Value::set(elements).added_again();
    }
    Value::frozenset(elements)
}

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
                frozenset(elements, have_names)
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
        is_like_it(frozenset(ascending.map(Cow::into_owned).collect(), false))
    };
    let written = || {
        let places = set.written().unwrap_or_default();
        let stored = |at: u32| all.and_then(|all| all.stored(at as usize));
        let added = places.into_iter().filter_map(stored).map(Cow::into_owned);
        Some(added.collect())
            .filter(|added: &Vec<Value>| is_like_it(frozenset(added.clone(), have_names)))
    };
    if let (true, Some(written)) = (has_display, written()) {
        return (written, true);
    }
    let arranged = |build: &dyn Fn(Vec<Value>) -> Value| -> Vec<Value> {
        let places = exchanged(&elements, build).into_iter();
        places.map(|at| elements[at].clone()).collect()
    };
    let displayed = arranged(&|added| frozenset(added, have_names));
    if !has_display || !is_like_it(frozenset(displayed.clone(), have_names)) {
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
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::text::parse_programs;
    use crate::{Operand, Type};

    /// Python has `{15, 7}` for `{7, 15}`, and the other way round.
    #[test]
    fn a_literal_is_read_in_the_order_in_which_it_was_written() {
        let mut generator = Generator::new(7);
        let types = [Type::IntegerSet, Type::Indices, Type::Object, Type::Objects];
        let (mut several, mut exchanged) = (0, 0);
        for at in 0..2_000 {
            let value = generator.value(types[at % types.len()]).into_literal();
            let text = Literal(&value).to_string();
            let program = format!("def f(I):\n    O = totuple({text})\n    return O\n");
            let program = parse_programs(&program).remove(0).unwrap();
            let read = match &program.steps()[0].arguments[0] {
                Operand::Literal(read) => read.clone(),
                Operand::Constant(constant) => constant.value().clone(),
                other => panic!("{other:?}"),
            };
            assert_eq!(read.to_string(), value.to_string(), "{text}");
            assert!(program.to_string().contains(&text), "{program}");
            several += usize::from(value.as_container().is_some_and(|it| it.len() > 1));
            exchanged += usize::from(text != value.to_string());
        }
        assert!(several > 1_000 && exchanged > 20, "{several} {exchanged}");
    }

    /// A table of 32 slots, where a display of constants makes one of 16.
    #[test]
    fn an_order_that_no_display_has_is_that_of_a_tuple() {
        let locs = [(2, 1), (3, 1), (1, 1), (2, 0), (3, 0), (1, 0)];
        let set = Value::set(locs.map(|(i, j)| Value::Loc(crate::Loc::new(i, j))));
        let text = Literal(&set).to_string();
        assert!(text.starts_with("frozenset(("), "{text}");
        let read = crate::parse_value(&text).unwrap();
        assert_eq!(read.to_string(), set.to_string());
    }

    /// CPython has one constant for equal displays in a file.
    #[test]
    fn equal_sets_of_several_orders_are_not_all_displays() {
        let numbers = [0, 8, 16, 24].map(Value::Int);
        let mut displayed = std::collections::BTreeSet::new();
        let mut others = 0;
        for start in 0..4 {
            for second in 1..4 {
                let mut added = numbers.clone();
                added.rotate_left(start);
                added.swap(1, second);
                let set = Value::set(added);
                let text = Literal(&set).to_string();
                assert_eq!(
                    crate::parse_value(&text).unwrap().to_string(),
                    set.to_string()
                );
                if text.contains('{') {
                    displayed.insert(set.to_string());
                } else {
                    others += 1;
                }
            }
        }
        assert!(displayed.len() == 1 && others > 3, "{displayed:?} {others}");
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
