//! [`Chunk`]: what a worker takes at a time.

use std::ops::Range;
use std::time::Duration;

use crate::outcome::Answer;

/// Consecutive evaluations.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) evaluations: Range<u64>,
    /// What batts have answered, by the places of the evaluations; empty if none was asked.
    pub(super) answers: Vec<Option<Answer>>,
    /// The time that this took, for each.
    pub(super) share: Duration,
    /// The worker whose batt has the calls that these programs share, where one has made those before them.
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

    /// Cuts off what stands behind so many evaluations; `None` if nothing does.
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
            ..*self
        })
    }
}
