//! [`Chain`]: in which order evaluators are asked for an evaluation, and what happens past a bound.
//!
//! 1. Whoever was asked ahead: a device, which is given evaluations by the batch ([`device`](super::device)), or a batt,
//!    which is given all programs of a task ([`merging`](super::merging)). A batch has devices or batts, never both.
//! 2. The machine of the thread, where the program is compiled. It bails out of what it has no room or no code for.
//! 3. The reference. It answers whatever it is asked, but may end at one of its bounds.
//!
//! Past a bound of the reference those are asked whose own bounds may lie further:
//!
//! 4. the machine, with the program compiled for this evaluation, unless the machine has passed it on before;
//! 5. a batt of this program alone.
//!
//! If neither answers, the reference's limit is the answer. So a machine or batt that gets further than the reference
//! does so whatever the backend, however often the program is evaluated, and whatever other programs there are.
//!
//! Within bounds that [machines do not know](Backend::allows) only the reference is asked.

use std::any::Any;
use std::time::{Duration, Instant};

use arc_cpu::{Compiled, Machine, Stop};
use arc_dsl::{EvalError, Interpreter, Limits, Pair, Sample, Value};

use super::evaluator::{Ahead, Evaluation, Evaluator, PassedOn, caught};
use super::merging::LoneBatt;
use crate::backend::{Backend, Counts, Maker};
use crate::compilers::Compilers;
use crate::options::Options;
use crate::outcome::{Answer, Outcome, is_wanted};
use crate::panics::message;

/// Those whom a thread asks. Nothing of an earlier evaluation matters to the next.
#[derive(Debug)]
pub(super) struct Chain {
    machine: ByMachine,
    reference: ByReference,
    pub(super) counts: Counts,
}

/// An evaluation with its answer.
#[derive(Debug)]
pub(super) struct Evaluated {
    pub(super) answer: Answer,
    pub(super) by: Maker,
    /// How long it took from when the reference was asked; `None` if it was not.
    pub(super) by_reference: Option<Duration>,
}

impl Chain {
    /// Evaluators within these bounds.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            machine: ByMachine(Machine::new(limits)),
            reference: ByReference(Interpreter::new(limits.clone())),
            counts: Counts::default(),
        }
    }

    /// Asks one after the other; `None` if none was asked ahead that answers, and it is too late to ask others.
    #[inline]
    pub(super) fn ask(
        &mut self,
        evaluation: &Evaluation<'_>,
        ahead: &mut Ahead<'_>,
        compilers: &Compilers,
        is_stopped: bool,
    ) -> Option<Evaluated> {
        let fast = |answer, by| {
            Some(Evaluated {
                answer,
                by,
                by_reference: None,
            })
        };
        if let Ok(answer) = ahead.evaluate(evaluation) {
            return fast(answer, ahead.by);
        }
        if is_stopped {
            return None;
        }
        match self.machine.evaluate(evaluation) {
            Ok(answer) => return fast(answer, Maker::Machine),
            Err(PassedOn::BailedOut(reason)) => {
                *self.counts.bail_outs.entry(reason).or_default() += 1;
            }
            Err(PassedOn::Panicked) => self.counts.panics += 1,
            Err(PassedOn::Unanswered | PassedOn::AtBound) => {}
        }
        let began = Instant::now();
        let (answer, by) = self.ask_reference(evaluation, compilers);
        Some(Evaluated {
            answer,
            by,
            by_reference: Some(began.elapsed()),
        })
    }

    /// Asks the reference, and past its bounds the others.
    fn ask_reference(
        &mut self,
        evaluation: &Evaluation<'_>,
        compilers: &Compilers,
    ) -> (Answer, Maker) {
        let mut answer = self.reference.evaluate(evaluation);
        let is_limit = matches!(answer.outcome, Outcome::Limit(_));
        if is_limit && Backend::allows(&evaluation.options.limits) {
            if let Ok(by_machine) = self.ask_past_bound(evaluation, compilers) {
                return (by_machine, Maker::Machine);
            }
            answer = LoneBatt.evaluate(evaluation).unwrap_or(answer);
        }
        (answer, Maker::Reference)
    }

    /// Asks the machine, with the program compiled for this evaluation.
    #[cold]
    fn ask_past_bound(
        &mut self,
        evaluation: &Evaluation<'_>,
        compilers: &Compilers,
    ) -> Result<Answer, PassedOn> {
        if evaluation.compiled.is_some() {
            return Err(PassedOn::AtBound);
        }
        let compiled = compilers.compile(evaluation.program);
        let compiled = compiled.map_err(|_| PassedOn::Unanswered)?;
        self.machine.evaluate(&Evaluation {
            compiled: Some(&compiled),
            ..*evaluation
        })
    }
}

