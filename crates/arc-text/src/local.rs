//! Functions that a program defines within itself: `lambda`, and `def` below its first line.
//!
//! Such a function may use variables of the enclosing program, which become additional inputs after its parameters.
//! Python looks such a name up when the function is called, so a call passes the variable's current value. A function
//! value is created with the values at that point, so setting such a variable again is an error.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use arc_dsl::{Operand, Slot, Value};
use arc_isa::Primitive;

use crate::error::{ParseError, ParseErrorKind};
use crate::expression::Expression;
use crate::globals::Binding;
use crate::lexer::Token;
use crate::module::CALLS_ITSELF;
use crate::module::lowering::{KnownType, LocalFunction, Lowering, Scope};
use crate::statements::Parameter;
use crate::syntax::MAX_NESTING;
use crate::tokens::{Result, told, unusable};
use crate::tree::{Function, StatementKind, Trailer, names_set};

/// To how many steps each byte of a function counts that is read where it is used.
const COST_OF_BYTE: usize = 4;

/// What a function uses of the enclosing scope.
#[derive(Debug, Default)]
struct Captures<'t> {
    captured: Vec<&'t str>,
    functions: HashMap<&'t str, LocalFunction<'t>>,
    imported: HashMap<&'t str, (u32, Binding<'t>)>,
    /// Names that are not variables of the enclosing scope.
    others: Vec<&'t str>,
}

