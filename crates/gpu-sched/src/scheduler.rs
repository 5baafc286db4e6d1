//! [`Scheduler`]: who makes which items, when, and what happens where one fails.
//!
//! It does nothing by itself: whoever drives it tells what has happened and at which time, and asks what is
//! to be started. So all decisions can be tested in virtual time ([`simulated`](crate::simulated)), and
//! threads ([`Fleet`](crate::Fleet)) add no decision of their own.
//!
//! Executor 0 is the host, which is always there; the others are devices. A batch is a range of
//! consecutive items. Every item is in exactly one place: waiting, in one batch that is under way, or done;
//! what comes from a batch that was given up is not taken. What a device leaves of a batch that it made
//! otherwise is done for the scheduler: whoever drives it has the host make it, and tells when that is through
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
use executor::Executor;
use fallback::{FallbackMade, PendingFallback};

/// The executor that is the host.
pub const HOST: usize = 0;

/// The most executors: which of them have failed on an item is a bit each.
pub const MOST_EXECUTORS: usize = 64;

/// What the scheduler is told of an executor at first.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutorDescription {
    /// Its name.
    pub name: String,
    /// What a batch is taken to cost until it is measured.
    pub guess: Cost,
    /// The items of a batch at least, where there are as many, and at most.
    pub batch: (u64, u64),
    /// How many batches it may have at a time: those that it begins with before the first is through,
    /// and one that is prepared. Where preparing takes longer than making, more are prepared at a
    /// time, as many as keep it busy.
    pub in_flight: usize,
    /// Bytes of memory that are free; `None` if that bounds no batch.
    pub free: Option<u64>,
}

/// Who may make items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Whoever is through first, by cost.
    #[default]
    Auto,
    /// The host alone.
    Host,
    /// Devices, and the host what they cannot make.
    Devices,
}

/// What whoever calls decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Who may make items.
    pub placement: Placement,
    /// From how many items on a device is used. Where nothing is said: from
    /// [`THRESHOLD`](Self::THRESHOLD) until costs are measured, then where it pays.
    pub threshold: Option<u64>,
    /// Items of a batch on a device; where nothing is said, by cost and memory.
    pub batch: Option<u64>,
    /// A batch that takes a device longer than this and than `patience` times what it was expected to take is
    /// given up.
    pub time_limit: Duration,
    /// See `time_limit`.
    pub patience: f64,
    /// When a device that was lost is tried again; each time twice as late, some times.
    pub recovery: Duration,
}

impl Policy {
    /// From how many items on a device is used where no costs are known.
    pub const THRESHOLD: u64 = 20;
    /// How many items each of several devices has at least where no costs are known.
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

/// A batch that was started, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(u64);

/// What is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The batch.
    pub batch: BatchId,
    /// Who makes it.
    pub executor: usize,
    /// The items.
    pub items: Range<u64>,
    /// Whether the executor was lost and has to be opened anew first.
    pub recover: bool,
}

/// What a batch that was made took, and what of it fell back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Made {
    /// The time of its stages.
    pub stages: Stages,
    /// Bytes of device memory that it needed for its items.
    pub footprint: u64,
    /// Bytes of device memory that are free beside it.
    pub free: Option<u64>,
    /// The executor's memory behind it.
    pub memory: MemoryUsage,
    /// What falls back to the host, by kind; empty if the device made all.
    pub fallback: Vec<Fallback>,
}

/// What becomes of the items of a batch that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// They are done: the answers are theirs. What fell back of them the host is to make.
    Done(Range<u64>),
    /// They are made again, or were already: their answers are to be dropped.
    Dropped,
    /// Nobody can make this item.
    GivenUp(u64, Failure),
}

/// A batch under way.
#[derive(Debug, Clone)]
struct Flight {
    executor: usize,
    items: Range<u64>,
    failed: u64,
    began: Duration,
    /// Seconds by which it puts the next one off at most, were no item skipped: items that are skipped
    /// stand together, so that a batch is rarely the average of what falls back and what does not.
    expected: f64,
    /// Seconds of the host's that are expected to come back from it.
    fallback_seconds: f64,
    /// Nothing while it is prepared, and of the host's.
    deadline: Option<Duration>,
}

