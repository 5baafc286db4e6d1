//! The form's own evaluator: runs one instruction after the other, with the primitives' own functions.
//!
//! Compiled paths are checked against it, as it is checked against the interpreter, so it is kept simple. Debug
//! builds check that every value is of its instruction's type.

use std::fmt;
use std::sync::Arc;

use super::{Failure, Form, Id, Instruction, Needs, Op, Operand, Output, Region, Type};
use arc_dsl::{
    Container, Context, ErrorKind, EvalError, Grid, Limit, Limits, Primitive, Type as Signature,
    Value,
};

/// Why an evaluation gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The program fails on this input, as it does in the reference.
    Error(EvalError),
    /// Only the reference can evaluate the program here.
    BailOut(BailOut),
}

/// Why a form bails out of an evaluation to the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BailOut {
    /// A checked instruction of this primitive gave a value of another type.
    Type(Option<Primitive>),
    /// The evaluation reached a bound that the reference counts differently.
    Limit(Limit),
}

impl fmt::Display for BailOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BailOut::Type(Some(primitive)) => {
                write!(f, "`{primitive}` gave a value of another type")
            }
            BailOut::Type(None) => f.write_str("a value of another type"),
            BailOut::Limit(limit) => write!(f, "limit reached: {limit}"),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Error(error) => error.fmt(f),
            Stop::BailOut(reason) => write!(f, "bailed out: {reason}"),
        }
    }
}

impl std::error::Error for Stop {}

/// Runs forms; keeps its buffers from one run to the next.
#[derive(Debug, Default)]
pub struct Evaluator {
    limits: Limits,
    values: Vec<Value>,
    /// Changes each value before it is used, to test which cells may be dropped.
    #[cfg(test)]
    pub(super) after: Option<fn(&Instruction, Value) -> Value>,
}

impl Evaluator {
    /// An evaluator with these bounds.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The form's result on this input, the first one if it has several. A form whose parameters are not
    /// exactly one grid bails out.
    pub fn run(&mut self, form: &Form, input: &Grid) -> Result<Value, Stop> {
        if !form.is_program() {
            return Err(Stop::BailOut(BailOut::Type(None)));
        }
        let needs = form.outputs.first().map(|output| &output.needs);
        if let (Some(Needs::These(_)), Some(first)) = (needs, form.slice(0)) {
            return self.run(&first, input);
        }
        let mut evaluation =
            Evaluation::start(&mut self.values, form, input, self.limits.max_memory);
        #[cfg(test)]
        {
            evaluation.after = self.after;
        }
        let mut context = Context::new(&self.limits);
        let result = evaluation.top(&mut context, &form.body);
        let (failed, bail_out) = (evaluation.failed, evaluation.bail_out);
        self.values.clear();
        result.map_err(|kind| stop(failed, bail_out, kind))
    }

