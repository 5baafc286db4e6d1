//! [`BenchPlan`]: what is measured, by which modes, and for how long.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use mega_batch::{Backend, Mode, Options, Placement};
use serde::{Deserialize, Serialize};

use super::workload::Workload;

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
    /// All GPUs and all workers, which share the evaluations.
    Shared,
    /// The emulated device instead of a GPU: to see that the path works, not how fast it is.
    Emulated,
    /// The kernel alone on the first GPU, by the device's clock.
    Kernel,
    /// The same pipeline on padded tensors, by the first GPU's clock.
    #[serde(rename = "cupy")]
    CuPy,
    #[serde(rename = "jax")]
    Jax,
}

impl BenchMode {
    /// All modes, in the order of the tables.
    pub(crate) const ALL: [Self; 10] = [
        Self::Reference,
        Self::Sequential,
        Self::Parallel,
        Self::Gpu,
        Self::Gpus,
        Self::Shared,
        Self::Emulated,
        Self::Kernel,
        Self::CuPy,
        Self::Jax,
    ];

    /// The modes of a runner.
    pub(crate) const RUNNERS: &'static [Self] = Self::ALL.first_chunk::<7>().unwrap();

    /// The name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Sequential => "sequential",
            Self::Parallel => "parallel",
            Self::Gpu => "GPU",
            Self::Gpus => "all GPUs",
            Self::Shared => "GPUs, cores",
            Self::Emulated => "emulated",
            Self::Kernel => "kernel",
            Self::CuPy => "CuPy",
            Self::Jax => "JAX",
        }
    }

    /// The options of a runner for this mode.
    pub(crate) fn options(self, workers: Option<NonZeroUsize>) -> Options {
        let (mode, backend) = match self {
            Self::Reference => (Mode::Sequential, Backend::Reference),
            Self::Sequential => (Mode::Sequential, Backend::Auto),
            Self::Parallel => (Mode::Parallel, Backend::Auto),
            Self::Emulated => (Mode::Parallel, Backend::Emulated),
            _ => (Mode::Parallel, Backend::Cuda),
        };
        let mut options = Options::default();
        options.mode = mode;
        options.backend = backend;
        options.workers = workers;
        options.placement = self.is_of_devices().then_some(Placement::Devices);
        options.gpus = (self == Self::Gpu).then_some(1);
        options
    }

    /// Whether devices run what they can.
    pub(crate) fn is_of_devices(self) -> bool {
        matches!(self, Self::Gpu | Self::Gpus | Self::Emulated)
    }

    /// Whether a runner opens GPUs for it.
    pub(crate) fn uses_gpus(self) -> bool {
        matches!(self, Self::Gpu | Self::Gpus | Self::Shared)
    }
}

impl fmt::Display for BenchMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is measured.
#[derive(Debug, Clone)]
pub(crate) struct BenchPlan {
    /// Whether this is a quick look of some seconds.
    pub(crate) quick: bool,
    /// Evaluations of a batch, ascending; `None` for those that suit a kind.
    pub(crate) sizes: Option<Vec<usize>>,
    /// Threads of the parallel modes; `None` for one per core.
    pub(crate) workers: Option<NonZeroUsize>,
    /// Whether the emulated device is measured too.
    pub(crate) emulated: bool,
    /// Whether the GPUs are those of the fake driver, which executes kernels on the CPU.
    pub(crate) is_fake: bool,
    /// When to leave out the rest.
    pub(crate) until: Instant,
}

/// How long something is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// All turns of one mode, at least.
    pub(crate) time: Duration,
    /// One turn, at least; a turn always finishes its round.
    pub(crate) turn: Duration,
    /// The fewest turns, unless there is no time.
    pub(crate) turns: usize,
}

/// The most evaluations of a batch: more would take too much memory.
pub(crate) const MOST_EVALUATIONS: usize = 1_000_000;

impl BenchPlan {
    /// How long a cell of a kind is measured: there are many single operations.
    pub(crate) fn effort(&self, kind: &Workload<'_>) -> Effort {
        let is_short = self.quick || matches!(kind, Workload::Single(_));
        let (time, turn, turns) = if is_short { (30, 3, 3) } else { (700, 20, 5) };
        Effort {
            time: Duration::from_millis(time),
            turn: Duration::from_millis(turn),
            turns,
        }
    }

