//! [`BattFile`]: a batt, which is the candidates of a search written as one program with many results.

use std::fmt;

use arc_dsl::{EvalError, Interpreter, Program, Sample, Slot, Step, Value};

/// Candidates and the scores of candidates, written as one function `batt` of the typed dialect.
///
/// The function returns two lists: `o`, the outputs of the candidates, and `s`, their scores. A step that several of
/// them need is evaluated once. Parsed by [`parse_batt`](crate::parse_batt), run by [`run`](Self::run); printing
/// it gives text that parses to an equal batt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BattFile {
    pub(crate) program: Program,
    pub(crate) guarded: bool,
    pub(crate) entries: Vec<BattEntry>,
}

/// An element that is appended to one of the lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BattEntry {
    /// The number of program steps after which it is appended.
    pub(crate) after: usize,
    /// The variable that holds its value.
    pub(crate) slot: Slot,
    /// Its number; normally that of its variable.
    pub number: i32,
    /// Which list it is in, and its further fields there.
    pub kind: BattEntryKind,
}

/// The list of an entry, with the fields specific to that list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BattEntryKind {
    /// An element of `o`: the output of a candidate.
    Output {
        /// Whether the candidate's last step differs from that of its solver.
        mutated: bool,
        /// The id of the task whose solver the candidate comes from.
        id: String,
    },
    /// An element of `s`: a score.
    Score {
        /// The id of the task whose candidate is scored; `None` if the input is scored.
        id: String,
        /// The name of the scoring function.
        name: String,
    },
}

impl BattFile {
    /// The steps, as a program of the typed dialect; its return value is meaningless.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The elements of both lists in the order in which they are appended.
    #[must_use]
    pub fn entries(&self) -> &[BattEntry] {
        &self.entries
    }

    /// How many candidates there are: elements of `o`.
    #[must_use]
    pub fn candidates(&self) -> usize {
        let outputs = self.entries.iter();
        outputs
            .filter(|entry| matches!(entry.kind, BattEntryKind::Output { .. }))
            .count()
    }

    /// The value of every entry for a sample, in the order of the entries.
    ///
    /// The limits apply to each step separately, except that the memory limit applies to all steps together. A step
    /// that reaches a limit has no value, nor do the steps that depend on it. Without `try:`, any other failure ends
    /// the batt, which then has no values at all.
    pub fn run(
        &self,
        interpreter: &mut Interpreter,
        sample: Sample,
    ) -> Result<Vec<Result<Value, EvalError>>, EvalError> {
        let values = interpreter.run_steps(&self.program, sample.into_inputs(), self.guarded)?;
        let entries = self.entries.iter();
        Ok(entries
            .map(|entry| values[entry.slot.index()].clone())
            .collect())
    }
}

/// The text before the steps.
const HEAD: &str = "from dsl import *
from constants import *
from safe_dsl import _get_safe_default

def batt(task_id, S, I, C, log_path):
    s = []
    o = []
";

/// The exceptions after which a failing step gives its default.
const CAUGHT: &str = "(TypeError, AttributeError, ValueError, IndexError, KeyError)";

/// The text of the batt, which parses to an equal batt.
impl fmt::Display for BattFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        let mut entries = self.entries.iter().peekable();
        for (at, step) in self.program.steps().iter().enumerate() {
            while let Some(entry) = entries.next_if(|entry| entry.after <= at) {
                self.write_entry(f, entry)?;
            }
            self.write_step(f, step)?;
        }
        entries.try_for_each(|entry| self.write_entry(f, entry))?;
        f.write_str("    return o, s\n")
    }
}

impl BattFile {
    fn write_step(&self, f: &mut fmt::Formatter<'_>, step: &Step) -> fmt::Result {
        if !self.guarded {
            f.write_str("    ")?;
            self.program.write_step(f, step)?;
            return writeln!(f);
        }
        f.write_str("    try:\n        ")?;
        self.program.write_step(f, step)?;
        let target = &self.program.variables()[step.target.index()];
        let callee = self.program.callee_name(step);
        writeln!(f, "\n    except {CAUGHT}:")?;
        writeln!(f, "        {target} = _get_safe_default({callee})")
    }