    /// The outcomes of all results of the form on this input, in their order.
    ///
    /// Every instruction of the body is evaluated once, unless an instruction whose value it reads fails. A
    /// result ends with the first failure among its [needs](Needs), otherwise with its value.
    ///
    /// Steps are bounded for each result as if it were alone. The values that are held at the same time, for
    /// later instructions or as results, are bounded together: a value for which there is no room bails out,
    /// with all results that need it.
    pub fn run_all(&mut self, form: &Form, input: &Grid) -> Vec<Result<Value, Stop>> {
        if !form.is_program() {
            return vec![Err(Stop::BailOut(BailOut::Type(None))); form.outputs.len()];
        }
        let ids = form.ids as usize;
        let mut evaluation =
            Evaluation::start(&mut self.values, form, input, self.limits.max_memory);
        #[cfg(test)]
        {
            evaluation.after = self.after;
        }
        let mut context = Context::new(&self.limits);
        let instructions = &form.body.instructions;
        let reads: Vec<_> = instructions.iter().map(Instruction::reads).collect();
        // The number of remaining uses of each value: it is dropped after the last one.
        let mut uses = vec![0u32; ids];
        uses[Id::INPUT.index()] = 1;
        let results = form.body.results.iter().filter_map(|result| match result {
            Operand::Id(id) => Some(id),
            Operand::Constant(_) => None,
        });
        for id in reads.iter().flatten().chain(results) {
            uses[id.index()] += 1;
        }
        let mut memory = 0;
        let mut instruction_outcomes: Vec<InstructionOutcome> =
            vec![InstructionOutcome::default(); ids];
        for (instruction, reads) in instructions.iter().zip(&reads) {
            let id = instruction.id.index();
            if reads
                .iter()
                .any(|id| instruction_outcomes[id.index()].stop.is_some())
            {
                // An operand failed, so this is not the first failure among any result's needs.
                instruction_outcomes[id].stop = Some(Stop::BailOut(BailOut::Type(None)));
            } else {
                let result = evaluation
                    .step(&mut context, instruction)
                    .and_then(|value| {
                        instruction_outcomes[id].weight = u64::from(value.weight());
                        memory += instruction_outcomes[id].weight;
                        evaluation.values[id] = value;
                        if memory > evaluation.max_memory {
                            return Err(Limit::Memory.into());
                        }
                        Ok(())
                    });
                let (failed, bail_out) = (evaluation.failed.take(), evaluation.bail_out.take());
                let stop = result.map_err(|kind| stop(failed, bail_out, kind)).err();
                instruction_outcomes[id].steps = context.renew();
                instruction_outcomes[id].stop = stop;
            }
            let unused = (uses[id] == 0 || instruction_outcomes[id].stop.is_some())
                .then_some(&instruction.id);
            for one in reads {
                uses[one.index()] -= 1;
            }
            let read = reads.iter().filter(|id| uses[id.index()] == 0);
            for id in read.chain(unused) {
                memory -= std::mem::take(&mut instruction_outcomes[id.index()].weight);
                evaluation.values[id.index()] = Value::Nothing;
            }
        }
        let outcomes = form.outputs.iter().zip(&form.body.results);
        let outcomes = outcomes.map(|(output, result)| {
            check_needs(form, output, &instruction_outcomes, self.limits.max_steps)?;
            Ok(evaluation.value(result))
        });
        let outcomes = outcomes.collect();
        self.values.clear();
        outcomes
    }
}

/// The outcome of an instruction, without its value.
#[derive(Debug, Clone, Default)]
struct InstructionOutcome {
    /// How many steps it took.
    steps: u64,
    /// The weight of its value while that is kept.
    weight: u64,
    /// Why it gave no value.
    stop: Option<Stop>,
}

/// The error of the first instruction that failed among the needs of a result.
fn check_needs(
    form: &Form,
    output: &Output,
    instruction_outcomes: &[InstructionOutcome],
    max_steps: u64,
) -> Result<(), Stop> {
    let mut steps = 0;
    let mut end = |id: Id, line: Option<u32>| {
        let end = &instruction_outcomes[id.index()];
        steps += end.steps;
        if steps > max_steps {
            return Err(Stop::BailOut(BailOut::Limit(Limit::Steps)));
        }
        match (&end.stop, line) {
            (None, _) => Ok(()),
            (Some(Stop::Error(error)), Some(line)) => {
                Err(Stop::Error(EvalError { line, ..*error }))
            }
            (Some(stop), _) => Err(stop.clone()),
        }
    };
    match &output.needs {
        Needs::All => {
            let mut all = form.body.instructions.iter();
            all.try_for_each(|instruction| end(instruction.id, None))
        }
        Needs::These(needs) => {
            let mut needs = needs.iter();
            needs.try_for_each(|need| end(need.id, Some(need.line)))
        }
    }
}

