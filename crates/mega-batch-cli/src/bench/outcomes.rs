//! [`Outcomes`]: the outcome of every evaluation of a batch, kept for one mode to be compared with those of the
//! others.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use arc_dsl::PairId;
use mega_batch::{Batch, Job, Outcome, PairResult, Sink};

/// An evaluation and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EvaluationOutcome {
    job: Job,
    pair: PairId,
    outcome: Outcome,
    /// The hash of the output's text, if outputs are kept.
    output: Option<u64>,
}

/// The outcomes of a batch's evaluations, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcomes(Vec<EvaluationOutcome>);

impl Sink for Outcomes {
    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        let output = result.output.map(|value| {
            let mut hasher = DefaultHasher::new();
            // By its text, since functions from two evaluations are never equal, however alike.
            value.to_string().hash(&mut hasher);
            hasher.finish()
        });
        self.0.push(EvaluationOutcome {
            job,
            pair: result.pair,
            outcome: result.outcome,
            output,
        });
        Ok(())
    }
}

impl Outcomes {
    /// The first evaluation whose outcome differs from that in `other`, as `PROGRAM on TASK, train[0]: match, and
    /// mismatch`.
    pub(crate) fn difference(&self, other: &Self, batch: &Batch<'_>) -> Option<String> {
        let at =
            (0..self.0.len().max(other.0.len())).find(|&at| self.0.get(at) != other.0.get(at))?;
        let (one, two) = (self.0.get(at), other.0.get(at));
        let evaluation = one.or(two).map(|found| {
            let program = batch.program(found.job).name();
            let task = &batch.task(found.job).id;
            format!("program {program} on task {task}, {}", found.pair)
        });
        let evaluation = evaluation.unwrap_or_default();
        let [one, two] = [one, two].map(|found| match found {
            None => "no outcome".to_owned(),
            Some(found) => found.describe(),
        });
        Some(if one == two {
            format!("{evaluation}: {one} in both, with different outputs or in another place")
        } else {
            format!("{evaluation}: {one}, and {two}")
        })
    }

    /// The first evaluation that is not right.
    pub(crate) fn not_right(&self, batch: &Batch<'_>) -> Option<String> {
        let mut all = self.0.iter();
        let found = all.find(|found| found.outcome != Outcome::Match)?;
        let program = batch.program(found.job).name();
        Some(format!(
            "program {program}, {}: {}",
            found.pair,
            found.describe()
        ))
    }
}

impl EvaluationOutcome {
    fn describe(&self) -> String {
        match self.outcome.error() {
            None => self.outcome.name().to_owned(),
            Some(error) => format!("{} ({error})", self.outcome.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, Pair, ProgramBuilder, Split, Task, Value};

    use super::*;

    fn outcomes(all: &[(Outcome, Option<i32>)]) -> Outcomes {
        let mut outcomes = Outcomes::default();
        let job = Job {
            program: 0,
            task: 0,
        };
        for (index, (outcome, output)) in all.iter().enumerate() {
            let pair = PairId {
                split: Split::Train,
                index: index as u32,
            };
            let result = PairResult {
                pair,
                outcome: outcome.clone(),
                output: output.map(Value::Int),
                score: None,
                time: std::time::Duration::ZERO,
                evaluated_by: None,
            };
            outcomes.pair(job, result).unwrap();
        }
        outcomes
    }

    #[test]
    fn a_difference_names_its_evaluation() {
        let builder = ProgramBuilder::new("solve_a");
        let input = builder.input();
        let programs = [builder.finish(input).unwrap()];
        let pair = Pair::new(Grid::filled(1, 1, 0), None);
        let tasks = [Task {
            id: "a".into(),
            train: vec![pair],
            test: vec![],
            ..Task::default()
        }];
        let batch = Batch::all_pairs(&programs, &tasks);

        let right = (Outcome::Match, Some(1));
        let one = outcomes(&[right.clone(), right.clone()]);
        assert_eq!(one.difference(&one.clone(), &batch), None);
        assert_eq!(one.not_right(&batch), None);

        let wrong = outcomes(&[right.clone(), (Outcome::Mismatch, Some(2))]);
        let told = one.difference(&wrong, &batch).unwrap();
        assert_eq!(
            told,
            "program solve_a on task a, train[1]: match, and mismatch"
        );
        assert_eq!(
            wrong.not_right(&batch).unwrap(),
            "program solve_a, train[1]: mismatch"
        );
        let output = outcomes(&[(Outcome::Match, Some(2)), right.clone()]);
        let told = one.difference(&output, &batch).unwrap();
        assert!(told.starts_with("program solve_a on task a, train[0]: match in both, with diff"));
        let short = outcomes(&[right]);
        let told = one.difference(&short, &batch).unwrap();
        assert!(told.ends_with("train[1]: match, and no outcome"), "{told}");
    }
}
