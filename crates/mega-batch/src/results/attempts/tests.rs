use std::time::Duration;

use arc_dsl::{Program, ProgramBuilder};
use arc_tasks::{Pair, Task};
use proptest::prelude::*;

use super::*;
use crate::results::score::Score;

fn program(name: &str) -> Program {
    let builder = ProgramBuilder::new(name);
    let input = builder.input();
    builder.finish(input).unwrap()
}

/// Grids of one row that differ in one cell; the last one is too long to be an answer.
fn grid(number: u8) -> Grid {
    match number {
        0..9 => Grid::from_rows(&[[0, 0, i32::from(number)]]).unwrap(),
        _ => Grid::filled(1, 31, 0),
    }
}

/// A task whose right outputs are grid 1, with these numbers of pairs.
fn task(train: usize, test: usize) -> Task {
    let pair = Pair::new(grid(0), grid(1));
    Task {
        id: "a".into(),
        train: vec![pair.clone(); train],
        test: vec![pair; test],
        ..Task::default()
    }
}

/// A candidate's output on each pair: the number of a grid, or `None`.
type Gives = Vec<Option<u8>>;

fn result(task: &Task, at: usize, gives: Option<u8>) -> PairResult {
    let (id, pair) = task.pair_at(at);
    let output = gives.map(grid);
    let expected = pair.output.as_ref();
    PairResult {
        pair: id,
        outcome: match &output {
            None => Outcome::Internal("failed".into()),
            Some(grid) if expected == Some(grid) => Outcome::Match,
            Some(_) => Outcome::Mismatch,
        },
        score: output.as_ref().map(|grid| Score::of(grid, expected)),
        output: output.map(Value::from),
        time: Duration::ZERO,
        evaluated_by: None,
    }
}

/// The attempts with these candidates.
fn attempts<'a>(programs: &'a [Program], tasks: &'a [Task], all: &[Gives]) -> Attempts<'a> {
    let batch = Batch::all_pairs(programs, tasks);
    let mut attempts = Attempts::new(&batch);
    for (job, gives) in batch.jobs().zip(all) {
        attempts.job(job).unwrap();
        for (at, gives) in gives.iter().enumerate() {
            attempts.pair(job, result(&tasks[0], at, *gives)).unwrap();
        }
    }
    attempts.finish();
    attempts
}

fn programs(count: usize) -> Vec<Program> {
    (0..count).map(|at| program(&format!("p{at}_a"))).collect()
}

#[test]
fn candidates_that_give_the_same_are_one_behaviour() {
    let (programs, tasks) = (programs(5), [task(1, 1)]);
    let all = [
        vec![Some(2), Some(3)],
        vec![Some(1), Some(4)],
        vec![Some(2), Some(3)],
        vec![None, Some(3)],
        vec![Some(2), None],
    ];
    let attempts = attempts(&programs, &tasks, &all);
    let behaviours = &attempts.by_task()[0];
    assert_eq!((behaviours.candidates, behaviours.behaviours), (5, 4));
    let ranked = behaviours.ranked();
    let told = ranked.iter().map(|it| {
        (
            it.program,
            it.candidates,
            it.train_right,
            it.train_cells_right,
        )
    });
    // The one that is right, then as many cells and more candidates, then the first.
    assert_eq!(
        told.collect::<Vec<_>>(),
        [(1, 1, 1, 3), (0, 2, 0, 2), (4, 1, 0, 2), (3, 1, 0, 0)]
    );
    assert_eq!(attempts.of_task(0), [[grid(4), grid(3)]]);
}

#[test]
fn what_is_missing_is_filled_with_what_is_valid() {
    let (programs, tasks) = (programs(2), [task(1, 2)]);
    let filled = |all: &[Gives]| attempts(&programs, &tasks, all).of_task(0);
    let black = Grid::filled(1, 1, 0);
    let nothing = [grid(0), black.clone()];
    assert_eq!(filled(&[]), [nothing.clone(), nothing.clone()]);
    let one = vec![Some(1), Some(5), None];
    assert_eq!(filled(&[one]), [[grid(5), grid(0)], nothing.clone()]);
    // A grid that is too large cannot be an answer, and the input itself may be one.
    let large = vec![Some(1), Some(9), Some(0)];
    assert_eq!(filled(&[large]), [nothing, [grid(0), black]]);
}

#[test]
fn a_candidate_of_which_results_are_missing_is_none() {
    let (programs, tasks) = (programs(2), [task(1, 1)]);
    let all = [vec![Some(1), Some(2)], vec![Some(1)]];
    let attempts = attempts(&programs, &tasks, &all);
    assert_eq!(attempts.by_task()[0].candidates, 1);
}

#[test]
fn the_worst_are_dropped_where_there_are_too_many() {
    let count = 3 * Behaviours::MOST;
    let (programs, tasks) = (programs(count), [task(9, 1)]);
    let gives = |at: usize| -> Gives {
        let right = if at == count / 2 { 9 } else { at % 7 };
        let train = (0..9).map(|pair| match pair {
            _ if pair < right => Some(1),
            _ => Some(2 + (at / 7) as u8 % 6),
        });
        train.chain([Some((at % 8) as u8)]).collect()
    };
    let all: Vec<_> = (0..count).map(gives).collect();
    let attempts = attempts(&programs, &tasks, &all);
    let behaviours = &attempts.by_task()[0];
    assert!(behaviours.dropped > 0);
    let kept = behaviours.ranked();
    assert!(kept.len() <= Behaviours::MOST);
    assert_eq!(
        behaviours.behaviours,
        kept.len() as u64 + behaviours.dropped
    );
    assert_eq!(kept[0].program as usize, count / 2);
    assert_eq!(kept[0].train_right, 9);
}

proptest! {
    /// There are two different valid attempts whatever candidates give, and those of better candidates
    /// come first.
    #[test]
    fn attempts_are_two_different_valid_grids(
        all in prop::collection::vec(prop::collection::vec(prop::option::of(0..12_u8), 4), 0..40),
    ) {
        let (programs, tasks) = (programs(all.len().max(1)), [task(2, 2)]);
        let attempts = attempts(&programs, &tasks, &all);
        let right = |gives: &Gives| {
            let right = gives[..2].iter().filter(|it| **it == Some(1)).count();
            let cells = |it: &Option<u8>| match it {
                Some(1) => 3,
                Some(0 | 2..9) => 2,
                _ => 0,
            };
            (right, gives[..2].iter().map(cells).sum::<usize>())
        };
        for (test, [first, second]) in attempts.of_task(0).iter().enumerate() {
            prop_assert!(is_valid(first) && is_valid(second) && first != second);
            let of = |gives: &&Gives| gives[2 + test].is_some_and(|it| it < 9);
            let best = all.iter().filter(of).map(right).max();
            let first = all.iter().filter(|it| it[2 + test].map(grid).as_ref() == Some(first));
            prop_assert_eq!(first.map(right).max(), best);
        }
    }
}
