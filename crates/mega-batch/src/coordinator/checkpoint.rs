//! The checkpoint of a run: its results as they come, from which a later run continues.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use arc_dsl::{Grid, Limits, Value};
use arc_tasks::{PairId, Split, Task};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::batch::Batch;
use crate::batch::options::Options;
use crate::coordinator::block_log::{self, Blocks, changed};
use crate::results::outcome::{Known, Outcome, PairResult};
use crate::results::score::{Score, digest};
use crate::run::delivery::BatchPosition;

/// What must agree for a run to be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    programs: String,
    tasks: String,
    jobs: String,
    options: String,
    evaluations: u64,
}

impl Identity {
    /// The identity of a run of this batch with these options. Mode, workers and backend are not included, since
    /// results do not depend on them.
    pub(crate) fn of(batch: &Batch<'_>, options: &Options) -> Self {
        let Options {
            limits:
                Limits {
                    max_steps,
                    max_cells,
                    max_elements,
                    max_memory,
                    max_nesting,
                    timeout,
                },
            keep_outputs,
            scores,
            stop_after_wrong,
            ..
        } = options;
        let options = format!(
            "max_steps {max_steps}, max_cells {max_cells}, max_elements {max_elements}, \
             max_memory {max_memory}, max_nesting {max_nesting}, timeout {timeout:?}, \
             outputs {keep_outputs}, scores {scores}, stop_after_wrong {stop_after_wrong}"
        );
        Self {
            programs: hash_programs(batch),
            tasks: hash_tasks(batch.tasks()),
            jobs: hash_jobs(batch),
            options,
            evaluations: batch.evaluations(),
        }
    }
}

impl block_log::Identity for Identity {
    const FORMAT: &str = "mega-batch checkpoint";

    fn difference(&self, other: &Self) -> Option<String> {
        let found = if self.programs != other.programs {
            "other programs"
        } else if self.tasks != other.tasks {
            "other tasks"
        } else if (&self.jobs, self.evaluations) != (&other.jobs, other.evaluations) {
            "other programs on other tasks"
        } else if self.options != other.options {
            let differing = differing_options(&other.options, &self.options);
            return Some(format!("other options: {differing}"));
        } else {
            return None;
        };
        Some(found.to_owned())
    }
}

/// The options that differ, with the checkpoint's values and the current ones.
fn differing_options(there: &str, here: &str) -> String {
    let both = there.split(", ").zip(here.split(", "));
    let differing = both.filter(|(there, here)| there != here);
    let told = differing.map(|(there, here)| {
        let value = here.rsplit(' ').next().unwrap_or_default();
        // Attempts and submissions both need scores.
        let there = there.replace("scores", "attempts or a submission");
        format!("{there}, here {value}")
    });
    told.collect::<Vec<_>>().join("; ")
}

pub(crate) fn hex(hash: &Xxh3) -> String {
    format!("{:032x}", hash.digest128())
}

/// Hashes text with its length, so that texts in sequence are unambiguous.
pub(crate) fn hash_text(hash: &mut Xxh3, text: &str) {
    hash.update(&(text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

fn hash_programs(batch: &Batch<'_>) -> String {
    let mut hash = Xxh3::new();
    if let Some(pool) = batch.python() {
        hash_text(&mut hash, &pool.settings().told());
    }
    for program in batch.programs() {
        hash_text(&mut hash, program.name());
        hash_text(&mut hash, program.source().unwrap_or_default());
        hash_text(&mut hash, &program.to_string());
        // Errors name the lines of the file.
        for step in program.steps() {
            hash.update(&step.line.to_le_bytes());
        }
    }
    hex(&hash)
}

/// The hash of tasks, including all their grids.
pub(crate) fn hash_tasks(tasks: &[Task]) -> String {
    let mut hash = Xxh3::new();
    for task in tasks {
        hash_text(&mut hash, &task.id);
        for (split, pairs) in task.splits() {
            if matches!(split, Split::Other(_)) {
                hash_text(&mut hash, task.split_name(split));
            }
            hash.update(&(pairs.len() as u64).to_le_bytes());
            for pair in pairs {
                hash.update(&digest(&pair.input).to_le_bytes());
                let output = pair.output.as_ref().map_or(0, digest);
                hash.update(&output.to_le_bytes());
            }
        }
    }
    hex(&hash)
}

fn hash_jobs(batch: &Batch<'_>) -> String {
    let mut hash = Xxh3::new();
    for job in batch.jobs() {
        hash.update(&job.program.to_le_bytes());
        hash.update(&job.task.to_le_bytes());
    }
    let pairs = batch
        .tasks()
        .first()
        .map_or(0, |task| batch.pair_count(task));
    hash.update(&(pairs as u64).to_le_bytes());
    hex(&hash)
}

/// One evaluation in a block, whose position tells which one; `None` if it was left out, since the program had been wrong
/// or had failed before: see [`Options::stop_after_wrong`](crate::Options::stop_after_wrong).
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CheckpointEntry(Option<Evaluated>);

#[derive(Debug, Serialize, Deserialize)]
struct Evaluated {
    outcome: Outcome,
    output: Option<Grid>,
    score: Option<Score>,
    nanoseconds: u64,
}

impl CheckpointEntry {
    /// The entry for a result; `None` means that the evaluation is left out.
    pub(crate) fn of(result: Option<&PairResult>) -> Self {
        Self(result.map(|result| {
            let grid = result.output.as_ref().and_then(Value::as_grid);
            Evaluated {
                outcome: result.outcome.clone(),
                output: grid.map(Cow::into_owned),
                score: result.score,
                nanoseconds: u64::try_from(result.time.as_nanos()).unwrap_or(u64::MAX),
            }
        }))
    }

    /// The result, for this pair.
    pub(crate) fn result(self, pair: PairId) -> Known {
        self.0.map(|made| PairResult {
            pair,
            outcome: made.outcome,
            output: made.output.map(Value::from),
            score: made.score,
            time: Duration::from_nanos(made.nanoseconds),
            evaluated_by: None,
        })
    }
}

/// The results that the checkpoint of a run had when it was opened.
#[derive(Debug)]
pub(crate) struct Recorded<'a> {
    batch: Batch<'a>,
    blocks: Blocks,
    /// The position before the next evaluation.
    place: BatchPosition,
}

impl<'a> Recorded<'a> {
    /// The results of this batch in these blocks.
    pub(crate) fn new(batch: &Batch<'a>, blocks: Blocks) -> Self {
        Self {
            batch: batch.clone(),
            blocks,
            place: BatchPosition::default(),
        }
    }

    fn read(&mut self) -> io::Result<Known> {
        let entry: CheckpointEntry = self.blocks.read()?;
        let (job, pair) = self.place.next(&self.batch).ok_or_else(changed)?;
        let (id, _) = self.batch.task(self.batch.job(job)).pair_at(pair);
        Ok(entry.result(id))
    }
}

impl Iterator for Recorded<'_> {
    type Item = io::Result<Known>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.blocks.left() > 0).then(|| self.read())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.blocks.left(), Some(self.blocks.left()))
    }
}

impl ExactSizeIterator for Recorded<'_> {}
