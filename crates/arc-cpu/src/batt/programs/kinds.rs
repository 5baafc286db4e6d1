//! The kinds of values that errors name.
//!
//! The tuple of a grid's rows equals the grid and is the same node, but errors of the reference say which of
//! the two it is. If that may be the other one, the reference has to give the error.

use arc_dsl::{
    Callee, ErrorKind, EvalError, Operand, Program, Step, Type as Signature, Value, ValueKind,
};
use smallvec::SmallVec;

use crate::batt::{Batt, MOST_ARGUMENTS, NodeId};

impl Batt {
    /// The error of a step as the reference gives it, if it may name another kind of value.
    pub(super) fn with_kind(
        &mut self,
        error: EvalError,
        program: &Program,
        step: &Step,
        variables: &[NodeId],
        input: usize,
    ) -> EvalError {
        if !names_either(&error) {
            return error;
        }
        let certain = of_one_kind(program, variables.len());
        if !self.may_name_another(&error, &certain, step, variables, input) {
            return error;
        }
        self.counts.by_reference += 1;
        if let Some(kind) = self.kind_of_error(program, &certain, variables, input) {
            return EvalError {
                line: step.line,
                ..kind
            };
        }
        let grid = self.value(self.input(), input);
        let alone = grid.and_then(|grid| self.interpreter.run(program, grid));
        alone.err().unwrap_or(error)
    }

    /// How the last of the steps that have variables fails in the reference, which only repeats the steps that
    /// it depends on and whose value may be of another kind. `None` if one of them ends differently than
    /// before.
    fn kind_of_error(
        &self,
        program: &Program,
        certain: &[bool],
        variables: &[NodeId],
        input: usize,
    ) -> Option<EvalError> {
        let last = variables.len().checked_sub(1)?;
        let mut wanted = vec![false; variables.len()];
        wanted[last] = true;
        // The step of a variable has the number before it, since the first variable is the input.
        for at in (1..=last).rev() {
            if wanted[at] && (at == last || !certain[at]) {
                let step = program.steps().get(at - 1)?;
                for slot in step.reads() {
                    wanted[slot.index()] = true;
                }
            }
        }
        let mut values = vec![Value::Nothing; variables.len()];
        for at in (0..=last).filter(|at| wanted[*at]) {
            if at < last && certain[at] {
                values[at] = self.reference_value(variables[at], input).ok()?;
                continue;
            }
            let step = program.steps().get(at - 1)?;
            let arguments: SmallVec<[&Value; MOST_ARGUMENTS]> = step
                .arguments
                .iter()
                .map(|operand| match operand {
                    Operand::Slot(slot) => &values[slot.index()],
                    Operand::Primitive(primitive) => Value::primitive(*primitive),
                    Operand::Constant(constant) => constant.value(),
                    Operand::Literal(value) => value,
                })
                .collect();
            let function = match step.callee {
                Callee::Primitive(primitive) => Value::primitive(primitive),
                Callee::Slot(slot) => &values[slot.index()],
                Callee::Typed(_) => return None,
            };
            let (made, _) = self.interpreter.call_counted(function, &arguments);
            drop(arguments);
            match made {
                Ok(value) if at < last => values[at] = value,
                Err(error) if at == last && error.limit().is_none() => return Some(error),
                _ => return None,
            }
        }
        None
    }

    /// Whether an error that names a grid or a tuple may name the other of the two.
    fn may_name_another(
        &self,
        error: &EvalError,
        certain: &[bool],
        step: &Step,
        variables: &[NodeId],
        input: usize,
    ) -> bool {
        let may_differ = |operand: &Operand| match operand {
            Operand::Slot(slot) => !certain[slot.index()],
            Operand::Literal(Value::Tuple(_) | Value::Grid(_)) => true,
            _ => false,
        };
        // If the error says which argument it is, and that is not a tuple of rows, there is no doubt.
        if let (ErrorKind::Type { argument, .. }, Callee::Primitive(called)) =
            (error.kind, step.callee)
            && error.primitive == Some(called)
            && let Some(operand) = step.arguments.get(usize::from(argument))
        {
            let is_rows = match operand {
                Operand::Slot(slot) => self
                    .value(variables[slot.index()], input)
                    .is_ok_and(|value| value.as_grid().is_some()),
                _ => true,
            };
            return is_rows && may_differ(operand);
        }
        // Within the call, the reference derives all values from the arguments.
        let callee = match step.callee {
            Callee::Slot(slot) => !certain[slot.index()],
            Callee::Primitive(_) | Callee::Typed(_) => false,
        };
        callee || step.arguments.iter().any(may_differ)
    }
}

/// Whether an error names a grid or a tuple, which can be equal.
fn names_either(error: &EvalError) -> bool {
    let is_either = |kind: ValueKind| matches!(kind, ValueKind::Grid | ValueKind::Tuple);
    match error.kind {
        ErrorKind::Type { found, .. }
        | ErrorKind::Element { found, .. }
        | ErrorKind::NotCallable { found } => is_either(found),
        ErrorKind::Incomparable(a, b) => is_either(a) || is_either(b),
        _ => false,
    }
}

/// For each of the first variables: whether the batt and the reference are certain to agree, throughout its
/// value, on what is a grid and what is a tuple of rows.
fn of_one_kind(program: &Program, count: usize) -> Vec<bool> {
    use Signature as S;
    let mut certain = vec![true];
    for step in program.steps().iter().take(count) {
        let takes_certain = step.arguments.iter().all(|operand| match operand {
            Operand::Slot(slot) => certain[slot.index()],
            Operand::Literal(value) => !matches!(value, Value::Tuple(_) | Value::Grid(_)),
            Operand::Primitive(_) | Operand::Constant(_) => true,
        });
        certain.push(match step.callee {
            Callee::Slot(_) | Callee::Typed(_) => false,
            Callee::Primitive(primitive) => match primitive.returns() {
                S::Integer
                | S::Boolean
                | S::IntegerTuple
                | S::IntegerSet
                | S::Object
                | S::Objects
                | S::Indices => true,
                S::Grid | S::Callable => takes_certain,
                _ => false,
            },
        });
    }
    certain
}
