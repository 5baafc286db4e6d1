//! The benchmark: the built-in programs by mode, kind and batch size, on this machine.
//!
//! A cell is the wall-clock time of one call of [`Runner::run_into`](mega_batch::Runner::run_into) for a batch of a
//! given size, from the call to the last outcome. Modes take turns. Every outcome is compared with that of the
//! reference interpreter in the same run; a benchmark with a difference is an error, not a result.

use std::io;

use mega_batch::UnknownJob;

mod charts;
mod compare;
pub(crate) mod device;
mod document;
mod environment;
mod markdown;
mod matrix;
mod measure;
mod outcomes;
mod plan;
mod statistics;
mod table;
mod targets;
pub(crate) mod workload;

pub(crate) use charts::{charts, files as chart_files};
pub(crate) use compare::{compare, read as read_kept};
pub(crate) use environment::Environment;
pub(crate) use markdown::{cell, page};
pub(crate) use matrix::{Event, measure};
pub(crate) use outcomes::Outcomes;
pub(crate) use plan::{MOST_EVALUATIONS, Plan};
pub(crate) use table::{ComparisonLines, Heading, Row, ScaleRow};
use workload::Workload;

/// Why there is no benchmark.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// The threads could not be started.
    #[error("the workers cannot be started")]
    Workers(#[from] io::Error),
    /// A batch refers to a program or task that it does not contain: a bug of ours.
    #[error("a batch cannot be made")]
    Batch(#[source] UnknownJob),
    /// An evaluation that should be right is not, or some were not run.
    #[error("{kind}, {size} evaluations a batch, {mode}: {evaluation}")]
    Wrong {
        kind: Workload,
        size: usize,
        mode: String,
        evaluation: String,
    },
    /// Two modes disagree on the outcome of an evaluation.
    #[error("{kind}, {size} evaluations a batch: {mode} differs from {first}: {difference}")]
    Different {
        kind: Workload,
        size: usize,
        first: String,
        mode: String,
        difference: String,
    },
}

/// A processor or device name in the form used for folders: `nvidia-h200`.
pub(crate) fn folder_name(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty());
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    words.join("-")
}
