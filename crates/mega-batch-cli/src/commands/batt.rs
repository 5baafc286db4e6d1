//! `mega-batch batt`: runs batt files on tasks.

use std::fmt::Write as _;
use std::path::PathBuf;

use arc_dsl::{EvalError, Value};
use arc_tasks::{PairId, Task};
use arc_text::{BattEntryKind, BattFile};
use mega_batch::files::replace;
use mega_batch::inputs::{InputError, read_batts};
use mega_batch::{
    Attempts, Batch, BattPair, BattValues, Submission, VERSION, add_candidates, escaped, is_right,
    right_candidates, run_batt_on_all,
};
use serde::Serialize;

use super::exit::Exit;
use super::output::{Destination, write_json};
use super::signals::Signals;
use super::terminal::print_beside;
use super::{TaskFilter, exit, limits, note, tell, threads};

/// Runs batts, files of candidates as tokpidjin's card.py writes them, and prints what their lists `o` and `s` hold
/// for each pair.
///
/// Every batt is run on every pair of every task, with the task's train pairs as `S` and with `C` as `None`; on train
/// pairs once more with the expected output as `C`. Steps that fail give their default, or end the batt if it has no
/// `try:`; a batt that reaches a limit has an error instead of a value. SIGINT, SIGTERM and SIGHUP end the command,
/// and what is finished is written.
#[derive(Debug, clap::Args)]
pub(crate) struct Batt {
    /// Batts: `.py` files or folders of them; companions (`*_call.py`) are passed over.
    #[arg(value_name = "PATH", required = true, num_args = 1..)]
    batts: Vec<PathBuf>,

    /// Tasks: folders, files or archives of them, in any common layout.
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    tasks: Vec<PathBuf>,

    /// Files of solutions to the tasks, in Kaggle's format.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    solutions: Vec<PathBuf>,

    #[command(flatten)]
    chosen: TaskFilter,

    /// Write one JSON document with `o` and `s` by pair; `-` is the standard output. A file is replaced once the
    /// document is complete.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the best two attempts for each test input of each task, of all candidates, in the form of
    /// Kaggle's competitions.
    #[arg(long, value_name = "FILE")]
    submission: Option<PathBuf>,

    /// Stop a step of a batt after this many steps of the interpreter [default: 10,000,000].
    #[arg(long, value_name = "N", value_parser = super::number::<u64>)]
    max_steps: Option<u64>,

    /// Stop a batt on a pair after this many milliseconds; what is stopped then depends on the machine [default:
    /// never].
    #[arg(long, value_name = "N", value_parser = super::number::<u64>)]
    timeout_ms: Option<u64>,

    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
}

/// The document.
#[derive(Serialize)]
struct Document<'a> {
    engine_version: &'a str,
    batts: Vec<BattReport<'a>>,
    /// Set if the command ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<bool>,
    input_errors: &'a [InputError],
}

#[derive(Serialize)]
struct BattReport<'a> {
    file: String,
    steps: usize,
    candidates: usize,
    measures: usize,
    tasks: Vec<TaskReport<'a>>,
}

#[derive(Serialize)]
struct TaskReport<'a> {
    task: &'a str,
    pairs: Vec<PairReport<'a>>,
}

#[derive(Serialize)]
struct PairReport<'a> {
    split: &'a str,
    index: u32,
    #[serde(flatten)]
    lists: Lists<'a>,
    /// On train pairs: the same with the expected output as `C`.
    #[serde(skip_serializing_if = "Option::is_none")]
    with_expected: Option<Lists<'a>>,
}

/// Both lists, or why there are none.
#[derive(Serialize)]
#[serde(untagged)]
enum Lists<'a> {
    Values {
        o: Vec<EntryReport<'a>>,
        s: Vec<EntryReport<'a>>,
    },
    Failed {
        error: String,
    },
}

/// An entry of one of the lists: an output or a score.
#[derive(Serialize)]
struct EntryReport<'a> {
    number: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutated: Option<bool>,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(flatten)]
    value: ValueReport,
    /// Whether an output is the expected one, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<bool>,
}

/// The text of a value, its sets in the order of Python, or the error.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ValueReport {
    Value(String),
    Error(String),
}

impl ValueReport {
    fn of(value: &Result<Value, EvalError>) -> Self {
        match value {
            Ok(value) => ValueReport::Value(value.without_functions().to_string()),
            Err(error) => ValueReport::Error(error.to_string()),
        }
    }
}

