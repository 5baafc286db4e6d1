//! What a proof writes: a [`Page`] of each stage, and the [`Summary`] of all, as JSON and as a page.

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

/// The version of the form of the summary.
pub(super) const SCHEMA: u32 = 1;

/// The summary, for machines and for people.
pub(super) const JSON: &str = "prove.json";
pub(super) const MARKDOWN: &str = "prove.md";

/// How often a stage that is under way writes what it has.
const EVERY: Duration = Duration::from_secs(5);

/// Lines of a list that the page shows; the documents have them all.
const SHOWN: usize = 10;

/// What a proof is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Of {
    /// The device's name.
    pub(super) device: String,
    /// That the figures are none of a GPU, where they are not.
    pub(super) note: Option<String>,
    pub(super) engine_version: String,
    /// The commit that the binary was built from, where that is known.
    pub(super) commit: Option<String>,
}

/// How much is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) quick: bool,
    /// The arguments with programs and tasks of the user's.
    pub(super) given: Vec<String>,
}

/// The document of a stage, written by the process that makes the stage.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Page {
    pub(super) stage: String,
    #[serde(flatten)]
    pub(super) of: Of,
    /// Whether the stage came to its end.
    pub(super) ended: bool,
    /// Why it is not as it should be.
    pub(super) failures: Vec<String>,
    /// What there was no time or no memory for.
    pub(super) left_out: Vec<String>,
    /// Why it was not to be made here.
    pub(super) skipped: Option<String>,
    /// What it came to, for people.
    pub(super) lines: Vec<String>,
    /// What it came to, for machines.
    pub(super) result: Value,
}

/// A page and its file.
#[derive(Debug)]
pub(super) struct Sheet {
    file: PathBuf,
    pub(super) page: Page,
    written: Instant,
}

impl Sheet {
    pub(super) fn new(file: PathBuf, stage: &str, of: Of) -> Self {
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

    /// Puts what there is into the file.
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

/// Where a stage stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    NotRun,
    /// It was begun, and not ended: by whatever ended the proof.
    UnderWay,
    Ended,
    /// It ended with some of its work left out.
    Cut,
    Skipped,
    Failed,
}

impl State {
    /// Whether a proof that is begun again goes on behind it.
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

/// What became of a stage.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) stage: String,
    pub(super) title: String,
    pub(super) state: State,
    /// Why it is no other state.
    pub(super) why: Vec<String>,
    pub(super) seconds: f64,
    /// Its document, in the folder of the proof.
    pub(super) file: Option<String>,
    /// What it came to.
    pub(super) lines: Vec<String>,
}

/// The whole proof.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) schema: u32,
    #[serde(flatten)]
    pub(super) of: Of,
    pub(super) settings: Settings,
    /// Minutes that were allowed.
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

    /// Whether all of it was made as it should be.
    pub(super) fn is_whole(&self) -> bool {
        let is_whole = |entry: &Entry| entry.state.is_kept() || entry.state == State::Skipped;
        self.stages.iter().all(is_whole)
    }

    /// The page.
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

/// As a cell of a table, on one line.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    escaped(&words.join(" ")).replace('|', "\\|")
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
