//! Submitted items, run-length encoded.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::work::{Item, Kind};

/// Items by number, stored as runs of equal items.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// The start of each run; it ends where the next one begins.
    runs: VecDeque<(u64, Item)>,
    end: u64,
}

impl Runs {
    /// The number of the next item.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// How many runs are stored.
    #[cfg(test)]
    pub(crate) fn runs(&self) -> usize {
        self.runs.len()
    }

    pub(crate) fn push(&mut self, item: Item, count: u64) {
        if count > 0 {
            if self.runs.back().is_none_or(|(_, last)| *last != item) {
                self.runs.push_back((self.end, item));
            }
            self.end += count;
        }
    }

    /// Forgets the items before this one.
    pub(crate) fn forget(&mut self, before: u64) {
        while self.runs.get(1).is_some_and(|(start, _)| *start <= before) {
            self.runs.pop_front();
        }
        if before >= self.end {
            self.runs.clear();
        }
    }

    /// The mix of the items in a range.
    pub(crate) fn mix(&self, items: &Range<u64>) -> Mix {
        let first = self
            .runs
            .partition_point(|(start, _)| *start <= items.start);
        let mut mix = Mix::default();
        for at in first.saturating_sub(1)..self.runs.len() {
            let (start, item) = self.runs[at];
            if start >= items.end {
                break;
            }
            let end = self.runs.get(at + 1).map_or(self.end, |(next, _)| *next);
            mix.add(item, end.min(items.end) - start.max(items.start));
        }
        mix
    }
}

/// How many items of each kind there are, and their bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Mix {
    kinds: BTreeMap<Kind, (u64, u64)>,
    items: u64,
}

impl Mix {
    pub(crate) fn items(&self) -> u64 {
        self.items
    }

    /// Kinds, items and bytes.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (Kind, f64, f64)> + '_ {
        let kinds = self.kinds.iter();
        kinds.map(|(kind, (items, bytes))| (*kind, *items as f64, *bytes as f64))
    }

    pub(crate) fn add(&mut self, item: Item, count: u64) {
        self.add_of_kind(item.kind, count, count * u64::from(item.bytes));
    }

    fn add_of_kind(&mut self, kind: Kind, items: u64, bytes: u64) {
        if items > 0 {
            let (of_kind, of_bytes) = self.kinds.entry(kind).or_default();
            *of_kind += items;
            *of_bytes += bytes;
            self.items += items;
        }
    }

    /// A part of the mix: `take` gives the number of items of each kind; bytes are in proportion.
    pub(crate) fn part(&self, mut take: impl FnMut(Kind, u64) -> u64) -> Mix {
        let mut part = Mix::default();
        for (kind, (items, bytes)) in &self.kinds {
            let some = take(*kind, *items).min(*items);
            let of_bytes = u128::from(*bytes) * u128::from(some) / u128::from(*items).max(1);
            part.add_of_kind(*kind, some, of_bytes as u64);
        }
        part
    }

    /// Adds another mix.
    pub(crate) fn join(&mut self, other: &Mix) {
        for (kind, (items, bytes)) in &other.kinds {
            self.add_of_kind(*kind, *items, *bytes);
        }
    }

    /// Subtracts another mix, which must be contained in this one.
    pub(crate) fn remove(&mut self, other: &Mix) {
        for (kind, (items, bytes)) in &other.kinds {
            if let Some((of_kind, of_bytes)) = self.kinds.get_mut(kind) {
                *of_kind -= items;
                *of_bytes -= bytes;
                if *of_kind == 0 {
                    self.kinds.remove(kind);
                }
            }
        }
        self.items -= other.items;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: u16) -> Item {
        Item {
            kind: Kind(kind),
            bytes: 10,
        }
    }

    #[test]
    fn runs_are_counted_by_kind_in_any_range() {
        let mut runs = Runs::default();
        let kinds = [1, 1, 2, 1, 3, 3, 3, 2];
        for (at, kind) in kinds.into_iter().enumerate() {
            runs.push(item(kind), at as u64 + 1);
        }
        let all: Vec<u16> = kinds
            .into_iter()
            .enumerate()
            .flat_map(|(at, kind)| vec![kind; at + 1])
            .collect();
        assert_eq!(runs.end(), all.len() as u64);
        for start in 0..all.len() {
            for end in start..=all.len() {
                let mix = runs.mix(&(start as u64..end as u64));
                let mut expected = Mix::default();
                all[start..end]
                    .iter()
                    .for_each(|kind| expected.add(item(*kind), 1));
                assert_eq!(mix, expected, "{start}..{end}");
            }
            runs.forget(start as u64);
        }
        runs.forget(runs.end());
        runs.push(item(7), 2);
        let end = runs.end();
        assert_eq!(runs.mix(&(end - 1..end)).items(), 1);
    }

    #[test]
    fn what_is_added_can_be_taken_out() {
        let (mut all, mut some) = (Mix::default(), Mix::default());
        all.add(item(1), 5);
        some.add(item(1), 3);
        some.add(item(2), 4);
        let before = all.clone();
        all.join(&some);
        assert_eq!(all.items(), 12);
        all.remove(&some);
        assert_eq!(all, before);
    }
}
