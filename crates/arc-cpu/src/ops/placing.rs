//! Filters of locations at once: where a pattern meets a set so often, and conditions on rows or
//! on columns alone.

use super::patches::{moved, of_colour};
use crate::bail_out::BailOut;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::Patch;
use crate::planes::placing::{Test, passing};
use crate::slot::Slot;
use arc_dsl::{Loc, MAX_INT};

/// How the number of locations is compared with that of [`PASSING`]'s step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// As large.
    Equal,
    /// Larger.
    More,
    /// Smaller.
    Fewer,
}

/// What [`PASSING`] counts and compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Whether those locations of the pattern count that the set has not.
    pub(crate) others: bool,
    /// What is added to their number.
    pub(crate) plus: i8,
    /// How the sum is compared.
    pub(crate) comparison: Comparison,
}

impl Counted {
    /// Its number, for `step.extra`.
    pub(crate) fn number(self) -> u32 {
        let comparison = match self.comparison {
            Comparison::Equal => 0,
            Comparison::More => 1,
            Comparison::Fewer => 2,
        };
        u32::from(self.plus as u8) << 8 | u32::from(self.others) << 2 | comparison
    }

    /// What has that number.
    #[inline(always)]
    fn of(number: u32) -> Self {
        Self {
            others: number >> 2 & 1 == 1,
            plus: (number >> 8) as u8 as i8,
            comparison: match number & 3 {
                0 => Comparison::Equal,
                1 => Comparison::More,
                _ => Comparison::Fewer,
            },
        }
    }
}

/// Keeps those locations of a patch that are in the window: the patch itself where these are all.
#[inline(always)]
fn keep(m: &mut Machine, slot: Slot, patch: &Patch) -> Result<Slot, BailOut> {
    if m.window.rows[..m.window.height] == *m.memory.patches.shape(patch).rows {
        return Ok(slot);
    }
    m.memory.patches.store_window(&mut m.window, patch.paint)
}

kernels! {
    /// The pattern `a` moved by `b`, to be moved on to each of the places `c`.
    PLACED |m, _, step| {
        let (pattern, places, way) = (m.patch(step.a), m.patch(step.c), m.loc(step.b));
        if places.is_empty() {
            return Ok(Slot::default());
        }
        // The sum of both ways has to be an integer of the language too, at every place.
        let fits = |way: i32, from: i32, size: u16| {
            let first = i64::from(way) + i64::from(from);
            let most = i64::from(MAX_INT);
            first >= -most && first + i64::from(size) - 1 <= most
        };
        if !(fits(way.i, places.i, places.height) && fits(way.j, places.j, places.width)) {
            return Err(BailOut::Number);
        }
        if pattern.is_empty() {
            return Ok(Slot::default());
        }
        moved(m, pattern, way)
    }

    /// The locations of a grid that have a colour, where cells are taken from it: the empty one
    /// has none to be taken.
    CELLS_OF_COLOUR |m, _, step| {
        if m.tile(step.a).height == 0 {
            return Err(BailOut::Fails);
        }
        of_colour(m, step)
    }

    /// The locations `a` at which the pattern `b` meets the set `c` as often as `extra` says of
    /// the number `d`.
    PASSING |m, _, step| {
        let slot = m.get(step.a);
        let [places, pattern, set] = [step.a, step.b, step.c].map(|at| m.patch(at));
        let number = i64::from(m.int(step.d));
        let Counted { others, plus, comparison } = Counted::of(step.extra);
        let number = number - i64::from(plus);
        let test = match comparison {
            Comparison::Equal => Test::Equal(number),
            Comparison::More => Test::More(number),
            Comparison::Fewer => Test::Fewer(number),
        };
        let patches = &m.memory.patches;
        let [all, pattern, set] = [&places, &pattern, &set].map(|patch| patches.shape(patch));
        let cells = pattern.count();
        let test = if others { test.of_the_others(cells) } else { test };
        let work = all.rows.len() * cells as usize / 64;
        passing(all, pattern, set, test, &mut m.window)?;
        m.spend(work)?;
        keep(m, slot, &places)
    }

    /// The locations whose column passes: the region looks at no row.
    FILTER_BY_COLUMN |m, code, step| {
        let region = code.region(step, 0);
        let (slot, patch) = (m.get(step.a), m.patch(step.a));
        let (mut asked, mut kept) = (0, 0);
        for r in 0..usize::from(patch.height) {
            // A column is asked where its first location comes.
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

    /// The locations whose row passes: the region looks at no column.
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
            // The stack holds rows here: loops inside take away what they put on it.
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
