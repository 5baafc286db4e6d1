//! [`Parser`]: a block that is being read, and the program that is built from it.

use std::collections::{HashMap, HashSet};

use crate::dialect::Dialect;
use crate::program::{Callee, Operand, ProgramBuilder};
use crate::text::error::ParseErrorKind;
use crate::text::globals::{Binding, LATE};
use crate::text::lexer::{Block, Token};
use crate::text::module::Module;
use crate::text::tokens::{Result, Tokens};

/// Reads one [`Block`].
pub(in crate::text) struct Parser<'b, 't> {
    pub(in crate::text) tokens: Tokens<'b, 't>,
    /// The dialect that names are of.
    pub(in crate::text) dialect: Dialect,
    /// The program whose body is read; `None` in its first line, and for a literal.
    pub(in crate::text) scope: Option<Scope<'t>>,
    /// The text around the block; `None` if there is none.
    pub(in crate::text) module: Option<&'b Module<'t>>,
    /// When names are looked up that the text around the block binds.
    pub(in crate::text) at: u32,
    /// When the function that is read is defined.
    pub(in crate::text) defined: u32,
    /// A function that has to be read before this block can be.
    pub(in crate::text) needs: Option<usize>,
}

/// A program half read.
pub(in crate::text) struct Scope<'t> {
    pub(in crate::text) builder: ProgramBuilder,
    /// What the program imports under a name.
    pub(in crate::text) imported: HashMap<&'t str, Binding<'t>>,
    /// Names in the program's text that a generated one must differ from; gathered when the first
    /// one is needed.
    avoided: Option<HashSet<&'t str>>,
    /// The number of the last generated name.
    generated: u32,
}

impl Scope<'_> {
    /// A program of which nothing has been read but its first line.
    pub(in crate::text) fn new(builder: ProgramBuilder) -> Self {
        Self {
            builder,
            imported: HashMap::new(),
            avoided: None,
            generated: 0,
        }
    }
}

impl<'b, 't> Parser<'b, 't> {
    /// A parser of text that stands alone, of this dialect.
    pub(in crate::text) fn new(text: &'t str, block: &'b Block<'t>, dialect: Dialect) -> Self {
        Self {
            tokens: Tokens::new(text, block),
            dialect,
            scope: None,
            module: None,
            at: LATE,
            defined: LATE,
            needs: None,
        }
    }

    /// A parser of a block of a text.
    pub(in crate::text) fn within(
        module: &'b Module<'t>,
        block: &'b Block<'t>,
        dialect: Dialect,
    ) -> Self {
        Self {
            module: Some(module),
            ..Self::new(module.text, block, dialect)
        }
    }

    /// Adds a step to the program.
    pub(in crate::text) fn step(
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
    pub(in crate::text) fn generate_name(&mut self) -> String {
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
            if !avoided.contains(name.as_str()) && scope.builder.variable(&name).is_none() {
                return name;
            }
        }
    }
}
