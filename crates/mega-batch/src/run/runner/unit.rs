//! [`Unit`]: evaluations of one program that a worker runs in one go.

use std::ops::Range;

use arc_tasks::{Pair, PairId, Task};

use crate::batch::Batch;
use crate::run::delivery::BatchPosition;

/// The maximum size of a unit: large enough that dispatching it costs next to nothing, and small enough to keep all
/// workers busy to the end.
const UNIT: usize = 64;

/// Consecutive evaluations of one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    /// The program.
    pub(super) program: u32,
    /// The index of the first job.
    pub(super) job: usize,
    /// The first evaluation: the index of its pair in the first job's task.
    pub(super) pair: usize,
    /// How many evaluations there are, including those of later jobs.
    pub(super) len: usize,
}

impl Unit {
    /// The first `evaluations` evaluations, and the rest.
    pub(super) fn split_at(&self, batch: &Batch<'_>, evaluations: usize) -> (Self, Self) {
        let first = Self {
            len: evaluations.min(self.len),
            ..*self
        };
        let (mut job, mut pair) = (self.job, self.pair + first.len);
        let pair_count = |job| batch.pairs_of(batch.job(job));
        while first.len < self.len && pair >= pair_count(job) {
            pair -= pair_count(job);
            job += 1;
        }
        let others = Self {
            job,
            pair,
            len: self.len - first.len,
            ..*self
        };
        (first, others)
    }

    /// The index of the job of each evaluation.
    pub(super) fn jobs(&self, batch: &Batch<'_>) -> impl Iterator<Item = usize> {
        let (job, pair) = (self.job, self.pair);
        let mut place = BatchPosition { job, pair };
        let jobs = std::iter::from_fn(move || Some(place.next(batch)?.0));
        jobs.take(self.len)
    }

    /// The pair of each evaluation.
    pub(super) fn pairs<'b>(
        &self,
        batch: &'b Batch<'b>,
    ) -> impl Iterator<Item = (PairId, &'b Pair)> + Clone {
        self.of_tasks(batch).map(|(_, pair)| pair)
    }

    /// The same, each with its task.
    pub(super) fn of_tasks<'b>(
        &self,
        batch: &'b Batch<'b>,
    ) -> impl Iterator<Item = (&'b Task, (PairId, &'b Pair))> + Clone {
        self.places(batch).map(|(task, pair)| {
            let task = &batch.tasks()[task];
            (task, task.pair_at(pair))
        })
    }

    /// The pairs as indices: of the task, and of the pair in the task.
    pub(super) fn places<'b>(
        &self,
        batch: &'b Batch<'b>,
    ) -> impl Iterator<Item = (usize, usize)> + Clone + use<'b> {
        let ranges = self.ranges(batch);
        ranges.flat_map(|(task, pairs)| pairs.map(move |pair| (task, pair)))
    }

    /// The same for all pairs of a task that follow each other.
    pub(super) fn ranges<'b>(
        &self,
        batch: &'b Batch<'b>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + Clone + use<'b> {
        let (mut job, mut pair, mut left) = (self.job, self.pair, self.len);
        std::iter::from_fn(move || {
            (left > 0).then(|| {
                let task = batch.job(job).task as usize;
                let pairs = pair..batch.pairs_in(task).min(pair + left);
                (job, pair, left) = (job + 1, 0, left - pairs.len());
                (task, pairs)
            })
        })
    }
}

/// The units of a range of evaluations.
pub(super) fn units_of(batch: &Batch<'_>, evaluations: &Range<u64>) -> Vec<Unit> {
    let (job, pair) = batch.evaluation(evaluations.start);
    let count = (evaluations.end - evaluations.start) as usize;
    Units(batch, BatchPosition { job, pair }).window(count)
}

/// Cuts a batch into units, from here on.
#[derive(Debug)]
struct Units<'b>(&'b Batch<'b>, BatchPosition);

