//! `evaluate`: what a language model writes, judged. Programs are found in texts (`completions/code.rs`), equal
//! ones are evaluated once, and what is no program is a verdict like any other.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::Arc;

use arc_dsl::{Dialect, EvalError, Grid, Pair, Program, Split, Task, Value};
use mega_batch::{Batch, Job, Notice, Outcome, PairResult, Progress, Score, Sink};
use numpy::PyArray2;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::engine::{Callbacks, PyEngine, PySink};
use crate::errors::{Fault, PyEvalError, told};
use crate::grids::{self, Place, type_name};
use crate::guard;
use crate::programs::{EXPECTED_PROGRAM, PyProgram, built, dialect_of, digest, each_as_python};
use crate::results::VERDICTS;
use crate::tasks::{PyTask, one_task};

mod code;

/// What became of one text: the program that was found in it, and what that gave on its task.
///
/// `verdict` is "match" where the program is right on all pairs whose output is known, "mismatch",
/// "no_expected" where no output is known, "error" or "limit" where it fails or reaches a limit on a pair, and
/// "no_program" where the text has none. Of several that hold the last one of these counts.
#[pyclass(frozen, name = "Evaluated", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyEvaluated {
    program: Option<PyProgram>,
    /// Line and reason of a text without a program.
    bad: Option<(u32, String)>,
    error: Option<PyEvalError>,
    came: Arc<Came>,
}

/// What a program came to on its task.
#[derive(Debug, Default)]
struct Came {
    /// By pair.
    verdicts: Vec<&'static str>,
    /// By the place of the verdict's name.
    counts: [u32; 5],
    /// The parts of cells that are right, of all pairs whose output is known.
    cells: f64,
    known: u32,
    error: Option<EvalError>,
    internal: Option<String>,
    /// By test pair, where they are kept.
    outputs: Vec<Option<Grid>>,
}

#[pymethods]
impl PyEvaluated {
    /// "match", "mismatch", "no_expected", "error", "limit" or "no_program".
    #[getter]
    fn verdict(&self) -> &'static str {
        let [matches, mismatches, _, errors, limits] = self.came.counts;
        match () {
            () if self.bad.is_some() => "no_program",
            () if limits > 0 => "limit",
            () if errors > 0 => "error",
            () if mismatches > 0 => "mismatch",
            () if matches > 0 => "match",
            () => "no_expected",
        }
    }

    /// The program, or None.
    #[getter]
    fn program(&self) -> Option<PyProgram> {
        self.program.clone()
    }

    /// The line of the text, counted from 1, that is no program or on which the program failed; 0 where there is
    /// none.
    #[getter]
    fn line(&self) -> u32 {
        match (&self.bad, &self.error) {
            (Some((line, _)), _) => *line,
            (None, Some(error)) => error.0.line(),
            (None, None) => 0,
        }
    }

    /// Why there is no program, or why it failed; None where it did not.
    #[getter]
    fn reason(&self) -> Option<&str> {
        match (&self.bad, &self.error) {
            (Some((_, reason)), _) => Some(reason),
            (None, error) => error.as_ref().map(|error| error.0.text()),
        }
    }

    /// The first error of the program, its line counted in the text, or None.
    #[getter]
    fn error(&self) -> Option<PyEvalError> {
        self.error.clone()
    }

    /// The verdict on each pair, those of train first, then those of test; nothing without a program. A program
    /// that reaches a limit on the first pair is not evaluated on the others, which count as the limit too.
    #[getter]
    fn verdicts(&self) -> Vec<&'static str> {
        self.came.verdicts.clone()
    }

    /// On how many pairs it is right.
    #[getter]
    fn right(&self) -> u32 {
        self.came.counts[0]
    }

    /// Of how many pairs the output is known; 0 without a program.
    #[getter]
    fn expected(&self) -> u32 {
        self.came.known
    }

    /// The mean part of the cells that are right, over the pairs whose output is known: 1 where all are, 0 for
    /// failures, for outputs of another size, and without a program.
    #[getter]
    fn score(&self) -> f64 {
        match self.came.known {
            0 => 0.0,
            known => self.came.cells / f64::from(known),
        }
    }

    /// With `outputs`: for each test pair what the program gives, an array of int8, or None where that is no
    /// grid. Empty without `outputs` and without a program.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> Vec<Option<Bound<'py, PyArray2<i8>>>> {
        let outputs = self.came.outputs.iter();
        let arrays = outputs.map(|grid| grid.as_ref().map(|grid| grids::array(py, grid)));
        arrays.collect()
    }

    fn __repr__(&self) -> String {
        let verdict = self.verdict();
        if let Some(reason) = self.reason() {
            // It says the line.
            return format!("<Evaluated: {verdict}: {reason}>");
        }
        let (right, known) = (self.right(), self.expected());
        format!("<Evaluated: {verdict}, right on {right} of {known} pairs>")
    }
}

