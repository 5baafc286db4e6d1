//! What is pickled: the name of a class and what it is made of, which one function reads (`unpickle.rs`).

use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

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
