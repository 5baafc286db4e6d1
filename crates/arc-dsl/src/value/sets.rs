//! The sets of locations and of cells: [`Indices`] and [`Object`], together called patches.

mod bitmaps;
pub(crate) mod order;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::budget::ELEMENT_BYTES;
use crate::literal::write_set;
use crate::patch::{Cell, Loc};
use bitmaps::by_bitmap;
use order::{Built, By, Order};

/// A set of `T`, whose items are ascending, with the order in which Python iterates over it.
macro_rules! sorted_set {
    ($(#[$doc:meta])* $name:ident of $item:ty, by $sorted:ident, $added:ident) => {
        $(#[$doc])*
        #[derive(Clone, Default)]
        pub struct $name {
            items: Vec<$item>,
            order: Order,
        }

        impl $name {
            /// The set to which these items were added in this order; repetitions are left out.
            pub fn new(items: Vec<$item>) -> Self {
                // Most primitives produce their items in order: check before sorting.
                if items.is_sorted_by(|a, b| a < b) {
                    return Self::from_sorted(items);
                }
                let sorted = $sorted(&[&items]);
                Self::from_ascending(sorted, Order::new(Built::$added(items.into())))
            }

            /// The set of items that are known to be ascending and distinct, and were added in that order.
            pub(crate) fn from_sorted(items: Vec<$item>) -> Self {
                Self::from_ascending(items, Order::default())
            }

            /// The set of items that are known to be ascending and distinct, with this order of iteration.
            #[inline]
            pub(crate) fn from_ascending(items: Vec<$item>, order: Order) -> Self {
                debug_assert!(items.is_sorted_by(|a, b| a < b));
                Self {
                    order: order.settled(&items),
                    items: fitted(items),
                }
            }

            /// The set of these items, one added for each of `by`, in their order of iteration. The items are for them in
            /// ascending order.
            pub(crate) fn by(items: Vec<$item>, by: By) -> Self {
                if items.is_sorted_by(|a, b| a < b) {
                    return Self::from_ascending(items, Order::by(Built::Ascending, by));
                }
                let sorted = $sorted(&[&items]);
                Self::from_ascending(sorted, Order::by(Built::$added(items.into()), by))
            }

            /// The set of these items, in any order, that was built in this way.
            pub(crate) fn built(items: Vec<$item>, built: Built) -> Self {
                Self::ordered(items, Order::new(built))
            }

            /// The set of these items, in any order, with this order of iteration.
            pub(crate) fn ordered(items: Vec<$item>, order: Order) -> Self {
                let is_sorted = items.is_sorted_by(|a, b| a < b);
                let items = if is_sorted { items } else { $sorted(&[&items]) };
                Self::from_ascending(items, order)
            }

            /// The union of these sets, each given by its ascending items, that was built in this way.
            pub(crate) fn united(sets: &[&[$item]], built: Built) -> Self {
                let all = if ascend(sets) { sets.concat() } else { $sorted(sets) };
                Self::from_ascending(all, Order::new(built))
            }

            /// The items, ascending.
            pub fn as_slice(&self) -> &[$item] {
                &self.items
            }

            /// The items in the order in which Python iterates over them.
            pub fn iter(&self) -> impl ExactSizeIterator<Item = &$item> {
                let places = self.places();
                let at = move |at: usize| places.map_or(at, |places| places[at] as usize);
                (0..self.len()).map(move |place| &self.items[at(place)])
            }

            /// The indices of the items in that order; nothing if it is ascending.
            pub(crate) fn places(&self) -> Option<&[u32]> {
                self.order.places(&self.items)
            }

            pub(crate) fn order(&self) -> &Order {
                &self.order
            }

            /// Number of items.
            pub fn len(&self) -> usize {
                self.items.len()
            }

            /// Whether there are no items.
            pub fn is_empty(&self) -> bool {
                self.items.is_empty()
            }

            /// Whether `item` is in the set.
            pub fn contains(&self, item: &$item) -> bool {
                self.items.binary_search(item).is_ok()
            }
        }

        impl FromIterator<$item> for $name {
            fn from_iter<I: IntoIterator<Item = $item>>(items: I) -> Self {
                Self::new(items.into_iter().collect())
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.items == other.items
            }
        }

        impl Eq for $name {}

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.items.cmp(&other.items)
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.items.hash(state);
            }
        }

        /// As Python prints the set.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_set(f, self.iter())
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
    /// A set of locations.
    Indices of Loc, by sorted_locs, AddedLocs
}

sorted_set! {
    /// A set of coloured locations, which ascend by colour, row and column.
    Object of Cell, by sorted_cells, AddedCells
}

/// The items without spare capacity that would not be counted: each item counts as an element, which is more than it
/// takes.
#[inline]
fn fitted<T>(mut items: Vec<T>) -> Vec<T> {
    // Their order takes four bytes an item.
    let element = ELEMENT_BYTES as usize;
    if items.capacity() * size_of::<T>() > items.len() * (element - 4) + element / 2 {
        items.shrink_to_fit();
    }
    items
}

/// Whether the items of all sets ascend, one set after the other; those of each do.
pub(crate) fn ascend<T: Ord>(sets: &[&[T]]) -> bool {
    let mut ends = sets.iter().filter_map(|set| set.first().zip(set.last()));
    let mut last = None;
    ends.all(|(first, end)| last.replace(end).is_none_or(|last| last < first))
}

/// All locations in ascending order, without repetitions.
fn sorted_locs(parts: &[&[Loc]]) -> Vec<Loc> {
    by_bitmap(parts, 1, |loc| Cell::new(0, *loc), |cell| cell.loc)
}

/// All cells in ascending order, without repetitions.
pub fn sorted_cells(parts: &[&[Cell]]) -> Vec<Cell> {
    by_bitmap(parts, 16, |cell| *cell, |cell| cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_stored_by_row_then_column_and_printed_in_the_order_of_iteration() {
        let set = Indices::new(vec![
            Loc::new(1, -1),
            Loc::new(0, 5),
            Loc::new(-1, 9),
            Loc::new(0, -5),
            Loc::new(0, 5),
        ]);
        assert_eq!(
            set.to_string(),
            "frozenset({(0, -5), (-1, 9), (1, -1), (0, 5)})"
        );
        let ascending = [(-1, 9), (0, -5), (0, 5), (1, -1)].map(|(i, j)| Loc::new(i, j));
        assert_eq!(set.as_slice(), ascending);
        assert!(set.contains(&Loc::new(0, -5)) && !set.contains(&Loc::new(5, 0)));
    }

    /// Enough items for the bitmap, in boxes that are small or too large for it.
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
    fn cells_are_stored_by_colour_first_and_printed_in_the_order_of_iteration() {
        let cells = [Cell::new(2, Loc::new(0, 0)), Cell::new(1, Loc::new(9, 9))];
        let object: Object = cells.into_iter().collect();
        assert_eq!(object.to_string(), "frozenset({(2, (0, 0)), (1, (9, 9))})");
        assert_eq!(object.as_slice(), [cells[1], cells[0]]);
        assert_eq!(Object::default().to_string(), "frozenset()");
    }
}
