//! [`Dice`]: the random numbers of the generator.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Random choices, the same for the same seed on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Dice(Pcg64Mcg);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A number from 0 to `end - 1`; 0 where `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Drawn as `u32`, so that the size of `usize` makes no difference.
        self.0.random_range(0..end.max(1) as u32) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i32, high: i32) -> i32 {
        self.0.random_range(low..=high.max(low))
    }

    /// Whether something that happens so many times in a hundred happens now.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.0.random_range(0..100) < percent
    }

    /// One of the items, of which there must be one.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A colour of ARC, 0 to 9.
    pub(crate) fn colour(&mut self) -> i32 {
        self.between(0, 9)
    }
}
