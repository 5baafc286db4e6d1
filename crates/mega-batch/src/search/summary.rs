//! [`SearchSummary`]: the summary of a search.

use std::time::Duration;

use arc_tasks::Task;
use serde::Serialize;

use super::{AttemptKind, SearchEnd, SearchState, Searched};

/// The progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SearchProgress {
    /// Tasks that are finished.
    pub done: usize,
    /// All tasks.
    pub total: usize,
    /// Tasks with an attempt that is right on all train pairs.
    pub fitting: usize,
}

/// The summary of a search.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SearchSummary {
    /// The number of tasks to search.
    pub tasks: usize,
    /// The number of workers.
    pub workers: usize,
    /// How long this run took, without earlier runs.
    pub elapsed: Duration,
    /// The totals over all tasks.
    pub totals: SearchTotals,
    /// Seconds of searching, summed over workers, including earlier runs.
    pub seconds: f64,
    /// The most bytes of values that a task needed.
    pub most_bytes: u64,
    /// How long each finished task took, by index.
    pub times: Vec<(usize, f64)>,
}

/// Totals over all tasks. They are the same in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SearchTotals {
    /// Tasks that are finished.
    pub tasks: usize,
    /// Those that could not be searched.
    pub failed: usize,
    /// Those that reached their time limit.
    pub interrupted: usize,
    /// Those with an attempt that is right on all train pairs.
    pub fitting: usize,
    /// Those whose attempts are right on some train pairs only.
    pub partly_fitting: usize,
    /// Those without an attempt.
    pub without_attempt: usize,
    /// Those whose test outputs are all known, with a right answer among the first two for each.
    pub solved: usize,
    /// Attempts of one layer that are right on all train pairs.
    pub chains: usize,
    /// Attempts of several layers that are right on all train pairs.
    pub stacks: usize,
    /// Attempts that are right on some train pairs.
    pub partly: usize,
    /// Values that were kept.
    pub nodes: u64,
    /// Calls that were tried.
    pub calls: u64,
    /// Evaluations of calls, one for each input.
    pub evaluations: u64,
    /// Test pairs whose output is known.
    pub tests_known: usize,
    /// Those whose output size was predicted right.
    pub sizes_right: usize,
    /// Those whose first answer is right; whose first two contain the right one; and whose first three do.
    pub tests_right: [usize; 3],
}

impl SearchSummary {
    pub(super) fn new(tasks: usize, workers: usize) -> Self {
        Self {
            tasks,
            workers,
            ..Self::default()
        }
    }

    /// Adds a task.
    pub(super) fn add(&mut self, at: usize, task: &Task, searched: &Searched) {
        let totals = &mut self.totals;
        totals.tasks += 1;
        totals.failed += usize::from(searched.failure.is_some());
        totals.interrupted += usize::from(searched.stopped == Some(SearchEnd::Interrupted));
        let fits = |kind| matches!(kind, AttemptKind::Chain | AttemptKind::Stack);
        let kinds = searched.attempts.iter();
        let mut has_fitting = false;
        for kind in kinds.map(|attempt| attempt.kind(task.train.len())) {
            has_fitting |= fits(kind);
            *match kind {
                AttemptKind::Chain => &mut totals.chains,
                AttemptKind::Stack => &mut totals.stacks,
                AttemptKind::Partly => &mut totals.partly,
            } += 1;
        }
        *match (has_fitting, searched.attempts.is_empty()) {
            (true, _) => &mut totals.fitting,
            (false, false) => &mut totals.partly_fitting,
            (false, true) => &mut totals.without_attempt,
        } += 1;
        totals.solved += usize::from(searched.state(task) == SearchState::Solved);
        totals.nodes += searched.counts.nodes;
        totals.calls += searched.counts.calls;
        totals.evaluations += searched.counts.evaluations;
        for (test, pair) in task.test.iter().enumerate() {
            let Some(output) = &pair.output else {
                continue;
            };
            totals.tests_known += 1;
            let size = (output.height(), output.width());
            totals.sizes_right += usize::from(searched.sizes.get(test) == Some(&size));
            if let Some(place) = searched.place_of(test, output) {
                let right = totals.tests_right.iter_mut().skip(place);
                right.for_each(|right| *right += 1);
            }
        }
        self.seconds += searched.seconds;
        self.most_bytes = self.most_bytes.max(searched.bytes);
        self.times.push((at, searched.seconds));
    }

    /// Whether all tasks are finished.
    pub fn is_complete(&self) -> bool {
        self.totals.tasks == self.tasks
    }

    pub(super) fn progress(&self) -> SearchProgress {
        SearchProgress {
            done: self.totals.tasks,
            total: self.tasks,
            fitting: self.totals.fitting,
        }
    }

    /// Calls per second of search time; 0 if no time has passed.
    pub fn calls_per_second(&self) -> f64 {
        if self.seconds > 0.0 {
            self.totals.calls as f64 / self.seconds
        } else {
            0.0
        }
    }

    /// The tasks that took longest, by index, slowest first.
    pub fn slowest(&self, most: usize) -> Vec<(usize, Duration)> {
        let mut times = self.times.clone();
        times.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        times.truncate(most);
        let times = times.into_iter();
        times
            .map(|(at, seconds)| (at, Duration::try_from_secs_f64(seconds).unwrap_or_default()))
            .collect()
    }
}
