//! Converts functions of a text to function values: compositions of `compose`, `fork`, `lbind` and `rbind`.
//!
//! The parameter is eliminated from the calls of the body, one after the other, as in Curry's and Turner's bracket
//! abstraction (Turner, A new implementation technique for applicative languages, 1979), with the combinators that the
//! DSL has:
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
//! Nothing is evaluated earlier than in Python: calls that do not depend on the parameter are delayed, too.

use arc_dsl::{Callee, Dialect, Operand, Program, Value};
use arc_isa::{Primitive, Type};

use crate::error::ParseErrorKind;
use crate::lexer::Token;
use crate::module::lowering::{Lowering, Parsed, holds};
use crate::tokens::{Result, told};
use crate::tree::ParameterKind;

/// The maximum number of calls in one evaluation of such a function: a value used twice is computed twice.
const MAX_CALLS: u32 = 1_000;

/// The primitives that create functions from functions and never fail for functions.
const COMBINATORS: &[Primitive] = &[
    Primitive::Compose,
    Primitive::Chain,
    Primitive::Matcher,
    Primitive::Rbind,
    Primitive::Lbind,
    Primitive::Fork,
];

/// The primitives that make tables of functions, of functions and of such tables.
const TABLES: &[Primitive] = &[Primitive::Astuple, Primitive::Combine];

/// A value of the body as a function of the parameter.
#[derive(Debug, Clone)]
enum Abstracted {
    /// The parameter itself.
    Parameter,
    /// The same for every parameter, and known without a call.
    Constant(Operand),
    /// The result of applying this function to the parameter.
    Function(Operand),
}

