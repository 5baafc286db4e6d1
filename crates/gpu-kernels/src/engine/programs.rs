//! [`Programs`]: programs on a device, where they stay and become more.

use std::ops::Range;

use super::table::{MOST_ROWS, Table};
use super::{Engine, refused};
use crate::device::{Device, DeviceError};
use crate::interface::records::{InstructionRecord, ProgramRecord};
use crate::interface::{Representation, Structure};
use crate::program::{DeviceProgram, Unit, packed};

/// Programs on a device, each of which is named by its number in any number of launches.
///
/// It may serve the launches of [another stream](Device::new_stream) too: the stream that loaded them must have
/// been waited for before, and that stream's launches before these are extended or dropped.
#[derive(Debug)]
pub struct Programs<D: Device> {
    records: Table<D::Buffer>,
    code: Table<D::Buffer>,
    constant_words: Table<D::Buffer>,
    constant_units: Table<D::Buffer>,
    about: Vec<About>,
}

/// What launches need to know of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    pub(super) pool_bytes: u32,
    pub(super) gives: Representation,
    pub(super) structure: Option<Structure>,
    pub(super) has_arena: bool,
    /// Words and units of its arguments.
    pub(super) words: u32,
    pub(super) units: u32,
}

/// The tables of programs, on their way to the device.
#[derive(Default)]
struct Rows {
    records: Vec<ProgramRecord>,
    code: Vec<InstructionRecord>,
    words: Vec<u32>,
    units: Vec<Unit>,
}

impl About {
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

impl Rows {
    /// The rows of programs that come after so many instructions, words and units.
    fn of(
        programs: &[DeviceProgram],
        [code, words, units]: [usize; 3],
    ) -> Result<Self, DeviceError> {
        let mut rows = Self::default();
        for program in programs {
            rows.records.push(ProgramRecord {
                constant_word: (words + rows.words.len()) as u32,
                constant_words: program.constants.words().len() as u32,
                constant_unit: (units + rows.units.len()) as u32,
                constant_units: program.constants.units().len() as u32,
                parameter_words: program.parameters.len() as u32,
                parameter_units: program.parameters.iter().map(|taken| taken.units()).sum(),
                words: program.words,
                code: (code + rows.code.len()) as u32,
                result: u32::from(packed(program.result)),
                result_units: program.gives.units(),
                result_is_grid: u32::from(program.gives == Representation::Grid),
                spare: 0,
            });
            rows.code.extend_from_slice(&program.code);
            rows.code.push(InstructionRecord::END);
            rows.words.extend_from_slice(program.constants.words());
            rows.units.extend_from_slice(program.constants.units());
            let ends = [
                code + rows.code.len(),
                words + rows.words.len(),
                units + rows.units.len(),
            ];
            if ends.iter().any(|end| *end > MOST_ROWS) {
                return Err(refused(format!(
                    "programs have more than {MOST_ROWS} instructions or constants"
                )));
            }
        }
        Ok(rows)
    }
}

impl<D: Device> Programs<D> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.about.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.about.is_empty()
    }

    /// Bytes of the device's memory that they take, with the room for those to come.
    pub fn bytes(&self) -> u64 {
        let tables = [
            &self.records,
            &self.code,
            &self.constant_words,
            &self.constant_units,
        ];
        tables.iter().map(|table| table.capacity as u64).sum()
    }

    pub(super) fn about(&self) -> &[About] {
        &self.about
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
    /// Puts programs on the device.
    pub fn load(&self, programs: &[DeviceProgram]) -> Result<Programs<D>, DeviceError> {
        let rows = Rows::of(programs, [0; 3])?;
        Ok(Programs {
            records: self.table(&rows.records)?,
            code: self.table(&rows.code)?,
            constant_words: self.table(&rows.words)?,
            constant_units: self.table(&rows.units)?,
            about: programs.iter().map(About::of).collect(),
        })
    }

    /// Puts more programs on the device, and gives their numbers. Those that were there keep theirs,
    /// and after an error they are what there is.
    pub fn extend(
        &self,
        programs: &mut Programs<D>,
        more: &[DeviceProgram],
    ) -> Result<Range<u32>, DeviceError> {
        let first = programs.about.len();
        let numbers = u32::try_from(first)
            .ok()
            .zip(u32::try_from(first + more.len()).ok());
        let (first, end) = numbers.ok_or_else(|| refused("more than 2^32 programs".to_owned()))?;
        let starts = [
            programs.code.elements::<InstructionRecord>(),
            programs.constant_words.elements::<u32>(),
            programs.constant_units.elements::<Unit>(),
        ];
        let rows = Rows::of(more, starts)?;
        // Nothing counts before there is room for all of it.
        let records = self.addition(&mut programs.records, &rows.records)?;
        let code = self.addition(&mut programs.code, &rows.code)?;
        let words = self.addition(&mut programs.constant_words, &rows.words)?;
        let units = self.addition(&mut programs.constant_units, &rows.units)?;
        programs.records.add(records);
        programs.code.add(code);
        programs.constant_words.add(words);
        programs.constant_units.add(units);
        programs.about.extend(more.iter().map(About::of));
        Ok(first..end)
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::builtin;

    use super::*;
    use crate::encode;

    #[test]
    fn more_rows_than_kernels_can_number_are_refused() {
        let forms = builtin::all()
            .iter()
            .filter_map(|builtin| arc_form::specialise(builtin.program()).ok());
        let all: Vec<DeviceProgram> = forms.filter_map(|form| encode(&form).ok()).collect();
        assert!(all.len() > 10);
        assert!(Rows::of(&all, [0; 3]).is_ok());
        for place in 0..3 {
            let mut starts = [0; 3];
            starts[place] = MOST_ROWS + 1;
            let refused = Rows::of(&all, starts).err().unwrap();
            assert!(matches!(refused, DeviceError::Launch { .. }), "{refused}");
        }
    }
}
