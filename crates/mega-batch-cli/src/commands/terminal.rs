//! The abilities of the terminal, according to the environment.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use mega_batch::Notice;

use super::output::shown;
use super::warn;

/// Looks up an environment variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Whether to use colours on the standard output.
pub(crate) fn has_colours() -> bool {
    colours(&|name| std::env::var_os(name), io::stdout().is_terminal())
}

/// A progress bar, hidden if nobody would see it.
pub(crate) fn progress_bar(length: u64) -> ProgressBar {
    if redraws(&|name| std::env::var_os(name), io::stderr().is_terminal()) {
        ProgressBar::new(length)
    } else {
        ProgressBar::hidden()
    }
}

/// The progress bar of a run or a search, with what is reported meanwhile.
pub(crate) struct Bar {
    pub(crate) drawn: ProgressBar,
    /// What is done.
    work: &'static str,
    /// What is counted.
    units: &'static str,
}

impl Bar {
    /// A bar of this template, in which `rate` is how many a second; hidden if it is not wanted.
    pub(crate) fn new(
        (work, units): (&'static str, &'static str),
        length: u64,
        template: &str,
        quiet: bool,
    ) -> Self {
        let rate = |state: &ProgressState, text: &mut dyn fmt::Write| {
            // Failing to draw the bar does not matter.
            let _ = write!(text, "{}", HumanCount(state.per_sec() as u64));
        };
        // The template is valid; if it were not, the default style would do.
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("rate", rate);
        let drawn = if quiet {
            ProgressBar::hidden()
        } else {
            progress_bar(length).with_style(style)
        };
        Self { drawn, work, units }
    }

    /// Warns without disturbing the bar.
    pub(crate) fn warn(&self, what: fmt::Arguments<'_>) {
        self.drawn.suspend(|| warn(what));
    }

    /// Reports a notice. Returns how many units are resumed, and how many bytes were dropped, if it says that.
    pub(crate) fn notice(&self, notice: Notice) -> Option<(u64, u64)> {
        let Self { drawn, work, units } = self;
        match notice {
            Notice::NoDevice(reason) | Notice::DeviceLeftOut(reason) => {
                self.warn(format_args!("{reason}"));
            }
            Notice::Resumed { finished, dropped } => {
                drawn.set_position(finished);
                drawn.reset_eta();
                let of = HumanCount(finished);
                if dropped > 0 {
                    self.warn(format_args!(
                        "{of} {units} are resumed; the last {dropped} bytes of the checkpoint were cut off and are \
                         dropped"
                    ));
                } else if !drawn.is_hidden() {
                    self.warn(format_args!("{of} {units} are resumed"));
                }
                return Some((finished, dropped));
            }
            Notice::CheckpointFailed(file, error) => {
                let file = shown(&file);
                self.warn(format_args!(
                    "{file}: cannot be written: {error}; the {work} goes on without its checkpoint"
                ));
                tracing::error!(file, error = %error, "the checkpoint cannot be written");
            }
            Notice::SubmissionFailed(file, error) => {
                let file = shown(&file);
                self.warn(format_args!("{file}: cannot be written: {error}"));
                tracing::error!(file, error = %error, "the submission cannot be written");
            }
        }
        None
    }
}

/// `NO_COLOR` overrides `CLICOLOR_FORCE`, which overrides what the terminal is.
fn colours(variable: Lookup<'_>, is_terminal: bool) -> bool {
    let forced = is_set(variable, "CLICOLOR_FORCE")
        && variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    !is_set(variable, "NO_COLOR") && (forced || is_terminal && !is_dumb(variable))
}

/// Whether lines may be redrawn.
fn redraws(variable: Lookup<'_>, is_terminal: bool) -> bool {
    is_terminal && !is_dumb(variable) && !is_set(variable, "NO_COLOR")
}

fn is_set(variable: Lookup<'_>, name: &str) -> bool {
    variable(name).is_some_and(|value| !value.is_empty())
}

/// Whether the terminal knows no escape sequences.
fn is_dumb(variable: Lookup<'_>) -> bool {
    variable("TERM").is_some_and(|term| term == "dumb")
}

/// Prints lines while somebody reads them. Without a reader the work goes on, for its document.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    failed: Option<io::Error>,
}

impl Lines {
    /// Prints a line.
    pub(crate) fn print(&mut self, line: impl fmt::Display) {
        if self.failed.is_none() {
            self.failed = writeln!(io::stdout(), "{line}").err();
        }
    }

    /// Passes on what was printed, before another process prints.
    pub(crate) fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = io::stdout().flush().err();
        }
    }

    /// The error that kept a line from being printed, if any.
    pub(crate) fn end(self) -> io::Result<()> {
        let ended = match self.failed {
            Some(error) => Err(error),
            None => io::stdout().flush(),
        };
        ended.map_err(of_stdout)
    }
}

/// Prints a whole text, and flushes.
pub(crate) fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let printed = out.write_all(text.as_ref()).and_then(|()| out.flush());
    printed.map_err(of_stdout)
}

/// Prints a text unless it is not wanted: on the standard error if a document is on the standard output.
pub(crate) fn print_beside(text: impl AsRef<[u8]>, quiet: bool, on_stdout: bool) -> io::Result<()> {
    match (quiet, on_stdout) {
        (true, _) => Ok(()),
        (false, true) => io::stderr().write_all(text.as_ref()),
        (false, false) => print(text),
    }
}

/// The error, with the standard output named.
#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
pub(crate) fn of_stdout(error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("standard output: cannot be written: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)], ask: fn(Lookup<'_>, bool) -> bool, is_terminal: bool) -> bool {
        let variable = |name: &str| {
            let mut set = set.iter();
            set.find_map(|(known, value)| (*known == name).then(|| (*value).into()))
        };
        ask(&variable, is_terminal)
    }

    #[test]
    fn colours_are_for_terminals_that_know_them() {
        for (set, in_terminal, elsewhere) in [
            (&[][..], true, false),
            (&[("TERM", "xterm")], true, false),
            (&[("TERM", "dumb")], false, false),
            (&[("NO_COLOR", "1")], false, false),
            (&[("NO_COLOR", "")], true, false),
            (&[("CLICOLOR_FORCE", "1")], true, true),
            (&[("CLICOLOR_FORCE", "0")], true, false),
            (&[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], true, true),
            (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false, false),
        ] {
            let found = [true, false].map(|is_terminal| with(set, colours, is_terminal));
            assert_eq!(found, [in_terminal, elsewhere], "{set:?}");
        }
    }

    #[test]
    fn bars_are_for_terminals_that_draw_over_lines() {
        assert!(with(&[("TERM", "xterm")], redraws, true));
        assert!(!with(&[("TERM", "xterm")], redraws, false));
        assert!(!with(&[("TERM", "dumb")], redraws, true));
        assert!(!with(&[("NO_COLOR", "1")], redraws, true));
    }
}
