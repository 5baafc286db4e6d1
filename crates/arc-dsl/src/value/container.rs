//! [`Container`]: a view of any tuple or set as its elements; and [`Collector`], which builds one.

use std::borrow::Cow;
use std::cmp::Ordering;

use arc_isa::ContainerKind;

use crate::budget::{Context, LIGHT, Room, WORK_PER_STEP};
use crate::error::{ErrorKind, EvalResult};
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc, Object};
use crate::reads::count_reads;
use crate::value::sets::ascend;
use crate::value::sets::order::{Built, By, Order, numbered};
use crate::value::{CONTAINER_WEIGHT, Value, grid_work};

/// A tuple or a set, in whatever variant of [`Value`] it is stored.
#[derive(Debug, Clone, Copy)]
pub struct Container<'a> {
    /// Tuple or set.
    pub kind: ContainerKind,
    /// Its elements; ascending and distinct for a set.
    pub items: Items<'a>,
    /// The container itself.
    pub(crate) value: &'a Value,
}

/// The elements of a [`Container`] as they are stored.
#[derive(Debug, Clone, Copy)]
pub enum Items<'a> {
    /// Any values.
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
    /// The indices of its elements in the order of iteration; nothing if they are iterated as they are stored.
    pub(crate) fn places(self) -> Option<&'a [u32]> {
        match self.value {
            Value::Indices(indices) => indices.places(),
            Value::Object(object) => object.places(),
            Value::Set(elements) => elements.places(),
            _ => None,
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(self) -> usize {
        match self.items {
            Items::Values(values) => values.len(),
            Items::Locs(locs) => locs.len(),
            Items::Cells(cells) => cells.len(),
            Items::Rows(grid) => grid.height(),
            Items::Loc(_) | Items::Cell(_) => 2,
        }
    }

    /// How many elements there are to read, including those nested inside elements.
    pub(crate) fn work(self) -> u64 {
        match self.items {
            Items::Values(values) => values.iter().map(|value| u64::from(value.work())).sum(),
            Items::Rows(grid) => u64::from(grid_work(grid)),
            _ => self.len() as u64,
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Element `at`, counted from 0; `None` past the end.
    #[must_use]
    pub fn get(self, at: usize) -> Option<Cow<'a, Value>> {
        match self.places() {
            Some(places) => self.stored(*places.get(at)? as usize),
            None => self.stored(at),
        }
    }

    /// Element `at` in stored order, which is ascending for a set.
    pub(crate) fn stored(self, at: usize) -> Option<Cow<'a, Value>> {
        count_reads(1);
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

    /// Element `at` as an owned value; `None` past the end.
    pub fn value(self, at: usize) -> Option<Value> {
        self.get(at).map(Cow::into_owned)
    }

    /// Passes each element to `visit` as they are stored. If that fails, goes over them in the order of iteration, since
    /// the first error is the one that Python meets.
    pub(crate) fn try_each_stored(
        self,
        cx: &mut Context<'_>,
        mut visit: impl FnMut(&mut Context<'_>, &Value) -> EvalResult<()>,
    ) -> EvalResult<()> {
        match self.try_stored(|item| visit(cx, item)) {
            Err(error) if !matches!(error, ErrorKind::Limit(_)) && self.places().is_some() => {
                cx.failed = None;
                self.try_each(|item| visit(cx, item)).and(Err(error))
            }
            result => result,
        }
    }

    /// Passes each element to `visit`, in order, until it fails.
    pub(crate) fn try_each(
        self,
        mut visit: impl FnMut(&Value) -> EvalResult<()>,
    ) -> EvalResult<()> {
        match self.places() {
            Some(_) => self.iter().try_for_each(|item| visit(&item)),
            None => self.try_stored(visit),
        }
    }

    fn try_stored(self, mut visit: impl FnMut(&Value) -> EvalResult<()>) -> EvalResult<()> {
        count_reads(self.len());
        match self.items {
            Items::Values(values) => values.iter().try_for_each(visit),
            Items::Locs(locs) => locs.iter().try_for_each(|&loc| visit(&Value::Loc(loc))),
            Items::Cells(cells) => cells.iter().try_for_each(|&cell| visit(&Value::Cell(cell))),
            Items::Rows(_) | Items::Loc(_) | Items::Cell(_) => {
                self.iter_stored().try_for_each(|item| visit(&item))
            }
        }
    }

    /// Compares the elements with those of another container, one after the other.
    pub(crate) fn compare(self, other: Container<'_>) -> Ordering {
        let mine = (0..self.len()).map_while(|at| self.stored(at));
        mine.cmp((0..other.len()).map_while(|at| other.stored(at)))
    }

    /// The elements, of a set in the order in which Python iterates over them.
    pub fn iter(self) -> impl Iterator<Item = Cow<'a, Value>> + Clone {
        let places = self.places();
        let place = move |at: usize| places.map_or(at, |places| places[at] as usize);
        (0..self.len()).map_while(move |at| self.stored(place(at)))
    }

    /// The elements, of a set in ascending order, which need not be found.
    pub fn iter_stored(self) -> impl Iterator<Item = Cow<'a, Value>> + Clone {
        (0..self.len()).map_while(move |at| self.stored(at))
    }

    /// Whether an element equals `value`.
    #[must_use]
    pub fn contains(self, value: &Value) -> bool {
        match (self.kind, self.items, value) {
            (ContainerKind::Set, Items::Locs(locs), Value::Loc(loc)) => {
                locs.binary_search(loc).is_ok()
            }
            (ContainerKind::Set, Items::Cells(cells), Value::Cell(cell)) => {
                cells.binary_search(cell).is_ok()
            }
            // A pair that contains a boolean is not a location, but may equal one.
            (ContainerKind::Set, Items::Locs(locs), _) => locs
                .binary_search_by(|&loc| Value::Loc(loc).cmp(value))
                .is_ok(),
            (ContainerKind::Set, Items::Cells(cells), _) => cells
                .binary_search_by(|&cell| Value::Cell(cell).cmp(value))
                .is_ok(),
            (ContainerKind::Set, Items::Values(values), _) => values.binary_search(value).is_ok(),
            (_, Items::Values(values), _) => values.contains(value),
            _ => self.iter_stored().any(|item| *item == *value),
        }
    }
}

