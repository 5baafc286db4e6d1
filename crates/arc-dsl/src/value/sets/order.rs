//! The order in which Python iterates over a set: a function of how the set was built. A set remembers that, and finds
//! its order when it is first asked for, since most sets are only counted, painted or joined.
//!
//! Functions have another hash in each process of Python, so a set that holds one, at any depth, has no order there. Here
//! it is iterated in the order in which its elements were added.

mod flood;

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

pub(crate) use flood::Flood;
use flood::in_reading_order;

use crate::budget::ELEMENT_BYTES;
use crate::patch::{Cell, Indices, Loc};
use crate::value::Value;
use crate::value::set_table::{self, Table};

/// How a set was built, and its order once that is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    built: Built,
    /// Whether `frozenset` copied a set that was built like this.
    copied: bool,
    /// How many sets are kept one inside the other to find the order.
    depth: u8,
    /// The weight of what is kept to find the order.
    kept: u32,
    /// The elements' indices in ascending order, in the order of iteration; nothing if the two are the same.
    places: OnceLock<Option<Box<[u32]>>>,
    /// The hash of the set, once it is known.
    hash: OnceLock<u64>,
}

/// How a set was built.
#[derive(Debug, Clone, Default)]
pub(crate) enum Built {
    /// The elements were added in ascending order.
    #[default]
    Ascending,
    /// The locations were added in this order. One may be repeated: the first one stays.
    AddedLocs(Box<[Loc]>),
    /// The cells were.
    AddedCells(Box<[Cell]>),
    /// The elements were, by their indices in ascending order.
    Numbers(Box<[u32]>),
    /// One element was added for each of this set, in its order. They ascend like those.
    Like(Value),
    /// The same, and each element is that of the patch, moved as far as all others.
    Moved(Value),
    /// One element was added for each of these, in their order. They are built like this for them in ascending order.
    By(Box<(Built, By)>),
    /// Those elements of the set that are there were added.
    Kept(Value),
    /// The elements of both were added, one container after the other.
    Joined(Box<[Value; 2]>),
    /// The elements of all containers in this one were added, one container after the other.
    Merged(Value),
    /// The same, where the set of containers is one to which these were added, one for each of `By`.
    Images(Box<(Value, By)>),
    /// From a patch.
    Patch(Value, How),
    /// The locations next to one, and then those diagonal to it.
    Neighbours,
    /// The left and the right side of a box, and then its top and its bottom.
    Outline,
    /// The cells were added row by row.
    Reading,
    /// By `objects`, an object from its first cell on.
    Flood(Arc<Flood>),
    /// By `objects` of a grid of this height and width.
    Objects(u32, u32),
    /// By `frontiers`: the numbers of the rows and of the columns, which are in two sets first.
    Frontiers(Box<[Box<[u32]>; 2]>),
    /// Its table is known.
    Known(Box<Table>),
}

/// The elements for each of which one element of a set was added.
#[derive(Debug, Clone)]
pub(crate) enum By {
    Set(Value),
    /// The pairs of an element of the first and one of the second, the second one changing last. In ascending order it
    /// changes first.
    Pairs([Value; 2]),
}

impl By {
    fn sets(&self) -> &[Value] {
        match self {
            By::Set(set) => std::slice::from_ref(set),
            By::Pairs(both) => both,
        }
    }

    /// The place in the order of iteration of each element in ascending order.
    fn ranks(&self) -> Vec<u32> {
        let places = self.places();
        let mut ranks = vec![0; places.len()];
        for (rank, at) in (0..).zip(places) {
            ranks[at] = rank;
        }
        ranks
    }

    /// The indices of the elements in ascending order, in the order of iteration.
    fn places(&self) -> Vec<usize> {
        match self {
            By::Set(set) => places_of(set).collect(),
            By::Pairs([firsts, seconds]) => {
                let count = places_of(seconds).count();
                places_of(seconds)
                    .flat_map(|second| places_of(firsts).map(move |first| first * count + second))
                    .collect()
            }
        }
    }
}

