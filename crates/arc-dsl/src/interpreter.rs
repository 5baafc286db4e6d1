//! The reference interpreter: simple, bounded, one call after the other.
//!
//! All faster executors are checked against it, so it is kept simple. For every program and input it returns a value or
//! an [`EvalError`], within its [`Limits`].

use smallvec::SmallVec;

use arc_isa::Primitive;

use crate::budget::{Context, Identity, Limits};
use crate::dialect::Sample;
use crate::error::{ErrorKind, EvalError, EvalResult, Limit};
use crate::grid::Grid;
use crate::primitives::{MOST_ROUNDS, native};
use crate::program::{Callee, Operand, Program, Slot, Step};
use crate::sizes;
use crate::typed::TypedPrimitive;
use crate::value::Value;
use crate::value::function::{Function, FunctionKind};

/// Runs programs; reuses its buffers between runs.
///
/// ```
/// use arc_dsl::{Grid, Interpreter, Primitive, ProgramBuilder};
/// let mut builder = ProgramBuilder::new("solve_67a3c6ac");
/// let mirrored = builder.call(Primitive::Vmirror, [builder.input()])?;
/// let program = builder.finish(mirrored)?;
/// let output = Interpreter::default().run(&program, Grid::from_rows(&[[1, 2, 3]])?)?;
/// assert_eq!(output.as_grid().unwrap().to_string(), "((3, 2, 1),)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Interpreter {
    limits: Limits,
    variables: Vec<Value>,
    identity: Identity,
}

