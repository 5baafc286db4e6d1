//! [`Costs`]: how long an executor takes for batches of each kind, learned from those that it made.
//!
//! `overhead + bytes / bandwidth + items x unit`. The first guess gives the proportions of the three
//! terms until batches of different sizes tell them apart; then a line is fitted to what was
//! measured, by least squares of *relative* errors, so that small batches, which show the overhead,
//! count as much as large ones. Older batches count less and less.
//!
//! What a device skips costs it nothing, and what it bails out of the host makes once more: how long it
//! takes is learned from the items that it tried, and apart from that, [which part it leaves](FallbackShares).

mod fallback;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use fallback::FallbackShares;

use crate::work::{Fallback, Kind};
use fallback::FallbackSums;

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
    /// [`Costs::learn`] would take their differences for changes; `None` if none says anything.
    pub fn fit(guess: Cost, batches: &[Measured]) -> Option<Cost> {
        let mut known = Known::new(guess, FallbackShares::default(), false);
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

/// The same of what is rare.
const LONG_MEMORY: f64 = 0.998;

/// The least relative spread of sizes from which a line is fitted.
const SPREAD: f64 = 0.05;

/// A prediction that is off by more than this is a surprise, and so many in a row, all in one direction, mean that what was
/// measured before is no longer true: a device that others use too, or that has grown hot.
const SURPRISE: f64 = 0.4;
const SURPRISES: i32 = 6;

/// The first batches show how wrong the guess was, and not how far one differs from another.
const FIRST: u64 = 3;

/// A batch that takes longer than so many times what was expected was not held up by its items.
const MOST_TIMES: f64 = 16.0;

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

    /// The intercept and the slope, those of the guess in proportion where all `x` are alike, or where what is
    /// larger took no longer: the differences then are not of the sizes, and items that cost nothing would
    /// all be given to whoever has had a few such batches.
    fn fit(&self, (intercept, slope): (f64, f64)) -> (f64, f64) {
        if self.w == 0.0 {
            return (intercept, slope);
        }
        let determinant = self.w * self.wxx - self.wx * self.wx;
        if determinant > SPREAD * self.w * self.wxx {
            let slope = (self.w * self.wxy - self.wx * self.wy) / determinant;
            let intercept = (self.wy - slope * self.wx) / self.w;
            if slope > 0.0 {
                return if intercept < 0.0 {
                    (0.0, self.wxy / self.wxx)
                } else {
                    (intercept, slope)
                };
            }
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
    fallback: FallbackSums,
    /// How many batches there were, and how many of them had items that were tried.
    batches: u64,
    tried: u64,
    /// How far predictions were off lately, relative to what was measured.
    error: f64,
    /// How many batches in a row took much longer than expected; below zero, much shorter.
    surprises: i32,
    /// How many times as long as expected a batch took lately.
    worst: f64,
}

impl Known {
    fn new(guess: Cost, fallback: FallbackShares, is_remembered: bool) -> Self {
        Self {
            guess,
            fallback: FallbackSums::new(fallback, is_remembered),
            is_remembered,
            compute: Line::default(),
            copies: Line::default(),
            batches: 0,
            tried: 0,
            error: 1.0,
            surprises: 0,
            worst: 1.0,
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
pub struct Remembered(pub BTreeMap<Kind, (Cost, FallbackShares)>);

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
        for (kind, (cost, fallback)) in &remembered.0 {
            if cost.is_sound() && fallback.is_sound() {
                self.kinds.insert(*kind, Known::new(*cost, *fallback, true));
            }
        }
    }

    /// What a later run can start from: the kinds that were measured, in this run or before.
    pub fn remember(&self) -> Remembered {
        let measured = |known: &Known| known.batches > 0 || known.is_remembered;
        let kinds = self.kinds.iter().filter(|(_, known)| measured(known));
        let kinds = kinds.map(|(kind, known)| (*kind, (known.cost(), known.fallback.parts())));
        Remembered(kinds.collect())
    }

    /// The cost of a kind.
    pub fn of(&self, kind: Kind) -> Cost {
        match self.kinds.get(&kind) {
            Some(known) => known.cost(),
            None => self.guess_of(kind).0,
        }
    }

    /// The shares of the items of a kind that fall back.
    pub fn fallback_of(&self, kind: Kind) -> FallbackShares {
        match self.kinds.get(&kind) {
            Some(known) => known.fallback.parts(),
            None => self.guess_of(kind).1,
        }
    }

    /// What is measured of other kinds says more than what nobody measured.
    fn guess_of(&self, kind: Kind) -> (Cost, FallbackShares) {
        let below = self.kinds.range(..kind).next_back();
        let near = below.or_else(|| self.kinds.range(kind..).next());
        near.map_or((self.guess, FallbackShares::default()), |(_, known)| {
            (known.cost(), known.fallback.parts())
        })
    }

    fn known_mut(&mut self, kind: Kind) -> &mut Known {
        let (guess, fallback) = self.guess_of(kind);
        let known = self.kinds.entry(kind);
        known.or_insert_with(|| Known::new(guess, fallback, false))
    }

    /// How many batches of a kind were made or fell back in this run.
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

    /// How many times as long as expected a batch of a kind may take, as some did lately: 1 where all took as
    /// long as expected.
    pub fn worst(&self, kind: Kind) -> f64 {
        self.kinds.get(&kind).map_or(1.0, |known| known.worst)
    }

    /// Learns how many of so many items fell back.
    pub fn learn_fallback(&mut self, kind: Kind, items: u64, fallback: &Fallback) {
        if items == 0 {
            return;
        }
        let skipped = fallback.skipped.min(items);
        let bailed_out = fallback.bailed_out.min(items - skipped);
        let known = self.known_mut(kind);
        let sums = &mut known.fallback;
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
        known.worst = 1.0 + (known.worst - 1.0) * LONG_MEMORY;
        if known.tried >= FIRST {
            let times = (measured.seconds / expected.max(f64::MIN_POSITIVE)).min(MOST_TIMES);
            known.worst = known.worst.max(times);
        }
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