impl<'t> Lowering<'_, 't> {
    /// A function of the text as a value; its inputs are those that are not in `given`.
    pub(crate) fn as_value(
        &mut self,
        token: Token<'t>,
        parsed: &Parsed,
        given: &[Option<Operand>],
    ) -> Result<Operand> {
        let function = &parsed.program;
        let value = self.as_partial_call(token, parsed, given)?;
        if let Some(value) = value {
            return Ok(value);
        }
        if let Some(why) = self.why_not_a_value(parsed, given) {
            let name = told(token.text);
            return self.fail(token, ParseErrorKind::FunctionAsValue { name, why });
        }
        self.has_room(token, 8 * (function.steps().len() + 1))?;
        let inputs = given.iter().cloned();
        let mut values: Vec<_> = inputs
            .map(|given| given.map_or(Abstracted::Parameter, Abstracted::Constant))
            .collect();
        let returned = returned_steps(function);
        for (at, step) in function.steps().iter().enumerate() {
            let callee = match step.callee {
                Callee::Slot(slot) => values[slot.index()].clone(),
                Callee::Primitive(primitive) => Abstracted::Constant(primitive.into()),
                Callee::Typed(_) => {
                    return self.fail(token, ParseErrorKind::NotLiteral);
                }
            };
            let arguments = step.arguments.iter();
            let arguments: Vec<_> = arguments.map(|it| abstracted(&values, it)).collect();
            values.push(self.call_of_parameter(token, callee, arguments, returned[at])?);
        }
        let mut output = abstracted(&values, function.output());
        // Steps that the result does not need are called all the same, since they may fail.
        let first_step = function.inputs().len();
        for slot in unneeded_steps(function).into_iter().rev() {
            let unneeded = self.function_of(token, values[first_step + slot].clone())?;
            let result = self.function_of(token, output)?;
            let both = [Primitive::Astuple.into(), unneeded, result];
            let both = self.combinator(token, Primitive::Fork, both)?;
            let last =
                self.combinator(token, Primitive::Compose, [Primitive::Last.into(), both])?;
            output = Abstracted::Function(last);
        }
        self.function_of(token, output)
    }

    /// If the function just passes its parameters on in a single call, with constants before and after them: the
    /// callee, partially applied to the constants.
    fn as_partial_call(
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
        let is_plain = parsed.defaults.iter().all(Option::is_none)
            && !parsed.kinds.contains(&ParameterKind::Keyword);
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
        // What is no function cannot be bound to arguments, where Python only fails when it is called.
        let binds = !before.is_empty() || !after.is_empty();
        if binds && own.len() == 1 && !self.is_function(&callee) {
            return Ok(None);
        }
        self.bound_to(token, callee, &before, &after).map(Some)
    }

    /// Why a function cannot be a value.
    fn why_not_a_value(&self, parsed: &Parsed, given: &[Option<Operand>]) -> Option<&'static str> {
        if self.dialect != Dialect::Public {
            return Some(
                "in the typed dialect only functions of the DSL and results of `compose` and the like can be values",
            );
        }
        if parsed.defaults.iter().any(Option::is_some) {
            return Some("expected parameters without defaults");
        }
        if parsed.kinds.contains(&ParameterKind::Keyword) {
            return Some("expected parameters that are given by their places");
        }
        match given.iter().filter(|it| it.is_none()).count() {
            1 => (call_count(&parsed.program, given) > MAX_CALLS)
                .then_some("its intermediate results are calculated wherever they are used, in more than 1,000 calls"),
            0 => Some("expected a parameter"),
            _ => {
                Some("expected one parameter, or a single call with all parameters in their order")
            }
        }
    }

    /// A call in the body. What the body returns is made anew for each parameter.
    fn call_of_parameter(
        &mut self,
        token: Token<'t>,
        callee: Abstracted,
        mut arguments: Vec<Abstracted>,
        is_returned: bool,
    ) -> Result<Abstracted> {
        let is_constant = |it: &Abstracted| matches!(it, Abstracted::Constant(_));
        if is_constant(&callee) && arguments.iter().all(is_constant) {
            if !is_returned
                && let Some(function) = self.constant_combinator(token, &callee, &arguments)?
            {
                return Ok(Abstracted::Constant(function));
            }
            // It has to wait for the parameter.
            let last = self.last_argument(token, &mut arguments)?;
            arguments.push(Abstracted::Function(self.function_of(token, last)?));
        }
        let function = match callee {
            Abstracted::Constant(function)
                if arguments.len() == 1 || self.is_function(&function) =>
            {
                self.call_of(token, function, arguments)?
            }
            // Its first arguments are bound when it is called.
            callee => {
                let callee = self.function_of(token, callee)?;
                self.applied(token, callee, arguments)?
            }
        };
        Ok(Abstracted::Function(function))
    }

    /// If the call creates a function that is the same for every parameter: adds it as a step before the abstraction,
    /// since it cannot fail.
    fn constant_combinator(
        &mut self,
        token: Token<'t>,
        callee: &Abstracted,
        arguments: &[Abstracted],
    ) -> Result<Option<Operand>> {
        let Abstracted::Constant(Operand::Primitive(combinator)) = callee else {
            return Ok(None);
        };
        let arguments = constants(arguments);
        let is_made = if COMBINATORS.contains(combinator) {
            let takes = combinator.parameters().iter().zip(&arguments);
            let mut functions = takes.filter(|((_, kind), _)| *kind == Type::Callable);
            functions.all(|(_, argument)| self.is_function(argument))
        } else {
            let mut parts = arguments.iter();
            TABLES.contains(combinator) && parts.all(|it| self.is_function(it) || self.is_table(it))
        };
        if !is_made {
            return Ok(None);
        }
        let name = self.generate_name();
        self.step(token, name, (*combinator).into(), arguments.into())
            .map(Some)
    }

    /// Whether a value is certainly a function.
    fn is_function(&self, value: &Operand) -> bool {
        matches!(value, Operand::Primitive(_)) || self.is_result_of(value, COMBINATORS)
    }

    /// Whether a value is a tuple of functions, or of such tuples: only these are made before an abstraction.
    fn is_table(&self, value: &Operand) -> bool {
        self.is_result_of(value, TABLES)
    }

    fn is_result_of(&self, value: &Operand, primitives: &[Primitive]) -> bool {
        let (Operand::Slot(slot), Some(scope)) = (value, &self.scope) else {
            return false;
        };
        let step = scope.builder.step_of(*slot);
        step.is_some_and(
            |step| matches!(step.callee, Callee::Primitive(it) if primitives.contains(&it)),
        )
    }

    /// `lambda x: function(a(x), b(x), ..)`, where at least one argument depends on the parameter.
    fn call_of(
        &mut self,
        token: Token<'t>,
        function: Operand,
        mut arguments: Vec<Abstracted>,
    ) -> Result<Operand> {
        let depends = |it: &Abstracted| !matches!(it, Abstracted::Constant(_));
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
                self.combinator(token, Primitive::Fork, [function, a, b])
            }
            (Some(a), Some(b), Some(c)) => {
                let rest: Vec<_> = [b, c].into_iter().chain(between).collect();
                let binds = [Primitive::Lbind.into(), function];
                let binds = self.combinator(token, Primitive::Lbind, binds)?;
                let bound = self.composed(token, binds, a)?;
                self.applied(token, bound, rest)
            }
            (None, _, _) => Ok(function),
        }
    }

    /// `lambda x: function(inner(x))`
    fn composed(
        &mut self,
        token: Token<'t>,
        function: Operand,
        inner: Abstracted,
    ) -> Result<Operand> {
        if matches!(inner, Abstracted::Parameter) {
            return Ok(function);
        }
        let inner = self.function_of(token, inner)?;
        self.combinator(token, Primitive::Compose, [function, inner])
    }

    /// `lambda x: function(x)(a(x), b(x), ..)`
    fn applied(
        &mut self,
        token: Token<'t>,
        function: Operand,
        mut arguments: Vec<Abstracted>,
    ) -> Result<Operand> {
        let last = self.last_argument(token, &mut arguments)?;
        let mut bound = function;
        for argument in arguments {
            let argument = self.function_of(token, argument)?;
            bound = self.combinator(
                token,
                Primitive::Fork,
                [Primitive::Lbind.into(), bound, argument],
            )?;
        }
        let alone = self.composed(token, Primitive::Initset.into(), last)?;
        let applied = self.combinator(
            token,
            Primitive::Fork,
            [Primitive::Apply.into(), bound, alone],
        )?;
        self.combinator(
            token,
            Primitive::Compose,
            [Primitive::First.into(), applied],
        )
    }

    /// Removes the last argument; there must be one.
    fn last_argument(
        &self,
        token: Token<'t>,
        arguments: &mut Vec<Abstracted>,
    ) -> Result<Abstracted> {
        arguments.pop().ok_or_else(|| {
            let why = "expected arguments in all calls in its body";
            let name = told(token.text);
            self.error(token, ParseErrorKind::FunctionAsValue { name, why })
        })
    }

    /// A value of the body as a function.
    fn function_of(&mut self, token: Token<'t>, value: Abstracted) -> Result<Operand> {
        match value {
            Abstracted::Parameter => Ok(Primitive::Identity.into()),
            Abstracted::Function(function) => Ok(function),
            Abstracted::Constant(value) => self.constant_function(token, value),
        }
    }

    /// `lambda x: value`
    pub(crate) fn constant_function(
        &mut self,
        token: Token<'t>,
        value: Operand,
    ) -> Result<Operand> {
        let chosen = [Primitive::Branch.into(), Value::from(true).into()];
        let chosen = self.combinator(token, Primitive::Lbind, chosen)?;
        self.combinator(token, Primitive::Lbind, [chosen, value])
    }

    /// A function with its first and last arguments fixed.
    fn bound_to(
        &mut self,
        token: Token<'t>,
        function: Operand,
        before: &[Operand],
        after: &[Operand],
    ) -> Result<Operand> {
        let mut bound = function;
        for value in after.iter().rev() {
            bound = self.combinator(token, Primitive::Rbind, [bound, value.clone()])?;
        }
        for value in before {
            bound = self.combinator(token, Primitive::Lbind, [bound, value.clone()])?;
        }
        Ok(bound)
    }

    /// Adds a step that creates a function.
    fn combinator<const N: usize>(
        &mut self,
        token: Token<'t>,
        combinator: Primitive,
        arguments: [Operand; N],
    ) -> Result<Operand> {
        let name = self.generate_name();
        self.step(token, name, combinator.into(), arguments.into())
    }
}

