//! `_ShardedRun`: a run whose shards other processes evaluate, and `_PackedBatch`, their input.
//!
//! The transport of shards is in Python: `mega_batch/_shards.py` and `mega_batch/ray.py`.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use arc_dsl::Dialect;
use mega_batch::shards::{PackedBatch, Shards};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::coordinator::{Coordinated, Files};
use crate::engine::{Callbacks, PyEngine, Work};
use crate::guard;
use crate::options::options as read_options;
use crate::report::PyReport;

/// A batch for other processes, which evaluate shards of it.
///
/// `_PackedBatch(data)` reads what `data()` returned: an array of uint8. Raises ValueError for other bytes, and for
/// those packed by another version of the engine.
#[pyclass(frozen, name = "_PackedBatch", module = "mega_batch._engine")]
pub(crate) struct PyPackedBatch(Arc<PackedBatch>);

#[pymethods]
impl PyPackedBatch {
    #[new]
    fn new(py: Python<'_>, data: PyReadonlyArray1<'_, u8>) -> PyResult<Self> {
        let data = data.as_slice()?;
        let read = guard::engine(py, || PackedBatch::from_bytes(data))?;
        let batch = read.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(Arc::new(batch)))
    }

    /// The bytes for other processes, an array of uint8.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let bytes = guard::engine(py, || self.0.to_bytes())?;
        Ok(bytes.into_pyarray(py))
    }

    /// The number of jobs.
    #[getter]
    fn jobs(&self) -> usize {
        self.0.job_count()
    }

    /// The shard that begins with this job: its end, after about this many evaluations or a few more, and its number
    /// of evaluations.
    fn shard(&self, first: usize, evaluations: u64) -> (usize, u64) {
        self.0.shard(first, evaluations)
    }

    /// Evaluates the jobs from `first` to before `end`, stopping after `time` seconds but after at least one job: an
    /// array of uint8 for `_ShardedRun.run`, the end of the evaluated jobs, and their number of evaluations.
    #[pyo3(signature = (engine, first, end, time = None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        engine: &PyEngine,
        first: usize,
        end: usize,
        #[pyo3(from_py_with = arguments::time)] time: Option<Duration>,
    ) -> PyResult<(Bound<'py, PyArray1<u8>>, usize, u64)> {
        let results = engine.with_runner(py, |runner| self.0.evaluate(first..end, runner, time))?;
        let results = results.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => PyValueError::new_err(error.to_string()),
            _ => PyOSError::new_err(error.to_string()),
        })?;
        let bytes = results.bytes.into_pyarray(py);
        Ok((bytes, results.jobs.end, results.evaluations))
    }
}

/// Gets shards from Python.
struct PythonShards<'a> {
    /// Called with the index of the first job; returns an array of uint8, or None if there is none yet.
    next: Py<PyAny>,
    workers: usize,
    cancelled: &'a Coordinated,
    raised: Option<PyErr>,
}

impl Shards for PythonShards<'_> {
    fn next(&mut self, first: usize) -> io::Result<Option<Vec<u8>>> {
        let called = Python::attach(|py| -> PyResult<Option<Vec<u8>>> {
            let given = self.next.bind(py).call1((first,))?;
            if given.is_none() {
                return Ok(None);
            }
            let bytes: PyReadonlyArray1<'_, u8> = given.extract()?;
            Ok(Some(bytes.as_slice()?.to_vec()))
        });
        called.or_else(|error| {
            // Delivered results are kept: the run ends as if it were cancelled.
            self.raised = Some(error);
            self.cancelled.cancel();
            Ok(None)
        })
    }

    fn workers(&self) -> usize {
        self.workers
    }
}

/// A run whose shards other processes evaluate. Programs, tasks, `jobs`, files and keywords are those of
/// `Coordinator`; without `ranks` candidates are not ranked, and scores are computed only if asked for.
#[pyclass(frozen, name = "_ShardedRun", module = "mega_batch._engine")]
pub(crate) struct PyShardedRun {
    run: Coordinated,
    packed: RwLock<Option<Arc<PackedBatch>>>,
}

#[pymethods]
impl PyShardedRun {
    #[new]
    #[pyo3(signature = (programs, tasks, *, ranks, solutions = None, jobs = None, train_only = false,
        dialect = None, checkpoint = None, resume = false, submission = None, **options))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        programs: &Bound<'_, PyAny>,
        tasks: &Bound<'_, PyAny>,
        ranks: bool,
        solutions: Option<&Bound<'_, PyAny>>,
        jobs: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::train_only)] train_only: bool,
        #[pyo3(from_py_with = arguments::dialect)] dialect: Option<Dialect>,
        #[pyo3(from_py_with = arguments::paths::checkpoint)] checkpoint: Option<PathBuf>,
        #[pyo3(from_py_with = arguments::resume)] resume: bool,
        #[pyo3(from_py_with = arguments::paths::submission)] submission: Option<PathBuf>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut options = read_options(options)?;
        options.0.scores |= ranks;
        let work = Work::read(programs, tasks, solutions, jobs, train_only, dialect)?;
        let files = Files {
            checkpoint,
            resume,
            submission,
        };
        Ok(Self {
            run: Coordinated::new(work, options, files)?,
            packed: RwLock::new(None),
        })
    }

    /// The batch for other processes.
    fn packed(&self, py: Python<'_>) -> PyResult<PyPackedBatch> {
        let known = || {
            let packed = self.packed.read();
            packed.unwrap_or_else(PoisonError::into_inner).clone()
        };
        if let Some(packed) = known() {
            return Ok(PyPackedBatch(packed));
        }
        let batch = self.run.work.batch()?;
        let packed = guard::engine(py, || PackedBatch::of(&batch))?;
        let packed =
            Arc::new(packed.map_err(|error| PyValueError::new_err(format!("programs: {error}")))?);
        let kept = self.packed.write();
        *kept.unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&packed));
        Ok(PyPackedBatch(packed))
    }

    /// Runs everything that is not in the checkpoint. `shards` is called with the index of a job and returns the
    /// results of the shard that begins with it, as from `_PackedBatch.evaluate`, or None if they are not there yet.
    /// `workers` is how many threads evaluate.
    #[pyo3(signature = (shards, *, workers = 1, on_results = None, chunk = 65536, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        shards: Bound<'_, PyAny>,
        workers: usize,
        on_results: Option<Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::chunk)] chunk: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<PyReport> {
        if !shards.is_callable() {
            return Err(PyTypeError::new_err("shards: expected a function"));
        }
        let callbacks = Callbacks::new(on_results, progress, chunk)?;
        let mut source = PythonShards {
            next: shards.unbind(),
            workers,
            cancelled: &self.run,
            raised: None,
        };
        let report = self.run.run(py, &callbacks, |coordinator, sink| {
            coordinator.run_shards(&mut source, sink)
        });
        match source.raised {
            Some(error) => Err(error),
            None => report,
        }
    }

    /// Ends the current run, from another thread: it returns what is finished.
    fn cancel(&self) {
        self.run.cancel();
    }

    /// See `Coordinator.to_submission`.
    #[pyo3(signature = (path = None))]
    fn to_submission<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::paths::path_)] path: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.run.to_submission(py, path)
    }

    fn __repr__(&self) -> String {
        let (programs, tasks) = (
            self.run.work.subject.programs.len(),
            self.run.work.subject.tasks.len(),
        );
        format!("<_ShardedRun of {programs} programs and {tasks} tasks>")
    }
}
