//! Who is given what: [`Scheduler::place`].
//!
//! What waits is shared so that all who take part end together ([`shares`]); who would begin later than
//! that gets nothing, so that the same rule keeps small lots on the host, and a slow device out of the end
//! of a large one. A device is given more than it will make, since it leaves a part; but no batch that
//! would last past the end if it left nothing, for what it leaves stands together. An executor is given a
//! part of its share at a time: a small one while little is known of its costs, and never so small that
//! the overhead matters. Executors whose costs were not measured in this run are given a few items at a
//! time beside the others.

use std::time::Duration;

use super::executor::GRAIN;
use super::{HOST, Placement, Policy, Scheduler};
use crate::shares::{Side, shares};
use crate::work::Kind;

/// Overhead may be so much of a batch's time.
const OVERHEAD: f64 = 0.02;

/// The same where devices leave some of their items: what comes back has to come soon.
const OVERHEAD_UNCERTAIN: f64 = 0.1;

/// The part of its share that an executor is given at a time, by what is known of its costs.
const PART_KNOWN: f64 = 0.5;
const PART_UNKNOWN: f64 = 0.125;

/// Predictions that are off by less than this are known.
const KNOWN: f64 = 0.15;

/// The first batch of an executor of which nothing is known.
const FIRST: u64 = 32;

/// A batch has at most so many times the items of the largest one that was made.
const GROWTH: u64 = 8;

/// An executor is known from so many batches on.
const PROBES: u64 = 3;

/// Who was passed over so often is tried again.
const PASSED_OVER: u64 = 64;

/// The same of who skips what it is given, which costs little: one long stretch of such items does not say
/// what stands behind it.
const PASSED_OVER_SKIPPING: u64 = 8;

/// What a probe may take of the time that is left.
const PROBE: f64 = 0.1;

/// Items that stand together are uneven where some lately took more than so many times as long as expected.
const UNEVEN: f64 = 2.0;

/// Where devices leave some of their items, and it is only known on the average how many, the host begins at
/// a time with items for this part of the time that is left.
const AHEAD: f64 = 0.125;

/// A device beside the host is given nothing that would be given less than this part of what it had if all were given
/// the same: what it makes is less than it costs to have it take part.
const MARGINAL: f64 = 0.04;

/// Ranges that wait are looked at up to this one for something that an idle executor can make.
const LOOK_AHEAD: usize = 64;

/// What an executor could make of what waits.
struct Prospect {
    side: Side,
    /// Seconds an item that it does not skip.
    unit: f64,
    /// Seconds of the host's behind such an item, where it bails out of it.
    behind: f64,
    /// How many times as long as expected items may take that stand together.
    worst: f64,
}

impl Prospect {
    /// How many items it makes until then at the worst.
    fn in_time(&self, end: f64) -> f64 {
        (end - self.side.ready) / (self.unit * self.worst + self.behind)
    }

    /// Whether a batch may be far from what batches are on the average.
    fn is_uneven(&self) -> bool {
        self.side.leaves_some() || self.worst > UNEVEN
    }
}

/// What executors should be given, and when all is done.
struct Offers {
    /// Those that could begin first come first.
    by_time: Vec<Offer>,
    end: f64,
    /// Whether the host has to reckon with more coming back, or being left to it, than is expected.
    is_uncertain: bool,
}

/// What an executor could be given.
struct Offer {
    executor: usize,
    /// When it could begin, in seconds from now.
    ready: f64,
    /// Seconds an item that it does not skip.
    unit: f64,
    /// Items that it should be given; where several take part no more than it makes in time at the worst.
    share: f64,
}

/// These shares of so many items; without devices that would make hardly any of them.
fn without_marginal(
    items: f64,
    mut sides: Vec<Side>,
    host: usize,
    (given, end): (Vec<f64>, f64),
) -> (Vec<f64>, f64) {
    let least = MARGINAL * items / sides.len() as f64;
    let mut some = false;
    for (at, side) in sides.iter_mut().enumerate() {
        if at != host && given[at] > 0.0 && given[at] < least {
            side.relief = 0.0;
            some = true;
        }
    }
    if some {
        shares(items, &sides, Some(host))
    } else {
        (given, end)
    }
}

