//! How the evaluations of a window are made: what is done before them, and who makes which.

use std::slice::from_ref;
use std::sync::Arc;
use std::time::Instant;

use arc_cpu::{Compiled, prefetch};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::device::Made;
use super::unit::Unit;
use super::{Passed, Run, Window};
use crate::outcome::PairResult;

impl Run<'_> {
    /// Evaluates what is left of a window; runs on a worker.
    pub(super) fn evaluate_window(self, passed: Passed) -> Window {
        let Passed {
            mut units,
            merged,
            began,
        } = passed;
        if !merged.is_empty() {
            self.merge(&merged, &mut units);
        }
        // Compiling takes other code and data than evaluating: what is done apart finds them in the
        // caches.
        let results = if self.runner.options.mode.is_parallel() {
            self.compile_side_by_side(&units);
            let units = units.into_par_iter().with_max_len(1);
            let results = units.map(|(unit, made)| {
                let program = self.due(&unit, &made);
                self.evaluate(&unit, made, program.as_deref(), None)
            });
            results.collect()
        } else {
            let programs = units.iter().map(|(unit, made)| self.due(unit, made));
            let programs: Vec<_> = programs.collect();
            self.evaluate_in_turn(units, &programs)
        };
        Window {
            results,
            began,
            ended: Instant::now(),
        }
    }

    /// The program of a unit, compiled now if it was not; nothing where machines have nothing to do.
    fn due(self, unit: &Unit, made: &Made) -> Option<Arc<Compiled>> {
        (made.count() < unit.len && !self.stopped()).then(|| self.library.get(unit.program))?
    }

    /// Compiles the programs of a window that are not compiled, each on one worker.
    fn compile_side_by_side(self, units: &[(Unit, Made)]) {
        // The units of a program stand together.
        let programs = units.chunk_by(|(a, _), (b, _)| a.program == b.program);
        let programs: Vec<_> = programs.collect();
        programs.into_par_iter().with_max_len(1).for_each(|units| {
            let mut units = units.iter();
            units.find_map(|(unit, made)| self.due(unit, made));
        });
    }

    /// Evaluates unit after unit on this thread.
    fn evaluate_in_turn(
        self,
        units: Vec<(Unit, Made)>,
        programs: &[Option<Arc<Compiled>>],
    ) -> Vec<Vec<Option<PairResult>>> {
        let all: Vec<_> = units.iter().map(|(unit, _)| *unit).collect();
        let mut results = Vec::with_capacity(units.len());
        for (at, (unit, made)) in units.into_iter().enumerate() {
            self.ask_ahead(&all, programs, at);
            let program = programs[at].as_deref();
            results.push(self.evaluate(&unit, made, program, all.get(at + 1)));
        }
        results
    }

    /// Asks for memory that the units behind one will read.
    ///
    /// A task leads to its pairs, a pair to its grid, and a grid to its cells, which
    /// [`evaluate`](Self::evaluate) asks for. None of them can be asked for before the one that leads
    /// there has come, so that each step is made some units before the next one.
    fn ask_ahead(self, units: &[Unit], programs: &[Option<Arc<Compiled>>], at: usize) {
        let program = |ahead: usize| programs.get(at + ahead)?.as_deref();
        let unit = |ahead: usize| program(ahead).map(|_| &units[at + ahead]);
        if let Some(unit) = unit(6) {
            prefetch(from_ref(self.batch.task(self.batch.job(unit.job))));
        }
        for (_, pair) in unit(4).into_iter().flat_map(|unit| unit.pairs(self.batch)) {
            prefetch(from_ref(pair));
        }
        for (_, pair) in unit(2).into_iter().flat_map(|unit| unit.pairs(self.batch)) {
            prefetch(from_ref(&*pair.input));
        }
        if let Some(program) = program(2) {
            prefetch(from_ref(program));
        }
        if let Some(program) = program(1) {
            program.prefetch();
        }
    }
}