/// The number of an element among these, which ascend; nothing if it is not there.
fn number_of<T: Ord>(elements: &[T], element: &T) -> Option<u32> {
    elements.binary_search(element).ok().map(|at| at as u32)
}

/// The numbers of those that are there, in their order.
fn numbers_of<'a, T: Element>(
    elements: &[T],
    all: impl IntoIterator<Item = &'a T>,
) -> impl Iterator<Item = u32> {
    all.into_iter().filter_map(|it| number_of(elements, it))
}

/// Adds the numbers of those elements of a set that are there, in the order of the set.
fn add_numbers<T: Element>(numbers: &mut Vec<u32>, elements: &[T], set: &Value) {
    let mut next = 0;
    let number = |element: &T| {
        // Both ascend, and most often the next one is it.
        let found = match elements.get(next) {
            Some(at) if at == element => Some(next as u32),
            _ => number_of(elements, element),
        };
        next = found.map_or(next, |found| found as usize + 1);
        found
    };
    let all: Vec<Option<u32>> = T::elements(set).iter().map(number).collect();
    numbers.extend(places_of(set).filter_map(|at| all[at]));
}

/// How a set is built from another one, in the order of that set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// The locations of an object were added.
    Locations,
    /// The cells at its locations were added.
    Coloured,
    /// The upper half was exchanged with the lower half.
    HorizontalMirror,
    /// The left half was exchanged with the right half.
    VerticalMirror,
    /// Rows and columns were exchanged.
    DiagonalMirror,
    /// Mirrored like a grid on the other diagonal.
    CounterMirror,
    /// Each cell became a square of cells.
    Scaled,
    /// The rest of its bounding box.
    Delta,
}

/// An element of a set.
pub(crate) trait Element: Ord + Clone + 'static {
    /// The hashes in Python.
    fn hashes(elements: &[Self]) -> Vec<u64>;

    /// The elements of a set of these, ascending; none of other values.
    fn elements(set: &Value) -> &[Self];

    /// The elements of a set of these in the order in which they were added, if they are kept.
    fn added(_: &Built) -> &[Self] {
        &[]
    }

    /// The table of a set with these ascending elements, if it is built in a way of its own.
    fn table(built: &Built, elements: &[Self], hashes: &[u64]) -> Option<Table>;
}

/// More sets than this one inside the other are not kept.
const DEEP: u8 = 32;

/// The weight of what a set may keep. It counts as memory, and from a quarter of that on nothing is kept
/// ([`Context::keep`](crate::budget::Context)).
const MOST_KEPT: u32 = 1 << 21;

impl Built {
    /// How many sets are kept one inside the other to find the order, and the weight of all that is kept.
    #[inline]
    fn kept(&self) -> (u8, u32) {
        let of = |sets: &[Value], bytes: usize| {
            let kept = (0, weight_of(bytes));
            sets.iter().fold(kept, |(depth, kept), set| {
                let depth = depth.max(set.order_depth() + 1);
                (depth, kept.saturating_add(set.weight()))
            })
        };
        let slice = std::slice::from_ref;
        match self {
            Built::Like(set)
            | Built::Moved(set)
            | Built::Kept(set)
            | Built::Merged(set)
            | Built::Patch(set, _) => of(slice(set), 0),
            Built::By(both) => {
                let (depth, kept) = both.0.kept();
                let (own, more) = of(both.1.sets(), size_of_val(&**both));
                (depth.max(own), kept.saturating_add(more))
            }
            Built::Joined(both) => of(&**both, size_of_val(&**both)),
            Built::Images(both) => {
                let (depth, kept) = of(slice(&both.0), size_of_val(&**both));
                let (own, more) = of(both.1.sets(), 0);
                (depth.max(own), kept.saturating_add(more))
            }
            Built::AddedLocs(locs) => of(&[], size_of_val(&**locs)),
            Built::AddedCells(cells) => of(&[], size_of_val(&**cells)),
            Built::Numbers(numbers) => of(&[], size_of_val(&**numbers)),
            Built::Flood(flood) => of(&[], flood.bytes()),
            Built::Frontiers(both) => {
                let lines: usize = both.iter().map(|lines| size_of_val(&**lines)).sum();
                of(&[], size_of_val(&**both) + lines)
            }
            Built::Known(table) => of(&[], table.bytes()),
            Built::Ascending
            | Built::Neighbours
            | Built::Outline
            | Built::Reading
            | Built::Objects(..) => (0, 0),
        }
    }

