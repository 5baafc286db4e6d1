//! [`Scheduler`]: decides which executor runs which items, when, and what happens if one fails.
//!
//! It is passive: its driver reports events with their times, and asks what to start. So all decisions can be tested
//! in virtual time, and threads ([`Fleet`](crate::Fleet)) add no decision.
//!
//! Executor 0 is the host, which is always available; the others are devices. A batch is a range of consecutive
//! items. Every item is in exactly one state: queued, in one batch in flight, or done; the answer of a batch that was
//! given up is dropped. Once a device has finished a batch, the scheduler treats all its items as done, including
//! those that fall back: the driver has the host evaluate these, and reports when that is finished
//! ([`Scheduler::fallback_done`]).

mod executor;
mod fallback;
mod learning;
mod placement;
mod standing;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use gpu_kernels::device::caching::MemoryUsage;
use serde::{Deserialize, Serialize};

use crate::cost::{Cost, Costs};
use crate::order::Order;
use crate::runs::{Mix, Runs};
use crate::stages::{Activity, Stages};
use crate::work::{Failure, Fallback, Item};
use executor::ExecutorState;
use fallback::{FinishedFallback, PendingFallback};

/// The executor that is the host.
pub const HOST: usize = 0;

/// The most executors: a bit mask records which of them have failed on an item.
pub const MOST_EXECUTORS: usize = 64;

/// The initial description of an executor.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutorDescription {
    /// Its name.
    pub name: String,
    /// The assumed cost of a batch until it is measured.
    pub guess: Cost,
    /// The minimum size of a batch, if that many items are queued, and its maximum size.
    pub batch: (u64, u64),
    /// How many batches it may have at a time: those that it begins before the first has finished, and one that is
    /// being prepared. If preparing takes longer than computing, more are prepared at a time, as many as keep it
    /// busy.
    pub in_flight: usize,
    /// Bytes of free memory; `None` if memory does not limit batches.
    pub free: Option<u64>,
}

/// Who may evaluate items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// All, which share the items by cost so that they are expected to finish at the same time.
    #[default]
    Auto,
    /// Only the host.
    Host,
    /// The devices; the host evaluates what they cannot.
    Devices,
}

/// Settings of the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Who may evaluate items.
    pub placement: Placement,
    /// From how many items on a device is used. `None`: from [`THRESHOLD`](Self::THRESHOLD) items until costs are
    /// measured, then whenever it pays.
    pub threshold: Option<u64>,
    /// Items in a batch on a device; `None`: chosen by cost and memory.
    pub batch: Option<u64>,
    /// A batch is given up if it takes a device longer than this and longer than `patience` times the expected time.
    pub time_limit: Duration,
    /// See `time_limit`.
    pub patience: f64,
    /// How long after a loss a device is tried again; the delay doubles each time, for a limited number of times.
    pub recovery: Duration,
}

impl Policy {
    /// From how many items on a device is used if no costs are known.
    pub const THRESHOLD: u64 = 20;
    /// The least number of items for each of several devices if no costs are known.
    pub const PER_DEVICE: u64 = 30;
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            placement: Placement::Auto,
            threshold: None,
            batch: None,
            time_limit: Duration::from_secs(30),
            patience: 20.0,
            recovery: Duration::from_secs(1),
        }
    }
}

/// The number of a batch that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(u64);

/// A batch to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The batch.
    pub batch: BatchId,
    /// Who runs it.
    pub executor: usize,
    /// The items.
    pub items: Range<u64>,
    /// Whether the executor was lost and has to be reopened first.
    pub recover: bool,
}

/// What a finished batch took, and which of its items fell back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Made {
    /// The time of its stages.
    pub stages: Stages,
    /// Bytes of device memory that its items needed.
    pub footprint: u64,
    /// Bytes of device memory that are free besides.
    pub free: Option<u64>,
    /// The executor's memory usage after it.
    pub memory: MemoryUsage,
    /// What falls back to the host, each kind once; empty if the device evaluated all items.
    pub fallback: Vec<Fallback>,
}

/// The result of a batch that has ended, for its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// They are done: the answers are valid. The host still has to evaluate those that fell back.
    Done(Range<u64>),
    /// They are run again, or were done already: drop the answers.
    Dropped,
    /// No executor can evaluate this item.
    GivenUp(u64, Failure),
}

/// A batch in flight.
#[derive(Debug, Clone)]
struct InFlight {
    executor: usize,
    items: Range<u64>,
    failed: u64,
    began: Duration,
    /// The most seconds by which it delays its executor's next batch: the time if no item is skipped. Skipped items
    /// come in runs, so the average part of items that are skipped says little about one batch.
    expected: f64,
    /// Seconds of host time that its fallback work is expected to take.
    fallback_seconds: f64,
    /// `None` while the batch is being prepared, and for batches of the host.
    deadline: Option<Duration>,
}

