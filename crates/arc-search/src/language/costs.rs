//! [`Costs`]: how many bits a call takes, by the calls in programs.

use std::collections::BTreeMap;

use arc_dsl::Primitive;
use rustc_hash::FxHashMap;

use super::counts::{CostError, Use, UseCounts};
use super::producer::Producer;

/// The committed table.
const TABLE: &str = include_str!("costs.txt");

/// How many bits a call takes: `-log2` of its probability.
///
/// Probabilities are shares of [`UseCounts`], smoothed by the method of Witten and Bell (*The zero-frequency problem*,
/// IEEE Transactions on Information Theory 37, 1991, method C; interpolated as in Chen and Goodman, *An empirical
/// study of smoothing techniques for language modeling*, 1998). Given `n` observations of `t` different things, one
/// that was seen `c` times has the probability `(c + t q) / (n + t)`, where `q` is its probability with less context:
///
/// * for an argument's consumer and place given its producer, `q` is their probability without the producer;
/// * without the producer, all places of a primitive are equally likely, in proportion to the probability of the
///   primitive;
/// * for a primitive, `q` is 1 divided by the number of primitives.
///
/// So nothing is impossible, and there is nothing to tune.
///
/// [`Costs::default`] has the committed table, which `cargo xtask costs` generated from the public solvers of
/// ARC-AGI-1's training tasks. By its shares a call's primitive takes 6.04 bits on average, an argument's consumer
/// and place take 6.78 alone and 3.14 given the producer. Smoothed, with each program measured by the costs of the
/// other nine tenths of the programs, these are 6.10, 6.83 and 4.30.
#[derive(Debug, Clone)]
pub struct Costs {
    /// Bits of each primitive.
    primitives: Vec<f32>,
    /// Bits of an argument of each primitive at one of its places, for an unknown producer.
    alone: Vec<f32>,
    /// Bits of each argument that was seen, by [`key`].
    seen: FxHashMap<u32, f32>,
    /// By [`Producer::index`], the bits to add to `alone` for an argument that was not seen; 0 or missing for a
    /// producer that was not seen.
    unseen: Vec<f32>,
}

impl Costs {
    /// The costs of a table, which [`UseCounts`] write.
    pub fn parse(text: &str) -> Result<Self, CostError> {
        UseCounts::parse(text).map(|counts| Self::from(&counts))
    }

    /// The bits of a call of this primitive.
    pub fn primitive(&self, primitive: Primitive) -> f32 {
        self.primitives[primitive as usize]
    }

    /// The bits of an argument at this place of this consumer, for an unknown producer; infinite if the consumer does
    /// not have the place.
    pub fn alone(&self, consumer: Primitive, place: usize) -> f32 {
        if place < consumer.parameters().len() {
            self.alone[consumer as usize]
        } else {
            f32::INFINITY
        }
    }

    /// The bits of an argument at this place of this consumer, given its producer.
    pub fn bigram(&self, consumer: Primitive, place: usize, producer: Producer) -> f32 {
        let seen = self.seen.get(&key(consumer, place, producer));
        seen.copied().unwrap_or_else(|| {
            let above = self.unseen.get(producer.index()).copied();
            above.unwrap_or_default() + self.alone(consumer, place)
        })
    }
}

/// From the committed table.
impl Default for Costs {
    fn default() -> Self {
        // A test parses the table; if parsing failed, all primitives would cost the same.
        Self::parse(TABLE).unwrap_or_else(|_| Self::from(&UseCounts::default()))
    }
}

impl From<&UseCounts> for Costs {
    fn from(counts: &UseCounts) -> Self {
        let all = Primitive::ALL;
        let mut calls = Observed::default();
        counts.calls().for_each(|(_, count)| calls.add(count));
        let mut primitives = vec![calls.probability(0, 1.0 / all.len() as f64); all.len()];
        for (primitive, count) in counts.calls() {
            primitives[primitive as usize] = calls.probability(count, 1.0 / all.len() as f64);
        }
        let places: f64 = (all.iter().zip(&primitives))
            .map(|(primitive, probability)| probability * primitive.parameters().len() as f64)
            .sum();
        let alone: Vec<_> = primitives
            .iter()
            .map(|probability| probability / places)
            .collect();

        let mut given = BTreeMap::<Producer, Observed>::new();
        for (used, count) in counts.uses() {
            given.entry(used.producer).or_default().add(count);
        }
        let seen = counts.uses().map(|(used, count)| {
            let Use {
                consumer,
                place,
                producer,
            } = used;
            let probability = given[&producer].probability(count, alone[consumer as usize]);
            (key(consumer, place, producer), bits(probability))
        });
        let last = given.keys().last().map(|producer| producer.index());
        let mut unseen = vec![0.0; last.map_or(0, |last| last + 1)];
        for (producer, given) in &given {
            unseen[producer.index()] = bits(given.probability(0, 1.0));
        }
        Self {
            seen: seen.collect(),
            unseen,
            primitives: primitives.into_iter().map(bits).collect(),
            alone: alone.into_iter().map(bits).collect(),
        }
    }
}

/// Observations in one context.
#[derive(Debug, Clone, Copy, Default)]
struct Observed {
    total: f64,
    different: f64,
}

impl Observed {
    /// Adds one more thing that was seen `count` times.
    fn add(&mut self, count: u32) {
        self.total += f64::from(count);
        self.different += 1.0;
    }

