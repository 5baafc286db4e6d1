//! [`Costs`]: how long an executor takes for batches of each kind, learned from its batches.
//!
//! `overhead + bytes / bandwidth + items x unit`. The first guess gives the proportions of the three terms until
//! batches of different sizes tell them apart; then a line is fitted to the measurements by least squares of
//! *relative* errors, so that small batches, which show the overhead, count as much as large ones. Older batches
//! count less and less.
//!
//! Items that a device skips cost it nothing, and items that it bails out of are evaluated again by the host. So
//! times are learned from the items that it tried, and [the part that falls back](FallbackShares) is learned
//! separately.

mod fallback;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use fallback::FallbackShares;

use crate::work::{Fallback, Kind};
use fallback::FallbackSums;

/// The cost of a batch on an executor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Seconds per batch.
    pub overhead: f64,
    /// Bytes per second to the device and back; infinite if nothing is copied.
    #[serde(with = "infinite")]
    pub bandwidth: f64,
    /// Seconds per item.
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
    /// Seconds for a batch of `items` items of this kind, with `bytes` bytes in all.
    pub fn seconds(&self, items: f64, bytes: f64) -> f64 {
        self.overhead + bytes / self.bandwidth + items * self.unit
    }

    /// The cost that fits a set of batches best. All are known at once and in any order of sizes, in which
    /// [`Costs::learn`] would take their differences for changes over time. `None` if no batch is valid.
    pub fn fit(guess: Cost, batches: &[Measured]) -> Option<Cost> {
        let mut model = Model::new(guess, FallbackShares::default(), false);
        let sound = batches.iter().filter(|batch| batch.is_sound());
        sound.clone().for_each(|batch| model.add_copies(batch));
        sound.clone().for_each(|batch| model.add_rest(batch));
        (sound.count() > 0).then(|| model.cost())
    }

    /// Whether all three numbers are valid.
    pub fn is_sound(&self) -> bool {
        let positive = |number: f64| number.is_finite() && number >= 0.0;
        positive(self.overhead) && positive(self.unit) && self.bandwidth > 0.0
    }
}

/// The least part of a batch's time that is attributed to its items, however long copies are said to take.
const LEAST: f64 = 0.05;

/// The factor by which each batch reduces the weight of earlier ones.
const MEMORY: f64 = 0.95;

/// The same for rare slow batches.
const LONG_MEMORY: f64 = 0.998;

/// The least relative spread of sizes from which a line is fitted.
const SPREAD: f64 = 0.05;

/// A prediction that is off by more than this is a surprise. That many surprises in a row, all in one direction, mean
/// that earlier measurements no longer hold: others use the device too, or it throttles.
const SURPRISE: f64 = 0.4;
const SURPRISES: i32 = 6;

/// The first batches show how wrong the guess was, not how much batches vary.
const FIRST: u64 = 3;

/// A batch that takes more than this many times the expected time was not held up by its items.
const MAX_SLOWDOWN: f64 = 16.0;

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
    /// Reduces the weight of earlier observations.
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

    /// The intercept and the slope. They are the guess, scaled, if all `x` are alike, or if larger batches took no
    /// longer: then the differences are not due to the size, and a slope of zero would give all items to the executor
    /// that happened to have such batches.
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

/// The cost model of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Model {
    guess: Cost,
    /// Whether the guess was measured in an earlier run.
    is_remembered: bool,
    compute: Line,
    copies: Line,
    fallback: FallbackSums,
    /// How many batches there were, and how many of them had items that were tried.
    batches: u64,
    tried: u64,
    /// How far predictions were off lately, relative to the measurement.
    error: f64,
    /// How many batches in a row took much longer than expected; negative if much shorter.
    surprises: i32,
    /// By which factor a recent batch exceeded the expected time.
    worst: f64,
}

impl Model {
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

    /// Seconds per byte. A fixed time per copy is fitted as part of the items' time.
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

/// Measurements of the items of a batch that were tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Items of the kind.
    pub items: f64,
    /// Their bytes.
    pub bytes: f64,
    /// Seconds by which the batch delayed the executor's next one.
    pub seconds: f64,
    /// Seconds of these that copies took.
    pub copies: f64,
}

impl Measured {
    /// Whether the measurement is valid.
    fn is_sound(&self) -> bool {
        self.items > 0.0 && self.seconds.is_finite() && self.seconds > 0.0
    }
}

/// The cost models of an executor, by kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    guess: Cost,
    kinds: BTreeMap<Kind, Model>,
}

/// The costs of an executor as they are kept between runs, and the part of its items that falls back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Remembered(pub BTreeMap<Kind, (Cost, FallbackShares)>);

impl Costs {
    /// Uses `guess` for every kind until it is measured.
    pub fn guessed(guess: Cost) -> Self {
        Self {
            guess,
            kinds: BTreeMap::new(),
        }
    }

