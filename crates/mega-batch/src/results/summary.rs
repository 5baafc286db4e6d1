//! [`Summary`]: the summary of a batch, counted from its results.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use arc_tasks::{Pair, PairId, Split, Task};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::batch::options::Mode;
use crate::batch::{Batch, Job};
use crate::results::outcome::{Known, Outcome};
use crate::run::backend::{Backends, CountsByEvaluator, EvaluatedBy};
use crate::run::panics::lock;

/// Evaluations by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// All of them.
    pub evaluations: u64,
    /// [`Outcome::Match`].
    pub right: u64,
    /// [`Outcome::Mismatch`].
    pub wrong: u64,
    /// [`Outcome::NoExpected`].
    pub no_expected: u64,
    /// [`Outcome::Error`] and [`Outcome::Internal`], and [`Outcome::Python`] without a limit.
    pub errors: u64,
    /// [`Outcome::Limit`], and [`Outcome::Python`] at a limit.
    pub limits: u64,
}

/// The statistics of one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProgramStats {
    /// How often it was run.
    pub evaluations: u64,
    /// How many evaluations gave no output.
    pub failures: u64,
    /// How long they took, summed over cores.
    pub time: Duration,
}

/// The results on the pairs of a split other than `train` and `test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SplitCounts {
    /// Evaluations on its pairs.
    pub evaluations: u64,
    /// How many of them were right.
    pub right: u64,
    /// How many of its pairs, in tasks that were tried, have an expected output.
    pub pairs_expected: u64,
    /// On how many of these at least one program is right.
    pub pairs_right: u64,
}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// No program was run on it.
    #[default]
    Untried,
    /// No program solved it.
    Unsolved,
    /// A program is right on every pair of `train` and `test` whose output is known, and there is at least one.
    Solved,
}

/// The progress of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Finished evaluations.
    pub done: u64,
    /// Evaluations in total.
    pub total: u64,
    /// Evaluations by devices in this run.
    pub on_devices: u64,
}

/// The summary of a batch.
///
/// Its size depends on the number of programs and tasks, not of evaluations.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Summary {
    /// The mode of the run.
    pub mode: Mode,
    /// The number of threads.
    pub workers: usize,
    /// The number of tasks, including untried ones.
    pub tasks: usize,
    /// The number of programs, including those without a task.
    pub programs: usize,
    /// How many evaluations the batch has: more than were evaluated if it was
    /// [cancelled](crate::Options::cancellation) or reached its [time limit](crate::Options::time_limit).
    pub planned: u64,
    /// How many of them were left out, since the program had been wrong or had failed on an earlier pair of the task:
    /// see [`Options::stop_after_wrong`](crate::Options::stop_after_wrong).
    pub skipped: u64,
    /// The evaluations by outcome.
    pub totals: Totals,
    /// Wall-clock time of evaluating and compiling, without reading files and writing reports.
    pub elapsed: Duration,
    /// Which executors evaluated how much, and how long compiling took.
    pub backends: Backends,
    /// How many tasks are [solved](TaskState::Solved).
    pub tasks_solved: u64,
    /// On how many pairs at least one program is right.
    pub pairs_right: u64,
    /// How many pairs of the tried tasks have an expected output.
    pub pairs_expected: u64,
    /// The pairs of splits other than `train` and `test`, by the name of the split. Of the other figures only
    /// [`totals`](Self::totals) includes them.
    pub by_split: BTreeMap<String, SplitCounts>,
    /// The statistics of each program, by index.
    pub by_program: Vec<ProgramStats>,
    /// The state of each task, by index.
    pub by_task: Vec<TaskState>,
    /// The first failure of each of the first [`FAILURES_KEPT`](Self::FAILURES_KEPT) programs that failed.
    pub failures: Vec<(Job, PairId, Outcome)>,
}

impl Summary {
    /// How many [`failures`](Self::failures) are kept.
    pub const FAILURES_KEPT: usize = 10;

