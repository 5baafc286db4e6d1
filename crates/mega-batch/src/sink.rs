//! [`Sink`]: who takes the results of a run, and what it is told.

use std::io;
use std::path::PathBuf;

use crate::batch::Job;
use crate::outcome::{JobResult, PairResult};
use crate::summary::Progress;

/// Takes results as they come, in the order of the batch.
///
/// Where the batch is [cancelled](crate::Options::cancellation), pairs that were not evaluated are left out,
/// and so are jobs without any. An error stops the batch and is what [`Runner::run_into`](crate::Runner::run_into)
/// returns.
pub trait Sink {
    /// Whether it is to be given results. One that is not is told of progress and notices alone, and no
    /// result leaves the thread that has made it. It is asked once a batch.
    fn takes_results(&self) -> bool {
        true
    }

    /// The results that follow are of this job.
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

    /// The result of the next pair of `job`, where [`results`](Self::results) does not take it.
    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()>;

    /// The next pair of `job` is [left out](crate::Options::stop_after_wrong).
    fn skipped(&mut self, job: Job) -> io::Result<()> {
        let _ = job;
        Ok(())
    }

    /// Something is to be told.
    fn notice(&mut self, notice: Notice) {
        let _ = notice;
    }

    /// Called ten times a second or so while evaluations are under way.
    fn progress(&mut self, progress: Progress) {
        let _ = progress;
    }
}

/// Lets the results go: for runs of which only the [`Summary`](crate::Summary) is of interest.
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

/// Something to be told while a run goes on.
#[derive(Debug)]
pub enum Notice {
    /// Why there is no device, where one is asked for: the CPU does its work.
    NoDevice(String),
    /// Why a device that is asked for is not used, where others are.
    DeviceLeftOut(String),
    /// The run goes on with one from before.
    Resumed {
        /// So many of its evaluations were made then; of a search so many tasks were finished.
        finished: u64,
        /// So many bytes at the checkpoint's end were not whole, and were dropped.
        dropped: u64,
    },
    /// The checkpoint cannot be written any more; the run goes on without.
    CheckpointFailed(PathBuf, io::Error),
    /// The submission cannot be written; it is tried again.
    SubmissionFailed(PathBuf, io::Error),
}
