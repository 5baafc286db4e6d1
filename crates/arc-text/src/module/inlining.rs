//! Resolves names from outside of the program: the DSL's, functions of the text, which are inlined where they are
//! called, values that it sets, and modules.

use std::rc::Rc;

use arc_dsl::{Operand, Program};
use arc_isa::ValueType;

use crate::beside::{DslPart, Meaning};
use crate::error::{ParseError, ParseErrorKind};
use crate::expression::Expression;
use crate::globals::{Binding, LATE};
use crate::lexer::Token;
use crate::module::lowering::{Lowering, Parsed};
use crate::module::{CALLS_ITSELF, Definition, Given, ParseState};
use crate::names;
use crate::tokens::{Result, told, unusable};
use crate::tree::{Argument, ParameterKind, Trailer};

impl<'t> Lowering<'_, 't> {
    /// A name and what follows it: its value, and how many of the trailers belong to that.
    pub(crate) fn named(
        &mut self,
        token: Token<'t>,
        trailers: &[Trailer<'t>],
    ) -> Result<(Expression<'t>, usize)> {
        let scope = self.scope.as_ref();
        let imported = scope.and_then(|scope| scope.imported.get(token.text));
        if let Some((bound, binding)) = imported.cloned() {
            let globals = self.module.map(|module| &module.globals);
            // An import there sees the module as it is by then.
            if let Some((line, why)) = globals.and_then(|it| it.changed_before(self.at)) {
                return self.bound(token, line, Binding::Other(why.to_owned()), trailers);
            }
            return self.bound(token, bound, binding, trailers);
        }
        let local = scope.and_then(|scope| scope.functions.get(token.text));
        if let Some(local) = local.cloned() {
            return self.of_local(token, &local, trailers);
        }
        if let Some(slot) = scope.and_then(|scope| scope.builder.variable(token.text)) {
            return Ok((Expression::Operand(Operand::Slot(slot)), 0));
        }
        let is_called = matches!(trailers, [Trailer::Call(_), ..]);
        // In Python, a name that a function sets is local to all of it, and has no value before.
        if scope.is_some_and(|it| it.is_function && it.sets.contains_key(token.text)) {
            return self.fail(token, self.unknown(token, is_called));
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
                return self.bound(token, line, binding, trailers);
            }
        }
        if let Some(operand) = self.of_dsl(token.text) {
            Ok((Expression::Operand(operand), 0))
        } else if self.is_builtin(token.text) {
            if let [Trailer::Call(arguments), ..] = trailers {
                return Ok((self.builtin(token, arguments)?, 1));
            }
            Ok((self.builtin_value(token)?, 0))
        } else {
            self.fail(token, self.unknown(token, is_called))
        }
    }

    /// The DSL's value for this name.
    fn of_dsl(&self, name: &str) -> Option<Operand> {
        let ours = self.module.map_or(name, |module| module.ours(name));
        names::known(self.dialect, ours).cloned()
    }

    /// Whether a name is that of a function of the text.
    pub(crate) fn is_own_function(&self, name: &str) -> bool {
        if let Some(scope) = &self.scope {
            if scope.functions.contains_key(name) {
                return true;
            }
            if scope.builder.variable(name).is_some() {
                return false;
            }
        }
        self.module.is_some_and(|module| {
            let bound = module.globals.get(self.dialect, name, self.at);
            matches!(bound, Some((_, Binding::Function(at))) if !module.functions[at].is_value())
        })
    }

    /// A name with this binding, made on this line, and what follows it.
    fn bound(
        &mut self,
        token: Token<'t>,
        line: u32,
        binding: Binding<'t>,
        trailers: &[Trailer<'t>],
    ) -> Result<(Expression<'t>, usize)> {
        match binding {
            Binding::Dsl(name) => {
                if let Some(operand) = self.of_dsl(name) {
                    Ok((Expression::Operand(operand), 0))
                } else {
                    let why = format!("the DSL has no `{}`", told(name));
                    self.fail(token, unusable(token.text, line, why))
                }
            }
            Binding::Other(what) => self.fail(token, unusable(token.text, line, what)),
            Binding::Beside(file, line) => self.fail(token, bound_beside(token, &file, line)),
            Binding::Module(path) => self.of_module(token, line, path, trailers),
            Binding::Function(at) => self.of_function(token, at, trailers),
        }
    }

    /// `module.name`
    fn of_module(
        &mut self,
        token: Token<'t>,
        line: u32,
        mut path: String,
        trailers: &[Trailer<'t>],
    ) -> Result<(Expression<'t>, usize)> {
        for (at, trailer) in trailers.iter().enumerate() {
            let Trailer::Part(part) = trailer else {
                break;
            };
            let name = part[1];
            let next = trailers.get(at + 1);
            if matches!(next, Some(Trailer::Part(..))) {
                path.push('.');
                path.push_str(name.text);
                continue;
            }
            if DslPart::of(&path) == DslPart::Other {
                break;
            }
            let beside = self.module.and_then(|module| module.module_beside(&path));
            let meaning = beside.and_then(|(at, beside)| beside.meaning(at, name.text));
            if let Some(Meaning::Other(file, line)) = meaning {
                return self.fail(name, bound_beside(name, file, *line));
            }
            return if let Some(operand) = self.of_dsl(name.text) {
                Ok((Expression::Operand(operand), at + 1))
            } else {
                let is_called = matches!(next, Some(Trailer::Call(_)));
                self.fail(name, self.unknown(name, is_called))
            };
        }
        let why = format!("it is the module `{}`", told(&path));
        self.fail(token, unusable(token.text, line, why))
    }

    /// A function of the text, called or as a value, or a value that the text sets.
    fn of_function(
        &mut self,
        token: Token<'t>,
        at: usize,
        trailers: &[Trailer<'t>],
    ) -> Result<(Expression<'t>, usize)> {
        let Some(module) = self.module else {
            return self.fail(token, ParseErrorKind::NotLiteral);
        };
        let function = &module.functions[at];
        let is_value = function.is_value();
        if self.at != LATE && !is_value && module.globals.rebinds() {
            let why = "it is called where names still change their meaning";
            return self.fail(token, unusable(token.text, function.token.line, why));
        }
        module.mark_used(at);
        let element = std::mem::take(&mut self.element);
        let parsed = match module.state(at, self.dialect) {
            // It may be right for the elements that it is called with.
            ParseState::Read(read)
                if element.ty.is_some() && read.as_ref().map_or(true, |it| it.grid.is_some()) =>
            {
                if let Some(scope) = &mut self.scope {
                    scope.assumes |= element.assumes;
                }
                self.read_for(token, at, Given::Types(vec![element.ty]))?
            }
            ParseState::Unread => {
                self.needs = Some(at);
                return self.fail(token, ParseErrorKind::NotLiteral);
            }
            ParseState::Reading => {
                let line = function.token.line;
                return self.fail(token, unusable(token.text, line, CALLS_ITSELF));
            }
            ParseState::Read(Ok(parsed)) => Rc::clone(parsed),
            // It may be right for the arguments of this call.
            ParseState::Read(Err(error)) => match trailers {
                [Trailer::Call(arguments), ..] if !arguments.is_empty() => {
                    let parsed = self.read_for(token, at, Given::Nothing)?;
                    let arguments = self.arguments_of(token, &parsed, arguments)?;
                    return self.called(token, at, &arguments);
                }
                _ => return self.fail(token, unusable_by(error, token, function)),
            },
        };
        if is_value {
            let operand = self.steps_of(token, &parsed.program, &[], None)?;
            return Ok((Expression::of(operand), 0));
        }
        if let [Trailer::Call(arguments), ..] = trailers {
            let arguments = self.arguments_of(token, &parsed, arguments)?;
            let grid = parsed.grid.and_then(|at| arguments.get(at));
            if grid.is_none_or(|it| self.certain(it, token) == Some(ValueType::Grid)) {
                let operand = self.steps_of(token, &parsed.program, &arguments, None)?;
                return Ok((Expression::Inlined(operand), 1));
            }
            return self.called(token, at, &arguments);
        }
        if parsed.grid.is_some() {
            let why = "it takes its input apart as a grid, and here that may be something else";
            return self.fail(token, unusable(token.text, function.token.line, why));
        }
        let inputs = vec![None; parsed.program.inputs().len()];
        let value = self.as_value(token, &parsed, &inputs)?;
        Ok((Expression::of(value), 0))
    }

    /// A call of a function that is read for these arguments.
    fn called(
        &mut self,
        token: Token<'t>,
        at: usize,
        arguments: &[Operand],
    ) -> Result<(Expression<'t>, usize)> {
        let types = arguments.iter().map(|it| self.certain(it, token));
        let types = Given::Types(types.collect());
        let parsed = self.read_for(token, at, types)?;
        let operand = self.steps_of(token, &parsed.program, arguments, None)?;
        let operand = self.typed(operand, parsed.returns.clone());
        Ok((Expression::Inlined(operand), 1))
    }

    /// A function of the text as it is read for these arguments.
    fn read_for(&mut self, token: Token<'t>, at: usize, given: Given) -> Result<Rc<Parsed>> {
        let Some(module) = self.module else {
            return self.fail(token, ParseErrorKind::NotLiteral);
        };
        let function = &module.functions[at];
        match module.read_for(at, self.dialect, given) {
            Ok(Ok(Ok(parsed))) => Ok(parsed),
            Ok(Ok(Err(error))) => self.fail(token, unusable_by(&error, token, function)),
            Ok(Err(why)) => self.fail(token, unusable(token.text, function.token.line, why)),
            Err(needs) => {
                self.needs = Some(needs);
                self.fail(token, ParseErrorKind::NotLiteral)
            }
        }
    }

    /// The arguments of a call of a function, one for each parameter.
    pub(crate) fn arguments_of(
        &mut self,
        token: Token<'t>,
        parsed: &Parsed,
        arguments: &[Argument<'t>],
    ) -> Result<Vec<Operand>> {
        let outer = std::mem::replace(&mut self.is_only_called, false);
        let mut given: Vec<Option<Operand>> = vec![None; parsed.parameters.len()];
        let found = arguments.len();
        for (at, Argument { keyword, value }) in arguments.iter().enumerate() {
            let place = if let Some(keyword) = *keyword {
                let mut parameters = parsed.parameters.iter();
                let place = parameters.position(|name| name == keyword.text);
                let place = place.filter(|&it| parsed.kinds[it] != ParameterKind::Positional);
                let free = place.filter(|&place| given[place].is_none());
                Some(free.ok_or_else(|| {
                    let kind = ParseErrorKind::KeywordOfFunction {
                        function: told(token.text),
                        primitive: None,
                        name: told(keyword.text),
                        is_twice: place.is_some(),
                    };
                    self.error(keyword, kind)
                })?)
            } else {
                if parsed.kinds.get(at) == Some(&ParameterKind::Keyword) {
                    let expected = "the name of a parameter and `=`, since it follows `*`";
                    return Err(self.expects(value.token, expected));
                }
                Some(at).filter(|&place| place < given.len())
            };
            let argument = self.argument(value)?;
            if let Some(place) = place {
                given[place] = Some(argument);
            }
        }
        self.is_only_called = outer;
        let expected = given.len();
        let given = given.into_iter().zip(&parsed.defaults);
        let whole: Option<Vec<_>> = given
            .map(|(it, default)| it.or_else(|| default.clone()))
            .collect();
        whole.filter(|_| found <= expected).ok_or_else(|| {
            let error = arc_dsl::BuildError::InputCount {
                name: told(token.text),
                expected,
                found,
            };
            self.error(token, error.into())
        })
    }

    /// Adds the steps of a function with these arguments, on their own lines if none is given; returns its result.
    pub(crate) fn steps_of(
        &mut self,
        token: Token<'t>,
        function: &Program,
        arguments: &[Operand],
        line: Option<u32>,
    ) -> Result<Operand> {
        if self.scope.is_none() {
            // Outside of a program, as in a default, no steps can be added.
            let is_known =
                function.steps().is_empty() && !matches!(function.output(), Operand::Slot(_));
            let operand = is_known.then(|| function.output().clone());
            return operand.ok_or_else(|| self.error(token, ParseErrorKind::NotLiteral));
        }
        let more = function.steps().len();
        self.has_room(token, more)?;
        let names: Vec<_> = (0..more).map(|_| self.generate_name()).collect();
        let mut names = names.into_iter();
        let mut steps = function.steps().iter();
        let Some(scope) = &mut self.scope else {
            return self.fail(token, ParseErrorKind::NotLiteral);
        };
        let added = scope
            .builder
            .inline_with(function, arguments, |builder, callee, given| {
                let name = names.next().unwrap_or_default();
                let own = steps.next().map_or(token.line, |step| step.line);
                builder.step(line.unwrap_or(own), name, callee, given.into())
            });
        added.map_err(|error| self.error(token, error.into()))
    }

    /// Checks that the program may have `more` steps for this function.
    pub(crate) fn has_room(&self, token: Token<'t>, more: usize) -> Result<()> {
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
pub(crate) fn bound_beside(token: Token<'_>, file: &str, line: u32) -> ParseErrorKind {
    ParseErrorKind::BoundBeside {
        name: told(token.text),
        file: file.to_owned(),
        line,
    }
}

/// The error at a use of a function that has this error.
fn unusable_by(error: &ParseError, token: Token<'_>, function: &Definition<'_>) -> ParseErrorKind {
    match &error.kind {
        kind @ ParseErrorKind::Unusable { .. } => kind.clone(),
        kind => {
            let why = format!("line {}, column {}: {kind}", error.line, error.column);
            unusable(token.text, function.token.line, why)
        }
    }
}
