//! [`Keeper`]: the checkpoint and the submission of a run or a search, written while it goes on.

use std::borrow::Borrow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::block_log::{BlockLog, CheckpointError};
use crate::escape::escaped;
use crate::files;
use crate::sink::Notice;
use crate::submission::Submission;

/// How often the submission is written while there are better attempts.
const SUBMISSION_INTERVAL: Duration = Duration::from_secs(3);

/// Why there was no run.
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

/// The files of a run or a search. One that cannot be written is told of and costs nothing else.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    /// `None` if none is asked for, or it cannot be written any more.
    checkpoint: Option<(PathBuf, BlockLog)>,
    /// `None` if none is asked for.
    submission: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    written: Instant,
    /// Whether there is more than was written.
    is_stale: bool,
}

fn write(submission: &Submission, path: &Path) -> io::Result<()> {
    files::replace(path, |out| submission.write(out))
}

impl Keeper {
    /// A keeper of these files; the submission is written at once.
    pub(crate) fn new(
        checkpoint: Option<(PathBuf, BlockLog)>,
        submission: Option<(PathBuf, &Submission)>,
    ) -> Result<Self, CoordinatorError> {
        let submission = submission.map(|(path, submission)| match write(submission, &path) {
            Ok(()) => Ok(Kept {
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

    /// Does it with the checkpoint, which is let go of where it cannot be written; what is to be told then.
    pub(crate) fn record(
        &mut self,
        record: impl FnOnce(&mut BlockLog) -> io::Result<()>,
    ) -> Option<Notice> {
        let (_, log) = self.checkpoint.as_mut()?;
        let error = record(log).err()?;
        let (path, _) = self.checkpoint.take()?;
        Some(Notice::CheckpointFailed(path, error))
    }

    /// There is more for the submission than was written.
    pub(crate) fn has_more(&mut self) {
        if let Some(kept) = &mut self.submission {
            kept.is_stale = true;
        }
    }

    /// Whether the submission is to be written now, if there is more for it.
    pub(crate) fn is_due(&self) -> bool {
        let is_due = |kept: &Kept| kept.written.elapsed() >= SUBMISSION_INTERVAL;
        self.submission.as_ref().is_some_and(is_due)
    }

    /// Writes the submission where there is more for it; what is to be told. Where it cannot be written it is tried
    /// again.
    pub(crate) fn submit<S: Borrow<Submission>>(
        &mut self,
        submission: impl FnOnce() -> S,
    ) -> Option<Notice> {
        let kept = self.submission.as_mut().filter(|kept| kept.is_stale)?;
        kept.written = Instant::now();
        match write(submission().borrow(), &kept.path) {
            Ok(()) => {
                kept.is_stale = false;
                None
            }
            Err(error) => Some(Notice::SubmissionFailed(kept.path.clone(), error)),
        }
    }

    /// Brings the checkpoint to the disk; what is to be told.
    pub(crate) fn finish(self) -> Option<Notice> {
        let (path, log) = self.checkpoint?;
        let error = log.finish().err()?;
        Some(Notice::CheckpointFailed(path, error))
    }
}
