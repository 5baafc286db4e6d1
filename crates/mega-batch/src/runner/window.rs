//! Evaluates the fallback work of devices, and the windows of the host beside devices. Any free worker evaluates the
//! next unit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_cpu::Compiled;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::device::UnitAnswers;
use super::evaluator::Ahead;
use super::unit::Unit;
use super::worker::Watch;
use super::{FinishedWindow, PendingWindow, Run};
use crate::backend::EvaluatedBy;
use crate::outcome::Known;

/// How long a worker evaluates a unit before it offers half of the rest to other workers.
const LONG: Duration = Duration::from_millis(2);

impl Run<'_> {
    /// Evaluates the rest of a window; runs on a worker.
    pub(super) fn evaluate_window(self, window: PendingWindow) -> FinishedWindow {
        let PendingWindow { units, began } = window;
        let evaluate = |(unit, mut by_device): (Unit, UnitAnswers)| {
            let program = self.compiled_if_needed(&unit, &by_device);
            self.evaluate_unit(unit, &mut by_device, program.as_deref())
        };
        let results = if self.runner.executors.threads.is_some() {
            self.compile_in_parallel(&units);
            let units = units.into_par_iter().with_max_len(1);
            units.map(evaluate).collect()
        } else {
            units.into_iter().map(evaluate).collect()
        };
        FinishedWindow {
            results,
            began,
            ended: Instant::now(),
        }
    }

    /// The program of a unit, compiled now if it was not; `None` if machines have nothing to do or must not run it.
    fn compiled_if_needed(self, unit: &Unit, by_device: &UnitAnswers) -> Option<Arc<Compiled>> {
        (by_device.count() < unit.len && !self.stopped())
            .then(|| self.programs.get(unit.program))?
    }

    /// Compiles the programs of a window in parallel, each on one worker.
    fn compile_in_parallel(self, units: &[(Unit, UnitAnswers)]) {
        // The units of a program are consecutive.
        let programs = units.chunk_by(|(a, _), (b, _)| a.program == b.program);
        let programs: Vec<_> = programs.collect();
        programs.into_par_iter().with_max_len(1).for_each(|units| {
            let mut units = units.iter();
            units.find_map(|(unit, by_device)| self.compiled_if_needed(unit, by_device));
        });
    }

    /// Evaluates a unit. If that takes long, an idle worker takes half of the rest.
    fn evaluate_unit(
        self,
        unit: Unit,
        by_device: &mut UnitAnswers,
        compiled: Option<&Compiled>,
    ) -> Vec<Known> {
        let mut results = Vec::with_capacity(unit.len);
        let watch = if self.runner.executors.threads.is_some() {
            Watch::of(LONG)
        } else {
            Watch::none()
        };
        let ahead = Ahead {
            answers: &mut by_device.answers,
            by: EvaluatedBy::Device,
            share: by_device.share,
        };
        let count = self.evaluate(&unit, ahead, compiled, None, watch, &mut results);
        if count < unit.len {
            let mut rest = unit.split_at(self.batch, count).1;
            let mut left = by_device.split_off(count);
            let half = rest.len.div_ceil(2);
            let second = rest.split_at(self.batch, half).1;
            rest.len = half;
            let mut others = left.split_off(half);
            let (first, second) = rayon::join(
                || self.evaluate_unit(rest, &mut left, compiled),
                || self.evaluate_unit(second, &mut others, compiled),
            );
            results.extend(first);
            results.extend(second);
        }
        results
    }
}
