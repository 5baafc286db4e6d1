//! Grids and lists of grids as a batt stores them: only the rows of each grid. A tile takes 576 bytes
//! regardless of the size of its grid, and most nodes of a search are grids that no call ever reads.
//! A call that reads a grid gets a tile of it, which is released together with the call's other temporaries.
//! Objects and lists may point at the tile that they come from, so if the value of a call may do so, the tiles
//! of its operands are kept. The tiles of a list of grids are built again by each call that reads it.

use arc_dsl::Grid;
use arc_form::Type;
use rustc_hash::FxHashMap;

use super::Batt;
use crate::bail_out::BailOut;
use crate::kernel;
use crate::memory::{Mark, Memory};
use crate::planes::Tile;
use crate::slot::Slot;

/// The most words of a grid.
pub(super) const MOST_WORDS: usize = 64;

/// The bits for the length of a list; a call can build tiles for far fewer grids than that.
const LENGTH: u32 = 24;

/// Grids, and the tiles that were kept for them.
#[derive(Debug, Default)]
pub(super) struct Grids {
    /// A grid of up to 16 columns has one word per row: its four planes, one after the other. A wider grid has
    /// two words per row. A list consists of the slots of its grids, which follow it.
    pub(super) words: Vec<u64>,
    /// By the index of the grid's slot.
    tiles: FxHashMap<u32, Slot>,
    /// In the order of their creation.
    kept: Vec<(u32, Slot)>,
}

/// The first word of a grid, and its size.
fn place(slot: Slot) -> (usize, usize, usize) {
    let number = slot.0 as usize;
    (number >> 12, number >> 6 & 63, number & 63)
}

/// How many words a row takes.
fn words_of_row(width: usize) -> usize {
    if width <= 16 { 1 } else { 2 }
}

/// A grid of a [`Batt`], of at most 32 rows and columns.
#[derive(Debug, Clone, Copy)]
pub struct Planes<'b> {
    height: usize,
    width: usize,
    words: &'b [u64],
}

impl Planes<'_> {
    /// How many rows and columns there are.
    pub fn size(&self) -> (usize, usize) {
        (self.height, self.width)
    }

    /// Calls `take` for row after row: with the bits of value 1, 2, 4 and 8 of its colours, the first column in
    /// the lowest bit. Colours are 0 to 14; all four bits stand for -1.
    #[inline]
    pub fn rows(&self, mut take: impl FnMut([u32; 4])) {
        if self.width <= 16 {
            for word in self.words {
                take([0, 16, 32, 48].map(|shift| (word >> shift) as u32 & 0xffff));
            }
        } else {
            for [first, second] in self.words.as_chunks().0 {
                let [a, b, c, d] = [*first, first >> 32, *second, second >> 32];
                take([a, b, c, d].map(|plane| plane as u32));
            }
        }
    }
}

impl Grids {
    /// The bytes that they have allocated, without the tiles.
    pub(super) fn bytes(&self) -> usize {
        const ENTRY: usize = size_of::<(u32, Slot)>();
        self.words.capacity() * size_of::<u64>()
            + self.kept.capacity() * ENTRY
            + self.tiles.capacity() * (ENTRY + 1) * 8 / 7
    }

    /// The bytes in use, without the tiles.
    #[inline]
    pub(super) fn used(&self) -> usize {
        const ENTRY: usize = size_of::<(u32, Slot)>();
        self.words.len() * size_of::<u64>()
            + self.kept.len() * ENTRY
            + self.tiles.len() * 2 * (ENTRY + 1)
    }

    /// Frees what is reserved and not in use, except words.
    pub(super) fn shrink(&mut self) {
        self.kept.shrink_to_fit();
        self.tiles.shrink_to_fit();
    }

    /// Removes the grids behind this many words.
    pub(super) fn truncate(&mut self, words: usize) {
        self.words.truncate(words);
    }

    /// Removes the tiles behind the mark.
    #[inline]
    pub(super) fn forget_tiles(&mut self, mark: Mark) {
        while let Some((at, _)) = self.kept.pop_if(|(_, tile)| !mark.has_tile(*tile)) {
            self.tiles.remove(&at);
        }
    }

    /// Adds the grid of a tile.
    #[inline]
    pub(super) fn add(&mut self, tile: &Tile) -> Slot {
        let at = self.words.len();
        let [a, b, c, d] = &tile.planes;
        let height = tile.height.min(32) as usize;
        let [a, b, c, d] = [a, b, c, d].map(|plane| &plane[..height]);
        let rows = a.iter().zip(b).zip(c.iter().zip(d));
        if tile.width <= 16 {
            self.words.extend(
                rows.map(|((a, b), (c, d))| u64::from(a | b << 16) | u64::from(c | d << 16) << 32),
            );
        } else {
            self.words.extend(rows.flat_map(|((a, b), (c, d))| {
                [
                    u64::from(*a) | u64::from(*b) << 32,
                    u64::from(*c) | u64::from(*d) << 32,
                ]
            }));
        }
        Slot((at << 12) as i64 | Self::size_of(tile).cast_signed())
    }

    /// The words of a grid. Grids of the same size are equal where these are.
    #[inline]
    pub(super) fn words(&self, slot: Slot) -> &[u64] {
        let (at, height, width) = place(slot);
        &self.words[at..at + height * words_of_row(width)]
    }

    /// The size of a grid, packed into a number.
    #[inline]
    pub(super) fn size(slot: Slot) -> u64 {
        slot.0.cast_unsigned() & 0xfff
    }

