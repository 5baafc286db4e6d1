//! The kinds of values that errors name.
//!
//! The tuple of a grid's rows equals the grid, and is the same node; but the reference says in its
//! errors which of the two it has found. Where that may be the other one, it is asked for the error.

use arc_dsl::{
    Callee, ErrorKind, EvalError, Kind, Operand, Program, Step, Type as Signature, Value,
};

use crate::batt::{Batt, NodeId};

impl Batt {
    /// The error of a step as the reference gives it, where it may name another kind of value.
    pub(super) fn with_kind(
        &mut self,
        error: EvalError,
        program: &Program,
        step: &Step,
        variables: &[NodeId],
        input: usize,
    ) -> EvalError {
        if !self.may_name_another(&error, program, step, variables, input) {
            return error;
        }
        self.counts.by_reference += 1;
        let grid = self.value(self.input(), input);
        let alone = grid.and_then(|grid| self.interpreter.run(program, grid));
        alone.err().unwrap_or(error)
    }

    fn may_name_another(
        &self,
        error: &EvalError,
        program: &Program,
        step: &Step,
        variables: &[NodeId],
        input: usize,
    ) -> bool {
        let is_either = |kind: Kind| matches!(kind, Kind::Grid | Kind::Tuple);
        let names_either = match error.kind {
            ErrorKind::Type { found, .. }
            | ErrorKind::Element { found, .. }
            | ErrorKind::NotCallable { found } => is_either(found),
            ErrorKind::Incomparable(a, b) => is_either(a) || is_either(b),
            _ => false,
        };
        if !names_either {
            return false;
        }
        let certain = of_one_kind(program, variables.len());
        let may_differ = |operand: &Operand| match operand {
            Operand::Slot(slot) => !certain[slot.index()],
            Operand::Literal(Value::Tuple(_) | Value::Grid(_)) => true,
            _ => false,
        };
        // Where it is said which argument it is, and that is no tuple of rows, there is no doubt.
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
        // Within the call all values are the reference's own, made of its arguments.
        let callee = match step.callee {
            Callee::Slot(slot) => !certain[slot.index()],
            Callee::Primitive(_) | Callee::Typed(_) => false,
        };
        callee || step.arguments.iter().any(may_differ)
    }
}

/// Of which of the first variables no value, nor one inside of it, may be a grid where it is a tuple
/// of rows to the reference.
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
