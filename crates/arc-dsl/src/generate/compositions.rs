//! Compositions: programs that combine the steps of two.

use arc_isa::Type;

use super::Generator;
use super::sketch::Sketch;
use crate::dialect::Dialect;
use crate::program::{BuildError, Callee, Program, ProgramBuilder, Slot};

/// The program that runs `outer` on the result of `inner`, under the name of `outer`. Both have one input.
pub fn composition(inner: &Program, outer: &Program) -> Result<Program, BuildError> {
    let mut builder = ProgramBuilder::new(outer.name());
    let between = builder.inline(inner, &[builder.input()])?;
    let output = builder.inline(outer, &[between])?;
    builder.finish(output)
}

/// The program without the steps that its output does not depend on. If one of these fails, the original program fails
/// and this one does not; otherwise both give the same result.
pub fn without_unused(program: &Program) -> Result<Program, BuildError> {
    if program.dialect() != Dialect::Public {
        return Ok(program.clone());
    }
    let mut is_used = vec![false; program.steps().len() + 1];
    if let Some(slot) = program.output().slot() {
        is_used[slot.index()] = true;
    }
    for step in program.steps().iter().rev() {
        if is_used[step.target.index()] {
            for slot in step.reads() {
                is_used[slot.index()] = true;
            }
        }
    }
    let mut is_used = is_used.into_iter().skip(1);
    let mut builder = ProgramBuilder::new(program.name());
    let input = builder.input();
    let output = builder.inline_with(program, &[input], |builder, callee, arguments| {
        if is_used.next() == Some(true) {
            builder.call(callee, arguments)
        } else {
            // Any operand will do, since nothing refers to it.
            Ok(builder.input())
        }
    })?;
    builder.finish(output)
}

impl Generator {
    /// The second program, with one of its grids (the input or the result of a step) replaced by a grid of the first
    /// one. In a program without a step that returns a grid, judging by the signatures, the only grid is its input.
    pub fn crossover(&mut self, from: &Program, into: &Program) -> Result<Program, BuildError> {
        let grids = |program: &Program| -> Vec<usize> {
            let steps = program.steps().iter();
            let grids = steps.filter(|step| match step.callee {
                Callee::Primitive(primitive) => primitive.returns() == Type::Grid,
                Callee::Typed(_) | Callee::Slot(_) => false,
            });
            grids.map(|step| step.target.index()).collect()
        };
        let given = grids(from);
        let given = if given.is_empty() {
            from.clone()
        } else {
            let step = *self.dice.pick(&given);
            Sketch::new(from).prefix(step).build()?
        };
        let mut replaced = grids(into);
        replaced.push(Slot::INPUT.index());
        let replaced = *self.dice.pick(&replaced);

        let mut builder = ProgramBuilder::new(into.name());
        let given = builder.inline(&given, &[builder.input()])?;
        let is_input = replaced == Slot::INPUT.index();
        let input = if is_input {
            given.clone()
        } else {
            builder.input()
        };
        let mut targets = into.steps().iter().map(|step| step.target.index());
        let output = builder.inline_with(into, &[input], |builder, callee, arguments| {
            if targets.next() == Some(replaced) {
                Ok(given.clone())
            } else {
                builder.call(callee, arguments)
            }
        })?;
        builder.finish(output)
    }
}