impl Units<'_> {
    /// The units of the next `evaluations`; fewer if the batch ends.
    fn window(&mut self, evaluations: usize) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut left = evaluations;
        while left > 0 && self.1.job < self.0.job_count() {
            let unit = self.unit(left.min(UNIT));
            left -= unit.len;
            if unit.len > 0 {
                units.push(unit);
            }
        }
        units
    }

    /// The next unit, of at most `most` evaluations.
    fn unit(&mut self, most: usize) -> Unit {
        let Self(batch, place) = self;
        let program = batch.job(place.job).program;
        let mut unit = Unit {
            program,
            job: place.job,
            pair: place.pair,
            len: 0,
        };
        while unit.len < most && place.job < batch.job_count() {
            let job = batch.job(place.job);
            if job.program != program {
                break;
            }
            let pairs = batch.pairs_of(job);
            let taken = (pairs - place.pair).min(most - unit.len);
            unit.len += taken;
            place.pair += taken;
            if place.pair == pairs {
                (place.job, place.pair) = (place.job + 1, 0);
            }
        }
        unit
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, Program, ProgramBuilder};
    use arc_tasks::Task;

    use super::*;
    use crate::batch::Job;

    fn program(name: &str) -> Program {
        let builder = ProgramBuilder::new(name);
        let input = builder.input();
        builder.finish(input).unwrap()
    }

    /// A task whose inputs are as wide as their index plus one.
    fn task(train: usize, test: usize) -> Task {
        let pair = |at: usize| Pair::new(Grid::filled(1, at + 1, 0), None);
        Task {
            id: "a".into(),
            train: (0..train).map(pair).collect(),
            test: (train..train + test).map(pair).collect(),
            ..Task::default()
        }
    }

    #[test]
    fn units_are_the_batch_in_its_order() {
        let programs = ["p_1", "p_2", "p_3"].map(program);
        let tasks = [task(3, 1), task(0, 0), task(UNIT, UNIT + 5), task(0, 2)];
        let jobs = [
            (0, 0),
            (0, 2),
            (1, 1),
            (2, 2),
            (0, 3),
            (0, 1),
            (0, 0),
            (2, 1),
        ];
        let listed = jobs.map(|(program, task)| Job { program, task }).to_vec();
        let batches = [
            Batch::all_pairs(&programs, &tasks),
            Batch::listed(&programs, &tasks, listed).unwrap(),
            Batch::listed(&programs, &tasks, vec![]).unwrap(),
        ];
        for batch in &batches {
            let expected: Vec<_> = batch
                .jobs()
                .flat_map(|job| batch.task(job).pairs().map(move |pair| (job.program, pair)))
                .collect();
            for size in [1, 7, UNIT, 1000] {
                let mut units = Units(batch, BatchPosition::default());
                let mut evaluations = Vec::new();
                loop {
                    let window = units.window(size);
                    if window.is_empty() {
                        break;
                    }
                    assert!(window.iter().all(|unit| (1..=UNIT).contains(&unit.len)));
                    let before = evaluations.len();
                    for unit in &window {
                        evaluations.extend(unit.pairs(batch).map(|pair| (unit.program, pair)));
                    }
                    let so_many = size.min(expected.len() - before);
                    assert_eq!(evaluations.len() - before, so_many);
                }
                assert_eq!(evaluations, expected);
            }
        }
    }

    #[test]
    fn a_unit_in_two_has_the_same_evaluations() {
        let programs = ["p_1"].map(program);
        let tasks = [task(3, 1), task(0, 0), task(4, 2), task(0, 0)];
        let batch = Batch::all_pairs(&programs, &tasks);
        let all = Units(&batch, BatchPosition::default()).window(100)[0];
        for start in 0..=all.len {
            let (_, unit) = all.split_at(&batch, start);
            let whole: Vec<_> = unit.pairs(&batch).collect();
            assert_eq!(whole.len(), all.len - start);
            for at in 0..=unit.len {
                let (first, others) = unit.split_at(&batch, at);
                assert_eq!(first.len, at);
                let both = first.pairs(&batch).chain(others.pairs(&batch));
                assert_eq!(both.collect::<Vec<_>>(), whole);
            }
        }
    }

    #[test]
    fn programs_of_a_few_pairs_make_units_of_them() {
        let programs = ["p_1", "p_2"].map(program);
        let tasks = [task(3, 1), task(4, 2)];
        let batch = Batch::all_pairs(&programs, &tasks);
        let window = Units(&batch, BatchPosition::default()).window(100);
        let lens: Vec<_> = window.iter().map(|unit| (unit.program, unit.len)).collect();
        assert_eq!(lens, [(0, 10), (1, 10)]);
    }
}
