//! Grids rotated, mirrored, cropped, joined and scaled.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

use super::is_grid;
use crate::bail_out::BailOut;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::planes::transforms::{self, Split};
use crate::planes::{Misfit, Tile, scaling};
use crate::selection::Selection;
use crate::slot::At;
use crate::slot::Slot;
use arc_dsl::{Loc, Primitive};
use arc_form::Type;

/// The most parts that a grid is split into; each of them needs a tile.
const MOST_PARTS: u32 = 64;

/// Computes a grid from two.
#[inline(always)]
pub(super) fn join_tiles(
    m: &mut Machine,
    a: At,
    b: At,
    make: impl FnOnce(&Tile, &Tile, &mut Tile) -> Result<(), BailOut>,
) -> Result<Slot, BailOut> {
    let (a, b) = (m.get(a).index(), m.get(b).index());
    let (made, to) = m.memory.tiles.next()?;
    make(&made[a], &made[b], to)?;
    Ok(m.memory.tiles.commit())
}

/// Computes a grid from a grid and a factor.
#[inline(always)]
fn scale(
    m: &mut Machine,
    from: At,
    factor: At,
    make: impl FnOnce(&Tile, i32, &mut Tile) -> Result<(), Misfit>,
) -> Result<Slot, BailOut> {
    let (from, factor) = (m.get(from).index(), m.int(factor));
    let (made, to) = m.memory.tiles.next()?;
    make(&made[from], factor, to)?;
    Ok(m.memory.tiles.commit())
}

/// The parts of a grid as a list.
#[inline(always)]
fn split(
    m: &mut Machine,
    from: At,
    parts: At,
    length: impl FnOnce(&Tile) -> u32,
    part: impl Fn(&Tile, Split, u32, &mut Tile),
) -> Result<Slot, BailOut> {
    let parts = m.int(parts);
    let tile = m.tile(from);
    if tile.height == 0 {
        return Err(BailOut::Empty);
    }
    if parts == 0 {
        return Err(BailOut::DivisionByZero);
    }
    let parts = parts.max(0) as u32;
    if parts > MOST_PARTS {
        return Err(BailOut::Memory);
    }
    let split = Split::new(length(tile), parts);
    let from = m.get(from).index();
    let base = m.stack.len();
    for number in 0..parts {
        let (made, to) = m.memory.tiles.next()?;
        part(&made[from], split, number, to);
        let part = m.memory.tiles.commit();
        m.stack.push(part);
    }
    m.list_of_stack(base)
}

