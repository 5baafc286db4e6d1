//! Devices that fail: which are still used, who takes over their windows, and when they are tried again.

use std::ops::Range;
use std::time::Duration;

use super::{GivenBack, InFlight, Scheduler, WindowId};
use crate::failure::Failure;

/// How many windows in a row may fail before a device counts as lost.
const STRIKES: u32 = 3;

/// How often a lost device is tried again.
const RECOVERIES: u32 = 6;

/// Whether a device is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum DeviceState {
    #[default]
    Working,
    /// It is reopened with the next window.
    Recovering,
    /// Not used before this time.
    Lost(Duration),
    /// Not used before it answers.
    Hung,
    /// Not used again.
    Gone,
}

/// The health of a device.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standing {
    state: DeviceState,
    strikes: u32,
    /// How often it was lost since it last finished a window.
    losses: u32,
}

impl Standing {
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.state, DeviceState::Working | DeviceState::Recovering)
    }

    /// When it will be used again, if it is lost for now.
    pub(super) fn returns(&self) -> Option<Duration> {
        match self.state {
            DeviceState::Lost(until) => Some(until),
            _ => None,
        }
    }

    /// Whether it gets only one window at a time, since it may fail again.
    pub(super) fn is_doubtful(&self) -> bool {
        self.state == DeviceState::Recovering || self.strikes > 0 || self.losses > 0
    }

    /// A window is claimed; returns whether the device has to be reopened for it.
    pub(super) fn begin(&mut self) -> bool {
        let recovers = self.state == DeviceState::Recovering;
        if recovers {
            self.state = DeviceState::Working;
        }
        recovers
    }

    pub(super) fn succeeded(&mut self) {
        self.strikes = 0;
        self.losses = 0;
    }

    /// A device that hung has answered: it is tried again like one that was lost.
    pub(super) fn answered(&mut self) {
        if self.state == DeviceState::Hung {
            self.state = DeviceState::Recovering;
        }
    }

    fn lose(&mut self, now: Duration, recovery: Duration) {
        self.strikes = 0;
        self.state = if self.losses >= RECOVERIES {
            DeviceState::Gone
        } else {
            DeviceState::Lost(now + recovery.saturating_mul(1 << self.losses))
        };
        self.losses += 1;
    }

    fn hang(&mut self) {
        self.losses += 1;
        self.state = if self.losses > RECOVERIES {
            DeviceState::Gone
        } else {
            DeviceState::Hung
        };
    }
}

impl Scheduler {
    /// Makes the devices available again whose delay is over.
    pub fn revive(&mut self, now: Duration) {
        for device in &mut self.devices {
            let standing = &mut device.standing;
            if matches!(standing.state, DeviceState::Lost(until) if until <= now) {
                standing.state = DeviceState::Recovering;
            }
        }
    }

    /// The next time at which something is due besides the end of a window: [`expire`](Self::expire), or the retry of
    /// a lost device while items are unclaimed.
    pub fn wake(&self) -> Option<Duration> {
        let received = self.in_flight.values().filter_map(|flight| flight.received);
        let is_waiting = !self.fresh.is_empty() || !self.given_back.is_empty();
        let returns = self.devices.iter().filter_map(|device| {
            let returns = device.standing.returns();
            returns.filter(|_| is_waiting)
        });
        received.map(|(_, deadline)| deadline).chain(returns).min()
    }

    /// Gives up the windows whose time limit is over, and returns them with their devices, which are not used again
    /// before they [answer](Self::answered).
    pub fn expire(&mut self, now: Duration) -> Vec<(WindowId, usize)> {
        let late = self.in_flight.iter().filter(|(_, flight)| {
            let received = flight.received;
            received.is_some_and(|(_, deadline)| deadline <= now)
        });
        let late: Vec<_> = late.map(|(window, _)| *window).collect();
        let mut given_up = Vec::new();
        for window in late {
            // Later windows of the same device are given up with it.
            let Some(flight) = self.in_flight.get_mut(&window) else {
                continue;
            };
            let device = flight.device;
            flight.failed |= 1 << device;
            self.devices[device].standing.hang();
            let windows = self.give_back_all(device);
            given_up.extend(windows.into_iter().map(|window| (window, device)));
        }
        given_up
    }

    /// Gives back all windows of a device.
    fn give_back_all(&mut self, device: usize) -> Vec<WindowId> {
        let windows = std::mem::take(&mut self.devices[device].in_flight);
        self.devices[device].activity.failed += windows.len() as u64;
        for window in &windows {
            if let Some(flight) = self.in_flight.remove(window) {
                self.give_back(&flight.items, flight.failed);
            }
        }
        windows
    }

    fn give_back(&mut self, items: &[Range<u64>], failed: u64) {
        let given_back = items.iter().map(|items| {
            let end = items.end;
            (items.start, GivenBack { end, failed })
        });
        self.given_back.extend(given_back);
    }

    /// Handles the failure of a window.
    pub(super) fn handle_failure(&mut self, now: Duration, flight: InFlight, failure: &Failure) {
        let count = flight.count();
        let InFlight {
            device,
            items,
            failed,
            ..
        } = flight;
        let recovery = self.policy.recovery;
        let state = &mut self.devices[device];
        let failed_here = failed | 1 << device;
        match failure {
            Failure::OutOfMemory if count > 1 => {
                state.activity.split += 1;
                state.fits = count / 2;
                for Range { start, end } in items {
                    let middle = start + (end - start) / 2;
                    let halves = [start..middle, middle..end];
                    self.give_back(&halves[usize::from(middle == start)..], failed);
                }
            }
            Failure::OutOfMemory if !state.alone && !state.in_flight.is_empty() => {
                // Other windows hold the memory that it needs.
                state.activity.split += 1;
                state.fits = 1;
                state.alone = true;
                self.give_back(&items, failed);
            }
            Failure::OutOfMemory => {
                state.activity.too_large += 1;
                self.give_back(&items, !0);
                self.strike(now, device);
            }
            Failure::Failed(_) => {
                state.activity.failed += 1;
                self.give_back(&items, failed_here);
                self.strike(now, device);
            }
            Failure::Lost(_) | Failure::Hung => {
                state.activity.failed += 1;
                state.standing.lose(now, recovery);
                self.give_back(&items, failed_here);
                self.give_back_all(device);
            }
        }
    }

    /// Counts a failure of a device: with several in a row it counts as lost.
    fn strike(&mut self, now: Duration, device: usize) {
        let standing = &mut self.devices[device].standing;
        standing.strikes += 1;
        if standing.strikes >= STRIKES {
            standing.lose(now, self.policy.recovery);
            self.give_back_all(device);
        }
    }
}
