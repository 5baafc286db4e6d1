//! Functions of a text as values: of one parameter as what `compose`, `fork`, `lbind` and `rbind` make.
//!
//! The parameter is taken out of the calls of the body, one after the other, as in Curry's and Turner's
//! bracket abstraction (Turner, A new implementation technique for applicative languages, 1979), with the
//! combinators that the DSL has:
//!
//! ```text
//! lambda x: f(g(x))        compose(f, g)
//! lambda x: f(x, a)        rbind(f, a)
//! lambda x: f(a, g(x))     compose(lbind(f, a), g)
//! lambda x: f(g(x), h(x))  fork(f, g, h)
//! lambda x: a              lbind(lbind(branch, True), a)
//! lambda x: g(x)(h(x))     compose(first, fork(apply, g, compose(initset, h)))
//! ```
//!
//! Nothing is evaluated before Python would: calls without the parameter wait for it too.

use arc_isa::{Primitive, Type};

use crate::dialect::Dialect;
use crate::program::{Callee, Operand, Program};
use crate::text::error::ParseErrorKind;
use crate::text::lexer::Token;
use crate::text::module::parser::{Parsed, Parser};
use crate::text::tokens::{Result, told};
use crate::value::Value;

/// How many calls one evaluation of such a function makes at most: what its body uses twice is made twice.
const MAX_CALLS: u32 = 1_000;

/// The primitives that make functions of functions, which fails for none.
const MAKERS: &[Primitive] = &[
    Primitive::Compose,
    Primitive::Chain,
    Primitive::Matcher,
    Primitive::Rbind,
    Primitive::Lbind,
    Primitive::Fork,
];

/// What a value of the body is, as a function of the parameter.
#[derive(Debug, Clone)]
enum Made {
    /// The parameter itself.
    Parameter,
    /// The same for every parameter, and known without a call.
    Constant(Operand),
    /// What this function gives for it.
    Function(Operand),
}

