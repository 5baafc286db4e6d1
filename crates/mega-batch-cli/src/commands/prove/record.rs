//! What a proof writes: a [`Page`] for each stage, and the [`Summary`] of all, as JSON and as Markdown.

use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use mega_batch::escaped;
use mega_batch::files::replace;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::output::shown;
use super::aims::{Judged, Verdict};
use crate::bench;

/// The version of the summary's schema.
pub(super) const SCHEMA: u32 = 1;

/// The summary, for machines and for people.
pub(super) const JSON: &str = "prove.json";
pub(super) const MARKDOWN: &str = "prove.md";

/// How often a stage in progress writes its document.
const EVERY: Duration = Duration::from_secs(5);

/// The most lines of a list on the page; the documents have them all.
const SHOWN: usize = 10;

/// What a proof is about: device, engine and commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Subject {
    /// The device's name.
    pub(super) device: String,
    /// A note that the figures are not those of a GPU; `None` if they are.
    pub(super) note: Option<String>,
    pub(super) engine_version: String,
    /// The commit that the binary was built from, if known.
    pub(super) commit: Option<String>,
}

/// How much is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) quick: bool,
    /// The arguments with programs and tasks of the user.
    pub(super) given: Vec<String>,
}

/// The document of a stage, written by the process that runs it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Page {
    pub(super) stage: String,
    #[serde(flatten)]
    pub(super) of: Subject,
    /// Whether the stage finished.
    pub(super) ended: bool,
    /// What failed.
    pub(super) failures: Vec<String>,
    /// What there was no time or no memory for.
    pub(super) left_out: Vec<String>,
    /// Why it was not run here.
    pub(super) skipped: Option<String>,
    /// The results as text.
    pub(super) lines: Vec<String>,
    /// The results for machines.
    pub(super) result: Value,
}

/// A page with its file.
#[derive(Debug)]
pub(super) struct Sheet {
    file: PathBuf,
    pub(super) page: Page,
    written: Instant,
}

impl Sheet {
    pub(super) fn new(file: PathBuf, stage: &str, of: Subject) -> Self {
        let page = Page {
            stage: stage.to_owned(),
            of,
            ended: false,
            failures: Vec::new(),
            left_out: Vec::new(),
            skipped: None,
            lines: Vec::new(),
            result: Value::Null,
        };
        Self {
            file,
            page,
            written: Instant::now(),
        }
    }

    /// Writes the page to its file.
    pub(super) fn write(&mut self) -> anyhow::Result<()> {
        self.written = Instant::now();
        write_json(&self.file, &self.page)
    }

    /// Whether it is time to write again.
    pub(super) fn is_due(&self) -> bool {
        self.written.elapsed() >= EVERY
    }

    /// Adds lines.
    pub(super) fn say(&mut self, lines: impl Display) {
        let lines = format!("{lines}");
        let lines = lines.trim_end_matches('\n').lines();
        self.page.lines.extend(lines.map(str::to_owned));
    }
}

impl Page {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        read_json(file)
    }
}

/// The state of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    NotRun,
    /// It was started and did not finish: the proof was ended in between.
    UnderWay,
    Ended,
    /// It ended with some of its work left out.
    Cut,
    Skipped,
    Failed,
}

impl State {
    /// Whether a proof that is resumed skips the stage.
    pub(super) fn is_kept(self) -> bool {
        matches!(self, State::Ended | State::Cut)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            State::NotRun => "not run",
            State::UnderWay => "not ended",
            State::Ended => "ended",
            State::Cut => "cut",
            State::Skipped => "skipped",
            State::Failed => "failed",
        }
    }
}

/// A stage in the summary.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) stage: String,
    pub(super) title: String,
    pub(super) state: State,
    /// The reasons for the state.
    pub(super) why: Vec<String>,
    pub(super) seconds: f64,
    /// Its document, in the folder of the proof.
    pub(super) file: Option<String>,
    /// Its results as text.
    pub(super) lines: Vec<String>,
}