/// The places of these among the names of verdicts.
const MATCH: usize = 0;
const LIMIT: usize = 4;

/// A text as it was read.
#[derive(Debug, Clone)]
enum Read {
    /// A program, and the place of the one that is evaluated in its place.
    Program(PyProgram, usize),
    Bad(u32, String),
}

/// The text that a model's completion is: a `str`, a message with "content", or the last of a list of messages that is
/// the assistant's. Otherwise why it is none.
fn completion(object: &Bound<'_, PyAny>) -> Result<String, String> {
    if let Ok(text) = object.cast::<PyString>() {
        // Half of a surrogate pair is no character, and stands in no program.
        return Ok(text.to_string_lossy().into_owned());
    }
    let expected = || {
        let found = type_name(object);
        format!("expected text, a message with \"content\", or a list of these, found {found}")
    };
    if let Ok(message) = object.cast::<PyDict>() {
        let content = message.get_item("content").ok().flatten();
        let content = content.ok_or_else(expected)?;
        let Ok(parts) = content.cast::<PyList>() else {
            return completion(&content);
        };
        // Content in parts, of which those of text count.
        let texts = parts.iter().filter_map(|part| {
            let text = part.cast::<PyDict>().ok()?.get_item("text").ok()??;
            Some(text.cast::<PyString>().ok()?.to_string_lossy().into_owned())
        });
        return Ok(texts.collect());
    }
    let messages: Vec<_> = match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => return Err(expected()),
    };
    let is_assistants = |message: &Bound<'_, PyAny>| {
        let role = message.cast::<PyDict>().ok()?.get_item("role").ok()??;
        Some(role.cast::<PyString>().ok()?.to_string_lossy() == "assistant")
    };
    let last = messages
        .iter()
        .rfind(|message| is_assistants(message) == Some(true))
        .or(messages.last());
    match last {
        Some(last) if !last.is_instance_of::<PyList>() && !last.is_instance_of::<PyTuple>() => {
            completion(last)
        }
        _ => Err(expected()),
    }
}

/// The programs in what a model has written, in their order: those of its fenced code, or where there is none the
/// lines of it that are code. Each that cannot be read is a ProgramError in its place, with the line of the text.
///
/// `text` is a text, a message with "content", or a list of messages, of which the assistant's last one counts. None
/// and what else is no text is one ProgramError.
#[pyfunction]
#[pyo3(signature = (text, *, dialect = None))]
pub(crate) fn extract_programs<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    dialect: Option<&str>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let dialect = dialect_of(dialect)?;
    let text = match completion(text) {
        Ok(text) => text,
        Err(reason) => {
            let error = told(py, reason.clone(), 1, 1, &reason);
            return Ok(vec![error.into_value(py).into_bound(py).into_any()]);
        }
    };
    let programs = guard::engine(py, || code::programs(&text, dialect))?;
    each_as_python(py, programs)
}

