//! The subcommands, a file each.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use mega_batch::inputs::InputError;

mod bench;
mod coverage;
mod explain;
mod run;
mod selfcheck;
mod show;

/// What the command can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Run(run::Run),
    Bench(bench::Bench),
    Show(show::Show),
    Explain(explain::Explain),
    Selfcheck(selfcheck::Selfcheck),
    Coverage(coverage::Coverage),
}

impl Command {
    /// Does it. An error means that the machinery failed; bad input is told and is an exit code.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Command::Run(run) => run.run(),
            Command::Bench(bench) => bench.run(),
            Command::Show(show) => show.run(),
            Command::Explain(explain) => explain.run(),
            Command::Selfcheck(selfcheck) => selfcheck.run(),
            Command::Coverage(coverage) => coverage.run(),
        }
    }
}

/// The exit code of a command whose input was bad, in part or in all.
const BAD_INPUT: u8 = 2;

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
    let _ = writeln!(io::stderr(), "mega-batch: {what}");
}

/// The exit code that these errors make.
fn exit_code(errors: &[InputError]) -> ExitCode {
    if errors.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(BAD_INPUT)
    }
}
