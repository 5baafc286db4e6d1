//! Programs that give the same.

use std::collections::HashMap;

use mega_batch::{Batch, Outcome, Runner};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use xxhash_rust::xxh3::xxh3_128;

use crate::engine::{Callbacks, PySink, Work, read_options};
use crate::guard;

/// What stands for an evaluation without output.
const FAILED: u128 = u128::MAX;

/// For each program the first one that gives the same on all pairs of all tasks, by its place: an array
/// of int64. A program is the first of its behaviour where `found[i] == i`.
///
/// Outputs are compared by a hash of 128 bits. All outputs that are no grids count as the same, and so do
/// all failures. `progress` and the other keywords are those of `run` that say how evaluations are made.
#[pyfunction]
#[pyo3(signature = (programs, tasks, *, train_only = false, dialect = None, progress = None, **options))]
pub(crate) fn dedup_by_behaviour<'py>(
    py: Python<'py>,
    programs: &Bound<'py, PyAny>,
    tasks: &Bound<'py, PyAny>,
    train_only: bool,
    dialect: Option<&str>,
    progress: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (mut options, cancelled) = read_options(options)?;
    options.scores = true;
    options.stop_after_wrong = false;
    let work = Work::read_all(programs, tasks, train_only, dialect)?;
    let batch: Batch<'_> = work.batch()?;
    let callbacks = Callbacks::new(None, progress, 1)?;
    let mut behaviours = Behaviours {
        digests: vec![0; batch.programs().len()],
        watch: PySink::new(&callbacks, &options, &cancelled),
    };
    let run = guard::engine(py, || {
        let mut runner = Runner::new(&options)?;
        runner.run_into(&batch, &mut behaviours)
    })?;
    let Behaviours { digests, watch } = behaviours;
    let (summary, _) = watch.finish(py, run)?;
    if !summary.is_complete() {
        return Err(PyOSError::new_err(
            "the time was over before all programs were run",
        ));
    }
    let mut first = HashMap::new();
    let digests = digests.into_iter().enumerate();
    let found = digests.map(|(at, digest)| *first.entry(digest).or_insert(at as i64));
    Ok(found.collect::<Vec<_>>().into_pyarray(py))
}

/// Hashes of what programs give, each over its pairs in their order.
struct Behaviours<'a> {
    digests: Vec<u128>,
    /// Looks at signals on the way.
    watch: PySink<'a>,
}

impl mega_batch::Sink for Behaviours<'_> {
    fn pair(
        &mut self,
        job: mega_batch::Job,
        result: mega_batch::PairResult,
    ) -> std::io::Result<()> {
        let digest = match (&result.outcome, result.score) {
            (Outcome::Match | Outcome::Mismatch | Outcome::NoExpected, Some(score)) => score.digest,
            _ => FAILED,
        };
        let whole = &mut self.digests[job.program as usize];
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&whole.to_le_bytes());
        bytes[16..].copy_from_slice(&digest.to_le_bytes());
        *whole = xxh3_128(&bytes);
        Ok(())
    }

    fn progress(&mut self, progress: mega_batch::Progress) {
        self.watch.progress(progress);
    }

    fn notice(&mut self, notice: mega_batch::Notice) {
        self.watch.notice(notice);
    }
}
