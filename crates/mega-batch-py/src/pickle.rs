//! Pickling: an object is stored as its class name and state, which one function reads (`unpickle.rs`).

use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The result of `__reduce__`.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// The call of `_unpickled` that rebuilds an object of this class from `state`.
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
