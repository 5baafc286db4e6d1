//! [`Parser`]: a block that is being read, and the program that is being made of it.

use std::collections::{HashMap, HashSet};

use crate::dialect::Dialect;
use crate::program::{Callee, Operand, Program, ProgramBuilder};
use crate::text::error::ParseErrorKind;
use crate::text::lexer::{Block, Token};
use crate::text::tokens::{Result, Tokens};

/// Reads one [`Block`].
pub(super) struct Parser<'b, 't> {
    pub(super) tokens: Tokens<'b, 't>,
    /// The dialect that names are of; of a program that says so itself, the one that it says.
    pub(super) dialect: Dialect,
    /// Whether the dialect was chosen, rather than to be recognised.
    pub(super) chosen: bool,
    /// The program whose body is read; nothing in its first line, and where a literal is read.
    pub(super) scope: Option<Scope<'t>>,
    /// Where functions are read: those that may be called.
    pub(super) functions: Option<&'b HashMap<String, Program>>,
}

/// A program half read.
pub(super) struct Scope<'t> {
    pub(super) builder: ProgramBuilder,
    /// Names in the program's text that a generated one must differ from; gathered when the first
    /// one is needed.
    avoided: Option<HashSet<&'t str>>,
    /// The number of the last generated name.
    generated: u32,
}

impl Scope<'_> {
    /// A program of which nothing has been read but its first line.
    pub(super) fn new(builder: ProgramBuilder) -> Self {
        Self {
            builder,
            avoided: None,
            generated: 0,
        }
    }
}

impl<'b, 't> Parser<'b, 't> {
    /// A parser of the dialect that was chosen, or of the one that the text is found to be in.
    pub(super) fn new(text: &'t str, block: &'b Block<'t>, dialect: Option<Dialect>) -> Self {
        Self {
            tokens: Tokens::new(text, block),
            dialect: dialect.unwrap_or_default(),
            chosen: dialect.is_some(),
            scope: None,
            functions: None,
        }
    }

    /// Adds a step to the program.
    pub(super) fn step(
        &mut self,
        token: Token<'t>,
        name: String,
        callee: Callee,
        arguments: Box<[Operand]>,
    ) -> Result<Operand> {
        match &mut self.scope {
            Some(scope) => scope
                .builder
                .step(token.line, name, callee, arguments)
                .map_err(|error| self.tokens.error(token, error.into())),
            None => Err(self.tokens.error(token, ParseErrorKind::NotLiteral)),
        }
    }

    /// A name that the program's text does not contain.
    pub(super) fn generate_name(&mut self) -> String {
        let Some(scope) = &mut self.scope else {
            return String::new();
        };
        let avoided = scope.avoided.get_or_insert_with(|| {
            let tokens = self.tokens.all().iter();
            tokens
                .map(|token| token.text)
                .filter(|text| text.starts_with('t'))
                .collect()
        });
        loop {
            scope.generated += 1;
            let name = format!("t{}", scope.generated);
            if !avoided.contains(name.as_str()) {
                return name;
            }
        }
    }
}
