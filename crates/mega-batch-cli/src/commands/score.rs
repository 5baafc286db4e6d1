//! `mega-batch score`: what a submission is worth.

use std::fmt::Write as _;
use std::path::PathBuf;

use arc_dsl::Solutions;
use mega_batch::inputs::{InputError, read_solutions, read_tasks};
use mega_batch::{KnownOutputs, Submission, SubmissionScore, VERSION, escaped};
use serde::Serialize;

use super::exit::Exit;
use super::output::{Destination, Folders};
use super::terminal::print;
use super::{exit, tell};

/// Says what a submission is worth: on how many test inputs one of both attempts is the solution.
#[derive(Debug, clap::Args)]
pub(crate) struct Score {
    /// The submission, as `run --submission` writes it.
    #[arg(value_name = "SUBMISSION")]
    submission: PathBuf,

    /// Kaggle's file of solutions.
    #[arg(long, value_name = "FILE", required_unless_present = "tasks")]
    solutions: Option<PathBuf>,

    /// Tasks whose test outputs are known, in the place of solutions: folders or files.
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "solutions")]
    tasks: Vec<PathBuf>,

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
        let json = self.json.as_deref();
        let json = json.map(|path| Destination::open(path, Folders::Expected));
        let json = json.transpose()?;
        let (solutions, mut errors) = match &self.solutions {
            Some(file) => read_solutions(file),
            None => (Solutions::default(), Vec::new()),
        };
        let (tasks, task_errors) = read_tasks(&self.tasks, None);
        errors.extend(task_errors);
        let mut solved = KnownOutputs::of_solutions(&solutions);
        solved.extend(KnownOutputs::of_tasks(&tasks));
        let score = match Submission::read(&self.submission) {
            Ok(submission) => submission.score(&solved),
            Err(error) => {
                errors.push(error);
                tell(&errors);
                return Ok(Exit::BadInput);
            }
        };
        tell(&errors);
        let on_stdout = matches!(json, Some(Destination::Stdout));
        if let Some(json) = json {
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
            let text = serde_json::to_string(&document)? + "\n";
            json.write(|out| out.write_all(text.as_bytes()))?;
        }
        if !self.quiet && !on_stdout {
            print(&text(&score))?;
        }
        Ok(exit(&errors))
    }
}

/// What the submission is worth, and what is strange about it.
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
