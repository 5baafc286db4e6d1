//! What is told of how far a run is: to a function, or to a bar.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// A function of what is done and of all there is; `None` if nobody wants to know.
#[derive(Debug, Default)]
pub(crate) struct Told {
    function: Option<Py<PyAny>>,
    is_bar: bool,
}

impl Told {
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

    /// Whether anybody wants to know.
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

impl Drop for Told {
    fn drop(&mut self) {
        if let Some(bar) = self.function.take().filter(|_| self.is_bar) {
            // What a bar cannot show at its end is of no use to anyone.
            Python::attach(|py| drop(bar.call_method0(py, "close")));
        }
    }
}
