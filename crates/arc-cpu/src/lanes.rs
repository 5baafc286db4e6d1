//! Vectorised loops: loops with scalar bodies, run for many elements at a time.
//!
//! Dispatching a step of a loop's body takes a few nanoseconds, and running it less than one. If the body is
//! arithmetic on integers, pairs and cells, the lowering compiles a second version of the loop: each component
//! of each value is a *column* of up to [`LANES`](columns::LANES) numbers, one per element, and a step works on
//! columns ([`ops`]). Taking a pair apart or putting one together then costs nothing, steps that are the same
//! for all elements run once, and an inner loop over elements that are the same for all goes through them once
//! for all lanes ([`loops`]). This is how columnar databases evaluate expressions (Boncz, Zukowski, Nes:
//! "MonetDB/X100: Hyper-Pipelining Query Execution", CIDR 2005).
//!
//! Later lanes run steps before earlier lanes have finished, so lanes cannot tell which element fails first: if
//! anything fails in them, the loop runs again element by element ([`Machine::begin_lanes`]).

use super::bail_out::BailOut;
use super::elements::Cursor;
use super::machine::Machine;
use super::memory::Mark;
use super::program::{Code, LaneLoop, Region};

pub(super) mod columns;
pub(super) mod loops;
pub(super) mod ops;

use columns::{Lanes, Part};

/// From this many elements on, a vectorised loop pays off.
const ENOUGH: usize = 4;

/// The state of a machine before a vectorised loop.
#[derive(Debug)]
struct Before {
    fuel: u64,
    calls: u64,
    memory: Mark,
    stack: usize,
    keys: usize,
}

// Functions rather than closures: the compiler does not compile the body of a closure for wide vectors.
impl Machine {
    /// The state to restore if a vectorised loop over this many elements fails; `None` if they are too few to
    /// vectorise.
    #[inline(always)]
    fn begin_lanes(&self, elements: usize) -> Option<Before> {
        (elements >= ENOUGH).then(|| Before {
            fuel: self.fuel,
            calls: self.calls,
            memory: self.memory.mark(),
            stack: self.stack.len(),
            keys: self.keys.len(),
        })
    }

    /// Restores the state from before the loop.
    #[cold]
    fn undo_lanes(&mut self, before: &Before) {
        (self.fuel, self.calls) = (before.fuel, before.calls);
        self.failed = None;
        self.memory.release(before.memory);
        self.stack.truncate(before.stack);
        self.keys.truncate(before.keys);
    }

    /// Runs steps on columns. Eight lanes take about as long as one step of a scalar loop, and count as one. What the
    /// reference calls for them at least counts against its own limit.
    #[inline(always)]
    fn run_lanes(&mut self, code: &Code, region: &Region) -> Result<(), BailOut> {
        let steps = &code.steps[region.start as usize..region.end as usize];
        self.spend(steps.len().max(1) * self.lanes.portions())?;
        self.calls += self.lanes.count as u64 * u64::from(region.calls);
        if self.calls > self.most_calls {
            return Err(BailOut::Limit);
        }
        for step in steps {
            step.run.call(self, code, step)?;
        }
        Ok(())
    }

    /// Runs the body for the next block of elements, one per lane; false if there are none left.
    #[inline(always)]
    fn next_block(
        &mut self,
        code: &Code,
        this: &LaneLoop,
        elements: &mut Cursor,
    ) -> Result<bool, BailOut> {
        let count = elements.fill(&mut self.memory, &mut self.lanes.elements[..])?;
        if count == 0 {
            return Ok(false);
        }
        self.load_lanes(this, count);
        self.run_lanes(code, &this.lanes)?;
        Ok(true)
    }

    /// Fills the columns that the body reads from the block's elements.
    #[inline(always)]
    fn load_lanes(&mut self, this: &LaneLoop, count: usize) {
        self.lanes.count = count;
        let Lanes {
            columns, elements, ..
        } = &mut self.lanes;
        let filled = count.next_multiple_of(8);
        let first = elements[0];
        elements[count..filled].fill(first);
        for leaf in &this.leaves {
            let to = columns[usize::from(leaf.to)].as_flattened_mut();
            let lanes = to.iter_mut().zip(&elements[..filled]);
            match (leaf.item, leaf.part) {
                (None, Part::Int) => lanes.for_each(|(to, slot)| *to = slot.int()),
                (None, Part::Row) => lanes.for_each(|(to, slot)| *to = slot.loc().i),
                (None, Part::Column) => lanes.for_each(|(to, slot)| *to = slot.loc().j),
                (None, part) => lanes.for_each(|(to, slot)| *to = part.of(*slot)),
                (Some(item), part) => lanes.for_each(|(to, slot)| {
                    let (start, _) = slot.list();
                    *to = part.of(self.memory.lists.at(start + usize::from(item)));
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests;
