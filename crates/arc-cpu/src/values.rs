//! Converts values of the language to slots and back.

use super::bail_out::BailOut;
use super::elements::Cells;
use super::machine::Machine;
use super::memory::{Memory, Paint, Patch, Patches};
use super::slot::Slot;
use crate::kernel;
use crate::planes::{Bits, COLUMNS, NO_BITS, ROWS, SIDE, Shape, Tile, Window};
use crate::planes::{code_of, colour_of, sets, shifted};
use arc_dsl::{Cell, Grid, Indices, Loc, Object, Value};
use arc_form::Type;

impl Machine {
    /// Puts a value of this type into the memory.
    pub(crate) fn put(&mut self, value: &Value, ty: &Type) -> Result<Slot, BailOut> {
        match ty {
            Type::Never => return Ok(Slot::default()),
            Type::Bool | Type::Int | Type::MaybeInt => {
                return Ok(value.as_int().map_or(Slot::MISSING, Slot::of_int));
            }
            Type::MaybePair if !matches!(value, Value::Loc(_)) => return Ok(Slot::MISSING),
            Type::Grid => {
                let grid = value.as_grid().ok_or(BailOut::Type)?;
                let (_, tile) = self.memory.tiles.next()?;
                tile.set(&grid)?;
                return Ok(self.memory.tiles.commit());
            }
            _ => {}
        }
        match value {
            Value::Loc(loc) if matches!(ty, Type::Pair | Type::MaybePair) => {
                return Ok(Slot::of_loc(*loc));
            }
            Value::Cell(cell) if *ty == Type::Cell => {
                return Slot::of_cell(*cell).ok_or(BailOut::Number);
            }
            Value::Indices(indices) if matches!(ty, Type::Indices | Type::Patch) => {
                let base = self.stack.len();
                let locs = indices.as_slice().iter();
                self.stack.extend(locs.map(|&loc| Slot::of_loc(loc)));
                return self.indices_of_locs(base);
            }
            Value::Object(object) if matches!(ty, Type::Object | Type::Patch) => {
                let base = self.stack.len();
                for &cell in object.as_slice() {
                    self.stack.push(Slot::of_cell(cell).ok_or(BailOut::Number)?);
                }
                return self.object_of_cells(base);
            }
            _ => {}
        }
        let container = value.as_container().ok_or(BailOut::Type)?;
        if matches!(ty, Type::Indices | Type::Object | Type::Patch) && container.is_empty() {
            return Ok(Slot::default());
        }
        let base = self.stack.len();
        let items = ty.items();
        let element = match &items {
            Some(_) => Type::Never,
            None => ty.element().ok_or(BailOut::Type)?,
        };
        for (at, item) in container.iter_stored().enumerate() {
            let ty = items.as_ref().map_or(&element, |items| &items[at]);
            let slot = self.put(&item, ty)?;
            self.stack.push(slot);
        }
        self.list_of_stack(base)
    }

    /// Turns the part of the stack from `base` on into a list, and pops it.
    #[inline(always)]
    pub(crate) fn list_of_stack(&mut self, base: usize) -> Result<Slot, BailOut> {
        let list = self.memory.lists.add(&self.stack[base..]);
        self.stack.truncate(base);
        list
    }

    /// Turns the pairs on the stack from `base` on into a set of locations, and pops them.
    #[inline(always)]
    pub(crate) fn indices_of_locs(&mut self, base: usize) -> Result<Slot, BailOut> {
        let locs = self.stack[base..].iter().map(|slot| slot.loc());
        let extent = Extent::of(locs.clone().map(|loc| (loc, 1, 1)));
        extent.place(&mut self.window)?;
        for loc in locs {
            self.window.rows[(loc.i - extent.i) as usize & (ROWS - 1)] |= 1 << (loc.j - extent.j);
        }
        self.stack.truncate(base);
        self.memory
            .patches
            .store(extent.shape(&self.window), Paint::None)
    }

