//! Dead-code elimination: removes steps whose value nothing uses and that cannot fail.
//!
//! A step that may fail stays, since the reference fails there too; so does a loop, which may reach a bound.

use smallvec::SmallVec;

use super::{Form, Id, Instruction, Op, Operand, Region, Type};

/// Tables by id, reused from form to form.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    live: Vec<bool>,
    names: Vec<u32>,
}

/// Removes the dead steps; `types` are those of all ids before rewrites.
pub(super) fn remove_dead_steps(form: &mut Form, types: &[Type], scratch: &mut Scratch) {
    let live = &mut scratch.live;
    live.clear();
    live.resize(form.ids as usize, false);
    Pass { live, types }.region(&mut form.body);
}

struct Pass<'t> {
    live: &'t mut [bool],
    types: &'t [Type],
}

impl Pass<'_> {
    fn region(&mut self, region: &mut Region) {
        self.mark(&region.result);
        for instruction in region.instructions.iter_mut().rev() {
            if self.live[instruction.id.index()] || !self.is_total(instruction) {
                self.live[instruction.id.index()] = true;
                for region in &mut instruction.regions {
                    self.region(region);
                }
                for operand in &instruction.arguments {
                    self.mark(operand);
                }
            }
        }
        let live = &*self.live;
        let is_live = |instruction: &Instruction| live[instruction.id.index()];
        if !region.instructions.iter().all(is_live) {
            region.instructions.retain(is_live);
        }
    }

    fn mark(&mut self, operand: &Operand) {
        if let Operand::Id(id) = operand {
            self.live[id.index()] = true;
        }
    }

    /// Whether it has a value for all arguments of their types.
    fn is_total(&self, instruction: &Instruction) -> bool {
        if instruction.checked {
            return false;
        }
        match instruction.op {
            Op::Call(primitive) if primitive.is_first_order() => {
                // An instruction that a rewrite has added has no type here, and stays.
                let types: Option<SmallVec<[_; 4]>> = instruction
                    .arguments
                    .iter()
                    .map(|operand| match operand {
                        Operand::Id(id) => self.types.get(id.index()).cloned(),
                        Operand::Constant(value) => value.value_type(),
                    })
                    .collect();
                types.is_some_and(|types| (primitive.facts().is_total)(&types))
            }
            Op::Tuple | Op::Set | Op::Item(_) | Op::Absent => true,
            Op::If | Op::Choose => instruction
                .regions
                .iter()
                .flat_map(|region| &region.instructions)
                .all(|instruction| self.is_total(instruction)),
            Op::Call(_) | Op::Fused(_) | Op::Count | Op::Iterate | Op::Fail(..) => false,
        }
    }
}

/// Renumbers the ids in the order of the text.
pub(super) fn compact(form: &mut Form, scratch: &mut Scratch) {
    let new = &mut scratch.names;
    new.clear();
    new.resize(form.ids as usize, 0);
    let mut names = Renaming { new, next: 0 };
    names.region(&mut form.body);
    form.ids = names.next;
}

struct Renaming<'s> {
    new: &'s mut [u32],
    next: u32,
}

impl Renaming<'_> {
    fn name(&mut self, id: &mut Id) {
        self.new[id.index()] = self.next;
        *id = Id(self.next);
        self.next += 1;
    }

    fn operand(&self, operand: &mut Operand) {
        if let Operand::Id(id) = operand {
            *id = Id(self.new[id.index()]);
        }
    }

    fn region(&mut self, region: &mut Region) {
        for (id, _) in &mut region.parameters {
            self.name(id);
        }
        for instruction in &mut region.instructions {
            self.name(&mut instruction.id);
            for operand in &mut instruction.arguments {
                self.operand(operand);
            }
            for region in &mut instruction.regions {
                self.region(region);
            }
        }
        self.operand(&mut region.result);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::parse;

    /// The form without its dead steps, with ids renumbered without gaps.
    pub(crate) fn remove_dead(form: &Form) -> Form {
        let mut form = form.clone();
        let types = types(&form);
        let mut scratch = Scratch::default();
        remove_dead_steps(&mut form, &types, &mut scratch);
        compact(&mut form, &mut scratch);
        form
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
