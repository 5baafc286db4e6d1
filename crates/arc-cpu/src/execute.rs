//! Running the steps of a program.

use std::ops::Range;

use super::bail_out::BailOut;
use super::machine::{Machine, UnitOutcome};
use super::program::{Code, MultiOutput, Region};
use super::slot::Slot;

impl Machine {
    /// Binds a region's parameter to a value.
    #[inline(always)]
    pub(crate) fn give(&mut self, region: &Region, at: usize, value: Slot) {
        self.slots[region.parameters[at] as usize] = value;
    }

    /// Runs a region and returns its result.
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

    /// Runs the units of a program of several results: each may take as many steps as a program of one result,
    /// and all together as many as that times the number of results.
    pub(crate) fn units(&mut self, code: &Code, multi_output: &MultiOutput, most_steps: u64) {
        let region = code.regions[0];
        let mut left = most_steps.saturating_mul(multi_output.outputs.len() as u64);
        let mut start = 0;
        self.unit_outcomes.clear();
        for unit in &multi_output.units {
            let steps = start..unit.end;
            start = unit.end;
            let mut reads = multi_output.range(&unit.reads).iter();
            let is_left = unit.is_left_out
                || reads.any(|read| self.unit_outcomes[*read as usize] != UnitOutcome::Succeeded);
            if is_left {
                self.unit_outcomes.push(UnitOutcome::Skipped);
                continue;
            }
            let granted = left.min(most_steps);
            self.fuel = granted;
            self.failed = None;
            let mark = self.memory.mark();
            let end = match self.unit(code, &region, steps) {
                Ok(()) => UnitOutcome::Succeeded,
                Err(bail_out) => {
                    // What the failed unit has left behind.
                    self.stack.clear();
                    self.keys.clear();
                    self.memory.release(mark);
                    let step = self.failed.unwrap_or(region.start);
                    UnitOutcome::Failed { bail_out, step }
                }
            };
            left -= granted - self.fuel;
            self.unit_outcomes.push(end);
        }
        // Whether a unit without steps has succeeded depends on the units that compute its value, which come
        // later.
        for (at, unit) in multi_output.units.iter().enumerate().rev() {
            let consumers = multi_output.range(&unit.consumers);
            let mut ends = consumers
                .iter()
                .map(|consumer| self.unit_outcomes[*consumer as usize]);
            if !consumers.is_empty() && !ends.any(|end| end == UnitOutcome::Succeeded) {
                self.unit_outcomes[at] = UnitOutcome::Skipped;
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
