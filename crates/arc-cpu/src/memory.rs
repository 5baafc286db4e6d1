//! The memory of a running program: pools that grow and are reused.

use super::bail_out::BailOut;
use super::slot::Slot;
use crate::planes::{Colours, Object, Shape, Tile, Window};
use arc_form::Type;

/// A number of tiles, patches, rows of patches and list elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) tiles: usize,
    pub(crate) patches: usize,
    pub(crate) rows: usize,
    pub(crate) elements: usize,
}

impl Room {
    /// Its bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.tiles * size_of::<Tile>()
            + self.patches * size_of::<Patch>()
            + self.rows * size_of::<u64>()
            + self.elements * size_of::<Slot>()
    }

    /// The most that an evaluation may hold. One that needs more bails out.
    const EVALUATION: Room = Room {
        tiles: 1 << 14,
        patches: 1 << 18,
        rows: 1 << 21,
        elements: 1 << 21,
    };
}

/// The colours of a patch's locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// None: the patch is a set of locations.
    None,
    /// The same code for all of them.
    One(u32),
    /// From a tile: the colour at `(r, c)` is that of its cell `(r - i, c - j)`, which lies on the tile for
    /// every location of the patch.
    Tile {
        /// The tile.
        tile: u32,
        /// The row of the tile's first row.
        i: i32,
        /// The column of the tile's first column.
        j: i32,
    },
}

/// A set of locations or of cells; its rows lie in the pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch {
    /// The smallest row.
    pub(crate) i: i32,
    /// The smallest column.
    pub(crate) j: i32,
    /// Where its rows start in the pool.
    pub(crate) rows: u32,
    /// How many rows its bounding box has.
    pub(crate) height: u16,
    /// How many columns.
    pub(crate) width: u16,
    /// The colours of its locations.
    pub(crate) paint: Paint,
}

impl Patch {
    /// No location.
    pub(crate) const EMPTY: Patch = Patch {
        i: 0,
        j: 0,
        rows: 0,
        height: 0,
        width: 0,
        paint: Paint::None,
    };

    /// Whether there is no location.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.height == 0
    }
}

/// A vector of `len` copies, with capacity for `room` elements that has already been written to: the operating
/// system has then mapped what most programs need before the first one runs.
pub(crate) fn with_room<T: Clone>(one: T, room: usize, len: usize) -> Vec<T> {
    let mut all = vec![one; room];
    all.truncate(len);
    all
}

/// Grids. Number 0 is the empty one.
#[derive(Debug)]
pub(crate) struct Tiles {
    all: Vec<Tile>,
    top: usize,
    most: usize,
    /// How many may be in use before [`grow`](Self::grow) is called: at most `most`, since an earlier
    /// evaluation may have left more tiles than that.
    ready: usize,
}

impl Tiles {
    fn new() -> Self {
        Self {
            all: vec![Tile::default(); 128],
            top: 1,
            most: Room::EVALUATION.tiles,
            ready: 128,
        }
    }

    /// Sets the number of tiles that may be in use.
    #[inline(always)]
    fn allow(&mut self, most: usize) {
        self.most = most;
        self.ready = most.min(self.all.len());
    }

    /// The tiles in use.
    #[inline(always)]
    pub(crate) fn made(&self) -> &[Tile] {
        &self.all[..self.top]
    }

    /// The tiles in use, and a free one to write to; [`commit`](Self::commit) keeps it.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Result<(&[Tile], &mut Tile), BailOut> {
        if self.top >= self.ready {
            self.grow()?;
        }
        let (made, free) = self.all.split_at_mut(self.top);
        match free.first_mut() {
            Some(tile) => Ok((made, tile)),
            None => Err(BailOut::Memory),
        }
    }

    #[cold]
    fn grow(&mut self) -> Result<(), BailOut> {
        if self.top >= self.most {
            return Err(BailOut::Memory);
        }
        let tiles = (2 * self.top).min(self.most);
        self.all.reserve_exact(tiles.saturating_sub(self.all.len()));
        self.all.resize(tiles.max(self.all.len()), Tile::default());
        self.allow(self.most);
        Ok(())
    }

    /// Keeps the tile that was written to.
    #[inline(always)]
    pub(crate) fn commit(&mut self) -> Slot {
        self.top += 1;
        Slot::of_index(self.top - 1)
    }

    /// The last grid that was made.
    pub(crate) fn last_mut(&mut self) -> &mut Tile {
        &mut self.all[self.top - 1]
    }

    /// The grid of a slot.
    #[inline(always)]
    pub(crate) fn get(&self, slot: Slot) -> &Tile {
        &self.all[slot.index()]
    }
}

