//! Which executor is given what: [`Scheduler::place`].
//!
//! The queued items are shared so that all participants finish together ([`shares`]). An executor that could begin
//! only after that gets nothing; the same rule keeps small workloads on the host, and slow devices out of the end of
//! large ones. A device is given more items than it will finish, since some fall back, but no batch that would last
//! past the end if nothing fell back, because items that fall back come in runs. An executor is given a part of its
//! share at a time: a small one while little is known of its costs, and never so small that the overhead matters.
//! Executors whose costs were not measured in this run get a few items as a probe beside the others.

use std::time::Duration;

use super::executor::MIN_BATCH;
use super::{HOST, Placement, Policy, Scheduler};
use crate::shares::{Capacity, shares};
use crate::work::Kind;

/// The part of a batch's time that may be overhead.
const OVERHEAD: f64 = 0.02;

/// The same if some items of devices fall back: the fallback work has to arrive soon.
const OVERHEAD_UNCERTAIN: f64 = 0.1;

/// The part of its share that an executor is given at a time, by what is known of its costs.
const PART_KNOWN: f64 = 0.5;
const PART_UNKNOWN: f64 = 0.125;

/// Costs count as known if predictions are off by less than this.
const KNOWN: f64 = 0.15;

/// The most items in the first batch of an executor whose costs are unknown.
const FIRST: u64 = 32;

/// A batch has at most this many times the items of the executor's largest batch so far.
const GROWTH: u64 = 8;

/// The costs of an executor are known after this many batches.
const PROBES: u64 = 3;

/// An executor is tried again after it was passed over this many times.
const PASSED_OVER: u64 = 64;

/// The same for an executor that skips most items, which costs little: one long run of such items says nothing about
/// the items behind it.
const PASSED_OVER_SKIPPING: u64 = 8;

/// The part of the remaining time that a probe may take.
const PROBE: f64 = 0.1;

/// Neighbouring items are uneven if some batch lately took more than this many times the expected time.
const UNEVEN: f64 = 2.0;

/// The host begins at a time with items for this part of the remaining time, if some items of devices fall back and
/// only their average number is known.
const AHEAD: f64 = 0.125;

/// A device beside the host gets nothing if its share is below this part of an equal share: its participation costs
/// more than it gains.
const MARGINAL: f64 = 0.04;

/// How many queued ranges are searched for one that an idle executor can run.
const LOOK_AHEAD: usize = 64;

/// The expected speed of an executor on the queued items.
struct Estimate {
    capacity: Capacity,
    /// Seconds per item that it tries.
    unit: f64,
    /// Seconds of host time per tried item, for the items that it bails out of.
    bail_out_seconds: f64,
    /// By which factor consecutive items may exceed the expected time.
    worst: f64,
}

impl Estimate {
    /// How many items it finishes by `end` in the worst case.
    fn in_time(&self, end: f64) -> f64 {
        (end - self.capacity.ready) / (self.unit * self.worst + self.bail_out_seconds)
    }

    /// Whether a batch may differ much from the average.
    fn is_uneven(&self) -> bool {
        self.capacity.leaves_some() || self.worst > UNEVEN
    }
}

/// What executors should be given, and when everything is finished.
struct Offers {
    /// Sorted by the time when the executor could begin.
    by_time: Vec<Offer>,
    end: f64,
    /// Whether the host has to expect more work than the average: more fallback work, or items left to it.
    is_uncertain: bool,
}

/// What an executor could be given.
struct Offer {
    executor: usize,
    /// When it could begin, in seconds from now.
    ready: f64,
    /// Seconds per item that it tries.
    unit: f64,
    /// Items that it should be given; if several executors take part, no more than it finishes in time in the worst
    /// case.
    share: f64,
}

/// These shares, recomputed without the devices whose share would be marginal ([`MARGINAL`]).
fn without_marginal(
    items: f64,
    mut capacities: Vec<Capacity>,
    host: usize,
    (given, end): (Vec<f64>, f64),
) -> (Vec<f64>, f64) {
    let least = MARGINAL * items / capacities.len() as f64;
    let mut some = false;
    for (at, capacity) in capacities.iter_mut().enumerate() {
        if at != host && given[at] > 0.0 && given[at] < least {
            capacity.relief = 0.0;
            some = true;
        }
    }
    if some {
        shares(items, &capacities, Some(host))
    } else {
        (given, end)
    }
}

