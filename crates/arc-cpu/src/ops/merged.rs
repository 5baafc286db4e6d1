//! The cells of all objects of a grid.

use crate::bail_out::BailOut;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::Paint;
use crate::planes::colours;
use crate::slot::At;
use crate::slot::Slot;

/// The cells of a grid: all, or those that do not have the background's colour.
#[inline(always)]
fn cells(m: &mut Machine, grid: At, without_bg: bool) -> Result<Slot, BailOut> {
    let slot = m.get(grid);
    let Machine { memory, window, .. } = &mut *m;
    let tile = memory.tiles.get(slot);
    let mut bits = tile.bits();
    if without_bg {
        let code = colours::most_common(tile).ok_or(BailOut::Empty)?;
        let background = tile.of_code(code);
        for (row, background) in bits.iter_mut().zip(background) {
            *row &= !background;
        }
    }
    window.take(&bits);
    let paint = Paint::Tile {
        tile: slot.index() as u32,
        i: 0,
        j: 0,
    };
    memory.patches.store_window(window, paint)
}

kernels! {
    /// The cells of the objects of a grid; the flags are those of `objects`.
    CELLS_OF_OBJECTS |m, _, step| {
        if m.tile(step.a).height == 0 {
            return Err(BailOut::Empty);
        }
        let without_bg = m.get(step.d).bool();
        cells(m, step.a, without_bg)
    }

    /// The cells of a grid that do not have the background's colour.
    FOREGROUND_CELLS |m, _, step| { cells(m, step.a, true) }

    /// All cells of a grid.
    ALL_CELLS |m, _, step| { cells(m, step.a, false) }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    #[test]
    fn merged_objects_are_those_of_the_reference() {
        for body in [
            "x1 = objects(I, T, F, T)\n    O = merge(x1)",
            "x1 = objects(I, F, T, F)\n    x2 = merge(x1)\n    O = normalize(x2)",
            "x1 = fgpartition(I)\n    x2 = merge(x1)\n    x3 = shift(x2, UNITY)\n    O = paint(I, x3)",
            "x1 = partition(I)\n    x2 = merge(x1)\n    x3 = merge(x1)\n    O = astuple(x2, x3)",
            "x1 = objects(I, T, T, T)\n    x2 = merge(x1)\n    O = fill(I, THREE, x2)",
            "x1 = objects(I, T, T, T)\n    x2 = merge(x1)\n    x3 = size(x1)\n    O = astuple(x2, x3)",
            "x1 = canvas(ZERO, ORIGIN)\n    x2 = fgpartition(x1)\n    O = merge(x2)",
            "x1 = crop(I, ORIGIN, ORIGIN)\n    x2 = objects(x1, T, T, F)\n    O = merge(x2)",
            "x1 = crop(I, ORIGIN, ORIGIN)\n    x2 = fgpartition(x1)\n    O = merge(x2)",
            "x1 = astuple(I, I)\n    x2 = compose(merge, fgpartition)\n    O = apply(x2, x1)",
        ] {
            let text = format!("def f(I):\n    {body}\n    return O\n");
            let answered = check_text(&text, 8, 60);
            assert!(answered > 45, "{text}{answered}");
        }
    }
}