/// Patches and their rows. Number 0 is the empty one.
#[derive(Debug)]
pub(crate) struct Patches {
    all: Vec<Patch>,
    rows: Vec<u64>,
    most: usize,
    most_rows: usize,
}

impl Patches {
    /// The patch of a slot.
    #[inline(always)]
    pub(crate) fn get(&self, slot: Slot) -> Patch {
        self.all[slot.index()]
    }

    /// The locations of a patch.
    #[inline(always)]
    pub(crate) fn shape(&self, patch: &Patch) -> Shape<'_> {
        let start = patch.rows as usize;
        Shape {
            i: patch.i,
            j: patch.j,
            width: u32::from(patch.width),
            rows: &self.rows[start..start + usize::from(patch.height)],
        }
    }

    /// A row of the pool.
    #[inline(always)]
    pub(crate) fn row(&self, at: usize) -> u64 {
        self.rows[at]
    }

    /// Adds a patch whose rows are already in the pool: one that is moved or recoloured.
    #[inline(always)]
    pub(crate) fn add(&mut self, patch: Patch) -> Result<Slot, BailOut> {
        if patch.height == 0 {
            return Ok(Slot::default());
        }
        if self.all.len() >= self.most {
            return Err(BailOut::Memory);
        }
        self.all.push(patch);
        Ok(Slot::of_index(self.all.len() - 1))
    }

    /// Adds a shape with these colours.
    #[inline(always)]
    pub(crate) fn store(&mut self, shape: Shape<'_>, paint: Paint) -> Result<Slot, BailOut> {
        let start = self.rows.len();
        if start + shape.rows.len() > self.most_rows {
            return Err(BailOut::Memory);
        }
        // Most shapes are so small that calling `memcpy` would take longer than copying them.
        match *shape.rows {
            [a] => self.rows.push(a),
            [a, b] => self.rows.extend_from_slice(&[a, b]),
            [a, b, c] => self.rows.extend_from_slice(&[a, b, c]),
            [a, b, c, d] => self.rows.extend_from_slice(&[a, b, c, d]),
            _ => self.rows.extend_from_slice(shape.rows),
        }
        self.add(Patch {
            i: shape.i,
            j: shape.j,
            rows: start as u32,
            height: shape.rows.len() as u16,
            width: shape.width as u16,
            paint,
        })
    }

    /// Adds what is in the window.
    #[inline(always)]
    pub(crate) fn store_window(
        &mut self,
        window: &mut Window,
        paint: Paint,
    ) -> Result<Slot, BailOut> {
        let shape = window.tighten();
        self.store(shape, paint)
    }
}

/// The elements of containers, in one pool.
#[derive(Debug)]
pub(crate) struct Lists {
    all: Vec<Slot>,
    most: usize,
}

impl Lists {
    /// The elements of a list.
    #[inline(always)]
    pub(crate) fn get(&self, slot: Slot) -> &[Slot] {
        let (start, len) = slot.list();
        &self.all[start..start + len]
    }

    /// A slice of the pool.
    #[inline(always)]
    pub(crate) fn range(&self, at: usize, len: usize) -> &[Slot] {
        &self.all[at..at + len]
    }

    /// The element at an index of the pool.
    #[inline(always)]
    pub(crate) fn at(&self, at: usize) -> Slot {
        self.all[at]
    }

    /// Adds a list.
    #[inline(always)]
    pub(crate) fn add(&mut self, elements: &[Slot]) -> Result<Slot, BailOut> {
        let start = self.all.len();
        if start + elements.len() > self.most {
            return Err(BailOut::Memory);
        }
        match *elements {
            [a] => self.all.push(a),
            [a, b] => self.all.extend_from_slice(&[a, b]),
            _ => self.all.extend_from_slice(elements),
        }
        Ok(Slot::of_list(start, elements.len()))
    }

    /// Adds the list of all pairs of an element of one list and one of another.
    #[inline(always)]
    pub(crate) fn product(&mut self, a: Slot, b: Slot) -> Result<Slot, BailOut> {
        let [(a, a_len), (b, b_len)] = [a, b].map(Slot::list);
        let (start, count) = (self.all.len(), a_len * b_len);
        if start + 3 * count > self.most {
            return Err(BailOut::Memory);
        }
        self.all.reserve(3 * count);
        for first in a..a + a_len {
            for second in b..b + b_len {
                self.all
                    .extend_from_slice(&[self.all[first], self.all[second]]);
            }
        }
        let pairs = (0..count).map(|at| Slot::of_list(start + 2 * at, 2));
        self.all.extend(pairs);
        Ok(Slot::of_list(start + 2 * count, count))
    }