    fn write_entry(&self, f: &mut fmt::Formatter<'_>, entry: &BattEntry) -> fmt::Result {
        let (number, variable) = (entry.number, &self.program.variables()[entry.slot.index()]);
        match &entry.kind {
            BattEntryKind::Output { mutated, id } => {
                let mutated = if *mutated { "True" } else { "False" };
                writeln!(f, "    o.append(({number}, {mutated}, '{id}', {variable}))")
            }
            BattEntryKind::Score { id, name } => {
                writeln!(f, "    s.append(({number}, '{id}', '{name}', {variable}))")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_batt;
    use arc_dsl::{Grid, Limit, Limits};

    const TEXT: &str = "
from dsl import *

def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    # what is said of a step is passed over
    try:
        t1 = o_g(I, R5)
    except (TypeError, AttributeError, ValueError, IndexError, KeyError):
        t1 = _get_safe_default(o_g)
    try:
        t2 = compose(t1, size_f)
    except (TypeError, AttributeError, ValueError, IndexError, KeyError):
        t2 = _get_safe_default(compose)
    try:
        t3 = t2(C)
    except (TypeError, AttributeError, ValueError, IndexError, KeyError):
        t3 = _get_safe_default(t2)
    s.append((3, 'None', 'differ_a', t3))
    try:
        t4 = hmirror_t(I)
    except (TypeError, AttributeError, ValueError, IndexError, KeyError):
        t4 = _get_safe_default(hmirror_t)
    o.append((4, False, '007bbfb7', t4))
    return o, s
";

    fn sample() -> Sample {
        Sample::alone(Grid::from_rows(&[[1, 2], [3, 4]]).unwrap().into())
    }

    fn texts(values: Vec<Result<Value, EvalError>>) -> Vec<String> {
        let text = |value: Result<Value, EvalError>| match value {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        };
        values.into_iter().map(text).collect()
    }

    #[test]
    fn a_step_that_fails_gives_its_default_and_the_others_go_on() {
        let batt = parse_batt(TEXT).unwrap();
        assert_eq!((batt.candidates(), batt.entries().len()), (1, 2));
        let values = batt.run(&mut Interpreter::default(), sample()).unwrap();
        // A set of objects cannot be called as a function.
        assert_eq!(texts(values), ["()", "((3, 4), (1, 2))"]);
    }

    #[test]
    fn text_that_is_printed_reads_as_the_same() {
        let batt = parse_batt(TEXT).unwrap();
        let text = batt.to_string();
        assert_eq!(parse_batt(&text), Ok(batt.clone()));
        let vectorized = BattFile {
            guarded: false,
            ..batt
        };
        let text = vectorized.to_string();
        assert!(text.contains("\n    t3 = t2(C)\n    s.append((3, 'None', 'differ_a', t3))\n"));
        assert_eq!(parse_batt(&text), Ok(vectorized));
    }

    #[test]
    fn without_try_a_step_that_fails_ends_all() {
        let batt = BattFile {
            guarded: false,
            ..parse_batt(TEXT).unwrap()
        };
        let error = batt.run(&mut Interpreter::default(), sample()).unwrap_err();
        assert_eq!(error.line, 17);
    }

    #[test]
    fn a_bound_ends_what_needs_the_step_alone() {
        let batt = parse_batt(
            "def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = interval(ZERO, THOUSAND, ONE)
    t2 = product(t1, t1)
    t3 = size_f(t2)
    o.append((3, True, 'a', t3))
    t4 = identity(I)
    o.append((4, False, 'a', t4))
    return o, s
",
        )
        .unwrap();
        let limits = Limits {
            max_elements: 10_000,
            ..Limits::default()
        };
        let values = batt.run(&mut Interpreter::new(limits), sample()).unwrap();
        let error = values[0].as_ref().unwrap_err();
        assert_eq!((error.limit(), error.line), (Some(Limit::Elements), 5));
        assert_eq!(values[1].as_ref().unwrap().to_string(), "((1, 2), (3, 4))");
    }
}
