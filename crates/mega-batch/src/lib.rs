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
//! [`devices`] lists the devices of a machine and selects those that a run uses. With [`shards`] other processes
//! evaluate a batch.
//!
//! [`synth`] generates tasks from programs, as training data.
//!
//! [`inputs`] reads files, and [`JsonReport`] writes results. The command `mega-batch`, with its tables, progress
//! bars and benchmarks, is a separate crate.
//!
//! The modules, in the order of the data flow: [`inputs`] and `batch` say what is run, `run` runs it, `results` collects
//! what comes out, `coordinator` makes that resumable, [`search`] finds programs, and [`synth`] makes tasks.
//! [`files`] are replaced at once or not at all.

mod batch;
mod coordinator;
pub mod files;
pub mod inputs;
mod results;
mod run;
pub mod search;
pub mod synth;

/// The version of the engine, as reports contain it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The schema number of the JSON documents of runs and searches. It is increased when a member is removed or changes
/// its meaning, not when one is added.
pub const DOCUMENT_SCHEMA: u32 = 1;

pub use arc_cpu::batt;
pub use batch::options::{Backend, Merging, Mode, Options};
pub use batch::{Batch, Job, UnknownJob};
pub use coordinator::block_log::CheckpointError;
pub use coordinator::keeper::CoordinatorError;
pub use coordinator::{Coordinator, Finished};
pub use gpu_sched::{Activity, Placement, Stages};
pub use python_pool::{Failure, FailureKind};
pub use results::attempts::{Attempts, Behaviour, Behaviours, TaskDetails};
pub use results::escape::escaped;
pub use results::json::JsonReport;
pub use results::outcome::{JobResult, Outcome, PairResult};
pub use results::score::Score;
pub use results::sink::{Notice, Sink};
pub use results::submission::{KnownOutputs, Submission, SubmissionScore, Submitted, TaskScore};
pub use results::summary::{ProgramStats, Progress, SplitCounts, Summary, TaskState, Totals};
pub use run::backend::{Backends, EvaluatedBy, OnDevice};
pub use run::batts::{
    BattPair, BattValues, add_candidates, is_right, right_candidates, run_batt, run_batt_on_all,
};
pub use run::cancellation::Cancellation;
pub use run::executors::{Compilation, Executors};
pub use run::runner::{Report, Runner, StartError, run};
pub use run::{devices, shards};
