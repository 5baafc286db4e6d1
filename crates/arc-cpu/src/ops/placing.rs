//! Fused filters of locations: those at which a pattern meets a set a given number of times, and filters that
//! depend on rows or columns alone.

use super::patches::of_colour;
use crate::bail_out::BailOut;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::Patch;
use crate::planes::placing::{Test, passing};
use crate::slot::Slot;
use arc_dsl::Loc;

/// How [`PASSING`] compares the number of locations with its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// The same number.
    Equal,
    /// More.
    More,
    /// Fewer.
    Fewer,
}

/// Stores the locations of a patch that are in the window; the patch itself if that is all of them.
#[inline(always)]
fn keep(m: &mut Machine, slot: Slot, patch: &Patch) -> Result<Slot, BailOut> {
    if m.window.rows[..m.window.height] == *m.memory.patches.shape(patch).rows {
        return Ok(slot);
    }
    m.memory.patches.store_window(&mut m.window, patch.paint)
}

kernels! {
    /// The locations of a grid that have a colour, as an operand of a filter that takes cells of the grid: the
    /// reference fails to take cells of an empty grid.
    CELLS_OF_COLOUR |m, _, step| {
        if m.tile(step.a).height == 0 {
            return Err(BailOut::Fails);
        }
        of_colour(m, step)
    }

    /// The locations of `a` at which the number of locations that the pattern `b`, moved there, shares with the
    /// set `c` compares with the number `d` as `immediate`, a [`Comparison`], says.
    PASSING |m, _, step| {
        const EQUAL: u32 = Comparison::Equal as u32;
        const MORE: u32 = Comparison::More as u32;
        let slot = m.get(step.a);
        let [places, pattern, set] = [step.a, step.b, step.c].map(|at| m.patch(at));
        let number = i64::from(m.int(step.d));
        let test = match step.immediate {
            EQUAL => Test::Equal(number),
            MORE => Test::More(number),
            _ => Test::Fewer(number),
        };
        let patches = &m.memory.patches;
        let [all, pattern, set] = [&places, &pattern, &set].map(|patch| patches.shape(patch));
        let cells = pattern.count();
        let work = all.rows.len() * cells as usize / 64;
        passing(all, pattern, set, test, &mut m.window)?;
        m.spend(work)?;
        keep(m, slot, &places)
    }

    /// The locations whose column passes: the region does not use the row.
    FILTER_BY_COLUMN |m, code, step| {
        let region = code.region(step, 0);
        let (slot, patch) = (m.get(step.a), m.patch(step.a));
        let (mut asked, mut kept) = (0, 0);
        for r in 0..usize::from(patch.height) {
            // A column is tested at its first location.
            let mut left = m.memory.patches.row(patch.rows as usize + r) & !asked;
            asked |= left;
            while left != 0 {
                let bit = left & left.wrapping_neg();
                let column = patch.j + left.trailing_zeros() as i32;
                left ^= bit;
                let mark = m.memory.mark();
                m.give(&region, 0, Slot::of_loc(Loc::new(patch.i, column)));
                kept |= if m.region(code, &region)?.bool() { bit } else { 0 };
                m.memory.release(mark);
            }
        }
        if kept == asked {
            return Ok(slot);
        }
        let Machine { memory, window, .. } = &mut *m;
        window.place(patch.i, patch.j, u32::from(patch.height))?;
        let rows = memory.patches.shape(&patch).rows;
        for (to, from) in window.rows.iter_mut().zip(rows) {
            *to = from & kept;
        }
        memory.patches.store_window(window, patch.paint)
    }

    /// The locations whose row passes: the region does not use the column.
    FILTER_BY_ROW |m, code, step| {
        let region = code.region(step, 0);
        let (slot, patch) = (m.get(step.a), m.patch(step.a));
        let base = m.stack.len();
        for r in 0..usize::from(patch.height) {
            let mut row = m.memory.patches.row(patch.rows as usize + r);
            if row != 0 {
                let mark = m.memory.mark();
                m.give(&region, 0, Slot::of_loc(Loc::new(patch.i + r as i32, patch.j)));
                if !m.region(code, &region)?.bool() {
                    row = 0;
                }
                m.memory.release(mark);
            }
            // The stack holds rows here: inner loops pop what they push.
            m.stack.push(Slot(row as i64));
        }
        m.window.place(patch.i, patch.j, u32::from(patch.height))?;
        for (to, from) in m.window.rows.iter_mut().zip(&m.stack[base..]) {
            *to = from.0 as u64;
        }
        m.stack.truncate(base);
        keep(m, slot, &patch)
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    /// Checks programs that end with a filter of all locations by `x9`, which their forms fuse to these
    /// operations.
    fn check(lines: &[&str], operations: &[&str]) {
        let body = lines.join("\n    ");
        let text = format!(
            "def f(I):\n    x1 = asindices(I)\n    x2 = ofcolor(I, ZERO)\n    x3 = ofcolor(I, THREE)\n    {body}\n    O = sfilter(x1, x9)\n    return O\n"
        );
        let program = arc_text::parse_programs(&text).remove(0).unwrap();
        let form = arc_form::specialise(&program).unwrap().to_string();
        for operation in operations {
            assert!(
                form.contains(&format!("{operation}(v")),
                "{operation}: {form}"
            );
        }
        let answered = check_text(&text, 3, 60);
        assert!(answered > 40, "{text}{answered}");
    }

    #[test]
    fn patterns_meet_sets_as_in_the_reference() {
        check(
            &[
                "x4 = lbind(shift, x3)",
                "x5 = rbind(difference, x2)",
                "x9 = chain(matcher(size, ZERO), x5, x4)",
            ],
            &["met_as_often"],
        );
        check(
            &[
                "x4 = insert(ORIGIN, initset(TWO_BY_ZERO))",
                "x5 = chain(lbind(shift, x4), lbind(add, NEG_UNITY), identity)",
                "x6 = lbind(intersection, x2)",
                "x9 = chain(rbind(greater, ONE), size, compose(x6, x5))",
            ],
            &["met_more_often"],
        );
        check(
            &[
                "x4 = lbind(shift, x2)",
                "x5 = rbind(difference, x3)",
                "x6 = chain(matcher(size, ONE), x5, x4)",
                "x7 = chain(lbind(greater, TWO), size, compose(rbind(intersection, x3), dneighbors))",
                "x9 = fork(both, x7, compose(flip, x6))",
            ],
            &[
                "met_as_often",
                "met_less_often",
                "difference",
                "intersection",
            ],
        );
        check(
            &[
                "x4 = chain(positive, size, compose(rbind(intersection, x3), neighbors))",
                "x5 = chain(lbind(equality, ONE), size, compose(rbind(intersection, x2), ineighbors))",
                "x9 = fork(either, x4, x5)",
            ],
            &["met_as_often", "met_more_often", "combine"],
        );
    }

    #[test]
    fn cells_under_patterns_are_counted_as_in_the_reference() {
        let cells = "x4 = compose(rbind(toobject, I), neighbors)";
        check(
            &[
                cells,
                "x5 = width(I)",
                "x6 = rbind(colorcount, x5)",
                "x9 = chain(matcher(decrement, ONE), x6, x4)",
            ],
            &["coloured_as_often"],
        );
        check(
            &[
                cells,
                "x5 = chain(positive, decrement, rbind(colorcount, ZERO))",
                "x9 = chain(flip, x5, x4)",
            ],
            &["coloured_more_often", "difference"],
        );
        check(
            &[
                cells,
                "x9 = chain(lbind(greater, FIVE), rbind(colorcount, ZERO), x4)",
            ],
            &["coloured_less_often"],
        );
    }
}