    /// Whether all evaluations of the batch that were due have finished: it was not ended early.
    pub fn is_complete(&self) -> bool {
        self.totals.evaluations + self.skipped == self.planned
    }

    /// Evaluations per second of wall-clock time; 0 if no time has passed.
    pub fn evaluations_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 {
            self.totals.evaluations as f64 / seconds
        } else {
            0.0
        }
    }

    /// How long the evaluations took, summed over workers.
    pub fn evaluation_time(&self) -> Duration {
        self.by_program.iter().map(|stats| stats.time).sum()
    }

    /// How many programs gave no output on at least one pair.
    pub fn failing_programs(&self) -> usize {
        self.by_program
            .iter()
            .filter(|stats| stats.failures > 0)
            .count()
    }

    /// The programs that took most time, at most `count`, slowest first, as indices into the batch.
    pub fn slowest(&self, count: usize) -> Vec<usize> {
        let mut programs: Vec<usize> = (0..self.by_program.len())
            .filter(|&program| self.by_program[program].evaluations > 0)
            .collect();
        programs.sort_by_key(|&program| std::cmp::Reverse(self.by_program[program].time));
        programs.truncate(count);
        programs
    }
}

/// Counts results into a [`Summary`], on any number of threads, in any order.
///
/// Counters by program, task or pair are here, shared by all threads, and updated once for all results of a job that
/// come together. Each thread has its own [`SummaryCounts`] for everything else.
#[derive(Debug)]
pub(crate) struct Tally<'b> {
    batch: &'b Batch<'b>,
    programs: Vec<ProgramCounters>,
    /// Values of [`TaskState`].
    tasks: Vec<AtomicU8>,
    /// Whether some program is right on a pair, for all pairs of all tasks in order.
    right: Vec<AtomicBool>,
    /// How many pairs of each task have an output, where all are of `train` or `test`; found when first needed.
    expected: Vec<OnceLock<Option<u64>>>,
    /// For jobs whose results come in parts, by index: on how many pairs the parts were right so far, and on how many
    /// a program is that solves the task.
    parts: Mutex<FxHashMap<usize, (u64, u64)>>,
}

/// The counters behind [`ProgramStats`].
#[derive(Debug, Default)]
struct ProgramCounters {
    evaluations: AtomicU64,
    failures: AtomicU64,
    nanoseconds: AtomicU64,
}

/// The counters of one thread.
#[derive(Debug, Default)]
pub(crate) struct SummaryCounts {
    totals: Totals,
    /// The evaluations of this run by executor.
    pub(crate) evaluated_by: CountsByEvaluator,
    /// How many evaluations were left out.
    pub(crate) skipped: u64,
    /// How many pairs of `train` and `test` have an output, in tasks that this thread was the first to come to; and
    /// for how many pairs this thread was the first to find a program that is right.
    pairs_expected: u64,
    pairs_right: u64,
    by_split: BTreeMap<String, SplitCounts>,
    /// The first failures of programs, by the index of the job and the pair in it; if too many programs fail, those
    /// that come first.
    failures: BTreeMap<(usize, usize), (Job, PairId, Outcome)>,
}

impl SummaryCounts {
    /// Adds the counters of another thread.
    pub(crate) fn add(&mut self, other: Self) {
        let (to, from) = (&mut self.totals, other.totals);
        to.evaluations += from.evaluations;
        to.right += from.right;
        to.wrong += from.wrong;
        to.no_expected += from.no_expected;
        to.errors += from.errors;
        to.limits += from.limits;
        for (to, from) in self.evaluated_by.iter_mut().zip(other.evaluated_by) {
            *to += from;
        }
        self.skipped += other.skipped;
        self.pairs_expected += other.pairs_expected;
        self.pairs_right += other.pairs_right;
        for (name, counts) in other.by_split {
            let of_split = self.by_split.entry(name).or_default();
            of_split.evaluations += counts.evaluations;
            of_split.right += counts.right;
            of_split.pairs_expected += counts.pairs_expected;
            of_split.pairs_right += counts.pairs_right;
        }
        for (place, (job, pair, outcome)) in other.failures {
            self.keep_failure(place, &outcome, job, pair);
        }
    }

