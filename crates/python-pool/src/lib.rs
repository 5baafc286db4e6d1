//! Programs in free Python, as language models write them: a pool of CPython workers, one fork a program.
//!
//! A worker is a freshly started interpreter with one thread, which has imported what programs need and forks a child
//! for each of them. The child gives up all that a program does not need, reads the program and its inputs, and writes
//! outputs into a range of memory that it shares with the worker alone. Expected outputs never leave this process.
//! Linux only: what isolates a program without root are seccomp and Landlock.
//!
//! `worker.py` is what a worker runs, `recognise.py` says which text is free Python; `pool.rs` shares programs out,
//! `worker.rs` talks with one worker, `guards.rs` makes what the kernel enforces.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use arc_dsl::{Block, Grid};
use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
mod guards;
mod pool;
mod reply;
#[cfg(target_os = "linux")]
mod worker;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod worker;

pub use pool::Pool;

/// How programs are run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// The interpreter: CPython 3.11 or later.
    #[serde(skip)]
    pub python: PathBuf,
    /// How many programs run at a time.
    #[serde(skip)]
    pub workers: usize,
    /// The CPU time of a program on all its inputs.
    #[serde(rename = "cpu", serialize_with = "seconds")]
    pub cpu_time: Duration,
    /// The time by the clock, for a program that waits; far above the CPU time, or a busy machine ends programs.
    #[serde(rename = "wall", serialize_with = "seconds")]
    pub wall_time: Duration,
    /// How many bytes a program may use.
    pub memory: u64,
    /// How many calls of functions and rounds of loops and comprehensions a program may do for one input; the same
    /// number on every machine.
    pub max_steps: Option<u64>,
    /// The packages that programs may import beside the standard library.
    pub modules: Vec<String>,
    /// A module that all programs have: its name, and its text, which is trusted.
    pub prelude: Option<(String, String)>,
    /// The name of the function that a program must define.
    pub entry: Option<String>,
    /// What the function takes.
    pub grid: GridForm,
    /// In which order a grid is indexed.
    pub axes: Axes,
    /// What to do if the system cannot isolate programs.
    #[serde(skip)]
    pub isolation: Isolation,
    /// Whether to use Landlock if there is any; without it no file can be opened.
    #[serde(skip)]
    pub landlock: bool,
}

impl Settings {
    /// The default settings for an interpreter.
    pub fn of(python: PathBuf) -> Self {
        let workers = std::thread::available_parallelism();
        Self {
            python,
            workers: workers.map_or(1, std::num::NonZero::get),
            cpu_time: Duration::from_secs(2),
            wall_time: Duration::from_secs(30),
            memory: 1 << 30,
            max_steps: None,
            modules: vec!["numpy".to_owned()],
            prelude: None,
            entry: None,
            grid: GridForm::Auto,
            axes: Axes::RowColumn,
            isolation: Isolation::Strict,
            landlock: true,
        }
    }
}

impl Settings {
    /// All that what becomes of a program depends on, as JSON.
    pub fn told(&self) -> String {
        // Writing to memory does not fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// What a program's function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GridForm {
    /// What its annotation says or, without one, what it does with its argument.
    Auto,
    /// A numpy array.
    Array,
    /// A list of lists.
    List,
    /// A tuple of tuples.
    Tuple,
}

/// In which order a program indexes a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Axes {
    /// By row, then by column.
    #[serde(rename = "rc")]
    RowColumn,
    /// By column, then by row, as BARC does: grids are transposed on their way in and out.
    #[serde(rename = "xy")]
    ColumnRow,
}

/// What to do if the system cannot isolate programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Refuse to start.
    Strict,
    /// Use what there is; [`Guards`] says what that is.
    BestEffort,
    /// Use nothing but limits on memory, time and the sizes of files.
    None,
}

/// What is in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guards {
    /// The filter of system calls.
    pub seccomp: bool,
    /// The version of Landlock, 0 without it.
    pub landlock: u32,
}

/// Code that may be a program: lists of blocks. The program is the last block of a list with a function to call, together
/// with the blocks before it if it needs them; the first list with such a program counts.
pub type Code = [Vec<Block>];

/// The output of a program for each input.
pub type Outputs = Vec<Result<Grid, Failure>>;

/// Why there is no output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The line of the text, 0 if it is not known.
    pub line: u32,
    /// A description, without the line.
    pub message: String,
}

impl Failure {
    /// The limit that was reached, if one was.
    pub fn limit(&self) -> Option<&'static str> {
        match self.kind {
            FailureKind::Cpu => Some("cpu"),
            FailureKind::Wall => Some("wall"),
            FailureKind::Memory => Some("memory"),
            FailureKind::Steps => Some("steps"),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.message)
    }
}

/// A kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// There is no program in free Python.
    NoProgram,
    /// The program raised an exception.
    Exception,
    /// The output is not a grid.
    NotAGrid,
    /// A system call that ends a program: network, processes, threads, signals.
    Forbidden,
    /// The process ended otherwise.
    Crashed,
    /// The limit on CPU time.
    Cpu,
    /// The limit on time by the clock.
    Wall,
    /// The limit on memory.
    Memory,
    /// The limit on steps.
    Steps,
}

/// Why a pool did not run.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// No worker can be started.
    #[error("{0}")]
    Start(String),
    /// The caller ended the run.
    #[error("the run was ended")]
    Cancelled,
}
