//! The pass that takes out dead steps: those whose value nothing uses and that cannot fail.
//!
//! A step that may fail stays, since the reference fails there too; so does a loop, which may reach
//! a bound.

use super::rules;
use super::{Form, Id, Instruction, Need, Needs, Op, Operand, Output, Region, Type};

/// The form without its dead steps, and with ids that leave no holes.
pub fn remove_dead(form: &Form) -> Form {
    let mut pass = Pass {
        live: vec![false; form.ids as usize],
        types: types(form),
    };
    let mut form = form.clone();
    if form.outputs.iter().all(|output| output.needs == Needs::All) {
        form.body = pass.region(&form.body);
        return compact(&form);
    }
    // What an instruction takes depends on no result, once its regions are without dead steps.
    for instruction in &mut form.body.instructions {
        for region in &mut instruction.regions {
            *region = pass.region(region);
        }
    }
    pass.needs(&mut form);
    without_unneeded(&form)
}

struct Pass {
    live: Vec<bool>,
    types: Vec<Type>,
}

impl Pass {
    fn region(&mut self, region: &Region) -> Region {
        region.results.iter().for_each(|result| self.mark(result));
        let mut instructions = Vec::new();
        for instruction in region.instructions.iter().rev() {
            if self.live[instruction.id.index()] || !self.is_total(instruction) {
                let regions = instruction
                    .regions
                    .iter()
                    .map(|region| self.region(region))
                    .collect();
                instruction
                    .arguments
                    .iter()
                    .for_each(|operand| self.mark(operand));
                instructions.push(Instruction {
                    regions,
                    ..instruction.clone()
                });
            }
        }
        instructions.reverse();
        Region {
            parameters: region.parameters.clone(),
            instructions,
            results: region.results.clone(),
        }
    }

    /// Takes out of what each result needs what is dead where it stands alone.
    fn needs(&self, form: &mut Form) {
        let mut places = vec![None; form.ids as usize];
        for instruction in &form.body.instructions {
            let stays = !self.is_total(instruction);
            places[instruction.id.index()] = Some((stays, instruction.reads()));
        }
        // The number of the result that a value was last seen to live for.
        let mut live = vec![None; form.ids as usize];
        let results = form.body.results.iter().enumerate();
        for ((number, result), output) in results.zip(&mut form.outputs) {
            let Needs::These(needs) = &mut output.needs else {
                continue;
            };
            if let Operand::Id(id) = result {
                live[id.index()] = Some(number);
            }
            let mut kept = Vec::with_capacity(needs.len());
            for need in needs.iter().rev() {
                let Some((stays, reads)) = &places[need.id.index()] else {
                    continue;
                };
                if *stays || live[need.id.index()] == Some(number) {
                    reads.iter().for_each(|id| live[id.index()] = Some(number));
                    kept.push(*need);
                }
            }
            kept.reverse();
            *needs = kept;
        }
    }

    fn mark(&mut self, operand: &Operand) {
        if let Operand::Id(id) = operand {
            self.live[id.index()] = true;
        }
    }

    /// Whether it gives a value whatever those of its arguments are.
    fn is_total(&self, instruction: &Instruction) -> bool {
        if instruction.checked {
            return false;
        }
        match instruction.op {
            Op::Call(primitive) if primitive.is_first_order() => {
                let types: Option<Vec<_>> = instruction
                    .arguments
                    .iter()
                    .map(|operand| match operand {
                        Operand::Id(id) => Some(self.types[id.index()].clone()),
                        Operand::Constant(value) => Type::of(value),
                    })
                    .collect();
                types.is_some_and(|types| rules::is_total(primitive, &types))
            }
            Op::Tuple | Op::Set | Op::Item(_) | Op::Absent => true,
            Op::If | Op::Choose => instruction
                .regions
                .iter()
                .flat_map(|region| &region.instructions)
                .all(|instruction| self.is_total(instruction)),
            Op::Call(_) | Op::Count | Op::Iterate | Op::Fail(..) => false,
        }
    }
}

