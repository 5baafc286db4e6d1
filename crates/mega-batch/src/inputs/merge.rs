//! One task that is known from two places: what one of them leaves open the other says, and they differ
//! only where both say something.

use arc_dsl::{OtherSplit, Pair, Task};

/// Where two tasks contradict each other, and how: a path in the task, and what is there and was before.
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) counts: Option<(usize, usize)>,
}

/// Adds to a task what another of its id knows besides. Where they contradict each other, nothing is added.
pub(super) fn merge(known: &mut Task, other: Task) -> Result<(), Difference> {
    let mut merged = known.clone();
    merge_pairs("train", &mut merged.train, other.train)?;
    merge_pairs("test", &mut merged.test, other.test)?;
    for OtherSplit { name, pairs } in other.others {
        match merged.others.iter_mut().find(|split| split.name == name) {
            Some(split) => merge_pairs(&name, &mut split.pairs, pairs)?,
            None => merged.others.push(OtherSplit { name, pairs }),
        }
    }
    *known = merged;
    Ok(())
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
