//! [`Callbacks`] of a run, and [`PySink`], which collects its results and calls them.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use mega_batch::{Job, Notice, Options, PairResult, Progress, Sink, escaped};
use pyo3::exceptions::{PyOSError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;

use crate::progress::ProgressCallback;
use crate::results::{Columns, Kept};

/// The callbacks of a run.
#[derive(Debug, Default)]
pub(crate) struct Callbacks {
    results: Option<Py<PyAny>>,
    progress: ProgressCallback,
    chunk: usize,
}

impl Callbacks {
    pub(crate) fn new(
        results: Option<Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
        chunk: usize,
    ) -> PyResult<Self> {
        if results
            .as_ref()
            .is_some_and(|callback| !callback.is_callable())
        {
            return Err(PyTypeError::new_err("on_results: expected a function"));
        }
        if chunk == 0 {
            return Err(PyValueError::new_err("chunk: expected 1 or more"));
        }
        Ok(Self {
            results: results.map(Bound::unbind),
            progress: ProgressCallback::new(progress.as_ref(), "evaluation")?,
            chunk,
        })
    }
}

/// Collects results in columns as they come, and passes these on.
pub(crate) struct PySink<'a> {
    callbacks: &'a Callbacks,
    kept: Kept,
    columns: Columns,
    /// Set to end the run.
    cancelled: &'a AtomicBool,
    /// The exception raised by a callback or a signal.
    raised: Option<PyErr>,
    notices: Vec<String>,
}

impl<'a> PySink<'a> {
    pub(crate) fn new(
        callbacks: &'a Callbacks,
        options: &Options,
        cancelled: &'a AtomicBool,
    ) -> Self {
        let kept = Kept {
            scores: options.scores,
            outputs: options.keep_outputs,
        };
        Self {
            callbacks,
            kept,
            columns: Columns::new(kept),
            cancelled,
            raised: None,
            notices: Vec::new(),
        }
    }

    /// Passes on the results collected so far.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Some(callback) = &self.callbacks.results else {
            return Ok(());
        };
        let columns = std::mem::replace(&mut self.columns, Columns::new(self.kept));
        if columns.len() == 0 {
            return Ok(());
        }
        let called = Python::attach(|py| {
            let results = columns.into_results(py)?;
            callback.call1(py, (results,)).map(drop)
        });
        called.map_err(|error| {
            self.raised = Some(error);
            io::Error::other("a callback raised an exception")
        })
    }

    /// The end of the run: raises what was raised, gives the warnings, and returns the results.
    pub(crate) fn finish<T>(
        mut self,
        py: Python<'_>,
        run: io::Result<T>,
    ) -> PyResult<(T, Columns)> {
        let run = run.and_then(|run| self.flush().map(|()| run));
        if let Some(error) = self.raised {
            return Err(error);
        }
        let run = run.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => PyValueError::new_err(error.to_string()),
            _ => PyOSError::new_err(error.to_string()),
        })?;
        for notice in self.notices {
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &c_string(&notice), 2)?;
        }
        Ok((run, self.columns))
    }
}

pub(crate) fn c_string(text: &str) -> std::ffi::CString {
    std::ffi::CString::new(text.replace('\0', "")).unwrap_or_default()
}

impl Sink for PySink<'_> {
    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        self.columns.push(job, &result);
        if self.callbacks.results.is_some() && self.columns.len() >= self.callbacks.chunk {
            return self.flush();
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice) {
        let path = |path: &std::path::Path| escaped(&path.to_string_lossy()).to_string();
        self.notices.extend(match notice {
            Notice::NoDevice(reason) => Some(format!("no device: {reason}; the CPU does the work")),
            Notice::DeviceLeftOut(reason) => Some(reason),
            Notice::Resumed { .. } => None,
            Notice::CheckpointFailed(file, error) => Some(format!(
                "{}: {error}; the run goes on without checkpoint",
                path(&file)
            )),
            Notice::SubmissionFailed(file, error) => Some(format!("{}: {error}", path(&file))),
        });
    }

    fn progress(&mut self, progress: Progress) {
        if self.raised.is_some() {
            return;
        }
        let called = Python::attach(|py| {
            py.check_signals()?;
            self.callbacks
                .progress
                .tell(py, progress.done, progress.total)
        });
        if let Err(error) = called {
            self.raised = Some(error);
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }
}