    /// Turns the cells on the stack from `base` on into an object, and pops them.
    pub(crate) fn object_of_cells(&mut self, base: usize) -> Result<Slot, BailOut> {
        let cells = self.stack[base..].iter().map(|slot| slot.cell());
        let extent = Extent::of(cells.clone().map(|cell| (cell.loc, 1, 1)));
        let Some(first) = cells.clone().next() else {
            return Ok(Slot::default());
        };
        extent.place(&mut self.window)?;
        let place = |loc: Loc| {
            (
                (loc.i - extent.i) as usize & (ROWS - 1),
                (loc.j - extent.j) as u32 & 63,
            )
        };
        let one = cells.clone().all(|cell| cell.colour == first.colour);
        let paint = if one {
            for cell in cells {
                let (r, c) = place(cell.loc);
                self.window.rows[r] |= 1 << c;
            }
            Paint::One(code_of(first.colour)?)
        } else {
            let (_, tile) = self.memory.tiles.next()?;
            extent.clear(tile)?;
            for cell in cells {
                let (r, c) = place(cell.loc);
                let code = code_of(cell.colour)?;
                let r32 = r & 31;
                if self.window.rows[r] >> c & 1 == 1 && tile.code(r32, c as usize) != code {
                    return Err(BailOut::Overlap);
                }
                self.window.rows[r] |= 1 << c;
                for (k, plane) in tile.planes.iter_mut().enumerate() {
                    plane[r32] |= (code >> k & 1) << (c & 31);
                }
            }
            extent.paint(self.memory.tiles.commit())
        };
        self.stack.truncate(base);
        self.memory.patches.store(extent.shape(&self.window), paint)
    }

    /// Computes the union of the patches on the stack from `base` on, and pops them. A set of locations and an
    /// object have no union.
    #[inline(always)]
    pub(crate) fn union_of_patches(&mut self, base: usize) -> Result<Slot, BailOut> {
        let Memory { tiles, patches, .. } = &mut self.memory;
        let parts = self.stack[base..]
            .iter()
            .map(|&slot| patches.get(slot))
            .filter(|patch| !patch.is_empty());
        let extent = Extent::of(parts.clone().map(|patch| {
            let (height, width) = (i32::from(patch.height), i32::from(patch.width));
            (Loc::new(patch.i, patch.j), height, width)
        }));
        let Some(first) = parts.clone().next() else {
            self.stack.truncate(base);
            return Ok(Slot::default());
        };
        extent.place(&mut self.window)?;
        let mut one = true;
        for patch in parts.clone() {
            if (patch.paint == Paint::None) != (first.paint == Paint::None) {
                return Err(BailOut::Type);
            }
            one &= patch.paint == first.paint;
            let right = (patch.j - extent.j) as u32;
            let down = (patch.i - extent.i) as usize;
            let rows = patches.shape(&patch).rows;
            for (to, from) in self.window.rows[down..].iter_mut().zip(rows) {
                *to |= from << right;
            }
        }
        let paint = if one {
            first.paint
        } else {
            let (made, tile) = tiles.next()?;
            extent.clear(tile)?;
            let mut seen = NO_BITS;
            for patch in parts {
                lay(made, patches, &patch, &extent, tile, &mut seen)?;
            }
            extent.paint(tiles.commit())
        };
        self.stack.truncate(base);
        patches.store(extent.shape(&self.window), paint)
    }

    /// The same if no use of the union sees cells outside 0..32 x 0..32: they are dropped if the union would be
    /// too large.
    #[inline(always)]
    pub(crate) fn clipped_union(&mut self, base: usize) -> Result<Slot, BailOut> {
        match self.union_of_patches(base) {
            Err(BailOut::Patch) => self.clip_and_unite(base),
            union => union,
        }
    }

