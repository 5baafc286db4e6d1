//! Compares batts in files, on tasks, with Python.

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use arc_dsl::{
    BattFile, Dialect, EntryKind, Interpreter, Pair, PairId, Sample, Task, Value, parse_batt,
};

use super::compare::numbers;
use super::python::{Command, Reference, Theirs};
use super::solvers::read_tasks;
use super::suite::{Suite, literal};

/// The results of the batts.
#[derive(Debug, Default)]
pub(crate) struct Batts {
    files: Vec<Counts>,
    differences: Vec<String>,
}

#[derive(Debug, Default)]
struct Counts {
    file: String,
    steps: usize,
    candidates: usize,
    measures: usize,
    tasks: usize,
    /// Calls of the batt: one per pair, and on train pairs another one with the expected output.
    calls: usize,
    equal: usize,
    /// Elements of `o` and `s` in calls in which both sides return them.
    elements: usize,
    /// Calls with another result in plain Python than with its sets in canonical order.
    ordered: usize,
    /// Calls that raise on both sides.
    raised: usize,
}

/// A call of a batt.
struct Call<'t> {
    task: &'t Task,
    id: PairId,
    sample: Sample,
    inputs: [usize; 3],
}

/// Runs every batt on the first tasks of the folder.
pub(crate) fn compare(
    reference: &Reference,
    batts: &[std::path::PathBuf],
    directory: &Path,
    count: usize,
) -> Result<Batts> {
    ensure!(
        reference.dialect() == Dialect::Typed,
        "batts are of the typed dialect"
    );
    let tasks = read_tasks(directory)?;
    let mut found = Batts::default();
    for path in batts {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let batt = parse_batt(&text).with_context(|| path.display().to_string())?;
        // The printed text must parse as the same batt.
        ensure!(
            parse_batt(&batt.to_string()).as_ref() == Ok(&batt),
            "{}: printed it is another batt",
            path.display()
        );
        let path = path.canonicalize()?;
        let tasks = tasks.values().take(count);
        found.compare(reference, &path, &batt, tasks)?;
    }
    Ok(found)
}

impl Batts {
    pub(crate) fn differing(&self) -> usize {
        self.differences.len()
    }

    fn compare<'t>(
        &mut self,
        reference: &Reference,
        path: &Path,
        batt: &BattFile,
        tasks: impl Iterator<Item = &'t Task>,
    ) -> Result<()> {
        let mut counts = Counts {
            file: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            steps: batt.program().steps().len(),
            candidates: batt.candidates(),
            measures: batt.entries().len() - batt.candidates(),
            ..Counts::default()
        };
        let mut pool = Suite::default();
        let mut calls = Vec::new();
        for task in tasks {
            counts.tasks += 1;
            for (at, (id, pair)) in task.pairs().enumerate() {
                calls.push(Call::new(&mut pool, task, id, pair, None));
                if at < task.train.len() {
                    calls.push(Call::new(&mut pool, task, id, pair, pair.output.as_ref()));
                }
            }
        }
        counts.calls = calls.len();
        let inputs: Vec<_> = calls.iter().map(|call| [call.inputs]).collect();
        let mut commands: Vec<_> = pool.pool.iter().map(|text| Command::Pool(text)).collect();
        commands.extend(inputs.iter().map(|inputs| Command::Batt(path, inputs)));
        let results = reference.evaluate_both(&commands)?;
        let mut interpreter = Interpreter::default();
        for (at, call) in calls.iter().enumerate() {
            let theirs = &results.canonical[at];
            counts.ordered += usize::from(results.plain[at] != *theirs);
            match (lists(batt, &mut interpreter, call), theirs) {
                (Ok(ours), Theirs::Value(theirs)) if numbers(&ours) == numbers(theirs) => {
                    counts.equal += 1;
                    counts.elements += batt.entries().len();
                }
                (Err(_), Theirs::Raised) => {
                    counts.equal += 1;
                    counts.raised += 1;
                }
                (ours, theirs) => self.differences.push(format!(
                    "{} on {} {}, C {}:\n{}",
                    counts.file,
                    call.task.id,
                    call.id,
                    if call.sample.expected == Value::Nothing {
                        "None"
                    } else {
                        "the output"
                    },
                    first_difference(&ours.unwrap_or_else(|error| error), theirs)
                )),
            }
        }
        self.files.push(counts);
        Ok(())
    }
}

