//! `--log`: the events of a run, as lines of JSON.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Context;
use tracing::Level;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use super::output::shown;
use super::warn;

/// How often progress is logged.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// Where the log goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Log {
    /// Write events as lines of JSON, appended to the file; `-` is the standard error.
    #[arg(long = "log", value_name = "FILE")]
    file: Option<PathBuf>,

    /// The level of the log: `error`, `warn`, `info`, or `debug` with every batch of a device.
    #[arg(long = "log-level", value_name = "LEVEL", default_value = "info", value_parser = level, requires = "file")]
    level: Level,
}

/// Reads a level of the log.
fn level(text: &str) -> Result<Level, String> {
    match text.to_ascii_lowercase().as_str() {
        "error" => Ok(Level::ERROR),
        "warn" => Ok(Level::WARN),
        "info" => Ok(Level::INFO),
        "debug" => Ok(Level::DEBUG),
        _ => Err("expected `error`, `warn`, `info` or `debug`".to_owned()),
    }
}

/// A log file; logging stops if it cannot be written.
struct LogFile {
    file: Option<File>,
    name: String,
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        };
        if let Err(error) = written {
            self.file = None;
            let name = &self.name;
            warn(format_args!(
                "{name}: cannot be written: {error}; the work goes on without its log"
            ));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Starts logging.
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
            BoxMakeWriter::new(Mutex::new(LogFile {
                file: Some(opened),
                name: shown(file),
            }))
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
