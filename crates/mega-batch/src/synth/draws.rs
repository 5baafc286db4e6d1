//! [`Draws`]: the random numbers of a synthesis.

/// A random number generator, the same on every machine.
#[derive(Debug, Clone)]
pub(super) struct Draws(u64);

impl Draws {
    /// A generator with these seeds.
    pub(super) fn new(of: &[u64]) -> Self {
        let bytes: Vec<u8> = of.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self(xxhash_rust::xxh3::xxh3_64(&bytes))
    }

    /// The next number: `SplitMix64`.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, 0 where that is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// One of the items, `None` if there are none.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_what_sets_them_and_all_of_a_range_come() {
        let draw = |of: &[u64]| {
            let mut draws = Draws::new(of);
            [(); 4].map(|()| draws.below(1000))
        };
        assert_eq!(draw(&[1, 2]), draw(&[1, 2]));
        assert_ne!(draw(&[1, 2]), draw(&[2, 1]));
        let mut draws = Draws::new(&[7]);
        let mut seen = [0; 5];
        for _ in 0..500 {
            seen[draws.below(5)] += 1;
        }
        assert!(seen.iter().all(|&n| n > 60), "{seen:?}");
        assert_eq!(draws.pick::<u8>(&[]), None);
        let mut items: Vec<_> = (0..20).collect();
        draws.shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
