//! Loops whose bodies are scalar, run for many elements at a time.
//!
//! A step of a loop's body takes a few nanoseconds to get to and less than one to do. Where the body
//! is arithmetic on integers, pairs and cells, the lowering makes a second version of the loop: each
//! component of each value is a *column* of up to [`LANES`](columns::LANES) numbers, one an element, and a step works
//! on columns ([`ops`]). Taking a pair apart or putting one together costs nothing then, steps that
//! are the same for all elements run once, and a loop inside, over elements that are the same for
//! all, goes through them once for all lanes ([`loops`]). This is how columnar databases evaluate
//! expressions (Boncz, Zukowski, Nes: "MonetDB/X100: Hyper-Pipelining Query Execution", CIDR 2005).
//!
//! Elements of later lanes are evaluated before those of earlier ones are through, so lanes cannot
//! tell which element fails first: whatever fails in them, the loop is run again element by element
//! ([`Machine::begin_lanes`]).

use super::bail_out::BailOut;
use super::elements::Cursor;
use super::machine::Machine;
use super::memory::Mark;
use super::program::{Code, LaneLoop, Region};

pub(super) mod columns;
pub(super) mod loops;
pub(super) mod ops;

use columns::{Lanes, Part};

/// How many elements pay for the way into the lanes.
const ENOUGH: usize = 4;

/// How a machine was before a loop went by lanes.
#[derive(Debug)]
struct Before {
    fuel: u64,
    memory: Mark,
    stack: usize,
    keys: usize,
}

// Functions rather than closures: what a closure does is not compiled for wide vectors.
impl Machine {
    /// What to go back to should a loop over so many elements fail by lanes; `None` if they are
    /// too few to begin.
    #[inline(always)]
    fn begin_lanes(&self, elements: usize) -> Option<Before> {
        (elements >= ENOUGH).then(|| Before {
            fuel: self.fuel,
            memory: self.memory.mark(),
            stack: self.stack.len(),
            keys: self.keys.len(),
        })
    }

    /// Does as if the loop had never begun.
    #[cold]
    fn undo_lanes(&mut self, before: &Before) {
        self.fuel = before.fuel;
        self.failed = None;
        self.memory.release(before.memory);
        self.stack.truncate(before.stack);
        self.keys.truncate(before.keys);
    }

    /// Runs steps on columns. Eight lanes take about as long as one step of a scalar loop, and count
    /// as one.
    #[inline(always)]
    fn run_lanes(&mut self, code: &Code, region: &Region) -> Result<(), BailOut> {
        let steps = &code.steps[region.start as usize..region.end as usize];
        self.spend(steps.len() * self.lanes.portions())?;
        for step in steps {
            step.run.call(self, code, step)?;
        }
        Ok(())
    }

    /// Runs the body for the next elements, as many as there are lanes; false where there is none.
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

    /// Fills the columns that the body reads from so many elements.
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
