//! Generated tasks as the files of a competition, and a scorer of submissions that is independent of the engine's and
//! the notebook's.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use arc_dsl::{Grid, Task, builtin};
use serde_json::{Value, json};

/// Built-in tasks, which are generated from the built-in programs.
pub(super) fn tasks() -> Vec<Task> {
    let all = builtin::all().iter();
    all.map(|program| program.task(1, 4, 2, 12)).collect()
}

/// The folder of ARC tasks, if there is one.
pub(super) fn data_dir() -> Option<PathBuf> {
    std::env::var_os("ARC_DATA_DIR").map(PathBuf::from)
}

/// The evaluation tasks of ARC-AGI-1.
pub(super) fn evaluation_tasks() -> Result<Vec<Task>> {
    let folder = data_dir()
        .context("ARC_DATA_DIR")?
        .join("arc-agi-1/evaluation");
    let shown = || folder.display().to_string();
    let mut files: Vec<_> = fs::read_dir(&folder)
        .with_context(shown)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    let read = files.iter().map(|file| {
        let id = file.file_stem().unwrap_or_default().to_string_lossy();
        Task::from_json(id, &fs::read(file)?).with_context(|| file.display().to_string())
    });
    read.collect()
}

/// A grid as JSON.
pub(super) fn rows(grid: &Grid) -> Value {
    json!(grid.rows().collect::<Vec<_>>())
}

/// A JSON object with a value for each task's id.
pub(super) fn of_tasks(tasks: &[Task], value: impl Fn(&Task) -> Value) -> Value {
    let members = tasks.iter().map(|task| (task.id.clone(), value(task)));
    Value::Object(members.collect())
}

/// The expected outputs of the tests.
pub(super) fn solutions(tasks: &[Task]) -> Value {
    of_tasks(tasks, |task| {
        let outputs = task.test.iter().map(|pair| pair.output.as_ref().map(rows));
        json!(outputs.collect::<Vec<_>>())
    })
}

/// How many test inputs a submission gets right, if it is valid for these tasks.
pub(super) fn right(submission: &Value, tasks: &[Task]) -> Result<usize> {
    let solutions = solutions(tasks);
    let members = submission
        .as_object()
        .context("submission.json: expected an object")?;
    ensure!(
        members.len() == tasks.len(),
        "submission.json: expected {} tasks, found {}",
        tasks.len(),
        members.len()
    );
    let mut right = 0;
    for task in tasks {
        let id = &task.id;
        let attempts = members.get(id).and_then(Value::as_array);
        let attempts =
            attempts.with_context(|| format!("submission.json: {id}: expected a list"))?;
        ensure!(
            attempts.len() == task.test.len(),
            "submission.json: {id}: expected {} test inputs, found {}",
            task.test.len(),
            attempts.len()
        );
        for (at, attempt) in attempts.iter().enumerate() {
            let both = ["attempt_1", "attempt_2"].map(|name| &attempt[name]);
            for grid in both {
                ensure!(
                    is_grid(grid),
                    "submission.json: {id}[{at}]: expected a grid, found {grid}"
                );
            }
            right += usize::from(both.contains(&&solutions[id][at]));
        }
    }
    Ok(right)
}

/// Whether this is a grid that Kaggle accepts.
fn is_grid(value: &Value) -> bool {
    let side = 1..=arc_dsl::MAX_SIDE;
    let Some(rows) = value.as_array().filter(|rows| side.contains(&rows.len())) else {
        return false;
    };
    let rows: Option<Vec<_>> = rows.iter().map(Value::as_array).collect();
    rows.is_some_and(|rows| {
        let width = rows[0].len();
        let is_colour = |cell: &Value| cell.as_u64().is_some_and(|cell| cell <= 9);
        side.contains(&width)
            && rows
                .iter()
                .all(|row| row.len() == width && row.iter().all(is_colour))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submission_is_looked_at_place_by_place() {
        let tasks = &tasks()[..1];
        let (id, solutions) = (tasks[0].id.as_str(), solutions(&tasks[..1]));
        let attempt = |grid: &Value| json!({"attempt_1": [[0]], "attempt_2": grid});
        let outputs = solutions[id].as_array().unwrap();
        let good = json!({id: outputs.iter().map(attempt).collect::<Vec<_>>()});
        assert_eq!(right(&good, tasks).unwrap(), tasks[0].test.len());
        let error = |submission: &Value| right(submission, tasks).unwrap_err().to_string();
        assert!(error(&json!([])).ends_with("expected an object"));
        assert!(error(&json!({})).ends_with("expected 1 tasks, found 0"));
        assert!(error(&json!({id: []})).ends_with("expected 2 test inputs, found 0"));
        for grid in [
            json!([]),
            json!([[]]),
            json!([[10]]),
            json!([[0, 0], [0]]),
            json!(null),
        ] {
            let bad = json!({id: [attempt(&json!([[1]])), attempt(&grid)]});
            assert!(error(&bad).contains("[1]: expected a grid"), "{grid}");
        }
    }
}