impl<'t> Call<'t> {
    fn new(
        pool: &mut Suite,
        task: &'t Task,
        id: PairId,
        pair: &Pair,
        expected: Option<&arc_dsl::Grid>,
    ) -> Self {
        let sample = Sample {
            train: task.train_pairs(),
            input: Value::Grid(pair.input.clone()),
            expected: expected.cloned().map_or(Value::Nothing, Value::from),
        };
        let inputs = sample
            .clone()
            .into_inputs()
            .map(|value| pool.place(value.to_string()));
        Self {
            task,
            id,
            sample,
            inputs,
        }
    }
}

/// Both lists in the driver's format: the result of one call, in a tuple of one.
fn lists(
    batt: &BattFile,
    interpreter: &mut Interpreter,
    call: &Call<'_>,
) -> Result<String, String> {
    let values = interpreter.run_batt(batt, call.sample.clone());
    let values = values.map_err(|error| error.to_string())?;
    let (mut outputs, mut scores) = (Vec::new(), Vec::new());
    for (entry, value) in batt.entries().iter().zip(values) {
        let value = value.map_or_else(|e| e.to_string(), |v| literal(Dialect::Typed, &v));
        let number = entry.number;
        match &entry.kind {
            EntryKind::Output { mutated, id } => {
                let mutated = if *mutated { "True" } else { "False" };
                outputs.push(format!("({number}, {mutated}, '{id}', {value})"));
            }
            EntryKind::Score { id, name } => {
                scores.push(format!("({number}, '{id}', '{name}', {value})"));
            }
        }
    }
    let [outputs, scores] = [outputs, scores].map(|list| match list.as_slice() {
        [one] => format!("({one},)"),
        list => format!("({})", list.join(", ")),
    });
    Ok(format!("(({outputs}, {scores}),)"))
}

/// The first difference of two texts, with its surroundings.
fn first_difference(ours: &str, theirs: &Theirs) -> String {
    const BEFORE: usize = 120;
    const AFTER: usize = 240;
    let Theirs::Value(theirs) = theirs else {
        return format!(
            "  ours:   {}\n  theirs: {theirs:?}\n",
            &ours[..ours.len().min(AFTER)]
        );
    };
    let (ours, theirs) = (numbers(ours), numbers(theirs));
    let at = ours
        .bytes()
        .zip(theirs.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let shown = |text: &str| {
        let chars = text
            .bytes()
            .skip(at.saturating_sub(BEFORE))
            .take(BEFORE + AFTER);
        String::from_utf8_lossy(&chars.collect::<Vec<_>>()).into_owned()
    };
    format!(
        "  ours:   …{}\n  theirs: …{}\n",
        shown(&ours),
        shown(&theirs)
    )
}

impl fmt::Display for Batts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for counts in &self.files {
            writeln!(
                f,
                "{}: {} steps, {} candidates, {} measures, {} tasks: {} of {} calls equal \
                 ({} elements of o and s; {} calls raise), {} answered otherwise in plain Python",
                counts.file,
                counts.steps,
                counts.candidates,
                counts.measures,
                counts.tasks,
                counts.equal,
                counts.calls,
                counts.elements,
                counts.raised,
                counts.ordered
            )?;
        }
        writeln!(f, "{} differences", self.differing())?;
        for difference in self.differences.iter().take(10) {
            writeln!(f, "{difference}")?;
        }
        Ok(())
    }
}
