//! [`Costs`]: how long an executor takes for batches of each kind, learned from those that it made.
//!
//! `overhead + bytes / bandwidth + items x unit`. The first guess gives the proportions of the three
//! terms until batches of different sizes tell them apart; then a line is fitted to what was
//! measured, by least squares of *relative* errors, so that small batches, which show the overhead,
//! count as much as large ones. Older batches count less and less.
//!
//! What a device skips costs it nothing, and what it bails out of the host makes once more: how long it
//! takes is learned from the items that it tried, and apart from that, [which part it leaves](LeftParts).

mod left;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use left::LeftParts;

use crate::work::{Kind, Left};
use left::LeftSums;

/// What a batch costs an executor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Seconds a batch.
    pub overhead: f64,
    /// Bytes a second to the device and back; infinite where nothing is copied.
    #[serde(with = "infinite")]
    pub bandwidth: f64,
    /// Seconds an item.
    pub unit: f64,
}

/// JSON has no infinity.
mod infinite {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}

impl Cost {
    /// Seconds for a batch of so many items of this kind, with so many bytes in all.
    pub fn seconds(&self, items: f64, bytes: f64) -> f64 {
        self.overhead + bytes / self.bandwidth + items * self.unit
    }

    /// The cost that agrees best with batches that are all known at once, in any order of sizes, where
    /// [`Costs::learn`] would take their differences for changes; nothing where none says anything.
    pub fn fit(guess: Cost, batches: &[Measured]) -> Option<Cost> {
        let mut known = Known::new(guess, LeftParts::default(), false);
        let sound = batches.iter().filter(|batch| batch.is_sound());
        sound.clone().for_each(|batch| known.add_copies(batch));
        sound.clone().for_each(|batch| known.add_rest(batch));
        (sound.count() > 0).then(|| known.cost())
    }

    /// Whether all of it is a number that a batch can cost.
    pub fn is_sound(&self) -> bool {
        let positive = |number: f64| number.is_finite() && number >= 0.0;
        positive(self.overhead) && positive(self.unit) && self.bandwidth > 0.0
    }
}

/// What is left of a batch's time for its items at least, however long copies are said to take.
const LEAST: f64 = 0.05;

/// How much the batches before one count beside it.
const MEMORY: f64 = 0.95;

/// The least relative spread of sizes from which a line is fitted.
const SPREAD: f64 = 0.05;

/// A prediction that is off by more than this is a surprise, and so many in a row, all in one direction, mean that what was
/// measured before is no longer true: a device that others use too, or that has grown hot.
const SURPRISE: f64 = 0.4;
const SURPRISES: i32 = 6;

/// Sums over observations `(x, y)`, each weighted by `1 / y^2`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Line {
    w: f64,
    wx: f64,
    wy: f64,
    wxx: f64,
    wxy: f64,
}

impl Line {
    /// Lets what was added so far count less beside what comes.
    fn fade(&mut self) {
        for sum in [
            &mut self.w,
            &mut self.wx,
            &mut self.wy,
            &mut self.wxx,
            &mut self.wxy,
        ] {
            *sum *= MEMORY;
        }
    }

    fn add(&mut self, x: f64, y: f64) {
        let w = (y * y).recip();
        self.w += w;
        self.wx += w * x;
        self.wy += w * y;
        self.wxx += w * x * x;
        self.wxy += w * x * y;
    }

    /// The intercept and the slope, those of the guess in proportion where all `x` are alike.
    fn fit(&self, (intercept, slope): (f64, f64)) -> (f64, f64) {
        if self.w == 0.0 {
            return (intercept, slope);
        }
        let determinant = self.w * self.wxx - self.wx * self.wx;
        if determinant > SPREAD * self.w * self.wxx {
            let slope = (self.w * self.wxy - self.wx * self.wy) / determinant;
            let intercept = (self.wy - slope * self.wx) / self.w;
            return if slope <= 0.0 {
                (self.wy / self.w, 0.0)
            } else if intercept < 0.0 {
                (0.0, self.wxy / self.wxx)
            } else {
                (intercept, slope)
            };
        }
        let guessed = intercept * intercept * self.w
            + 2.0 * intercept * slope * self.wx
            + slope * slope * self.wxx;
        if guessed <= 0.0 {
            return (0.0, self.wxy / self.wxx.max(f64::MIN_POSITIVE));
        }
        let ratio = (intercept * self.wy + slope * self.wxy) / guessed;
        (intercept * ratio, slope * ratio)
    }
}

