//! [`Loc`], [`Cell`] and the sets of them: [`Indices`] and [`Object`], together called patches.

use std::cmp::Ordering;
use std::fmt;

use crate::value::{write_set, write_tuple};

/// A pair of integers: row `i` and column `j` of a cell, or any vector, size or pair of numbers.
///
/// Components may be negative and may lie off every grid. Ordered by row, then by column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Loc {
    /// Row, counted downwards from 0.
    pub i: i32,
    /// Column, counted to the right from 0.
    pub j: i32,
}

impl Loc {
    /// The pair `(i, j)`.
    pub const fn new(i: i32, j: i32) -> Self {
        Self { i, j }
    }

    /// One integer that orders as the pair does: comparing it is one instruction.
    const fn key(self) -> i64 {
        ((self.i as i64) << 32) | (self.j as i64 - i32::MIN as i64)
    }
}

impl Ord for Loc {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Loc {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A coloured location. Ordered by colour, then by location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Cell {
    /// The colour; only those of [`COLOUR_RANGE`](crate::COLOUR_RANGE) can be painted.
    pub colour: i32,
    /// Where it lies.
    pub loc: Loc,
}

impl Cell {
    /// The cell of `colour` at row `i`, column `j`.
    pub const fn new(colour: i32, loc: Loc) -> Self {
        Self { colour, loc }
    }
}

/// A sorted set of `T`, with the constructors that keep it one.
macro_rules! sorted_set {
    ($(#[$doc:meta])* $name:ident of $item:ty) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
        pub struct $name(Vec<$item>);

        impl $name {
            /// The set of these items, in any order and with repetitions.
            pub fn new(mut items: Vec<$item>) -> Self {
                // Most primitives make their items in order: look before sorting.
                if !items.is_sorted_by(|a, b| a < b) {
                    items.sort_unstable();
                    items.dedup();
                }
                Self(items)
            }

            /// The set of items that are known to be ascending and distinct.
            pub(crate) fn from_sorted(items: Vec<$item>) -> Self {
                debug_assert!(items.is_sorted_by(|a, b| a < b));
                Self(items)
            }

            /// The items, ascending.
            pub fn as_slice(&self) -> &[$item] {
                &self.0
            }

            /// Number of items.
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Whether there are no items.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Whether `item` is in the set.
            pub fn contains(&self, item: &$item) -> bool {
                self.0.binary_search(item).is_ok()
            }
        }

        impl FromIterator<$item> for $name {
            fn from_iter<I: IntoIterator<Item = $item>>(items: I) -> Self {
                Self::new(items.into_iter().collect())
            }
        }

        /// The literal that makes the set.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_set(f, self.0.iter())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

sorted_set! {
    /// A set of locations, ascending by row, then by column.
    Indices of Loc
}

sorted_set! {
    /// A set of coloured locations, ascending by colour, row and column.
    Object of Cell
}

/// The literal that makes the pair.
impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tuple(f, [self.i, self.j].iter())
    }
}

/// The literal that makes the cell.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.colour, self.loc)
    }
}

impl fmt::Debug for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_order_by_row_then_column_with_signs() {
        let set = Indices::new(vec![
            Loc::new(1, -1),
            Loc::new(0, 5),
            Loc::new(-1, 9),
            Loc::new(0, -5),
            Loc::new(0, 5),
        ]);
        assert_eq!(
            set.to_string(),
            "frozenset({(-1, 9), (0, -5), (0, 5), (1, -1)})"
        );
        assert!(set.contains(&Loc::new(0, -5)) && !set.contains(&Loc::new(5, 0)));
    }

    #[test]
    fn cells_order_by_colour_first() {
        let object: Object = [Cell::new(2, Loc::new(0, 0)), Cell::new(1, Loc::new(9, 9))]
            .into_iter()
            .collect();
        assert_eq!(object.to_string(), "frozenset({(1, (9, 9)), (2, (0, 0))})");
        assert_eq!(Object::default().to_string(), "frozenset()");
    }
}