/// Items that wait together.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    end: u64,
    /// The executors that have failed on them.
    failed: u64,
}

/// Decides who makes which items; it does nothing by itself.
#[derive(Debug)]
pub struct Scheduler {
    policy: Policy,
    executors: Vec<Executor>,
    /// Every item that is not done, and some that are.
    items: Runs,
    done: Order<()>,
    /// By the first of them.
    waiting: BTreeMap<u64, Waiting>,
    /// What waits, by kind.
    mix: Mix,
    flights: BTreeMap<BatchId, Flight>,
    /// Fallback work that the host has not made, by the first item of the batch.
    pending: BTreeMap<u64, PendingFallback>,
    fallback_made: FallbackMade,
    /// How many items are still to be submitted, as far as is known.
    to_come: u64,
    /// How many items may be on their way at a time.
    most: u64,
    next_batch: u64,
}

impl Scheduler {
    /// A scheduler over the host alone.
    pub fn new(host: ExecutorDescription, policy: Policy) -> Self {
        Self {
            policy,
            executors: vec![Executor::new(host)],
            items: Runs::default(),
            done: Order::default(),
            waiting: BTreeMap::new(),
            mix: Mix::default(),
            flights: BTreeMap::new(),
            pending: BTreeMap::new(),
            fallback_made: FallbackMade::default(),
            to_come: 0,
            most: u64::MAX,
            next_batch: 0,
        }
    }

    /// Takes a device in, and gives its number; `None` if there are as many as can be.
    pub fn add(&mut self, device: ExecutorDescription) -> Option<usize> {
        let number = self.executors.len();
        (number < MOST_EXECUTORS).then(|| {
            self.executors.push(Executor::new(device));
            number
        })
    }

    /// What is known of an executor's costs.
    pub fn costs(&self, executor: usize) -> &Costs {
        &self.executors[executor].costs
    }

    /// The same, to be corrected.
    pub fn costs_mut(&mut self, executor: usize) -> &mut Costs {
        &mut self.executors[executor].costs
    }

    /// How many executors there are, the host among them.
    pub fn executors(&self) -> usize {
        self.executors.len()
    }

    /// An executor's name.
    pub fn name(&self, executor: usize) -> &str {
        &self.executors[executor].about.name
    }

    /// What an executor did.
    pub fn activity(&self, executor: usize) -> &Activity {
        &self.executors[executor].activity
    }

    /// Begins to count anew what executors do.
    pub fn reset_activity(&mut self) {
        for executor in &mut self.executors {
            executor.activity = Activity::default();
            executor.began = None;
        }
    }

    /// Says how many items will come beside those that were submitted.
    pub fn expect(&mut self, items: u64) {
        self.to_come = items;
    }

    /// How many items should be on their way at a time, within these bounds, for every device to have batches that
    /// are large enough beside its overhead while those before them are under way. It is taken for what there will be:
    /// whoever calls submits no more, until the first of them are done.
    pub fn bound(&mut self, bounds: &RangeInclusive<u64>) -> u64 {
        let wanted = self.wanted();
        self.most = wanted.clamp(*bounds.start(), *bounds.end()).max(1);
        self.most
    }

