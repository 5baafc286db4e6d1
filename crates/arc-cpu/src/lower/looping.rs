//! Loops: which kernel iterates over a container, and how the results become a value.

use std::borrow::Cow;

use super::{Lowering, Operands, Steps, filters, vectorise};
use crate::bail_out::Unsupported;
use crate::lanes;
use crate::ops::{self, endings, loops};
use crate::program::Ending;
use crate::program::{Kernel, KernelFn};
use arc_dsl::Primitive;
use arc_form::{Instruction, Operand, Type};

impl Lowering {
    pub(super) fn run_loop(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
        primitive: Primitive,
    ) -> Result<(), Unsupported> {
        let mut operands = self.operands(instruction)?;
        let ty = &self.held_type(instruction);
        self.ordered(steps, primitive, &instruction.ty, &mut operands);
        self.define_parameters(instruction);
        let types = operands.types();
        let body = self.type_of_result(&instruction.regions[0])?;
        let inner = match primitive {
            Primitive::Mfilter => types[0].element(),
            _ => Some(body.clone()),
        };
        if let Some(layers) = self.layered(instruction, inner)
            && let Some(chosen) = loops::select_layers(primitive, types, &body, &layers)
        {
            return self.finish_loop(steps, instruction, chosen, &operands);
        }
        let Some(mut chosen) =
            loops::select(primitive, types, &body, ty, self.is_clipped(instruction))
        else {
            let mut types = types.to_vec();
            types.push(Type::fixed(vec![body]));
            return self.no_kernel(primitive, &types, ty);
        };
        if let (Primitive::Sfilter, [Type::Indices]) = (primitive, types)
            && let Some(kernel) = filters::by_line(&instruction.regions[0])
        {
            chosen.kernel = kernel;
        }
        self.finish_loop(steps, instruction, chosen, &operands)
    }

    /// The type of a region's result, before it is lowered.
    pub(super) fn type_of_result(
        &mut self,
        region: &arc_form::Region,
    ) -> Result<Type, Unsupported> {
        match &region.result {
            Operand::Constant(value) => match value.value_type() {
                Some(ty) => Ok(ty),
                None => self.unsupported("a constant without a type"),
            },
            Operand::Id(id) => {
                let mut parameters = region.parameters.iter();
                if let Some((_, ty)) = parameters.find(|(other, _)| other == id) {
                    return Ok(ty.clone());
                }
                let made = region.instructions.iter().find(|one| one.id == *id);
                Ok(made.map_or_else(
                    || self.types[id.index()].clone(),
                    |one| self.held_type(one).into_owned(),
                ))
            }
        }
    }

    pub(super) fn finish_loop(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
        chosen: loops::Loop,
        operands: &Operands,
    ) -> Result<(), Unsupported> {
        let mut chosen = self.suited(instruction, chosen);
        let mut slots = self.containers(steps, &chosen, operands)?;
        let first = self.regions(instruction.regions.len());
        let origin = self.origin;
        let mut given = None;
        // An object's cells are filtered row by row, which is not the order of the reference.
        let by_rows = std::ptr::eq(chosen.kernel, &raw const loops::FILTER_OBJECT);
        let unordered = by_rows || self.takes_unordered(instruction);
        for (at, region) in instruction.regions.iter().enumerate() {
            given = Some(self.region(region, first + at as u32, chosen.result.as_ref())?);
            self.code.regions[first as usize + at].unordered = unordered;
        }
        self.origin = origin;
        if let Some((kernel, number)) = self.lane_loop(instruction, &chosen) {
            chosen.kernel = kernel;
            slots[1] = number;
        }
        // Layers that are themselves in parts.
        if let Some(given) = given
            && chosen.layers.is_some()
            && ops::layers::is_layers(&given)
        {
            chosen.finish = Some(match given {
                // Locations are painted in any order.
                Type::Set(ref part) if **part == Type::Indices => endings::Finish::Joined(given),
                _ => endings::Finish::Concat(given),
            });
        }
        self.looped = first;
        self.push_loop(steps, instruction, chosen, slots, first)
    }

    /// The slots of a loop's containers, converted to the types that it iterates over.
    pub(super) fn containers(
        &mut self,
        steps: &mut Steps,
        chosen: &loops::Loop,
        operands: &Operands,
    ) -> Result<[u32; 2], Unsupported> {
        let mut slots = [0; 2];
        let operands = operands.slots().iter().zip(operands.types());
        for (at, ((slot, ty), want)) in operands.zip(&chosen.containers).enumerate() {
            slots[at] = self.convert(steps, *slot, ty, want)?;
        }
        Ok(slots)
    }

    /// Adds the step of a loop whose regions are lowered, from this number on; it computes the value of the
    /// instruction.
    pub(super) fn push_loop(
        &mut self,
        steps: &mut Steps,
        instruction: &Instruction,
        chosen: loops::Loop,
        slots: [u32; 2],
        region: u32,
    ) -> Result<(), Unsupported> {
        let finish = chosen.finish.map_or(0, |finish| self.ending(&finish));
        let container = self.number_of(&chosen.containers[0]);
        let second = chosen.second.map_or(0, |ty| self.number_of(&ty));
        let made = self.push(steps, chosen.kernel, |step| {
            [step.a, step.b] = slots;
            step.c = finish;
            step.d = second;
            step.region = region;
            step.immediate = container;
        });
        let ty = match chosen.layers {
            Some(layers) => Cow::Owned(layers),
            None => self.held_type(instruction),
        };
        let made = match &chosen.gives {
            Some(gives) => self.convert(steps, made, gives, &ty)?,
            None => made,
        };
        self.set_type(instruction.id, ty.into_owned());
        self.copy(steps, made, instruction.id);
        Ok(())
    }

    /// The kernel that runs a loop vectorised, and the number of its lane loop; `None` if it cannot be
    /// vectorised.
    fn lane_loop(
        &mut self,
        instruction: &Instruction,
        chosen: &loops::Loop,
    ) -> Option<(&'static Kernel, u32)> {
        let [container] = &chosen.containers[..] else {
            return None;
        };
        let (body, element) = (instruction.regions.first()?, container.element()?);
        if *container == Type::Grid || !vectorise::is_promising(&element, body) {
            return None;
        }
        let found = vectorise::build(self, body, &element, chosen.kernel)?;
        let gives = |ty: &Type| found.gives(ty);
        let kernel = lanes::loops::by_lanes(chosen.kernel, gives, chosen.result.as_ref())?;
        self.code.lane_loops.push(found);
        Some((kernel, self.code.lane_loops.len() as u32 - 1))
    }

    /// The number of the ending that builds a loop's value.
    pub(crate) fn ending(&mut self, finish: &endings::Finish) -> u32 {
        let [inner, element] = finish.types().map(|ty| self.number_of(&ty));
        self.code.endings.push(Ending {
            run: KernelFn::new(finish.kernel(), self.vectors),
            inner,
            element,
            is_union: matches!(
                finish,
                endings::Finish::Union | endings::Finish::ClippedUnion
            ),
        });
        self.code.endings.len() as u32 - 1
    }
}
