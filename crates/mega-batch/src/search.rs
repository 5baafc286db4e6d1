//! [`Search`]: searches programs for many tasks with [`arc_search`].
//!
//! Workers take one task after the other, each with its own searcher. Results are passed to a [`SearchSink`] in the
//! order of the tasks, independent of the number of workers. A task that cannot be searched, or whose search panics,
//! gets a result too.

mod document;
mod identity;
mod searched;
mod summary;
mod workers;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use arc_dsl::Grid;
use arc_search::Language;
use arc_tasks::Task;

use crate::coordinator::block_log::BlockLog;
use crate::coordinator::keeper::{self, CoordinatorError, Keeper};
use crate::results::attempts::{handed_in, handed_in_for};
use crate::results::sink::Notice;
use crate::results::submission::Submission;
use crate::run::cancellation::Cancellation;
use crate::run::runner::Runner;
use identity::Identity;

pub use document::SearchDocument;
pub use searched::{
    AttemptKind, FoundAttempt, FoundLayer, SearchCounts, SearchEnd, SearchState, Searched,
    program_name,
};
pub use summary::{SearchProgress, SearchSummary, SearchTotals};

/// How tasks are searched.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SearchOptions {
    /// How each task is searched.
    pub search: arc_search::Options,
    /// How many threads; one for each core by default.
    pub workers: Option<NonZeroUsize>,
    /// A time limit for the enumeration of a task, besides its other limits. The results of tasks that reach it
    /// depend on the machine.
    pub time_per_task: Option<Duration>,
    /// Ends the search; tasks that are not finished by then are left out.
    pub cancellation: Cancellation,
}

/// Receives the results of a search.
pub trait SearchSink {
    /// The result for the task at this index. Tasks come in their order; those that the search did not finish are
    /// left out.
    fn task(&mut self, task: usize, searched: Searched) -> io::Result<()>;

    /// The progress of the search.
    fn progress(&mut self, _progress: SearchProgress) {}

    /// Called when no result came for a moment, since one task may take long: a chance to check whether to end the
    /// search.
    fn idle(&mut self) {}

    /// Something to report.
    fn notice(&mut self, _notice: Notice) {}
}

/// Receives the index of a task and its result; `None` lets it do what is due.
pub type Take<'t> = dyn FnMut(Option<(usize, Searched)>) -> io::Result<()> + 't;

/// Searches tasks in place of threads of this process: see [`Search::run_by`].
pub trait SearchesTasks {
    /// Searches the tasks with these indices in any order, and passes each result to `take` as it comes; calls
    /// `take(None)` at least a few times per second. Repeated results are ignored. Returns the error of `take`, if it
    /// gives one; tasks without a result are left out.
    fn search(&mut self, todo: &[usize], take: &mut Take<'_>) -> io::Result<()>;
}

/// A search over tasks that can be resumed.
///
/// ```
/// # use std::io;
/// use arc_dsl::Grid;
/// use arc_tasks::{Pair, Task};
/// use arc_search::Language;
/// use mega_batch::search::{Search, SearchOptions, SearchSink, SearchState, Searched};
///
/// # struct Found(Vec<Searched>);
/// # impl SearchSink for Found {
/// #     fn task(&mut self, _: usize, searched: Searched) -> io::Result<()> {
/// #         self.0.push(searched);
/// #         Ok(())
/// #     }
/// # }
/// let pair = |a, b| -> Result<Pair, Box<dyn std::error::Error>> {
///     Ok(Pair::new(Grid::from_rows(&[[a, b]])?, Grid::from_rows(&[[b, a]])?))
/// };
/// let task = Task { id: "a".into(), train: vec![pair(1, 2)?, pair(0, 5)?], test: vec![pair(3, 4)?], ..Task::default() };
/// let mut options = SearchOptions::default();
/// options.search.nodes = 300;
/// let tasks = [task];
/// let mut found = Found(Vec::new());
/// Search::new(&tasks, Language::default(), &options).run(&mut found)?;
/// assert_eq!(found.0[0].state(&tasks[0]), SearchState::Solved);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Search<'a> {
    tasks: &'a [Task],
    language: Language,
    options: SearchOptions,
    checkpoint: Option<(PathBuf, bool)>,
    submission: Option<PathBuf>,
    over: Submission,
}

