//! The benchmark matrix: the built-in programs by kind of operation, in batches of growing size, by
//! the reference and compiled, one after the other and in parallel.
//!
//! A cell of the matrix is the wall-clock time of one call of [`Runner::run_into`] for a batch of so
//! many pairs, everything between the call and the last outcome included, compiling too. Every
//! output is compared with the expected one, so that results of all cells of a row are equal; a
//! matrix with a wrong one is an error, not a result.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use arc_dsl::builtin::{self, BuiltIn, Kind};
use arc_dsl::{MAX_SIDE, Program, Task};
use serde::Serialize;

use crate::table::thousands;
use mega_batch::Backend;
use mega_batch::VERSION;
use mega_batch::devices::Host;
use mega_batch::{Batch, Job};
use mega_batch::{Mode, Options, Runner};

pub(crate) mod device;

/// What a matrix is made of.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Pairs in a batch, one size a row.
    pub(crate) sizes: Vec<usize>,
    /// How long each cell is measured at least.
    pub(crate) time_per_cell: Duration,
    /// How the parallel columns run; mode and backend are not looked at.
    pub(crate) options: Options,
}

impl Plan {
    /// Batches of 1 to 10,000 pairs.
    pub(crate) fn full(options: Options) -> Self {
        Self {
            sizes: vec![1, 10, 100, 1_000, 10_000],
            time_per_cell: Duration::from_millis(500),
            options,
        }
    }

    /// A look in some seconds: batches of up to 1,000 pairs.
    pub(crate) fn quick(options: Options) -> Self {
        Self {
            sizes: vec![1, 10, 100, 1_000],
            time_per_cell: Duration::from_millis(50),
            options,
        }
    }
}

/// A measured matrix.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Matrix {
    /// The version of the engine.
    pub(crate) engine_version: &'static str,
    /// The commit that it was built from, where the caller knows it.
    pub(crate) commit: Option<String>,
    /// The machine.
    pub(crate) machine: Machine,
    /// Threads of the parallel columns.
    pub(crate) workers: usize,
    /// A row a kind of operation and size of batch.
    pub(crate) rows: Vec<Row>,
}

/// The machine that a matrix was measured on.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    /// The processor's name, or its architecture where the system does not tell.
    pub(crate) cpu: String,
    /// Cores that this process may use.
    pub(crate) cores: usize,
    /// The operating system.
    pub(crate) os: &'static str,
}

/// One kind of operation in batches of one size.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// The kind of operation.
    pub(crate) kind: &'static str,
    /// How many programs take turns.
    pub(crate) programs: usize,
    /// Pairs in a batch.
    pub(crate) pairs: usize,
    /// One evaluation after the other, by the reference interpreter.
    pub(crate) reference: Cell,
    /// On all workers, by the reference interpreter.
    pub(crate) reference_parallel: Cell,
    /// One evaluation after the other, compiled.
    pub(crate) compiled: Cell,
    /// On all workers, compiled.
    pub(crate) compiled_parallel: Cell,
    /// The time of the reference as a multiple of that compiled, both on one worker.
    pub(crate) gain: f64,
    /// The time compiled on one worker as a multiple of that on all workers.
    pub(crate) speedup: f64,
}

/// What one batch takes.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Cell {
    /// Wall-clock seconds a batch, the median of the repetitions.
    pub(crate) seconds: f64,
    /// How much of it went into compiling, on all workers together: the mean of the repetitions.
    pub(crate) compile_seconds: f64,
    /// Pairs a second at that time.
    pub(crate) evaluations_per_second: f64,
    /// How often it was repeated.
    pub(crate) repetitions: usize,
}

/// Why there is no matrix.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// The threads could not be started.
    #[error("the workers cannot be started")]
    Workers(#[from] io::Error),
    /// Some outcome was not a match.
    #[error(
        "{kind}, {pairs} pairs, {mode}, {backend}: {right} of {evaluations} outcomes are right"
    )]
    Wrong {
        /// The kind of operation.
        kind: Kind,
        /// Pairs in a batch.
        pairs: usize,
        /// How it was run.
        mode: Mode,
        /// What made the evaluations.
        backend: Backend,
        /// Evaluations that matched.
        right: u64,
        /// All evaluations.
        evaluations: u64,
    },
}

