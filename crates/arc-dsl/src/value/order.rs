//! The order in which Python iterates over a set: a function of how the set was built. A set remembers that, and finds
//! its order when it is first asked for, since most sets are only counted, painted or joined.

use std::sync::{Arc, OnceLock};

use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc};
use crate::value::Value;
use crate::value::set_table::{self, Table};

/// How a set was built, and its order once that is known.
#[derive(Debug, Clone)]
pub(crate) struct Order<T: Element> {
    built: Built<T>,
    /// Whether `frozenset` copied a set that was built like this.
    copied: bool,
    /// How many sets are kept one inside the other to find the order.
    depth: u8,
    /// The weight of what is kept to find the order.
    kept: u32,
    /// The elements' indices in ascending order, in the order of iteration; nothing if the two are the same.
    places: OnceLock<Option<Box<[u32]>>>,
}

/// How a set of `T` was built.
#[derive(Debug, Clone)]
pub(crate) enum Built<T: Element> {
    /// The elements were added in ascending order.
    Ascending,
    /// The elements were added in this order. An element may be repeated: the first one stays.
    Added(Box<[T]>),
    /// The same, by indices of the elements in ascending order.
    Numbers(Box<[u32]>),
    /// From other containers, whatever the elements.
    Of(Source),
    /// Its table is known.
    Known(Box<Table>),
    /// In a way that only sets of such elements are built.
    From(T::From),
}

/// The containers from whose elements a set was built.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// Those elements of the set that are there were added.
    Kept(Value),
    /// The elements of both were added, one container after the other.
    Joined(Box<[Value; 2]>),
    /// The elements of all containers in this one were added, one container after the other.
    Merged(Value),
    /// The pairs of an element of the first and one of the second were added, the second one changing last.
    Product(Box<[Value; 2]>),
}

impl Source {
    /// Passes the elements to `add`, in the order in which they were added.
    fn each<T: Element>(&self, mut add: impl FnMut(T)) {
        match self {
            Source::Kept(set) => in_order(set).for_each(add),
            Source::Joined(both) => both.iter().for_each(|set| in_order(set).for_each(&mut add)),
            Source::Merged(sets) => {
                in_order::<Value>(sets).for_each(|set| in_order(&set).for_each(&mut add));
            }
            Source::Product(both) => {
                let [firsts, seconds] = &**both;
                for second in in_order::<Value>(seconds) {
                    let pairs = in_order::<Value>(firsts).map(|first| Value::pair(&first, &second));
                    pairs
                        .filter_map(|pair| T::from_value(&pair))
                        .for_each(&mut add);
                }
            }
        }
    }

    fn values(&self) -> &[Value] {
        match self {
            Source::Kept(value) | Source::Merged(value) => std::slice::from_ref(value),
            Source::Joined(both) | Source::Product(both) => &**both,
        }
    }
}

/// How a set is built from another one, in the order of that set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// The locations of an object were added.
    Locations,
    /// The cells at its locations were added.
    Coloured,
    /// Each location was moved by the same way.
    Moved,
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

/// How a set of locations is built.
#[derive(Debug, Clone)]
pub(crate) enum LocsFrom {
    Patch(Value, How),
    /// The locations next to one, and then those diagonal to it.
    Neighbours,
    /// The left and the right side of a box, and then its top and its bottom.
    Outline,
}

/// How an object is built.
#[derive(Debug, Clone)]
pub(crate) enum CellsFrom {
    Patch(Value, How),
    /// Row by row.
    Reading,
    /// By `objects`, from its first cell on.
    Flood(Arc<Flood>),
}

/// How any other set is built.
#[derive(Debug, Clone)]
pub(crate) enum ValuesFrom {
    /// By `objects` of a grid of this height and width.
    Objects(usize, usize),
    /// By `frontiers`: the numbers of the rows and of the columns, which are in two sets first.
    Frontiers(Box<[u32]>, Box<[u32]>),
}

/// An element of a set.
pub(crate) trait Element: Ord + Clone {
    /// How only sets of such elements are built.
    type From: std::fmt::Debug + Clone;

    /// The hash in Python; nothing for a function, which has another one in each process.
    fn python_hash(&self) -> Option<u64>;

    fn from_value(value: &Value) -> Option<Self>;

    /// The table of a set with these ascending elements.
    fn table(from: &Self::From, elements: &[Self], hashes: &[u64]) -> Table;

    /// What is kept to find the order.
    fn kept(from: &Self::From) -> Option<Kept<'_>>;
}

/// What is kept to find an order.
pub(crate) enum Kept<'a> {
    Value(&'a Value),
    /// Something of this weight.
    Weight(u32),
}

