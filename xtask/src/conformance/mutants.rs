//! Compares mutated programs of solvers.py with Python.
//!
//! Programs that people wrote pass arguments of the types in the signatures, and so do the cases of primitives.
//! Python accepts whatever its operations accept; mutants show where ours accepts less or returns something else.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use arc_check::agreement::{Checker, Prepared, Tally};
use arc_dsl::generate::Generator;
use arc_dsl::{
    ErrorKind, EvalError, Grid, Limit, MAX_SIDE, Pair, Program, Task, Value, parse_programs,
    parse_value,
};
use serde_json::{Value as Json, json};

use super::compare::numbers;
use super::python::{Bounded, Command, Reference};
use super::solvers::read_tasks;
use super::suite::Suite;

/// Of a thousand evaluations that return a grid of colours in Python, at least this many must return the same here.
const LEAST_SAME: usize = 995;

/// The number of inputs of its own task on which each mutant is evaluated.
const OWN_INPUTS: usize = 2;

/// One mutant in this many is also evaluated on an input of another task.
const FOREIGN: usize = 4;

/// The step from one of these tasks to the next, prime so that all get their turn.
const STRIDE: usize = 17;

/// How often a mutant that repeats a known program is drawn again.
const DRAWS: usize = 8;

/// The number of examples written for each reason.
const EXAMPLES: usize = 3;

/// The number of lines of a list that are printed.
const LISTED: usize = 60;

/// One mutant on one input.
#[derive(Debug)]
struct Evaluation {
    program: Program,
    /// Its text, which both sides parse.
    text: String,
    pair: Pair,
}

/// The kind of Python's result, without the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Grid,
    Truths,
    Tuples,
    Function,
    Value,
    Raised,
    Time,
    Memory,
    Died,
}

impl Class {
    const ALL: &'static [(Class, &'static str)] = &[
        (Class::Grid, "a grid of colours"),
        (Class::Truths, "a grid with truth values"),
        (Class::Tuples, "another tuple of tuples"),
        (Class::Function, "a function"),
        (Class::Value, "another value"),
        (Class::Raised, "an exception"),
        (Class::Time, "the bound of time"),
        (Class::Memory, "the bound of memory"),
        (Class::Died, "the end of its process"),
    ];

    fn of(theirs: &Bounded) -> (Self, Option<&str>) {
        match theirs {
            Bounded::Grid(text) => (Class::Grid, Some(text)),
            Bounded::Truths(text) => (Class::Truths, Some(text)),
            Bounded::Tuples(text) => (Class::Tuples, Some(text)),
            Bounded::Function(text) => (Class::Function, Some(text)),
            Bounded::Value(text) => (Class::Value, Some(text)),
            Bounded::Raised(..) => (Class::Raised, None),
            Bounded::Time => (Class::Time, None),
            Bounded::Memory => (Class::Memory, None),
            Bounded::Died => (Class::Died, None),
        }
    }
}

/// The comparison of our result with Python's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Comparison {
    Same,
    OtherGrid,
    OtherValue,
    Error,
    Limit,
}

impl Comparison {
    const ALL: &'static [(Comparison, &'static str)] = &[
        (Comparison::Same, "same"),
        (Comparison::OtherGrid, "other grid"),
        (Comparison::OtherValue, "other value"),
        (Comparison::Error, "error"),
        (Comparison::Limit, "limit"),
    ];

    fn of(ours: &Result<Value, EvalError>, theirs: &Bounded) -> Self {
        match ours {
            // The text of a Python function does not identify it.
            Ok(Value::Function(_)) if matches!(theirs, Bounded::Function(_)) => Comparison::Same,
            Ok(value)
                if Class::of(theirs)
                    .1
                    .is_some_and(|text| numbers(&value.to_string()) == numbers(text)) =>
            {
                Comparison::Same
            }
            Ok(Value::Grid(_)) => Comparison::OtherGrid,
            Ok(_) => Comparison::OtherValue,
            Err(error) if error.limit().is_some() => Comparison::Limit,
            Err(_) => Comparison::Error,
        }
    }
}

/// How many grids of colours and how many other values of Python are missed for a reason.
#[derive(Debug, Clone, Copy, Default)]
struct Missed {
    grids: usize,
    values: usize,
}

/// Counts by reason.
type ByReason = BTreeMap<String, Missed>;

/// An evaluation to reproduce.
#[derive(Debug)]
struct Example {
    /// Name of the files, and the id of the task.
    id: String,
    program: Program,
    pair: Pair,
    theirs: Bounded,
    ours: String,
}

