//! The subcommands, a file each.

use std::fmt;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use arc_dsl::{Dialect, Reading};
use exit::Exit;
use mega_batch::inputs::{InputError, ProgramsRead, read_programs, read_renames};
use mega_batch::{Runner, escaped};

mod batt;
mod bench;
mod coverage;
mod devices;
pub(crate) mod exit;
mod explain;
mod log;
mod output;
mod report;
mod run;
mod score;
mod search;
mod selfcheck;
mod show;
mod signals;
mod terminal;

/// What the command can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Run(run::Run),
    Search(Box<search::Search>),
    Score(score::Score),
    Report(report::Report),
    Batt(batt::Batt),
    Bench(bench::Bench),
    Show(show::Show),
    Explain(explain::Explain),
    Selfcheck(selfcheck::Selfcheck),
    Coverage(coverage::Coverage),
    Devices(devices::Devices),
}

impl Command {
    /// Does it. An error means that the machinery failed; bad input is told and is an exit code.
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        match self {
            Command::Run(run) => run.run(),
            Command::Search(search) => search.run(),
            Command::Score(score) => score.run(),
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

/// Tells each error in a line of its own. Where nobody listens the work goes on all the same, and
/// the exit code says that something was wrong.
fn tell(errors: &[InputError]) {
    let mut stderr = io::stderr().lock();
    for error in errors {
        let _ = writeln!(stderr, "{error}");
    }
}

/// How many notes are told.
const NOTES: usize = 10;

/// Tells what is strange, but not wrong.
fn note(notes: &[InputError]) {
    let mut stderr = io::stderr().lock();
    for note in notes.iter().take(NOTES) {
        let _ = writeln!(stderr, "note: {note}");
    }
    if let Some(more @ 1..) = notes.len().checked_sub(NOTES) {
        let _ = writeln!(stderr, "note: and {more} more notes");
    }
}

/// The first of many names, and how many more there are.
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
struct HowRead {
    /// The dialect of the programs, `public` or `typed` [default: by the parameters of each].
    #[arg(long, value_name = "NAME")]
    dialect: Option<Dialect>,

    /// Names of the DSL as the programs call them: a file with a line `theirs = ours` for each.
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
}

impl HowRead {
    /// Reads programs; none where the names cannot be read.
    fn read(&self, programs: &[PathBuf]) -> ProgramsRead {
        let names = self.names.as_deref().map(read_renames).transpose();
        match names {
            Ok(names) => {
                let reading = Reading {
                    dialect: self.dialect,
                    names: names.unwrap_or_default(),
                };
                read_programs(programs, &reading)
            }
            Err(error) => ProgramsRead {
                errors: vec![error],
                ..ProgramsRead::default()
            },
        }
    }
}

/// Tells in a line what goes on otherwise than was asked for.
fn warn(what: fmt::Arguments<'_>) {
    let what = what.to_string();
    let _ = writeln!(io::stderr(), "mega-batch: {}", escaped(&what));
}

/// The end that these errors make.
fn exit(errors: &[InputError]) -> Exit {
    if errors.is_empty() {
        Exit::Success
    } else {
        Exit::BadInput
    }
}

/// Reads a number of threads.
fn workers(text: &str) -> Result<NonZeroUsize, String> {
    let workers = text.parse().ok();
    workers
        .filter(|workers: &NonZeroUsize| workers.get() <= Runner::MAX_WORKERS)
        .ok_or_else(|| format!("expected 1 to {} threads", Runner::MAX_WORKERS))
}