/// Turns a failure into the end of an evaluation.
fn stop(
    failed: Option<(u32, Option<Primitive>)>,
    bail_out: Option<BailOut>,
    kind: ErrorKind,
) -> Stop {
    match (bail_out, kind) {
        (Some(reason), _) => Stop::BailOut(reason),
        // The reference counts these differently: see the crate's documentation.
        (
            None,
            ErrorKind::Limit(
                limit @ (Limit::Steps | Limit::Memory | Limit::Nesting | Limit::Elements),
            ),
        ) => Stop::BailOut(BailOut::Limit(limit)),
        (None, kind) => {
            let (line, primitive) = failed.unwrap_or((0, None));
            Stop::Error(EvalError {
                line,
                primitive,
                kind,
            })
        }
    }
}

/// One evaluation.
struct Evaluation<'v> {
    values: &'v mut Vec<Value>,
    max_memory: u64,
    /// The innermost instruction that failed: its line and primitive.
    failed: Option<(u32, Option<Primitive>)>,
    bail_out: Option<BailOut>,
    #[cfg(test)]
    after: Option<fn(&Instruction, Value) -> Value>,
}

impl<'v> Evaluation<'v> {
    /// A new evaluation, with only the input.
    fn start(values: &'v mut Vec<Value>, form: &Form, input: &Grid, max_memory: u64) -> Self {
        values.clear();
        values.resize(form.ids as usize, Value::Nothing);
        values[Id::INPUT.index()] = Value::Grid(Arc::new(input.clone()));
        Self {
            values,
            max_memory,
            failed: None,
            bail_out: None,
            #[cfg(test)]
            after: None,
        }
    }
}

