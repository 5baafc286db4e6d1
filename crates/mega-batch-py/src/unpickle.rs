//! The function that rebuilds pickled objects of any class.

use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

use crate::engine::completions::PyEvaluated;
use crate::errors::PyEvalError;
use crate::programs::PyProgram;
use crate::search;
use crate::values::PyFunction;

/// Rebuilds a pickled object; it is in the module's namespace only for `pickle`.
#[pyfunction]
pub(crate) fn _unpickled<'py>(
    py: Python<'py>,
    class: &str,
    state: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    match class {
        "Program" => PyProgram::unpickled(py, state.extract()?)?.into_bound_py_any(py),
        "EvalError" => PyEvalError::unpickled(state.extract()?)?.into_bound_py_any(py),
        "Evaluated" => PyEvaluated::unpickled(py, state.extract()?)?.into_bound_py_any(py),
        "Function" => PyFunction::unpickled(state.extract()?)?.into_bound_py_any(py),
        "Attempt" => search::attempt(py, state.extract()?),
        "Searched" => search::searched(py, state.extract()?),
        _ => {
            let module = py.import("mega_batch._values")?;
            module.call_method1("unpickled", (class, state))
        }
    }
}
