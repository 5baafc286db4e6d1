//! [`Flood`]: the order of the cells of objects, which depends on all that `objects` did before, on sets of locations.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Built;
use crate::components::Components;
use crate::grid::Grid;
use crate::patch::{Cell, Indices, Loc};
use crate::value::set_table::{self, Hashes, Table};
use crate::value::sets::bitmaps::RankedBits;

/// The locations of a grid of this width, numbered row by row.
#[derive(Clone, Copy)]
struct Locations {
    width: usize,
}

impl Locations {
    fn loc(self, at: u32) -> Loc {
        let at = at as usize;
        Loc::new((at / self.width) as i32, (at % self.width) as i32)
    }
}

impl Hashes for Locations {
    #[inline]
    fn of(&self, at: u32) -> u64 {
        set_table::loc(self.loc(at))
    }
}

/// The sides of the largest grid of which what depends on a location alone is kept: grids of ARC at twice their size.
const SIDE: usize = 64;

/// The locations of a grid in the order of `asindices`, by their numbers row by row.
pub(super) fn in_reading_order(height: usize, width: usize) -> Cow<'static, [u32]> {
    // All of them take 17 MB.
    static KNOWN: [OnceLock<Vec<u32>>; SIDE * SIDE] = [const { OnceLock::new() }; SIDE * SIDE];
    let find = || {
        let all = 0..(height * width) as u32;
        Table::of(all, &Locations { width }).iter().collect()
    };
    match set_table::place(Loc::new(height as i32 - 1, width as i32 - 1), SIDE) {
        Some(last) => Cow::Borrowed(KNOWN[last].get_or_init(find)),
        None => Cow::Owned(find()),
    }
}

/// A call of `objects`, in which the order of each object's cells depends on the objects before it.
#[derive(Debug)]
pub(crate) struct Flood {
    grid: Grid,
    univalued: bool,
    diagonal: bool,
    background: Option<i8>,
    /// How many cells the objects have in all.
    count: usize,
    found: OnceLock<Found>,
}

/// Which cells belong together.
#[derive(Debug)]
struct Found {
    /// The cells that are no background.
    cells: RankedBits,
    /// For each of them the number of its object, as they are found, and its own number among the object's cells.
    objects: Vec<(u32, u32)>,
    /// The first cell of each object, and how many cells those before it have; then how many all have.
    starts: Vec<(u32, u32)>,
}

impl Found {
    /// The number of a cell among those that are no background.
    fn number(&self, at: usize) -> Option<usize> {
        let number = self.cells.number(at / 64, at % 64);
        number.map(|number| number as usize)
    }

    /// How many cells an object has.
    fn count(&self, object: u32) -> usize {
        let [before, end] = [0, 1].map(|next| self.starts[object as usize + next].1);
        (end - before) as usize
    }

    /// The object of a cell, and the cell's own number.
    fn object(&self, at: u32) -> (u32, u32) {
        self.number(at as usize)
            .map_or(NONE, |number| self.objects[number])
    }
}

/// In no object.
const NONE: (u32, u32) = (u32::MAX, 0);

impl Flood {
    pub(crate) fn new(grid: Grid, univalued: bool, diagonal: bool, background: Option<i8>) -> Self {
        let cells = grid.cells().iter();
        Self {
            count: cells.filter(|colour| Some(**colour) != background).count(),
            grid,
            univalued,
            diagonal,
            background,
            found: OnceLock::new(),
        }
    }

    /// The bytes that it takes at most, what it finds included.
    pub(super) fn bytes(&self) -> usize {
        self.grid.cells().len() * 5 / 4 + self.count * 16 + size_of::<Self>()
    }

    /// The table of the object with these cells.
    pub(super) fn table(&self, elements: &[Cell], hashes: &[u64]) -> Table {
        let found = self.found();
        let own = |at: u32| found.object(at).1 as usize;
        let number = |loc: Loc| (loc.i as usize * self.grid.width() + loc.j as usize) as u32;
        let (object, _) = found.object(number(elements[0].loc));
        let mut places = vec![None; found.count(object)];
        for (at, cell) in (0..).zip(elements) {
            places[own(number(cell.loc))] = Some(at);
        }
        let added = self.added(object);
        let added = added.iter().filter_map(|at| places[own(*at)]);
        Table::of(added, hashes).copied(hashes)
    }

    fn locations(&self) -> Locations {
        Locations {
            width: self.grid.width(),
        }
    }

    /// The cells next to one in the order of `neighbors` or `dneighbors`.
    fn beside(&self, at: u32) -> impl Iterator<Item = u32> {
        let next = neighbours(self.locations().loc(at), self.diagonal);
        next.filter_map(|loc| self.grid.offset(loc).map(|at| at as u32))
    }