/// Measures the matrix, telling each row as it is finished.
pub(crate) fn measure(plan: &Plan, mut finished: impl FnMut(&Row)) -> Result<Matrix, BenchError> {
    let runner = |mode, backend| {
        Runner::new(&Options {
            mode,
            backend,
            ..plan.options.clone()
        })
    };
    let mut runners = [
        runner(Mode::Sequential, Backend::Reference)?,
        runner(Mode::Parallel, Backend::Reference)?,
        runner(Mode::Sequential, Backend::Compiled)?,
        runner(Mode::Parallel, Backend::Compiled)?,
    ];
    let workers = runners[1].workers();
    let mut rows = Vec::new();
    for &kind in Kind::ALL {
        let pool = Pool::new(kind, plan.sizes.iter().copied().max().unwrap_or(0));
        for &pairs in &plan.sizes {
            let cells = runners
                .each_mut()
                .map(|runner| pool.measure(runner, pairs, plan.time_per_cell));
            let [reference, reference_parallel, compiled, compiled_parallel] = cells;
            let (reference, compiled, compiled_parallel) =
                (reference?, compiled?, compiled_parallel?);
            let row = Row {
                kind: kind.name(),
                programs: pool.programs.len(),
                pairs,
                reference,
                reference_parallel: reference_parallel?,
                compiled,
                compiled_parallel,
                gain: reference.seconds / compiled.seconds,
                speedup: compiled.seconds / compiled_parallel.seconds,
            };
            finished(&row);
            rows.push(row);
        }
    }
    Ok(Matrix {
        engine_version: VERSION,
        commit: None,
        machine: Machine::this(),
        workers,
        rows,
    })
}

/// The programs of one kind and pairs enough for the largest batch.
struct Pool {
    kind: Kind,
    programs: Vec<Program>,
    /// Tasks of one pair each, the programs taking turns.
    tasks: Vec<Task>,
}

impl Pool {
    fn new(kind: Kind, pairs: usize) -> Self {
        /// The inputs are the same in every run.
        const SEED: u64 = 1;
        let all = builtin::all()
            .iter()
            .filter(|builtin| builtin.kind() == kind);
        let builtins: Vec<&BuiltIn> = all.collect();
        // Small batches take turns over all programs too; the last of them may go on behind.
        let count = pairs + builtins.len();
        let task = |at: usize| {
            let builtin = builtins[at % builtins.len()];
            let pair = builtin.pair(SEED, at / builtins.len(), MAX_SIDE);
            Task {
                id: builtin.id().to_owned(),
                train: vec![pair],
                test: vec![],
            }
        };
        Self {
            kind,
            programs: builtins
                .iter()
                .map(|builtin| builtin.program().clone())
                .collect(),
            tasks: (0..count).map(task).collect(),
        }
    }

    /// Batches of so many pairs that together go through all programs.
    fn batches(&self, pairs: usize) -> Vec<Batch<'_>> {
        let programs = self.programs.len();
        let starts = (0..programs.max(pairs)).step_by(pairs.max(1));
        let batch = |start: usize| {
            let job = |at: usize| Job {
                program: ((start + at) % programs) as u32,
                task: at as u32,
            };
            let tasks = &self.tasks[start..start + pairs];
            let mut jobs: Vec<Job> = (0..pairs).map(job).collect();
            // As searches have them: all that one program is run on, then the next program.
            jobs.sort_by_key(|job| job.program);
            Batch::listed(&self.programs, tasks, jobs)
        };
        // Every job names a program and a task of this pool.
        starts.filter_map(|start| batch(start).ok()).collect()
    }

    /// The median time of a batch of so many pairs.
    fn measure(
        &self,
        runner: &mut Runner,
        pairs: usize,
        at_least: Duration,
    ) -> Result<Cell, BenchError> {
        const FEWEST: usize = 3;
        let batches = self.batches(pairs);
        let mut seconds = Vec::new();
        let mut compiling = Duration::ZERO;
        let began = Instant::now();
        // The first round warms caches and allocator up and is not counted.
        let mut warm = false;
        while seconds.len() < FEWEST || began.elapsed() < at_least {
            let round = Instant::now();
            for batch in &batches {
                let summary = runner.run_into(batch, &mut ())?;
                let (right, evaluations) = (summary.totals.right, summary.totals.evaluations);
                if right != evaluations {
                    let Options { mode, backend, .. } = *runner.options();
                    return Err(BenchError::Wrong {
                        kind: self.kind,
                        pairs,
                        mode,
                        backend,
                        right,
                        evaluations,
                    });
                }
                if warm {
                    compiling += summary.backends.compile_time;
                }
            }
            if warm {
                seconds.push(round.elapsed().as_secs_f64() / batches.len() as f64);
            }
            warm = true;
        }
        seconds.sort_by(f64::total_cmp);
        let median = seconds[seconds.len() / 2];
        let measured = (seconds.len() * batches.len()) as f64;
        Ok(Cell {
            seconds: median,
            compile_seconds: compiling.as_secs_f64() / measured,
            evaluations_per_second: pairs as f64 / median,
            repetitions: seconds.len(),
        })
    }
}