/// The form without instructions that no result needs, and with ids that leave no holes.
pub(super) fn without_unneeded(form: &Form) -> Form {
    let mut form = form.clone();
    let mut needed = vec![false; form.ids as usize];
    for output in &form.outputs {
        match &output.needs {
            Needs::All => return compact(&form),
            Needs::These(needs) => needs.iter().for_each(|need| needed[need.id.index()] = true),
        }
    }
    let instructions = &mut form.body.instructions;
    instructions.retain(|instruction| needed[instruction.id.index()]);
    compact(&form)
}

/// The type of each id.
fn types(form: &Form) -> Vec<Type> {
    fn enter(region: &Region, types: &mut Vec<Type>) {
        for (id, ty) in &region.parameters {
            types[id.index()] = ty.clone();
        }
        for instruction in &region.instructions {
            types[instruction.id.index()] = instruction.ty.clone();
            instruction
                .regions
                .iter()
                .for_each(|region| enter(region, types));
        }
    }
    let mut types = vec![Type::Never; form.ids as usize];
    enter(&form.body, &mut types);
    types
}

/// The form with ids numbered in the order in which they stand in its text.
pub(super) fn compact(form: &Form) -> Form {
    let mut names = Names {
        new: vec![0; form.ids as usize],
        next: 0,
    };
    let body = names.region(&form.body);
    Form {
        name: form.name.clone(),
        body,
        ids: names.next,
        outputs: form.outputs.iter().map(|one| names.output(one)).collect(),
    }
}

struct Names {
    new: Vec<u32>,
    next: u32,
}

impl Names {
    fn name(&mut self, id: Id) -> Id {
        self.new[id.index()] = self.next;
        self.next += 1;
        Id(self.next - 1)
    }

    fn operand(&self, operand: &Operand) -> Operand {
        match operand {
            Operand::Id(id) => Operand::Id(Id(self.new[id.index()])),
            Operand::Constant(value) => Operand::Constant(value.clone()),
        }
    }

    fn output(&self, output: &Output) -> Output {
        let named = |need: &Need| Need {
            id: Id(self.new[need.id.index()]),
            ..*need
        };
        Output {
            id: output.id,
            needs: match &output.needs {
                Needs::All => Needs::All,
                Needs::These(needs) => Needs::These(needs.iter().map(named).collect()),
            },
        }
    }

    fn region(&mut self, region: &Region) -> Region {
        let parameters = region
            .parameters
            .iter()
            .map(|(id, ty)| (self.name(*id), ty.clone()))
            .collect();
        let instructions = region
            .instructions
            .iter()
            .map(|instruction| {
                let id = self.name(instruction.id);
                Instruction {
                    id,
                    ty: instruction.ty.clone(),
                    arguments: instruction
                        .arguments
                        .iter()
                        .map(|o| self.operand(o))
                        .collect(),
                    regions: instruction.regions.iter().map(|r| self.region(r)).collect(),
                    ..*instruction
                }
            })
            .collect();
        Region {
            parameters,
            instructions,
            results: region.results.iter().map(|one| self.operand(one)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn what_cannot_fail_goes_and_what_may_fail_stays() {
        let before = parse(
            "form f(v0: grid):\n  v1: int = height(v0) @2\n  v2: int = add(v1, 1) @3\n  \
             v3: int = width(v0) @4\n  v4: bool = greater(v3, 2) @5\n  v5: grid = rot90(v0) @6\n  \
             return v5\n",
        )
        .unwrap();
        let after = remove_dead(&before);
        after.verify().unwrap();
        assert_eq!(
            after.to_string(),
            "form f(v0: grid):\n  v1: int = height(v0) @2\n  v2: int = add(v1, 1) @3\n  \
             v3: grid = rot90(v0) @6\n  return v3\n"
        );
    }

    #[test]
    fn a_choice_goes_with_all_its_arms() {
        let before = parse(
            "form f(v0: grid):\n  v1: bool = portrait(v0) @2\n  v2: int = if(v1) @3 {\n    \
             v3: int = height(v0) @3\n    yield v3\n  } {\n    yield 4\n  }\n  return v0\n",
        )
        .unwrap();
        assert_eq!(
            remove_dead(&before).to_string(),
            "form f(v0: grid):\n  return v0\n"
        );
    }
}