impl Interpreter {
    /// An interpreter with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The same for values of which less is known.
    #[must_use]
    pub fn with_identity(self, identity: Identity) -> Self {
        Self { identity, ..self }
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Runs `program` on `input`, usually a grid, and returns its result.
    ///
    /// A program of the typed dialect gets no train pairs and no expected output; use [`run_on`](Self::run_on) to pass
    /// them.
    pub fn run(&mut self, program: &Program, input: impl Into<Value>) -> Result<Value, EvalError> {
        match program.inputs() {
            [_] => self.run_on(program, [input.into()]),
            _ => self.run_on(program, Sample::alone(input.into()).into_inputs()),
        }
    }

    /// Runs a program on an input; nothing if its output is not `expected` because it has another size, which is told
    /// without its last steps.
    pub fn run_against(
        &mut self,
        program: &Program,
        input: &Grid,
        expected: &Grid,
    ) -> Result<Option<Value>, EvalError> {
        let input = input.clone();
        if program.inputs().len() != 1 {
            return self.run(program, input).map(Some);
        }
        self.variables.clear();
        self.variables.push(input.into());
        let mut context = Context::new(&self.limits).with_identity(self.identity);
        let result = run_against(&mut context, &mut self.variables, program, expected);
        self.variables.clear();
        result
    }

    /// Runs `program` on as many inputs as it has parameters.
    pub fn run_on(
        &mut self,
        program: &Program,
        inputs: impl IntoIterator<Item = Value>,
    ) -> Result<Value, EvalError> {
        let result = self.follow(program, inputs);
        // Drop the values here instead of keeping them until the next run.
        self.variables.clear();
        result
    }

    /// Runs a program and also returns the values of its variables, inputs included, up to the first step that fails.
    ///
    /// ```
    /// use arc_dsl::{Grid, Interpreter, Primitive, ProgramBuilder};
    /// let mut builder = ProgramBuilder::new("f");
    /// let colours = builder.call(Primitive::Palette, [builder.input()])?;
    /// let failing = builder.call(Primitive::Argmax, [colours, Primitive::First.into()])?;
    /// let program = builder.finish(failing)?.with_lines([2, 3]);
    /// let (values, result) = Interpreter::default().trace(&program, [Grid::filled(1, 1, 3).into()]);
    /// assert_eq!(values[1].to_string(), "frozenset({3})");
    /// assert_eq!((values.len(), result.unwrap_err().line), (2, 3));
    /// # Ok::<(), arc_dsl::BuildError>(())
    /// ```
    pub fn trace(
        &mut self,
        program: &Program,
        inputs: impl IntoIterator<Item = Value>,
    ) -> (Vec<Value>, Result<Value, EvalError>) {
        let result = self.follow(program, inputs);
        (std::mem::take(&mut self.variables), result)
    }

    /// Runs a program; the variables stay in `self` until the next run.
    fn follow(
        &mut self,
        program: &Program,
        inputs: impl IntoIterator<Item = Value>,
    ) -> Result<Value, EvalError> {
        self.variables.clear();
        self.variables.extend(inputs);
        let (expected, found) = (program.inputs().len(), self.variables.len());
        if expected != found {
            let count = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
            return Err(EvalError {
                line: program.line(),
                primitive: None,
                kind: ErrorKind::ArgumentCount {
                    expected: count(expected),
                    found: count(found),
                },
            });
        }
        let mut context = Context::new(&self.limits).with_identity(self.identity);
        run(&mut context, &mut self.variables, program.steps())?;
        Ok(resolve(&self.variables, program.output()).clone())
    }

    /// The values of all variables of a program, inputs included. The limits apply to each step separately, except that
    /// the memory limit applies to all steps together. If `guarded`, a failing step gives the empty tuple; otherwise it
    /// ends the program. A step that reaches a limit has no value, nor do the steps that depend on it.
    pub fn run_steps(
        &mut self,
        program: &Program,
        inputs: impl IntoIterator<Item = Value>,
        guarded: bool,
    ) -> Result<Vec<Result<Value, EvalError>>, EvalError> {
        let mut context = Context::new(&self.limits);
        let mut held = 0;
        let mut values: Vec<Result<Value, EvalError>> = inputs.into_iter().map(Ok).collect();
        for step in program.steps() {
            context.renew();
            let value = context
                .hold(held)
                .map_err(|kind| context.error(step.line, kind))
                .and_then(|()| call_step_of(&mut context, &values, step));
            match value {
                Ok(value) => {
                    let value = context.keep(value);
                    held += u64::from(value.weight());
                    values.push(Ok(value));
                }
                Err(error) if error.limit().is_some() => values.push(Err(error)),
                Err(_) if guarded => values.push(Ok(Value::tuple(Vec::new()))),
                Err(error) => return Err(error),
            }
        }
        Ok(values)
    }

    /// Calls `function` with these arguments and returns its value.
    ///
    /// This is what the reference does for each call of a program. To evaluate millions of calls on the same inputs, as
    /// a search does, use `Batt` of the crate arc-cpu, which gives the same results.
    pub fn call(&self, function: &Value, arguments: &[&Value]) -> Result<Value, EvalError> {
        self.call_counted(function, arguments).0
    }

    /// Like [`call`](Self::call), and also returns the steps that it took.
    pub fn call_counted(
        &self,
        function: &Value,
        arguments: &[&Value],
    ) -> (Result<Value, EvalError>, u64) {
        let mut context = Context::new(&self.limits).with_identity(self.identity);
        let result = context
            .call_value(function, arguments)
            .map_err(|kind| context.error(0, kind));
        (result, self.limits.max_steps - context.steps_left)
    }
}

/// Adds the values of these steps to those of the variables before them.
fn run(
    context: &mut Context<'_>,
    variables: &mut Vec<Value>,
    steps: &[Step],
) -> Result<(), EvalError> {
    for step in steps {
        let value = call_step(context, variables, step)
            .and_then(|value| {
                let value = context.keep(value);
                context.hold(u64::from(value.weight()))?;
                Ok(value)
            })
            .map_err(|kind| context.error(step.line, kind))?;
        variables.push(value);
    }
    Ok(())
}

/// The output of a program, given its input; nothing once it is known to be of another size than this one.
fn run_against(
    context: &mut Context<'_>,
    variables: &mut Vec<Value>,
    program: &Program,
    expected: &Grid,
) -> Result<Option<Value>, EvalError> {
    /// Values that weigh no more are made as fast as the sizes of what is made of them are found: as many cells as four
    /// of the largest grids have.
    const SMALL: u32 = 3_600;
    let steps = program.steps();
    let mut are_small = true;
    loop {
        let from = variables.len() - program.inputs().len();
        are_small &= variables
            .last()
            .is_none_or(|last| last.own_weight() <= SMALL);
        if are_small && from + 1 < steps.len() {
            run(context, variables, &steps[from..=from])?;
            continue;
        }
        match sizes::of_output(context, program, variables) {
            Ok(Some(size)) if size != (expected.height(), expected.width()) => return Ok(None),
            Ok(_) => {
                run(context, variables, &steps[from..])?;
                return Ok(Some(resolve(variables, program.output()).clone()));
            }
            Err(at) => run(context, variables, &steps[from..=at])?,
        }
    }
}

fn call_step(context: &mut Context<'_>, variables: &[Value], step: &Step) -> EvalResult<Value> {
    let arguments: SmallVec<[&Value; 4]> = step
        .arguments
        .iter()
        .map(|operand| resolve(variables, operand))
        .collect();
    match step.callee {
        Callee::Primitive(primitive) => context.call_primitive(primitive, &arguments),
        Callee::Typed(primitive) => context.call_typed(primitive, &arguments),
        Callee::Slot(slot) => context.call_value(&variables[slot.index()], &arguments),
    }
}

/// The value of a step whose arguments may lack values.
fn call_step_of(
    context: &mut Context<'_>,
    variables: &[Result<Value, EvalError>],
    step: &Step,
) -> Result<Value, EvalError> {
    let of_slot = |slot: Slot| variables[slot.index()].as_ref().map_err(|error| *error);
    let mut arguments: SmallVec<[&Value; 4]> = SmallVec::new();
    for operand in &step.arguments {
        arguments.push(match operand {
            Operand::Slot(slot) => of_slot(*slot)?,
            constant => resolve(&[], constant),
        });
    }
    let value = match step.callee {
        Callee::Primitive(primitive) => context.call_primitive(primitive, &arguments),
        Callee::Typed(primitive) => context.call_typed(primitive, &arguments),
        Callee::Slot(slot) => context.call_value(of_slot(slot)?, &arguments),
    };
    value.map_err(|kind| context.error(step.line, kind))
}

fn resolve<'a>(variables: &'a [Value], operand: &'a Operand) -> &'a Value {
    match operand {
        Operand::Slot(slot) => &variables[slot.index()],
        Operand::Primitive(primitive) => Value::primitive(*primitive),
        Operand::Constant(constant) => constant.value(),
        Operand::Literal(value) => value,
    }
}

impl Context<'_> {
    fn error(&self, line: u32, kind: ErrorKind) -> EvalError {
        EvalError {
            line,
            primitive: self.failed.or(self.running),
            kind,
        }
    }