impl<'t> Lowering<'_, 't> {
    /// A function that a program defines.
    pub(super) fn define(&mut self, name: Token<'t>, function: &Rc<Function<'t>>) -> Result<()> {
        let mut statements = function.body.statements.iter();
        let returns_set = statements
            .any(|it| matches!(&it.kind, StatementKind::Return(value) if self.is_set(value)));
        let mut itself = None;
        function.names(&mut |used| itself = itself.or((used.text == name.text).then_some(used)));
        if let Some(used) = itself {
            return self.fail(used, unusable(used.text, name.line, CALLS_ITSELF));
        }
        let read = self.local_function(name, function, Vec::new());
        let local = match read {
            // It may be right for the arguments that it gets.
            Err(error) if !function.body.is_broken() => self.unread(name, function, Some(error))?,
            read => read?,
        };
        self.sets(name)?;
        self.is_own_name(name)?;
        self.forget_import(name);
        if let Some(scope) = &mut self.scope {
            scope.functions.insert(name.text, local);
            if returns_set {
                scope.unhashable.insert(name.text);
            }
        }
        Ok(())
    }

    /// A function with its parameters alone.
    fn unread(
        &mut self,
        name: Token<'t>,
        function: &Rc<Function<'t>>,
        error: Option<ParseError>,
    ) -> Result<LocalFunction<'t>> {
        let parameters = self.parameters(&function.parameters)?;
        let nothing = |_: &mut Self| Ok(Value::Nothing.into());
        let local = self.local(name, parameters, &[], None, nothing)?;
        Ok(LocalFunction {
            unread: Some((Rc::clone(function), error)),
            ..local
        })
    }

    /// `lambda parameters: value`, called at once or as a value; and how many of the trailers belong to it.
    pub(super) fn lambda(
        &mut self,
        function: &Rc<Function<'t>>,
        trailers: &[Trailer<'t>],
    ) -> Result<(Expression<'t>, usize)> {
        let token = function.name;
        if self.scope.is_none() {
            return Err(self.expects(token, "a value"));
        }
        let function = self.unread(token, function, None)?;
        self.of_local(token, &function, trailers)
    }

    /// A function within the current one, which errors refer to by `name`, for arguments of these types.
    fn local_function(
        &mut self,
        name: Token<'t>,
        function: &Function<'t>,
        types: Vec<KnownType>,
    ) -> Result<LocalFunction<'t>> {
        let parameters = self.parameters(&function.parameters)?;
        let (mut used, mut own) = (Vec::new(), Vec::new());
        function.names(&mut |name| used.push(name));
        names_set(&function.body.statements, &mut |name| own.push(name));
        self.local(name, parameters, &used, Some(&own), |lowering| {
            if let Some(scope) = &mut lowering.scope {
                for (at, ty) in types.into_iter().enumerate() {
                    scope.set_type(Slot::at(at), ty);
                }
            }
            let output = lowering.body(&function.body)?;
            output.ok_or_else(|| {
                let name = told(name.text);
                lowering.error(function.name, ParseErrorKind::NoReturn { name })
            })
        })
    }

    /// A use of a local function: a call, or the function as a value; and how many of the trailers belong to it.
    pub(super) fn of_local(
        &mut self,
        token: Token<'t>,
        function: &LocalFunction<'t>,
        trailers: &[Trailer<'t>],
    ) -> Result<(Expression<'t>, usize)> {
        let element = std::mem::take(&mut self.element);
        let mut arguments = match trailers {
            [Trailer::Call(given), ..] => {
                Some(self.arguments_of(token, &function.parsed, given)?)
            }
            _ => None,
        };
        if let Some(name) = self.other_meaning(function) {
            return self.fail(token, another_meaning(token, function.line, name));
        }
        let read;
        let mut function = function;
        if let Some((tree, error)) = &function.unread {
            if self.open.iter().any(|it| Rc::ptr_eq(it, tree)) {
                return self.fail(token, unusable(token.text, function.line, CALLS_ITSELF));
            }
            let types: Vec<KnownType> = match &arguments {
                Some(given) => given
                    .iter()
                    .map(|it| self.certain(it, token).into())
                    .collect(),
                None if function.parsed.parameters.len() == 1 => vec![element],
                None => Vec::new(),
            };
            if let Some(error) = error {
                let is_late = matches!(error.kind, ParseErrorKind::UsedBeforeSet { .. });
                if !is_late && types.iter().all(|it| it.ty.is_none()) {
                    return Err(error.clone());
                }
                self.has_room(token, COST_OF_BYTE * tree.bytes)?;
            }
            self.open.push(Rc::clone(tree));
            let local = self.local_function(token, tree, types);
            self.open.pop();
            read = local?;
            function = &read;
        }
        self.freeze(&function.frozen, token);
        let Some(arguments) = &mut arguments else {
            return Ok((Expression::Inlined(self.value_of(token, function)?), 0));
        };
        arguments.extend(self.captured_by(token, function)?);
        let operand = self.steps_of(token, &function.parsed.program, arguments, None)?;
        let operand = self.typed(operand, function.parsed.returns.clone());
        self.mark_late(&operand, (function.is_late, false));
        Ok((Expression::Inlined(operand), 1))
    }

    /// A name that a function uses and that means something else here than where it is defined.
    fn other_meaning(&self, function: &LocalFunction<'t>) -> Option<&'t str> {
        let scope = self.scope.as_ref().filter(|_| function.is_around)?;
        let mut names = function.captured.to_vec();
        if let Some((tree, _)) = &function.unread {
            tree.names(&mut |name| names.push(name.text));
        }
        let is_other = |name: &&str| {
            let is_variable = scope.builder.variable(name).is_some();
            is_variable && !scope.captured.contains(name)
                || scope.functions.get(name).is_some_and(|it| !it.is_around)
                || scope.imported.contains_key(name)
        };
        function.hidden.or_else(|| names.into_iter().find(is_other))
    }

    /// A function as a value; freezes the names that it captures.
    pub(super) fn value_of(
        &mut self,
        token: Token<'t>,
        function: &LocalFunction<'t>,
    ) -> Result<Operand> {
        let captured = self.captured_by(token, function)?;
        if !self.is_only_called {
            self.freeze(&function.captured, token);
        }
        let parameters = function.parsed.parameters.len();
        let mut given = vec![None; parameters];
        given.extend(captured.into_iter().map(Some));
        let mut value = self.as_value(token, &function.parsed, &given)?;
        let is_looped = |scope: &Scope<'t>| {
            let mut captured = function.captured.iter();
            captured.any(|name| scope.looped.contains(name))
        };
        let is_late = !self.is_only_called && self.scope.as_ref().is_some_and(is_looped);
        if is_late {
            // It may be the variable itself.
            value = self.made(token, Primitive::Identity, [value])?;
        }
        self.mark_late(&value, (is_late, function.is_late));
        if let (Operand::Slot(slot), Some(scope)) = (&value, &mut self.scope) {
            scope.results.insert(*slot, function.parsed.returns.clone());
        }
        Ok(value)
    }

    /// Records whether a value is late, and whether it returns what is.
    fn mark_late(&mut self, value: &Operand, late: (bool, bool)) {
        if let (Operand::Slot(slot), Some(scope), true) = (value, &mut self.scope, late.0 || late.1)
        {
            scope.late.insert(*slot, late);
        }
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
        let value = self.as_value(token, &function.parsed, &given)?;
        self.mark_late(&value, (false, function.is_late));
        Ok(value)
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

    /// Records that these names must not be set again, because of what is at a token.
    pub(super) fn freeze(&mut self, names: &[&'t str], token: Token<'t>) {
        if let Some(scope) = &mut self.scope {
            for name in names {
                scope.frozen.entry(name).or_insert(token.line);
            }
        }
    }

    /// The current values of the variables that a function captures.
    fn captured_by(&self, token: Token<'t>, function: &LocalFunction<'t>) -> Result<Vec<Operand>> {
        let captured = function.captured.iter();
        let value = |name: &&'t str| {
            let scope = self.scope.as_ref();
            let scope = scope.filter(|it| !it.functions.contains_key(name));
            let slot = scope.and_then(|scope| scope.builder.variable(name));
            slot.map(Operand::Slot)
                .ok_or_else(|| self.error(token, another_meaning(token, function.line, name)))
        };
        captured.map(value).collect()
    }

    /// Lowers a function within the current one, which uses these names and sets others; `None` if it is called at once
    /// and only there, as a part of the current one.
    pub(super) fn local(
        &mut self,
        name: Token<'t>,
        parameters: Vec<Parameter<'t>>,
        used: &[Token<'t>],
        set: Option<&[Token<'t>]>,
        lower: impl FnOnce(&mut Self) -> Result<Operand>,
    ) -> Result<LocalFunction<'t>> {
        if self.depth == MAX_NESTING {
            return self.fail(name, ParseErrorKind::Nesting { max: MAX_NESTING });
        }
        self.depth += 1;
        let around = self.captures_of(&parameters, used, set.unwrap_or_default());
        let scope = self.scope.as_ref();
        let unhashable = scope.map(|it| it.unhashable.clone());
        let lists = scope.map(|it| it.lists.clone());
        let mut types = vec![KnownType::default(); parameters.len()];
        if let Some(scope) = &mut self.scope {
            for name in &around.captured {
                let slot = scope.builder.variable(name);
                types.push(slot.map_or_else(KnownType::default, |it| scope.type_of(it).clone()));
            }
        }
        let outer = self.scope.take();
        self.begin(name.text, name.line, &parameters, &around.captured);
        if let Some(scope) = &mut self.scope {
            if let Some(outer) = &outer {
                scope.sets.clone_from(&outer.sets);
                scope.is_function = outer.is_function;
            }
            scope.sets_names(set.unwrap_or_default());
            scope.relied = set.is_none().then_some(false);
            scope.captured = around.captured.iter().copied().collect();
            if let Some(outer) = &outer {
                let looped = outer.looped.intersection(&scope.captured);
                scope.looped = looped.copied().collect();
            }
            scope.functions = around.functions;
            scope.types = types;
            scope.unhashable = unhashable.unwrap_or_default();
            let own = |name: &&str| parameters.iter().any(|it| it.token.text == *name);
            scope.unhashable.retain(|name| !own(name));
            scope.lists = lists.unwrap_or_default();
            scope.lists.retain(|name| !own(name));
            scope.imported = around.imported;
        }
        let is_only_called = std::mem::replace(&mut self.is_only_called, false);
        let output = lower(self);
        self.is_only_called = is_only_called;
        self.depth -= 1;
        let output = match output {
            Ok(output) => output,
            Err(error) => {
                self.scope = outer;
                return Err(error);
            }
        };
        let relies = self
            .scope
            .as_ref()
            .map(|it| (it.assumes, it.relied == Some(true)));
        let frozen = self.scope.as_ref().map(|scope| {
            let frozen = scope.frozen.keys().copied();
            frozen
                .filter(|name| scope.captured.contains(name))
                .collect()
        });
        let is_late = self.scope.as_ref().is_some_and(|it| it.is_late(&output));
        let parsed = self.finish(name, output, parameters);
        self.scope = outer;
        let parsed = parsed?;
        if set.is_some() {
            self.freeze(&around.others, name);
        }
        if let (Some(scope), Some((assumes, has_relied))) = (&mut self.scope, relies) {
            scope.assumes |= assumes;
            if has_relied {
                scope.rely(name.line);
            }
        }
        Ok(LocalFunction {
            line: name.line,
            parsed: Rc::new(parsed),
            captured: around.captured.into(),
            frozen: frozen.unwrap_or_default(),
            is_around: false,
            hidden: None,
            is_late,
            unread: None,
        })
    }

    /// What a function captures that has these parameters, uses these names and sets others.
    fn captures_of(
        &self,
        parameters: &[Parameter<'t>],
        used: &[Token<'t>],
        set: &[Token<'t>],
    ) -> Captures<'t> {
        let mut around = Captures::default();
        let Some(scope) = &self.scope else {
            return around;
        };
        let parameters = parameters.iter().map(|it| it.token.text);
        let own: HashSet<&str> = parameters.chain(set.iter().map(|it| it.text)).collect();
        let mut seen = HashSet::new();
        let mut capture = |name: &'t str, captured: &mut Vec<&'t str>| {
            if !own.contains(name) && seen.insert(name) {
                captured.push(name);
            }
        };
        let mut used: Vec<_> = used.iter().rev().map(|token| token.text).collect();
        while let Some(name) = used.pop() {
            if around.functions.contains_key(name) {
                continue;
            }
            if let Some(binding) = scope.imported.get(name) {
                around.imported.insert(name, binding.clone());
            } else if let Some(function) = scope.functions.get(name) {
                for name in function.captured.iter() {
                    capture(name, &mut around.captured);
                }
                if let Some((function, _)) = &function.unread {
                    function.names(&mut |name| used.push(name.text));
                }
                let function = LocalFunction {
                    is_around: true,
                    hidden: self.other_meaning(function),
                    ..function.clone()
                };
                around.functions.insert(name, function);
            } else if scope.builder.variable(name).is_some() {
                capture(name, &mut around.captured);
                continue;
            }
            around.others.push(name);
        }
        around
    }
}

/// The error that a name which a function uses, defined on this line, is another one where the function is used.
fn another_meaning(function: Token<'_>, line: u32, name: &str) -> ParseErrorKind {
    let why = format!("`{}`, which it uses, has another meaning here", told(name));
    unusable(function.text, line, why)
}
