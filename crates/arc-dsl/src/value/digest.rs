//! The hash of a value as one number, so that a map's hasher processes a few bytes instead of every cell. Equal values
//! have equal hashes, in whichever variant they are stored.

use crate::patch::{Cell, Loc};
use crate::value::Value;

/// An odd number without a pattern: the fractional part of the golden ratio.
const KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// What the hashes of integers, tuples, sets and so on start from.
const INTEGER: u64 = 1;
const TUPLE: u64 = 2;
const SET: u64 = 3;
const PRIMITIVE: u64 = 4;
const FUNCTION: u64 = 5;
const FOREIGN: u64 = 6;

/// Mixes one more word into the hash.
#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(KEY);
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn container(kind: u64, elements: impl ExactSizeIterator<Item = u64>) -> u64 {
    let start = kind << 32 ^ elements.len() as u64;
    elements.fold(mix(KEY, start), mix)
}

#[inline]
fn integer(number: i32) -> u64 {
    INTEGER << 32 ^ u64::from(number.cast_unsigned())
}

#[inline]
fn loc(loc: Loc) -> u64 {
    container(TUPLE, [integer(loc.i), integer(loc.j)].into_iter())
}

#[inline]
fn cell(cell: Cell) -> u64 {
    container(TUPLE, [integer(cell.colour), loc(cell.loc)].into_iter())
}

/// The hash of a value.
pub(crate) fn digest(value: &Value) -> u64 {
    match value {
        Value::Nothing => 0,
        Value::Bool(truth) => integer((*truth).into()),
        Value::Int(number) => integer(*number),
        Value::Loc(it) => loc(*it),
        Value::Cell(it) => cell(*it),
        Value::Grid(grid) => {
            let colours = |row: &[i8]| container(TUPLE, row.iter().map(|it| integer((*it).into())));
            container(TUPLE, grid.rows().map(colours))
        }
        Value::Tuple(elements) => container(TUPLE, elements.as_slice().iter().map(digest)),
        Value::Set(elements) => container(SET, elements.as_slice().iter().map(digest)),
        Value::Indices(locs) => container(SET, locs.as_slice().iter().map(|it| loc(*it))),
        Value::Object(cells) => container(SET, cells.as_slice().iter().map(|it| cell(*it))),
        Value::Primitive(primitive) => mix(PRIMITIVE, *primitive as u64),
        Value::Function(function) => mix(FUNCTION, function.id()),
        Value::Foreign(foreign) => mix(FOREIGN, foreign.place().cast_unsigned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use arc_isa::Type;
    use std::collections::HashMap;

    /// The same value, with a grid replaced by the tuple of its rows.
    fn plain(value: &Value) -> Option<Value> {
        let container = value.as_container()?;
        let elements = container
            .iter()
            .map(|element| plain(&element).unwrap_or((*element).clone()));
        Some(Value::tuple(elements.collect()))
    }

    #[test]
    fn equal_values_have_one_hash_and_others_another() {
        let mut generator = Generator::new(1);
        let mut seen: HashMap<u64, Value> = HashMap::new();
        let mut equal = 0;
        for round in 0..20_000 {
            let value = generator.value(Type::ALL[round % Type::ALL.len()]);
            if let Some(other) = plain(&value).filter(|other| *other == value) {
                assert_eq!(digest(&other), digest(&value), "{value}");
                equal += 1;
            }
            let first = seen.entry(digest(&value)).or_insert_with(|| value.clone());
            assert_eq!(*first, value);
        }
        assert_eq!(digest(&Value::Bool(true)), digest(&Value::Int(1)));
        let different = seen.len();
        assert!(equal > 2_000 && different > 900, "{equal} {different}");
    }
}
