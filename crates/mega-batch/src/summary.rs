//! [`Summary`]: what a batch came to, counted as the results pass by.

use std::collections::BTreeMap;
use std::time::Duration;

use arc_dsl::{PairId, Split, Task};
use serde::Serialize;

use crate::backend::Backends;
use crate::batch::{Batch, Job};
use crate::options::Mode;
use crate::outcome::{Outcome, PairResult};

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
    /// [`Outcome::Error`] and [`Outcome::Internal`].
    pub errors: u64,
    /// [`Outcome::Limit`].
    pub limits: u64,
}

/// What one program came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProgramStats {
    /// How often it was run.
    pub evaluations: u64,
    /// How many of them gave no output.
    pub failures: u64,
    /// How long they took together, on whatever cores.
    pub time: Duration,
}

/// What the pairs of a split came to that is neither `train` nor `test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SplitCounts {
    /// Evaluations on its pairs.
    pub evaluations: u64,
    /// How many of them were right.
    pub right: u64,
    /// How many of its pairs, of tasks that were tried, have an expected output.
    pub pairs_expected: u64,
    /// How many of these at least one program is right on.
    pub pairs_right: u64,
}

/// What became of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// No program was run on it.
    #[default]
    Untried,
    /// No program solved it.
    Unsolved,
    /// A program is right on every pair of `train` and `test` whose output is known, and there is such a
    /// pair.
    Solved,
}

/// An evaluation without output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The program and the task.
    pub job: Job,
    /// The pair.
    pub pair: PairId,
    /// What happened.
    pub outcome: Outcome,
}

/// How far a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Evaluations made.
    pub done: u64,
    /// Evaluations to make in all.
    pub total: u64,
    /// Evaluations that devices have made in this run.
    pub on_devices: u64,
}

/// What a batch came to.
///
/// Its size depends on the number of programs and tasks, not of evaluations.
#[derive(Debug, Clone)]
pub struct Summary {
    /// How it was run.
    pub mode: Mode,
    /// On how many threads.
    pub workers: usize,
    /// The number of tasks, untried ones too.
    pub tasks: usize,
    /// The number of programs, those without a task too.
    pub programs: usize,
    /// How many evaluations the batch has: more than were made where it was
    /// [cancelled](crate::Options::cancellation) or its [time](crate::Options::time_limit) was over.
    pub planned: u64,
    /// How many of them were left out, since the program had been wrong or had failed on a pair of
    /// the task: see [`Options::stop_after_wrong`](crate::Options::stop_after_wrong).
    pub skipped: u64,
    /// The evaluations by outcome.
    pub totals: Totals,
    /// Wall-clock time of the evaluations and of the compiling that goes with them: reading files
    /// and writing reports is not in it.
    pub elapsed: Duration,
    /// Who made the evaluations, and how long compiling took.
    pub backends: Backends,
    /// How many tasks are [solved](TaskState::Solved).
    pub tasks_solved: u64,
    /// How many pairs of tasks at least one program is right on.
    pub pairs_right: u64,
    /// How many pairs of the tasks that were tried have an expected output.
    pub pairs_expected: u64,
    /// The pairs of other splits than `train` and `test`, by the name of the split. They are among the
    /// [`totals`](Self::totals), and nowhere else.
    pub by_split: BTreeMap<String, SplitCounts>,
    /// What each program came to, by its place in the batch.
    pub by_program: Vec<ProgramStats>,
    /// What became of each task, by its place in the batch.
    pub by_task: Vec<TaskState>,
    /// The first failure of each of the first [`FAILURES_KEPT`](Self::FAILURES_KEPT) programs that
    /// failed.
    pub failures: Vec<Failure>,
}

impl Summary {
    /// How many [`failures`](Self::failures) are kept.
    pub const FAILURES_KEPT: usize = 10;

    /// Whether all evaluations of the batch were made that were to be made: it was not ended on the
    /// way.
    pub fn is_complete(&self) -> bool {
        self.totals.evaluations + self.skipped == self.planned
    }

    /// Evaluations a second of wall-clock time; 0 where there are none.
    pub fn evaluations_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 {
            self.totals.evaluations as f64 / seconds
        } else {
            0.0
        }
    }

    /// How long the evaluations took, on all workers together.
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

    /// The programs that took most time, at most `count`, the slowest first, by their place in the
    /// batch.
    pub fn slowest(&self, count: usize) -> Vec<usize> {
        let mut programs: Vec<usize> = (0..self.by_program.len())
            .filter(|&program| self.by_program[program].evaluations > 0)
            .collect();
        programs.sort_by_key(|&program| std::cmp::Reverse(self.by_program[program].time));
        programs.truncate(count);
        programs
    }
}

/// Counts results into a [`Summary`].
pub(crate) struct Tally {
    summary: Summary,
    /// Whether some program is right on a pair, for all pairs of all tasks in their order.
    right: Vec<bool>,
    /// Where the pairs of each task begin in `right`.
    starts: Vec<usize>,
    current: Option<Current>,
}

/// The job whose results are coming in.
struct Current {
    job: Job,
    expected: u64,
    matched: u64,
}

