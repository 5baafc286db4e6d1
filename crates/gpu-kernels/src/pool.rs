//! Values in the device's representation: one word each, and units of one word per lane.
//!
//! Each row of a grid, and of an object's colours, is one word per plane: the words of row 0, then those of row 1.

use std::collections::BTreeMap;

use arc_dsl::{Cell, Grid, Loc, Object, Value};

use crate::interface::constants::{
    COLOURS, COLOURS_UNIT, FIRST_COLOUR, MAX_CELL, MAX_COORDINATE, MAX_ORIGIN, MISSING,
    MISSING_PAIR, PLANES, SIDE,
};
use crate::interface::words::{cell, pair, size};
use crate::interface::{BailOut, Representation, Structure};

/// Words of a unit, one per lane.
pub const LANES: usize = SIDE as usize;

/// Words of a row of planes.
const ROW: usize = PLANES as usize;

/// Words of an object before its colours.
const BEFORE_COLOURS: usize = COLOURS_UNIT as usize * LANES;

impl Structure {
    /// The elements of a set of objects that is held as one object of all their cells. For frontiers, that object
    /// itself.
    pub fn elements(self, all: &Value) -> Value {
        if self == Structure::Frontiers {
            return all.clone();
        }
        let Value::Object(object) = all else {
            return Value::empty_set();
        };
        let mut remaining: BTreeMap<Loc, i32> = object
            .as_slice()
            .iter()
            .map(|cell| (cell.loc, cell.colour))
            .collect();
        let mut elements = Vec::new();
        while let Some((loc, colour)) = remaining.pop_first() {
            let mut element = vec![Cell::new(colour, loc)];
            match self {
                Structure::Frontiers => {}
                Structure::ByColour => remaining.retain(|loc, other| {
                    if *other == colour {
                        element.push(Cell::new(colour, *loc));
                    }
                    *other != colour
                }),
                Structure::Connected {
                    univalued,
                    diagonal,
                } => {
                    let mut at = 0;
                    while let Some(cell) = element.get(at).copied() {
                        at += 1;
                        for step in STEPS.iter().take(if diagonal { 8 } else { 4 }) {
                            let loc = Loc::new(cell.loc.i + step.i, cell.loc.j + step.j);
                            let joins = |other: &&i32| !univalued || **other == colour;
                            if let Some(other) = remaining.get(&loc).filter(joins).copied() {
                                remaining.remove(&loc);
                                element.push(Cell::new(other, loc));
                            }
                        }
                    }
                }
            }
            elements.push(Value::from(Object::new(element)));
        }
        Value::set(elements)
    }
}

/// The offsets to the neighbours of a cell, the orthogonal ones first.
const STEPS: [Loc; 8] = [
    Loc::new(-1, 0),
    Loc::new(1, 0),
    Loc::new(0, -1),
    Loc::new(0, 1),
    Loc::new(-1, -1),
    Loc::new(-1, 1),
    Loc::new(1, -1),
    Loc::new(1, 1),
];

/// The words and units of many values, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pool {
    words: Vec<u32>,
    units: Vec<[u32; LANES]>,
}

/// Where values start in a [`Pool`]: the first word and unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PoolPlace {
    /// Number of the first word.
    pub word: u32,
    /// Number of the first unit.
    pub unit: u32,
}

impl PoolPlace {
    /// Where this place is once its pool has been appended at `first` of another pool; `None` on overflow.
    pub fn behind(self, first: PoolPlace) -> Option<PoolPlace> {
        Some(PoolPlace {
            word: self.word.checked_add(first.word)?,
            unit: self.unit.checked_add(first.unit)?,
        })
    }
}

impl Pool {
    /// All words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// All units.
    pub fn units(&self) -> &[[u32; LANES]] {
        &self.units
    }

    /// Where the next value will be added.
    pub fn end(&self) -> PoolPlace {
        PoolPlace {
            word: self.words.len() as u32,
            unit: self.units.len() as u32,
        }
    }