impl<'a> Search<'a> {
    /// A search of these tasks with this language.
    pub fn new(tasks: &'a [Task], language: Language, options: &SearchOptions) -> Self {
        Self {
            tasks,
            language,
            options: options.clone(),
            checkpoint: None,
            submission: None,
            over: Submission::default(),
        }
    }

    /// Writes results to this file, task by task. The file must not exist: see [`resume`](Self::resume).
    #[must_use]
    pub fn checkpoint(mut self, path: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some((path.into(), false));
        self
    }

    /// Writes results to this file, and begins with the tasks that it contains.
    #[must_use]
    pub fn resume(mut self, path: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some((path.into(), true));
        self
    }

    /// The attempts that the submission uses for tasks that are not searched, and if fewer than two answers are
    /// found.
    #[must_use]
    pub fn over(mut self, submission: Submission) -> Self {
        self.over = submission;
        self
    }

    /// Writes the first two answers to each test pair to this file: when the search begins, and then every few
    /// seconds if there are more. The file is complete at any time.
    #[must_use]
    pub fn submission(mut self, path: impl Into<PathBuf>) -> Self {
        self.submission = Some(path.into());
        self
    }

    /// Searches the tasks. [Cancelling](SearchOptions::cancellation) it is not an error.
    pub fn run(self, sink: &mut impl SearchSink) -> Result<SearchSummary, CoordinatorError> {
        let workers = match self.options.workers {
            Some(workers) => workers.get().min(Runner::MAX_WORKERS),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let workers = workers.clamp(1, self.tasks.len().max(1));
        let (language, options) = (self.language.clone(), self.options.clone());
        let mut threads = workers::Threads {
            tasks: self.tasks,
            workers,
            worker: || workers::SearchWorker::new(&language, &options),
        };
        self.run_by(&mut threads, workers, sink)
    }

    /// The same, if others search the tasks, `workers` at a time; checkpoint, submission and order work as usual. The
    /// others must use the same language and options, which the checkpoint records.
    pub fn run_by(
        self,
        searches: &mut impl SearchesTasks,
        workers: usize,
        sink: &mut impl SearchSink,
    ) -> Result<SearchSummary, CoordinatorError> {
        let Self {
            tasks,
            language,
            options,
            checkpoint,
            submission,
            over,
        } = self;
        let mut collector = Collector {
            sink,
            tasks,
            next: 0,
            waiting: BTreeMap::new(),
            keeper: Keeper::default(),
            submission: SearchSubmission::new(tasks, over),
            summary: SearchSummary::new(tasks.len(), workers),
        };
        let mut is_open = vec![true; tasks.len()];
        let identity = || Identity::of(tasks, &language, &options);
        let notify = |notice| collector.sink.notice(notice);
        let (log, mut blocks) = keeper::open(checkpoint, identity, tasks.len(), notify)?;
        while blocks.left() > 0 {
            let (task, searched): (u32, Searched) = blocks.read()?;
            let task = task as usize;
            if std::mem::take(is_open.get_mut(task).ok_or_else(other_tasks)?) {
                collector.add(task, searched)?;
            }
        }
        let submission = submission.map(|path| (path, &collector.submission.submission));
        collector.keeper = Keeper::new(log, submission)?;
        collector.progress();
        let todo: Vec<_> = (0..tasks.len()).filter(|task| is_open[*task]).collect();
        tracing::info!(
            workers,
            tasks = tasks.len(),
            left = todo.len(),
            "the search begins"
        );
        let began = Instant::now();
        searches.search(&todo, &mut |found| {
            if let Some((task, searched)) = found {
                if std::mem::take(is_open.get_mut(task).ok_or_else(other_tasks)?) {
                    collector.found(task, searched)?;
                }
                return Ok(());
            }
            collector.tick();
            collector.sink.idle();
            Ok(())
        })?;
        let mut summary = collector.finish()?;
        summary.elapsed = began.elapsed();
        tracing::info!(
            tasks = summary.totals.tasks,
            of = tasks.len(),
            fitting = summary.totals.fitting,
            seconds = summary.elapsed.as_secs_f64(),
            "the search ends"
        );
        Ok(summary)
    }
}

/// A submission in which new answers replace known ones.
struct SearchSubmission {
    submission: Submission,
    /// For each searched task its index in the submission, and the attempts that were known before.
    tasks: Vec<(usize, Vec<[Grid; 2]>)>,
}

impl SearchSubmission {
    fn new(tasks: &[Task], over: Submission) -> Self {
        let mut submission = over;
        let mut places: HashMap<String, usize> = HashMap::new();
        for (at, (id, _)) in submission.tasks.iter().enumerate() {
            places.insert(id.clone(), at);
        }
        let known = tasks.iter().map(|task| {
            if let Some(&place) = places.get(&task.id) {
                return (place, submission.tasks[place].1.clone());
            }
            submission.tasks.push((task.id.clone(), Vec::new()));
            (submission.tasks.len() - 1, Vec::new())
        });
        let mut new = Self {
            tasks: known.collect(),
            submission,
        };
        for (at, task) in tasks.iter().enumerate() {
            new.found(at, task, None);
        }
        new
    }

