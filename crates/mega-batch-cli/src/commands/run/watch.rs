//! What a run reports while it goes on: its document, a progress bar, notices and the log.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use mega_batch::{Batch, Job, JsonReport, Notice, PairResult, Progress, Sink};

use crate::commands::log::INTERVAL;
use crate::commands::output::shown;
use crate::commands::terminal::Bar;

/// The results for a JSON document, spooled to disk.
struct Spooled<'a> {
    /// An error if it could not be written, which affects only the document.
    report: io::Result<JsonReport<'a>>,
    /// The folder that they are in.
    folder: PathBuf,
}

impl<'a> Spooled<'a> {
    /// Adds results, unless some could not be added before.
    fn add(&mut self, bar: &Bar, add: impl FnOnce(&mut JsonReport<'a>) -> io::Result<()>) {
        let Ok(report) = &mut self.report else {
            return;
        };
        if let Err(error) = add(report) {
            let folder = shown(&self.folder);
            // Warn now, since the run may go on for hours.
            bar.warn(format_args!(
                "{folder}: cannot be written: {error}; the run goes on without its document"
            ));
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
    bar: Bar,
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
            bar: Bar::new(("run", "evaluations"), batch.evaluations(), BAR, quiet),
            began: Instant::now(),
            logged: Instant::now(),
            before: 0,
        }
    }

    /// The document, if one is asked for.
    pub(super) fn end(self) -> Option<anyhow::Result<JsonReport<'a>>> {
        self.bar.drawn.finish_and_clear();
        self.json.map(Spooled::finished)
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
        self.bar.drawn.set_position(done);
        let made = done.saturating_sub(self.before);
        let share = on_devices as f64 / made.max(1) as f64;
        if on_devices > 0 {
            let percent = share * 100.0;
            self.bar
                .drawn
                .set_message(format!(", {percent:.0}% on devices"));
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
        if let Some((finished, dropped)) = self.bar.notice(notice) {
            self.before = finished;
            tracing::info!(evaluations = finished, dropped_bytes = dropped, "resumed");
        }
    }
}
