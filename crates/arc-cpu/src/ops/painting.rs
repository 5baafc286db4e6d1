//! Grids with patches painted on them.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

use super::layers::is_layers;
use crate::bail_out::BailOut;
use crate::definition::{Choice, Open};
use crate::elements::Cells;
use crate::kernel::kernels;
use crate::machine::{Machine, int};
use crate::memory::{Memory, Paint, Patch};
use crate::planes::{Bits, NO_BITS, Tile, code_of, colours, painting, shifted};
use crate::program::{Code, Step};
use crate::selection::{Constraint, Immediate, Selection};
use crate::slot::At;
use crate::slot::Slot;
use arc_dsl::{Cell, Loc, Primitive, hash, sorted_cells};
use arc_form::Type;

/// The code of a grid's most common colour.
#[inline(always)]
fn background(tile: &Tile) -> Result<u32, BailOut> {
    colours::most_common(tile).ok_or(BailOut::Empty)
}

/// Fails if the grid has no row.
#[inline(always)]
fn require_row(tile: &Tile) -> Result<(), BailOut> {
    if tile.height == 0 {
        Err(BailOut::Empty)
    } else {
        Ok(())
    }
}

/// Paints a patch with these colours where the bits are set.
#[inline(always)]
fn paint(
    made: &[Tile],
    tile: &Tile,
    bits: &Bits,
    paint: Paint,
    to: &mut Tile,
) -> Result<(), BailOut> {
    match paint {
        Paint::One(code) => painting::fill(tile, bits, code, to),
        Paint::Tile { tile: source, i, j } => {
            painting::paint(tile, bits, &made[source as usize], (i, j), to);
        }
        Paint::None if bits.iter().all(|&row| row == 0) => *to = *tile,
        Paint::None => return Err(BailOut::Type),
    }
    Ok(())
}

/// The patch moved; an error if one of its locations would exceed the integers of the DSL.
#[inline(always)]
fn moved(patch: &Patch, offset: Loc) -> Result<Patch, BailOut> {
    let shift = |at: i32, by: i32| int(i64::from(at) + i64::from(by));
    let (i, j) = (shift(patch.i, offset.i)?, shift(patch.j, offset.j)?);
    shift(i, patch.height.into())?;
    shift(j, patch.width.into())?;
    Ok(Patch {
        i,
        j,
        paint: match patch.paint {
            Paint::Tile { tile, i, j } => Paint::Tile {
                tile,
                i: shift(i, offset.i)?,
                j: shift(j, offset.j)?,
            },
            paint => paint,
        },
        ..*patch
    })
}

/// The locations on a tile of all patches of a list.
#[inline(always)]
fn bits_of_layers(m: &Machine, layers: At, tile: &Tile) -> Bits {
    let mut bits = NO_BITS;
    for &layer in m.list(layers) {
        let patch = m.memory.patches.get(layer);
        let shape = m.memory.patches.shape(&patch);
        shape.each_row_on(tile.height, tile.width, |r, row| bits[r] |= row);
    }
    bits
}

/// The bits of a row's colours, for each plane.
#[inline(always)]
fn row_of_colours(tiles: &[Tile], paint: Paint, r: usize) -> [u32; 4] {
    match paint {
        Paint::Tile { tile, i, j } => {
            let source = &tiles[tile as usize];
            let row = |plane: &Bits| u64::from(plane[(r as i32 - i) as usize & 31]);
            source
                .planes
                .each_ref()
                .map(|plane| shifted(row(plane), j) as u32)
        }
        Paint::One(code) => [0, 1, 2, 3].map(|k| 0u32.wrapping_sub(code >> k & 1)),
        Paint::None => [0; 4],
    }
}

