//! `Coordinator`: a run that can be resumed, with a checkpoint and a submission, on this machine or by shards.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use arc_dsl::Dialect;
use mega_batch::files::{folder_of, of_folder};
use mega_batch::shards::PackedBatch;
use mega_batch::{Coordinator, CoordinatorError, Finished, Options, Submission, escaped};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::callbacks::{Callbacks, Chunks, Watched};
use crate::engine::Work;
use crate::guard;
use crate::options::options as read_options;
use crate::report::report;
use crate::shards::{PyPackedBatch, PythonShards};

/// A run that can be resumed: results go to `checkpoint` as they come, and a later run with `resume=True` begins with
/// them; candidates are ranked, and the best two attempts for each test input are the submission.
///
/// Programs, tasks, `jobs` and the keywords that say how programs are evaluated are those of `run`; scores are always
/// computed.
#[pyclass(frozen, name = "Coordinator", module = "mega_batch")]
pub(crate) struct PyCoordinator {
    work: Work,
    options: Options,
    cancelled: Arc<AtomicBool>,
    checkpoint: Option<PathBuf>,
    resume: bool,
    submission: Option<PathBuf>,
    /// The submission of the last run.
    submitted: Mutex<Option<Submission>>,
}

#[pymethods]
impl PyCoordinator {
    #[new]
    #[pyo3(signature = (programs, tasks, *, solutions = None, jobs = None, train_only = false,
        dialect = None, checkpoint = None, resume = false, submission = None, **options))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        programs: &Bound<'_, PyAny>,
        tasks: &Bound<'_, PyAny>,
        solutions: Option<&Bound<'_, PyAny>>,
        jobs: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::train_only)] train_only: bool,
        #[pyo3(from_py_with = arguments::dialect)] dialect: Option<Dialect>,
        #[pyo3(from_py_with = arguments::checkpoint)] checkpoint: Option<PathBuf>,
        #[pyo3(from_py_with = arguments::resume)] resume: bool,
        #[pyo3(from_py_with = arguments::submission)] submission: Option<PathBuf>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (options, cancelled) = read_options(options)?;
        let work = Work::read(programs, tasks, solutions, jobs, train_only, dialect)?;
        if resume && checkpoint.is_none() {
            return Err(PyValueError::new_err(
                "resume: expected a checkpoint to begin with",
            ));
        }
        Ok(Self {
            work,
            options,
            cancelled,
            checkpoint,
            resume,
            submission,
            submitted: Mutex::default(),
        })
    }

    /// Runs everything that is not in the checkpoint, and returns the report of the whole run. The callbacks are
    /// those of `run`; they are also called with the results in the checkpoint. Raises ValueError if the checkpoint
    /// is of another run.
    #[pyo3(signature = (*, on_results = None, chunk = 65536, progress = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::on_results)] on_results: Option<Py<PyAny>>,
        #[pyo3(from_py_with = arguments::chunk)] chunk: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let callbacks = Callbacks::new(py, on_results, progress, chunk)?;
        self.run_by(py, &callbacks, true, |coordinator, sink| {
            coordinator.run(sink)
        })
    }

    /// The batch for other processes.
    fn _packed(&self, py: Python<'_>) -> PyResult<PyPackedBatch> {
        let batch = self.work.batch()?;
        let packed = guard::engine(py, || PackedBatch::of(&batch))?;
        let packed = packed.map_err(|error| PyValueError::new_err(format!("programs: {error}")))?;
        Ok(PyPackedBatch(packed))
    }

    /// Like `run`, with shards that other processes evaluate. `shards` is called with the index of a job and returns
    /// the results of the shard that begins with it, as from `_PackedBatch.evaluate`, or None if they are not there
    /// yet. `workers` is how many threads evaluate. Without `ranks` candidates are not ranked, and scores are computed
    /// only if they are asked for.
    #[pyo3(signature = (shards, *, ranks = false, workers = 1, on_results = None, chunk = 65536, progress = None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn _run_shards<'py>(
        &self,
        py: Python<'py>,
        shards: Bound<'_, PyAny>,
        ranks: bool,
        workers: usize,
        #[pyo3(from_py_with = arguments::on_results)] on_results: Option<Py<PyAny>>,
        #[pyo3(from_py_with = arguments::chunk)] chunk: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let callbacks = Callbacks::new(py, on_results, progress, chunk)?;
        let mut source = PythonShards {
            next: shards.unbind(),
            workers,
            cancelled: &self.cancelled,
            raised: None,
        };
        let report = self.run_by(py, &callbacks, ranks, |coordinator, sink| {
            coordinator.run_shards(&mut source, sink)
        });
        match source.raised {
            Some(error) => Err(error),
            None => report,
        }
    }

    /// Ends the current run, from another thread: it returns what is finished.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The submission in Kaggle's form, as a dict: for each task a list of `{"attempt_1": rows, "attempt_2": rows}`,
    /// one for each test input; with a path it is also written there, atomically. Requires an earlier run.
    #[pyo3(signature = (path = None))]
    fn to_submission<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::path)] path: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(submission) = self.last_submission()?.clone() else {
            return Err(PyRuntimeError::new_err(
                "to_submission: expected a run before",
            ));
        };
        dict(py, &submission, path)
    }

    fn __repr__(&self) -> String {
        let (programs, tasks) = (
            self.work.subject.programs.len(),
            self.work.subject.tasks.len(),
        );
        format!("<Coordinator of {programs} programs and {tasks} tasks>")
    }
}

