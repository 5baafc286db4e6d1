//! Boxes around patches that are only counted where they meet a set: not made.

use super::{Lowering, Steps};
use crate::kernel::Kernel;
use crate::ops::outlined::{COMMON_WITH_DELTA, COMMON_WITH_OUTBOX};
use crate::uses::Held;
use arc_dsl::{Primitive, Value};
use arc_form::{Form, Instruction, Op, Operand, Region, Type};

/// Finds what is made for the next instruction alone, whose result the one after that counts: where
/// to make it fails, nothing else has failed before the locations are counted.
pub(super) fn hold(form: &Form, held: &mut [Held]) {
    let mut values = vec![Uses::default(); held.len()];
    look(&form.body, &mut values);
    choose(&form.body, &values, held);
}

/// What is known of a value.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// How often it is used.
    count: u32,
    /// Whether it is a set of locations.
    is_indices: bool,
}

fn look(region: &Region, values: &mut [Uses]) {
    for (id, ty) in &region.parameters {
        values[id.index()].is_indices = *ty == Type::Indices;
    }
    for instruction in &region.instructions {
        values[instruction.id.index()].is_indices = instruction.ty == Type::Indices;
        for argument in &instruction.arguments {
            if let Operand::Id(id) = argument {
                values[id.index()].count += 1;
            }
        }
        for region in &instruction.regions {
            look(region, values);
        }
    }
    for result in &region.results {
        if let Operand::Id(id) = result {
            values[id.index()].count += 1;
        }
    }
}

fn choose(region: &Region, values: &[Uses], held: &mut [Held]) {
    for three in region.instructions.windows(3) {
        let [made, met, counted] = three else {
            continue;
        };
        let (first, second) = (made.id.index(), met.id.index());
        let indices = met.arguments.iter().all(|argument| match argument {
            Operand::Id(id) => values[id.index()].is_indices,
            Operand::Constant(value) => matches!(value, Value::Indices(_)),
        });
        let one_by_one = met.op == Op::Call(Primitive::intersection)
            && met.arguments.contains(&Operand::Id(made.id))
            && counted.op == Op::Call(Primitive::size)
            && counted.arguments == [Operand::Id(met.id)];
        if one_by_one
            && indices
            && is_around(made)
            && values[first].count == 1
            && held[second] == Held::Part
        {
            held[first] = Held::Outlined;
        }
    }
    for instruction in &region.instructions {
        for region in &instruction.regions {
            choose(region, values, held);
        }
    }
}

/// Whether the instruction makes locations that lie around those of a patch, or between them.
fn is_around(instruction: &Instruction) -> bool {
    instruction.ty == Type::Indices
        && !instruction.checked
        && matches!(
            instruction.op,
            Op::Call(Primitive::outbox | Primitive::delta)
        )
}

impl Lowering {
    /// Leaves out what lies around a patch, or counts what a set has in common with that. Gives
    /// whether the instruction is one of the two.
    pub(crate) fn outlined(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
        primitive: Primitive,
        operands: &[(u32, Type)],
    ) -> bool {
        let Some((first, ty)) = operands.first() else {
            return false;
        };
        if self.held[instruction.id.index()] == Held::Outlined {
            let patch = matches!(ty, Type::Indices | Type::Object | Type::Patch);
            if patch {
                self.parts
                    .insert(instruction.id.0, (primitive, [*first; 2]));
            }
            return patch;
        }
        let Some(&(Primitive::intersection, [a, b])) = self.parts.get(first) else {
            return false;
        };
        // Either of the two sets may be the one that is not made.
        let found = [(a, b), (b, a)].into_iter().find_map(|(unmade, set)| {
            let (primitive, [of, _]) = self.parts.get(&unmade)?;
            Some((common_with(*primitive)?, [*of, set]))
        });
        if let Some((kernel, slots)) = found {
            self.push_to(steps, instruction.id.0, kernel, |step| {
                [step.a, step.b] = slots;
            });
        }
        found.is_some()
    }
}

/// The kernel that counts what a set has in common with what the primitive would make.
fn common_with(primitive: Primitive) -> Option<&'static Kernel> {
    match primitive {
        Primitive::outbox => Some(&COMMON_WITH_OUTBOX),
        Primitive::delta => Some(&COMMON_WITH_DELTA),
        _ => None,
    }
}