/// Paints the objects of a list one after the other. An unordered list must not have two colours at one location.
///
/// With a `ground`, only cells of that colour are painted, and the first other colour at a location stays.
#[inline(always)]
fn paint_layers(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    ground: Option<u32>,
    ordered: bool,
) -> Result<Slot, BailOut> {
    let Memory {
        tiles,
        patches,
        lists,
    } = &mut m.memory;
    let list = lists.get(m.slots[step.b as usize]);
    let (made, to) = tiles.next()?;
    let tile = &made[m.slots[step.a as usize].index()];
    let on_ground = ground.map_or([u32::MAX; 32], |code| tile.of_code(code));
    // What has been painted, what of it again in another colour, and what still has the ground's colour.
    let (mut seen, mut twice, mut open) = (NO_BITS, NO_BITS, on_ground);
    *to = *tile;
    for &layer in list {
        let patch = patches.get(layer);
        let shape = patches.shape(&patch);
        if patch.paint == Paint::None && !patch.is_empty() {
            return Err(BailOut::Type);
        }
        if shape.is_beyond(tile.height, tile.width) {
            continue;
        }
        shape.each_row_on(
            tile.height,
            tile.width,
            #[inline(always)]
            |r, row| {
                let again = seen[r] & row & on_ground[r];
                seen[r] |= row;
                let row = row & open[r];
                let mut unlike_ground = 0;
                for (k, colour) in row_of_colours(made, patch.paint, r).into_iter().enumerate() {
                    let plane = &mut to.planes[k][r];
                    twice[r] |= (*plane ^ colour) & again;
                    *plane ^= (*plane ^ colour) & row;
                    if let Some(ground) = ground {
                        unlike_ground |= colour ^ 0u32.wrapping_sub(ground >> k & 1);
                    }
                }
                if ground.is_some() {
                    open[r] &= !(row & unlike_ground);
                }
            },
        );
    }
    let slot = tiles.commit();
    // Only the order of Python tells which of two colours at a location is painted last.
    if twice != NO_BITS && !ordered {
        if m.tries_left > 0 {
            leave_open(m, code, step, slot, |m| colours_of_layers(m, step, &twice))?;
        }
        paint_in_order(m, code, step, ground, slot)?;
    }
    Ok(slot)
}

/// Leaves open which of these colours cells of the grid have, if the verdict may do without.
fn leave_open(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    slot: Slot,
    open: impl FnOnce(&Machine) -> Open,
) -> Result<(), BailOut> {
    let Some(keeps_colours) = code.keeps_cells(step.to) else {
        return Ok(());
    };
    let mut open = open(m);
    if !keeps_colours {
        let any = open.iter().fold(NO_BITS, |mut any, cells| {
            any.iter_mut().zip(cells).for_each(|(any, row)| *any |= row);
            any
        });
        open.fill(any);
    }
    m.choice = Choice::Cells(slot, open);
    Err(BailOut::Choice)
}

/// The colours that the objects of a list have at these cells.
#[cold]
#[inline(never)]
fn colours_of_layers(m: &Machine, step: &Step, cells: &Bits) -> Open {
    let mut found: Open = [NO_BITS; 16].into();
    let tile = m.tile(step.a);
    for &layer in m.list(step.b) {
        let patch = m.memory.patches.get(layer);
        let shape = m.memory.patches.shape(&patch);
        shape.each_row_on(tile.height, tile.width, |r, row| {
            let row = row & cells[r];
            if row == 0 {
                return;
            }
            let colours = row_of_colours(m.memory.tiles.made(), patch.paint, r);
            for (code, found) in (0..).zip(&mut *found) {
                let unlike = |k: usize| colours[k] ^ 0u32.wrapping_sub(code >> k & 1);
                found[r] |= row & !(unlike(0) | unlike(1) | unlike(2) | unlike(3));
            }
        });
    }
    found
}

