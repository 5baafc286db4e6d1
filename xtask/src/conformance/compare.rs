//! Compares the results of both sides of each evaluation, and counts them.

use std::fmt::Write as _;

use anyhow::Result;
use arc_dsl::{COLOUR_RANGE, ErrorKind, EvalError, Limit, MAX_INT, Value};

use super::Called;
use super::python::{Command, Pool, Reference, Theirs};

/// Our result of an evaluation.
#[derive(Debug)]
pub(crate) enum Ours {
    /// The text of the value.
    Value(String),
    /// The evaluation failed or hit a limit.
    Error(EvalError),
    /// The text was rejected by the parser, which is always a difference.
    Unread(String),
}

impl From<Result<Value, EvalError>> for Ours {
    fn from(result: Result<Value, EvalError>) -> Self {
        match result {
            // Python has no text that identifies a function.
            Ok(value) => Ours::Value(value.without_functions().to_string()),
            Err(error) => Ours::Error(error),
        }
    }
}

/// How both sides compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The same value, sets in the same order.
    SameValue,
    /// Both fail, with the same kind of error.
    SameError,
    /// Ours hits a limit that Python does not have (docs/conformance.md).
    Limit,
    /// Python reached its bound of time or memory.
    Unfinished,
    /// CPython itself has no answer: the versions differ, or a set of functions would be printed.
    Undefined,
    Differs,
}

/// A longer literal holds more than the limits allow.
const LARGE: usize = 1_000_000;

/// The integers in a literal.
fn integers(text: &str) -> impl Iterator<Item = i64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '-')
        .filter_map(|digits| digits.parse().ok())
}

/// Whether a limit explains that Python has a result. Inside of a program anything may have hit one; a call of a
/// primitive shows it in its value.
fn explains(limit: Limit, called: Option<Called>, theirs: &Theirs) -> bool {
    match (called, theirs) {
        (None, _) => true,
        (Some(called), Theirs::Value(text)) => match limit {
            Limit::Integer => integers(text).any(|n| n.abs() > i64::from(MAX_INT)),
            Limit::Colour => integers(text)
                .any(|n| i32::try_from(n).map_or(true, |n| !COLOUR_RANGE.contains(&n))),
            Limit::Time => false,
            // Only repeated calls of a function value grow that large without being seen in the text.
            _ => called.family() == "functions" || text.len() > LARGE,
        },
        // If Python raises too, a limit on our side would hide a missing error.
        _ => false,
    }
}

/// Whether Python may raise this where ours fails so. What is of another type fails in Python wherever it is taken
/// apart, so with any exception; those of a generator reach its caller as a `RuntimeError`.
fn same_kind(kind: ErrorKind, exception: &str) -> bool {
    let exceptions: &[&str] = match kind {
        ErrorKind::Type { .. } | ErrorKind::Element { .. } => return true,
        ErrorKind::NotCallable { .. }
        | ErrorKind::ArgumentCount { .. }
        | ErrorKind::Incomparable(..) => &["TypeError"],
        ErrorKind::Empty => &[
            "IndexError",
            "ValueError",
            "StopIteration",
            "RuntimeError",
            "ZeroDivisionError",
        ],
        ErrorKind::NoMatch => &["StopIteration", "RuntimeError"],
        ErrorKind::OutOfRange => &["IndexError"],
        ErrorKind::DivisionByZero => &["ZeroDivisionError"],
        ErrorKind::Recursion(_) => &["RecursionError"],
        ErrorKind::ZeroStep => &["ValueError"],
        ErrorKind::Limit(_) => &[],
    };
    exceptions.contains(&exception)
}

/// A literal with truth values replaced by the integers that they equal.
pub(crate) fn numbers(literal: &str) -> String {
    literal.replace("True", "1").replace("False", "0")
}

/// Compares our result of a program, or of a call of a primitive, with those of each CPython.
pub(crate) fn verdict(called: Option<Called>, ours: &Ours, theirs: &[Theirs]) -> Verdict {
    let alike = theirs.windows(2).all(|two| two[0] == two[1]);
    match (ours, theirs.last()) {
        _ if theirs.contains(&Theirs::Unfinished) => Verdict::Unfinished,
        (Ours::Value(_), Some(Theirs::Unordered)) => Verdict::Undefined,
        (Ours::Value(ours), Some(Theirs::Value(theirs)))
            if alike && numbers(ours) == numbers(theirs) =>
        {
            Verdict::SameValue
        }
        (Ours::Error(error), Some(theirs)) => match (error.limit(), theirs) {
            (Some(limit), theirs) if explains(limit, called, theirs) => Verdict::Limit,
            (None, Theirs::Raised(exception)) if alike && same_kind(error.kind, exception) => {
                Verdict::SameError
            }
            _ if alike => Verdict::Differs,
            _ => Verdict::Undefined,
        },
        (Ours::Value(_), _) if !alike => Verdict::Undefined,
        _ => Verdict::Differs,
    }
}

/// The results of an evaluation: ours, and those of each CPython.
pub(crate) type Both = (Ours, Vec<Theirs>);

/// How often Python runs again what differs.
const REPETITIONS: usize = 12;

