//! Grids with patches painted on them.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

use super::{Choice, Want};
use crate::compiled::kernel::kernels;
use crate::compiled::machine::{Halt, int};
use crate::compiled::memory::{Paint, Patch};
use crate::patch::Loc;
use crate::planes::{Bits, Tile, code_of, colours, painting};
use crate::primitives::Primitive;

/// The code of a grid's most common colour.
#[inline(always)]
fn background(tile: &Tile) -> Result<u32, Halt> {
    colours::most_common(tile).ok_or(Halt::Empty)
}

/// Fails where the grid has no row.
#[inline(always)]
fn require_row(tile: &Tile) -> Result<(), Halt> {
    if tile.height == 0 {
        Err(Halt::Empty)
    } else {
        Ok(())
    }
}

/// Paints a patch of such colours where the bits are.
#[inline(always)]
fn paint(made: &[Tile], tile: &Tile, bits: &Bits, paint: Paint, to: &mut Tile) -> Result<(), Halt> {
    match paint {
        Paint::One(code) => painting::fill(tile, bits, code, to),
        Paint::Tile { tile: source, i, j } => {
            painting::paint(tile, bits, &made[source as usize], (i, j), to);
        }
        Paint::None if bits.iter().all(|&row| row == 0) => *to = *tile,
        Paint::None => return Err(Halt::Type),
    }
    Ok(())
}

/// The patch so far away; an error where a location of it would be no pair of integers.
#[inline(always)]
fn moved(patch: &Patch, offset: Loc) -> Result<Patch, Halt> {
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

kernels! {
    /// A grid of one colour.
    CANVAS |m, _, step| {
        let (colour, dims) = (m.int(step.a), m.loc(step.b));
        let (_, to) = m.memory.tiles.next()?;
        colours::canvas(colour, dims, to)?;
        Ok(m.memory.tiles.commit())
    }

    /// With a patch in one colour.
    FILL |m, _, step| {
        let tile = m.tile(step.a);
        require_row(tile)?;
        let code = code_of(m.int(step.b))?;
        let bits = m.shape(step.c).clipped(tile.height, tile.width);
        m.make_tile(step.a, #[inline(always)] |from, to| painting::fill(from, &bits, code, to))
    }

    /// With a patch in one colour where the background is.
    UNDERFILL |m, _, step| {
        let tile = m.tile(step.a);
        let background = background(tile)?;
        let code = code_of(m.int(step.b))?;
        let bits = m.shape(step.c).clipped(tile.height, tile.width);
        m.make_tile(step.a, #[inline(always)] |from, to| {
            painting::underfill(from, &bits, code, background, to);
        })
    }

    /// With a patch in the background's colour.
    COVER |m, _, step| {
        let tile = m.tile(step.a);
        let background = background(tile)?;
        let bits = m.shape(step.b).clipped(tile.height, tile.width);
        m.make_tile(step.a, #[inline(always)] |from, to| {
            painting::fill(from, &bits, background, to);
        })
    }

    /// With an object.
    PAINT |m, _, step| {
        let tile = m.tile(step.a);
        require_row(tile)?;
        let bits = m.shape(step.b).clipped(tile.height, tile.width);
        let (patch, from) = (m.patch(step.b), m.get(step.a).index());
        let (made, to) = m.memory.tiles.next()?;
        paint(made, &made[from], &bits, patch.paint, to)?;
        Ok(m.memory.tiles.commit())
    }

    /// With an object where the background is.
    UNDERPAINT |m, _, step| {
        let tile = m.tile(step.a);
        let background = background(tile)?;
        let bits = m.shape(step.b).clipped(tile.height, tile.width);
        let bits = tile.of_code_in(background, &bits);
        let (patch, from) = (m.patch(step.b), m.get(step.a).index());
        let (made, to) = m.memory.tiles.next()?;
        paint(made, &made[from], &bits, patch.paint, to)?;
        Ok(m.memory.tiles.commit())
    }

    /// With an object covered and painted again some way off.
    MOVE |m, _, step| {
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
pub(super) fn select(primitive: Primitive) -> Option<Choice> {
    use Primitive as P;
    use Want as W;
    Some(match primitive {
        P::canvas => Choice::new(&CANVAS, &[W::Int, W::Pair]),
        P::fill => Choice::new(&FILL, &[W::Grid, W::Int, W::Patch]),
        P::underfill => Choice::new(&UNDERFILL, &[W::Grid, W::Int, W::Patch]),
        P::cover => Choice::new(&COVER, &[W::Grid, W::Patch]),
        P::paint => Choice::new(&PAINT, &[W::Grid, W::Object]),
        P::underpaint => Choice::new(&UNDERPAINT, &[W::Grid, W::Object]),
        P::r#move => Choice::new(&MOVE, &[W::Grid, W::Object, W::Pair]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::ops::testing::check;

    #[test]
    fn the_machine_agrees_with_the_reference() {
        use Primitive as P;
        for primitive in [
            P::canvas,
            P::fill,
            P::underfill,
            P::cover,
            P::paint,
            P::underpaint,
            P::r#move,
        ] {
            let (answered, run) = check(primitive, 91, 300);
            assert!(run > 100, "{primitive}: {run} run");
            assert!(answered > run - run / 4, "{primitive}: {answered} of {run}");
        }
    }
}
