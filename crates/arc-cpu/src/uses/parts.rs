//! Which patches are only looked at part by part, and of which grids only the first rows are, so that
//! they need not be made whole.

use crate::ops::layers::is_locs;
use arc_dsl::{Loc, Primitive, Value};
use arc_form::{Form, Id, Instruction, Op, Operand, Region, Type};

/// What is known of a form's values, by id.
pub(crate) struct Parts {
    /// Whether it is only painted, moved before or not.
    only_painted: Vec<bool>,
    /// Whether it is only what something falls towards.
    only_fallen_to: Vec<bool>,
    /// Whether only its first rows are seen.
    only_topped: Vec<bool>,
    /// Whether an instruction takes it.
    is_taken: Vec<bool>,
    /// Whether it is what `shoot` gives.
    is_line: Vec<bool>,
    /// Whether it is two such lines together.
    is_cross: Vec<bool>,
    /// Whether it is a tuple of locations.
    is_locs: Vec<bool>,
}

impl Parts {
    /// What is known of the values of this form.
    pub(crate) fn of(form: &Form) -> Self {
        let ids = form.ids as usize;
        let mut parts = Self {
            only_painted: vec![true; ids],
            only_fallen_to: vec![true; ids],
            only_topped: vec![true; ids],
            is_taken: vec![false; ids],
            is_line: vec![false; ids],
            is_cross: vec![false; ids],
            is_locs: vec![false; ids],
        };
        let mut all = Vec::new();
        parts.region(&form.body, &mut all);
        // What uses a value stands behind it: at the last one, all uses of what it gives are seen.
        for instruction in all.iter().rev() {
            for (at, argument) in instruction.arguments.iter().enumerate() {
                if let Operand::Id(id) = argument {
                    let painted = is_painting(instruction, at) || parts.is_moving(instruction, at);
                    let fallen_to = parts.is_fallen_to(instruction, at);
                    parts.only_painted[id.index()] &= painted;
                    parts.only_fallen_to[id.index()] &= fallen_to;
                    parts.only_topped[id.index()] &= is_topping(instruction, at);
                    parts.is_taken[id.index()] = true;
                }
            }
        }
        parts
    }

    fn region<'f>(&mut self, region: &'f Region, all: &mut Vec<&'f Instruction>) {
        for (id, ty) in &region.parameters {
            self.is_locs[id.index()] = is_locs(ty);
        }
        for instruction in &region.instructions {
            all.push(instruction);
            let id = instruction.id.index();
            self.is_locs[id] = is_locs(&instruction.ty);
            self.is_line[id] = instruction.op == Op::Call(Primitive::shoot);
            self.is_cross[id] = instruction.op == Op::Call(Primitive::combine)
                && instruction.ty == Type::Indices
                && all_of(&self.is_line, &instruction.arguments);
            for region in &instruction.regions {
                self.region(region, all);
            }
        }
        for result in &region.results {
            if let Operand::Id(id) = result {
                self.only_painted[id.index()] = false;
                self.only_fallen_to[id.index()] = false;
                self.only_topped[id.index()] = false;
            }
        }
    }

    /// Whether an argument is a patch that is moved to be painted.
    fn is_moving(&self, instruction: &Instruction, at: usize) -> bool {
        instruction.op == Op::Call(Primitive::shift)
            && at == 0
            && self.only_painted[instruction.id.index()]
    }

    /// Whether an argument is what something falls towards, or one of two crosses of which it does.
    fn is_fallen_to(&self, instruction: &Instruction, at: usize) -> bool {
        match instruction.op {
            Op::Call(Primitive::gravitate) => at == 1,
            Op::Call(Primitive::branch) => {
                at > 0
                    && self.only_fallen_to[instruction.id.index()]
                    && all_of(&self.is_cross, &instruction.arguments[1..])
            }
            _ => false,
        }
    }

    /// Whether a value is only painted, moved before or not.
    pub(crate) fn only_painted(&self, id: Id) -> bool {
        self.only_painted[id.index()]
    }

    /// Whether an instruction gives the locations of two lines, which may pass any box.
    pub(crate) fn is_cross(&self, instruction: &Instruction) -> bool {
        self.is_cross[instruction.id.index()]
    }

    /// Whether an instruction gives two lines, or one of two such crosses, and what it gives is only
    /// fallen towards.
    pub(crate) fn is_goal(&self, instruction: &Instruction) -> bool {
        self.only_fallen_to[instruction.id.index()]
            && match instruction.op {
                Op::Call(Primitive::branch) => all_of(&self.is_cross, &instruction.arguments[1..]),
                _ => self.is_cross(instruction),
            }
    }

    /// Whether an instruction puts grids one below the other of which only the first rows are seen.
    pub(crate) fn is_topped(&self, instruction: &Instruction) -> bool {
        instruction.op == Op::Call(Primitive::merge)
            && instruction.ty == Type::Grid
            && self.only_topped[instruction.id.index()]
    }

    /// The instruction of a loop's region that gives the outline of what may be far apart, and of
    /// which nothing else is made.
    pub(crate) fn outline(&self, region: &Region) -> Option<Id> {
        let Operand::Id(result) = *region.result() else {
            return None;
        };
        let mut instructions = region.instructions.iter();
        let made = instructions.find(|made| made.id == result)?;
        let outline = made.op == Op::Call(Primitive::r#box)
            && made.ty == Type::Indices
            && all_of(&self.is_locs, &made.arguments);
        (outline && !self.is_taken[result.index()]).then_some(result)
    }
}

/// Whether all operands are computed values of which this is true.
fn all_of(known: &[bool], operands: &[Operand]) -> bool {
    operands.iter().all(|operand| match operand {
        Operand::Id(id) => known[id.index()],
        Operand::Constant(_) => false,
    })
}

/// Whether an argument is a grid of which the first rows and columns are taken.
fn is_topping(instruction: &Instruction, at: usize) -> bool {
    let start = instruction.arguments.get(1);
    instruction.op == Op::Call(Primitive::crop)
        && at == 0
        && matches!(
            start,
            Some(Operand::Constant(Value::Loc(Loc { i: 0, j: 0 })))
        )
}

/// Whether an argument is what is painted.
fn is_painting(instruction: &Instruction, at: usize) -> bool {
    use Primitive as P;
    matches!(
        (instruction.op, at),
        (Op::Call(P::fill | P::underfill), 2) | (Op::Call(P::paint | P::underpaint | P::cover), 1)
    )
}
