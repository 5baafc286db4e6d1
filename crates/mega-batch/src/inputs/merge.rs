//! Merges one task from two sources: each may add what the other lacks, and they conflict only if both have a value
//! and these differ.

use arc_dsl::Grid;
use arc_tasks::{MAX_TESTS, OtherSplit, Pair, Task};

/// A conflict between two tasks: a path in the task, and the numbers of pairs found there and known before, if these
/// differ.
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) counts: Option<(usize, usize)>,
}

/// Adds what another version of a task contains in addition; returns whether its pairs are in another order. If the
/// versions conflict, nothing is added.
pub(super) fn merge(known: &mut Task, mut other: Task) -> Result<bool, Difference> {
    let mut merged = known.clone();
    let (before, after) = (known.test_places().len(), other.test_places().len());
    let mut is_reordered = sort_like(&known.train, &mut other.train);
    if known.tests_left_out.is_empty() && other.tests_left_out.is_empty() {
        is_reordered |= sort_like(&known.test, &mut other.test);
    }
    merge_pairs("train", &mut merged.train, other.train)?;
    if merged.tests_left_out == other.tests_left_out || before == 0 {
        merge_pairs("test", &mut merged.test, other.test)?;
        merged.tests_left_out = other.tests_left_out;
    } else if before == after && other.tests_left_out.len() < merged.tests_left_out.len() {
        // More pairs of the other one could be read.
        (merged.test, merged.tests_left_out) = (other.test, other.tests_left_out);
    }
    for OtherSplit { name, pairs } in other.others {
        match merged.others.iter_mut().find(|split| split.name == name) {
            Some(split) => merge_pairs(&name, &mut split.pairs, pairs)?,
            None => merged.others.push(OtherSplit { name, pairs }),
        }
    }
    *known = merged;
    Ok(is_reordered)
}

/// The test inputs of a task of which each row of a data set has one or more: for each pair in its file the number that
/// the row gives.
pub(super) type TestIndices = Vec<Option<usize>>;

/// The numbers of the test inputs of a row.
pub(super) fn test_indices(row: &Task, index: Option<usize>) -> TestIndices {
    match row.test_places().len() {
        1 => vec![index],
        count => vec![None; count],
    }
}

/// Leaves places for the test inputs of a task of which there is no row, if all its rows give their numbers. Returns
/// whether these were counted from 1.
pub(super) fn leave_places(task: &mut Task, indices: &[Option<usize>]) -> bool {
    let numbers: Option<Vec<_>> = indices.iter().copied().collect();
    let numbers = numbers.unwrap_or_default();
    let Some(last) = numbers.last().filter(|last| **last < MAX_TESTS) else {
        return false;
    };
    let is_from_one = numbers.len() > 1 && numbers.iter().copied().eq(1..=numbers.len());
    let first = usize::from(is_from_one);
    let read = numbers.iter().zip(task.test_places());
    let read: Vec<_> = read.filter(|(_, place)| place.is_some()).collect();
    let lacks = |number: &usize| read.iter().all(|(at, _)| *at != number);
    let left_out = (first..=*last).filter(lacks);
    task.tests_left_out = left_out.map(|at| at - first).collect();
    is_from_one
}