/// Evaluates compiled programs.
#[derive(Debug)]
struct ByMachine(Machine);

impl ByMachine {
    /// What `run` gives. Whatever panics bails out, and the machine is replaced.
    fn attempt(
        &mut self,
        limits: &Limits,
        run: impl FnOnce(&mut Machine) -> Result<Answer, PassedOn>,
    ) -> Result<Answer, PassedOn> {
        let machine = &mut self.0;
        caught(|| run(machine)).unwrap_or_else(|_| {
            self.0 = Machine::new(limits);
            Err(PassedOn::Panicked)
        })
    }
}

impl Evaluator for ByMachine {
    #[inline]
    fn evaluate(&mut self, evaluation: &Evaluation<'_>) -> Result<Answer, PassedOn> {
        let Evaluation {
            compiled,
            pair,
            options,
            ..
        } = evaluation;
        let program: &Compiled = compiled.ok_or(PassedOn::Unanswered)?;
        self.attempt(&options.limits, |machine| {
            match machine.run(program, &pair.input) {
                Ok(output) => {
                    let expected = pair.output.as_ref();
                    let outcome = Outcome::compare(expected, |expected| output.equals(expected));
                    let output = is_wanted(options, &outcome).then(|| output.value());
                    Ok(Answer { outcome, output })
                }
                Err(Stop::Error(error)) => Ok(Outcome::Error(Box::new(error)).into()),
                Err(Stop::BailOut(reason)) => Err(PassedOn::BailedOut(reason)),
            }
        })
    }
}

/// Evaluates programs as they stand. It is no [`Evaluator`]: it always answers, and passes nothing on.
#[derive(Debug)]
struct ByReference(Interpreter);

impl ByReference {
    /// The answer; a panic is one too. A program that asks for the train pairs gets those of the task, and no expected output.
    fn evaluate(&mut self, evaluation: &Evaluation<'_>) -> Answer {
        let &Evaluation {
            program,
            task,
            pair,
            options,
            ..
        } = evaluation;
        let result = caught(|| {
            let input = pair.input.clone();
            if program.inputs().len() == 1 {
                return self.0.run(program, input);
            }
            let sample = Sample {
                train: task.train_pairs(),
                ..Sample::alone(input.into())
            };
            self.0.run_on(program, sample.into_inputs())
        });
        answer(result, pair, options)
    }
}

/// The answer that a result of the reference is, or what it panicked with.
fn answer(
    result: Result<Result<Value, EvalError>, Box<dyn Any + Send>>,
    pair: &Pair,
    options: &Options,
) -> Answer {
    match result {
        Ok(result) => Answer::of(result, pair, options),
        Err(panic) => Outcome::Internal(message(&*panic).into()).into(),
    }
}

#[cfg(test)]
mod tests {
    use arc_cpu::BailOut;
    use arc_dsl::{Grid, Primitive, Program, ProgramBuilder, Task};

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
        let mut machine = ByMachine(Machine::new(&options.limits));
        for _ in 0..2 {
            let right = machine.evaluate(&evaluation).unwrap();
            assert_eq!(right, Outcome::Match.into());
            let panicked = machine.attempt(&options.limits, |machine| {
                let _ = machine.run(&compiled, &pair.input);
                panic!("half way")
            });
            assert_eq!(panicked, Err(PassedOn::Panicked));
            let bailed_out = PassedOn::BailedOut(BailOut::Grid);
            let passed =
                machine.attempt(&options.limits, |_| Err(PassedOn::BailedOut(BailOut::Grid)));
            assert_eq!(passed, Err(bailed_out));
        }
    }

    #[test]
    fn who_was_asked_ahead_comes_first_then_the_machine_then_the_reference() {
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
            by: Maker::Device,
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
        // A stop comes too late for what is there.
        let by = |by| Some((answer.clone(), by));
        assert_eq!(ask(1, compiled, &pair, true), by(Maker::Device));
        assert_eq!(ask(1, compiled, &pair, true), None);
        assert_eq!(ask(0, compiled, &pair, false), by(Maker::Machine));
        assert_eq!(ask(9, compiled, &pair, false), by(Maker::Machine));
        assert_eq!(ask(0, None, &pair, false), by(Maker::Reference));
        // A machine has no room for it.
        let (answer, maker) = ask(0, compiled, &tall, false).unwrap();
        assert_eq!(
            (answer.outcome, maker),
            (Outcome::NoExpected, Maker::Reference)
        );
        let counts = chain.counts;
        assert_eq!(counts.bail_outs.values().sum::<u64>(), 1);
    }
}
