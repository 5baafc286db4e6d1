//! `mega-batch score` and `mega-batch check`: what a submission is worth, and whether a competition would accept it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use arc_dsl::Grid;
use arc_tasks::{Pair, Task};
use mega_batch::inputs::{InputError, TasksRead, read_solutions, read_tasks};
use mega_batch::{KnownOutputs, SubmissionScore, Submitted, VERSION, escaped};
use serde::Serialize;

use super::exit::Exit;
use super::output::{Destination, write_json};
use super::terminal::print;
use super::{Selection, TaskFilter, exit, note, tell};

/// Scores a submission: on how many test inputs one of both attempts is the solution.
#[derive(Debug, clap::Args)]
pub(crate) struct Score {
    /// The submission: a file, as `run --submission` writes it, a folder of attempts by task, or the CSV
    /// file of the competition of 2020.
    #[arg(value_name = "SUBMISSION")]
    submission: PathBuf,

    /// Files of solutions, in Kaggle's format.
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "tasks")]
    solutions: Vec<PathBuf>,

    /// Tasks whose test outputs are known, from themselves or from the solutions: folders, files or archives.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    tasks: Vec<PathBuf>,

    #[command(flatten)]
    chosen: TaskFilter,

    /// Write one JSON document with the score of each task; `-` is the standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
}

/// The document.
#[derive(Serialize)]
struct Document<'a> {
    engine_version: &'a str,
    test_inputs: usize,
    test_inputs_right: usize,
    score: f64,
    mean_by_task: f64,
    tasks_right: usize,
    #[serde(flatten)]
    details: &'a SubmissionScore,
    input_errors: &'a [InputError],
}

impl Score {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let json = Destination::of_option(self.json.as_ref())?;
        let (read, meant) = self.known();
        let submitted = Submitted::read(&self.submission);
        let mut errors = read.errors;
        errors.extend(submitted.errors.iter().cloned());
        let known = KnownOutputs::of_tasks(&read.tasks);
        let tests: HashMap<_, _> = known.iter().map(|it| (it.task, it.outputs.len())).collect();
        errors.extend(submitted.beyond(|task| tests.get(task).copied()));
        let score = submitted.score(&known);
        let is_known = |task: &mega_batch::TaskScore| task.attempted.is_some();
        let is_foreign = !score.tasks.iter().any(is_known) && !submitted.tasks.is_empty();
        if is_foreign && meant == Selection::Tasks {
            let message = "none of its tasks is among those whose outputs are known";
            errors.push(InputError::whole(&self.submission, message));
        }
        if !self.quiet {
            note(&read.notes);
            note(&submitted.notes);
            note(&submitted.extra);
            note(&submitted.missing);
        }
        tell(&errors);
        let (right, tests) = score.outputs();
        let document = Document {
            engine_version: VERSION,
            test_inputs: tests,
            test_inputs_right: right,
            score: score.ratio(),
            mean_by_task: score.mean_by_task(),
            tasks_right: score.tasks_right(),
            details: &score,
            input_errors: &errors,
        };
        let on_stdout = write_json(json, &document)?;
        if !self.quiet && !on_stdout {
            print(text(&score))?;
        }
        Ok(exit(&errors))
    }
}

impl Score {
    /// The tasks whose outputs are known. Solutions alone give tasks of test pairs with arbitrary inputs.
    fn known(&self) -> (TasksRead, Selection) {
        let mut read = TasksRead::default();
        if self.tasks.is_empty() {
            for file in &self.solutions {
                let (solutions, errors) = read_solutions(file);
                read.errors.extend(errors);
                let tasks = solutions.solutions.into_iter().map(|solution| {
                    let outputs = solution.outputs.into_iter();
                    let unknown = Arc::new(Grid::filled(1, 1, 0));
                    let test = outputs.map(|output| Pair::new(Arc::clone(&unknown), output));
                    Task {
                        id: solution.task,
                        test: test.collect(),
                        ..Task::default()
                    }
                });
                read.tasks.extend(tasks);
            }
        } else {
            read = read_tasks(&self.tasks, &self.solutions);
        }
        let meant = self.chosen.choose(&mut read);
        (read, meant)
    }
}

/// The score, and what is strange about the submission.
fn text(score: &SubmissionScore) -> String {
    let (right, tests) = score.outputs();
    let tasks = score.tasks.len();
    let percent = score.ratio() * 100.0;
    let mut text = format!("test inputs right  {right} of {tests} ({percent:.2}%)\n");
    let whole = score.tasks_right();
    // Writing into a string cannot fail.
    let _ = writeln!(text, "tasks right        {whole} of {tasks}");
    let mean = score.mean_by_task() * 100.0;
    let _ = writeln!(text, "mean by task       {mean:.2}%");
    let mut note = |ids: &[&str], what: &str| {
        if let Some(first) = ids.first() {
            let (count, first) = (ids.len(), escaped(first));
            let _ = writeln!(text, "\nnote: {count} {what}; the first is {first}");
        }
    };
    let ids = |is: fn(&mega_batch::TaskScore) -> bool| -> Vec<&str> {
        let tasks = score.tasks.iter().filter(|task| is(task));
        tasks.map(|task| task.task.as_str()).collect()
    };
    note(
        &ids(|task| task.attempted.is_none()),
        "of the tasks are not in the submission",
    );
    note(
        &ids(|task| {
            task.attempted
                .is_some_and(|attempted| attempted != task.tests)
        }),
        "of the tasks have attempts for another number of test inputs",
    );
    let unknown: Vec<_> = score.unknown.iter().map(String::as_str).collect();
    note(&unknown, "of the submission's tasks have no solution");
    text
}

/// Says whether a competition would accept a submission.
///
/// It must have two attempts for each test input of each task, and no other tasks; grids of 1 to 30 rows and columns
/// with the colours 0 to 9. The CSV file of the competition of 2020 has one to three attempts. Errors are reported
/// with their place, and the exit code is 2.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// The submission: a file or a folder.
    #[arg(value_name = "SUBMISSION")]
    submission: PathBuf,

    /// The tasks of the competition: folders, files or archives.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    tasks: Vec<PathBuf>,

    #[command(flatten)]
    chosen: TaskFilter,

    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let read = self.chosen.read(&self.tasks, &[]);
        let submitted = Submitted::read(&self.submission);
        if !self.quiet {
            note(&read.notes);
            note(&submitted.notes);
        }
        let mut errors = read.errors;
        let faults = submitted.faults(&self.submission, &read.tasks);
        let count = faults.len();
        errors.extend(faults);
        tell(&errors);
        let tests: usize = submitted.tasks.iter().map(|(_, it)| it.tests.len()).sum();
        if !self.quiet {
            let tasks = submitted.tasks.len();
            print(&if count == 0 {
                format!("a competition would take it: {tasks} tasks, {tests} test inputs\n")
            } else {
                let faults = if count == 1 { "fault" } else { "faults" };
                format!("a competition would not take it: {count} {faults}\n")
            })?;
        }
        Ok(exit(&errors))
    }
}