/// Paints the locations of two colours again, on the last grid, as far as the order of the list's cells is known without
/// building their set again. What is not known is left open once.
#[cold]
#[inline(never)]
fn paint_in_order(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    ground: Option<u32>,
    slot: Slot,
) -> Result<(), BailOut> {
    m.known.asked += 1;
    let is_copied = code.is_copied(step.b.into());
    let is_copied = is_copied.filter(|_| !m.known.has_dropped);
    let is_copied = is_copied.ok_or(BailOut::Order)?;
    let layers = m
        .list(step.b)
        .iter()
        .map(|layer| m.memory.patches.get(*layer));
    let count = |layer: Patch| m.memory.patches.shape(&layer).count() as usize;
    let mut cells: Vec<Cell> = Vec::with_capacity(layers.clone().map(count).sum());
    for layer in layers {
        let mut all = Cells::new(&m.memory, &layer);
        cells.extend(std::iter::from_fn(|| all.next(&m.memory)));
    }
    let cells = sorted_cells(&[&cells]);
    let hashes: Vec<u64> = cells.iter().copied().map(hash::cell).collect();
    let known = hash::runs(&hashes, is_copied);
    let tile = m.tile(step.a);
    let (height, width) = (tile.height as i32, tile.width as i32);
    let open_at = |loc: Loc| {
        let is_inside = (0..height).contains(&loc.i) && (0..width).contains(&loc.j);
        let is_open = is_inside
            && ground.is_none_or(|code| tile.of_code(code)[loc.i as usize] >> loc.j & 1 == 1);
        is_open.then_some((loc.i * width + loc.j) as usize)
    };
    let mut colours = vec![0u32; tile.height as usize * tile.width as usize];
    for at in cells.iter().filter_map(|cell| open_at(cell.loc)) {
        colours[at] += 1;
    }
    let mut keyed = Vec::new();
    for (places, &Cell { colour, loc }) in known.into_iter().zip(&cells) {
        if open_at(loc).is_some_and(|at| colours[at] > 1) {
            keyed.push((loc, places, code_of(colour)?));
        }
    }
    keyed.sort_unstable();
    let mut decided = Vec::new();
    let mut undecided: Open = [NO_BITS; 16].into();
    for at in keyed.chunk_by(|a, b| a.0 == b.0) {
        let loc = at[0].0;
        let others = || at.iter().filter(|(_, _, code)| Some(*code) != ground);
        // Those that may be first on the ground, or last without one.
        let bound = match ground {
            Some(_) => others().map(|(_, places, _)| places.1).min(),
            None => others().map(|(_, places, _)| places.0).max(),
        };
        let may_stay = |(_, places, _): &&(_, (u32, u32), _)| match (ground, bound) {
            (Some(_), Some(bound)) => places.0 <= bound,
            (None, Some(bound)) => places.1 >= bound,
            (_, None) => false,
        };
        let mut stays = others().filter(may_stay).map(|(.., code)| *code);
        let Some(first) = stays.next() else {
            continue;
        };
        decided.push((loc, first));
        if stays.clone().any(|code| code != first) {
            for code in stays.chain([first]) {
                undecided[code as usize][loc.i as usize] |= 1 << loc.j;
            }
        }
    }
    let to = m.memory.tiles.last_mut();
    for (loc, code) in decided {
        for (k, plane) in to.planes.iter_mut().enumerate() {
            let row = &mut plane[loc.i as usize];
            *row = *row & !(1 << loc.j) | (code >> k & 1) << loc.j;
        }
    }
    if undecided.iter().all(|cells| *cells == NO_BITS) {
        return Ok(());
    }
    if m.narrows {
        leave_open(m, code, step, slot, |_| undecided)?;
    }
    Err(BailOut::Order)
}

kernels! {
    fn by_row;

    /// Fills all patches of a list in one colour.
    FILL_LAYERS |m, _, step| {
        let tile = m.tile(step.a);
        require_row(tile)?;
        let code = code_of(m.int(step.b))?;
        let bits = bits_of_layers(m, step.c, tile);
        m.make_tile(step.a, #[inline(always)] |from, to| painting::fill(from, &bits, code, to))
    }

    /// Fills all patches of a list in one colour where the background is.
    UNDERFILL_LAYERS |m, _, step| {
        let tile = m.tile(step.a);
        let background = background(tile)?;
        let code = code_of(m.int(step.b))?;
        let bits = bits_of_layers(m, step.c, tile);
        m.make_tile(step.a, #[inline(always)] |from, to| {
            painting::underfill(from, &bits, code, background, to);
        })
    }

    /// Fills all patches of a list in the background's colour.
    COVER_LAYERS |m, _, step| {
        let tile = m.tile(step.a);
        let background = background(tile)?;
        let bits = bits_of_layers(m, step.b, tile);
        m.make_tile(step.a, #[inline(always)] |from, to| {
            painting::fill(from, &bits, background, to);
        })
    }

    /// Paints the objects of a list; `immediate` says whether the list is ordered.
    PAINT_LAYERS |m, code, step| {
        require_row(m.tile(step.a))?;
        paint_layers(m, code, step, None, step.immediate == 1)
    }

    /// Paints the objects of a list where the background is; `immediate` says whether the list is ordered.
    UNDERPAINT_LAYERS |m, code, step| {
        let background = background(m.tile(step.a))?;
        paint_layers(m, code, step, Some(background), step.immediate == 1)
    }

    /// A grid of one colour.
    CANVAS for Canvas(Int, Pair) |m, _, step| {
        let (colour, dims) = (m.int(step.a), m.loc(step.b));
        let (_, to) = m.memory.tiles.next()?;
        colours::canvas(colour, dims, to)?;
        Ok(m.memory.tiles.commit())
    }

    /// Fills a patch in one colour.
    FILL for Fill(Grid, Int, Patch) |m, _, step| {
        let tile = m.tile(step.a);
        require_row(tile)?;
        let code = code_of(m.int(step.b))?;
        let bits = m.shape(step.c).clipped(tile.height, tile.width);
        m.make_tile(step.a, #[inline(always)] |from, to| painting::fill(from, &bits, code, to))
    }

    /// Fills a patch in one colour where the background is.
    UNDERFILL for Underfill(Grid, Int, Patch) |m, _, step| {
        let tile = m.tile(step.a);
        let background = background(tile)?;
        let code = code_of(m.int(step.b))?;
        let bits = m.shape(step.c).clipped(tile.height, tile.width);
        m.make_tile(step.a, #[inline(always)] |from, to| {
            painting::underfill(from, &bits, code, background, to);
        })
    }

    /// Fills a patch in the background's colour.
    COVER for Cover(Grid, Patch) |m, _, step| {
        let tile = m.tile(step.a);
        let background = background(tile)?;
        let bits = m.shape(step.b).clipped(tile.height, tile.width);
        m.make_tile(step.a, #[inline(always)] |from, to| {
            painting::fill(from, &bits, background, to);
        })
    }

    /// Paints an object.
    PAINT for Paint(Grid, Object) |m, _, step| {
        let tile = m.tile(step.a);
        require_row(tile)?;
        let bits = m.shape(step.b).clipped(tile.height, tile.width);
        let (patch, from) = (m.patch(step.b), m.get(step.a).index());
        let (made, to) = m.memory.tiles.next()?;
        paint(made, &made[from], &bits, patch.paint, to)?;
        Ok(m.memory.tiles.commit())
    }

    /// Paints an object where the background is.
    UNDERPAINT for Underpaint(Grid, Object) |m, _, step| {
        let tile = m.tile(step.a);
        let background = background(tile)?;
        let bits = m.shape(step.b).clipped(tile.height, tile.width);
        let bits = tile.of_code_in(background, &bits);
        let (patch, from) = (m.patch(step.b), m.get(step.a).index());
        let (made, to) = m.memory.tiles.next()?;
        paint(made, &made[from], &bits, patch.paint, to)?;
        Ok(m.memory.tiles.commit())
    }

    /// Covers an object and paints it again at an offset.
    MOVE for Move(Grid, Object, Pair) |m, _, step| {
        let tile = m.tile(step.a);
        let background = background(tile)?;
        let patch = m.patch(step.b);
        let bits = m.shape(step.b).clipped(tile.height, tile.width);
        let mut covered = Tile::default();
        painting::fill(tile, &bits, background, &mut covered);
        let moved = moved(&patch, m.loc(step.c))?;
        let bits = m.memory.patches.shape(&moved).clipped(tile.height, tile.width);
        let (made, to) = m.memory.tiles.next()?;
        paint(made, &covered, &bits, moved.paint, to)?;
        Ok(m.memory.tiles.commit())
    }
}

