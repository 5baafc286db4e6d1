//! Sets of locations computed from patches, locations and grids; moved patches.

use super::is_grid;
use crate::bail_out::BailOut;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::{Paint, Patch};
use crate::planes::{Misfit, Shape, Window, code_of, outlines};
use crate::program::Step;
use crate::selection::{Immediate, Selection};
use crate::slot::At;
use crate::slot::Slot;
use arc_dsl::{Loc, MAX_INT, Primitive};
use arc_form::Type;

/// A set of locations computed from a patch, with a tight box.
#[inline(always)]
fn of_shape(
    m: &mut Machine,
    from: At,
    make: impl FnOnce(Shape<'_>, &mut Window) -> Result<(), Misfit>,
) -> Result<Slot, BailOut> {
    let patch = m.patch(from);
    make(m.memory.patches.shape(&patch), &mut m.window)?;
    m.store_tight()
}

/// The same for a patch that must not be empty.
#[inline(always)]
fn of_box(
    m: &mut Machine,
    from: At,
    make: impl FnOnce(Shape<'_>, &mut Window) -> Result<(), Misfit>,
) -> Result<Slot, BailOut> {
    if m.patch(from).is_empty() {
        return Err(BailOut::Empty);
    }
    of_shape(m, from, make)
}

/// A set of locations computed from a location.
#[inline(always)]
fn of_loc(
    m: &mut Machine,
    from: At,
    make: impl FnOnce(Loc, &mut Window) -> Result<(), Misfit>,
) -> Result<Slot, BailOut> {
    let loc = m.loc(from);
    make(loc, &mut m.window)?;
    m.store_tight()
}

/// The patch moved, with its colours.
#[inline(always)]
pub(super) fn moved(m: &mut Machine, patch: Patch, way: Loc) -> Result<Slot, BailOut> {
    // Components of locations are so small that the sum of two does not wrap.
    let (i, j) = (patch.i + way.i, patch.j + way.j);
    let bottom = i64::from(i) + i64::from(patch.height) - 1;
    let right = i64::from(j) + i64::from(patch.width) - 1;
    if i.min(j) < -MAX_INT || bottom.max(right) > i64::from(MAX_INT) {
        return Err(BailOut::Number);
    }
    let paint = match patch.paint {
        Paint::Tile { tile, i, j } => Paint::Tile {
            tile,
            i: i.wrapping_add(way.i),
            j: j.wrapping_add(way.j),
        },
        paint => paint,
    };
    m.memory.patches.add(Patch {
        i,
        j,
        paint,
        ..patch
    })
}

/// The result of moving an empty patch: the patch itself, which is not a set if it was a tuple.
#[inline(always)]
pub(super) fn nothing_moved(step: &Step) -> Result<Slot, BailOut> {
    if step.immediate == TUPLE {
        Err(BailOut::Type)
    } else {
        Ok(Slot::default())
    }
}

/// The `step.immediate` that says that the patch was a tuple.
pub(super) const TUPLE: u32 = 1;

/// The locations of a grid that have a colour.
#[inline(always)]
pub(super) fn of_colour(m: &mut Machine, step: &Step) -> Result<Slot, BailOut> {
    let tile = m.memory.tiles.get(m.slots[step.a as usize]);
    // A colour without a code does not occur.
    let Ok(code) = code_of(m.int(step.b)) else {
        return Ok(Slot::default());
    };
    m.window.take(&tile.of_code(code));
    m.window.height = tile.height as usize;
    m.store_window()
}

kernels! {
    fn by_row;

    /// All locations of a grid.
    ASINDICES for Asindices(Grid) |m, _, step| {
        let tile = m.memory.tiles.get(m.slots[step.a as usize]);
        let columns = u64::from(tile.columns());
        m.window.place(0, 0, tile.height)?;
        m.window.rows[..tile.height as usize & 63].fill(columns);
        m.store_window()
    }

    /// The locations of a grid that have a colour.
    OFCOLOR for Ofcolor(Grid, Int) |m, _, step| { of_colour(m, step) }

    /// The patch without its colours.
    TOINDICES for Toindices(Patch) |m, _, step| {
        let patch = m.patch(step.a);
        match patch.paint {
            Paint::None => Ok(m.get(step.a)),
            _ => m.memory.patches.add(Patch { paint: Paint::None, ..patch }),
        }
    }

    /// The patch moved.
    SHIFT for Shift(Patch, Pair) |m, _, step| {
        let patch = m.patch(step.a);
        if patch.is_empty() {
            return nothing_moved(step);
        }
        let way = m.loc(step.b);
        moved(m, patch, way)
    }

    /// The patch moved to the origin.
    NORMALIZE for Normalize(Patch) |m, _, step| {
        let patch = m.patch(step.a);
        if patch.is_empty() {
            return nothing_moved(step);
        }
        moved(m, patch, Loc::new(-patch.i, -patch.j))
    }

    /// The four locations beside a location.
    DNEIGHBORS for Dneighbors(Pair) |m, _, step| { of_loc(m, step.a, outlines::dneighbors) }

    /// The four locations diagonal to a location.
    INEIGHBORS for Ineighbors(Pair) |m, _, step| { of_loc(m, step.a, outlines::ineighbors) }

    /// The eight locations around a location.
    NEIGHBORS for Neighbors(Pair) |m, _, step| { of_loc(m, step.a, outlines::neighbors) }

    /// The column of a location.
    VFRONTIER for Vfrontier(Pair) |m, _, step| { of_loc(m, step.a, outlines::vfrontier) }

    /// The row of a location.
    HFRONTIER for Hfrontier(Pair) |m, _, step| { of_loc(m, step.a, outlines::hfrontier) }

    /// The line between two locations.
    CONNECT for Connect(Pair, Pair) |m, _, step| {
        let (loc, other) = (m.loc(step.a), m.loc(step.b));
        let width = outlines::connect(loc, other, &mut m.window)?;
        if width == 0 {
            // Most pairs of locations have no line.
            return Ok(Slot::default());
        }
        m.store_tight()
    }

    /// The line from a location in a direction.
    SHOOT for Shoot(Pair, Pair) |m, _, step| {
        let (loc, direction) = (m.loc(step.a), m.loc(step.b));
        outlines::shoot(loc, direction, &mut m.window)?;
        m.store_tight()
    }

    /// The corners of the bounding box.
    CORNERS for Corners(Patch) |m, _, step| {
        // The reference returns no locations for an empty patch.
        if m.patch(step.a).is_empty() {
            return Err(BailOut::Type);
        }
        of_shape(m, step.a, outlines::corners)
    }

    /// All locations of the bounding box.
    BACKDROP for Backdrop(Patch) |m, _, step| { of_shape(m, step.a, outlines::backdrop) }

    /// The locations of the bounding box that are not in the patch.
    DELTA for Delta(Patch) |m, _, step| {
        let patch = m.patch(step.a);
        outlines::delta(m.memory.patches.shape(&patch), &mut m.window)?;
        m.store_window()
    }

    /// The outline of the bounding box.
    BOX for Box(Patch) |m, _, step| {
        if m.patch(step.a).is_empty() {
            return nothing_moved(step);
        }
        of_shape(m, step.a, outlines::r#box)
    }

    /// The outline one inside the bounding box.
    INBOX for Inbox(Patch) |m, _, step| { of_box(m, step.a, outlines::inbox) }

    /// The outline one outside the bounding box.
    OUTBOX for Outbox(Patch) |m, _, step| { of_box(m, step.a, outlines::outbox) }
}

pub(super) fn select(primitive: Primitive, arguments: &[Type]) -> Option<Selection> {
    use Primitive as P;
    let is_tuple = is_grid(arguments.first()?);
    let selection = by_row(primitive)?;
    match primitive {
        // The reference first turns the cells of a tuple into a set.
        P::Toindices | P::Delta if is_tuple && arguments[0].element() != Some(Type::Cell) => None,
        P::Shift | P::Normalize | P::Box => {
            Some(selection.with(Immediate::Number(if is_tuple { TUPLE } else { 0 })))
        }
        _ => Some(selection),
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    /// Objects whose colours lie in a larger grid.
    #[test]
    fn colours_go_with_their_cells() {
        for mirror in ["hmirror", "vmirror", "dmirror", "cmirror"] {
            for made in ["asindices(I)", "ofcolor(I, 0)", "ofcolor(I, 5)"] {
                let text = format!(
                    "def f(I):\n    x1 = {made}\n    x2 = shift(x1, (2, -1))\n    \
                     x3 = toobject(x2, I)\n    x4 = {mirror}(x3)\n    x5 = shift(x4, (-7, 3))\n    \
                     x6 = {mirror}(x5)\n    O = dmirror(x6)\n    return O\n"
                );
                let answered = check_text(&text, 2, 60);
                assert!(answered > 40, "{mirror} {made}: {answered}");
            }
        }
        let text = "def f(I):\n    x1 = ofcolor(I, 0)\n    x2 = shift(x1, (2, 1))\n    \
                    x3 = toobject(x2, I)\n    x4 = upscale(x3, 2)\n    O = shift(x4, (-7, 3))\n    \
                    return O\n";
        let answered = check_text(text, 3, 60);
        assert!(answered > 30, "{answered}");
    }
}
