//! [`Chain`]: the order in which evaluators are asked for an evaluation, and what happens at a limit.
//!
//! 1. The evaluator that was asked ahead: a device, which evaluates whole batches ([`device`](super::device)), or a
//!    batt, which evaluates all programs of a task ([`merging`](super::merging)). Of an evaluation only one of them is
//!    asked.
//! 2. The machine of the thread, if the program is compiled. It bails out of what it has no room or no code for. If its
//!    vectorised loops replace more calls of the reference than that may take steps, the answer is that limit.
//! 3. The reference. It always answers, but may reach one of its limits.
//!
//! If the reference reaches a limit, evaluators are asked whose own bounds may be wider:
//!
//! 4. the machine, with the program compiled for this evaluation, unless the program was compiled and the machine has
//!    passed the evaluation on;
//! 5. a batt of this program alone.
//!
//! If neither answers, the answer is the reference's limit. So whether a machine or batt gets further than the
//! reference does not depend on the backend, on how often the program is evaluated, or on the other programs.
//!
//! If no output is wanted, a [verdict](arc_cpu::Verdict) may tell that it is wrong without it. Where programs run on many
//! tasks it comes before the machine's steps. It does not know the limits of what it leaves out, so it also comes before
//! every answer that is a limit.
//!
//! A program in free Python is asked of the pool of its batch alone ([`free_python`](super::free_python)).
//!
//! Within limits that [machines do not support](Backend::allows), only the reference is asked.

use std::any::Any;
use std::time::{Duration, Instant};

use arc_cpu::{Compiled, Compiler, Machine, Stop, Verdict};
use arc_dsl::{EvalError, Interpreter, Limits, Sample, Value};
use arc_tasks::Pair;

use super::evaluator::{Ahead, Evaluation, PassedOn, caught};
use super::merging::by_lone_batt;
use crate::batch::options::{Backend, Options};
use crate::results::outcome::{Answer, Outcome, is_wanted};
use crate::run::backend::{BackendCounts, EvaluatedBy};
use crate::run::compilers::Compilers;
use crate::run::panics::message;

/// The evaluators of a thread. Earlier evaluations do not affect later ones.
#[derive(Debug)]
pub(super) struct Chain {
    machine: Machine,
    reference: Interpreter,
    pub(super) counts: BackendCounts,
}

/// An evaluation with its answer.
#[derive(Debug)]
pub(super) struct Evaluated {
    pub(super) answer: Answer,
    pub(super) by: EvaluatedBy,
    /// How long it took from asking the reference on; `None` if the reference was not asked.
    pub(super) by_reference: Option<Duration>,
}

