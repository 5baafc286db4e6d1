//! [`Exit`]: the exit codes and their meanings, for the command, its help and the README.

use std::fmt::Write;
use std::process::ExitCode;

/// How the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Success = 0,
    Failure = 1,
    BadInput = 2,
    HangUp = 129,
    Interrupted = 130,
    BrokenPipe = 141,
    Terminated = 143,
}

impl Exit {
    pub(crate) const ALL: [Exit; 7] = [
        Exit::Success,
        Exit::Failure,
        Exit::BadInput,
        Exit::HangUp,
        Exit::Interrupted,
        Exit::BrokenPipe,
        Exit::Terminated,
    ];

    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// When the command ends with it.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Exit::Success => "all was done, or a run came to the end of its `--time-limit`",
            Exit::Failure => {
                "something failed or could not be written, or selfcheck found a difference"
            }
            Exit::BadInput => "some input or option was bad; the good ones were run all the same",
            Exit::HangUp => "ended by SIGHUP; the finished results were written",
            Exit::Interrupted => "ended by SIGINT; the finished results were written",
            Exit::BrokenPipe => "the reader of the output went away",
            Exit::Terminated => "ended by SIGTERM; the finished results were written",
        }
    }

    /// The section of the help.
    pub(crate) fn help() -> String {
        let mut text = "Exit codes:".to_owned();
        for exit in Exit::ALL {
            // Writing into a string cannot fail.
            let _ = write!(text, "\n  {:>3}  {}", exit.code(), exit.meaning());
        }
        text
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_the_table() {
        let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
        let readme = std::fs::read_to_string(readme).unwrap();
        let rows = Exit::ALL.map(|exit| format!("| {} | {} |\n", exit.code(), exit.meaning()));
        let rows = rows.concat();
        assert!(readme.contains(&rows), "README.md should have\n{rows}");
    }
}
