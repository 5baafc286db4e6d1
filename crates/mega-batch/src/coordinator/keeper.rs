//! [`Keeper`]: the checkpoint and the submission of a run or a search, written while it runs.

use std::borrow::Borrow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::coordinator::block_log::{BlockLog, Blocks, CheckpointError, Identity};
use crate::files;
use crate::results::escape::escaped;
use crate::results::sink::Notice;
use crate::results::submission::Submission;

/// How often the submission is written while there are better attempts.
const SUBMISSION_INTERVAL: Duration = Duration::from_secs(3);

/// Why a run could not start, or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinatorError {
    /// The checkpoint cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The submission cannot be written.
    #[error("{}: {error}", escaped(&path.to_string_lossy()))]
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

/// Opens a checkpoint, if there is to be one: begins it, or resumes it, if it has at most `most` entries, and notifies.
/// Also returns its entries.
pub(crate) fn open<I: Identity>(
    checkpoint: Option<(PathBuf, bool)>,
    identity: impl FnOnce() -> I,
    most: usize,
    notify: impl FnOnce(Notice),
) -> Result<(Option<(PathBuf, BlockLog)>, Blocks), CheckpointError> {
    let Some((path, resumes)) = checkpoint else {
        return Ok((None, Blocks::default()));
    };
    let (log, blocks) = if resumes {
        BlockLog::resume(&path, &identity(), most)?
    } else {
        (BlockLog::create(&path, &identity())?, Blocks::default())
    };
    let (finished, dropped) = (blocks.left() as u64, blocks.dropped());
    if finished > 0 || dropped > 0 {
        notify(Notice::Resumed { finished, dropped });
    }
    Ok((Some((path, log)), blocks))
}

/// The files of a run or a search. A file that cannot be written is reported; the run continues.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    /// `None` if there is none, or if it cannot be written any more.
    checkpoint: Option<(PathBuf, BlockLog)>,
    /// `None` if there is none.
    submission: Option<SubmissionFile>,
}

#[derive(Debug)]
struct SubmissionFile {
    path: PathBuf,
    written: Instant,
    /// Whether there are better attempts than in the file.
    is_stale: bool,
}

fn write(submission: &Submission, path: &Path) -> io::Result<()> {
    files::replace(path, |out| submission.write(out))
}

impl Keeper {
    /// A keeper of these files; writes the submission at once.
    pub(crate) fn new(
        checkpoint: Option<(PathBuf, BlockLog)>,
        submission: Option<(PathBuf, &Submission)>,
    ) -> Result<Self, CoordinatorError> {
        let submission = submission.map(|(path, submission)| match write(submission, &path) {
            Ok(()) => Ok(SubmissionFile {
                path,
                written: Instant::now(),
                is_stale: false,
            }),
            Err(error) => Err(CoordinatorError::Submission { path, error }),
        });
        Ok(Self {
            checkpoint,
            submission: submission.transpose()?,
        })
    }

    /// Whether there is a checkpoint.
    pub(crate) fn has_checkpoint(&self) -> bool {
        self.checkpoint.is_some()
    }

    /// Calls `record` on the checkpoint. If that fails, gives the checkpoint up and notifies.
    pub(crate) fn record(
        &mut self,
        record: impl FnOnce(&mut BlockLog) -> io::Result<()>,
        notify: impl FnOnce(Notice),
    ) {
        if let Some((path, log)) = &mut self.checkpoint
            && let Err(error) = record(log)
        {
            notify(Notice::CheckpointFailed(std::mem::take(path), error));
            self.checkpoint = None;
        }
    }

    /// Marks the submission as out of date.
    pub(crate) fn has_more(&mut self) {
        if let Some(file) = &mut self.submission {
            file.is_stale = true;
        }
    }

    /// Whether it is time to write the submission, if it is out of date.
    pub(crate) fn is_due(&self) -> bool {
        let is_due = |file: &SubmissionFile| file.written.elapsed() >= SUBMISSION_INTERVAL;
        self.submission.as_ref().is_some_and(is_due)
    }

    /// Writes the submission if it is out of date. If that fails, notifies and tries again later.
    pub(crate) fn submit<S: Borrow<Submission>>(
        &mut self,
        submission: impl FnOnce() -> S,
        notify: impl FnOnce(Notice),
    ) {
        if let Some(file) = self.submission.as_mut().filter(|file| file.is_stale) {
            file.written = Instant::now();
            match write(submission().borrow(), &file.path) {
                Ok(()) => file.is_stale = false,
                Err(error) => notify(Notice::SubmissionFailed(file.path.clone(), error)),
            }
        }
    }

    /// Syncs the checkpoint to the disk; notifies if that fails.
    pub(crate) fn finish(self, notify: impl FnOnce(Notice)) {
        if let Some((path, log)) = self.checkpoint
            && let Err(error) = log.finish()
        {
            notify(Notice::CheckpointFailed(path, error));
        }
    }
}
