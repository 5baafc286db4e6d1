//! Tuples and sets of values, and their items.

use super::{Lowering, Steps};
use crate::bail_out::Unsupported;
use crate::ops::basics;
use arc_form::{Instruction, Op, Type};

impl Lowering {
    /// Lowers a tuple or a set of the arguments.
    pub(super) fn collect(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
    ) -> Result<(), Unsupported> {
        let ty = &instruction.ty;
        let items = match (instruction.op, ty.items()) {
            (Op::Set, _) | (_, None) => {
                let element = ty.element().unwrap_or(Type::Never);
                vec![element; instruction.arguments.len()]
            }
            (_, Some(items)) => items.to_vec(),
        };
        let mut slots = Vec::new();
        for (operand, want) in instruction.arguments.iter().zip(&items) {
            let (slot, from) = self.operand(operand)?;
            slots.push(self.convert(steps, slot, &from, want)?);
        }
        if self.held(instruction.id).is_unordered() {
            self.unordered(steps, instruction, slots);
            return Ok(());
        }
        let made = match ty {
            Type::Pair => self.push(steps, &basics::PAIR, |step| {
                [step.a, step.b] = [slots[0], slots[1]];
            }),
            Type::Cell => self.push(steps, &basics::CELL, |step| {
                [step.a, step.b] = [slots[0], slots[1]];
            }),
            _ => {
                let list = self.tuple(steps, &slots);
                let list_type = Type::tuple_of(ty.element().unwrap_or(Type::Never));
                match instruction.op {
                    Op::Set => self.convert(steps, list, &list_type, ty)?,
                    _ => list,
                }
            }
        };
        self.copy(steps, made, instruction.id);
        Ok(())
    }

    /// The list of the values in these slots.
    pub(crate) fn tuple(&mut self, steps: &mut Steps, slots: &[u32]) -> u32 {
        let first = self.code.slots;
        for &from in slots {
            self.push(steps, &basics::COPY, |step| step.a = from);
        }
        self.push(steps, &basics::TUPLE, |step| {
            step.a = first;
            step.immediate = slots.len() as u32;
        })
    }

    /// Item number `at` of a fixed tuple.
    pub(crate) fn item(
        &mut self,
        steps: &mut Steps,
        from: u32,
        ty: &Type,
        at: u32,
    ) -> Result<u32, Unsupported> {
        let kernel = match (ty, at) {
            (Type::Pair, 0) => &basics::ROW_OF_PAIR,
            (Type::Pair, 1) => &basics::COLUMN_OF_PAIR,
            (Type::Cell, 0) => &basics::COLOUR_OF_CELL,
            (Type::Cell, 1) => &basics::LOC_OF_CELL,
            (Type::Fixed(_), _) => &basics::ITEM,
            _ => return self.unsupported(format_args!("element {at} of {ty}")),
        };
        Ok(self.push(steps, kernel, |step| {
            step.a = from;
            step.immediate = at;
        }))
    }
}