/// What is known of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Known {
    guess: Cost,
    /// Whether the guess was measured in an earlier run.
    is_remembered: bool,
    compute: Line,
    copies: Line,
    left: LeftSums,
    /// How many batches there were, and how many of them had items that were tried.
    batches: u64,
    tried: u64,
    /// How far predictions were off lately, relative to what was measured.
    error: f64,
    /// How many batches in a row took much longer than expected; below zero, much shorter.
    surprises: i32,
}

impl Known {
    fn new(guess: Cost, left: LeftParts, is_remembered: bool) -> Self {
        Self {
            guess,
            left: LeftSums::new(left, is_remembered),
            is_remembered,
            compute: Line::default(),
            copies: Line::default(),
            batches: 0,
            tried: 0,
            error: 1.0,
            surprises: 0,
        }
    }

    /// Seconds a byte. What copies take besides is part of what is fitted to the items.
    fn per_byte(&self) -> f64 {
        let (_, per_byte) = self.copies.fit((0.0, self.guess.bandwidth.recip()));
        per_byte
    }

    fn add_copies(&mut self, batch: &Measured) {
        let copies = batch.copies.min(batch.seconds * (1.0 - LEAST));
        if batch.bytes > 0.0 && copies > 0.0 {
            self.copies.add(batch.bytes, copies);
        }
    }

    fn add_rest(&mut self, batch: &Measured) {
        let rest = batch.seconds - self.per_byte() * batch.bytes;
        self.compute
            .add(batch.items, rest.max(batch.seconds * LEAST));
    }

    fn cost(&self) -> Cost {
        let per_byte = self.per_byte();
        let (overhead, unit) = self.compute.fit((self.guess.overhead, self.guess.unit));
        Cost {
            overhead,
            bandwidth: per_byte.recip(),
            unit,
        }
    }
}

/// What the items of a batch that were tried took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Items of the kind.
    pub items: f64,
    /// Their bytes.
    pub bytes: f64,
    /// Seconds by which the batch put the executor's next one off.
    pub seconds: f64,
    /// Seconds of copies among them.
    pub copies: f64,
}

impl Measured {
    /// Whether it says anything.
    fn is_sound(&self) -> bool {
        self.items > 0.0 && self.seconds.is_finite() && self.seconds > 0.0
    }
}

/// How long an executor takes, by kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    guess: Cost,
    kinds: BTreeMap<Kind, Known>,
}

/// The costs of an executor as they are kept between runs, and which part of its items it leaves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Remembered(pub BTreeMap<Kind, (Cost, LeftParts)>);

impl Costs {
    /// What is taken for true of every kind until it is measured.
    pub fn guessed(guess: Cost) -> Self {
        Self {
            guess,
            kinds: BTreeMap::new(),
        }
    }

    /// Takes up what was measured in an earlier run, but for what no batch can cost.
    pub fn recall(&mut self, remembered: &Remembered) {
        for (kind, (cost, left)) in &remembered.0 {
            if cost.is_sound() && left.is_sound() {
                self.kinds.insert(*kind, Known::new(*cost, *left, true));
            }
        }
    }

    /// What a later run can start from: the kinds that were measured, in this run or before.
    pub fn remember(&self) -> Remembered {
        let measured = |known: &Known| known.batches > 0 || known.is_remembered;
        let kinds = self.kinds.iter().filter(|(_, known)| measured(known));
        let kinds = kinds.map(|(kind, known)| (*kind, (known.cost(), known.left.parts())));
        Remembered(kinds.collect())
    }

    /// The cost of a kind.
    pub fn of(&self, kind: Kind) -> Cost {
        match self.kinds.get(&kind) {
            Some(known) => known.cost(),
            None => self.guess_of(kind).0,
        }
    }