/// The results of the mutants.
#[derive(Debug, Default)]
pub(crate) struct Mutants {
    seed: u64,
    programs: usize,
    /// The number of mutants in the evaluations.
    count: usize,
    counts: BTreeMap<(Class, Comparison), usize>,
    /// Missed grids that are the answer of the task.
    right: usize,
    /// The values that Python returns and ours misses: by kind of error, by primitive, by argument, and by all three.
    kinds: ByReason,
    primitives: ByReason,
    arguments: ByReason,
    reasons: ByReason,
    /// Evaluations in which Python raises and ours returns a grid: by the function that raises.
    raised: BTreeMap<String, usize>,
    examples: BTreeMap<String, Vec<Example>>,
    /// The results of our evaluators.
    tally: Tally,
}

/// Evaluates this many mutants in Python and with each of our evaluators.
pub(crate) fn compare(
    reference: &Reference,
    directory: &Path,
    seed: u64,
    count: usize,
) -> Result<Mutants> {
    let tasks = read_tasks(directory)?;
    let programs = parse_programs(&reference.solvers()?);
    let jobs: Vec<_> = programs
        .into_iter()
        .filter_map(|program| {
            let program = program.ok()?;
            let task = tasks.get(program.task_id())?;
            Some((program, task))
        })
        .collect();
    ensure!(
        !jobs.is_empty(),
        "no program of solvers.py is for a task of {}",
        directory.display()
    );
    let tasks: Vec<_> = tasks.values().collect();
    let (mutants, evaluations) = draw(&jobs, &tasks, seed, count);
    let mut inputs = Suite::default();
    let places: Vec<_> = evaluations
        .iter()
        .map(|evaluation| inputs.place(evaluation.pair.input.to_string()))
        .collect();
    let mut commands: Vec<_> = inputs.pool.iter().map(|text| Command::Pool(text)).collect();
    let calls = evaluations.iter().zip(places);
    commands.extend(calls.map(|(evaluation, place)| Command::Bounded(&evaluation.text, place)));
    let results = reference.evaluate_bounded(&commands)?;

    let mut found = Mutants {
        seed,
        programs: jobs.len(),
        count: mutants,
        ..Mutants::default()
    };
    let mut checker = Checker::default();
    for (number, (evaluation, theirs)) in evaluations.into_iter().zip(results).enumerate() {
        let input = &evaluation.pair.input;
        let prepared = Prepared::new(&evaluation.program);
        let ours = checker.check(&prepared, input, &mut found.tally);
        found.add(number, &evaluation, theirs, &ours);
    }
    Ok(found)
}

/// This many evaluations of mutants, and the number of mutants.
fn draw(
    jobs: &[(Program, &Task)],
    tasks: &[&Task],
    seed: u64,
    count: usize,
) -> (usize, Vec<Evaluation>) {
    let mut generator = Generator::new(seed);
    let mut seen = HashSet::new();
    let mut evaluations = Vec::with_capacity(count);
    let mut mutants = 0;
    for (number, (program, task)) in jobs.iter().cycle().enumerate() {
        if evaluations.len() >= count {
            break;
        }
        let mut text = String::new();
        for _ in 0..DRAWS {
            text = generator.mutant(program).to_string();
            if text != program.to_string() && !seen.contains(&text) {
                break;
            }
        }
        // Use the parsed program, so that both sides evaluate the same text.
        let Some(Ok(mutant)) = parse_programs(&text).pop() else {
            continue;
        };
        seen.insert(text.clone());
        mutants += 1;
        // Each round starts with another input, so that all get their turn.
        let round = number / jobs.len();
        let own = task.pair_count();
        let mut pairs: Vec<Pair> = (0..OWN_INPUTS.min(own))
            .map(|nth| task.pair_at((round + nth) % own).1.clone())
            .collect();
        if number % FOREIGN == 0 {
            let other = tasks[number.wrapping_mul(STRIDE) % tasks.len()];
            // The expected output of a program of another task is unknown.
            let inputs = other.pairs().map(|(_, pair)| pair.input.clone());
            pairs.extend(inputs.take(1).map(|input| Pair::new(input, None)));
        }
        evaluations.extend(pairs.into_iter().map(|pair| Evaluation {
            program: mutant.clone(),
            text: text.clone(),
            pair,
        }));
    }
    evaluations.truncate(count);
    (mutants, evaluations)
}

