//! Texts, lists and maps of a document, cut to a bounded size.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The most characters of a text that are kept.
const CHARACTERS: usize = 300;

/// A text, a name or a message, cut if it is very long.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Text(match text.char_indices().nth(CHARACTERS) {
            None => text,
            Some((end, _)) => format!("{}…", &text[..end]),
        }))
    }
}

/// The first `N` elements of a list, and its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct First<T, const N: usize> {
    pub(super) kept: Vec<T>,
    pub(super) total: usize,
}

impl<T, const N: usize> Default for First<T, N> {
    fn default() -> Self {
        let (kept, total) = (Vec::new(), 0);
        Self { kept, total }
    }
}

impl<T, const N: usize> First<T, N> {
    /// How many elements were not kept.
    pub(super) fn left_out(&self) -> usize {
        self.total - self.kept.len()
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for First<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counted<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Counted<T, N> {
            type Value = First<T, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<First<T, N>, A::Error> {
                let mut first = First::default();
                while first.kept.len() < N {
                    match list.next_element()? {
                        Some(element) => first.kept.push(element),
                        None => break,
                    }
                }
                first.total = first.kept.len();
                // The rest only has to be JSON.
                while list.next_element::<IgnoredAny>()?.is_some() {
                    first.total += 1;
                }
                Ok(first)
            }
        }
        deserializer.deserialize_seq(Counted(PhantomData))
    }
}

/// Reads a list element by element into what `add` makes of them, so that the list itself is never in memory. An error
/// of `add` is one at this place.
pub(super) fn fold_list<'de, D: Deserializer<'de>, T: Deserialize<'de>, A: Default>(
    deserializer: D,
    expecting: &'static str,
    add: impl FnMut(&mut A, T) -> Result<(), String>,
) -> Result<A, D::Error> {
    struct Fold<T, A, F> {
        expecting: &'static str,
        add: F,
        types: PhantomData<(T, A)>,
    }
    impl<'de, T, A, F> Visitor<'de> for Fold<T, A, F>
    where
        T: Deserialize<'de>,
        A: Default,
        F: FnMut(&mut A, T) -> Result<(), String>,
    {
        type Value = A;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.expecting)
        }

        fn visit_seq<S: SeqAccess<'de>>(mut self, mut list: S) -> Result<A, S::Error> {
            let mut all = A::default();
            while let Some(element) = list.next_element()? {
                (self.add)(&mut all, element).map_err(S::Error::custom)?;
            }
            Ok(all)
        }
    }
    deserializer.deserialize_seq(Fold {
        expecting,
        add,
        types: PhantomData,
    })
}

/// The most reasons of a map that are kept.
const REASONS: usize = 1000;

/// Counts by reason, in descending order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Reasons(pub(super) Vec<(Text, u64)>);

impl Reasons {
    pub(super) fn total(&self) -> u64 {
        let counts = self.0.iter().map(|&(_, count)| count);
        counts.fold(0, u64::saturating_add)
    }
}

impl<'de> Deserialize<'de> for Reasons {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountsVisitor;
        impl<'de> Visitor<'de> for CountsVisitor {
            type Value = Reasons;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of counts by reason")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Reasons, A::Error> {
                let mut reasons = Vec::new();
                while let Some((reason, count)) = map.next_entry::<Text, u64>()? {
                    if reasons.len() < REASONS {
                        reasons.push((reason, count));
                    }
                }
                // Equal counts keep the order of the document.
                reasons.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
                Ok(Reasons(reasons))
            }
        }
        deserializer.deserialize_map(CountsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "é".repeat(CHARACTERS + 1);
        let Text(cut) = serde_json::from_str(&format!("\"{long}\"")).unwrap();
        assert_eq!(cut, "é".repeat(CHARACTERS) + "…");
        let exact = "é".repeat(CHARACTERS);
        let Text(kept) = serde_json::from_str(&format!("\"{exact}\"")).unwrap();
        assert_eq!(kept, exact);
    }

    #[test]
    fn lists_are_counted_to_their_end() {
        let list: First<u8, 2> = serde_json::from_str("[1, 2, 3, {\"any\": 4}]").unwrap();
        assert_eq!((list.kept.as_slice(), list.total), (&[1, 2][..], 4));
        assert_eq!(list.left_out(), 2);
        assert!(serde_json::from_str::<First<u8, 2>>("[1, 2, }").is_err());
        assert!(serde_json::from_str::<First<u8, 2>>("{}").is_err());
    }

    #[test]
    fn reasons_stand_by_their_counts() {
        let reasons: Reasons = serde_json::from_str(r#"{"a": 1, "b": 3, "c": 3}"#).unwrap();
        let names: Vec<_> = reasons.0.iter().map(|(Text(name), _)| &**name).collect();
        assert_eq!((names, reasons.total()), (vec!["b", "c", "a"], 7));
        let many = (0..2 * REASONS).map(|at| format!("\"{at}\": 1"));
        let many = format!("{{{}}}", many.collect::<Vec<_>>().join(","));
        let many: Reasons = serde_json::from_str(&many).unwrap();
        assert_eq!(many.0.len(), REASONS);
    }
}
