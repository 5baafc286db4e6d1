//! Size and position of grids and patches.

use super::is_grid;
use crate::bail_out::BailOut;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::Patch;
use crate::planes::{Shape, outlines, relations};
use crate::program::Step;
use crate::selection::{Constraint, Selection};
use crate::slot::At;
use crate::slot::Slot;
use arc_dsl::{Loc, Primitive};
use arc_form::Type;

/// The patch; an error if it is empty.
#[inline(always)]
fn filled(m: &Machine, at: At) -> Result<Patch, BailOut> {
    let patch = m.patch(at);
    if patch.is_empty() {
        Err(BailOut::Empty)
    } else {
        Ok(patch)
    }
}

/// The last row and column of the box.
#[inline(always)]
fn end(patch: &Patch) -> Loc {
    Loc::new(
        patch.i + i32::from(patch.height) - 1,
        patch.j + i32::from(patch.width) - 1,
    )
}

/// A corner of the box; missing for an empty patch.
#[inline(always)]
fn corner(m: &Machine, at: At, corner: impl FnOnce(&Patch, Loc) -> Loc) -> Slot {
    let patch = m.patch(at);
    if patch.is_empty() {
        Slot::MISSING
    } else {
        Slot::of_loc(corner(&patch, end(&patch)))
    }
}

/// A relation between two patches; an error if one is empty, or if they are so far apart that the reference
/// fails.
#[inline(always)]
fn related<T>(
    m: &Machine,
    step: &Step,
    relation: impl FnOnce(Shape<'_>, Shape<'_>) -> Option<T>,
) -> Result<T, BailOut> {
    let (a, b) = (filled(m, step.a)?, filled(m, step.b)?);
    let patches = &m.memory.patches;
    relation(patches.shape(&a), patches.shape(&b)).ok_or(BailOut::Number)
}

