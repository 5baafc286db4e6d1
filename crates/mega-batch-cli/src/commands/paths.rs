//! [`check`]: no command overwrites what it reads, writes two things to one place, or reads the standard input twice.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use arc_tasks::{FileForm, TaskFile};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use mega_batch::files::{
    folder_of, followed, is_descriptor, is_standard_input, is_standard_output,
};

use super::output::shown;

/// The options that name output files. Every other path is read.
const WRITTEN: [&str; 10] = [
    "json",
    "submission",
    "unsolved",
    "checkpoint",
    "log",
    "programs-out",
    "svg",
    "png",
    "html",
    "out",
];

/// The value names of paths in the help.
const PATHS: [&str; 6] = [
    "PATH",
    "FILE",
    "TASK",
    "TASK.json",
    "RESULT.json",
    "SUBMISSION",
];

/// Rejects arguments that would overwrite a file that is read, write a file twice, or read twice what can be read
/// only once.
///
/// # Errors
/// The path and both options.
pub(crate) fn check(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(());
    };
    let arguments = command.find_subcommand(name).into_iter();
    let paths = arguments.flat_map(Command::get_arguments);
    let paths = paths.filter(|arg| is_path(arg));
    let given =
        |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for arg in paths.filter(given) {
        let to = if is_written(arg) {
            &mut written
        } else {
            &mut read
        };
        let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        to.extend(values.map(|path| (named(arg), PathBuf::from(path))));
    }
    for (at, (option, path)) in read.iter().enumerate() {
        let is_same = |(_, other): &&(String, PathBuf)| {
            is_standard_input(other) && is_standard_input(path) || other == path && is_pipe(path)
        };
        let Some((other, _)) = read[..at].iter().find(is_same) else {
            continue;
        };
        let what = if is_standard_input(path) {
            "the standard input"
        } else {
            "this pipe"
        };
        if other == option {
            bail!(
                "{}: {option} has {what} twice, which can be read once",
                shown(path)
            );
        }
        bail!(
            "{}: {other} and {option} would both read {what}, which can be read once",
            shown(path)
        );
    }
    let is_stdout = |(option, path): &&(String, PathBuf)| {
        // For the log it is the standard error.
        is_standard_output(path) && option != "--log"
    };
    if let [(one, _), (other, _), ..] = written.iter().filter(is_stdout).collect::<Vec<_>>()[..] {
        bail!("{one} and {other}: expected one of them at most to be `-`");
    }
    for (at, (option, path)) in written.iter().enumerate() {
        let Some(file) = place(path) else { continue };
        let is_here = |(_, other): &&(String, PathBuf)| place(other).as_ref() == Some(&file);
        if let Some((other, _)) = written[..at].iter().find(is_here) {
            bail!(
                "{}: {other} and {option} would both be written there",
                shown(path)
            );
        }
        // A submission may be updated in place.
        let mut read = read.iter();
        let read_there = read
            .find(|other| is_here(other) && other.0 != "--over" || is_input_of(&file, &other.1));
        if let Some((other, _)) = read_there {
            bail!(
                "{}: {option} would overwrite what {other} reads",
                shown(path)
            );
        }
    }
    Ok(())
}

fn is_path(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().any(|name| PATHS.contains(&name.as_str()))
}

fn is_written(arg: &Arg) -> bool {
    arg.get_long().is_some_and(|name| WRITTEN.contains(&name))
}

/// Whether it is already open and can be read only once.
fn is_pipe(path: &Path) -> bool {
    is_descriptor(path) && fs::metadata(path).is_ok_and(|it| !it.is_file())
}

/// The argument in the user's terms.
fn named(arg: &Arg) -> String {
    match (arg.get_long(), arg.get_value_names()) {
        (Some(name), _) => format!("--{name}"),
        (None, Some([name, ..])) => name.to_string(),
        (None, _) => arg.get_id().to_string(),
    }
}

/// The path of a regular file, which need not exist yet; `None` for anything else.
fn place(path: &Path) -> Option<PathBuf> {
    if path == Path::new("-") {
        return None;
    }
    let file = followed(path).ok()?;
    if let Ok(file) = fs::canonicalize(&file) {
        return file.is_file().then_some(file);
    }
    let folder = fs::canonicalize(folder_of(&file)).ok()?;
    Some(folder.join(file.file_name()?))
}

/// Whether an existing file lies in a folder that is read, and is of the kind read from there.
fn is_input_of(file: &Path, folder: &Path) -> bool {
    let is_in_folder =
        || fs::canonicalize(folder).is_ok_and(|it| it.is_dir() && file.starts_with(it));
    if !file.is_file() || !is_in_folder() {
        return false;
    }
    let Some(ending) = file.extension().and_then(|it| it.to_str()) else {
        return false;
    };
    match ending {
        "py" | "zip" | "gz" => true,
        "json" | "jsonl" | "ndjson" => {
            let form = fs::read(file).map(|text| TaskFile::read("", &text).form);
            matches!(
                form,
                Ok(FileForm::Tasks | FileForm::Solutions | FileForm::Programs)
            )
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    #[test]
    fn an_option_whose_help_says_that_a_file_is_written_is_taken_so() {
        const WRITES: [&str; 4] = ["Write ", "Keep ", "Draw into ", "Where "];
        for command in Cli::command().get_subcommands() {
            for arg in command.get_arguments().filter(|arg| is_path(arg)) {
                let help = arg.get_help().map(ToString::to_string);
                let help = help.unwrap_or_default();
                let writes = WRITES.iter().any(|word| help.starts_with(word));
                assert_eq!(writes, is_written(arg), "{} of {command}", named(arg));
            }
        }
    }
}
