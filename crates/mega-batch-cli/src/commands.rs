//! The subcommands, a file each.

use std::fmt;
use std::io::{self, Write};
use std::num::NonZeroUsize;

use exit::Exit;
use mega_batch::inputs::InputError;
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
