//! What a search reports while it goes on: a progress bar, notices and the log.

use std::io;
use std::time::Instant;

use arc_tasks::Task;
use mega_batch::Notice;
use mega_batch::escaped;
use mega_batch::search::{SearchProgress, SearchSink, Searched};

use crate::commands::exit::Exit;
use crate::commands::log::INTERVAL;
use crate::commands::terminal::Bar;

/// The template of the progress bar.
const BAR: &str = "{bar:40} {human_pos} of {human_len} tasks{msg}, {eta} left";

/// Keeps the results, and reports progress.
pub(super) struct Watch<'a> {
    tasks: &'a [Task],
    results: Vec<(usize, Searched)>,
    /// The exit if a task could not be searched.
    failed: Option<Exit>,
    bar: Bar,
    logged: Option<Instant>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(tasks: &'a [Task], quiet: bool) -> Self {
        Self {
            tasks,
            results: Vec::new(),
            failed: None,
            bar: Bar::new(("search", "tasks"), tasks.len() as u64, BAR, quiet),
            logged: None,
        }
    }

    /// The results, by the indices of the tasks, and the exit if one could not be searched.
    pub(super) fn end(self) -> (Vec<(usize, Searched)>, Option<Exit>) {
        self.bar.drawn.finish_and_clear();
        (self.results, self.failed)
    }
}

impl SearchSink for Watch<'_> {
    fn task(&mut self, task: usize, searched: Searched) -> io::Result<()> {
        if let Some(failure) = &searched.failure {
            let id = escaped(&self.tasks[task].id);
            self.bar.warn(format_args!("{id}: not searched: {failure}"));
            self.failed = Some(if searched.has_panicked() {
                Exit::Failure
            } else {
                self.failed.unwrap_or(Exit::BadInput)
            });
        }
        self.results.push((task, searched));
        Ok(())
    }

    fn progress(&mut self, progress: SearchProgress) {
        let SearchProgress {
            done,
            total,
            fitting,
            ..
        } = progress;
        let bar = &self.bar.drawn;
        bar.set_position(done as u64);
        bar.set_message(format!(", {fitting} solved on their train pairs"));
        let is_due = |logged: Instant| logged.elapsed() >= INTERVAL;
        if self.logged.is_none_or(is_due) || done == total {
            self.logged = Some(Instant::now());
            tracing::info!(tasks = done, of = total, fitting, "progress");
        }
    }

    fn notice(&mut self, notice: Notice) {
        if let Some((finished, dropped)) = self.bar.notice(notice) {
            tracing::info!(tasks = finished, dropped_bytes = dropped, "resumed");
        }
    }
}
