//! `mega-batch search`: searches programs for tasks.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use arc_search::Language;
use arc_search::language::{DERIVED, LanguageError};
use arc_tasks::Task;
use mega_batch::inputs::{InputError, TasksRead, read_tasks, read_text};
use mega_batch::search::{Search as Searching, SearchDocument, SearchOptions, Searched};
use mega_batch::{Cancellation, CoordinatorError, Submission};

use super::exit::Exit;
use super::log::Log;
use super::output::Destination;
use super::seconds::seconds;
use super::show::one_task;
use super::signals::Signals;
use super::terminal::print_beside;
use super::{Selection, TaskFilter, a_few, exit, no_checkpoint, note, tell, threads, warn};
use over::Over;
use table::Table;
use watch::Watch;

mod explain;
mod over;
mod programs;
mod table;
mod watch;

/// Searches programs that do what the train pairs of tasks show, and answers the test pairs with them.
///
/// For one task, TASK.json, it draws the answers and prints their programs; for --tasks it prints how many were
/// solved. The results are the same for any number of workers. SIGINT, SIGTERM and SIGHUP end the search, and what is
/// finished is written; a second SIGINT ends it at once. With a checkpoint no finished task is lost even then.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("searched").required(true))]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Search {
    /// The file of one task.
    #[arg(value_name = "TASK.json", group = "searched", conflicts_with_all = ["ids", "ids_file"])]
    task: Option<PathBuf>,

    /// Draw everything that was found for the one task: each attempt with its layers, and its program.
    #[arg(long)]
    explain: bool,

    /// The task's id, if the file of the one task holds many.
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// Draw numbers instead of colours.
    #[arg(long, alias = "no-color")]
    no_colour: bool,

    /// Tasks: folders, files or archives of them, in any common layout.
    #[arg(long, value_name = "PATH", num_args = 1.., group = "searched")]
    tasks: Vec<PathBuf>,

    /// Files of solutions to the tasks, in Kaggle's format; they have no part in the search.
    // The parser does not require an option that conflicts with one that is given.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "tasks", conflicts_with = "task")]
    solutions: Vec<PathBuf>,

    #[command(flatten)]
    chosen: TaskFilter,

    /// The most values that are kept for a task, not counting its seeds, which are all kept; 40 calls are tried for
    /// each [default: 12,000].
    #[arg(long, value_name = "N", value_parser = super::from_one::<u32>)]
    nodes: Option<u32>,

    /// End the enumeration of a task after this many seconds; what is found then depends on the machine [default:
    /// never].
    #[arg(long, value_name = "S", value_parser = seconds)]
    seconds_per_task: Option<Duration>,

    /// The most answers to each test pair.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=10))]
    attempts: u8,

    /// Threads; at most 1024 [default: one for each core].
    #[arg(long, value_name = "N", value_parser = super::workers)]
    workers: Option<NonZeroUsize>,

    /// Write the first two answers to each test pair of each task in the form of Kaggle's competitions. The file is
    /// there from the beginning, and complete at any time.
    #[arg(long, value_name = "FILE")]
    submission: Option<PathBuf>,

    /// Begin the submission with this one: its attempts are used for tasks that are not searched, and where fewer
    /// than two answers are found. A missing or null attempt counts as none.
    #[arg(long, value_name = "FILE", requires = "submission")]
    over: Option<PathBuf>,

    /// Write the programs of all attempts as text, for `mega-batch run`; `-` is the standard output.
    #[arg(long, value_name = "FILE")]
    programs_out: Option<PathBuf>,

    /// Write one JSON document of everything that was found; `-` is the standard output. A file is replaced once the
    /// document is complete.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Keep what is found in this file, task by task, so that `--resume` can go on from there however the search
    /// ends.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Begin with the tasks in the checkpoint, if there are any; it must be of the same language, tasks and limits.
    #[arg(long, requires = "checkpoint")]
    resume: bool,

    /// The table of calls, their costs, and seeds [default: the engine's own].
    #[arg(long, value_name = "FILE")]
    language: Option<PathBuf>,

    /// The derived operations that the table names, as functions of the DSL [default: the engine's own].
    #[arg(long, value_name = "FILE", requires = "language")]
    derived: Option<PathBuf>,

    #[command(flatten)]
    log: Log,

    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
}

/// The inputs of a search.
struct Inputs {
    tasks: Vec<Task>,
    /// The submission to begin with; `None` if it cannot be read.
    over: Option<Submission>,
    errors: Vec<InputError>,
    meant: Selection,
}

