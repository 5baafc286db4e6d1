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

/// Whether a batch is evaluated on one thread, on several, or also on GPUs. Results are the same in every mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// One evaluation after another, on the calling thread.
    Sequential,
    /// On the cores of this machine.
    #[default]
    Parallel,
    /// On GPUs as far as they can run it, and the rest on the cores of this machine. Without a GPU the cores evaluate
    /// everything, and [`Runner::no_device`](crate::Runner::no_device) says why.
    Gpu,
    /// On cores and GPUs: each batch runs where it is expected to finish first, by measured costs. Without a GPU, on
    /// the cores.
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
#[allow(clippy::struct_excessive_bools, reason = "the flags are independent")]
#[non_exhaustive]
pub struct Options {
    /// One thread, several, or also GPUs.
    pub mode: Mode,
    /// The number of threads, unused in [`Mode::Sequential`]; by default one for each available core.
    pub workers: Option<NonZeroUsize>,
    /// The limits of each evaluation.
    pub limits: Limits,
    /// What evaluates. [`Backend::Auto`] by default, which [`Mode::Gpu`] and [`Mode::Auto`] treat as [`Backend::Cuda`]
    /// if there is a GPU.
    pub backend: Backend,
    /// Whether the host or a device runs an evaluation that both can run. By default the one that is expected to finish
    /// first. In [`Mode::Gpu`] it is the device. With [`Backend::Emulated`] and [`Backend::Interpreted`], which are too
    /// slow to be chosen by cost, it is the device in every mode but [`Mode::Auto`].
    pub placement: Option<Placement>,
    /// The maximum number of GPUs; all by default.
    pub gpus: Option<usize>,
    /// The minimum number of evaluations for which a GPU is used. By default a
    /// [small number](gpu_sched::Policy::THRESHOLD) until costs are measured; after that, costs decide.
    pub threshold: Option<u64>,
    /// Whether the measured costs of the host and devices are [saved](crate::costs::CostFile) in the user's cache
    /// folder for later runs. A GPU without saved costs is measured for a second when it is opened. Off by default;
    /// without a device it changes nothing.
    pub keep_costs: bool,
    /// The number of evaluations in a batch for a device; by default its costs and memory decide.
    pub batch_size: Option<u64>,
    /// Whether [`Backend::Auto`] evaluates programs that share steps together. [`Merging::Auto`] by default.
    pub merging: Merging,
    /// Whether results contain the outputs of the programs. Off by default: outputs take most of the memory of a
    /// result.
    pub keep_outputs: bool,
    /// Whether results contain how close their outputs are: [`PairResult::score`](crate::PairResult::score). Results of
    /// test pairs then also contain the output, for [`Attempts`](crate::Attempts). Off by default.
    pub scores: bool,
    /// Whether a program stops on a task after the first pair on which it fails or its output is wrong: the remaining
    /// pairs are [skipped](crate::Summary::skipped). Off by default.
    pub stop_after_wrong: bool,
    /// How long a batch may run before it ends as if it were cancelled. Unlimited by default.
    pub time_limit: Option<Duration>,
    /// Cancels the running batch. Evaluations that have begun are finished.
    pub cancellation: Cancellation,
}

impl Options {
    /// The executors that these options select on this machine. [`Mode::Auto`] looks for GPUs.
    pub fn executors(&self) -> Executors {
        Executors::of(self, || {
            gpus().is_ok_and(|gpus| gpus.iter().any(Result::is_ok))
        })
    }

    /// Whether evaluations that are not right have to return the output.
    pub(crate) fn needs_outputs(&self) -> bool {
        self.keep_outputs || self.scores
    }
}

/// Whether programs that share steps are evaluated together; the results are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Merging {
    /// If it pays: see [`Merging::LEAST_PROGRAMS`] and [`Merging::LEAST_SHARED`].
    #[default]
    Auto,
    /// Each program is evaluated alone.
    Never,
    /// Whenever two programs are tried on one task.
    Always,
}

impl Merging {
    /// The minimum number of programs for one task among 256 consecutive jobs.
    pub const LEAST_PROGRAMS: usize = 8;

    /// The minimum percentage of steps that repeat an earlier step of these programs. It was chosen between two
    /// measured extremes: see benches/notes/merging.md.
    pub const LEAST_SHARED: usize = 40;
}
