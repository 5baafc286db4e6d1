//! [`DeviceProgram`]: instructions for the kernel's interpreter loop, and the [`Builder`] that emits them and
//! allocates places in the pool to values.

use crate::interface::constants::{
    JUMP, JUMP_UNLESS, MAX_ROUNDS, NEXT, NEXT_BLOCK, OPERANDS, UNIT_BYTES,
};
use crate::interface::records::InstructionRecord;
use crate::interface::words::{immediate, operand};
use crate::interface::{BailOut, Representation, Structure};
use crate::lane_operations;
use crate::list_operations::ListOperation;
use crate::operations::{OPERATIONS, Operation};
use crate::pool::{LANES, Pool, PoolPlace};
use arc_dsl::Value;

mod places;
mod text;

use places::PlaceAllocator;

/// The part of an instruction that is not an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Immediate {
    /// How the set of objects that it takes or returns splits into elements.
    pub structure: Option<Structure>,
    /// The truth value of an operation that has one.
    pub flag: bool,
    /// A [`Key`](crate::interface::Key) to compare by, or the index of an element of a tuple.
    pub key: u8,
    /// Whether nothing uses cells of the result outside rows and columns 0 to 31.
    pub clipped: bool,
}

impl Immediate {
    /// The one with this truth value.
    pub fn flagged(flag: bool) -> Self {
        Self {
            flag,
            ..Self::default()
        }
    }

    /// The one with this key.
    pub fn keyed(key: u8) -> Self {
        Self {
            key,
            ..Self::default()
        }
    }

    /// Encoded as in an instruction.
    pub fn bits(self) -> u16 {
        let structure = self.structure.map_or(0, Structure::number);
        let bits = immediate::STRUCTURE.put(structure)
            | immediate::FLAG.put(u32::from(self.flag))
            | immediate::KEY.put(u32::from(self.key))
            | immediate::CLIPPED.put(u32::from(self.clipped));
        bits as u16
    }
}

/// A place in the pool of an evaluation, encoded as an operand; the [allocator](places::PlaceAllocator) keeps it within
/// the operand's bits.
pub(crate) fn packed(place: PoolPlace) -> u16 {
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
    pub(crate) result: PoolPlace,
    pub(crate) gives: Representation,
    /// How a set of objects that it returns splits into elements.
    pub(crate) structure: Option<Structure>,
    /// Whether it has loops, choices or lists: an evaluation then has an arena, and its warp runs no other beside it.
    pub(crate) has_arena: bool,
}

impl DeviceProgram {
    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether it has no instructions: it returns a parameter or a constant.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// The representations of its parameters, in order.
    pub fn parameters(&self) -> &[Representation] {
        &self.parameters
    }

    /// The representation of its result.
    pub fn gives(&self) -> Representation {
        self.gives
    }

    /// Whether it has loops, choices or lists, so that each evaluation has an arena.
    pub fn has_arena(&self) -> bool {
        self.has_arena
    }

    /// How many loops it has, each counted again for each loop around it; lists without a loop count as one.
    pub fn loops(&self) -> u32 {
        self.most_rounds() / ROUNDS
    }

    /// How many rounds its loops and operations on lists may take in an evaluation, all together: the device bails out of
    /// one that needs more.
    fn most_rounds(&self) -> u32 {
        if self.has_arena {
            self.constants.words()[LEFT.word as usize]
        } else {
            0
        }
    }

    /// The same program with the number of rounds that are left as its result; `None` if it has no loops or lists.
    pub fn counting(&self) -> Option<Self> {
        let counting = || Self {
            result: LEFT,
            gives: Representation::Int,
            structure: None,
            ..self.clone()
        };
        (self.loops() > 0).then(counting)
    }

    /// How many rounds an evaluation has taken of which that is the result.
    pub fn rounds(&self, left: &Value) -> Option<u32> {
        match left {
            Value::Int(left) => self.most_rounds().checked_sub(*left as u32),
            _ => None,
        }
    }

