//! [`Sheet`]: what a stage has found, and [`Context`]: what it knows.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::document::{Figure, Part};
use super::environment::Environment;
use super::plan::BenchPlan;
use super::workload::Given;
use crate::commands::terminal::Lines;

/// What a stage knows in its process.
pub(crate) struct Context<'g> {
    pub(crate) plan: BenchPlan,
    pub(crate) given: &'g Given,
    pub(crate) environment: Environment,
}

/// What a stage has found so far, with its file.
pub(crate) struct Sheet {
    file: PathBuf,
    pub(crate) part: Part,
    lines: Lines,
    saved: Instant,
}

/// How often a stage in progress saves what it has found.
const EVERY: Duration = Duration::from_secs(5);

impl Sheet {
    pub(crate) fn new(file: PathBuf, part: Part) -> Self {
        Self {
            file,
            part,
            lines: Lines::default(),
            saved: Instant::now(),
        }
    }

    /// The folder of the parts.
    pub(super) fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    /// Prints what the tables say too.
    pub(super) fn print(&mut self, line: impl Display) {
        self.lines.print(line);
    }

    /// Prints and keeps lines.
    pub(super) fn say(&mut self, lines: impl Display) {
        for line in lines.to_string().trim_end_matches('\n').lines() {
            self.lines.print(line);
            self.part.lines.push(line.to_owned());
        }
    }

    /// Keeps a figure.
    pub(super) fn figure(&mut self, name: impl Into<String>, value: f64, unit: &str) {
        let (name, unit) = (name.into(), unit.to_owned());
        self.part.found.figures.push(Figure { name, value, unit });
    }

    /// Writes the part to its file.
    pub(super) fn save(&mut self) -> anyhow::Result<()> {
        self.saved = Instant::now();
        self.part.write(&self.file)
    }

    /// The same, if it was not done lately.
    pub(super) fn save_if_due(&mut self) -> anyhow::Result<()> {
        if self.saved.elapsed() < EVERY {
            return Ok(());
        }
        self.save()
    }

    /// Ends the stage with this result.
    pub(crate) fn end(mut self, result: anyhow::Result<()>) -> anyhow::Result<()> {
        self.part.ended = true;
        if let Err(error) = result {
            self.part.failures.push(format!("{error:#}"));
        }
        self.save()?;
        Ok(self.lines.end()?)
    }
}
