//! [`DeviceProgram`]: instructions for the launch loop, and the [`Builder`] that gives values
//! their places in the pool.

use crate::interface::constants::{OPERANDS, UNIT_BYTES};
use crate::interface::records::InstructionRecord;
use crate::interface::words::{immediate, operand};
use crate::interface::{BailOut, BitField, Representation, Structure};
use crate::operations::{OPERATIONS, Operation};
use crate::pool::{LANES, Place, Pool};
use arc_dsl::Value;

/// What an instruction says beside its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Immediate {
    /// How the set of objects that it takes or makes falls into elements.
    pub structure: Option<Structure>,
    /// The truth value of an operation that has one.
    pub flag: bool,
    /// The number of a comparison in [`Key`](crate::interface::Key), or of an element of a
    /// tuple.
    pub key: u8,
    /// Whether cells of the result outside rows and columns 0 to 31 are seen by nobody.
    pub clipped: bool,
}

impl Immediate {
    /// As an instruction has it.
    pub fn bits(self) -> u16 {
        let structure = self.structure.map_or(0, Structure::number);
        let bits = immediate::STRUCTURE.put(structure)
            | immediate::FLAG.put(u32::from(self.flag))
            | immediate::KEY.put(u32::from(self.key))
            | immediate::CLIPPED.put(u32::from(self.clipped));
        bits as u16
    }
}

/// A place in the pool of an evaluation, which [`Allocator`] keeps within the bits that it has.
pub(crate) fn packed(place: Place) -> u16 {
    (operand::WORD.put(place.word) | operand::UNIT.put(place.unit)) as u16
}

/// A program that the device runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceProgram {
    pub(crate) code: Vec<InstructionRecord>,
    pub(crate) constants: Pool,
    pub(crate) parameters: Vec<Representation>,
    pub(crate) words: u32,
    pub(crate) units: u32,
    pub(crate) result: Place,
    pub(crate) gives: Representation,
    /// How a set of objects that it gives falls into elements.
    pub(crate) structure: Option<Structure>,
}

impl DeviceProgram {
    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether it gives one of its parameters.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// How what it takes is represented, in order.
    pub fn parameters(&self) -> &[Representation] {
        &self.parameters
    }

    /// How what it gives is represented.
    pub fn gives(&self) -> Representation {
        self.gives
    }

    /// Bytes of shared memory that an evaluation needs, a multiple of [`UNIT_BYTES`].
    pub fn pool_bytes(&self) -> u32 {
        (self.units * UNIT_BYTES + self.words * size_of::<u32>() as u32)
            .next_multiple_of(UNIT_BYTES)
    }

    /// The line in the program's text of an instruction, counted from 1 as in a
    /// [`Verdict`](crate::Verdict); nothing where it has none.
    pub fn line(&self, instruction: u16) -> Option<u32> {
        let at = usize::from(instruction).checked_sub(1)?;
        self.code
            .get(at)
            .map(|step| u32::from(step.line))
            .filter(|line| *line > 0)
    }

    /// The places of an instruction's result and operands, as `w3` for a word and `w3+u8` for a word
    /// and units.
    pub(crate) fn places(&self, instruction: u16) -> (String, [String; OPERANDS as usize]) {
        let name = |place: u16| {
            let (word, unit) = (
                operand::WORD.get(place.into()),
                operand::UNIT.get(place.into()),
            );
            match unit {
                0 => format!("w{word}"),
                unit => format!("w{word}+u{unit}"),
            }
        };
        let step = self.code[usize::from(instruction) - 1];
        (name(step.result), step.operands.map(name))
    }

    /// The operation of an instruction, counted from 1.
    pub fn operation(&self, instruction: u16) -> Option<&'static Operation> {
        let at = usize::from(instruction).checked_sub(1)?;
        OPERATIONS.get(usize::from(self.code.get(at)?.opcode))
    }
}

/// A value of a program that is being built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueId(u32);

/// The program needs more shared memory than an evaluation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[error("more values at a time than fit the memory of an evaluation")]
pub struct TooLarge;

#[derive(Debug)]
struct Step {
    opcode: u16,
    immediate: u16,
    operands: Vec<ValueId>,
    result: ValueId,
    line: u16,
}

/// Makes a [`DeviceProgram`], instruction by instruction.
#[derive(Debug, Default)]
pub struct Builder {
    representations: Vec<Representation>,
    constants: Vec<ValueId>,
    pool: Pool,
    parameters: Vec<ValueId>,
    steps: Vec<Step>,
}

impl Builder {
    fn value(&mut self, representation: Representation) -> ValueId {
        self.representations.push(representation);
        ValueId(self.representations.len() as u32 - 1)
    }

    /// How a value is represented.
    pub fn representation(&self, value: ValueId) -> Representation {
        self.representations[value.0 as usize]
    }

    /// The next parameter.
    pub fn parameter(&mut self, representation: Representation) -> ValueId {
        let value = self.value(representation);
        self.parameters.push(value);
        value
    }

