//! Compares the results of both sides for each case, and counts them by primitive.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use arc_dsl::{COLOUR_RANGE, EvalError, Interpreter, Limit, MAX_INT};

use super::Called;
use super::python::{Results, Theirs};
use super::suite::{Ours, Suite};

/// An intended difference.
#[derive(Debug)]
pub(crate) struct Deviation {
    pub(crate) what: &'static str,
    pub(crate) why: &'static str,
    explains: fn(&EvalError, Option<Called>, &Theirs) -> bool,
}

/// A longer literal holds more than the limits allow.
const LARGE: usize = 1_000_000;

/// All intended differences. In each, ours returns a typed error where Python continues.
pub(crate) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        what: "Integers past 2^30 - 1 in size are a limit.",
        why: "No program on grids needs them, and 32 bits hold whatever two of them make.",
        explains: |ours, _, theirs| match theirs {
            Theirs::Value(text) => {
                ours.limit() == Some(Limit::Integer)
                    && integers(text).any(|n| n.abs() > i64::from(MAX_INT))
            }
            _ => false,
        },
    },
    Deviation {
        what: "Colours past 8 bits in a grid are a limit.",
        why: "ARC has the colours 0 to 9; a grid is stored a byte a cell.",
        explains: |ours, _, theirs| match theirs {
            Theirs::Value(text) => {
                let outside =
                    |n: i64| i32::try_from(n).map_or(true, |n| !COLOUR_RANGE.contains(&n));
                ours.limit() == Some(Limit::Colour) && integers(text).any(outside)
            }
            _ => false,
        },
    },
    Deviation {
        what: "What runs past the bounds of an evaluation is a limit.",
        why: "Python runs on until memory or patience ends.",
        explains: |ours, called, theirs| {
            let bounded = !matches!(
                ours.limit(),
                None | Some(Limit::Integer | Limit::Colour | Limit::Time)
            );
            // Only repeated calls of a function value grow that large without being seen in the text.
            let unseen = called.is_some_and(|called| called.family() == "functions");
            bounded
                && match theirs {
                    Theirs::Value(text) => unseen || text.len() > LARGE,
                    Theirs::Raised => false,
                    Theirs::Overtime => true,
                }
        },
    },
];

/// The integers in a literal.
fn integers(text: &str) -> impl Iterator<Item = i64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '-')
        .filter_map(|digits| digits.parse().ok())
}

/// A literal with truth values replaced by the integers that they equal.
pub(crate) fn numbers(literal: &str) -> String {
    literal.replace("True", "1").replace("False", "0")
}

/// Whether the two sides agree on a case of `called`, or the intended difference.
pub(crate) fn agree(
    called: Option<Called>,
    ours: &Ours,
    theirs: &Theirs,
) -> Result<Option<&'static Deviation>, ()> {
    match (ours, theirs) {
        (Ours::Value(ours), Theirs::Value(theirs)) if numbers(ours) == numbers(theirs) => Ok(None),
        (Ours::Error(error), Theirs::Raised)
            // If Python raises too, a limit on our side would hide a missing error.
            if error.limit().is_none() =>
        {
            Ok(None)
        }
        (Ours::Error(error), _) => {
            let found = DEVIATIONS.iter().find(|d| (d.explains)(error, called, theirs));
            found.map(Some).ok_or(())
        }
        _ => Err(()),
    }
}

/// The number of differences per primitive that are shown in full.
const SHOWN: usize = 3;

/// The number of characters of a value that are shown.
const SHOWN_OF_VALUE: usize = 400;

/// The results of the cases of one primitive.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) primitive: Called,
    pub(crate) cases: usize,
    pub(crate) distinct: usize,
    /// Cases that have a value on our side.
    pub(crate) succeeded: usize,
    pub(crate) equal: usize,
    /// Cases with another result in plain Python than with its sets in canonical order.
    pub(crate) ordered: usize,
    /// The number of intended differences, by kind.
    pub(crate) intended: BTreeMap<&'static str, usize>,
    /// The unexplained differences, as text to paste.
    pub(crate) differences: Vec<String>,
}

