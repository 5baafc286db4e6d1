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

    /// Both components added; two components within [`MAX_INT`](crate::MAX_INT) never wrap.
    pub(crate) const fn wrapping_add(self, other: Self) -> Self {
        Self::new(self.i.wrapping_add(other.i), self.j.wrapping_add(other.j))
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
    ($(#[$doc:meta])* $name:ident of $item:ty, by $sorted:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
        pub struct $name(Vec<$item>);

        impl $name {
            /// The set of these items, in any order and with repetitions.
            pub fn new(items: Vec<$item>) -> Self {
                // Most primitives make their items in order: look before sorting.
                if items.is_sorted_by(|a, b| a < b) {
                    Self(items)
                } else {
                    Self($sorted(items))
                }
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
    Indices of Loc, by sorted_locs
}

sorted_set! {
    /// A set of coloured locations, ascending by colour, row and column.
    Object of Cell, by sorted_cells
}

/// Fewer items than this are sorted by comparing.
const FEW: usize = 24;

/// The locations ascending, each once.
///
/// Where they lie close together, as they do on and around a grid, they are marked in a bitmap, a
/// word a row, and read from it: the time is linear in their number and the height of their box.
fn sorted_locs(mut locs: Vec<Loc>) -> Vec<Loc> {
    const ROWS: i64 = 160;
    let extremes = |key: fn(&Loc) -> i32| {
        let keys = locs.iter().map(key);
        keys.fold((i32::MAX, i32::MIN), |(low, high), at| {
            (low.min(at), high.max(at))
        })
    };
    let ((top, bottom), (left, right)) = (extremes(|loc| loc.i), extremes(|loc| loc.j));
    let (height, width) = (
        i64::from(bottom) - i64::from(top),
        i64::from(right) - i64::from(left),
    );
    if locs.len() < FEW || height >= ROWS || width >= 128 {
        locs.sort_unstable();
        locs.dedup();
        return locs;
    }
    let mut rows = [0u128; ROWS as usize];
    for loc in &locs {
        rows[(loc.i - top) as usize] |= 1 << (loc.j - left);
    }
    locs.clear();
    for (i, mut row) in (top..=bottom).zip(rows) {
        while row != 0 {
            locs.push(Loc::new(i, left + row.trailing_zeros() as i32));
            row &= row - 1;
        }
    }
    locs
}

/// The cells ascending, each once: dealt out by colour, then ordered by location.
fn sorted_cells(mut cells: Vec<Cell>) -> Vec<Cell> {
    const COLOURS: usize = 16;
    if let [first, rest @ ..] = cells.as_slice()
        && rest.iter().all(|cell| cell.colour == first.colour)
    {
        let colour = first.colour;
        let locs = sorted_locs(cells.into_iter().map(|cell| cell.loc).collect());
        return locs.into_iter().map(|loc| Cell { colour, loc }).collect();
    }
    let colour = |cell: &Cell| usize::try_from(cell.colour).ok().filter(|&c| c < COLOURS);
    if cells.len() < FEW || cells.iter().any(|cell| colour(cell).is_none()) {
        cells.sort_unstable();
        cells.dedup();
        return cells;
    }
    let mut dealt: [Vec<Loc>; COLOURS] = Default::default();
    for cell in &cells {
        dealt[colour(cell).unwrap_or(0)].push(cell.loc);
    }
    cells.clear();
    for (colour, locs) in (0..).zip(dealt) {
        let ascending = locs.is_sorted_by(|a, b| a < b);
        let locs = if ascending { locs } else { sorted_locs(locs) };
        cells.extend(locs.into_iter().map(|loc| Cell { colour, loc }));
    }
    cells
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

    /// Enough items for the bitmap, and boxes both small and too large for it.
    #[test]
    fn however_it_is_sorted_the_order_is_the_same() {
        for step in [1, 5, 7, 97] {
            let cells: Vec<_> = (0..600)
                .map(|n| (n * 7919) % 541)
                .map(|n| Cell::new(n % 4, Loc::new(n % 23 * step - 40, n % 29 - 9)))
                .collect();
            let mut expected = cells.clone();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(
                Object::new(cells.clone()).as_slice(),
                expected,
                "step {step}"
            );
            let locs: Vec<_> = cells.iter().map(|cell| cell.loc).collect();
            let mut expected = locs.clone();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(Indices::new(locs).as_slice(), expected, "step {step}");
        }
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