impl Machine {
    /// The machine that this runs on.
    pub(crate) fn this() -> Self {
        let host = Host::this();
        Self {
            cpu: host.cpu,
            cores: host.threads,
            os: std::env::consts::OS,
        }
    }

    /// The name as a folder can have it: `amd-epyc-2-cores`.
    pub(crate) fn slug(&self) -> String {
        format!("{}-{}-cores", Self::folder(&self.cpu), self.cores)
    }

    /// The name of a processor or a device as a folder can have it: `nvidia-h200`.
    pub(crate) fn folder(name: &str) -> String {
        let words = name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|w| !w.is_empty());
        let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
        words.join("-")
    }
}

/// The line above the rows.
pub(crate) struct Heading;

impl fmt::Display for Heading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:18}{:>26}{:>26}{:>12}{:>10}",
            "", "reference, pairs/s", "compiled, pairs/s", "compiled /", "parallel"
        )?;
        write!(
            f,
            "{:<10}{:>8}{:>13}{:>13}{:>13}{:>13}{:>12}{:>10}",
            "kind",
            "pairs",
            "sequential",
            "parallel",
            "sequential",
            "parallel",
            "reference",
            "speed-up"
        )
    }
}

/// The row as a line under the [`Heading`].
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = |cell: &Cell| thousands(cell.evaluations_per_second as u64);
        write!(
            f,
            "{:<10}{:>8}{:>13}{:>13}{:>13}{:>13}{:>12.2}{:>10.2}",
            self.kind,
            thousands(self.pairs as u64),
            rate(&self.reference),
            rate(&self.reference_parallel),
            rate(&self.compiled),
            rate(&self.compiled_parallel),
            self.gain,
            self.speedup,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_has_a_row_a_kind_and_size() {
        let plan = Plan {
            sizes: vec![1, 3],
            time_per_cell: Duration::ZERO,
            options: Options::default(),
        };
        let mut told = 0;
        let matrix = measure(&plan, |_| told += 1).unwrap();
        assert_eq!(matrix.rows.len(), 2 * Kind::ALL.len());
        assert_eq!(told, matrix.rows.len());
        for row in &matrix.rows {
            let reference = [&row.reference, &row.reference_parallel];
            assert!(reference.iter().all(|cell| cell.compile_seconds == 0.0));
            let compiled = [&row.compiled, &row.compiled_parallel];
            assert!(compiled.iter().all(|cell| cell.compile_seconds > 0.0));
            let mut cells = reference.into_iter().chain(compiled);
            assert!(cells.all(|cell| cell.repetitions >= 3 && cell.seconds > 0.0));
        }
    }

    #[test]
    fn batches_go_through_all_programs() {
        let pool = Pool::new(Kind::Pipeline, 2);
        let programs = pool.programs.len();
        let batches = pool.batches(2);
        assert_eq!(batches.len(), programs.div_ceil(2));
        assert!(batches.iter().all(|batch| batch.evaluations() == 2));
        let jobs = batches.iter().flat_map(Batch::jobs);
        let mut tried: Vec<u32> = jobs.map(|job| job.program).collect();
        tried.sort_unstable();
        tried.dedup();
        assert_eq!(tried.len(), programs);
    }

    #[test]
    fn machines_have_names_for_folders() {
        let machine = Machine {
            cpu: "AMD EPYC(tm) 7R13".into(),
            cores: 2,
            os: "linux",
        };
        assert_eq!(machine.slug(), "amd-epyc-tm-7r13-2-cores");
    }
}