impl<'t> Parser<'_, 't> {
    /// A function of the text as a value, of the inputs that are not given here.
    pub(in crate::text) fn as_value(
        &mut self,
        token: Token<'t>,
        parsed: &Parsed,
        given: &[Option<Operand>],
    ) -> Result<Operand> {
        let function = &parsed.program;
        let value = self.handed_on(token, parsed, given)?;
        if let Some(value) = value {
            return Ok(value);
        }
        let parameters = given.iter().filter(|it| it.is_none()).count();
        if let Some(why) = self.not_a_value(parsed, parameters) {
            let name = told(token.text);
            let kind = ParseErrorKind::FunctionAsValue { name, why };
            return Err(self.tokens.error(token, kind));
        }
        self.has_room(token, 8 * (function.steps().len() + 1))?;
        let inputs = given.iter().cloned();
        let mut made: Vec<_> = inputs
            .map(|given| given.map_or(Made::Parameter, Made::Constant))
            .collect();
        for step in function.steps() {
            let callee = match step.callee {
                Callee::Slot(slot) => made[slot.index()].clone(),
                Callee::Primitive(primitive) => Made::Constant(primitive.into()),
                Callee::Typed(_) => {
                    return Err(self.tokens.error(token, ParseErrorKind::NotLiteral));
                }
            };
            let arguments = step.arguments.iter();
            let arguments: Vec<_> = arguments.map(|it| made_of(&made, it)).collect();
            made.push(self.call_of_parameter(token, callee, arguments)?);
        }
        let mut output = made_of(&made, function.output());
        // What the result does not need is called all the same, since it may fail.
        let first_step = function.inputs().len();
        for slot in unneeded(function).into_iter().rev() {
            let unneeded = self.function_of(token, made[first_step + slot].clone())?;
            let result = self.function_of(token, output)?;
            let both = [Primitive::Astuple.into(), unneeded, result];
            let both = self.made(token, Primitive::Fork, both)?;
            let last = self.made(token, Primitive::Compose, [Primitive::Last.into(), both])?;
            output = Made::Function(last);
        }
        self.function_of(token, output)
    }

    /// A function that hands its parameters on as they are, with others before and behind them that are
    /// always the same: what it calls, bound to these.
    fn handed_on(
        &mut self,
        token: Token<'t>,
        parsed: &Parsed,
        given: &[Option<Operand>],
    ) -> Result<Option<Operand>> {
        let function = &parsed.program;
        let inputs = function.inputs().len();
        let own: Vec<_> = (0..inputs).filter(|&at| given[at].is_none()).collect();
        let [step] = function.steps() else {
            return Ok(None);
        };
        let is_returned =
            matches!(function.output(), Operand::Slot(slot) if slot.index() == inputs);
        let is_plain = parsed.defaults.iter().all(Option::is_none);
        if self.dialect != Dialect::Public || own.is_empty() || !is_returned || !is_plain {
            return Ok(None);
        }
        let constant = |slot: usize| given.get(slot).cloned().flatten();
        let callee = match step.callee {
            Callee::Primitive(primitive) => Some(primitive.into()),
            Callee::Slot(slot) => constant(slot.index()),
            Callee::Typed(_) => None,
        };
        let Some(callee) = callee else {
            return Ok(None);
        };
        let is_parameter =
            |it: &Operand, at: usize| matches!(it, Operand::Slot(slot) if slot.index() == own[at]);
        let Some(first) = step.arguments.iter().position(|it| is_parameter(it, 0)) else {
            return Ok(None);
        };
        let (before, rest) = step.arguments.split_at(first);
        if rest.len() < own.len() {
            return Ok(None);
        }
        let (between, after) = rest.split_at(own.len());
        if !between
            .iter()
            .enumerate()
            .all(|(at, it)| is_parameter(it, at))
        {
            return Ok(None);
        }
        let constants = |arguments: &[Operand]| -> Option<Vec<Operand>> {
            let arguments = arguments.iter();
            arguments
                .map(|it| match it {
                    Operand::Slot(slot) => constant(slot.index()),
                    other => Some(other.clone()),
                })
                .collect()
        };
        let (Some(before), Some(after)) = (constants(before), constants(after)) else {
            return Ok(None);
        };
        self.bound_to(token, callee, &before, &after).map(Some)
    }

    /// What keeps a function from being a value.
    fn not_a_value(&self, parsed: &Parsed, parameters: usize) -> Option<&'static str> {
        if self.dialect != Dialect::Public {
            return Some(
                "in the typed dialect only one of the DSL's is passed on, or what `compose` and kin make",
            );
        }
        if parsed.defaults.iter().any(Option::is_some) {
            return Some("expected no defaults of one that is passed on");
        }
        match parameters {
            1 => (calls(&parsed.program) > MAX_CALLS)
                .then_some("it uses what it has made too often to be passed on"),
            0 => Some("expected a parameter of one that is passed on"),
            _ => Some(
                "expected one parameter of one that is passed on, or a single call with all parameters in their order",
            ),
        }
    }

    /// A call in a body.
    fn call_of_parameter(
        &mut self,
        token: Token<'t>,
        callee: Made,
        mut arguments: Vec<Made>,
    ) -> Result<Made> {
        let is_constant = |it: &Made| matches!(it, Made::Constant(_));
        if is_constant(&callee) && arguments.iter().all(is_constant) {
            if let Some(made) = self.made_once(token, &callee, &arguments)? {
                return Ok(Made::Constant(made));
            }
            // It waits for the parameter.
            let last = self.last_argument(token, &mut arguments)?;
            arguments.push(Made::Function(self.function_of(token, last)?));
        }
        let function = match callee {
            Made::Constant(function) => self.call_of(token, function, arguments)?,
            callee => {
                let callee = self.function_of(token, callee)?;
                self.applied(token, callee, arguments)?
            }
        };
        Ok(Made::Function(function))
    }

    /// A function that is the same for every parameter, and that can be made before there is one since
    /// that fails for none.
    fn made_once(
        &mut self,
        token: Token<'t>,
        callee: &Made,
        arguments: &[Made],
    ) -> Result<Option<Operand>> {
        let Made::Constant(Operand::Primitive(maker)) = callee else {
            return Ok(None);
        };
        let Some(scope) = &self.scope else {
            return Ok(None);
        };
        let is_function = |made: &Made| match made {
            Made::Constant(Operand::Primitive(_)) => true,
            Made::Constant(Operand::Slot(slot)) => {
                let step = scope.builder.step_of(*slot);
                step.is_some_and(
                    |step| matches!(step.callee, Callee::Primitive(it) if MAKERS.contains(&it)),
                )
            }
            _ => false,
        };
        let takes = maker.parameters().iter().zip(arguments);
        let mut functions = takes.filter(|((_, kind), _)| *kind == Type::Callable);
        if !MAKERS.contains(maker) || !functions.all(|(_, argument)| is_function(argument)) {
            return Ok(None);
        }
        let name = self.generate_name();
        let arguments = constants(arguments).into();
        self.step(token, name, (*maker).into(), arguments).map(Some)
    }

    /// `lambda x: function(a(x), b(x), ..)`, where one argument at least depends on the parameter.
    fn call_of(
        &mut self,
        token: Token<'t>,
        function: Operand,
        mut arguments: Vec<Made>,
    ) -> Result<Operand> {
        let depends = |it: &Made| !matches!(it, Made::Constant(_));
        let first = arguments.iter().position(depends).unwrap_or(0);
        let last = arguments.iter().rposition(depends).unwrap_or(0);
        let after = constants(&arguments[last + 1..]);
        let before = constants(&arguments[..first]);
        let function = self.bound_to(token, function, &before, &after)?;
        let mut between = arguments.drain(first..=last);
        match (between.next(), between.next(), between.next()) {
            (Some(only), None, _) => self.composed(token, function, only),
            (Some(a), Some(b), None) => {
                let a = self.function_of(token, a)?;
                let b = self.function_of(token, b)?;
                self.made(token, Primitive::Fork, [function, a, b])
            }
            (Some(a), Some(b), Some(c)) => {
                let rest: Vec<_> = [b, c].into_iter().chain(between).collect();
                let binds = [Primitive::Lbind.into(), function];
                let binds = self.made(token, Primitive::Lbind, binds)?;
                let bound = self.composed(token, binds, a)?;
                self.applied(token, bound, rest)
            }
            (None, _, _) => Ok(function),
        }
    }

    /// `lambda x: function(inner(x))`
    fn composed(&mut self, token: Token<'t>, function: Operand, inner: Made) -> Result<Operand> {
        if matches!(inner, Made::Parameter) {
            return Ok(function);
        }
        let inner = self.function_of(token, inner)?;
        self.made(token, Primitive::Compose, [function, inner])
    }

    /// `lambda x: function(x)(a(x), b(x), ..)`
    fn applied(
        &mut self,
        token: Token<'t>,
        function: Operand,
        mut arguments: Vec<Made>,
    ) -> Result<Operand> {
        let last = self.last_argument(token, &mut arguments)?;
        let mut bound = function;
        for argument in arguments {
            let argument = self.function_of(token, argument)?;
            bound = self.made(
                token,
                Primitive::Fork,
                [Primitive::Lbind.into(), bound, argument],
            )?;
        }
        let alone = self.composed(token, Primitive::Initset.into(), last)?;
        let applied = self.made(
            token,
            Primitive::Fork,
            [Primitive::Apply.into(), bound, alone],
        )?;
        self.made(
            token,
            Primitive::Compose,
            [Primitive::First.into(), applied],
        )
    }

    /// Takes the last of the arguments, of which there has to be one.
    fn last_argument(&self, token: Token<'t>, arguments: &mut Vec<Made>) -> Result<Made> {
        arguments.pop().ok_or_else(|| {
            let why = "expected arguments in every call of one that is passed on";
            let name = told(token.text);
            self.tokens
                .error(token, ParseErrorKind::FunctionAsValue { name, why })
        })
    }

    /// A value of the body as a function.
    fn function_of(&mut self, token: Token<'t>, made: Made) -> Result<Operand> {
        match made {
            Made::Parameter => Ok(Primitive::Identity.into()),
            Made::Function(function) => Ok(function),
            Made::Constant(value) => self.constant_function(token, value),
        }
    }

    /// `lambda x: value`
    pub(in crate::text) fn constant_function(
        &mut self,
        token: Token<'t>,
        value: Operand,
    ) -> Result<Operand> {
        let chosen = [Primitive::Branch.into(), Value::from(true).into()];
        let chosen = self.made(token, Primitive::Lbind, chosen)?;
        self.made(token, Primitive::Lbind, [chosen, value])
    }

    /// A function with its first and last arguments given.
    fn bound_to(
        &mut self,
        token: Token<'t>,
        function: Operand,
        before: &[Operand],
        after: &[Operand],
    ) -> Result<Operand> {
        let mut bound = function;
        for value in after.iter().rev() {
            bound = self.made(token, Primitive::Rbind, [bound, value.clone()])?;
        }
        for value in before {
            bound = self.made(token, Primitive::Lbind, [bound, value.clone()])?;
        }
        Ok(bound)
    }

    /// A step that makes a function.
    fn made<const N: usize>(
        &mut self,
        token: Token<'t>,
        maker: Primitive,
        arguments: [Operand; N],
    ) -> Result<Operand> {
        let name = self.generate_name();
        self.step(token, name, maker.into(), arguments.into())
    }
}