impl Tally {
    pub(crate) fn new(batch: &Batch<'_>, mode: Mode, workers: usize) -> Self {
        let mut pairs = 0;
        let starts = batch.tasks().iter().map(|task| {
            pairs += task.pair_count();
            pairs - task.pair_count()
        });
        let starts = starts.collect();
        Self {
            summary: Summary {
                mode,
                workers,
                tasks: batch.tasks().len(),
                programs: batch.programs().len(),
                planned: batch.evaluations(),
                skipped: 0,
                totals: Totals::default(),
                elapsed: Duration::ZERO,
                backends: Backends::default(),
                tasks_solved: 0,
                pairs_right: 0,
                pairs_expected: 0,
                by_split: BTreeMap::new(),
                by_program: vec![ProgramStats::default(); batch.programs().len()],
                by_task: vec![TaskState::Untried; batch.tasks().len()],
                failures: Vec::new(),
            },
            right: vec![false; pairs],
            starts,
            current: None,
        }
    }

    /// The results that follow are of `job`.
    pub(crate) fn begin(&mut self, batch: &Batch<'_>, job: Job) {
        self.end();
        let task = batch.task(job);
        let known = batch.pairs(task).filter(|(_, pair)| pair.output.is_some());
        let is_first = self.summary.by_task[job.task as usize] == TaskState::Untried;
        let mut expected = 0;
        for (id, _) in known {
            if !matches!(id.split, Split::Other(_)) {
                expected += 1;
            } else if is_first {
                self.count(task, id, |split| split.pairs_expected += 1);
            }
        }
        if is_first {
            self.summary.by_task[job.task as usize] = TaskState::Unsolved;
            self.summary.pairs_expected += expected;
        }
        self.current = Some(Current {
            job,
            expected,
            matched: 0,
        });
    }

    /// Counts something for a split, by its name.
    fn count(&mut self, task: &Task, id: PairId, count: impl FnOnce(&mut SplitCounts)) {
        let name = task.split_name(id.split);
        match self.summary.by_split.get_mut(name) {
            Some(counts) => count(counts),
            None => count(self.summary.by_split.entry(name.to_owned()).or_default()),
        }
    }

    pub(crate) fn add(&mut self, task: &Task, job: Job, result: &PairResult) {
        let summary = &mut self.summary;
        let totals = &mut summary.totals;
        totals.evaluations += 1;
        match result.outcome {
            Outcome::Match => totals.right += 1,
            Outcome::Mismatch => totals.wrong += 1,
            Outcome::NoExpected => totals.no_expected += 1,
            Outcome::Error(_) | Outcome::Internal(_) => totals.errors += 1,
            Outcome::Limit(_) => totals.limits += 1,
        }
        let stats = &mut summary.by_program[job.program as usize];
        stats.evaluations += 1;
        stats.time += result.time;
        if result.outcome.is_failure() {
            if stats.failures == 0 && summary.failures.len() < Summary::FAILURES_KEPT {
                let (pair, outcome) = (result.pair, result.outcome.clone());
                summary.failures.push(Failure { job, pair, outcome });
            }
            stats.failures += 1;
        }
        let is_right = result.outcome == Outcome::Match;
        let at = self.starts[job.task as usize] + task.place_of(result.pair);
        let is_new = is_right && !self.right[at];
        self.right[at] |= is_right;
        if matches!(result.pair.split, Split::Other(_)) {
            self.count(task, result.pair, |split| {
                split.evaluations += 1;
                split.right += u64::from(is_right);
                split.pairs_right += u64::from(is_new);
            });
        } else if is_right {
            self.summary.pairs_right += u64::from(is_new);
            if let Some(current) = &mut self.current {
                current.matched += 1;
            }
        }
    }

    /// A pair of the job was left out.
    pub(crate) fn skip(&mut self) {
        self.summary.skipped += 1;
    }

    fn end(&mut self) {
        if let Some(Current {
            job,
            expected,
            matched,
        }) = self.current.take()
            && expected > 0
            && matched == expected
        {
            let state = &mut self.summary.by_task[job.task as usize];
            self.summary.tasks_solved += u64::from(*state != TaskState::Solved);
            *state = TaskState::Solved;
        }
    }

    pub(crate) fn finish(mut self, elapsed: Duration) -> Summary {
        self.end();
        self.summary.elapsed = elapsed;
        self.summary
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, Pair, Program, ProgramBuilder};

    use super::*;

    fn program(name: &str) -> Program {
        let builder = ProgramBuilder::new(name);
        let input = builder.input();
        builder.finish(input).unwrap()
    }

    /// A task of pairs with and without expected output.
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

    /// What becomes of one task when programs have these outcomes on its pairs.
    fn summary(expected: &[bool], by_program: &[&[Outcome]]) -> Summary {
        let programs: Vec<_> = (0..by_program.len())
            .map(|at| program(&format!("p_{at}")))
            .collect();
        let tasks = [task(expected)];
        let batch = Batch::all_pairs(&programs, &tasks);
        let mut tally = Tally::new(&batch, Mode::Sequential, 1);
        for (job, outcomes) in batch.jobs().zip(by_program) {
            tally.begin(&batch, job);
            for ((pair, _), outcome) in tasks[0].pairs().zip(outcomes.iter()) {
                let (outcome, time) = (outcome.clone(), Duration::from_millis(1));
                tally.add(
                    &tasks[0],
                    job,
                    &PairResult {
                        pair,
                        outcome,
                        output: None,
                        score: None,
                        time,
                        made_by: None,
                    },
                );
            }
        }
        tally.finish(Duration::from_secs(2))
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
            summary.failures[0].job,
            Job {
                program: 1,
                task: 0
            }
        );
        assert_eq!(summary.failures[0].pair.to_string(), "train[1]");
        assert_eq!(summary.by_program[1].failures, 2);
        assert_eq!(summary.slowest(3).len(), 3);
        assert_eq!(summary.by_program[0].time, Duration::from_millis(3));
    }
}