    /// A value that is known. Errors: why the device cannot hold it.
    pub fn constant(
        &mut self,
        representation: Representation,
        value: &Value,
    ) -> Result<ValueId, BailOut> {
        self.pool.push(representation, value)?;
        let value = self.value(representation);
        self.constants.push(value);
        Ok(value)
    }

    /// An instruction of the operation with this opcode, an index into [`OPERATIONS`]. The operands
    /// are those of its arguments that are operands.
    pub fn emit(
        &mut self,
        opcode: usize,
        immediate: Immediate,
        operands: &[ValueId],
        line: u32,
    ) -> ValueId {
        let result = self.value(OPERATIONS[opcode].gives);
        self.steps.push(Step {
            opcode: opcode as u16,
            immediate: immediate.bits(),
            operands: operands.to_vec(),
            result,
            line: u16::try_from(line).unwrap_or_default(),
        });
        result
    }

    /// The program that gives this value, taken as so represented, with every value in its place;
    /// a set of objects falls into elements as the structure says.
    ///
    /// Constants come first in the pool, then parameters; a place is free again behind its value's
    /// last use, so that a result never lies where an operand of its instruction does.
    pub fn finish(
        self,
        result: ValueId,
        representation: Representation,
        structure: Option<Structure>,
    ) -> Result<DeviceProgram, TooLarge> {
        let mut last_use = vec![0; self.representations.len()];
        for (at, step) in self.steps.iter().enumerate() {
            // What nothing takes is free behind the instruction that makes it.
            last_use[step.result.0 as usize] = at;
            for operand in &step.operands {
                last_use[operand.0 as usize] = at;
            }
        }
        last_use[result.0 as usize] = usize::MAX;

        let mut words = Allocator::new(operand::WORD);
        let mut units = Allocator::new(operand::UNIT);
        let mut places = vec![Place::default(); self.representations.len()];
        let take = |value: ValueId,
                    places: &mut Vec<Place>,
                    words: &mut Allocator,
                    units: &mut Allocator| {
            let representation = self.representations[value.0 as usize];
            let unit = if representation.units() == 0 {
                Some(0)
            } else {
                units.take(representation.units() as usize)
            };
            let place = Place {
                word: words.take(1).ok_or(TooLarge)? as u32,
                unit: unit.ok_or(TooLarge)? as u32,
            };
            places[value.0 as usize] = place;
            Ok::<(), TooLarge>(())
        };
        for value in self.constants.iter().chain(&self.parameters) {
            take(*value, &mut places, &mut words, &mut units)?;
        }
        let mut ends: Vec<Vec<ValueId>> = vec![Vec::new(); self.steps.len()];
        for (value, at) in last_use.iter().enumerate() {
            if let Some(end) = ends.get_mut(*at) {
                end.push(ValueId(value as u32));
            }
        }
        let mut code = Vec::with_capacity(self.steps.len());
        for (step, ends) in self.steps.iter().zip(&ends) {
            take(step.result, &mut places, &mut words, &mut units)?;
            let at = |value: ValueId| packed(places[value.0 as usize]);
            let mut operands = [0; _];
            for (to, operand) in operands.iter_mut().zip(&step.operands) {
                *to = at(*operand);
            }
            code.push(InstructionRecord {
                opcode: step.opcode,
                immediate: step.immediate,
                result: at(step.result),
                operands,
                line: step.line,
            });
            for value in ends {
                let place = places[value.0 as usize];
                words.give_back(place.word as usize, 1);
                let representation = self.representations[value.0 as usize];
                units.give_back(place.unit as usize, representation.units() as usize);
            }
        }
        Ok(DeviceProgram {
            code,
            constants: self.pool,
            parameters: self
                .parameters
                .iter()
                .map(|value| self.representations[value.0 as usize])
                .collect(),
            words: words.most as u32,
            units: units.most as u32,
            result: places[result.0 as usize],
            gives: representation,
            structure,
        })
    }
}

/// Which words, or units, of a pool are taken.
#[derive(Debug)]
struct Allocator {
    /// How many there may be: as many as an operand can name.
    room: usize,
    taken: Vec<bool>,
    /// How many were taken at most, counted from the first.
    most: usize,
}

impl Allocator {
    fn new(named_by: BitField) -> Self {
        Self {
            room: named_by.mask() as usize + 1,
            taken: Vec::new(),
            most: 0,
        }
    }

    /// The first run of so many that are free.
    fn take(&mut self, count: usize) -> Option<usize> {
        let mut start = 0;
        for (at, taken) in self.taken.iter().enumerate() {
            if *taken {
                start = at + 1;
            } else if at + 1 - start == count {
                break;
            }
        }
        let end = start + count;
        if end > self.room {
            return None;
        }
        if self.taken.len() < end {
            self.taken.resize(end, false);
        }
        self.taken[start..end].fill(true);
        self.most = self.most.max(end);
        Some(start)
    }

    fn give_back(&mut self, start: usize, count: usize) {
        self.taken[start..start + count].fill(false);
    }
}

/// A unit of the pool: a word a lane.
pub(crate) type Unit = [u32; LANES];