/// The last program of a text that can be read; otherwise why the last one cannot.
fn last_program(text: &str, dialect: Option<Dialect>) -> Result<Program, (u32, String)> {
    let mut bad = None;
    for program in code::programs(text, dialect).into_iter().rev() {
        match program {
            Ok(program) => return Ok(program),
            Err(error) => {
                bad.get_or_insert((error.line, error.to_string()));
            }
        }
    }
    Err(bad.unwrap_or_else(|| (1, format!("no program: {EXPECTED_PROGRAM}"))))
}

/// The tasks, and which of them each of so many texts is judged by.
fn read_tasks(object: &Bound<'_, PyAny>, texts: usize) -> PyResult<(Vec<Task>, Vec<u32>)> {
    let items: Vec<_> = match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => return Ok((vec![task(object, &Place::Named("tasks"))?], vec![0; texts])),
    };
    if items.len() != texts {
        return Err(PyValueError::new_err(format!(
            "tasks: expected one task, or a list of one for each of the {texts} texts, found {}",
            items.len()
        )));
    }
    let (mut tasks, mut by_object, mut by_task) = (Vec::new(), HashMap::new(), HashMap::new());
    let place = Place::Named("tasks");
    let places = items.iter().enumerate().map(|(at, item)| {
        let of_object = match by_object.entry(item.as_ptr()) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(free) => free,
        };
        let read = PyTask::new(task(item, &place.at(at))?);
        let place = match by_task.entry(read) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                tasks.push(free.key().task().clone());
                *free.insert(tasks.len() as u32 - 1)
            }
        };
        Ok(*of_object.insert(place))
    });
    let places = places.collect::<PyResult<_>>()?;
    Ok((tasks, places))
}

/// The task that an object is: also as JSON text, as columns of data sets have it.
fn task(object: &Bound<'_, PyAny>, place: &Place<'_>) -> PyResult<Task> {
    if let Ok(text) = object.cast::<PyString>()
        && let text = text.to_string_lossy()
        && text.trim_start().starts_with('{')
    {
        return Task::from_json("task", text.as_bytes()).map_err(|error| place.value_error(error));
    }
    one_task(object).map_err(|error| {
        let py = object.py();
        let message = error.value(py).to_string();
        match message
            .strip_prefix("tasks")
            .or(message.strip_prefix("task"))
        {
            Some(rest) if error.is_instance_of::<PyTypeError>(py) => {
                PyTypeError::new_err(format!("{place}{rest}"))
            }
            Some(rest) => place.value_error(rest.trim_start_matches([':', ' '])),
            None => error,
        }
    })
}

/// Texts and what there is to evaluate for them.
struct Asked {
    tasks: Vec<Task>,
    /// By text: how it was read.
    read: Vec<Read>,
    /// The programs that are evaluated, no two of the same steps on one task.
    programs: Vec<Program>,
    jobs: Vec<Job>,
}

impl Asked {
    fn of(
        texts: &[Result<String, String>],
        (tasks, task_of): (Vec<Task>, Vec<u32>),
        dialect: Option<Dialect>,
    ) -> PyResult<Self> {
        let mut by_text: HashMap<_, Read> = HashMap::new();
        let mut by_steps = HashMap::new();
        let (mut programs, mut jobs) = (Vec::new(), Vec::new());
        let read = texts.iter().zip(task_of).map(|(text, task)| {
            let text = match text {
                Ok(text) => text,
                Err(reason) => return Ok(Read::Bad(1, reason.clone())),
            };
            let known = match by_text.entry((task, text)) {
                Entry::Occupied(known) => return Ok(known.get().clone()),
                Entry::Vacant(free) => free,
            };
            let read = match last_program(text, dialect) {
                Err((line, reason)) => Read::Bad(line, reason),
                Ok(program) => {
                    let steps = digest(&program).map_err(built)?;
                    let place = *by_steps.entry((task, steps)).or_insert_with(|| {
                        let number = programs.len();
                        programs.push(program.clone());
                        jobs.push(Job {
                            program: number as u32,
                            task,
                        });
                        number
                    });
                    Read::Program(PyProgram::new(program), place)
                }
            };
            Ok(known.insert(read).clone())
        });
        let read = read.collect::<PyResult<_>>()?;
        Ok(Self {
            tasks,
            read,
            programs,
            jobs,
        })
    }

