//! [`Cpu`]: runs the same evaluations on the CPU, on one core and on all, and gives the expected results.

use std::hint::black_box;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_cpu::{Machine, Stop};
use arc_dsl::{Interpreter, Value};
use rayon::ThreadPool;
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;

use super::inputs::{Input, Load};
use super::work::Work;

/// Evaluations that a thread takes at a time.
const TOGETHER: usize = 64;

/// The engines of one thread.
#[derive(Debug, Default)]
struct Engines {
    machine: Machine,
    interpreter: Interpreter,
}

/// The cores of this machine.
#[derive(Debug)]
pub(super) struct Cpu {
    threads: ThreadPool,
    engines: Vec<Mutex<Engines>>,
}

impl Engines {
    /// Runs an evaluation; false if the output is not the expected one.
    fn is_right(&mut self, work: &Work, input: &Input) -> bool {
        let program = input.program as usize;
        match self.machine.run(&work.compiled[program], &input.grid) {
            Ok(output) => {
                let output = black_box(output);
                let expected = input.expected.as_ref();
                expected.is_none_or(|expected| output.equals(expected))
            }
            Err(Stop::Error(_)) => input.expected.is_none(),
            Err(Stop::BailOut(_)) => {
                let result = self.reference(work, input);
                let grid = result.as_ref().and_then(Value::as_grid);
                let expected = input.expected.as_ref();
                expected.is_none_or(|expected| grid.is_some_and(|grid| *grid == *expected))
            }
        }
    }

    fn reference(&mut self, work: &Work, input: &Input) -> Option<Value> {
        let program = &work.programs[input.program as usize];
        self.interpreter.run(program, input.grid.clone()).ok()
    }

    /// The result of an evaluation; `None` if the program fails.
    fn value(&mut self, work: &Work, input: &Input) -> Option<Value> {
        let compiled = &work.compiled[input.program as usize];
        let found = self.machine.run(compiled, &input.grid);
        match found.and_then(arc_cpu::Output::value) {
            Ok(value) => Some(value),
            Err(Stop::Error(_)) => None,
            Err(Stop::BailOut(_)) => self.reference(work, input),
        }
    }
}

impl Cpu {
    /// With this many threads, or one for each core.
    pub(super) fn new(workers: Option<NonZeroUsize>) -> io::Result<Self> {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(workers.map_or(0, NonZeroUsize::get))
            .build()
            .map_err(io::Error::other)?;
        let engines = (0..threads.current_num_threads()).map(|_| Mutex::default());
        Ok(Self {
            engines: engines.collect(),
            threads,
        })
    }

    /// The number of threads.
    pub(super) fn workers(&self) -> usize {
        self.engines.len()
    }

    /// Runs a parallel closure on these threads.
    pub(super) fn install<T: Send>(&self, what: impl FnOnce() -> T + Send) -> T {
        self.threads.install(what)
    }

    /// Runs the evaluations on this thread. Returns the time taken, and how many outputs are not the expected ones.
    pub(super) fn one_core(&mut self, work: &Work, load: &Load<'_>) -> (Duration, usize) {
        let engines = self.engines[0].get_mut();
        let engines = engines.unwrap_or_else(PoisonError::into_inner);
        let began = Instant::now();
        let inputs = load.inputs.iter();
        let wrong = inputs
            .filter(|input| !engines.is_right(work, input))
            .count();
        (began.elapsed(), wrong)
    }

    /// Runs the evaluations on all threads.
    pub(super) fn all_cores(&self, work: &Work, load: &Load<'_>) -> (Duration, usize) {
        let part = |inputs: &[&Input]| {
            let thread = rayon::current_thread_index().unwrap_or_default();
            // Only the thread itself takes this lock, so it is always free.
            let mut engines = self.engines[thread]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let inputs = inputs.iter();
            inputs
                .filter(|input| !engines.is_right(work, input))
                .count()
        };
        let began = Instant::now();
        let wrong = self
            .threads
            .install(|| load.inputs.par_chunks(TOGETHER).map(part).sum());
        (began.elapsed(), wrong)
    }

    /// The expected result of one evaluation; `None` if the program fails.
    pub(super) fn expected(&mut self, work: &Work, input: &Input) -> Option<Value> {
        let engines = self.engines[0].get_mut();
        let engines = engines.unwrap_or_else(PoisonError::into_inner);
        engines.value(work, input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::device::inputs::Inputs;

    #[test]
    fn built_in_programs_are_right_on_one_core_and_on_all() {
        let (work, programs, _) = Work::programs();
        let inputs = Inputs::pairs(&programs, 200);
        let load = Load::new(&inputs, 200);
        let mut cpu = Cpu::new(NonZeroUsize::new(2)).unwrap();
        assert_eq!(cpu.workers(), 2);
        assert_eq!(cpu.one_core(&work, &load).1, 0);
        assert_eq!(cpu.all_cores(&work, &load).1, 0);
    }

    #[test]
    fn outputs_that_are_not_the_expected_ones_are_counted() {
        let (mut work, programs, _) = Work::programs();
        // Now no program belongs to its pairs.
        work.compiled.rotate_left(1);
        let inputs = Inputs::pairs(&programs, 50);
        let load = Load::new(&inputs, 50);
        let mut cpu = Cpu::new(NonZeroUsize::new(1)).unwrap();
        let (_, wrong) = cpu.one_core(&work, &load);
        assert!(wrong > 25, "{wrong}");
        assert_eq!(cpu.all_cores(&work, &load).1, wrong);
    }

    #[test]
    fn what_fails_is_expected_to_give_nothing() {
        let input = |grid| Input {
            program: 0,
            grid: std::sync::Arc::new(grid),
            expected: None,
        };
        let mut cpu = Cpu::new(NonZeroUsize::new(1)).unwrap();
        let mut works = Work::singles().into_iter().map(Result::unwrap);
        let mostcolor = works.find(|work| work.name == "mostcolor").unwrap();
        // An empty grid has no most frequent colour.
        let nothing = input(arc_dsl::Grid::default());
        assert_eq!(cpu.expected(&mostcolor, &nothing), None);
        let grid = input(arc_dsl::Grid::filled(2, 2, 3));
        assert_eq!(cpu.expected(&mostcolor, &grid), Some(Value::Int(3)));
    }
}