    /// Adds a grid. Errors: [`BailOut::Grid`], [`BailOut::Colour`]; then nothing is added.
    pub fn push_grid(&mut self, grid: &Grid) -> Result<PoolPlace, BailOut> {
        let place = self.end();
        let (height, width) = (grid.height(), grid.width());
        if height > LANES || width > LANES {
            return Err(BailOut::Grid);
        }
        let mut planes = [[0; LANES]; Representation::Grid.units() as usize];
        let rows = planes.as_flattened_mut();
        // The 16 colours are exactly the values of four bits.
        let past = |past, colour: &i8| past | colour.wrapping_sub(FIRST_COLOUR as i8);
        if !(0..COLOURS as i8).contains(&grid.cells().iter().fold(0, past)) {
            return Err(BailOut::Colour);
        }
        let mut cells = [0; LANES];
        for (row, planes) in grid.rows().zip(rows.chunks_exact_mut(ROW)) {
            // All rows have the same length, so this overwrites the whole previous row.
            cells[..width].copy_from_slice(bytemuck::cast_slice(row));
            let eights = cells.as_chunks::<8>().0.iter().take(width.div_ceil(8));
            for (at, eight) in eights.enumerate() {
                let eight = u64::from_le_bytes(*eight);
                for (k, plane) in planes.iter_mut().enumerate() {
                    *plane |= plane_of(eight, k) << (8 * at);
                }
            }
        }
        let width = if height == 0 { 0 } else { width };
        self.words
            .push(size::HEIGHT.put(height as u32) | size::WIDTH.put(width as u32));
        self.units.extend_from_slice(&planes);
        Ok(place)
    }

    /// Adds everything in another pool, and returns where it starts in this one.
    pub fn append(&mut self, other: &Pool) -> PoolPlace {
        let first = self.end();
        self.words.extend_from_slice(&other.words);
        self.units.extend_from_slice(&other.units);
        first
    }

    /// Adds a value in this representation. Errors: why the device cannot hold it; [`BailOut::Undefined`]
    /// for a value that has no such representation. Then nothing is added.
    ///
    /// A set of objects is added as one object of all their cells; an object added as a patch, as its locations.
    pub fn push(
        &mut self,
        representation: Representation,
        value: &Value,
    ) -> Result<PoolPlace, BailOut> {
        let place = self.end();
        match (representation, value) {
            (Representation::Int, Value::Nothing) => self.words.push(MISSING.cast_unsigned()),
            (Representation::Int, value) => {
                let number = value.as_int().ok_or(BailOut::Undefined)?;
                self.words.push(number as u32);
            }
            (Representation::Pair, Value::Loc(loc)) => self.words.push(pair_word(*loc)?),
            (Representation::Pair, value) if is_empty_tuple(value) => self.words.push(MISSING_PAIR),
            (Representation::Cell, Value::Cell(at)) => self.words.push(cell_word(*at)?),
            // A grid on a device has no booleans, and `index` of it would give a number for one.
            (Representation::Grid, value)
                if value.value_type().is_some_and(|ty| !ty.has_boolean()) =>
            {
                let grid = value.as_grid().ok_or(BailOut::Undefined)?;
                return self.push_grid(&grid);
            }
            (Representation::Patch, Value::Indices(indices)) => {
                self.push_locs(indices.as_slice())?;
            }
            (Representation::Patch, Value::Object(object)) => {
                let mut locs: Vec<Loc> = object.as_slice().iter().map(|cell| cell.loc).collect();
                locs.sort_unstable();
                // Some primitives count the cells of an object, and a patch would count these two as one.
                if locs.windows(2).any(|two| two[0] == two[1]) {
                    return Err(BailOut::TwoColours);
                }
                self.push_locs(&locs)?;
            }
            (Representation::Object, Value::Object(object)) => {
                self.push_cells(object.as_slice(), None)?;
            }
            (Representation::Patch, value) if is_empty_set(value) => self.push_locs(&[])?,
            (Representation::Object, value) if is_empty_set(value) => self.push_cells(&[], None)?,
            (Representation::Objects, value) => {
                let objects = elements_of_set(value).ok_or(BailOut::Undefined)?;
                let mut cells = Vec::new();
                for object in objects {
                    match object {
                        Value::Object(object) => cells.extend_from_slice(object.as_slice()),
                        _ => return Err(BailOut::Undefined),
                    }
                }
                self.push_cells(&cells, Some(Loc::new(0, 0)))?;
            }
            (Representation::Colours, value) => {
                let mut codes = 0;
                for colour in elements_of_set(value).ok_or(BailOut::Undefined)? {
                    match colour {
                        Value::Int(colour) => codes |= 1 << code_of(*colour)?,
                        _ => return Err(BailOut::Undefined),
                    }
                }
                self.words.push(codes);
            }
            _ => return Err(BailOut::Undefined),
        }
        Ok(place)
    }

