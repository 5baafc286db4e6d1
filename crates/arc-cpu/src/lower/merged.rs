//! Objects of a grid that are only merged: its cells, which need not be told apart first.

use super::{Lowering, Steps, Unsupported};
use crate::ops::merged::{ALL_CELLS, CELLS_OF_OBJECTS, FOREGROUND_CELLS};
use crate::uses::Held;
use arc_dsl::Primitive;
use arc_form::{Form, Instruction, Op, Operand, Region, Type};

/// Whether the instruction makes objects of a grid that have every cell of it, or every one but
/// those of the background.
fn takes_apart(instruction: &Instruction) -> bool {
    use Primitive as P;
    let objects = Type::Set(Type::Object.into());
    instruction.ty == objects
        && !instruction.checked
        && matches!(
            instruction.op,
            Op::Call(P::objects | P::partition | P::fgpartition)
        )
}

/// Finds the objects of grids that are merged wherever they are used.
pub(super) fn hold(form: &Form, held: &mut [Held]) {
    let mut only_merged = vec![true; held.len()];
    look(&form.body, &mut only_merged);
    choose(&form.body, &only_merged, held);
}

fn look(region: &Region, only_merged: &mut [bool]) {
    for instruction in &region.instructions {
        let merges = instruction.op == Op::Call(Primitive::merge)
            && instruction.ty == Type::Object
            && !instruction.checked;
        for argument in &instruction.arguments {
            if let Operand::Id(id) = argument {
                only_merged[id.index()] &= merges;
            }
        }
        for region in &instruction.regions {
            look(region, only_merged);
        }
    }
    for result in &region.results {
        if let Operand::Id(id) = result {
            only_merged[id.index()] = false;
        }
    }
}

fn choose(region: &Region, only_merged: &[bool], held: &mut [Held]) {
    for instruction in &region.instructions {
        let id = instruction.id.index();
        if only_merged[id] && takes_apart(instruction) {
            held[id] = Held::Merged;
        }
        for region in &instruction.regions {
            choose(region, only_merged, held);
        }
    }
}

impl Lowering {
    /// Makes the cells of objects that are only merged where the objects would be made, so that
    /// what fails there does. Gives whether the instruction makes such objects or merges them.
    pub(crate) fn merged(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
        primitive: Primitive,
    ) -> Result<bool, Unsupported> {
        let id = instruction.id;
        if primitive == Primitive::merge {
            let Operand::Id(from) = instruction.arguments[0] else {
                return Ok(false);
            };
            let merged =
                self.held[from.index()] == Held::Merged && self.types[from.index()] == Type::Object;
            if merged {
                self.types[id.index()] = Type::Object;
                self.copy(steps, from.0, id);
            }
            return Ok(merged);
        }
        if self.held[id.index()] != Held::Merged {
            return Ok(false);
        }
        let mut slots = [0; 4];
        for (at, argument) in instruction.arguments.iter().enumerate() {
            let (slot, ty) = self.operand(argument)?;
            let fits = match at {
                0 => ty == Type::Grid,
                _ => matches!(ty, Type::Bool | Type::Int),
            };
            if !fits {
                return Ok(false);
            }
            slots[at & 3] = slot;
        }
        let kernel = match primitive {
            Primitive::objects => &CELLS_OF_OBJECTS,
            Primitive::fgpartition => &FOREGROUND_CELLS,
            _ => &ALL_CELLS,
        };
        self.push_to(steps, id.0, kernel, |step| {
            [step.a, step.b, step.c, step.d] = slots;
        });
        self.types[id.index()] = Type::Object;
        Ok(true)
    }
}
