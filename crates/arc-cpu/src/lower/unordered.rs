//! Loops specialised by how their values are used: over elements in no order, and by colour.

use super::{Lowering, Steps};
use crate::ops::endings::{self, Finish};
use crate::ops::loops::Loop;
use crate::ops::{by_colour, unordered};
use arc_dsl::Primitive;
use arc_form::{Id, Instruction, Op, Operand, Region, Representation as R, Type};

impl Lowering {
    /// Whether an operand's elements are in no particular order.
    fn is_unordered(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Id(id) => self.held(*id).is_unordered(),
            Operand::Constant(_) => false,
        }
    }

    /// Whether an instruction iterates over elements in no particular order.
    pub(super) fn takes_unordered(&self, instruction: &Instruction) -> bool {
        instruction
            .arguments
            .iter()
            .any(|one| self.is_unordered(one))
    }

    /// Specialises a loop by the container it iterates over, by what its region uses of an element, and by the
    /// representation of its value.
    pub(super) fn suited(&self, instruction: &Instruction, chosen: Loop) -> Loop {
        let kernel = match instruction.op {
            Op::Call(Primitive::Sfilter)
                if chosen.containers[0] == Type::Object
                    && instruction.regions.iter().all(looks_at_colours) =>
            {
                &by_colour::FILTER_BY_COLOUR
            }
            Op::Call(Primitive::Argmax) if self.takes_unordered(instruction) => {
                &unordered::ARGMAX_OF_UNORDERED
            }
            Op::Call(Primitive::Argmin) if self.takes_unordered(instruction) => {
                &unordered::ARGMIN_OF_UNORDERED
            }
            _ => chosen.kernel,
        };
        let finish = chosen
            .finish
            .map(|finish| self.finish_unordered(instruction, finish));
        Loop {
            kernel,
            finish,
            ..chosen
        }
    }

    fn finish_unordered(&self, instruction: &Instruction, finish: Finish) -> Finish {
        let element = instruction.ty.element().unwrap_or(Type::Never);
        match (self.held(instruction.id), finish) {
            (R::Unordered, Finish::List) => Finish::Unordered,
            (R::Distinct, Finish::List) => Finish::Distinct(element),
            (R::Distinct, Finish::Concat(inner)) => Finish::ConcatDistinct(inner, element),
            (_, Finish::Concat(inner)) if self.is_mixed(instruction.id) => Finish::Joined(inner),
            (_, finish) => finish,
        }
    }

    /// The values in these slots as an unordered set: of equal values the last one stays.
    pub(super) fn unordered(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
        slots: Vec<u32>,
    ) {
        let mut left: Vec<u32> = Vec::new();
        for slot in slots.into_iter().rev() {
            if !left.contains(&slot) {
                left.push(slot);
            }
        }
        left.reverse();
        let mut list = self.tuple(steps, &left);
        let ty = self.held_type(instruction);
        if self.held(instruction.id) == R::Distinct {
            let number = self.number_of(&ty.element().unwrap_or(Type::Never));
            list = self.push(steps, &endings::DISTINCT_OF_LIST, |step| {
                step.a = list;
                step.immediate = number;
            });
        }
        self.set_type(instruction.id, ty.into_owned());
        self.copy(steps, list, instruction.id);
    }
}

/// Whether a region uses nothing of its cells but their colours.
fn looks_at_colours(region: &Region) -> bool {
    region.parameters.iter().all(|(cell, _)| {
        region.result != Operand::Id(*cell)
            && region
                .instructions
                .iter()
                .all(|one| looks_at_colour(one, *cell))
    })
}

/// Whether an instruction, its regions included, uses nothing of a cell but its colour.
fn looks_at_colour(instruction: &Instruction, cell: Id) -> bool {
    let cell_as_operand = Operand::Id(cell);
    let in_regions = |region: &Region| {
        region.result != cell_as_operand
            && region
                .instructions
                .iter()
                .all(|one| looks_at_colour(one, cell))
    };
    let colour = matches!(instruction.op, Op::Call(Primitive::First) | Op::Item(0));
    (colour || !instruction.arguments.contains(&cell_as_operand))
        && instruction.regions.iter().all(in_regions)
}
