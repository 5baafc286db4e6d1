//! [`InstructionCounts`]: counts of the instructions that warps executed.

use super::module::{Module, Pc};

/// How often each instruction of the module was issued.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InstructionCounts(Vec<u64>);

impl InstructionCounts {
    pub(super) fn new(module: &Module) -> Self {
        InstructionCounts(vec![0; module.code.len()])
    }

    /// All warp instructions.
    pub fn issued(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The lines of the instructions that were executed, and how often each was, in the order of the text.
    pub fn lines<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = (u32, u64)> + 'a {
        let all = module.code.iter().zip(&self.0);
        let executed = all.filter(|(_, count)| **count > 0);
        executed.map(|(instruction, count)| (instruction.line, *count))
    }

    #[inline]
    pub(super) fn issue(&mut self, pc: Pc) {
        if let Some(count) = self.0.get_mut(pc as usize) {
            *count += 1;
        }
    }
}
