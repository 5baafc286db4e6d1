//! Compares programs with Python: the built-in ones, those of solvers.py on their own tasks and on those of others,
//! mutants of them, and random ones.
//!
//! Programs that people wrote pass arguments of the types in the signatures, and so do most cases of primitives. Python
//! accepts whatever its operations accept; mutants show where ours accepts less or returns something else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use arc_dsl::generate::Generator;
use arc_dsl::{Dialect, Interpreter, Primitive, Program, Sample, Type, Value};
use arc_tasks::{Pair, Task, TaskFile, TaskIds, builtin};
use arc_text::{parse_programs, parse_programs_in};

use super::compare::{self, Both, ComparedKind, Ours};
use super::python::{Command, Pool, Reference};
use super::vectors::digest;

/// The processor seconds in Python of a program on an input of its own.
pub(crate) const OWN_SECONDS: u32 = 60;

/// The same of any other program.
const SECONDS: u32 = 2;

/// The number of inputs of its own task on which each mutant is evaluated.
const OWN_INPUTS: usize = 2;

/// One mutant in this many is also evaluated on an input of another task.
const FOREIGN: usize = 4;

/// The step from one task to the next, prime so that all get their turn.
const STRIDE: usize = 17;

/// How often a mutant that repeats a known program is drawn again.
const DRAWS: usize = 8;

/// The steps of random programs.
const STEPS: usize = 24;

/// Inputs of each built-in program, and their seed.
const INPUTS: usize = 20;
const SEED: u64 = 0;

/// The maximum number of rows and columns of input `index` of a built-in program.
fn max_side(index: usize) -> usize {
    [5, 10, 20, 30][index % 4]
}

/// A program on an input.
#[derive(Debug)]
struct Evaluation<'a> {
    program: &'a Program,
    /// What Python evaluates: the text, or else the function of that name in the file of solvers.
    text: Option<&'a str>,
    inputs: Vec<Value>,
}

impl Evaluation<'_> {
    fn what(&self) -> String {
        let inputs: Vec<_> = self.inputs.iter().map(ToString::to_string).collect();
        format!("{}# on {}", self.program, inputs.join(", "))
    }
}

/// The comparison of programs.
pub(crate) struct Programs<'a> {
    reference: &'a Reference,
    seed: u64,
    pub(crate) rows: Vec<ComparedKind>,
}

impl<'a> Programs<'a> {
    pub(crate) fn new(reference: &'a Reference, seed: u64) -> Self {
        Self {
            reference,
            seed,
            rows: Vec::new(),
        }
    }

