//! What the order of a set leaves open. If only the verdict is asked for, and the output is wrong whichever element
//! comes first, then the order need not be found: most programs are wrong on most tasks.

use super::bail_out::BailOut;
use super::definition::{Choice, Open};
use super::machine::Machine;
use super::program::{Code, Region, Step};
use super::slot::Slot;
use super::{Compiled, Output};
use crate::kernel;
use crate::planes::{NO_BITS, Tile};
use arc_dsl::{Grid, Primitive};
use smallvec::{SmallVec, smallvec};

/// How many elements are tried in one evaluation, and the steps after which it is sooner known which one is first.
pub(crate) const MOST_TRIES: usize = 4096;
const MOST_STEPS: u64 = 4_000;

impl Code {
    /// If each cell of the grid that the step with this result gives is read for the same cell of the output alone: whether
    /// that has the same colour, unless it is painted over.
    #[cold]
    pub(crate) fn keeps_cells(&self, slot: impl Into<u32>) -> Option<bool> {
        use Primitive as P;
        let Region {
            start, end, result, ..
        } = self.regions[0];
        let mut made: SmallVec<[u32; 4]> = smallvec![slot.into()];
        let mut keeps_colours = true;
        let reads = |made: &[u32], step: &Step| {
            // Steps with many operands read a range of them; that is no number of a loop.
            let more = if step.region == 0 { step.immediate } else { 0 };
            let all = u32::from(step.a)..=u32::from(step.a).saturating_add(more);
            let others = [step.b, step.c, step.d].map(u32::from);
            (
                made.contains(&step.a.into()),
                made.iter()
                    .any(|slot| all.contains(slot) || others.contains(slot)),
            )
        };
        let body = start as usize..end as usize;
        for (step, origin) in self.steps[body.clone()]
            .iter()
            .zip(&self.origins[body.clone()])
        {
            match (origin.primitive, reads(&made, step)) {
                (Some(P::Fill | P::Paint | P::Replace | P::Switch), (true, _))
                    if ![step.b, step.c, step.d]
                        .iter()
                        .any(|at| made.contains(&u32::from(*at))) =>
                {
                    made.push(step.to.into());
                    keeps_colours &= matches!(origin.primitive, Some(P::Fill | P::Paint));
                }
                (_, (_, true)) => return None,
                _ => {}
            }
        }
        let mut inner = self
            .steps
            .iter()
            .enumerate()
            .filter(|(at, _)| !body.contains(at));
        let is_kept = made.contains(&result.into()) && !inner.any(|(_, step)| reads(&made, step).1);
        is_kept.then_some(keeps_colours)
    }
}

impl Machine {
    /// Leaves less open from now on: only cells of which the order is not known at once, and then none.
    pub(crate) fn narrow(&mut self) {
        self.narrows &= self.tries_left > 0;
        self.tries_left = 0;
    }

    /// Whether the output is another grid than `expected`, whatever is chosen in the step that has failed, and whichever
    /// colours the open cells have.
    pub(crate) fn is_wrong(
        &mut self,
        program: &Compiled,
        expected: &Grid,
        mut open: Option<Open>,
    ) -> bool {
        let (code, failed) = (&program.code, self.failed.take());
        let choice = std::mem::take(&mut self.choice);
        let (elements, step) = match (choice, failed) {
            (Choice::Cells(slot, cells), Some(step)) => {
                let open = open.get_or_insert_with(|| [NO_BITS; 16].into());
                let rows = open.as_flattened_mut().iter_mut();
                rows.zip(cells.as_flattened())
                    .for_each(|(row, more)| *row |= more);
                (vec![slot], step)
            }
            (Choice::Elements(elements), Some(step)) => (elements, step),
            _ => return false,
        };
        let rest = Region {
            start: step + 1,
            ..code.regions[0]
        };
        let to = usize::from(code.steps[step as usize].to);
        let spent = (self.fuel, self.calls, self.orders_left);
        let (known, mark) = (self.known.clone(), self.memory.mark());
        // What would have to be found for each of them is sooner found for one.
        self.orders_left = 0;
        let is_wrong = elements.into_iter().all(|element| {
            if spent.0 - self.fuel > MOST_STEPS {
                return false;
            }
            self.slots[to] = element;
            let result = self.region(code, &rest);
            let result = result.and_then(|slot| self.check_weight(&code.output, slot));
            let is_wrong = match result {
                Ok(slot) => match &open {
                    Some(open) => self.differs(slot, open, expected),
                    None => !Output::new(self, code, slot).equals(expected),
                },
                Err(BailOut::Choice) => self.is_wrong(program, expected, open.clone()),
                Err(_) => false,
            };
            self.failed = None;
            self.known.clone_from(&known);
            self.memory.release(mark);
            is_wrong
        });
        (self.fuel, self.calls, self.orders_left) = spent;
        is_wrong
    }

    /// Whether a grid differs from this one in its size, in other cells than the open ones, or in one of these, whichever
    /// of its colours that has.
    fn differs(&self, slot: Slot, open: &Open, expected: &Grid) -> bool {
        let found = self.memory.tiles.get(slot);
        let mut tile = Tile::default();
        if (found.height as usize, found.width as usize) != (expected.height(), expected.width())
            || kernel::pack(&mut tile, expected).is_err()
        {
            return true;
        }
        let mut unlike = NO_BITS;
        for (found, tile) in found.planes.iter().zip(&tile.planes) {
            for r in 0..unlike.len() {
                unlike[r] |= found[r] ^ tile[r];
            }
        }
        for (code, cells) in (0..).zip(&**open) {
            if *cells != NO_BITS {
                let wanted = tile.of_code(code);
                for r in 0..unlike.len() {
                    unlike[r] &= !(wanted[r] & cells[r]);
                }
            }
        }
        unlike != NO_BITS
    }
}