    /// Bytes of shared memory that an evaluation needs, a multiple of [`UNIT_BYTES`].
    pub fn pool_bytes(&self) -> u32 {
        (self.units * UNIT_BYTES + self.words * size_of::<u32>() as u32)
            .next_multiple_of(UNIT_BYTES)
    }

    /// The line in the program's text of an instruction, which is counted from 1 as in a
    /// [`Verdict`](crate::Verdict); `None` if the instruction has none.
    pub fn line(&self, instruction: u16) -> Option<u32> {
        let at = usize::from(instruction).checked_sub(1)?;
        self.code
            .get(at)
            .map(|step| u32::from(step.line))
            .filter(|line| *line > 0)
    }

    /// The places of an instruction's result and operands as text: `w3` for a word, `w3+u8` for a word and units.
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
        let opcode = self.code.get(at)?.opcode;
        let of_each = lane_operations::of_each(opcode).unwrap_or(opcode);
        OPERATIONS.get(usize::from(of_each))
    }
}

/// A value of a program that is being built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueId(u32);

/// A jump target in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label(u32);

/// Rounds for each loop of a program: 1,650 evaluations of public programs on the pairs of their own tasks need no more.
const ROUNDS: u32 = 256;

/// Where the number of rounds that are left lies, if there is an arena; the first word is how much of that is in use.
const LEFT: PoolPlace = PoolPlace { word: 1, unit: 0 };

/// The program needs more shared memory than an evaluation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[error("more values at a time than fit the memory of an evaluation")]
pub struct TooLarge;

#[derive(Debug)]
struct Step {
    opcode: u16,
    immediate: u16,
    operands: Vec<ValueId>,
    /// The target of a jump; its distance from the next instruction follows the operands.
    target: Option<Label>,
    result: Option<ValueId>,
    line: u16,
}

/// Builds a [`DeviceProgram`], instruction by instruction.
#[derive(Debug, Default)]
pub struct Builder {
    representations: Vec<Representation>,
    constants: Vec<ValueId>,
    /// The values of the constants, to store equal ones only once.
    constant_values: Vec<(Representation, Value)>,
    pool: Pool,
    parameters: Vec<ValueId>,
    steps: Vec<Step>,
    /// Values that more than one step assigns, each with the step before which it gets its place.
    declared: Vec<(ValueId, usize)>,
    /// The step before which each label stands, once that is known.
    labels: Vec<Option<usize>>,
    /// First and last step of each loop, inner loops before outer ones.
    loops: Vec<(usize, usize)>,
    has_arena: bool,
    /// Whether a column is an operand of something that cannot run by lanes.
    misused_column: bool,
}

/// A position in a program that is being built, to which the builder can return.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    steps: usize,
    declared: usize,
    labels: usize,
    loops: usize,
}

impl Builder {
    fn value(&mut self, representation: Representation) -> ValueId {
        self.representations.push(representation);
        ValueId(self.representations.len() as u32 - 1)
    }

    /// The representation of a value.
    pub fn representation(&self, value: ValueId) -> Representation {
        self.representations[value.0 as usize]
    }

    /// Adds the next parameter.
    pub fn parameter(&mut self, representation: Representation) -> ValueId {
        let value = self.value(representation);
        self.parameters.push(value);
        value
    }

    /// Adds a constant. Errors: why the device cannot hold it.
    pub fn constant(
        &mut self,
        representation: Representation,
        value: &Value,
    ) -> Result<ValueId, BailOut> {
        let mut values = self.constant_values.iter();
        if let Some(at) = values.position(|one| one.0 == representation && one.1 == *value) {
            return Ok(self.constants[at]);
        }
        self.pool.push(representation, value)?;
        self.constant_values.push((representation, value.clone()));
        let value = self.value(representation);
        self.constants.push(value);
        Ok(value)
    }

    /// Emits the operation with this opcode, an index into [`OPERATIONS`]. The operands are those of its arguments that
    /// [are operands](Representation::is_operand).
    pub fn emit(
        &mut self,
        opcode: usize,
        immediate: Immediate,
        operands: &[ValueId],
        line: u32,
    ) -> ValueId {
        let result = self.result(OPERATIONS[opcode].gives, operands);
        self.emit_to(opcode as u16, immediate, operands, result, line);
        result
    }

