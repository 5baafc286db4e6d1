//! [`Worker`]: what belongs to one thread, and how it evaluates a unit.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_cpu::{BailOut, Compiled, Machine, Stop, prefetch};
use arc_dsl::{EvalError, Interpreter, Limits, Pair, Program, Sample, Task, Value};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::Run;
use super::device::{Found, Made};
use super::merging::{self, Merger};
use super::unit::Unit;
use crate::backend::{Backend, Counts, MergeCounts};
use crate::compilers::Compilers;
use crate::options::Options;
use crate::outcome::{Maker, Outcome, PairResult};
use crate::panics::{lock, message};
use crate::score::{is_wanted, settle};

/// What belongs to one thread, alone on its cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Worker {
    /// Only the thread itself takes it, and never twice at a time, so it is always free.
    engines: Mutex<Engines>,
    merger: Mutex<Merger>,
    done: AtomicU64,
}

/// What evaluates. Nothing of an earlier evaluation matters to the next.
#[derive(Debug)]
struct Engines {
    interpreter: Interpreter,
    machine: Machine,
    counts: Counts,
}

impl Worker {
    /// A worker that evaluates within these bounds.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            engines: Mutex::new(Engines {
                interpreter: Interpreter::new(limits.clone()),
                machine: Machine::new(limits),
                counts: Counts::default(),
            }),
            merger: Mutex::default(),
            done: AtomicU64::new(0),
        }
    }

    /// Counts from the beginning.
    pub(super) fn reset(&mut self) {
        *self.done.get_mut() = 0;
        *self.counts() = Counts::default();
        let merger = self.merger.get_mut();
        merger.unwrap_or_else(PoisonError::into_inner).reset();
    }

    /// Its batt.
    pub(super) fn merger(&self) -> &Mutex<Merger> {
        &self.merger
    }

    /// What its batt has done.
    pub(super) fn merged(&mut self) -> &MergeCounts {
        let merger = self.merger.get_mut();
        &merger.unwrap_or_else(PoisonError::into_inner).counts
    }

    /// What it has counted.
    pub(super) fn counts(&mut self) -> &mut Counts {
        let engines = self.engines.get_mut();
        &mut engines.unwrap_or_else(PoisonError::into_inner).counts
    }

    /// How many evaluations it has made.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    fn add_done(&self, evaluations: usize) {
        self.done.fetch_add(evaluations as u64, Ordering::Relaxed);
    }
}

/// How many pairs before it is due the grids of one are asked for.
const AHEAD: usize = 2;

/// After how many evaluations the clock and whether to stop are looked at, besides those that were bailed out, which may
/// have taken all steps that there are; and how long a unit takes before others are offered half of
/// what is left of it. In tests all units do.
const LOOK_UP: usize = 4;
const LONG: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 2 });

/// Asks for the grids of a pair, which will be read soon.
#[inline]
fn ask_for(pair: &Pair) {
    prefetch(pair.input.cells());
    if let Some(output) = &pair.output {
        prefetch(output.cells());
    }
}

/// An evaluation that the reference is to make, and where its result goes.
struct Left<'r> {
    task: &'r Task,
    pair: &'r Pair,
    result: PairResult,
    at: usize,
    /// The place of its job, where that matters.
    job: Option<usize>,
    is_made: bool,
}

