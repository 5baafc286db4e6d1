//! [`Worker`]: what belongs to one thread, and how it evaluates a unit.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_cpu::{BailOut, Compiled, Machine, Stop, prefetch};
use arc_dsl::{EvalError, Interpreter, Limits, Pair, Program, Sample, Task, Value};

use super::Run;
use super::device::Found;
use super::merging::{self, Merger};
use super::unit::Unit;
use crate::backend::{Backend, Counts, MergeCounts};
use crate::compilers::Compilers;
use crate::options::Options;
use crate::outcome::Known;
use crate::outcome::{Maker, Outcome, PairResult};
use crate::outcome::{is_wanted, settle};
use crate::panics::{lock, message};
use crate::summary;

/// What belongs to one thread, alone on its cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Worker {
    /// Only the thread itself takes these, and never twice at a time, so they are always free.
    engines: Mutex<Engines>,
    merger: Mutex<Merger>,
    tallied: Mutex<summary::Counts>,
    done: AtomicU64,
}

/// What evaluates. Nothing of an earlier evaluation matters to the next.
#[derive(Debug)]
struct Engines {
    interpreter: Interpreter,
    machine: Machine,
    counts: Counts,
}

/// What a mutex holds, whatever has panicked.
fn inner<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
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
            tallied: Mutex::default(),
            done: AtomicU64::new(0),
        }
    }

    /// Counts from the beginning.
    pub(super) fn reset(&mut self) {
        *self.done.get_mut() = 0;
        *self.counts() = Counts::default();
        *inner(&mut self.tallied) = summary::Counts::default();
        inner(&mut self.merger).reset();
    }

    /// Its batts.
    pub(super) fn merger(&self) -> &Mutex<Merger> {
        &self.merger
    }

    /// What its batts have done.
    pub(super) fn merged(&mut self) -> &MergeCounts {
        &inner(&mut self.merger).counts
    }

    /// What it has counted of those who make evaluations.
    pub(super) fn counts(&mut self) -> &mut Counts {
        &mut inner(&mut self.engines).counts
    }

    /// What it has counted of results.
    pub(super) fn tallied(&self) -> &Mutex<summary::Counts> {
        &self.tallied
    }

    /// How many evaluations it has made.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// How many pairs before it is due the grids of one are asked for.
const AHEAD: usize = 2;

/// After how many evaluations the clock and whether to stop are looked at, besides those that were bailed out, which may
/// have taken all steps that there are.
const LOOK_UP: usize = 4;

/// Asks for the grids of a pair, which will be read soon.
#[inline]
fn ask_for(pair: &Pair) {
    prefetch(pair.input.cells());
    if let Some(output) = &pair.output {
        prefetch(output.cells());
    }
}

/// Until when a worker goes on, if there is an end: then what is left may be another's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch(Option<Instant>);

impl Watch {
    /// So long from now. In tests it is over at once.
    pub(super) fn of(time: Duration) -> Self {
        let time = if cfg!(test) { Duration::ZERO } else { time };
        Self(Instant::now().checked_add(time))
    }

    /// To the end.
    pub(super) fn none() -> Self {
        Self(None)
    }

    pub(super) fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// What a device, or a batt, has made of evaluations.
#[derive(Debug)]
pub(super) struct Given<'m> {
    /// By the place of the evaluation in the unit; nothing where others have to make it. None at all where
    /// nothing was made.
    pub(super) found: &'m mut [Option<Found>],
    /// Who made it.
    pub(super) maker: Maker,
    /// The time that it took, for each evaluation of the unit.
    pub(super) share: Duration,
}