    /// Emits an operation on lists, or on values in the arena.
    pub fn emit_list(
        &mut self,
        operation: ListOperation,
        immediate: Immediate,
        operands: &[ValueId],
        line: u32,
    ) -> ValueId {
        let result = if operation.takes().contains(&Representation::Column) {
            self.value(operation.gives())
        } else {
            self.result(operation.gives(), operands)
        };
        self.emit_to(operation.opcode(), immediate, operands, result, line);
        result
    }

    fn is_column(&self, value: ValueId) -> bool {
        self.representation(value) == Representation::Column
    }

    /// A value for the result of an operation: a column if any operand is one, otherwise in this representation.
    fn result(&mut self, gives: Representation, operands: &[ValueId]) -> ValueId {
        let by_lanes = operands.iter().any(|operand| self.is_column(*operand));
        self.value(if by_lanes {
            Representation::Column
        } else {
            gives
        })
    }

    /// The opcode of an operation for these operands and this result: the one by lanes if any operand is a column.
    fn opcode_for(&mut self, opcode: u16, operands: &[ValueId], result: ValueId) -> u16 {
        let takes_columns = ListOperation::of(opcode)
            .is_some_and(|operation| operation.takes().contains(&Representation::Column));
        if takes_columns || !operands.iter().any(|operand| self.is_column(*operand)) {
            return opcode;
        }
        match lane_operations::by_lanes(opcode) {
            Some(by_lanes) if self.is_column(result) => by_lanes,
            _ => {
                self.misused_column = true;
                opcode
            }
        }
    }

    /// Adds an element to a list that has room for it.
    pub fn push(&mut self, list: ValueId, word: ValueId, line: u32) {
        let opcode = ListOperation::Push.opcode();
        self.emit_to(opcode, Immediate::default(), &[word], list, line);
    }

    /// Emits an operation whose result is an existing value, such as one that was [declared](Self::declare).
    pub fn emit_to(
        &mut self,
        opcode: u16,
        immediate: Immediate,
        operands: &[ValueId],
        result: ValueId,
        line: u32,
    ) {
        self.has_arena |= ListOperation::of(opcode).is_some();
        let opcode = self.opcode_for(opcode, operands, result);
        self.steps.push(Step {
            opcode,
            immediate: immediate.bits(),
            operands: operands.to_vec(),
            target: None,
            result: Some(result),
            line: u16::try_from(line).unwrap_or_default(),
        });
    }

    /// Declares a value that more than one instruction assigns, the first of them emitted after this call.
    pub fn declare(&mut self, representation: Representation) -> ValueId {
        let value = self.value(representation);
        self.declared.push((value, self.steps.len()));
        value
    }

