//! [`TaskDetails`]: the details of each task in a report.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use arc_dsl::{Grid, Value};
use serde::Serialize;

use super::{Attempts, Behaviour};
use crate::batch::options::{Backend, Merging, Mode, Options};
use crate::batch::{Batch, Job};
use crate::results::summary::{Summary, TaskState};
use crate::run::runner::Runner;

/// How many behaviours of a task are listed.
const BEST: usize = 3;

/// How long evaluating the outputs on train pairs may take; outputs that are not ready by then are omitted.
const TIME: Duration = Duration::from_secs(30);

/// A task, its best candidates, and the attempts that are submitted for it: an element of `by_task` in a report.
#[derive(Debug, Clone, Serialize)]
pub struct TaskDetails {
    task: String,
    state: TaskState,
    candidates: u64,
    behaviours: u64,
    behaviours_dropped: u64,
    train: Vec<PairDetails>,
    test: Vec<PairDetails>,
    best: Vec<BehaviourDetails>,
    attempts: Vec<[Grid; 2]>,
}

#[derive(Debug, Clone, Serialize)]
struct PairDetails {
    input: Grid,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Grid>,
}

/// Candidates with the same outputs.
#[derive(Debug, Clone, Serialize)]
struct BehaviourDetails {
    program: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    steps: usize,
    candidates: u64,
    train_right: u32,
    train_cells_right: u32,
    train_cells: usize,
    train: Vec<Option<Grid>>,
    test: Vec<Option<Grid>>,
}

impl TaskDetails {
    /// The details of all tasks. Evaluates the best candidates on the train pairs again for their outputs.
    pub fn of_all(
        attempts: &Attempts<'_>,
        summary: &Summary,
        options: &Options,
    ) -> io::Result<Vec<Self>> {
        let best = |task: usize| {
            let mut best = attempts.by_task()[task].ranked();
            best.truncate(BEST);
            best
        };
        let batch = attempts.batch();
        let best: Vec<_> = (0..batch.tasks().len()).map(best).collect();
        let outputs = outputs_on_train(batch, &best, options)?;
        let tasks = batch.tasks().iter().enumerate().zip(&best);
        let details = tasks.map(|((at, task), best)| {
            let behaviours = &attempts.by_task()[at];
            let expected = task.train.iter().filter_map(|pair| pair.output.as_ref());
            let train_cells = expected.map(|grid| grid.cells().len()).sum();
            let best = best.iter().map(|it| {
                let job = Job {
                    program: it.program,
                    task: at as u32,
                };
                let train = outputs.get(&job).cloned().unwrap_or_default();
                let program = batch.program(job);
                BehaviourDetails {
                    program: program.name().to_owned(),
                    file: program.source().map(str::to_owned),
                    steps: it.steps,
                    candidates: it.candidates,
                    train_right: it.train_right,
                    train_cells_right: it.train_cells_right,
                    train_cells,
                    train,
                    test: it.tests.clone(),
                }
            });
            let submitted = attempts.of_task(at).into_iter().zip(task.test_places());
            let submitted = submitted.filter_map(|(attempts, place)| place.map(|_| attempts));
            Self {
                task: task.id.clone(),
                state: summary.by_task[at],
                candidates: behaviours.candidates,
                behaviours: behaviours.behaviours,
                behaviours_dropped: behaviours.dropped,
                train: task.train.iter().map(pair_details).collect(),
                test: task.test.iter().map(pair_details).collect(),
                best: best.collect(),
                attempts: submitted.collect(),
            }
        });
        Ok(details.collect())
    }
}

fn pair_details(pair: &arc_tasks::Pair) -> PairDetails {
    PairDetails {
        input: (*pair.input).clone(),
        output: pair.output.clone(),
    }
}

/// A candidate's outputs on the train pairs of its task.
type Outputs = Vec<Option<Grid>>;

/// The outputs of these candidates on the train pairs of their tasks.
fn outputs_on_train(
    batch: &Batch<'_>,
    best: &[Vec<&Behaviour>],
    options: &Options,
) -> io::Result<HashMap<Job, Outputs>> {
    let by_task = best.iter().enumerate();
    let jobs = by_task.flat_map(|(task, best)| {
        best.iter().map(move |it| Job {
            program: it.program,
            task: task as u32,
        })
    });
    let mut jobs: Vec<_> = jobs.collect();
    jobs.sort_unstable();
    let (programs, tasks) = (batch.programs(), batch.tasks());
    let jobs = Batch::listed(programs, tasks, jobs).map_err(io::Error::other)?;
    let options = Options {
        mode: if options.mode.is_parallel() {
            Mode::Parallel
        } else {
            Mode::Sequential
        },
        workers: options.workers,
        limits: options.limits.clone(),
        backend: match options.backend {
            Backend::Reference => Backend::Reference,
            _ => Backend::Auto,
        },
        merging: Merging::Never,
        keep_outputs: true,
        time_limit: Some(TIME),
        ..Options::default()
    };
    let report = Runner::new(&options)?.run(&jobs.train_only())?;
    let outputs = report.results.into_iter().map(|result| {
        let train = tasks[result.job.task as usize].train.len();
        let mut outputs = vec![None; train];
        for pair in result.pairs {
            let grid = pair.output.as_ref().and_then(Value::as_grid);
            outputs[pair.pair.index as usize] = grid.map(std::borrow::Cow::into_owned);
        }
        (result.job, outputs)
    });
    Ok(outputs.collect())
}