    /// Adds a row with these evaluations.
    fn compare(
        &mut self,
        name: &str,
        evaluations: &[Evaluation<'_>],
        seconds: u32,
    ) -> Result<Vec<Both>> {
        let mut pool = Pool::default();
        let inputs = evaluations.iter().map(|evaluation| {
            let inputs = evaluation.inputs.iter();
            inputs.map(|value| pool.place(value.to_string())).collect()
        });
        let inputs: Vec<Vec<usize>> = inputs.collect();
        let mut interpreter = Interpreter::default();
        let ours = evaluations.iter().map(|evaluation| {
            let inputs = evaluation.inputs.iter().cloned();
            Ours::from(interpreter.run_on(evaluation.program, inputs))
        });
        let ours = ours.collect();
        let command = |at: usize| match evaluations[at].text {
            Some(text) => Command::Program(text, &inputs[at]),
            None => Command::Case(evaluations[at].program.name(), &inputs[at], &[]),
        };
        let both = compare::evaluate(self.reference, seconds, &pool, ours, |_| None, command)?;
        let mut row = ComparedKind::new(name);
        for (evaluation, (ours, theirs)) in evaluations.iter().zip(&both) {
            row.add(None, ours, theirs, || evaluation.what());
        }
        self.rows.push(row);
        Ok(both)
    }

    /// The built-in programs on their first inputs. Returns the vectors for the tests.
    pub(crate) fn built_in(&mut self) -> Result<String> {
        let mut evaluations = Vec::new();
        for program in builtin::all() {
            for index in 0..INPUTS {
                evaluations.push(Evaluation {
                    program: program.program(),
                    text: Some(program.text()),
                    inputs: vec![program.input(SEED, index, max_side(index)).into()],
                });
            }
        }
        let results = self.compare("built-in programs", &evaluations, OWN_SECONDS)?;
        let mut vectors = String::new();
        for (program, results) in builtin::all().iter().zip(results.chunks(INPUTS)) {
            let _ = writeln!(vectors, "[{}]", program.id());
            for (index, (_, theirs)) in results.iter().enumerate() {
                let digest = theirs.last().map_or_else(String::new, digest);
                let _ = writeln!(vectors, "{SEED} {index} {}={digest}", max_side(index));
            }
        }
        Ok(vectors)
    }

    /// Random programs, a quarter of them with arguments of any types, and a quarter on degenerate values.
    pub(crate) fn random(&mut self, count: usize) -> Result<()> {
        let mut generator = Generator::new(self.seed);
        let drawn = (0..).filter_map(|number| {
            let steps = 1 + number / 4 % STEPS;
            let program = match number % 4 {
                0 | 1 => generator.program(steps),
                2 => generator.ill_typed_program(steps.div_ceil(2)),
                _ => {
                    let all = Primitive::ALL;
                    generator.degenerate_program(all[number / 4 % all.len()], number % 16 / 4)
                }
            };
            let (program, text) = read(program.ok()?.to_string())?;
            Some((program, text, generator.value(Type::Grid)))
        });
        let drawn: Vec<_> = drawn.take(count).collect();
        let evaluations: Vec<_> = drawn
            .iter()
            .map(|(program, text, input)| Evaluation {
                program,
                text: Some(text),
                inputs: vec![input.clone()],
            })
            .collect();
        self.compare("random programs", &evaluations, SECONDS)?;
        Ok(())
    }
}

/// The program in a text, so that both sides evaluate the same text.
fn read(text: String) -> Option<(Program, String)> {
    let program = parse_programs(&text).pop()?.ok()?;
    Some((program, text))
}

/// The programs of the file of solvers, and tasks.
pub(crate) struct Solvers {
    dialect: Dialect,
    programs: Vec<Program>,
    tasks: BTreeMap<String, Task>,
}

impl Solvers {
    /// Reads the file of solvers of the reference, and a file or folder of tasks.
    pub(crate) fn read(reference: &Reference, tasks: &Path) -> Result<Self> {
        let read = parse_programs_in(reference.dialect, &reference.solvers()?);
        let programs = read.into_iter().collect::<Result<Vec<_>, _>>()?;
        ensure!(!programs.is_empty(), "the file of solvers holds no program");
        Ok(Self {
            dialect: reference.dialect,
            programs,
            tasks: read_tasks(tasks)?,
        })
    }

    /// The programs whose task is there, with it.
    fn jobs(&self) -> Vec<(&Program, &Task)> {
        let ids = TaskIds::new(self.tasks.keys().map(String::as_str));
        let jobs = self.programs.iter();
        jobs.filter_map(|it| Some((it, self.tasks.get(ids.of(it)?)?)))
            .collect()
    }

