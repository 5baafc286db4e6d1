//! Equality and order of values.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::Value;
use super::container::{Container, Items};
use super::digest::digest;
use crate::grid::Grid;
use crate::patch::Loc;
use crate::reads::count_reads;

impl Value {
    /// The position of its kind in the order of `Ord`.
    fn rank(&self) -> u8 {
        match self {
            Value::Nothing => 0,
            Value::Foreign(foreign) if foreign.is_function() => 4,
            Value::Bool(_) | Value::Int(_) | Value::Foreign(_) => 1,
            Value::Loc(_) | Value::Cell(_) | Value::Grid(_) | Value::Tuple(_) => 2,
            Value::Indices(_) | Value::Object(_) | Value::Set(_) => 3,
            Value::Primitive(_) => 4,
            Value::Function(_) => 5,
        }
    }

    /// The position of a number, or of a value that only the typed dialect has, within its rank.
    fn place(&self) -> i64 {
        match self {
            Value::Foreign(foreign) => foreign.place(),
            _ => self.as_int().map_or(0, i64::from),
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        count_reads(1);
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Loc(a), Value::Loc(b)) => a.cmp(b),
            (Value::Cell(a), Value::Cell(b)) => a.cmp(b),
            (Value::Indices(a), Value::Indices(b)) => a.cmp(b),
            (Value::Object(a), Value::Object(b)) => a.cmp(b),
            (Value::Grid(a), Value::Grid(b)) => a.rows().cmp(b.rows()),
            (Value::Tuple(a), Value::Tuple(b)) => a.values.cmp(&b.values),
            (Value::Set(a), Value::Set(b)) => a.values.cmp(&b.values),
            (Value::Primitive(a), Value::Primitive(b)) => a.cmp(b),
            (Value::Function(a), Value::Function(b)) => a.id().cmp(&b.id()),
            _ => {
                self.rank()
                    .cmp(&other.rank())
                    .then_with(|| match (self.as_int(), other.as_int()) {
                        (Some(a), Some(b)) => a.cmp(&b),
                        _ => match (self.as_container(), other.as_container()) {
                            (Some(a), Some(b)) => match (a.items, b.items) {
                                (Items::Rows(a), _) => compare_with_rows(b, a).reverse(),
                                (_, Items::Rows(b)) => compare_with_rows(a, b),
                                _ => a.compare(b),
                            },
                            _ => self.place().cmp(&other.place()),
                        },
                    })
            }
        }
    }
}

/// Compares a tuple with the tuple of a grid's rows. It builds no row as a value, since a row may be long and the first
/// element of the tuple a number.
fn compare_with_rows(tuple: Container<'_>, grid: &Grid) -> Ordering {
    for (element, row) in tuple.iter().zip(grid.rows()) {
        let ordering = match element.as_tuple() {
            Some(element) => {
                let colours = row.iter().map(|&c| Cow::Owned(Value::Int(c.into())));
                element.iter().cmp(colours)
            }
            None => element.rank().cmp(&Value::Loc(Loc::default()).rank()),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    tuple.len().cmp(&grid.height())
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        count_reads(1);
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Loc(a), Value::Loc(b)) => a == b,
            (Value::Grid(a), Value::Grid(b)) => a == b,
            (Value::Indices(a), Value::Indices(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) => a.values == b.values,
            (Value::Set(a), Value::Set(b)) => a.values == b.values,
            // Rows are not integers. Finding that out by comparing a row would build the row first.
            (Value::Grid(_), Value::Loc(_) | Value::Cell(_))
            | (Value::Loc(_) | Value::Cell(_), Value::Grid(_)) => false,
            _ => self.cmp(other) == Ordering::Equal,
        }
    }
}

impl Eq for Value {}

/// Consistent with equality: true hashes like 1, a grid like the tuple of its rows.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(digest(self));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[i32]) -> Value {
        Value::tuple(values.iter().map(|&n| Value::Int(n)).collect())
    }

    #[test]
    fn equality_is_pythons() {
        assert_eq!(Value::Bool(true), Value::Int(1));
        assert_eq!(
            Value::tuple(vec![Value::Bool(true), Value::Int(2)]),
            ints(&[1, 2])
        );
        let grid = Value::from(Grid::from_rows(&[[1, 2], [3, 4]]).unwrap());
        assert_eq!(grid, Value::tuple(vec![ints(&[1, 2]), ints(&[3, 4])]));
        assert_eq!(Value::from(Grid::default()), Value::tuple(vec![]));
        assert_ne!(Value::set([]), Value::tuple(vec![]));
        assert_ne!(Value::Nothing, Value::Int(0));
    }

    #[test]
    fn a_grid_stands_in_the_order_where_the_tuple_of_its_rows_does() {
        let grid = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap();
        let rows = Value::tuple(vec![ints(&[1, 2, 3]), ints(&[4, 5, 6])]);
        let pairs = Value::from(Grid::from_rows(&[[1, 2], [3, 4]]).unwrap());
        for (other, expected) in [
            (rows.clone(), Ordering::Equal),
            (Value::tuple(vec![ints(&[1, 2, 3])]), Ordering::Greater),
            (
                Value::tuple(vec![ints(&[1, 2]), ints(&[9])]),
                Ordering::Greater,
            ),
            (Value::tuple(vec![ints(&[1, 2, 3, 0])]), Ordering::Less),
            (
                Value::tuple(vec![rows.clone(), rows.clone()]),
                Ordering::Less,
            ),
            (ints(&[7, 7]), Ordering::Greater),
            (ints(&[7, 7, 7]), Ordering::Greater),
            (Value::tuple(vec![Value::empty_set()]), Ordering::Less),
            (pairs.clone(), Ordering::Greater),
            (Value::tuple(vec![]), Ordering::Greater),
        ] {
            let grid = Value::from(grid.clone());
            assert_eq!(grid.cmp(&other), expected, "{other}");
            assert_eq!(rows.cmp(&other), expected, "{other}");
            assert_eq!(other.cmp(&grid), expected.reverse(), "{other}");
        }
        let same = Value::tuple(vec![ints(&[1, 2]), ints(&[3, 4])]);
        assert_eq!(pairs.cmp(&same), Ordering::Equal);
    }
}
