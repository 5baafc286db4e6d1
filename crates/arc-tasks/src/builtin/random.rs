//! [`Random`]: the random numbers that the built-in inputs are drawn from, which never change.
//!
//! `rand` does not promise that converting a generator's output to a number in a range stays the same between versions,
//! so that is done here; the output of the generator itself is fixed by its definition.

use rand::RngCore;
use rand_pcg::Pcg64Mcg;

/// A stream of random numbers, determined by a program's id, a seed and an index.
#[derive(Debug, Clone)]
pub(super) struct Random(Pcg64Mcg);

impl Random {
    /// The stream for these three values; other values give independent streams.
    pub(super) fn new(id: &str, seed: u64, index: u64) -> Self {
        // FNV-1a, because it is short; `mix` improves the distribution.
        let id = id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let low = mix(id ^ mix(seed ^ mix(index)));
        let high = mix(low ^ id.rotate_left(32));
        Self(Pcg64Mcg::new((u128::from(high) << 64) | u128::from(low)))
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // The upper half of the product: uniform up to one part in 2^64 / bound.
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included; `low` if `high` is less.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below((high + 1).saturating_sub(low))
    }

    /// True `percent` times in a hundred.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items; `None` if there are none.
    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len())).copied()
    }

    /// Shuffles the items.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// The finalizer of `SplitMix64`: every bit of `z` affects every bit of the result.
fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_their_own_and_stay() {
        let draw = |id, seed, index| {
            let mut random = Random::new(id, seed, index);
            [(); 6].map(|()| random.below(1000))
        };
        assert_eq!(draw("peel", 1, 2), draw("peel", 1, 2));
        assert_ne!(draw("peel", 1, 2), draw("peel", 2, 1));
        assert_ne!(draw("peel", 1, 2), draw("largest", 1, 2));
        assert_eq!(draw("peel", 0, 0), [922, 689, 326, 36, 1, 127]);
    }

    #[test]
    fn every_number_of_a_range_is_drawn_and_no_other() {
        let mut random = Random::new("range", 0, 0);
        let mut seen = [0; 8];
        for _ in 0..800 {
            seen[random.between(2, 5)] += 1;
        }
        assert_eq!([seen[0], seen[1], seen[6], seen[7]], [0; 4]);
        assert!(seen[2..=5].iter().all(|&n| n > 120), "{seen:?}");
        assert_eq!(random.between(7, 3), 7);
        assert_eq!(random.pick::<i8>(&[]), None);
    }

    #[test]
    fn shuffling_keeps_the_items() {
        let mut items: Vec<_> = (0..20).collect();
        Random::new("shuffle", 0, 0).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