    fn count(&mut self, outcome: &Outcome) {
        self.totals.evaluations += 1;
        *match outcome {
            Outcome::Match => &mut self.totals.right,
            Outcome::Mismatch => &mut self.totals.wrong,
            Outcome::NoExpected => &mut self.totals.no_expected,
            Outcome::Limit(_) => &mut self.totals.limits,
            Outcome::Python(failure) if failure.limit().is_some() => &mut self.totals.limits,
            Outcome::Error(_) | Outcome::Internal(_) | Outcome::Python(_) => {
                &mut self.totals.errors
            }
        } += 1;
    }

    /// Keeps a failure if it is the first of its program, and its program is among the first to fail.
    #[cold]
    fn keep_failure(&mut self, place: (usize, usize), outcome: &Outcome, job: Job, pair: PairId) {
        let is_full = self.failures.len() == Summary::FAILURES_KEPT;
        let last = self.failures.last_key_value();
        if is_full && last.is_some_and(|(last, _)| *last < place) {
            return;
        }
        let mut kept = self.failures.iter();
        let of_program = kept.find(|(_, (kept, ..))| kept.program == job.program);
        let of_program = of_program.map(|(place, _)| *place);
        match of_program {
            Some(kept) if kept <= place => return,
            Some(kept) => drop(self.failures.remove(&kept)),
            None if is_full => drop(self.failures.pop_last()),
            None => {}
        }
        self.failures.insert(place, (job, pair, outcome.clone()));
    }
}

/// Results of a job that come together, as they are counted.
struct OfJob<'t, 'b> {
    tally: &'t Tally<'b>,
    counts: &'t mut SummaryCounts,
    at: usize,
    job: Job,
    task: &'t Task,
    right: &'t [AtomicBool],
    evaluations: u64,
    failures: u64,
    /// How many are right on pairs of `train` and `test`.
    matched: u64,
    time: Duration,
}

impl OfJob<'_, '_> {
    #[inline]
    fn count(
        &mut self,
        at: usize,
        pair: PairId,
        outcome: &Outcome,
        by: Option<EvaluatedBy>,
        time: Duration,
    ) {
        let counts = &mut *self.counts;
        counts.count(outcome);
        if let Some(by) = by {
            counts.evaluated_by[by as usize] += 1;
        }
        self.evaluations += 1;
        self.time += time;
        if outcome.is_failure() {
            self.failures += 1;
            counts.keep_failure((self.at, at), outcome, self.job, pair);
        }
        let is_right = *outcome == Outcome::Match;
        let right = &self.right[at];
        let is_first_right = is_right && !right.load(Relaxed) && !right.swap(true, Relaxed);
        if matches!(pair.split, Split::Other(_)) {
            let split = of_split(&mut counts.by_split, self.task, pair);
            split.evaluations += 1;
            split.right += u64::from(is_right);
            split.pairs_right += u64::from(is_first_right);
        } else {
            self.matched += u64::from(is_right);
            counts.pairs_right += u64::from(is_first_right);
        }
    }

    /// Adds them up: all results on `len` pairs from `first` on were counted.
    fn finish(self, first: usize, len: usize) {
        let Self {
            tally, job, task, ..
        } = self;
        if self.evaluations == 0 {
            return;
        }
        let program = &tally.programs[job.program as usize];
        program.evaluations.fetch_add(self.evaluations, Relaxed);
        program
            .nanoseconds
            .fetch_add(nanoseconds(self.time), Relaxed);
        if self.failures > 0 {
            program.failures.fetch_add(self.failures, Relaxed);
        }
        if tally.raise_state(job, TaskState::Unsolved) == TaskState::Untried as u8 {
            tally.count_expected(self.counts, task);
        }
        let expected = |pairs: Range<usize>| {
            let pairs = pairs.map(|at| task.pair_at(at));
            pairs.filter(is_required).count() as u64
        };
        let pairs = tally.batch.pairs_of(job);
        if len == pairs {
            if self.matched > 0 && self.matched == expected(0..pairs) {
                tally.raise_state(job, TaskState::Solved);
            }
        } else if self.matched == expected(first..first + len) {
            let mut parts = lock(&tally.parts);
            // A job of many pairs has many parts, so its pairs are gone through once.
            let (so_far, all) = parts
                .entry(self.at)
                .or_insert_with(|| (0, expected(0..pairs)));
            *so_far += self.matched;
            if *so_far > 0 && *so_far == *all {
                parts.remove(&self.at);
                tally.raise_state(job, TaskState::Solved);
            }
        }
    }
}