/// The kernel of a primitive of this family.
pub(super) fn select(primitive: Primitive, arguments: &[Type]) -> Option<Selection> {
    use Constraint as C;
    use Primitive as P;
    let ordered = |ty: &Type| {
        let ordered = matches!(ty, Type::Tuple(_));
        Immediate::Number(u32::from(ordered))
    };
    Some(match primitive {
        P::Fill if is_layers(&arguments[2]) => {
            Selection::new(&FILL_LAYERS, &[C::Grid, C::Int, C::AsIs])
        }
        P::Underfill if is_layers(&arguments[2]) => {
            Selection::new(&UNDERFILL_LAYERS, &[C::Grid, C::Int, C::AsIs])
        }
        P::Cover if is_layers(&arguments[1]) => Selection::new(&COVER_LAYERS, &[C::Grid, C::AsIs]),
        P::Paint if is_layers(&arguments[1]) => {
            Selection::new(&PAINT_LAYERS, &[C::Grid, C::AsIs]).with(ordered(&arguments[1]))
        }
        P::Underpaint if is_layers(&arguments[1]) => {
            Selection::new(&UNDERPAINT_LAYERS, &[C::Grid, C::AsIs]).with(ordered(&arguments[1]))
        }
        _ => return by_row(primitive),
    })
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    /// The frames of neighbouring objects overlap in different colours, one of them the background's if objects
    /// include it.
    #[test]
    fn objects_that_overlap_are_painted_in_their_order() {
        for (at, paint) in ["paint", "underpaint"].into_iter().enumerate() {
            for (without_background, order) in [("T", ""), ("F", ""), ("T", "x"), ("F", "x")] {
                let objects = if order.is_empty() { "x1" } else { "x2" };
                let text = format!(
                    "def f(I):\n x1 = objects(I, T, F, {without_background})\n \
                     x2 = order(x1, size)\n x3 = fork(recolor, color, outbox)\n \
                     x4 = mapply(x3, {objects})\n return {paint}(I, x4)\n"
                );
                let answered = check_text(&text, 17 + at as u64, 200);
                assert!(answered > 150, "{text}{answered}");
            }
        }
    }
}