    fn evaluation<'p>(&self, program: &'p Program, task: &Task, pair: &Pair) -> Evaluation<'p> {
        let input = Value::from(pair.input.clone());
        let inputs = match self.dialect {
            Dialect::Public => vec![input],
            // The expected output is `None`.
            Dialect::Typed => {
                let sample = Sample {
                    train: task.train_pairs(),
                    ..Sample::alone(input)
                };
                sample.into_inputs().into()
            }
        };
        Evaluation {
            program,
            text: None,
            inputs,
        }
    }

    /// Every program on all pairs of its task. Returns how many are right.
    pub(crate) fn on_own_tasks(&self, programs: &mut Programs<'_>) -> Result<String> {
        let jobs = self.jobs();
        let pairs = jobs.iter().flat_map(|(program, task)| {
            task.pairs()
                .map(move |(_, pair)| (task, pair, self.evaluation(program, task, pair)))
        });
        let (pairs, evaluations): (Vec<_>, Vec<_>) = pairs
            .map(|(task, pair, evaluation)| ((task, pair), evaluation))
            .unzip();
        let results = programs.compare("programs on own pairs", &evaluations, OWN_SECONDS)?;
        let (mut known, mut right) = (0, 0);
        let mut wrong = BTreeSet::new();
        for ((task, pair), (ours, _)) in pairs.iter().zip(results) {
            let Some(expected) = &pair.output else {
                continue;
            };
            known += 1;
            if matches!(ours, Ours::Value(ours) if ours == expected.to_string()) {
                right += 1;
            } else {
                wrong.insert(&task.id);
            }
        }
        let mut text = format!(
            "{} of {} programs and {right} of {known} pairs are right",
            jobs.len() - wrong.len(),
            jobs.len(),
        );
        if (1..=5).contains(&wrong.len()) {
            let _ = write!(text, "; not those of {wrong:?}");
        }
        Ok(text)
    }

    /// So many programs on inputs of other tasks.
    pub(crate) fn on_other_tasks(&self, programs: &mut Programs<'_>, count: usize) -> Result<()> {
        let tasks: Vec<_> = self.tasks.values().collect();
        let evaluations: Vec<_> = (0..count)
            .map(|number| {
                let round = number / self.programs.len() + programs.seed as usize;
                let program = &self.programs[number % self.programs.len()];
                let task = tasks[number.wrapping_mul(STRIDE).wrapping_add(round) % tasks.len()];
                let (_, pair) = task.pair_at(round % task.pair_count());
                self.evaluation(program, task, pair)
            })
            .collect();
        programs.compare("programs on other tasks", &evaluations, SECONDS)?;
        Ok(())
    }

    /// So many evaluations of mutants.
    pub(crate) fn mutants(&self, programs: &mut Programs<'_>, count: usize) -> Result<()> {
        let jobs = self.jobs();
        let tasks: Vec<_> = self.tasks.values().collect();
        let mut generator = Generator::new(programs.seed);
        let mut seen = BTreeSet::new();
        let mut drawn = Vec::new();
        let mut evaluations = 0;
        for (number, (program, task)) in jobs.iter().cycle().enumerate() {
            if evaluations >= count {
                break;
            }
            let mut text = String::new();
            for _ in 0..DRAWS {
                text = generator.mutant(program).to_string();
                if text != program.to_string() && !seen.contains(&text) {
                    break;
                }
            }
            seen.insert(text.clone());
            // Each round starts with another input, so that all get their turn.
            let round = number / jobs.len();
            let own = task.pair_count();
            let own = (0..OWN_INPUTS.min(own)).map(|nth| task.pair_at((round + nth) % own).1);
            let mut inputs: Vec<_> = own.map(|pair| pair.input.clone()).collect();
            if number % FOREIGN == 0 {
                let other = tasks[number.wrapping_mul(STRIDE) % tasks.len()];
                inputs.push(other.pair_at(0).1.input.clone());
            }
            if let Some((program, text)) = read(text) {
                inputs.truncate(count - evaluations);
                evaluations += inputs.len();
                drawn.push((program, text, inputs));
            }
        }
        let evaluations: Vec<_> = drawn
            .iter()
            .flat_map(|(program, text, inputs)| {
                inputs.iter().map(|input| Evaluation {
                    program,
                    text: Some(text),
                    inputs: vec![input.clone().into()],
                })
            })
            .collect();
        programs.compare("mutants", &evaluations, SECONDS)?;
        Ok(())
    }
}

/// The tasks of a file or of the files of a folder, by id.
pub(crate) fn read_tasks(path: &Path) -> Result<BTreeMap<String, Task>> {
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let entries = path.read_dir()?.map(|file| Ok(file?.path()));
        files = entries.collect::<Result<_>>()?;
        files.retain(|path| path.extension().is_some_and(|it| it == "json"));
    }
    let mut tasks = BTreeMap::new();
    for path in files {
        let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = TaskFile::read(&name, &text);
        for error in file.errors.iter().take(1) {
            let others = file.errors.len() - 1;
            eprintln!("{}: {error}, and {others} more errors", path.display());
        }
        let read = file
            .tasks
            .into_iter()
            .map(|it| (it.task.id.clone(), it.task));
        tasks.extend(read);
    }
    tasks.retain(|_, task| task.pair_count() > 0);
    ensure!(!tasks.is_empty(), "{}: no task is there", path.display());
    Ok(tasks)
}
