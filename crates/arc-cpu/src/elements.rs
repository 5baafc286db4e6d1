//! [`Cursor`]: iterates over the elements of any container, those of a set ascending.

use super::bail_out::BailOut;
use super::memory::{Memory, Paint, Patch};
use super::slot::Slot;
use crate::planes::{colour_of, rows, shifted};
use arc_dsl::{Cell, Loc};
use arc_form::Type;

/// Iterates over the elements of a container.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cursor {
    /// Elements in the pool.
    List { at: usize, end: usize },
    /// Locations.
    Locs(Rows),
    /// Cells.
    Cells(Cells),
    /// The rows of a grid, each a list that is built on demand.
    Grid { tile: Slot, row: usize, end: usize },
}

/// The locations of a patch, row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// The row's number, counted from the patch's first.
    row: i32,
    height: i32,
    /// The index of the next row in the pool.
    next: usize,
    bits: u64,
    i: i32,
    j: i32,
}

/// The cells of a patch, colour by colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells {
    patch: Patch,
    rows: Rows,
    /// The codes that remain, rotated so that -1 is the lowest bit.
    codes: u32,
    code: u32,
}

impl Rows {
    #[inline(always)]
    pub(crate) fn new(patch: &Patch) -> Self {
        Self {
            row: -1,
            height: i32::from(patch.height),
            next: patch.rows as usize,
            bits: 0,
            i: patch.i,
            j: patch.j,
        }
    }

    #[inline(always)]
    fn next(&mut self, mut row: impl FnMut(usize, i32) -> u64) -> Option<Loc> {
        while self.bits == 0 {
            if self.row + 1 >= self.height {
                return None;
            }
            self.row += 1;
            self.bits = row(self.next, self.row);
            self.next += 1;
        }
        let column = self.bits.trailing_zeros() as i32;
        self.bits &= self.bits - 1;
        Some(Loc::new(self.i + self.row, self.j + column))
    }
}

/// The columns of a patch's row whose cells have a code.
#[inline(always)]
pub(crate) fn row_of_code(memory: &Memory, patch: &Patch, at: i32, code: u32) -> u64 {
    let row = memory.patches.row(patch.rows as usize + at as usize);
    match patch.paint {
        Paint::Tile { tile, i, j } => {
            let tile = memory.tiles.get(Slot::of_index(tile as usize));
            let r = (patch.i + at - i) as usize & 31;
            let mut same = u32::MAX;
            for (k, plane) in tile.planes.iter().enumerate() {
                same &= plane[r] ^ if code >> k & 1 == 1 { 0 } else { u32::MAX };
            }
            row & shifted(u64::from(same), j - patch.j)
        }
        _ => row,
    }
}

impl Cells {
    #[inline(always)]
    pub(crate) fn new(memory: &Memory, patch: &Patch) -> Self {
        Self {
            patch: *patch,
            rows: Rows {
                row: i32::from(patch.height),
                ..Rows::new(patch)
            },
            codes: memory.object(patch).palette().rotate_left(1).into(),
            code: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn next(&mut self, memory: &Memory) -> Option<Cell> {
        loop {
            let (patch, code) = (&self.patch, self.code);
            if let Some(loc) = self.rows.next(|_, at| row_of_code(memory, patch, at, code)) {
                return Some(Cell::new(colour_of(code), loc));
            }
            if self.codes == 0 {
                return None;
            }
            self.code = (self.codes.trailing_zeros() + 15) & 15;
            self.codes &= self.codes - 1;
            self.rows = Rows::new(&self.patch);
        }
    }
}

impl Cursor {
    /// The elements of a container of this type.
    #[inline(always)]
    pub(crate) fn new(memory: &Memory, ty: &Type, slot: Slot) -> Self {
        match ty {
            Type::Indices => Cursor::Locs(Rows::new(&memory.patches.get(slot))),
            Type::Object => Self::cells(memory, slot),
            Type::Grid => Cursor::Grid {
                tile: slot,
                row: 0,
                end: memory.tiles.get(slot).height as usize,
            },
            _ => {
                let (at, len) = slot.list();
                Cursor::List { at, end: at + len }
            }
        }
    }

    #[inline(never)]
    fn cells(memory: &Memory, slot: Slot) -> Self {
        Cursor::Cells(Cells::new(memory, &memory.patches.get(slot)))
    }

    /// The next element.
    #[inline(always)]
    pub(crate) fn next(&mut self, memory: &mut Memory) -> Result<Option<Slot>, BailOut> {
        Ok(match self {
            Cursor::List { at, end } => {
                if at == end {
                    return Ok(None);
                }
                *at += 1;
                Some(memory.lists.at(*at - 1))
            }
            Cursor::Locs(rows) => rows
                .next(|next, _| memory.patches.row(next))
                .map(Slot::of_loc),
            Cursor::Cells(_) | Cursor::Grid { .. } => return self.next_made(memory),
        })
    }

    /// Writes the next elements to `to`, and returns how many there were.
    #[inline(always)]
    pub(crate) fn fill(&mut self, memory: &mut Memory, to: &mut [Slot]) -> Result<usize, BailOut> {
        match self {
            Cursor::List { at, end } => {
                let count = (*end - *at).min(to.len());
                to[..count].copy_from_slice(memory.lists.range(*at, count));
                *at += count;
                Ok(count)
            }
            Cursor::Locs(rows) => {
                for (count, to) in to.iter_mut().enumerate() {
                    let Some(loc) = rows.next(|next, _| memory.patches.row(next)) else {
                        return Ok(count);
                    };
                    *to = Slot::of_loc(loc);
                }
                Ok(to.len())
            }
            Cursor::Cells(_) | Cursor::Grid { .. } => {
                for (count, to) in to.iter_mut().enumerate() {
                    let Some(element) = self.next_made(memory)? else {
                        return Ok(count);
                    };
                    *to = element;
                }
                Ok(to.len())
            }
        }
    }

    /// The next of the elements that have to be built; not inlined, so that loops stay small.
    #[inline(never)]
    fn next_made(&mut self, memory: &mut Memory) -> Result<Option<Slot>, BailOut> {
        match self {
            Cursor::Cells(cells) => match cells.next(memory) {
                None => Ok(None),
                Some(cell) => Slot::of_cell(cell).ok_or(BailOut::Number).map(Some),
            },
            Cursor::Grid { tile, row, end } => {
                if row == end {
                    return Ok(None);
                }
                let tile = memory.tiles.get(*tile);
                let at = *row;
                *row += 1;
                let codes = |from| rows::eight_codes(tile, at, from);
                memory.lists.add_colours(tile.width, codes).map(Some)
            }
            Cursor::List { .. } | Cursor::Locs(_) => Ok(None),
        }
    }
}

/// How many elements a container of this type has.
#[inline(always)]
pub(crate) fn len(memory: &Memory, ty: &Type, slot: Slot) -> usize {
    match ty {
        Type::Indices | Type::Object | Type::Patch => {
            let patch = memory.patches.get(slot);
            memory.patches.shape(&patch).count() as usize
        }
        Type::Grid => memory.tiles.get(slot).height as usize,
        Type::Pair | Type::Cell => 2,
        Type::MaybePair => 2 * usize::from(slot != Slot::MISSING),
        _ => slot.list().1,
    }
}
