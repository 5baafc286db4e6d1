//! Programs defined by assignment: `solve_a = compose(vmirror, hmirror)`.

use std::rc::Rc;

use arc_dsl::{Callee, Dialect, Operand, Program, ProgramBuilder};
use arc_isa::Type;

use crate::error::ParseError;
use crate::globals::Binding;
use crate::lexer::{Token, TokenKind};
use crate::module::inlining::bound_beside;
use crate::module::inputs::taken_over;
use crate::module::listing::says_program;
use crate::module::lowering::Parsed;
use crate::module::{Module, ParseState};
use crate::names;
use crate::tokens::error_at;

impl Module<'_> {
    /// Programs defined by assignment, such as `solve_a = compose(vmirror, hmirror)`, if their name is that of a
    /// program.
    pub(super) fn values(&mut self) -> Vec<(usize, Result<Program, ParseError>)> {
        let mut found = Vec::new();
        if self.lists_all || self.dialect() != Dialect::Public {
            return found;
        }
        let all = self.globals.all().into_iter();
        let named = all.filter(|(name, ..)| says_program(name));
        let mut set: Vec<_> = named
            .map(|(name, line, binding)| (name.to_owned(), line, binding))
            .collect();
        let by_id = std::mem::take(&mut self.set).into_iter();
        set.extend(by_id.map(|(id, line, binding)| (format!("solve_{id}"), line, binding)));
        for (name, line, binding) in set {
            let (start, value) = match binding {
                Binding::Dsl(of_dsl) => {
                    let known = names::known(Dialect::Public, self.ours(of_dsl));
                    (start_of_line(self.text, line), known.cloned().map(Ok))
                }
                Binding::Function(at) if self.functions[at].is_value() => {
                    self.read_function(at, Dialect::Public);
                    let value = match self.state(at, Dialect::Public) {
                        ParseState::Read(Ok(parsed)) => Some(Err(Rc::clone(parsed))),
                        _ => None,
                    };
                    (self.functions[at].token.start, value)
                }
                Binding::Beside(file, of_line) => {
                    let start = start_of_line(self.text, line);
                    let token = Token {
                        kind: TokenKind::Name,
                        text: &name,
                        line,
                        start,
                    };
                    let kind = bound_beside(token, &file, of_line);
                    let error = error_at(self.text, token, kind);
                    found.push((start, Err(error)));
                    continue;
                }
                _ => continue,
            };
            if let Some(program) = value.and_then(|value| applied(&name, line, value)) {
                found.push((start, Ok(program)));
            }
        }
        found
    }
}

/// Where a line begins.
fn start_of_line(text: &str, line: u32) -> usize {
    let mut lines = text.split_inclusive('\n');
    let before = lines.by_ref().take(line as usize - 1);
    before.map(str::len).sum()
}

/// The program that calls a function of the DSL, or one that steps create, with its input; `None` if it is no function.
fn applied(name: &str, line: u32, value: Result<Operand, Rc<Parsed>>) -> Option<Program> {
    let mut builder = ProgramBuilder::with_input(name, "I", line);
    let input = Operand::Slot(builder.variable("I")?);
    let function = match value {
        Ok(operand) => operand,
        Err(parsed) => {
            let program = &parsed.program;
            let is_function = match program.output() {
                Operand::Slot(slot) => {
                    let mut steps = program.steps().iter();
                    let step = steps.find(|step| step.target == *slot)?;
                    matches!(step.callee, Callee::Primitive(it) if it.returns() == Type::Callable)
                }
                operand => matches!(operand, Operand::Primitive(_)),
            };
            if !is_function {
                return None;
            }
            taken_over(&mut builder, program, &[])?
        }
    };
    let output = builder.step(line, "O".to_owned(), function.callee()?, [input].into());
    builder.finish(output.ok()?).ok()
}
