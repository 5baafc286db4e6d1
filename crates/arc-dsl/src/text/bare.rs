//! Programs without a first line: bare statements of which the last one sets `O`.
//!
//! ```text
//! x1 = objects(I, T, F, T)
//! x2 = argmax(x1, size)
//! O = subgrid(x2, I)
//! ```

use crate::program::{BuildError, Operand, Program, ProgramBuilder};
use crate::text::error::ParseErrorKind;
use crate::text::lexer::TokenKind;
use crate::text::module::parser::{Parser, Scope};
use crate::text::statements::indentation;
use crate::text::tokens::Result;

/// The variable that ends a program.
const OUTPUT: &str = "O";

impl Parser<'_, '_> {
    /// The programs of a block that has the whole text, up to the first error. The k-th one from 1 on
    /// bears the name that is given for k.
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
            let kind = ParseErrorKind::NoOutput { line };
            programs.push(Err(self.tokens.blame(kind)));
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
                let first = self.tokens.peek();
                if first.is_name("return") {
                    return Err(self.tokens.unexpected("`name = primitive(arguments)`"));
                }
                self.statement(&mut None)?;
                let is_done = |scope: &Scope<'_>| scope.builder.variable(OUTPUT);
                if let Some(output) = self.scope.as_ref().and_then(is_done)
                    && let Some(scope) = self.scope.take()
                {
                    let finished = scope.builder.finish(Operand::Slot(output));
                    let program = finished
                        .map_err(|error: BuildError| self.tokens.error(first, error.into()));
                    programs.push(Ok(program?));
                }
            }
            self.end_of_statement()?;
        }
        self.tokens.bump();
        Ok(())
    }
}
