//! [`Results`]: the results of a document, counted as they are read. There may be many millions.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::AddAssign;

use serde::{Deserialize, Deserializer};

use super::bounded::{Text, fold_list};

/// The most tasks, and the most programs, with counts of their own; the totals include all.
const NAMES: usize = 200_000;

/// The most programs whose first failure is kept.
const FAILURES: usize = 10;

/// The outcome of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Match,
    Mismatch,
    NoExpected,
    Error,
    Limit,
}

impl Outcome {
    pub(super) const ALL: [Outcome; 5] = [
        Outcome::Match,
        Outcome::Mismatch,
        Outcome::Error,
        Outcome::Limit,
        Outcome::NoExpected,
    ];

    /// The word for people; it is also the CSS class of its colour.
    pub(super) fn word(self) -> &'static str {
        match self {
            Outcome::Match => "right",
            Outcome::Mismatch => "wrong",
            Outcome::Error => "error",
            Outcome::Limit => "limit",
            Outcome::NoExpected => "unknown",
        }
    }

    /// What it means, in a few words, in singular or plural.
    pub(super) fn meaning(self, count: u64) -> &'static str {
        match (self, count) {
            (Outcome::Match, _) => "right",
            (Outcome::Mismatch, _) => "wrong",
            (Outcome::Error, 1) => "error",
            (Outcome::Error, _) => "errors",
            (Outcome::Limit, 1) => "limit",
            (Outcome::Limit, _) => "limits",
            (Outcome::NoExpected, _) => "not judged",
        }
    }
}

/// Evaluations by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts([u64; 5]);

impl Counts {
    pub(super) fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    pub(super) fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Evaluations without an output.
    pub(super) fn failures(&self) -> u64 {
        self.of(Outcome::Error) + self.of(Outcome::Limit)
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}

/// An evaluation without an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) program: Program,
    pub(super) task: Text,
    /// As `train[0]`.
    pub(super) pair: String,
    pub(super) outcome: Outcome,
    pub(super) error: Text,
}

/// A program, by its name and the file that it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Program {
    pub(super) name: Text,
    pub(super) file: Option<Text>,
}

/// The counts over all results.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub(super) totals: Counts,
    /// By the task's id.
    pub(super) by_task: HashMap<Text, Counts>,
    by_program: HashMap<Program, Counts>,
    /// The first failures, each of a different program.
    pub(super) failures: Vec<Failure>,
    /// How many of the programs with counts of their own failed.
    pub(super) failing: u64,
}

impl Results {
    /// The counts of a program; zero if it has none of its own.
    pub(super) fn of_program(&self, program: &Program) -> Counts {
        self.by_program.get(program).copied().unwrap_or_default()
    }

    fn add(&mut self, entry: Entry) {
        let Entry {
            task,
            program,
            file,
            pairs: Pairs { counts, failure },
        } = entry;
        self.totals += counts;
        if let Some(of_task) = counted(&mut self.by_task, &task) {
            *of_task += counts;
        }
        let name = program;
        let program = Program { name, file };
        let Some(of_program) = counted(&mut self.by_program, &program) else {
            return;
        };
        let is_first = of_program.failures() == 0;
        *of_program += counts;
        if let (true, Some(failed)) = (is_first, failure) {
            self.failing += 1;
            if self.failures.len() < FAILURES {
                self.failures.push(Failure {
                    program,
                    task,
                    pair: format!("{}[{}]", failed.split.0, failed.index),
                    outcome: failed.outcome,
                    error: failed.error.unwrap_or_default(),
                });
            }
        }
    }
}

/// The counts of this name, if it has some or there is room for them.
fn counted<'m, K: Clone + Eq + Hash>(
    counts: &'m mut HashMap<K, Counts>,
    name: &K,
) -> Option<&'m mut Counts> {
    if !counts.contains_key(name) {
        if counts.len() == NAMES {
            return None;
        }
        counts.insert(name.clone(), Counts::default());
    }
    counts.get_mut(name)
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fold_list(deserializer, "a list of results", Results::add)
    }
}

/// One program on one task.
#[derive(Deserialize)]
#[serde(expecting = "a result with a task, a program and pairs")]
struct Entry {
    task: Text,
    program: Text,
    file: Option<Text>,
    pairs: Pairs,
}

#[derive(Deserialize)]
#[serde(expecting = "a pair with a split, an index and an outcome")]
struct Pair {
    split: Text,
    index: u32,
    outcome: Outcome,
    error: Option<Text>,
}

/// The pairs of a result: their outcomes, and the first failure.
#[derive(Default)]
struct Pairs {
    counts: Counts,
    failure: Option<Pair>,
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fold_list(
            deserializer,
            "a list of pairs",
            |pairs: &mut Pairs, pair: Pair| {
                pairs.counts.0[pair.outcome as usize] += 1;
                let failed = matches!(pair.outcome, Outcome::Error | Outcome::Limit);
                if failed && pairs.failure.is_none() {
                    pairs.failure = Some(pair);
                }
            },
        )
    }
}
