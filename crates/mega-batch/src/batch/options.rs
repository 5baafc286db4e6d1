//! [`Options`]: how a runner runs.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use arc_dsl::Limits;
use gpu_sched::Placement;
use serde::Serialize;

use crate::run::cancellation::Cancellation;

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
    /// On cores and GPUs together, each taking the next evaluations as it is free, so that all finish at the same time.
    /// Without a GPU, on the cores.
    Auto,
}

impl Mode {
    /// All of them, with the words that reports and the command line use.
    pub const NAMES: [(&str, Self); 4] = [
        ("sequential", Self::Sequential),
        ("parallel", Self::Parallel),
        ("gpu", Self::Gpu),
        ("auto", Self::Auto),
    ];

    /// Whether several evaluations run at a time.
    pub(crate) fn is_parallel(self) -> bool {
        self != Mode::Sequential
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(self, &Self::NAMES))
    }
}

/// The name of a value.
fn name_of<T: PartialEq>(value: &T, names: &[(&'static str, T)]) -> &'static str {
    let mut names = names.iter();
    names
        .find(|(_, named)| named == value)
        .map_or("", |(name, _)| name)
}

/// What evaluates programs. The results are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The reference interpreter. A machine, then a batt, tries the evaluations that reach one of its limits.
    Reference,
    /// Machines that run compiled programs on bit planes. The reference evaluates what they bail out of, and programs
    /// that have no compiled form.
    Compiled,
    /// Like [`Compiled`](Backend::Compiled), but only programs that the batch evaluates often enough for their
    /// [length](Backend::least_evaluations) are compiled, and those that were compiled in an earlier batch.
    #[default]
    Auto,
    /// The GPU kernels, emulated on the CPU: for tests, and slow. Everything else as with [`Auto`](Backend::Auto).
    Emulated,
    /// The PTX of the GPU kernels, interpreted on the CPU with checks that a GPU does not do: for tests, and slower
    /// still. Everything else as with [`Auto`](Backend::Auto).
    #[serde(rename = "ptx")]
    Interpreted,
    /// NVIDIA GPUs beside the cores, for the programs that they can run. Everything else, and everything if there is no
    /// GPU, as with [`Auto`](Backend::Auto).
    Cuda,
}

impl Backend {
    /// All of them, with the words that reports and the command line use.
    pub const NAMES: [(&str, Self); 6] = [
        ("reference", Self::Reference),
        ("compiled", Self::Compiled),
        ("auto", Self::Auto),
        ("emulated", Self::Emulated),
        ("ptx", Self::Interpreted),
        ("cuda", Self::Cuda),
    ];

    /// The number of evaluations from which compiling a program with this many steps pays.
    pub fn least_evaluations(steps: usize) -> u64 {
        match steps {
            0..=2 => 16,
            3..=6 => 4,
            7..=10 => 3,
            11..=25 => 2,
            _ => 1,
        }
    }

    /// Whether machines may evaluate within these limits.
    ///
    /// Machines count steps and memory in their own units; their bounds are scaled by the ratio of these limits to the
    /// default limits ([`Machine::new`](arc_cpu::Machine::new)). An evaluation ends at a limit only if neither the
    /// reference nor a machine nor a batt finishes within its own bounds: if one of them reaches a bound, the others
    /// are asked first. Machines have no clock, and their grids may have any size up to
    /// [`GRID_CELLS`](arc_cpu::GRID_CELLS), so only the reference evaluates with a timeout or a lower limit on cells.
    pub fn allows(limits: &Limits) -> bool {
        limits.timeout.is_none() && limits.max_cells >= arc_cpu::GRID_CELLS
    }

    /// Whether devices may evaluate within these limits: only if none is below its default.
    pub(crate) fn allows_device(limits: &Limits) -> bool {
        let least = Limits::default();
        Self::allows(limits)
            && limits.max_steps >= least.max_steps
            && limits.max_cells >= least.max_cells
            && limits.max_elements >= least.max_elements
            && limits.max_memory >= least.max_memory
            && limits.max_nesting >= least.max_nesting
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(self, &Self::NAMES))
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
    /// Whether the host or a device runs an evaluation that both can run. By default each takes the next ones as it is
    /// free. In [`Mode::Gpu`] it is the device. With [`Backend::Emulated`] and [`Backend::Interpreted`], which are too
    /// slow to gain anything, it is the device in every mode but [`Mode::Auto`].
    pub placement: Option<Placement>,
    /// The maximum number of GPUs; all by default.
    pub gpus: Option<usize>,
    /// The minimum number of evaluations for which a GPU is used beside the host; by default a
    /// [small number](gpu_sched::Policy::THRESHOLD).
    pub threshold: Option<u64>,
    /// The number of evaluations in a window of a device; by default its speed and memory decide.
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
    /// All of them, with the words that the command line uses.
    pub const NAMES: [(&str, Self); 3] = [
        ("auto", Self::Auto),
        ("never", Self::Never),
        ("always", Self::Always),
    ];

    /// The minimum number of programs for one task among 256 consecutive jobs.
    pub const LEAST_PROGRAMS: usize = 8;

    /// The minimum percentage of steps that repeat an earlier step of these programs. It was chosen between two
    /// measured extremes: see benches/notes/merging.md.
    pub const LEAST_SHARED: usize = 40;
}