impl Mutants {
    fn add(
        &mut self,
        number: usize,
        evaluation: &Evaluation,
        theirs: Bounded,
        ours: &Result<Value, EvalError>,
    ) {
        let (class, literal) = Class::of(&theirs);
        let comparison = Comparison::of(ours, &theirs);
        *self.counts.entry((class, comparison)).or_default() += 1;
        let reason = match (&theirs, ours) {
            _ if comparison == Comparison::Same => return,
            (Bounded::Raised(exception, name), Ok(Value::Grid(_))) => {
                let name = name.as_deref().unwrap_or("the program");
                *self.raised.entry(name.to_owned()).or_default() += 1;
                format!("a grid here, {exception} of `{name}` in Python")
            }
            (Bounded::Raised(..) | Bounded::Time | Bounded::Memory | Bounded::Died, _) => return,
            (_, Ok(_)) if class == Class::Grid && comparison == Comparison::OtherGrid => {
                "another grid".to_owned()
            }
            (_, Ok(_)) => "another value".to_owned(),
            (_, Err(error)) => reason(error),
        };
        if literal.is_some() {
            let output = evaluation.pair.output.as_ref().map(Grid::to_string);
            if class == Class::Grid && literal == output.as_deref() {
                self.right += 1;
            }
            let miss = |counts: &mut ByReason, key: String| {
                let missed = counts.entry(key).or_default();
                match class {
                    Class::Grid => missed.grids += 1,
                    _ => missed.values += 1,
                }
            };
            miss(&mut self.reasons, reason.clone());
            if let Err(error) = ours {
                miss(&mut self.kinds, kind(error.kind).to_owned());
                let primitive = error.primitive.map_or("a call", |p| p.name());
                miss(&mut self.primitives, primitive.to_owned());
                if let ErrorKind::Type { .. } = error.kind {
                    miss(&mut self.arguments, error.kind.to_string());
                }
            }
        }
        // Missed grids have examples separate from those of other values.
        let named = Class::ALL.iter().find(|(named, _)| *named == class);
        let title = match named {
            Some((_, name)) if literal.is_some() => format!("{reason}; Python gives {name}"),
            _ => reason,
        };
        let examples = self.examples.entry(title).or_default();
        let known = |example: &Example| example.program == evaluation.program;
        if examples.len() < EXAMPLES && !examples.iter().any(known) {
            examples.push(Example {
                id: format!("seed{}n{number}", self.seed),
                program: evaluation.program.clone(),
                pair: evaluation.pair.clone(),
                theirs,
                ours: match ours {
                    Ok(value) => value.to_string(),
                    Err(error) => error.to_string(),
                },
            });
        }
    }

    /// Of all evaluations that return a grid of colours in Python, how many return the same here, and how many there
    /// are.
    fn same(&self) -> (usize, usize) {
        let grids = self
            .counts
            .iter()
            .filter(|((class, _), _)| *class == Class::Grid);
        grids.fold((0, 0), |(same, all), ((_, comparison), count)| {
            let equal = usize::from(*comparison == Comparison::Same);
            (same + equal * count, all + count)
        })
    }

    /// Fails if evaluators disagree or too many grids are missed.
    pub(crate) fn check(&self) -> Result<()> {
        ensure!(
            self.tally.disagreements.is_empty(),
            "the evaluators disagree on mutants"
        );
        let (same, all) = self.same();
        ensure!(
            same * 1000 >= all * LEAST_SAME,
            "too few mutants give the grid of the reference"
        );
        Ok(())
    }

    /// Writes each example as a program and a task with Python's grid as its output, which `mega-batch run` accepts,
    /// with a list of all by reason. Evaluations on which our evaluators disagree are written too.
    pub(crate) fn write_examples(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let write = |name: String, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| path.display().to_string())
        };
        let mut list = String::new();
        for (reason, examples) in &self.examples {
            let _ = writeln!(list, "{reason}");
            for example in examples {
                let _ = writeln!(list, "    {}", example.id);
                write(format!("{}.py", example.id), &example.program_file(reason))?;
                write(format!("{}.json", example.id), &example.task().to_string())?;
            }
        }
        write(format!("seed{}.txt", self.seed), &list)?;
        for (number, disagreement) in self.tally.disagreements.iter().enumerate() {
            let name = format!("seed{}disagreement{number}.txt", self.seed);
            write(name, &disagreement.to_string())?;
        }
        Ok(())
    }
}

impl Example {
    /// The program, named after the task, with the results of both sides as comments.
    fn program_file(&self, reason: &str) -> String {
        let text = self.program.to_string();
        let rest = text.split_once('(').map_or("", |(_, rest)| rest);
        format!(
            "# {}\n# Reason: {reason}\n# Python: {:?}\n# Here:   {}\ndef solve_{}({rest}",
            self.program.name(),
            self.theirs,
            self.ours,
            self.id
        )
    }

