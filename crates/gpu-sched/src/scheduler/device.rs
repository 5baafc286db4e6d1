//! [`DeviceState`]: the scheduler's state for one device: its windows, how fast it is, and how large they may be.

use std::time::Duration;

use super::standing::Standing;
use super::{DeviceDescription, LAUNCH, Made, WindowId};
use crate::size::allowance;
use crate::stages::Activity;

/// The most items in the first window of a device, and how many times the items of its largest one so far the next may
/// have.
const FIRST: u64 = 32;
const GROWTH: u64 = 8;

/// How much earlier windows count beside a new one.
const DECAY: f64 = 0.7;

/// The scheduler's state for one device.
#[derive(Debug)]
pub(super) struct DeviceState {
    pub(super) description: DeviceDescription,
    pub(super) standing: Standing,
    pub(super) in_flight: Vec<WindowId>,
    /// Items that it tried and answered, and the seconds that they took; earlier ones count less.
    tried: f64,
    answered: f64,
    seconds: f64,
    /// When its last window ended.
    pub(super) ended: Duration,
    pub(super) began: Option<Duration>,
    /// Bytes of device memory per item.
    footprint: f64,
    /// The most items in a window, since a larger one did not fit.
    pub(super) fits: u64,
    /// Whether one item did not fit beside other windows, so that it gets one at a time.
    pub(super) alone: bool,
    /// The largest window that it finished.
    largest: u64,
    pub(super) activity: Activity,
}

impl DeviceState {
    pub(super) fn new(description: DeviceDescription) -> Self {
        Self {
            description,
            standing: Standing::default(),
            in_flight: Vec::new(),
            tried: 0.0,
            answered: 0.0,
            seconds: 0.0,
            ended: Duration::ZERO,
            began: None,
            footprint: 0.0,
            fits: u64::MAX,
            alone: false,
            largest: 0,
            activity: Activity::default(),
        }
    }

    /// The expected seconds per item.
    pub(super) fn unit(&self) -> f64 {
        let unit = if self.tried > 0.0 {
            self.seconds / self.tried
        } else {
            self.description.unit
        };
        unit.max(1e-12)
    }

    /// The part of its items that it is expected to bail out of.
    pub(super) fn left(&self) -> f64 {
        if self.tried > 0.0 {
            1.0 - self.answered / self.tried
        } else {
            0.0
        }
    }

    /// Records a finished window of `count` items, which it received at a time.
    pub(super) fn record(
        &mut self,
        now: Duration,
        received: Option<(Duration, Duration)>,
        count: u64,
        made: &Made,
    ) {
        // Windows overlap: what counts is by how much this one was later than the one before.
        let since = received.map_or(now, |(at, _)| at).max(self.ended);
        self.ended = now;
        self.activity.add(made.answered, &made.stages, made.memory);
        if let Some(began) = self.began {
            self.activity.elapsed = now.saturating_sub(began);
        }
        // Others may have freed memory.
        self.fits = self.fits.saturating_add(count.div_ceil(4));
        self.alone &= count <= 1;
        if made.free.is_some() {
            self.description.free = made.free;
        }
        if made.tried == 0 {
            return;
        }
        let seconds = now.saturating_sub(since).as_secs_f64();
        self.tried = self.tried * DECAY + made.tried as f64;
        self.answered = self.answered * DECAY + made.answered as f64;
        self.seconds = self.seconds * DECAY + (seconds - LAUNCH).max(seconds * 0.1);
        self.largest = self.largest.max(made.tried);
        if made.footprint > 0 {
            let footprint = made.footprint as f64 / made.tried as f64;
            self.footprint = footprint.max(self.footprint * 0.9);
        }
    }

    fn most_in_flight(&self) -> usize {
        if self.alone || self.standing.is_doubtful() {
            1
        } else {
            self.description.in_flight.max(1)
        }
    }

    /// Whether it may be given a window.
    pub(super) fn is_free(&self) -> bool {
        self.in_flight.len() < self.most_in_flight()
    }

    /// The most items in a window, by memory.
    pub(super) fn most(&self) -> u64 {
        let by_memory = match self.description.free {
            Some(free) if self.footprint > 0.0 => {
                let each = allowance(free) as f64 / self.description.in_flight.max(1) as f64;
                (each / self.footprint) as u64
            }
            _ => u64::MAX,
        };
        let most = self.description.most.min(self.fits).min(by_memory);
        most.max(1)
    }

    /// The most items in a window, by what it has shown so far.
    pub(super) fn grown(&self) -> u64 {
        self.largest.saturating_mul(GROWTH).max(FIRST)
    }
}
