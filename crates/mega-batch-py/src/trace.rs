//! `trace`: the steps of a program on a grid.

use std::time::Duration;

use arc_dsl::{Callee, Grid, Interpreter, Operand, Program, Sample, Value};
use numpy::PyUntypedArray;
use pyo3::prelude::*;

use crate::arguments;
use crate::errors::Fault;
use crate::grids::{self, Place};
use crate::pickle::{Reduced, reduced};
use crate::programs::{self, PyProgram, fault, limits};
use crate::results::same_array;
use crate::{guard, values};

/// A step of a trace: its line, the variable that it sets, the type of its value if it has one, and the value or the
/// EvalError with which the program ended. It can be pickled, and compares by value; it is not hashable, since the
/// value may be an array.
#[pyclass(frozen, get_all, name = "TraceStep", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyTraceStep {
    /// The line in the text of the program.
    line: u32,
    /// The variable.
    name: String,
    /// The call, as text.
    call: String,
    /// The type of the value, or None.
    r#type: Option<String>,
    /// The value, or an EvalError.
    value: Py<PyAny>,
}

/// The fields of a `TraceStep`, in order.
pub(crate) type PickledStep = (u32, String, String, Option<String>, Py<PyAny>);

impl PyTraceStep {
    pub(crate) fn unpickled((line, name, call, r#type, value): PickledStep) -> Self {
        Self {
            line,
            name,
            call,
            r#type,
            value,
        }
    }
}

#[pymethods]
impl PyTraceStep {
    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else {
            return Ok(false);
        };
        let other = other.get();
        let same = (self.line, &self.name, &self.call, &self.r#type)
            == (other.line, &other.name, &other.call, &other.r#type);
        if !same {
            return Ok(false);
        }
        let (mine, others) = (self.value.bind(py), other.value.bind(py));
        let is_array = |value: &Bound<'_, PyAny>| value.is_instance_of::<PyUntypedArray>();
        if is_array(mine) && is_array(others) {
            return same_array(py, Some(&self.value), Some(&other.value));
        }
        Ok(is_array(mine) == is_array(others) && mine.eq(others)?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let state: PickledStep = (
            self.line,
            self.name.clone(),
            self.call.clone(),
            self.r#type.clone(),
            self.value.clone_ref(py),
        );
        reduced(py, "TraceStep", state)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let value = self.value.bind(py).repr()?;
        let ty = self.r#type.as_deref().unwrap_or("?");
        Ok(format!(
            "line {}: {} = {}: {ty} = {value}",
            self.line, self.name, self.call
        ))
    }
}

/// The steps of a program on a grid, by the reference interpreter: value and type, up to the step that fails, whose
/// value is an EvalError.
#[pyfunction]
#[pyo3(signature = (program, grid, *, max_steps = None, timeout = None))]
pub(crate) fn trace(
    py: Python<'_>,
    #[pyo3(from_py_with = programs::program)] program: &Bound<'_, PyProgram>,
    grid: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::optional::max_steps)] max_steps: Option<u64>,
    #[pyo3(from_py_with = arguments::timeout)] timeout: Option<Duration>,
) -> PyResult<Vec<PyTraceStep>> {
    let input = grids::grid(grid, &Place::Named("grid"))?;
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
        traced.push(traced_step(py, program, step, Ok(value))?);
    }
    if let Err(error) = result
        && let Some(step) = program.steps().get(traced.len())
    {
        traced.push(traced_step(py, program, step, Err(Fault::from(&error)))?);
    }
    Ok(traced)
}

fn inputs_of(program: &Program, input: Grid) -> Vec<Value> {
    match program.inputs() {
        [_] => vec![input.into()],
        _ => Sample::alone(input.into()).into_inputs().into(),
    }
}

fn traced_step(
    py: Python<'_>,
    program: &Program,
    step: &arc_dsl::Step,
    value: Result<&Value, Fault>,
) -> PyResult<PyTraceStep> {
    let variable = |at: usize| program.variables().get(at).map_or("?", String::as_str);
    let operand = |operand: &Operand| match operand {
        Operand::Slot(slot) => variable(slot.index()).to_owned(),
        Operand::Primitive(primitive) => primitive.to_string(),
        Operand::Constant(constant) => constant.to_string(),
        Operand::Literal(value) => value.to_string(),
    };
    let callee = match step.callee {
        Callee::Primitive(primitive) => primitive.name().to_owned(),
        Callee::Typed(primitive) => primitive.name().to_owned(),
        Callee::Slot(slot) => variable(slot.index()).to_owned(),
    };
    let arguments: Vec<_> = step.arguments.iter().map(operand).collect();
    let r#type = match value {
        Ok(value) => value.value_type().map(|ty| ty.to_string()),
        Err(_) => None,
    };
    Ok(PyTraceStep {
        line: step.line,
        name: variable(step.target.index()).to_owned(),
        call: format!("{callee}({})", arguments.join(", ")),
        r#type,
        value: match value {
            Ok(value) => values::to_python(py, value)?.unbind(),
            Err(error) => fault(py, error)?.unbind(),
        },
    })
}
