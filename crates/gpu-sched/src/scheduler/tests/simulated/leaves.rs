//! Which items simulated devices leave to the host: runs of consecutive items, like the evaluations of one program.

use super::random_of;

/// Stretches of consecutive items, some of which are left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stretches {
    /// The part of the stretches that is left, 0 to 1.
    pub(crate) part: f64,
    /// The average number of items in a stretch; lengths vary up to twice that.
    pub(crate) length: u64,
    /// Whether the device bails out of them rather than skips them.
    pub(crate) bails_out: bool,
}

impl Stretches {
    /// Whether an item is left.
    pub(crate) fn leave(&self, item: u64) -> bool {
        // Every pair of stretches is cut at a random position.
        let both = self.length.max(1) * 2;
        let (pair, at) = (item / both, item % both);
        let stretch = pair * 2 + u64::from(at >= random_of(pair) % both);
        (random_of(stretch ^ 0x5eed) as f64) < self.part * u64::MAX as f64
    }
}