impl Evaluation<'_> {
    fn value(&self, operand: &Operand) -> Value {
        match operand {
            Operand::Id(id) => self.values[id.index()].clone(),
            Operand::Constant(value) => value.clone(),
        }
    }

    /// Evaluates the form's body; the total weight of its values is bounded.
    fn top(&mut self, cx: &mut Context<'_>, body: &Region) -> Result<Value, ErrorKind> {
        let mut memory = 0;
        for instruction in &body.instructions {
            let value = self.step(cx, instruction)?;
            memory += u64::from(value.weight());
            if memory > self.max_memory {
                return Err(Limit::Memory.into());
            }
            self.values[instruction.id.index()] = value;
        }
        Ok(self.value(body.result()))
    }

    fn region(
        &mut self,
        cx: &mut Context<'_>,
        region: &Region,
        arguments: &[&Value],
    ) -> Result<Value, ErrorKind> {
        for ((id, ty), argument) in region.parameters.iter().zip(arguments) {
            debug_assert!(argument.has_type(ty), "v{}: {ty} = {argument}", id.0);
            self.values[id.index()] = (*argument).clone();
        }
        for instruction in &region.instructions {
            self.values[instruction.id.index()] = self.step(cx, instruction)?;
        }
        Ok(self.value(region.result()))
    }

    fn step(
        &mut self,
        cx: &mut Context<'_>,
        instruction: &Instruction,
    ) -> Result<Value, ErrorKind> {
        let primitive = match instruction.op {
            Op::Call(primitive) => Some(primitive),
            Op::Count => Some(Primitive::Power),
            Op::Fail(primitive, _) => primitive,
            _ => None,
        };
        let value = match self.evaluate_op(cx, instruction) {
            Ok(value) => value,
            Err(kind) => {
                self.failed.get_or_insert((instruction.line, primitive));
                return Err(kind);
            }
        };
        if instruction.checked && !value.has_type(&instruction.ty) {
            self.bail_out = Some(BailOut::Type(primitive));
            return Err(Limit::Steps.into());
        }
        debug_assert!(
            instruction.op == Op::Absent || Self::fits(instruction, &value),
            "v{}: {} = {value}",
            instruction.id.0,
            instruction.ty
        );
        #[cfg(test)]
        let value = match self.after {
            Some(after) => after(instruction, value),
            None => value,
        };
        Ok(value)
    }

    /// Whether the value is of the type; absent values of an arm are not checked.
    fn fits(instruction: &Instruction, value: &Value) -> bool {
        fn fits(ty: &Type, value: &Value) -> bool {
            match (ty.items(), value.as_container()) {
                (_, None) if *value == Value::Nothing => true,
                (Some(items), Some(container)) if items.len() == container.len() => items
                    .iter()
                    .zip(container.iter())
                    .all(|(ty, item)| fits(ty, &item)),
                _ => value.has_type(ty),
            }
        }
        match instruction.op {
            Op::If | Op::Choose | Op::Tuple | Op::Set | Op::Item(_) => fits(&instruction.ty, value),
            _ => value.has_type(&instruction.ty),
        }
    }

    fn evaluate_op(
        &mut self,
        cx: &mut Context<'_>,
        instruction: &Instruction,
    ) -> Result<Value, ErrorKind> {
        let arguments: Vec<Value> = instruction
            .arguments
            .iter()
            .map(|o| self.value(o))
            .collect();
        match instruction.op {
            Op::Call(primitive) if primitive.is_first_order() => {
                let arguments: Vec<&Value> = arguments.iter().collect();
                cx.call_primitive(primitive, &arguments)
            }
            Op::Call(primitive) => self.run_loop(cx, primitive, &arguments, &instruction.regions),
            Op::Tuple => {
                cx.spend(1)?;
                let tuple = Value::tuple(arguments);
                cx.check_value(&tuple)?;
                Ok(tuple)
            }
            Op::Item(at) => arguments[0]
                .as_container()
                .and_then(|container| container.value(usize::from(at)))
                .ok_or(ErrorKind::OutOfRange),
            Op::If => {
                let arm = usize::from(!arguments[0].is_truthy());
                self.region(cx, &instruction.regions[arm], &[])
            }
            Op::Choose => {
                let arm = arguments[0]
                    .as_int()
                    .and_then(|at| instruction.regions.get(usize::try_from(at).ok()?))
                    .ok_or(ErrorKind::OutOfRange)?;
                self.region(cx, arm, &[])
            }
            Op::Set => {
                cx.spend(1)?;
                let set = Value::set(arguments);
                cx.check_value(&set)?;
                Ok(set)
            }
            Op::Count => match arguments[0].as_int() {
                Some(n) if n > 0 => Ok(Value::Int(n)),
                Some(n) => Err(ErrorKind::NotPositive(n)),
                None => Err(ErrorKind::Type {
                    argument: 1,
                    expected: Signature::Integer,
                    found: arguments[0].kind(),
                }),
            },
            Op::Iterate => {
                let rounds = arguments[0].as_int().unwrap_or(0);
                let mut value = arguments[1].clone();
                for _ in 0..rounds {
                    value = self.region(cx, &instruction.regions[0], &[&value])?;
                }
                Ok(value)
            }
            Op::Fused(_) => {
                let arguments: Vec<&Value> = arguments.iter().collect();
                self.region(cx, &instruction.regions[0], &arguments)
            }
            Op::Absent => Ok(Value::Nothing),
            // Only the reference knows whether Python raises or accepts the argument.
            Op::Fail(primitive, Failure::Type { .. }) => {
                self.bail_out = Some(BailOut::Type(primitive));
                Err(Limit::Steps.into())
            }
            Op::Fail(_, failure) => Err(failure.into()),
        }
    }

    fn run_loop(
        &mut self,
        cx: &mut Context<'_>,
        primitive: Primitive,
        arguments: &[Value],
        regions: &[Region],
    ) -> Result<Value, ErrorKind> {
        use Primitive as P;
        let empty = |value: &Value| value.as_container().is_some_and(Container::is_empty);
        if matches!(primitive, P::Valmax | P::Valmin) && empty(&arguments[0]) {
            cx.spend(1)?;
            return self.region(cx, &regions[1], &[]);
        }
        let arguments: Vec<&Value> = arguments.iter().collect();
        cx.call_loop(primitive, &arguments, &mut |cx, items| {
            self.region(cx, &regions[0], items)
        })
    }
}