    fn push_locs(&mut self, locs: &[Loc]) -> Result<(), BailOut> {
        let origin = origin_of(locs.iter().copied());
        let mut rows = [0; LANES];
        for loc in locs {
            let (i, j) = within(*loc, origin)?;
            rows[i] |= 1 << j;
        }
        self.words.push(origin_word(origin)?);
        self.units.push(rows);
        Ok(())
    }

    fn push_cells(&mut self, cells: &[Cell], origin: Option<Loc>) -> Result<(), BailOut> {
        let origin = origin.unwrap_or_else(|| origin_of(cells.iter().map(|cell| cell.loc)));
        let mut units = [[0; LANES]; Representation::Object.units() as usize];
        let (rows, planes) = units.as_flattened_mut().split_at_mut(BEFORE_COLOURS);
        for cell in cells {
            let (i, j) = within(cell.loc, origin)?;
            let code = code_of(cell.colour)?;
            if rows[i] >> j & 1 == 1 {
                // Two objects of a set may share a cell.
                if colour_at(&planes[ROW * i..][..ROW], j) != cell.colour {
                    return Err(BailOut::TwoColours);
                }
                continue;
            }
            rows[i] |= 1 << j;
            for k in 0..ROW {
                planes[ROW * i + k] |= (code >> k & 1) << j;
            }
        }
        self.words.push(origin_word(origin)?);
        self.units.extend_from_slice(&units);
        Ok(())
    }

    /// The grid at this place; `None` if the pool ends before it.
    pub fn grid(&self, place: PoolPlace) -> Option<Grid> {
        let size = *self.words.get(place.word as usize)?;
        let units = self.units_at(place, Representation::Grid)?.as_flattened();
        let (height, width) = (size::HEIGHT.get(size), size::WIDTH.get(size));
        let (height, width) = (height as usize, width as usize);
        let mut cells = Vec::with_capacity(height * width);
        for row in units.chunks_exact(ROW).take(height) {
            cells.extend((0..width).map(|j| colour_at(row, j) as i8));
        }
        Some(Grid::from_cells(height, width, cells))
    }

    /// The value at this place, in this representation; a set of objects as one object of all its cells.
    /// `None` if the pool ends before it, or if the representation has no value outside an evaluation.
    pub fn value(&self, representation: Representation, place: PoolPlace) -> Option<Value> {
        let word = *self.words.get(place.word as usize)?;
        let units = self.units_at(place, representation)?.as_flattened();
        Some(match representation {
            Representation::Int if word == MISSING.cast_unsigned() => Value::Nothing,
            Representation::Int => Value::Int(word as i32),
            Representation::Pair if word == MISSING_PAIR => Value::tuple(Vec::new()),
            Representation::Pair => Value::from(unpacked(word)),
            Representation::Colours => Value::set(
                (0..COLOURS)
                    .filter(|code| word >> code & 1 == 1)
                    .map(|code| Value::Int(colour_of(code))),
            ),
            Representation::Grid => Value::from(self.grid(place)?),
            Representation::Patch => {
                let locs = bits(units).map(|(i, j)| located(word, i, j));
                Value::set(locs.map(Value::from))
            }
            Representation::Object | Representation::Objects => {
                let (rows, planes) = units.split_at(BEFORE_COLOURS);
                let cells: Vec<Cell> = bits(rows)
                    .map(|(i, j)| {
                        let colour = colour_at(&planes[ROW * i..][..ROW], j);
                        Cell::new(colour, located(word, i, j))
                    })
                    .collect();
                if cells.is_empty() {
                    Value::empty_set()
                } else {
                    Value::from(Object::new(cells))
                }
            }
            Representation::Cell => Value::from(cell_of(word)),
            // Elements of a list lie in the arena, which is not part of the pool; a column is no single value.
            Representation::Flag
            | Representation::Key
            | Representation::Column
            | Representation::Word
            | Representation::List => return None,
        })
    }