    /// The sizes of the batches of a kind, ascending.
    pub(crate) fn sizes(&self, kind: &Workload<'_>) -> Vec<usize> {
        let by_kind: &[usize] = match (kind, self.quick) {
            (Workload::Given(_) | Workload::Crossing(_), true) => &[10_000],
            (Workload::Given(_) | Workload::Crossing(_), false) => {
                &[1_000, 10_000, 100_000, 1_000_000]
            }
            (Workload::Single(_), true) => &[1, 10_000],
            (Workload::Single(_), false) => &[1, 10_000, 1_000_000],
            (_, true) => &[1, 100, 10_000],
            (_, false) => &[1, 10, 100, 1_000, 10_000, 100_000],
        };
        self.sizes.clone().unwrap_or_else(|| by_kind.to_vec())
    }

    /// Whether the time is up.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Evaluations of the largest batch of built-in or of given programs that a mode is given.
    pub(crate) fn most(&self, mode: BenchMode, is_of_given: bool) -> usize {
        let is_slow = mode == BenchMode::Emulated || mode.uses_gpus() && self.is_fake;
        match (mode, self.quick) {
            // The CPU runs the kernels lane by lane.
            _ if is_slow && self.quick => 100,
            _ if is_slow => 1_000,
            (BenchMode::Reference, _) if is_of_given => 10_000,
            (BenchMode::Reference, _) => 100_000,
            _ => usize::MAX,
        }
    }

    /// The plan as documents describe it.
    pub(crate) fn note(&self, workers: usize) -> PlanNote {
        let effort = self.effort(&Workload::WholePrograms);
        PlanNote {
            quick: self.quick,
            workers,
            seconds_per_cell: effort.time.as_secs_f64(),
            fewest_turns: effort.turns,
        }
    }
}

/// A plan as documents describe it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlanNote {
    /// Whether it was a quick look of some seconds.
    pub(crate) quick: bool,
    /// Threads of the parallel modes.
    pub(crate) workers: usize,
    /// The least time of each cell.
    pub(crate) seconds_per_cell: f64,
    /// The fewest turns of each cell.
    pub(crate) fewest_turns: usize,
}

#[cfg(test)]
pub(crate) mod tests {
    use mega_batch::devices::Request;

    use super::super::workload::Given;
    use super::*;

    /// A quick plan of these sizes.
    pub(in crate::bench) fn plan(sizes: &[usize]) -> BenchPlan {
        BenchPlan {
            quick: true,
            sizes: Some(sizes.to_vec()),
            workers: NonZeroUsize::new(2),
            emulated: false,
            is_fake: false,
            until: Instant::now() + Duration::from_secs(600),
        }
    }

    #[test]
    fn sizes_ascend_and_end_with_what_fits() {
        for quick in [true, false] {
            let plan = BenchPlan {
                quick,
                sizes: None,
                ..plan(&[])
            };
            let given = Given::default();
            for kind in [
                Workload::Batt,
                Workload::Single(0),
                Workload::Given(&given),
                Workload::Crossing(&given),
            ] {
                let sizes = plan.sizes(&kind);
                assert!(sizes.is_sorted() && *sizes.last().unwrap() <= MOST_EVALUATIONS);
            }
        }
        assert_eq!(plan(&[3]).sizes(&Workload::Batt), [3]);
    }

    #[test]
    fn what_executes_kernels_on_the_cpu_is_given_little() {
        let mut plan = plan(&[]);
        assert_eq!(plan.most(BenchMode::Gpu, false), usize::MAX);
        plan.is_fake = true;
        let most = [BenchMode::Gpu, BenchMode::Emulated].map(|mode| plan.most(mode, false));
        assert_eq!(most, [100, 100]);
        assert_eq!(plan.most(BenchMode::Parallel, true), usize::MAX);
    }

    #[test]
    fn devices_are_given_all_that_they_can_make() {
        for &mode in BenchMode::RUNNERS {
            let options = mode.options(NonZeroUsize::new(3));
            assert_eq!(
                options.executors().devices != Request::NoDevice,
                mode.uses_gpus() || mode == BenchMode::Emulated,
                "{mode}"
            );
            let placement = mode.is_of_devices().then_some(Placement::Devices);
            assert_eq!(options.placement, placement, "{mode}");
        }
        assert_eq!(BenchMode::Gpu.options(None).gpus, Some(1));
        assert_eq!(BenchMode::Gpus.options(None).gpus, None);
    }
}