    /// The error of the program that was evaluated, with the line of this one, which has the same steps.
    fn error(&self, mut error: EvalError, program: &Program, evaluated: usize) -> EvalError {
        let steps = self.programs[evaluated].steps().iter().zip(program.steps());
        let lines = steps.map(|(evaluated, own)| (evaluated.line, own.line));
        if let Some((_, own)) = lines.into_iter().find(|(line, _)| *line == error.line) {
            error.line = own;
        }
        error
    }
}

/// Takes what programs come to, each of which has one job.
struct Judge<'a> {
    tasks: &'a [Task],
    came: Vec<Came>,
    keeps_outputs: bool,
    /// How many evaluations were made before, and all that there are to make.
    before: u64,
    total: u64,
    /// Looks at signals on the way.
    watch: PySink<'a>,
}

impl Came {
    /// Counts a verdict on a pair, and the part of its cells that is right where its output is known.
    fn count(&mut self, verdict: usize, pair: &Pair, score: Option<Score>) {
        self.counts[verdict] += 1;
        self.verdicts.push(VERDICTS[verdict]);
        let Some(expected) = &pair.output else {
            return;
        };
        self.known += 1;
        self.cells += if verdict == MATCH {
            1.0
        } else {
            let cells = expected.height() * expected.width();
            f64::from(score.map_or(0, |score| score.cells_right)) / cells as f64
        };
    }

    /// What is not evaluated after a limit counts as one.
    fn skip(&mut self, task: &Task, train_only: bool, keeps_outputs: bool) {
        let tests: &[Pair] = if train_only { &[] } else { &task.test };
        for pair in task.train.iter().chain(tests) {
            self.count(LIMIT, pair, None);
        }
        if keeps_outputs {
            self.outputs.extend(tests.iter().map(|_| None));
        }
    }
}

impl Sink for Judge<'_> {
    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()> {
        let came = &mut self.came[job.program as usize];
        let task = &self.tasks[job.task as usize];
        let mut pairs = task.splits().filter(|(of, _)| *of == result.pair.split);
        let pair = pairs
            .next()
            .and_then(|(_, of)| of.get(result.pair.index as usize));
        let verdict = match result.outcome {
            Outcome::Match => MATCH,
            Outcome::Mismatch => 1,
            Outcome::NoExpected => 2,
            Outcome::Error(_) | Outcome::Internal(_) => 3,
            Outcome::Limit(_) => LIMIT,
        };
        if let Some(pair) = pair {
            came.count(verdict, pair, result.score);
        }
        match result.outcome {
            Outcome::Error(error) | Outcome::Limit(error) => {
                came.error.get_or_insert(*error);
            }
            Outcome::Internal(message) => {
                came.internal.get_or_insert(message.to_string());
            }
            Outcome::Match | Outcome::Mismatch | Outcome::NoExpected => {}
        }
        if self.keeps_outputs && result.pair.split == Split::Test {
            let output = result.output.as_ref().and_then(Value::as_grid);
            came.outputs.push(output.map(Cow::into_owned));
        }
        Ok(())
    }

    fn progress(&mut self, mut progress: Progress) {
        progress.done += self.before;
        progress.total = self.total;
        self.watch.progress(progress);
    }

    fn notice(&mut self, notice: Notice) {
        self.watch.notice(notice);
    }
}

/// A task with the first of its pairs, and one with the others.
fn parted(task: &Task) -> (Task, Task) {
    let (mut first, mut others) = (Task::default(), task.clone());
    // Further splits are none that is asked for.
    others.others.clear();
    if !others.train.is_empty() {
        first.train.push(others.train.remove(0));
    } else if !others.test.is_empty() {
        first.test.push(others.test.remove(0));
    }
    (first, others)
}

