//! Chooses which sets of locations are held as lists, since they may not fit a window, and finds the tuples whose order
//! does not matter.

use arc_dsl::{ContainerKind, Primitive};
use arc_form::analysis::{Index, User};
use arc_form::{Form, Id, Instruction, Operand, Plan, Region, Type};
use arc_isa::{Body, Elements, Size, Use};

use super::calls::takes_tuples;
use super::shapes::Shape;
use super::{Encoder, HostOnly, SymbolicValue};
use crate::interface::Representation;
use crate::list_operations::ListOperation;
use crate::program::Immediate;

/// How values are held, chosen by how they are used; indexed by their ids in the form.
#[derive(Debug, Clone, Default)]
pub(super) struct StorageChoices {
    listed: Vec<bool>,
    unordered: Vec<bool>,
}

impl StorageChoices {
    pub(super) fn of(form: &Form, plan: &Plan) -> Self {
        let index = Index::new(form);
        let mut choices = Self {
            listed: vec![false; index.len()],
            unordered: vec![false; index.len()],
        };
        choices.region(&form.body, &index, plan);
        choices
    }

    pub(super) fn is_listed(&self, id: Id) -> bool {
        self.listed.get(id.index()).is_some_and(|listed| *listed)
    }

    /// Whether nothing depends on the order in which sets put their elements into this tuple.
    pub(super) fn is_unordered(&self, id: Id) -> bool {
        self.unordered.get(id.index()).is_some_and(|one| *one)
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
            if matches!(instruction.ty, Type::Tuple(_)) {
                // Cells of one set, which is an object, lie at different locations.
                let apart = instruction.primitive() != Some(Primitive::Apply);
                let mut users = index.users(id);
                self.unordered[id.index()] = users.all(|user| self.ignores_order(user, apart));
            }
            for region in &instruction.regions {
                self.region(region, index, plan);
            }
        }
    }

    /// Whether a use of a tuple does not depend on the order of elements that come from one set. If these are `apart`, no
    /// two of them are cells at one location.
    fn ignores_order(&self, user: &User<'_>, apart: bool) -> bool {
        use arc_isa::Type as Parameter;
        let Some((by, at)) = user.argument() else {
            // The result of a region, which the loop around it may merge.
            let merges = |by: &Instruction| {
                let facts = by.primitive().map(Primitive::facts);
                facts.is_some_and(|facts| facts.body == Some(Body::Merged))
                    && (by.ty.container() == Some(ContainerKind::Set)
                        || apart && self.is_unordered(by.id))
            };
            return user.by.is_some_and(merges);
        };
        match by.primitive() {
            Some(Primitive::Size | Primitive::Mostcommon | Primitive::Leastcommon) => true,
            Some(Primitive::Apply) => self.is_unordered(by.id),
            Some(primitive) => {
                let parameter = primitive.parameters().get(at);
                let is_patch = matches!(
                    parameter,
                    Some((_, Parameter::Patch | Parameter::Indices | Parameter::Object))
                );
                is_patch && takes_tuples(primitive) && (apart || primitive != Primitive::Paint)
            }
            None => false,
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
    /// Encodes a call whose result is [listed](StorageChoices); `None` if the general encoding applies.
    pub(super) fn listed_call(
        &mut self,
        primitive: Primitive,
        instruction: &Instruction,
        arguments: &[SymbolicValue],
    ) -> Result<Option<SymbolicValue>, HostOnly> {
        Ok(match (primitive, arguments) {
            (Primitive::Shoot | Primitive::Connect, [a, b]) => {
                let ends = [a, b].map(|end| {
                    let end = self.held_as(end, &Shape::Pair)?;
                    self.operand(&end, Representation::Pair)
                });
                let [a, b] = ends;
                let shot = Immediate {
                    flag: primitive == Primitive::Shoot,
                    clipped: self.is_clipped(instruction),
                    ..Immediate::default()
                };
                let line = self.list_step(ListOperation::ListOfLine, shot, &[a?, b?]);
                Some(SymbolicValue::List(line, Box::new(Shape::Pair)))
            }
            (Primitive::Combine, [_, _]) => self.list_call(primitive, instruction, arguments)?,
            _ => None,
        })
    }
}
