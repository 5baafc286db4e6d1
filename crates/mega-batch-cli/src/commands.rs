//! The subcommands, one file each.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use arc_dsl::{Dialect, Limits, Program};
use arc_tasks::{broken_json, builtin};
use arc_text::Reading;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use exit::Exit;
use grouped::GroupedErrors;
use mega_batch::inputs::{
    InputError, ProgramsRead, TasksRead, read_programs, read_programs_with_python, read_renames,
    read_tasks, read_text,
};
use mega_batch::{CheckpointError, Runner, escaped};
use python_pool::Pool;
use serde_json::Value;

mod batt;
mod bench;
mod devices;
pub(crate) mod exit;
mod explain;
mod grouped;
mod log;
mod output;
pub(crate) mod paths;
mod python;
mod report;
mod run;
mod score;
mod search;
mod seconds;
mod selfcheck;
mod show;
pub(crate) mod signals;
pub(crate) mod terminal;
mod threads;

/// What the command can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Run(Box<run::Run>),
    Search(Box<search::Search>),
    Score(score::Score),
    Check(score::Check),
    Report(report::Report),
    Batt(batt::Batt),
    Bench(Box<bench::Bench>),
    Show(show::Show),
    Explain(explain::Explain),
    Selfcheck(selfcheck::Selfcheck),
    Coverage(explain::Coverage),
    Devices(devices::Devices),
}

impl Command {
    /// Runs the command. An error means that the machinery failed; bad input is reported and gives an exit code.
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        match self {
            Command::Run(run) => run.run(),
            Command::Search(search) => search.run(),
            Command::Score(score) => score.run(),
            Command::Check(check) => check.run(),
            Command::Report(report) => report.run(),
            Command::Batt(batt) => batt.run(),
            Command::Bench(bench) => bench.run(),
            Command::Show(show) => show.run(),
            Command::Explain(explain) => explain.run(),
            Command::Selfcheck(selfcheck) => selfcheck.run(),
            Command::Coverage(coverage) => coverage.run(),
            Command::Devices(devices) => devices.run(),
        }
    }
}

/// Reports errors, grouped by kind. If standard error cannot be written, the work goes on, and the exit code still
/// says that something was wrong.
fn tell(errors: &[InputError]) {
    let _ = write!(io::stderr().lock(), "{}", GroupedErrors::new("", errors));
}

/// Reports what is strange, but not wrong.
fn note(notes: &[InputError]) {
    let _ = write!(
        io::stderr().lock(),
        "{}",
        GroupedErrors::new("note: ", notes)
    );
}

/// A choice among the tasks.
#[derive(Debug, clap::Args)]
struct TaskFilter {
    /// Take only the tasks with these ids, separated by commas.
    #[arg(long, value_name = "IDS", num_args = 1.., value_delimiter = ',')]
    ids: Vec<String>,

    /// Take only the tasks whose ids are in this file: text with commas, blanks or line breaks between them, or JSON,
    /// a list of them or an object with them as keys. If it has none, there is nothing to do.
    #[arg(long, value_name = "FILE")]
    ids_file: Option<PathBuf>,
}

/// Whether any tasks are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Selection {
    Tasks,
    /// The file of ids is empty, as `run --unsolved` writes it if everything is solved.
    Nothing,
}

impl TaskFilter {
    /// Whether a choice was given.
    fn is_given(&self) -> bool {
        !self.ids.is_empty() || self.ids_file.is_some()
    }

