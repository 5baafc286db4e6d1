//! Runs ARC DSL programs on ARC tasks by the million and says which outputs are right.
//!
//! A [`Batch`] says which program is tried on which task, a [`Runner`] evaluates it on one core or
//! on all of them, and what comes back is an [`Outcome`] for every pair, in the batch's order, the
//! same for any number of workers. A program that fails, loops or asks for too much is an outcome
//! like another and harms no other.
//!
//! ```
//! use arc_dsl::{Grid, Pair, Primitive, ProgramBuilder, Task};
//! use mega_batch::{Batch, Options, Outcome};
//!
//! let pair = Pair::new(Grid::from_rows(&[[1, 2]])?, Grid::from_rows(&[[2, 1]])?);
//! let task = Task { id: "67a3c6ac".into(), train: vec![pair], test: vec![], ..Task::default() };
//!
//! let mut builder = ProgramBuilder::new("solve_67a3c6ac");
//! let mirrored = builder.call(Primitive::Vmirror, [builder.input()])?;
//! let program = builder.finish(mirrored)?;
//!
//! let (programs, tasks) = ([program], [task]);
//! let report = mega_batch::run(&Batch::own_tasks(&programs, &tasks), &Options::default())?;
//! assert_eq!(report.results[0].pairs[0].outcome, Outcome::Match);
//! assert_eq!(report.summary.tasks_solved, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Report`] keeps the outcome of every pair. Who runs very many whole programs keeps a [`Runner`]
//! instead, with its workers, and gives it one batch after the other together with a [`Sink`] that
//! takes the outcomes as they come; then memory stays flat. A search whose candidates grow out of each
//! other evaluates them on a [`Batt`](batt::Batt), where each costs its last call. A single call on
//! values is [`Interpreter::call`](arc_dsl::Interpreter::call).
//!
//! [`devices`] says which devices a machine has and which of them a run takes, [`calibration`] measures
//! what evaluations cost them, and [`costs`] keeps that between runs. With [`shards`] other processes evaluate a
//! batch.
//!
//! [`synth`] makes tasks of programs, to train on.
//!
//! Files are read by [`inputs`], and [`JsonReport`] writes what came out. The command `mega-batch`, with
//! its tables, progress bars and benchmarks, is a crate of its own over this one.
//!
//! The other modules, from files to results:
//!
//! - what is run: [`inputs`], `batch`, `options`, `batts`;
//! - running it: `runner`, `executors`, `backend`, `compilers` (compiled programs from batch to batch), `cancellation`, `panics`;
//! - what comes out: `outcome`, `delivery`, `summary`, `score`, `order`, `json`, `escape`;
//! - runs that lose nothing: `coordinator`, `checkpoint`, `block_log`, [`files`];
//! - answers: `attempts`, `submission`, [`search`].

mod attempts;
mod backend;
mod batch;
mod batts;
mod block_log;
mod cancellation;
mod checkpoint;
mod compilers;
mod coordinator;
pub mod costs;
mod delivery;
pub mod devices;
mod escape;
mod executors;
pub mod files;
pub mod inputs;
mod json;
mod keeper;
mod options;
mod order;
mod outcome;
mod panics;
mod program_cache;
mod rows;
mod runner;
mod score;
pub mod search;
pub mod shards;
mod sink;
mod submission;
mod summary;
pub mod synth;

/// The version of the engine, which reports carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The number of the schema of the JSON documents of runs and searches. It grows when a member goes or changes its
/// meaning, not when one is added.
pub const DOCUMENT_SCHEMA: u32 = 1;

pub use arc_cpu::batt;
pub use attempts::{Attempts, Behaviour, Behaviours, TaskDetails};
pub use backend::{Backend, Backends, Maker, OnDevice};
pub use batch::{Batch, Job, UnknownJob};
pub use batts::{
    BattPair, BattValues, add_candidates, is_right, right_candidates, run_batt, run_batt_on_all,
};
pub use block_log::CheckpointError;
pub use cancellation::Cancellation;
pub use coordinator::{Coordinator, Finished};
pub use escape::escaped;
pub use executors::{Compilation, Executors};
pub use gpu_sched::{Activity, Placement, Stages};
pub use json::JsonReport;
pub use keeper::CoordinatorError;
pub use options::{Merging, Mode, Options};
pub use order::OrderCheck;
pub use outcome::{JobResult, Outcome, PairResult};
pub use runner::{Report, Runner, StartError, calibration, run};
pub use score::Score;
pub use sink::{Notice, Sink};
pub use submission::{KnownOutputs, Submission, SubmissionScore, Submitted, TaskScore};
pub use summary::{Failure, ProgramStats, Progress, SplitCounts, Summary, TaskState, Totals};
