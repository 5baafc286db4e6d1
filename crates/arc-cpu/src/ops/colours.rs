//! Colours of grids.

use super::is_grid;
use super::transforms::join_tiles;
use crate::kernel::kernels;
use crate::planes::colours;
use crate::selection::Selection;
use arc_dsl::Primitive;
use arc_form::Type;

kernels! {
    fn by_row;

    /// The most common colour.
    MOSTCOLOR for Mostcolor(Grid) |m, _, step| {
        colours::mostcolor(m.tile(step.a)).map(Slot::of_int).ok_or(BailOut::Empty)
    }

    /// The least common colour.
    LEASTCOLOR for Leastcolor(Grid) |m, _, step| {
        colours::leastcolor(m.tile(step.a)).map(Slot::of_int).ok_or(BailOut::Empty)
    }

    /// Number of cells that have a colour.
    COLORCOUNT for Colorcount(Grid, Int) |m, _, step| {
        Ok(Slot::of_int(colours::colorcount(m.tile(step.a), m.int(step.b)) as i32))
    }

    /// The colours that occur, ascending.
    PALETTE for Palette(Grid) |m, _, step| {
        let codes = colours::palette(m.tile(step.a));
        // The code 15 stands for -1, the smallest colour.
        let mut codes = u32::from(codes.rotate_left(1));
        let mut all = [Slot::default(); 16];
        let mut count = 0;
        while codes != 0 {
            all[count & 15] = Slot::of_int(codes.trailing_zeros() as i32 - 1);
            count += 1;
            codes &= codes - 1;
        }
        m.memory.lists.add(&all[..count])
    }

    /// How many colours occur.
    NUMCOLORS for Numcolors(Grid) |m, _, step| {
        Ok(Slot::of_int(colours::numcolors(m.tile(step.a)) as i32))
    }

    /// The grid with one colour replaced by another.
    REPLACE for Replace(Grid, Int, Int) |m, _, step| {
        let (replacee, replacer) = (m.int(step.b), m.int(step.c));
        let from = m.get(step.a).index();
        let (made, to) = m.memory.tiles.next()?;
        colours::replace(&made[from], replacee, replacer, to)?;
        Ok(m.memory.tiles.commit())
    }

    /// The grid with two colours exchanged.
    SWITCH for Switch(Grid, Int, Int) |m, _, step| {
        let (a, b) = (m.int(step.b), m.int(step.c));
        let from = m.get(step.a).index();
        let (made, to) = m.memory.tiles.next()?;
        colours::switch(&made[from], a, b, to)?;
        Ok(m.memory.tiles.commit())
    }

    /// The cells in which two grids agree, others in a fallback colour.
    CELLWISE for Cellwise(Grid, Grid, Int) |m, _, step| {
        let fallback = m.int(step.c);
        join_tiles(m, step.a, step.b, #[inline(always)] |a, b, to| {
            if colours::cellwise(a, b, fallback, to)? { Ok(()) } else { Err(BailOut::Fails) }
        })
    }

    /// The colour at a location.
    INDEX for Index(Grid, Pair) |m, _, step| {
        let tile = m.tile(step.a);
        if tile.height == 0 {
            return Err(BailOut::Empty);
        }
        Ok(colours::index(tile, m.loc(step.b)).map_or(Slot::MISSING, Slot::of_int))
    }
}

/// The kernel of a primitive of this family, for grids.
pub(super) fn select(primitive: Primitive, arguments: &[Type]) -> Option<Selection> {
    let of_grid = arguments.first().is_some_and(is_grid);
    by_row(primitive).filter(|_| of_grid)
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    #[test]
    fn colours_of_one_step_are_those_of_the_next() {
        let text = "def f(I):\n    x1 = leastcolor(I)\n    x2 = mostcolor(I)\n    x3 = switch(I, x1, x2)\n    x4 = replace(x3, x1, NEG_ONE)\n    x5 = cellwise(I, x4, FIVE)\n    x6 = colorcount(x5, FIVE)\n    x7 = palette(x4)\n    O = insert(x6, x7)\n    return O\n";
        let answered = check_text(text, 82, 200);
        assert!(answered > 180, "{answered}");
    }
}
