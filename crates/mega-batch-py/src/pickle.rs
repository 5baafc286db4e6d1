//! What is pickled: the name of a class and what it is made of, read by one function.

use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::PyEvalError;
use crate::programs::PyProgram;
use crate::report::PyReport;
use crate::results::{PyOneResult, PyResults};
use crate::search::{PyAttempt, PySearched};
use crate::synth::PySynthTask;

/// What `__reduce__` gives.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// Has `_unpickled` make an object of this class of `state`.
pub(crate) fn reduced<'py>(
    py: Python<'py>,
    class: &str,
    state: impl IntoPyObject<'py>,
) -> PyResult<Reduced<'py>> {
    let read = py.import("mega_batch._engine")?.getattr("_unpickled")?;
    Ok((
        read,
        (class, state.into_bound_py_any(py)?).into_pyobject(py)?,
    ))
}

/// Reads what was pickled; it is in the module's namespace for `pickle` alone.
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