impl Scheduler {
    /// The executor, the first item and the number of items of the batch to start.
    pub(super) fn place(&self, now: Duration) -> Option<(usize, u64, u64)> {
        if self.waiting.is_empty() {
            return None;
        }
        let left = self.queued() + self.to_come;
        let eligible = self.eligible(left + self.items_in_flight());
        let is_bounded = left > self.bound;
        let Offers {
            by_time,
            end,
            is_uncertain,
        } = self.offers(left.min(self.bound), eligible, now);

        for (from, waiting) in self.waiting.iter().take(LOOK_AHEAD) {
            let length = waiting.end - from;
            let can = |executor: usize| waiting.failed & (1 << executor) == 0;
            let has_room = |executor: usize| {
                let is_ahead = is_uncertain && executor == HOST && self.is_ahead(end);
                self.has_room(executor) && !is_ahead
            };
            // If no device may run these, or none is available, the host runs them at once.
            let others = (0..self.executors.len())
                .any(|executor| eligible & (1 << executor) != 0 && can(executor));
            if !others {
                if has_room(HOST) {
                    return Some((HOST, *from, length.min(self.executors[HOST].max_batch())));
                }
                continue;
            }
            // Probes come first, since executors with a share may take everything.
            for offer in &by_time {
                let executor = offer.executor;
                if offer.share < 0.5
                    && can(executor)
                    && has_room(executor)
                    && let Some(count) = self.probe(offer, end)
                {
                    return Some((executor, *from, count.min(length)));
                }
            }
            for Offer {
                executor, share, ..
            } in &by_time
            {
                if can(*executor) && has_room(*executor) && *share >= 0.5 {
                    let count = self.batch_size(*executor, *share, is_uncertain, is_bounded);
                    let count = count.min(length);
                    return Some((*executor, *from, count));
                }
            }
            if can(HOST)
                && let Some(offer) = by_time.iter().find(|offer| offer.executor == HOST)
                && let Some(count) = self.filler_batch(offer.unit, now)
            {
                return Some((HOST, *from, count.min(length)));
            }
            // The executor that should run it is busy, unless none is.
            if self.in_flight.is_empty() {
                let mut able = by_time.iter().filter(|offer| can(offer.executor));
                let executor = able
                    .find(|offer| offer.share > 0.0)
                    .map_or(HOST, |offer| offer.executor);
                return Some((
                    executor,
                    *from,
                    length.min(self.executors[executor].max_batch()),
                ));
            }
        }
        None
    }

    /// What each allowed executor should be given of `left` items.
    fn offers(&self, left: u64, eligible: u64, now: Duration) -> Offers {
        let executors: Vec<_> = (0..self.executors.len())
            .filter(|executor| eligible & (1 << executor) != 0)
            .collect();
        let estimates = executors.iter();
        let estimates: Vec<_> = estimates
            .map(|executor| self.estimate(*executor, now))
            .collect();
        let host = executors.iter().position(|other| *other == HOST);
        let capacities: Vec<_> = estimates.iter().map(|estimate| estimate.capacity).collect();
        let (given, end) = shares(left as f64, &capacities, host);
        let (shares, end) = match host {
            Some(host) => without_marginal(left as f64, capacities, host, (given, end)),
            None => (given, end),
        };
        let offers = executors.into_iter().zip(&estimates).zip(shares);
        let mut by_time: Vec<_> = offers
            .map(|((executor, estimate), share)| Offer {
                executor,
                ready: estimate.capacity.ready,
                unit: estimate.unit,
                share: match estimate.in_time(end) {
                    // All would wait for one item too many on a slow device.
                    in_time if host.is_some() && executor != HOST => share.min(in_time.floor()),
                    _ => share,
                },
            })
            .collect();
        // A host that runs everything alone waits for nobody.
        let in_flight = &mut self.in_flight.values();
        let is_shared = host.is_some()
            && (in_flight.any(|flight| flight.executor != HOST)
                || by_time
                    .iter()
                    .any(|offer| offer.executor != HOST && offer.share >= 0.5));
        if let (Some(host), true) = (host, is_shared) {
            let most = estimates[host].in_time(end).max(MIN_BATCH);
            by_time[host].share = by_time[host].share.min(most);
        }
        by_time.sort_by(|a, b| a.ready.total_cmp(&b.ready));
        Offers {
            by_time,
            end,
            is_uncertain: is_shared && estimates.iter().any(Estimate::is_uneven),
        }
    }