impl Tally {
    /// One tally per primitive, in the order of the table.
    pub(crate) fn of_all(suite: &Suite, results: &Results) -> Vec<Self> {
        let mut interpreter = Interpreter::default();
        suite
            .by_primitive()
            .map(|(first, calls)| {
                let distinct: std::collections::HashSet<_> = calls
                    .iter()
                    .map(|call| (&call.arguments, &call.applied_to))
                    .collect();
                let mut tally = Self {
                    primitive: calls[0].primitive,
                    cases: calls.len(),
                    distinct: distinct.len(),
                    succeeded: 0,
                    equal: 0,
                    ordered: 0,
                    intended: BTreeMap::new(),
                    differences: Vec::new(),
                };
                for (call, at) in calls.iter().zip(first..) {
                    let ours = suite.evaluate(call, &mut interpreter);
                    let theirs = &results.canonical[at];
                    tally.succeeded += usize::from(matches!(ours, Ours::Value(_)));
                    tally.ordered += usize::from(*theirs != results.plain[at]);
                    match agree(Some(call.primitive), &ours, theirs) {
                        Ok(None) => tally.equal += 1,
                        Ok(Some(deviation)) => {
                            *tally.intended.entry(deviation.what).or_default() += 1;
                        }
                        Err(()) => {
                            let expression = suite.expression(call);
                            let program = suite.program(call);
                            tally.differences.push(difference(
                                &expression,
                                &program,
                                &ours,
                                theirs,
                            ));
                        }
                    }
                }
                tally
            })
            .collect()
    }

    pub(crate) fn differing(&self) -> usize {
        self.differences.len()
    }
}

/// A difference as text to paste into Python and into a test.
fn difference(expression: &str, program: &str, ours: &Ours, theirs: &Theirs) -> String {
    let ours = match ours {
        Ours::Value(text) | Ours::Unread(text) => text.clone(),
        Ours::Error(error) => error.to_string(),
    };
    let theirs = match theirs {
        Theirs::Value(text) => text,
        Theirs::Raised => "an exception",
        Theirs::Overtime => "no end",
    };
    let (ours, theirs) = (cut(&ours), cut(theirs));
    format!(
        "  Python: {expression}\n  Rust:   parse_programs({program:?})\n  ours:   {ours}\n  theirs: {theirs}\n"
    )
}

/// The beginning of a value: pasting the case shows where long values differ.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_OF_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A table of the tallies, with the first differences of each primitive below it.
pub(crate) fn table(tallies: &[Tally]) -> String {
    let mut text = format!(
        "{:<14}{:>7}{:>10}{:>11}{:>7}{:>9}{:>10}{:>8}\n",
        "primitive", "cases", "distinct", "succeeded", "equal", "by order", "intended", "differ"
    );
    for tally in tallies {
        let intended: usize = tally.intended.values().sum();
        let _ = writeln!(
            text,
            "{:<14}{:>7}{:>10}{:>10}%{:>7}{:>9}{:>10}{:>8}",
            tally.primitive.name(),
            tally.cases,
            tally.distinct,
            100 * tally.succeeded / tally.cases.max(1),
            tally.equal,
            tally.ordered,
            intended,
            tally.differing()
        );
    }
    let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
    let _ = writeln!(
        text,
        "{:<14}{:>7}{:>10}{:>10}%{:>7}{:>9}{:>10}{:>8}",
        "total",
        sum(|t| t.cases),
        sum(|t| t.distinct),
        100 * sum(|t| t.succeeded) / sum(|t| t.cases).max(1),
        sum(|t| t.equal),
        sum(|t| t.ordered),
        sum(|t| t.intended.values().sum()),
        sum(Tally::differing)
    );
    for tally in tallies.iter().filter(|tally| tally.differing() > 0) {
        let _ = writeln!(
            text,
            "\n{}: {} cases differ",
            tally.primitive,
            tally.differing()
        );
        for difference in tally.differences.iter().take(SHOWN) {
            let _ = writeln!(text, "{difference}");
        }
    }
    text
}