/// Consecutive queued items.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    end: u64,
    /// The executors that have failed on them.
    failed: u64,
}

/// Decides which executor runs which items.
#[derive(Debug)]
pub struct Scheduler {
    policy: Policy,
    executors: Vec<ExecutorState>,
    /// Every item that is not done, and some that are.
    items: Runs,
    done: Order<()>,
    /// By the number of the first item.
    waiting: BTreeMap<u64, Waiting>,
    /// The queued items, by kind.
    mix: Mix,
    in_flight: BTreeMap<BatchId, InFlight>,
    /// Fallback work that the host has not finished, by the first item of the batch.
    pending: BTreeMap<u64, PendingFallback>,
    finished_fallback: FinishedFallback,
    /// How many items are still to be submitted, as far as is known.
    to_come: u64,
    /// How many items may be in progress at a time; see [`bound`](Self::bound).
    bound: u64,
    next_batch: u64,
}

impl Scheduler {
    /// A scheduler over the host alone.
    pub fn new(host: ExecutorDescription, policy: Policy) -> Self {
        Self {
            policy,
            executors: vec![ExecutorState::new(host)],
            items: Runs::default(),
            done: Order::default(),
            waiting: BTreeMap::new(),
            mix: Mix::default(),
            in_flight: BTreeMap::new(),
            pending: BTreeMap::new(),
            finished_fallback: FinishedFallback::default(),
            to_come: 0,
            bound: u64::MAX,
            next_batch: 0,
        }
    }

    /// Adds a device and returns its number; `None` if there are [`MOST_EXECUTORS`] already.
    pub fn add(&mut self, device: ExecutorDescription) -> Option<usize> {
        let number = self.executors.len();
        (number < MOST_EXECUTORS).then(|| {
            self.executors.push(ExecutorState::new(device));
            number
        })
    }

    /// The costs learned for an executor.
    pub fn costs(&self, executor: usize) -> &Costs {
        &self.executors[executor].costs
    }

    /// The same, mutable.
    pub fn costs_mut(&mut self, executor: usize) -> &mut Costs {
        &mut self.executors[executor].costs
    }

    /// The number of executors, including the host.
    pub fn executors(&self) -> usize {
        self.executors.len()
    }

    /// An executor's name.
    pub fn name(&self, executor: usize) -> &str {
        &self.executors[executor].description.name
    }

    /// The counters of an executor.
    pub fn activity(&self, executor: usize) -> &Activity {
        &self.executors[executor].activity
    }

    /// Resets the counters of all executors.
    pub fn reset_activity(&mut self) {
        for executor in &mut self.executors {
            executor.activity = Activity::default();
            executor.began = None;
        }
    }

    /// Announces how many items will follow those submitted so far.
    pub fn expect(&mut self, items: u64) {
        self.to_come = items;
    }

    /// How many items should be in progress at a time, within these bounds, so that every device gets batches that
    /// are large compared with its overhead while earlier ones are in flight. The caller must not submit more until
    /// the first of them are done: the result also limits how many of the remaining items are shared out.
    pub fn bound(&mut self, bounds: &RangeInclusive<u64>) -> u64 {
        let wanted = self.wanted();
        self.bound = wanted.clamp(*bounds.start(), *bounds.end()).max(1);
        self.bound
    }

    /// Submits items as pairs of an item and a count, and returns their numbers, which continue those before.
    pub fn submit(&mut self, items: impl IntoIterator<Item = (Item, u64)>) -> Range<u64> {
        let start = self.items.end();
        for (item, count) in items {
            self.items.push(item, count);
            self.mix.add(item, count);
        }
        let end = self.items.end();
        self.to_come = self.to_come.saturating_sub(end - start);
        if end > start {
            // Merge with the waiting range right before, if no executor has failed on that.
            match self.waiting.last_entry() {
                Some(mut last) if last.get().end == start && last.get().failed == 0 => {
                    last.get_mut().end = end;
                }
                _ => {
                    self.waiting.insert(start, Waiting { end, failed: 0 });
                }
            }
        }
        start..end
    }

    /// The number that the next submitted item will get.
    pub fn end(&self) -> u64 {
        self.items.end()
    }

    /// How many items are not done.
    pub fn left(&self) -> u64 {
        self.queued() + self.items_in_flight()
    }

    /// How many items are queued.
    pub fn queued(&self) -> u64 {
        self.mix.items()
    }

    fn items_in_flight(&self) -> u64 {
        let all = self.in_flight.values();
        all.map(|flight| flight.items.end - flight.items.start)
            .sum()
    }