    /// Keeps the selected tasks; an id that no task has is an error.
    fn choose(&self, read: &mut TasksRead) -> Selection {
        let mut ids: Vec<String> = self.ids.iter().map(|id| id.trim().to_owned()).collect();
        ids.retain(|id| !id.is_empty());
        let named = self.ids_file.as_deref().unwrap_or(Path::new("--ids"));
        let mut text = String::new();
        if let Some(file) = &self.ids_file {
            let found = read_text(file).and_then(|found| {
                text = found;
                ids_of(without_mark(&text)).map_err(|error| {
                    let (line, column) = (error.line(), error.column());
                    let why = broken_json(&error, &text);
                    let message = format!("expected a list of ids of tasks: {why}");
                    InputError::at(file, line, column, message)
                })
            });
            match found {
                Ok(found) => ids.extend(found),
                Err(error) => {
                    read.tasks.clear();
                    read.errors.push(error);
                    return Selection::Tasks;
                }
            }
        }
        for id in &mut ids {
            if let Some(stem) = id.strip_suffix(".json") {
                *id = stem.to_owned();
            }
        }
        if !self.is_given() {
            return Selection::Tasks;
        }
        let before = read.errors.len();
        read.choose(&ids, named);
        if read.errors.len() > before {
            let places = places_of(without_mark(&text));
            for error in &mut read.errors[before..] {
                let place = error.path.as_deref().and_then(|id| places.get(id));
                if let Some(&(line, column)) = place {
                    (error.line, error.column) = (Some(line), Some(column));
                }
            }
        }
        if !ids.is_empty() {
            return Selection::Tasks;
        }
        if self.ids.is_empty() {
            let message = "no id of a task in it: there is nothing to do";
            read.notes.push(InputError::whole(named, message));
            return Selection::Nothing;
        }
        let message = "no id of a task: expected one at least";
        read.errors.push(InputError::whole(named, message));
        Selection::Tasks
    }

    /// Reads tasks and keeps the selected ones.
    fn read(&self, tasks: &[PathBuf], solutions: &[PathBuf]) -> TasksRead {
        let mut read = read_tasks(tasks, solutions);
        self.choose(&mut read);
        read
    }
}

/// The text without a byte order mark.
fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Whether the character separates ids.
fn is_between(c: char) -> bool {
    c.is_whitespace() || ",\"'[]".contains(c)
}

/// The line and the column, in bytes and from 1, where each word occurs first in a file of ids. Works for JSON too,
/// except for ids that contain separators.
fn places_of(text: &str) -> HashMap<&str, (usize, usize)> {
    let is_end = |c: char| is_between(c) || "{}:".contains(c);
    let mut places = HashMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let mut column = 1;
        for part in text.split_inclusive(is_end) {
            let word = part.trim_end_matches(is_end);
            let word = word.strip_suffix(".json").unwrap_or(word);
            places.entry(word).or_insert((line, column));
            column += part.len();
        }
    }
    places
}

/// The ids in the text of a file.
fn ids_of(text: &str) -> serde_json::Result<Vec<String>> {
    if text.trim_start().starts_with('{') || text.trim_start().starts_with("[\"") {
        let of_list = |list: Vec<Value>| {
            let ids = list.into_iter().map(|id| match id {
                Value::String(id) => id,
                other => other.to_string(),
            });
            ids.collect::<Vec<_>>()
        };
        return Ok(match serde_json::from_str(text)? {
            Value::Array(list) => of_list(list),
            Value::Object(members) => {
                let members = members.into_iter();
                let ids = members.map(|(key, value)| match value {
                    Value::Array(list) if list.iter().all(Value::is_string) && !list.is_empty() => {
                        of_list(list)
                    }
                    _ => vec![key],
                });
                ids.flatten().collect()
            }
            other => vec![other.to_string()],
        });
    }
    let words = text.split(is_between).filter(|word| !word.is_empty());
    Ok(words.map(str::to_owned).collect())
}

/// The first few of many names, and how many more there are.
fn a_few<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const TOLD: usize = 3;
    let (mut told, mut more) = (Vec::new(), 0);
    for name in names {
        if told.len() < TOLD {
            told.push(escaped(name));
        } else {
            more += 1;
        }
    }
    match (told.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => told.join(", "),
        (false, more) => format!("{} and {more} more", told.join(", ")),
    }
}

/// How the text of programs is read.
#[derive(Debug, clap::Args)]
struct ProgramFormat {
    /// The dialect of the programs, `public` or `typed` [default: by the names that each uses].
    #[arg(long, value_name = "NAME", requires = "programs")]
    dialect: Option<Dialect>,

