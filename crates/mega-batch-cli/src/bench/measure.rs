//! Measuring: runners take turns on batches of one size, and all outcomes are compared.
//!
//! Runners take turns because a shared machine is not equally fast all the time: the time of a turn is compared with
//! the same turn of the others. A turn repeats all batches of the size until it is long enough for the clock; its
//! time is the mean over its batches.

use std::io;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use mega_batch::{Backends, Batch, JobResult, Options, Report, Runner, Totals};

use super::outcomes::{difference, not_right};
use super::plan::{BenchMode, BenchPlan};
use super::table::counted;
use super::workload::{Piece, Pool, Workload};

/// A mode with its runner.
pub(super) struct Contender {
    pub(super) mode: BenchMode,
    /// The number of workers or GPUs, if it is given.
    pub(super) count: Option<usize>,
    pub(super) runner: Runner,
    /// The size of the largest batch that it is given.
    pub(super) most: usize,
}

impl Contender {
    /// With a runner of its own; otherwise why the devices that it needs cannot be used.
    pub(super) fn new(
        mode: BenchMode,
        count: Option<usize>,
        options: &Options,
        most: usize,
    ) -> io::Result<Result<Self, String>> {
        let runner = Runner::new(options)?;
        Ok(match runner.no_device() {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(Self {
                mode,
                count,
                runner,
                most,
            }),
        })
    }

    /// Its name in tables.
    pub(super) fn name(&self) -> String {
        let named = |count| counted(self.mode, count);
        self.count.map_or_else(|| self.mode.to_string(), named)
    }
}

/// What was measured of one contender.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Seconds per batch, by turn.
    pub(super) seconds: Vec<f64>,
    /// How many batches were run in all.
    pub(super) batches: usize,
    /// Which backends ran the evaluations of the last batch.
    pub(super) backends: Backends,
}

/// Batches of one size and kind.
pub(super) struct Load<'p> {
    pub(super) kind: &'p str,
    pub(super) size: usize,
    workload: &'p Workload<'p>,
    pieces: Vec<Piece<'p>>,
}

impl<'p> Load<'p> {
    pub(super) fn new(
        pool: &'p Pool,
        kind: &'p str,
        workload: &'p Workload<'p>,
        size: usize,
    ) -> Self {
        Self {
            kind,
            size,
            workload,
            pieces: pool.pieces(size),
        }
    }