    /// The next batch to start; `None` if every executor has enough.
    pub fn start(&mut self, now: Duration) -> Option<Start> {
        self.revive(now);
        let (executor, from, count) = self.place(now)?;
        let waiting = self.waiting.remove(&from)?;
        let items = from..(from + count.max(1)).min(waiting.end);
        if items.end < waiting.end {
            self.waiting.insert(items.end, waiting);
        }
        let mix = self.items.mix(&items);
        let (expected, _) = self.expected(executor, &mix);
        let fallback_seconds = match executor {
            HOST => 0.0,
            device => self.fallback_seconds(device, &mix),
        };
        self.mix.remove(&mix);
        let batch = BatchId(self.next_batch);
        self.next_batch += 1;
        self.in_flight.insert(
            batch,
            InFlight {
                executor,
                items: items.clone(),
                failed: waiting.failed,
                began: now,
                expected,
                fallback_seconds,
                deadline: None,
            },
        );
        for other in &mut self.executors {
            other.passed_over = other.passed_over.saturating_add(1);
        }
        let state = &mut self.executors[executor];
        state.passed_over = 0;
        state.in_flight.push(batch);
        state.began.get_or_insert(now);
        Some(Start {
            batch,
            executor,
            items,
            recover: state.standing.begin(),
        })
    }

    /// Records that a device has received a batch: its time limit begins. Until then the batch was being prepared, or
    /// waited for that behind other work of the host, which is not the device's fault.
    pub fn handed_over(&mut self, now: Duration, batch: BatchId) {
        let Some(flight) = self.in_flight.get(&batch) else {
            return;
        };
        let ready = self.ready(flight.executor, now).max(flight.expected);
        let patience = Duration::try_from_secs_f64(self.policy.patience * ready);
        let limit = self.policy.time_limit;
        let limit = limit.max(patience.unwrap_or(Duration::MAX / 4));
        if let Some(flight) = self.in_flight.get_mut(&batch) {
            flight.deadline = Some(now + limit);
        }
    }

    /// Seconds until an executor has finished its batches. For the host that includes fallback work, and the fallback
    /// work expected from batches in flight, as if it were there already: the host runs other items until then.
    pub(crate) fn ready(&self, executor: usize, now: Duration) -> f64 {
        let state = &self.executors[executor];
        let in_flight = state.in_flight.iter().map(|batch| &self.in_flight[batch]);
        let in_flight = in_flight.map(|flight| (flight.began, flight.expected));
        let is_host = executor == HOST;
        let pending = self.pending.values().filter(|_| is_host);
        let has = in_flight.chain(pending.map(|pending| (pending.began, pending.expected)));
        let (first, expected) = has.fold((None, 0.0), |(first, sum), (began, expected)| {
            let first = first.map_or(began, |first: Duration| first.min(began));
            (Some(first), sum + expected)
        });
        let fallback_seconds = self.in_flight.values().filter(|_| is_host);
        let fallback_seconds: f64 = fallback_seconds.map(|flight| flight.fallback_seconds).sum();
        let since = first.map_or(now, |first| state.idle_since.max(first));
        // A batch that is late may end at any moment.
        fallback_seconds + (expected - now.saturating_sub(since).as_secs_f64()).max(0.0)
    }

    /// Records that a batch has ended.
    pub fn ended(&mut self, now: Duration, batch: BatchId, result: Result<Made, Failure>) -> Ended {
        let Some(flight) = self.in_flight.remove(&batch) else {
            return Ended::Dropped;
        };
        let executor = flight.executor;
        let state = &mut self.executors[executor];
        state.in_flight.retain(|other| *other != batch);
        let measured_until = std::mem::replace(&mut state.measured_until, now);
        state.idle_since = now;
        match result {
            Ok(made) => {
                self.learn_from_batch(now, &flight, &made, measured_until);
                self.finish(flight.items.clone());
                Ended::Done(flight.items)
            }
            Err(failure) => self.handle_failure(now, flight, failure),
        }
    }

    /// Drops all items that are not done, and the batches in flight: their answers will be ignored. What was learned
    /// of executors stays.
    pub fn abandon(&mut self) {
        for executor in &mut self.executors {
            executor.in_flight.clear();
        }
        self.in_flight.clear();
        self.waiting.clear();
        self.pending.clear();
        self.finished_fallback = FinishedFallback::default();
        self.mix = Mix::default();
        self.to_come = 0;
        let end = self.items.end();
        self.items.forget(end);
        self.done = Order::starting_at(end);
    }

    /// Records that an executor has answered for a batch that was given up or dropped: if it hung, it is usable
    /// again.
    pub fn answered(&mut self, executor: usize) {
        self.executors[executor].standing.answered();
    }

    fn finish(&mut self, items: Range<u64>) {
        self.done.put(items, ());
        while let Some((items, ())) = self.done.take() {
            self.items.forget(items.end);
        }
    }
}
