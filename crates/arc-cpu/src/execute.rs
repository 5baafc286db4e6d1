//! How a machine goes through the steps of a program.

use std::ops::Range;

use super::bail_out::BailOut;
use super::machine::{End, Machine};
use super::program::{Code, Region, Several};
use super::slot::Slot;

impl Machine {
    /// Gives a region's parameter its value.
    #[inline(always)]
    pub(crate) fn give(&mut self, region: &Region, at: usize, value: Slot) {
        self.slots[region.parameters[at] as usize] = value;
    }

    /// Runs a region and gives its result.
    #[inline(always)]
    pub(crate) fn region(&mut self, code: &Code, region: &Region) -> Result<Slot, BailOut> {
        let steps = &code.steps[region.start as usize..region.end as usize];
        let fuel = self.fuel.checked_sub(steps.len() as u64 + 1);
        self.fuel = fuel.ok_or(BailOut::Steps)?;
        for (at, step) in steps.iter().enumerate() {
            match step.run.call(self, code, step) {
                Ok(value) => self.slots[step.to as usize] = value,
                Err(bail_out) => return self.fail(region, at, bail_out),
            }
        }
        Ok(self.get(region.result))
    }

    #[cold]
    fn fail(&mut self, region: &Region, at: usize, bail_out: BailOut) -> Result<Slot, BailOut> {
        self.failed.get_or_insert(region.start + at as u32);
        Err(match bail_out.error() {
            Some(_) if region.unordered => BailOut::Order,
            _ => bail_out,
        })
    }

    /// Runs the units of a program of several results: each may take as many steps as a program of
    /// one, and all of them as many as programs of one in their number.
    pub(crate) fn units(&mut self, code: &Code, several: &Several, most_steps: u64) {
        let region = code.regions[0];
        let mut left = most_steps.saturating_mul(several.outputs.len() as u64);
        let mut start = 0;
        self.ends.clear();
        for unit in &several.units {
            let steps = start..unit.end;
            start = unit.end;
            let mut reads = several.range(&unit.reads).iter();
            let is_left =
                unit.is_left_out || reads.any(|read| self.ends[*read as usize] != End::Made);
            if is_left {
                self.ends.push(End::Left);
                continue;
            }
            let granted = left.min(most_steps);
            self.fuel = granted;
            self.failed = None;
            let mark = self.memory.mark();
            let end = match self.unit(code, &region, steps) {
                Ok(()) => End::Made,
                Err(bail_out) => {
                    // What it has left behind.
                    self.stack.clear();
                    self.keys.clear();
                    self.memory.release(mark);
                    let step = self.failed.unwrap_or(region.start);
                    End::Failed { bail_out, step }
                }
            };
            left -= granted - self.fuel;
            self.ends.push(end);
        }
        // Whether a value is made that others make, only they know; they come later.
        for (at, unit) in several.units.iter().enumerate().rev() {
            let takers = several.range(&unit.takers);
            let mut ends = takers.iter().map(|taker| self.ends[*taker as usize]);
            if !takers.is_empty() && !ends.any(|end| end == End::Made) {
                self.ends[at] = End::Left;
            }
        }
    }

    fn unit(&mut self, code: &Code, region: &Region, range: Range<u32>) -> Result<(), BailOut> {
        self.spend(range.len())?;
        for at in range {
            let step = &code.steps[(region.start + at) as usize];
            match step.run.call(self, code, step) {
                Ok(value) => self.slots[step.to as usize] = value,
                Err(bail_out) => return self.fail(region, at as usize, bail_out).map(|_| ()),
            }
        }
        Ok(())
    }
}
