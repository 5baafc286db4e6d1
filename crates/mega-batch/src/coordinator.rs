//! [`Coordinator`]: a run that loses nothing, over whatever the machine has.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::attempts::Attempts;
use crate::batch::{Batch, Job};
use crate::block_log::CheckpointError;
use crate::checkpoint::{Checkpoint, Identity, Recorded};
use crate::files;
use crate::options::Options;
use crate::outcome::PairResult;
use crate::runner::Runner;
use crate::shards::{self, Shards};
use crate::sink::{Notice, Sink};
use crate::submission::Submission;
use crate::summary::{Progress, Summary};

/// How often the submission is written while there are better attempts.
pub(crate) const SUBMISSION_INTERVAL: Duration = Duration::from_secs(3);

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinatorError {
    /// The checkpoint cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The submission cannot be written.
    #[error("{}: {error}", crate::escape::escaped(&path.to_string_lossy()))]
    Submission {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The threads could not be started, or the sink failed.
    #[error(transparent)]
    Run(#[from] io::Error),
}

/// What a run came to.
#[derive(Debug)]
pub struct Finished<'a> {
    /// The batch, what was made before counted in.
    pub summary: Summary,
    /// The candidates by task, where they are asked for.
    pub attempts: Option<Attempts<'a>>,
}

/// A run that loses nothing, over whatever the machine has.
///
/// It hands a [`Batch`] to a [`Runner`] and stands between it and the [`Sink`]: results go to the
/// [checkpoint](Checkpoint) as they come, those of an earlier run are handed on first, candidates are
/// [ranked](Attempts), and the submission is written every few seconds.
///
/// ```
/// # use arc_dsl::builtin;
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

    /// Keeps results in this file as they come. There must not be one: see [`resume`](Self::resume).
    #[must_use]
    pub fn checkpoint(mut self, path: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some((path.into(), false));
        self
    }

    /// Keeps results in this file as they come, and begins with those that are in it.
    #[must_use]
    pub fn resume(mut self, path: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some((path.into(), true));
        self
    }

    /// Ranks the candidates of each task, though there is no submission.
    #[must_use]
    pub fn attempts(mut self) -> Self {
        self.options.scores = true;
        self
    }

    /// Writes the best attempts for all tasks into this file, first when the run begins, and then every
    /// few seconds where there are better ones; at any time it is whole.
    #[must_use]
    pub fn submission(mut self, path: impl Into<PathBuf>) -> Self {
        self.submission = Some(path.into());
        self.attempts()
    }

    /// Runs the batch. That it is [cancelled](Options::cancellation) is no error.
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

    /// The same, with evaluations that other processes make: see [`shards`].
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
        let (checkpoint, recorded) = match checkpoint {
            None => (None, Recorded::none(&batch)),
            Some((path, resumes)) => {
                let identity = Identity::of(&batch, &options);
                let (checkpoint, recorded) = if resumes {
                    Checkpoint::resume(&path, &batch, &identity)?
                } else {
                    let checkpoint = Checkpoint::create(&path, &identity)?;
                    (checkpoint, Recorded::none(&batch))
                };
                (Some((path, checkpoint)), recorded)
            }
        };
        if recorded.len() > 0 || recorded.dropped() > 0 {
            sink.notice(Notice::Resumed {
                finished: recorded.len() as u64,
                dropped: recorded.dropped(),
            });
        }
        let mut attempts = options.scores.then(|| Attempts::new(&batch));
        if let (Some(attempts), Some(path)) = (&mut attempts, &submission) {
            write(attempts, path).map_err(|error| {
                let path = path.clone();
                CoordinatorError::Submission { path, error }
            })?;
        }
        let mut coordinating = CoordinatingSink {
            sink,
            keeps_outputs: options.keep_outputs,
            recorder: checkpoint.map(|(path, checkpoint)| Recorder {
                batch: batch.clone(),
                path,
                checkpoint,
                before: recorded.len() as u64,
                place: (0, 0),
                has_gap: false,
            }),
            attempts,
            submission: submission.map(|path| (path, Instant::now())),
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

fn write(attempts: &mut Attempts<'_>, path: &Path) -> io::Result<()> {
    attempts.has_changed();
    let submission = Submission::of(attempts);
    files::replace(path, |out| submission.write(out))
}

/// Stands between a runner and a sink.
struct CoordinatingSink<'s, 'a, S> {
    sink: &'s mut S,
    keeps_outputs: bool,
    recorder: Option<Recorder<'a>>,
    attempts: Option<Attempts<'a>>,
    /// Where it goes, and when it was written.
    submission: Option<(PathBuf, Instant)>,
}

impl<'a, S: Sink> CoordinatingSink<'_, 'a, S> {
    /// Does it with the checkpoint, which is let go of where it cannot be written.
    fn record(&mut self, record: impl FnOnce(&mut Recorder<'a>) -> io::Result<()>) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = record(recorder)
            && let Some(recorder) = self.recorder.take()
        {
            self.sink
                .notice(Notice::CheckpointFailed(recorder.path, error));
        }
    }

    fn submit(&mut self) {
        if let (Some(attempts), Some((path, written))) = (&mut self.attempts, &mut self.submission)
        {
            *written = Instant::now();
            if let Err(error) = write(attempts, path) {
                self.sink
                    .notice(Notice::SubmissionFailed(path.clone(), error));
            }
        }
    }

    fn finish(mut self) -> Option<Attempts<'a>> {
        if let Some(attempts) = &mut self.attempts {
            attempts.finish();
        }
        self.submit();
        if let Some(recorder) = self.recorder.take()
            && let Err(error) = recorder.checkpoint.finish()
        {
            self.sink
                .notice(Notice::CheckpointFailed(recorder.path, error));
        }
        self.attempts
    }
}

impl<S: Sink> Sink for CoordinatingSink<'_, '_, S> {
    fn takes_results(&self) -> bool {
        self.recorder.is_some() || self.attempts.is_some() || self.sink.takes_results()
    }

    fn job(&mut self, job: Job) -> io::Result<()> {
        if let Some(attempts) = &mut self.attempts {
            attempts.job(job)?;
        }
        self.sink.job(job)
    }

    fn pair(&mut self, job: Job, mut result: PairResult) -> io::Result<()> {
        self.record(|recorder| recorder.add(job, Some(&result)));
        if let Some(attempts) = &mut self.attempts {
            attempts.add(&result);
            // Outputs on test pairs are there for the attempts alone.
            if !self.keeps_outputs {
                result.output = None;
            }
        }
        self.sink.pair(job, result)
    }

    fn skipped(&mut self, job: Job) -> io::Result<()> {
        self.record(|recorder| recorder.add(job, None));
        if let Some(attempts) = &mut self.attempts {
            attempts.skipped(job)?;
        }
        self.sink.skipped(job)
    }

    fn progress(&mut self, progress: Progress) {
        self.record(|recorder| recorder.checkpoint.tick());
        let is_due = |written: &Instant| written.elapsed() >= SUBMISSION_INTERVAL;
        if let (Some(attempts), Some((_, written))) = (&mut self.attempts, &self.submission)
            && is_due(written)
            && attempts.has_changed()
        {
            self.submit();
        }
        self.sink.progress(progress);
    }

    fn notice(&mut self, notice: Notice) {
        self.sink.notice(notice);
    }
}

/// Adds results to a checkpoint, for as long as none is missing.
struct Recorder<'a> {
    batch: Batch<'a>,
    path: PathBuf,
    checkpoint: Checkpoint,
    /// How many of those that follow are in it already.
    before: u64,
    /// The next evaluation: its job and the pair in it.
    place: (usize, usize),
    /// Whether one was missing: what follows has no place, and is made again.
    has_gap: bool,
}

impl Recorder<'_> {
    fn add(&mut self, job: Job, result: Option<&PairResult>) -> io::Result<()> {
        if self.has_gap {
            return Ok(());
        }
        let (mut at, mut pair) = self.place;
        let pairs = |at| self.batch.pairs_of(self.batch.job(at));
        while at < self.batch.job_count() && pair == pairs(at) {
            (at, pair) = (at + 1, 0);
        }
        let is_next = at < self.batch.job_count() && self.batch.job(at) == job && {
            let (id, _) = self.batch.task(job).pair_at(pair);
            result.is_none_or(|result| result.pair == id)
        };
        if !is_next {
            self.has_gap = true;
            return Ok(());
        }
        self.place = (at, pair + 1);
        if self.before > 0 {
            self.before -= 1;
            return Ok(());
        }
        self.checkpoint.push(result)
    }
}

#[cfg(test)]
mod tests;
