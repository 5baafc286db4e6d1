//! [`UseCounts`]: how often programs call each primitive, and on what; with a text format.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use arc_dsl::Primitive;

use super::producer::Producer;

/// An argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The primitive that is called.
    pub consumer: Primitive,
    /// The argument's index among the parameters, from 0.
    pub place: usize,
    /// What the argument comes from.
    pub producer: Producer,
}

/// How often programs call each primitive, and what the arguments of these calls come from.
///
/// Its text has a line `NAME CALLS` for each primitive that is called, and below it lines `NAME PLACE COUNT PRODUCER
/// ..`: each of these producers gave the argument at this place so often. Every argument of every call has a
/// producer, so the counts of a place add up to the calls; a text in which they do not is an error. Lines that start
/// with `#` are comments.
///
/// ```
/// use arc_dsl::Primitive;
/// use arc_search::language::{Producer, UseCounts};
/// let mut counts = UseCounts::default();
/// counts.call(Primitive::Hconcat, &[Producer::Input, Producer::Result(Primitive::Vmirror)]);
/// counts.call(Primitive::Vmirror, &[Producer::Input]);
/// let text = "hconcat 1\nhconcat 0 1 I\nhconcat 1 1 vmirror\nvmirror 1\nvmirror 0 1 I\n";
/// assert_eq!(UseCounts::parse(text)?, counts);
/// # Ok::<(), arc_search::language::CostError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UseCounts {
    calls: BTreeMap<Primitive, u32>,
    uses: BTreeMap<(Primitive, usize), BTreeMap<Producer, u32>>,
}

/// An error in a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found}")]
#[non_exhaustive]
pub struct CostError {
    /// The line, counted from 1.
    pub line: usize,
    /// What the line should have there.
    pub expected: String,
    /// What it has instead.
    pub found: String,
}

impl UseCounts {
    /// Counts a call whose arguments come from these producers, one per parameter.
    pub fn call(&mut self, consumer: Primitive, producers: &[Producer]) {
        debug_assert_eq!(producers.len(), consumer.parameters().len());
        increase(self.calls.entry(consumer).or_default(), 1);
        for (place, &producer) in producers.iter().enumerate() {
            let counts = self.uses.entry((consumer, place)).or_default();
            increase(counts.entry(producer).or_default(), 1);
        }
    }

    /// Adds the counts of other programs.
    pub fn add(&mut self, other: &UseCounts) {
        for (&primitive, &count) in &other.calls {
            increase(self.calls.entry(primitive).or_default(), count);
        }
        for (&place, producers) in &other.uses {
            let counts = self.uses.entry(place).or_default();
            for (&producer, &count) in producers {
                increase(counts.entry(producer).or_default(), count);
            }
        }
    }

    /// The primitives that are called and their counts, in the order of their table.
    pub fn calls(&self) -> impl Iterator<Item = (Primitive, u32)> {
        self.calls
            .iter()
            .map(|(&primitive, &count)| (primitive, count))
    }