    /// How many items the host runs while it waits for fallback work, though it has no share because devices are
    /// faster: it would be idle otherwise.
    fn filler_batch(&self, unit: f64, now: Duration) -> Option<u64> {
        let is_idle = self.executors[HOST].in_flight.is_empty() && self.pending.is_empty();
        let mut in_flight = self.in_flight.values();
        if !is_idle || !in_flight.any(|flight| flight.fallback_seconds > 0.0) {
            return None;
        }
        // The first fallback work waits for this batch, at most for half of the time until it arrives.
        let devices = (HOST + 1..self.executors.len()).map(|device| self.first_end(device, now));
        let until = devices.flatten().fold(f64::INFINITY, f64::min);
        let count = until / (2.0 * unit);
        let most = self.executors[HOST].max_batch();
        (count.is_finite() && count >= MIN_BATCH).then(|| (count as u64).min(most))
    }

    /// Seconds until the first batch of an executor ends at the latest.
    fn first_end(&self, executor: usize, now: Duration) -> Option<f64> {
        let state = &self.executors[executor];
        let first = &self.in_flight[state.in_flight.first()?];
        let since = state.idle_since.max(first.began);
        Some(first.expected - now.saturating_sub(since).as_secs_f64())
    }

    fn has_room(&self, executor: usize) -> bool {
        let state = &self.executors[executor];
        let in_flight = if state.standing.is_doubtful() {
            1
        } else {
            state.max_in_flight()
        };
        state.in_flight.len() < in_flight
    }

    /// Whether the host has begun so much that it could not finish the coming fallback work in time as well.
    fn is_ahead(&self, end: f64) -> bool {
        let in_flight = self.executors[HOST].in_flight.iter();
        let expected: f64 = in_flight.map(|batch| self.in_flight[batch].expected).sum();
        self.executors[HOST].in_flight.len() >= 2 && expected > end * AHEAD
    }

    /// A bit mask of the executors that may run items if `left` remain; only the host if no device may.
    fn eligible(&self, left: u64) -> u64 {
        let host = 1 << HOST;
        let devices = (HOST + 1..self.executors.len())
            .filter(|executor| self.executors[*executor].standing.is_asked());
        let most = match (self.policy.placement, self.policy.threshold) {
            (Placement::Host, _) => 0,
            (Placement::Devices, _) => usize::MAX,
            (Placement::Auto, Some(threshold)) if left < threshold => 0,
            (Placement::Auto, None) if left < Policy::THRESHOLD && !self.are_measured() => 0,
            (Placement::Auto, _) if self.are_measured() => usize::MAX,
            (Placement::Auto, _) => ((left / Policy::PER_DEVICE) as usize).max(1),
        };
        let devices: u64 = devices.take(most).map(|executor| 1 << executor).sum();
        match self.policy.placement {
            _ if devices == 0 => host,
            Placement::Devices => devices,
            // A device has to be measured first, and a small workload is not enough for both.
            Placement::Auto if left < Policy::PER_DEVICE * 2 && !self.is_a_device_measured() => {
                devices
            }
            _ => devices | host,
        }
    }

    /// Whether the costs of all queued kinds were measured on the host and on some device.
    fn are_measured(&self) -> bool {
        self.is_measured(HOST) && self.is_a_device_measured()
    }

    fn is_a_device_measured(&self) -> bool {
        (HOST + 1..self.executors.len()).any(|device| self.is_measured(device))
    }

    fn is_measured(&self, executor: usize) -> bool {
        let costs = &self.executors[executor].costs;
        self.mix.kinds().all(|(kind, ..)| costs.is_measured(kind))
    }