    /// The numbers of the elements in the order in which they were added, if they were added one by one. One may be
    /// repeated: the first one counts.
    fn added<T: Element>(&self, elements: &[T]) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(elements.len());
        match self {
            Built::AddedLocs(_) | Built::AddedCells(_) => {
                numbers.extend(numbers_of(elements, T::added(self)));
            }
            Built::Numbers(added) => numbers.extend_from_slice(added),
            Built::Like(set) | Built::Moved(set) => {
                numbers.extend(places_of(set).map(|at| at as u32));
            }
            Built::By(both) => {
                let added = both.0.added(elements);
                numbers.extend(both.1.places().into_iter().map(|at| added[at]));
            }
            Built::Kept(set) => add_numbers(&mut numbers, elements, set),
            Built::Joined(both) => {
                for set in &**both {
                    add_numbers(&mut numbers, elements, set);
                }
            }
            Built::Merged(sets) => {
                for set in in_order::<Value>(sets) {
                    add_numbers(&mut numbers, elements, set);
                }
            }
            Built::Images(both) => {
                let (sets, by) = &**both;
                let (sets, added) = numbered(sets.values().to_vec(), Some(by));
                let order = Order::by(Built::Numbers(added.into()), by.clone());
                return Built::Merged(Value::set_built(sets, order)).added(elements);
            }
            _ => numbers.extend(0..elements.len() as u32),
        }
        numbers
    }
}

impl Order {
    /// The order of a set that was built like this.
    #[inline]
    pub(crate) fn new(built: Built) -> Self {
        let (depth, kept) = built.kept();
        Self {
            built,
            copied: false,
            depth,
            kept,
            places: OnceLock::new(),
            hash: OnceLock::new(),
        }
    }

    /// The hash of the set in Python, which is that of its elements in any order.
    fn hash(&self, elements: impl ExactSizeIterator<Item = u64>) -> u64 {
        *self.hash.get_or_init(|| set_table::set(elements))
    }

    /// The order of a `frozenset` of a set that was built like this.
    pub(crate) fn copied(built: Built) -> Self {
        Self {
            copied: true,
            ..Self::new(built)
        }
    }

    /// The order of a set to which one element was added for each of these, in their order: those of `built`, which are
    /// for them in ascending order.
    pub(crate) fn by(built: Built, by: By) -> Self {
        Self::new(match (built, by) {
            (Built::Ascending, By::Set(set)) => Built::Like(set),
            both => Built::By(both.into()),
        })
    }

    /// The order of a set whose elements are as many as those of `set`, for which they were added, and ascend like them.
    #[inline]
    pub(crate) fn as_in(set: &Value) -> Self {
        Self::new(Built::Like(set.clone()))
    }

    /// The order of a patch whose elements are those of this one, all moved as far.
    pub(crate) fn moved(patch: &Value) -> Self {
        Self::new(Built::Moved(patch.clone()))
    }

    /// The same for a set with these elements; finds the order now if finding it later would keep too much memory.
    #[inline]
    pub(crate) fn settled<T: Element>(self, elements: &[T]) -> Self {
        if elements.len() < 2 {
            return Self::default();
        }
        if self.depth <= DEEP && self.kept <= MOST_KEPT {
            self
        } else {
            self.found(elements)
        }
    }

    /// The same without what is kept to find it.
    pub(crate) fn found<T: Element>(&self, elements: &[T]) -> Self {
        Self::new(Built::Known(self.table(elements).into()))
    }

    /// Whether the elements were added in ascending order, to a set that was not copied.
    fn is_ascending(&self) -> bool {
        matches!(self.built, Built::Ascending) && !self.copied
    }