    /// The input, and Python's result if it is a grid that a task may have.
    fn task(&self) -> Json {
        let rows = |grid: &Grid| grid.rows().map(<[i8]>::to_vec).collect::<Vec<_>>();
        let mut pair = json!({ "input": rows(&self.pair.input) });
        if let Bounded::Grid(literal) = &self.theirs
            && let Ok(value) = parse_value(literal)
            && let Some(grid) = value.as_grid()
            && grid.height().max(grid.width()) <= MAX_SIDE
        {
            pair["output"] = json!(rows(&grid));
        }
        json!({ "train": [], "test": [pair] })
    }
}

/// The reason of an error, without its location.
fn reason(error: &EvalError) -> String {
    let text = match error.kind {
        // Different numbers are the same reason.
        ErrorKind::NotPositive(_) => kind(error.kind).to_owned(),
        _ => EvalError { line: 0, ..*error }.to_string(),
    };
    text.trim_start_matches("line 0: ").to_owned()
}

/// The kind of an error.
fn kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Type { .. } => "type of an argument",
        ErrorKind::Element { .. } => "kind of an element",
        ErrorKind::NotCallable { .. } => "no function",
        ErrorKind::ArgumentCount { .. } => "number of arguments",
        ErrorKind::Empty => "nothing where something is needed",
        ErrorKind::NoMatch => "no element satisfies the condition",
        ErrorKind::OutOfRange => "index out of range",
        ErrorKind::Incomparable(..) => "no order",
        ErrorKind::DivisionByZero => "division by zero",
        ErrorKind::NotPositive(_) => "times not positive",
        ErrorKind::ZeroStep => "step of zero",
        ErrorKind::Limit(limit) => match limit {
            Limit::Steps => "limit of steps",
            Limit::Cells => "limit of cells",
            Limit::Elements => "limit of elements",
            Limit::Memory => "limit of memory",
            Limit::Nesting => "limit of nesting",
            Limit::Integer => "limit of integers",
            Limit::Colour => "limit of colours",
            Limit::Time => "limit of time",
        },
    }
}

impl fmt::Display for Mutants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let evaluations: usize = self.counts.values().sum();
        writeln!(
            f,
            "{evaluations} evaluations of {} mutants of {} programs, seed {}\n",
            self.count, self.programs, self.seed
        )?;
        write!(f, "{:<26}{:>12}", "Python gives", "evaluations")?;
        for (_, name) in Comparison::ALL {
            write!(f, "{name:>13}")?;
        }
        writeln!(f)?;
        for &(class, name) in Class::ALL {
            let count = |comparison| self.counts.get(&(class, comparison)).copied().unwrap_or(0);
            let sum: usize = Comparison::ALL
                .iter()
                .map(|(comparison, _)| count(*comparison))
                .sum();
            write!(f, "{name:<26}{sum:>12}")?;
            for (comparison, _) in Comparison::ALL {
                write!(f, "{:>13}", count(*comparison))?;
            }
            writeln!(f)?;
        }
        let (same, all) = self.same();
        writeln!(
            f,
            "\nof {all} grids of colours {same} are the same here, {:.2}%; of the others {} are the \
             answer of the task",
            100.0 * same as f64 / all.max(1) as f64,
            self.right
        )?;
        let lists = [
            ("by kind of error", &self.kinds),
            ("by primitive", &self.primitives),
            ("by argument", &self.arguments),
            ("by reason", &self.reasons),
        ];
        for (title, counts) in lists {
            write_list(f, title, counts)?;
        }
        writeln!(f, "\na grid here where Python raises, by where it does")?;
        let mut raised: Vec<_> = self.raised.iter().collect();
        raised.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (name, count) in raised {
            writeln!(f, "{count:>8}  {name}")?;
        }
        writeln!(f, "\nthe evaluators among themselves: {}", self.tally)?;
        for disagreement in self.tally.disagreements.iter().take(EXAMPLES) {
            writeln!(f, "\n{}", disagreement.shrunk())?;
        }
        Ok(())
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, title: &str, counts: &ByReason) -> fmt::Result {
    writeln!(f, "\nmissed here, {title}\n{:>8}{:>8}", "grids", "others")?;
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, missed)| std::cmp::Reverse((missed.grids, missed.values)));
    for (name, missed) in counts.iter().take(LISTED) {
        writeln!(f, "{:>8}{:>8}  {name}", missed.grids, missed.values)?;
    }
    let rest = &counts[counts.len().min(LISTED)..];
    if !rest.is_empty() {
        let grids: usize = rest.iter().map(|(_, missed)| missed.grids).sum();
        let values: usize = rest.iter().map(|(_, missed)| missed.values).sum();
        writeln!(f, "{grids:>8}{values:>8}  {} other reasons", rest.len())?;
    }
    Ok(())
}
