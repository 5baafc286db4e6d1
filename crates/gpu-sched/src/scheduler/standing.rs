//! Executors that fail: which are still used, who takes over their batches, and when they are tried again.

use std::time::Duration;

use super::{BatchId, Ended, HOST, InFlight, Scheduler, Waiting};
use crate::work::Failure;

/// How many batches in a row may fail before an executor counts as lost.
const STRIKES: u32 = 3;

/// How often a lost executor is tried again.
const RECOVERIES: u32 = 6;

/// Whether an executor is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Working,
    /// It is reopened with the next batch.
    Recovering,
    /// Not used before this time.
    Lost(Duration),
    /// Not used before it answers.
    Hung,
    /// Not used again.
    Gone,
}

/// The health of an executor.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standing {
    state: State,
    strikes: u32,
    /// How often it was lost since it last finished a batch.
    losses: u32,
}

impl Standing {
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.state, State::Working | State::Recovering)
    }

    /// When it will be used again, if it is lost for now.
    pub(super) fn returns(&self) -> Option<Duration> {
        match self.state {
            State::Lost(until) => Some(until),
            _ => None,
        }
    }

    /// Whether it gets only one batch at a time, since it may fail again.
    pub(super) fn is_doubtful(&self) -> bool {
        self.state == State::Recovering || self.strikes > 0 || self.losses > 0
    }

    /// A batch is started; returns whether the executor has to be reopened for it.
    pub(super) fn begin(&mut self) -> bool {
        let recovers = self.state == State::Recovering;
        if recovers {
            self.state = State::Working;
        }
        recovers
    }

    pub(super) fn succeeded(&mut self) {
        self.strikes = 0;
        self.losses = 0;
    }

    /// An executor that hung has answered: it is tried again like one that was lost.
    pub(super) fn answered(&mut self) {
        if self.state == State::Hung {
            self.state = State::Recovering;
        }
    }

    fn lose(&mut self, now: Duration, recovery: Duration) {
        self.strikes = 0;
        self.state = if self.losses >= RECOVERIES {
            State::Gone
        } else {
            State::Lost(now + recovery.saturating_mul(1 << self.losses))
        };
        self.losses += 1;
    }

    fn hang(&mut self) {
        self.losses += 1;
        self.state = if self.losses > RECOVERIES {
            State::Gone
        } else {
            State::Hung
        };
    }
}

impl Scheduler {
    /// Makes the executors available again whose delay is over.
    pub(super) fn revive(&mut self, now: Duration) {
        for executor in &mut self.executors {
            let standing = &mut executor.standing;
            if matches!(standing.state, State::Lost(until) if until <= now) {
                standing.state = State::Recovering;
            }
        }
    }

    /// The next time at which something is due besides the end of a batch: [`expire`](Self::expire), or the retry of
    /// a lost executor while items are queued.
    pub fn wake(&self) -> Option<Duration> {
        let deadlines = self.in_flight.values().filter_map(|flight| flight.deadline);
        let waits = !self.waiting.is_empty();
        let returns = self.executors.iter().filter_map(|executor| {
            let returns = executor.standing.returns();
            returns.filter(|_| waits)
        });
        deadlines.chain(returns).min()
    }

    /// Gives up the batches whose time limit is over, and returns them with their executors, which are not used again
    /// before they [answer](Self::answered).
    pub fn expire(&mut self, now: Duration) -> Vec<(BatchId, usize)> {
        let late = self.in_flight.iter().filter(|(_, flight)| {
            let deadline = flight.deadline;
            deadline.is_some_and(|deadline| deadline <= now)
        });
        let late: Vec<_> = late.map(|(batch, _)| *batch).collect();
        let mut given_up = Vec::new();
        for batch in late {
            // Later batches of the same executor are given up with it.
            let Some(flight) = self.in_flight.get(&batch) else {
                continue;
            };
            let executor = flight.executor;
            self.executors[executor].standing.hang();
            let batches = self.take_back(executor, Some(batch));
            given_up.extend(batches.into_iter().map(|batch| (batch, executor)));
        }
        given_up
    }

    /// Requeues all batches of an executor. Records that the executor failed on `culprit`.
    fn take_back(&mut self, executor: usize, culprit: Option<BatchId>) -> Vec<BatchId> {
        let batches = std::mem::take(&mut self.executors[executor].in_flight);
        self.executors[executor].activity.failed += batches.len() as u64;
        for batch in &batches {
            if let Some(mut flight) = self.in_flight.remove(batch) {
                if culprit == Some(*batch) {
                    flight.failed |= 1 << executor;
                }
                self.put_back(&flight);
            }
        }
        batches
    }

    fn put_back(&mut self, flight: &InFlight) {
        let mix = self.items.mix(&flight.items);
        self.mix.join(&mix);
        let waiting = Waiting {
            end: flight.items.end,
            failed: flight.failed,
        };
        self.waiting.insert(flight.items.start, waiting);
    }

    /// Handles the failure of a batch.
    pub(super) fn handle_failure(
        &mut self,
        now: Duration,
        mut flight: InFlight,
        failure: Failure,
    ) -> Ended {
        let executor = flight.executor;
        let count = flight.items.end - flight.items.start;
        let recovery = self.policy.recovery;
        let state = &mut self.executors[executor];
        if executor == HOST {
            // The host is the last resort. A batch that fails is split down to single items; an item that fails is
            // given up.
            state.activity.failed += 1;
            if count == 1 {
                self.finish(flight.items.clone());
                return Ended::GivenUp(flight.items.start, failure);
            }
            self.halve(&flight);
            return Ended::Dropped;
        }
        match failure {
            Failure::OutOfMemory if count > 1 => {
                state.activity.split += 1;
                state.fits = count / 2;
                self.halve(&flight);
            }
            Failure::OutOfMemory if !state.alone && !state.in_flight.is_empty() => {
                // Other batches hold the memory that it needs.
                state.activity.split += 1;
                state.fits = 1;
                state.alone = true;
                self.put_back(&flight);
            }
            Failure::OutOfMemory => {
                state.activity.too_large += 1;
                flight.failed = !0;
                self.strike(now, &flight);
            }
            Failure::Failed(_) => {
                state.activity.failed += 1;
                flight.failed |= 1 << executor;
                self.strike(now, &flight);
            }
            Failure::Lost(_) | Failure::Hung => {
                state.activity.failed += 1;
                state.standing.lose(now, recovery);
                flight.failed |= 1 << executor;
                self.put_back(&flight);
                self.take_back(executor, None);
            }
        }
        Ended::Dropped
    }

    /// Requeues a batch that failed. An executor with several failures in a row counts as lost.
    fn strike(&mut self, now: Duration, flight: &InFlight) {
        let recovery = self.policy.recovery;
        let standing = &mut self.executors[flight.executor].standing;
        standing.strikes += 1;
        let is_lost = standing.strikes >= STRIKES;
        if is_lost {
            standing.lose(now, recovery);
        }
        self.put_back(flight);
        if is_lost {
            self.take_back(flight.executor, None);
        }
    }

    /// Requeues the items of a batch in two halves.
    fn halve(&mut self, flight: &InFlight) {
        let InFlight { items, .. } = flight;
        let middle = items.start + (items.end - items.start) / 2;
        for half in [items.start..middle, middle..items.end] {
            self.put_back(&InFlight {
                items: half,
                ..flight.clone()
            });
        }
    }
}
