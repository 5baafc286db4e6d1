//! How the sets of a program are built, for finding their order; and the steps that need it.

use super::{Lowering, Steps};
use crate::exact::{Argument, Definition, How, has_sets, is_set};
use crate::ops::basics;
use arc_dsl::Primitive;
use arc_form::{Fused, Id, Instruction, Op, Operand, Representation, Type};

impl Lowering {
    /// Records how the value of an instruction is built, if it is a set or contains one.
    pub(super) fn define(&mut self, instruction: &Instruction) {
        use Primitive as P;
        if !has_sets(&instruction.ty) || !self.is_whole(instruction.id) {
            return;
        }
        let (how, arguments) = match instruction.op {
            Op::Call(P::Sfilter) => (How::Kept, &instruction.arguments[..1]),
            Op::Call(P::Argmax | P::Argmin | P::Extract) | Op::Item(_) => {
                (How::Element, &instruction.arguments[..1])
            }
            Op::Call(P::Order) => (How::Elements, &instruction.arguments[..1]),
            Op::Call(primitive) if primitive.is_first_order() => {
                (How::Call(primitive), &instruction.arguments[..])
            }
            Op::Fused(
                Fused::MetAsOften
                | Fused::MetMoreOften
                | Fused::MetLessOften
                | Fused::ColouredAsOften
                | Fused::ColouredMoreOften
                | Fused::ColouredLessOften,
            ) => (How::Kept, &instruction.arguments[..1]),
            Op::Tuple => (How::Items, &instruction.arguments[..]),
            Op::Set => (How::Set, &instruction.arguments[..]),
            _ => return,
        };
        self.define_as(self.slot_of(instruction.id), how, arguments);
    }

    /// Records that the parameters of a loop's region are elements of its containers.
    pub(super) fn define_parameters(&mut self, instruction: &Instruction) {
        for region in &instruction.regions {
            for ((id, ty), container) in region.parameters.iter().zip(&instruction.arguments) {
                if has_sets(ty) {
                    self.define_as(id.0, How::Element, std::slice::from_ref(container));
                }
            }
        }
    }

    fn define_as(&mut self, slot: u32, how: How, operands: &[Operand]) {
        let start = self.code.arguments.len() as u32;
        for operand in operands {
            let argument = match operand {
                Operand::Id(id) if self.is_whole(*id) => {
                    let ty = self.types[id.index()].clone();
                    Argument::Slot(self.slot_of(*id), self.number_of(&ty))
                }
                Operand::Id(_) => Argument::Unknown,
                Operand::Constant(value) => Argument::Constant(value.clone()),
            };
            self.code.arguments.push(argument);
        }
        let arguments = start..self.code.arguments.len() as u32;
        self.code.definitions.push(Definition {
            slot,
            how,
            arguments,
        });
    }

    /// Whether a value is represented as its type says, with all its cells.
    fn is_whole(&self, id: Id) -> bool {
        self.held(id) == Representation::Typed && !self.plan.is_clipped(id)
    }

    /// The operands of a call, with sets whose order it observes as tuples in that order.
    pub(super) fn ordered(
        &mut self,
        steps: &mut Steps,
        primitive: Primitive,
        result: &Type,
        operands: &mut super::Operands,
    ) {
        for at in 0..operands.len {
            let ty = operands.types[at].clone();
            if is_set(&ty) && observes(primitive, at, result) {
                let Some(element) = ty.element() else { continue };
                let number = self.number_of(&ty);
                let from = operands.slots[at];
                operands.slots[at] = self.push(steps, &basics::IN_ORDER, |step| {
                    step.a = from;
                    step.immediate = number;
                });
                operands.types[at] = Type::tuple_of(element);
            }
        }
    }
}

/// Whether a call's result depends on the order of a set that is its argument of this index.
fn observes(primitive: Primitive, at: usize, result: &Type) -> bool {
    use Primitive as P;
    match primitive {
        P::First | P::Last | P::Totuple | P::Pair | P::Papply | P::Mpapply => true,
        P::Combine => !is_set(result),
        P::Other => at == 0,
        _ => false,
    }
}