impl<'b> Tally<'b> {
    pub(crate) fn new(batch: &'b Batch<'b>) -> Self {
        fn zeros<T: Default>(count: usize) -> Vec<T> {
            std::iter::repeat_with(T::default).take(count).collect()
        }
        let tasks = batch.tasks().len();
        Self {
            batch,
            programs: zeros(batch.programs().len()),
            tasks: zeros(tasks),
            right: zeros(batch.pairs_before(tasks)),
            expected: zeros(tasks),
            parts: Mutex::default(),
        }
    }

    /// Counts the results of the job at index `at` on the pairs of its task from `first` on. `None` entries were not
    /// evaluated.
    pub(crate) fn add(
        &self,
        counts: &mut SummaryCounts,
        at: usize,
        first: usize,
        results: &[Known],
    ) {
        let mut of_job = self.of_job(counts, at);
        for (result, pair) in results.iter().zip(first..) {
            if let Some(result) = result {
                let by = result.evaluated_by;
                of_job.count(pair, result.pair, &result.outcome, by, result.time);
            }
        }
        of_job.finish(first, results.len());
    }

    /// The same for results of a device: whether each is the expected grid, and the time that each took.
    pub(crate) fn add_verdicts(
        &self,
        counts: &mut SummaryCounts,
        at: usize,
        first: usize,
        are_right: impl ExactSizeIterator<Item = bool> + Clone,
        time: Duration,
    ) {
        let mut of_job = self.of_job(counts, at);
        let (job, count) = (of_job.job, are_right.len());
        let is_whole = count == self.batch.pairs_of(job);
        let expected = self.expected[job.task as usize].get_or_init(|| {
            let pairs = || self.batch.pairs(of_job.task);
            let has_others = pairs().any(|(id, _)| matches!(id.split, Split::Other(_)));
            (!has_others).then(|| pairs().filter(is_required).count() as u64)
        });
        match expected {
            Some(expected) if is_whole && !are_right.clone().any(|it| it) => {
                let (totals, count) = (&mut of_job.counts.totals, count as u64);
                totals.evaluations += count;
                totals.wrong += expected;
                totals.no_expected += count - expected;
                of_job.counts.evaluated_by[EvaluatedBy::Device as usize] += count;
                of_job.evaluations = count;
                of_job.time = time * count as u32;
            }
            _ => {
                for (is_right, pair) in are_right.zip(first..) {
                    let (id, of_task) = of_job.task.pair_at(pair);
                    let outcome = Outcome::compare(of_task.output.as_ref(), |_| is_right);
                    of_job.count(pair, id, &outcome, Some(EvaluatedBy::Device), time);
                }
            }
        }
        of_job.finish(first, count);
    }

