//! Runs ARC DSL programs on ARC tasks by the million and says which outputs are right.
//!
//! A [`Batch`] lists which program is tried on which task. A [`Runner`] evaluates it on one core or on all of them,
//! and returns an [`Outcome`] for every pair, in the batch's order and independent of the number of workers. A
//! program that fails, loops or exceeds its limits gets an outcome too, and does not affect the others.
//!
//! ```
//! use arc_dsl::{Grid, Primitive, ProgramBuilder};
//! use arc_tasks::{Pair, Task};
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
//! A [`Report`] keeps the outcome of every pair. To run very many programs, keep a [`Runner`] with its workers and
//! pass it batch after batch together with a [`Sink`], which receives the outcomes as they come; then memory use
//! stays constant. A search that extends candidates call by call evaluates them on a [`Batt`](batt::Batt), where each
//! candidate costs only its last call. [`Interpreter::call`](arc_dsl::Interpreter::call) makes a single call on
//! values.
//!
//! [`devices`] lists the devices of a machine and selects those that a run uses, and [`tuning`] finds the launch
//! configuration in which a GPU is fastest. With [`shards`] other processes evaluate a batch.
//!
//! [`synth`] generates tasks from programs, as training data.
//!
//! [`inputs`] reads files, and [`JsonReport`] writes results. The command `mega-batch`, with its tables, progress
//! bars and benchmarks, is a separate crate.
//!
//! The other modules, in the order of the data flow:
//!
//! - what is run: [`inputs`], `batch`, `options`, `batts`;
//! - running it: `runner`, `executors`, `backend`, `compilers` (compiled programs, kept between batches),
//!   `cancellation`, `panics`;
//! - results: `outcome`, `delivery`, `summary`, `score`, `order`, `json`, `escape`;
//! - runs that can be resumed: `coordinator`, `checkpoint`, `block_log`, [`files`];
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
mod delivery;
pub mod devices;
mod escape;
mod executors;
pub mod files;
pub mod inputs;
mod json;
mod keeper;
mod options;
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
pub mod tuning;

/// The version of the engine, as reports contain it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The schema number of the JSON documents of runs and searches. It is increased when a member is removed or changes
/// its meaning, not when one is added.
pub const DOCUMENT_SCHEMA: u32 = 1;

pub use arc_cpu::batt;
pub use attempts::{Attempts, Behaviour, Behaviours, TaskDetails};
pub use backend::{Backends, EvaluatedBy, OnDevice};
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
pub use options::{Backend, Merging, Mode, Options};
pub use outcome::{JobResult, Outcome, PairResult};
pub use python_pool::{Failure, FailureKind};
pub use runner::{Report, Runner, StartError, run};
pub use score::Score;
pub use sink::{Notice, Sink};
pub use submission::{KnownOutputs, Submission, SubmissionScore, Submitted, TaskScore};
pub use summary::{ProgramStats, Progress, SplitCounts, Summary, TaskState, Totals};
