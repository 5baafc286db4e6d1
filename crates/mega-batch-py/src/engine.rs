//! `Engine`: a runner that threads share, and the sink that collects its results in arrays.

pub(crate) mod completions;

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use arc_dsl::{Dialect, Program};
use arc_tasks::Task;
use mega_batch::{Batch, Job, Options, Runner};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use completions::PyEvaluated;

use crate::arguments;
use crate::callbacks::{Callbacks, warn};
use crate::guard::{self, PerProcess, lock};
use crate::programs::all_programs;
use crate::python_pool::PyPythonPool;
use crate::report::{Subject, report};
use crate::tasks::all_tasks;

/// Which programs run on which tasks.
#[derive(Debug, Clone)]
pub(crate) enum Jobs {
    Own,
    All,
    Listed(Vec<Job>),
}

/// The work of a run.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) subject: Arc<Subject>,
    pub(crate) jobs: Jobs,
    pub(crate) train_only: bool,
}

impl Work {
    /// Reads programs, tasks and jobs as the caller gave them.
    pub(crate) fn read(
        programs: &Bound<'_, PyAny>,
        tasks: &Bound<'_, PyAny>,
        solutions: Option<&Bound<'_, PyAny>>,
        jobs: Option<&Bound<'_, PyAny>>,
        train_only: bool,
        dialect: Option<Dialect>,
    ) -> PyResult<Self> {
        let py = programs.py();
        let jobs = read_jobs(jobs)?;
        let work = Self::of(programs, tasks, solutions, jobs, train_only, dialect)?;
        let Subject { programs, tasks } = &*work.subject;
        let batch = work.batch()?;
        let has_none = !programs.is_empty() && !tasks.is_empty() && batch.job_count() == 0;
        for note in batch.notes() {
            warn(py, &note, 1)?;
        }
        if has_none && matches!(work.jobs, Jobs::Own) {
            return Err(PyValueError::new_err(
                "no program belongs to a task: with jobs=\"own\" the name of a program ends with the id of \
                 its task, as solve_007bbfb7; jobs=\"all\" runs every program on every task",
            ));
        }
        Ok(work)
    }

    /// Reads programs and tasks as the caller gave them.
    pub(crate) fn of(
        programs: &Bound<'_, PyAny>,
        tasks: &Bound<'_, PyAny>,
        solutions: Option<&Bound<'_, PyAny>>,
        jobs: Jobs,
        train_only: bool,
        dialect: Option<Dialect>,
    ) -> PyResult<Self> {
        Ok(Self {
            subject: Arc::new(Subject {
                programs: all_programs(programs, dialect)?,
                tasks: all_tasks(tasks, solutions)?,
            }),
            jobs,
            train_only,
        })
    }

    pub(crate) fn batch(&self) -> PyResult<Batch<'_>> {
        let (programs, tasks): (&[Program], &[Task]) =
            (&self.subject.programs, &self.subject.tasks);
        let batch = match &self.jobs {
            Jobs::Own => Batch::own_tasks(programs, tasks),
            Jobs::All => Batch::all_pairs(programs, tasks),
            Jobs::Listed(jobs) => Batch::listed(programs, tasks, jobs.clone())
                .map_err(|error| PyValueError::new_err(format!("jobs: {error}")))?,
        };
        Ok(if self.train_only {
            batch.train_only()
        } else {
            batch
        })
    }
}

