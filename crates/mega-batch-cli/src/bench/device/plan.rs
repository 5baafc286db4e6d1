//! [`Plan`]: what is measured, and [`Budget`]: how much time each part of it is given.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::timing::Effort;

/// Where the benchmark runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// On the first NVIDIA GPU.
    Cuda,
    /// On the emulated device: to see that it works, not how fast it is.
    Emulated,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Where.
    pub(crate) target: Target,
    /// Batch sizes for operations and pipelines, ascending.
    pub(crate) sizes: Vec<usize>,
    /// Batch sizes for the built-in programs, ascending; a subset of `sizes`.
    pub(crate) program_sizes: Vec<usize>,
    /// The batch size for launches with other settings; one of `sizes`.
    pub(crate) lever_size: usize,
    /// Bytes of the copies that programs are compared with, ascending.
    pub(crate) copies: Vec<usize>,
    /// The most repetitions of a measurement.
    pub(crate) repetitions: usize,
    /// The time limit: repetitions are dropped to keep within it, and then the largest sizes.
    pub(crate) time: Duration,
    /// Threads of the CPU's parallel column; `None` for one per core.
    pub(crate) workers: Option<NonZeroUsize>,
    /// Whether to leave out a work whose results differ between device and CPU; otherwise a difference ends the
    /// benchmark.
    pub(crate) goes_on: bool,
}

/// The most distinct grids; larger batches repeat them, each time in memory of its own.
pub(super) const DISTINCT: usize = 100_000;

impl Plan {
    /// All sizes suitable for the device.
    pub(crate) fn full(target: Target) -> Self {
        let sizes = [1, 10, 20, 50, 100, 200, 1_000, 10_000, 100_000, 1_000_000];
        Self::of(target, &sizes, 9, Duration::from_secs(300))
    }

    /// A quick look: within a minute on a GPU, within seconds on the emulated device.
    pub(crate) fn quick(target: Target) -> Self {
        let (sizes, repetitions): (&[usize], _) = match target {
            Target::Cuda => (&[1, 100, 1_000, 10_000, 100_000], 3),
            Target::Emulated => (&[1, 10, 100], 1),
        };
        Self::of(target, sizes, repetitions, Duration::from_secs(60))
    }

    /// A row of each work, to see that it can be measured.
    pub(crate) fn smallest(target: Target) -> Self {
        let plan = Self::of(target, &[1, 8], 1, Duration::from_secs(60));
        Self {
            lever_size: 8,
            copies: vec![1 << 16],
            ..plan
        }
    }

    fn of(target: Target, sizes: &[usize], repetitions: usize, time: Duration) -> Self {
        // The emulated device takes a thousand times as long as a GPU.
        let most = match target {
            Target::Cuda => usize::MAX,
            Target::Emulated => 1_000,
        };
        let sizes: Vec<usize> = sizes.iter().copied().filter(|size| *size <= most).collect();
        let largest = sizes.last().copied().unwrap_or_default();
        let program_sizes = sizes.iter().copied();
        Self {
            target,
            program_sizes: program_sizes
                .filter(|size| *size >= largest.min(1_000))
                .collect(),
            lever_size: match target {
                Target::Cuda => largest.min(100_000),
                Target::Emulated => 10,
            },
            copies: match target {
                Target::Cuda => vec![16 << 20, 256 << 20, 1 << 30],
                Target::Emulated => vec![1 << 16],
            },
            repetitions: match target {
                Target::Cuda => repetitions,
                Target::Emulated => repetitions.min(3),
            },
            sizes,
            time,
            workers: None,
            goes_on: false,
        }
    }
}

/// Distributes the time.
///
/// Each measurement is given time in proportion to its size, so that the largest sizes have most of it; time that one
/// does not use goes to those after it.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    time: Duration,
    repetitions: usize,
    /// The total weight of what remains to be measured.
    weight: f64,
}

impl Budget {
    /// A budget for these sizes, each measured this many times.
    pub(super) fn new(plan: &Plan, of_sizes: usize, of_program_sizes: usize) -> Self {
        let sum = |sizes: &[usize], times: usize| {
            sizes.iter().map(|size| weight(*size)).sum::<f64>() * times as f64
        };
        Self {
            time: plan.time,
            repetitions: plan.repetitions,
            weight: sum(&plan.sizes, of_sizes) + sum(&plan.program_sizes, of_program_sizes),
        }
    }

