//! Definitions and uses of a form's values.

use crate::{Form, Id, Instruction, Op, Operand, Region, Type};
use arc_dsl::Value;

/// Who makes each value of a form, and who uses it.
#[derive(Debug)]
pub struct Index<'f> {
    definitions: Vec<Definition<'f>>,
    /// All users; those of a value stand side by side, in the order of the form.
    users: Vec<User<'f>>,
    /// Where the users of a value begin, by id; those of the next one end them.
    first: Vec<u32>,
    /// All instructions in the order of the form, those of a region behind the one that has it.
    instructions: Vec<&'f Instruction>,
}

/// What makes a value.
#[derive(Debug, Clone, Copy)]
pub struct Definition<'f> {
    /// The type of the value.
    pub ty: &'f Type,
    /// The instruction that gives it; nothing for a parameter.
    pub by: Option<&'f Instruction>,
    /// The region in which it is made, numbered in the order of the form from 0, the body.
    pub region: u32,
}

/// A use of a value.
#[derive(Debug, Clone, Copy)]
pub struct User<'f> {
    /// The instruction that uses it; nothing for the form, whose result it is.
    pub by: Option<&'f Instruction>,
    /// As what.
    pub role: Role,
    /// The region in which it is used.
    pub region: u32,
}

/// As what a value is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// As the argument that stands at this place.
    Argument(usize),
    /// As the result of the region that stands at this place, or of the form.
    Result(usize),
}

impl<'f> User<'f> {
    /// The instruction that takes it for an argument, and which one; nothing where it is a result.
    pub fn argument(&self) -> Option<(&'f Instruction, usize)> {
        match (self.by, self.role) {
            (Some(by), Role::Argument(at)) => Some((by, at)),
            _ => None,
        }
    }
}

/// Goes through a form and counts, then goes through it again and fills in.
struct Walk<'f, 'i> {
    index: &'i mut Index<'f>,
    regions: u32,
    filling: bool,
}

impl<'f> Walk<'f, '_> {
    fn region(&mut self, region: &'f Region, of: Option<&'f Instruction>, at: usize) {
        let number = self.regions;
        self.regions += 1;
        if !self.filling {
            for (id, ty) in &region.parameters {
                self.index.definitions[id.index()] = Definition {
                    ty,
                    by: None,
                    region: number,
                };
            }
        }
        for instruction in &region.instructions {
            if !self.filling {
                self.index.definitions[instruction.id.index()] = Definition {
                    ty: &instruction.ty,
                    by: Some(instruction),
                    region: number,
                };
                self.index.instructions.push(instruction);
            }
            for (at, argument) in instruction.arguments.iter().enumerate() {
                self.used(argument, Some(instruction), Role::Argument(at), number);
            }
            for (at, region) in instruction.regions.iter().enumerate() {
                self.region(region, Some(instruction), at);
            }
        }
        self.used(&region.result, of, Role::Result(at), number);
    }

    fn used(&mut self, operand: &Operand, by: Option<&'f Instruction>, role: Role, region: u32) {
        let Operand::Id(id) = operand else { return };
        let next = &mut self.index.first[id.index() + 1];
        if self.filling {
            self.index.users[*next as usize] = User { by, role, region };
        }
        *next += 1;
    }
}

impl<'f> Index<'f> {
    /// The index of a form that [`verify`](Form::verify) takes.
    pub fn new(form: &'f Form) -> Self {
        let ids = form.ids as usize;
        let mut index = Self {
            definitions: vec![
                Definition {
                    ty: &Type::Never,
                    by: None,
                    region: 0,
                };
                ids
            ],
            users: Vec::new(),
            first: vec![0; ids + 2],
            instructions: Vec::with_capacity(ids),
        };
        Walk {
            index: &mut index,
            regions: 0,
            filling: false,
        }
        .region(&form.body, None, 0);
        // From how many to where: `first[id + 1]` is where the next user of `id` is filled in, and in
        // the end where those of the next one begin.
        let mut sum = 0;
        for first in index.first.iter_mut().skip(1) {
            let count = *first;
            *first = sum;
            sum += count;
        }
        let unused = User {
            by: None,
            role: Role::Result(0),
            region: 0,
        };
        index.users = vec![unused; sum as usize];
        Walk {
            index: &mut index,
            regions: 0,
            filling: true,
        }
        .region(&form.body, None, 0);
        index
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.definitions.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// What makes a value.
    pub fn definition(&self, id: Id) -> &Definition<'f> {
        &self.definitions[id.index()]
    }

