//! What a device leaves of its windows, and the windows of the host beside devices: units, each made by
//! whichever worker is free.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_cpu::Compiled;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::device::UnitAnswers;
use super::evaluator::Ahead;
use super::unit::Unit;
use super::worker::Watch;
use super::{Passed, Run, Window};
use crate::backend::Maker;
use crate::outcome::Known;

/// How long a unit takes before others are offered half of what is left of it.
const LONG: Duration = Duration::from_millis(2);

impl Run<'_> {
    /// Evaluates what is left of a window; runs on a worker.
    pub(super) fn evaluate_window(self, passed: Passed) -> Window {
        let Passed { units, began } = passed;
        let evaluate = |(unit, mut by_device): (Unit, UnitAnswers)| {
            let program = self.due(&unit, &by_device);
            self.evaluate_unit(unit, &mut by_device, program.as_deref())
        };
        let results = if self.runner.executors.threads.is_some() {
            self.compile_side_by_side(&units);
            let units = units.into_par_iter().with_max_len(1);
            units.map(evaluate).collect()
        } else {
            units.into_iter().map(evaluate).collect()
        };
        Window {
            results,
            began,
            ended: Instant::now(),
        }
    }

    /// The program of a unit, compiled now if it was not; `None` if machines have nothing to do.
    fn due(self, unit: &Unit, by_device: &UnitAnswers) -> Option<Arc<Compiled>> {
        (by_device.count() < unit.len && !self.stopped())
            .then(|| self.programs.get(unit.program))?
    }

    /// Compiles the programs of a window that are not compiled, each on one worker.
    fn compile_side_by_side(self, units: &[(Unit, UnitAnswers)]) {
        // The units of a program stand together.
        let programs = units.chunk_by(|(a, _), (b, _)| a.program == b.program);
        let programs: Vec<_> = programs.collect();
        programs.into_par_iter().with_max_len(1).for_each(|units| {
            let mut units = units.iter();
            units.find_map(|(unit, by_device)| self.due(unit, by_device));
        });
    }

    /// Evaluates a unit, and where that takes long, half of what is left of it on another worker that has
    /// nothing to do.
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
            by: Maker::Device,
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
