//! [`Options`]: how a runner runs.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use arc_dsl::Limits;
use gpu_sched::Placement;

use crate::backend::Backend;
use crate::cancellation::Cancellation;

/// How evaluations are spread. Results are the same in every mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// One after the other.
    Sequential,
    /// Over the cores of this machine.
    #[default]
    Parallel,
    /// On GPUs wherever they can, and over the cores what they leave. Where there is no GPU, over the
    /// cores, and [`Runner::no_device`](crate::Runner::no_device) says why.
    Gpu,
    /// Over cores and GPUs, whoever is through first by measured costs; over the cores where there is
    /// no GPU.
    Auto,
}

impl Mode {
    /// Whether several evaluations are made at a time.
    pub fn is_parallel(self) -> bool {
        self != Mode::Sequential
    }
}

/// The word that reports and the command line use.
impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Sequential => "sequential",
            Mode::Parallel => "parallel",
            Mode::Gpu => "gpu",
            Mode::Auto => "auto",
        })
    }
}

/// How a [`Runner`](crate::Runner) runs.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is asked for by itself")]
#[non_exhaustive]
pub struct Options {
    /// How evaluations are spread.
    pub mode: Mode,
    /// The number of threads, but in [`Mode::Sequential`]; one for each available core by default.
    pub workers: Option<NonZeroUsize>,
    /// The bounds of each evaluation.
    pub limits: Limits,
    /// What makes the evaluations. [`Backend::Auto`] by default, which [`Mode::Gpu`] and
    /// [`Mode::Auto`] understand as [`Backend::Cuda`] where there is a GPU.
    pub backend: Backend,
    /// Who makes evaluations where there are devices. Where nothing is said, whoever is through first
    /// by cost; the device in [`Mode::Gpu`], and with [`Backend::Emulated`] and [`Backend::Interpreted`], which would never be chosen
    /// for its speed, in every mode but [`Mode::Auto`].
    pub placement: Option<Placement>,
    /// How many GPUs are used; all by default.
    pub gpus: Option<usize>,
    /// From how many evaluations on a GPU is used; where nothing is said, from
    /// [a few](gpu_sched::Policy::THRESHOLD) until costs are measured, and then where it pays.
    pub threshold: Option<u64>,
    /// Whether what evaluations cost the host and devices is [kept](crate::costs::CostFile) in the user's
    /// cache folder for later runs. A GPU of which nothing is kept is then measured for a second when
    /// it is opened. Off by default, where there is no device it changes nothing.
    pub keep_costs: bool,
    /// Evaluations of a batch on a device; where nothing is said, by its costs and memory.
    pub batch_size: Option<u64>,
    /// Whether programs that share their steps are evaluated together, by [`Backend::Auto`].
    /// [`Merging::Auto`] by default.
    pub merging: Merging,
    /// Whether results hold what the programs returned. Off by default: outputs are most of what a
    /// result weighs.
    pub keep_outputs: bool,
    /// Whether results say how near their outputs are: [`PairResult::score`](crate::PairResult::score).
    /// Those of test pairs then hold what the program returned, for [`Attempts`](crate::Attempts). Off by
    /// default.
    pub scores: bool,
    /// Whether a program is left alone on a task after the first pair on which its output is wrong or
    /// it fails: the pairs behind are [skipped](crate::Summary::skipped). Off by default.
    pub stop_after_wrong: bool,
    /// For how long a batch may run; as long as it takes by default. Then it ends as if it had been
    /// cancelled.
    pub time_limit: Option<Duration>,
    /// Ends the batch that runs before its end. An evaluation that is under way then is finished.
    pub cancellation: Cancellation,
}

impl Options {
    /// What the mode means for the backend, `gpus` being whether there are any.
    pub(crate) fn resolved(&self, gpus: impl FnOnce() -> bool) -> Self {
        let mut options = self.clone();
        let takes_gpus = self.backend == Backend::Auto
            && match self.mode {
                Mode::Sequential | Mode::Parallel => false,
                Mode::Gpu => true,
                Mode::Auto => gpus(),
            };
        if takes_gpus {
            options.backend = Backend::Cuda;
        }
        options
    }

    /// Who makes evaluations where there are devices.
    pub(crate) fn placement(&self) -> Placement {
        self.placement.unwrap_or(match (self.mode, self.backend) {
            (Mode::Gpu, _)
            | (Mode::Sequential | Mode::Parallel, Backend::Emulated | Backend::Interpreted) => {
                Placement::Devices
            }
            _ => Placement::Auto,
        })
    }

    /// Whether evaluations that are not right have to say what the program returned.
    pub(crate) fn makes_outputs(&self) -> bool {
        self.keep_outputs || self.scores
    }
}

/// Whether programs that share their steps are evaluated together; the results are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Merging {
    /// Where it pays: see [`Merging::LEAST_PROGRAMS`] and [`Merging::LEAST_SHARED`].
    #[default]
    Auto,
    /// Each program by itself.
    Never,
    /// Wherever two programs are tried on one task.
    Always,
}

impl Merging {
    /// So many programs there are at least for one task, of 256 jobs that follow each other.
    pub const LEAST_PROGRAMS: usize = 8;

    /// So many of a hundred steps are those of a program before, at least. It was chosen between two
    /// measured ends: see benches/notes/merging.md.
    pub const LEAST_SHARED: usize = 40;
}
