//! The function that rebuilds pickled objects of any class.

use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::devices::PyDevice;
use crate::engine::completions::PyEvaluated;
use crate::errors::PyEvalError;
use crate::programs::PyProgram;
use crate::report::PyReport;
use crate::results::{PyOneResult, PyResults};
use crate::search::{PyAttempt, PySearched};
use crate::synth::PySynthTask;
use crate::trace::PyTraceStep;
use crate::values::PyFunction;

/// Rebuilds a pickled object; it is in the module's namespace only for `pickle`.
#[pyfunction]
pub(crate) fn _unpickled<'py>(
    py: Python<'py>,
    class: &str,
    state: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    match class {
        "Program" => object(py, PyProgram::unpickled(py, state.extract()?)),
        "EvalError" => object(py, PyEvalError::unpickled(state.extract()?)),
        "Evaluated" => object(py, PyEvaluated::unpickled(py, state.extract()?)),
        "Function" => object(py, PyFunction::unpickled(state.extract()?)),
        "Device" => object(py, PyDevice::unpickled(state.extract()?)),
        "TraceStep" => object(py, Ok(PyTraceStep::unpickled(state.extract()?))),
        "Result" => object(py, PyOneResult::unpickled(state.extract()?)),
        "Results" => object(py, PyResults::unpickled(state.extract()?)),
        "Report" => object(py, PyReport::unpickled(state.extract()?)),
        "Attempt" => object(py, PyAttempt::unpickled(state.extract()?)),
        "Searched" => object(py, PySearched::unpickled(state)),
        "SynthTask" => object(py, PySynthTask::unpickled(state)),
        _ => Err(PyValueError::new_err(format!(
            "{class:?}: another version of mega_batch pickled this"
        ))),
    }
}

fn object<'py>(
    py: Python<'py>,
    read: PyResult<impl IntoPyObject<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    read?.into_bound_py_any(py)
}