impl Search {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let is_of_one = self.explain || self.id.is_some() || self.no_colour;
        if is_of_one && self.task.is_none() {
            warn(format_args!(
                "--explain, --id and --no-colour are of one task: expected TASK.json in the place of --tasks"
            ));
            return Ok(Exit::BadInput);
        }
        let json = Destination::of_option(self.json.as_ref())?;
        let programs_out = Destination::of_option(self.programs_out.as_ref())?;
        let submission = Destination::file_of_option(self.submission.as_ref())?;
        let is_stdout = |to: &Option<Destination>| matches!(to, Some(Destination::Stdout));
        self.log.begin()?;
        let language = match self.read_language() {
            Ok(language) => language,
            Err(error) => {
                tell(&[error]);
                return Ok(Exit::BadInput);
            }
        };
        let Inputs {
            tasks,
            over,
            errors,
            meant,
        } = self.inputs();
        tell(&errors);
        let Some(over) = over else {
            // Its attempts would be missing in the new submission, which may replace it.
            return Ok(Exit::BadInput);
        };
        // Before this point nothing is finished that could be written.
        let signals = Signals::listen()?;
        let options = self.options(signals.cancellation());
        let mut search = Searching::new(&tasks, language.clone(), &options).over(over);
        if let Some(file) = submission {
            search = search.submission(file);
        }
        search = match &self.checkpoint {
            Some(file) if self.resume => search.resume(file),
            Some(file) => search.checkpoint(file),
            None => search,
        };
        let mut watch = Watch::new(&tasks, self.quiet);
        let summary = match search.run(&mut watch) {
            Err(CoordinatorError::Checkpoint(error)) => {
                watch.end();
                return Ok(no_checkpoint(&error));
            }
            summary => summary.map_err(threads::explain)?,
        };
        let (results, failed) = watch.end();
        let ended = signals.received();
        // Documents on the standard output are the only thing there.
        let on_stdout = is_stdout(&json) || is_stdout(&programs_out);
        let document = SearchDocument {
            tasks: &tasks,
            results: &results,
            language: &language,
            options: &options,
            summary: &summary,
            input_errors: &errors,
        };
        let written = json.map(|to| to.write(|out| document.write(out)));
        let programs = programs_out.map(|to| programs::write(&tasks, &results, to));
        // The results are reported even if a document cannot be written.
        let text = if self.task.is_some() {
            self.of_one_task(&tasks, &results)?
        } else {
            let table = Table {
                tasks: &tasks,
                summary: &summary,
                attempts: self.attempts.into(),
            };
            table.to_string().into_bytes()
        };
        let printed = print_beside(&text, self.quiet, on_stdout);
        written.transpose()?;
        let programs = programs.transpose()?;
        if let Some(ended) = ended.or(failed) {
            return Ok(ended);
        }
        printed?;
        if programs == Some(0) && meant == Selection::Tasks {
            let tasks = a_few(tasks.iter().map(|task| &*task.id));
            warn(format_args!(
                "--programs-out: no program was found; tasks: {tasks}"
            ));
            return Ok(Exit::BadInput);
        }
        Ok(exit(&errors))
    }

    /// The text on the one task, if it was searched.
    fn of_one_task(&self, tasks: &[Task], results: &[(usize, Searched)]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        if let (Some(task), Some((_, searched))) = (tasks.first(), results.first()) {
            let tell = if self.explain {
                explain::explain
            } else {
                explain::answers
            };
            tell(&mut text, task, searched, self.no_colour)?;
        }
        Ok(text)
    }

    fn inputs(&self) -> Inputs {
        let mut read = TasksRead::default();
        if let Some(file) = &self.task {
            let task = one_task(file, self.id.as_deref(), &mut read.errors);
            read.tasks.extend(task);
        } else {
            read = read_tasks(&self.tasks, &self.solutions);
        }
        let over = self.over.as_deref().map(|file| {
            // With one task alone it is not known which others exist.
            Over::read(file, self.task.is_none().then_some(&*read.tasks))
        });
        let meant = self.chosen.choose(&mut read);
        let over = match over {
            None => Some(Submission::default()),
            Some(Ok(over)) => {
                let searched = read.tasks.iter().map(|task| task.id.as_str());
                let (submission, notes) = over.under(&searched.collect());
                read.notes.extend(notes);
                Some(submission)
            }
            Some(Err(errors)) => {
                read.errors.extend(errors);
                None
            }
        };
        if !self.quiet {
            note(&read.notes);
        }
        Inputs {
            tasks: read.tasks,
            over,
            errors: read.errors,
            meant,
        }
    }

    fn options(&self, cancellation: Cancellation) -> SearchOptions {
        let nodes = self.nodes.map(|nodes| nodes as usize);
        let mut search = nodes.map_or_else(Default::default, arc_search::Options::of_nodes);
        search.attempts = self.attempts.into();
        let mut options = SearchOptions::default();
        options.search = search;
        options.workers = self.workers;
        options.time_per_task = self.seconds_per_task;
        options.cancellation = cancellation;
        options
    }

    fn read_language(&self) -> Result<Language, InputError> {
        let Some(table) = &self.language else {
            return Ok(Language::default());
        };
        let text = read_text(table)?;
        let derived = self.derived.as_deref().map(read_text).transpose()?;
        let derived = derived.as_deref().unwrap_or(DERIVED);
        Language::parse(derived, &text).map_err(|error| {
            let file: &Path = match (&error, &self.derived) {
                (LanguageError::Function(_), Some(derived)) => derived,
                _ => table,
            };
            InputError::whole(file, error.to_string())
        })
    }
}
