//! [`Evaluation`]: what evaluators are asked. [`chain`](super::chain) defines the order in which they are asked.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use arc_cpu::{BailOut, Compiled};
use arc_dsl::Program;
use arc_tasks::{Pair, Task};

use crate::batch::options::Options;
use crate::results::outcome::Answer;
use crate::run::backend::EvaluatedBy;

/// One program on one pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evaluation<'b> {
    /// Its index in the unit.
    pub(super) at: usize,
    pub(super) program: &'b Program,
    /// `None` if machines must not evaluate the program.
    pub(super) compiled: Option<&'b Compiled>,
    pub(super) task: &'b Task,
    pub(super) pair: &'b Pair,
    pub(super) options: &'b Options,
}

/// Why the machine passes an evaluation on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PassedOn {
    /// It does not have the program.
    Unanswered,
    /// It bailed out.
    BailedOut(BailOut),
    /// It panicked, which is a bug of the engine.
    Panicked,
}

/// The answers of an evaluator that is asked for many evaluations at once, before the others: a device or a batt. It
/// counts by itself why it passes evaluations on.
#[derive(Debug)]
pub(super) struct Ahead<'m> {
    /// By the index of the evaluation in the unit; empty if it was not asked.
    pub(super) answers: &'m mut [Option<Answer>],
    pub(super) by: EvaluatedBy,
    /// The time that it took per evaluation of the unit.
    pub(super) share: Duration,
}

impl Ahead<'_> {
    /// The answer of an evaluation, if there is one.
    #[inline]
    pub(super) fn take(&mut self, evaluation: &Evaluation<'_>) -> Option<Answer> {
        self.answers.get_mut(evaluation.at)?.take()
    }
}

/// The result of `work`, or what it panicked with.
///
/// Evaluators promise not to panic; if one does, this limits the damage to one evaluation. The guard is here, not in
/// the evaluators, because only the batch has other work to lose.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(work))
}