    /// Takes over the measurements of an earlier run, except invalid ones.
    pub fn recall(&mut self, remembered: &Remembered) {
        for (kind, (cost, fallback)) in &remembered.0 {
            if cost.is_sound() && fallback.is_sound() {
                self.kinds.insert(*kind, Model::new(*cost, *fallback, true));
            }
        }
    }

    /// The measurements for later runs: of the kinds that were measured, in this run or before.
    pub fn remember(&self) -> Remembered {
        let kinds = self.kinds.iter();
        let kinds = kinds.filter(|(kind, _)| self.is_measured(**kind));
        let kinds = kinds.map(|(kind, model)| (*kind, (model.cost(), model.fallback.parts())));
        Remembered(kinds.collect())
    }

    /// The cost of a kind.
    pub fn of(&self, kind: Kind) -> Cost {
        self.nearest(kind).map_or(self.guess, Model::cost)
    }

    /// The shares of the items of a kind that fall back.
    pub fn fallback_of(&self, kind: Kind) -> FallbackShares {
        let model = self.nearest(kind);
        model.map_or_else(FallbackShares::default, |model| model.fallback.parts())
    }

    /// The model of a kind, or else of a neighbouring one: its measurements are better than a general guess.
    fn nearest(&self, kind: Kind) -> Option<&Model> {
        let mut to_kind = self.kinds.range(..=kind);
        let mut behind = self.kinds.range(kind..);
        let (_, model) = to_kind.next_back().or_else(|| behind.next())?;
        Some(model)
    }

    fn model_mut(&mut self, kind: Kind) -> &mut Model {
        let (guess, fallback) = (self.of(kind), self.fallback_of(kind));
        let model = self.kinds.entry(kind);
        model.or_insert_with(|| Model::new(guess, fallback, false))
    }

    /// How many batches of a kind were evaluated or fell back in this run.
    pub fn batches(&self, kind: Kind) -> u64 {
        self.kinds.get(&kind).map_or(0, |model| model.batches)
    }

    /// Whether the cost of a kind was measured, in this run or before.
    pub fn is_measured(&self, kind: Kind) -> bool {
        let model = self.kinds.get(&kind);
        model.is_some_and(|model| model.batches > 0 || model.is_remembered)
    }

    /// How far predictions for a kind are off, relative to the measurement: 1 if nothing is known, 0 if each is
    /// right.
    pub fn error(&self, kind: Kind) -> f64 {
        self.kinds.get(&kind).map_or(1.0, |model| model.error)
    }

    /// By which factor a batch of a kind may exceed the expected time, as some did lately; 1 if none did.
    pub fn worst(&self, kind: Kind) -> f64 {
        self.kinds.get(&kind).map_or(1.0, |model| model.worst)
    }

    /// Learns how many of `items` items fell back.
    pub fn learn_fallback(&mut self, kind: Kind, items: u64, fallback: &Fallback) {
        if items == 0 {
            return;
        }
        let skipped = fallback.skipped.min(items);
        let bailed_out = fallback.bailed_out.min(items - skipped);
        let model = self.model_mut(kind);
        let sums = &mut model.fallback;
        sums.add(items as f64, skipped as f64, bailed_out as f64);
        // If nothing was tried, `learn` does not count this batch.
        model.batches += u64::from(skipped == items);
    }

    /// Learns from the items of a batch that were tried.
    pub fn learn(&mut self, kind: Kind, measured: Measured) {
        if !measured.is_sound() {
            return;
        }
        let model = self.model_mut(kind);
        let expected = model.cost().seconds(measured.items, measured.bytes);
        let error = ((expected - measured.seconds) / measured.seconds)
            .abs()
            .min(1.0);
        model.error = if model.tried == 0 {
            1.0
        } else {
            model.error * 0.7 + error * 0.3
        };
        model.worst = 1.0 + (model.worst - 1.0) * LONG_MEMORY;
        if model.tried >= FIRST {
            let times = (measured.seconds / expected.max(f64::MIN_POSITIVE)).min(MAX_SLOWDOWN);
            model.worst = model.worst.max(times);
        }
        model.batches += 1;
        model.tried += 1;
        // Items with very different times surprise in both directions though nothing has changed.
        let is_longer = measured.seconds > expected;
        model.surprises = if error <= SURPRISE {
            0
        } else if is_longer {
            model.surprises.max(0) + 1
        } else {
            model.surprises.min(0) - 1
        };
        if model.surprises.abs() >= SURPRISES {
            model.guess = model.cost();
            (model.compute, model.copies) = (Line::default(), Line::default());
            model.surprises = 0;
        }
        model.copies.fade();
        model.compute.fade();
        model.add_copies(&measured);
        model.add_rest(&measured);
    }
}
