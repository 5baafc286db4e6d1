//! What a run reports while it goes on: its document, a progress bar, notices and the log.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use indicatif::{HumanCount, ProgressBar};
use mega_batch::{Batch, Job, JsonReport, Notice, PairResult, Progress, Sink};

use crate::commands::log::INTERVAL;
use crate::commands::output::shown;
use crate::commands::terminal::styled_bar;
use crate::commands::warn;

/// The results for a JSON document, spooled to disk.
struct Spooled<'a> {
    /// An error if it could not be written, which affects only the document.
    report: io::Result<JsonReport<'a>>,
    /// The folder that they are in.
    folder: PathBuf,
}

impl<'a> Spooled<'a> {
    /// Adds results, unless some could not be added before.
    fn add(&mut self, bar: &ProgressBar, add: impl FnOnce(&mut JsonReport<'a>) -> io::Result<()>) {
        let Ok(report) = &mut self.report else {
            return;
        };
        if let Err(error) = add(report) {
            let folder = shown(&self.folder);
            // Warn now, since the run may go on for hours.
            bar.suspend(|| {
                warn(format_args!(
                    "{folder}: cannot be written: {error}; the run goes on without its document"
                ));
            });
            self.report = Err(error);
        }
    }

    fn finished(self) -> anyhow::Result<JsonReport<'a>> {
        let Self { report, folder } = self;
        report.with_context(|| format!("no document: {}: cannot be written", shown(&folder)))
    }
}

/// The template of the progress bar.
const BAR: &str =
    "{bar:40} {human_pos} of {human_len} evaluations, {rate} a second, {eta} left{msg}";

/// Adds results to the JSON document, if one is asked for, and reports progress.
pub(super) struct Watch<'a> {
    json: Option<Spooled<'a>>,
    bar: ProgressBar,
    began: Instant,
    logged: Instant,
    /// Evaluations taken over from an earlier run.
    before: u64,
}

impl<'a> Watch<'a> {
    /// `spool` is the folder for the results of a document until it is written; `None` for no document.
    pub(super) fn new(batch: &Batch<'a>, spool: Option<PathBuf>, quiet: bool) -> Self {
        Self {
            json: spool.map(|folder| Spooled {
                report: Ok(JsonReport::spooled_in(batch, &folder)),
                folder,
            }),
            bar: styled_bar(batch.evaluations(), BAR, quiet),
            began: Instant::now(),
            logged: Instant::now(),
            before: 0,
        }
    }

    /// The document, if one is asked for.
    pub(super) fn end(self) -> Option<anyhow::Result<JsonReport<'a>>> {
        self.bar.finish_and_clear();
        self.json.map(Spooled::finished)
    }

    /// Warns without disturbing the bar.
    fn warn(&self, what: fmt::Arguments<'_>) {
        self.bar.suspend(|| warn(what));
    }
}

impl Sink for Watch<'_> {
    fn takes_results(&self) -> bool {
        self.json.is_some()
    }

    fn job(&mut self, job: Job) -> io::Result<()> {
        if let Some(json) = &mut self.json {
            json.add(&self.bar, |report| report.job(job));
        }
        Ok(())
    }

    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        if let Some(json) = &mut self.json {
            json.add(&self.bar, |report| report.pair(job, result));
        }
        Ok(())
    }

    fn progress(&mut self, progress: Progress) {
        let Progress {
            done,
            total,
            on_devices,
            ..
        } = progress;
        self.bar.set_position(done);
        let made = done.saturating_sub(self.before);
        let share = on_devices as f64 / made.max(1) as f64;
        if on_devices > 0 {
            let percent = share * 100.0;
            self.bar.set_message(format!(", {percent:.0}% on devices"));
        }
        if self.logged.elapsed() < INTERVAL && done < total {
            return;
        }
        self.logged = Instant::now();
        let rate = made as f64 / self.began.elapsed().as_secs_f64().max(1e-9);
        tracing::info!(
            evaluations = done,
            of = total,
            evaluations_per_second = rate as u64,
            share_on_devices = share,
            seconds_left = (total - done) as f64 / rate.max(1e-9),
            "progress"
        );
    }

    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::NoDevice(reason) | Notice::DeviceLeftOut(reason) => {
                self.warn(format_args!("{reason}"));
            }
            Notice::Resumed { finished, dropped } => {
                self.before = finished;
                self.bar.set_position(finished);
                self.bar.reset_eta();
                let of = HumanCount(finished);
                if dropped > 0 {
                    self.warn(format_args!(
                        "{of} evaluations are resumed; the last {dropped} bytes of the checkpoint \
                         were cut off and are dropped"
                    ));
                } else if !self.bar.is_hidden() {
                    self.warn(format_args!("{of} evaluations are resumed"));
                }
                tracing::info!(evaluations = finished, dropped_bytes = dropped, "resumed");
            }
            Notice::CheckpointFailed(file, error) => {
                let file = shown(&file);
                self.warn(format_args!(
                    "{file}: cannot be written: {error}; the run goes on without its checkpoint"
                ));
                tracing::error!(file, error = %error, "the checkpoint cannot be written");
            }
            Notice::SubmissionFailed(file, error) => {
                let file = shown(&file);
                self.warn(format_args!("{file}: cannot be written: {error}"));
                tracing::error!(file, error = %error, "the submission cannot be written");
            }
        }
    }
}