    /// Adds a list of `width` colours, at most 32; `codes` returns the codes of eight of them from an index on,
    /// a byte each.
    #[inline(always)]
    pub(crate) fn add_colours(
        &mut self,
        count: u32,
        codes: impl Fn(u32) -> u64,
    ) -> Result<Slot, BailOut> {
        let mut colours = [Slot::default(); 32];
        for (at, eight) in colours.chunks_exact_mut(8).enumerate() {
            let from = 8 * at as u32;
            if from >= count {
                break;
            }
            // One more than the colour, which is 0 for -1.
            let more = codes(from).wrapping_add(0x0101_0101_0101_0101) & 0x0f0f_0f0f_0f0f_0f0f;
            for (slot, more) in eight.iter_mut().zip(more.to_le_bytes()) {
                *slot = Slot(i64::from(more) - 1);
            }
        }
        self.add(colours.get(..count as usize).unwrap_or_default())
    }

    /// Adds a list of the iterator's elements.
    #[inline(always)]
    pub(crate) fn collect(
        &mut self,
        elements: impl Iterator<Item = Slot>,
    ) -> Result<Slot, BailOut> {
        let start = self.all.len();
        self.all.extend(elements);
        if self.all.len() > self.most {
            return Err(BailOut::Memory);
        }
        Ok(Slot::of_list(start, self.all.len() - start))
    }
}

/// How much of the memory is in use.
pub(crate) type Mark = Room;

impl Mark {
    /// Nothing is in use but the first tile and the first patch, which are empty.
    pub(crate) const EMPTY: Self = Self {
        tiles: 1,
        patches: 1,
        rows: 0,
        elements: 0,
    };

    /// Whether a tile was in use then.
    pub(crate) fn has_tile(&self, tile: Slot) -> bool {
        tile.index() < self.tiles
    }
}

