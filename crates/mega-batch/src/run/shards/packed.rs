//! [`PackedBatch`]: a batch as bytes, of which other processes evaluate shards.

use std::io;
use std::ops::Range;
use std::time::Duration;

use arc_dsl::{BuildError, Dialect, Grid, Program};
use arc_tasks::{OtherSplit, Pair, Task};
use arc_text::parse_programs_in;
use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::batch::{Batch, Job};
use crate::run::runner::Runner;
use crate::run::shards::ShardResults;

/// The bytes begin with this.
const FORMAT: &str = "mega-batch packed batch";

/// A batch for other processes, which evaluate [shards](crate::run::shards) of it.
///
/// Programs are parsed from text for each shard. Their names and files do not matter there, but the line numbers do,
/// since errors contain them.
///
/// ```
/// # use arc_tasks::builtin;
/// use mega_batch::shards::PackedBatch;
/// use mega_batch::{Batch, Options, Runner};
/// # let tasks: Vec<_> = builtin::all().iter().take(3).map(|it| it.task(0, 2, 1, 30)).collect();
/// # let programs: Vec<_> = builtin::all().iter().take(3).map(|it| it.program().clone()).collect();
/// let bytes = PackedBatch::of(&Batch::all_pairs(&programs, &tasks))?.to_bytes();
/// // In another process:
/// let batch = PackedBatch::from_bytes(&bytes)?;
/// let results = batch.evaluate(2..5, &mut Runner::new(&Options::default())?, None)?;
/// assert_eq!((results.jobs, results.evaluations), (2..5, 9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PackedBatch {
    contents: Contents,
    tasks: Vec<Task>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    programs: Vec<PackedProgram>,
    tasks: Vec<PackedTask>,
    /// `None` for every program on every task.
    jobs: Option<Vec<(u32, u32)>>,
    train_only: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct PackedProgram {
    is_typed: bool,
    text: String,
    /// The line numbers of its steps.
    lines: Vec<u32>,
}

type PackedPair = (Grid, Option<Grid>);

/// The train pairs, the test pairs, and the pairs of other splits with their names.
#[derive(Debug, Serialize, Deserialize)]
struct PackedTask(
    Vec<PackedPair>,
    Vec<PackedPair>,
    Vec<(String, Vec<PackedPair>)>,
);

/// Why a batch cannot be packed or unpacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackedBatchError {
    /// A program cannot be written as text.
    #[error("program {at}: {error}")]
    Program {
        /// Its index in the batch.
        at: usize,
        /// Why.
        error: BuildError,
    },
    /// A program is in free Python, for which other processes have no pool.
    #[error("program {0}: it is in free Python")]
    Python(usize),
    /// It was packed by another version, whose results may differ.
    #[error(
        "the batch was packed by version {0} of the engine, and this is version {VERSION}: expected one \
         version everywhere"
    )]
    Version(String),
    /// The bytes are not a packed batch.
    #[error("expected a packed batch, found other bytes")]
    Bytes,
}

impl PackedProgram {
    fn of(program: &Program) -> Result<Self, BuildError> {
        // Uniform names, since the original ones may not be valid in the text.
        Ok(Self {
            is_typed: program.dialect() == Dialect::Typed,
            text: program.anonymous()?.to_string(),
            lines: program.steps().iter().map(|step| step.line).collect(),
        })
    }

    fn program(&self) -> Option<Program> {
        let dialect = if self.is_typed {
            Dialect::Typed
        } else {
            Dialect::Public
        };
        let mut programs = parse_programs_in(dialect, &self.text);
        let program = programs.pop()?.ok()?;
        let is_whole = programs.is_empty() && program.steps().len() == self.lines.len();
        is_whole.then(|| program.with_lines(self.lines.iter().copied()))
    }
}

impl PackedTask {
    fn of(task: &Task) -> Self {
        let pack = |pairs: &[Pair]| {
            let pair = |pair: &Pair| ((*pair.input).clone(), pair.output.clone());
            pairs.iter().map(pair).collect()
        };
        let others = task.others.iter();
        let others = others.map(|split| (split.name.clone(), pack(&split.pairs)));
        Self(pack(&task.train), pack(&task.test), others.collect())
    }

    /// Without an id, and without what only the submission needs: the process that read the tasks writes it.
    fn task(&self) -> Task {
        let unpack = |pairs: &[PackedPair]| {
            let pairs = pairs.iter().cloned();
            pairs
                .map(|(input, output)| Pair::new(input, output))
                .collect()
        };
        let others = self.2.iter().map(|(name, pairs)| OtherSplit {
            name: name.clone(),
            pairs: unpack(pairs),
        });
        Task {
            train: unpack(&self.0),
            test: unpack(&self.1),
            others: others.collect(),
            ..Task::default()
        }
    }
}

