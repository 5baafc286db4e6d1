//! Definitions and uses of a form's values.

use crate::{Form, Id, Instruction, Op, Operand, Region, Type};
use arc_dsl::{Primitive, Value};
use arc_isa::{Facts, Use};

/// The definition and the uses of each value of a form.
#[derive(Debug)]
pub struct Index<'f> {
    definitions: Vec<Definition<'f>>,
    /// All uses, each linked to the previous one of the same value: its index plus one, or 0.
    users: Vec<(User<'f>, u32)>,
    /// The last use of each value, in the same encoding.
    last: Vec<u32>,
    /// All instructions in the order of the form, those of a region after the one that contains it.
    instructions: Vec<&'f Instruction>,
    called: Called,
    /// The number of regions.
    regions: u32,
}

/// A set of primitives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Called([u64; Primitive::ALL.len().div_ceil(64)]);

impl Called {
    /// The empty set.
    pub const NONE: Self = Self([0; Primitive::ALL.len().div_ceil(64)]);

    /// The set of these.
    pub const fn these(primitives: &[Primitive]) -> Self {
        let mut called = Self::NONE;
        let mut at = 0;
        while at < primitives.len() {
            called.add(primitives[at]);
            at += 1;
        }
        called
    }

    /// Adds one.
    pub const fn add(&mut self, primitive: Primitive) {
        self.0[primitive as usize / 64] |= 1 << (primitive as usize % 64);
    }

    /// The set of all that satisfy this.
    pub fn all(test: impl Fn(Primitive) -> bool) -> Self {
        let mut found = Self::default();
        for primitive in Primitive::ALL.iter().filter(|one| test(**one)) {
            found.add(*primitive);
        }
        found
    }

    /// Whether it contains a primitive.
    pub fn has(&self, primitive: Primitive) -> bool {
        self.0[primitive as usize / 64] >> (primitive as usize % 64) & 1 != 0
    }

    /// Whether the two sets intersect.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
}

/// The definition of a value.
#[derive(Debug, Clone, Copy)]
pub struct Definition<'f> {
    /// The type of the value.
    pub ty: &'f Type,
    /// The instruction that computes it; `None` for a parameter.
    pub by: Option<&'f Instruction>,
    /// The region in which it is defined; regions are numbered in the order of the form from 0, the body.
    pub region: u32,
}

/// A use of a value.
#[derive(Debug, Clone, Copy)]
pub struct User<'f> {
    /// The instruction that uses it; `None` if it is a result of the form.
    pub by: Option<&'f Instruction>,
    /// How it is used.
    pub role: Role,
    /// The region in which it is used.
    pub region: u32,
}

/// How a value is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// As the argument with this index.
    Argument(usize),
    /// As a result of the region with this index, or of the form.
    Result(usize),
}

impl<'f> User<'f> {
    /// The instruction whose argument it is, and the index; `None` if it is a result.
    pub fn argument(&self) -> Option<(&'f Instruction, usize)> {
        match (self.by, self.role) {
            (Some(by), Role::Argument(at)) => Some((by, at)),
            _ => None,
        }
    }
}

impl<'f> Index<'f> {
    fn region(&mut self, region: &'f Region, of: Option<&'f Instruction>, at: usize) {
        let number = self.regions;
        self.regions += 1;
        for (id, ty) in &region.parameters {
            self.define(*id, ty, None, number);
        }
        for instruction in &region.instructions {
            self.define(instruction.id, &instruction.ty, Some(instruction), number);
            self.instructions.push(instruction);
            if let Op::Call(primitive) = instruction.op {
                self.called.add(primitive);
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

    fn define(&mut self, id: Id, ty: &'f Type, by: Option<&'f Instruction>, region: u32) {
        self.definitions[id.index()] = Definition { ty, by, region };
    }

    fn used(&mut self, operand: &Operand, by: Option<&'f Instruction>, role: Role, region: u32) {
        let Operand::Id(id) = operand else { return };
        let users = &mut self.users;
        let last = &mut self.last[id.index()];
        users.push((User { by, role, region }, *last));
        *last = users.len() as u32;
    }

    /// The index of a form that [`verify`](Form::verify) accepts.
    pub fn new(form: &'f Form) -> Self {
        let ids = form.ids as usize;
        let unmade = Definition {
            ty: &Type::Never,
            by: None,
            region: 0,
        };
        let mut index = Self {
            definitions: vec![unmade; ids],
            users: Vec::with_capacity(2 * ids),
            last: vec![0; ids],
            instructions: Vec::with_capacity(ids),
            called: Called::default(),
            regions: 0,
        };
        index.region(&form.body, None, 0);
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

    /// The definition of a value.
    pub fn definition(&self, id: Id) -> &Definition<'f> {
        &self.definitions[id.index()]
    }

    /// The instruction that computes an operand; `None` for a parameter or a constant.
    pub fn maker(&self, operand: &Operand) -> Option<&'f Instruction> {
        match operand {
            Operand::Id(id) => self.definitions[id.index()].by,
            Operand::Constant(_) => None,
        }
    }

    /// The uses of a value, the last one first.
    pub fn users(&self, id: Id) -> impl Iterator<Item = &User<'f>> {
        let mut next = self.last[id.index()];
        std::iter::from_fn(move || {
            let (user, before) = &self.users[(next as usize).checked_sub(1)?];
            next = *before;
            Some(user)
        })
    }

    /// The only use of a value; `None` if there are none or several.
    pub(crate) fn only_user(&self, id: Id) -> Option<&User<'f>> {
        let mut users = self.users(id);
        users.next().filter(|_| users.next().is_none())
    }

    /// The primitives that the form calls.
    pub fn called(&self) -> &Called {
        &self.called
    }

    /// Whether a value is only used as an argument, by instructions that all satisfy this.
    pub fn is_only(&self, id: Id, test: impl Fn(&'f Instruction, usize) -> bool) -> bool {
        self.users(id)
            .all(|user| user.argument().is_some_and(|(by, at)| test(by, at)))
    }

    /// The type of an operand; `None` for a constant without one.
    pub fn type_of(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Id(id) => Some(self.definitions[id.index()].ty.clone()),
            Operand::Constant(value) => value.value_type(),
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
                _ => value.value_type().is_some_and(|found| found == *ty),
            },
        }
    }

    /// All instructions in the order of the form, those of a region after the one that contains it.
    pub fn instructions(&self) -> &[&'f Instruction] {
        &self.instructions
    }
}

impl Instruction {
    /// The primitive that it calls.
    pub fn primitive(&self) -> Option<Primitive> {
        match self.op {
            Op::Call(primitive) => Some(primitive),
            _ => None,
        }
    }

    /// The facts of the primitive that it calls, if it is a call.
    pub(crate) fn facts(&self) -> Option<&'static Facts> {
        self.primitive().map(Primitive::facts)
    }

    /// Which part of an argument it reads.
    pub(crate) fn use_of(&self, at: usize) -> Use {
        self.facts()
            .map_or(Use::Whole, |facts| facts.of_argument(at))
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
            let users = index.users(Id(id));
            users
                .map(|user| (user.by.map(|by| by.id.0), user.role, user.region))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            users(0),
            [
                (Some(5), Role::Argument(0), 0),
                (Some(1), Role::Argument(0), 0)
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