/// All values of an evaluation.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Grids.
    pub(crate) tiles: Tiles,
    /// Sets of locations and of cells.
    pub(crate) patches: Patches,
    /// Everything else that has elements.
    pub(crate) lists: Lists,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self {
            tiles: Tiles::new(),
            patches: Patches {
                all: with_room(Patch::EMPTY, 1 << 12, 1),
                rows: with_room(1, 1 << 14, 0),
                most: Room::EVALUATION.patches,
                most_rows: Room::EVALUATION.rows,
            },
            lists: Lists {
                all: with_room(Slot::MISSING, 1 << 14, 0),
                most: Room::EVALUATION.elements,
            },
        }
    }

    /// Scales the bounds of an evaluation by `part`, but never below the first tile and patch, which always
    /// exist.
    pub(crate) fn scale(&mut self, part: impl Fn(usize) -> usize) {
        let most = Room::EVALUATION;
        self.tiles.allow(part(most.tiles).max(2));
        self.patches.most = part(most.patches).max(2);
        self.patches.most_rows = part(most.rows);
        self.lists.most = part(most.elements);
    }

    /// A patch with its colours; locations count as cells of colour 0.
    #[inline(always)]
    pub(crate) fn object(&self, patch: &Patch) -> Object<'_> {
        Object {
            shape: self.patches.shape(patch),
            colours: match patch.paint {
                Paint::None => Colours::One(0),
                Paint::One(code) => Colours::One(code),
                Paint::Tile { tile, i, j } => Colours::Many {
                    tile: self.tiles.get(Slot::of_index(tile as usize)),
                    i,
                    j,
                },
            },
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.release(Mark::EMPTY);
    }

    /// What is in use now.
    #[inline(always)]
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            tiles: self.tiles.top,
            patches: self.patches.all.len(),
            rows: self.patches.rows.len(),
            elements: self.lists.all.len(),
        }
    }

    /// Forgets everything added since the mark.
    #[inline(always)]
    pub(crate) fn release(&mut self, mark: Mark) {
        self.tiles.top = mark.tiles;
        self.patches.all.truncate(mark.patches);
        self.patches.rows.truncate(mark.rows);
        self.lists.all.truncate(mark.elements);
    }

    /// The bytes that it has allocated.
    pub(crate) fn bytes(&self) -> usize {
        self.tiles.all.capacity() * size_of::<Tile>()
            + self.patches.all.capacity() * size_of::<Patch>()
            + self.patches.rows.capacity() * size_of::<u64>()
            + self.lists.all.capacity() * size_of::<Slot>()
    }

    /// Sets the bounds to what is in use and this much more.
    pub(crate) fn widen(&mut self, room: Room) {
        let most = self.tiles.top.saturating_add(room.tiles);
        self.tiles.allow(most);
        self.patches.most = self.patches.all.len().saturating_add(room.patches);
        self.patches.most_rows = self.patches.rows.len().saturating_add(room.rows);
        self.lists.most = self.lists.all.len().saturating_add(room.elements);
    }

    /// Whether this much fits before any pool has to grow.
    #[inline(always)]
    pub(crate) fn has_headroom(&self, room: &Room) -> bool {
        let Memory {
            tiles,
            patches,
            lists,
        } = self;
        tiles.all.len() - tiles.top >= room.tiles
            && patches.all.capacity() - patches.all.len() >= room.patches
            && patches.rows.capacity() - patches.rows.len() >= room.rows
            && lists.all.capacity() - lists.all.len() >= room.elements
    }

    /// The bytes in use.
    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.mark().bytes()
    }

    /// Frees what is not in use, except this much room.
    pub(crate) fn shrink(&mut self, room: &Room) {
        let Memory {
            tiles,
            patches,
            lists,
        } = self;
        tiles.all.truncate(tiles.top + room.tiles);
        tiles.all.shrink_to_fit();
        tiles.allow(tiles.most);
        shrink_pool(&mut patches.all, room.patches);
        shrink_pool(&mut patches.rows, room.rows);
        shrink_pool(&mut lists.all, room.elements);
    }

    /// Grows the pools until each has this much room; doubles them while `left` has the bytes, and subtracts
    /// what they take from it.
    pub(crate) fn grow(&mut self, room: &Room, left: &mut usize) {
        let Memory {
            tiles,
            patches,
            lists,
        } = self;
        let free = tiles.all.len() - tiles.top;
        let size = tiles.all.len();
        let more = more::<Tile>(size, free, room.tiles, left);
        tiles.all.reserve_exact(more);
        tiles.all.resize(size + more, Tile::default());
        tiles.allow(tiles.most);
        grow_pool(&mut patches.all, room.patches, left);
        grow_pool(&mut patches.rows, room.rows, left);
        grow_pool(&mut lists.all, room.elements, left);
    }

    /// Releases everything added since the mark except a value of this type, if that is easy: it discards the
    /// temporaries of a loop and keeps the result.
    #[inline]
    pub(crate) fn keep(&mut self, ty: &Type, slot: Slot, mark: Mark) -> Slot {
        match ty {
            Type::Indices => {
                let patch = self.patches.get(slot);
                if slot.index() < mark.patches || patch.is_empty() {
                    self.release(mark);
                    return slot;
                }
                let (rows, height) = (patch.rows as usize, usize::from(patch.height));
                if rows >= mark.rows {
                    self.patches
                        .rows
                        .copy_within(rows..rows + height, mark.rows);
                    self.release(Mark {
                        rows: mark.rows + height,
                        ..mark
                    });
                } else {
                    self.release(mark);
                }
                self.patches.all.push(Patch {
                    rows: rows.min(mark.rows) as u32,
                    ..patch
                });
                Slot::of_index(mark.patches)
            }
            Type::Bool | Type::Int | Type::MaybeInt | Type::Pair | Type::MaybePair | Type::Cell => {
                self.release(mark);
                slot
            }
            _ => slot,
        }
    }
}

/// How many elements a pool grows by: it doubles if there is memory for that, and otherwise grows as far as
/// that allows, but at least to what is wanted.
fn more<T>(size: usize, free: usize, wanted: usize, left: &mut usize) -> usize {
    if free >= wanted {
        return 0;
    }
    let most = (*left / size_of::<T>()).max(wanted - free);
    let more = size.max(wanted).min(most);
    *left = left.saturating_sub(more * size_of::<T>());
    more
}

/// Grows a pool until it has this much room; see [`Memory::grow`].
pub(crate) fn grow_pool<T>(pool: &mut Vec<T>, wanted: usize, left: &mut usize) {
    let free = pool.capacity() - pool.len();
    let more = more::<T>(pool.capacity(), free, wanted, left);
    if more > 0 {
        pool.reserve_exact(free + more);
    }
}

/// Frees what a pool does not use, except this much room.
pub(crate) fn shrink_pool<T>(pool: &mut Vec<T>, room: usize) {
    pool.shrink_to(pool.len() + room);
}