    /// Estimates an executor's speed on the queued items, assuming that these are the same mix everywhere.
    fn estimate(&self, executor: usize, now: Duration) -> Estimate {
        let (mut overhead, mut all, mut tried): (f64, f64, f64) = (0.0, 0.0, 0.0);
        let (mut of_host, mut saved, mut bail_out_seconds, mut worst) = (0.0, 0.0, 0.0, 0.0);
        let costs = &self.executors[executor].costs;
        for (kind, items, bytes) in self.mix.kinds() {
            let (cost, left) = (costs.of(kind), costs.fallback_of(kind));
            overhead = overhead.max(cost.overhead);
            let seconds = cost.seconds(items, bytes) - cost.overhead;
            all += seconds;
            worst += seconds * costs.worst(kind);
            tried += seconds * left.tried();
            let on_host = self.executors[HOST].costs.of(kind).unit * items;
            of_host += on_host;
            saved += on_host * left.made();
            bail_out_seconds += on_host * (left.tried() - left.made()) / left.tried().max(1e-9);
        }
        let items = self.mix.items().max(1) as f64;
        let ready = self.ready(executor, now) + overhead;
        let (unit, relief, bail_out_seconds) = if executor == HOST {
            (all, 1.0, 0.0)
        } else {
            let relief = if of_host > 0.0 { saved / of_host } else { 1.0 };
            (tried, relief, bail_out_seconds)
        };
        Estimate {
            capacity: Capacity {
                ready,
                unit: (unit / items).max(1e-12),
                relief,
            },
            unit: (all / items).max(1e-12),
            bail_out_seconds: bail_out_seconds / items,
            worst: if all > 0.0 { worst / all } else { 1.0 },
        }
    }

    /// The kind with the most queued items.
    fn main_kind(&self) -> Kind {
        let most = self
            .mix
            .kinds()
            .max_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
        most.map_or(Kind::default(), |(kind, ..)| kind)
    }

    /// How many items should be in progress so that every device has batches of its preferred minimum size, and one
    /// more of these is submitted.
    pub(super) fn wanted(&self) -> u64 {
        let kind = self.main_kind();
        let asked = self.executors[HOST + 1..].iter();
        let asked = asked.filter(|state| state.standing.is_asked());
        let wanted = asked.map(|state| {
            let least = || state.min_batch(&state.costs.of(kind), OVERHEAD) as u64;
            let batch = self.policy.batch.unwrap_or_else(least);
            let batch = batch.min(state.max_batch());
            batch.saturating_mul(state.max_in_flight() as u64 + 1)
        });
        wanted.fold(0, u64::saturating_add)
    }

    /// The size of the next batch that an executor gets of its share.
    fn batch_size(&self, executor: usize, share: f64, is_uncertain: bool, is_bounded: bool) -> u64 {
        let state = &self.executors[executor];
        let most = state.max_batch();
        if let (Some(batch), true) = (self.policy.batch, executor != HOST) {
            return batch.min(most);
        }
        let kind = self.main_kind();
        let (cost, batches) = (state.costs.of(kind), state.costs.batches(kind));
        let is_known = batches >= PROBES && state.costs.error(kind) < KNOWN;
        let part = if is_known && !is_uncertain && !is_bounded {
            PART_KNOWN
        } else {
            PART_UNKNOWN
        };
        // One thread prepares a batch. If preparing is slow, every thread needs a batch, and the device waits for the
        // first.
        let part = match state.preparing.ceil() {
            several if several > 1.0 => part / (4.0 * several),
            _ => part,
        };
        let overhead = if is_uncertain && executor != HOST {
            OVERHEAD_UNCERTAIN
        } else {
            OVERHEAD
        };
        let least = state.min_batch(&cost, overhead);
        let wanted = (share * part).max(least);
        let grown = match state.largest {
            0 => FIRST.max(state.description.batch.0),
            largest => largest.saturating_mul(GROWTH),
        };
        // Do not leave a rest that is too small for a batch.
        let wanted = if share - wanted < least {
            share
        } else {
            wanted
        };
        (wanted.min(share).ceil() as u64).min(grown).clamp(1, most)
    }

    /// The size of a probe batch for an executor that has no share, to learn its costs; `None` if no probe is due.
    fn probe(&self, offer: &Offer, end: f64) -> Option<u64> {
        let state = &self.executors[offer.executor];
        if self.policy.placement != Placement::Auto || !state.in_flight.is_empty() {
            return None;
        }
        let kind = self.main_kind();
        let batches = state.costs.batches(kind);
        let skips = state.costs.fallback_of(kind).tried() < 0.5;
        let passed_over = if skips {
            PASSED_OVER_SKIPPING
        } else {
            PASSED_OVER
        };
        if batches >= PROBES && state.passed_over < passed_over {
            return None;
        }
        let count = 1 << (2 * batches.min(2));
        let affordable = offer.ready + offer.unit * count as f64 <= end * PROBE;
        // The first probe is worth its time, however long it is expected to take.
        (batches == 0 || affordable).then_some(count)
    }
}