/// The value of an operand of the body.
fn abstracted(values: &[Abstracted], operand: &Operand) -> Abstracted {
    match operand {
        Operand::Slot(slot) => values[slot.index()].clone(),
        other => Abstracted::Constant(other.clone()),
    }
}

fn constants(values: &[Abstracted]) -> Vec<Operand> {
    let constants = values.iter().filter_map(|it| match it {
        Abstracted::Constant(value) => Some(value.clone()),
        _ => None,
    });
    constants.collect()
}

/// Whether what each step makes is the result, or may be a part of it.
fn returned_steps(function: &Program) -> Vec<bool> {
    let inputs = function.inputs().len();
    let mut returned = vec![false; inputs + function.steps().len()];
    if let Some(slot) = function.output().slot() {
        returned[slot.index()] = true;
    }
    for (at, step) in function.steps().iter().enumerate().rev() {
        let Callee::Primitive(primitive) = step.callee else {
            continue;
        };
        if !returned[inputs + at] || COMBINATORS.contains(&primitive) {
            continue;
        }
        for (place, argument) in step.arguments.iter().enumerate() {
            if let Some(slot) = argument.slot().filter(|_| holds(primitive, place)) {
                returned[slot.index()] = true;
            }
        }
    }
    returned.split_off(inputs)
}

