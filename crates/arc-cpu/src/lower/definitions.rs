//! How the sets of a program are built, for finding their order; and the steps that need it.

use std::ops::Range;

use super::{Lowering, Steps};
use crate::bail_out::Unsupported;
use crate::definition::{Argument, Definition, How, has_sets, is_set};
use crate::ops::basics;
use arc_dsl::Primitive;
use arc_form::{Fused, Id, Instruction, Op, Operand, Representation, Type};

/// Parameters are defined by no step of a region.
const NOWHERE: u32 = u32::MAX;

impl Lowering {
    /// Records how the value of an instruction is built by these steps, if it has sets or is built of some.
    pub(super) fn define(&mut self, instruction: &Instruction, steps: Range<usize>) {
        let of_sets = |operand: &Operand| match operand {
            Operand::Id(id) => !self.is_typed(*id) || has_sets(&self.types[id.index()]),
            Operand::Constant(value) => value.value_type().is_some_and(|ty| has_sets(&ty)),
        };
        let is_known = !has_sets(&instruction.ty)
            && !self.is_mixed(instruction.id)
            && !instruction.arguments.iter().any(of_sets);
        if is_known {
            return;
        }
        let arguments = &instruction.arguments[..];
        let start = self.code.arguments.len();
        let how = match instruction.op {
            Op::Call(primitive) if primitive.is_first_order() => {
                self.arguments(arguments);
                How::Call(primitive)
            }
            Op::Call(_) | Op::Iterate => {
                let region = &instruction.regions[0];
                self.arguments(arguments);
                for (parameter, _) in &region.parameters {
                    self.argument(&Operand::Id(*parameter));
                }
                self.argument(&region.result);
                match instruction.op {
                    Op::Call(primitive) => How::Loop(primitive),
                    _ => How::Iterate,
                }
            }
            Op::Fused(
                Fused::MetAsOften
                | Fused::MetMoreOften
                | Fused::MetLessOften
                | Fused::ColouredAsOften
                | Fused::ColouredMoreOften
                | Fused::ColouredLessOften,
            ) => {
                self.argument(&arguments[0]);
                How::Kept
            }
            Op::Fused(_) => {
                self.argument(&instruction.regions[0].result);
                How::Same
            }
            Op::Tuple | Op::Set | Op::Item(_) => {
                self.arguments(arguments);
                match instruction.op {
                    Op::Tuple => How::Items,
                    Op::Item(at) => How::Item(at),
                    _ => How::Set,
                }
            }
            _ => return,
        };
        let definition = Definition {
            slot: self.slot_of(instruction.id),
            ty: self.number_of_value(instruction.id),
            is_typed: self.is_typed(instruction.id),
            is_clipped: self.plan.is_clipped(instruction.id),
            is_mixed: self.is_mixed(instruction.id),
            within: self.within,
            steps: steps.start as u32..steps.end as u32,
            how,
            region: self.looped,
            arguments: self.arguments_from(start),
        };
        self.code.definitions.push(definition);
    }

    /// Records how the value of a fused operation is built that is one step: by its calls.
    pub(super) fn define_fused(&mut self, instruction: &Instruction) -> Result<(), Unsupported> {
        let [region] = &instruction.regions[..] else {
            return Ok(());
        };
        let is_simple =
            |call: &Instruction| matches!(call.op, Op::Call(one) if one.is_first_order());
        if !has_sets(&instruction.ty) || !region.instructions.iter().all(is_simple) {
            return Ok(());
        }
        for ((parameter, _), operand) in region.parameters.iter().zip(&instruction.arguments) {
            self.bind(*parameter, operand)?;
        }
        let from = self.code.definitions.len();
        for call in &region.instructions {
            self.set_type(call.id, call.ty.clone());
            self.define(call, 0..0);
        }
        for definition in &mut self.code.definitions[from..] {
            definition.is_typed = false;
        }
        Ok(())
    }

    /// Records that the parameters of a loop's region are elements of its containers.
    pub(super) fn define_parameters(&mut self, instruction: &Instruction) {
        for region in &instruction.regions {
            for ((id, ty), container) in region.parameters.iter().zip(&instruction.arguments) {
                if has_sets(ty) {
                    let start = self.code.arguments.len();
                    self.argument(container);
                    let definition = Definition {
                        slot: id.0,
                        ty: self.number_of(ty),
                        is_typed: self.is_typed(*id),
                        is_clipped: self.plan.is_clipped(*id),
                        is_mixed: self.is_mixed(*id),
                        within: NOWHERE,
                        steps: 0..0,
                        how: How::Element,
                        region: 0,
                        arguments: self.arguments_from(start),
                    };
                    self.code.definitions.push(definition);
                }
            }
        }
    }

    /// Adds a value from which another is built.
    fn argument(&mut self, operand: &Operand) {
        let argument = match operand {
            Operand::Id(id) => Argument::Slot(self.slot_of(*id), self.number_of_value(*id)),
            Operand::Constant(value) => Argument::Constant(value.clone()),
        };
        self.code.arguments.push(argument);
    }

    fn arguments(&mut self, operands: &[Operand]) {
        for operand in operands {
            self.argument(operand);
        }
    }

    /// Those that were added since there were so many.
    fn arguments_from(&self, start: usize) -> Range<u32> {
        start as u32..self.code.arguments.len() as u32
    }

    /// Whether a value is represented as its type says.
    fn is_typed(&self, id: Id) -> bool {
        self.held(id) == Representation::Typed
    }

    /// Whether a value is a tuple whose order no use sees.
    pub(super) fn is_mixed(&self, id: Id) -> bool {
        self.plan.is_mixed(id)
    }

    /// The operands of a call, with sets whose order it observes as tuples in that order.
    pub(super) fn ordered(
        &mut self,
        steps: &mut Steps,
        primitive: Primitive,
        result: &Type,
        operands: &mut super::Operands,
    ) {
        if !observes(primitive, result) {
            return;
        }
        for at in 0..operands.len {
            let ty = &operands.types[at];
            if is_set(ty)
                && let Some(element) = ty.element()
            {
                let number = self.number_of(ty);
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

/// Whether a call's result depends on the order of sets that are its arguments.
fn observes(primitive: Primitive, result: &Type) -> bool {
    use Primitive as P;
    match primitive {
        P::Totuple | P::Pair | P::Papply | P::Mpapply => true,
        P::Combine => !is_set(result),
        _ => false,
    }
}