    /// The probability of a thing that was seen `count` times and has the probability `lower` with less context.
    fn probability(self, count: u32, lower: f64) -> f64 {
        if self.total == 0.0 {
            return lower;
        }
        (f64::from(count) + self.different * lower) / (self.total + self.different)
    }
}

/// A distinct number for each argument.
fn key(consumer: Primitive, place: usize, producer: Producer) -> u32 {
    let place = place.min(0xff) as u32;
    (consumer as u32) << 24 | place << 16 | producer.index() as u32
}

fn bits(probability: f64) -> f32 {
    -probability.log2() as f32
}

#[cfg(test)]
mod tests {
    use super::super::counts::tests::entropies;
    use super::super::producer;
    use super::*;

    const SMALL: &str = "\
hconcat 1
hconcat 0 1 I
hconcat 1 1 rot90
rot90 3
rot90 0 2 I
rot90 0 1 rot90
";

    fn probability(bits: f32) -> f64 {
        f64::from(-bits).exp2()
    }

    fn assert_near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-4,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn shares_are_smoothed_by_what_is_known_of_less() {
        let costs = Costs::parse(SMALL).unwrap();
        // 4 calls of 2 primitives.
        let rot90 = (3.0 + 2.0 / 160.0) / 6.0;
        let hconcat = (1.0 + 2.0 / 160.0) / 6.0;
        let other = (2.0 / 160.0) / 6.0;
        assert_near(probability(costs.primitive(Primitive::Rot90)), rot90);
        assert_near(probability(costs.primitive(Primitive::Fill)), other);
        let others = Primitive::ALL
            .iter()
            .map(|p| p.parameters().len() as f64)
            .sum::<f64>()
            - 3.0;
        let places = rot90 + 2.0 * hconcat + others * other;
        assert_near(
            probability(costs.alone(Primitive::Hconcat, 1)),
            hconcat / places,
        );
        // The input has 3 uses of 2 kinds, the result of `rot90` 2 of 2.
        let bigram = |p, place, producer| probability(costs.bigram(p, place, producer));
        let (input, turned) = (Producer::Input, Producer::Result(Primitive::Rot90));
        let expected = (2.0 + 2.0 * rot90 / places) / 5.0;
        assert_near(bigram(Primitive::Rot90, 0, input), expected);
        assert_near(bigram(Primitive::Fill, 2, turned), 0.5 * other / places);
        assert_near(bigram(Primitive::Hconcat, 1, input), 0.4 * hconcat / places);
        // Nothing is known about other producers.
        let filled = Producer::Result(Primitive::Fill);
        assert_near(bigram(Primitive::Hconcat, 1, filled), hconcat / places);
    }

    #[test]
    fn probabilities_sum_to_one() {
        let tables = [
            Costs::default(),
            Costs::parse(SMALL).unwrap(),
            Costs::parse("").unwrap(),
        ];
        for costs in tables {
            let all = Primitive::ALL;
            let calls = all.iter().map(|&p| probability(costs.primitive(p)));
            assert_near(calls.sum(), 1.0);
            let places = |bits: &dyn Fn(Primitive, usize) -> f32| {
                let of_one = |&p: &Primitive| (0..p.parameters().len()).map(move |at| (p, at));
                let uses = all.iter().flat_map(of_one);
                uses.map(|(p, at)| probability(bits(p, at))).sum::<f64>()
            };
            assert_near(places(&|p, at| costs.alone(p, at)), 1.0);
            for producer in producer::all() {
                assert_near(places(&|p, at| costs.bigram(p, at, producer)), 1.0);
            }
        }
    }

    #[test]
    fn a_place_that_is_not_there_is_impossible() {
        let costs = Costs::default();
        for place in [1, 256, usize::MAX] {
            assert!(costs.alone(Primitive::Rot90, place).is_infinite());
            assert!(
                costs
                    .bigram(Primitive::Rot90, place, Producer::Input)
                    .is_infinite()
            );
        }
    }

    #[test]
    fn what_programs_do_often_costs_less() {
        let costs = Costs::default();
        assert!(costs.primitive(Primitive::Fill) < costs.primitive(Primitive::Cmirror));
        let found = Producer::Result(Primitive::Objects);
        let largest = costs.bigram(Primitive::Argmax, 0, found);
        assert!(largest < costs.alone(Primitive::Argmax, 0));
        assert!(largest < costs.bigram(Primitive::Rot90, 0, found));
        assert!(
            costs.bigram(Primitive::Argmax, 1, Producer::Function(Primitive::Size))
                < costs.bigram(Primitive::Argmax, 1, Producer::Result(Primitive::Size))
        );
    }

    /// The figures in the documentation of [`Costs`], and that the table is the generated one.
    #[test]
    fn the_committed_table_is_whole_and_as_it_is_said_to_be() {
        let counts = UseCounts::parse(TABLE).unwrap();
        let body = TABLE.lines().filter(|line| !line.starts_with('#'));
        assert!(body.eq(counts.to_string().lines()));
        let rounded = entropies(&counts).map(|bits| format!("{bits:.2}"));
        assert_eq!(rounded, ["6.04", "6.78", "3.14"]);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let error = Costs::parse("rot90 1\nrot90 0 1 J").unwrap_err();
        assert_eq!(error.to_string(), "line 2: expected a producer, found `J`");
    }
}
