//! Grids as rows: the larger or smaller colour of two grids in each cell.

use super::transforms::join_tiles;
use crate::kernel::kernels;
use crate::planes::{Misfit, rows};
use crate::slot::Slot;

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
