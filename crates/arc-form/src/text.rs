//! A form as text.

use std::fmt;

use super::plan::{Plan, Shown};
use super::{Form, Instruction, Op, Operand, Region};
use arc_dsl::{ErrorKind, Value, write_list};

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_form(f, self, None)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_form(f, self.form, Some(self.plan))
    }
}

fn write_form(f: &mut fmt::Formatter<'_>, form: &Form, plan: Option<&Plan>) -> fmt::Result {
    write!(f, "form {}(", form.name)?;
    write_parameters(f, &form.body)?;
    f.write_str("):\n")?;
    write_region(f, &form.body, plan, 1, "return")
}

fn write_parameters(f: &mut fmt::Formatter<'_>, region: &Region) -> fmt::Result {
    let parameters = region.parameters.iter();
    write_list(f, parameters.map(|(id, ty)| format!("v{}: {ty}", id.0)))
}

fn write_region(
    f: &mut fmt::Formatter<'_>,
    region: &Region,
    plan: Option<&Plan>,
    depth: usize,
    gives: &str,
) -> fmt::Result {
    for instruction in &region.instructions {
        write_instruction(f, instruction, plan, depth)?;
    }
    writeln!(f, "{:1$}{gives} {2}", "", 2 * depth, region.result)
}

fn write_instruction(
    f: &mut fmt::Formatter<'_>,
    instruction: &Instruction,
    plan: Option<&Plan>,
    depth: usize,
) -> fmt::Result {
    let mark = if instruction.checked { "!" } else { "" };
    let Instruction { id, ty, op, .. } = instruction;
    write!(f, "{:1$}v{2}: {ty}{mark} = {op}(", "", 2 * depth, id.0)?;
    match instruction.op {
        Op::Fail(_, error) => write_error(f, error)?,
        _ => write_list(f, instruction.arguments.iter())?,
    }
    write!(f, ") @{}", instruction.line)?;
    if let Some(plan) = plan {
        plan.note(f, instruction.id)?;
    }
    for region in &instruction.regions {
        f.write_str(" {")?;
        if !region.parameters.is_empty() {
            write_parameters(f, region)?;
            f.write_str(" ->")?;
        }
        f.write_str("\n")?;
        write_region(f, region, plan, depth + 1, "yield")?;
        write!(f, "{:1$}}}", "", 2 * depth)?;
    }
    f.write_str("\n")
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Id(id) => write!(f, "v{}", id.0),
            // Without the prefix, the rows would read as a tuple, which has another type.
            Operand::Constant(Value::Grid(grid)) => write!(f, "grid{grid}"),
            Operand::Constant(value) => value.fmt(f),
        }
    }
}

/// The name in front of the parentheses.
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Call(primitive) => primitive.fmt(f),
            Op::Tuple => f.write_str("tuple"),
            Op::Set => f.write_str("set"),
            Op::Item(at) => write!(f, "item.{at}"),
            Op::If => f.write_str("if"),
            Op::Choose => f.write_str("choose"),
            Op::Count => f.write_str("count"),
            Op::Iterate => f.write_str("iterate"),
            Op::Fused(fused) => f.write_str(fused.name()),
            Op::Absent => f.write_str("absent"),
            Op::Fail(None, _) => f.write_str("fail"),
            Op::Fail(Some(primitive), _) => write!(f, "fail.{primitive}"),
        }
    }
}

/// The words of it, as the parser reads them.
/// Writes an error as its words, which the text of a form has.
fn write_error(f: &mut fmt::Formatter<'_>, error: ErrorKind) -> fmt::Result {
    match error {
        ErrorKind::Type {
            argument,
            expected,
            found,
        } => write!(f, "Type {argument} {expected} {found:?}"),
        ErrorKind::NotCallable { found } => write!(f, "NotCallable {found:?}"),
        ErrorKind::ArgumentCount { expected, found } => {
            write!(f, "ArgumentCount {expected} {found}")
        }
        ErrorKind::Recursion(n) => write!(f, "Recursion {n}"),
        other => write!(f, "{other:?}"),
    }
}