    /// The least weight of a grid as a value.
    pub(super) fn weight(slot: Slot) -> u64 {
        let (_, height, width) = place(slot);
        1 + (height * width) as u64
    }

    /// The size of a tile, packed into a number.
    #[inline]
    pub(super) fn size_of(tile: &Tile) -> u64 {
        u64::from(tile.height << 6 | tile.width)
    }

    /// Whether two grids are equal.
    #[inline]
    pub(super) fn are_equal(&self, a: Slot, b: Slot) -> bool {
        Self::size(a) == Self::size(b) && self.words(a) == self.words(b)
    }

    /// Unpacks a grid to a tile.
    #[inline]
    pub(super) fn unpack(&self, slot: Slot, tile: &mut Tile) {
        let (_, height, width) = place(slot);
        *tile = Tile {
            height: height as u32,
            width: width as u32,
            ..Tile::default()
        };
        let [a, b, c, d] = &mut tile.planes;
        let mut rows = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
        self.planes(slot).rows(|row| {
            if let Some(((a, b), (c, d))) = rows.next() {
                [*a, *b, *c, *d] = row;
            }
        });
    }

    /// The grid of a slot, row by row.
    pub(super) fn planes(&self, slot: Slot) -> Planes<'_> {
        let (_, height, width) = place(slot);
        Planes {
            height,
            width,
            words: self.words(slot),
        }
    }

    /// Adds the list of grids of a slot.
    pub(super) fn add_list(&mut self, memory: &Memory, list: Slot) -> Slot {
        let tiles = memory.lists.get(list);
        let first = self.words.len();
        let words = tiles.len() * (1 + MOST_WORDS);
        if self.words.capacity() - first < words {
            // Pools are doubled between calls, within the bound.
            self.words.reserve_exact(words);
        }
        self.words.resize(first + tiles.len(), 0);
        for (at, tile) in (first..).zip(tiles) {
            let grid = self.add(memory.tiles.get(*tile));
            self.words[at] = grid.0.cast_unsigned();
        }
        Slot((first << LENGTH | tiles.len()) as i64)
    }

    /// The grids of a list.
    pub(super) fn list(&self, slot: Slot) -> impl ExactSizeIterator<Item = Slot> {
        let number = slot.0 as usize;
        let (first, len) = (number >> LENGTH, number & ((1 << LENGTH) - 1));
        let grids = self.words[first..first + len].iter();
        grids.map(|grid| Slot(grid.cast_signed()))
    }

    /// Whether two lists of grids are equal.
    pub(super) fn are_equal_lists(&self, a: Slot, b: Slot) -> bool {
        let (a, b) = (self.list(a), self.list(b));
        a.len() == b.len() && a.zip(b).all(|(a, b)| self.are_equal(a, b))
    }

    /// Unpacks a list of grids to a list of tiles.
    pub(super) fn unpack_list(&self, slot: Slot, memory: &mut Memory) -> Result<Slot, BailOut> {
        let Memory { tiles, lists, .. } = memory;
        let grids = self.list(slot);
        let count = grids.len();
        let mut end = 0;
        for grid in grids {
            self.unpack(grid, tiles.next()?.1);
            end = tiles.commit().index() + 1;
        }
        lists.collect((end - count..end).map(Slot::of_index))
    }

    /// The grid of a slot, as the reference represents it.
    pub(super) fn grid(&self, slot: Slot) -> Grid {
        let mut tile = Tile::default();
        self.unpack(slot, &mut tile);
        kernel::unpack(&tile)
    }

    /// The tile of the grid whose slot has this index: the one that was kept, or a new one in the memory.
    #[inline]
    pub(super) fn tile(
        &self,
        at: u32,
        slot: Slot,
        memory: &mut Memory,
        may_be_kept: bool,
    ) -> Result<Slot, BailOut> {
        if may_be_kept && let Some(tile) = self.tiles.get(&at) {
            return Ok(*tile);
        }
        self.unpack(slot, memory.tiles.next()?.1);
        Ok(memory.tiles.commit())
    }
}

/// Whether it is the type of lists of grids.
pub(super) fn is_list_of_grids(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(element) if **element == Type::Grid)
}

/// Whether a value of the type may point at a tile; a grid and a list of grids, which are stored by rows, do
/// not.
pub(super) fn may_hold_tiles(ty: &Type) -> bool {
    let inside = |ty: &Type| *ty == Type::Grid || is_list_of_grids(ty) || may_hold_tiles(ty);
    match ty {
        _ if is_list_of_grids(ty) => false,
        Type::Object | Type::Patch => true,
        Type::Set(element) | Type::Tuple(element) => inside(element),
        Type::Fixed(items) => items.iter().any(inside),
        _ => false,
    }
}

impl Batt {
    /// Creates the tiles that the value of the current call may point at, if they do not exist. If there is no
    /// room for them, the machine bails out when it needs them.
    pub(super) fn keep_tiles(&mut self, call: u32) {
        let call = self.calls.get(call);
        if !call.may_hold_tiles {
            return;
        }
        let (grids, memory) = (&mut self.grids, &mut self.machine.memory);
        for parameter in &call.grids {
            let first = self.parameters[usize::from(*parameter)];
            for at in first..first + self.inputs as u32 {
                if grids.tiles.contains_key(&at) {
                    continue;
                }
                let Ok(tile) = grids.tile(at, self.slots[at as usize], memory, false) else {
                    return;
                };
                grids.tiles.insert(at, tile);
                grids.kept.push((at, tile));
            }
        }
    }
}
