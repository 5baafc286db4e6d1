//! [`Plan`]: what is measured, by which modes, and for how long.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use mega_batch::{Backend, Mode, Options, Placement};
use serde::{Deserialize, Serialize};

/// How the evaluations of a cell are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BenchMode {
    /// The reference interpreter, on the calling thread.
    Reference,
    /// The engine with its default options, on the calling thread. Speed-ups are relative to this mode.
    Sequential,
    /// The same on all workers.
    Parallel,
    /// One GPU, which gets everything that it can run; the workers get the rest.
    Gpu,
    /// All GPUs, if there are several.
    Gpus,
    /// The emulated device instead of a GPU: to see that the path works, not how fast it is.
    Emulated,
}

impl BenchMode {
    /// All modes, in the order of the tables.
    pub(crate) const ALL: &'static [Self] = &[
        Self::Reference,
        Self::Sequential,
        Self::Parallel,
        Self::Gpu,
        Self::Gpus,
        Self::Emulated,
    ];

    /// The name in tables and charts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Sequential => "sequential",
            Self::Parallel => "parallel",
            Self::Gpu => "GPU",
            Self::Gpus => "all GPUs",
            Self::Emulated => "emulated",
        }
    }

    /// The options of a runner for this mode.
    pub(crate) fn options(self, workers: Option<NonZeroUsize>) -> Options {
        let (mode, backend) = match self {
            Self::Reference => (Mode::Sequential, Backend::Reference),
            Self::Sequential => (Mode::Sequential, Backend::Auto),
            Self::Parallel => (Mode::Parallel, Backend::Auto),
            Self::Gpu | Self::Gpus => (Mode::Parallel, Backend::Cuda),
            Self::Emulated => (Mode::Parallel, Backend::Emulated),
        };
        let mut options = Options::default();
        options.mode = mode;
        options.backend = backend;
        options.workers = workers;
        options.placement = self.uses_devices().then_some(Placement::Devices);
        options.gpus = (self == Self::Gpu).then_some(1);
        options
    }

    /// Whether devices run what they can.
    pub(crate) fn uses_devices(self) -> bool {
        matches!(self, Self::Gpu | Self::Gpus | Self::Emulated)
    }
}

impl fmt::Display for BenchMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is measured.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Whether this is a quick look of some seconds.
    pub(crate) quick: bool,
    /// Evaluations of a batch, ascending.
    pub(crate) sizes: Vec<usize>,
    /// How long each cell is measured.
    pub(crate) effort: Effort,
    /// Threads of the parallel modes; `None` for one per core.
    pub(crate) workers: Option<NonZeroUsize>,
    /// Whether the emulated device is measured too.
    pub(crate) emulated: bool,
    /// When to stop; what is measured by then is kept.
    pub(crate) until: Option<Instant>,
}

/// How long something is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// All turns of one mode, at least.
    pub(crate) time: Duration,
    /// One turn, at least; a turn always finishes its round.
    pub(crate) turn: Duration,
    /// The fewest turns.
    pub(crate) turns: usize,
}

/// The most evaluations of a batch: more would take too much memory.
pub(crate) const MOST_EVALUATIONS: usize = 1_000_000;

impl Plan {
    /// Batches of 1 to 100,000 evaluations.
    pub(crate) fn full() -> Self {
        Self {
            quick: false,
            sizes: vec![1, 10, 100, 1_000, 10_000, 100_000],
            effort: Effort {
                time: Duration::from_millis(700),
                turn: Duration::from_millis(20),
                turns: 5,
            },
            workers: None,
            emulated: false,
            until: None,
        }
    }

    /// A row of each kind, to see that it can be measured.
    pub(crate) fn smallest() -> Self {
        Self {
            sizes: vec![4],
            effort: Effort {
                time: Duration::ZERO,
                turn: Duration::ZERO,
                turns: 1,
            },
            ..Self::quick()
        }
    }

    /// Whether the time is up.
    pub(crate) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// A quick look of some seconds.
    pub(crate) fn quick() -> Self {
        Self {
            quick: true,
            sizes: vec![1, 100, 10_000],
            effort: Effort {
                time: Duration::from_millis(30),
                turn: Duration::from_millis(3),
                turns: 3,
            },
            ..Self::full()
        }
    }

    /// The same with these batch sizes, sorted and without duplicates.
    pub(crate) fn with_sizes(self, mut sizes: Vec<usize>) -> Self {
        sizes.sort_unstable();
        sizes.dedup();
        Self { sizes, ..self }
    }

    /// Evaluations of the largest batch.
    pub(crate) fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(1)
    }

    /// Evaluations of the largest batch that a mode is given.
    pub(crate) fn most(&self, mode: BenchMode) -> usize {
        match (mode, self.quick) {
            // The CPU runs the kernels lane by lane.
            (BenchMode::Emulated, false) => 1_000,
            (BenchMode::Emulated, true) => 100,
            _ => usize::MAX,
        }
    }

    /// The plan as documents describe it.
    pub(crate) fn note(&self, workers: usize) -> PlanNote {
        PlanNote {
            quick: self.quick,
            sizes: self.sizes.clone(),
            workers,
            seconds_per_cell: self.effort.time.as_secs_f64(),
            fewest_turns: self.effort.turns,
        }
    }
}

/// A plan as documents describe it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlanNote {
    /// Whether it was a quick look of some seconds.
    pub(crate) quick: bool,
    /// Evaluations of a batch.
    pub(crate) sizes: Vec<usize>,
    /// Threads of the parallel modes.
    pub(crate) workers: usize,
    /// The least time of each cell.
    pub(crate) seconds_per_cell: f64,
    /// The fewest turns of each cell.
    pub(crate) fewest_turns: usize,
}

#[cfg(test)]
mod tests {
    use mega_batch::devices::Request;

    use super::*;

    #[test]
    fn sizes_ascend_and_are_there_once() {
        let plan = Plan::quick().with_sizes(vec![100, 1, 10, 1]);
        assert_eq!(plan.sizes, [1, 10, 100]);
        assert_eq!((plan.largest(), plan.most(BenchMode::Emulated)), (100, 100));
        assert!(Plan::full().sizes.is_sorted() && Plan::full().largest() <= MOST_EVALUATIONS);
    }

    #[test]
    fn devices_are_given_all_that_they_can_make() {
        for &mode in BenchMode::ALL {
            let options = mode.options(NonZeroUsize::new(3));
            assert_eq!(
                options.executors().devices != Request::NoDevice,
                mode.uses_devices(),
                "{mode}"
            );
            let placement = mode.uses_devices().then_some(Placement::Devices);
            assert_eq!(options.placement, placement, "{mode}");
            assert!(!options.keep_tuning);
        }
        assert_eq!(BenchMode::Gpu.options(None).gpus, Some(1));
        assert_eq!(BenchMode::Gpus.options(None).gpus, None);
    }
}