    /// Whether the value at this place satisfies the invariants that operations rely on: no bits past a grid's size,
    /// no columns without rows, no colours outside an object's locations.
    pub fn is_clean(&self, representation: Representation, place: PoolPlace) -> bool {
        let Some(units) = self.units_at(place, representation) else {
            return false;
        };
        let units = units.as_flattened();
        match representation {
            Representation::Grid => {
                let size = self.words.get(place.word as usize).copied();
                let (height, width) = size.map_or((0, 0), |size| {
                    (size::HEIGHT.get(size), size::WIDTH.get(size))
                });
                let row = u32::MAX
                    .checked_shr(LANES as u32 - width.min(LANES as u32))
                    .unwrap_or(0);
                let rows = units.chunks_exact(ROW).zip(0..);
                (height > 0 || width == 0)
                    && rows
                        .flat_map(|(planes, r)| planes.iter().map(move |plane| (plane, r)))
                        .all(|(plane, r)| plane & !(if r < height { row } else { 0 }) == 0)
            }
            Representation::Object | Representation::Objects => {
                let (rows, planes) = units.split_at(BEFORE_COLOURS);
                let beside = |(row, planes): (&u32, &[u32])| {
                    planes.iter().fold(0, |all, plane| all | plane) & !row
                };
                rows.iter()
                    .zip(planes.chunks_exact(ROW))
                    .all(|pair| beside(pair) == 0)
            }
            _ => true,
        }
    }

    /// Moves the origin of a patch's or an object's window up and to the left by this many rows and columns, as far
    /// as the window still holds all locations. Operations may return such windows.
    pub fn widen(
        &mut self,
        representation: Representation,
        place: PoolPlace,
        (up, left): (usize, usize),
    ) {
        let first = place.unit as usize;
        let Some(units) = self
            .units
            .get_mut(first..first + representation.units() as usize)
        else {
            return;
        };
        let (rows, planes) = units.as_flattened_mut().split_at_mut(BEFORE_COLOURS);
        let below = rows.iter().rev().take_while(|row| **row == 0).count();
        let right = rows.iter().fold(0, |all, row| all | row).leading_zeros();
        let (up, left) = (up.min(below), left.min(right as usize));
        let Some(origin) = self.words.get_mut(place.word as usize) else {
            return;
        };
        let at = unpacked(*origin);
        let Ok(moved) = pair_word(Loc::new(at.i - up as i32, at.j - left as i32)) else {
            return;
        };
        *origin = moved;
        for (words, width) in [(rows, 1), (planes, ROW)] {
            words.rotate_right((up * width).min(words.len()));
            for word in words {
                *word = word.checked_shl(left as u32).unwrap_or(0);
            }
        }
    }

    pub(crate) fn units_at(
        &self,
        place: PoolPlace,
        representation: Representation,
    ) -> Option<&[[u32; LANES]]> {
        let first = place.unit as usize;
        self.units
            .get(first..first + representation.units() as usize)
    }

    /// A pool of words and units, such as those downloaded from the device.
    pub(crate) fn from_parts(words: Vec<u32>, units: Vec<[u32; LANES]>) -> Self {
        Self { words, units }
    }
}