impl Chain {
    /// Evaluators with these limits.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            machine: Machine::new(limits),
            reference: Interpreter::new(limits.clone()),
            counts: BackendCounts::default(),
        }
    }

    /// Asks one evaluator after another. If the batch is stopped, only asks for the answer given ahead; `None` if there
    /// is none.
    #[inline]
    pub(super) fn ask(
        &mut self,
        evaluation: &Evaluation<'_>,
        ahead: &mut Ahead<'_>,
        compilers: &Compilers,
        is_stopped: bool,
    ) -> Option<Evaluated> {
        let without_reference = |answer, by| {
            Some(Evaluated {
                answer,
                by,
                by_reference: None,
            })
        };
        if let Some(answer) = ahead.take(evaluation) {
            return without_reference(answer, ahead.by);
        }
        if is_stopped {
            return None;
        }
        let mut bailed_out = None;
        match by_machine(&mut self.machine, evaluation) {
            Ok(answer) => {
                let answer = self.finish(answer, evaluation);
                return without_reference(answer, EvaluatedBy::Machine);
            }
            Err(PassedOn::BailedOut(reason)) => {
                *self.counts.bail_outs.entry(reason).or_default() += 1;
                bailed_out = Some(reason);
            }
            Err(PassedOn::Panicked) => self.counts.panics += 1,
            Err(PassedOn::Unanswered) => {}
        }
        let began = Instant::now();
        let (answer, by) = self.ask_reference(evaluation, compilers);
        let answer = self.finish(answer, evaluation);
        let time = began.elapsed();
        if let Some(reason) = bailed_out {
            *self.counts.times.entry(reason).or_default() += time;
        }
        Some(Evaluated {
            answer,
            by,
            by_reference: Some(time),
        })
    }

    /// The answer, unless it is a limit and the verdict knows better.
    #[inline]
    fn finish(&mut self, answer: Answer, evaluation: &Evaluation<'_>) -> Answer {
        let &Evaluation {
            program,
            pair,
            options,
            ..
        } = evaluation;
        if options.needs_outputs() || !matches!(answer.outcome, Outcome::Limit(_)) {
            return answer;
        }
        let known = attempt(&mut self.machine, &options.limits, |machine| {
            let form = arc_form::specialise(program).ok();
            let verdict = form.and_then(|form| Verdict::new(&form, &mut Compiler::default()));
            let expected = pair.output.as_ref();
            let (verdict, expected) = verdict.zip(expected).ok_or(PassedOn::Unanswered)?;
            match machine.is_excluded(&verdict, &pair.input, expected) {
                Ok(true) => Ok(Outcome::Mismatch.into()),
                Ok(false) => Err(PassedOn::Unanswered),
                Err(error) => Ok(Answer::of(Err(error), pair, options)),
            }
        });
        known.unwrap_or(answer)
    }

    /// Asks the reference, and the others if it reaches a limit.
    fn ask_reference(
        &mut self,
        evaluation: &Evaluation<'_>,
        compilers: &Compilers,
    ) -> (Answer, EvaluatedBy) {
        let answer = by_reference(&mut self.reference, evaluation);
        let is_limit = matches!(answer.outcome, Outcome::Limit(_));
        if is_limit && Backend::allows(&evaluation.options.limits) {
            if let Some(by_machine) = self.ask_past_bound(evaluation, compilers) {
                return (by_machine, EvaluatedBy::Machine);
            }
            if let Some(by_batt) = by_lone_batt(evaluation) {
                return (by_batt, EvaluatedBy::Reference);
            }
        }
        (answer, EvaluatedBy::Reference)
    }

    /// Asks the machine, with the program compiled for this evaluation, unless it was asked before.
    #[cold]
    fn ask_past_bound(
        &mut self,
        evaluation: &Evaluation<'_>,
        compilers: &Compilers,
    ) -> Option<Answer> {
        if evaluation.compiled.is_some() {
            return None;
        }
        let compiled = compilers.compile(evaluation.program, false).ok()?;
        let evaluation = Evaluation {
            compiled: Some(&compiled),
            ..*evaluation
        };
        by_machine(&mut self.machine, &evaluation).ok()
    }
}

/// The result of `run` on a machine, which is replaced if that panics.
fn attempt(
    machine: &mut Machine,
    limits: &Limits,
    run: impl FnOnce(&mut Machine) -> Result<Answer, PassedOn>,
) -> Result<Answer, PassedOn> {
    caught(|| run(machine)).unwrap_or_else(|_| {
        *machine = Machine::new(limits);
        Err(PassedOn::Panicked)
    })
}

/// The answer of a machine, which runs compiled programs.
#[inline]
fn by_machine(machine: &mut Machine, evaluation: &Evaluation<'_>) -> Result<Answer, PassedOn> {
    let Evaluation {
        compiled,
        pair,
        options,
        ..
    } = evaluation;
    let program: &Compiled = compiled.ok_or(PassedOn::Unanswered)?;
    attempt(machine, &options.limits, |machine| {
        let expected = pair.output.as_ref();
        let output = match expected {
            Some(expected) if !is_wanted(options, &Outcome::Mismatch) => {
                machine.run_against(program, &pair.input, expected)
            }
            _ => machine.run(program, &pair.input).map(Some),
        };
        let answer = output.and_then(|output| {
            let Some(output) = output else {
                return Ok(Outcome::Mismatch.into());
            };
            let outcome = Outcome::compare(expected, |expected| output.equals(expected));
            let output = is_wanted(options, &outcome).then(|| output.value());
            let output = output.transpose()?;
            Ok(Answer { outcome, output })
        });
        answer.or_else(|stop| match stop {
            Stop::Error(error) => Ok(Answer::of(Err(error), pair, options)),
            Stop::BailOut(reason) => Err(PassedOn::BailedOut(reason)),
        })
    })
}

