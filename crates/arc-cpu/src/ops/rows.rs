//! Grids as rows: the larger or smaller colour of two grids in each cell, and selections of rows.

use super::transforms::join_tiles;
use crate::elements::Cursor;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::planes::{Misfit, rows};
use crate::selection::{Constraint, Selection};
use crate::slot::Slot;
use arc_dsl::Primitive;
use arc_form::Type;

/// Packs a row of at most 32 integers into planes.
#[inline(always)]
pub(super) fn planes_of(row: &[Slot]) -> Result<[u32; 4], Misfit> {
    let mut planes = [0; 4];
    let mut wrong = false;
    for (at, cells) in row.chunks(8).enumerate() {
        let mut codes = 0;
        for (j, cell) in cells.iter().enumerate() {
            let colour = cell.int();
            wrong |= !(-1..15).contains(&colour);
            codes |= u64::from(colour as u8) << (8 * j);
        }
        for (plane, bits) in planes.iter_mut().zip(rows::planes_of_eight(codes)) {
            *plane |= bits << ((8 * at) & 31);
        }
    }
    if wrong {
        Err(Misfit::Colour)
    } else {
        Ok(planes)
    }
}

/// Which rows of a grid equal a list of integers.
#[inline(always)]
fn equal_rows(m: &Machine, grid: Slot, row: Slot) -> u32 {
    let tile = m.memory.tiles.get(grid);
    let row = m.memory.lists.get(row);
    if row.len() != tile.width as usize {
        return 0;
    }
    // An integer that is not a colour is in no grid.
    planes_of(row).map_or(0, |planes| rows::equal(tile, planes))
}

