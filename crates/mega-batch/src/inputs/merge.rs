//! Merges one task from two sources: each may add what the other lacks, and they conflict only if both have a value
//! and these differ.

use arc_dsl::{OtherSplit, Pair, Task};

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
        match (&pair.output, other.output) {
            (_, None) => {}
            (None, output) => pair.output = output,
            (Some(known), Some(output)) if *known == output => {}
            _ => return Err(differs("output")),
        }
    }
    Ok(())
}