/// More sets than this one inside the other are not kept.
const DEEP: u8 = 8;

impl<T: Element> Order<T> {
    /// The order of a set that was built like this.
    pub(crate) fn new(built: Built<T>) -> Self {
        let (mut depth, mut kept) = (0, 0u32);
        let mut keep = |value: &Value| {
            depth = depth.max(value.order_depth() + 1);
            kept = kept.saturating_add(value.weight());
        };
        match &built {
            Built::Ascending => {}
            Built::Added(elements) => kept = elements.len() as u32,
            Built::Numbers(numbers) => kept = numbers.len() as u32 / 4,
            Built::Of(source) => source.values().iter().for_each(keep),
            Built::Known(table) => kept = table.slots() as u32 / 4,
            Built::From(from) => match T::kept(from) {
                Some(Kept::Value(value)) => keep(value),
                Some(Kept::Weight(weight)) => kept = weight,
                None => {}
            },
        }
        Self {
            built,
            copied: false,
            depth,
            kept,
            places: OnceLock::new(),
        }
    }

    /// The order of a `frozenset` of a set that was built like this.
    pub(crate) fn copied(built: Built<T>) -> Self {
        Self {
            copied: true,
            ..Self::new(built)
        }
    }

    /// The same for a set with these elements; finds the order now if finding it later would keep too much memory.
    pub(crate) fn settled(self, elements: &[T]) -> Self {
        let most = 4 * elements.len() as u32 + 64;
        if self.depth <= DEEP && self.kept <= most {
            return self;
        }
        Self::new(match self.table(elements) {
            Some(table) => Built::Known(table.into()),
            None => Built::Ascending,
        })
    }

    pub(crate) fn depth(&self) -> u8 {
        self.depth
    }

    pub(crate) fn kept_weight(&self) -> u32 {
        self.kept
    }

    /// The table of the set with these ascending elements; nothing if one of them has no hash.
    pub(crate) fn table(&self, elements: &[T]) -> Option<Table> {
        if let Built::Known(table) = &self.built {
            return Some((**table).clone());
        }
        let hashes: Vec<u64> = elements.iter().map(T::python_hash).collect::<Option<_>>()?;
        let number = |element: &T| elements.binary_search(element).unwrap_or(0) as u32;
        let table = match &self.built {
            Built::Ascending => Table::of(0..elements.len() as u32, &hashes),
            Built::Added(added) => Table::of(added.iter().map(number), &hashes),
            Built::Numbers(numbers) => Table::of(numbers.iter().copied(), &hashes),
            Built::Of(source) => {
                let mut table = Table::default();
                source.each(|element| {
                    if let Ok(at) = elements.binary_search(&element) {
                        table.add(at as u32, &hashes);
                    }
                });
                table
            }
            Built::Known(table) => (**table).clone(),
            Built::From(from) => T::table(from, elements, &hashes),
        };
        Some(if self.copied {
            table.copied(&hashes)
        } else {
            table
        })
    }

    /// The indices of the elements, which are ascending, in the order of iteration; nothing if that is ascending too.
    pub(crate) fn places(&self, elements: &[T]) -> Option<&[u32]> {
        if elements.len() < 2 {
            return None;
        }
        let find = || {
            let table = self.table(elements)?;
            let places: Box<[u32]> = table.iter().collect();
            (!places.is_sorted()).then_some(places)
        };
        self.places.get_or_init(find).as_deref()
    }
}

impl<T: Element> Default for Order<T> {
    fn default() -> Self {
        Self::new(Built::Ascending)
    }
}

/// The elements of a set in the order of iteration; those of another type are left out.
fn in_order<T: Element>(set: &Value) -> impl Iterator<Item = T> + '_ {
    set.as_container()
        .into_iter()
        .flat_map(|set| set.iter())
        .filter_map(|element| T::from_value(&element))
}

/// The table of the set to which these elements were added one by one.
fn added<T: Element>(added: impl Iterator<Item = T>, elements: &[T], hashes: &[u64]) -> Table {
    let numbers = added.filter_map(|element| elements.binary_search(&element).ok());
    Table::of(numbers.map(|number| number as u32), hashes)
}

