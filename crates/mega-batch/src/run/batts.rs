//! Runs batts from files on tasks.

use std::borrow::Cow;

use arc_dsl::{EvalError, Grid, Interpreter, Limits, Sample, Value};
use arc_tasks::{Pair, PairId, Task};
use arc_text::{BattEntry, BattEntryKind, BattFile};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::results::attempts::Attempts;
use crate::run::cancellation::Cancellation;

/// The values of the entries of a batt, in their order; an error if the whole batt ended with one.
pub type BattValues = Result<Vec<Result<Value, EvalError>>, EvalError>;

/// The results of a batt on one pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BattPair {
    /// The pair.
    pub pair: PairId,
    /// The values without the expected output: `C` is `None`.
    pub values: BattValues,
    /// On train pairs, the values with the expected output.
    pub with_expected: Option<BattValues>,
}

/// Runs a batt on all pairs of a task, those of `train` first.
///
/// Train pairs whose output is known are evaluated a second time with it as `C`, so that measures can compare with
/// it; those of `test` are not.
pub fn run_batt(batt: &BattFile, task: &Task, limits: &Limits) -> Vec<BattPair> {
    let train = task.train_pairs();
    let mut interpreter = Interpreter::new(limits.clone());
    let mut run = |pair: &Pair, expected: Option<&Grid>| {
        let sample = Sample {
            train: train.clone(),
            input: Value::Grid(pair.input.clone()),
            expected: expected.cloned().map_or(Value::Nothing, Value::from),
        };
        batt.run(&mut interpreter, sample)
    };
    let shown = |at: usize| at < task.train.len();
    let pairs = task.pairs().enumerate();
    pairs
        .map(|(at, (id, pair))| BattPair {
            pair: id,
            values: run(pair, None),
            with_expected: match &pair.output {
                Some(output) if shown(at) => Some(run(pair, Some(output))),
                _ => None,
            },
        })
        .collect()
}

/// Runs a batt on each of these tasks, on all cores; `None` for tasks that were not begun when it was cancelled.
pub fn run_batt_on_all(
    batt: &BattFile,
    tasks: &[Task],
    limits: &Limits,
    cancellation: &Cancellation,
) -> Vec<Option<Vec<BattPair>>> {
    let run = |task: &Task| (!cancellation.is_cancelled()).then(|| run_batt(batt, task, limits));
    tasks.par_iter().map(run).collect()
}

/// Adds the candidates of a batt that was run on a task. Each is identified by its index among the entries, and its
/// number gives its steps for the ranking.
pub fn add_candidates(
    attempts: &mut Attempts<'_>,
    batt: &BattFile,
    task: usize,
    results: &[BattPair],
) {
    for (at, entry) in batt.entries().iter().enumerate() {
        if !matches!(entry.kind, BattEntryKind::Output { .. }) {
            continue;
        }
        let grids = results.iter().map(|result| {
            let value = result.values.as_ref().ok()?[at].as_ref().ok()?;
            value.as_grid().map(Cow::into_owned)
        });
        let grids: Vec<_> = grids.collect();
        let steps = usize::try_from(entry.number).unwrap_or_default();
        let gives = grids.iter().map(Option::as_ref);
        attempts.add_candidate(task, (at as u32, steps), gives);
    }
}

/// The candidates that are right on every pair of the task whose output is known; none if no output is known.
pub fn right_candidates<'b>(
    batt: &'b BattFile,
    task: &Task,
    results: &[BattPair],
) -> Vec<&'b BattEntry> {
    let known = || {
        let pairs = task.pairs().zip(results);
        pairs.filter_map(|((_, pair), result)| Some((pair.output.as_ref()?, result)))
    };
    let entries = batt.entries().iter().enumerate();
    let right = entries.filter(|(at, entry)| {
        matches!(entry.kind, BattEntryKind::Output { .. })
            && known().next().is_some()
            && known().all(|(output, result)| is_right(&result.values, *at, output))
    });
    right.map(|(_, entry)| entry).collect()
}

/// Whether the value of entry `at` is this grid.
pub fn is_right(values: &BattValues, at: usize, expected: &Grid) -> bool {
    let value = values
        .as_ref()
        .ok()
        .and_then(|values| values[at].as_ref().ok());
    value.is_some_and(|value| value.is_grid(expected))
}

#[cfg(test)]
mod tests {
    use arc_text::parse_batt;

    use super::*;

    const TEXT: &str = "def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = equality(C, I)
    s.append((1, 'None', 'same', t1))
    t2 = size_t(S)
    s.append((2, 'None', 'pairs', t2))
    t3 = hmirror_t(I)
    o.append((3, False, 'a', t3))
    t4 = identity(I)
    o.append((4, True, 'a', t4))
    return o, s
";

    fn grid(rows: [[i8; 2]; 2]) -> Grid {
        Grid::from_rows(&rows.map(|row| row.map(i32::from))).unwrap()
    }

    #[test]
    fn the_expected_output_is_told_on_train_pairs_alone() {
        let batt = parse_batt(TEXT).unwrap();
        let (a, b) = (grid([[1, 2], [3, 4]]), grid([[3, 4], [1, 2]]));
        let task = Task {
            id: "a".into(),
            train: vec![Pair::new(a.clone(), b.clone()), Pair::new(b.clone(), None)],
            test: vec![Pair::new(b.clone(), a.clone())],
            ..Task::default()
        };
        let results = run_batt(&batt, &task, &Limits::default());
        let texts = |values: &BattValues| -> Vec<String> {
            let values = values.as_ref().unwrap().iter();
            values
                .map(|value| value.as_ref().unwrap().to_string())
                .collect()
        };
        let (plain, turned) = (a.to_string(), b.to_string());
        assert_eq!(texts(&results[0].values), ["False", "2", &turned, &plain]);
        let told = results[0].with_expected.as_ref().unwrap();
        assert_eq!(texts(told), ["False", "2", &turned, &plain]);
        // Without an output, and on test pairs, there is nothing to compare.
        assert!(
            results[1..]
                .iter()
                .all(|result| result.with_expected.is_none())
        );
        let right = right_candidates(&batt, &task, &results);
        assert_eq!(right.len(), 1);
        assert_eq!(right[0].number, 3);
        let alone = std::slice::from_ref(&task);
        let parallel = run_batt_on_all(&batt, alone, &Limits::default(), &Cancellation::default());
        assert_eq!(parallel, [Some(results.clone())]);
        let cancellation = Cancellation::default();
        cancellation.cancel();
        let none = run_batt_on_all(&batt, alone, &Limits::default(), &cancellation);
        assert_eq!(none, [None]);

        // Candidates are ranked as programs are.
        let batch = crate::Batch::all_pairs(&[], alone);
        let mut attempts = Attempts::new(&batch);
        add_candidates(&mut attempts, &batt, 0, &results);
        let ranked = attempts.by_task()[0].ranked();
        let told = ranked.iter().map(|it| (it.steps, it.train_right));
        assert_eq!(told.collect::<Vec<_>>(), [(3, 1), (4, 0)]);
        assert_eq!(attempts.of_task(0), [[a, b]]);
    }
}
