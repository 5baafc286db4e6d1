//! [`deliver`]: hands the results of a batch to a [`Sink`] in their order, whoever makes them, and counts
//! them.

use std::io;

use crate::batch::{Batch, Job};
use crate::outcome::PairResult;
use crate::runner::Sink;
use crate::summary::Tally;

/// What is known of an evaluation: its result, or nothing where it was left out or a stop came first.
pub(crate) type Known = Option<PairResult>;

/// Goes through the evaluations of a batch.
#[derive(Debug, Default)]
pub(crate) struct Place {
    job: usize,
    pair: usize,
}

impl Place {
    /// The next evaluation: the place of its job, and of the pair in the task.
    pub(crate) fn next(&mut self, batch: &Batch<'_>) -> Option<(usize, usize)> {
        while self.job < batch.job_count() {
            let pair = self.pair;
            if pair < batch.pair_count(batch.task(batch.job(self.job))) {
                self.pair += 1;
                return Some((self.job, pair));
            }
            (self.job, self.pair) = (self.job + 1, 0);
        }
        None
    }
}

/// Where results come from, in the order of the batch.
pub(crate) trait Source<S> {
    /// The next one, of this pair of this job, by its place in the task; nothing where there are no more.
    fn next(&mut self, job: Job, pair: usize, sink: &mut S) -> io::Result<Option<Known>>;

    /// The job at this place is wrong, and its other pairs are left out.
    fn wrong(&mut self, at: usize) {
        let _ = at;
    }

    /// All pairs of the job are delivered.
    fn delivered(&mut self, job: Job, pairs: usize) {
        let _ = (job, pairs);
    }
}

/// Hands results to `sink` and counts them, until there are no more. After a stop there may be gaps.
pub(crate) fn deliver<S: Sink>(
    batch: &Batch<'_>,
    stop_after_wrong: bool,
    source: &mut impl Source<S>,
    tally: &mut Tally,
    sink: &mut S,
) -> io::Result<()> {
    for (at, job) in batch.jobs().enumerate() {
        let pairs = batch.pair_count(batch.task(job));
        let (mut begun, mut is_wrong) = (false, false);
        if pairs == 0 {
            tally.begin(batch, job);
            sink.job(job)?;
        }
        for pair in 0..pairs {
            let Some(result) = source.next(job, pair, sink)? else {
                return Ok(());
            };
            // What is known all the same, in a unit or a window of another worker, is left out, so
            // that results do not depend on who was faster.
            if is_wrong {
                tally.skip();
                sink.skipped(job)?;
                continue;
            }
            let Some(result) = result else {
                continue;
            };
            if stop_after_wrong && result.outcome.is_wrong() {
                is_wrong = true;
                source.wrong(at);
            }
            if !std::mem::replace(&mut begun, true) {
                tally.begin(batch, job);
                sink.job(job)?;
            }
            tally.add(batch.task(job), job, &result);
            sink.pair(job, result)?;
        }
        source.delivered(job, pairs);
    }
    Ok(())
}