impl PyCoordinator {
    /// The submission of the last run, unless a run is in progress: its callback would deadlock.
    fn last_submission(&self) -> PyResult<MutexGuard<'_, Option<Submission>>> {
        match self.submitted.try_lock() {
            Ok(submission) => Ok(submission),
            Err(TryLockError::Poisoned(submission)) => Ok(submission.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("this coordinator is running"))
            }
        }
    }

    /// Runs everything that is not in the checkpoint, with `run`. With `ranks` candidates are ranked.
    fn run_by<'py>(
        &self,
        py: Python<'py>,
        callbacks: &Callbacks,
        ranks: bool,
        run: impl for<'a> FnOnce(
            Coordinator<'a>,
            &mut Watched<'_, Chunks<'_>>,
        ) -> Result<Finished<'a>, CoordinatorError>
        + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut made = self.last_submission()?;
        self.submission.as_deref().map_or(Ok(()), check_folder)?;
        let batch = self.work.batch()?;
        let mut options = self.options.clone();
        options.scores |= ranks;
        let mut coordinator = Coordinator::new(&batch, &options);
        if let Some(path) = &self.checkpoint {
            coordinator = if self.resume {
                coordinator.resume(path)
            } else {
                coordinator.checkpoint(path)
            };
        }
        if let Some(path) = &self.submission {
            coordinator = coordinator.submission(path);
        }
        self.cancelled.store(false, Ordering::Relaxed);
        let mut sink = callbacks.sink(&options, &self.cancelled);
        let finished = guard::engine(py, || {
            let finished = run(coordinator, &mut sink)?;
            sink.taker.flush()?;
            let submission = finished.attempts.as_ref().map(Submission::of);
            Ok((finished.summary, submission))
        })?;
        let finished = match finished {
            Ok(finished) => Ok(finished),
            Err(CoordinatorError::Run(error)) => Err(error),
            Err(error @ CoordinatorError::Checkpoint(_)) => {
                return Err(PyValueError::new_err(error.to_string()));
            }
            Err(error) => return Err(PyOSError::new_err(error.to_string())),
        };
        let ((summary, submission), taken) = sink.finish(py, finished)?;
        *made = submission;
        drop(made);
        report(py, Arc::clone(&self.work.subject), &summary, taken.columns)
    }
}

/// Rejects a file in a missing folder, as checkpoints do: it may be mistyped, which should be known before the run.
pub(crate) fn check_folder(file: &Path) -> PyResult<()> {
    let folder = folder_of(file);
    let found = fs::metadata(folder).map_err(|error| of_folder(error, folder));
    found.map(drop).map_err(|error| {
        PyValueError::new_err(format!("{}: {error}", escaped(&file.to_string_lossy())))
    })
}

/// A submission as a dict; also written to the file if one is given.
pub(crate) fn dict<'py>(
    py: Python<'py>,
    submission: &Submission,
    path: Option<PathBuf>,
) -> PyResult<Bound<'py, PyAny>> {
    let os_error = |error: std::io::Error| PyOSError::new_err(error.to_string());
    if let Some(path) = path {
        check_folder(&path)?;
        let write = || mega_batch::files::replace(&path, |out| submission.write(out));
        guard::engine(py, write)?.map_err(os_error)?;
    }
    let mut text = Vec::new();
    submission.write(&mut text).map_err(os_error)?;
    let text = String::from_utf8(text).map_err(|error| crate::internal(&error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}
