//! Running the steps of a program.

use super::bail_out::BailOut;
use super::definition::is_set;
use super::elements::len;
use super::machine::Machine;
use super::program::{Code, Region, Step};
use super::slot::Slot;
use arc_form::Type;

impl Machine {
    /// Binds a region's parameter to a value.
    #[inline(always)]
    pub(crate) fn give(&mut self, region: &Region, at: usize, value: Slot) {
        self.slots[region.parameters[at] as usize] = value;
    }

    /// The region of a loop over the container in `a`. If that is a set of several elements, they are not visited in the
    /// order of Python.
    #[inline(always)]
    pub(crate) fn loop_region(&self, code: &Code, step: &Step) -> Region {
        let mut region = code.region(step, 0);
        region.unordered |= self.has_several(code.ty(step), self.get(step.a));
        region
    }

    /// Whether it is a set of several elements.
    #[inline(always)]
    pub(crate) fn has_several(&self, ty: &Type, slot: Slot) -> bool {
        is_set(ty) && len(&self.memory, ty, slot) > 1
    }

    /// Runs a region and returns its result.
    #[inline(always)]
    pub(crate) fn region(&mut self, code: &Code, region: &Region) -> Result<Slot, BailOut> {
        let steps = &code.steps[region.start as usize..region.end as usize];
        let fuel = self.fuel.checked_sub(steps.len() as u64 + 1);
        self.fuel = fuel.ok_or(BailOut::Steps)?;
        let base = self.stack.len();
        for (at, step) in steps.iter().enumerate() {
            match step.run.call(self, code, step) {
                Ok(value) => self.slots[step.to as usize] = value,
                Err(bail_out) => {
                    self.stack.truncate(base);
                    return self.fail(code, region, region.start + at as u32, bail_out);
                }
            }
        }
        Ok(self.get(region.result))
    }

    /// What a region gives of which this step failed: if only the order of a set was missing, or room for what no use of a
    /// patch sees, the step is repeated by the reference and the region goes on.
    #[cold]
    #[inline(never)]
    fn fail(
        &mut self,
        code: &Code,
        region: &Region,
        step: u32,
        mut bail_out: BailOut,
    ) -> Result<Slot, BailOut> {
        if bail_out == BailOut::Choice && region.end != code.regions[0].end {
            // The rest of the program runs once for each element of this loop.
            self.narrow();
            self.failed = None;
            return self.region(
                code,
                &Region {
                    start: step,
                    ..*region
                },
            );
        }
        let is_too_large = matches!(bail_out, BailOut::Patch | BailOut::Grid);
        if bail_out == BailOut::Order || is_too_large {
            let failed = self.failed.take();
            match self.build_again(code, step, is_too_large) {
                Ok((slot, value, start)) => {
                    self.failed = None;
                    self.slots[slot as usize] = value;
                    return self.region(code, &Region { start, ..*region });
                }
                Err(error) if error.error().is_some() => bail_out = error,
                Err(_) => self.failed = failed,
            }
        }
        self.failed.get_or_insert(step);
        Err(match bail_out.error() {
            Some(_) if region.unordered => BailOut::Order,
            _ => bail_out,
        })
    }
}