    /// A new label, which is still to be [placed](Self::place).
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Places the label before the next instruction.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.steps.len());
    }

    /// Emits a jump to the label; with a condition, a jump taken only if that is false.
    pub(crate) fn jump(&mut self, unless: Option<ValueId>, target: Label) {
        let opcode = if unless.is_some() { JUMP_UNLESS } else { JUMP };
        self.control(opcode, false, unless.into_iter().collect(), target, None);
    }

    /// Emits the head of a loop: returns the element of the list at index `round`, or jumps to the label if there is
    /// none. See [`NEXT`].
    pub(crate) fn next(&mut self, list: ValueId, round: ValueId, end: Label) -> ValueId {
        let element = self.value(Representation::Word);
        self.control(NEXT, false, vec![list, round], end, Some(element));
        element
    }

    /// Emits the head of a loop that takes one element per lane each round: returns a column of them and adds their
    /// number to `round`, or jumps to the label if none is left.
    pub fn next_block(&mut self, list: ValueId, round: ValueId, end: Label) -> ValueId {
        let elements = self.value(Representation::Column);
        self.control(NEXT_BLOCK, false, vec![list, round], end, Some(elements));
        elements
    }

    /// The current position, to [roll back](Self::roll_back) to.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            steps: self.steps.len(),
            declared: self.declared.len(),
            labels: self.labels.len(),
            loops: self.loops.len(),
        }
    }

    /// Removes what was emitted since the checkpoint. Constants stay: what is emitted instead needs them too.
    pub(crate) fn roll_back(&mut self, to: &Checkpoint) {
        self.steps.truncate(to.steps);
        self.declared.truncate(to.declared);
        self.labels.truncate(to.labels);
        self.loops.truncate(to.loops);
        self.misused_column = false;
    }

    /// Whether a column is an operand of something that cannot run by lanes: such a program must not be
    /// [finished](Self::finish).
    pub(crate) fn has_misused_column(&self) -> bool {
        self.misused_column
    }

    /// Emits the head of a loop of this many rounds.
    pub(crate) fn next_round(&mut self, rounds: ValueId, round: ValueId, end: Label) {
        self.control(NEXT, true, vec![rounds, round], end, None);
    }

    fn control(
        &mut self,
        opcode: u32,
        flag: bool,
        operands: Vec<ValueId>,
        target: Label,
        result: Option<ValueId>,
    ) {
        self.has_arena = true;
        self.misused_column |= operands.iter().any(|operand| self.is_column(*operand));
        self.steps.push(Step {
            opcode: opcode as u16,
            immediate: Immediate::flagged(flag).bits(),
            operands,
            target: Some(target),
            result,
            line: 0,
        });
    }

    /// Ends a loop: emits the jump back to the label at its head.
    pub fn end_loop(&mut self, head: Label) {
        self.jump(None, head);
        if let Some(first) = self.labels[head.0 as usize] {
            self.loops.push((first, self.steps.len() - 1));
        }
    }

    /// The live range of each value, first and last position. Step `n` reads and writes at position `2 * n + 1`; `2 * n`
    /// is the position before it, so 0 is before all steps.
    fn live_ranges(&self, result: ValueId) -> Vec<(usize, usize)> {
        let mut ranges = vec![(0, 0); self.representations.len()];
        let mut undefined = vec![true; ranges.len()];
        for value in self.constants.iter().chain(&self.parameters) {
            undefined[value.0 as usize] = false;
        }
        for (value, before) in &self.declared {
            undefined[value.0 as usize] = false;
            ranges[value.0 as usize] = (2 * before, 2 * before);
        }
        for (at, step) in self.steps.iter().enumerate() {
            if let Some(value) = step.result {
                let range = &mut ranges[value.0 as usize];
                if std::mem::take(&mut undefined[value.0 as usize]) {
                    *range = (2 * at + 1, 2 * at + 1);
                }
                range.1 = 2 * at + 1;
            }
            for operand in &step.operands {
                ranges[operand.0 as usize].1 = 2 * at + 1;
            }
        }
        // A value defined before a loop and used in it is live until the loop ends.
        for (first, last) in &self.loops {
            for range in &mut ranges {
                if range.0 <= 2 * first && range.1 > 2 * first && range.1 < 2 * last + 1 {
                    range.1 = 2 * last + 1;
                }
            }
        }
        ranges[result.0 as usize].1 = usize::MAX;
        ranges
    }

    /// How many rounds an evaluation may take, of loops and of operations on lists, which count as rounds what they compare:
    /// [`ROUNDS`] for each loop, as many again for each loop around it, and as for one loop without any. One evaluation
    /// that goes on and on would hold up a launch of thousands.
    fn most_rounds(&self) -> u32 {
        let loops = || self.loops.iter();
        let around = |(first, last)| loops().filter(move |one| one.0 <= first && last <= one.1);
        let nested: usize = loops().map(|one| around(*one).count()).sum();
        let loops = (nested as u32).max(1);
        loops.saturating_mul(ROUNDS).min(MAX_ROUNDS)
    }

    /// Allocates places, and returns the program whose result is this value, in this representation; the structure says
    /// how a set of objects splits into elements.
    ///
    /// Constants come first in the pool, then parameters. A place is free again after its value's last use, so a result
    /// never lies where an operand of its instruction does.
    pub fn finish(
        self,
        result: ValueId,
        representation: Representation,
        structure: Option<Structure>,
    ) -> Result<DeviceProgram, TooLarge> {
        let ranges = self.live_ranges(result);
        // Jump distances have 16 bits.
        if self.steps.len() > i16::MAX as usize {
            return Err(TooLarge);
        }
        let mut places = PlaceAllocator::new(&self.representations);
        let mut constants = self.pool.clone();
        if self.has_arena {
            constants = Pool::from_parts(
                [&[0, self.most_rounds()], constants.words()].concat(),
                constants.units().to_vec(),
            );
            places.words.allocate(0, 2).ok_or(TooLarge)?;
        }
        for value in self.constants.iter().chain(&self.parameters) {
            places.allocate(*value)?;
        }
        let mut ends: Vec<Vec<ValueId>> = vec![Vec::new(); self.steps.len()];
        for (value, (_, end)) in ranges.iter().enumerate() {
            if let Some(ends) = ends.get_mut(end / 2) {
                ends.push(ValueId(value as u32));
            }
        }
        let mut declared = self.declared.iter().peekable();
        let mut code = Vec::with_capacity(self.steps.len());
        for (at, (step, ends)) in self.steps.iter().zip(&ends).enumerate() {
            while let Some((value, _)) = declared.next_if(|(_, before)| *before <= at) {
                places.allocate(*value)?;
            }
            if let Some(value) = step
                .result
                .filter(|value| ranges[value.0 as usize].0 == 2 * at + 1)
            {
                places.allocate(value)?;
            }
            let mut operands = [0; _];
            let target = step.target.map(|target| self.distance(at, target));
            let named = step.operands.iter().map(|operand| places.packed(*operand));
            for (to, operand) in operands.iter_mut().zip(named.chain(target)) {
                *to = operand;
            }
            code.push(InstructionRecord {
                opcode: step.opcode,
                immediate: step.immediate,
                result: step.result.map_or(0, |value| places.packed(value)),
                operands,
                line: step.line,
            });
            for value in ends {
                places.free(*value);
            }
        }
        Ok(DeviceProgram {
            code,
            constants,
            parameters: self
                .parameters
                .iter()
                .map(|value| self.representations[value.0 as usize])
                .collect(),
            words: places.words.peak as u32,
            units: places.units.peak as u32,
            result: places.places[result.0 as usize],
            gives: representation,
            structure,
            has_arena: self.has_arena,
        })
    }

    /// The signed distance of a label from the instruction after step `at`, as an operand.
    fn distance(&self, at: usize, label: Label) -> u16 {
        let target = self.labels[label.0 as usize].unwrap_or(self.steps.len());
        (target as i32 - at as i32 - 1) as i16 as u16
    }
}

