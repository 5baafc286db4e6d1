//! [`Coordinator`]: a run that can be resumed, on whatever devices the machine has.

pub(crate) mod block_log;
pub(crate) mod checkpoint;
pub(crate) mod keeper;

use std::io;
use std::path::PathBuf;

use crate::batch::options::Options;
use crate::batch::{Batch, Job};
use crate::coordinator::block_log::BlockLog;
use crate::coordinator::checkpoint::{CheckpointEntry, Identity, Recorded};
use crate::coordinator::keeper::{CoordinatorError, Keeper};
use crate::results::attempts::Attempts;
use crate::results::outcome::PairResult;
use crate::results::sink::{Notice, Sink};
use crate::results::submission::Submission;
use crate::results::summary::{Progress, Summary};
use crate::run::delivery::BatchPosition;
use crate::run::runner::Runner;
use crate::run::shards::{self, Shards};

/// The results of a run.
#[derive(Debug)]
pub struct Finished<'a> {
    /// The summary of the batch, including results of earlier runs.
    pub summary: Summary,
    /// The candidates by task, if they are asked for.
    pub attempts: Option<Attempts<'a>>,
}

/// A run that can be resumed, on whatever devices the machine has.
///
/// It passes a [`Batch`] to a [`Runner`] and sits between that and the [`Sink`]: it writes results to the
/// [checkpoint](Self::checkpoint) as they come, delivers those of an earlier run first, [ranks](Attempts) candidates,
/// and writes the submission every few seconds.
///
/// ```
/// # use arc_tasks::builtin;
/// use mega_batch::{Batch, Coordinator, Mode, Options};
/// # let tasks: Vec<_> = builtin::all().iter().take(3).map(|it| it.task(0, 2, 1, 30)).collect();
/// # let programs: Vec<_> = builtin::all().iter().map(|it| it.program().clone()).collect();
/// # let folder = tempfile::tempdir()?;
/// # let [checkpoint, submission] = ["run.checkpoint", "submission.json"].map(|name| folder.path().join(name));
/// let batch = Batch::all_pairs(&programs, &tasks);
/// let mut options = Options::default();
/// options.mode = Mode::Auto;
/// let finished = Coordinator::new(&batch, &options)
///     .resume(checkpoint)
///     .submission(submission)
///     .run(&mut ())?;
/// assert_eq!(finished.summary.tasks_solved, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Coordinator<'a> {
    batch: Batch<'a>,
    options: Options,
    checkpoint: Option<(PathBuf, bool)>,
    submission: Option<PathBuf>,
}

impl<'a> Coordinator<'a> {
    /// A run of this batch.
    pub fn new(batch: &Batch<'a>, options: &Options) -> Self {
        Self {
            batch: batch.clone(),
            options: options.clone(),
            checkpoint: None,
            submission: None,
        }
    }

    /// Writes results to this file as they come. The file must not exist: see [`resume`](Self::resume).
    #[must_use]
    pub fn checkpoint(mut self, path: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some((path.into(), false));
        self
    }

    /// Writes results to this file as they come, and begins with those that it contains.
    #[must_use]
    pub fn resume(mut self, path: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some((path.into(), true));
        self
    }

    /// Ranks the candidates of each task, even without a submission.
    #[must_use]
    pub fn attempts(mut self) -> Self {
        self.options.scores = true;
        self
    }

    /// Writes the best attempts for all tasks to this file: when the run begins, and then every few seconds if there
    /// are better ones. The file is complete at any time.
    #[must_use]
    pub fn submission(mut self, path: impl Into<PathBuf>) -> Self {
        self.submission = Some(path.into());
        self.attempts()
    }

