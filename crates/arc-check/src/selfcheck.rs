//! Whether all evaluators agree on this machine, using all of its cores.
//!
//! Cases are divided among the cores in portions that do not depend on the number of cores, so the same arguments
//! check the same cases everywhere.

use std::cell::RefCell;

use crate::agreement::{self, CHUNK, Checker, Disagreement, Prepared, Tally};
use arc_dsl::generate::Generator;
use arc_dsl::{Grid, Program};
use arc_tasks::{Task, TaskIds};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};

pub mod device;
pub mod everywhere;

thread_local! {
    /// The evaluators of a worker: the state that one portion leaves must not matter to the next.
    static CHECKER: RefCell<Checker> = RefCell::default();
}

/// Checks `cases` random programs and inputs. Calls `done` with the number of cases finished, portion by portion.
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

/// Checks each program on the inputs of its own task, if that is given, and `cases` times one of the programs on an
/// input of another task.
///
/// With `vary`, mutants of the program also run on the latter and on its own inputs.
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
        // The first programs take one more each if the cases do not divide evenly.
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

/// Disagreements after shrinking, at most `most`, no two of which call the same primitives.
pub fn shrunk(disagreements: &[Disagreement], most: usize) -> Vec<Disagreement> {
    // Many disagreements come from few faults, which the first ones show.
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

/// The sum of all tallies, in the order of the portions.
fn gather(portions: impl ParallelIterator<Item = Tally>) -> Tally {
    portions.reduce(Tally::default, |mut all, tally| {
        all.add(tally);
        all
    })
}

/// A pseudo-random number that depends only on the arguments.
fn mixed(seed: u64, program: u64, case: u64) -> u64 {
    let parts = [program, case];
    parts
        .iter()
        .fold(seed ^ 0x9E37_79B9_7F4A_7C15, |hash, part| {
            let hash = (hash ^ part).wrapping_mul(0xD1B5_4A32_D192_ED03);
            hash ^ (hash >> 29)
        })
}