    pub(crate) fn depth(&self) -> u8 {
        self.depth
    }

    pub(crate) fn kept_weight(&self) -> u32 {
        self.kept
    }

    /// The address of what is kept to find the order, if that is a single value.
    pub(crate) fn kept_at(&self) -> Option<usize> {
        match &self.built {
            Built::Like(set) | Built::Moved(set) | Built::Kept(set) | Built::Patch(set, _) => {
                set.address()
            }
            Built::Flood(flood) => Some(Arc::as_ptr(flood).addr()),
            _ => None,
        }
    }

    /// The table of the set with these ascending elements.
    pub(crate) fn table<T: Element>(&self, elements: &[T]) -> Table {
        if let Built::Known(table) = &self.built {
            return (**table).clone();
        }
        let hashes = T::hashes(elements);
        if let Some(is_copied) = self.ends_copied()
            && let Some(table) = Table::of_apart(&hashes, is_copied)
        {
            return table;
        }
        let table = T::table(&self.built, elements, &hashes)
            .unwrap_or_else(|| Table::of(self.built.added(elements), &hashes));
        if self.copied {
            table.copied(&hashes)
        } else {
            table
        }
    }

    /// Whether the set is a copy of another one; nothing if it is neither that nor one to which elements were added one
    /// by one.
    pub(crate) fn ends_copied(&self) -> Option<bool> {
        match self.built {
            _ if self.copied => Some(true),
            Built::Objects(..) | Built::Flood(_) | Built::Outline => Some(true),
            Built::Neighbours
            | Built::Frontiers(_)
            | Built::Known(_)
            | Built::Patch(_, How::Delta) => None,
            _ => Some(false),
        }
    }

    /// The indices of the elements in the order in which they were added, if they were added one by one; those of a set
    /// whose elements were added in the order of another one, as they were added to that.
    pub(crate) fn written<T: Element>(&self, elements: &[T]) -> Option<Vec<u32>> {
        match &self.built {
            Built::Ascending | Built::Numbers(_) | Built::AddedLocs(_) | Built::AddedCells(_) => {
                let mut met = vec![false; elements.len()];
                let mut added = self.built.added(elements);
                added.retain(|&at| !std::mem::replace(&mut met[at as usize], true));
                Some(added)
            }
            Built::Like(first) | Built::Moved(first) if self.copied => first.written(),
            _ => None,
        }
    }

    /// The indices of the elements, which are ascending, in the order of iteration; nothing if that is ascending too.
    pub(crate) fn places<T: Element>(&self, elements: &[T]) -> Option<&[u32]> {
        if elements.len() < 2 {
            return None;
        }
        let find = || {
            let places: Box<[u32]> = self.table(elements).iter().collect();
            (!places.is_sorted()).then_some(places)
        };
        self.places.get_or_init(find).as_deref()
    }
}

/// The weight that stands for this many bytes.
pub(crate) fn weight_of(bytes: usize) -> u32 {
    bytes.div_ceil(ELEMENT_BYTES as usize) as u32
}

/// The indices of the elements of a set in ascending order, in the order of iteration.
fn places_of(set: &Value) -> impl Iterator<Item = usize> + '_ {
    let (count, places) = match set.as_container() {
        Some(set) => (set.len(), set.places()),
        None => (0, None),
    };
    (0..count).map(move |at| places.map_or(at, |places| places[at] as usize))
}

/// The elements of a set in the order of iteration; none if they are of another type.
fn in_order<T: Element>(set: &Value) -> impl Iterator<Item = &T> {
    let all = T::elements(set);
    places_of(set).filter_map(|at| all.get(at))
}

