//! `trace`: the steps of a program on a grid.

use std::time::Duration;

use arc_dsl::{Callee, Grid, Interpreter, Operand, Program, Sample, Value};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

use crate::arguments;
use crate::errors::PyEvalError;
use crate::grids::{self, ArgumentPlace};
use crate::programs::{self, PyProgram, limits};
use crate::{guard, python, values};

/// The steps of a program on a grid, by the reference interpreter: value and type, up to the step that fails, whose
/// value is an EvalError.
#[pyfunction]
#[pyo3(signature = (program, grid, *, max_steps = None, timeout = None))]
pub(crate) fn trace<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = programs::program)] program: &Bound<'py, PyProgram>,
    grid: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::optional::max_steps)] max_steps: Option<u64>,
    #[pyo3(from_py_with = arguments::timeout)] timeout: Option<Duration>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let input = grids::grid(grid, &ArgumentPlace::Named("grid"))?;
    let limits = limits(max_steps, timeout);
    let program = program.get().program();
    let traced = guard::engine(py, || {
        let mut interpreter = Interpreter::new(limits);
        interpreter.trace(program, inputs_of(program, input))
    });
    let (made, result) = traced?;
    let values = made.iter().skip(program.inputs().len());
    let mut traced = Vec::with_capacity(program.steps().len());
    for (step, value) in program.steps().iter().zip(values) {
        let ty = value.value_type().map(|ty| ty.to_string());
        let value = values::to_python(py, value)?;
        traced.push(traced_step(program, step, ty, value)?);
    }
    if let Err(error) = result
        && let Some(step) = program.steps().get(traced.len())
    {
        let error = PyEvalError::from(&error).into_bound_py_any(py)?;
        traced.push(traced_step(program, step, None, error)?);
    }
    Ok(traced)
}

fn inputs_of(program: &Program, input: Grid) -> Vec<Value> {
    match program.inputs() {
        [_] => vec![input.into()],
        _ => Sample::alone(input.into()).into_inputs().into(),
    }
}

/// `mega_batch.TraceStep`.
fn traced_step<'py>(
    program: &Program,
    step: &arc_dsl::Step,
    ty: Option<String>,
    value: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let variable = |at: usize| program.variables().get(at).map_or("?", String::as_str);
    let operand = |operand: &Operand| match operand {
        Operand::Slot(slot) => variable(slot.index()).to_owned(),
        Operand::Primitive(primitive) => primitive.to_string(),
        Operand::Constant(constant) => constant.to_string(),
        Operand::Literal(value) => value.to_string(),
    };
    let callee = match step.callee {
        Callee::Primitive(primitive) => primitive.name(),
        Callee::Typed(primitive) => primitive.name(),
        Callee::Slot(slot) => variable(slot.index()),
    };
    let arguments: Vec<_> = step.arguments.iter().map(operand).collect();
    let call = format!("{callee}({})", arguments.join(", "));
    let name = variable(step.target.index());
    python(value.py(), "TraceStep")?.call1((step.line, name, call, ty, value))
}
