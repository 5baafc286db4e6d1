//! Whether all evaluators agree on this machine, on all of its cores.
//!
//! Cases are divided among the cores in portions that do not depend on their number, so that the
//! same arguments check the same cases everywhere.

use std::cell::RefCell;

use crate::agreement::{self, CHUNK, Checker, Disagreement, Prepared, Tally};
use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Program, Task, TaskIds};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};

pub mod device;
pub mod everywhere;

thread_local! {
    /// The evaluators of a worker: what one portion leaves in them must not matter to the next.
    static CHECKER: RefCell<Checker> = RefCell::default();
}

/// Checks so many random programs and inputs. `done` is told how many are through, in portions.
pub fn random(cases: u64, seed: u64, done: impl Fn(u64) + Sync) -> Tally {
    let portions = (0..cases.div_ceil(CHUNK)).into_par_iter();
    gather(portions.map(|chunk| {
        let count = (cases - chunk * CHUNK).min(CHUNK);
        let check = |checker: &RefCell<Checker>| {
            agreement::random(seed, chunk, count, &mut checker.borrow_mut())
        };
        let tally = CHECKER.with(check);
        done(tally.evaluations);
        tally
    }))
}

/// Checks each program on the inputs of its own task, where that is there, and `cases` times one of
/// the programs on an input of another task.
///
/// With `vary`, the latter are run by mutants of the program too, and so are its own inputs.
pub fn programs(
    programs: &[Program],
    tasks: &[Task],
    cases: u64,
    seed: u64,
    vary: bool,
    done: impl Fn(u64) + Sync,
) -> Tally {
    let inputs = inputs_of(tasks);
    let ids = TaskIds::new(inputs.iter().map(|(id, _)| *id));
    let count = programs.len() as u64;
    gather(programs.par_iter().enumerate().map(|(at, program)| {
        // The first programs take one more each, where the cases do not divide.
        let share = cases / count + u64::from((at as u64) < cases % count);
        let prepared = Prepared::new(program);
        let mut tally = Tally::default();
        let task = ids.of(program);
        let own = |id: &str| task == Some(id);
        let (own, others): (Vec<_>, Vec<_>) = inputs.iter().partition(|(id, _)| own(id));
        let mut generator = vary.then(|| Generator::new(mixed(seed, at as u64, share)));
        CHECKER.with(|checker| {
            let mut checker = checker.borrow_mut();
            for (_, input) in &own {
                let _ = checker.check(&prepared, input, &mut tally);
            }
            for case in 0..share {
                let number = mixed(seed, at as u64, case);
                let other = pick(&others, number);
                if let Some(input) = other {
                    let _ = checker.check(&prepared, input, &mut tally);
                }
                if let Some(generator) = &mut generator {
                    let mutant = generator.mutant(program);
                    let prepared = Prepared::new(&mutant);
                    for input in other.into_iter().chain(pick(&own, number)) {
                        let _ = checker.check(&prepared, input, &mut tally);
                    }
                }
            }
        });
        done(share);
        tally
    }))
}

/// All inputs, each with the id of its task.
fn inputs_of(tasks: &[Task]) -> Vec<(&str, &Grid)> {
    let all = tasks.iter().flat_map(|task| {
        let inputs = task.pairs().map(|(_, pair)| &*pair.input);
        inputs.map(|input| (task.id.as_str(), input))
    });
    all.collect()
}

fn pick<'g>(inputs: &[(&str, &'g Grid)], number: u64) -> Option<&'g Grid> {
    let at = number.checked_rem(inputs.len() as u64)?;
    inputs.get(at as usize).map(|(_, input)| *input)
}

/// Disagreements made small, at most so many, no two of which call the same primitives.
pub fn shrunk(disagreements: &[Disagreement], most: usize) -> Vec<Disagreement> {
    // Most of many are of a few faults; these are found among the first ones.
    let first = &disagreements[..disagreements.len().min(8 * most)];
    let all: Vec<_> = first.par_iter().map(Disagreement::shrunk).collect();
    let mut different: Vec<Disagreement> = Vec::new();
    for one in all {
        let known = |other: &Disagreement| other.primitives() == one.primitives();
        if different.len() < most && !different.iter().any(known) {
            different.push(one);
        }
    }
    different
}

/// All tallies as one, in the order of the portions.
fn gather(portions: impl ParallelIterator<Item = Tally>) -> Tally {
    portions.reduce(Tally::default, |mut all, tally| {
        all.add(tally);
        all
    })
}

/// A number that looks random, the same for the same arguments.
fn mixed(seed: u64, program: u64, case: u64) -> u64 {
    let parts = [program, case];
    parts
        .iter()
        .fold(seed ^ 0x9E37_79B9_7F4A_7C15, |hash, part| {
            let hash = (hash ^ part).wrapping_mul(0xD1B5_4A32_D192_ED03);
            hash ^ (hash >> 29)
        })
}