/// The values in ascending order without repetitions, and the index in it of each of them in the given order, which is
/// that of `by`, if there is one, in ascending order.
pub(crate) fn numbered(values: Vec<Value>, by: Option<&By>) -> (Vec<Value>, Vec<u32>) {
    if values.is_sorted_by(|a, b| a < b) {
        let numbers = (0..values.len() as u32).collect();
        return (values, numbers);
    }
    let ranks = OnceCell::new();
    let rank = |at: u32| match by {
        Some(by) => ranks.get_or_init(|| by.ranks())[at as usize],
        None => at,
    };
    // Equal integers, locations and cells are the same, and so are equal patches that have one order, but not those two
    // beside truth values or other sets: then the first of all that are equal stays, as in Python.
    let is_plain = |value: &Value| matches!(value, Value::Int(_) | Value::Loc(_) | Value::Cell(_));
    let are_same = values.iter().all(is_plain) || values.iter().all(has_one_order);
    let mut given: Vec<(u32, Value)> = (0..).zip(values).collect();
    given.sort_unstable_by(|(at, a), (other, b)| {
        let ordering = a.cmp(b);
        if are_same {
            return ordering;
        }
        ordering.then_with(|| rank(*at).cmp(&rank(*other)))
    });
    let mut numbers = vec![0; given.len()];
    let mut ascending: Vec<Value> = Vec::with_capacity(given.len());
    for (place, value) in given {
        if ascending.last() != Some(&value) {
            ascending.push(value);
        }
        numbers[place as usize] = ascending.len() as u32 - 1;
    }
    (ascending, numbers)
}

/// Whether it is a patch that has the same order as all equal ones of which this is true: its elements were added in
/// ascending order, or are the cells of such locations in one colour.
fn has_one_order(value: &Value) -> bool {
    match value {
        Value::Indices(locs) => locs.order().is_ascending(),
        Value::Object(cells) => match &cells.order().built {
            Built::Like(locs @ Value::Indices(_)) => has_one_order(locs),
            _ => false,
        },
        _ => false,
    }
}

/// The set of these elements, added in this order.
fn set_of<T: Element>(elements: &[T]) -> Vec<T> {
    let mut sorted = elements.to_vec();
    sorted.sort();
    sorted.dedup();
    let numbers = numbers_of(&sorted, elements).collect();
    let order = Order::new(Built::Numbers(numbers));
    match order.places(&sorted) {
        Some(places) => places
            .iter()
            .map(|&at| sorted[at as usize].clone())
            .collect(),
        None => sorted,
    }
}

/// The locations of a patch in the order in which Python iterates over `toindices(patch)`.
fn locations(patch: &Value) -> Vec<Loc> {
    match patch {
        Value::Object(_) => {
            let locs: Vec<Loc> = in_order::<Cell>(patch).map(|cell| cell.loc).collect();
            set_of(&locs)
        }
        _ => in_order(patch).copied().collect(),
    }
}

/// The upper left and the lower right corner.
fn corners(locs: impl Iterator<Item = Loc>) -> (Loc, Loc) {
    let start = (Loc::new(i32::MAX, i32::MAX), Loc::new(i32::MIN, i32::MIN));
    locs.fold(start, |(low, high), loc| {
        (
            Loc::new(low.i.min(loc.i), low.j.min(loc.j)),
            Loc::new(high.i.max(loc.i), high.j.max(loc.j)),
        )
    })
}

/// The elements of a patch after they were mirrored, in the order in which they were added. `with` puts an element at
/// another location.
fn mirrored<T: Element>(
    patch: &Value,
    how: How,
    loc: impl Fn(&T) -> Loc,
    with: impl Fn(&T, Loc) -> T,
) -> Vec<T> {
    let all: Vec<T> = in_order(patch).cloned().collect();
    let (low, high) = corners(all.iter().map(&loc));
    let each = |all: Vec<T>, to: &dyn Fn(Loc) -> Loc| -> Vec<T> {
        all.iter().map(|it| with(it, to(loc(it)))).collect()
    };
    let turned_over = |at: Loc| Loc::new(at.i, low.j + (high.j - at.j));
    let exchanged = |at: Loc| Loc::new(at.j - low.j + low.i, at.i - low.i + low.j);
    match how {
        How::HorizontalMirror => each(all, &|at| Loc::new(low.i + (high.i - at.i), at.j)),
        How::VerticalMirror => each(all, &turned_over),
        How::DiagonalMirror => each(all, &exchanged),
        _ => {
            // The DSL mirrors three times, and builds a set each time. The last mirror is along the new box.
            let all = set_of(&each(all, &turned_over));
            let all = set_of(&each(all, &exchanged));
            let width = high.i - low.i;
            each(all, &|at| Loc::new(at.i, low.j + (low.j + width - at.j)))
        }
    }
}