/// The whole proof.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) schema: u32,
    #[serde(flatten)]
    pub(super) of: Subject,
    pub(super) settings: Settings,
    /// The time limit in minutes.
    pub(super) minutes: f64,
    pub(super) stages: Vec<Entry>,
    pub(super) aims: Vec<Judged>,
}

impl Summary {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        read_json(file)
    }

    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        write_json(&folder.join(JSON), self)?;
        let file = folder.join(MARKDOWN);
        let page = self.markdown();
        replace(&file, |out| out.write_all(page.as_bytes()))
            .with_context(|| format!("{}: cannot be written", shown(&file)))
    }

    /// Whether every stage finished or was skipped.
    pub(super) fn is_whole(&self) -> bool {
        let is_whole = |entry: &Entry| entry.state.is_kept() || entry.state == State::Skipped;
        self.stages.iter().all(is_whole)
    }

    /// The summary as Markdown.
    pub(super) fn markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |line: std::fmt::Arguments<'_>| {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{line}");
        };
        let of = &self.of;
        line(format_args!("# Proof on {}\n", cell(&of.device)));
        if let Some(note) = &of.note {
            line(format_args!("**{}**\n", cell(note)));
        }
        let commit = of.commit.as_deref().unwrap_or("commit not known");
        let quick = if self.settings.quick {
            "; a quick look, whose batches are too small for the aims"
        } else {
            ""
        };
        line(format_args!(
            "Engine {}, {}; {} minutes allowed{quick}.\n",
            of.engine_version,
            cell(commit),
            self.minutes
        ));
        line(format_args!("| stage | state | seconds | document |"));
        line(format_args!("|---|---|---|---|"));
        for entry in &self.stages {
            let file = entry.file.as_deref().unwrap_or("-");
            line(format_args!(
                "| {} | {} | {:.1} | {file} |",
                entry.title,
                entry.state.name(),
                entry.seconds
            ));
        }
        line(format_args!("\n## Aims\n"));
        line(format_args!("| aim | wanted | measured | |"));
        line(format_args!("|---|---|---|---|"));
        for aim in &self.aims {
            line(format_args!(
                "| {} | {} | {} | {} |",
                cell(&aim.name),
                cell(&aim.wanted()),
                cell(&aim.found()),
                match aim.verdict {
                    Verdict::Reached => "reached",
                    Verdict::Below => "**below**",
                    Verdict::NotMeasured => "not measured",
                }
            ));
        }
        for entry in &self.stages {
            if entry.lines.is_empty() && entry.why.is_empty() {
                continue;
            }
            line(format_args!(
                "\n## {}, {}\n",
                entry.title,
                entry.state.name()
            ));
            for why in entry.why.iter().take(SHOWN) {
                line(format_args!("- {}", cell(why)));
            }
            if entry.why.len() > SHOWN {
                let more = entry.why.len() - SHOWN;
                line(format_args!("- and {more} more"));
            }
            if !entry.lines.is_empty() {
                line(format_args!("\n```"));
                for told in &entry.lines {
                    line(format_args!("{}", escaped(told)));
                }
                line(format_args!("```"));
            }
        }
        text
    }
}

/// The text as a table cell, on one line.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    bench::cell(&words.join(" "))
}

fn write_json(file: &Path, document: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(document)? + "\n";
    replace(file, |out| out.write_all(text.as_bytes()))
        .with_context(|| format!("{}: cannot be written", shown(file)))
}

fn read_json<T: for<'d> Deserialize<'d>>(file: &Path) -> anyhow::Result<T> {
    let text = std::fs::read_to_string(file);
    let text = text.with_context(|| format!("{}: cannot be read", shown(file)))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{}: expected a document of `prove`", shown(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_kind_stays_in_its_cell() {
        assert_eq!(cell("a\\|b\n  <c>"), "a\\\\\\|b &lt;c>");
    }
}