impl<'r> Run<'r> {
    /// Makes those evaluations of a unit that no device has made; after a stop no more of them, and
    /// there is nothing in their places. The grids of the unit that follows on this thread, where it
    /// is known, are asked for.
    pub(super) fn evaluate(
        self,
        unit: &Unit,
        made: Made,
        compiled: Option<&Compiled>,
        following: Option<&Unit>,
    ) -> Vec<Option<PairResult>> {
        let pairs = unit.of_tasks(self.batch).map(|(task, (id, pair))| {
            let result = PairResult {
                pair: id,
                outcome: Outcome::NoExpected,
                output: None,
                score: None,
                time: Duration::ZERO,
                made_by: None,
            };
            (task, pair, result)
        });
        let options = &self.runner.options;
        let mut stopped = self.stopped();
        let mut results = Vec::with_capacity(unit.len);
        let mut left = Vec::new();
        // What a device has found is known by its place in the unit.
        let may_split = options.mode.is_parallel() && made.found.is_empty();
        let mut ahead = compiled.map(|_| {
            let units = std::iter::once(unit).chain(following);
            let pairs = units.flat_map(|unit| unit.pairs(self.batch));
            pairs.map(|(_, pair)| pair).skip(AHEAD)
        });
        let maker = made.maker();
        let mut found = made.found.into_iter();
        // A job that is wrong is not gone on with.
        let stops = options.stop_after_wrong;
        let mut jobs = stops.then(|| unit.jobs(self.batch));
        let mut wrong = stops.then(|| self.wrong.load(Ordering::Relaxed));
        {
            let worker = self.worker();
            let engines = &mut *lock(&worker.engines);
            let began = Instant::now();
            let (mut slow, mut found_or_made, mut by_machine) = (false, 0, 0);
            for (task, pair, result) in pairs {
                if slow || results.len() % LOOK_UP == LOOK_UP - 1 {
                    stopped = stopped || self.stopped();
                    if may_split && !stopped && began.elapsed() > LONG {
                        break;
                    }
                }
                if let Some(pair) = ahead.as_mut().and_then(Iterator::next) {
                    ask_for(pair);
                }
                let found = found.next().flatten().map(|found| (found, maker));
                let job = jobs.as_mut().and_then(Iterator::next);
                if stops && job == wrong {
                    results.push(None);
                    continue;
                }
                let found = match compiled {
                    Some(compiled) if found.is_none() && !stopped => {
                        let made = engines.try_machine(compiled, pair, options);
                        by_machine += u64::from(made.is_some());
                        made.map(|made| (made, Maker::Machine))
                    }
                    _ => found,
                };
                slow = found.is_none();
                if let Some(((outcome, output), made_by)) = found {
                    found_or_made += 1;
                    if stops && outcome.is_wrong() {
                        wrong = job;
                    }
                    results.push(Some(PairResult {
                        outcome,
                        output,
                        made_by: Some(made_by),
                        ..result
                    }));
                    continue;
                }
                if !stopped {
                    let (at, is_made) = (results.len(), false);
                    left.push(Left {
                        task,
                        pair,
                        result,
                        at,
                        job,
                        is_made,
                    });
                }
                results.push(None);
            }
            // The clock is read once for all: it would take longer than short evaluations.
            let share = (made.time + began.elapsed()) / results.len().max(1) as u32;
            let of_left = left.iter_mut().map(|left| &mut left.result);
            for result in results.iter_mut().flatten().chain(of_left) {
                result.time = share;
            }
            engines.counts.compiled += by_machine;
            worker.add_done(found_or_made);
        }
        let program = &self.batch.programs()[unit.program as usize];
        self.interpret_all(program, &mut left, compiled.is_some());
        for left in left {
            results[left.at] = left.is_made.then_some(left.result);
        }
        self.score(unit, &mut results);
        if results.len() < unit.len {
            results.extend(self.evaluate_in_two(unit, results.len(), compiled));
        }
        results
    }

    /// Gives the first results of a unit their scores, where scores are asked for.
    fn score(self, unit: &Unit, results: &mut [Option<PairResult>]) {
        let options = &self.runner.options;
        if options.scores {
            for (result, (_, pair)) in results.iter_mut().zip(unit.pairs(self.batch)) {
                if let Some(result) = result {
                    settle(options, result, pair);
                }
            }
        }
    }

    /// Makes by the reference what is left of a unit, one after the other where a job that is wrong is
    /// not gone on with.
    fn interpret_all(self, program: &Program, left: &mut [Left<'_>], bailed_out: bool) {
        let interpret = |left: &mut Left<'_>| self.interpret(program, left, bailed_out);
        // The worker's engines are free: whoever waits for others may be given their work.
        if self.runner.options.stop_after_wrong {
            let mut wrong = None;
            for left in left {
                if left.job != wrong {
                    interpret(left);
                    if left.is_made && left.result.outcome.is_wrong() {
                        wrong = left.job;
                    }
                }
            }
        } else if self.runner.options.mode.is_parallel() && left.len() > 1 {
            left.par_iter_mut().with_max_len(1).for_each(interpret);
        } else {
            left.iter_mut().for_each(interpret);
        }
    }

    /// Makes the evaluations of a unit from one of them on, half of them on another worker that has
    /// nothing to do.
    #[cold]
    fn evaluate_in_two(
        self,
        unit: &Unit,
        from: usize,
        compiled: Option<&Compiled>,
    ) -> Vec<Option<PairResult>> {
        let (_, rest) = unit.split_at(self.batch, from);
        let (first, second) = rest.split_at(self.batch, rest.len.div_ceil(2));
        let evaluate = |unit: Unit| self.evaluate(&unit, Made::default(), compiled, None);
        let (mut results, others) = rayon::join(|| evaluate(first), || evaluate(second));
        results.extend(others);
        results
    }

    /// The worker of this thread.
    pub(super) fn worker(self) -> &'r Worker {
        // A thread of another pool may be the one that evaluates in place.
        let pool = self.runner.pool.as_ref();
        let thread = pool.and_then(rayon::ThreadPool::current_thread_index);
        &self.runner.workers[thread.unwrap_or_default()]
    }