impl Element for Loc {
    fn hashes(elements: &[Self]) -> Vec<u64> {
        elements.iter().map(|it| set_table::loc(*it)).collect()
    }

    fn elements(set: &Value) -> &[Self] {
        match set {
            Value::Indices(indices) => indices.as_slice(),
            _ => &[],
        }
    }

    fn added(built: &Built) -> &[Self] {
        match built {
            Built::AddedLocs(locs) => locs,
            _ => &[],
        }
    }

    fn table(built: &Built, elements: &[Self], hashes: &[u64]) -> Option<Table> {
        let number = |loc: Loc| number_of(elements, &loc);
        let corners = || corners(elements.iter().copied());
        Some(match built {
            Built::Patch(patch, How::Locations) => {
                let locs = in_order::<Cell>(patch).map(|cell| &cell.loc);
                Table::of(numbers_of(elements, locs), hashes)
            }
            Built::Patch(patch, How::Delta) => delta(patch, elements),
            Built::Patch(patch, how) => {
                let all = mirrored(patch, *how, |loc| *loc, |_, loc| loc);
                Table::of(numbers_of(elements, &all), hashes)
            }
            Built::Neighbours => {
                let (low, high) = corners();
                let middle = Loc::new(low.i.midpoint(high.i), low.j.midpoint(high.j));
                let around = |ways: [(i32, i32); 4]| {
                    let all = ways.map(|(i, j)| middle.wrapping_add(Loc::new(i, j)));
                    Table::of(all.into_iter().filter_map(number), hashes)
                };
                // Only those that are there are found: `dneighbors` and `ineighbors` have four of them.
                let mut all = around([(-1, 0), (1, 0), (0, -1), (0, 1)]);
                all.merge(&around([(-1, -1), (-1, 1), (1, -1), (1, 1)]), hashes);
                all
            }
            Built::Outline => {
                let (low, high) = corners();
                let column = |j| {
                    let locs = (low.i..=high.i).map(|i| Loc::new(i, j));
                    Table::of(locs.filter_map(number), hashes)
                };
                let row = |i| {
                    let locs = (low.j..=high.j).map(|j| Loc::new(i, j));
                    Table::of(locs.filter_map(number), hashes)
                };
                let both = |first: Table, second: Table| {
                    let mut all = first.copied(hashes);
                    all.merge(&second, hashes);
                    all
                };
                let sides = both(column(low.j), column(high.j));
                let ends = both(row(low.i), row(high.i));
                both(sides, ends).copied(hashes)
            }
            _ => return None,
        })
    }
}

/// The table of the bounding box of a patch without the patch.
fn delta(patch: &Value, elements: &[Loc]) -> Table {
    let taken = Value::from(Indices::new(locations(patch)));
    let contains = |loc: Loc| number_of(elements, &loc).is_none();
    let (low, high) = corners(locations(patch).into_iter());
    let all: Vec<Loc> = (low.i..=high.i)
        .flat_map(|i| (low.j..=high.j).map(move |j| Loc::new(i, j)))
        .collect();
    let hashes: Vec<u64> = all.iter().map(|loc| set_table::loc(*loc)).collect();
    let count = match taken.as_container() {
        Some(set) => set.len(),
        None => 0,
    };
    let whole = Table::of(0..all.len() as u32, &hashes);
    let rest = whole.minus(count, |at| contains(all[at as usize]), &hashes);
    rest.renumbered(|at| number_of(elements, &all[at as usize]).unwrap_or(0))
}