    /// The parts of the items of a kind that are left.
    pub fn left_of(&self, kind: Kind) -> LeftParts {
        match self.kinds.get(&kind) {
            Some(known) => known.left.parts(),
            None => self.guess_of(kind).1,
        }
    }

    /// What is measured of other kinds says more than what nobody measured.
    fn guess_of(&self, kind: Kind) -> (Cost, LeftParts) {
        let below = self.kinds.range(..kind).next_back();
        let near = below.or_else(|| self.kinds.range(kind..).next());
        near.map_or((self.guess, LeftParts::default()), |(_, known)| {
            (known.cost(), known.left.parts())
        })
    }

    fn known_mut(&mut self, kind: Kind) -> &mut Known {
        let (guess, left) = self.guess_of(kind);
        let known = self.kinds.entry(kind);
        known.or_insert_with(|| Known::new(guess, left, false))
    }

    /// How many batches of a kind were made or left in this run.
    pub fn batches(&self, kind: Kind) -> u64 {
        self.kinds.get(&kind).map_or(0, |known| known.batches)
    }

    /// Whether the cost of a kind was measured, in this run or before.
    pub fn is_measured(&self, kind: Kind) -> bool {
        let known = self.kinds.get(&kind);
        known.is_some_and(|known| known.batches > 0 || known.is_remembered)
    }

    /// How far predictions for a kind are off, relative to what is measured: 1 where nothing is
    /// known, 0 where each is right.
    pub fn error(&self, kind: Kind) -> f64 {
        match self.kinds.get(&kind) {
            Some(known) => known.error,
            None => 1.0,
        }
    }

    /// Learns which part of so many items a batch left.
    pub fn learn_left(&mut self, kind: Kind, items: u64, left: &Left) {
        if items == 0 {
            return;
        }
        let skipped = left.skipped.min(items);
        let bailed_out = left.bailed_out.min(items - skipped);
        let known = self.known_mut(kind);
        let sums = &mut known.left;
        sums.add(items as f64, skipped as f64, bailed_out as f64);
        // Of what it did not try there is nothing else to learn.
        known.batches += u64::from(skipped == items);
    }

