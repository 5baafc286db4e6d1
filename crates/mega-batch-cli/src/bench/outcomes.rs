//! [`difference`]: the results of a batch in one mode beside those in another.

use mega_batch::{Batch, Job, JobResult, Outcome, PairResult};

/// The evaluations in their order.
fn each(results: &[JobResult]) -> impl Iterator<Item = (Job, &PairResult)> {
    let jobs = results.iter();
    jobs.flat_map(|result| result.pairs.iter().map(|pair| (result.job, pair)))
}

/// Whether both are the same evaluation with the same result. Outputs are compared by their texts, since functions from
/// two evaluations are never equal, however alike.
fn is_same((job, one): (Job, &PairResult), (of, other): (Job, &PairResult)) -> bool {
    let text = |result: &PairResult| result.output.as_ref().map(ToString::to_string);
    (job, one.pair) == (of, other.pair) && one.outcome == other.outcome && text(one) == text(other)
}

/// The first evaluation whose result differs, as `PROGRAM on TASK, train[0]: match, and mismatch`.
pub(super) fn difference(
    one: &[JobResult],
    other: &[JobResult],
    batch: &Batch<'_>,
) -> Option<String> {
    let (mut ones, mut others) = (each(one), each(other));
    let (one, other) = loop {
        match (ones.next(), others.next()) {
            (None, None) => return None,
            (Some(one), Some(other)) if is_same(one, other) => {}
            different => break different,
        }
    };
    let (job, result) = one.or(other)?;
    let (program, task) = (batch.program(job).name(), &batch.task(job).id);
    let evaluation = format!("program {program} on task {task}, {}", result.pair);
    let [one, two] = [one, other].map(|found| match found {
        None => "no outcome".to_owned(),
        Some((_, result)) => described(&result.outcome),
    });
    Some(if one == two {
        format!("{evaluation}: {one} in both, with different outputs or in another place")
    } else {
        format!("{evaluation}: {one}, and {two}")
    })
}

/// The first evaluation that is not right.
pub(super) fn not_right(results: &[JobResult], batch: &Batch<'_>) -> Option<String> {
    let mut all = each(results);
    let (job, result) = all.find(|(_, result)| result.outcome != Outcome::Match)?;
    let (program, outcome) = (batch.program(job).name(), described(&result.outcome));
    Some(format!("program {program}, {}: {outcome}", result.pair))
}

fn described(outcome: &Outcome) -> String {
    match outcome.error() {
        None => outcome.name().to_owned(),
        Some(error) => format!("{} ({error})", outcome.name()),
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::{Grid, ProgramBuilder, Value};
    use arc_tasks::{Pair, PairId, Split, Task};

    use super::*;

    fn outcomes(all: &[(Outcome, Option<i32>)]) -> Vec<JobResult> {
        let pair = |(index, (outcome, output)): (usize, &(Outcome, Option<i32>))| PairResult {
            pair: PairId {
                split: Split::Train,
                index: index as u32,
            },
            outcome: outcome.clone(),
            output: output.map(Value::Int),
            score: None,
            time: std::time::Duration::ZERO,
            evaluated_by: None,
        };
        let job = Job {
            program: 0,
            task: 0,
        };
        let pairs = all.iter().enumerate().map(pair).collect();
        vec![JobResult { job, pairs }]
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
        assert_eq!(difference(&one, &one.clone(), &batch), None);
        assert_eq!(not_right(&one, &batch), None);

        let wrong = outcomes(&[right.clone(), (Outcome::Mismatch, Some(2))]);
        let told = difference(&one, &wrong, &batch).unwrap();
        assert_eq!(
            told,
            "program solve_a on task a, train[1]: match, and mismatch"
        );
        assert_eq!(
            not_right(&wrong, &batch).unwrap(),
            "program solve_a, train[1]: mismatch"
        );
        let output = outcomes(&[(Outcome::Match, Some(2)), right.clone()]);
        let told = difference(&one, &output, &batch).unwrap();
        assert!(told.starts_with("program solve_a on task a, train[0]: match in both, with diff"));
        let short = outcomes(&[right]);
        let told = difference(&one, &short, &batch).unwrap();
        assert!(told.ends_with("train[1]: match, and no outcome"), "{told}");
    }
}