    /// Runs the batch. [Cancelling](Options::cancellation) it is not an error.
    pub fn run(self, sink: &mut impl Sink) -> Result<Finished<'a>, CoordinatorError> {
        self.run_by(sink, |batch, options, recorded, sink| {
            let mut runner = Runner::new(options)?;
            tracing::info!(
                mode = %options.mode,
                workers = runner.workers(),
                devices = runner.devices().join(", "),
                evaluations = batch.evaluations(),
                resumed = recorded.len(),
                "the run begins"
            );
            if let Some(reason) = runner.no_device() {
                sink.notice(Notice::NoDevice(reason.to_owned()));
            }
            if let Some(reason) = runner.left_out() {
                sink.notice(Notice::DeviceLeftOut(reason.to_owned()));
            }
            runner.resume_into(batch, recorded, sink)
        })
    }

    /// The same, with evaluations by other processes: see [`shards`].
    pub fn run_shards(
        self,
        shards: &mut impl Shards,
        sink: &mut impl Sink,
    ) -> Result<Finished<'a>, CoordinatorError> {
        self.run_by(sink, |batch, options, recorded, sink| {
            shards::run(batch, options, recorded, shards, sink)
        })
    }

    fn run_by<S: Sink>(
        self,
        sink: &mut S,
        evaluate: impl FnOnce(
            &Batch<'a>,
            &Options,
            Recorded<'a>,
            &mut CoordinatingSink<'_, 'a, S>,
        ) -> io::Result<Summary>,
    ) -> Result<Finished<'a>, CoordinatorError> {
        let Self {
            batch,
            options,
            checkpoint,
            submission,
        } = self;
        let most = usize::try_from(batch.evaluations()).unwrap_or(usize::MAX);
        let identity = || Identity::of(&batch, &options);
        let notify = |notice| sink.notice(notice);
        let (checkpoint, blocks) = keeper::open(checkpoint, identity, most, notify)?;
        let recorded = Recorded::new(&batch, blocks);
        let attempts = options.scores.then(|| Attempts::new(&batch));
        let first = attempts.as_ref().map(Submission::of);
        let mut coordinating = CoordinatingSink {
            sink,
            keeps_outputs: options.keep_outputs,
            batch: batch.clone(),
            keeper: Keeper::new(checkpoint, submission.zip(first.as_ref()))?,
            before: recorded.len() as u64,
            place: BatchPosition::default(),
            has_gap: false,
            attempts,
        };
        let summary = evaluate(&batch, &options, recorded, &mut coordinating)?;
        let attempts = coordinating.finish();
        tracing::info!(
            evaluations = summary.totals.evaluations,
            right = summary.totals.right,
            tasks_solved = summary.tasks_solved,
            seconds = summary.elapsed.as_secs_f64(),
            is_complete = summary.is_complete(),
            "the run ends"
        );
        Ok(Finished { summary, attempts })
    }
}

/// Sits between a runner and a sink.
struct CoordinatingSink<'s, 'a, S> {
    sink: &'s mut S,
    keeps_outputs: bool,
    batch: Batch<'a>,
    keeper: Keeper,
    /// How many of the results that follow are in the checkpoint already.
    before: u64,
    /// The position before the next evaluation.
    place: BatchPosition,
    /// Whether a result was missing: later ones have no place in the checkpoint, and a resumed run evaluates them
    /// again.
    has_gap: bool,
    attempts: Option<Attempts<'a>>,
}

impl<'a, S: Sink> CoordinatingSink<'_, 'a, S> {
    /// Adds the result of an evaluation to the checkpoint, if there is one.
    fn record(&mut self, job: Job, result: Option<&PairResult>) {
        if self.has_gap || !self.keeper.has_checkpoint() {
            return;
        }
        self.has_gap = self.place.next_is(&self.batch, job, result).is_none();
        if self.has_gap {
            return;
        }
        if self.before > 0 {
            self.before -= 1;
            return;
        }
        let notify = |notice| self.sink.notice(notice);
        self.keeper
            .record(|log| log.push(&CheckpointEntry::of(result)), notify);
    }

    /// Writes the submission, if there are better attempts.
    fn submit(&mut self) {
        let Some(attempts) = &mut self.attempts else {
            return;
        };
        if attempts.has_changed() {
            self.keeper.has_more();
        }
        let notify = |notice| self.sink.notice(notice);
        self.keeper.submit(|| Submission::of(attempts), notify);
    }

    fn finish(mut self) -> Option<Attempts<'a>> {
        if let Some(attempts) = &mut self.attempts {
            attempts.finish();
        }
        self.submit();
        self.keeper.finish(|notice| self.sink.notice(notice));
        self.attempts
    }
}

impl<S: Sink> Sink for CoordinatingSink<'_, '_, S> {
    fn takes_results(&self) -> bool {
        self.keeper.has_checkpoint() || self.attempts.is_some() || self.sink.takes_results()
    }

    fn job(&mut self, job: Job) -> io::Result<()> {
        if let Some(attempts) = &mut self.attempts {
            attempts.job(job)?;
        }
        self.sink.job(job)
    }

    fn pair(&mut self, job: Job, mut result: PairResult) -> io::Result<()> {
        self.record(job, Some(&result));
        if let Some(attempts) = &mut self.attempts {
            attempts.add(&result);
            // Outputs on test pairs were kept only for the attempts.
            if !self.keeps_outputs {
                result.output = None;
            }
        }
        self.sink.pair(job, result)
    }

    fn skipped(&mut self, job: Job) -> io::Result<()> {
        self.record(job, None);
        if let Some(attempts) = &mut self.attempts {
            attempts.skipped(job)?;
        }
        self.sink.skipped(job)
    }

    fn progress(&mut self, progress: Progress) {
        let notify = |notice| self.sink.notice(notice);
        self.keeper.record(BlockLog::tick, notify);
        if self.keeper.is_due() {
            self.submit();
        }
        self.sink.progress(progress);
    }

    fn notice(&mut self, notice: Notice) {
        self.sink.notice(notice);
    }
}

#[cfg(test)]
mod tests;
