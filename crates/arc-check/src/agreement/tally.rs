//! [`Tally`]: the results of many evaluations, by evaluator.

use std::collections::BTreeMap;
use std::fmt;

use super::{Comparison, Disagreement, Gave, Path};

/// How often each reason occurred.
pub type Reasons = BTreeMap<String, u64>;

/// Adds counts to those of the same reasons.
pub(crate) fn add_counts<R: Ord>(to: &mut BTreeMap<R, u64>, counts: BTreeMap<R, u64>) {
    for (reason, count) in counts {
        *to.entry(reason).or_default() += count;
    }
}

/// The results of one evaluator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathCounts {
    /// The value of the reference.
    pub values: u64,
    /// The error of the reference.
    pub errors: u64,
    /// The reference hit a limit that this evaluator counts differently.
    pub bounds: u64,
    /// A result other than the reference's.
    pub differ: u64,
    /// Bailed out to the reference, by reason.
    pub bail_outs: Reasons,
    /// Evaluations of programs that have no form, by reason.
    pub no_form: Reasons,
    /// Evaluations of programs whose form is not compiled, by reason.
    pub not_compiled: Reasons,
}

impl PathCounts {
    fn add(&mut self, other: PathCounts) {
        self.values += other.values;
        self.errors += other.errors;
        self.bounds += other.bounds;
        self.differ += other.differ;
        add_counts(&mut self.bail_outs, other.bail_outs);
        add_counts(&mut self.no_form, other.no_form);
        add_counts(&mut self.not_compiled, other.not_compiled);
    }
}

/// The results of many evaluations; prints as a table.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// The number of evaluations, each with every evaluator.
    pub evaluations: u64,
    /// The results by evaluator.
    pub by_path: BTreeMap<Path, PathCounts>,
    /// The evaluations on which an evaluator disagrees with the reference.
    pub disagreements: Vec<Disagreement>,
}

impl Tally {
    /// Adds the results of other evaluations.
    pub fn add(&mut self, other: Tally) {
        self.evaluations += other.evaluations;
        for (path, counts) in other.by_path {
            self.by_path.entry(path).or_default().add(counts);
        }
        self.disagreements.extend(other.disagreements);
    }

    pub(crate) fn count(&mut self, path: Path, gave: &Gave, comparison: Comparison) {
        let counts = self.by_path.entry(path).or_default();
        let (reasons, reason) = match (comparison, gave) {
            (Comparison::SameValue, _) => return counts.values += 1,
            (Comparison::SameError, _) => return counts.errors += 1,
            (Comparison::Bound, _) => return counts.bounds += 1,
            (Comparison::Nothing, Gave::NoForm(reason)) => (&mut counts.no_form, reason),
            (Comparison::Nothing, Gave::NotCompiled(reason)) => (&mut counts.not_compiled, reason),
            (Comparison::Nothing, Gave::BailedOut(reason)) => (&mut counts.bail_outs, reason),
            (Comparison::Differs | Comparison::Nothing, _) => return counts.differ += 1,
        };
        // Looked up before it is copied: there are few distinct reasons.
        match reasons.get_mut(reason) {
            Some(count) => *count += 1,
            None => drop(reasons.insert(reason.clone(), 1)),
        }
    }

    /// In how many evaluations this evaluator agreed with the reference.
    pub fn agreed(&self, path: Path) -> u64 {
        self.by_path
            .get(&path)
            .map_or(0, |counts| counts.values + counts.errors)
    }
}

/// The maximum number of reasons of one kind that are printed.
const NAMED: usize = 12;

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} evaluations", self.evaluations)?;
        writeln!(
            f,
            "{:<16}{:>12}{:>12}{:>12}{:>12}{:>14}{:>12}{:>12}",
            "",
            "same value",
            "same error",
            "bounds",
            "bailed out",
            "not compiled",
            "no form",
            "differ"
        )?;
        let sum = |reasons: &Reasons| reasons.values().sum::<u64>();
        for (path, counts) in &self.by_path {
            writeln!(
                f,
                "{:<16}{:>12}{:>12}{:>12}{:>12}{:>14}{:>12}{:>12}",
                path.name(),
                counts.values,
                counts.errors,
                counts.bounds,
                sum(&counts.bail_outs),
                sum(&counts.not_compiled),
                sum(&counts.no_form),
                counts.differ
            )?;
        }
        let none = PathCounts::default();
        let at = |path| self.by_path.get(&path).unwrap_or(&none);
        let lists = [
            ("bailed out by the form", &at(Path::Form).bail_outs),
            (
                "bailed out by the compiled path",
                &at(Path::Baseline).bail_outs,
            ),
            ("not compiled", &at(Path::Baseline).not_compiled),
            ("bailed out by the device", &at(Path::Emulated).bail_outs),
            ("not run by the device", &at(Path::Emulated).not_compiled),
            ("no form", &at(Path::Form).no_form),
        ];
        for (title, reasons) in lists {
            if reasons.is_empty() {
                continue;
            }
            writeln!(f, "\n{title}")?;
            let mut reasons: Vec<_> = reasons.iter().collect();
            reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            for (reason, count) in reasons.iter().take(NAMED) {
                writeln!(f, "{count:>12}  {reason}")?;
            }
            let rest = &reasons[reasons.len().min(NAMED)..];
            if !rest.is_empty() {
                let count: u64 = rest.iter().map(|(_, count)| **count).sum();
                writeln!(f, "{count:>12}  {} other reasons", rest.len())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::Value;

    #[test]
    fn counts_add_up_and_print() {
        let mut tally = Tally::default();
        let gave = |reason: &str| Gave::BailedOut(reason.to_owned());
        for (path, gave, comparison) in [
            (
                Path::Form,
                Gave::Value(Value::Int(1)),
                Comparison::SameValue,
            ),
            (Path::Baseline, gave("too large"), Comparison::Nothing),
            (Path::Baseline, gave("too large"), Comparison::Nothing),
            (Path::Baseline, gave("too deep"), Comparison::Nothing),
            (Path::Form, Gave::NoForm("dark".into()), Comparison::Nothing),
        ] {
            tally.count(path, &gave, comparison);
        }
        tally.evaluations = 3;
        let mut twice = tally.clone();
        twice.add(tally);
        assert_eq!((twice.evaluations, twice.agreed(Path::Form)), (6, 2));
        let text = twice.to_string();
        assert!(text.starts_with("6 evaluations\n"), "{text}");
        let reasons = "bailed out by the compiled path\n           4  too large\n           2  too deep\n\nno form\n           2  dark\n";
        assert!(text.ends_with(reasons), "{text}");
    }
}
