//! Which items simulated devices leave to the host: runs of consecutive items, like the evaluations of one program.

use std::collections::BTreeMap;
use std::ops::Range;

use super::answer;
use crate::work::{Fallback, Kind};

/// Stretches of consecutive items, some of which fall back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stretches {
    /// The part of the stretches that falls back, 0 to 1.
    pub(crate) part: f64,
    /// The average number of items in a stretch; lengths vary up to twice that.
    pub(crate) length: u64,
    /// Whether the device bails out of them rather than skips them.
    pub(crate) bails_out: bool,
}

impl Stretches {
    /// Whether an item falls back.
    pub(crate) fn leave(&self, item: u64) -> bool {
        // Every pair of stretches is cut at a random position.
        let both = self.length.max(1) * 2;
        let (pair, at) = (item / both, item % both);
        let stretch = pair * 2 + u64::from(at >= answer(pair) % both);
        (answer(stretch ^ 0x5eed) as f64) < self.part * u64::MAX as f64
    }
}

/// Which items of a device fall back, by kind.
pub(crate) type Leaves = BTreeMap<Kind, Stretches>;

/// The items of a batch that the device tries, and those that fall back.
#[derive(Debug, Default)]
pub(super) struct Split {
    pub(super) tried: Vec<u64>,
    pub(super) left: Vec<u64>,
    pub(super) by_kind: Vec<Fallback>,
}

/// Splits these items, of these kinds, into tried ones and those that fall back.
pub(super) fn split(leaves: &Leaves, items: Range<u64>, kinds: &[Kind]) -> Split {
    let mut split = Split::default();
    let mut by_kind: BTreeMap<Kind, Fallback> = BTreeMap::new();
    for (item, kind) in items.zip(kinds) {
        let Some(stretches) = leaves.get(kind).filter(|all| all.leave(item)) else {
            split.tried.push(item);
            continue;
        };
        split.left.push(item);
        let left = by_kind.entry(*kind).or_default();
        left.kind = *kind;
        if stretches.bails_out {
            left.bailed_out += 1;
            split.tried.push(item);
        } else {
            left.skipped += 1;
        }
    }
    split.by_kind = by_kind.into_values().collect();
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_left_in_proportion_and_are_long() {
        for part in [0.0, 0.35, 0.65, 1.0] {
            let stretches = Stretches {
                part,
                length: 300,
                bails_out: false,
            };
            let count = 600_000;
            let left = (0..count).filter(|item| stretches.leave(*item)).count() as f64;
            assert!(
                (left / count as f64 - part).abs() < 0.03,
                "{left} for {part}"
            );
            let changes =
                (1..count).filter(|item| stretches.leave(*item) != stretches.leave(item - 1));
            let most = count as usize / 300;
            assert!(changes.count() <= most, "at most {most} stretches");
        }
    }
}