/// The set of these elements, added in this order.
fn set_of<T: Element>(elements: Vec<T>) -> Vec<T> {
    let mut sorted = elements.clone();
    sorted.sort();
    sorted.dedup();
    let order = Order::new(Built::Added(elements.into()));
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
        Value::Object(_) => set_of(in_order::<Cell>(patch).map(|cell| cell.loc).collect()),
        _ => in_order(patch).collect(),
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

/// The elements of a patch after they were moved or mirrored, in the order in which they were added. `with` puts an
/// element at another location.
fn moved<T: Element>(
    patch: &Value,
    how: How,
    elements: &[T],
    loc: impl Fn(&T) -> Loc,
    with: impl Fn(&T, Loc) -> T,
) -> Vec<T> {
    let all: Vec<T> = in_order(patch).collect();
    let (low, high) = corners(all.iter().map(&loc));
    let each = |all: Vec<T>, to: &dyn Fn(Loc) -> Loc| -> Vec<T> {
        all.iter().map(|it| with(it, to(loc(it)))).collect()
    };
    let upside_down = |at: Loc| Loc::new(low.i + (high.i - at.i), at.j);
    let turned_over = |at: Loc| Loc::new(at.i, low.j + (high.j - at.j));
    let exchanged = |at: Loc| Loc::new(at.j - low.j + low.i, at.i - low.i + low.j);
    match how {
        How::HorizontalMirror => each(all, &upside_down),
        How::VerticalMirror => each(all, &turned_over),
        How::DiagonalMirror => each(all, &exchanged),
        How::CounterMirror => {
            // The DSL mirrors three times, and builds a set each time. The last mirror is along the new box.
            let all = set_of(each(all, &turned_over));
            let all = set_of(each(all, &exchanged));
            let width = high.i - low.i;
            each(all, &|at| Loc::new(at.i, low.j + (low.j + width - at.j)))
        }
        _ => {
            let (start, _) = corners(elements.iter().map(&loc));
            let way = Loc::new(start.i.wrapping_sub(low.i), start.j.wrapping_sub(low.j));
            each(all, &|at| at.wrapping_add(way))
        }
    }
}

impl Element for Loc {
    type From = LocsFrom;

    fn python_hash(&self) -> Option<u64> {
        Some(set_table::loc(*self))
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Loc(loc) => Some(*loc),
            _ => None,
        }
    }

    fn table(from: &LocsFrom, elements: &[Self], hashes: &[u64]) -> Table {
        let number = |loc: Loc| elements.binary_search(&loc).map(|at| at as u32).ok();
        let (low, high) = corners(elements.iter().copied());
        match from {
            LocsFrom::Patch(patch, How::Locations) => {
                let cells = in_order::<Cell>(patch);
                added(cells.map(|cell| cell.loc), elements, hashes)
            }
            LocsFrom::Patch(patch, How::Delta) => delta(patch, elements),
            LocsFrom::Patch(patch, how) => {
                let all = moved(patch, *how, elements, |loc| *loc, |_, loc| loc);
                added(all.into_iter(), elements, hashes)
            }
            LocsFrom::Neighbours => {
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
            LocsFrom::Outline => {
                let column = |j| {
                    Table::of(
                        (low.i..=high.i).filter_map(|i| number(Loc::new(i, j))),
                        hashes,
                    )
                };
                let row = |i| {
                    Table::of(
                        (low.j..=high.j).filter_map(|j| number(Loc::new(i, j))),
                        hashes,
                    )
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
        }
    }

    fn kept(from: &LocsFrom) -> Option<Kept<'_>> {
        match from {
            LocsFrom::Patch(patch, _) => Some(Kept::Value(patch)),
            LocsFrom::Neighbours | LocsFrom::Outline => None,
        }
    }
}

/// The table of the bounding box of a patch without the patch.
fn delta(patch: &Value, elements: &[Loc]) -> Table {
    let taken = Value::from(Indices::new(locations(patch)));
    let contains = |loc: Loc| elements.binary_search(&loc).is_err();
    let (low, high) = corners(locations(patch).into_iter());
    let all: Vec<Loc> = (low.i..=high.i)
        .flat_map(|i| (low.j..=high.j).map(move |j| Loc::new(i, j)))
        .collect();
    let hashes: Vec<u64> = all.iter().map(|loc| set_table::loc(*loc)).collect();
    let count = taken.as_container().map_or(0, |taken| taken.len());
    let whole = Table::of(0..all.len() as u32, &hashes);
    let rest = whole.minus(count, |at| contains(all[at as usize]), &hashes);
    rest.renumbered(|at| elements.binary_search(&all[at as usize]).unwrap_or(0) as u32)
}

impl Element for Cell {
    type From = CellsFrom;

    fn python_hash(&self) -> Option<u64> {
        Some(set_table::cell(*self))
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Cell(cell) => Some(*cell),
            _ => None,
        }
    }

    fn table(from: &CellsFrom, elements: &[Self], hashes: &[u64]) -> Table {
        // The number of a location's only cell.
        let by_location = || {
            let mut numbers: Vec<u32> = (0..elements.len() as u32).collect();
            numbers.sort_by_key(|at| elements[*at as usize].loc);
            numbers
        };
        match from {
            CellsFrom::Patch(patch, How::Coloured) => {
                let numbers = by_location();
                let find = |loc: Loc| {
                    let at = numbers.binary_search_by_key(&loc, |at| elements[*at as usize].loc);
                    at.ok().map(|at| numbers[at])
                };
                Table::of(locations(patch).into_iter().filter_map(find), hashes)
            }
            CellsFrom::Patch(patch, How::Scaled) => scaled(patch, elements, hashes),
            CellsFrom::Patch(patch, how) => {
                let with = |cell: &Cell, loc| Cell { loc, ..*cell };
                let all = moved(patch, *how, elements, |cell| cell.loc, with);
                added(all.into_iter(), elements, hashes)
            }
            CellsFrom::Reading => Table::of(by_location(), hashes),
            CellsFrom::Flood(flood) => flood.table(elements),
        }
    }

    fn kept(from: &CellsFrom) -> Option<Kept<'_>> {
        match from {
            CellsFrom::Patch(patch, _) => Some(Kept::Value(patch)),
            CellsFrom::Reading => None,
            CellsFrom::Flood(flood) => Some(Kept::Weight(flood.weight)),
        }
    }
}