    pub(super) fn batches(&self) -> anyhow::Result<Vec<Batch<'_>>> {
        let batches = self.pieces.iter().map(Piece::batch);
        Ok(batches.collect::<Result<_, _>>()?)
    }

    /// The mean number of calls of an evaluation's program.
    pub(super) fn steps(&self) -> anyhow::Result<f64> {
        let (mut steps, mut evaluations) = (0, 0);
        for batch in self.batches()? {
            for job in batch.jobs() {
                let pairs = batch.pair_count(batch.task(job));
                steps += pairs * batch.program(job).steps().len();
                evaluations += pairs;
            }
        }
        Ok(steps as f64 / evaluations.max(1) as f64)
    }

    /// Every contender runs every batch once, to warm up; the outcome of each evaluation must be the same for all of
    /// them. Returns the totals of each batch.
    pub(super) fn check(&self, contenders: &mut [Contender]) -> anyhow::Result<Vec<Totals>> {
        let batches = self.batches()?;
        let mut totals = Vec::with_capacity(batches.len());
        for batch in &batches {
            let mut first: Option<(String, Vec<JobResult>)> = None;
            for contender in contenders.iter_mut().filter(|one| one.most >= self.size) {
                let Report {
                    summary, results, ..
                } = contender.runner.run(batch)?;
                let mode = contender.name();
                let Some((name, expected)) = &first else {
                    if self.workload.is_all_right()
                        && let Some(evaluation) = not_right(&results, batch)
                    {
                        bail!("{}, {mode}: {evaluation}", self.name());
                    }
                    totals.push(summary.totals);
                    first = Some((mode, results));
                    continue;
                };
                if let Some(difference) = difference(expected, &results, batch) {
                    let batch = self.name();
                    bail!("{batch}: {mode} differs from {name}: {difference}");
                }
            }
        }
        Ok(totals)
    }

    fn name(&self) -> String {
        format!("{}, {} evaluations a batch", self.kind, self.size)
    }

    /// Warms up and compares, unless that was done, and measures by turns; once the time is up, no turn begins but the first.
    pub(super) fn measure(
        &self,
        contenders: &mut [Contender],
        plan: &BenchPlan,
        expected: Option<Vec<Totals>>,
    ) -> anyhow::Result<Vec<Option<Turns>>> {
        let effort = plan.effort(self.workload);
        let expected = expected.map_or_else(|| self.check(contenders), Ok)?;
        let batches = self.batches()?;
        let mut all: Vec<Option<Turns>> = contenders
            .iter()
            .map(|one| (one.most >= self.size).then(Turns::default))
            .collect();
        let began = Instant::now();
        let taking_part = all.iter().flatten().count() as u32;
        let time = effort.time * taking_part;
        let mut turns = 0;
        while turns == 0 || (turns < effort.turns || began.elapsed() < time) && !plan.is_over() {
            for (contender, turns) in contenders.iter_mut().zip(&mut all) {
                if let Some(turns) = turns {
                    self.turn(contender, &batches, &expected, effort.turn, turns)?;
                }
            }
            turns += 1;
        }
        Ok(all)
    }

    fn turn(
        &self,
        contender: &mut Contender,
        batches: &[Batch<'_>],
        expected: &[Totals],
        at_least: Duration,
        turns: &mut Turns,
    ) -> anyhow::Result<()> {
        let began = Instant::now();
        let mut count = 0;
        loop {
            for (batch, expected) in batches.iter().zip(expected) {
                let summary = contender.runner.run_into(batch, &mut ())?;
                let (found, name) = (summary.totals, contender.name());
                ensure!(
                    found == *expected,
                    "{}, {name}: expected {expected:?}, found {found:?}",
                    self.name()
                );
                turns.backends = summary.backends;
            }
            count += batches.len();
            let elapsed = began.elapsed();
            if elapsed >= at_least {
                turns
                    .seconds
                    .push(elapsed.as_secs_f64() / count.max(1) as f64);
                turns.batches += count;
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::Limits;
    use arc_tasks::builtin::BuiltinKind;
    use mega_batch::Backend;

    use super::super::plan::tests::plan;
    use super::*;

    fn contender(mode: BenchMode, options: &Options) -> Contender {
        let contender = Contender::new(mode, None, options, usize::MAX);
        contender.unwrap().unwrap()
    }

    fn both() -> [Contender; 2] {
        let modes = [BenchMode::Reference, BenchMode::Parallel];
        modes.map(|mode| contender(mode, &mode.options(None)))
    }

    #[test]
    fn contenders_take_turns_until_the_time_is_up() {
        for kind in [Workload::WholePrograms, Workload::Batt] {
            let pool = Pool::new(&kind, 50);
            let mut contenders = both();
            contenders[1].most = 10;
            let small = Load::new(&pool, "small", &kind, 10);
            let small = small.measure(&mut contenders, &plan(&[]), None).unwrap();
            for turns in small {
                let turns = turns.unwrap();
                assert!(turns.seconds.len() > 2);
                assert!(turns.seconds.iter().all(|seconds| *seconds > 0.0) && turns.batches > 2);
            }
            let over = BenchPlan {
                until: Instant::now(),
                ..plan(&[])
            };
            let large = Load::new(&pool, "large", &kind, 50);
            let large = large.measure(&mut contenders, &over, None).unwrap();
            assert_eq!(large[0].as_ref().unwrap().seconds.len(), 1);
            assert!(large[1].is_none());
        }
    }

    #[test]
    fn what_is_not_equal_is_an_error_that_names_it() {
        let kind = Workload::Of(BuiltinKind::Objects);
        let pool = Pool::new(&kind, 5);
        // An evaluation that may take no steps ends at the limit.
        let limits = Limits {
            max_steps: 0,
            ..Limits::default()
        };
        let mut bounded = Options::default();
        bounded.limits = limits;
        bounded.backend = Backend::Reference;
        let [right, _] = both();
        let mut contenders = [right, contender(BenchMode::Sequential, &bounded)];
        let load = Load::new(&pool, "objects", &kind, 5);
        let error = load.measure(&mut contenders, &plan(&[]), None);
        let error = error.unwrap_err().to_string();
        let start = "objects, 5 evaluations a batch: sequential differs from reference: program ";
        assert!(error.starts_with(start), "{error}");
        assert!(error.contains("train[0]: match, and limit ("), "{error}");

        let error = load.check(&mut [contender(BenchMode::Sequential, &bounded)]);
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("objects, 5 evaluations a batch, sequential: program "),
            "{error}"
        );
    }
}
