//! [`Sink`]: receives the results of a run, its progress and notices.

use std::io;
use std::path::PathBuf;

use crate::batch::Job;
use crate::results::outcome::{JobResult, PairResult};
use crate::results::summary::Progress;

/// Receives results as they come, in the order of the batch.
///
/// If the batch is [cancelled](crate::Options::cancellation), pairs that were not evaluated are left out, and so are
/// jobs without any. An error stops the batch, and [`Runner::run_into`](crate::Runner::run_into) returns it.
pub trait Sink {
    /// Whether it receives results. Otherwise it only gets progress and notices, and no result leaves the thread that
    /// computed it. Called once per batch.
    fn takes_results(&self) -> bool {
        true
    }

    /// The following results belong to this job.
    fn job(&mut self, job: Job) -> io::Result<()> {
        let _ = job;
        Ok(())
    }

    /// The results of the next pairs of `job`: some at a time, and not always all of them.
    fn results(&mut self, job: Job, results: impl Iterator<Item = PairResult>) -> io::Result<()> {
        for result in results {
            self.pair(job, result)?;
        }
        Ok(())
    }

    /// The result of the next pair of `job`, unless [`results`](Self::results) is overridden.
    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()>;

    /// The next pair of `job` was [left out](crate::Options::stop_after_wrong).
    fn skipped(&mut self, job: Job) -> io::Result<()> {
        let _ = job;
        Ok(())
    }

    /// Something to report.
    fn notice(&mut self, notice: Notice) {
        let _ = notice;
    }

    /// Called about ten times per second while evaluations are running.
    fn progress(&mut self, progress: Progress) {
        let _ = progress;
    }
}

/// Discards the results: for runs of which only the [`Summary`](crate::Summary) matters.
impl Sink for () {
    fn takes_results(&self) -> bool {
        false
    }

    fn pair(&mut self, _: Job, _: PairResult) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps every result.
impl Sink for Vec<JobResult> {
    fn job(&mut self, job: Job) -> io::Result<()> {
        self.push(JobResult {
            job,
            pairs: Vec::new(),
        });
        Ok(())
    }

    fn results(&mut self, _: Job, results: impl Iterator<Item = PairResult>) -> io::Result<()> {
        if let Some(last) = self.last_mut() {
            last.pairs.extend(results);
        }
        Ok(())
    }

    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        self.results(job, std::iter::once(result))
    }
}

/// Something to report during a run.
#[derive(Debug)]
pub enum Notice {
    /// Why there is no device although one was asked for: the CPU does its work.
    NoDevice(String),
    /// Why a device that was asked for is not used, while others are.
    DeviceLeftOut(String),
    /// The run was resumed.
    Resumed {
        /// How many evaluations had been finished; for a search, how many tasks.
        finished: u64,
        /// How many bytes of an incomplete block at the end of the checkpoint were dropped.
        dropped: u64,
    },
    /// The checkpoint cannot be written any more; the run continues without it.
    CheckpointFailed(PathBuf, io::Error),
    /// The submission cannot be written; it is tried again.
    SubmissionFailed(PathBuf, io::Error),
}
