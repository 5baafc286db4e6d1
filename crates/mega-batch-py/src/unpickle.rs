//! The function that rebuilds pickled objects of any class.

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
    Ok(match class {
        "Program" => PyProgram::unpickled(py, state.extract()?)?
            .into_pyobject(py)?
            .into_any(),
        "EvalError" => PyEvalError::unpickled(state.extract()?)?
            .into_pyobject(py)?
            .into_any(),
        "Evaluated" => PyEvaluated::unpickled(py, state.extract()?)?
            .into_pyobject(py)?
            .into_any(),
        "Function" => PyFunction::unpickled(state.extract()?)?
            .into_pyobject(py)?
            .into_any(),
        "Device" => PyDevice::unpickled(state.extract()?)?
            .into_pyobject(py)?
            .into_any(),
        "TraceStep" => PyTraceStep::unpickled(state.extract()?)
            .into_pyobject(py)?
            .into_any(),
        "Result" => PyOneResult::unpickled(state.extract()?)?
            .into_pyobject(py)?
            .into_any(),
        "Results" => PyResults::unpickled(state.extract()?)?
            .into_pyobject(py)?
            .into_any(),
        "Report" => PyReport::unpickled(state.extract()?)?
            .into_pyobject(py)?
            .into_any(),
        "Attempt" => PyAttempt::unpickled(state.extract()?)?
            .into_pyobject(py)?
            .into_any(),
        "Searched" => PySearched::unpickled(state)?.into_pyobject(py)?.into_any(),
        "SynthTask" => PySynthTask::unpickled(state)?.into_pyobject(py)?.into_any(),
        _ => {
            return Err(PyValueError::new_err(format!(
                "{class:?}: another version of mega_batch pickled this"
            )));
        }
    })
}