    fn found(&mut self, at: usize, task: &Task, searched: Option<&Searched>) {
        let (place, known) = &self.tasks[at];
        self.submission.tasks[*place].1 = handed_in_for(task, |place, at| {
            let found = searched
                .into_iter()
                .flat_map(|searched| searched.answers_of(at));
            let known = known.get(place).into_iter().flatten();
            handed_in(found.chain(known), &task.test[at].input)
        });
    }
}

fn other_tasks() -> io::Error {
    io::Error::other("there is a task that is none of this search")
}

/// Puts results in order, and passes them to the sink, the checkpoint and the submission.
struct Collector<'s, 'a, S> {
    sink: &'s mut S,
    tasks: &'a [Task],
    /// The next task to pass to the sink.
    next: usize,
    /// Results of later tasks.
    waiting: BTreeMap<usize, Searched>,
    keeper: Keeper,
    submission: SearchSubmission,
    summary: SearchSummary,
}

impl<S: SearchSink> Collector<'_, '_, S> {
    /// Adds a new result.
    fn found(&mut self, task: usize, searched: Searched) -> io::Result<()> {
        let entry = (task as u32, &searched);
        let notify = |notice| self.sink.notice(notice);
        self.keeper.record(|log| log.push(&entry), notify);
        self.add(task, searched)?;
        self.tick();
        self.progress();
        Ok(())
    }

    /// Adds a result, new or from an earlier run.
    fn add(&mut self, at: usize, searched: Searched) -> io::Result<()> {
        let task = &self.tasks[at];
        self.summary.add(at, task, &searched);
        self.submission.found(at, task, Some(&searched));
        self.keeper.has_more();
        self.waiting.insert(at, searched);
        while let Some(searched) = self.waiting.remove(&self.next) {
            self.sink.task(self.next, searched)?;
            self.next += 1;
        }
        Ok(())
    }

    fn progress(&mut self) {
        let progress = self.summary.progress();
        self.sink.progress(progress);
    }

    /// Writes what is due.
    fn tick(&mut self) {
        let notify = |notice| self.sink.notice(notice);
        self.keeper.record(BlockLog::tick, notify);
        if self.keeper.is_due() {
            self.submit();
        }
    }

    fn submit(&mut self) {
        let submission = &self.submission.submission;
        let notify = |notice| self.sink.notice(notice);
        self.keeper.submit(|| submission, notify);
    }

    /// Passes on the remaining results, behind tasks that were not finished.
    fn finish(mut self) -> io::Result<SearchSummary> {
        self.submit();
        self.keeper.finish(|notice| self.sink.notice(notice));
        for (task, searched) in self.waiting {
            self.sink.task(task, searched)?;
        }
        Ok(self.summary)
    }
}

#[cfg(test)]
mod tests;