    fn found(&self) -> &Found {
        self.found.get_or_init(|| {
            let cells = self.grid.cells();
            let is_object = |cell: &i8| u64::from(Some(*cell) != self.background);
            let words = cells.chunks(64).map(|cells| {
                let bits = cells.iter().rev();
                bits.fold(0, |word, cell| word << 1 | is_object(cell))
            });
            let mut found = Found {
                cells: RankedBits::of(words),
                objects: Vec::with_capacity(self.count),
                starts: Vec::new(),
            };
            let Components { runs, sizes } =
                Components::of(&self.grid, self.univalued, self.diagonal, self.background);
            let mut numbered = vec![0; sizes.len()];
            for (run, component) in runs {
                let last = &mut numbered[component as usize];
                for _ in run.start..=run.end {
                    found.objects.push((component, *last));
                    *last += 1;
                }
            }
            let mut numbers = vec![NONE.0; sizes.len()];
            let mut taken = 0;
            for &start in &*in_reading_order(self.grid.height(), self.grid.width()) {
                let (component, _) = found.object(start);
                if let Some(number) = numbers.get_mut(component as usize)
                    && *number == NONE.0
                {
                    *number = found.starts.len() as u32;
                    found.starts.push((start, taken));
                    taken += sizes[component as usize];
                }
            }
            found.starts.push((NONE.0, taken));
            for (object, _) in &mut found.objects {
                *object = numbers[*object as usize];
            }
            found
        })
    }

    /// The cells of all objects, each in the order in which they were added.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Vec<u32>> {
        (1..self.found().starts.len()).map(|number| self.added(number as u32 - 1))
    }

    /// The cells of an object in the order in which they were added: does what `objects` does in Python, with its sets.
    /// Of the objects before it matters how many cells they have and which ones are beside it.
    fn added(&self, number: u32) -> Vec<u32> {
        let found = self.found();
        let (start, before) = found.starts[number as usize];
        let count = found.count(number);
        let mut added = Vec::with_capacity(count);
        added.push(start);
        let mut is_added = vec![false; count];
        let locations = self.locations();
        let mut last = 0;
        while added.len() < count {
            let wave = &added[last..];
            for &at in wave {
                is_added[found.object(at).1 as usize] = true;
            }
            last = added.len();
            let joins = |at: &u32| {
                let (object, cell) = found.object(*at);
                object == number && !is_added[cell as usize]
            };
            let mut joining = wave.iter().flat_map(|at| self.beside(*at)).filter(joins);
            let Some(first) = joining.next() else {
                break;
            };
            // If one joins, in which order they come does not matter.
            if joining.all(|at| at == first) {
                added.push(first);
                continue;
            }
            let mut around = Table::default();
            for &at in wave {
                around.merge(&Table::of(self.beside(at), &locations), &locations);
            }
            let taken = |at: u32| {
                let (object, cell) = found.object(at);
                object < number || object == number && is_added[cell as usize]
            };
            let candidates = around.minus(before as usize + last, taken, &locations);
            added.extend(candidates.iter().filter(joins));
        }
        added
    }
}

const WAYS: [(i32, i32); 9] = [
    (-1, -1),
    (-1, 0),
    (-1, 1),
    (0, -1),
    (0, 0),
    (0, 1),
    (1, -1),
    (1, 0),
    (1, 1),
];

/// Whether `dneighbors`, or `neighbors` if those on diagonals count, go this way.
fn is_beside((i, j): (i32, i32), diagonal: bool) -> bool {
    (i + j).abs() == 1 || diagonal && (i, j) != (0, 0)
}

/// The number of the way from a location to one beside it.
fn way(from: Loc, to: Loc) -> usize {
    let way = (to.i - from.i, to.j - from.j);
    WAYS.iter().position(|other| *other == way).unwrap_or(0)
}

/// The locations next to one in the order of `neighbors` or `dneighbors`. Most often they are known already.
fn neighbours(middle: Loc, diagonal: bool) -> impl Iterator<Item = Loc> {
    /// For each location the indices of the ways, four bits each; 0 if they are not known.
    static KNOWN: [[AtomicU32; SIDE * SIDE]; 2] =
        [const { [const { AtomicU32::new(0) }; SIDE * SIDE] }; 2];
    let known = set_table::place(middle, SIDE).map(|at| &KNOWN[usize::from(diagonal)][at]);
    let mut ways = known.map_or(0, |known| known.load(Relaxed));
    if ways == 0 {
        let around = WAYS.iter().filter(|way| is_beside(**way, diagonal));
        let around = around.map(|&(i, j)| middle.wrapping_add(Loc::new(i, j)));
        let around = Indices::built(around.collect(), Built::Neighbours);
        for (place, loc) in around.iter().enumerate() {
            ways |= (way(middle, *loc) as u32) << (4 * place);
        }
        if let Some(known) = known {
            known.store(ways, Relaxed);
        }
    }
    let count = if diagonal { 8 } else { 4 };
    (0..count).map(move |place| {
        let (i, j) = WAYS[(ways >> (4 * place) & 15) as usize];
        middle.wrapping_add(Loc::new(i, j))
    })
}