    fn of_job<'t>(&'t self, counts: &'t mut SummaryCounts, at: usize) -> OfJob<'t, 'b> {
        let job = self.batch.job(at);
        OfJob {
            tally: self,
            counts,
            at,
            job,
            task: self.batch.task(job),
            right: &self.right[self.batch.pairs_before(job.task as usize)..],
            evaluations: 0,
            failures: 0,
            matched: 0,
            time: Duration::ZERO,
        }
    }

    /// Raises the task of the job to at least this state; returns the state before.
    fn raise_state(&self, job: Job, state: TaskState) -> u8 {
        let task = &self.tasks[job.task as usize];
        match task.load(Relaxed) {
            before if before < state as u8 => task.fetch_max(state as u8, Relaxed),
            before => before,
        }
    }

    /// Counts the pairs of a task with an expected output.
    fn count_expected(&self, counts: &mut SummaryCounts, task: &Task) {
        let known = self.batch.pairs(task);
        for (id, _) in known.filter(|(_, pair)| pair.output.is_some()) {
            if matches!(id.split, Split::Other(_)) {
                of_split(&mut counts.by_split, task, id).pairs_expected += 1;
            } else {
                counts.pairs_expected += 1;
            }
        }
    }

    /// The summary of everything counted.
    pub(crate) fn finish(
        self,
        mode: Mode,
        workers: usize,
        counts: SummaryCounts,
        elapsed: Duration,
    ) -> Summary {
        let planned = self.batch.evaluations();
        let is_complete = counts.totals.evaluations + counts.skipped == planned;
        if is_complete && (0..self.tasks.len()).any(|task| self.batch.pairs_in(task) == 0) {
            // Jobs without pairs have no results.
            let jobs = self.batch.jobs();
            for job in jobs.filter(|job| self.batch.pairs_of(*job) == 0) {
                self.raise_state(job, TaskState::Unsolved);
            }
        }
        let stats = |of: ProgramCounters| ProgramStats {
            evaluations: of.evaluations.into_inner(),
            failures: of.failures.into_inner(),
            time: Duration::from_nanos(of.nanoseconds.into_inner()),
        };
        let states = self
            .tasks
            .into_iter()
            .map(|state| match state.into_inner() {
                0 => TaskState::Untried,
                1 => TaskState::Unsolved,
                _ => TaskState::Solved,
            });
        let by_task: Vec<_> = states.collect();
        let solved = by_task.iter().filter(|state| **state == TaskState::Solved);
        Summary {
            mode,
            workers,
            tasks: by_task.len(),
            programs: self.programs.len(),
            planned,
            skipped: counts.skipped,
            totals: counts.totals,
            elapsed,
            backends: Backends::default(),
            tasks_solved: solved.count() as u64,
            pairs_right: counts.pairs_right,
            pairs_expected: counts.pairs_expected,
            by_split: counts.by_split,
            by_program: self.programs.into_iter().map(stats).collect(),
            by_task,
            failures: counts.failures.into_values().collect(),
        }
    }
}

/// Whether a program must be right on the pair to solve its task.
fn is_required((id, pair): &(PairId, &Pair)) -> bool {
    pair.output.is_some() && !matches!(id.split, Split::Other(_))
}

/// The counts of a pair's split, by its name.
fn of_split<'c>(
    by_split: &'c mut BTreeMap<String, SplitCounts>,
    task: &Task,
    id: PairId,
) -> &'c mut SplitCounts {
    by_split
        .entry(task.split_name(id.split).to_owned())
        .or_default()
}

