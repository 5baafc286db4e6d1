//! Fuses two instructions into one that has both in its region.

use super::Fused;
use crate::analysis::Index;
use crate::{Form, Id, Instruction, Op, Operand, Region, Type};

/// The position of the fused instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// That of the first one, which may fail.
    First,
    /// That of the second one.
    Second,
}

/// Two instructions of one region, of which the second reads the value of the first.
#[derive(Debug, Clone)]
pub(super) struct CallPair {
    fused: Fused,
    first: Id,
    second: Id,
    at: Position,
    /// The types of the first one's arguments.
    types: Vec<Type>,
}

impl CallPair {
    /// Two instructions to be fused; `None` if a value has no type.
    pub(super) fn new(
        fused: Fused,
        first: &Instruction,
        second: &Instruction,
        at: Position,
        index: &Index<'_>,
    ) -> Option<Self> {
        let types = first.arguments.iter().map(|one| index.type_of(one));
        Some(Self {
            fused,
            first: first.id,
            second: second.id,
            at,
            types: types.collect::<Option<_>>()?,
        })
    }
}

/// Fuses each pair into one instruction.
pub(super) fn fuse(form: &mut Form, found: Vec<CallPair>) {
    if found.is_empty() {
        return;
    }
    let mut fusing = Fusing {
        found,
        ids: form.ids,
    };
    fusing.region(&mut form.body);
    form.ids = fusing.ids;
}

struct Fusing {
    found: Vec<CallPair>,
    ids: u32,
}

impl Fusing {
    fn region(&mut self, region: &mut Region) {
        let mut old: Vec<Option<Instruction>> = region.instructions.drain(..).map(Some).collect();
        for at in 0..old.len() {
            let Some(mut instruction) = old[at].take() else {
                continue;
            };
            let pairs = self
                .found
                .iter()
                .filter(|found| found.first == instruction.id);
            let pairs: Vec<CallPair> = pairs.cloned().collect();
            if pairs.is_empty() {
                for region in &mut instruction.regions {
                    self.region(region);
                }
                region.instructions.push(instruction);
                continue;
            }
            for found in pairs {
                // The second follows the first in the same region.
                let place = old.iter_mut().find(|one| {
                    let one = one.as_ref();
                    one.is_some_and(|one| one.id == found.second)
                });
                let Some(place) = place else { continue };
                let Some(second) = place.take() else { continue };
                let fused = self.fused(&instruction, second, &found);
                match found.at {
                    Position::First => region.instructions.push(fused),
                    Position::Second => *place = Some(fused),
                }
            }
        }
    }

    fn fresh(&mut self) -> Id {
        self.ids += 1;
        Id(self.ids - 1)
    }

    /// Fuses both into one with the id of the second, and the line of the one that it replaces.
    fn fused(&mut self, first: &Instruction, second: Instruction, found: &CallPair) -> Instruction {
        let mut arguments = first.arguments.clone();
        let mut parameters: Vec<(Id, Type)> = Vec::new();
        for ty in &found.types {
            parameters.push((self.fresh(), ty.clone()));
        }
        let inside = parameters.iter().map(|(id, _)| Operand::Id(*id)).collect();
        let made = self.fresh();
        let mut taken = Vec::new();
        for operand in &second.arguments {
            let known = first.arguments.iter().position(|one| one == operand);
            taken.push(Operand::Id(match known {
                _ if *operand == Operand::Id(first.id) => made,
                Some(at) => parameters[at].0,
                None => {
                    let id = self.fresh();
                    let ty = match operand {
                        Operand::Constant(value) => value.value_type(),
                        Operand::Id(_) => None,
                    };
                    arguments.push(operand.clone());
                    parameters.push((id, ty.unwrap_or(Type::Never)));
                    id
                }
            }));
        }
        let result = self.fresh();
        let call = |from: Instruction, id: Id, arguments: Vec<Operand>| Instruction {
            id,
            arguments,
            ..from
        };
        let line = match found.at {
            Position::First => first.line,
            Position::Second => second.line,
        };
        Instruction {
            id: second.id,
            ty: second.ty.clone(),
            checked: false,
            op: Op::Fused(found.fused),
            arguments,
            regions: vec![Region {
                parameters,
                instructions: vec![
                    call(first.clone(), made, inside),
                    call(second, result, taken),
                ],
                result: Operand::Id(result),
                calls: 0,
            }],
            line,
        }
    }
}