    /// Takes items, so many of each sort, and gives their numbers, which count on.
    pub fn submit(&mut self, items: impl IntoIterator<Item = (Item, u64)>) -> Range<u64> {
        let start = self.items.end();
        for (item, count) in items {
            self.items.push(item, count);
            self.mix.add(item, count);
        }
        let end = self.items.end();
        self.to_come = self.to_come.saturating_sub(end - start);
        if end > start {
            // Those that wait right before them, with no other past, wait together with them.
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

    /// The number of the next item that is submitted.
    pub fn end(&self) -> u64 {
        self.items.end()
    }

    /// How many items are not done.
    pub fn left(&self) -> u64 {
        self.queued() + self.under_way()
    }

    /// How many items wait.
    pub fn queued(&self) -> u64 {
        self.mix.items()
    }

    fn under_way(&self) -> u64 {
        let all = self.flights.values();
        all.map(|flight| flight.items.end - flight.items.start)
            .sum()
    }

    /// Whether batches are under way.
    pub fn is_busy(&self) -> bool {
        !self.flights.is_empty()
    }

    /// What is to be started next; `None` if all have what they should have.
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
        self.flights.insert(
            batch,
            Flight {
                executor,
                items: items.clone(),
                failed: waiting.failed,
                began: now,
                expected,
                fallback_seconds,
                deadline: None,
            },
        );
        for (number, other) in self.executors.iter_mut().enumerate() {
            other.passed_over = if number == executor {
                0
            } else {
                other.passed_over.saturating_add(1)
            };
        }
        let about = &mut self.executors[executor];
        about.flights.push(batch);
        about.began.get_or_insert(now);
        Some(Start {
            batch,
            executor,
            items,
            recover: about.standing.begin(),
        })
    }

    /// Takes note that a device has a batch now: its time limit begins. Until then it was being prepared, or waited
    /// for that behind the host's other work, which is no fault of the device.
    pub fn handed_over(&mut self, now: Duration, batch: BatchId) {
        let Some(flight) = self.flights.get(&batch) else {
            return;
        };
        let ready = self.ready(flight.executor, now).max(flight.expected);
        let patience = Duration::try_from_secs_f64(self.policy.patience * ready);
        let limit = self.policy.time_limit;
        let limit = limit.max(patience.unwrap_or(Duration::MAX / 4));
        if let Some(flight) = self.flights.get_mut(&batch) {
            flight.deadline = Some(now + limit);
        }
    }

    /// Seconds from now until an executor is through with what it has. The host has fallback work, and
    /// what is expected to come back from them, as if that had come already: it has other items until then.
    pub(crate) fn ready(&self, executor: usize, now: Duration) -> f64 {
        let about = &self.executors[executor];
        let flights = about.flights.iter().map(|batch| &self.flights[batch]);
        let flights = flights.map(|flight| (flight.began, flight.expected));
        let is_host = executor == HOST;
        let pending = self.pending.values().filter(|_| is_host);
        let has = flights.chain(pending.map(|pending| (pending.began, pending.expected)));
        let (first, expected) = has.fold((None, 0.0), |(first, sum), (began, expected)| {
            let first = first.map_or(began, |first: Duration| first.min(began));
            (Some(first), sum + expected)
        });
        let fallback_seconds = self.flights.values().filter(|_| is_host);
        let fallback_seconds: f64 = fallback_seconds.map(|flight| flight.fallback_seconds).sum();
        let since = first.map_or(now, |first| about.idle_since.max(first));
        // What is late may end at any moment.
        fallback_seconds + (expected - now.saturating_sub(since).as_secs_f64()).max(0.0)
    }

    /// Takes note that a batch has ended.
    pub fn ended(&mut self, now: Duration, batch: BatchId, result: Result<Made, Failure>) -> Ended {
        let Some(flight) = self.flights.remove(&batch) else {
            return Ended::Dropped;
        };
        let executor = flight.executor;
        let about = &mut self.executors[executor];
        about.flights.retain(|other| *other != batch);
        let measured_until = std::mem::replace(&mut about.measured_until, now);
        about.idle_since = now;
        match result {
            Ok(made) => {
                self.made(now, &flight, &made, measured_until);
                self.finish(flight.items.clone());
                Ended::Done(flight.items)
            }
            Err(failure) => self.failed(now, flight, failure),
        }
    }

    /// Forgets all items that are not done, and batches that are under way: what comes of them is
    /// dropped. What is known of executors stays.
    pub fn abandon(&mut self) {
        for executor in &mut self.executors {
            executor.flights.clear();
        }
        self.flights.clear();
        self.waiting.clear();
        self.pending.clear();
        self.fallback_made = FallbackMade::default();
        self.mix = Mix::default();
        self.to_come = 0;
        let end = self.items.end();
        self.items.forget(end);
        self.done = Order::starting_at(end);
    }

    /// Takes note that a batch that was given up, or dropped for another reason, has come to an end:
    /// whoever hung answers again.
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
