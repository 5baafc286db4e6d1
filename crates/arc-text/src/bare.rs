//! Programs without a `def` line: bare statements, the last of which sets `O` or is a `return`.
//!
//! ```text
//! x1 = objects(I, T, F, T)
//! x2 = argmax(x1, size)
//! O = subgrid(x2, I)
//! ```

use std::collections::HashSet;

use arc_dsl::{Operand, Program, ProgramBuilder};

use crate::error::ParseErrorKind;
use crate::lexer::{Token, TokenKind};
use crate::module::lowering::{Lowering, Scope};
use crate::tokens::{Result, Tokens};
use crate::tree::{Statement, StatementKind, names_set, names_used};

/// The variable that ends a program, unless the following lines use variables that the program has set.
const OUTPUT: &str = "O";

impl<'t> Tokens<'_, 't> {
    /// Parses bare lines into statements, up to the first one that is wrong, before which it stops.
    fn bare_lines(&mut self, statements: &mut Vec<Statement<'t>>) -> Result<()> {
        self.in_body = true;
        while self.peek().kind == TokenKind::Indent {
            let start = self.place();
            let indent = self.bump().text;
            let found = if indent.is_empty() {
                self.bare_line(statements)
            } else {
                Err(self.indentation("", indent))
            };
            if found.is_err() {
                self.go_to(start);
                return found;
            }
            self.bump();
        }
        Ok(())
    }

    fn bare_line(&mut self, statements: &mut Vec<Statement<'t>>) -> Result<()> {
        while !self.is_line_end() {
            let mut statement = Vec::new();
            self.statement(&mut statement)?;
            // An incomplete statement does not make a program.
            self.end_of_statement()?;
            statements.append(&mut statement);
        }
        Ok(())
    }
}

impl<'t> Lowering<'_, 't> {
    /// Lowers these lines, which are the whole text, to programs, up to the first error. The k-th program, counted from
    /// 1, gets the name `name(k)`.
    pub(super) fn bare(
        mut self,
        mut lines: Tokens<'_, 't>,
        name: impl Fn(usize) -> String,
    ) -> Vec<Result<Program>> {
        let (mut statements, mut set) = (Vec::new(), Vec::new());
        let error = lines.bare_lines(&mut statements).err();
        let unread = &self.tokens[lines.place()..];
        names_set(&statements, &mut |name| set.push(name));
        let mut programs = Vec::new();
        for (at, statement) in statements.iter().enumerate() {
            let has_no_effect = matches!(
                statement.kind,
                StatementKind::Import(_) | StatementKind::Print(_)
            );
            if !has_no_effect && self.scope.is_none() {
                let (name, line) = (name(programs.len() + 1), statement.token.line);
                let mut scope = Scope::new(ProgramBuilder::with_input(name, "I", line));
                scope.sets_names(&set);
                self.scope = Some(scope);
            }
            match self.bare_statement(statement, &statements[at + 1..], unread) {
                Ok(program) => programs.extend(program.map(Ok)),
                Err(error) => {
                    programs.push(Err(error));
                    return programs;
                }
            }
        }
        if let Some(error) = error {
            programs.push(Err(error));
        } else if let Some(scope) = self.scope.take() {
            let line = scope.builder.line();
            programs.push(match scope.builder.variable(OUTPUT) {
                Some(output) => self.finished(statements.last(), scope, Operand::Slot(output)),
                None => Err(lines.blame(ParseErrorKind::NoOutput { line })),
            });
        }
        programs
    }

    /// A statement; the program, if it ends here.
    fn bare_statement(
        &mut self,
        statement: &Statement<'t>,
        rest: &[Statement<'t>],
        unread: &[Token<'t>],
    ) -> Result<Option<Program>> {
        let set = |lowering: &Self| lowering.scope.as_ref()?.builder.variable(OUTPUT);
        let before = set(self);
        let mut returned = None;
        self.statement(statement, &mut returned)?;
        let output = set(self);
        let ends = output.is_some() && output != before && !self.goes_on(rest, unread);
        let output = output.filter(|_| ends).map(Operand::Slot);
        match (returned.or(output), self.scope.take()) {
            (Some(output), Some(scope)) => self.finished(Some(statement), scope, output).map(Some),
            (_, scope) => {
                self.scope = scope;
                Ok(None)
            }
        }
    }

    fn finished(
        &self,
        last: Option<&Statement<'t>>,
        scope: Scope<'t>,
        output: Operand,
    ) -> Result<Program> {
        let finished = scope.builder.finish(output);
        let token = last.map_or_else(|| self.tokens[0], |last| last.token);
        finished.map_err(|error| self.error(token, error.into()))
    }

    /// Whether the following statements, up to where `O` is set again, use variables that the program has set: in
    /// Python they belong to it. What cannot be read may use whatever occurs in it.
    fn goes_on(&self, rest: &[Statement<'t>], unread: &[Token<'t>]) -> bool {
        let Some(scope) = &self.scope else {
            return false;
        };
        let mut set_again = HashSet::new();
        let is_taken = |name: &str, set_again: &HashSet<&str>| {
            name != "I" && !set_again.contains(name) && scope.builder.variable(name).is_some()
        };
        for statement in rest.chunks(1) {
            let mut goes_on = false;
            names_used(statement, &mut |name| {
                goes_on |= is_taken(name.text, &set_again);
            });
            if goes_on {
                return true;
            }
            names_set(statement, &mut |name| {
                set_again.insert(name.text);
            });
            if set_again.contains(OUTPUT) {
                return false;
            }
        }
        let mut unread = unread.windows(2);
        unread.any(|it| !it[1].is("=") && is_taken(it[0].text, &set_again))
    }
}
