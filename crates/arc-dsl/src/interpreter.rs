//! The reference interpreter: one call after the other, bounded, obvious.
//!
//! Every faster path is checked against it; it is kept simple rather than made clever. Whatever a
//! program and its input are, it gives a value or an [`EvalError`], within its [`Limits`].

use std::time::{Duration, Instant};

use smallvec::SmallVec;

use crate::container::{Collector, ContainerKind};
use crate::error::{ErrorKind, EvalError, Limit};
use crate::function::{Function, FunctionKind};
use crate::grid::Grid;
use crate::patch::{Indices, Loc, Object};
use crate::primitives::Primitive;
use crate::program::{Callee, Operand, Program, Step};
use crate::value::{MAX_INT, Value};

/// The bounds of one evaluation (one program on one grid).
///
/// The defaults are far above what programs of the public collections need. The largest evaluation
/// that was made to reach them took half a gigabyte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Steps: one a call of a primitive, and one for every [`WORK_PER_STEP`] elements that a call
    /// makes or compares. Default 10,000,000.
    pub max_steps: u64,
    /// Cells of one grid. Default 1,000,000.
    pub max_cells: u64,
    /// Elements of one container, those inside its elements counted in. Default 4,000,000.
    pub max_elements: u64,
    /// Elements of all variables together, shared ones counted each time. Default 16,000,000.
    pub max_memory: u64,
    /// How deeply containers and functions nest, and calls in calls. Default 100.
    pub max_nesting: u16,
    /// Wall-clock time; none by default, since it makes results depend on the machine.
    pub timeout: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 10_000_000,
            max_cells: 1_000_000,
            max_elements: 4_000_000,
            max_memory: 16_000_000,
            max_nesting: 100,
            timeout: None,
        }
    }
}

/// Elements that a call may make or compare for one step.
pub const WORK_PER_STEP: u64 = 64;

/// How many steps pass between two looks at the clock.
const STEPS_PER_LOOK: u64 = 4096;

/// Runs programs; keeps its buffers from one run to the next.
///
/// ```
/// use arc_dsl::{Grid, Interpreter, parse_programs};
/// let text = "def solve_67a3c6ac(I):\n    O = vmirror(I)\n    return O\n";
/// let program = parse_programs(text).remove(0)?;
/// let output = Interpreter::default().run(&program, Grid::from_rows(&[[1, 2, 3]])?)?;
/// assert_eq!(output.as_grid().unwrap().to_string(), "((3, 2, 1),)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Interpreter {
    limits: Limits,
    variables: Vec<Value>,
}

impl Interpreter {
    /// An interpreter with these bounds.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            variables: Vec::new(),
        }
    }

    /// The bounds.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The value that `program` returns for `input`, a grid as a rule.
    pub fn run(&mut self, program: &Program, input: impl Into<Value>) -> Result<Value, EvalError> {
        self.variables.clear();
        self.variables.push(input.into());
        let result = run(&self.limits, &mut self.variables, program);
        // The values are let go of here, not kept until the next run.
        self.variables.clear();
        result
    }

    /// The value of one call: `function` with these arguments.
    pub fn call(&self, function: &Value, arguments: &[&Value]) -> Result<Value, EvalError> {
        let mut context = Context::new(&self.limits);
        context
            .call_value(function, arguments)
            .map_err(|kind| context.error(0, kind))
    }
}

fn run(limits: &Limits, variables: &mut Vec<Value>, program: &Program) -> Result<Value, EvalError> {
    let mut context = Context::new(limits);
    let mut memory = 0;
    for step in program.steps() {
        let value = call_step(&mut context, variables, step)
            .map_err(|kind| context.error(step.line, kind))?;
        memory += u64::from(value.weight());
        if memory > limits.max_memory {
            return Err(context.error(step.line, Limit::Memory.into()));
        }
        variables.push(value);
    }
    Ok(resolve(variables, program.output()).clone())
}

fn call_step(
    context: &mut Context<'_>,
    variables: &[Value],
    step: &Step,
) -> Result<Value, ErrorKind> {
    let arguments: SmallVec<[&Value; 4]> = step
        .arguments
        .iter()
        .map(|operand| resolve(variables, operand))
        .collect();
    match step.callee {
        Callee::Primitive(primitive) => context.call_primitive(primitive, &arguments),
        Callee::Slot(slot) => context.call_value(&variables[slot.index()], &arguments),
    }
}

fn resolve<'a>(variables: &'a [Value], operand: &'a Operand) -> &'a Value {
    match operand {
        Operand::Slot(slot) => &variables[slot.index()],
        Operand::Primitive(primitive) => primitive.value(),
        Operand::Constant(constant) => constant.value(),
        Operand::Literal(value) => value,
    }
}