kernels! {
    /// In each cell, the larger of the colours of two grids.
    LARGER_COLOURS |m, _, step| {
        join_tiles(m, step.a, step.b, |a, b, to| {
            rows::outer_colours(a, b, true, to);
            Ok(())
        })
    }

    /// In each cell, the smaller of the colours of two grids.
    SMALLER_COLOURS |m, _, step| {
        join_tiles(m, step.a, step.b, |a, b, to| {
            rows::outer_colours(a, b, false, to);
            Ok(())
        })
    }

    /// The rows of a grid that are equal to none above them.
    DEDUPE_ROWS |m, _, step| {
        m.make_tile(step.a, #[inline(always)] |tile, to| rows::chosen(tile, rows::distinct(tile), to))
    }

    /// The rows of a grid that differ from a list of integers.
    REMOVE_ROW |m, _, step| {
        let equal = equal_rows(m, m.get(step.b), m.get(step.a));
        if equal == 0 {
            return Ok(m.get(step.b));
        }
        m.make_tile(step.b, |tile, to| rows::chosen(tile, rows::all(tile) & !equal, to))
    }

    /// The last row of a grid.
    LAST_ROW |m, _, step| {
        let tile = m.get(step.a);
        let end = m.memory.tiles.get(tile).height as usize;
        let row = end.checked_sub(1).ok_or(BailOut::Empty)?;
        Cursor::Grid { tile, row, end }.next(&mut m.memory)?.ok_or(BailOut::Empty)
    }

    /// The rows of a grid for which the region holds.
    FILTER_ROWS |m, code, step| {
        let region = code.region(step, 0);
        let grid = m.get(step.a);
        let mut elements = Cursor::new(&m.memory, &Type::Grid, grid);
        let (mut kept, mut bit) = (0u32, 1);
        loop {
            let mark = m.memory.mark();
            let Some(row) = elements.next(&mut m.memory)? else {
                break;
            };
            m.give(&region, 0, row);
            if m.region(code, &region)?.bool() {
                kept |= bit;
            }
            bit <<= 1;
            m.memory.release(mark);
        }
        if kept == rows::all(m.memory.tiles.get(grid)) {
            return Ok(grid);
        }
        m.make_tile(step.a, |tile, to| rows::chosen(tile, kept, to))
    }
}

/// The kernel of a primitive that takes a grid as a tuple of rows.
pub(super) fn select(primitive: Primitive, arguments: &[Type], result: &Type) -> Option<Selection> {
    use Constraint as C;
    use Primitive as P;
    // Only these primitives build a row as a list, since that has a cost.
    let row = || Type::tuple_of(Type::Int);
    Some(match (primitive, arguments) {
        (P::Dedupe, [Type::Grid]) if *result == Type::Grid => {
            Selection::new(&DEDUPE_ROWS, &[C::AsIs])
        }
        (P::Remove, [value, Type::Grid])
            if *result == Type::Grid && value.join(&row()) == Some(row()) =>
        {
            Selection::new(&REMOVE_ROW, &[C::Own(0), C::AsIs]).of([row()])
        }
        (P::Last, [Type::Grid]) if *result == row() => Selection::new(&LAST_ROW, &[C::AsIs]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    #[test]
    fn programs_on_rows_agree_with_the_reference() {
        for body in [
            "x1 = dedupe(I)\n    x2 = dmirror(x1)\n    O = dedupe(x2)",
            "x1 = vmirror(I)\n    x2 = last(I)\n    O = remove(x2, x1)",
            "x1 = last(I)\n    x2 = remove(x1, I)\n    O = hmirror(x2)",
            "x1 = interval(ZERO, THREE, ONE)\n    O = remove(x1, I)",
            "x1 = astuple(ZERO, TEN)\n    O = remove(x1, I)",
            "x1 = chain(rbind(greater, ONE), size, dedupe)\n    x2 = sfilter(I, x1)\n    O = dmirror(x2)",
            "x1 = compose(even, size)\n    x2 = sfilter(I, x1)\n    x3 = repeat(x2, ONE)\n    O = merge(x3)",
            "x1 = apply(mostcommon, I)\n    x2 = apply(leastcommon, I)\n    O = astuple(x1, x2)",
            "x1 = apply(dedupe, I)\n    x2 = merge(I)\n    x3 = dedupe(x2)\n    O = astuple(x1, x3)",
            "x1 = apply(rbind(multiply, TEN), first(I))\n    x2 = mostcommon(x1)\n    x3 = dedupe(x1)\n    O = astuple(x2, x3)",
        ] {
            let text = format!("def f(I):\n    {body}\n    return O\n");
            let answered = check_text(&text, 6, 80);
            assert!(answered > 50, "{text}{answered}");
        }
    }

    /// Two grids combined: as a new grid, as a container that is iterated over, and inside a loop.
    #[test]
    fn colours_are_compared_as_in_the_reference() {
        for (which, rest) in [
            ("maximum", "O = x4"),
            ("minimum", "O = x4"),
            ("maximum", "O = vmirror(x4)"),
            ("minimum", "O = apply(first, x4)"),
            ("maximum", "O = astuple(x4, x4)"),
            ("minimum", "O = partition(x4)"),
            (
                "maximum",
                "x5 = cmirror(x4)\n    x6 = shape(x4)\n    x7 = mostcolor(x4)\n    x8 = astuple(x6, x7)\n    O = astuple(x5, x8)",
            ),
            (
                "maximum",
                "x5 = hmirror(x4)\n    x6 = papply(pair, x4, x5)\n    O = apply(x2, x6)",
            ),
            (
                "maximum",
                "x5 = papply(pair, x4, x4)\n    x6 = apply(x2, x5)\n    O = astuple(x6, x5)",
            ),
            (
                "minimum",
                "x5 = lbind(papply, pair)\n    x6 = lbind(x5, I)\n    x7 = lbind(apply, x2)\n    x8 = chain(last, x7, x6)\n    x9 = astuple(x1, x4)\n    O = apply(x8, x9)",
            ),
        ] {
            let text = format!(
                "def f(I):\n    x1 = dmirror(I)\n    x2 = lbind(apply, {which})\n    x3 = papply(pair, I, x1)\n    x4 = apply(x2, x3)\n    {rest}\n    return O\n"
            );
            let answered = check_text(&text, 7, 80);
            assert!(answered > 50, "{text}{answered}");
        }
    }
}