impl Scheduler {
    /// Who is to begin with how many of the items that wait from which one on.
    pub(super) fn place(&self, now: Duration) -> Option<(usize, u64, u64)> {
        if self.waiting.is_empty() {
            return None;
        }
        let left = self.queued() + self.to_come;
        let allowed = self.allowed(left + self.under_way());
        let is_bounded = left > self.most;
        let Offers {
            by_time,
            end,
            is_uncertain,
        } = self.offers(left.min(self.most), allowed, now);

        for (from, waiting) in self.waiting.iter().take(LOOK_AHEAD) {
            let length = waiting.end - from;
            let can = |executor: usize| waiting.failed & (1 << executor) == 0;
            let has_room = |executor: usize| {
                let is_ahead = is_uncertain && executor == HOST && self.is_ahead(end);
                self.has_room(executor) && !is_ahead
            };
            // What no device makes, or none that is there, the host does at once.
            let others = (0..self.executors.len())
                .any(|executor| allowed & (1 << executor) != 0 && can(executor));
            if !others {
                if has_room(HOST) {
                    return Some((HOST, *from, length.min(self.executors[HOST].most())));
                }
                continue;
            }
            // First, since those with a share may take all that there is.
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
                    let count = self.count(*executor, *share, is_uncertain, is_bounded);
                    let count = count.min(length);
                    return Some((*executor, *from, count));
                }
            }
            if can(HOST)
                && let Some(offer) = by_time.iter().find(|offer| offer.executor == HOST)
                && let Some(count) = self.meanwhile(offer.unit, now)
            {
                return Some((HOST, *from, count.min(length)));
            }
            // Who should make it is busy, unless nobody is.
            if self.flights.is_empty() {
                let mut able = by_time.iter().filter(|offer| can(offer.executor));
                let executor = able
                    .find(|offer| offer.share > 0.0)
                    .map_or(HOST, |offer| offer.executor);
                return Some((executor, *from, length.min(self.executors[executor].most())));
            }
        }
        None
    }

    /// What each of these executors should be given of so many items.
    fn offers(&self, left: u64, allowed: u64, now: Duration) -> Offers {
        let executors: Vec<_> = (0..self.executors.len())
            .filter(|executor| allowed & (1 << executor) != 0)
            .collect();
        let prospects = executors.iter();
        let prospects: Vec<_> = prospects
            .map(|executor| self.prospect(*executor, now))
            .collect();
        let host = executors.iter().position(|other| *other == HOST);
        let sides: Vec<_> = prospects.iter().map(|prospect| prospect.side).collect();
        let (given, end) = shares(left as f64, &sides, host);
        let (shares, end) = match host {
            Some(host) => without_marginal(left as f64, sides, host, (given, end)),
            None => (given, end),
        };
        let offers = executors.into_iter().zip(&prospects).zip(shares);
        let mut by_time: Vec<_> = offers
            .map(|((executor, prospect), share)| Offer {
                executor,
                ready: prospect.side.ready,
                unit: prospect.unit,
                share: match prospect.in_time(end) {
                    // One item too many on a slow device is waited for by all.
                    in_time if host.is_some() && executor != HOST => share.min(in_time.floor()),
                    _ => share,
                },
            })
            .collect();
        // A host that has it all to itself waits for nobody.
        let flights = &mut self.flights.values();
        let is_shared = host.is_some()
            && (flights.any(|flight| flight.executor != HOST)
                || by_time
                    .iter()
                    .any(|offer| offer.executor != HOST && offer.share >= 0.5));
        if let (Some(host), true) = (host, is_shared) {
            let most = prospects[host].in_time(end).max(GRAIN);
            by_time[host].share = by_time[host].share.min(most);
        }
        by_time.sort_by(|a, b| a.ready.total_cmp(&b.ready));
        Offers {
            by_time,
            end,
            is_uncertain: is_shared && prospects.iter().any(Prospect::is_uneven),
        }
    }

    /// How many items the host makes while it waits for what comes back: it would have been given none,
    /// since devices make what they can sooner, and it would do nothing.
    fn meanwhile(&self, unit: f64, now: Duration) -> Option<u64> {
        let is_idle = self.executors[HOST].flights.is_empty() && self.pending.is_empty();
        let mut flights = self.flights.values();
        if !is_idle || !flights.any(|flight| flight.fallback_seconds > 0.0) {
            return None;
        }
        // What comes back first waits for half of that at most.
        let devices = (HOST + 1..self.executors.len()).map(|device| self.ends(device, now));
        let until = devices.flatten().fold(f64::INFINITY, f64::min);
        let count = until / (2.0 * unit);
        let most = self.executors[HOST].most();
        (count.is_finite() && count >= GRAIN).then(|| (count as u64).min(most))
    }

    /// In how many seconds the first batch of an executor ends at the latest.
    fn ends(&self, executor: usize, now: Duration) -> Option<f64> {
        let about = &self.executors[executor];
        let first = &self.flights[about.flights.first()?];
        let since = about.idle_since.max(first.began);
        Some(first.expected - now.saturating_sub(since).as_secs_f64())
    }

    fn has_room(&self, executor: usize) -> bool {
        let about = &self.executors[executor];
        let in_flight = if about.standing.is_doubtful() {
            1
        } else {
            about.in_flight()
        };
        about.flights.len() < in_flight
    }

    /// Whether the host has begun with so much of what is to come that it could not make in time what comes
    /// back beside it.
    fn is_ahead(&self, end: f64) -> bool {
        let flights = self.executors[HOST].flights.iter();
        let expected: f64 = flights.map(|batch| self.flights[batch].expected).sum();
        self.executors[HOST].flights.len() >= 2 && expected > end * AHEAD
    }

    /// The executors that may make items where so many are left, a bit each; the host where none is.
    fn allowed(&self, left: u64) -> u64 {
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
            // A device has to be measured first, and a small lot is not enough for both.
            Placement::Auto if left < Policy::PER_DEVICE * 2 && !self.is_a_device_measured() => {
                devices
            }
            _ => devices | host,
        }
    }

    /// Whether the costs of all that waits were measured on the host and on some device.
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

    /// What an executor could make of what waits.
    ///
    /// What waits is taken to be everywhere what it is on the average.
    fn prospect(&self, executor: usize, now: Duration) -> Prospect {
        let (mut overhead, mut all, mut tried): (f64, f64, f64) = (0.0, 0.0, 0.0);
        let (mut of_host, mut saved, mut behind, mut worst) = (0.0, 0.0, 0.0, 0.0);
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
            behind += on_host * (left.tried() - left.made()) / left.tried().max(1e-9);
        }
        let items = self.mix.items().max(1) as f64;
        let ready = self.ready(executor, now) + overhead;
        let (unit, relief) = if executor == HOST {
            (all, 1.0)
        } else {
            (tried, if of_host > 0.0 { saved / of_host } else { 1.0 })
        };
        let behind = if executor == HOST { 0.0 } else { behind };
        Prospect {
            side: Side {
                ready,
                unit: (unit / items).max(1e-12),
                relief,
            },
            unit: (all / items).max(1e-12),
            behind: behind / items,
            worst: if all > 0.0 { worst / all } else { 1.0 },
        }
    }

    /// The kind of which most waits.
    fn main_kind(&self) -> Kind {
        let most = self
            .mix
            .kinds()
            .max_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
        most.map_or(Kind::default(), |(kind, ..)| kind)
    }

    /// How many items should be on their way for every device to have batches as large as they should be at least,
    /// and one more of them submitted.
    pub(super) fn wanted(&self) -> u64 {
        let kind = self.main_kind();
        let asked = self.executors[HOST + 1..].iter();
        let asked = asked.filter(|about| about.standing.is_asked());
        let wanted = asked.map(|about| {
            let batch = match self.policy.batch {
                Some(batch) => batch.min(about.most()),
                None => (about.least(&about.costs.of(kind), OVERHEAD) as u64).min(about.most()),
            };
            batch.saturating_mul(about.in_flight() as u64 + 1)
        });
        wanted.fold(0, u64::saturating_add)
    }

    /// How many items of its share an executor is given now.
    fn count(&self, executor: usize, share: f64, is_uncertain: bool, is_bounded: bool) -> u64 {
        let about = &self.executors[executor];
        let most = about.most();
        if let (Some(batch), true) = (self.policy.batch, executor != HOST) {
            return batch.min(most);
        }
        let kind = self.main_kind();
        let (cost, batches) = (about.costs.of(kind), about.costs.batches(kind));
        let is_known = batches >= PROBES && about.costs.error(kind) < KNOWN;
        let part = if is_known && !is_uncertain && !is_bounded {
            PART_KNOWN
        } else {
            PART_UNKNOWN
        };
        // A batch is prepared by one thread: where preparing is slow, all of them need one, and the
        // device waits for the first.
        let part = match about.preparing.ceil() {
            several if several > 1.0 => part / (4.0 * several),
            _ => part,
        };
        let overhead = if is_uncertain && executor != HOST {
            OVERHEAD_UNCERTAIN
        } else {
            OVERHEAD
        };
        let least = about.least(&cost, overhead);
        let wanted = (share * part).max(least);
        let grown = match about.largest {
            0 => FIRST.max(about.about.batch.0),
            largest => largest.saturating_mul(GROWTH),
        };
        // What would be left is not worth a batch of its own.
        let wanted = if share - wanted < least {
            share
        } else {
            wanted
        };
        (wanted.min(share).ceil() as u64).min(grown).clamp(1, most)
    }

    /// How many items an executor that should have none is given to find out what they cost it.
    fn probe(&self, offer: &Offer, end: f64) -> Option<u64> {
        let about = &self.executors[offer.executor];
        if self.policy.placement != Placement::Auto || !about.flights.is_empty() {
            return None;
        }
        let kind = self.main_kind();
        let batches = about.costs.batches(kind);
        let skips = about.costs.fallback_of(kind).tried() < 0.5;
        let passed_over = if skips {
            PASSED_OVER_SKIPPING
        } else {
            PASSED_OVER
        };
        if batches >= PROBES && about.passed_over < passed_over {
            return None;
        }
        let count = 1 << (2 * batches.min(2));
        let affordable = offer.ready + offer.unit * count as f64 <= end * PROBE;
        // The first one is worth its time whatever it is believed to take.
        (batches == 0 || affordable).then_some(count)
    }
}