/// The indices of the steps that the result does not need, ascending.
fn unneeded_steps(function: &Program) -> Vec<usize> {
    let inputs = function.inputs().len();
    let mut needed = vec![false; inputs + function.steps().len()];
    let mut found = Vec::new();
    if let Some(slot) = function.output().slot() {
        needed[slot.index()] = true;
    }
    for (at, step) in function.steps().iter().enumerate().rev() {
        if !needed[inputs + at] {
            found.push(at);
        }
        // Whatever an unneeded step needs is called with it.
        for slot in step.reads() {
            needed[slot.index()] = true;
        }
    }
    found.reverse();
    found
}

/// The number of calls in an evaluation in which each use of a step's result calls it again. Functions that are made
/// of constants, as branches within each other are, are made before.
fn call_count(function: &Program, given: &[Option<Operand>]) -> u32 {
    let inputs = function.inputs().len();
    let mut calls = vec![0u32; inputs];
    // Whether each variable is a constant, and whether a function or a table of such.
    let mut known: Vec<_> = given
        .iter()
        .map(|it| (it.is_some(), false, false))
        .collect();
    for step in function.steps() {
        let known_of = |operand: &Operand| match operand {
            Operand::Slot(slot) => known[slot.index()],
            other => (true, matches!(other, Operand::Primitive(_)), false),
        };
        let (is_function, is_table) = match step.callee {
            Callee::Primitive(it) if COMBINATORS.contains(&it) => {
                let mut arguments = it.parameters().iter().zip(&step.arguments);
                let are_known = arguments.all(|((_, kind), argument)| {
                    let (is_constant, is_function, _) = known_of(argument);
                    is_constant && (is_function || *kind != Type::Callable)
                });
                (are_known, false)
            }
            Callee::Primitive(it) if TABLES.contains(&it) => {
                let mut arguments = step.arguments.iter().map(known_of);
                let of_functions = |(_, is_function, is_table)| is_function || is_table;
                (false, arguments.all(of_functions))
            }
            _ => (false, false),
        };
        let is_made_before = is_function || is_table;
        let reads = step.reads().map(|slot| calls[slot.index()]);
        let count = reads.fold(1, u32::saturating_add);
        calls.push(if is_made_before { 0 } else { count });
        known.push((is_made_before, is_function, is_table));
    }
    let unneeded = unneeded_steps(function)
        .into_iter()
        .map(|at| calls[inputs + at]);
    let output = function.output().slot();
    let output = output.map_or(0, |slot| calls[slot.index()]);
    unneeded.fold(output, u32::saturating_add)
}