/// Adds Python's results to ours: those of the primitives that `called` gives, if they are of calls, by the commands that
/// `command` gives. What differs is evaluated again in other processes: where a set of functions decides, CPython gives
/// another value in each.
pub(crate) fn evaluate<'a>(
    reference: &Reference,
    seconds: u32,
    pool: &'a Pool,
    ours: Vec<Ours>,
    called: impl Fn(usize) -> Option<Called>,
    command: impl Fn(usize) -> Command<'a>,
) -> Result<Vec<Both>> {
    let evaluate = |of: &[usize]| {
        let commands = of.iter().map(|&at| command(at));
        let commands: Vec<_> = pool.commands().chain(commands).collect();
        reference.evaluate(&commands, seconds)
    };
    let mut again: Vec<usize> = (0..ours.len()).collect();
    let mut theirs = evaluate(&again)?;
    for _ in 0..REPETITIONS {
        again.retain(|&at| verdict(called(at), &ours[at], &theirs[at]) == Verdict::Differs);
        if again.is_empty() {
            break;
        }
        for (&at, more) in again.iter().zip(evaluate(&again)?) {
            theirs[at].extend(more);
        }
    }
    Ok(ours.into_iter().zip(theirs).collect())
}

/// A row of the table: the evaluations of one kind.
#[derive(Debug)]
pub(crate) struct ComparedKind {
    name: String,
    /// How many have each verdict.
    counts: [usize; 6],
    /// What differs, as text to paste.
    differences: Vec<String>,
}

impl ComparedKind {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            counts: [0; 6],
            differences: Vec::new(),
        }
    }

    /// Counts an evaluation, of which `what` is the text.
    pub(crate) fn add(
        &mut self,
        called: Option<Called>,
        ours: &Ours,
        theirs: &[Theirs],
        what: impl FnOnce() -> String,
    ) {
        let verdict = verdict(called, ours, theirs);
        self.counts[verdict as usize] += 1;
        if verdict == Verdict::Differs {
            let text = difference(ours, theirs);
            self.differences.push(format!("{}\n{text}", what()));
        }
    }

    pub(crate) fn differing(&self) -> usize {
        self.differences.len()
    }
}

/// Both results around their first difference.
fn difference(ours: &Ours, theirs: &[Theirs]) -> String {
    const BEFORE: usize = 120;
    const AFTER: usize = 240;
    let ours = match ours {
        Ours::Value(text) => numbers(text),
        Ours::Error(error) => format!("error: {error}"),
        Ours::Unread(error) => format!("not read: {error}"),
    };
    let theirs = match theirs.last() {
        Some(Theirs::Value(text)) => numbers(text),
        other => format!("{other:?}"),
    };
    let pairs = ours.chars().zip(theirs.chars());
    let from = pairs
        .take_while(|(a, b)| a == b)
        .count()
        .saturating_sub(BEFORE);
    let shown = |text: &str| -> String { text.chars().skip(from).take(BEFORE + AFTER).collect() };
    let dots = if from > 0 { "…" } else { "" };
    format!(
        "  here:   {dots}{}\n  Python: {dots}{}\n",
        shown(&ours),
        shown(&theirs)
    )
}

/// A table of the rows, with the first differences of each below it.
pub(crate) fn table(rows: &[ComparedKind], shown: usize) -> String {
    let columns = [
        "same value",
        "same error",
        "limit",
        "unfinished",
        "undefined",
        "differ",
    ];
    let mut text = format!("{:<24}{:>9}", "", "cases");
    for column in columns {
        let _ = write!(text, "{column:>12}");
    }
    for row in rows {
        let _ = write!(
            text,
            "\n{:<24}{:>9}",
            row.name,
            row.counts.iter().sum::<usize>()
        );
        for count in row.counts {
            let _ = write!(text, "{count:>12}");
        }
    }
    text.push('\n');
    for row in rows.iter().filter(|row| row.differing() > 0) {
        let _ = writeln!(text, "\n{}: {} differ", row.name, row.differing());
        for difference in row.differences.iter().take(shown) {
            let _ = writeln!(text, "{difference}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::{ErrorKind, Primitive};

    #[test]
    fn values_are_the_same_with_their_sets_in_the_same_order() {
        let value = |text: &str| Theirs::Value(text.to_owned());
        let ours = Ours::Value("frozenset({8, True})".to_owned());
        let against = |theirs: &[Theirs]| verdict(None, &ours, theirs);
        let same = value("frozenset({8, 1})");
        let other = value("frozenset({1, 8})");
        assert_eq!(against(&[same.clone(), same.clone()]), Verdict::SameValue);
        assert_eq!(against(&[other.clone(), other.clone()]), Verdict::Differs);
        assert_eq!(against(&[other, same.clone()]), Verdict::Undefined);
        assert_eq!(against(&[Theirs::Unordered]), Verdict::Undefined);
        assert_eq!(against(&[Theirs::Raised(String::new())]), Verdict::Differs);
        assert_eq!(against(&[Theirs::Unfinished, same]), Verdict::Unfinished);
    }

    #[test]
    fn a_limit_is_no_error_and_has_to_be_explained_by_the_value_of_a_call() {
        let error = |kind| {
            Ours::Error(EvalError {
                line: 1,
                primitive: None,
                kind,
            })
        };
        let (empty, limit) = (ErrorKind::Empty, ErrorKind::Limit(Limit::Integer));
        let called = Some(Called::Public(Primitive::Add));
        let raised = [Theirs::Raised("ValueError".to_owned())];
        assert_eq!(verdict(called, &error(empty), &raised), Verdict::SameError);
        let other = error(ErrorKind::DivisionByZero);
        assert_eq!(verdict(called, &other, &raised), Verdict::Differs);
        assert_eq!(verdict(called, &error(limit), &raised), Verdict::Differs);
        for (text, verdict_of) in [("1", Verdict::Differs), ("1073741824", Verdict::Limit)] {
            let theirs = [Theirs::Value(text.to_owned())];
            assert_eq!(verdict(called, &error(limit), &theirs), verdict_of);
            assert_eq!(verdict(called, &error(empty), &theirs), Verdict::Differs);
            assert_eq!(verdict(None, &error(limit), &theirs), Verdict::Limit);
        }
    }
}