    /// The arguments that occur and their counts, by consumer, place and producer.
    pub fn uses(&self) -> impl Iterator<Item = (Use, u32)> {
        self.uses
            .iter()
            .flat_map(|(&(consumer, place), producers)| {
                producers.iter().map(move |(&producer, &count)| {
                    let used = Use {
                        consumer,
                        place,
                        producer,
                    };
                    (used, count)
                })
            })
    }

    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self, CostError> {
        let mut counts = UseCounts::default();
        // The line of each primitive's calls.
        let mut lines = BTreeMap::new();
        for (line, text) in (1..).zip(text.lines()) {
            let fields: Vec<_> = text.split_whitespace().collect();
            let error = |expected: String, found: &str| CostError {
                line,
                expected,
                found: format!("`{found}`"),
            };
            let number = |field: &str| {
                let number = field.parse().ok().filter(|&number: &u32| number > 0);
                number.ok_or_else(|| error("a count from 1 on".to_owned(), field))
            };
            let Some(&name) = fields.first().filter(|name| !name.starts_with('#')) else {
                continue;
            };
            let consumer = Primitive::from_name(name)
                .ok_or_else(|| error("the name of a primitive".to_owned(), name))?;
            match fields[1..] {
                [calls] => {
                    if lines.insert(consumer, line).is_some() {
                        return Err(error(format!("the calls of `{name}` once"), text));
                    }
                    counts.calls.insert(consumer, number(calls)?);
                }
                [place, count, ref producers @ ..] if !producers.is_empty() => {
                    if !lines.contains_key(&consumer) {
                        return Err(error(format!("the calls of `{name}` before"), text));
                    }
                    let places = consumer.parameters().len();
                    let place = place.parse().ok().filter(|&place| place < places);
                    let place = place.ok_or_else(|| {
                        error(
                            format!("a place of `{name}`, 0 to {}", places - 1),
                            fields[1],
                        )
                    })?;
                    let count = number(count)?;
                    let known = counts.uses.entry((consumer, place)).or_default();
                    for word in producers {
                        let producer = Producer::from_name(word)
                            .ok_or_else(|| error("a producer".to_owned(), word))?;
                        if known.insert(producer, count).is_some() {
                            return Err(error("each producer of a place once".to_owned(), word));
                        }
                    }
                }
                _ => {
                    let expected = "`NAME CALLS` or `NAME PLACE COUNT PRODUCER ..`";
                    return Err(error(expected.to_owned(), text));
                }
            }
        }
        counts.check(&lines)?;
        Ok(counts)
    }

    /// Checks that every argument of every call has a producer.
    fn check(&self, lines: &BTreeMap<Primitive, usize>) -> Result<(), CostError> {
        for (&consumer, &line) in lines {
            let calls = self
                .calls
                .get(&consumer)
                .map_or(0, |&calls| u64::from(calls));
            for place in 0..consumer.parameters().len() {
                let producers = self.uses.get(&(consumer, place)).into_iter().flatten();
                let counted: u64 = producers.map(|(_, &count)| u64::from(count)).sum();
                if counted != calls {
                    return Err(CostError {
                        line,
                        expected: format!(
                            "as many calls of `{consumer}` as producers of its argument {place}, {counted}"
                        ),
                        found: format!("`{calls}`"),
                    });
                }
            }
        }
        Ok(())
    }
}

/// The table, by consumer and place; the most common producers of a place come first.
impl fmt::Display for UseCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (primitive, calls) in self.calls() {
            writeln!(f, "{primitive} {calls}")?;
            for (&(_, place), producers) in
                self.uses.range((primitive, 0)..=(primitive, usize::MAX))
            {
                let mut by_count = BTreeMap::<_, Vec<Producer>>::new();
                for (&producer, &count) in producers {
                    by_count.entry(Reverse(count)).or_default().push(producer);
                }
                for (Reverse(count), producers) in by_count {
                    write!(f, "{primitive} {place} {count}")?;
                    producers
                        .iter()
                        .try_for_each(|producer| write!(f, " {producer}"))?;
                    writeln!(f)?;
                }
            }
        }
        Ok(())
    }
}