impl Batt {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let json = Destination::of_option(self.json.as_ref())?;
        let submission = Destination::file_of_option(self.submission.as_ref())?;
        threads::share()?;
        let read = self.chosen.read(&self.tasks, &self.solutions);
        if !self.quiet {
            note(&read.notes);
        }
        let (tasks, mut errors) = (read.tasks, read.errors);
        let (batts, batt_errors) = read_batts(&self.batts);
        errors.extend(batt_errors);
        tell(&errors);
        let limits = limits(self.max_steps, self.timeout_ms);
        let signals = Signals::listen()?;
        let cancellation = signals.cancellation();
        let mut text = String::new();
        let mut results = Vec::new();
        let no_programs = Batch::all_pairs(&[], &tasks);
        let mut attempts = submission.as_ref().map(|_| Attempts::new(&no_programs));
        for (file, batt) in &batts {
            let of_tasks = run_batt_on_all(batt, &tasks, &limits, &cancellation);
            if let (Some(attempts), Some(file)) = (&mut attempts, &submission) {
                for (task, results) in of_tasks.iter().enumerate() {
                    if let Some(results) = results {
                        add_candidates(attempts, batt, task, results);
                    }
                }
                // However the command ends, the file has the attempts of all batts so far.
                let submission = Submission::of(attempts);
                replace(file, |out| submission.write(out))?;
            }
            let _ = write!(
                text,
                "{}",
                summary(&file.to_string_lossy(), batt, &tasks, &of_tasks)
            );
            if json.is_some() {
                results.push(of_tasks);
            }
        }
        if batts.is_empty() || tasks.is_empty() {
            text.push_str("nothing to run\n");
        }
        let reports = batts.iter().zip(&results);
        let document = Document {
            engine_version: VERSION,
            batts: reports
                .map(|((file, batt), of_tasks)| {
                    report(&file.to_string_lossy(), batt, &tasks, of_tasks)
                })
                .collect(),
            incomplete: cancellation.is_cancelled().then_some(true),
            input_errors: &errors,
        };
        let on_stdout = write_json(json, &document)?;
        print_beside(&text, self.quiet, on_stdout)?;
        Ok(signals.received().unwrap_or_else(|| exit(&errors)))
    }
}

/// The results of a batt on all tasks, for people.
fn summary(
    file: &str,
    batt: &BattFile,
    tasks: &[Task],
    results: &[Option<Vec<BattPair>>],
) -> String {
    let measures = batt.entries().len() - batt.candidates();
    let mut text = format!(
        "{}: {} steps, {} candidates, {measures} measures, on {} tasks\n",
        escaped(file),
        batt.program().steps().len(),
        batt.candidates(),
        tasks.len()
    );
    let (mut pairs, mut failed, mut unfinished) = (0, 0, 0);
    let mut solved = Vec::new();
    for (task, of_task) in tasks.iter().zip(results) {
        let Some(of_task) = of_task else {
            unfinished += 1;
            continue;
        };
        pairs += of_task.len();
        failed += of_task
            .iter()
            .filter(|result| result.values.is_err())
            .count();
        let right = right_candidates(batt, task, of_task);
        if !right.is_empty() {
            let numbers: Vec<_> = right
                .iter()
                .map(|entry| format!("t{}", entry.number))
                .collect();
            solved.push(format!(
                "  {} by {}\n",
                escaped(&task.id),
                numbers.join(", ")
            ));
        }
    }
    let _ = writeln!(text, "pairs {pairs}, batts that failed {failed}");
    let _ = writeln!(
        text,
        "tasks with a candidate that is right on all pairs: {}",
        solved.len()
    );
    text += &solved.concat();
    if unfinished > 0 {
        let _ = writeln!(
            text,
            "ended before all was made: {unfinished} tasks are left"
        );
    }
    text
}

fn report<'a>(
    file: &str,
    batt: &'a BattFile,
    tasks: &'a [Task],
    results: &'a [Option<Vec<BattPair>>],
) -> BattReport<'a> {
    let of_task = |(task, results): (&'a Task, &'a Option<Vec<BattPair>>)| {
        let pairs = task.pairs().zip(results.as_ref()?);
        let pairs = pairs.map(|((id, pair), result)| {
            let right = |values: &BattValues, at: usize| {
                pair.output
                    .as_ref()
                    .map(|output| is_right(values, at, output))
            };
            let PairId { split, index } = id;
            PairReport {
                split: task.split_name(split),
                index,
                lists: lists(batt, &result.values, right),
                with_expected: result
                    .with_expected
                    .as_ref()
                    .map(|values| lists(batt, values, right)),
            }
        });
        Some(TaskReport {
            task: &task.id,
            pairs: pairs.collect(),
        })
    };
    BattReport {
        file: file.to_owned(),
        steps: batt.program().steps().len(),
        candidates: batt.candidates(),
        measures: batt.entries().len() - batt.candidates(),
        tasks: tasks.iter().zip(results).filter_map(of_task).collect(),
    }
}

fn lists<'a>(
    batt: &'a BattFile,
    values: &BattValues,
    right: impl Fn(&BattValues, usize) -> Option<bool>,
) -> Lists<'a> {
    let made = match values {
        Ok(made) => made,
        Err(error) => {
            return Lists::Failed {
                error: error.to_string(),
            };
        }
    };
    let (mut o, mut s) = (Vec::new(), Vec::new());
    for (at, (entry, value)) in batt.entries().iter().zip(made).enumerate() {
        let (list, mutated, id, name, right) = match &entry.kind {
            BattEntryKind::Output { mutated, id } => {
                (&mut o, Some(*mutated), id, None, right(values, at))
            }
            BattEntryKind::Score { id, name } => (&mut s, None, id, Some(&**name), None),
        };
        list.push(EntryReport {
            number: entry.number,
            mutated,
            id,
            name,
            value: ValueReport::of(value),
            right,
        });
    }
    Lists::Values { o, s }
}
