//! Decodes branches and calls.

use super::super::module::{Op, Width};
use super::super::tokens::Operand;
use super::Decoder;

impl Decoder<'_, '_> {
    pub(super) fn branch(&mut self) -> Option<Op> {
        let Operand::Name(label) = *self.operand()? else {
            return None;
        };
        self.builder.branch_to(self.into.line, label);
        Some(Op::Branch)
    }

    pub(super) fn branch_by_index(&mut self, uniform: bool) -> Option<Op> {
        self.from(0, Width::Word)?;
        let Operand::Name(table) = *self.operand()? else {
            return None;
        };
        self.builder.branch_by(self.into.line, table);
        Some(Op::IndexedBranch(uniform))
    }

    pub(super) fn call(&mut self) -> Option<Op> {
        let (result, name, list) = match self.operands {
            [
                Operand::List(result),
                Operand::Name(name),
                Operand::List(list),
            ] => (result.first(), *name, list.as_slice()),
            [Operand::List(result), Operand::Name(name)] => (result.first(), *name, &[][..]),
            [Operand::Name(name), Operand::List(list)] => (None, *name, list.as_slice()),
            [Operand::Name(name)] => (None, *name, &[][..]),
            _ => return None,
        };
        self.at = self.operands.len();
        let places = list.iter().map(|name| self.builder.extent_of(name));
        let arguments = places.collect::<Option<Vec<_>>>()?;
        let result = match result {
            Some(name) => Some(self.builder.extent_of(name)?),
            None => None,
        };
        let line = self.into.line;
        self.into.target = self.builder.call_of(line, name, arguments, result);
        Some(Op::Call)
    }
}