fn read_jobs(jobs: Option<&Bound<'_, PyAny>>) -> PyResult<Jobs> {
    const EXPECTED: &str =
        "jobs: expected \"own\", \"all\" or a list of (program, task), by their places";
    let Some(jobs) = jobs else {
        return Ok(Jobs::Own);
    };
    if let Ok(word) = jobs.cast::<PyString>() {
        return match &*word.to_cow()? {
            "own" => Ok(Jobs::Own),
            "all" => Ok(Jobs::All),
            _ => Err(PyValueError::new_err(EXPECTED)),
        };
    }
    let Ok(items) = jobs.try_iter() else {
        return Err(PyTypeError::new_err(EXPECTED));
    };
    let jobs = items.enumerate().map(|(at, item)| {
        let item = item?;
        // A list or an array is accepted like a tuple.
        let places = item.extract::<(u32, u32)>();
        let places = places.or_else(|_| Ok::<_, PyErr>(item.extract::<[u32; 2]>()?.into()));
        if let Ok((program, task)) = places {
            return Ok(Job { program, task });
        }
        let found: String = item.repr()?.to_string().chars().take(60).collect();
        Err(PyTypeError::new_err(format!(
            "jobs[{at}]: expected (program, task), two places from 0 on, found {found}"
        )))
    });
    Ok(Jobs::Listed(jobs.collect::<PyResult<_>>()?))
}

/// A runner, whose threads belong to one process.
struct ProcessRunner {
    process: u32,
    runner: Arc<Mutex<Runner>>,
    /// The number of its threads and the names of its devices, kept here to be available while it runs.
    workers: usize,
    devices: Vec<String>,
    /// The thread whose run is in progress.
    owner: Mutex<Option<ThreadId>>,
    /// Notified when that run has ended.
    ended: Condvar,
}

impl ProcessRunner {
    fn new(py: Python<'_>, options: &Options) -> PyResult<Self> {
        let runner = guard::engine(py, || Runner::new(options))?;
        let runner = runner.map_err(|error| PyOSError::new_err(error.to_string()))?;
        if let Some(reason) = runner.no_device() {
            let text = format!("no device: {reason}; the CPU does the work");
            warn(py, &text, 1)?;
        }
        if let Some(reason) = runner.left_out() {
            warn(py, reason, 1)?;
        }
        Ok(Self {
            process: process::id(),
            workers: runner.workers(),
            devices: runner.devices(),
            runner: Arc::new(Mutex::new(runner)),
            owner: Mutex::new(None),
            ended: Condvar::new(),
        })
    }

    fn is_owned_here(&self) -> bool {
        *lock(&self.owner) == Some(thread::current().id())
    }