kernels! {
    fn by_row;

    /// Number of rows of a grid.
    HEIGHT_OF_GRID |m, _, step| { Ok(Slot::of_int(m.tile(step.a).height as i32)) }

    /// Number of columns of a grid.
    WIDTH_OF_GRID |m, _, step| { Ok(Slot::of_int(m.tile(step.a).width as i32)) }

    /// Height and width of a grid.
    SHAPE_OF_GRID |m, _, step| {
        let tile = m.tile(step.a);
        Ok(Slot::of_loc(Loc::new(tile.height as i32, tile.width as i32)))
    }

    /// Whether a grid is higher than wide.
    PORTRAIT_OF_GRID |m, _, step| {
        let tile = m.tile(step.a);
        Ok(Slot::of_bool(tile.height > tile.width))
    }

    /// Whether a grid is as high as wide; an error if it has no row.
    SQUARE_OF_GRID |m, _, step| {
        let tile = m.tile(step.a);
        if tile.height == 0 {
            return Err(BailOut::Empty);
        }
        Ok(Slot::of_bool(tile.height == tile.width))
    }

    /// Number of rows of a patch's box.
    HEIGHT_OF_PATCH |m, _, step| { Ok(Slot::of_int(m.patch(step.a).height.into())) }

    /// Number of columns of a patch's box.
    WIDTH_OF_PATCH |m, _, step| { Ok(Slot::of_int(m.patch(step.a).width.into())) }

    /// Height and width of a patch's box.
    SHAPE_OF_PATCH |m, _, step| {
        let patch = m.patch(step.a);
        Ok(Slot::of_loc(Loc::new(patch.height.into(), patch.width.into())))
    }

    /// Whether a patch's box is higher than wide.
    PORTRAIT_OF_PATCH |m, _, step| {
        let patch = m.patch(step.a);
        Ok(Slot::of_bool(patch.height > patch.width))
    }

    /// Whether a patch fills a box as high as wide.
    SQUARE_OF_PATCH |m, _, step| { Ok(Slot::of_bool(relations::square(m.shape(step.a)))) }

    /// Whether a patch is one column without gaps.
    VLINE for Vline(Patch) |m, _, step| { Ok(Slot::of_bool(relations::vline(m.shape(step.a)))) }

    /// Whether a patch is one row without gaps.
    HLINE for Hline(Patch) |m, _, step| { Ok(Slot::of_bool(relations::hline(m.shape(step.a)))) }

    /// The smallest row.
    UPPERMOST for Uppermost(Patch) |m, _, step| { Ok(Slot::of_int(filled(m, step.a)?.i)) }

    /// The largest row.
    LOWERMOST for Lowermost(Patch) |m, _, step| { Ok(Slot::of_int(end(&filled(m, step.a)?).i)) }

    /// The smallest column.
    LEFTMOST for Leftmost(Patch) |m, _, step| { Ok(Slot::of_int(filled(m, step.a)?.j)) }

    /// The largest column.
    RIGHTMOST for Rightmost(Patch) |m, _, step| { Ok(Slot::of_int(end(&filled(m, step.a)?).j)) }

    /// The upper left corner of the box.
    ULCORNER for Ulcorner(Patch) -> MaybePair |m, _, step| { Ok(corner(m, step.a, |start, _| Loc::new(start.i, start.j))) }

    /// The upper right corner of the box.
    URCORNER for Urcorner(Patch) -> MaybePair |m, _, step| { Ok(corner(m, step.a, |start, end| Loc::new(start.i, end.j))) }

    /// The lower left corner of the box.
    LLCORNER for Llcorner(Patch) -> MaybePair |m, _, step| { Ok(corner(m, step.a, |start, end| Loc::new(end.i, start.j))) }

    /// The lower right corner of the box.
    LRCORNER for Lrcorner(Patch) -> MaybePair |m, _, step| { Ok(corner(m, step.a, |_, end| end)) }

    /// The middle of the box.
    CENTER for Center(Patch) |m, _, step| {
        let centre = outlines::centre(m.shape(step.a)).ok_or(BailOut::Empty)?;
        Ok(Slot::of_loc(centre))
    }

    /// The mean location of a patch; two cells never share a location, so objects need no special case.
    CENTEROFMASS for Centerofmass(Patch) -> MaybePair |m, _, step| {
        Ok(outlines::centre_of_mass(m.shape(step.a)).map_or(Slot::MISSING, Slot::of_loc))
    }

    /// The direction from the first patch to the second.
    POSITION for Position(Patch, Patch) |m, _, step| {
        Ok(Slot::of_loc(related(m, step, relations::position)?))
    }

    /// Whether two patches share a row.
    HMATCHING for Hmatching(Patch, Patch) |m, _, step| {
        Ok(Slot::of_bool(relations::hmatching(m.shape(step.a), m.shape(step.b))))
    }

    /// Whether two patches share a column.
    VMATCHING for Vmatching(Patch, Patch) |m, _, step| {
        Ok(Slot::of_bool(relations::vmatching(m.shape(step.a), m.shape(step.b))))
    }

    /// The smallest distance of two patches.
    MANHATTAN for Manhattan(Patch, Patch) |m, _, step| {
        Ok(Slot::of_int(related(m, step, relations::manhattan)?))
    }

    /// Whether the smallest distance of two patches is 1.
    ADJACENT for Adjacent(Patch, Patch) |m, _, step| {
        Ok(Slot::of_bool(related(m, step, relations::adjacent)?))
    }

    /// Whether a patch's box reaches an edge of a grid.
    BORDERING for Bordering(Patch, Grid) |m, _, step| {
        let tile = m.tile(step.b);
        let reaches = relations::bordering(m.shape(step.a), tile.height, tile.width);
        // An empty patch and a grid without rows are the same error.
        Ok(Slot::of_bool(reaches.ok_or(BailOut::Empty)?))
    }

    /// The offset by which the first patch falls towards the second.
    GRAVITATE for Gravitate(Patch, Patch) |m, _, step| {
        Ok(Slot::of_loc(related(m, step, relations::gravitate)?))
    }
}

pub(super) fn select(primitive: Primitive, arguments: &[Type]) -> Option<Selection> {
    use Primitive as P;
    let first = arguments.first()?;
    let of_piece = |of_grid, of_patch| {
        Some(if is_grid(first) {
            Selection::new(of_grid, &[Constraint::Grid])
        } else {
            Selection::new(of_patch, &[Constraint::Patch])
        })
    };
    match primitive {
        P::Height => of_piece(&HEIGHT_OF_GRID, &HEIGHT_OF_PATCH),
        P::Width => of_piece(&WIDTH_OF_GRID, &WIDTH_OF_PATCH),
        P::Shape => of_piece(&SHAPE_OF_GRID, &SHAPE_OF_PATCH),
        P::Portrait => of_piece(&PORTRAIT_OF_GRID, &PORTRAIT_OF_PATCH),
        P::Square => of_piece(&SQUARE_OF_GRID, &SQUARE_OF_PATCH),
        // A tuple of locations has a size of its own, and counts repeated locations.
        P::Vline | P::Hline | P::Center | P::Centerofmass | P::Position | P::Gravitate
            if arguments.iter().any(is_grid) =>
        {
            None
        }
        _ => by_row(primitive),
    }
}