/// The table of the object that `upscale` makes of another one.
fn scaled(patch: &Value, elements: &[Cell], hashes: &[u64]) -> Table {
    let cells: Vec<Cell> = in_order(patch).collect();
    let (start, _) = corners(cells.iter().map(|cell| cell.loc));
    // The DSL moves the object to the origin, scales it, and moves it back, and builds a set each time.
    let moved = |cells: Vec<Cell>, way: Loc| {
        let with = |cell: &Cell| Cell {
            loc: cell.loc.wrapping_add(way),
            ..*cell
        };
        cells.iter().map(with).collect::<Vec<_>>()
    };
    let at_origin = set_of(moved(cells, Loc::new(-start.i, -start.j)));
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
    let copied = Order::copied(Built::Added(large.into()));
    let places = copied.places(&sorted);
    let all = (0..sorted.len()).map(|at| sorted[places.map_or(at, |places| places[at] as usize)]);
    added(moved(all.collect(), start).into_iter(), elements, hashes)
}

impl Element for Value {
    type From = ValuesFrom;

    fn python_hash(&self) -> Option<u64> {
        let all = |elements: &[Value]| {
            elements
                .iter()
                .map(Element::python_hash)
                .collect::<Option<Vec<u64>>>()
        };
        Some(match self {
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
            Value::Tuple(elements) => {
                let all = all(elements.as_slice())?;
                set_table::tuple(all.into_iter())
            }
            Value::Indices(locs) => {
                set_table::set(locs.as_slice().iter().map(|it| set_table::loc(*it)))
            }
            Value::Object(cells) => {
                set_table::set(cells.as_slice().iter().map(|it| set_table::cell(*it)))
            }
            Value::Set(elements) => {
                let all = all(elements.as_slice())?;
                set_table::set(all.into_iter())
            }
            Value::Primitive(_) | Value::Function(_) => return None,
            Value::Foreign(foreign) => foreign.python_hash()?,
        })
    }

    fn from_value(value: &Value) -> Option<Self> {
        Some(value.clone())
    }

    fn table(from: &ValuesFrom, elements: &[Self], hashes: &[u64]) -> Table {
        match from {
            ValuesFrom::Objects(height, width) => {
                let ranks = ranks(*height, *width);
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
            ValuesFrom::Frontiers(rows, columns) => {
                let [mut rows, columns] = [rows, columns]
                    .map(|lines| Table::of(lines.iter().copied(), hashes).copied(hashes));
                rows.merge(&columns, hashes);
                rows
            }
        }
    }

    fn kept(from: &ValuesFrom) -> Option<Kept<'_>> {
        match from {
            ValuesFrom::Objects(..) => None,
            ValuesFrom::Frontiers(rows, columns) => {
                Some(Kept::Weight((rows.len() + columns.len()) as u32 / 4))
            }
        }
    }
}

/// The hashes of the locations of a grid, row by row.
fn hashes_of_locations(height: usize, width: usize) -> Vec<u64> {
    let loc = |at: usize| Loc::new((at / width) as i32, (at % width) as i32);
    (0..height * width)
        .map(|at| set_table::loc(loc(at)))
        .collect()
}

