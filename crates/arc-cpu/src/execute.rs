//! Running the steps of a program.

use super::bail_out::BailOut;
use super::machine::Machine;
use super::program::{Code, Region};
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
}
