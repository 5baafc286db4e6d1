//! Loads, stores and atomic accesses of a warp.

use super::compute::{extended, first_of, lanes};
use super::error::Violation;
use super::execute::LaneViolation;
use super::memory::{DATA, Memory, Region, SHARED, SHARED_REGION};
use super::module::{Access, Atomic, File, Register, Space};
use super::warp::{Machine, Step};

impl Machine {
    /// Where a lane's access goes: a region of memory and an offset in it.
    fn target<'m>(
        &self,
        step: Step<'_>,
        access: Access,
        lane: usize,
        memory: &'m mut Memory,
    ) -> Result<(&'m mut Region, u64), LaneViolation> {
        let broken = |violation| (lane as u32, violation);
        let base = step.instruction.from[4] as usize;
        let base = match access.base {
            None => 0,
            Some(File::Long) => self.longs[base][lane],
            Some(_) => u64::from(self.words[base][lane]),
        };
        let address = base.wrapping_add(step.instruction.offset.cast_unsigned());
        let to = u64::from(access.bytes) * u64::from(access.elements);
        if address % to != 0 {
            return Err(broken(Violation::Unaligned { address, to }));
        }
        let (region, offset) = match access.space {
            Space::Shared => (SHARED_REGION, address),
            _ => memory.region(address).map_err(broken)?,
        };
        let fits = match access.space {
            Space::Global => region != SHARED_REGION,
            Space::Constant => (DATA..DATA + SHARED).contains(&address),
            Space::Generic | Space::Shared | Space::Parameter => true,
        };
        if !fits {
            return Err(broken(Violation::OtherSpace(address)));
        }
        Ok((&mut memory.regions[region], offset))
    }

    fn set(&mut self, file: File, index: u32, lane: usize, value: u64) {
        if file == File::Long {
            self.longs[index as usize][lane] = value;
        } else {
            self.words[index as usize][lane] = value as u32;
        }
    }

    fn get(&self, file: File, index: u32, lane: usize) -> u64 {
        if file == File::Long {
            self.longs[index as usize][lane]
        } else {
            u64::from(self.words[index as usize][lane])
        }
    }

    /// A loaded value, extended to its register.
    fn loaded(access: Access, value: u64) -> u64 {
        extended(value, u32::from(access.bytes) * 8, access.signed)
    }

    pub(super) fn load(
        &mut self,
        step: Step<'_>,
        access: Access,
        memory: &mut Memory,
    ) -> Result<(), LaneViolation> {
        if access.space == Space::Parameter {
            return self.load_parameter(step, access);
        }
        let bytes = usize::from(access.bytes);
        let elements = usize::from(access.elements);
        for lane in lanes(step.mask) {
            let (region, offset) = self.target(step, access, lane, memory)?;
            let at = region.reading(offset, bytes * elements, lane as u32, self.time);
            let at = at.map_err(|violation| (lane as u32, violation))?;
            for (number, index) in step.instruction.to[..elements].iter().enumerate() {
                let value = region.load(at + number * bytes, bytes);
                self.set(access.file, *index, lane, Self::loaded(access, value));
            }
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        step: Step<'_>,
        access: Access,
        memory: &mut Memory,
    ) -> Result<(), LaneViolation> {
        if access.space == Space::Parameter {
            self.store_parameter(step, access);
            return Ok(());
        }
        let bytes = usize::from(access.bytes);
        let elements = usize::from(access.elements);
        for lane in lanes(step.mask) {
            let (region, offset) = self.target(step, access, lane, memory)?;
            let at = region.writing(offset, bytes * elements, lane as u32, self.time, false);
            let at = at.map_err(|violation| (lane as u32, violation))?;
            for (number, index) in step.instruction.from[..elements].iter().enumerate() {
                let value = self.get(access.file, *index, lane);
                region.store(at + number * bytes, bytes, value);
            }
        }
        Ok(())
    }

    /// Runs the lanes one after the other, which is one of the orders that a GPU may choose.
    pub(super) fn atomic(
        &mut self,
        step: Step<'_>,
        atomic: Atomic,
        access: Access,
        returns: bool,
        memory: &mut Memory,
    ) -> Result<(), LaneViolation> {
        let bytes = usize::from(access.bytes);
        let [first, second, ..] = step.instruction.from;
        for lane in lanes(step.mask) {
            let (region, offset) = self.target(step, access, lane, memory)?;
            let at = region.writing(offset, bytes, lane as u32, self.time, true);
            let at = at.map_err(|violation| (lane as u32, violation))?;
            let found = region.load(at, bytes);
            let operands = [
                self.get(access.file, first, lane),
                self.get(access.file, second, lane),
            ];
            region.store(at, bytes, changed(atomic, access, found, operands));
            if returns {
                self.set(access.file, step.instruction.to[0], lane, found);
            }
        }
        Ok(())
    }

    fn load_parameter(&mut self, step: Step<'_>, access: Access) -> Result<(), LaneViolation> {
        let bytes = usize::from(access.bytes);
        let elements = usize::from(access.elements);
        for number in 0..elements {
            let index = step.instruction.to[number];
            let at = step.instruction.offset as usize + number * bytes;
            let written = self.parameters_written.get(at..at + bytes);
            let Some(written) = written else {
                return Err((first_of(step.mask), Violation::UnwrittenParameter));
            };
            let missing = written
                .iter()
                .fold(0, |missing, lanes| missing | step.mask & !lanes);
            if missing != 0 {
                return Err((first_of(missing), Violation::UnwrittenParameter));
            }
            for lane in lanes(step.mask) {
                let mut value = 0;
                for byte in (0..bytes).rev() {
                    value = value << 8 | u64::from(self.parameters[at + byte][lane]);
                }
                self.set(access.file, index, lane, Self::loaded(access, value));
            }
        }
        Ok(())
    }

    fn store_parameter(&mut self, step: Step<'_>, access: Access) {
        let bytes = usize::from(access.bytes);
        for number in 0..usize::from(access.elements) {
            let index = step.instruction.from[number];
            let file = access.file;
            let filled = step.mask & self.written[Register { file, index }.number() as usize];
            let begin = step.instruction.offset as usize + number * bytes;
            for (byte, at) in (begin..begin + bytes).enumerate() {
                // Stores past the parameter space are ignored: a load from there fails.
                let Some(written) = self.parameters_written.get_mut(at) else {
                    continue;
                };
                *written = *written & !step.mask | filled;
                for lane in lanes(step.mask) {
                    let value = self.get(access.file, index, lane);
                    self.parameters[at][lane] = (value >> (8 * byte)) as u8;
                }
            }
        }
    }
}

/// The value that an atomic access stores, from the value found and the operands.
fn changed(atomic: Atomic, access: Access, found: u64, [a, b]: [u64; 2]) -> u64 {
    let bits = u32::from(access.bytes) * 8;
    let signed = |value: u64| extended(value, bits, true).cast_signed();
    match atomic {
        Atomic::Add => found.wrapping_add(a),
        Atomic::And => found & a,
        Atomic::Or => found | a,
        Atomic::Xor => found ^ a,
        Atomic::Min if access.signed => signed(found).min(signed(a)).cast_unsigned(),
        Atomic::Max if access.signed => signed(found).max(signed(a)).cast_unsigned(),
        Atomic::Min => found.min(a),
        Atomic::Max => found.max(a),
        Atomic::Exchange => a,
        Atomic::CompareAndSwap if found == a => b,
        Atomic::CompareAndSwap => found,
        Atomic::Increment if found >= a => 0,
        Atomic::Increment => found + 1,
        Atomic::Decrement if found == 0 || found > a => a,
        Atomic::Decrement => found - 1,
    }
}
