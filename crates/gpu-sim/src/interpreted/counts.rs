//! [`InstructionCounts`]: counts of the instructions that warps executed.

use super::module::{Module, Part};

/// One run of an operation, from the mark before it to the one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationRun {
    /// The line of the mark before it. Each operation has its own mark, so this identifies the operation.
    pub line: u32,
    /// Warp instructions executed.
    pub instructions: u64,
}

/// Counts of the instructions that warps executed. Marks are not counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InstructionCounts {
    /// How often each instruction of the module was issued.
    by_instruction: Vec<u64>,
    /// By part; the first entry is for code before any mark.
    parts: [u64; Part::ALL.len() + 1],
    operations: Vec<OperationRun>,
    part: usize,
    /// The line of the last mark of an operation, and the number of instructions issued before it.
    since: (u32, u64),
    issued: u64,
}

impl InstructionCounts {
    pub(super) fn new(module: &Module) -> Self {
        InstructionCounts {
            by_instruction: vec![0; module.code.len()],
            ..InstructionCounts::default()
        }
    }

    /// The warp instructions of a part of the kernel; `None` is the code before any mark.
    pub fn part(&self, part: Option<Part>) -> u64 {
        self.parts[part.map_or(0, |part| part as usize + 1)]
    }

    /// All warp instructions.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// Each run of an operation, in order.
    pub fn operations(&self) -> &[OperationRun] {
        &self.operations
    }

    /// The lines of the instructions that were executed, and how often each was, in the order of the text.
    pub fn lines<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = (u32, u64)> + 'a {
        let all = module.code.iter().zip(&self.by_instruction);
        let executed = all.filter(|(_, count)| **count > 0);
        executed.map(|(instruction, count)| (instruction.line, *count))
    }

    /// Begins a warp, before any mark.
    pub(super) fn begin_warp(&mut self) {
        self.part = 0;
    }

    pub(super) fn mark(&mut self, part: Part, line: u32) {
        let part = part as usize + 1;
        let operation = Part::Operation as usize + 1;
        if self.part == operation && part != operation {
            let (line, before) = self.since;
            self.operations.push(OperationRun {
                line,
                instructions: self.issued - before,
            });
        }
        if part == operation && self.part != operation {
            self.since = (line, self.issued);
        }
        self.part = part;
    }

    #[inline]
    pub(super) fn issue(&mut self, pc: u32) {
        self.issued += 1;
        if let Some(count) = self.by_instruction.get_mut(pc as usize) {
            *count += 1;
        }
        self.parts[self.part] += 1;
    }
}