/// Whether all are sets of locations, or all are objects; any may be empty. The union of such sets can be built before the
/// order of its elements is known.
pub(crate) fn are_patches(values: &[Value]) -> bool {
    let is_empty = |value: &Value| matches!(value, Value::Set(set) if set.as_slice().is_empty());
    let are = |is_one: fn(&Value) -> bool| values.iter().all(|it| is_one(it) || is_empty(it));
    are(|value| matches!(value, Value::Indices(_)))
        || are(|value| matches!(value, Value::Object(_)))
}

/// The union of these patches that was built in this way.
pub(crate) fn united(cx: &mut Context<'_>, patches: &[Value], built: Built) -> EvalResult<Value> {
    let mut room = cx.room();
    let (mut locs, mut cells) = (Vec::new(), Vec::new());
    for patch in patches.iter().filter_map(Value::as_container) {
        count_reads(patch.len());
        room.take(cx, patch.len() as u64)?;
        match patch.items {
            Items::Locs(of_patch) => locs.push(of_patch),
            Items::Cells(of_patch) => cells.push(of_patch),
            _ => {}
        }
    }
    let count = room.taken();
    if count >= WORK_PER_STEP && !(ascend(&locs) && ascend(&cells)) {
        cx.work(sorting(count as usize, count))?;
    }
    let united = match (locs.as_slice(), cells.as_slice()) {
        ([], []) => Value::empty_set(),
        ([], cells) => Object::united(cells, built).into(),
        (locs, _) => Indices::united(locs, built).into(),
    };
    room.close(cx);
    Ok(united)
}

/// A row of a grid as a tuple of integers.
pub(crate) fn row(colours: &[i8]) -> Value {
    count_reads(colours.len());
    Value::tuple(colours.iter().map(|&c| Value::Int(i32::from(c))).collect())
}

