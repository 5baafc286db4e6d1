//! [`Delivery`]: delivers the results of a batch to a [`Sink`] in order.

use std::io;

use crate::batch::{Batch, Job};
use crate::results::outcome::{Known, PairResult};
use crate::results::sink::Sink;
use crate::results::summary::{SummaryCounts, Tally};

/// Iterates over the evaluations of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchPosition {
    /// The index of the job.
    pub(crate) job: usize,
    /// The next pair in the task.
    pub(crate) pair: usize,
}

impl BatchPosition {
    /// The next evaluation: the index of its job, and of the pair in the task.
    pub(crate) fn next(&mut self, batch: &Batch<'_>) -> Option<(usize, usize)> {
        while self.job < batch.job_count() {
            let pair = self.pair;
            if pair < batch.pairs_of(batch.job(self.job)) {
                self.pair += 1;
                return Some((self.job, pair));
            }
            (self.job, self.pair) = (self.job + 1, 0);
        }
        None
    }

    /// The next evaluation, if `result` belongs to it.
    pub(crate) fn next_is(
        &mut self,
        batch: &Batch<'_>,
        job: Job,
        result: Option<&PairResult>,
    ) -> Option<(usize, usize)> {
        // At another index, the job may have fewer pairs.
        self.next(batch).filter(|(at, pair)| {
            batch.job(*at) == job
                && result.is_none_or(|result| batch.task(job).pair_at(*pair).0 == result.pair)
        })
    }
}

/// Hands results to a sink in the order of the batch.
pub(crate) struct Delivery<'d, 's, S> {
    batch: &'d Batch<'d>,
    tally: &'d Tally<'d>,
    counts: SummaryCounts,
    sink: &'s mut S,
    takes_results: bool,
    stop_after_wrong: bool,
    place: BatchPosition,
    job: JobState,
}

/// The state of the job whose results come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobState {
    /// The sink was not told of it.
    New,
    /// It has results.
    Begun,
    /// It ended with a wrong result.
    Wrong,
}

impl<'d, 's, S: Sink> Delivery<'d, 's, S> {
    pub(crate) fn new(
        batch: &'d Batch<'d>,
        stop_after_wrong: bool,
        tally: &'d Tally<'d>,
        sink: &'s mut S,
    ) -> Self {
        Self {
            batch,
            tally,
            counts: SummaryCounts::default(),
            takes_results: sink.takes_results(),
            sink,
            stop_after_wrong,
            place: BatchPosition::default(),
            job: JobState::New,
        }
    }

    /// The sink, for progress and notices.
    pub(crate) fn sink(&mut self) -> &mut S {
        self.sink
    }

    /// The index of the job that is wrong and still has results, which are left out.
    pub(crate) fn wrong_job(&self) -> Option<usize> {
        (self.job == JobState::Wrong).then_some(self.place.job)
    }

    /// The next evaluation: the index of its job, and of the pair in the task. Tells the sink of jobs without pairs
    /// before it.
    pub(crate) fn next(&mut self) -> io::Result<Option<(usize, usize)>> {
        let next = self.next_of_job()?;
        Ok(next.map(|_| (self.place.job, self.place.pair)))
    }

    /// The job of the next evaluation, and how many of its pairs are still to come; see [`next`](Self::next).
    fn next_of_job(&mut self) -> io::Result<Option<(Job, usize)>> {
        while self.place.job < self.batch.job_count() {
            let job = self.batch.job(self.place.job);
            let pairs = self.batch.pairs_of(job);
            if self.place.pair < pairs {
                return Ok(Some((job, pairs - self.place.pair)));
            }
            if pairs == 0 && self.takes_results {
                self.sink.job(job)?;
            }
            let job = self.place.job + 1;
            self.place = BatchPosition { job, pair: 0 };
            self.job = JobState::New;
        }
        Ok(None)
    }

    /// Delivers the results of the next evaluations, and counts them unless `is_counted`.
    pub(crate) fn deliver(
        &mut self,
        mut results: &mut [Known],
        is_counted: bool,
    ) -> io::Result<()> {
        while !results.is_empty() {
            let Some((job, left)) = self.next_of_job()? else {
                return Err(io::Error::other("more results than evaluations"));
            };
            let count = results.len().min(left);
            let of_job;
            (of_job, results) = results.split_at_mut(count);
            self.deliver_of_job(job, of_job, is_counted)?;
            self.place.pair += count;
        }
        Ok(())
    }

    fn deliver_of_job(
        &mut self,
        job: Job,
        results: &mut [Known],
        is_counted: bool,
    ) -> io::Result<()> {
        // Results that another worker has computed nevertheless are left out, so that the outcome does not depend on
        // which worker was faster.
        let before = self.job;
        let mut kept = match before {
            JobState::Wrong => 0,
            JobState::New | JobState::Begun => results.len(),
        };
        if self.stop_after_wrong && kept > 0 {
            let is_wrong = |result: &Known| result.as_ref().is_some_and(|it| it.outcome.is_wrong());
            if let Some(first) = results.iter().position(is_wrong) {
                (kept, self.job) = (first + 1, JobState::Wrong);
            }
        }
        let (results, skipped) = results.split_at_mut(kept);
        if !is_counted {
            let BatchPosition { job, pair } = self.place;
            self.tally.add(&mut self.counts, job, pair, results);
            self.counts.skipped += skipped.len() as u64;
        }
        if !self.takes_results {
            return Ok(());
        }
        if results.iter().any(Option::is_some) {
            if before == JobState::New {
                self.sink.job(job)?;
                if self.job == JobState::New {
                    self.job = JobState::Begun;
                }
            }
            let results = results.iter_mut().filter_map(Option::take);
            self.sink.results(job, results)?;
        }
        skipped.iter().try_for_each(|_| self.sink.skipped(job))
    }

    /// Whether the sink receives results.
    pub(crate) fn takes_results(&self) -> bool {
        self.takes_results
    }

    /// The counters and the sink.
    pub(crate) fn finish(self) -> (SummaryCounts, &'s mut S) {
        (self.counts, self.sink)
    }
}