/// Counts are input data, so they saturate.
fn increase(count: &mut u32, by: u32) {
    *count = count.saturating_add(by);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Average bits of the next choice, by the shares of counts: of which primitive is called, of the consumer and the
    /// place of an argument, and of the same given the producer.
    pub(crate) fn entropies(counts: &UseCounts) -> [f64; 3] {
        let mut producers = BTreeMap::<Producer, u32>::new();
        for (used, count) in counts.uses() {
            increase(producers.entry(used.producer).or_default(), count);
        }
        let places = counts.uses.values().map(|counts| counts.values().sum());
        // The joint entropy is that of the producer plus that of the rest given the producer.
        let both = entropy(counts.uses().map(|(_, count)| count));
        let given_producer = both - entropy(producers.into_values());
        [
            entropy(counts.calls.values().copied()),
            entropy(places),
            given_producer,
        ]
    }

    /// The entropy in bits of choices with these counts.
    fn entropy(counts: impl Iterator<Item = u32>) -> f64 {
        let (mut total, mut sum) = (0.0, 0.0);
        for count in counts.map(f64::from) {
            total += count;
            sum += count * count.log2();
        }
        if total == 0.0 {
            0.0
        } else {
            total.log2() - sum / total
        }
    }

    const TABLE: &str = "\
fill 3
fill 0 2 I
fill 0 1 fill
fill 1 3 TWO
fill 2 1 ofcolor literal:Indices
fill 2 1 asindices
";

    #[test]
    fn a_table_is_read_as_it_is_written() {
        let counts = UseCounts::parse(TABLE).unwrap();
        assert_eq!(counts.calls().collect::<Vec<_>>(), [(Primitive::Fill, 3)]);
        let written = counts.to_string();
        // Producers of one count share a line, in the order of the table of primitives.
        let last = "fill 2 1 asindices ofcolor literal:Indices\n";
        assert!(
            written.ends_with(&format!("fill 1 3 TWO\n{last}")),
            "{written}"
        );
        assert_eq!(UseCounts::parse(&written).unwrap(), counts);
        let commented = format!("# fill 9\n\n{written}  # end");
        assert_eq!(UseCounts::parse(&commented).unwrap(), counts);
        assert_eq!(UseCounts::parse("").unwrap(), UseCounts::default());
    }

    #[test]
    fn counts_of_programs_add_up() {
        let one = UseCounts::parse("trim 2\ntrim 0 1 I trim\n").unwrap();
        let other = UseCounts::parse("trim 1\ntrim 0 1 I\n").unwrap();
        let mut both = one.clone();
        both.add(&other);
        assert_eq!(both.to_string(), "trim 3\ntrim 0 2 I\ntrim 0 1 trim\n");
    }

    #[test]
    fn entropies_are_those_of_the_shares() {
        let counts = UseCounts::parse(
            "rot90 2\nrot90 0 2 I\nrot180 1\nrot180 0 1 I\ntrim 1\ntrim 0 1 rot90\n",
        );
        let [call, alone, given_producer] = entropies(&counts.unwrap());
        let of_thirds = 3f64.log2() - 2.0 / 3.0;
        assert!((call - 1.5).abs() < 1e-9, "{call}");
        assert!((alone - 1.5).abs() < 1e-9, "{alone}");
        let expected = 0.75 * of_thirds;
        assert!((given_producer - expected).abs() < 1e-9, "{given_producer}");
        let sum: f64 = entropies(&UseCounts::default()).iter().sum();
        assert!(sum.abs() < 1e-9, "{sum}");
    }

    #[test]
    fn what_is_no_table_is_an_error_with_its_line() {
        let calls = "a count from 1 on";
        for (text, line, expected, found) in [
            ("# a\nfil 1", 2, "the name of a primitive", "`fil`"),
            (
                "fill",
                1,
                "`NAME CALLS` or `NAME PLACE COUNT PRODUCER ..`",
                "`fill`",
            ),
            (
                "fill 1 2",
                1,
                "`NAME CALLS` or `NAME PLACE COUNT PRODUCER ..`",
                "`fill 1 2`",
            ),
            ("fill x", 1, calls, "`x`"),
            ("fill 0", 1, calls, "`0`"),
            ("fill 4294967296", 1, calls, "`4294967296`"),
            ("trim 1\ntrim 0 -1 I", 2, calls, "`-1`"),
            ("trim 1\ntrim 1", 2, "the calls of `trim` once", "`trim 1`"),
            (
                "trim 0 1 I",
                1,
                "the calls of `trim` before",
                "`trim 0 1 I`",
            ),
            ("trim 1\ntrim 1 1 I", 2, "a place of `trim`, 0 to 0", "`1`"),
            ("trim 1\ntrim 0 1 x1", 2, "a producer", "`x1`"),
            (
                "trim 2\ntrim 0 1 I I",
                2,
                "each producer of a place once",
                "`I`",
            ),
            (
                "fill 1\nfill 0 1 I\nfill 2 1 I",
                1,
                "as many calls of `fill` as producers of its argument 1, 0",
                "`1`",
            ),
        ] {
            let error = UseCounts::parse(text).unwrap_err();
            let message = format!("line {line}: expected {expected}, found {found}");
            assert_eq!(error.to_string(), message, "{text}");
        }
    }
}