/// The answer of the reference, even if it panics. A program that takes train pairs gets those of the task, and
/// [`Value::Nothing`] as the expected output.
fn by_reference(reference: &mut Interpreter, evaluation: &Evaluation<'_>) -> Answer {
    let &Evaluation {
        program,
        task,
        pair,
        options,
        ..
    } = evaluation;
    let result = caught(|| {
        let input = &pair.input;
        if program.inputs().len() == 1 {
            return match &pair.output {
                Some(expected) if !is_wanted(options, &Outcome::Mismatch) => {
                    reference.run_against(program, input, expected)
                }
                _ => reference.run(program, input.clone()).map(Some),
            };
        }
        let sample = Sample {
            train: task.train_pairs(),
            ..Sample::alone(input.clone().into())
        };
        reference.run_on(program, sample.into_inputs()).map(Some)
    });
    answer(result, pair, options)
}

/// The answer for a result of the reference, which is nothing if it is known to be wrong, or for its panic.
fn answer(
    result: Result<Result<Option<Value>, EvalError>, Box<dyn Any + Send>>,
    pair: &Pair,
    options: &Options,
) -> Answer {
    match result {
        Ok(Ok(None)) => Outcome::Mismatch.into(),
        Ok(Ok(Some(value))) => Answer::of(Ok(value), pair, options),
        Ok(Err(error)) => Answer::of(Err(error), pair, options),
        Err(panic) => Outcome::Internal(message(&*panic).into()).into(),
    }
}

#[cfg(test)]
mod tests {
    use arc_cpu::BailOut;
    use arc_dsl::{Grid, Primitive, Program, ProgramBuilder};
    use arc_tasks::Task;

    use super::*;

    fn program() -> Program {
        let mut builder = ProgramBuilder::new("solve_a");
        let output = builder.call(Primitive::Vmirror, [builder.input()]);
        builder.finish(output.unwrap()).unwrap()
    }

    fn grid(row: [i32; 2]) -> Grid {
        Grid::from_rows(&[row]).unwrap()
    }

    #[test]
    fn a_panic_costs_one_evaluation() {
        let pair = Pair::new(grid([1, 2]), grid([2, 1]));
        let panicked = caught(|| panic!("row {}", 7));
        let Answer { outcome, output } = answer(panicked, &pair, &Options::default());
        assert_eq!(outcome, Outcome::Internal("row 7".into()));
        assert_eq!(outcome.name(), "error");
        assert_eq!(outcome.error().unwrap(), "internal error: row 7");
        assert_eq!(output, None);
    }

    #[test]
    fn a_machine_that_panics_is_replaced() {
        let program = program();
        let compiled = Compiled::new(&arc_form::specialise(&program).unwrap()).unwrap();
        let (task, options) = (Task::default(), Options::default());
        let pair = Pair::new(grid([1, 2]), grid([2, 1]));
        let evaluation = Evaluation {
            at: 0,
            program: &program,
            compiled: Some(&compiled),
            task: &task,
            pair: &pair,
            options: &options,
        };
        let mut machine = Machine::new(&options.limits);
        for _ in 0..2 {
            let right = by_machine(&mut machine, &evaluation).unwrap();
            assert_eq!(right, Outcome::Match.into());
            let panicked = attempt(&mut machine, &options.limits, |machine| {
                let _ = machine.run(&compiled, &pair.input);
                panic!("half way")
            });
            assert_eq!(panicked, Err(PassedOn::Panicked));
            let bailed_out = || Err(PassedOn::BailedOut(BailOut::Grid));
            let passed = attempt(&mut machine, &options.limits, |_| bailed_out());
            assert_eq!(passed, bailed_out());
        }
    }

