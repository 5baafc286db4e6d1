//! [`Scheduler`]: the items of a batch that nobody has claimed, and the windows of them that devices evaluate.
//!
//! It is passive: its caller reports events with their times, and asks for the next window of a device. So all
//! decisions can be tested in virtual time, and threads ([`Fleet`](crate::Fleet)) add no decision.
//!
//! Every item is in exactly one state: unclaimed, claimed by the host, in one window in flight, or evaluated; the
//! answer of a window that was given up is dropped. Items that a device has not evaluated are unclaimed again, to be
//! claimed by another device or by the host. What a device leaves of a window that it has finished, because it cannot
//! run a program or bails out, is the host's.

mod device;
mod standing;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use gpu_kernels::device::caching::MemoryUsage;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::stages::{Activity, Stages};
use device::DeviceState;

/// The most devices: a bit mask records which of them have failed on an item.
pub const MOST_DEVICES: usize = 64;

/// The assumed seconds of a launch beside those of its items.
const LAUNCH: f64 = 50e-6;

/// The part of a window's time that the launch may be.
const OVERHEAD: f64 = 0.05;

/// How much dearer than others on devices, in proportion to the host, the programs are that the host keeps.
const DEAR: f64 = 3.0;

/// An item may take a device this part of the time that everything unclaimed would take the host.
const LONG: f64 = 0.1;

/// A window is given up after this many times its expected time, but not before [`Policy::time_limit`].
const PATIENCE: f64 = 20.0;

/// The initial description of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceDescription {
    /// Its name.
    pub name: String,
    /// The assumed seconds per item until they are measured.
    pub unit: f64,
    /// The most items in a window.
    pub most: u64,
    /// How many windows it may have at a time: those that it begins before the first has finished, and one that is
    /// being prepared.
    pub in_flight: usize,
    /// Bytes of free memory; `None` if memory does not limit windows.
    pub free: Option<u64>,
}

/// Who may evaluate items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// All, each as it is free; windows of devices are so large that these are expected to end with the host.
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
    /// From how many items on a device is used beside the host; `None`: from [`THRESHOLD`](Self::THRESHOLD) on.
    pub threshold: Option<u64>,
    /// Items in a window; `None`: chosen by time and memory.
    pub batch: Option<u64>,
    /// A window is given up if it takes a device longer than this, and much longer than expected.
    pub time_limit: Duration,
    /// How long after a loss a device is tried again; the delay doubles each time, for a limited number of times.
    pub recovery: Duration,
}

impl Policy {
    /// From how many items on a device is used.
    pub const THRESHOLD: u64 = 20;
    /// The least number of items for each of several devices.
    pub const PER_DEVICE: u64 = 30;
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            placement: Placement::Auto,
            threshold: None,
            batch: None,
            time_limit: Duration::from_secs(30),
            recovery: Duration::from_secs(1),
        }
    }
}

/// The number of a window, unique in a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowId(u64);

/// Which programs the host should [keep](Scheduler::handed_over) of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keep {
    /// Those that are so many times dearer than the mean on the device, in proportion to the host.
    pub dear: f64,
    /// Those of which an item takes the device so many seconds, as long as others may take together.
    pub long: f64,
}

/// A window for a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Its number.
    pub id: WindowId,
    /// Who evaluates it.
    pub device: usize,
    /// The items.
    pub items: Range<u64>,
    /// Whether the device was lost and has to be reopened first.
    pub recover: bool,
    /// Which programs of it the host should keep.
    pub keep: Keep,
}

/// What a finished window took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Made {
    /// The time of its stages.
    pub stages: Stages,
    /// How many items the device tried, and how many of them it has answered: it bailed out of the others.
    pub tried: u64,
    /// See `tried`.
    pub answered: u64,
    /// Bytes of device memory that its items needed.
    pub footprint: u64,
    /// Bytes of device memory that are free besides.
    pub free: Option<u64>,
    /// The device's memory usage after it.
    pub memory: MemoryUsage,
}

/// What the host can take at a time when a window is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Host {
    /// How many more fresh items may be claimed before others are delivered.
    pub room: u64,
    /// The seconds that it takes per item.
    pub unit: f64,
}