/// A unit of the pool: one word per lane.
pub(crate) type Unit = [u32; LANES];

#[cfg(test)]
mod tests {
    use arc_text::parse_programs;

    use crate::encode;

    fn loops(steps: &str) -> u32 {
        let text = format!(
            "def solve_a(I):\n    {}\n    return O\n",
            steps.replace("; ", "\n    ")
        );
        let program = parse_programs(&text).remove(0).unwrap();
        let program = encode(&arc_form::specialise(&program).unwrap()).unwrap();
        program.loops()
    }

    #[test]
    fn a_loop_counts_again_for_each_around_it() {
        assert_eq!(loops("O = vmirror(I)"), 0);
        // A list, but no loop.
        assert_eq!(
            loops("x1 = crop(I, (0, 0), (1, 2)); x2 = dedupe((1, 2, 1)); O = canvas(1, (1, 2))"),
            0
        );
        let one = "x1 = asindices(I); x2 = mapply(neighbors, x1); O = fill(I, 3, x2)";
        assert_eq!(loops(one), 1);
        let two = "x1 = asindices(I); x2 = mapply(neighbors, x1); x3 = mapply(ineighbors, x2); O = fill(I, 3, x3)";
        assert_eq!(loops(two), 2);
        let nested = "x1 = lbind(mapply, neighbors); x2 = compose(x1, dneighbors); x3 = asindices(I); \
                      x4 = mapply(x2, x3); O = fill(I, 3, x4)";
        assert_eq!(loops(nested), 3);
    }
}