    #[test]
    fn a_limit_before_an_output_of_another_size_is_a_mismatch_unless_it_is_asked_for() {
        let text = "def f(I):\n    x1 = fill(I, add(1073741000, height(I)), ofcolor(I, 1))\n    O = hconcat(x1, I)\n    return O\n";
        let program = arc_text::parse_programs(text).remove(0).unwrap();
        let (task, compilers) = (Task::default(), Compilers::default());
        let [without_verdict, with_verdict] =
            [false, true].map(|with_verdict| compilers.compile(&program, with_verdict).unwrap());
        for (expected, name) in [
            (Some(grid([1, 2])), "mismatch"),
            (Some(Grid::filled(1, 4, 1)), "limit"),
            (None, "limit"),
        ] {
            let pair = Pair::new(grid([1, 2]), expected);
            for (keep_outputs, timeout) in
                [(false, None), (true, None), (false, Some(Duration::MAX))]
            {
                let limits = Limits {
                    timeout,
                    ..Limits::default()
                };
                let options = Options {
                    limits,
                    keep_outputs,
                    ..Options::default()
                };
                let mut chain = Chain::new(&options.limits);
                for compiled in [None, Some(&without_verdict), Some(&with_verdict)] {
                    let evaluation = Evaluation {
                        at: 0,
                        program: &program,
                        compiled: compiled.map(|it| &**it),
                        task: &task,
                        pair: &pair,
                        options: &options,
                    };
                    let mut ahead = Ahead {
                        answers: &mut [],
                        by: EvaluatedBy::Device,
                        share: Duration::ZERO,
                    };
                    let evaluated = chain.ask(&evaluation, &mut ahead, &compilers, false);
                    let name = if keep_outputs { "limit" } else { name };
                    assert_eq!(evaluated.unwrap().answer.outcome.name(), name);
                }
            }
        }
    }

    #[test]
    fn an_answer_ahead_comes_first_then_the_machine_then_the_reference() {
        let program = program();
        let compiled = Compiled::new(&arc_form::specialise(&program).unwrap()).unwrap();
        let (task, compilers) = (Task::default(), Compilers::default());
        let options = Options {
            keep_outputs: true,
            ..Options::default()
        };
        let pair = Pair::new(grid([1, 2]), grid([2, 1]));
        let tall = Pair::new(Grid::filled(2000, 1, 0), None);
        let answer = Answer {
            outcome: Outcome::Match,
            output: Some(grid([2, 1]).into()),
        };
        let mut answers = [None, Some(answer.clone())];
        let mut ahead = Ahead {
            answers: &mut answers,
            by: EvaluatedBy::Device,
            share: Duration::ZERO,
        };
        let mut chain = Chain::new(&options.limits);
        let mut ask = |at, compiled, pair, is_stopped| {
            let evaluation = Evaluation {
                at,
                program: &program,
                compiled,
                task: &task,
                pair,
                options: &options,
            };
            let evaluated = chain.ask(&evaluation, &mut ahead, &compilers, is_stopped)?;
            Some((evaluated.answer, evaluated.by))
        };
        let compiled = Some(&compiled);
        // An answer that is there is used even after a stop.
        let by = |by| Some((answer.clone(), by));
        assert_eq!(ask(1, compiled, &pair, true), by(EvaluatedBy::Device));
        assert_eq!(ask(1, compiled, &pair, true), None);
        assert_eq!(ask(0, compiled, &pair, false), by(EvaluatedBy::Machine));
        assert_eq!(ask(9, compiled, &pair, false), by(EvaluatedBy::Machine));
        assert_eq!(ask(0, None, &pair, false), by(EvaluatedBy::Reference));
        // The grid is too large for a machine.
        let (answer, by) = ask(0, compiled, &tall, false).unwrap();
        assert_eq!(
            (answer.outcome, by),
            (Outcome::NoExpected, EvaluatedBy::Reference)
        );
        let counts = chain.counts;
        assert_eq!(counts.bail_outs.values().sum::<u64>(), 1);
    }
}