    /// Renames of the DSL's functions in the programs: a file with a line `theirs = ours` for each.
    #[arg(long, value_name = "FILE", requires = "programs")]
    names: Option<PathBuf>,
}

impl ProgramFormat {
    /// Reads programs, the built-in ones if none are given, and tells what is strange about them.
    fn read_or_builtin(&self, programs: &[PathBuf]) -> (Vec<Program>, Vec<InputError>) {
        if programs.is_empty() {
            return (builtin_programs(), Vec::new());
        }
        let read = self.read(programs, None);
        note(&read.notes);
        (read.programs, read.errors)
    }

    /// Reads programs, with a pool those in free Python too; none if the renames cannot be read.
    fn read(&self, programs: &[PathBuf], python: Option<&Pool>) -> ProgramsRead {
        match self.names.as_deref().map(read_renames).transpose() {
            Ok(names) => {
                let reading = Reading {
                    dialect: self.dialect,
                    names: names.unwrap_or_default(),
                    ..Reading::default()
                };
                match python {
                    Some(pool) => read_programs_with_python(programs, &reading, pool),
                    None => read_programs(programs, &reading),
                }
            }
            Err(error) => {
                let mut read = ProgramsRead::default();
                read.errors.push(error);
                read
            }
        }
    }
}

/// The built-in programs.
fn builtin_programs() -> Vec<Program> {
    let all = builtin::all().iter();
    all.map(|one| one.program().clone()).collect()
}

/// The limits of evaluations; by default no timeout.
fn limits(max_steps: Option<u64>, timeout_ms: Option<u64>) -> Limits {
    let default = Limits::default();
    Limits {
        max_steps: max_steps.unwrap_or(default.max_steps),
        timeout: timeout_ms.map(Duration::from_millis),
        ..default
    }
}

/// Warns in one line about a deviation from what was asked for.
fn warn(what: fmt::Arguments<'_>) {
    let what = what.to_string();
    let _ = writeln!(io::stderr(), "mega-batch: {}", escaped(&what));
}

/// Reports why a checkpoint cannot be used, and returns the command's exit.
fn no_checkpoint(error: &CheckpointError) -> Exit {
    match error {
        // The system refuses; a malformed file, in contrast, is bad input.
        CheckpointError::File { path, error } if error.get_ref().is_none() || !path.is_file() => {
            let path = path.display();
            warn(format_args!("{path}: cannot be written: {error}"));
            Exit::Failure
        }
        error => {
            warn(format_args!("{error}"));
            Exit::BadInput
        }
    }
}

/// The exit for these errors.
fn exit(errors: &[InputError]) -> Exit {
    if errors.is_empty() {
        Exit::Success
    } else {
        Exit::BadInput
    }
}

/// Reads one of these names.
fn named<T: Copy + Send + Sync>(
    names: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let known = PossibleValuesParser::new(names.iter().map(|(name, _)| *name));
    known.map(|given| {
        let found = names.iter().find(|(name, _)| *name == given);
        found.map_or(names[0].1, |(_, value)| *value)
    })
}

/// Reads a number.
fn number<T: FromStr>(text: &str) -> Result<T, String> {
    let number = text.parse().ok();
    number.ok_or_else(|| "expected a whole number of 0 or more, which is not too large".to_owned())
}

/// Reads a number of at least 1.
fn from_one<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    let number = text.parse().ok();
    let number = number.filter(|number: &T| *number >= T::from(1));
    number.ok_or_else(|| "expected a whole number of 1 or more, which is not too large".to_owned())
}

/// Reads a number of threads.
fn workers(text: &str) -> Result<NonZeroUsize, String> {
    let workers = text.parse().ok();
    workers
        .filter(|workers: &NonZeroUsize| workers.get() <= Runner::MAX_WORKERS)
        .ok_or_else(|| format!("expected 1 to {} threads", Runner::MAX_WORKERS))
}
