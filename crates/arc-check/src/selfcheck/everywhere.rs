//! Whether all evaluators that need no GPU agree, on all cores: [`crate::everywhere`] by the hundred
//! thousand.

use arc_dsl::{Grid, Program, Task, TaskIds};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};

use super::device::NotChecked;
use super::{inputs_of, mixed, pick};
use crate::everywhere::{Everywhere, PORTION, Tally};

/// Checks random programs with loops until at least so many ran on all evaluators. `done` is told how many are through, in portions.
pub fn random(cases: u64, seed: u64, done: impl Fn(u64) + Sync) -> Result<Tally, NotChecked> {
    let portions = (0..cases.div_ceil(PORTION)).into_par_iter();
    gather(portions.map(|portion| {
        let count = (cases - portion * PORTION).min(PORTION);
        let tally = Everywhere::new(portion)?.random(mixed(seed, portion, 0), count)?;
        done(count);
        Ok(tally)
    }))
}

/// Checks so many pairs of one of the programs and an input of a task that it is not for.
pub fn foreign(
    programs: &[Program],
    tasks: &[Task],
    cases: u64,
    seed: u64,
    done: impl Fn(u64) + Sync,
) -> Result<Tally, NotChecked> {
    let inputs = inputs_of(tasks);
    let ids = TaskIds::new(inputs.iter().map(|(id, _)| *id));
    let count = programs.len() as u64;
    gather(programs.par_iter().enumerate().map(|(at, program)| {
        let at = at as u64;
        // The first programs take one more each, where the cases do not divide.
        let share = cases / count + u64::from(at < cases % count);
        let task = ids.of(program);
        let foreign = |(id, _): &&(&str, &Grid)| Some(*id) != task;
        let others: Vec<_> = inputs.iter().filter(foreign).copied().collect();
        let chosen = (0..share).filter_map(|case| pick(&others, mixed(seed, at, case)));
        let chosen: Vec<&Grid> = chosen.collect();
        let tally = Everywhere::new(at)?.program(program, &chosen)?;
        done(share);
        Ok(tally)
    }))
}

/// All tallies as one, in the order of the portions.
fn gather(
    portions: impl ParallelIterator<Item = Result<Tally, NotChecked>>,
) -> Result<Tally, NotChecked> {
    portions.try_reduce(Tally::default, |mut all, tally| {
        all.add(tally);
        Ok(all)
    })
}
