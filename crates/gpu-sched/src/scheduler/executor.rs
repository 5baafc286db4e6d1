//! [`ExecutorState`]: the scheduler's state for one executor: its batches, and how large they may be.

use std::time::Duration;

use super::standing::Standing;
use super::{BatchId, ExecutorDescription, Made};
use crate::cost::{Cost, Costs};
use crate::size::allowance;
use crate::stages::{Activity, Stages};

/// The most batches that are prepared for a device at a time.
const MOST_PREPARING: f64 = 16.0;

/// The minimum size of a batch, if that many items are queued: each batch costs the scheduler's driver some
/// microseconds, which do not appear in any executor's overhead.
pub(super) const MIN_BATCH: f64 = 16.0;

/// The scheduler's state for one executor.
#[derive(Debug)]
pub(super) struct ExecutorState {
    pub(super) description: ExecutorDescription,
    pub(super) costs: Costs,
    pub(super) standing: Standing,
    pub(super) in_flight: Vec<BatchId>,
    /// When its last batch ended, or fallback work was finished.
    pub(super) idle_since: Duration,
    /// Until when its costs are learned.
    pub(super) measured_until: Duration,
    pub(super) began: Option<Duration>,
    /// Bytes of device memory per item.
    pub(super) footprint: f64,
    /// The most items in a batch, since a larger one did not fit.
    pub(super) fits: u64,
    /// Whether one item did not fit beside other batches, so that it gets one batch at a time.
    pub(super) alone: bool,
    /// The largest batch that it finished.
    pub(super) largest: u64,
    /// How many batches to prepare at a time so that one is always ready.
    pub(super) preparing: f64,
    /// How many batches others were given since its last one.
    pub(super) passed_over: u64,
    pub(super) activity: Activity,
}

impl ExecutorState {
    pub(super) fn new(description: ExecutorDescription) -> Self {
        Self {
            costs: Costs::guessed(description.guess),
            description,
            standing: Standing::default(),
            in_flight: Vec::new(),
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

    /// Records a finished batch of `count` items, of which `tried` were tried. Only these give sizes and times.
    pub(super) fn record_batch(&mut self, count: u64, tried: u64, made: &Made, seconds: f64) {
        // Others may have freed memory.
        self.fits = self.fits.saturating_add(count.div_ceil(4));
        self.alone &= count <= 1;
        if made.free.is_some() {
            self.description.free = made.free;
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
        // How many batches it could finish while one is prepared.
        let busy = upload.max(compute).max(download).as_secs_f64();
        let preparing = prepare.as_secs_f64() / busy.max(seconds / MOST_PREPARING).max(1e-9);
        self.preparing = self.preparing * 0.7 + preparing * 0.3;
        if made.footprint > 0 {
            let footprint = made.footprint as f64 / tried as f64;
            self.footprint = footprint.max(self.footprint * 0.9);
        }
    }

    /// How many batches it may have at a time.
    pub(super) fn max_in_flight(&self) -> usize {
        if self.alone {
            return 1;
        }
        let ahead = self.preparing.ceil().clamp(1.0, MOST_PREPARING) as usize;
        self.description.in_flight.max(1) - 1 + ahead
    }

    /// The least number of items in a batch, at this cost, so that the overhead is at most the given part of its
    /// time.
    pub(super) fn min_batch(&self, cost: &Cost, overhead: f64) -> f64 {
        let least = cost.overhead / (overhead * cost.unit.max(1e-15));
        least.max(MIN_BATCH).max(self.description.batch.0 as f64)
    }

    /// The most items in a batch.
    pub(super) fn max_batch(&self) -> u64 {
        let by_memory = match self.description.free {
            Some(free) if self.footprint > 0.0 => {
                let each = allowance(free) as f64 / self.max_in_flight() as f64;
                (each / self.footprint) as u64
            }
            _ => u64::MAX,
        };
        self.description
            .batch
            .1
            .min(self.fits)
            .min(by_memory)
            .max(1)
    }
}
