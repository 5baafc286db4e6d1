//! [`FallbackShares`]: the part of an executor's items that falls back to the host, learned from its batches.

use serde::{Deserialize, Serialize};

use super::MEMORY;

/// The parts of an executor's items that it does not evaluate, and the host evaluates instead. Each is between 0 and
/// 1, and so is their sum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FallbackShares {
    /// It does not try these, so they take it no time.
    pub skipped: f64,
    /// It tries these, which takes it as long as evaluating them, and bails out.
    pub bailed_out: f64,
}

impl FallbackShares {
    /// The part that it tries.
    pub fn tried(&self) -> f64 {
        (1.0 - self.skipped).clamp(0.0, 1.0)
    }

    /// The part that it evaluates.
    pub fn made(&self) -> f64 {
        (1.0 - self.skipped - self.bailed_out).clamp(0.0, 1.0)
    }

    /// Whether both are valid parts.
    pub fn is_sound(&self) -> bool {
        let part = |number: f64| (0.0..=1.0).contains(&number);
        part(self.skipped) && part(self.bailed_out) && self.skipped + self.bailed_out <= 1.0 + 1e-9
    }
}

/// The most items that a batch counts as: items that fall back come in runs, so the items of one batch give little
/// more information than one of them.
const MOST: f64 = 64.0;

/// The weight of the initial guess, in items. What an earlier run measured counts as ten batches.
const GUESSED: f64 = MOST;
const REMEMBERED: f64 = 10.0 * MOST;

/// Exponentially weighted sums over batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FallbackSums {
    items: f64,
    skipped: f64,
    bailed_out: f64,
}

impl FallbackSums {
    pub(super) fn new(parts: FallbackShares, is_remembered: bool) -> Self {
        let items = if is_remembered { REMEMBERED } else { GUESSED };
        Self {
            items,
            skipped: parts.skipped * items,
            bailed_out: parts.bailed_out * items,
        }
    }

    pub(super) fn add(&mut self, items: f64, skipped: f64, bailed_out: f64) {
        let counted = items.min(MOST);
        // A small batch fades earlier ones less than a large one does.
        let memory = MEMORY.powf(counted / MOST);
        let add = |sum: &mut f64, of: f64| *sum = *sum * memory + of * counted / items;
        add(&mut self.items, items);
        add(&mut self.skipped, skipped);
        add(&mut self.bailed_out, bailed_out);
    }

    pub(super) fn parts(&self) -> FallbackShares {
        FallbackShares {
            skipped: self.skipped / self.items,
            bailed_out: self.bailed_out / self.items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(batches: impl IntoIterator<Item = (f64, f64)>) -> f64 {
        let mut sums = FallbackSums::new(FallbackShares::default(), false);
        for (items, skipped) in batches {
            sums.add(items, skipped, 0.0);
        }
        assert!(sums.parts().is_sound(), "{sums:?}");
        1.0 - sums.parts().made()
    }

    #[test]
    fn shares_that_fall_back_are_learned_and_followed() {
        let third = (0..300).map(|batch| (1000.0, if batch % 3 == 0 { 1000.0 } else { 0.0 }));
        let part = learned(third.clone());
        assert!((0.25..0.42).contains(&part), "{part}");
        let all = learned(third.chain([(1000.0, 1000.0); 100]));
        assert!(all > 0.99, "{all}");
    }

    #[test]
    fn one_batch_does_not_say_all_and_a_large_one_is_not_drowned_by_single_items() {
        assert!((0.4..0.6).contains(&learned([(1e6, 1e6)])));
        let before = learned([(1000.0, 1000.0); 100]);
        let after = learned([(1000.0, 1000.0); 100].into_iter().chain([(1.0, 0.0); 3]));
        assert!(before - after < 0.01, "{before} {after}");
    }

    #[test]
    fn what_no_executor_can_leave_is_not_sound() {
        let parts = |skipped, bailed_out| FallbackShares {
            skipped,
            bailed_out,
        };
        assert!(parts(0.3, 0.7).is_sound() && parts(0.0, 0.0).is_sound());
        for (skipped, bailed_out) in [(-0.1, 0.0), (0.0, 1.1), (0.6, 0.6), (f64::NAN, 0.0)] {
            assert!(!parts(skipped, bailed_out).is_sound());
        }
    }
}