/// What one evaluation has used so far of its [`Limits`].
pub(crate) struct Context<'l> {
    limits: &'l Limits,
    steps_left: u64,
    /// Work that does not make a full step yet.
    work: u64,
    deadline: Option<Instant>,
    /// With fewer steps left than this the clock is looked at; 0 where there is no deadline.
    next_look: u64,
    nesting: u16,
    /// The primitive called last. Where one fails that calls no others, it is the one.
    running: Option<Primitive>,
    /// The innermost primitive that failed, where that is known.
    failed: Option<Primitive>,
}

impl<'l> Context<'l> {
    pub(crate) fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            steps_left: limits.max_steps,
            work: 0,
            deadline: limits.timeout.map(|timeout| Instant::now() + timeout),
            next_look: limits.timeout.map_or(0, |_| limits.max_steps),
            nesting: 0,
            running: None,
            failed: None,
        }
    }

    fn error(&self, line: u32, kind: ErrorKind) -> EvalError {
        EvalError {
            line,
            primitive: self.failed.or(self.running),
            kind,
        }
    }

    /// Calls a function value on behalf of a primitive, and notes what failed in it.
    #[inline]
    pub(crate) fn call(
        &mut self,
        function: &Value,
        arguments: &[&Value],
    ) -> Result<Value, ErrorKind> {
        let result = self.call_value(function, arguments);
        if result.is_err() {
            self.failed = self.failed.or(self.running);
        }
        result
    }

    /// What came of a primitive that calls others: a failure is its own unless one of them failed.
    pub(crate) fn settle(
        &mut self,
        primitive: Primitive,
        result: Result<Value, ErrorKind>,
    ) -> Result<Value, ErrorKind> {
        if result.is_err() {
            self.failed.get_or_insert(primitive);
        }
        result
    }

    #[inline]
    fn call_value(&mut self, function: &Value, arguments: &[&Value]) -> Result<Value, ErrorKind> {
        match function {
            Value::Primitive(primitive) => self.call_primitive(*primitive, arguments),
            Value::Function(function) => self.call_function(function, arguments),
            _ => self.refuse(ErrorKind::NotCallable {
                found: function.kind(),
            }),
        }
    }

    /// A failure of no primitive: of the one that called, if any.
    #[cold]
    fn refuse(&mut self, kind: ErrorKind) -> Result<Value, ErrorKind> {
        self.running = None;
        Err(kind)
    }

    /// Calls a primitive.
    ///
    /// Depth is counted where functions are called: primitives call nothing else.
    #[inline]
    pub(crate) fn call_primitive(
        &mut self,
        primitive: Primitive,
        arguments: &[&Value],
    ) -> Result<Value, ErrorKind> {
        self.running = Some(primitive);
        match self.spend(1) {
            Ok(()) => (primitive.native())(self, arguments),
            Err(kind) => Err(kind),
        }
    }

    #[inline(never)]
    fn call_function(
        &mut self,
        function: &Function,
        arguments: &[&Value],
    ) -> Result<Value, ErrorKind> {
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
    fn call_kind(&mut self, kind: &FunctionKind, arguments: &[&Value]) -> Result<Value, ErrorKind> {
        match kind {
            FunctionKind::Compose { outer, inner } => {
                let x = self.call_value(inner, arguments);
                let Ok(x) = &x else { return x };
                self.call_value(outer, &[x])
            }
            FunctionKind::Chain { h, g, f } => {
                let x = self.call_value(f, arguments);
                let Ok(x) = &x else { return x };
                let x = self.call_value(g, &[x]);
                let Ok(x) = &x else { return x };
                self.call_value(h, &[x])
            }
            FunctionKind::Fork { outer, a, b } => {
                let a = self.call_value(a, arguments);
                let Ok(a) = &a else { return a };
                let b = self.call_value(b, arguments);
                let Ok(b) = &b else { return b };
                self.call_value(outer, &[a, b])
            }
            FunctionKind::Matcher { function, target } => {
                let x = self.call_value(function, arguments);
                let Ok(x) = &x else { return x };
                Ok(Value::Bool(x == target))
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
                let mut x = self.call_value(function, arguments)?;
                for _ in 1..*n {
                    x = self.call_value(function, &[&x])?;
                }
                Ok(x)
            }
        }
    }

    /// A new function value.
    pub(crate) fn function(&mut self, kind: FunctionKind) -> Value {
        Function::new(kind).into()
    }

    /// A collector for a container that this evaluation may make.
    pub(crate) fn collector(&self, kind: ContainerKind) -> Collector {
        Collector::new(kind, self.limits.max_elements)
    }

    /// Asks for room for a grid of so many rows and columns, before it is made.
    pub(crate) fn reserve_grid(&mut self, height: u64, width: u64) -> Result<(), ErrorKind> {
        let cells = height.saturating_mul(width.max(1));
        if cells > self.limits.max_cells {
            Err(Limit::Cells.into())
        } else {
            Ok(())
        }
    }

    /// Asks for room for a container of so many elements, before it is made.
    pub(crate) fn reserve(&mut self, elements: u64) -> Result<(), ErrorKind> {
        if elements > self.limits.max_elements {
            Err(Limit::Elements.into())
        } else {
            Ok(())
        }
    }

    /// Accounts for `amount` elements made, compared or looked at.
    #[inline]
    pub(crate) fn work(&mut self, amount: u64) -> Result<(), ErrorKind> {
        self.work += amount;
        if self.work < WORK_PER_STEP {
            return Ok(());
        }
        let steps = self.work / WORK_PER_STEP;
        self.work %= WORK_PER_STEP;
        self.spend(steps)
    }

    #[inline]
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), ErrorKind> {
        if self.steps_left < self.next_look + steps {
            self.look(steps)?;
        }
        self.steps_left -= steps;
        Ok(())
    }

    /// Looks whether there are steps left, and at the clock.
    #[cold]
    fn look(&mut self, steps: u64) -> Result<(), ErrorKind> {
        if self.steps_left < steps {
            return Err(Limit::Steps.into());
        }
        if let Some(deadline) = self.deadline {
            self.next_look = self.steps_left.saturating_sub(STEPS_PER_LOOK);
            if Instant::now() >= deadline {
                return Err(Limit::Time.into());
            }
        }
        Ok(())
    }

    /// Checks what a primitive made against the bounds, and accounts for it.
    #[inline]
    pub(crate) fn check(&mut self, made: &impl Bounded) -> Result<(), ErrorKind> {
        made.within(self)
    }

    /// Checks a container or function of this weight.
    fn check_weight(&mut self, weight: usize) -> Result<(), ErrorKind> {
        if weight as u64 > self.limits.max_elements + 1 {
            return Err(Limit::Elements.into());
        }
        self.work(weight as u64)
    }
}

