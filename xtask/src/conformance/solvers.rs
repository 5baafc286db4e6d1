//! Compares the programs of solvers.py on their tasks with Python.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use arc_dsl::{
    Dialect, Interpreter, Pair, PairId, Program, Sample, Task, Value, parse_programs_in,
};

use super::compare::agree;
use super::python::{Command, Order, Reference, Theirs};
use super::suite::{Ours, Suite};

/// The results of the public programs.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    tasks: usize,
    /// Programs whose task is available.
    count: usize,
    pairs: usize,
    ours: Right,
    plain: Right,
    canonical: Right,
    /// Programs whose answers depend on the order of sets.
    pub(crate) ordered: BTreeMap<String, Ordered>,
    differences: Vec<String>,
}

/// Right answers.
#[derive(Debug, Default)]
struct Right {
    pairs: usize,
    /// Tasks with a wrong pair.
    failed: BTreeSet<String>,
}

/// The pairs on which a program gives another answer with another order of sets.
#[derive(Debug, Default)]
pub(crate) struct Ordered {
    pub(crate) pairs: Vec<PairId>,
    /// How many of them are right in plain Python, in canonical order, and in reverse canonical order.
    pub(crate) right: [usize; 3],
}

impl Right {
    fn count(&mut self, task: &Task, right: bool) {
        self.pairs += usize::from(right);
        if !right {
            self.failed.insert(task.id.clone());
        }
    }
}

/// Runs every program of solvers.py on the task in its name.
pub(crate) fn compare(reference: &Reference, directory: &Path) -> Result<Programs> {
    let tasks = read_tasks(directory)?;
    let mut found = Programs {
        tasks: tasks.len(),
        ..Programs::default()
    };
    let programs = read_programs(reference, &mut found)?;
    let jobs: Vec<_> = programs
        .iter()
        .filter_map(|program| Some((program, tasks.get(program.task_id())?)))
        .collect();
    found.count = jobs.len();

    let mut inputs = Suite::default();
    let mut places: Vec<Vec<usize>> = Vec::new();
    for (_, task) in &jobs {
        for (_, pair) in task.pairs() {
            let inputs_of = inputs_of(reference.dialect(), task, pair);
            places.push(
                inputs_of
                    .iter()
                    .map(|value| inputs.place(value.to_string()))
                    .collect(),
            );
        }
    }
    let runs = jobs
        .iter()
        .flat_map(|(program, task)| task.pairs().map(|_| program.name()));
    let mut commands: Vec<_> = inputs.pool.iter().map(|text| Command::Pool(text)).collect();
    commands.extend(
        runs.zip(&places)
            .map(|(name, places)| Command::Solver(name, places)),
    );
    let results = reference.evaluate_both(&commands)?;
    let reversed = reference.evaluate(Order::Reversed, &commands)?;
    let mut results = results.plain.iter().zip(&results.canonical).zip(&reversed);

    let mut interpreter = Interpreter::default();
    for (program, task) in jobs {
        for (id, pair) in task.pairs() {
            let Some(((plain, canonical), reversed)) = results.next() else {
                break;
            };
            let inputs = inputs_of(reference.dialect(), task, pair);
            let ours = match interpreter.run_on(program, inputs) {
                Ok(value) => Ours::Value(value.to_string()),
                Err(error) => Ours::Error(error),
            };
            let expected = pair.output.as_ref().map(ToString::to_string);
            let right_in = |theirs: &Theirs| match (theirs, &expected) {
                (Theirs::Value(text), Some(expected)) => text == expected,
                _ => false,
            };
            let ours_right = matches!((&ours, &expected), (Ours::Value(a), Some(b)) if a == b);
            found.pairs += 1;
            found.ours.count(task, ours_right);
            found.plain.count(task, right_in(plain));
            found.canonical.count(task, right_in(canonical));
            let orders = [plain, canonical, reversed];
            if orders.iter().any(|theirs| *theirs != canonical) {
                let ordered = found.ordered.entry(program.name().to_owned()).or_default();
                ordered.pairs.push(id);
                for (right, theirs) in ordered.right.iter_mut().zip(orders) {
                    *right += usize::from(right_in(theirs));
                }
            }
            if agree(None, &ours, canonical).is_err() {
                found.differences.push(format!(
                    "{} on {} {id}:\n  ours:   {ours:?}\n  theirs: {canonical:?}\n",
                    program.name(),
                    task.id
                ));
            }
        }
    }
    Ok(found)
}

fn read_programs(reference: &Reference, found: &mut Programs) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for program in parse_programs_in(reference.dialect(), &reference.solvers()?) {
        match program {
            Ok(program) => programs.push(program),
            Err(error) => found.differences.push(format!("solvers.py: {error}\n")),
        }
    }
    ensure!(!programs.is_empty(), "solvers.py holds no program");
    Ok(programs)
}

/// The arguments of a program of the dialect; the expected output is `None`.
fn inputs_of(dialect: Dialect, task: &Task, pair: &Pair) -> Vec<Value> {
    let input = Value::Grid(pair.input.clone());
    match dialect {
        Dialect::Public => vec![input],
        Dialect::Typed => {
            let sample = Sample {
                train: task.train_pairs(),
                ..Sample::alone(input)
            };
            sample.into_inputs().into()
        }
    }
}

/// The tasks of a folder by id.
pub(crate) fn read_tasks(directory: &Path) -> Result<BTreeMap<String, Task>> {
    let mut tasks = BTreeMap::new();
    let files = std::fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    for file in files {
        let path = file?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let id = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
        match Task::from_json(id.clone(), &text) {
            Ok(task) => {
                tasks.insert(id, task);
            }
            Err(error) => eprintln!("{}: {error}", path.display()),
        }
    }
    ensure!(
        !tasks.is_empty(),
        "{}: no task is there",
        directory.display()
    );
    Ok(tasks)
}

impl Programs {
    pub(crate) fn differing(&self) -> usize {
        self.differences.len()
    }
}

impl fmt::Display for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "solvers.py: {} programs on {} tasks",
            self.count, self.tasks
        )?;
        let rows = [
            ("ours", &self.ours),
            ("Python", &self.plain),
            ("Python, canonical order", &self.canonical),
        ];
        for (name, right) in rows {
            let failed = right.failed.len();
            let solved = self.count.saturating_sub(failed);
            write!(f, "{name:<24} {solved} of {} tasks, ", self.count)?;
            write!(f, "{} of {} pairs", right.pairs, self.pairs)?;
            if (1..=5).contains(&failed) {
                let ids: Vec<_> = right.failed.iter().map(String::as_str).collect();
                write!(f, "; not {}", ids.join(", "))?;
            }
            writeln!(f)?;
        }
        writeln!(
            f,
            "{} programs depend on the order of sets:",
            self.ordered.len()
        )?;
        for (name, ordered) in &self.ordered {
            let pairs: Vec<_> = ordered.pairs.iter().map(ToString::to_string).collect();
            let [plain, canonical, reversed] = ordered.right;
            writeln!(
                f,
                "  {name} on {}: {plain} right in Python, {canonical} in canonical order, {reversed} in its reverse",
                pairs.join(", ")
            )?;
        }
        writeln!(
            f,
            "{} differences from Python in canonical order",
            self.differing()
        )?;
        for difference in self.differences.iter().take(10) {
            writeln!(f, "{difference}")?;
        }
        Ok(())
    }
}
