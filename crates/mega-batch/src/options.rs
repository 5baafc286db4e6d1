//! [`Options`]: how a runner runs.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use arc_dsl::Limits;
use gpu_sched::Placement;

use crate::backend::Backend;
use crate::cancellation::Cancellation;
use crate::devices::gpus;
use crate::executors::Executors;

/// On how many threads a batch is evaluated, and whether on GPUs. Results are the same in every mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// One evaluation after the other, on the calling thread.
    Sequential,
    /// On the cores of this machine.
    #[default]
    Parallel,
    /// On GPUs whatever they can run, and the rest on the cores of this machine. Without a GPU all is evaluated on the
    /// cores, and [`Runner::no_device`](crate::Runner::no_device) says why.
    Gpu,
    /// On cores and GPUs, each batch where measured costs expect it to finish first; without a GPU on the cores.
    Auto,
}

impl Mode {
    /// Whether several evaluations run at a time.
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
    /// On how many threads, and whether on GPUs.
    pub mode: Mode,
    /// The number of threads, but in [`Mode::Sequential`]; one for each available core by default.
    pub workers: Option<NonZeroUsize>,
    /// The bounds of each evaluation.
    pub limits: Limits,
    /// What evaluates. [`Backend::Auto`] by default, which [`Mode::Gpu`] and
    /// [`Mode::Auto`] understand as [`Backend::Cuda`] where there is a GPU.
    pub backend: Backend,
    /// Whether host or device gets an evaluation that both can do. By default the one that is expected to finish
    /// first; the device in [`Mode::Gpu`], and with [`Backend::Emulated`] and [`Backend::Interpreted`], whose costs
    /// would never let them be chosen, in every mode but [`Mode::Auto`].
    pub placement: Option<Placement>,
    /// How many GPUs are used at most; all by default.
    pub gpus: Option<usize>,
    /// From how many evaluations on a GPU is used. By default from [a few](gpu_sched::Policy::THRESHOLD) until costs
    /// are measured, and then where it pays.
    pub threshold: Option<u64>,
    /// Whether what evaluations cost the host and devices is [kept](crate::costs::CostFile) in the user's
    /// cache folder for later runs. A GPU without kept costs is measured for a second when it is opened. Off by
    /// default; without a device it changes nothing.
    pub keep_costs: bool,
    /// Evaluations of a batch on a device; by default its costs and memory decide.
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
    /// Who may evaluate, on this machine. [`Mode::Auto`] looks for GPUs.
    pub fn executors(&self) -> Executors {
        Executors::of(self, || {
            gpus().is_ok_and(|gpus| gpus.iter().any(Result::is_ok))
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