/// What a primitive makes, held against the [`Limits`] of the evaluation.
pub(crate) trait Bounded {
    /// Fails where it passes a bound.
    fn within(&self, cx: &mut Context<'_>) -> Result<(), ErrorKind>;
}

impl Bounded for bool {
    #[inline]
    fn within(&self, _: &mut Context<'_>) -> Result<(), ErrorKind> {
        Ok(())
    }
}

impl Bounded for i32 {
    #[inline]
    fn within(&self, _: &mut Context<'_>) -> Result<(), ErrorKind> {
        if self.unsigned_abs() > MAX_INT as u32 {
            return Err(out_of_range());
        }
        Ok(())
    }
}

/// Apart, so that the check of every integer is one branch that is never taken.
#[cold]
fn out_of_range() -> ErrorKind {
    Limit::Integer.into()
}

impl Bounded for Loc {
    #[inline]
    fn within(&self, cx: &mut Context<'_>) -> Result<(), ErrorKind> {
        self.i.within(cx)?;
        self.j.within(cx)
    }
}

impl Bounded for Grid {
    fn within(&self, cx: &mut Context<'_>) -> Result<(), ErrorKind> {
        if self.cells().len() as u64 > cx.limits.max_cells {
            return Err(Limit::Cells.into());
        }
        cx.work(self.cells().len() as u64)
    }
}

impl Bounded for Indices {
    fn within(&self, cx: &mut Context<'_>) -> Result<(), ErrorKind> {
        cx.check_weight(self.len())
    }
}

impl Bounded for Object {
    fn within(&self, cx: &mut Context<'_>) -> Result<(), ErrorKind> {
        cx.check_weight(self.len())
    }
}

impl Bounded for Value {
    #[inline]
    fn within(&self, cx: &mut Context<'_>) -> Result<(), ErrorKind> {
        match self {
            Value::Nothing | Value::Bool(_) | Value::Primitive(_) => Ok(()),
            Value::Int(n) => n.within(cx),
            Value::Loc(loc) => loc.within(cx),
            Value::Cell(cell) => {
                cell.colour.within(cx)?;
                cell.loc.within(cx)
            }
            Value::Grid(grid) => grid.within(cx),
            Value::Indices(indices) => indices.within(cx),
            Value::Object(object) => object.within(cx),
            Value::Tuple(_) | Value::Set(_) | Value::Function(_) => {
                if self.depth() > cx.limits.max_nesting {
                    return Err(Limit::Nesting.into());
                }
                cx.check_weight(self.weight() as usize)
            }
        }
    }
}
