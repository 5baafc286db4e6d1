//! [`Programs`]: programs in device memory.

use std::ops::Range;

use super::device_vec::{DeviceVec, MAX_ELEMENTS};
use super::{Engine, launch_error};
use crate::device::{Device, DeviceError};
use crate::interface::records::{InstructionRecord, ProgramRecord};
use crate::interface::{Representation, Structure};
use crate::program::{DeviceProgram, Unit, packed};

/// Programs in device memory, identified by index in any number of launches; more can be [added](Engine::extend).
///
/// Launches on [another stream](Device::new_stream) may use them too: synchronize the stream that loaded them first,
/// and wait for the other stream's launches before extending or dropping them.
#[derive(Debug)]
pub struct Programs<D: Device> {
    records: DeviceVec<D::Buffer>,
    code: DeviceVec<D::Buffer>,
    constant_words: DeviceVec<D::Buffer>,
    constant_units: DeviceVec<D::Buffer>,
    descriptions: Vec<ProgramDescription>,
}

/// What launches need to know of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramDescription {
    pub(super) pool_bytes: u32,
    pub(super) gives: Representation,
    pub(super) structure: Option<Structure>,
    pub(super) has_arena: bool,
    /// Words and units of its arguments.
    pub(super) words: u32,
    pub(super) units: u32,
}

/// The tables of some programs, to be uploaded.
#[derive(Default)]
struct ProgramTables {
    records: Vec<ProgramRecord>,
    code: Vec<InstructionRecord>,
    words: Vec<u32>,
    units: Vec<Unit>,
}

impl ProgramDescription {
    fn of(program: &DeviceProgram) -> Self {
        Self {
            pool_bytes: program.pool_bytes(),
            gives: program.gives,
            structure: program.structure,
            has_arena: program.has_arena,
            words: program.parameters.len() as u32,
            units: program.parameters.iter().map(|taken| taken.units()).sum(),
        }
    }
}

impl ProgramTables {
    /// The tables of programs that follow this many instructions, words and units.
    fn of(
        programs: &[DeviceProgram],
        [code, words, units]: [usize; 3],
    ) -> Result<Self, DeviceError> {
        let mut tables = Self::default();
        for program in programs {
            tables.records.push(ProgramRecord {
                constant_word: (words + tables.words.len()) as u32,
                constant_words: program.constants.words().len() as u32,
                constant_unit: (units + tables.units.len()) as u32,
                constant_units: program.constants.units().len() as u32,
                parameter_words: program.parameters.len() as u32,
                parameter_units: program.parameters.iter().map(|taken| taken.units()).sum(),
                words: program.words,
                code: (code + tables.code.len()) as u32,
                result: u32::from(packed(program.result)),
                result_units: program.gives.units(),
                result_is_grid: u32::from(program.gives == Representation::Grid),
                spare: 0,
            });
            tables.code.extend_from_slice(&program.code);
            tables.code.push(InstructionRecord::END);
            tables.words.extend_from_slice(program.constants.words());
            tables.units.extend_from_slice(program.constants.units());
            let ends = [
                code + tables.code.len(),
                words + tables.words.len(),
                units + tables.units.len(),
            ];
            if ends.iter().any(|end| *end > MAX_ELEMENTS) {
                return Err(launch_error(format!(
                    "programs have more than {MAX_ELEMENTS} instructions or constants"
                )));
            }
        }
        Ok(tables)
    }
}

impl<D: Device> Programs<D> {
    /// The number of programs.
    pub fn len(&self) -> usize {
        self.descriptions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.descriptions.is_empty()
    }

    /// Bytes of device memory allocated for them, spare capacity included.
    pub fn bytes(&self) -> u64 {
        let tables = [
            &self.records,
            &self.code,
            &self.constant_words,
            &self.constant_units,
        ];
        tables.iter().map(|table| table.capacity as u64).sum()
    }

    pub(super) fn descriptions(&self) -> &[ProgramDescription] {
        &self.descriptions
    }

    pub(super) fn records(&self) -> &D::Buffer {
        &self.records.buffer
    }

    pub(super) fn code(&self) -> &D::Buffer {
        &self.code.buffer
    }

    pub(super) fn constant_words(&self) -> &D::Buffer {
        &self.constant_words.buffer
    }

    pub(super) fn constant_units(&self) -> &D::Buffer {
        &self.constant_units.buffer
    }
}

impl<D: Device> Engine<D> {
    /// Uploads programs to the device.
    pub fn load(&self, programs: &[DeviceProgram]) -> Result<Programs<D>, DeviceError> {
        let tables = ProgramTables::of(programs, [0; 3])?;
        Ok(Programs {
            records: self.device_vec(&tables.records)?,
            code: self.device_vec(&tables.code)?,
            constant_words: self.device_vec(&tables.words)?,
            constant_units: self.device_vec(&tables.units)?,
            descriptions: programs.iter().map(ProgramDescription::of).collect(),
        })
    }

    /// Uploads more programs, and returns their indices. Those already there keep theirs. An error adds nothing.
    pub fn extend(
        &self,
        programs: &mut Programs<D>,
        more: &[DeviceProgram],
    ) -> Result<Range<u32>, DeviceError> {
        let first = programs.descriptions.len();
        let numbers = u32::try_from(first)
            .ok()
            .zip(u32::try_from(first + more.len()).ok());
        let (first, end) =
            numbers.ok_or_else(|| launch_error("more than 2^32 programs".to_owned()))?;
        let starts = [
            programs.code.elements::<InstructionRecord>(),
            programs.constant_words.elements::<u32>(),
            programs.constant_units.elements::<Unit>(),
        ];
        let tables = ProgramTables::of(more, starts)?;
        // Commit only once all uploads have succeeded.
        let records = self.prepare_append(&mut programs.records, &tables.records)?;
        let code = self.prepare_append(&mut programs.code, &tables.code)?;
        let words = self.prepare_append(&mut programs.constant_words, &tables.words)?;
        let units = self.prepare_append(&mut programs.constant_units, &tables.units)?;
        programs.records.commit(records);
        programs.code.commit(code);
        programs.constant_words.commit(words);
        programs.constant_units.commit(units);
        programs
            .descriptions
            .extend(more.iter().map(ProgramDescription::of));
        Ok(first..end)
    }
}

#[cfg(test)]
mod tests {
    use arc_tasks::builtin;

    use super::*;
    use crate::encode;

    #[test]
    fn more_rows_than_kernels_can_number_are_refused() {
        let forms = builtin::all()
            .iter()
            .filter_map(|builtin| arc_form::specialise(builtin.program()).ok());
        let all: Vec<DeviceProgram> = forms.filter_map(|form| encode(&form).ok()).collect();
        assert!(all.len() > 10);
        assert!(ProgramTables::of(&all, [0; 3]).is_ok());
        for place in 0..3 {
            let mut starts = [0; 3];
            starts[place] = MAX_ELEMENTS + 1;
            let refused = ProgramTables::of(&all, starts).err().unwrap();
            assert!(matches!(refused, DeviceError::Launch { .. }), "{refused}");
        }
    }
}
