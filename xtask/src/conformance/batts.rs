//! Compares batts in files, on tasks, with Python.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use arc_dsl::{Dialect, Grid, Interpreter, Sample, Value};
use arc_tasks::{Pair, Task};
use arc_text::{BattEntryKind, BattFile, parse_batt};

use super::compare::{ComparedKind, Ours};
use super::programs::{OWN_SECONDS, read_tasks};
use super::python::{Command, Pool, Reference};

/// A call of a batt.
struct Call<'t> {
    task: &'t Task,
    sample: Sample,
    inputs: [usize; 3],
}

/// Runs every batt on the first tasks of the folder; a row for each.
pub(crate) fn compare(
    reference: &Reference,
    batts: &[PathBuf],
    tasks: &Path,
    count: usize,
) -> Result<Vec<ComparedKind>> {
    ensure!(
        reference.dialect == Dialect::Typed,
        "batts are of the typed dialect"
    );
    let tasks = read_tasks(tasks)?;
    let mut pool = Pool::default();
    let mut calls = Vec::new();
    for task in tasks.values().take(count) {
        for (at, (_, pair)) in task.pairs().enumerate() {
            calls.push(Call::new(&mut pool, task, pair, None));
            if at < task.train.len() {
                calls.push(Call::new(&mut pool, task, pair, pair.output.as_ref()));
            }
        }
    }
    let row_of = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let batt = parse_batt(&text).with_context(|| path.display().to_string())?;
        // The printed text must parse as the same batt.
        ensure!(
            parse_batt(&batt.to_string()).as_ref() == Ok(&batt),
            "{}: printed it is another batt",
            path.display()
        );
        let path = path.canonicalize()?;
        let in_python = calls.iter().map(|call| Command::Batt(&path, &call.inputs));
        let commands: Vec<_> = pool.commands().chain(in_python).collect();
        let results = reference.evaluate(&commands, OWN_SECONDS)?;
        let mut row = ComparedKind::new(path.file_name().unwrap_or_default().to_string_lossy());
        let mut interpreter = Interpreter::default();
        for (call, theirs) in calls.iter().zip(results) {
            let ours = lists(&batt, &mut interpreter, call);
            row.add(None, &ours, &theirs, || format!("on {}", call.task.id));
        }
        Ok(row)
    };
    batts.iter().map(row_of).collect()
}

impl<'t> Call<'t> {
    fn new(pool: &mut Pool, task: &'t Task, pair: &Pair, expected: Option<&Grid>) -> Self {
        let sample = Sample {
            train: task.train_pairs(),
            input: pair.input.clone().into(),
            expected: expected.cloned().map_or(Value::Nothing, Value::from),
        };
        let inputs = sample
            .clone()
            .into_inputs()
            .map(|value| pool.place(value.to_string()));
        Self {
            task,
            sample,
            inputs,
        }
    }
}

/// Both lists in the driver's format.
fn lists(batt: &BattFile, interpreter: &mut Interpreter, call: &Call<'_>) -> Ours {
    let values = match batt.run(interpreter, call.sample.clone()) {
        Ok(values) => values,
        Err(error) => return Ours::Error(error),
    };
    let (mut outputs, mut scores) = (Vec::new(), Vec::new());
    for (entry, value) in batt.entries().iter().zip(values) {
        let value = value.map_or_else(|e| e.to_string(), |v| v.without_functions().to_string());
        let number = entry.number;
        match &entry.kind {
            BattEntryKind::Output { mutated, id } => {
                let mutated = if *mutated { "True" } else { "False" };
                outputs.push(format!("({number}, {mutated}, '{id}', {value})"));
            }
            BattEntryKind::Score { id, name } => {
                scores.push(format!("({number}, '{id}', '{name}', {value})"));
            }
        }
    }
    let [outputs, scores] = [outputs, scores].map(|list| match list.as_slice() {
        [one] => format!("({one},)"),
        list => format!("({})", list.join(", ")),
    });
    Ours::Value(format!("({outputs}, {scores})"))
}