impl Element for Cell {
    fn hashes(elements: &[Self]) -> Vec<u64> {
        elements.iter().map(|it| set_table::cell(*it)).collect()
    }

    fn elements(set: &Value) -> &[Self] {
        match set {
            Value::Object(object) => object.as_slice(),
            _ => &[],
        }
    }

    fn added(built: &Built) -> &[Self] {
        match built {
            Built::AddedCells(cells) => cells,
            _ => &[],
        }
    }

    fn table(built: &Built, elements: &[Self], hashes: &[u64]) -> Option<Table> {
        // The number of a location's only cell.
        let by_location = || {
            let mut numbers: Vec<u32> = (0..elements.len() as u32).collect();
            numbers.sort_by_key(|at| elements[*at as usize].loc);
            numbers
        };
        Some(match built {
            Built::Patch(patch, How::Coloured) => {
                let numbers = by_location();
                let find = |loc: Loc| {
                    let at = numbers.binary_search_by_key(&loc, |at| elements[*at as usize].loc);
                    at.ok().map(|at| numbers[at])
                };
                Table::of(locations(patch).into_iter().filter_map(find), hashes)
            }
            Built::Patch(patch, How::Scaled) => scaled(patch, elements, hashes),
            Built::Patch(patch, how) => {
                let with = |cell: &Cell, loc| Cell { loc, ..*cell };
                let all = mirrored(patch, *how, |cell| cell.loc, with);
                Table::of(numbers_of(elements, &all), hashes)
            }
            Built::Reading => Table::of(by_location(), hashes),
            Built::Flood(flood) => flood.table(elements, hashes),
            _ => return None,
        })
    }
}

/// The table of the object that `upscale` makes of another one.
fn scaled(patch: &Value, elements: &[Cell], hashes: &[u64]) -> Table {
    let cells: Vec<Cell> = in_order(patch).copied().collect();
    let (start, _) = corners(cells.iter().map(|cell| cell.loc));
    // The DSL moves the object to the origin, scales it, and moves it back, and builds a set each time.
    let moved = |cells: Vec<Cell>, way: Loc| {
        let with = |cell: &Cell| Cell {
            loc: cell.loc.wrapping_add(way),
            ..*cell
        };
        cells.iter().map(with).collect::<Vec<_>>()
    };
    let at_origin = set_of(&moved(cells, Loc::new(-start.i, -start.j)));
    let factor = (elements.len() / at_origin.len().max(1)).isqrt() as i32;
    let mut large = Vec::with_capacity(elements.len());
    for cell in at_origin {
        for i in 0..factor {
            for j in 0..factor {
                let loc = Loc::new(cell.loc.i * factor + i, cell.loc.j * factor + j);
                large.push(Cell { loc, ..cell });
            }
        }
    }
    let mut sorted = large.clone();
    sorted.sort();
    let copied = Order::copied(Built::AddedCells(large.into()));
    let places = copied.places(&sorted);
    let all = (0..sorted.len()).map(|at| sorted[places.map_or(at, |places| places[at] as usize)]);
    let large = moved(all.collect(), start);
    Table::of(numbers_of(elements, &large), hashes)
}

impl Element for Value {
    fn hashes(elements: &[Self]) -> Vec<u64> {
        elements.iter().map(python_hash).collect()
    }

    fn elements(set: &Value) -> &[Self] {
        match set {
            Value::Set(elements) => elements.as_slice(),
            _ => &[],
        }
    }

    fn table(built: &Built, elements: &[Self], hashes: &[u64]) -> Option<Table> {
        Some(match built {
            Built::Objects(height, width) => {
                let (height, width) = (*height as usize, *width as usize);
                let mut ranks = vec![0; height * width];
                for (rank, at) in (0u32..).zip(&*in_reading_order(height, width)) {
                    ranks[*at as usize] = rank;
                }
                let rank = |object: &Value| match object {
                    Value::Object(object) => {
                        let cells = object.as_slice().iter();
                        let places = cells.map(|cell| (cell.loc.i as usize, cell.loc.j as usize));
                        places.map(|(i, j)| ranks[i * width + j]).min()
                    }
                    _ => None,
                };
                let mut numbers: Vec<u32> = (0..elements.len() as u32).collect();
                numbers.sort_by_cached_key(|at| rank(&elements[*at as usize]));
                Table::of(numbers, hashes).copied(hashes)
            }
            Built::Frontiers(both) => {
                let [mut rows, columns] = both
                    .each_ref()
                    .map(|lines| Table::of(lines.iter().copied(), hashes).copied(hashes));
                rows.merge(&columns, hashes);
                rows
            }
            _ => return None,
        })
    }
}

