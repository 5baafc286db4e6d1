//! The command `mega-batch`: a thin shell over the library of the same name.
//!
//! `commands` has a module for each subcommand, with how a run ends (`exit`, `signals`) and how documents are written
//! (`output`, `paths`); `bench` the benchmarks, `report` the page of a run, `table` and `show` what a terminal gets, `machine` the
//! host and its devices.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use commands::exit::Exit;

mod bench;
mod commands;
mod machine;
mod report;
mod show;
mod table;

/// Evaluations allocate small things by the million, which this allocator does in half the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs ARC DSL programs on ARC tasks by the million and says which outputs are right.
#[derive(Debug, Parser)]
#[command(name = "mega-batch", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

/// The commit that this was built from, where the build knew it.
fn built_from() -> Option<String> {
    option_env!("MEGA_BATCH_COMMIT").map(str::to_owned)
}

fn main() -> ExitCode {
    commands::signals::let_full_files_fail();
    let parsed = arguments().and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let exit = match parsed {
        Ok((cli, matches)) => match commands::paths::check(&Cli::command(), &matches) {
            Ok(()) => ended(cli.command.run()),
            Err(error) => {
                ended(Err(error));
                Exit::BadInput
            }
        },
        Err(error) => {
            // Help and version are no errors.
            let exit = if error.use_stderr() {
                Exit::BadInput
            } else {
                Exit::Success
            };
            let printed = error.print().and_then(|()| io::stdout().flush());
            let printed = printed.map_err(commands::terminal::of_stdout);
            ended(printed.map(|()| exit).map_err(Into::into))
        }
    };
    exit.into()
}

/// What stands in help for a number.
const NUMBERS: [&str; 3] = ["N", "S", "SECONDS"];

/// The arguments, by a parser that tells the exit codes in the help of every command.
fn arguments() -> Result<clap::ArgMatches, clap::Error> {
    let command = Cli::command().after_help(Exit::help());
    let command = command.mut_subcommands(|command| {
        // A number below 0 is a value, of which its option says what it expects.
        let command = command.mut_args(|arg| {
            let is_number = |name: &clap::builder::Str| NUMBERS.contains(&name.as_str());
            let names = arg.get_value_names().unwrap_or_default();
            let is_number = arg.get_long().is_some() && names.iter().any(is_number);
            arg.allow_negative_numbers(is_number)
        });
        command.after_help(Exit::help())
    });
    command.try_get_matches()
}

/// How the command ends with this result, which is told where it is an error.
fn ended(result: anyhow::Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        // Whoever read our output has seen enough.
        Err(error) if is_broken_pipe(&error) => Exit::BrokenPipe,
        Err(error) => {
            // Nothing is left to be told where even this fails.
            let _ = writeln!(io::stderr(), "mega-batch: {}", told(&error));
            Exit::Failure
        }
    }
}

/// What an error and its causes say. A cause that says again what stands before it is left out.
fn told(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.ends_with(&cause) {
            continue;
        }
        if !told.is_empty() {
            told += ": ";
        }
        told += &cause;
    }
    told
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut io_errors = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
