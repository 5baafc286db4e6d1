//! Progress of a run: reported to a function, or to a bar.

use pyo3::prelude::*;

/// A function that is called with the numbers done and in total, if one was given.
#[derive(Debug)]
pub(crate) struct ProgressCallback {
    function: Option<Py<PyAny>>,
    is_bar: bool,
}

impl ProgressCallback {
    /// `True` is a bar by tqdm, which counts in `unit`.
    pub(crate) fn new(
        py: Python<'_>,
        given: Option<Bound<'_, PyAny>>,
        unit: &str,
    ) -> PyResult<Self> {
        let module = py.import("mega_batch._progress")?;
        let function = module.call_method1("callback", (given, unit))?;
        Ok(Self {
            is_bar: function.is_instance(&module.getattr("Bar")?)?,
            function: Some(function.unbind()).filter(|function| !function.is_none(py)),
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