/// Judges texts: see `mega_batch.evaluate`.
pub(crate) fn evaluate(
    engine: &PyEngine,
    texts: &Bound<'_, PyAny>,
    tasks: &Bound<'_, PyAny>,
    train_only: bool,
    dialect: Option<&str>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<PyEvaluated>> {
    let py = texts.py();
    let dialect = dialect_of(dialect)?;
    let texts: Vec<Result<String, String>> = match texts.cast::<PyString>() {
        Ok(_) => {
            return Err(PyTypeError::new_err(
                "texts: expected a list of texts, found one str",
            ));
        }
        Err(_) => match texts.try_iter() {
            Ok(items) => items
                .map(|item| Ok(completion(&item?)))
                .collect::<PyResult<_>>()?,
            Err(_) => return Err(Place::Named("texts").expected("a list of texts", texts)),
        },
    };
    let tasks = read_tasks(tasks, texts.len())?;
    let callbacks = Callbacks::new(None, progress, 1)?;
    let asked = guard::engine(py, || Asked::of(&texts, tasks, dialect))??;
    let (options, cancelled) = (engine.options(), engine.cancelled());
    if !options.scores {
        return Err(PyValueError::new_err(
            "evaluate: expected an engine with scores=True",
        ));
    }
    // A program that reaches a limit is evaluated on no further pair: it would take as long again on each.
    let (first, others): (Vec<Task>, Vec<Task>) = asked.tasks.iter().map(parted).unzip();
    let mut came: Vec<_> = asked.programs.iter().map(|_| Came::default()).collect();
    let mut jobs = asked.jobs.clone();
    let evaluations = |jobs: &[Job], tasks: &[Task]| {
        let tasks = jobs.iter().map(|job| &tasks[job.task as usize]);
        let pairs =
            tasks.map(|task| task.train.len() + if train_only { 0 } else { task.test.len() });
        pairs.sum::<usize>() as u64
    };
    let (mut before, mut total) = (0, evaluations(&jobs, &asked.tasks));
    for tasks in [&first, &others] {
        let batch = Batch::listed(&asked.programs, tasks, jobs.clone())
            .map_err(|error| crate::internal(&error.to_string()))?;
        let batch = if train_only {
            batch.train_only()
        } else {
            batch
        };
        let mut judge = Judge {
            tasks,
            came,
            keeps_outputs: options.keep_outputs,
            before,
            total,
            watch: PySink::new(&callbacks, options, cancelled),
        };
        let run = engine.with_runner(py, |runner| runner.run_into(&batch, &mut judge))?;
        let watch;
        Judge { came, watch, .. } = judge;
        let (summary, _) = watch.finish(py, run)?;
        if !summary.is_complete() {
            return Err(PyOSError::new_err(
                "the time was over before all programs were run",
            ));
        }
        jobs.retain(|job| came[job.program as usize].counts[LIMIT] == 0);
        before += summary.totals.evaluations;
        total = before + evaluations(&jobs, &others);
    }
    for (job, came) in asked.jobs.iter().zip(&mut came) {
        if came.verdicts == [VERDICTS[LIMIT]] {
            came.skip(&others[job.task as usize], train_only, options.keep_outputs);
        }
    }
    let came: Vec<_> = came.into_iter().map(Arc::new).collect();
    let none = Arc::new(Came::default());
    let evaluated = asked.read.iter().map(|read| match read {
        Read::Bad(line, reason) => PyEvaluated {
            program: None,
            bad: Some((*line, reason.clone())),
            error: None,
            came: Arc::clone(&none),
        },
        Read::Program(program, at) => {
            let came = &came[*at];
            let error = came.error.map(|error| {
                let error = asked.error(error, program.program(), *at);
                Fault::from(&error)
            });
            let internal = || came.internal.as_deref().map(Fault::internal);
            PyEvaluated {
                program: Some(program.clone()),
                bad: None,
                error: error.or_else(internal).map(PyEvalError),
                came: Arc::clone(came),
            }
        }
    });
    Ok(evaluated.collect())
}
