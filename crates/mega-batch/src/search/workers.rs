//! The workers of a search: threads that take one task after the other.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use arc_dsl::Grid;
use arc_search::{Found, Language, Searcher};
use arc_tasks::Task;

use super::{SearchEnd, SearchOptions, Searched, SearchesTasks, Take};
use crate::run::panics::{PANIC, message};

/// How often periodic work is done while no result comes.
const TICK: Duration = Duration::from_millis(200);

/// Searches one task after the other.
pub(super) trait Worker {
    /// The result for a task; `None` if the search was cancelled before its end.
    fn search(&mut self, task: &Task) -> Option<Searched>;

    /// Whether no further task may begin.
    fn is_cancelled(&self) -> bool;
}

/// Threads that search tasks, each with its own worker.
pub(super) struct Threads<'t, F> {
    pub(super) tasks: &'t [Task],
    pub(super) workers: usize,
    pub(super) worker: F,
}

impl<W: Worker, F: Fn() -> W + Sync> SearchesTasks for Threads<'_, F> {
    fn search(&mut self, todo: &[usize], take: &mut Take<'_>) -> io::Result<()> {
        let Self {
            tasks,
            workers,
            worker,
        } = self;
        let (tasks, worker) = (*tasks, &*worker);
        let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for number in 0..todo.len().min(*workers) {
                let sender = sender.clone();
                let work = || {
                    let sender = sender;
                    let mut own = worker();
                    while !own.is_cancelled()
                        && !has_failed.load(Ordering::Relaxed)
                        && let Some(&at) = todo.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let began = Instant::now();
                        let found = catch_unwind(AssertUnwindSafe(|| own.search(&tasks[at])));
                        let found = found.unwrap_or_else(|panic| {
                            // The panic may have left the worker in a broken state.
                            own = worker();
                            let failure = format!("{PANIC}: {}", message(&*panic));
                            Some(Searched::failed(&tasks[at], failure))
                        });
                        let Some(mut searched) = found else {
                            return;
                        };
                        searched.seconds = began.elapsed().as_secs_f64();
                        if sender.send((at, searched)).is_err() {
                            return;
                        }
                    }
                };
                let builder = std::thread::Builder::new().name(format!("search {number}"));
                builder.spawn_scoped(scope, work)?;
            }
            drop(sender);
            loop {
                let taken = match receiver.recv_timeout(TICK) {
                    Ok(found) => take(Some(found)),
                    Err(RecvTimeoutError::Timeout) => take(None),
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                };
                if taken.is_err() {
                    has_failed.store(true, Ordering::Relaxed);
                    return taken;
                }
            }
        })
    }
}

/// A searcher with its options.
pub(super) struct SearchWorker<'a> {
    options: &'a SearchOptions,
    searcher: Searcher,
}

impl<'a> SearchWorker<'a> {
    pub(super) fn new(language: &Language, options: &'a SearchOptions) -> Self {
        Self {
            options,
            searcher: Searcher::new(language.clone(), options.search.clone())
                .abandoned_by(options.cancellation.flag()),
        }
    }

    /// The result, and whether the time limit of the task was reached; `None` if the search was cancelled.
    fn found(&mut self, task: &Task) -> Option<(Found, bool)> {
        let cancellation = &self.options.cancellation;
        let time = self.options.time_per_task;
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        let mut is_late = false;
        let mut interrupted = || {
            is_late |= deadline.is_some_and(|deadline| Instant::now() >= deadline);
            is_late || cancellation.is_cancelled()
        };
        let found = self.searcher.search(task, &mut interrupted);
        // If cancelled, the searcher has stopped anywhere.
        (!cancellation.is_cancelled()).then_some((found, is_late))
    }
}

impl Worker for SearchWorker<'_> {
    fn search(&mut self, task: &Task) -> Option<Searched> {
        if task.train.is_empty() {
            return Some(Searched::failed(task, "no train pairs"));
        }
        if task.train.iter().any(|pair| pair.output.is_none()) {
            return Some(Searched::failed(task, "a train pair without an output"));
        }
        let is_plain = |grid: &Grid| grid.cells().iter().all(|cell| (0..=9).contains(cell));
        let mut pairs = task.train.iter().chain(&task.test);
        if !pairs.all(|pair| is_plain(&pair.input) && pair.output.as_ref().is_none_or(is_plain)) {
            return Some(Searched::failed(task, "colours beyond 0 to 9"));
        }
        let (found, is_late) = self.found(task)?;
        let mut searched = Searched::of(task, found);
        if is_late {
            searched.stopped = Some(SearchEnd::Interrupted);
        }
        Some(searched)
    }

    fn is_cancelled(&self) -> bool {
        self.options.cancellation.is_cancelled()
    }
}
