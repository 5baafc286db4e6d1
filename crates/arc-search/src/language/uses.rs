//! [`Uses`]: how often each part of a language was used, and the costs that follow.

use rustc_hash::FxHashMap;

use super::{Language, LanguageRow};

/// How often operations and seeds of a language were used.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Uses {
    /// By row and index in it.
    calls: FxHashMap<(u16, u16), f64>,
    /// By whether it is a colour seed, and its index.
    seeds: FxHashMap<(bool, u16), f64>,
}

/// About how many colours a task has: a colour seed stands for this many values.
const COLOURS: f64 = 4.0;

impl Uses {
    pub(crate) fn call(&mut self, row: u16, operation: u16) {
        *self.calls.entry((row, operation)).or_default() += 1.0;
    }

    pub(crate) fn seed(&mut self, is_of_colour: bool, place: u16) {
        *self.seeds.entry((is_of_colour, place)).or_default() += 1.0;
    }

    /// Adds other uses, with this weight.
    pub fn add(&mut self, other: &Uses, weight: f64) {
        for (key, count) in &other.calls {
            *self.calls.entry(*key).or_default() += count * weight;
        }
        for (key, count) in &other.seeds {
            *self.seeds.entry(*key).or_default() += count * weight;
        }
    }
}

impl Language {
    /// This language with bits learned from uses: among the `n` uses of a kind, an operation that was used `c` times
    /// and had the probability `p` now has `(c + s p) / (n + s)`, where `s` is the number of uses that the old bits
    /// count for. Operations of the same bits and kinds share a row.
    #[must_use]
    pub fn by_uses(&self, uses: &Uses, s: f64) -> Self {
        // For each kind the sum of the old probabilities and of the uses.
        let mut kinds = vec![(0.0, 0.0); self.kinds.len()];
        let old = |bits: u8| (-f64::from(bits)).exp2();
        let used = |row: usize, place: usize| {
            uses.calls
                .get(&(row as u16, place as u16))
                .copied()
                .unwrap_or_default()
        };
        let seeded = |colour: bool, place: usize| {
            uses.seeds
                .get(&(colour, place as u16))
                .copied()
                .unwrap_or_default()
        };
        for (number, row) in self.rows.iter().enumerate() {
            let (probability, count) = &mut kinds[row.gives.index()];
            for place in 0..row.operations.len() {
                *probability += old(row.bits);
                *count += used(number, place);
            }
        }
        for (colour, seeds) in [(false, &self.seeds), (true, &self.colour_seeds)] {
            for (place, seed) in seeds.iter().enumerate() {
                let (probability, count) = &mut kinds[seed.kind.index()];
                *probability += old(seed.bits) * if colour { COLOURS } else { 1.0 };
                *count += seeded(colour, place);
            }
        }
        let bits = |kind: super::Kind, count: f64, before: u8, values: f64| {
            let (probability, n) = kinds[kind.index()];
            let share = (count + s * old(before) * values / probability) / (n + s);
            // A colour seed's share is divided among its values.
            (-(share / values).log2()).round().clamp(0.0, 60.0) as u8
        };
        let mut rows: Vec<LanguageRow> = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            for (place, operation) in row.operations.iter().enumerate() {
                let bits = bits(row.gives, used(number, place), row.bits, 1.0);
                let is_its = |other: &&mut LanguageRow| {
                    (other.bits, other.commutes, &other.takes, other.gives)
                        == (bits, row.commutes, &row.takes, row.gives)
                };
                match rows.iter_mut().find(is_its) {
                    Some(row) => row.operations.push(*operation),
                    None => rows.push(LanguageRow {
                        bits,
                        operations: vec![*operation],
                        ..row.clone()
                    }),
                }
            }
        }
        let mut language = Self {
            rows,
            ..self.clone()
        };
        for (place, seed) in language.seeds.iter_mut().enumerate() {
            seed.bits = bits(seed.kind, seeded(false, place), seed.bits, 1.0);
        }
        for (place, seed) in language.colour_seeds.iter_mut().enumerate() {
            seed.bits = bits(seed.kind, seeded(true, place), seed.bits, COLOURS);
        }
        language
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_takes_fewer_bits() {
        let table = "[kinds]\n3: object\n[calls]\n2 grid -> grid: rot90 trim\n5 grid -> object: asobject\n\
                     [seeds]\n1 grid: I\n[colours]\n2 colour: COLOUR\n";
        let language = Language::parse("", table).unwrap();
        assert_eq!(language.table(), table);
        let mut uses = Uses::default();
        (0..12).for_each(|_| uses.call(0, 1));
        let learned = language.by_uses(&uses, 4.0);
        // (12 + 4 / 4) / 16, 1 / 16 and 2 / 16; the bits of a kind without uses stay as before.
        let expected = "[kinds]\n3: object\n[calls]\n4 grid -> grid: rot90\n0 grid -> grid: trim\n\
                        0 grid -> object: asobject\n[seeds]\n3 grid: I\n[colours]\n2 colour: COLOUR\n";
        assert_eq!(learned.table(), expected);
    }
}
