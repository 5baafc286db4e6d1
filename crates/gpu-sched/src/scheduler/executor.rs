//! [`Executor`]: what the scheduler knows of one of them: what it has, and how large its batches may be.

use std::time::Duration;

use super::standing::Standing;
use super::{BatchId, ExecutorDescription, Made};
use crate::cost::{Cost, Costs};
use crate::size::allowance;
use crate::stages::{Activity, Stages};

/// The most batches that are prepared for a device at a time.
const MOST_PREPARING: f64 = 16.0;

/// A batch has so many items at least, where there are as many: each costs whoever drives the scheduler
/// some microseconds, which no executor's overhead shows.
pub(super) const GRAIN: f64 = 16.0;

/// An executor as the scheduler knows it.
#[derive(Debug)]
pub(super) struct Executor {
    pub(super) about: ExecutorDescription,
    pub(super) costs: Costs,
    pub(super) standing: Standing,
    pub(super) flights: Vec<BatchId>,
    /// When its last batch ended, or fallback work was made.
    pub(super) idle_since: Duration,
    /// Until when its costs are learned.
    pub(super) measured_until: Duration,
    pub(super) began: Option<Duration>,
    /// Bytes of device memory an item.
    pub(super) footprint: f64,
    /// The most items of a batch, since a larger one did not fit.
    pub(super) fits: u64,
    /// Whether one item did not fit beside other batches, so that it has one batch at a time.
    pub(super) alone: bool,
    /// The largest batch that it made.
    pub(super) largest: u64,
    /// How many batches are prepared at a time for one to be ready whenever it could begin.
    pub(super) preparing: f64,
    /// Batches that others were given since it had one.
    pub(super) passed_over: u64,
    pub(super) activity: Activity,
}

impl Executor {
    pub(super) fn new(about: ExecutorDescription) -> Self {
        Self {
            costs: Costs::guessed(about.guess),
            about,
            standing: Standing::default(),
            flights: Vec::new(),
            idle_since: Duration::ZERO,
            measured_until: Duration::ZERO,
            began: None,
            footprint: 0.0,
            fits: u64::MAX,
            alone: false,
            largest: 0,
            preparing: 1.0,
            passed_over: 0,
            activity: Activity::default(),
        }
    }

    /// Takes note of a batch of so many items, of which so many were tried: the others say nothing of it.
    pub(super) fn has_made(&mut self, count: u64, tried: u64, made: &Made, seconds: f64) {
        // Others may have let go of memory.
        self.fits = self.fits.saturating_add(count.div_ceil(4));
        self.alone &= count <= 1;
        if made.free.is_some() {
            self.about.free = made.free;
        }
        if tried == 0 {
            return;
        }
        self.largest = self.largest.max(tried);
        let Stages {
            prepare,
            upload,
            compute,
            download,
        } = made.stages;
        // How often it could begin, were it never to wait for a batch.
        let busy = upload.max(compute).max(download).as_secs_f64();
        let preparing = prepare.as_secs_f64() / busy.max(seconds / MOST_PREPARING).max(1e-9);
        self.preparing = self.preparing * 0.7 + preparing * 0.3;
        if made.footprint > 0 {
            let footprint = made.footprint as f64 / tried as f64;
            self.footprint = footprint.max(self.footprint * 0.9);
        }
    }

    /// How many batches it may have at a time.
    pub(super) fn in_flight(&self) -> usize {
        if self.alone {
            return 1;
        }
        let ahead = self.preparing.ceil().clamp(1.0, MOST_PREPARING) as usize;
        self.about.in_flight.max(1) - 1 + ahead
    }

    /// The items of a batch at least, where they cost this, for its overhead to be no more than such a part of its time.
    pub(super) fn least(&self, cost: &Cost, overhead: f64) -> f64 {
        let least = cost.overhead / (overhead * cost.unit.max(1e-15));
        least.max(GRAIN).max(self.about.batch.0 as f64)
    }

    /// The most items of a batch.
    pub(super) fn most(&self) -> u64 {
        let by_memory = match self.about.free {
            Some(free) if self.footprint > 0.0 => {
                let each = allowance(free) as f64 / self.in_flight() as f64;
                (each / self.footprint) as u64
            }
            _ => u64::MAX,
        };
        self.about.batch.1.min(self.fits).min(by_memory).max(1)
    }
}