impl PackedBatch {
    /// Packs a batch.
    pub fn of(batch: &Batch<'_>) -> Result<Self, PackedBatchError> {
        let programs = batch.programs().iter().enumerate().map(|(at, program)| {
            if program.python().is_some() {
                return Err(PackedBatchError::Python(at));
            }
            PackedProgram::of(program).map_err(|error| PackedBatchError::Program { at, error })
        });
        let jobs = || batch.jobs().map(|job| (job.program, job.task)).collect();
        let contents = Contents {
            programs: programs.collect::<Result<_, _>>()?,
            tasks: batch.tasks().iter().map(PackedTask::of).collect(),
            jobs: (!batch.has_all_pairs()).then(jobs),
            train_only: batch.is_train_only(),
        };
        Ok(Self {
            contents,
            tasks: batch.tasks().to_vec(),
        })
    }

    /// The bytes for other processes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = postcard::to_allocvec(&(FORMAT, VERSION, &self.contents));
        // Writing to memory does not fail; an empty result would be rejected by its reader.
        bytes.unwrap_or_default()
    }

    /// Reads the bytes from [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PackedBatchError> {
        let bad = |_| PackedBatchError::Bytes;
        let ((format, version), bytes) =
            postcard::take_from_bytes::<(&str, &str)>(bytes).map_err(bad)?;
        if format != FORMAT {
            return Err(PackedBatchError::Bytes);
        }
        if version != VERSION {
            return Err(PackedBatchError::Version(version.to_owned()));
        }
        let contents: Contents = postcard::from_bytes(bytes).map_err(bad)?;
        let tasks: Vec<Task> = contents.tasks.iter().map(PackedTask::task).collect();
        let (programs, ids) = (contents.programs.len(), tasks.len());
        let known =
            |(program, task): &(u32, u32)| (*program as usize) < programs && (*task as usize) < ids;
        if !contents.jobs.iter().flatten().all(known) {
            return Err(PackedBatchError::Bytes);
        }
        Ok(Self { contents, tasks })
    }

    /// The number of jobs.
    pub fn job_count(&self) -> usize {
        match &self.contents.jobs {
            Some(jobs) => jobs.len(),
            None => self.contents.programs.len() * self.tasks.len(),
        }
    }

    /// The program and the task of the job at this index.
    fn job(&self, at: usize) -> (u32, u32) {
        match &self.contents.jobs {
            Some(jobs) => jobs[at],
            None => (
                (at / self.tasks.len()) as u32,
                (at % self.tasks.len()) as u32,
            ),
        }
    }

    /// The shard that begins with this job, of at least `evaluations` evaluations and at least one job, if there are
    /// as many: its end, and its number of evaluations.
    pub fn shard(&self, first: usize, evaluations: u64) -> (usize, u64) {
        let (mut end, mut made) = (first, 0);
        while end < self.job_count() && (end == first || made < evaluations) {
            let (_, task) = self.job(end);
            let task = &self.tasks[task as usize];
            made += if self.contents.train_only {
                task.train.len()
            } else {
                task.pair_count()
            } as u64;
            end += 1;
        }
        (end, made)
    }

    /// Evaluates a shard, the jobs with these indices, and returns the results for [`Shards`](super::Shards). If that
    /// takes longer than `time`, only the first jobs are evaluated, at least one.
    pub fn evaluate(
        &self,
        jobs: Range<usize>,
        runner: &mut Runner,
        time: Option<Duration>,
    ) -> io::Result<ShardResults> {
        if jobs.start >= jobs.end || jobs.end > self.job_count() {
            let message = format!(
                "jobs {} to {}: expected some of {}",
                jobs.start,
                jobs.end,
                self.job_count()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let mut tried: Vec<u32> = jobs.clone().map(|at| self.job(at).0).collect();
        tried.sort_unstable();
        tried.dedup();
        let programs = tried.iter().map(|&at| {
            let program = self.contents.programs[at as usize].program();
            program.ok_or_else(|| io::Error::other(format!("program {at} cannot be read")))
        });
        let programs = programs.collect::<io::Result<Vec<_>>>()?;
        let listed = jobs.clone().map(|at| {
            let (program, task) = self.job(at);
            let program = tried.partition_point(|&tried| tried < program) as u32;
            Job { program, task }
        });
        let (listed, train_only) = (Some(listed.collect()), self.contents.train_only);
        let batch = Batch::of(&programs, &self.tasks, listed, train_only);
        super::evaluate(&batch, jobs.start, runner, time)
    }
}
