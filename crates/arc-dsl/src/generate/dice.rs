//! [`Dice`]: the random numbers of the generator.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Random choices, the same for the same seed on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Dice {
    random: Pcg64Mcg,
    /// Bytes that determine choices before they become random: the last byte first.
    bytes: Vec<u8>,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Pcg64Mcg::seed_from_u64(seed);
        let bytes = Vec::new();
        Self { random, bytes }
    }

    /// Makes these bytes determine the next choices, one byte each if there are at most 256 possibilities.
    pub(crate) fn choose_by(&mut self, bytes: &[u8]) {
        self.bytes = bytes.iter().rev().copied().collect();
    }

    /// A number below `end` determined by the bytes; `None` if none are left.
    fn chosen(&mut self, end: u32) -> Option<u32> {
        let mut number = u32::from(self.bytes.pop()?);
        let mut ways = 1 << 8;
        while ways < u64::from(end)
            && let Some(byte) = self.bytes.pop()
        {
            number = number << 8 | u32::from(byte);
            ways <<= 8;
        }
        Some(number % end.max(1))
    }

    /// A number from 0 to `end - 1`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Drawn as `u32`, so that the size of `usize` makes no difference.
        let end = end.max(1) as u32;
        let chosen = self.chosen(end);
        chosen.unwrap_or_else(|| self.random.random_range(0..end)) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i32, high: i32) -> i32 {
        let high = high.max(low);
        match self.chosen(high.abs_diff(low).saturating_add(1)) {
            Some(above) => low.saturating_add_unsigned(above),
            None => self.random.random_range(low..=high),
        }
    }

    /// True with this probability in percent.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        let chosen = self.chosen(100);
        chosen.unwrap_or_else(|| self.random.random_range(0..100)) < percent
    }

    /// One of the items; there must be at least one.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A colour of ARC, 0 to 9.
    pub(crate) fn colour(&mut self) -> i32 {
        self.between(0, 9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_choose_first_and_then_the_seed() {
        let mut dice = Dice::new(7);
        dice.choose_by(&[3, 12, 1, 2, 99, 200, 5]);
        assert_eq!(dice.below(10), 3);
        assert_eq!(dice.below(10), 2);
        // More than 256 possibilities take two bytes.
        assert_eq!(dice.below(1000), 258);
        assert!(!dice.chance(99) && dice.chance(1), "99 and 200 of 100");
        assert_eq!(dice.between(-2, 4), 3);
        // As if there had been no bytes.
        let mut seeded = Dice::new(7);
        let both: Vec<_> = (0..20)
            .map(|_| (dice.below(1000), seeded.below(1000)))
            .collect();
        assert!(both.iter().all(|(chosen, random)| chosen == random));
        assert!(both.iter().any(|(chosen, _)| *chosen != both[0].0));
    }

    #[test]
    fn any_choice_lies_in_its_range() {
        for bytes in [&[][..], &[255], &[255; 9]] {
            let mut dice = Dice::new(1);
            for end in [0, 1, 300, 70_000] {
                dice.choose_by(bytes);
                assert!(dice.below(end) < end.max(1));
            }
            for (low, high) in [(5, 4), (-7, 7), (-1000, 1000)] {
                dice.choose_by(bytes);
                assert!((low..=high.max(low)).contains(&dice.between(low, high)));
            }
        }
        let mut dice = Dice::new(1);
        dice.choose_by(&[255, 255, 255, 254]);
        assert_eq!(dice.between(i32::MIN, i32::MAX), i32::MAX - 1);
    }
}