/// The hash of a value in Python.
pub(crate) fn python_hash(value: &Value) -> u64 {
    match value {
        Value::Nothing => set_table::NONE,
        Value::Bool(truth) => set_table::integer((*truth).into()),
        Value::Int(n) => set_table::integer(*n),
        Value::Loc(loc) => set_table::loc(*loc),
        Value::Cell(cell) => set_table::cell(*cell),
        Value::Grid(grid) => {
            let colour = |colour: &i8| set_table::integer((*colour).into());
            set_table::tuple(
                grid.rows()
                    .map(|row| set_table::tuple(row.iter().map(colour))),
            )
        }
        Value::Tuple(elements) => set_table::tuple(elements.as_slice().iter().map(python_hash)),
        Value::Indices(locs) => {
            let hashes = locs.as_slice().iter().map(|it| set_table::loc(*it));
            locs.order().hash(hashes)
        }
        Value::Object(cells) => {
            let hashes = cells.as_slice().iter().map(|it| set_table::cell(*it));
            cells.order().hash(hashes)
        }
        Value::Set(elements) => set_table::set(elements.as_slice().iter().map(python_hash)),
        Value::Primitive(primitive) => set_table::address(*primitive as u64),
        // One hash for all that a program makes: among them, a set iterates in the order in which they were added.
        Value::Function(_) => set_table::address(u64::MAX),
        Value::Foreign(foreign) => foreign.python_hash(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interpreter, Primitive};

    /// Whatever the address of `hsplit`, 8 is in the first slot, and 7 in the last one.
    #[test]
    fn what_no_address_decides_is_as_in_python() {
        let pair = |a: i32, b: Value| Value::tuple(vec![a.into(), b]);
        let hsplit = || Value::Primitive(Primitive::Hsplit);
        for (primitive, argument, expected) in [
            (
                Primitive::Leastcolor,
                Value::tuple(vec![pair(2, 4.into()), pair(8, hsplit())]),
                "8",
            ),
            (Primitive::Mostcommon, pair(7, hsplit()), "hsplit"),
        ] {
            let function = Value::primitive(primitive);
            let found = Interpreter::default().call(function, &[&argument]);
            assert_eq!(found.unwrap().to_string(), expected);
        }
    }

    /// Truth values beside equal numbers, and patches that were added in ascending order beside equal ones that were not:
    /// what is sorted has to have one order all the same.
    #[test]
    fn the_first_of_equal_values_stays() {
        let locs = [(0, 0), (1, 1), (0, 2)].map(|(i, j)| Value::Loc(Loc::new(i, j)));
        let [ascending, other] =
            [[0, 2, 1], [1, 2, 0]].map(|order| Value::set(order.map(|at: usize| locs[at].clone())));
        assert!(has_one_order(&ascending) && !has_one_order(&other));
        let kinds = [
            1.into(),
            true.into(),
            other,
            0.into(),
            ascending,
            false.into(),
        ];
        for turn in 0..kinds.len() {
            let mut given: Vec<Value> = kinds.iter().cycle().take(60).cloned().collect();
            given.rotate_left(turn);
            let (found, numbers) = numbered(given.clone(), None);
            assert_eq!(found.len(), 3);
            for (at, value) in found.iter().enumerate() {
                let first = given.iter().position(|it| it == value).unwrap();
                assert_eq!(numbers[first] as usize, at);
                assert_eq!(given[first].to_string(), value.to_string());
            }
        }
    }
}
