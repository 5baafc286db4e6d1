//! Whether all evaluators that need no GPU agree, on all cores: [`crate::everywhere`] by the hundred thousand.

use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Program};
use arc_tasks::{Task, TaskIds};
use gpu_kernels::device::Unavailable;
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};

use super::device::NotChecked;
use super::{inputs_of, mixed, pick};
use crate::everywhere::{Everywhere, LAUNCH, PORTION, Tally};

/// Why this build leaves out simulated devices, if it does.
pub fn skipped() -> Option<Unavailable> {
    (!cfg!(feature = "simulated")).then_some(Unavailable::NotSimulated)
}

/// Checks random programs with loops until at least `cases` ran on all evaluators. Calls `done` with the number of
/// cases finished, portion by portion.
pub fn random(cases: u64, seed: u64, done: impl Fn(u64) + Sync) -> Result<Tally, NotChecked> {
    let portions = (0..cases.div_ceil(PORTION)).into_par_iter();
    gather(portions.map(|portion| {
        let count = (cases - portion * PORTION).min(PORTION);
        let tally = Everywhere::of_this_build(portion)?.random(mixed(seed, portion, 0), count)?;
        done(count);
        Ok(tally)
    }))
}

/// Checks `cases` pairs of a program and an input of another program's task; with `vary`, pairs of a mutant of a
/// program and an input, every other block of them on an input of the program's own task, if that is given.
pub fn foreign(
    programs: &[Program],
    tasks: &[Task],
    cases: u64,
    seed: u64,
    vary: bool,
    done: impl Fn(u64) + Sync,
) -> Result<Tally, NotChecked> {
    let inputs = inputs_of(tasks);
    let ids = TaskIds::new(inputs.iter().map(|(id, _)| *id));
    let count = programs.len() as u64;
    gather(programs.par_iter().enumerate().map(|(at, program)| {
        let at = at as u64;
        // The first programs take one more each if the cases do not divide evenly.
        let share = cases / count + u64::from(at < cases % count);
        let task = ids.of(program);
        let own = |(id, _): &(&str, &Grid)| Some(*id) == task;
        let (own, others): (Vec<_>, Vec<_>) = inputs.iter().partition(|input| own(input));
        let mut generator = vary.then(|| Generator::new(mixed(seed, at, share)));
        let mut everywhere = Everywhere::of_this_build(at)?;
        let mut tally = Tally::default();
        for first in (0..share).step_by(LAUNCH as usize) {
            let cases = first..share.min(first + LAUNCH);
            let length = cases.end - cases.start;
            let Some(generator) = &mut generator else {
                let chosen = cases.filter_map(|case| pick(&others, mixed(seed, at, case)));
                let chosen: Vec<&Grid> = chosen.collect();
                tally.add(everywhere.programs([(program, &*chosen)])?);
                done(length);
                continue;
            };
            // Consecutive mutants share an input, as in a search.
            let all: Vec<(Program, Vec<&Grid>)> = cases
                .map(|case| {
                    let block = case / SHARING;
                    let is_own = block.is_multiple_of(2);
                    let from = if is_own && !own.is_empty() {
                        &own
                    } else {
                        &others
                    };
                    let input = pick(from, mixed(seed, at, block));
                    (generator.mutant(program), input.into_iter().collect())
                })
                .collect();
            let all = all.iter().map(|(program, inputs)| (program, &**inputs));
            tally.add(everywhere.programs(all)?);
            done(length);
        }
        Ok(tally)
    }))
}

/// How many consecutive mutants run on the same input.
const SHARING: u64 = 16;

/// The sum of all tallies, in the order of the portions.
fn gather(
    portions: impl ParallelIterator<Item = Result<Tally, NotChecked>>,
) -> Result<Tally, NotChecked> {
    portions.try_reduce(Tally::default, |mut all, tally| {
        all.add(tally);
        Ok(all)
    })
}