/// Kernels that compute a grid from a grid.
///
/// The function is called by its name: a call through a function value would not be inlined into the kernel,
/// and would be compiled for the baseline's vectors.
macro_rules! of_one {
    ($($(#[$doc:meta])* $name:ident for $primitive:ident = $function:path;)+) => {
        kernels! {
            fn of_one_grid;

            $(
                $(#[$doc])*
                $name for $primitive(Grid) |m, _, step| {
                    m.make_tile(step.a, #[inline(always)] |from, to| $function(from, to))
                }
            )+
        }
    };
}

of_one! {
    /// Mirrored top to bottom.
    HMIRROR for Hmirror = transforms::hmirror;
    /// Mirrored left to right.
    VMIRROR for Vmirror = transforms::vmirror;
    /// Rows and columns exchanged.
    DMIRROR for Dmirror = transforms::dmirror;
    /// Mirrored along the counterdiagonal.
    CMIRROR for Cmirror = transforms::cmirror;
    /// A quarter turn clockwise.
    ROT90 for Rot90 = transforms::rot90;
    /// A half turn.
    ROT180 for Rot180 = transforms::rot180;
    /// A quarter turn anticlockwise.
    ROT270 for Rot270 = transforms::rot270;
    /// Without the outermost rows and columns.
    TRIM for Trim = transforms::trim;
    /// The upper half.
    TOPHALF for Tophalf = transforms::tophalf;
    /// The lower half.
    BOTTOMHALF for Bottomhalf = transforms::bottomhalf;
    /// The left half.
    LEFTHALF for Lefthalf = transforms::lefthalf;
    /// The right half.
    RIGHTHALF for Righthalf = transforms::righthalf;
    /// Without the rows and columns of one colour.
    COMPRESS for Compress = scaling::compress;
}

kernels! {
    fn by_row;

    /// The cells from a location on, with a number of rows and of columns.
    CROP for Crop(Grid, Pair, Pair) |m, _, step| {
        let (start, dims) = (m.loc(step.b), m.loc(step.c));
        m.make_tile(step.a, #[inline(always)] |from, to| {
            transforms::crop(from, start, dims, to);
        })
    }

    /// The cells in the bounding box of a patch.
    SUBGRID for Subgrid(Patch, Grid) |m, _, step| {
        let patch = m.patch(step.a);
        if patch.is_empty() {
            return Err(BailOut::Empty);
        }
        let start = Loc::new(patch.i, patch.j);
        let dims = Loc::new(patch.height.into(), patch.width.into());
        m.make_tile(step.b, #[inline(always)] |from, to| {
            transforms::crop(from, start, dims, to);
        })
    }

    /// The parts of a grid, split horizontally.
    HSPLIT for Hsplit(Grid, Int) |m, _, step| {
        split(m, step.a, step.b, #[inline(always)] |tile| tile.width, #[inline(always)] |tile, split, number, to| {
            transforms::hpart(tile, split, number, to);
        })
    }

    /// The parts of a grid, split vertically.
    VSPLIT for Vsplit(Grid, Int) |m, _, step| {
        split(m, step.a, step.b, #[inline(always)] |tile| tile.height, #[inline(always)] |tile, split, number, to| {
            transforms::vpart(tile, split, number, to);
        })
    }

    /// Two grids side by side.
    HCONCAT for Hconcat(Grid, Grid) |m, _, step| {
        join_tiles(m, step.a, step.b, #[inline(always)] |a, b, to| {
            Ok(transforms::hconcat(a, b, to)?)
        })
    }

    /// Two grids one above the other.
    VCONCAT for Vconcat(Grid, Grid) |m, _, step| {
        join_tiles(m, step.a, step.b, #[inline(always)] |a, b, to| {
            if a.width != b.width && a.height > 0 && b.height > 0 {
                // The reference returns a tuple of rows, which is not a grid.
                return Err(BailOut::Type);
            }
            Ok(transforms::vconcat(a, b, to)?)
        })
    }

    /// Each cell scaled horizontally.
    HUPSCALE for Hupscale(Grid, Int) |m, _, step| { scale(m, step.a, step.b, #[inline(always)] |tile, factor, to| {
            scaling::hupscale(tile, factor, to)
        }) }
    /// Each cell scaled vertically.
    VUPSCALE for Vupscale(Grid, Int) |m, _, step| { scale(m, step.a, step.b, #[inline(always)] |tile, factor, to| {
            scaling::vupscale(tile, factor, to)
        }) }
    /// Each cell scaled in both directions.
    UPSCALE for Upscale(Grid, Int) |m, _, step| { scale(m, step.a, step.b, #[inline(always)] |tile, factor, to| {
            scaling::upscale(tile, factor, to)
        }) }

    /// The first of every `factor` rows and columns.
    DOWNSCALE for Downscale(Grid, Int) |m, _, step| {
        let (factor, from) = (m.int(step.b), m.get(step.a).index());
        let (made, to) = m.memory.tiles.next()?;
        match scaling::downscale(&made[from], factor, to) {
            Some(()) => Ok(m.memory.tiles.commit()),
            None if made[from].height == 0 => Err(BailOut::Empty),
            None => Err(BailOut::DivisionByZero),
        }
    }
}

/// The kernel of a primitive of this family.
pub(super) fn select(primitive: Primitive, arguments: &[Type]) -> Option<Selection> {
    use Primitive as P;
    let is_tuple = is_grid(arguments.first()?);
    match primitive {
        P::Hmirror | P::Vmirror | P::Dmirror | P::Cmirror | P::Upscale if !is_tuple => None,
        // The DSL takes the length of a tuple of rows for the height of its box.
        P::Subgrid if is_tuple => None,
        _ => of_one_grid(primitive).or_else(|| by_row(primitive)),
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    #[test]
    fn what_is_joined_of_parts_is_the_whole() {
        let text = "def f(I):\n    x1 = tophalf(I)\n    x2 = rot180(x1)\n    x3 = vconcat(x1, x2)\n    x4 = hconcat(x3, x3)\n    x5 = hsplit(x4, TWO)\n    x6 = last(x5)\n    O = upscale(x6, TWO)\n    return O\n";
        let answered = check_text(text, 72, 200);
        assert!(answered > 180, "{answered}");
    }
}