    /// Waits for the runner; an error if a signal handler raises in the meantime.
    fn wait(&self) -> PyResult<MutexGuard<'_, Runner>> {
        loop {
            match self.runner.try_lock() {
                Ok(runner) => return Ok(runner),
                Err(TryLockError::Poisoned(runner)) => return Ok(runner.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            let owner = lock(&self.owner);
            if owner.is_some() {
                drop(self.ended.wait_timeout(owner, SIGNALS));
            }
            if let Some(raised) = Python::attach(|py| py.check_signals().err()) {
                return Err(raised);
            }
        }
    }
}

/// Why there is no result for each program.
pub(crate) const UNFINISHED: &str = "the time was over before all programs were run";

/// How often a thread that waits for an engine checks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

impl Drop for ProcessRunner {
    fn drop(&mut self) {
        if self.process != process::id() {
            // Dropping it would wait for threads that do not exist here.
            std::mem::forget(Arc::clone(&self.runner));
        }
    }
}

/// Threads that evaluate, with the programs that they have compiled, kept from run to run.
///
/// The keywords are those of `run` that say how programs are evaluated. Threads may share an engine: it does one run
/// at a time, and the others wait without the GIL. In a forked process it starts afresh, with threads of that process
/// and nothing compiled. It can be pickled: unpickling gives an engine with the same keywords.
#[pyclass(frozen, name = "Engine", module = "mega_batch")]
pub(crate) struct PyEngine {
    options: Options,
    keywords: Py<PyDict>,
    cancelled: Arc<AtomicBool>,
    running: PerProcess<ProcessRunner>,
}

#[pymethods]
impl PyEngine {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let keywords = match options {
            Some(options) => options.copy()?,
            None => PyDict::new(py),
        };
        let (options, cancelled) = crate::options::options(options)?;
        Ok(Self {
            running: PerProcess::new(ProcessRunner::new(py, &options)?),
            options,
            keywords: keywords.unbind(),
            cancelled,
        })
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), self.keywords.bind(py).copy()?))
    }

    /// The number of its threads.
    #[getter]
    pub(crate) fn workers(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.running(py)?.workers)
    }

    /// The names of its devices.
    #[getter]
    fn devices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.running(py)?.devices.clone())
    }

    /// Ends the current run, from another thread: it returns what is finished.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Runs programs on tasks: see `mega_batch.run`.
    #[pyo3(signature = (programs, tasks, *, solutions = None, jobs = None, train_only = false,
        dialect = None, on_results = None, chunk = 65536, progress = None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        programs: &Bound<'_, PyAny>,
        tasks: &Bound<'_, PyAny>,
        solutions: Option<&Bound<'_, PyAny>>,
        jobs: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::train_only)] train_only: bool,
        #[pyo3(from_py_with = arguments::dialect)] dialect: Option<Dialect>,
        #[pyo3(from_py_with = arguments::on_results)] on_results: Option<Py<PyAny>>,
        #[pyo3(from_py_with = arguments::chunk)] chunk: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let work = Work::read(programs, tasks, solutions, jobs, train_only, dialect)?;
        let callbacks = Callbacks::new(py, on_results, progress, chunk)?;
        self.run_work(py, &work, &callbacks)
    }

    /// Evaluates programs in texts that a model wrote: see `mega_batch.evaluate`. The engine must compute scores.
    /// Within a callback of one of its runs a new engine with the same keywords is used.
    #[pyo3(signature = (texts, tasks, *, train_only = false, dialect = None, python = None, progress = None))]
    fn evaluate(
        &self,
        texts: &Bound<'_, PyAny>,
        tasks: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = arguments::train_only)] train_only: bool,
        #[pyo3(from_py_with = arguments::dialect)] dialect: Option<Dialect>,
        python: Option<PyRef<'_, PyPythonPool>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<PyEvaluated>> {
        let py = texts.py();
        let other;
        let engine = if self.running(py)?.is_owned_here() {
            other = Self::new(py, Some(self.keywords.bind(py)))?;
            &other
        } else {
            self
        };
        let python = python.as_deref();
        completions::evaluate(engine, texts, tasks, train_only, dialect, python, progress)
    }

    fn __repr__(&self) -> String {
        format!(
            "<Engine in mode {}, backend {}>",
            self.options.mode, self.options.backend
        )
    }
}

impl PyEngine {
    fn run_work<'py>(
        &self,
        py: Python<'py>,
        work: &Work,
        callbacks: &Callbacks,
    ) -> PyResult<Bound<'py, PyAny>> {
        let batch = work.batch()?;
        let mut sink = callbacks.sink(&self.options, &self.cancelled);
        let run = self.with_runner(py, |runner| {
            // The last results are passed on while the engine runs, like those before them.
            let summary = runner.run_into(&batch, &mut sink)?;
            sink.taker.flush().map(|()| summary)
        })?;
        let (summary, taken) = sink.finish(py, run)?;
        report(py, Arc::clone(&work.subject), &summary, taken.columns)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Set to end the current run.
    pub(crate) fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }

    /// The runner of this process.
    fn running(&self, py: Python<'_>) -> PyResult<&ProcessRunner> {
        self.running.here(|| ProcessRunner::new(py, &self.options))
    }

    /// Runs `work` on the runner, without the GIL.
    pub(crate) fn with_runner<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Runner) -> T + Send,
    ) -> PyResult<T> {
        let running = self.running(py)?;
        if running.is_owned_here() {
            return Err(PyRuntimeError::new_err(
                "this engine is running: a callback needs an engine of its own",
            ));
        }
        guard::engine(py, || {
            let mut runner = running.wait()?;
            *lock(&running.owner) = Some(thread::current().id());
            self.cancelled.store(false, Ordering::Relaxed);
            let result = guard::caught(|| work(&mut runner));
            *lock(&running.owner) = None;
            drop(runner);
            running.ended.notify_one();
            result
        })?
    }
}