/// What a row of so many cells weighs.
pub(crate) fn row_weight(width: usize) -> u64 {
    match width {
        // It is a location.
        2 => 1,
        _ => u64::from(CONTAINER_WEIGHT) + width as u64,
    }
}

/// Builds a tuple or a set element by element, and fails if it would weigh too much.
#[derive(Debug)]
pub(crate) struct Collector {
    builder: ContainerBuilder,
    room: Room,
    /// Where the last set among the elements keeps what its order follows from.
    kept_at: Option<usize>,
}

impl Context<'_> {
    /// A collector for a container within the limits of this evaluation.
    pub(crate) fn collector(&self, kind: ContainerKind) -> Collector {
        Collector::new(kind, self.room())
    }
}

impl Collector {
    /// A collector for as many elements as `room` allows, including those nested inside elements.
    pub(crate) fn new(kind: ContainerKind, room: Room) -> Self {
        Self {
            builder: ContainerBuilder::new(kind, 1),
            room,
            kept_at: None,
        }
    }

    /// Announces how many elements to expect, so that it need not grow while they are added.
    pub(crate) fn expecting(mut self, elements: usize) -> Self {
        // Reserve no more than has been granted: this may be one of many collectors.
        self.builder.expected = elements.clamp(1, LIGHT as usize);
        self
    }

    /// Adds an element.
    #[inline]
    pub(crate) fn push(&mut self, cx: &mut Context<'_>, value: Value) -> EvalResult<()> {
        if value.kept_weight() > 0 {
            return self.push_set(cx, value);
        }
        self.room.take(cx, u64::from(value.own_weight()))?;
        self.builder.push(value);
        Ok(())
    }

    /// Adds a value with sets that keep something to find their order, which may be the same for all.
    fn push_set(&mut self, cx: &mut Context<'_>, mut value: Value) -> EvalResult<()> {
        if self.kept_at.is_some() && self.kept_at == value.kept_at() {
            self.room.take(cx, u64::from(value.own_weight()))?;
        } else {
            self.kept_at = value.kept_at();
            value = cx.keep(value);
            self.room.take_value(cx, &value)?;
        }
        self.builder.push(value);
        Ok(())
    }

    /// Adds all elements of `container`.
    pub(crate) fn extend(
        &mut self,
        cx: &mut Context<'_>,
        container: Container<'_>,
    ) -> EvalResult<()> {
        match container.items {
            Items::Locs(_) | Items::Cells(_) => self.room.take(cx, container.len() as u64)?,
            _ => return container.try_each(|item| self.push(cx, item.clone())),
        }
        self.builder.extend(container);
        Ok(())
    }

    /// The elements, if all are sets of locations, or all are objects; otherwise the collector.
    pub(crate) fn into_patches(self, cx: &mut Context<'_>) -> Result<Vec<Value>, Self> {
        match self.builder.items {
            BuilderItems::Values(values) if are_patches(&values) => {
                self.room.close(cx);
                Ok(values)
            }
            items => Err(Self {
                builder: ContainerBuilder {
                    items,
                    ..self.builder
                },
                ..self
            }),
        }
    }

    /// The set of these elements, of which one was added for each of `by`, in their order of iteration. The elements are for
    /// them in ascending order.
    pub(crate) fn finish_by(self, cx: &mut Context<'_>, by: By) -> EvalResult<Value> {
        self.charge_sorting(cx)?;
        let finished = match self.builder.items {
            BuilderItems::Locs(locs) => Indices::by(locs, by).into(),
            BuilderItems::Cells(cells) => Object::by(cells, by).into(),
            BuilderItems::Values(values) if values.is_sorted_by(|a, b| a < b) => {
                Value::set_built(values, Order::by(Built::Ascending, by))
            }
            BuilderItems::Values(values) => {
                let (values, numbers) = numbered(values, Some(&by));
                Value::set_ordered(values, Order::by(Built::Numbers(numbers.into()), by))
            }
        };
        self.room.close(cx);
        Ok(finished)
    }

    fn charge_sorting(&self, cx: &mut Context<'_>) -> EvalResult<()> {
        if self.room.taken() >= WORK_PER_STEP && self.builder.has_to_be_sorted() {
            cx.work(sorting(self.builder.len(), self.room.taken()))?;
        }
        Ok(())
    }