/// For each location of a grid, row by row, its index in the order of `asindices`.
fn ranks(height: usize, width: usize) -> Vec<u32> {
    let hashes = hashes_of_locations(height, width);
    let mut ranks = vec![0; hashes.len()];
    for (rank, at) in Table::of(0..hashes.len() as u32, &hashes)
        .iter()
        .enumerate()
    {
        ranks[at as usize] = rank as u32;
    }
    ranks
}

/// A call of `objects`, in which the order of each object's cells depends on the objects before it.
#[derive(Debug)]
pub(crate) struct Flood {
    pub(crate) grid: Grid,
    pub(crate) univalued: bool,
    pub(crate) diagonal: bool,
    pub(crate) background: Option<i8>,
    /// The hashes of the values that stand for the colours from 0 on, if they are not colours.
    pub(crate) hashes: Option<Vec<u64>>,
    /// The weight that each of its objects has for it.
    pub(crate) weight: u32,
    /// The number of each location's object, and the table of each object, whose elements are locations.
    pub(crate) tables: OnceLock<(Vec<u32>, Vec<Table>)>,
}

impl Flood {
    /// The table of the object with these cells.
    fn table(&self, elements: &[Cell]) -> Table {
        let width = self.grid.width();
        let number = |loc: Loc| loc.i as usize * width + loc.j as usize;
        let (objects, tables) = self.tables.get_or_init(|| self.run());
        let mut places: Vec<(u32, u32)> = (0..)
            .zip(elements)
            .map(|(at, cell)| (number(cell.loc) as u32, at))
            .collect();
        places.sort_unstable();
        let find = |loc: u32| match places.binary_search_by_key(&loc, |(loc, _)| *loc) {
            Ok(at) => places[at].1,
            Err(_) => 0,
        };
        let object = elements.first().map_or(0, |cell| objects[number(cell.loc)]);
        tables[object as usize].clone().renumbered(find)
    }

    /// Does what `objects` does in Python, with its sets.
    pub(crate) fn run(&self) -> (Vec<u32>, Vec<Table>) {
        const NONE: u32 = u32::MAX;
        let grid = &self.grid;
        let (cells, width) = (grid.cells(), grid.width());
        let locs = hashes_of_locations(grid.height(), width);
        let hash = |colour: i8| match &self.hashes {
            Some(hashes) => hashes[colour as usize],
            None => set_table::integer(colour.into()),
        };
        let coloured = cells.iter().zip(&locs);
        let coloured =
            coloured.map(|(colour, loc)| set_table::tuple([hash(*colour), *loc].into_iter()));
        let coloured: Vec<u64> = coloured.collect();
        let (mut objects, mut tables) = (vec![NONE; cells.len()], Vec::new());
        let mut occupied = 0;
        for start in Table::of(0..cells.len() as u32, &locs).iter() {
            let colour = cells[start as usize];
            if objects[start as usize] != NONE || Some(colour) == self.background {
                continue;
            }
            let mut object = Table::of([start], &coloured);
            let mut candidates = Table::of([start], &locs);
            while !candidates.is_empty() {
                let mut around = Table::default();
                for candidate in candidates.iter() {
                    let own = cells[candidate as usize];
                    let joins = match self.univalued {
                        true => own == colour,
                        false => Some(own) != self.background,
                    };
                    if joins {
                        object.add(candidate, &coloured);
                        if objects[candidate as usize] == NONE {
                            objects[candidate as usize] = tables.len() as u32;
                            occupied += 1;
                        }
                        let next = neighbours(candidate, width, self.diagonal);
                        let next = next.into_iter().filter_map(|loc| grid.offset(loc));
                        around.merge(&Table::of(next.map(|at| at as u32), &locs), &locs);
                    }
                }
                candidates = around.minus(occupied, |at| objects[at as usize] != NONE, &locs);
            }
            tables.push(object.copied(&coloured));
        }
        (objects, tables)
    }
}

/// The locations next to one in the order of `neighbors` or `dneighbors`.
fn neighbours(at: u32, width: usize, diagonal: bool) -> Vec<Loc> {
    let middle = Loc::new((at as usize / width) as i32, (at as usize % width) as i32);
    let ways: &[(i32, i32)] = match diagonal {
        true => &[
            (-1, -1),
            (-1, 0),
            (-1, 1),
            (0, -1),
            (0, 1),
            (1, -1),
            (1, 0),
            (1, 1),
        ],
        false => &[(-1, 0), (0, -1), (0, 1), (1, 0)],
    };
    let around = ways
        .iter()
        .map(|&(i, j)| middle.wrapping_add(Loc::new(i, j)));
    let around = Value::from(Indices::built(
        around.collect(),
        Built::From(LocsFrom::Neighbours),
    ));
    in_order(&around).collect()
}