/// Adds the test pairs of another row of the same task, in the order of the numbers if all rows give them. Returns
/// whether its train pairs are in another order; `None` if it is no such row, since they are others.
pub(super) fn join(
    known: &mut Task,
    indices: &mut TestIndices,
    row: &mut Task,
    index: Option<usize>,
) -> Option<Result<bool, Difference>> {
    let is_whole = row.tests_left_out.is_empty() || row.test_places().len() == 1;
    if !is_whole || known.train.is_empty() {
        return None;
    }
    let is_reordered = sort_like(&known.train, &mut row.train);
    if known.train != row.train {
        return None;
    }
    let of = |task: &Task| -> Vec<Option<Pair>> {
        let places = task.test_places();
        places.map(|place| task.test.get(place?).cloned()).collect()
    };
    let mut tests: Vec<_> = indices.iter().copied().zip(of(known)).collect();
    for (index, pair) in test_indices(row, index).into_iter().zip(of(row)) {
        let Some(pair) = pair else {
            // Another row may have the same test input.
            if index.is_none() || tests.iter().all(|(known, _)| *known != index) {
                tests.push((index, None));
            }
            continue;
        };
        let is_it = |known: &Pair| known.input == pair.input;
        let found = tests.iter_mut().enumerate();
        let mut found = found.filter_map(|(at, (_, known))| Some((at, known.as_mut()?)));
        let Some((at, known)) = found.find(|(_, known)| is_it(known)) else {
            let is_hole = |(at, pair): &&mut (_, Option<Pair>)| {
                index.is_some() && *at == index && pair.is_none()
            };
            match tests.iter_mut().find(is_hole) {
                Some((_, hole)) => *hole = Some(pair),
                None => tests.push((index, Some(pair))),
            }
            continue;
        };
        if !merge_output(known, pair.output) {
            return Some(Err(Difference {
                path: format!("test[{at}].output"),
                counts: None,
            }));
        }
    }
    if tests.iter().all(|(index, _)| index.is_some()) {
        tests.sort_by_key(|(index, _)| *index);
        let mut both = tests.windows(2).filter(|both| both[0].0 == both[1].0);
        let at = both.find_map(|both| both[0].0.filter(|at| *at < MAX_TESTS));
        if let Some(at) = at {
            return Some(Err(Difference {
                path: format!("test[{at}].input"),
                counts: None,
            }));
        }
    }
    for OtherSplit { name, pairs } in std::mem::take(&mut row.others) {
        match known.others.iter_mut().find(|split| split.name == name) {
            Some(split) => {
                if let Err(difference) = merge_pairs(&name, &mut split.pairs, pairs) {
                    return Some(Err(difference));
                }
            }
            None => known.others.push(OtherSplit { name, pairs }),
        }
    }
    let is_left_out = |(at, (_, pair)): (usize, &(_, Option<Pair>))| pair.is_none().then_some(at);
    known.tests_left_out = tests.iter().enumerate().filter_map(is_left_out).collect();
    *indices = tests.iter().map(|(index, _)| *index).collect();
    known.test = tests.into_iter().filter_map(|(_, pair)| pair).collect();
    Some(Ok(is_reordered))
}

/// Sorts pairs with the same inputs as `known` into the order of `known`; returns whether the order changed.
fn sort_like(known: &[Pair], other: &mut Vec<Pair>) -> bool {
    let inputs = |pairs: &[Pair]| -> Vec<_> { pairs.iter().map(|it| it.input.clone()).collect() };
    if known.len() != other.len() || inputs(known) == inputs(other) {
        return false;
    }
    let mut left: Vec<Option<&Pair>> = other.iter().map(Some).collect();
    let sorted = known.iter().map(|pair| {
        let is_it = |it: &&mut Option<&Pair>| it.is_some_and(|it| it.input == pair.input);
        left.iter_mut().find(is_it)?.take().cloned()
    });
    let Some(sorted) = sorted.collect::<Option<Vec<_>>>() else {
        return false;
    };
    *other = sorted;
    true
}

fn merge_pairs(split: &str, known: &mut Vec<Pair>, other: Vec<Pair>) -> Result<(), Difference> {
    if other.is_empty() {
        return Ok(());
    }
    if known.is_empty() {
        *known = other;
        return Ok(());
    }
    if known.len() != other.len() {
        return Err(Difference {
            path: split.to_owned(),
            counts: Some((other.len(), known.len())),
        });
    }
    for ((pair, other), at) in known.iter_mut().zip(other).zip(0..) {
        let differs = |part: &str| Difference {
            path: format!("{split}[{at}].{part}"),
            counts: None,
        };
        if pair.input != other.input {
            return Err(differs("input"));
        }
        if !merge_output(pair, other.output) {
            return Err(differs("output"));
        }
    }
    Ok(())
}

/// Sets the output of a pair if it was not known; returns false if there is another one.
fn merge_output(pair: &mut Pair, other: Option<Grid>) -> bool {
    if pair.output.is_none() {
        pair.output = other;
        return true;
    }
    other.is_none() || pair.output == other
}