    /// The container.
    pub(crate) fn finish(self, cx: &mut Context<'_>) -> EvalResult<Value> {
        self.charge_sorting(cx)?;
        let finished = self.builder.finish();
        self.room.close(cx);
        Ok(finished)
    }
}

/// The work of sorting this many elements with this total weight: each round may compare all of them in full.
pub(crate) fn sorting(elements: usize, weight: u64) -> u64 {
    weight * u64::from(elements.max(2).ilog2())
}

/// The elements of a tuple or a set that is being built; unbounded.
#[derive(Debug)]
pub(crate) struct ContainerBuilder {
    kind: ContainerKind,
    items: BuilderItems,
    /// How many elements are expected to be added.
    expected: usize,
}

/// Sets of locations and of cells, which most sets are, are built as such.
#[derive(Debug)]
enum BuilderItems {
    Values(Vec<Value>),
    Locs(Vec<Loc>),
    Cells(Vec<Cell>),
}

impl ContainerBuilder {
    /// An empty builder.
    pub(crate) fn new(kind: ContainerKind, expected: usize) -> Self {
        Self {
            kind,
            items: BuilderItems::Values(Vec::new()),
            expected,
        }
    }

    fn len(&self) -> usize {
        match &self.items {
            BuilderItems::Values(values) => values.len(),
            BuilderItems::Locs(locs) => locs.len(),
            BuilderItems::Cells(cells) => cells.len(),
        }
    }

