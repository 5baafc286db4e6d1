//! Measuring: runners take turns on batches of one size, and all outcomes are compared.
//!
//! Runners take turns because a shared machine is not equally fast all the time: the time of a turn is compared with
//! the same turn of the others. A turn repeats all batches of the size until it is long enough for the clock; its
//! time is the mean over its batches.

use std::io;
use std::time::{Duration, Instant};

use mega_batch::{Backends, Batch, Options, Runner, Totals};

use super::BenchError;
use super::outcomes::Outcomes;
use super::plan::Effort;
use super::workload::{Piece, Pool, Workload};

/// A named runner.
pub(super) struct Contender {
    pub(super) name: String,
    pub(super) runner: Runner,
    /// The size of the largest batch that it is given.
    pub(super) most: usize,
}

impl Contender {
    /// With a runner of its own; otherwise why the devices that it needs cannot be used.
    pub(super) fn new(
        name: impl Into<String>,
        options: &Options,
        most: usize,
    ) -> io::Result<Result<Self, String>> {
        let runner = Runner::new(options)?;
        Ok(match runner.no_device() {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(Self {
                name: name.into(),
                runner,
                most,
            }),
        })
    }
}

/// What was measured of one contender.
#[derive(Debug)]
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
    pub(super) kind: Workload,
    pub(super) size: usize,
    pieces: Vec<Piece<'p>>,
}

impl<'p> Load<'p> {
    pub(super) fn new(pool: &'p Pool, kind: Workload, size: usize) -> Self {
        let pieces = pool.pieces(size);
        Self { kind, size, pieces }
    }

    fn batches(&self) -> Result<Vec<Batch<'_>>, BenchError> {
        let batches = self.pieces.iter().map(Piece::batch);
        batches.collect::<Result<_, _>>().map_err(BenchError::Batch)
    }

    /// Whether each program is right on its tasks.
    fn is_all_right(&self) -> bool {
        self.kind != Workload::Batt
    }

    /// Every contender runs every batch once, to warm up; the outcome of each evaluation must be the same for all of
    /// them. Returns the totals of each batch.
    pub(super) fn check(&self, contenders: &mut [Contender]) -> Result<Vec<Totals>, BenchError> {
        let batches = self.batches()?;
        let mut totals = Vec::with_capacity(batches.len());
        for batch in &batches {
            let mut first: Option<(String, Outcomes)> = None;
            for contender in contenders.iter_mut().filter(|one| one.most >= self.size) {
                let mut found = Outcomes::default();
                let summary = contender.runner.run_into(batch, &mut found)?;
                let Some((name, expected)) = &first else {
                    if self.is_all_right()
                        && let Some(evaluation) = found.not_right(batch)
                    {
                        return Err(self.wrong(&contender.name, evaluation));
                    }
                    totals.push(summary.totals);
                    first = Some((contender.name.clone(), found));
                    continue;
                };
                if let Some(difference) = expected.difference(&found, batch) {
                    return Err(BenchError::Different {
                        kind: self.kind,
                        size: self.size,
                        first: name.clone(),
                        mode: contender.name.clone(),
                        difference,
                    });
                }
            }
        }
        Ok(totals)
    }

    fn wrong(&self, mode: &str, evaluation: String) -> BenchError {
        BenchError::Wrong {
            kind: self.kind,
            size: self.size,
            mode: mode.to_owned(),
            evaluation,
        }
    }

    /// Warms up, compares, and measures by turns.
    pub(super) fn measure(
        &self,
        contenders: &mut [Contender],
        effort: Effort,
    ) -> Result<Vec<Option<Turns>>, BenchError> {
        let expected = self.check(contenders)?;
        let batches = self.batches()?;
        let mut all: Vec<Option<Turns>> = contenders
            .iter()
            .map(|one| {
                (one.most >= self.size).then(|| Turns {
                    seconds: Vec::new(),
                    batches: 0,
                    backends: Backends::default(),
                })
            })
            .collect();
        let began = Instant::now();
        let taking_part = all.iter().flatten().count() as u32;
        let time = effort.time * taking_part;
        let mut turns = 0;
        while turns < effort.turns || began.elapsed() < time {
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
    ) -> Result<(), BenchError> {
        let began = Instant::now();
        let mut count = 0;
        loop {
            for (batch, expected) in batches.iter().zip(expected) {
                let summary = contender.runner.run_into(batch, &mut ())?;
                if summary.totals != *expected {
                    let found = summary.totals;
                    let counted = format!("expected {expected:?}, found {found:?}");
                    return Err(self.wrong(&contender.name, counted));
                }
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
    use mega_batch::{Backend, Mode};

    use super::*;

    fn contender(name: &str, options: &Options) -> Contender {
        Contender::new(name, options, usize::MAX).unwrap().unwrap()
    }

    const EFFORT: Effort = Effort {
        time: Duration::ZERO,
        turn: Duration::ZERO,
        turns: 2,
    };

    fn both() -> [Contender; 2] {
        [
            (Mode::Sequential, Backend::Reference),
            (Mode::Parallel, Backend::Auto),
        ]
        .map(|(mode, backend)| {
            let mut options = Options::default();
            options.mode = mode;
            options.backend = backend;
            contender(&backend.to_string(), &options)
        })
    }

    #[test]
    fn contenders_take_turns() {
        for kind in [Workload::WholePrograms, Workload::Batt] {
            let pool = Pool::new(kind, 50);
            let mut contenders = both();
            contenders[1].most = 10;
            let small = Load::new(&pool, kind, 10)
                .measure(&mut contenders, EFFORT)
                .unwrap();
            for turns in small {
                let turns = turns.unwrap();
                assert_eq!(turns.seconds.len(), 2);
                assert!(turns.seconds.iter().all(|seconds| *seconds > 0.0) && turns.batches > 2);
            }
            let large = Load::new(&pool, kind, 50)
                .measure(&mut contenders, EFFORT)
                .unwrap();
            assert!(large[0].is_some() && large[1].is_none());
        }
    }

    #[test]
    fn what_is_not_equal_is_an_error_that_names_it() {
        let kind = Workload::Of(arc_dsl::builtin::Kind::Objects);
        let pool = Pool::new(kind, 5);
        // An evaluation that may take no steps ends at the limit.
        let limits = Limits {
            max_steps: 0,
            ..Limits::default()
        };
        let mut bounded = Options::default();
        bounded.limits = limits;
        bounded.backend = Backend::Reference;
        let [right, _] = both();
        let mut contenders = [right, contender("bounded", &bounded)];
        let error = Load::new(&pool, kind, 5).measure(&mut contenders, EFFORT);
        let error = error.unwrap_err().to_string();
        let start = "objects, 5 evaluations a batch: bounded differs from reference: program ";
        assert!(error.starts_with(start), "{error}");
        assert!(error.contains("train[0]: match, and limit ("), "{error}");

        let error = Load::new(&pool, kind, 5).check(&mut [contender("bounded", &bounded)]);
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("objects, 5 evaluations a batch, bounded: program "),
            "{error}"
        );
    }
}