    #[cold]
    fn clip_and_unite(&mut self, base: usize) -> Result<Slot, BailOut> {
        self.known.has_dropped = true;
        // Locations and cells have no union, wherever they lie.
        let patches = self.stack[base..]
            .iter()
            .map(|&slot| self.memory.patches.get(slot));
        let mut kinds = patches
            .filter(|patch| !patch.is_empty())
            .map(|patch| patch.paint == Paint::None);
        if let Some(first) = kinds.next()
            && kinds.any(|kind| kind != first)
        {
            return Err(BailOut::Type);
        }
        for at in base..self.stack.len() {
            let patch = self.memory.patches.get(self.stack[at]);
            let fits = |from: i32, len: u16| (0..=SIDE as i32 - i32::from(len)).contains(&from);
            let inside = fits(patch.i, patch.height) && fits(patch.j, patch.width);
            if !inside && !patch.is_empty() {
                let patches = &mut self.memory.patches;
                sets::clipped(patches.shape(&patch), SIDE, SIDE, &mut self.window)?;
                self.stack[at] = patches.store_window(&mut self.window, patch.paint)?;
            }
        }
        self.union_of_patches(base)
    }

    /// Whether a tuple of rows of integers is this grid.
    pub(crate) fn rows_are(&self, slot: Slot, grid: &Grid) -> bool {
        let lists = &self.memory.lists;
        let rows = lists.get(slot);
        rows.len() == grid.height()
            && rows.iter().zip(grid.rows()).all(|(&row, cells)| {
                let row = lists.get(row);
                row.len() == cells.len()
                    && row
                        .iter()
                        .zip(cells)
                        .all(|(colour, &cell)| colour.int() == i32::from(cell))
            })
    }

    /// The slot, if the value is within the bound on its weight: lists share their elements in memory, so the
    /// value may be far larger than the memory. A heavier value bails out, and the reference gives the outcome.
    #[inline]
    pub(crate) fn check_weight(&self, ty: &Type, slot: Slot) -> Result<Slot, BailOut> {
        if !contains_type(ty, is_container) {
            return Ok(slot);
        }
        let mut left = self.most_weight;
        self.weigh(ty, slot, is_container, &mut left)?;
        Ok(slot)
    }

    /// The slot of a nested list, if the number of elements in all its lists is within the bound of a value: to
    /// compare, order or join such lists visits all of them. Its other elements are no more than the memory
    /// holds.
    pub(crate) fn check_nested_elements(&self, ty: &Type, slot: Slot) -> Result<Slot, BailOut> {
        let mut left = self.most_weight;
        self.weigh(ty, slot, is_list, &mut left)?;
        Ok(slot)
    }

