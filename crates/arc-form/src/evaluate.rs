//! The form's own evaluator: runs one instruction after the other, with the primitives' own functions.
//!
//! Compiled paths are checked against it, as it is checked against the interpreter, so it is kept simple. Debug
//! builds check that every value is of its instruction's type.

use std::sync::Arc;

use super::{Form, Id, Instruction, Op, Operand, Region, Type};
use arc_dsl::{
    Container, Context, ErrorKind, EvalError, Grid, Identity, Limit, Limits, MOST_ROUNDS,
    Primitive, Type as Signature, Value,
};

/// Why an evaluation gave no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The program fails on this input, as it does in the reference.
    #[error("{0}")]
    Error(EvalError),
    /// Only the reference can evaluate the program here.
    #[error("bailed out: {0}")]
    BailOut(BailOut),
}

/// Why a form bails out of an evaluation to the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BailOut {
    /// A checked instruction of this primitive gave a value of another type.
    #[error("{}a value of another type", .0.map_or(String::new(), |it| format!("`{it}` gave ")))]
    Type(Option<Primitive>),
    /// The evaluation reached a bound that the reference counts differently.
    #[error("limit reached: {0}")]
    Limit(Limit),
}

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

    /// The form's result on this input. A form whose parameters are not exactly one grid bails out.
    pub fn run(&mut self, form: &Form, input: &Grid) -> Result<Value, Stop> {
        if !form.is_program() {
            return Err(Stop::BailOut(BailOut::Type(None)));
        }
        self.values.clear();
        self.values.resize(form.ids as usize, Value::Nothing);
        self.values[Id::INPUT.index()] = Value::Grid(Arc::new(input.clone()));
        let mut evaluation = Evaluation {
            values: &mut self.values,
            max_memory: self.limits.max_memory,
            failed: None,
            bail_out: None,
            #[cfg(test)]
            after: self.after,
        };
        let mut context = Context::new(&self.limits).with_identity(Identity::Lost);
        let result = evaluation.top(&mut context, &form.body);
        let result = result.map_err(|kind| evaluation.stop(kind));
        self.values.clear();
        result
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

impl Evaluation<'_> {
    /// Turns a failure into the end of the evaluation.
    fn stop(&self, kind: ErrorKind) -> Stop {
        match (self.bail_out, kind) {
            (Some(reason), _) => Stop::BailOut(reason),
            // The reference counts these differently: see the crate's documentation.
            (
                None,
                ErrorKind::Limit(
                    limit @ (Limit::Steps | Limit::Memory | Limit::Nesting | Limit::Elements),
                ),
            ) => Stop::BailOut(BailOut::Limit(limit)),
            (None, kind) => {
                let (line, primitive) = self.failed.unwrap_or((0, None));
                Stop::Error(EvalError {
                    line,
                    primitive,
                    kind,
                })
            }
        }
    }

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
        Ok(self.value(&body.result))
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
        Ok(self.value(&region.result))
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
        let given: Vec<&Value> = arguments.iter().collect();
        match instruction.op {
            Op::Call(primitive) if primitive.is_first_order() => {
                cx.call_primitive(primitive, &given)
            }
            Op::Call(primitive) => self.run_loop(cx, primitive, &given, &instruction.regions),
            Op::Tuple | Op::Set => {
                cx.spend(1)?;
                let made = match instruction.op {
                    Op::Tuple => Value::tuple(arguments),
                    _ => Value::set(arguments),
                };
                cx.check_value(&made)?;
                Ok(made)
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
            Op::Count => match arguments[0].as_int() {
                Some(n @ 1..=MOST_ROUNDS) => Ok(Value::Int(n)),
                Some(n) => Err(ErrorKind::Recursion(n)),
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
            Op::Fused(_) => self.region(cx, &instruction.regions[0], &given),
            Op::Absent => Ok(Value::Nothing),
            // Only the reference knows whether Python raises or accepts the argument.
            Op::Fail(primitive, ErrorKind::Type { .. }) => {
                self.bail_out = Some(BailOut::Type(primitive));
                Err(Limit::Steps.into())
            }
            Op::Fail(_, error) => Err(error),
        }
    }

    fn run_loop(
        &mut self,
        cx: &mut Context<'_>,
        primitive: Primitive,
        arguments: &[&Value],
        regions: &[Region],
    ) -> Result<Value, ErrorKind> {
        use Primitive as P;
        let empty = |value: &Value| value.as_container().is_some_and(Container::is_empty);
        if matches!(primitive, P::Valmax | P::Valmin) && empty(arguments[0]) {
            cx.spend(1)?;
            return self.region(cx, &regions[1], &[]);
        }
        cx.call_loop(primitive, arguments, &mut |cx, items| {
            self.region(cx, &regions[0], items)
        })
    }
}
