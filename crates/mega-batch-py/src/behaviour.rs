//! Programs that behave alike.

use std::collections::HashMap;

use arc_dsl::Dialect;
use mega_batch::{Batch, Job, Outcome, PairResult, Runner};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use xxhash_rust::xxh3::xxh3_128;

use crate::arguments;
use crate::callbacks::Watched;
use crate::engine::{Jobs, UNFINISHED, Work};
use crate::guard;
use crate::options::options as read_options;
use crate::progress::ProgressCallback;

/// Stands for an evaluation without an output.
const FAILED: u128 = u128::MAX;

/// For each program the index of the first one with the same outputs on all pairs of all tasks: an array of int64. A
/// program is the first of its behaviour if `found[i] == i`.
///
/// Outputs are compared by a 128-bit hash. All outputs that are not grids count as equal, and so do all failures. A
/// program that reaches a limit equals no other, since its output is not known; without pairs no program equals
/// another. `progress` and the other keywords are those of `run` that say how programs are evaluated.
#[pyfunction]
#[pyo3(signature = (programs, tasks, *, train_only = false, dialect = None, progress = None, **options))]
pub(crate) fn dedup_by_behaviour<'py>(
    py: Python<'py>,
    programs: &Bound<'py, PyAny>,
    tasks: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::train_only)] train_only: bool,
    #[pyo3(from_py_with = arguments::dialect)] dialect: Option<Dialect>,
    progress: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (mut options, cancelled) = read_options(options)?;
    options.scores = true;
    options.stop_after_wrong = false;
    let work = Work::of(programs, tasks, None, Jobs::All, train_only, dialect)?;
    let batch: Batch<'_> = work.batch()?;
    let progress = ProgressCallback::new(py, progress, "evaluation")?;
    let mut known = vec![Outputs::Nothing; batch.programs().len()];
    let take = |job: Job, result: PairResult| {
        known[job.program as usize].add(&result);
        Ok(())
    };
    let mut sink = Watched::new(take, &progress, &cancelled);
    let run = guard::engine(py, || Runner::new(&options)?.run_into(&batch, &mut sink))?;
    let (summary, _) = sink.finish(py, run)?;
    if !summary.is_complete() {
        return Err(PyOSError::new_err(UNFINISHED));
    }
    let mut first = HashMap::new();
    let found = known.into_iter().zip(0..).map(|(known, at)| match known {
        Outputs::Digest(digest) => *first.entry(digest).or_insert(at),
        Outputs::Nothing | Outputs::Limit => at,
    });
    Ok(found.collect::<Vec<_>>().into_pyarray(py))
}

/// What is known of a program's outputs.
#[derive(Debug, Clone, Copy)]
enum Outputs {
    Nothing,
    /// A hash of its outputs, over its pairs in order.
    Digest(u128),
    /// It has reached a limit.
    Limit,
}

impl Outputs {
    /// Adds the result on the next pair.
    fn add(&mut self, result: &PairResult) {
        let before = match (&result.outcome, *self) {
            (Outcome::Limit(_) | Outcome::Internal(_), _) | (_, Self::Limit) => {
                *self = Self::Limit;
                return;
            }
            (_, Self::Nothing) => 0,
            (_, Self::Digest(digest)) => digest,
        };
        let digest = match (&result.outcome, result.score) {
            (Outcome::Match | Outcome::Mismatch | Outcome::NoExpected, Some(score)) => score.digest,
            _ => FAILED,
        };
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&before.to_le_bytes());
        bytes[16..].copy_from_slice(&digest.to_le_bytes());
        *self = Self::Digest(xxh3_128(&bytes));
    }
}
