//! [`Watched`]: a sink that takes the results of a run, tells its progress, and checks for signals.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use mega_batch::{Job, Notice, Options, PairResult, Progress, Sink, escaped};
use pyo3::exceptions::{PyOSError, PyUserWarning, PyValueError};
use pyo3::prelude::*;

use crate::progress::ProgressCallback;
use crate::results::{Columns, Kept};

/// What becomes of results.
pub(crate) trait Take {
    fn take(&mut self, job: Job, result: PairResult) -> io::Result<()>;
}

impl<F: FnMut(Job, PairResult) -> io::Result<()>> Take for F {
    fn take(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        self(job, result)
    }
}

/// Takes the results of a run, tells its progress, and checks for signals.
pub(crate) struct Watched<'a, T> {
    pub(crate) taker: T,
    progress: &'a ProgressCallback,
    /// Set to end the run.
    cancelled: &'a AtomicBool,
    /// How many evaluations were done before, and the total, if the run is one of several.
    among: Option<(u64, u64)>,
    /// The exception raised by the progress callback or a signal.
    raised: Option<PyErr>,
    notices: Vec<String>,
}

impl<'a, T: Take> Watched<'a, T> {
    pub(crate) fn new(taker: T, progress: &'a ProgressCallback, cancelled: &'a AtomicBool) -> Self {
        Self {
            taker,
            progress,
            cancelled,
            among: None,
            raised: None,
            notices: Vec::new(),
        }
    }

    /// As one of several runs, after `before` of a `total` of evaluations.
    pub(crate) fn among(self, before: u64, total: u64) -> Self {
        Self {
            among: Some((before, total)),
            ..self
        }
    }

    /// The end of the run: raises what was raised, gives the warnings, and returns what took the results.
    pub(crate) fn finish<R>(self, py: Python<'_>, run: io::Result<R>) -> PyResult<(R, T)> {
        if let Some(error) = self.raised {
            return Err(error);
        }
        let run = run.map_err(raised)?;
        for notice in self.notices {
            warn(py, &notice, 2)?;
        }
        Ok((run, self.taker))
    }
}

/// The exception for an error of a run.
pub(crate) fn raised(error: io::Error) -> PyErr {
    match error.downcast::<PyErr>() {
        Ok(raised) => raised,
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            PyValueError::new_err(error.to_string())
        }
        Err(error) => PyOSError::new_err(error.to_string()),
    }
}

/// Gives a warning about the caller `level` calls above.
pub(crate) fn warn(py: Python<'_>, text: &str, level: i32) -> PyResult<()> {
    let text = std::ffi::CString::new(text.replace('\0', "")).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, level)
}

impl<T: Take> Sink for Watched<'_, T> {
    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        self.taker.take(job, result)
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
        let (before, total) = self.among.unwrap_or((0, progress.total));
        let called = Python::attach(|py| {
            py.check_signals()?;
            self.progress.tell(py, before + progress.done, total)
        });
        if let Err(error) = called {
            self.raised = Some(error);
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

/// The callbacks of a run.
#[derive(Debug)]
pub(crate) struct Callbacks {
    results: Option<Py<PyAny>>,
    progress: ProgressCallback,
    chunk: usize,
}

impl Callbacks {
    pub(crate) fn new(
        py: Python<'_>,
        results: Option<Py<PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
        chunk: usize,
    ) -> PyResult<Self> {
        Ok(Self {
            results,
            progress: ProgressCallback::new(py, progress, "evaluation")?,
            chunk,
        })
    }

    /// A sink that collects results, and passes them on.
    pub(crate) fn sink<'a>(
        &'a self,
        options: &Options,
        cancelled: &'a AtomicBool,
    ) -> Watched<'a, Chunks<'a>> {
        let kept = Kept {
            scores: options.scores,
            outputs: options.keep_outputs,
        };
        let chunks = Chunks {
            callbacks: self,
            columns: Columns::new(kept),
        };
        Watched::new(chunks, &self.progress, cancelled)
    }
}

/// Collects results in columns, and passes these on if there is a callback.
pub(crate) struct Chunks<'a> {
    callbacks: &'a Callbacks,
    pub(crate) columns: Columns,
}

impl Chunks<'_> {
    /// Passes on the results collected so far.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Some(callback) = &self.callbacks.results else {
            return Ok(());
        };
        let next = Columns::new(self.columns.kept);
        let columns = std::mem::replace(&mut self.columns, next);
        if columns.len() == 0 {
            return Ok(());
        }
        let called = Python::attach(|py| {
            let results = columns.into_results(py)?;
            callback.call1(py, (results,)).map(drop)
        });
        called.map_err(io::Error::other)
    }
}

impl Take for Chunks<'_> {
    fn take(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        self.columns.push(job, &result);
        if self.callbacks.results.is_some() && self.columns.len() >= self.callbacks.chunk {
            return self.flush();
        }
        Ok(())
    }
}