    /// Calls a function value on behalf of a primitive, and records what failed in it.
    #[inline]
    pub(crate) fn call(&mut self, function: &Value, arguments: &[&Value]) -> EvalResult<Value> {
        let result = self.call_value(function, arguments);
        if result.is_err() {
            self.failed = self.failed.or(self.running);
        }
        result
    }

    /// The result of a primitive that calls others. If it is an error, the primitive is recorded as the one that
    /// failed, unless a primitive that it called is.
    pub(crate) fn attribute(
        &mut self,
        primitive: Primitive,
        result: Result<Value, ErrorKind>,
    ) -> EvalResult<Value> {
        if result.is_err() {
            self.failed.get_or_insert(primitive);
        }
        result
    }

    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "functions call each other by it: 2% of all instructions"
    )]
    fn call_value(&mut self, function: &Value, arguments: &[&Value]) -> EvalResult<Value> {
        match function {
            Value::Primitive(primitive) => self.call_primitive(*primitive, arguments),
            Value::Function(function) => self.call_function(function, arguments),
            Value::Foreign(foreign) if foreign.is_function() => foreign.call(self, arguments),
            _ => self.refuse(ErrorKind::NotCallable {
                found: function.kind(),
            }),
        }
    }

    /// A failure outside any primitive: attributed to the calling primitive, if any.
    #[cold]
    fn refuse(&mut self, kind: ErrorKind) -> EvalResult<Value> {
        self.running = None;
        Err(kind)
    }

    /// Calls a primitive.
    ///
    /// The nesting depth is counted when function values are called, since primitives call nothing else.
    #[inline]
    pub fn call_primitive(
        &mut self,
        primitive: Primitive,
        arguments: &[&Value],
    ) -> Result<Value, ErrorKind> {
        self.running = Some(primitive);
        match self.spend(1) {
            Ok(()) => native(primitive)(self, arguments),
            Err(kind) => Err(kind),
        }
    }

    /// Calls a primitive of the typed dialect. If it fails, it returns its default, and the evaluation continues as if
    /// the call had held no memory; reaching a limit remains an error.
    #[cold]
    #[inline(never)]
    pub(crate) fn call_typed(
        &mut self,
        primitive: TypedPrimitive,
        arguments: &[&Value],
    ) -> EvalResult<Value> {
        self.spend(1)?;
        if self.nesting >= self.limits.max_nesting {
            return Err(Limit::Nesting.into());
        }
        let memory = self.memory_left;
        self.nesting += 1;
        let result = primitive.call(self, arguments);
        self.nesting -= 1;
        match result {
            Err(kind) if !matches!(kind, ErrorKind::Limit(_)) => {
                self.memory_left = memory;
                self.failed = None;
                Ok(primitive.default_value())
            }
            result => result,
        }
    }

    #[inline(never)]
    fn call_function(&mut self, function: &Function, arguments: &[&Value]) -> EvalResult<Value> {
        let expected = function.parameters();
        if arguments.len() != usize::from(expected) {
            return self.refuse(ErrorKind::ArgumentCount {
                expected,
                found: u8::try_from(arguments.len()).unwrap_or(u8::MAX),
            });
        }
        if self.nesting >= self.limits.max_nesting {
            return self.refuse(Limit::Nesting.into());
        }
        self.nesting += 1;
        let result = self.call_kind(function.kind(), arguments);
        self.nesting -= 1;
        result
    }

    #[inline]
    fn call_kind(&mut self, kind: &FunctionKind, arguments: &[&Value]) -> EvalResult<Value> {
        match kind {
            FunctionKind::Compose { outer, inner } => {
                let x = self.call_value(inner, arguments);
                let Ok(x) = &x else { return x };
                self.call_on(outer, x)
            }
            FunctionKind::Chain { h, g, f } => {
                let x = self.call_value(f, arguments);
                let Ok(x) = &x else { return x };
                let x = self.call_on(g, x);
                let Ok(x) = &x else { return x };
                self.call_on(h, x)
            }
            FunctionKind::Fork { outer, a, b } => {
                let a = self.call_value(a, arguments);
                let Ok(a) = &a else { return a };
                let held = if a.is_heavy() { self.hold_heavy(a)? } else { 0 };
                let b = self.call_value(b, arguments);
                let Ok(b) = &b else { return b };
                if held > 0 || b.is_heavy() {
                    let held = held + self.hold_heavy(b)?;
                    return self.call_holding(held, outer, &[a, b]);
                }
                self.call_value(outer, &[a, b])
            }
            FunctionKind::Matcher { function, target } => {
                let x = self.call_value(function, arguments);
                let Ok(x) = &x else { return x };
                if x.is_heavy() {
                    self.charge_read(x.weight().min(target.weight()))?;
                }
                Ok(Value::Bool(x == target && !x.is_nan()))
            }
            FunctionKind::LBind {
                function, fixed, ..
            } => match *arguments {
                [a] => self.call_value(function, &[fixed, a]),
                [a, b] => self.call_value(function, &[fixed, a, b]),
                _ => self.call_value(function, &[&[fixed], arguments].concat()),
            },
            FunctionKind::RBind {
                function, fixed, ..
            } => match *arguments {
                [a] => self.call_value(function, &[a, fixed]),
                [a, b] => self.call_value(function, &[a, b, fixed]),
                _ => self.call_value(function, &[arguments, &[fixed]].concat()),
            },
            FunctionKind::Power { function, n } => {
                let around = self.rounds;
                let result = self.call_rounds(function, *n, arguments);
                self.rounds = around;
                result
            }
        }
    }

    /// Each round is called by the one after it, so the first one is called by all others, and Python recurses as deep.
    fn call_rounds(&mut self, function: &Value, n: i32, arguments: &[&Value]) -> EvalResult<Value> {
        let around = self.rounds;
        self.rounds += n - 1;
        if self.rounds >= MOST_ROUNDS {
            return self.refuse(ErrorKind::Recursion(self.rounds + 1));
        }
        let mut x = self.call_value(function, arguments)?;
        for left in (1..n).rev() {
            self.rounds = around + left;
            x = self.call_on(function, &x)?;
        }
        Ok(x)
    }

    /// Calls a function on the result of another one, which is held while it runs.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "functions call each other by it: 2% of all instructions"
    )]
    fn call_on(&mut self, function: &Value, x: &Value) -> EvalResult<Value> {
        if x.is_heavy() {
            let held = self.hold_heavy(x)?;
            return self.call_holding(held, function, &[x]);
        }
        self.call_value(function, &[x])
    }

    /// Calls a function on heavy arguments that only the caller holds, counts them as held during the call and releases
    /// them.
    #[cold]
    #[inline(never)]
    fn call_holding(
        &mut self,
        held: u64,
        function: &Value,
        arguments: &[&Value],
    ) -> EvalResult<Value> {
        let result = self.call_value(function, arguments);
        self.release(held);
        result
    }

    /// Like `hold_weight`, for a value that no variable holds while others are evaluated.
    #[inline]
    pub(crate) fn hold_heavy(&mut self, value: &Value) -> EvalResult<u64> {
        self.hold_weight(u64::from(value.weight()))
    }
}
