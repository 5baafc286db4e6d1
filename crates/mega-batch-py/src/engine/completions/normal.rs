//! Programs in normal form for evaluation: without dead steps, each step on the line of its number, and with hashes
//! that identify programs with equal calls.

use std::fmt::Write as _;

use arc_dsl::{Callee, Operand, Program, ProgramBuilder};
use arc_form::{Op, Options, Region, Specialiser};
use xxhash_rust::xxh3::xxh3_128;

/// A program without its dead steps, each step on the line of its own number.
#[derive(Debug, Clone)]
pub(super) struct Normal {
    pub(super) program: Program,
    /// The line of each step in the text.
    pub(super) lines: Box<[u32]>,
    /// Equal for programs of the same steps in the same order.
    pub(super) same: u128,
    /// Equal for programs with the same steps in any order. If one of them finishes, so do the others, with the same
    /// output; which of several failing steps comes first depends on the order.
    pub(super) family: u128,
}

/// Normalises programs.
#[derive(Debug, Default)]
pub(super) struct Normaliser {
    specialiser: Option<Specialiser>,
}

impl Normaliser {
    pub(super) fn normal(&mut self, program: &Program) -> Normal {
        let without = self.without_dead(program);
        let program = without.as_ref().unwrap_or(program);
        let lines = program.steps().iter().map(|step| step.line).collect();
        let program = program.clone().with_lines(1..);
        let (mut steps, output) = hashes(&program);
        let whole = |steps: &[u128]| {
            let mut bytes = Vec::with_capacity(16 * steps.len() + 17);
            bytes.push(program.dialect() as u8);
            bytes.extend(output.to_le_bytes());
            bytes.extend(steps.iter().flat_map(|step| step.to_le_bytes()));
            xxh3_128(&bytes)
        };
        let same = whole(&steps);
        steps.sort_unstable();
        Normal {
            same,
            family: whole(&steps),
            program,
            lines,
        }
    }

    /// The program without the steps that its output does not need and that cannot fail; `None` if there are none.
    fn without_dead(&mut self, program: &Program) -> Option<Program> {
        if needed(program, |_| false).iter().all(|needed| *needed) {
            return None;
        }
        // The form keeps steps that may fail, which are identified by their lines.
        let specialiser = self.specialiser.get_or_insert_with(|| {
            Specialiser::new(Options {
                rewrite: false,
                ..Options::default()
            })
        });
        let form = specialiser
            .specialise(&program.clone().with_lines(1..))
            .ok()?;
        // The form ends after a step that always fails, but the program may fail at an earlier one.
        if always_fails(&form.body) {
            return None;
        }
        let mut stays = vec![false; program.steps().len()];
        mark_lines(&form.body, &mut stays);
        let needed = needed(program, |step| stays[step]);
        if needed.iter().all(|needed| *needed) {
            return None;
        }
        let names = program.inputs().to_vec();
        let mut builder =
            ProgramBuilder::in_dialect(program.dialect(), program.name(), names, program.line());
        let mut variables: Vec<Option<Operand>> = program
            .inputs()
            .iter()
            .map(|name| builder.variable(name).map(Operand::Slot))
            .collect();
        let renamed = |variables: &[Option<Operand>], operand: &Operand| match operand {
            Operand::Slot(slot) => variables[slot.index()].clone(),
            other => Some(other.clone()),
        };
        for (step, needed) in program.steps().iter().zip(needed) {
            if !needed {
                variables.push(None);
                continue;
            }
            let callee = match step.callee {
                Callee::Slot(slot) => variables[slot.index()].as_ref()?.callee()?,
                callee => callee,
            };
            let arguments = step.arguments.iter();
            let arguments: Option<_> = arguments
                .map(|argument| renamed(&variables, argument))
                .collect();
            let name = program.variables()[variables.len()].clone();
            let made = builder.step(step.line, name, callee, arguments?);
            variables.push(Some(made.ok()?));
        }
        builder.finish(renamed(&variables, program.output())?).ok()
    }
}

/// The steps that the output, or one of the steps to keep, depends on.
fn needed(program: &Program, stays: impl Fn(usize) -> bool) -> Vec<bool> {
    let inputs = program.inputs().len();
    // Also of the inputs.
    let mut needed = vec![false; program.variables().len()];
    if let Some(slot) = program.output().slot() {
        needed[slot.index()] = true;
    }
    for (at, step) in program.steps().iter().enumerate().rev() {
        needed[inputs + at] |= stays(at);
        if needed[inputs + at] {
            for slot in step.reads() {
                needed[slot.index()] = true;
            }
        }
    }
    needed.split_off(inputs)
}

/// Whether a region has an instruction that always fails.
fn always_fails(region: &Region) -> bool {
    region.instructions.iter().any(|instruction| {
        matches!(instruction.op, Op::Fail(..)) || instruction.regions.iter().any(always_fails)
    })
}

/// Marks the steps, identified by line numbers from 1, that instructions come from.
fn mark_lines(region: &Region, stays: &mut [bool]) {
    for instruction in &region.instructions {
        let step = (instruction.line as usize).checked_sub(1);
        if let Some(stays) = step.and_then(|step| stays.get_mut(step)) {
            *stays = true;
        }
        for region in &instruction.regions {
            mark_lines(region, stays);
        }
    }
}

/// A hash of each step's value, equal for equal calls on equal arguments, whatever variables are called, and one of the
/// returned value.
fn hashes(program: &Program) -> (Vec<u128>, u128) {
    let inputs = program.inputs().len();
    let mut variables: Vec<u128> = (0..inputs as u128).collect();
    let mut bytes = Vec::with_capacity(128);
    for step in program.steps() {
        bytes.clear();
        match step.callee {
            Callee::Primitive(primitive) => tagged(&mut bytes, 0, primitive as u128),
            Callee::Typed(primitive) => tagged(&mut bytes, 1, primitive as u128),
            Callee::Slot(slot) => tagged(&mut bytes, 2, variables[slot.index()]),
        }
        for argument in &step.arguments {
            operand(&mut bytes, &variables, argument);
        }
        variables.push(xxh3_128(&bytes));
    }
    bytes.clear();
    operand(&mut bytes, &variables, program.output());
    (variables.split_off(inputs), xxh3_128(&bytes))
}

fn tagged(bytes: &mut Vec<u8>, tag: u8, number: u128) {
    bytes.push(tag);
    bytes.extend(number.to_le_bytes());
}

fn operand(bytes: &mut Vec<u8>, variables: &[u128], operand: &Operand) {
    match operand {
        Operand::Slot(slot) => tagged(bytes, 2, variables[slot.index()]),
        Operand::Primitive(primitive) => tagged(bytes, 3, *primitive as u128),
        Operand::Constant(constant) => tagged(bytes, 4, *constant as u128),
        Operand::Literal(value) => {
            // Its text, since values of different types can be equal.
            let mut text = String::new();
            let _ = write!(text, "{value}");
            tagged(bytes, 5, text.len() as u128);
            bytes.extend(text.as_bytes());
        }
    }
}
