//! Functions that a program defines within itself: `lambda`, and `def` below its first line.
//!
//! Such a function may use variables of the enclosing program, which become additional inputs after its parameters.
//! Python looks such a name up when the function is called, so a call passes the variable's current value. A function
//! value is created with the values at that point, so setting such a variable again is an error.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use crate::program::{Operand, Slot};
use crate::text::error::ParseErrorKind;
use crate::text::expression::Expression;
use crate::text::globals::Binding;
use crate::text::lexer::{Token, TokenKind};
use crate::text::module::parser::{LocalFunction, Parser};
use crate::text::names;
use crate::text::statements::Parameter;
use crate::text::tokens::{Result, told};
use crate::value::Value;

/// What a function uses of the enclosing scope.
#[derive(Debug, Default)]
struct Captures<'t> {
    captured: Vec<&'t str>,
    functions: HashMap<&'t str, LocalFunction<'t>>,
    imported: HashMap<&'t str, Binding<'t>>,
    /// Names that are not variables of the enclosing scope.
    others: Vec<&'t str>,
}

impl<'t> Parser<'_, 't> {
    /// `def name(parameters):` within a program, and its body.
    pub(super) fn local_definition(&mut self) -> Result<()> {
        let statement = self.tokens.place();
        self.deeper(self.indents.len() as u32)?;
        self.tokens.bump();
        let name = self.tokens.name("the name of the function")?;
        self.tokens.expect("(", "`(`")?;
        let parameters = self.parameters(")")?;
        if self.tokens.accept("->") {
            self.skip_annotation(&[":"])?;
        }
        self.tokens.expect(":", "`:`")?;
        let region = self.tokens.place()..self.end_of_body();
        let function = self.local(name, parameters, region, |parser| {
            let output = parser.body()?;
            output.ok_or_else(|| {
                let kind = ParseErrorKind::NoReturn {
                    name: told(name.text),
                };
                parser.tokens.error(name, kind)
            })
        })?;
        self.define(name, function, statement)
    }

    /// A variable set to `lambda parameters: value`.
    pub(super) fn local_lambda(&mut self, name: Token<'t>, statement: usize) -> Result<()> {
        let function = self.lambda_of(name, 0)?;
        self.define(name, function, statement)
    }

    /// `lambda parameters: value` as a value.
    pub(super) fn lambda_value(&mut self, depth: u32) -> Result<Expression<'t>> {
        let token = self.tokens.peek();
        let function = self.lambda_of(token, depth)?;
        self.freeze(&function.frozen);
        let value = self.value_of(token, &function)?;
        Ok(Expression::Inlined(value))
    }

    /// Parses a `lambda`, which errors refer to by `name`.
    fn lambda_of(&mut self, name: Token<'t>, depth: u32) -> Result<LocalFunction<'t>> {
        let inner = self.deeper(depth)?;
        self.tokens.bump();
        let parameters = self.parameters(":")?;
        let region = self.tokens.place()..self.end_of_expression(&[]);
        self.local(name, parameters, region, |parser| parser.argument(inner))
    }

    /// A use of a local function: a call, or the function as a value.
    pub(super) fn of_local(
        &mut self,
        function: &LocalFunction<'t>,
        depth: u32,
    ) -> Result<Expression<'t>> {
        let token = self.tokens.bump();
        self.freeze(&function.frozen);
        if !self.tokens.peek().is("(") {
            return Ok(Expression::Inlined(self.value_of(token, function)?));
        }
        let mut arguments = self.arguments_of(token, &function.parsed, depth)?;
        arguments.extend(self.captured_by(token, function)?);
        let operand = self.steps_of(token, &function.parsed.program, &arguments)?;
        Ok(Expression::Inlined(operand))
    }

    /// A function as a value; freezes the names that it captures.
    fn value_of(&mut self, token: Token<'t>, function: &LocalFunction<'t>) -> Result<Operand> {
        let captured = self.captured_by(token, function)?;
        if !self.is_only_called {
            self.freeze(&function.captured);
        }
        let parameters = function.parsed.parameters.len();
        let mut given = vec![None; parameters];
        given.extend(captured.into_iter().map(Some));
        self.as_value(token, &function.parsed, &given)
    }

    /// A function without needed parameters, as a function value: of the first input of the enclosing program if it
    /// captures that, otherwise of an ignored argument.
    pub(super) fn value_of_input(
        &mut self,
        token: Token<'t>,
        function: &LocalFunction<'t>,
    ) -> Result<Operand> {
        let captured = self.captured_by(token, function)?;
        let mut given: Vec<_> = captured.into_iter().map(Some).collect();
        let input = given
            .iter()
            .position(|it| *it == Some(Operand::Slot(Slot::INPUT)));
        match input {
            Some(at) => {
                given[at] = None;
                given.insert(0, Some(Value::Int(0).into()));
            }
            None => given.insert(0, None),
        }
        self.as_value(token, &function.parsed, &given)
    }

    /// The result of a function that does not depend on its arguments and needs no steps; `None` for any other
    /// function.
    pub(super) fn known_value(
        &self,
        token: Token<'t>,
        function: &LocalFunction<'t>,
    ) -> Result<Option<Operand>> {
        let program = &function.parsed.program;
        if !program.steps().is_empty() {
            return Ok(None);
        }
        let captured = self.captured_by(token, function)?;
        let parameters = function.parsed.parameters.len();
        Ok(match program.output() {
            Operand::Slot(slot) => captured.into_iter().nth(slot.index() - parameters),
            other => Some(other.clone()),
        })
    }

    /// Records that these names must not be set again.
    fn freeze(&mut self, names: &[&'t str]) {
        let line = self.tokens.peek().line;
        if let Some(scope) = &mut self.scope {
            for name in names {
                scope.frozen.entry(name).or_insert(line);
            }
        }
    }

    /// The current values of the variables that a function captures.
    fn captured_by(&self, token: Token<'t>, function: &LocalFunction<'t>) -> Result<Vec<Operand>> {
        let captured = function.captured.iter();
        let value = |name: &&'t str| {
            let slot = self.variable_around(name, function.is_around);
            slot.map(Operand::Slot).ok_or_else(|| {
                let kind = ParseErrorKind::Unusable {
                    name: told(token.text),
                    line: function.line,
                    why: format!("`{}`, which it uses, has another meaning here", told(name)),
                };
                self.tokens.error(token, kind)
            })
        };
        captured.map(value).collect()
    }

    /// The variable that a captured name refers to.
    fn variable_around(&self, name: &str, is_around: bool) -> Option<Slot> {
        let scope = self.scope.as_ref()?;
        let is_same = !is_around || scope.captured.contains(name);
        let slot = scope.builder.variable(name)?;
        (is_same && !scope.functions.contains_key(name)).then_some(slot)
    }

    /// Parses a function within the current one; its names are in this region of the tokens.
    pub(super) fn local(
        &mut self,
        name: Token<'t>,
        parameters: Vec<Parameter<'t>>,
        region: Range<usize>,
        read: impl FnOnce(&mut Self) -> Result<Operand>,
    ) -> Result<LocalFunction<'t>> {
        let around = self.captures_of(&parameters, region);
        self.freeze(&around.others);
        let integers = self.scope.as_mut().map(|scope| {
            let slots = around.captured.iter();
            let slots: Vec<_> = slots.map(|name| scope.builder.variable(name)).collect();
            let slots = slots.into_iter();
            slots
                .map(|slot| slot.is_some_and(|slot| scope.is_integer(slot)))
                .collect()
        });
        let integers: Vec<bool> = integers.unwrap_or_default();
        let outer = self.scope.take();
        self.begin(name.text, name.line, &parameters, &around.captured);
        if let Some(scope) = &mut self.scope {
            scope.captured = around.captured.iter().copied().collect();
            scope.functions = around.functions;
            scope.set_integers(parameters.len(), integers);
            scope.imported = around.imported;
        }
        let is_only_called = std::mem::replace(&mut self.is_only_called, false);
        let output = read(self)?;
        self.is_only_called = is_only_called;
        let frozen = self.scope.as_ref().map(|scope| {
            let frozen = scope.frozen.keys().copied();
            frozen
                .filter(|name| scope.captured.contains(name))
                .collect()
        });
        let parsed = self.finish(name, output, parameters)?;
        self.scope = outer;
        Ok(LocalFunction {
            line: name.line,
            parsed: Rc::new(parsed),
            captured: around.captured.into(),
            frozen: frozen.unwrap_or_default(),
            is_around: false,
        })
    }

    /// What a function with these parameters captures, judging by the names in its region.
    fn captures_of(&self, parameters: &[Parameter<'t>], region: Range<usize>) -> Captures<'t> {
        let mut around = Captures::default();
        let Some(scope) = &self.scope else {
            return around;
        };
        let tokens = self.tokens.all();
        let mut own: HashSet<&str> = parameters.iter().map(|it| it.token.text).collect();
        own.extend(names_set(&tokens[region.clone()]));
        let inner = inner_parameters(&tokens[region.clone()]);
        let mut seen = HashSet::new();
        let mut capture = |name: &'t str, captured: &mut Vec<&'t str>| {
            if !own.contains(name) && seen.insert(name) {
                captured.push(name);
            }
        };
        for at in region {
            let name = tokens[at].text;
            let is_attribute = at > 0 && tokens[at - 1].is(".");
            let is_name = tokens[at].kind == TokenKind::Name && !names::is_keyword(name);
            if !is_name || is_attribute || own.contains(name) {
                continue;
            }
            if let Some(binding) = scope.imported.get(name) {
                around.imported.insert(name, binding.clone());
            } else if let Some(function) = scope.functions.get(name) {
                for name in function.captured.iter() {
                    capture(name, &mut around.captured);
                }
                let is_around = true;
                let function = function.clone();
                let function = LocalFunction {
                    is_around,
                    ..function
                };
                around.functions.insert(name, function);
            } else if scope.builder.variable(name).is_some() {
                capture(name, &mut around.captured);
                continue;
            }
            let is_keyword = tokens.get(at + 1).is_some_and(|next| next.is("="));
            if !is_keyword && !inner.contains(name) {
                around.others.push(name);
            }
        }
        around
    }

    /// Binds a name to a function.
    fn define(
        &mut self,
        name: Token<'t>,
        function: LocalFunction<'t>,
        statement: usize,
    ) -> Result<()> {
        let is_around_itself = function.captured.contains(&name.text);
        self.sets(name)?;
        self.is_own_name(name, statement)?;
        if is_around_itself {
            let kind = ParseErrorKind::Unusable {
                name: told(name.text),
                line: name.line,
                why: "it calls itself".to_owned(),
            };
            return self.fail(name, kind);
        }
        self.forget_import(name);
        if let Some(scope) = &mut self.scope {
            scope.functions.insert(name.text, function);
        }
        Ok(())
    }

    /// Where the body that follows ends: before the first line with the indentation of an enclosing body.
    fn end_of_body(&self) -> usize {
        let rest = &self.tokens.all()[self.tokens.place()..];
        let end = rest.iter().position(|token| {
            token.kind == TokenKind::End
                || token.kind == TokenKind::Indent && self.indents.contains(&token.text)
        });
        self.tokens.place() + end.unwrap_or(rest.len())
    }

    /// The latest end of the expression that follows; none of these keywords can be part of it.
    pub(super) fn end_of_expression(&self, ends: &[&str]) -> usize {
        let rest = &self.tokens.all()[self.tokens.place()..];
        let (mut depth, mut lambdas) = (0usize, 0usize);
        let end = rest.iter().position(|token| {
            match token.text {
                _ if token.ends_statement() => return true,
                "lambda" if token.kind == TokenKind::Name && depth == 0 => lambdas += 1,
                word if token.kind == TokenKind::Name => return depth == 0 && ends.contains(&word),
                _ if token.kind != TokenKind::Symbol => {}
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => return true,
                ")" | "]" | "}" => depth -= 1,
                ":" if depth == 0 => lambdas = lambdas.saturating_sub(1),
                "," => return depth == 0 && lambdas == 0,
                _ => {}
            }
            false
        });
        self.tokens.place() + end.unwrap_or(rest.len())
    }
}

/// The parameters of the functions defined within these tokens.
fn inner_parameters<'t>(tokens: &[Token<'t>]) -> HashSet<&'t str> {
    let mut parameters = HashSet::new();
    let mut rest = tokens.iter();
    while let Some(token) = rest.next() {
        let end = match token.text {
            "lambda" => ":",
            "def" => ")",
            _ => continue,
        };
        let until = rest.by_ref().take_while(|token| !token.is(end));
        parameters.extend(until.map(|token| token.text));
    }
    parameters
}

/// The names that statements among these tokens set.
fn names_set<'a, 't>(tokens: &'a [Token<'t>]) -> impl Iterator<Item = &'t str> + use<'a, 't> {
    let statements =
        tokens.split(|token| token.ends_statement() || token.kind == TokenKind::Indent);
    statements.flat_map(|statement| {
        let mut depth = 0usize;
        let equal = statement.iter().rposition(|token| {
            match token.text {
                _ if token.kind != TokenKind::Symbol => {}
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && token.is("=")
        });
        let is_def = statement.first().is_some_and(|token| token.is_name("def"));
        let set = match equal {
            _ if is_def => statement.get(1..2),
            Some(equal) => statement.get(..equal),
            None => None,
        };
        let names = set.unwrap_or_default().iter();
        names
            .filter(|token| token.kind == TokenKind::Name)
            .map(|token| token.text)
    })
}
