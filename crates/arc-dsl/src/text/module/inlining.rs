//! Resolves names from outside of the program: the DSL's, functions of the text, which are inlined where they are
//! called, values that it sets, and modules.

use std::rc::Rc;

use arc_isa::Primitive;

use crate::dialect::Dialect;
use crate::program::{Operand, Program};
use crate::text::beside::{DslPart, Meaning};
use crate::text::error::ParseErrorKind;
use crate::text::expression::Expression;
use crate::text::globals::{Binding, LATE};
use crate::text::lexer::{Token, TokenKind};
use crate::text::module::parser::{Parsed, Parser};
use crate::text::module::{Definition, State};
use crate::text::names;
use crate::text::tokens::{Result, told};

impl<'t> Parser<'_, 't> {
    /// An expression that begins with the name that comes next.
    pub(in crate::text) fn named(&mut self, depth: u32) -> Result<Expression<'t>> {
        let token = self.tokens.peek();
        if self.tokens.second().is(":=") {
            self.tokens.bump();
            let found = self.tokens.describe();
            return Err(self.tokens.blame(ParseErrorKind::OnlyCalls { found }));
        }
        let scope = self.scope.as_ref();
        let imported = scope.and_then(|scope| scope.imported.get(token.text));
        if let Some(binding) = imported.cloned() {
            let globals = self.module.map(|module| &module.globals);
            // An import there sees the module as it is by then.
            if let Some((line, why)) = globals.and_then(|it| it.changed_before(self.at)) {
                return self.bound(line, Binding::Other(why.to_owned()), depth);
            }
            return self.bound(token.line, binding, depth);
        }
        let local = scope.and_then(|scope| scope.functions.get(token.text));
        if let Some(local) = local.cloned() {
            return self.of_local(&local, depth);
        }
        if let Some(slot) = scope.and_then(|scope| scope.builder.variable(token.text)) {
            self.tokens.bump();
            return Ok(Expression::Operand(Operand::Slot(slot)));
        }
        if let Some(module) = self.module {
            // In a text that hides no names, look up the DSL's names first, since they occur most often.
            let known = if module.globals.is_plain() && module.has_no_renames() {
                names::known(self.dialect, token.text)
            } else {
                None
            };
            if known.is_none()
                && let Some((line, binding)) = module.globals.get(self.dialect, token.text, self.at)
            {
                return self.bound(line, binding, depth);
            }
        }
        let operand = self.of_dsl(token.text);
        self.tokens.bump();
        let is_called = self.tokens.peek().is("(");
        if let Some(operand) = operand {
            Ok(Expression::Operand(operand))
        } else if is_called && token.is_name("len") && self.dialect == Dialect::Public {
            Ok(Expression::Operand(Primitive::Size.into()))
        } else {
            self.fail(token, self.unknown(token, is_called))
        }
    }

    /// The DSL's value for this name.
    fn of_dsl(&self, name: &str) -> Option<Operand> {
        let ours = self.module.map_or(name, |module| module.ours(name));
        names::known(self.dialect, ours).cloned()
    }

    /// An expression whose first name has this binding, made on this line.
    fn bound(&mut self, line: u32, binding: Binding<'t>, depth: u32) -> Result<Expression<'t>> {
        let token = self.tokens.bump();
        let unusable = |why: String| ParseErrorKind::Unusable {
            name: told(token.text),
            line,
            why,
        };
        match binding {
            Binding::Dsl(name) => {
                if let Some(operand) = self.of_dsl(name) {
                    Ok(Expression::Operand(operand))
                } else {
                    let why = format!("the DSL has no `{}`", told(name));
                    self.fail(token, unusable(why))
                }
            }
            Binding::Other(what) => self.fail(token, unusable(what)),
            Binding::Beside(file, line) => self.fail(token, bound_beside(token, &file, line)),
            Binding::Module(path) => self.of_module(token, path, unusable),
            Binding::Function(at) => self.of_function(token, at, depth),
        }
    }

    /// `module.name`
    fn of_module(
        &mut self,
        token: Token<'t>,
        mut path: String,
        unusable: impl Fn(String) -> ParseErrorKind,
    ) -> Result<Expression<'t>> {
        while self.tokens.accept(".") {
            let name = self.tokens.name("a name after `.`")?;
            if self.tokens.peek().is(".") {
                path.push('.');
                path.push_str(name.text);
                continue;
            }
            if DslPart::of(&path) == DslPart::Other {
                let why = format!("it is the module `{}`", told(&path));
                return self.fail(token, unusable(why));
            }
            let beside = self.module.and_then(|module| module.module_beside(&path));
            let meaning = beside.and_then(|(at, beside)| beside.meaning(at, name.text));
            if let Some(Meaning::Other(file, line)) = meaning {
                return self.fail(name, bound_beside(name, file, *line));
            }
            return if let Some(operand) = self.of_dsl(name.text) {
                Ok(Expression::Operand(operand))
            } else {
                self.fail(name, self.unknown(name, self.tokens.peek().is("(")))
            };
        }
        let why = format!("it is the module `{}`", told(&path));
        self.fail(token, unusable(why))
    }

    /// A function of the text, called or as a value, or a value that the text sets.
    fn of_function(&mut self, token: Token<'t>, at: usize, depth: u32) -> Result<Expression<'t>> {
        let Some(module) = self.module else {
            return self.fail(token, ParseErrorKind::NotLiteral);
        };
        let function = &module.functions[at];
        let is_value = function.is_value();
        if self.at != LATE && !is_value && module.globals.rebinds() {
            let why = "it is called where names still change their meaning".to_owned();
            return self.fail(token, unusable(token, function, why));
        }
        module.mark_used(at);
        let parsed = match module.state(at, self.dialect) {
            State::Unread => {
                self.needs = Some(at);
                return self.fail(token, ParseErrorKind::NotLiteral);
            }
            State::Reading => {
                let why = "it calls itself".to_owned();
                return self.fail(token, unusable(token, function, why));
            }
            State::Read(Ok(parsed)) => Rc::clone(parsed),
            State::Read(Err(error)) => {
                let kind = match &error.kind {
                    kind @ ParseErrorKind::Unusable { .. } => kind.clone(),
                    kind => {
                        let why = format!("line {}, column {}: {kind}", error.line, error.column);
                        unusable(token, function, why)
                    }
                };
                return self.fail(token, kind);
            }
        };
        if is_value {
            let operand = self.steps_of(token, &parsed.program, &[])?;
            return Ok(match operand {
                Operand::Slot(_) => Expression::Inlined(operand),
                _ => Expression::Operand(operand),
            });
        }
        if self.tokens.peek().is("(") {
            let arguments = self.arguments_of(token, &parsed, depth)?;
            let operand = self.steps_of(token, &parsed.program, &arguments)?;
            return Ok(Expression::Inlined(operand));
        }
        let inputs = vec![None; parsed.program.inputs().len()];
        Ok(match self.as_value(token, &parsed, &inputs)? {
            operand @ Operand::Slot(_) => Expression::Inlined(operand),
            operand => Expression::Operand(operand),
        })
    }

    /// The arguments of a call of a function, one for each parameter.
    pub(in crate::text) fn arguments_of(
        &mut self,
        token: Token<'t>,
        parsed: &Parsed,
        depth: u32,
    ) -> Result<Vec<Operand>> {
        let depth = self.open(depth)?;
        let outer = std::mem::replace(&mut self.is_only_called, false);
        let mut given: Vec<Option<Operand>> = vec![None; parsed.parameters.len()];
        let (mut found, mut by_name) = (0, false);
        while !self.tokens.accept(")") {
            let keyword = self.tokens.peek();
            let place = if keyword.kind == TokenKind::Name && self.tokens.second().is("=") {
                by_name = true;
                self.tokens.bump();
                self.tokens.bump();
                let mut parameters = parsed.parameters.iter();
                let place = parameters.position(|name| name == keyword.text);
                let free = place.filter(|&place| given[place].is_none());
                Some(free.ok_or_else(|| {
                    let kind = ParseErrorKind::KeywordOfFunction {
                        function: told(token.text),
                        name: told(keyword.text),
                        is_twice: place.is_some(),
                    };
                    self.tokens.error(keyword, kind)
                })?)
            } else if by_name {
                return Err(self
                    .tokens
                    .unexpected("`name=value` after another such argument"));
            } else {
                Some(found).filter(|&place| place < given.len())
            };
            let argument = self.argument(depth)?;
            found += 1;
            if let Some(place) = place {
                given[place] = Some(argument);
            }
            if !self.tokens.accept(",") && !self.tokens.peek().is(")") {
                return Err(self.tokens.unexpected("`,` or `)`"));
            }
        }
        self.is_only_called = outer;
        let expected = given.len();
        let given = given.into_iter().zip(&parsed.defaults);
        let whole: Option<Vec<_>> = given
            .map(|(it, default)| it.or_else(|| default.clone()))
            .collect();
        whole.filter(|_| found <= expected).ok_or_else(|| {
            let error = crate::program::BuildError::InputCount {
                name: told(token.text),
                expected,
                found,
            };
            self.tokens.error(token, error.into())
        })
    }

    /// Adds the steps of a function with these arguments; returns its result.
    pub(in crate::text) fn steps_of(
        &mut self,
        token: Token<'t>,
        function: &Program,
        arguments: &[Operand],
    ) -> Result<Operand> {
        if self.scope.is_none() {
            // Outside of a program, as in a default, no steps can be added.
            let is_known =
                function.steps().is_empty() && !matches!(function.output(), Operand::Slot(_));
            let operand = is_known.then(|| function.output().clone());
            return operand.ok_or_else(|| self.tokens.error(token, ParseErrorKind::NotLiteral));
        }
        let more = function.steps().len();
        self.has_room(token, more)?;
        let names: Vec<_> = (0..more).map(|_| self.generate_name()).collect();
        let mut names = names.into_iter();
        let Some(scope) = &mut self.scope else {
            return self.fail(token, ParseErrorKind::NotLiteral);
        };
        let added = scope
            .builder
            .inline_with(function, arguments, |builder, callee, given| {
                let name = names.next().unwrap_or_default();
                builder.step(token.line, name, callee, given.into())
            });
        added.map_err(|error| self.tokens.error(token, error.into()))
    }

    /// Checks that the program may have `more` steps for this function.
    pub(in crate::text) fn has_room(&self, token: Token<'t>, more: usize) -> Result<()> {
        let steps = self.scope.as_ref().map_or(0, |scope| scope.builder.steps());
        let bound = self
            .module
            .and_then(|module| module.exceeded_step_limit(steps, more));
        let name = || told(token.text);
        match bound {
            Some(max) => self.fail(token, ParseErrorKind::TooManySteps { name: name(), max }),
            None => Ok(()),
        }
    }
}

/// The error that a module beside the text binds a name to something else than the DSL does.
pub(in crate::text) fn bound_beside(token: Token<'_>, file: &str, line: u32) -> ParseErrorKind {
    ParseErrorKind::BoundBeside {
        name: told(token.text),
        file: file.to_owned(),
        line,
    }
}

fn unusable(token: Token<'_>, function: &Definition<'_>, why: String) -> ParseErrorKind {
    ParseErrorKind::Unusable {
        name: told(token.text),
        line: function.line,
        why,
    }
}