    /// Subtracts from `left` at least what a value weighs, including its elements of the types that
    /// `are_weighed` accepts.
    fn weigh(
        &self,
        ty: &Type,
        slot: Slot,
        are_weighed: fn(&Type) -> bool,
        left: &mut u64,
    ) -> Result<(), BailOut> {
        let memory = &self.memory;
        let mut take = |weight: usize| {
            *left = left.checked_sub(weight as u64).ok_or(BailOut::Memory)?;
            Ok(())
        };
        match ty {
            Type::Grid => {
                let tile = memory.tiles.get(slot);
                take(1 + (tile.height * tile.width) as usize)
            }
            Type::Indices | Type::Object | Type::Patch => {
                let patch = memory.patches.get(slot);
                take(1 + memory.patches.shape(&patch).count() as usize)
            }
            Type::Set(element) | Type::Tuple(element) => {
                let slots = memory.lists.get(slot);
                take(1 + slots.len())?;
                if let Type::Fixed(items) = &**element
                    && !items.iter().any(are_weighed)
                {
                    // All weigh the same.
                    take(slots.len() * (1 + items.len()))?;
                } else if are_weighed(element) {
                    for slot in slots {
                        self.weigh(element, *slot, are_weighed, left)?;
                    }
                }
                Ok(())
            }
            Type::Fixed(items) => {
                take(1 + items.len())?;
                let slots = memory.lists.get(slot);
                for (slot, ty) in slots.iter().zip(items.iter()) {
                    if are_weighed(ty) {
                        self.weigh(ty, *slot, are_weighed, left)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The value of a slot.
    pub(crate) fn value(&self, ty: &Type, slot: Slot) -> Result<Value, BailOut> {
        let memory = &self.memory;
        Ok(match ty {
            Type::Bool => Value::Bool(slot.bool()),
            Type::MaybeInt if slot == Slot::MISSING => Value::Nothing,
            Type::Int | Type::MaybeInt => Value::Int(slot.int()),
            Type::MaybePair if slot == Slot::MISSING => Value::tuple(Vec::new()),
            Type::Pair | Type::MaybePair => Value::Loc(slot.loc()),
            Type::Cell => Value::Cell(slot.cell()),
            Type::Grid => Value::from(kernel::unpack(memory.tiles.get(slot))),
            Type::Indices => {
                let patch = memory.patches.get(slot);
                let shape = memory.patches.shape(&patch);
                let mut locations = Vec::with_capacity(shape.count() as usize);
                locations.extend(shape.locations());
                Value::from(Indices::new(locations))
            }
            Type::Object => {
                let patch = memory.patches.get(slot);
                let shape = memory.patches.shape(&patch);
                let mut all = Vec::with_capacity(shape.count() as usize);
                if let Paint::One(code) = patch.paint {
                    let colour = colour_of(code);
                    all.extend(shape.locations().map(|loc| Cell::new(colour, loc)));
                } else {
                    let mut cells = Cells::new(memory, &patch);
                    all.extend(std::iter::from_fn(|| cells.next(memory)));
                }
                Value::from(Object::new(all))
            }
            Type::Patch if memory.patches.get(slot).paint == Paint::None => {
                return self.value(&Type::Indices, slot);
            }
            Type::Patch => return self.value(&Type::Object, slot),
            Type::Set(element) | Type::Tuple(element) => {
                let slots = memory.lists.get(slot);
                let mut elements = Vec::with_capacity(slots.len());
                for slot in slots {
                    elements.push(self.value(element, *slot)?);
                }
                match ty {
                    Type::Set(_) => Value::set(elements),
                    _ => Value::tuple(elements),
                }
            }
            Type::Fixed(items) => {
                let mut elements = Vec::with_capacity(items.len());
                for (slot, ty) in memory.lists.get(slot).iter().zip(items.iter()) {
                    elements.push(self.value(ty, *slot)?);
                }
                Value::tuple(elements)
            }
            Type::Never => return Err(BailOut::Type),
        })
    }
}

/// Whether values of the type are lists in the memory.
fn is_list(ty: &Type) -> bool {
    matches!(ty, Type::Set(_) | Type::Tuple(_) | Type::Fixed(_))
}

/// Whether values of the type have elements in memory.
fn is_container(ty: &Type) -> bool {
    is_list(ty) || matches!(ty, Type::Grid | Type::Indices | Type::Object | Type::Patch)
}

/// Whether values of the type contain values of the types that `is_searched` accepts, and so may share one of them
/// many times.
fn contains_type(ty: &Type, is_searched: fn(&Type) -> bool) -> bool {
    match ty {
        Type::Set(element) | Type::Tuple(element) => is_searched(element),
        Type::Fixed(items) => items.iter().any(is_searched),
        _ => false,
    }
}

/// Whether values of the type are lists that hold lists.
pub(crate) fn are_nested(ty: &Type) -> bool {
    contains_type(ty, is_list)
}

/// The bounding box of a value under construction.
struct Extent {
    i: i32,
    j: i32,
    height: i64,
    width: i64,
}

impl Extent {
    /// The box around boxes given by corner, height and width.
    #[inline(always)]
    fn of(parts: impl Iterator<Item = (Loc, i32, i32)>) -> Self {
        let (mut top, mut left) = (i32::MAX, i32::MAX);
        let (mut bottom, mut right) = (i32::MIN, i32::MIN);
        for (corner, height, width) in parts {
            top = top.min(corner.i);
            left = left.min(corner.j);
            bottom = bottom.max(corner.i + height);
            right = right.max(corner.j + width);
        }
        if top == i32::MAX {
            return Self {
                i: 0,
                j: 0,
                height: 0,
                width: 0,
            };
        }
        Self {
            i: top,
            j: left,
            height: i64::from(bottom) - i64::from(top),
            width: i64::from(right) - i64::from(left),
        }
    }

    /// Empties the window and moves it to the box; an error if the box is too large.
    #[inline(always)]
    fn place(&self, window: &mut Window) -> Result<(), BailOut> {
        if self.width > i64::from(COLUMNS) || self.height > ROWS as i64 {
            return Err(BailOut::Patch);
        }
        Ok(window.place(self.i, self.j, self.height as u32)?)
    }

    /// The shape of this box, with its rows in the window.
    #[inline(always)]
    fn shape<'w>(&self, window: &'w Window) -> Shape<'w> {
        Shape {
            i: self.i,
            j: self.j,
            width: self.width as u32,
            rows: &window.rows[..self.height as usize],
        }
    }

    /// Clears the tile and gives it the size of the box.
    #[inline(always)]
    fn clear(&self, tile: &mut Tile) -> Result<(), BailOut> {
        if self.width > 32 || self.height > 32 {
            return Err(BailOut::Patch);
        }
        *tile = Tile {
            height: self.height as u32,
            width: self.width as u32,
            ..Tile::default()
        };
        Ok(())
    }

    /// The colours of a tile that lies on the box.
    #[inline(always)]
    fn paint(&self, tile: Slot) -> Paint {
        Paint::Tile {
            tile: tile.index() as u32,
            i: self.i,
            j: self.j,
        }
    }
}

/// Writes the cells of an object to a tile that lies on `extent`; `seen` marks the locations that are taken.
#[inline(always)]
fn lay(
    made: &[Tile],
    patches: &Patches,
    patch: &Patch,
    extent: &Extent,
    tile: &mut Tile,
    seen: &mut Bits,
) -> Result<(), BailOut> {
    let (down, right) = (patch.i - extent.i, patch.j - extent.j);
    if let Paint::One(code) = patch.paint {
        // Most patches have one colour and few rows.
        let colour = [0, 1, 2, 3].map(|k| (code >> k & 1).wrapping_neg());
        let mut wrong = 0;
        for (r, row) in patches.shape(patch).rows.iter().enumerate() {
            let at = (down as usize + r) & 31;
            let here = (row << (right & 63)) as u32;
            let again = here & seen[at];
            seen[at] |= here;
            for (plane, colour) in tile.planes.iter_mut().zip(colour) {
                wrong |= (colour ^ plane[at]) & again;
                plane[at] |= colour & here;
            }
        }
        return if wrong == 0 {
            Ok(())
        } else {
            Err(BailOut::Overlap)
        };
    }
    for (r, row) in patches.shape(patch).rows.iter().enumerate() {
        let at = (down as usize + r) & 31;
        let here = (row << right) as u32;
        let again = here & seen[at];
        seen[at] |= here;
        for k in 0..4 {
            let bits = match patch.paint {
                Paint::Tile { tile, i, j } => {
                    let source = &made[tile as usize];
                    let from = (patch.i + r as i32 - i) as usize & 31;
                    shifted(u64::from(source.planes[k][from]), j - extent.j) as u32
                }
                _ => 0,
            };
            if (bits ^ tile.planes[k][at]) & again != 0 {
                return Err(BailOut::Overlap);
            }
            tile.planes[k][at] |= bits & here;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::generate::Generator;

    #[test]
    fn values_come_back_as_they_went_in() {
        let mut generator = Generator::new(11);
        let mut machine = Machine::default();
        let (mut back, mut large) = (0, 0);
        for round in 0..3000 {
            let signature = arc_dsl::Type::ALL[round % arc_dsl::Type::ALL.len()];
            let value = generator.value(signature);
            let Some(ty) = value.value_type() else {
                continue;
            };
            if let Ok(slot) = machine.put(&value, &ty) {
                back += 1;
                assert_eq!(machine.value(&ty, slot), Ok(value), "{ty}");
            } else {
                large += 1;
                machine.stack.clear();
            }
        }
        assert!(back > 10 * large && back > 1500, "{back} {large}");
    }
}
