//! The programs of a text, statement by statement.

use std::collections::HashMap;

use crate::dialect::Dialect;
use crate::primitives::Primitive;
use crate::program::{BuildError, Callee, Operand, Program, ProgramBuilder};
use crate::text::error::ParseErrorKind;
use crate::text::expression::Expression;
use crate::text::lexer::{Kind, Token};
use crate::text::names;
use crate::text::parser::{Parser, Scope};
use crate::text::tokens::{Result, told};
use crate::typed::TypedPrimitive;

/// The most inputs of a function.
const MOST_INPUTS: usize = 4;

impl<'t> Parser<'_, 't> {
    /// A top-level statement: a program, or something without effect.
    ///
    /// `lines` holds the names of the programs above and the lines that they stand on.
    pub(super) fn top_level(mut self, lines: &HashMap<String, u32>) -> Result<Option<Program>> {
        let top_level = |found: String| ParseErrorKind::TopLevel { found };
        let indented = || top_level("an indented line".to_owned());
        if !self.tokens.bump().text.is_empty() {
            return Err(self.tokens.blame(indented()));
        }
        if self.tokens.peek().is_name("def") {
            return self.program(lines).map(Some);
        }
        while !self.tokens.is_line_end() {
            if !self.ignored()? {
                return Err(self.tokens.blame(top_level(self.tokens.describe())));
            }
            self.end_of_statement()?;
        }
        self.tokens.bump();
        if self.tokens.peek().kind == Kind::Indent {
            self.tokens.bump();
            return Err(self.tokens.blame(indented()));
        }
        Ok(None)
    }

    fn program(mut self, lines: &HashMap<String, u32>) -> Result<Program> {
        let def = self.tokens.bump();
        let name = self.tokens.name("the name of the program")?;
        let inputs = self.parameters()?;
        if self.tokens.accept("->") {
            self.skip_annotation(&[":"])?;
        }
        self.tokens.expect(":", "`:`")?;
        if let Some(&first) = lines.get(name.text) {
            let kind = ParseErrorKind::DuplicateProgram {
                name: told(name.text),
                first,
            };
            return Err(self.tokens.error(name, kind));
        }
        let builder = ProgramBuilder::in_dialect(self.dialect, name.text, inputs, def.line);
        self.scope = Some(Scope::new(builder));
        self.tokens.in_body = true;
        let output = self.body()?;
        match (output, self.scope.take()) {
            (Some(output), Some(scope)) => scope
                .builder
                .finish(output)
                .map_err(|error| self.tokens.error(def, error.into())),
            _ => Err(self.tokens.error(
                def,
                ParseErrorKind::NoReturn {
                    name: told(name.text),
                },
            )),
        }
    }

    /// The parameters in their parentheses, which tell the dialect where none was chosen; annotations
    /// are passed over.
    fn parameters(&mut self) -> Result<Vec<String>> {
        let open = self.tokens.peek();
        self.tokens.expect("(", "`(`")?;
        let mut inputs = Vec::new();
        while !self.tokens.accept(")") {
            let name = self.tokens.name("the name of the parameter")?;
            inputs.push(name);
            if self.tokens.accept(":") {
                self.skip_annotation(&[",", ")", "="])?;
            }
            if !self.tokens.accept(",") && !self.tokens.peek().is(")") {
                return Err(self.tokens.unexpected("`)`"));
            }
        }
        let found = inputs.len();
        if inputs.first().is_some_and(|input| input.text == "task_id") {
            return Err(self.tokens.error(open, ParseErrorKind::Batt));
        }
        if !self.chosen && found == Dialect::Typed.parameters().len() {
            self.dialect = Dialect::Typed;
        }
        let is_possible = match self.functions {
            Some(_) => (1..=MOST_INPUTS).contains(&found),
            None => found == 1 || found == self.dialect.parameters().len(),
        };
        if !is_possible {
            let dialect = self.chosen.then_some(self.dialect);
            let kind = match self.functions {
                Some(_) => ParseErrorKind::Expected {
                    expected: "1 to 4 parameters",
                    found: found.to_string(),
                },
                None => ParseErrorKind::ParameterCount { dialect, found },
            };
            return Err(self.tokens.error(open, kind));
        }
        for (at, input) in inputs.iter().enumerate() {
            self.check_free(*input)?;
            if inputs[..at].iter().any(|other| other.text == input.text) {
                let kind = BuildError::Reassigned(told(input.text)).into();
                return Err(self.tokens.error(*input, kind));
            }
        }
        Ok(inputs.iter().map(|input| input.text.to_owned()).collect())
    }

    /// Passes over an annotation: to one of these symbols outside its brackets.
    fn skip_annotation(&mut self, ends: &[&str]) -> Result<()> {
        let mut depth = 0usize;
        loop {
            let token = self.tokens.peek();
            match token.text {
                _ if matches!(token.kind, Kind::Newline | Kind::End | Kind::OpenText) => {
                    return Err(self.tokens.unexpected("the end of the annotation"));
                }
                _ if token.kind != Kind::Symbol => {}
                symbol if depth == 0 && ends.contains(&symbol) => return Ok(()),
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.tokens.bump();
        }
    }

    /// What stands after the first line's colon; gives the output where there is a `return`.
    fn body(&mut self) -> Result<Option<Operand>> {
        let mut output = None;
        let mut expected = None;
        if self.tokens.peek().kind == Kind::Newline {
            self.tokens.bump();
            if self.tokens.peek().kind != Kind::Indent {
                return Err(self
                    .tokens
                    .unexpected("an indented line with a call or a `return`"));
            }
            expected = Some(self.tokens.peek().text);
        } else {
            self.statements(&mut output)?;
        }
        while self.tokens.peek().kind == Kind::Indent {
            let Some(expected) = expected else {
                return Err(self.tokens.unexpected("the end of the program"));
            };
            let found = self.tokens.bump().text;
            if found != expected {
                let (expected, found) = (indentation(expected), indentation(found));
                return Err(self
                    .tokens
                    .blame(ParseErrorKind::Indentation { expected, found }));
            }
            self.statements(&mut output)?;
        }
        Ok(output)
    }

    /// The statements of a line.
    fn statements(&mut self, output: &mut Option<Operand>) -> Result<()> {
        while !self.tokens.is_line_end() {
            if !self.ignored()? {
                self.statement(output)?;
            }
            self.end_of_statement()?;
        }
        self.tokens.bump();
        Ok(())
    }

    /// A semicolon, or the end of the line, which is left to be read.
    pub(super) fn end_of_statement(&mut self) -> Result<()> {
        if self.tokens.accept(";") || self.tokens.is_line_end() {
            return Ok(());
        }
        Err(self.tokens.unexpected("the end of the line"))
    }

    /// Passes over a statement without effect (import, documentation), if it is one.
    pub(super) fn ignored(&mut self) -> Result<bool> {
        let first = self.tokens.peek();
        if first.kind == Kind::Text {
            while self.tokens.peek().kind == Kind::Text {
                self.tokens.bump();
            }
            return Ok(true);
        }
        if !first.is_name("import") && !first.is_name("from") {
            return Ok(false);
        }
        while self.tokens.peek().kind != Kind::Newline && !self.tokens.peek().is(";") {
            if matches!(self.tokens.peek().kind, Kind::End | Kind::OpenText) {
                return Err(self.tokens.unexpected("the end of the import"));
            }
            self.tokens.bump();
        }
        Ok(true)
    }

    /// A statement that has an effect.
    pub(super) fn statement(&mut self, output: &mut Option<Operand>) -> Result<()> {
        let first = self.tokens.peek();
        if output.is_some() {
            return Err(self.tokens.blame(ParseErrorKind::AfterReturn {
                found: self.tokens.describe(),
            }));
        }
        if first.is_name("return") {
            self.tokens.bump();
            *output = Some(self.argument(0)?);
            return Ok(());
        }
        if first.kind != Kind::Name || names::is_keyword(first.text) {
            return Err(self
                .tokens
                .unexpected("`name = primitive(arguments)` or `return value`"));
        }
        let target = self.tokens.bump();
        if self.tokens.accept(":") {
            self.skip_annotation(&["="])?;
        }
        self.tokens
            .expect("=", "`=` after the name of a variable")?;
        self.check_free(target)?;
        let token = self.tokens.peek();
        let (callee, arguments, token) = match self.expression(0)? {
            Expression::Call {
                callee,
                arguments,
                token,
            } => (callee, arguments, token),
            // What a function returns needs no step to have a name.
            Expression::Operand(Operand::Slot(slot)) if self.functions.is_some() => {
                if let Some(scope) = &mut self.scope {
                    scope.builder.alias(target.text, slot);
                }
                return Ok(());
            }
            Expression::Operand(operand) => (self.identity(), [operand].into(), token),
        };
        self.step(token, target.text.to_owned(), callee, arguments)?;
        Ok(())
    }

    /// What is called to give a value a name.
    pub(super) fn identity(&self) -> Callee {
        match self.dialect {
            Dialect::Public => Primitive::Identity.into(),
            Dialect::Typed => TypedPrimitive::Identity.into(),
        }
    }

    /// That no variable, and nothing in the language, has this name.
    pub(super) fn check_free(&self, token: Token<'t>) -> Result<()> {
        if let Some(owner) = names::owner(self.dialect, token.text) {
            let kind = ParseErrorKind::NameTaken {
                name: told(token.text),
                owner,
            };
            return Err(self.tokens.error(token, kind));
        }
        match self
            .scope
            .as_ref()
            .and_then(|scope| scope.builder.variable(token.text))
        {
            Some(_) => Err(self
                .tokens
                .error(token, BuildError::Reassigned(told(token.text)).into())),
            None => Ok(()),
        }
    }
}

/// Whitespace in words.
pub(super) fn indentation(space: &str) -> String {
    let tabs = space.bytes().filter(|&byte| byte == b'\t').count();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let spaces = space.len() - tabs;
    match (tabs, spaces) {
        (0, 0) => "nothing".to_owned(),
        (0, _) => format!("{spaces} space{}", plural(spaces)),
        (_, 0) => format!("{tabs} tab{}", plural(tabs)),
        _ => format!(
            "{tabs} tab{} and {spaces} space{}",
            plural(tabs),
            plural(spaces)
        ),
    }
}
