//! Progress of a run: reported to a function, or to a bar.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// A function that is called with the numbers done and in total, if one was given.
#[derive(Debug, Default)]
pub(crate) struct ProgressCallback {
    function: Option<Py<PyAny>>,
    is_bar: bool,
}

impl ProgressCallback {
    /// `True` is a bar by tqdm, which counts in `unit`.
    pub(crate) fn new(given: Option<&Bound<'_, PyAny>>, unit: &str) -> PyResult<Self> {
        let Some(given) = given.filter(|given| !given.is_none()) else {
            return Ok(Self::default());
        };
        if let Ok(wanted) = given.cast::<PyBool>() {
            if !wanted.is_true() {
                return Ok(Self::default());
            }
            let bar = given
                .py()
                .import("mega_batch._progress")?
                .call_method1("Bar", (unit,))?;
            return Ok(Self {
                function: Some(bar.unbind()),
                is_bar: true,
            });
        }
        if !given.is_callable() {
            return Err(PyTypeError::new_err(
                "progress: expected True, False, or a function of what is done and of all there is",
            ));
        }
        Ok(Self {
            function: Some(given.clone().unbind()),
            is_bar: false,
        })
    }

    /// Whether a function was given.
    pub(crate) fn is_wanted(&self) -> bool {
        self.function.is_some()
    }

    pub(crate) fn tell(&self, py: Python<'_>, done: u64, total: u64) -> PyResult<()> {
        match &self.function {
            Some(function) => function.call1(py, (done, total)).map(drop),
            None => Ok(()),
        }
    }
}

impl Drop for ProgressCallback {
    fn drop(&mut self) {
        if let Some(bar) = self.function.take().filter(|_| self.is_bar) {
            // Errors of a bar at its end are ignored.
            Python::attach(|py| drop(bar.call_method0(py, "close")));
        }
    }
}