/// Bit `k` of each of eight cells, which are a byte each; the first cell's bit is the lowest.
///
/// The multiplication gathers the low bit of each of the eight bytes in the top byte: Warren, Hacker's Delight,
/// section 7-3.
fn plane_of(cells: u64, k: usize) -> u32 {
    let bits = cells >> k & 0x0101_0101_0101_0101;
    (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

/// The code of a colour, one bit per plane.
fn code_of(colour: i32) -> Result<u32, BailOut> {
    if (FIRST_COLOUR..FIRST_COLOUR + COLOURS as i32).contains(&colour) {
        Ok(colour as u32 % COLOURS)
    } else {
        Err(BailOut::Colour)
    }
}

fn colour_of(code: u32) -> i32 {
    (code as i32 - FIRST_COLOUR) % COLOURS as i32 + FIRST_COLOUR
}

/// The colour in one column of a row's four planes.
fn colour_at(planes: &[u32], column: usize) -> i32 {
    let bits = planes.iter().enumerate();
    colour_of(bits.fold(0, |code, (k, plane)| code | (plane >> column & 1) << k))
}

/// Row and column of every set bit.
fn bits(rows: &[u32]) -> impl Iterator<Item = (usize, usize)> {
    let rows = rows.iter().enumerate();
    rows.flat_map(|(i, row)| {
        (0..LANES)
            .filter(move |j| row >> j & 1 == 1)
            .map(move |j| (i, j))
    })
}

fn located(origin: u32, i: usize, j: usize) -> Loc {
    let origin = unpacked(origin);
    Loc::new(origin.i + i as i32, origin.j + j as i32)
}

/// The upper left corner of the bounding box; (0, 0) if there are no locations.
fn origin_of(locs: impl Iterator<Item = Loc>) -> Loc {
    locs.reduce(|a, b| Loc::new(a.i.min(b.i), a.j.min(b.j)))
        .unwrap_or_default()
}

/// Row and column in a window with this origin.
fn within(loc: Loc, origin: Loc) -> Result<(usize, usize), BailOut> {
    let (i, j) = (loc.i - origin.i, loc.j - origin.j);
    if (0..LANES as i32).contains(&i) && (0..LANES as i32).contains(&j) {
        Ok((i as usize, j as usize))
    } else {
        Err(BailOut::Patch)
    }
}

/// The word of a window's origin. Every location of the window, and a step from it, must fit a pair. The host puts the
/// origin at the first row and column with a location, which in an operation's result may lie up to 31 rows or columns
/// into the window: hence the bound is 31 above [`MAX_ORIGIN`].
fn origin_word(origin: Loc) -> Result<u32, BailOut> {
    const MOST: i32 = MAX_ORIGIN + LANES as i32 - 1;
    if origin.i.abs().max(origin.j.abs()) > MOST {
        return Err(BailOut::Coordinate);
    }
    pair_word(origin)
}

fn pair_word(loc: Loc) -> Result<u32, BailOut> {
    let fits = |x: i32| (-MAX_COORDINATE..=MAX_COORDINATE).contains(&x);
    if fits(loc.i) && fits(loc.j) {
        Ok(pair::I.put(loc.i as u32) | pair::J.put(loc.j as u32))
    } else {
        Err(BailOut::Coordinate)
    }
}

fn cell_word(at: Cell) -> Result<u32, BailOut> {
    let rank = code_of(at.colour).map(|_| at.colour - FIRST_COLOUR)?;
    let near = |x: i32| {
        let biased = x + MAX_CELL;
        let fits = (0..2 * MAX_CELL).contains(&biased);
        fits.then_some(biased as u32).ok_or(BailOut::Coordinate)
    };
    let (i, j) = (near(at.loc.i)?, near(at.loc.j)?);
    Ok(cell::RANK.put(rank as u32) | cell::I.put(i) | cell::J.put(j))
}

fn cell_of(word: u32) -> Cell {
    let place = |biased: u32| biased as i32 - MAX_CELL;
    let loc = Loc::new(place(cell::I.get(word)), place(cell::J.get(word)));
    Cell::new(cell::RANK.get(word) as i32 + FIRST_COLOUR, loc)
}

fn unpacked(word: u32) -> Loc {
    Loc::new(pair::I.get_signed(word), pair::J.get_signed(word))
}

fn is_empty_tuple(value: &Value) -> bool {
    matches!(value, Value::Tuple(elements) if elements.as_slice().is_empty())
}

fn is_empty_set(value: &Value) -> bool {
    *value == Value::empty_set()
}

fn elements_of_set(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Set(elements) => Some(elements.as_slice()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_of_all_sizes_and_colours_are_held() {
        let mut pool = Pool::default();
        for height in 0..=LANES {
            for width in 0..=LANES {
                let mut grid = Grid::filled(height, width, 0);
                for (at, cell) in grid.cells_mut().iter_mut().enumerate() {
                    *cell = ((at * at + 7 * at + height) % 16) as i8 - 1;
                }
                let place = pool.push_grid(&grid).unwrap();
                assert_eq!(pool.grid(place), Some(grid), "{height} x {width}");
                assert!(pool.is_clean(Representation::Grid, place));
            }
        }
        let end = pool.end();
        for (height, width) in [(33, 1), (1, 33), (40, 40)] {
            let grid = Grid::filled(height, width, 0);
            assert_eq!(pool.push_grid(&grid), Err(BailOut::Grid));
        }
        for colour in i8::MIN..=i8::MAX {
            let mut grid = Grid::filled(5, 7, 3);
            grid.cells_mut()[34] = colour;
            let is_held = pool.clone().push_grid(&grid).is_ok();
            assert_eq!(is_held, (-1..15).contains(&colour), "{colour}");
        }
        assert_eq!(pool.end(), end);
    }

    #[test]
    fn every_location_of_a_window_and_a_step_from_it_are_pairs() {
        let far = MAX_ORIGIN + LANES as i32 - 1;
        for (origin, held) in [
            (far, true),
            (-far, true),
            (far + 1, false),
            (-far - 1, false),
        ] {
            for at in [Loc::new(origin, 0), Loc::new(0, origin)] {
                let cell = Cell::new(3, at);
                for (representation, value) in [
                    (Representation::Patch, Value::set([at.into()])),
                    (Representation::Object, Value::set([cell.into()])),
                ] {
                    let mut pool = Pool::default();
                    let pushed = pool.push(representation, &value);
                    assert_eq!(pushed.is_ok(), held, "{value}");
                    if let Err(reason) = pushed {
                        assert_eq!(
                            (reason, pool.end()),
                            (BailOut::Coordinate, PoolPlace::default())
                        );
                    }
                }
            }
            let step = origin.signum() * (far + LANES as i32);
            assert!(pair_word(Loc::new(step, step)).is_ok());
        }
    }

    #[test]
    fn bits_beside_the_cells_are_seen() {
        let object = Value::from(Object::new(vec![Cell::new(3, Loc::new(4, 5))]));
        for (representation, value) in [
            (Representation::Grid, Value::from(Grid::filled(2, 31, 1))),
            (Representation::Grid, Value::from(Grid::filled(0, 0, 1))),
            (Representation::Object, object),
        ] {
            let mut pool = Pool::default();
            let place = pool.push(representation, &value).unwrap();
            assert!(pool.is_clean(representation, place));
            // Column 31 of the last plane of the first row: neither has a cell there.
            let last = if representation == Representation::Grid {
                3
            } else {
                LANES + 3
            };
            pool.units.as_flattened_mut()[last] |= 1 << 31;
            assert!(!pool.is_clean(representation, place), "{value}");
        }
        let mut pool = Pool::default();
        let place = pool.push_grid(&Grid::filled(1, 32, 2)).unwrap();
        assert!(pool.is_clean(Representation::Grid, place));
        // Columns without rows: height 0 and width 32, with all bits zero.
        pool.units.as_flattened_mut().fill(0);
        pool.words[0] = 32;
        assert!(!pool.is_clean(Representation::Grid, place));
    }

    #[test]
    fn what_lies_past_the_last_place_is_nowhere() {
        let place = PoolPlace { word: 3, unit: 5 };
        assert_eq!(place.behind(PoolPlace { word: 1, unit: 2 }), {
            Some(PoolPlace { word: 4, unit: 7 })
        });
        let last = PoolPlace {
            word: u32::MAX,
            unit: 0,
        };
        assert_eq!(place.behind(last), None);
    }
}