    /// Learns from the items of a batch that were tried.
    pub fn learn(&mut self, kind: Kind, measured: Measured) {
        if !measured.is_sound() {
            return;
        }
        let known = self.known_mut(kind);
        let expected = known.cost().seconds(measured.items, measured.bytes);
        let error = ((expected - measured.seconds) / measured.seconds)
            .abs()
            .min(1.0);
        known.error = if known.tried == 0 {
            1.0
        } else {
            known.error * 0.7 + error * 0.3
        };
        known.batches += 1;
        known.tried += 1;
        // Items that take very different times surprise both ways, and nothing has changed.
        let is_longer = measured.seconds > expected;
        known.surprises = if error <= SURPRISE {
            0
        } else if is_longer {
            known.surprises.max(0) + 1
        } else {
            known.surprises.min(0) - 1
        };
        if known.surprises.abs() >= SURPRISES {
            known.guess = known.cost();
            (known.compute, known.copies) = (Line::default(), Line::default());
            known.surprises = 0;
        }
        known.copies.fade();
        known.compute.fade();
        known.add_copies(&measured);
        known.add_rest(&measured);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind(3);

    fn guess(overhead: f64, unit: f64) -> Costs {
        Costs::guessed(Cost {
            overhead,
            bandwidth: f64::INFINITY,
            unit,
        })
    }

    fn learn(costs: &mut Costs, items: f64, seconds: f64) {
        costs.learn(
            KIND,
            Measured {
                items,
                bytes: 0.0,
                seconds,
                copies: 0.0,
            },
        );
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-6 * b.abs().max(1e-9)
    }

    #[test]
    fn batches_of_different_sizes_show_overhead_and_unit() {
        let mut costs = guess(1.0, 1e-9);
        for items in [1.0, 10.0, 100.0, 1000.0] {
            learn(&mut costs, items, 1e-4 + items * 2e-6);
        }
        let cost = costs.of(KIND);
        assert!(
            near(cost.overhead, 1e-4) && near(cost.unit, 2e-6),
            "{cost:?}"
        );
        assert_eq!(costs.batches(KIND), 4);
    }

    #[test]
    fn batches_of_one_size_scale_the_guess() {
        let mut costs = guess(1e-3, 1e-5);
        for _ in 0..3 {
            learn(&mut costs, 100.0, 4e-3);
        }
        let cost = costs.of(KIND);
        assert!(
            near(cost.overhead, 2e-3) && near(cost.unit, 2e-5),
            "{cost:?}"
        );
    }

    #[test]
    fn batches_that_are_known_at_once_are_fitted_whatever_their_order() {
        let batch = |items: f64| Measured {
            items,
            bytes: items * 1000.0,
            seconds: 1e-4 + items * 3e-6,
            copies: items * 1e-6,
        };
        let sizes = [1.0, 8.0, 64.0, 512.0, 4096.0].map(batch);
        let guess = guess(1.0, 1.0).of(KIND);
        for batches in [sizes.to_vec(), sizes.into_iter().rev().collect()] {
            let cost = Cost::fit(guess, &batches).unwrap();
            assert!(near(cost.overhead, 1e-4), "{cost:?}");
            assert!(
                near(cost.unit, 2e-6) && near(cost.bandwidth, 1e9),
                "{cost:?}"
            );
        }
        assert_eq!(Cost::fit(guess, &[]), None);
    }

    #[test]
    fn costs_that_change_are_followed() {
        let mut costs = guess(1e-4, 1e-6);
        for unit in [1e-6, 5e-6] {
            for round in 0..60 {
                let items = f64::from(10 + round * 37 % 500);
                learn(&mut costs, items, 1e-4 + items * unit);
            }
            let cost = costs.of(KIND);
            assert!((cost.unit / unit - 1.0).abs() < 0.1, "{cost:?} for {unit}");
        }
        assert!(costs.error(KIND) < 0.1);
    }

    #[test]
    fn copies_are_told_from_computing() {
        let mut costs = Costs::guessed(Cost {
            overhead: 1e-5,
            bandwidth: 1e9,
            unit: 1e-6,
        });
        for items in [10.0, 100.0, 1000.0, 50.0] {
            let (bytes, copies) = (items * 1000.0, items * 1000.0 / 4e9);
            let seconds = 1e-5 + copies + items * 1e-6;
            let measured = Measured {
                items,
                bytes,
                seconds,
                copies,
            };
            costs.learn(KIND, measured);
        }
        let cost = costs.of(KIND);
        assert!(
            near(cost.bandwidth, 4e9) && near(cost.unit, 1e-6),
            "{cost:?}"
        );
    }

    #[test]
    fn what_is_measured_of_another_kind_is_the_first_guess() {
        let mut costs = guess(1.0, 1.0);
        assert!(!costs.is_measured(KIND) && near(costs.error(KIND), 1.0));
        learn(&mut costs, 1.0, 0.5);
        assert!(costs.is_measured(KIND) && !costs.is_measured(Kind(9)));
        assert_eq!(costs.of(Kind(9)), costs.of(KIND));
        assert_eq!(costs.of(Kind(0)), costs.of(KIND));
    }

    #[test]
    fn costs_are_kept_between_runs() {
        let mut costs = guess(1e-3, 1e-5);
        learn(&mut costs, 100.0, 4e-3);
        let text = serde_json::to_string(&costs.remember()).unwrap();
        let remembered: Remembered = serde_json::from_str(&text).unwrap();
        let mut later = guess(1.0, 1.0);
        later.recall(&remembered);
        assert_eq!(later.of(KIND), costs.of(KIND));
        assert!(later.is_measured(KIND) && later.batches(KIND) == 0);
        assert_eq!(later.remember(), remembered);
        // What no batch can cost is not taken up.
        let broken = Cost {
            overhead: -1.0,
            ..costs.of(KIND)
        };
        let mut later = guess(1.0, 1.0);
        let parts = LeftParts::default();
        later.recall(&Remembered([(KIND, (broken, parts))].into()));
        let wrong = LeftParts {
            skipped: 2.0,
            ..parts
        };
        later.recall(&Remembered([(KIND, (costs.of(KIND), wrong))].into()));
        assert!(!later.is_measured(KIND));
    }

    #[test]
    fn what_is_left_says_nothing_of_time() {
        let mut costs = guess(1e-3, 1e-5);
        let left = Left {
            kind: KIND,
            skipped: 10,
            bailed_out: 0,
        };
        for _ in 0..500 {
            costs.learn_left(KIND, 10, &left);
        }
        assert_eq!(costs.of(KIND), guess(1e-3, 1e-5).of(KIND));
        assert!(costs.left_of(KIND).made() < 0.01 && near(costs.error(KIND), 1.0));
        assert_eq!(costs.batches(KIND), 500);
        // Nothing else is known of a kind that no batch had, and of a later run.
        assert_eq!(costs.left_of(Kind(9)), costs.left_of(KIND));
        let mut later = guess(1.0, 1.0);
        later.recall(&costs.remember());
        assert!(later.left_of(KIND).made() < 0.01);
        // More than there was is not left.
        let left = Left {
            bailed_out: u64::MAX,
            ..left
        };
        costs.learn_left(KIND, 20, &left);
        assert!(costs.left_of(KIND).is_sound());
    }

    #[test]
    fn what_cannot_be_measured_teaches_nothing() {
        let mut costs = guess(1e-3, 1e-5);
        let before = costs.clone();
        learn(&mut costs, 0.0, 1.0);
        learn(&mut costs, 1.0, 0.0);
        learn(&mut costs, 1.0, f64::NAN);
        assert_eq!(costs, before);
    }

    fn batch(items: f64, seconds: f64) -> Measured {
        Measured {
            items,
            bytes: 0.0,
            seconds,
            copies: 0.0,
        }
    }

    fn fit_all(batches: &[Measured]) -> Option<Cost> {
        let guess = Cost {
            overhead: 50e-6,
            bandwidth: f64::INFINITY,
            unit: 5e-6,
        };
        Cost::fit(guess, batches)
    }

    #[test]
    fn one_size_scales_the_proportions_and_none_gives_nothing() {
        let cost = fit_all(&[batch(10.0, 2e-4), batch(10.0, 2e-4)]).unwrap();
        assert!(
            near(cost.overhead, 1e-4) && near(cost.unit, 1e-5),
            "{cost:?}"
        );
        assert_eq!(fit_all(&[]), None);
        assert_eq!(fit_all(&[batch(1.0, 0.0)]), None);
    }

    #[test]
    fn nothing_is_negative() {
        // Larger batches that take less time, and more than in proportion.
        let falling = fit_all(&[batch(1.0, 1.0), batch(100.0, 0.5)]).unwrap();
        assert!(falling.unit == 0.0 && falling.overhead > 0.5, "{falling:?}");
        let rising = fit_all(&[batch(1.0, 1e-6), batch(8.0, 1e-4), batch(64.0, 1e-2)]).unwrap();
        assert!(rising.overhead >= 0.0 && rising.unit > 0.0, "{rising:?}");
        // Copies that are said to take longer than all of it.
        let odd = Measured {
            bytes: 1e6,
            copies: 5.0,
            ..batch(8.0, 1.0)
        };
        assert!(fit_all(&[odd]).unwrap().is_sound());
    }

    #[test]
    fn no_batch_is_forgotten_where_sizes_grow_fast() {
        // Steps that are far from any line: small ones must not come out many times too long.
        let times = [6e-6, 24e-6, 40e-6, 170e-6, 2e-3];
        let sizes = [1.0, 8.0, 64.0, 512.0, 4096.0];
        let batches: Vec<_> = sizes
            .into_iter()
            .zip(times)
            .map(|(x, y)| batch(x, y))
            .collect();
        let cost = fit_all(&batches).unwrap();
        for batch in batches {
            let ratio = cost.seconds(batch.items, 0.0) / batch.seconds;
            assert!((0.2..5.0).contains(&ratio), "{ratio} for {batch:?}");
        }
    }
}
