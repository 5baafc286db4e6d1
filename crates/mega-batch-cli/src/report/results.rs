//! [`Results`]: the results of a run, counted as they are read. There may be many millions.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::AddAssign;

use serde::{Deserialize, Deserializer};

use super::bounded::{Text, fold_list};
use super::html::add;
use crate::table::thousands;

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

/// The outcomes in the order of the page: the word for each, which is also the CSS class of its colour, and what it means
/// of one evaluation and of several.
pub(super) const OUTCOMES: [(Outcome, &str, [&str; 2]); 5] = [
    (Outcome::Match, "right", ["right", "right"]),
    (Outcome::Mismatch, "wrong", ["wrong", "wrong"]),
    (Outcome::Error, "error", ["error", "errors"]),
    (Outcome::Limit, "limit", ["limit", "limits"]),
    (Outcome::NoExpected, "unknown", ["not judged", "not judged"]),
];

impl Outcome {
    pub(super) fn word(self) -> &'static str {
        let mut all = OUTCOMES.iter();
        all.find(|(outcome, ..)| *outcome == self)
            .map_or("", |(_, word, _)| word)
    }
}

/// Evaluations by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct OutcomeCounts([u64; 5]);

impl OutcomeCounts {
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

    /// The outcomes that there are: the word for each, and how often, as `2 errors`.
    pub(super) fn listed(self) -> impl Iterator<Item = (&'static str, String)> {
        OUTCOMES.iter().filter_map(move |(outcome, word, meaning)| {
            let count = self.of(*outcome);
            let meaning = meaning[usize::from(count != 1)];
            (count > 0).then(|| (*word, format!("{} {meaning}", thousands(count))))
        })
    }

    /// Options of a form: the outcomes that some of these tasks have.
    pub(super) fn options(of_tasks: &[Self]) -> String {
        let mut html = String::new();
        for (outcome, word, [_, meaning]) in &OUTCOMES {
            let tasks = of_tasks.iter().filter(|counts| counts.of(*outcome) > 0);
            let count = tasks.count() as u64;
            if count > 0 {
                let count = thousands(count);
                add!(
                    html,
                    "<option value=\"{word}\">some {meaning} ({count})</option>"
                );
            }
        }
        html
    }
}

impl AddAssign for OutcomeCounts {
    fn add_assign(&mut self, other: Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}

/// A program, by its name and the file that it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Program {
    pub(super) name: Text,
    pub(super) file: Option<Text>,
}

/// An evaluation without an output.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) program: Program,
    pub(super) task: Text,
    pub(super) pair: Pair,
}

/// The counts over all results.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub(super) totals: OutcomeCounts,
    /// By the task's id.
    pub(super) by_task: HashMap<Text, OutcomeCounts>,
    by_program: HashMap<Program, OutcomeCounts>,
    /// The first failures, each of a different program.
    pub(super) failures: Vec<Failure>,
    /// How many of the programs with counts of their own failed.
    pub(super) failing: u64,
}

impl Results {
    /// The counts of a program; zero if it has none of its own.
    pub(super) fn of_program(&self, program: &Program) -> OutcomeCounts {
        self.by_program.get(program).copied().unwrap_or_default()
    }

    fn add(&mut self, entry: JobEntry) {
        let Pairs { counts, failure } = entry.pairs;
        self.totals += counts;
        if let Some(of_task) = counted(&mut self.by_task, &entry.task) {
            *of_task += counts;
        }
        let program = Program {
            name: entry.program,
            file: entry.file,
        };
        let Some(of_program) = counted(&mut self.by_program, &program) else {
            return;
        };
        let is_first = of_program.failures() == 0;
        *of_program += counts;
        if let (true, Some(pair)) = (is_first, failure) {
            self.failing += 1;
            if self.failures.len() < FAILURES {
                let task = entry.task;
                self.failures.push(Failure {
                    program,
                    task,
                    pair,
                });
            }
        }
    }
}

/// The counts of this name, if it has some or there is room for them.
fn counted<'m, K: Clone + Eq + Hash>(
    counts: &'m mut HashMap<K, OutcomeCounts>,
    name: &K,
) -> Option<&'m mut OutcomeCounts> {
    if !counts.contains_key(name) {
        if counts.len() == NAMES {
            return None;
        }
        counts.insert(name.clone(), OutcomeCounts::default());
    }
    counts.get_mut(name)
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fold_list(
            deserializer,
            "a list of results",
            |results: &mut Self, entry| {
                results.add(entry);
                Ok(())
            },
        )
    }
}

/// One program on one task.
#[derive(Deserialize)]
#[serde(expecting = "a result with a task, a program and pairs")]
struct JobEntry {
    task: Text,
    program: Text,
    file: Option<Text>,
    pairs: Pairs,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a pair with a split, an index and an outcome")]
pub(super) struct Pair {
    pub(super) split: Text,
    pub(super) index: u32,
    pub(super) outcome: Outcome,
    pub(super) error: Option<Text>,
}

/// The pairs of a result: their outcomes, and the first failure.
#[derive(Default)]
struct Pairs {
    counts: OutcomeCounts,
    failure: Option<Pair>,
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fold_list(
            deserializer,
            "a list of pairs",
            |pairs: &mut Self, pair: Pair| {
                pairs.counts.0[pair.outcome as usize] += 1;
                let failed = matches!(pair.outcome, Outcome::Error | Outcome::Limit);
                if failed && pairs.failure.is_none() {
                    pairs.failure = Some(pair);
                }
                Ok(())
            },
        )
    }
}
