//! [`Container`]: any tuple or set seen as its elements, and [`Collector`], which builds one.

use std::borrow::Cow;

use crate::error::{ErrorKind, Limit};
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::value::Value;

/// Whether elements stand in a tuple or in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerKind {
    /// In the order given, repetitions kept.
    Tuple,
    /// Ascending, distinct.
    Set,
}

/// A tuple or a set, whatever variant of [`Value`] holds it.
#[derive(Debug, Clone, Copy)]
pub struct Container<'a> {
    /// Tuple or set.
    pub kind: ContainerKind,
    /// Its elements; a set's are ascending and distinct.
    pub items: Items<'a>,
}

/// The elements of a [`Container`] in the form in which they are stored.
#[derive(Debug, Clone, Copy)]
pub enum Items<'a> {
    /// Of any kind.
    Values(&'a [Value]),
    /// Locations.
    Locs(&'a [Loc]),
    /// Cells.
    Cells(&'a [Cell]),
    /// The rows of a grid.
    Rows(&'a Grid),
    /// The two components of one pair.
    Loc(Loc),
    /// Colour and location of one cell.
    Cell(Cell),
}

impl<'a> Container<'a> {
    /// Number of elements.
    pub fn len(self) -> usize {
        match self.items {
            Items::Values(values) => values.len(),
            Items::Locs(locs) => locs.len(),
            Items::Cells(cells) => cells.len(),
            Items::Rows(grid) => grid.height(),
            Items::Loc(_) | Items::Cell(_) => 2,
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Element `at`, counted from 0, or nothing past the end.
    pub fn get(self, at: usize) -> Option<Cow<'a, Value>> {
        Some(match (self.items, at) {
            (Items::Values(values), _) => Cow::Borrowed(values.get(at)?),
            (Items::Locs(locs), _) => Cow::Owned(Value::Loc(*locs.get(at)?)),
            (Items::Cells(cells), _) => Cow::Owned(Value::Cell(*cells.get(at)?)),
            (Items::Rows(grid), _) if at < grid.height() => Cow::Owned(row(grid.row(at))),
            (Items::Loc(loc), 0) => Cow::Owned(Value::Int(loc.i)),
            (Items::Loc(loc), 1) => Cow::Owned(Value::Int(loc.j)),
            (Items::Cell(cell), 0) => Cow::Owned(Value::Int(cell.colour)),
            (Items::Cell(cell), 1) => Cow::Owned(Value::Loc(cell.loc)),
            _ => return None,
        })
    }

    /// Element `at` as a value of its own, or nothing past the end.
    pub fn value(self, at: usize) -> Option<Value> {
        self.get(at).map(Cow::into_owned)
    }

    /// Gives each element to `visit`, in order, until it fails.
    pub(crate) fn try_each(
        self,
        mut visit: impl FnMut(&Value) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        match self.items {
            Items::Values(values) => values.iter().try_for_each(visit),
            Items::Locs(locs) => locs.iter().try_for_each(|&loc| visit(&Value::Loc(loc))),
            Items::Cells(cells) => cells.iter().try_for_each(|&cell| visit(&Value::Cell(cell))),
            Items::Rows(_) | Items::Loc(_) | Items::Cell(_) => {
                self.iter().try_for_each(|item| visit(&item))
            }
        }
    }

    /// The elements in order.
    pub fn iter(self) -> impl Iterator<Item = Cow<'a, Value>> + Clone {
        (0..self.len()).map_while(move |at| self.get(at))
    }

    /// Whether an element equals `value`.
    pub fn contains(self, value: &Value) -> bool {
        match (self.kind, self.items, value) {
            (ContainerKind::Set, Items::Locs(locs), Value::Loc(loc)) => {
                locs.binary_search(loc).is_ok()
            }
            (ContainerKind::Set, Items::Cells(cells), Value::Cell(cell)) => {
                cells.binary_search(cell).is_ok()
            }
            (ContainerKind::Set, Items::Values(values), _) => values.binary_search(value).is_ok(),
            _ => self.iter().any(|item| *item == *value),
        }
    }
}

/// A grid's row as the tuple of integers that it is.
fn row(colours: &[i8]) -> Value {
    Value::tuple(colours.iter().map(|&c| Value::Int(i32::from(c))).collect())
}

/// Builds a tuple or a set element by element, and stops where it would weigh too much.
#[derive(Debug)]
pub(crate) struct Collector {
    kind: ContainerKind,
    items: Collected,
    /// What may still be added.
    room: u64,
    /// How many elements are about to be added.
    expected: usize,
}

/// Sets of locations and of cells are gathered as such, which is what most sets are.
#[derive(Debug)]
enum Collected {
    Values(Vec<Value>),
    Locs(Vec<Loc>),
    Cells(Vec<Cell>),
}

impl Collector {
    /// A collector for at most `room` elements, those inside elements counted in.
    pub(crate) fn new(kind: ContainerKind, room: u64) -> Self {
        Self {
            kind,
            items: Collected::Values(Vec::new()),
            room,
            expected: 1,
        }
    }

    /// The same, told how many elements to expect, so that it need not grow while they are added.
    pub(crate) fn expecting(self, elements: usize) -> Self {
        Self {
            expected: elements.max(1),
            ..self
        }
    }

    /// A collector for values that exist already.
    pub(crate) fn unbounded(kind: ContainerKind) -> Self {
        Self::new(kind, u64::MAX)
    }

    /// Adds an element.
    #[inline]
    pub(crate) fn push(&mut self, value: Value) -> Result<(), ErrorKind> {
        let weight = u64::from(value.weight());
        self.room = self
            .room
            .checked_sub(weight)
            .ok_or(ErrorKind::Limit(Limit::Elements))?;
        self.push_unbounded(value);
        Ok(())
    }

    /// Adds an element whatever it weighs.
    pub(crate) fn push_unbounded(&mut self, value: Value) {
        if self.kind == ContainerKind::Set {
            match (&mut self.items, &value) {
                (Collected::Locs(locs), Value::Loc(loc)) => return locs.push(*loc),
                (Collected::Cells(cells), Value::Cell(cell)) => return cells.push(*cell),
                (Collected::Values(values), Value::Loc(loc)) if values.is_empty() => {
                    let mut locs = Vec::with_capacity(self.expected);
                    locs.push(*loc);
                    self.items = Collected::Locs(locs);
                    return;
                }
                (Collected::Values(values), Value::Cell(cell)) if values.is_empty() => {
                    let mut cells = Vec::with_capacity(self.expected);
                    cells.push(*cell);
                    self.items = Collected::Cells(cells);
                    return;
                }
                _ => {}
            }
        }
        let expected = self.expected;
        let values = self.values();
        if values.is_empty() {
            values.reserve(expected);
        }
        values.push(value);
    }

    /// Adds all elements of `container`.
    pub(crate) fn extend(&mut self, container: Container<'_>) -> Result<(), ErrorKind> {
        match (self.kind, &mut self.items, container.items) {
            (ContainerKind::Set, Collected::Locs(locs), Items::Locs(more)) => {
                locs.extend_from_slice(more);
            }
            (ContainerKind::Set, Collected::Cells(cells), Items::Cells(more)) => {
                cells.extend_from_slice(more);
            }
            (ContainerKind::Set, Collected::Values(values), Items::Locs(more))
                if values.is_empty() =>
            {
                self.items = Collected::Locs(roomy(more, self.expected));
            }
            (ContainerKind::Set, Collected::Values(values), Items::Cells(more))
                if values.is_empty() =>
            {
                self.items = Collected::Cells(roomy(more, self.expected));
            }
            _ => {
                return container.try_each(|item| self.push(item.clone()));
            }
        }
        let weight = container.len() as u64;
        self.room = self
            .room
            .checked_sub(weight)
            .ok_or(ErrorKind::Limit(Limit::Elements))?;
        Ok(())
    }

    /// The elements so far as plain values.
    fn values(&mut self) -> &mut Vec<Value> {
        match &mut self.items {
            Collected::Values(_) => {}
            Collected::Locs(locs) => {
                self.items = Collected::Values(locs.drain(..).map(Value::Loc).collect());
            }
            Collected::Cells(cells) => {
                self.items = Collected::Values(cells.drain(..).map(Value::Cell).collect());
            }
        }
        match &mut self.items {
            Collected::Values(values) => values,
            // Turned into plain values above.
            Collected::Locs(_) | Collected::Cells(_) => unreachable!(),
        }
    }

    /// The container.
    pub(crate) fn finish(self) -> Value {
        match (self.kind, self.items) {
            (_, Collected::Locs(locs)) => Indices::new(locs).into(),
            (_, Collected::Cells(cells)) => Object::new(cells).into(),
            (ContainerKind::Tuple, Collected::Values(values)) => Value::tuple(values),
            (ContainerKind::Set, Collected::Values(mut values)) => {
                // Stable, so that of equal elements the first one stays, as in Python.
                if !values.is_sorted_by(|a, b| a < b) {
                    values.sort();
                    values.dedup();
                }
                Value::set_ascending(values)
            }
        }
    }

    /// The set, all of whose elements were added in ascending order, none of them twice.
    pub(crate) fn finish_ascending(self) -> Value {
        match self.items {
            Collected::Values(values) => Value::set_ascending(values),
            Collected::Locs(locs) => Indices::from_sorted(locs).into(),
            Collected::Cells(cells) => Object::from_sorted(cells).into(),
        }
    }
}

/// The items, with room for `times` as many as far as that is not excessive: what is merged is often
/// so many moved copies of one patch.
fn roomy<T: Clone>(items: &[T], times: usize) -> Vec<T> {
    const MOST: usize = 4096;
    let mut all = Vec::with_capacity(items.len().saturating_mul(times).min(MOST).max(items.len()));
    all.extend_from_slice(items);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_mixed_elements_is_gathered_as_values() {
        let set = Value::set([
            Value::Loc(Loc::new(1, 1)),
            Value::Int(2),
            Value::Loc(Loc::new(1, 1)),
        ]);
        assert_eq!(set.to_string(), "frozenset({2, (1, 1)})");
        assert!(
            set.as_container()
                .unwrap()
                .contains(&Value::Loc(Loc::new(1, 1)))
        );
    }

    #[test]
    fn a_collector_stops_at_its_room() {
        let mut tuple = Collector::new(ContainerKind::Tuple, 3);
        tuple.push(Value::Int(1)).unwrap();
        let grid = Value::from(Grid::filled(1, 2, 0));
        assert_eq!(tuple.push(grid), Err(ErrorKind::Limit(Limit::Elements)));
        assert_eq!(tuple.finish().to_string(), "(1,)");
    }

    #[test]
    fn the_elements_of_every_variant_read_alike() {
        let cell = Value::Cell(Cell::new(3, Loc::new(1, 2)));
        let items: Vec<_> = cell
            .as_container()
            .unwrap()
            .iter()
            .map(|v| v.to_string())
            .collect();
        assert_eq!(items, ["3", "(1, 2)"]);
        let grid = Value::from(Grid::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap());
        let rows: Vec<_> = grid
            .as_container()
            .unwrap()
            .iter()
            .map(|v| v.to_string())
            .collect();
        assert_eq!(rows, ["(1, 2, 3)", "(4, 5, 6)"]);
    }
}