    /// Adds an element.
    pub(crate) fn push(&mut self, value: Value) {
        if self.kind == ContainerKind::Set {
            match (&mut self.items, &value) {
                (BuilderItems::Locs(locs), Value::Loc(loc)) => return locs.push(*loc),
                (BuilderItems::Cells(cells), Value::Cell(cell)) => return cells.push(*cell),
                (BuilderItems::Values(values), Value::Loc(loc)) if values.is_empty() => {
                    let mut locs = Vec::with_capacity(self.expected);
                    locs.push(*loc);
                    self.items = BuilderItems::Locs(locs);
                    return;
                }
                (BuilderItems::Values(values), Value::Cell(cell)) if values.is_empty() => {
                    let mut cells = Vec::with_capacity(self.expected);
                    cells.push(*cell);
                    self.items = BuilderItems::Cells(cells);
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

    /// Adds all elements of a container of locations or cells.
    fn extend(&mut self, container: Container<'_>) {
        count_reads(container.len());
        let places = container.places();
        match (self.kind, &mut self.items, container.items) {
            (ContainerKind::Set, BuilderItems::Locs(locs), Items::Locs(more)) => {
                add_in_order(locs, more, places);
            }
            (ContainerKind::Set, BuilderItems::Cells(cells), Items::Cells(more)) => {
                add_in_order(cells, more, places);
            }
            (ContainerKind::Set, BuilderItems::Values(values), Items::Locs(more))
                if values.is_empty() =>
            {
                let mut locs = roomy(more.len(), self.expected);
                add_in_order(&mut locs, more, places);
                self.items = BuilderItems::Locs(locs);
            }
            (ContainerKind::Set, BuilderItems::Values(values), Items::Cells(more))
                if values.is_empty() =>
            {
                let mut cells = roomy(more.len(), self.expected);
                add_in_order(&mut cells, more, places);
                self.items = BuilderItems::Cells(cells);
            }
            _ => container
                .iter()
                .for_each(|item| self.push(item.into_owned())),
        }
    }

    /// Converts the elements so far to plain values.
    fn values(&mut self) -> &mut Vec<Value> {
        match &mut self.items {
            BuilderItems::Values(_) => {}
            BuilderItems::Locs(locs) => {
                self.items = BuilderItems::Values(locs.drain(..).map(Value::Loc).collect());
            }
            BuilderItems::Cells(cells) => {
                self.items = BuilderItems::Values(cells.drain(..).map(Value::Cell).collect());
            }
        }
        match &mut self.items {
            BuilderItems::Values(values) => values,
            // They were converted to plain values above.
            BuilderItems::Locs(_) | BuilderItems::Cells(_) => unreachable!(),
        }
    }

    /// Whether [`finish`](Self::finish) has to sort. Does not compare values to find out, which may take long.
    fn has_to_be_sorted(&self) -> bool {
        match &self.items {
            BuilderItems::Values(values) => self.kind == ContainerKind::Set && values.len() > 1,
            BuilderItems::Locs(locs) => !locs.is_sorted_by(|a, b| a < b),
            BuilderItems::Cells(cells) => !cells.is_sorted_by(|a, b| a < b),
        }
    }

    /// The container.
    pub(crate) fn finish(self) -> Value {
        match (self.kind, self.items) {
            (_, BuilderItems::Locs(locs)) => Indices::new(locs).into(),
            (_, BuilderItems::Cells(cells)) => Object::new(cells).into(),
            (ContainerKind::Tuple, BuilderItems::Values(values)) => Value::tuple(values),
            (ContainerKind::Set, BuilderItems::Values(values)) => set_of(values),
        }
    }
}

/// The set to which these values were added in this order.
fn set_of(values: Vec<Value>) -> Value {
    if values.is_sorted_by(|a, b| a < b) {
        return Value::set_built(values, Order::default());
    }
    // What is left of equal elements may be a patch.
    let (values, numbers) = numbered(values, None);
    Value::set_ordered(values, Order::new(Built::Numbers(numbers.into())))
}

/// Adds the items in the order of these indices, or as they are.
fn add_in_order<T: Copy>(all: &mut Vec<T>, items: &[T], places: Option<&[u32]>) {
    match places {
        Some(places) => all.extend(places.iter().map(|&at| items[at as usize])),
        None => all.extend_from_slice(items),
    }
}

/// A vector with capacity for `times` as many items, within reason: merging often joins many moved copies of one patch.
fn roomy<T>(items: usize, times: usize) -> Vec<T> {
    const MOST: usize = LIGHT as usize;
    Vec::with_capacity(items.saturating_mul(times).min(MOST).max(items))
}

impl Context<'_> {
    /// The value, without what is kept to find its order if memory is scarce.
    #[inline]
    pub(crate) fn keep(&self, value: Value) -> Value {
        if self.is_scarce() && value.kept_weight() > 0 {
            return value.with_order_found();
        }
        value
    }
}

impl Room {
    /// Uses up room for a value, and counts as held what sets in it keep to find their order.
    pub(crate) fn take_value(&mut self, cx: &mut Context<'_>, value: &Value) -> EvalResult<()> {
        self.hold(cx, u64::from(value.kept_weight()))?;
        self.take(cx, u64::from(value.own_weight()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::error::{ErrorKind, Limit};

    #[test]
    fn a_set_of_mixed_elements_is_gathered_as_values() {
        let set = Value::set([
            Value::Loc(Loc::new(1, 1)),
            Value::Int(2),
            Value::Loc(Loc::new(1, 1)),
        ]);
        assert_eq!(set.to_string(), "frozenset({(1, 1), 2})");
        assert!(
            set.as_container()
                .unwrap()
                .contains(&Value::Loc(Loc::new(1, 1)))
        );
    }

    #[test]
    fn what_is_left_of_equal_elements_is_a_patch() {
        let pair = Value::tuple(vec![Value::Bool(false), Value::Int(0)]);
        let set = Value::set([Value::Loc(Loc::default()), pair]);
        assert!(matches!(&set, Value::Indices(_)), "{set}");
    }

    #[test]
    fn a_collector_stops_at_its_room() {
        let limits = Limits::default();
        let mut cx = Context::new(&limits);
        let mut tuple = Collector::new(ContainerKind::Tuple, Room::new(7));
        tuple.push(&mut cx, Value::Int(1)).unwrap();
        let grid = Value::from(Grid::filled(1, 2, 0));
        assert_eq!(
            tuple.push(&mut cx, grid),
            Err(ErrorKind::Limit(Limit::Elements))
        );
        assert_eq!(tuple.finish(&mut cx).unwrap().to_string(), "(1,)");
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
