//! What simulated devices leave to the host: stretches of consecutive items, as evaluations of one program
//! are.

use std::collections::BTreeMap;
use std::ops::Range;

use super::answer;
use crate::work::{Fallback, Kind};

/// Stretches of which some are left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretches {
    /// The part of the stretches that is left, 0 to 1.
    pub part: f64,
    /// The items of a stretch on the average; some are much longer than others, up to twice that.
    pub length: u64,
    /// Whether the device bails out of them, and does not skip them.
    pub bails_out: bool,
}

impl Stretches {
    /// Whether an item is left.
    pub fn leave(&self, item: u64) -> bool {
        // Each two of them are cut somewhere.
        let both = self.length.max(1) * 2;
        let (pair, at) = (item / both, item % both);
        let stretch = pair * 2 + u64::from(at >= answer(pair) % both);
        (answer(stretch ^ 0x5eed) as f64) < self.part * u64::MAX as f64
    }
}

/// What a device leaves, by kind.
pub type Leaves = BTreeMap<Kind, Stretches>;

/// What a device tries of a batch, and what it leaves of it.
#[derive(Debug, Default)]
pub(super) struct Leavings {
    pub(super) tried: Vec<u64>,
    pub(super) left: Vec<u64>,
    pub(super) by_kind: Vec<Fallback>,
}

/// What a device leaves of these items, whose kinds these are.
pub(super) fn leavings(leaves: &Leaves, items: Range<u64>, kinds: &[Kind]) -> Leavings {
    let mut leavings = Leavings::default();
    let mut by_kind: BTreeMap<Kind, Fallback> = BTreeMap::new();
    for (item, kind) in items.zip(kinds) {
        let Some(stretches) = leaves.get(kind).filter(|all| all.leave(item)) else {
            leavings.tried.push(item);
            continue;
        };
        leavings.left.push(item);
        let left = by_kind.entry(*kind).or_default();
        left.kind = *kind;
        if stretches.bails_out {
            left.bailed_out += 1;
            leavings.tried.push(item);
        } else {
            left.skipped += 1;
        }
    }
    leavings.by_kind = by_kind.into_values().collect();
    leavings
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
