//! The command `mega-batch`: a thin shell over the library of the same name.
//!
//! `commands` has a module for each subcommand, with exit codes and signals (`exit`, `signals`) and the writing of
//! documents (`output`, `paths`); `bench` has the benchmarks, `report` the page of a run, `table` and `show` the
//! output in a terminal, `machine` the host and its devices.

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

/// The commit that this was built from, if known at build time.
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
            // Help and version are not errors.
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

/// The value names of numbers in the help.
const NUMBERS: [&str; 3] = ["N", "S", "SECONDS"];

/// Parses the arguments; every command's help lists the exit codes.
fn arguments() -> Result<clap::ArgMatches, clap::Error> {
    let command = Cli::command().after_help(Exit::help());
    let command = command.mut_subcommands(|command| {
        // A negative number is parsed as a value, so that the option can say what it expects.
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

/// The exit for this result; an error is printed.
fn ended(result: anyhow::Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        // The reader of our output has seen enough.
        Err(error) if is_broken_pipe(&error) => Exit::BrokenPipe,
        Err(error) => {
            // If even this fails there is no way to report it.
            let _ = writeln!(io::stderr(), "mega-batch: {}", told(&error));
            Exit::Failure
        }
    }
}

/// The text of an error and its causes. A cause that repeats the text before it is left out.
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
