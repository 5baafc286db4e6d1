//! Patches in parts: lists of patches that their uses iterate over, instead of the union.
//!
//! No bounding box has to hold all parts, so a union that would be too large for a patch need not bail out.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

use super::patches::{TUPLE, moved, nothing_moved};
use crate::bail_out::BailOut;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::Paint;
use crate::planes::{COLUMNS, ROWS, Shape, outlines, sets};
use crate::selection::{Constraint, Immediate, Selection};
use crate::slot::Slot;
use arc_dsl::{Loc, Primitive};
use arc_form::Type;

/// The most rows or columns of an outline in parts.
const MOST: u32 = 4096;

/// Pushes a bar, one row or one column, on the stack, in parts that fit patches.
#[inline(always)]
fn push_bar(m: &mut Machine, start: Loc, height: u32, width: u32) -> Result<(), BailOut> {
    const COLUMN: [u64; ROWS] = [1; ROWS];
    let mut left = 0;
    while left < width {
        let columns = (width - left).min(COLUMNS);
        let row = [sets::columns(columns)];
        let mut down = 0;
        while down < height {
            let rows = (height - down).min(ROWS as u32);
            // A bar is one row or one column.
            let rows = if height == 1 {
                &row[..]
            } else {
                &COLUMN[..rows as usize]
            };
            let part = Shape {
                i: start.i + down as i32,
                j: start.j + left as i32,
                width: columns,
                rows,
            };
            let part = m.memory.patches.store(part, Paint::None)?;
            m.stack.push(part);
            down += rows.len() as u32;
        }
        left += columns;
    }
    Ok(())
}

/// The outline of the box between two locations, in one part if it fits a patch.
#[inline(always)]
fn outline(m: &mut Machine, start: Loc, end: Loc) -> Result<Slot, BailOut> {
    let (height, width) = (end.i.abs_diff(start.i) + 1, end.j.abs_diff(start.j) + 1);
    let base = m.stack.len();
    if height <= ROWS as u32 && width <= COLUMNS {
        outlines::frame(start, height, width, &mut m.window)?;
        let whole = m.store_window()?;
        return m.memory.lists.add(&[whole]);
    }
    if height > MOST || width > MOST {
        return Err(BailOut::Patch);
    }
    push_bar(m, start, 1, width)?;
    push_bar(m, Loc::new(end.i, start.j), 1, width)?;
    push_bar(m, start, height, 1)?;
    push_bar(m, Loc::new(start.i, end.j), height, 1)?;
    m.list_of_stack(base)
}

kernels! {
    /// The outline around a list of locations, which may be far apart, in parts.
    BOX_IN_PARTS |m, _, step| {
        let locs = m.list(step.a).iter().map(|slot| slot.loc());
        let corners = locs.map(|loc| (loc, loc)).reduce(|(start, end), (loc, _)| {
            let start = Loc::new(start.i.min(loc.i), start.j.min(loc.j));
            (start, Loc::new(end.i.max(loc.i), end.j.max(loc.j)))
        });
        // Without locations the reference returns the tuple itself, which is not a set.
        let (start, end) = corners.ok_or(BailOut::Type)?;
        outline(m, start, end)
    }

    /// All parts moved; empty parts are dropped.
    SHIFT_PARTS |m, _, step| {
        let way = m.loc(step.b);
        let base = m.stack.len();
        for at in 0..m.list(step.a).len() {
            let part = m.memory.patches.get(m.list(step.a)[at]);
            if !part.is_empty() {
                let part = moved(m, part, way)?;
                m.stack.push(part);
            }
        }
        if m.stack.len() == base {
            return nothing_moved(step);
        }
        m.list_of_stack(base)
    }
}

/// Whether it is a list of patches that represents their union.
pub(crate) fn is_layers(ty: &Type) -> bool {
    match ty {
        Type::Set(element) | Type::Tuple(element) => {
            matches!(**element, Type::Indices | Type::Object)
        }
        _ => false,
    }
}

/// Whether it is a tuple of locations.
pub(crate) fn is_locs(ty: &Type) -> bool {
    match ty {
        Type::Tuple(element) => **element == Type::Pair,
        Type::Fixed(items) => items.iter().all(|item| *item == Type::Pair),
        _ => false,
    }
}

/// The kernel of a primitive whose result is a patch in parts, and the type of its result; its arguments that
/// are patches are in parts too.
pub(crate) fn select(primitive: Primitive, arguments: &[Type]) -> Option<(Selection, Type)> {
    use Constraint as C;
    use Primitive as P;
    Some(match (primitive, arguments) {
        (P::Box, [locs]) if is_locs(locs) => {
            let selection = Selection::new(&BOX_IN_PARTS, &[C::Own(0)]);
            let selection = selection.of([Type::tuple_of(Type::Pair)]);
            (selection, Type::Set(Type::Indices.into()))
        }
        (P::Shift, [patch, _]) if is_layers(patch) => {
            let tuple = matches!(patch, Type::Tuple(_));
            let immediate = Immediate::Number(if tuple { TUPLE } else { 0 });
            let selection = Selection::new(&SHIFT_PARTS, &[C::AsIs, C::Pair]).with(immediate);
            (selection, Type::Set(patch.element()?.into()))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    /// Boxes far larger than a patch can be, moved, some of them off the grid.
    #[test]
    fn outlines_of_any_size_are_moved_and_painted() {
        for factor in [1, 5, 9, 40] {
            for way in ["x0", "(-300, 4)", "(2, 7)", "(0, 0)"] {
                let text = format!(
                    "def f(I):\n x0 = shape(I)\n x1 = interval(0, 9, 1)\n \
                     x2 = interval(0, -9, -1)\n x3 = multiply((1, 2), {factor})\n \
                     x4 = lbind(multiply, x3)\n x5 = apply(x4, x1)\n x6 = apply(x4, x2)\n \
                     x7 = pair(x5, x6)\n x8 = mapply(box, x7)\n x9 = shift(x8, {way})\n \
                     return fill(I, 7, x9)\n"
                );
                let answered = check_text(&text, 5, 60);
                assert!(answered > 40, "{text}{answered}");
            }
        }
    }
}