    /// The time left after this much was spent.
    pub(super) fn left(&self, spent: Duration) -> Duration {
        self.time.saturating_sub(spent)
    }

    /// The share of the next measurement, of this size, after this much was spent.
    pub(super) fn next(&mut self, size: usize, spent: Duration) -> Effort {
        let share = (weight(size) / self.weight).clamp(0.0, 1.0);
        self.skip(size);
        Effort {
            repetitions: self.repetitions,
            time: self
                .left(spent)
                .mul_f64(if share.is_finite() { share } else { 0.0 }),
        }
    }

    /// A measurement of this size is left out.
    pub(super) fn skip(&mut self, size: usize) {
        self.weight = (self.weight - weight(size)).max(0.0);
    }
}

/// Small batches take some time too.
fn weight(size: usize) -> f64 {
    size as f64 + 10_000.0
}

/// An upper bound of the time that one pass over a size takes, given the time of a smaller size.
pub(super) fn predicted(once: Duration, size: usize, next: usize) -> Duration {
    once.mul_f64((next as f64 / size.max(1) as f64).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emulated_device_is_asked_for_little() {
        let full = Plan::full(Target::Emulated);
        assert_eq!(full.sizes, [1, 10, 20, 50, 100, 200, 1_000]);
        assert_eq!(full.program_sizes, [1_000]);
        let quick = Plan::quick(Target::Emulated);
        assert_eq!(quick.sizes.last(), Some(&100));
        assert_eq!(quick.program_sizes, [100]);
        assert_eq!(quick.repetitions, 1);
    }

    #[test]
    fn a_gpu_is_asked_for_a_million() {
        let full = Plan::full(Target::Cuda);
        assert_eq!(full.sizes.len(), 10);
        assert_eq!(full.sizes.last(), Some(&1_000_000));
        assert_eq!(full.program_sizes, [1_000, 10_000, 100_000, 1_000_000]);
        for plan in [
            full,
            Plan::quick(Target::Cuda),
            Plan::smallest(Target::Cuda),
            Plan::full(Target::Emulated),
        ] {
            assert!(plan.sizes.is_sorted() && plan.copies.is_sorted());
            assert!(plan.sizes.contains(&plan.lever_size));
            assert!(
                plan.program_sizes
                    .iter()
                    .all(|size| plan.sizes.contains(size))
            );
        }
    }

    #[test]
    fn all_shares_together_are_the_time() {
        let plan = Plan::full(Target::Cuda);
        let mut budget = Budget::new(&plan, 3, 1);
        let mut spent = Duration::ZERO;
        let mut last = Duration::ZERO;
        for &size in &plan.sizes {
            let times = 3 + usize::from(plan.program_sizes.contains(&size));
            for _ in 0..times {
                let effort = budget.next(size, spent);
                assert_eq!(effort.repetitions, plan.repetitions);
                // Larger sizes get more.
                assert!(effort.time + Duration::from_micros(1) >= last);
                last = effort.time;
                spent += effort.time;
            }
        }
        assert!(
            spent.abs_diff(plan.time) < Duration::from_millis(1),
            "{spent:?}"
        );
        assert!(budget.left(spent) < Duration::from_millis(1));
    }

    #[test]
    fn what_is_left_over_or_left_out_goes_to_the_rest() {
        let plan = Plan::full(Target::Cuda);
        let mut frugal = Budget::new(&plan, 1, 0);
        let mut usual = frugal.clone();
        let (first, size) = (plan.sizes[0], plan.sizes[1]);
        let took = usual.next(first, Duration::ZERO).time;
        frugal.skip(first);
        assert!(frugal.next(size, Duration::ZERO).time > usual.next(size, took).time);
        // Nothing is left after the end.
        assert_eq!(usual.next(size, plan.time * 2).time, Duration::ZERO);
    }

    #[test]
    fn a_larger_batch_takes_as_much_longer_at_most() {
        let once = Duration::from_millis(10);
        assert_eq!(predicted(once, 100, 1_000), Duration::from_millis(100));
        assert_eq!(predicted(once, 0, 1), once);
    }
}
