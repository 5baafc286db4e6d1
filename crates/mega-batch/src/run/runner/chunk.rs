//! [`Chunk`]: the evaluations that a worker claims at a time.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::device::WindowAnswers;
use crate::results::outcome::Answer;

/// Consecutive evaluations.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) evaluations: Range<u64>,
    /// The answers of batts or of a device, by evaluation; empty if none was asked.
    pub(super) answers: Vec<Option<Answer>>,
    /// The time that they took per evaluation.
    pub(super) share: Duration,
    /// Whether a device was asked.
    pub(super) by_device: bool,
    /// Its answers, until a worker reads them.
    pub(super) unread: Option<Arc<WindowAnswers>>,
    /// The worker whose batt contains the calls that these programs share, if it merged the programs before them.
    pub(super) merged_by: Option<usize>,
}

impl Chunk {
    pub(super) fn of(evaluations: Range<u64>) -> Self {
        Self {
            evaluations,
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        (self.evaluations.end - self.evaluations.start) as usize
    }

    /// Splits off everything from `at` on; `None` if nothing is there.
    pub(super) fn split_off(&mut self, at: usize) -> Option<Self> {
        if at >= self.len() {
            return None;
        }
        let middle = self.evaluations.start + at as u64;
        let rest = middle..std::mem::replace(&mut self.evaluations.end, middle);
        let answers = self.answers.split_off(at.min(self.answers.len()));
        Some(Self {
            evaluations: rest,
            answers,
            unread: self.unread.clone(),
            ..*self
        })
    }
}
