//! Executors that fail: who is still asked, who makes what they leave, and when they are tried again.

use std::time::Duration;

use super::{BatchId, Ended, Flight, HOST, Scheduler, Waiting};
use crate::work::Failure;

/// How many batches in a row may fail before an executor counts as lost.
const STRIKES: u32 = 3;

/// How often a lost executor is tried again.
const RECOVERIES: u32 = 6;

/// Whether an executor is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Working,
    /// It is opened anew with the next batch.
    Recovering,
    /// Not before this time.
    Lost(Duration),
    /// Not before it answers.
    Hung,
    /// Not again.
    Gone,
}

/// How it stands with an executor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    state: State,
    strikes: u32,
    /// How often it was lost since it last made a batch.
    losses: u32,
}

impl Default for Standing {
    fn default() -> Self {
        Self {
            state: State::Working,
            strikes: 0,
            losses: 0,
        }
    }
}

impl Standing {
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.state, State::Working | State::Recovering)
    }

    /// Whether it is not asked for now but may be later, at a time that is known.
    pub(super) fn returns(&self) -> Option<Duration> {
        match self.state {
            State::Lost(until) => Some(until),
            _ => None,
        }
    }

    /// Whether one batch at a time is enough, since it may not be there.
    pub(super) fn is_doubtful(&self) -> bool {
        self.state == State::Recovering || self.strikes > 0 || self.losses > 0
    }

    /// A batch is started; whether the executor has to be opened anew for it.
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

    /// Who hung and answers after all is tried again, as one that was lost.
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
    /// Whether an executor is asked at present.
    pub fn is_asked(&self, executor: usize) -> bool {
        self.executors[executor].standing.is_asked()
    }

    /// Lets those be tried again whose time has come.
    pub(super) fn revive(&mut self, now: Duration) {
        for executor in &mut self.executors {
            let standing = &mut executor.standing;
            if matches!(standing.state, State::Lost(until) if until <= now) {
                standing.state = State::Recovering;
            }
        }
    }

    /// When something is due that does not wait for a batch to end: [`expire`](Self::expire), or a lost
    /// executor that is tried again while items wait.
    pub fn wake(&self) -> Option<Duration> {
        let deadlines = self.flights.values().filter_map(|flight| flight.deadline);
        let waits = !self.waiting.is_empty();
        let returns = self.executors.iter().filter_map(|executor| {
            let returns = executor.standing.returns();
            returns.filter(|_| waits)
        });
        deadlines.chain(returns).min()
    }

    /// Gives up the batches whose time limit is over, and says which, and whose they were: their executor
    /// is not asked again before it [answers](Self::answered).
    pub fn expire(&mut self, now: Duration) -> Vec<(BatchId, usize)> {
        let late = self.flights.iter().filter(|(_, flight)| {
            let deadline = flight.deadline;
            deadline.is_some_and(|deadline| deadline <= now)
        });
        let late: Vec<_> = late.map(|(batch, _)| *batch).collect();
        let mut given_up = Vec::new();
        for batch in late {
            // What is behind it on the same executor goes with it.
            let Some(flight) = self.flights.get(&batch) else {
                continue;
            };
            let executor = flight.executor;
            self.executors[executor].standing.hang();
            let batches = self.take_back(executor, Some(batch));
            given_up.extend(batches.into_iter().map(|batch| (batch, executor)));
        }
        given_up
    }

    /// Puts all batches of an executor back to those that wait. Of `culprit` it is noted that the executor
    /// failed on it.
    fn take_back(&mut self, executor: usize, culprit: Option<BatchId>) -> Vec<BatchId> {
        let batches = std::mem::take(&mut self.executors[executor].flights);
        self.executors[executor].activity.failed += batches.len() as u64;
        for batch in &batches {
            if let Some(mut flight) = self.flights.remove(batch) {
                if culprit == Some(*batch) {
                    flight.failed |= 1 << executor;
                }
                self.put_back(&flight);
            }
        }
        batches
    }

    fn put_back(&mut self, flight: &Flight) {
        let mix = self.items.mix(&flight.items);
        self.mix.join(&mix);
        let waiting = Waiting {
            end: flight.items.end,
            failed: flight.failed,
        };
        self.waiting.insert(flight.items.start, waiting);
    }

    /// What becomes of a batch that was not made.
    pub(super) fn failed(&mut self, now: Duration, mut flight: Flight, failure: Failure) -> Ended {
        let executor = flight.executor;
        let count = flight.items.end - flight.items.start;
        let recovery = self.policy.recovery;
        let about = &mut self.executors[executor];
        if executor == HOST {
            // The last one that there is: what it cannot make together it makes one by one, and what it
            // cannot make at all nobody can.
            about.activity.failed += 1;
            if count == 1 {
                self.finish(flight.items.clone());
                return Ended::GivenUp(flight.items.start, failure);
            }
            self.halve(&flight);
            return Ended::Dropped;
        }
        match failure {
            Failure::OutOfMemory if count > 1 => {
                about.activity.split += 1;
                about.fits = count / 2;
                self.halve(&flight);
            }
            Failure::OutOfMemory if !about.alone && !about.flights.is_empty() => {
                // Others have the memory that it may do with.
                about.activity.split += 1;
                about.fits = 1;
                about.alone = true;
                self.put_back(&flight);
            }
            Failure::OutOfMemory => {
                about.activity.too_large += 1;
                flight.failed = !0;
                self.strike(now, &flight);
            }
            Failure::Failed(_) => {
                about.activity.failed += 1;
                flight.failed |= 1 << executor;
                self.strike(now, &flight);
            }
            Failure::Lost(_) | Failure::Hung => {
                about.activity.failed += 1;
                about.standing.lose(now, recovery);
                flight.failed |= 1 << executor;
                self.put_back(&flight);
                self.take_back(executor, None);
            }
        }
        Ended::Dropped
    }

    /// Puts a batch back that failed; who fails on several in a row counts as lost.
    fn strike(&mut self, now: Duration, flight: &Flight) {
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

    /// Puts the items of a batch back in two halves.
    fn halve(&mut self, flight: &Flight) {
        let Flight { items, .. } = flight;
        let middle = items.start + (items.end - items.start) / 2;
        for half in [items.start..middle, middle..items.end] {
            self.put_back(&Flight {
                items: half,
                ..flight.clone()
            });
        }
    }
}