impl<'r> Run<'r> {
    /// Makes those evaluations of a unit that nobody has made, until the watch says so; how many of the first
    /// ones are among the results now. After a stop there is nothing in the places of the others. The grids of
    /// the unit that follows on this thread, where it is known, are asked for.
    pub(super) fn evaluate(
        self,
        unit: &Unit,
        given: Given<'_>,
        compiled: Option<&Compiled>,
        following: Option<&Unit>,
        watch: Watch,
        results: &mut Vec<Known>,
    ) -> usize {
        let options = &self.runner.options;
        let program = &self.batch.programs()[unit.program as usize];
        let Given {
            found: given,
            maker,
            share: given_share,
        } = given;
        let mut stopped = self.stopped();
        let mut ahead = compiled.map(|_| {
            let units = std::iter::once(unit).chain(following);
            let pairs = units.flat_map(|unit| unit.pairs(self.batch));
            pairs.map(|(_, pair)| pair).skip(AHEAD)
        });
        // A job that is wrong is not gone on with.
        let stops = options.stop_after_wrong;
        let mut jobs = stops.then(|| unit.jobs(self.batch));
        let mut wrong = stops.then(|| self.wrong.load(Ordering::Relaxed));
        let worker = self.worker();
        let engines = &mut *lock(&worker.engines);
        let first = results.len();
        let (began, mut by_reference) = (Instant::now(), Duration::ZERO);
        let (mut slow, mut made) = (false, 0);
        for (at, (task, (id, pair))) in unit.of_tasks(self.batch).enumerate() {
            if slow || at % LOOK_UP == LOOK_UP - 1 {
                stopped = stopped || self.stopped();
                if !stopped && at > 0 && watch.is_over() {
                    break;
                }
            }
            slow = false;
            if let Some(pair) = ahead.as_mut().and_then(Iterator::next) {
                ask_for(pair);
            }
            let job = jobs.as_mut().and_then(Iterator::next);
            let found = given.get_mut(at).and_then(Option::take);
            if stops && job == wrong {
                results.push(None);
                continue;
            }
            let mut found = found.map(|found| (found, maker));
            if found.is_none() && !stopped {
                let made = compiled.and_then(|it| engines.try_machine(it, pair, options));
                engines.counts.compiled += u64::from(made.is_some());
                found = made.map(|made| (made, Maker::Machine));
            }
            let mut time = Duration::ZERO;
            if found.is_none() && !stopped {
                slow = true;
                let began = Instant::now();
                let compilers = &self.runner.compilers;
                let bailed_out = compiled.is_some();
                found =
                    Some(engines.interpret(compilers, options, program, (task, pair), bailed_out));
                time = began.elapsed();
                by_reference += time;
            }
            let Some(((outcome, output), maker)) = found else {
                results.push(None);
                continue;
            };
            if stops && outcome.is_wrong() {
                wrong = job;
            }
            made += 1;
            results.push(Some(PairResult {
                pair: id,
                outcome,
                output,
                score: None,
                time,
                made_by: Some(maker),
            }));
        }
        let results = &mut results[first..];
        // The clock is read once for all but the reference's: it would take longer than short evaluations.
        let share = began.elapsed().saturating_sub(by_reference) / results.len().max(1) as u32;
        for result in results.iter_mut().flatten() {
            result.time += share + given_share;
        }
        worker.done.fetch_add(made, Ordering::Relaxed);
        if options.scores {
            for (result, (_, pair)) in results.iter_mut().zip(unit.pairs(self.batch)) {
                if let Some(result) = result {
                    settle(options, result, pair);
                }
            }
        }
        results.len()
    }

    /// The worker of this thread.
    pub(super) fn worker(self) -> &'r Worker {
        &self.runner.workers[self.worker_number()]
    }

    /// Its number.
    pub(super) fn worker_number(self) -> usize {
        // A thread of another pool may be the calling one, which is the first worker where it is one.
        let pool = self.runner.pool.as_ref();
        let thread = pool.and_then(rayon::ThreadPool::current_thread_index);
        thread.map_or(0, |thread| thread + usize::from(self.runner.caller_works))
    }
}

impl Engines {
    /// Makes one evaluation by the reference. Where that ends at a bound, the machine makes it after
    /// all, unless it `bailed_out`, and else a batt: so a machine that gets further than the
    /// reference does so whatever the backend, however often the program is evaluated, and whatever
    /// other programs there are.
    fn interpret(
        &mut self,
        compilers: &Compilers,
        options: &Options,
        program: &Program,
        (task, pair): (&Task, &Pair),
        bailed_out: bool,
    ) -> (Found, Maker) {
        let mut result = guarded(|| self.reference(program, task, pair));
        let at_bound = matches!(&result, Ok(Err(error)) if error.limit().is_some());
        let mut by_machine = false;
        if at_bound && Backend::allows(&options.limits) {
            let made = (!bailed_out).then(|| self.past_bound(compilers, program, pair));
            let made = made.flatten();
            by_machine = made.is_some();
            let made = made.or_else(|| {
                let made = caught(|| merging::alone(&options.limits, program, pair));
                made.ok().flatten().map(Ok)
            });
            result = made.unwrap_or(result);
        }
        self.counts.reference += u64::from(!by_machine);
        let (outcome, output) = judge(result, pair);
        let output = output.filter(|_| is_wanted(options, &outcome));
        let maker = if by_machine {
            Maker::Machine
        } else {
            Maker::Reference
        };
        ((outcome, output), maker)
    }

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
