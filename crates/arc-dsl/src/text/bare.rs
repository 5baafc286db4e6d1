//! Programs without a `def` line: bare statements, the last of which sets `O` or is a `return`.
//!
//! ```text
//! x1 = objects(I, T, F, T)
//! x2 = argmax(x1, size)
//! O = subgrid(x2, I)
//! ```

use std::collections::HashSet;

use crate::program::{Operand, Program, ProgramBuilder};
use crate::text::error::ParseErrorKind;
use crate::text::lexer::{Token, TokenKind};
use crate::text::module::parser::{Parser, Scope};
use crate::text::statements::indentation;
use crate::text::tokens::Result;

/// The variable that ends a program, unless the following lines use variables that the program has set.
const OUTPUT: &str = "O";

impl Parser<'_, '_> {
    /// Parses the block, which holds the whole text, into programs, up to the first error. The k-th program, counted
    /// from 1, gets the name `name(k)`.
    pub(super) fn bare(mut self, name: impl Fn(usize) -> String) -> Vec<Result<Program>> {
        let mut programs = Vec::new();
        self.tokens.in_body = true;
        while self.tokens.peek().kind == TokenKind::Indent {
            let line = self.bare_line(&mut programs, &name);
            if let Err(error) = line {
                programs.push(Err(error));
                return programs;
            }
        }
        if let Some(scope) = self.scope.take() {
            let line = scope.builder.line();
            let program = match scope.builder.variable(OUTPUT) {
                Some(output) => self.finished(scope, Operand::Slot(output)),
                None => Err(self.tokens.blame(ParseErrorKind::NoOutput { line })),
            };
            programs.push(program);
        }
        programs
    }

    fn bare_line(
        &mut self,
        programs: &mut Vec<Result<Program>>,
        name: impl Fn(usize) -> String,
    ) -> Result<()> {
        let indent = self.tokens.bump();
        if !indent.text.is_empty() {
            let (expected, found) = (indentation(""), indentation(indent.text));
            let kind = ParseErrorKind::Indentation { expected, found };
            return Err(self.tokens.blame(kind));
        }
        while !self.tokens.is_line_end() {
            if !self.ignored()? {
                let line = self.tokens.peek().line;
                let names = &name;
                self.scope.get_or_insert_with(|| {
                    let name = names(programs.len() + 1);
                    Scope::new(ProgramBuilder::with_input(name, "I", line))
                });
                let set = |parser: &Self| parser.scope.as_ref()?.builder.variable(OUTPUT);
                let before = set(self);
                let mut returned = None;
                self.statement(&mut returned)?;
                let output = set(self);
                let ends = output.is_some() && output != before && !self.goes_on();
                let output = output.filter(|_| ends).map(Operand::Slot);
                // An incomplete statement does not make a program.
                self.end_of_statement()?;
                if let Some(output) = returned.or(output)
                    && let Some(scope) = self.scope.take()
                {
                    programs.push(Ok(self.finished(scope, output)?));
                }
                continue;
            }
            self.end_of_statement()?;
        }
        self.tokens.bump();
        Ok(())
    }

    fn finished(&self, scope: Scope<'_>, output: Operand) -> Result<Program> {
        let finished = scope.builder.finish(output);
        finished.map_err(|error| self.tokens.error(self.tokens.peek(), error.into()))
    }

    /// Whether the following lines, up to where `O` is set again, use variables that the program has set: in Python
    /// they belong to it.
    fn goes_on(&self) -> bool {
        let Some(scope) = &self.scope else {
            return false;
        };
        let rest = &self.tokens.all()[self.tokens.place()..];
        let mut set_again = HashSet::new();
        for statement in rest.split(Token::ends_statement) {
            let equal = statement.iter().position(|token| token.is("="));
            let (targets, value) = statement.split_at(equal.unwrap_or(0));
            let is_name = |token: &&Token<'_>| token.kind == TokenKind::Name;
            let is_taken = |token: &Token<'_>| {
                token.text != "I"
                    && !set_again.contains(token.text)
                    && scope.builder.variable(token.text).is_some()
            };
            if value.iter().filter(is_name).any(is_taken) {
                return true;
            }
            set_again.extend(targets.iter().filter(is_name).map(|token| token.text));
            if set_again.contains(OUTPUT) {
                return false;
            }
        }
        false
    }
}