    /// The instruction that gives an operand; nothing for a parameter or a constant.
    pub fn maker(&self, operand: &Operand) -> Option<&'f Instruction> {
        match operand {
            Operand::Id(id) => self.definitions[id.index()].by,
            Operand::Constant(_) => None,
        }
    }

    /// Who uses a value, in the order of the form.
    pub fn users(&self, id: Id) -> &[User<'f>] {
        let (first, end) = (self.first[id.index()], self.first[id.index() + 1]);
        &self.users[first as usize..end as usize]
    }

    /// The one use of a value; nothing where there are none or several.
    pub fn only_user(&self, id: Id) -> Option<&User<'f>> {
        match self.users(id) {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Whether a value is used by instructions alone, of each of which this is true.
    pub fn is_only(&self, id: Id, test: impl Fn(&'f Instruction, usize) -> bool) -> bool {
        let mut users = self.users(id).iter();
        users.all(|user| user.argument().is_some_and(|(by, at)| test(by, at)))
    }

    /// The type of an operand; a constant has one, or is none.
    pub fn type_of(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Id(id) => Some(self.definitions[id.index()].ty.clone()),
            Operand::Constant(value) => Type::of(value),
        }
    }

    /// Whether an operand is of a type.
    pub fn is(&self, operand: &Operand, ty: &Type) -> bool {
        match operand {
            Operand::Id(id) => self.definitions[id.index()].ty == ty,
            Operand::Constant(value) => match (ty, value) {
                (Type::Grid, Value::Grid(_))
                | (Type::Indices, Value::Indices(_))
                | (Type::Object, Value::Object(_)) => true,
                (Type::Grid | Type::Indices | Type::Object, _) => false,
                _ => Type::of(value).is_some_and(|found| found == *ty),
            },
        }
    }

    /// All instructions in the order of the form, those of a region behind the one that has it.
    pub fn instructions(&self) -> &[&'f Instruction] {
        &self.instructions
    }
}

impl Instruction {
    /// The primitive that it calls.
    pub fn primitive(&self) -> Option<arc_dsl::Primitive> {
        match self.op {
            Op::Call(primitive) => Some(primitive),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn users_are_those_of_the_form() {
        let form = parse(
            "form f(v0: grid):\n  v1: set<object> = objects(v0, True, False, True) @2\n  \
             v2: object = argmax(v1) @3 {v3: object ->\n    v4: int = size(v3) @3\n    yield v4\n  }\n  \
             v5: grid = paint(v0, v2) @4\n  return v5\n",
        )
        .unwrap();
        let index = Index::new(&form);
        let users = |id: u32| {
            let users = index.users(Id(id)).iter();
            users
                .map(|user| (user.by.map(|by| by.id.0), user.role, user.region))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            users(0),
            [
                (Some(1), Role::Argument(0), 0),
                (Some(5), Role::Argument(0), 0)
            ]
        );
        assert_eq!(users(1), [(Some(2), Role::Argument(0), 0)]);
        assert_eq!(users(2), [(Some(5), Role::Argument(1), 0)]);
        assert_eq!(users(3), [(Some(4), Role::Argument(0), 1)]);
        assert_eq!(users(4), [(Some(2), Role::Result(0), 1)]);
        assert_eq!(users(5), [(None, Role::Result(0), 0)]);
        assert_eq!(index.definition(Id(4)).region, 1);
        assert!(index.is_only(Id(3), |by, at| by.id == Id(4) && at == 0));
        assert!(!index.is_only(Id(4), |_, _| true));
    }
}