/// What an operand of the body is.
fn made_of(made: &[Made], operand: &Operand) -> Made {
    match operand {
        Operand::Slot(slot) => made[slot.index()].clone(),
        other => Made::Constant(other.clone()),
    }
}

fn constants(made: &[Made]) -> Vec<Operand> {
    let constants = made.iter().filter_map(|it| match it {
        Made::Constant(value) => Some(value.clone()),
        _ => None,
    });
    constants.collect()
}

/// The steps that the result does not need, in their order.
fn unneeded(function: &Program) -> Vec<usize> {
    let inputs = function.inputs().len();
    let mut needed = vec![false; inputs + function.steps().len()];
    let mut found = Vec::new();
    let need = |needed: &mut Vec<bool>, operand: &Operand| {
        if let Operand::Slot(slot) = operand {
            needed[slot.index()] = true;
        }
    };
    need(&mut needed, function.output());
    for (at, step) in function.steps().iter().enumerate().rev() {
        if !needed[inputs + at] {
            found.push(at);
        }
        // What an unneeded step needs is called with it.
        if let Callee::Slot(slot) = step.callee {
            needed[slot.index()] = true;
        }
        step.arguments.iter().for_each(|it| need(&mut needed, it));
    }
    found.reverse();
    found
}

/// How many calls an evaluation makes in which each use of a step makes it again.
fn calls(function: &Program) -> u32 {
    let inputs = function.inputs().len();
    let mut calls = vec![0u32; inputs];
    let of = |calls: &[u32], operand: &Operand| match operand {
        Operand::Slot(slot) => calls[slot.index()],
        _ => 0,
    };
    for step in function.steps() {
        let callee = match step.callee {
            Callee::Slot(slot) => calls[slot.index()],
            _ => 0,
        };
        let arguments = step.arguments.iter().map(|it| of(&calls, it));
        calls.push(arguments.fold(callee.saturating_add(1), u32::saturating_add));
    }
    let unneeded = unneeded(function).into_iter().map(|at| calls[inputs + at]);
    unneeded.fold(of(&calls, function.output()), u32::saturating_add)
}
