//! `--log`: what happens in a run, as lines of JSON.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Context;
use tracing::Level;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use super::output::shown;

/// Where the log goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Log {
    /// Write what happens as lines of JSON, behind what is in the file; `-` is the standard error.
    #[arg(long = "log", value_name = "FILE")]
    file: Option<PathBuf>,

    /// What is told there: `error`, `warn`, `info`, or `debug` with every batch of a device.
    #[arg(long = "log-level", value_name = "LEVEL", default_value_t = Level::INFO, requires = "file")]
    level: Level,
}

impl Log {
    /// From now on what happens is told.
    pub(crate) fn begin(&self) -> anyhow::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let writer = if file == Path::new("-") {
            BoxMakeWriter::new(io::stderr)
        } else {
            let mut options = OpenOptions::new();
            let opened = options.append(true).create(true).open(file);
            let opened = opened.with_context(|| format!("{}: cannot be written", shown(file)))?;
            BoxMakeWriter::new(Mutex::new(opened))
        };
        tracing_subscriber::fmt()
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_max_level(self.level)
            .with_writer(writer)
            .try_init()
            .map_err(anyhow::Error::from_boxed)
    }
}