    /// Makes one evaluation by the reference. Where that ends at a bound, the machine makes it after
    /// all, unless it `bailed_out`, and else a batt: so a machine that gets further than the
    /// reference does so whatever the backend, however often the program is evaluated, and whatever
    /// other programs there are.
    fn interpret(self, program: &Program, left: &mut Left<'_>, bailed_out: bool) {
        if self.stopped() {
            return;
        }
        let worker = self.worker();
        let engines = &mut *lock(&worker.engines);
        let began = Instant::now();
        let mut result = guarded(|| engines.reference(program, left.task, left.pair));
        let at_bound = matches!(&result, Ok(Err(error)) if error.limit().is_some());
        let limits = &self.runner.options.limits;
        let mut by_machine = false;
        if at_bound && Backend::allows(limits) {
            let compilers = &self.runner.compilers;
            let made = (!bailed_out).then(|| engines.past_bound(compilers, program, left.pair));
            let made = made.flatten();
            by_machine = made.is_some();
            let made = made.or_else(|| {
                let made = caught(|| merging::alone(limits, program, left.pair));
                made.ok().flatten().map(Ok)
            });
            result = made.unwrap_or(result);
        }
        engines.counts.reference += u64::from(!by_machine);
        left.result.made_by = Some(if by_machine {
            Maker::Machine
        } else {
            Maker::Reference
        });
        left.result.time += began.elapsed();
        left.is_made = true;
        worker.add_done(1);
        let (outcome, output) = judge(result, left.pair);
        let options = &self.runner.options;
        left.result.output = output.filter(|_| is_wanted(options, &outcome));
        left.result.outcome = outcome;
    }
}

impl Engines {
    /// Makes one evaluation by the reference. A program that asks for the train pairs gets those of
    /// the task, and no expected output.
    fn reference(
        &mut self,
        program: &Program,
        task: &Task,
        pair: &Pair,
    ) -> Result<Value, EvalError> {
        let input = pair.input.clone();
        if program.inputs().len() == 1 {
            return self.interpreter.run(program, input);
        }
        let sample = Sample {
            train: task.train_pairs(),
            ..Sample::alone(input.into())
        };
        self.interpreter.run_on(program, sample.into_inputs())
    }

    /// Makes one evaluation by the machine, unless that bails out.
    fn try_machine(&mut self, program: &Compiled, pair: &Pair, options: &Options) -> Option<Found> {
        self.attempt(|machine| match machine.run(program, &pair.input) {
            Ok(output) => {
                let outcome = match &pair.output {
                    None => Outcome::NoExpected,
                    Some(expected) if output.equals(expected) => Outcome::Match,
                    Some(_) => Outcome::Mismatch,
                };
                let is_wanted = is_wanted(options, &outcome);
                Ok((outcome, is_wanted.then(|| output.value())))
            }
            Err(Stop::Error(error)) => Ok((Outcome::Error(Box::new(error)), None)),
            Err(Stop::BailOut(bail_out)) => Err(bail_out),
        })
    }

    /// What the machine gives for a program that is compiled for this evaluation alone, if anything.
    #[cold]
    fn past_bound(
        &mut self,
        compilers: &Compilers,
        program: &Program,
        pair: &Pair,
    ) -> Option<Interpreted> {
        let program = compilers.compile(program).ok()?;
        let made = caught(|| match self.machine.run(&program, &pair.input) {
            Ok(output) => Some(Ok(output.value())),
            Err(Stop::Error(error)) => Some(Err(error)),
            Err(Stop::BailOut(_)) => None,
        });
        let made = made.unwrap_or_else(|_| {
            self.machine = Machine::new(self.interpreter.limits());
            None
        });
        self.counts.compiled += u64::from(made.is_some());
        made.map(Ok)
    }