/// A window in flight.
#[derive(Debug, Clone)]
struct InFlight {
    device: usize,
    items: Vec<Range<u64>>,
    /// The devices that have failed on it.
    failed: u64,
    /// When the device received it, and when it is given up; `None` while it is being prepared.
    received: Option<(Duration, Duration)>,
}

impl InFlight {
    fn count(&self) -> u64 {
        self.items.iter().map(|items| items.end - items.start).sum()
    }
}

/// Consecutive items that a device gave back.
#[derive(Debug, Clone, Copy)]
struct GivenBack {
    end: u64,
    failed: u64,
}

/// Decides which windows devices evaluate.
#[derive(Debug)]
pub struct Scheduler {
    policy: Policy,
    devices: Vec<DeviceState>,
    /// How many devices the batch is worth.
    worth: usize,
    /// Items that were never claimed, and those that devices gave back, by the number of the first.
    fresh: Range<u64>,
    given_back: BTreeMap<u64, GivenBack>,
    in_flight: BTreeMap<WindowId, InFlight>,
    next_window: u64,
}

impl Scheduler {
    /// A scheduler without devices.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            devices: Vec::new(),
            worth: 0,
            fresh: 0..0,
            given_back: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            next_window: 0,
        }
    }

    /// Adds a device and returns its number; `None` if there are [`MOST_DEVICES`] already.
    pub fn add(&mut self, device: DeviceDescription) -> Option<usize> {
        let number = self.devices.len();
        (number < MOST_DEVICES).then(|| {
            self.devices.push(DeviceState::new(device));
            number
        })
    }

    /// The devices' names and counters.
    pub fn activities(&self) -> impl ExactSizeIterator<Item = (&str, &Activity)> {
        let devices = self.devices.iter();
        devices.map(|device| (device.description.name.as_str(), &device.activity))
    }

    /// Begins a batch of these items. What is left of an earlier one is dropped, and its answers will be ignored; what
    /// was learned of devices stays.
    pub fn begin(&mut self, items: Range<u64>) {
        for device in &mut self.devices {
            device.in_flight.clear();
            device.activity = Activity::default();
            device.began = None;
        }
        self.in_flight.clear();
        self.given_back.clear();
        let count = items.end - items.start;
        self.worth = match self.policy.placement {
            Placement::Host => 0,
            Placement::Devices => usize::MAX,
            Placement::Auto if count < self.policy.threshold.unwrap_or(Policy::THRESHOLD) => 0,
            Placement::Auto => ((count / Policy::PER_DEVICE) as usize).max(1),
        };
        self.fresh = items;
    }

    /// The items that were never claimed.
    pub fn fresh(&self) -> &Range<u64> {
        &self.fresh
    }

    /// Whether nothing is unclaimed, and no window in flight.
    pub fn is_over(&self) -> bool {
        self.fresh.is_empty() && self.given_back.is_empty() && self.in_flight.is_empty()
    }

    /// A bit mask of the devices that are used now.
    fn used(&self) -> u64 {
        let asked = (0..self.devices.len()).filter(|at| self.devices[*at].standing.is_asked());
        asked.take(self.worth).map(|device| 1 << device).sum()
    }

    /// Whether the host may claim items on which these devices have failed: always beside devices; in their place
    /// only if none of them can.
    fn is_for_host(&self, failed: u64) -> bool {
        self.policy.placement != Placement::Devices || self.used() & !failed == 0
    }

    /// The first items that the host may claim.
    pub fn for_host(&self) -> Option<Range<u64>> {
        let mut given_back = self.given_back.iter();
        let first = given_back.find(|(_, it)| self.is_for_host(it.failed));
        let first = first.map(|(start, it)| *start..it.end);
        let fresh = || self.fresh.clone();
        first.or_else(|| (!self.fresh.is_empty() && self.is_for_host(0)).then(fresh))
    }

    /// How many items the host may claim.
    pub fn waiting(&self) -> u64 {
        let given_back = self.given_back.iter();
        let given_back = given_back.filter(|(_, it)| self.is_for_host(it.failed));
        let given_back: u64 = given_back.map(|(start, it)| it.end - start).sum();
        let fresh = if self.is_for_host(0) {
            self.fresh.end - self.fresh.start
        } else {
            0
        };
        given_back + fresh
    }

    /// Claims the first items of [`for_host`](Self::for_host), up to `end`.
    pub fn take(&mut self, first: u64, end: u64) {
        if first == self.fresh.start {
            self.fresh.start = end;
        } else if let Some(given_back) = self.given_back.remove(&first)
            && end < given_back.end
        {
            self.given_back.insert(end, given_back);
        }
    }

    /// The device that should be given the next window, and the items of it; `None` if every device has enough.
    pub fn next(&self, now: Duration, host: Host) -> Option<(usize, Range<u64>)> {
        if self.devices.is_empty() {
            return None;
        }
        let used = self.used();
        let mut free: Vec<usize> = (0..self.devices.len())
            .filter(|device| used & (1 << device) != 0 && self.devices[*device].is_free())
            .collect();
        if free.is_empty() {
            return None;
        }
        let begun: Vec<f64> = (0..self.devices.len())
            .map(|device| self.begun(device, now))
            .collect();
        free.sort_by(|a, b| begun[*a].total_cmp(&begun[*b]));
        let fresh = self.fresh.start
            ..self
                .fresh
                .end
                .min(self.fresh.start.saturating_add(host.room));
        let given_back = self.given_back.iter();
        let mut ranges = given_back.map(|(start, it)| (*start..it.end, it.failed));
        let mut find = |(items, failed): (Range<u64>, u64)| {
            let able = free.iter().filter(|device| failed & (1 << **device) == 0);
            let mut sizes =
                able.map(|device| (*device, self.size(*device, used, &fresh, &begun, host)));
            let (device, size) = sizes.find(|(_, size)| *size > 0)?;
            let end = items.end.min(items.start + size);
            Some((device, items.start..end))
        };
        let first = ranges.find_map(&mut find);
        first.or_else(|| (!fresh.is_empty()).then(|| find((fresh.clone(), 0)))?)
    }

    /// The items that a device has in flight, without those that it is expected to have evaluated by now.
    fn begun(&self, device: usize, now: Duration) -> f64 {
        let state = &self.devices[device];
        let windows = state.in_flight.iter().map(|id| &self.in_flight[id]);
        let items: u64 = windows.clone().map(InFlight::count).sum();
        let received = windows.filter_map(|flight| flight.received);
        let since = received.map(|(at, _)| at).min();
        let since = since.map_or(now, |since| since.max(state.ended));
        let evaluated = (now.saturating_sub(since).as_secs_f64() - LAUNCH) / state.unit();
        // What is late may end at any moment.
        (items as f64 - evaluated.max(0.0)).max(0.0)
    }

    /// How many items the next window of a device has: half of its share of what is left, by speed, or all of it if the
    /// launches of smaller windows would count. It has no share beside a host that would have finished everything
    /// before.
    fn size(&self, device: usize, used: u64, fresh: &Range<u64>, begun: &[f64], host: Host) -> u64 {
        let state = &self.devices[device];
        let most = state.most();
        if let Some(batch) = self.policy.batch {
            return batch.clamp(1, most);
        }
        let host_speed = match self.policy.placement {
            Placement::Devices => 0.0,
            Placement::Auto | Placement::Host => host.unit.recip(),
        };
        let others = (0..self.devices.len()).filter(|other| used & (1 << other) != 0);
        let speed: f64 = others.map(|other| self.devices[other].unit().recip()).sum();
        let (left, unit) = (
            self.unclaimed(fresh) as f64 + begun.iter().sum::<f64>(),
            state.unit(),
        );
        let share = left / unit / (speed + host_speed) - begun[device];
        let part = if share / 2.0 * unit < LAUNCH / OVERHEAD {
            share
        } else {
            share / 2.0
        };
        if part <= 0.0 || host_speed > 0.0 && LAUNCH + part * unit > left / host_speed {
            return 0;
        }
        (part.ceil() as u64).clamp(1, most.min(state.grown()))
    }

    /// See [`Window::keep`].
    fn keep(&self, device: usize, host: Host) -> Keep {
        let state = &self.devices[device];
        let (dear, long) = match self.policy.placement {
            Placement::Host | Placement::Devices => (f64::INFINITY, f64::INFINITY),
            // The device bails out of so many items that the host is busy with these.
            Placement::Auto if state.left() * host.unit > state.unit() => (f64::MAX, f64::INFINITY),
            Placement::Auto => (
                (host.unit / state.unit()).max(DEAR),
                self.unclaimed(&self.fresh) as f64 * host.unit * LONG,
            ),
        };
        Keep { dear, long }
    }

    /// How many items were given back, or are these.
    fn unclaimed(&self, fresh: &Range<u64>) -> u64 {
        let given_back = self.given_back.iter().map(|(start, it)| it.end - start);
        fresh.end - fresh.start + given_back.sum::<u64>()
    }

    /// Claims the [`next`](Self::next) window.
    pub fn claim(&mut self, now: Duration, host: Host) -> Option<Window> {
        self.revive(now);
        let (device, items) = self.next(now, host)?;
        let given_back = self.given_back.get(&items.start);
        let failed = given_back.map_or(0, |it| it.failed);
        let keep = self.keep(device, host);
        self.take(items.start, items.end);
        let id = WindowId(self.next_window);
        self.next_window += 1;
        self.in_flight.insert(
            id,
            InFlight {
                device,
                items: vec![items.clone()],
                failed,
                received: None,
            },
        );
        let state = &mut self.devices[device];
        state.in_flight.push(id);
        state.began.get_or_insert(now);
        Some(Window {
            id,
            device,
            items,
            recover: state.standing.begin(),
            keep,
        })
    }

    /// Records that a device has received a window: its time limit begins. Until then the window was being prepared,
    /// which is not the device's fault. The host evaluates those items of it that it `kept`, in order; returns whether
    /// they are its own: otherwise the whole window was given up meanwhile.
    pub fn handed_over(&mut self, now: Duration, window: WindowId, kept: &[Range<u64>]) -> bool {
        let Some(flight) = self.in_flight.get_mut(&window) else {
            return false;
        };
        let device = flight.device;
        let ends = flight.items.iter().map(|items| items.end);
        let ends: Vec<u64> = kept.iter().map(|items| items.start).chain(ends).collect();
        let starts = flight.items.iter().map(|items| items.start);
        let starts = starts.chain(kept.iter().map(|items| items.end));
        let between = starts.zip(ends).map(|(start, end)| start..end);
        flight.items = between.filter(|items| !items.is_empty()).collect();
        let windows = self.devices[device].in_flight.len() as f64;
        let expected = LAUNCH * windows + self.devices[device].unit() * self.begun(device, now);
        let patience = Duration::try_from_secs_f64(PATIENCE * expected);
        let limit = self.policy.time_limit;
        let limit = limit.max(patience.unwrap_or(Duration::MAX / 4));
        if let Some(flight) = self.in_flight.get_mut(&window) {
            flight.received = Some((now, now + limit));
        }
        true
    }

    /// Records that a window has ended. Returns its items if the answers are valid; otherwise they are claimed again,
    /// or were answered already.
    pub fn ended(
        &mut self,
        now: Duration,
        window: WindowId,
        result: Result<Made, Failure>,
    ) -> Option<Vec<Range<u64>>> {
        let flight = self.in_flight.remove(&window)?;
        let state = &mut self.devices[flight.device];
        state.in_flight.retain(|other| *other != window);
        match result {
            Ok(made) => {
                state.standing.succeeded();
                state.record(now, flight.received, flight.count(), &made);
                Some(flight.items)
            }
            Err(failure) => {
                self.handle_failure(now, flight, &failure);
                None
            }
        }
    }

    /// Leaves no item unclaimed, and returns those that were given back. Windows in flight go on.
    pub fn stop(&mut self) -> Vec<Range<u64>> {
        self.fresh.end = self.fresh.start;
        let given_back = std::mem::take(&mut self.given_back).into_iter();
        given_back.map(|(start, it)| start..it.end).collect()
    }

    /// Records that a device has answered for a window that was given up or dropped: if it hung, it is usable again.
    pub fn answered(&mut self, device: usize) {
        self.devices[device].standing.answered();
    }
}