/// Saturates after five hundred years.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, Program, ProgramBuilder};
    use arc_tasks::Pair;

    use super::*;
    use crate::results::outcome::PairResult;

    fn program(name: &str) -> Program {
        let builder = ProgramBuilder::new(name);
        let input = builder.input();
        builder.finish(input).unwrap()
    }

    /// A task with pairs with and without expected output.
    fn task(expected: &[bool]) -> Task {
        let grid = Grid::filled(1, 1, 0);
        let pair = |&known: &bool| Pair::new(grid.clone(), known.then(|| grid.clone()));
        Task {
            id: "a".into(),
            train: expected.iter().map(pair).collect(),
            test: vec![],
            ..Task::default()
        }
    }

    /// The state of a task after programs have these outcomes on its pairs.
    fn summary(expected: &[bool], by_program: &[&[Outcome]]) -> Summary {
        let programs: Vec<_> = (0..by_program.len())
            .map(|at| program(&format!("p_{at}")))
            .collect();
        let tasks = [task(expected)];
        let batch = Batch::all_pairs(&programs, &tasks);
        let result = |pair, outcome: &Outcome| {
            Some(PairResult {
                pair,
                outcome: outcome.clone(),
                output: None,
                score: None,
                time: Duration::from_millis(1),
                evaluated_by: None,
            })
        };
        // Whole jobs in sequence by one thread; and pair by pair, in reverse, by several.
        let [one, several] = [false, true].map(|in_parts| {
            let tally = Tally::new(&batch);
            let mut counts = [(); 3].map(|()| SummaryCounts::default());
            for (at, outcomes) in by_program.iter().enumerate() {
                let pairs = tasks[0].pairs().zip(outcomes.iter());
                let results: Vec<_> = pairs
                    .map(|((pair, _), outcome)| result(pair, outcome))
                    .collect();
                if !in_parts {
                    tally.add(&mut counts[0], at, 0, &results);
                    continue;
                }
                for pair in (0..results.len()).rev() {
                    tally.add(&mut counts[pair % 3], at, pair, &results[pair..=pair]);
                }
            }
            let counts = counts.into_iter().reduce(|mut all, counts| {
                all.add(counts);
                all
            });
            tally.finish(Mode::Sequential, 1, counts.unwrap(), Duration::from_secs(2))
        });
        assert_eq!(format!("{one:?}"), format!("{several:?}"));
        one
    }

    use Outcome::{Match, Mismatch, NoExpected};

    #[test]
    fn a_task_is_solved_by_one_program_that_is_right_on_every_known_pair() {
        let solved = |expected: &[bool], by_program: &[&[Outcome]]| {
            let summary = summary(expected, by_program);
            assert_eq!(
                summary.by_task[0] == TaskState::Solved,
                summary.tasks_solved == 1
            );
            summary.tasks_solved == 1
        };
        assert!(solved(&[true, true], &[&[Match, Match]]));
        assert!(!solved(&[true, true], &[&[Match, Mismatch]]));
        assert!(!solved(
            &[true, true],
            &[&[Match, Mismatch], &[Mismatch, Match]]
        ));
        assert!(solved(
            &[true, true],
            &[&[Match, Mismatch], &[Match, Match], &[Match, Match]]
        ));
        assert!(solved(&[true, false], &[&[Match, NoExpected]]));
        assert!(!solved(&[false, false], &[&[NoExpected, NoExpected]]));
        assert!(!solved(&[], &[&[]]));
        assert!(!solved(&[true], &[]));
    }

    #[test]
    fn pairs_are_counted_once_however_many_programs_are_right() {
        let summary = summary(
            &[true, true, true],
            &[&[Match, Mismatch, Mismatch], &[Match, Match, Mismatch]],
        );
        assert_eq!((summary.pairs_right, summary.pairs_expected), (2, 3));
        assert_eq!(summary.totals.right, 3);
        assert_eq!(summary.totals.wrong, 3);
        assert_eq!(summary.totals.evaluations, 6);
        assert!((summary.evaluations_per_second() - 3.0).abs() < 1e-9);
        assert_eq!(summary.by_task, [TaskState::Unsolved]);
    }

    #[test]
    fn failures_are_the_first_of_the_first_programs() {
        let failure = Outcome::Internal("x".into());
        let failing = [Match, failure.clone(), failure.clone()];
        let all_right = [Match, Match, Match];
        let mut programs = vec![&all_right[..]];
        programs.extend(vec![&failing[..]; Summary::FAILURES_KEPT + 3]);
        let summary = summary(&[true, true, true], &programs);
        assert_eq!(summary.failing_programs(), Summary::FAILURES_KEPT + 3);
        assert_eq!(summary.failures.len(), Summary::FAILURES_KEPT);
        assert_eq!(
            summary.failures[0].0,
            Job {
                program: 1,
                task: 0
            }
        );
        assert_eq!(summary.failures[0].1.to_string(), "train[1]");
        assert_eq!(summary.by_program[1].failures, 2);
        assert_eq!(summary.slowest(3).len(), 3);
        assert_eq!(summary.by_program[0].time, Duration::from_millis(3));
    }
}
