//! Filters of cells that depend on the colour alone: they run the region once per colour, not per cell.

use crate::kernel::kernels;
use crate::memory::Paint;
use crate::planes::colour_of;
use crate::planes::object::in_order;
use arc_dsl::{Cell, Loc};

kernels! {
    /// The cells for whose colour the region holds; the region uses nothing else of a cell.
    FILTER_BY_COLOUR |m, code, step| {
        let slot = m.get(step.a);
        let region = code.region(step, 0);
        let codes = m.memory.object(&m.memory.patches.get(slot)).palette();
        let mut kept = 0;
        // Ascending, in the reference's order, so that the same colour is the first to fail.
        for code_of_cells in in_order(codes) {
            let mark = m.memory.mark();
            let cell = Cell::new(colour_of(code_of_cells), Loc::new(0, 0));
            m.give(&region, 0, Slot::of_cell(cell).unwrap_or_default());
            let holds = m.region(code, &region)?.bool();
            kept |= u16::from(holds) << code_of_cells;
            m.memory.release(mark);
        }
        if kept == codes {
            return Ok(slot);
        }
        if kept == 0 {
            return Ok(Slot::default());
        }
        let Machine { memory, window, .. } = m;
        let patch = memory.patches.get(slot);
        memory.object(&patch).of_codes(kept, window)?;
        let paint = if kept.is_power_of_two() {
            Paint::One(kept.trailing_zeros())
        } else {
            patch.paint
        };
        memory.patches.store_window(window, paint)
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    #[test]
    fn filters_by_colour_give_what_the_reference_gives() {
        for (objects, test) in [
            ("objects(I, F, T, F)", "compose(lbind(equality, 3), first)"),
            (
                "objects(I, F, T, T)",
                "compose(rbind(contained, (0, 2, 5)), first)",
            ),
            (
                "objects(I, F, F, F)",
                "compose(flip, compose(rbind(greater, 4), first))",
            ),
            ("objects(I, T, F, F)", "compose(even, first)"),
            ("objects(I, F, T, F)", "matcher(first, 0)"),
            // Cells of some colours only, and different tests of different colours.
            (
                "objects(I, F, T, F)",
                "compose(rbind(greater, 1), compose(first, compose(first, compose(x0, first))))",
            ),
            (
                "objects(I, F, T, F)",
                "compose(positive, compose(size, compose(lbind(ofcolor, I), first)))",
            ),
        ] {
            let text = format!(
                "def f(I):\n    x9 = replace(I, 0, 1)\n    x0 = lbind(ofcolor, x9)\n    x1 = {objects}\n    x2 = rbind(sfilter, {test})\n    \
                x3 = apply(x2, x1)\n    x4 = merge(x3)\n    O = shift(x4, (1, 0))\n    return O\n"
            );
            let answered = check_text(&text, 21, 300);
            assert!(answered > 150, "{answered}: {text}");
        }
    }

    #[test]
    fn what_is_left_takes_part_in_what_follows() {
        let text = "def f(I):\n    x1 = asobject(I)\n    x2 = matcher(first, 0)\n    \
            x3 = sfilter(x1, x2)\n    x4 = difference(x1, x3)\n    x5 = combine(x3, x4)\n    \
            x6 = equality(x5, x1)\n    x7 = palette(x4)\n    x8 = intersection(x3, x5)\n    \
            O = astuple(astuple(x6, x7), astuple(x8, x4))\n    return O\n";
        assert!(check_text(text, 22, 300) > 200);
    }
}
