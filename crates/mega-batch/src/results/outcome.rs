//! [`Outcome`]: the outcome of one program on one pair.

use std::borrow::Cow;
use std::time::Duration;

use arc_dsl::{EvalError, Value};
use arc_tasks::{Pair, PairId, Split};
use python_pool::Failure;
use serde::{Deserialize, Serialize};

use crate::batch::Job;
use crate::batch::options::Options;
use crate::results::score::Score;
use crate::run::backend::EvaluatedBy;

/// The outcome of one evaluation: one program on one pair. It is serialised for checkpoints; reports have its
/// [name](Self::name).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The output is the expected grid.
    Match,
    /// The output is not the expected grid, or not a grid at all.
    Mismatch,
    /// There is an output, but the expected one is not known.
    NoExpected,
    /// The program failed.
    Error(Box<EvalError>),
    /// A limit was reached; the program may be right, but it was not run to its end.
    Limit(Box<EvalError>),
    /// The engine itself failed, with this message: a bug that affects only this evaluation.
    Internal(Box<str>),
    /// A program in free Python failed or reached a limit.
    Python(Box<Failure>),
}

impl Outcome {
    /// The word that reports use; an internal error counts as an error.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Match => "match",
            Outcome::Mismatch => "mismatch",
            Outcome::NoExpected => "no_expected",
            Outcome::Error(_) | Outcome::Internal(_) => "error",
            Outcome::Limit(_) => "limit",
            Outcome::Python(failure) => match failure.limit() {
                Some(_) => "limit",
                None => "error",
            },
        }
    }

    /// The error, if there is no output.
    pub fn error(&self) -> Option<Cow<'static, str>> {
        match self {
            Outcome::Match | Outcome::Mismatch | Outcome::NoExpected => None,
            Outcome::Error(error) | Outcome::Limit(error) => Some(error.to_string().into()),
            Outcome::Internal(message) => Some(format!("internal error: {message}").into()),
            Outcome::Python(failure) => Some(failure.to_string().into()),
        }
    }

    /// Whether there is no output.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Outcome::Error(_) | Outcome::Limit(_) | Outcome::Internal(_) | Outcome::Python(_)
        )
    }

    /// Whether the program cannot be right on the task: its output is wrong, or there is none.
    pub fn is_wrong(&self) -> bool {
        *self == Outcome::Mismatch || self.is_failure()
    }

    /// Compares an output with the expected one, if any: the only place that does. `is_equal` compares, since each
    /// evaluator has its own representation of outputs.
    #[inline]
    pub(crate) fn compare<T: Copy>(expected: Option<T>, is_equal: impl FnOnce(T) -> bool) -> Self {
        match expected {
            None => Outcome::NoExpected,
            Some(expected) if is_equal(expected) => Outcome::Match,
            Some(_) => Outcome::Mismatch,
        }
    }
}

/// The answer of an evaluator: the outcome, and the output if it [is wanted](is_wanted).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    pub(crate) output: Option<Value>,
}

impl Answer {
    /// The answer for an evaluation that returned a value or an error.
    pub(crate) fn of(result: Result<Value, EvalError>, pair: &Pair, options: &Options) -> Self {
        match result {
            Ok(value) => {
                let expected = pair.output.as_ref();
                let outcome = Outcome::compare(expected, |expected| value.is_grid(expected));
                let output = is_wanted(options, &outcome).then_some(value);
                Self { outcome, output }
            }
            Err(error) if error.limit().is_some() => Outcome::Limit(Box::new(error)).into(),
            Err(error) => Outcome::Error(Box::new(error)).into(),
        }
    }
}

/// Without an output.
impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        let output = None;
        Self { outcome, output }
    }
}

/// The result of one evaluation.
#[derive(Debug, Clone)]
pub struct PairResult {
    /// The pair of the job's task.
    pub pair: PairId,
    /// Its outcome.
    pub outcome: Outcome,
    /// The program's output, if [`Options::keep_outputs`](crate::Options::keep_outputs) asks for it, and on test
    /// pairs also if [`Options::scores`](crate::Options::scores) does.
    pub output: Option<Value>,
    /// How close the output is, if there is one and [`Options::scores`](crate::Options::scores) asks for it.
    pub score: Option<Score>,
    /// How long it took; with compiled programs, its share of the time of a sequence of evaluations of its program.
    pub time: Duration,
    /// Which evaluator answered; `None` if the result comes from a checkpoint or a shard, which do not record that.
    pub evaluated_by: Option<EvaluatedBy>,
}

/// The results of one job.
#[derive(Debug, Clone)]
pub struct JobResult {
    /// The program and the task.
    pub job: Job,
    /// A result for every evaluated pair of the task, those of `train` first.
    pub pairs: Vec<PairResult>,
}

/// The result of an evaluation, or `None` if it was left out or a stop came first.
pub(crate) type Known = Option<PairResult>;

/// Whether an evaluator has to return the output. If the output is right, the task contains it.
pub(crate) fn is_wanted(options: &Options, outcome: &Outcome) -> bool {
    options.keep_outputs || options.scores && *outcome != Outcome::Match
}

/// Sets the score of a result, if scores are asked for, and removes the output unless it is to be kept.
pub(crate) fn set_score(options: &Options, result: &mut PairResult, pair: &Pair) {
    if !options.scores || result.outcome.is_failure() {
        return;
    }
    let expected = pair.output.as_ref();
    if result.outcome == Outcome::Match && result.output.is_none() {
        result.score = expected.map(|expected| Score::of(expected, Some(expected)));
        if result.pair.split == Split::Test {
            result.output = expected.cloned().map(Value::from);
        }
        return;
    }
    let grid = result.output.as_ref().and_then(Value::as_grid);
    result.score = Some(match grid {
        Some(grid) => Score::of(&grid, expected),
        None => Score {
            digest: Score::NO_GRID,
            cells_right: 0,
        },
    });
    if !options.keep_outputs && result.pair.split != Split::Test {
        result.output = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::Grid;

    #[test]
    fn an_output_is_compared_with_what_is_expected() {
        let [grid, other] = [1, 2].map(|width| Grid::filled(1, width, 0));
        let with = |expected: Option<&Grid>, value: Value| {
            let pair = Pair::new(grid.clone(), expected.cloned());
            let options = Options {
                scores: true,
                ..Options::default()
            };
            Answer::of(Ok(value), &pair, &options)
        };
        let of = |outcome, output: Option<Value>| Answer { outcome, output };
        let value = || Value::from(grid.clone());
        assert_eq!(with(Some(&grid), value()), of(Outcome::Match, None));
        let mismatch = of(Outcome::Mismatch, Some(value()));
        assert_eq!(with(Some(&other), value()), mismatch);
        let nothing = of(Outcome::Mismatch, Some(Value::Nothing));
        assert_eq!(with(Some(&grid), Value::Nothing), nothing);
        assert_eq!(with(None, value()), of(Outcome::NoExpected, Some(value())));
    }
}
