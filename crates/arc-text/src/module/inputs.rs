//! Makes programs of functions: which of a function's parameters the inputs of a program are.

use arc_dsl::{Dialect, Operand, Program, ProgramBuilder, Slot, Step, Value};

use crate::error::Unfilled;
use crate::module::lowering::Parsed;
use crate::tokens::told;
use crate::tree::ParameterKind;

/// The program that a function is: its inputs are those of its parameters that a program gets, the others have their
/// defaults. Otherwise the parameter that nothing fills, if there are any.
pub(super) fn of_inputs(parsed: &Parsed, dialect: Dialect) -> Result<Program, Option<Unfilled>> {
    let program = &parsed.program;
    let is_by_name = |kind: &ParameterKind| *kind == ParameterKind::Keyword;
    if parsed.kinds.first().is_none_or(is_by_name) {
        return Err(None);
    }
    let names: Vec<_> = parsed.parameters.iter().map(String::as_str).collect();
    // The first parameter is the input, even if it has a default.
    let is_needed = |at: usize| at == 0 || parsed.defaults[at].is_none();
    let needed = (0..names.len()).filter(|&at| is_needed(at)).count();
    let is_typed = names.len() > 1 && names[..2] == ["S", "I"];
    let unfilled = |at: usize, is_used: bool| {
        Some(Unfilled {
            name: told(names[at]),
            is_used,
        })
    };
    // Which input of the program each of the first parameters is.
    let (inputs, filled): (&[&str], Vec<Option<usize>>) = match dialect {
        // Without them, such a function is a program of the public dialect.
        Dialect::Public if is_typed => {
            let count = if names.get(2) == Some(&"C") { 3 } else { 2 };
            if let Some(at) = (0..count).find(|&at| at != 1 && reads(program, at)) {
                return Err(unfilled(at, true));
            }
            (&["I"], [None, Some(0), None][..count].to_vec())
        }
        Dialect::Typed if is_typed || needed == 3 => {
            let has_third = |name: &&str| *name == "C" || parsed.defaults[2].is_none();
            let count = if names.get(2).is_some_and(has_third) {
                3
            } else {
                2
            };
            let is_other = |&at: &usize| {
                let own = dialect
                    .parameters()
                    .iter()
                    .position(|name| *name == names[at]);
                own.is_some_and(|own| own != at)
            };
            if let Some(at) = (0..count).find(is_other) {
                return Err(unfilled(at, false));
            }
            (dialect.parameters(), (0..count).map(Some).collect())
        }
        _ => (&names[..1], vec![Some(0)]),
    };
    if let Some(at) = (filled.len()..names.len()).find(|&at| parsed.defaults[at].is_none()) {
        return Err(unfilled(at, false));
    }
    if filled.len() == program.inputs().len() && inputs.len() == filled.len() {
        return Ok(program.clone());
    }
    with_inputs(parsed, dialect, inputs, &filled).ok_or(None)
}

/// Whether a program reads its input at this index.
fn reads(program: &Program, input: usize) -> bool {
    let slot = Slot::at(input);
    let mut read = program.steps().iter().flat_map(Step::reads);
    read.any(|other| other == slot) || program.output().slot() == Some(slot)
}

/// The function as a program with these inputs; `filled` has, for each of the first parameters, which of the inputs it
/// is, or `None` if it is not read.
fn with_inputs(
    parsed: &Parsed,
    dialect: Dialect,
    inputs: &[&str],
    filled: &[Option<usize>],
) -> Option<Program> {
    let program = &parsed.program;
    let mut names: Vec<String> = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        let parameter = filled.iter().position(|it| *it == Some(at));
        // One that the function does not have gets a name that no variable bears.
        let mut name = (*input).to_owned();
        if let Some(parameter) = parameter {
            name.clone_from(&program.inputs()[parameter]);
        } else {
            while program.variables().contains(&name) {
                name.push('_');
            }
        }
        names.push(name);
    }
    let mut builder =
        ProgramBuilder::in_dialect(dialect, program.name(), names.clone(), program.line());
    let slots = names.iter().map(|name| builder.variable(name));
    let slots: Vec<_> = slots.collect::<Option<_>>()?;
    let given = filled.iter().map(|input| match input {
        Some(input) => Operand::Slot(slots[*input]),
        None => Operand::Literal(Value::Nothing),
    });
    let defaults = parsed.defaults.iter().skip(filled.len());
    let arguments: Vec<_> = given.chain(defaults.flatten().cloned()).collect();
    let output = taken_over(&mut builder, program, &arguments)?;
    builder.finish(output).ok()
}

/// Adds the steps of a program with their names and lines; returns its result.
pub(super) fn taken_over(
    builder: &mut ProgramBuilder,
    program: &Program,
    arguments: &[Operand],
) -> Option<Operand> {
    let mut steps = program.steps().iter();
    let output = builder.inline_with(program, arguments, |builder, callee, given| {
        let step = steps.next();
        let name = step.map(|step| program.variables()[step.target.index()].clone());
        let line = step.map_or(0, |step| step.line);
        builder.step(line, name.unwrap_or_default(), callee, given.into())
    });
    output.ok()
}