    /// What the machine gives, unless it bails out. To panic is to bail out too.
    fn attempt<T>(&mut self, run: impl FnOnce(&mut Machine) -> Result<T, BailOut>) -> Option<T> {
        let machine = &mut self.machine;
        match caught(|| run(machine)) {
            Ok(Ok(result)) => Some(result),
            Ok(Err(bail_out)) => {
                *self.counts.bail_outs.entry(bail_out).or_default() += 1;
                None
            }
            Err(_) => {
                self.counts.panics += 1;
                self.machine = Machine::new(self.interpreter.limits());
                None
            }
        }
    }
}

/// What `work` gives, or what it panicked with.
///
/// Machines and the interpreter promise not to panic; this is what keeps a breach of that promise
/// from costing more than the one evaluation. It stands here rather than in them because it is the
/// batch that has other work to lose.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(work))
}

/// What the interpreter gives, or the message of the panic that ended it.
type Interpreted = Result<Result<Value, EvalError>, Box<str>>;

/// Runs the interpreter so that a panic costs this evaluation alone.
fn guarded(evaluate: impl FnOnce() -> Result<Value, EvalError>) -> Interpreted {
    caught(evaluate).map_err(|panic| message(&*panic).into())
}

/// The outcome of an evaluation, and its output where there is one.
fn judge(result: Interpreted, pair: &Pair) -> (Outcome, Option<Value>) {
    match result {
        Ok(Ok(value)) => {
            let outcome = match &pair.output {
                None => Outcome::NoExpected,
                Some(expected) if value.as_grid().is_some_and(|grid| *grid == *expected) => {
                    Outcome::Match
                }
                Some(_) => Outcome::Mismatch,
            };
            (outcome, Some(value))
        }
        Ok(Err(error)) if error.limit().is_some() => (Outcome::Limit(Box::new(error)), None),
        Ok(Err(error)) => (Outcome::Error(Box::new(error)), None),
        Err(message) => (Outcome::Internal(message), None),
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, Primitive, ProgramBuilder};

    use super::*;

    #[test]
    fn a_panic_costs_one_evaluation() {
        let grid = Grid::filled(1, 1, 0);
        let (outcome, output) = judge(
            guarded(|| panic!("row {}", 7)),
            &Pair::new(grid.clone(), grid),
        );
        assert_eq!(outcome, Outcome::Internal("row 7".into()));
        assert_eq!(outcome.name(), "error");
        assert_eq!(outcome.error().unwrap(), "internal error: row 7");
        assert_eq!(output, None);
    }

    #[test]
    fn a_machine_that_panics_is_replaced() {
        let mut builder = ProgramBuilder::new("solve_a");
        let output = builder.call(Primitive::Vmirror, [builder.input()]);
        let program = builder.finish(output.unwrap()).unwrap();
        let program = Compiled::new(&arc_form::specialise(&program).unwrap()).unwrap();
        let grid = |row| Grid::from_rows(&[row]).unwrap();
        let pair = Pair::new(grid([1, 2]), grid([2, 1]));
        let mut worker = Worker::new(&Limits::default());
        let mut counts = Vec::new();
        for _ in 0..2 {
            let engines = worker.engines.get_mut().unwrap();
            let options = Options {
                keep_outputs: true,
                ..Options::default()
            };
            let right = engines.try_machine(&program, &pair, &options);
            assert_eq!(right, Some((Outcome::Match, Some(grid([2, 1]).into()))));
            let panicked: Option<()> = engines.attempt(|machine| {
                let _ = machine.run(&program, &pair.input);
                panic!("half way")
            });
            assert_eq!(panicked, None);
            let bailed_out: Option<()> = engines.attempt(|_| Err(BailOut::Grid));
            assert_eq!(bailed_out, None);
            counts.push((
                engines.counts.panics,
                engines.counts.bail_outs[&BailOut::Grid],
            ));
        }
        assert_eq!(counts, [(1, 1), (2, 2)]);
        worker.reset();
        assert_eq!(worker.counts().panics, 0);
        assert!(worker.counts().bail_outs.is_empty());
    }
}
