//! `_PackedBatch`: a batch for other processes, which evaluate shards of it, and how their results come back.
//!
//! The transport of shards is in Python: `mega_batch/_shards.py` and `mega_batch/ray.py`.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mega_batch::shards::{PackedBatch, Shards};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arguments;
use crate::callbacks::raised;
use crate::engine::PyEngine;
use crate::guard;

/// A batch for other processes, which evaluate shards of it.
///
/// `_PackedBatch(data)` reads what `data()` returned: an array of uint8. Raises ValueError for other bytes, and for
/// those packed by another version of the engine.
#[pyclass(frozen, name = "_PackedBatch", module = "mega_batch._engine")]
pub(crate) struct PyPackedBatch(pub(crate) PackedBatch);

#[pymethods]
impl PyPackedBatch {
    #[new]
    fn new(py: Python<'_>, data: PyReadonlyArray1<'_, u8>) -> PyResult<Self> {
        let data = data.as_slice()?;
        let read = guard::engine(py, || PackedBatch::from_bytes(data))?;
        let batch = read.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(batch))
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
    /// array of uint8 for `Coordinator._run_shards`, the end of the evaluated jobs, and their number of evaluations.
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
        let results = results.map_err(raised)?;
        let bytes = results.bytes.into_pyarray(py);
        Ok((bytes, results.jobs.end, results.evaluations))
    }
}

/// Gets shards from Python.
pub(crate) struct PythonShards<'a> {
    /// Called with the index of the first job; returns an array of uint8, or None if there is none yet.
    pub(crate) next: Py<PyAny>,
    pub(crate) workers: usize,
    pub(crate) cancelled: &'a AtomicBool,
    pub(crate) raised: Option<PyErr>,
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
            self.cancelled.store(true, Ordering::Relaxed);
            Ok(None)
        })
    }

    fn workers(&self) -> usize {
        self.workers
    }
}
