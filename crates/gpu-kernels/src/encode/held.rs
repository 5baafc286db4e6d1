//! Chooses which sets of locations are held as lists, since they may not fit a window, and finds which objects are
//! only painted.

use arc_dsl::Primitive;
use arc_form::analysis::{Index, User};
use arc_form::{Form, Id, Instruction, Operand, Plan, Region, Type};
use arc_isa::{Elements, Size, Use};

use super::shapes::Shape;
use super::{Encoder, HostOnly, SymbolicValue};
use crate::interface::Representation;
use crate::list_operations::ListOperation;
use crate::program::Immediate;

/// How values are held, chosen by how they are used; indexed by their ids in the form.
#[derive(Debug, Clone, Default)]
pub(super) struct StorageChoices {
    listed: Vec<bool>,
    painted: Vec<bool>,
}

impl StorageChoices {
    pub(super) fn of(form: &Form, plan: &Plan) -> Self {
        let index = Index::new(form);
        let mut choices = Self {
            listed: vec![false; index.len()],
            painted: vec![false; index.len()],
        };
        choices.region(&form.body, &index, plan);
        choices
    }

    pub(super) fn is_listed(&self, id: Id) -> bool {
        self.listed.get(id.index()).is_some_and(|listed| *listed)
    }

    pub(super) fn is_painted(&self, id: Id) -> bool {
        self.painted.get(id.index()).is_some_and(|painted| *painted)
    }

    /// Decides about users before the values they use, and about an instruction before the regions in it.
    fn region(&mut self, region: &Region, index: &Index<'_>, plan: &Plan) {
        for instruction in region.instructions.iter().rev() {
            let id = instruction.id;
            if instruction.ty == Type::Indices
                && !plan.is_clipped(id)
                && may_be_far(instruction, index)
            {
                let fits = index.users(id).all(|user| self.takes_list(user));
                self.listed[id.index()] = fits && index.users(id).next().is_some();
            }
            if instruction.ty == Type::Object && !instruction.checked {
                let painted = |by: &Instruction, at: usize| {
                    by.primitive() == Some(Primitive::Paint) && at == 1
                };
                self.painted[id.index()] = index.is_only(id, painted);
            }
            for region in &instruction.regions {
                self.region(region, index, plan);
            }
        }
    }

    /// Whether a use takes a list of locations as well as a patch.
    fn takes_list(&self, user: &User<'_>) -> bool {
        let Some((by, at)) = user.argument() else {
            // The result of a region, which the loop around it may merge.
            let merges = |by: &Instruction| {
                by.primitive() == Some(Primitive::Mapply) && self.is_listed(by.id)
            };
            return user.by.is_some_and(merges);
        };
        let Some(primitive) = by.primitive() else {
            return false;
        };
        let facts = primitive.facts();
        facts.body.is_some()
            || matches!(facts.of_argument(at), Use::Painted { object: false, .. })
            || (primitive == Primitive::Combine && self.is_listed(by.id))
    }
}

/// Whether an instruction returns locations that may be too far apart for a window, and can be encoded on lists.
fn may_be_far(instruction: &Instruction, index: &Index<'_>) -> bool {
    let far = |operand: &Operand| {
        let definition = index.maker(operand);
        definition.is_some_and(|by| by.ty == Type::Indices && may_be_far(by, index))
    };
    let Some(primitive) = instruction.primitive() else {
        return false;
    };
    match primitive {
        Primitive::Shoot | Primitive::Connect => primitive.facts().size == Size::Far,
        Primitive::Combine => instruction.arguments.iter().all(far),
        Primitive::Mapply => instruction.regions.iter().all(|region| far(&region.result)),
        _ => primitive.facts().elements == Elements::Made && primitive.facts().body.is_some(),
    }
}

impl Encoder {
    /// Encodes a call whose result is [listed or only painted](StorageChoices); `None` if the general encoding applies.
    pub(super) fn alternative_call(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<Option<SymbolicValue>, HostOnly> {
        let clipped = self.is_clipped(instruction);
        let immediate = |flag| Immediate {
            flag,
            clipped,
            ..Immediate::default()
        };
        Ok(match (primitive, arguments) {
            (Primitive::Shoot | Primitive::Connect, [a, b]) if self.listed => {
                let ends = [a, b].map(|end| {
                    let end = self.held_as(end, &Shape::Pair)?;
                    self.operand(&end, Representation::Pair)
                });
                let [a, b] = ends;
                let shot = immediate(primitive == Primitive::Shoot);
                let line = self.list_step(ListOperation::ListOfLine, shot, &[a?, b?]);
                Some(SymbolicValue::List(line, Box::new(Shape::Pair)))
            }
            (Primitive::Combine, [_, _]) if self.listed => {
                self.list_call(primitive, instruction, arguments)?
            }
            (Primitive::Combine, [a, b]) if self.painted => {
                let sides = [a, b].map(|side| {
                    self.clipped = clipped;
                    let side = self.held_as(side, &Shape::Object)?;
                    self.operand(&side, Representation::Object)
                });
                let [a, b] = sides;
                let operation = ListOperation::CombinePainted;
                let both = self.list_step(operation, immediate(false), &[a?, b?]);
                Some(SymbolicValue::OnDevice(both, Representation::Object, None))
            }
            _ => None,
        })
    }
}
