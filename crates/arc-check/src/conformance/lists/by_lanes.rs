//! Programs with one loop by lanes: an operation on columns, for the elements of lists.

use gpu_kernels::interface::Representation;
use gpu_kernels::lane_operations::of_each;
use gpu_kernels::list_operations::ListOperation;
use gpu_kernels::{Immediate, ValueId};

use super::{BuiltCase, CaseBuilder, Given, Outcome};

impl CaseBuilder {
    /// The result of an operation for the elements of lists side by side.
    ///
    /// The results are collected in a list, which must equal the expected one. Operations that read columns get the
    /// columns themselves, and their result is kept.
    pub(super) fn program_by_lanes(
        &mut self,
        opcode: u16,
        immediate: Immediate,
        given: &[Given],
        outcome: &Outcome,
    ) -> Option<BuiltCase> {
        use ListOperation as L;
        let operands = self.operands(given)?;
        let words = self.words(outcome)?;
        let is_list = |one: &Given| matches!(one, Given::List(_));
        let lists = given.iter().zip(&operands);
        let lists: Vec<ValueId> = lists
            .filter(|(one, _)| is_list(one))
            .map(|(_, value)| *value)
            .collect();
        let made = self.step(L::RoomFor, Immediate::default(), &lists[..1]);
        let kept = self.builder.declare(Representation::Word);
        let zero = self.int(0)?;
        self.copy(zero, kept);
        let rounds: Vec<ValueId> = lists
            .iter()
            .map(|_| {
                let round = self.builder.declare(Representation::Int);
                self.copy(zero, round);
                round
            })
            .collect();
        let (head, end) = (self.builder.label(), self.builder.label());
        self.builder.place(head);
        let columns: Vec<ValueId> = lists
            .iter()
            .zip(rounds)
            .map(|(list, round)| self.builder.next_block(*list, round, end))
            .collect();
        let mut next = columns.iter();
        let operands: Option<Vec<ValueId>> = given
            .iter()
            .zip(operands)
            .map(|(one, value)| {
                if is_list(one) {
                    next.next().copied()
                } else {
                    Some(value)
                }
            })
            .collect();
        let (operands, first, last) = (operands?, *columns.first()?, *columns.last()?);
        let on_columns = ListOperation::of(opcode);
        match on_columns {
            Some(push @ (L::PushColumn | L::PushKept)) => {
                let both = [&[first][..], &operands].concat();
                let operands = if push == L::PushColumn {
                    &both
                } else {
                    &operands
                };
                self.builder.emit_to(opcode, immediate, operands, made, 0);
            }
            Some(operation) => {
                let found = self.step(operation, immediate, &operands);
                self.copy(found, kept);
            }
            None => {
                let of_each = of_each(opcode)?;
                let column = match ListOperation::of(of_each) {
                    Some(operation) => self.step(operation, immediate, &operands),
                    None => self.builder.emit(of_each.into(), immediate, &operands, 0),
                };
                let operands = [column, first, last];
                let push = L::PushColumn.opcode();
                self.builder
                    .emit_to(push, Immediate::default(), &operands, made, 0);
            }
        }
        self.builder.end_loop(head);
        self.builder.place(end);
        let result = match outcome {
            Outcome::List(..) => made,
            _ => kept,
        };
        self.compared(Representation::Int, result, outcome, &words)
    }

    fn copy(&mut self, value: ValueId, to: ValueId) {
        let move_word = ListOperation::MoveWord.opcode();
        self.builder
            .emit_to(move_word, Immediate::default(), &[value], to, 0);
    }
}
