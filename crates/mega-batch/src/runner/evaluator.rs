//! [`Evaluator`]: who answers an evaluation or passes it on. In which order evaluators are asked
//! [`chain`](super::chain) says.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use arc_cpu::{BailOut, Compiled};
use arc_dsl::{Pair, Program, Task};

use crate::backend::Maker;
use crate::options::Options;
use crate::outcome::Answer;

/// One program on one pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evaluation<'b> {
    /// Its place in the unit.
    pub(super) at: usize,
    pub(super) program: &'b Program,
    /// `None` if machines are not to evaluate the program.
    pub(super) compiled: Option<&'b Compiled>,
    pub(super) task: &'b Task,
    pub(super) pair: &'b Pair,
    pub(super) options: &'b Options,
}

/// Why an evaluator passes an evaluation on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PassedOn {
    /// It was not asked ahead, or has not got the program.
    Unanswered,
    /// It bailed out.
    BailedOut(BailOut),
    /// It panicked, which is a bug of the engine.
    Panicked,
    /// It would have to go past its bounds.
    AtBound,
}

/// Who evaluates programs on pairs. All give the same outcome where they answer.
pub(super) trait Evaluator {
    /// Answers an evaluation, or passes it on with the reason.
    fn evaluate(&mut self, evaluation: &Evaluation<'_>) -> Result<Answer, PassedOn>;
}

/// What an evaluator has answered of a unit that is asked for many evaluations at once, ahead of the others: a device
/// or a batt. Why it passes evaluations on it has counted itself.
#[derive(Debug)]
pub(super) struct Ahead<'m> {
    /// By the place of the evaluation in the unit; empty if it was not asked.
    pub(super) answers: &'m mut [Option<Answer>],
    pub(super) by: Maker,
    /// The time that it took, for each evaluation of the unit.
    pub(super) share: Duration,
}

impl Evaluator for Ahead<'_> {
    #[inline]
    fn evaluate(&mut self, evaluation: &Evaluation<'_>) -> Result<Answer, PassedOn> {
        let answer = self.answers.get_mut(evaluation.at).and_then(Option::take);
        answer.ok_or(PassedOn::Unanswered)
    }
}

/// What `work` gives, or what it panicked with.
///
/// Evaluators promise not to panic; this is what keeps a breach of that promise from costing more than the one
/// evaluation. It stands here rather than in them because it is the batch that has other work to lose.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(work))
}
