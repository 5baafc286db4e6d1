//! `evaluate`: evaluates programs written by language models. Texts are found in messages
//! (`completions/messages.rs`), programs in texts by the library, programs with equal steps are evaluated
//! once (`completions/normal.rs`), programs in free Python go to a pool (`completions/free_python.rs`), and a text
//! without a program gets a verdict like any other.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use arc_dsl::{Dialect, EvalError, Grid, Program, Value};
use arc_tasks::{Pair, Split, Task};
use mega_batch::inputs::completions::{self, FreePython};
use mega_batch::{Batch, Job, Outcome, PairResult, Score};
use numpy::{PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use python_pool::{Failure, Pool, PoolError};

use crate::arguments;
use crate::callbacks::Watched;
use crate::engine::{PyEngine, UNFINISHED};
use crate::errors::{PyEvalError, told};
use crate::grids::{self, ArgumentPlace};
use crate::guard;
use crate::pickle::{Reduced, reduced};
use crate::programs::{EXPECTED_PROGRAM, PyProgram, each_as_python, in_dialect};
use crate::progress::ProgressCallback;
use crate::python_pool::PyPythonPool;
use crate::results::{VERDICTS, verdict};
use crate::tasks::{PyTask, dict_of, one_task};

mod free_python;
mod messages;
mod normal;

use free_python::PythonTexts;
pub(crate) use messages::completion;
use messages::{has_message, of_table};
use normal::{Normal, Normaliser};

/// The result for one text: the program found in it, and its result on the task.
///
/// `verdict` is "match" if the program is right on all pairs whose output is known, "mismatch", "no_expected" if no
/// output is known, "error" or "limit" if it fails or reaches a limit on a pair, and "no_program" if the text has
/// none. If several apply, the last one counts. It can be pickled, is hashable, and compares by value.
#[pyclass(frozen, eq, hash, name = "Evaluated", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyEvaluated {
    /// The program of the DSL, or None.
    #[pyo3(get)]
    program: Option<PyProgram>,
    bad: Option<Bad>,
    /// "dsl" or "python": what its program is written in; None without a program.
    #[pyo3(get)]
    language: Option<&'static str>,
    /// The first error of the program, its line counted in the text, or None.
    #[pyo3(get)]
    error: Option<PyEvalError>,
    result: Arc<TaskResult>,
}

/// The result of a program on its task.
#[derive(Debug, Default)]
struct TaskResult {
    /// The verdict on each pair.
    verdicts: Vec<&'static str>,
    /// Counts by verdict, indexed by its code.
    counts: [u32; 5],
    /// The sum of the fractions of right cells, over all pairs whose output is known.
    cells: f64,
    known: u32,
    error: Option<EvalError>,
    internal: Option<String>,
    /// The first failure of a program in free Python.
    failure: Option<Box<Failure>>,
    /// The outputs for test pairs, if they are kept.
    outputs: Vec<Option<Grid>>,
}

impl PartialEq for PyEvaluated {
    fn eq(&self, other: &Self) -> bool {
        let program = |of: &Self| of.program.as_ref().map(|of| of.program().clone());
        let result = |of: &Self| (of.result.known, of.result.cells.to_bits());
        (&self.bad, self.language, &self.error, result(self))
            == (&other.bad, other.language, &other.error, result(other))
            && self.result.verdicts == other.result.verdicts
            && self.result.outputs == other.result.outputs
            && program(self) == program(other)
    }
}

impl Hash for PyEvaluated {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let TaskResult {
            verdicts, known, ..
        } = &*self.result;
        (&self.bad, &self.error, verdicts, known).hash(state);
    }
}

/// The state of an `Evaluated`: its program, the line and the reason if there is none, whether it is Python, its error, the verdicts, how
/// much is right of how many pairs, and the outputs.
pub(crate) type PickledEvaluated = (
    Option<Py<PyProgram>>,
    Option<(u32, String)>,
    bool,
    Option<Py<PyEvalError>>,
    Vec<String>,
    f64,
    u32,
    Vec<Option<Py<PyArray2<i8>>>>,
);

impl PyEvaluated {
    fn without_program(bad: Bad) -> Self {
        Self {
            program: None,
            bad: Some(bad),
            language: None,
            error: None,
            result: Arc::default(),
        }
    }

    pub(crate) fn unpickled(py: Python<'_>, state: PickledEvaluated) -> PyResult<Self> {
        let (program, bad, is_python, error, names, cells, known, outputs) = state;
        let mut result = TaskResult {
            cells,
            known,
            ..TaskResult::default()
        };
        for name in names {
            let Some(place) = VERDICTS.iter().position(|verdict| *verdict == name) else {
                return Err(PyValueError::new_err(format!("Evaluated: {name:?}")));
            };
            result.verdicts.push(VERDICTS[place]);
            result.counts[place] += 1;
        }
        // A program may return a grid without cells, which is otherwise not accepted.
        let outputs = outputs.into_iter().map(|output| -> PyResult<_> {
            let Some(output) = output else {
                return Ok(None);
            };
            let output = output.bind(py).try_readonly()?;
            let view = output.as_array();
            let (height, width) = view.dim();
            let cells = view.iter().copied().collect();
            Ok(Some(Grid::from_cells(height, width, cells)))
        });
        result.outputs = outputs.collect::<PyResult<_>>()?;
        let language = if is_python { "python" } else { "dsl" };
        Ok(Self {
            program: program.map(|program| program.get().clone()),
            language: bad.is_none().then_some(language),
            bad,
            error: error.map(|error| error.get().clone()),
            result: Arc::new(result),
        })
    }
}

#[pymethods]
impl PyEvaluated {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let program = self.program.clone();
        let error = self.error.clone();
        let outputs = self.result.outputs.iter();
        let outputs = outputs.map(|grid| Some(grids::array(py, grid.as_ref()?).unbind()));
        let verdicts = self.result.verdicts.iter();
        let state: PickledEvaluated = (
            program.map(|program| Py::new(py, program)).transpose()?,
            self.bad.clone(),
            self.language == Some("python"),
            error.map(|error| Py::new(py, error)).transpose()?,
            verdicts.map(|verdict| (*verdict).to_owned()).collect(),
            self.result.cells,
            self.result.known,
            outputs.collect(),
        );
        reduced(py, "Evaluated", state)
    }

    /// "match", "mismatch", "no_expected", "error", "limit" or "no_program".
    #[getter]
    fn verdict(&self) -> &'static str {
        let [matches, mismatches, _, errors, limits] = self.result.counts;
        match () {
            () if self.bad.is_some() => "no_program",
            () if limits > 0 => "limit",
            () if errors > 0 => "error",
            () if mismatches > 0 => "mismatch",
            () if matches > 0 => "match",
            () => "no_expected",
        }
    }

    /// The line of the text, counted from 1, that is not a program or on which the program failed; 0 if there is
    /// none.
    #[getter]
    fn line(&self) -> u32 {
        match (&self.bad, &self.error) {
            (Some((line, _)), _) => *line,
            (None, Some(error)) => error.line,
            (None, None) => 0,
        }
    }

    /// Why there is no program, or why it failed; None if it did not.
    #[getter]
    fn reason(&self) -> Option<&str> {
        match (&self.bad, &self.error) {
            (Some((_, reason)), _) => Some(reason),
            (None, error) => error.as_ref().map(|error| &*error.message),
        }
    }

    /// The verdict on each pair, those of train first, then those of test; empty without a program. A program that
    /// reaches a limit on the first pair is not evaluated on the others, which count as reaching the limit too.
    #[getter]
    fn verdicts(&self) -> Vec<&'static str> {
        self.result.verdicts.clone()
    }

    /// The number of pairs on which it is right.
    #[getter]
    fn right(&self) -> u32 {
        self.result.counts[0]
    }

    /// The number of pairs whose output is known; 0 without a program.
    #[getter]
    fn expected(&self) -> u32 {
        self.result.known
    }

    /// The mean fraction of right cells, over the pairs whose output is known: 1 if all are right, 0 for failures,
    /// for outputs of another size, and without a program.
    #[getter]
    fn score(&self) -> f64 {
        match self.result.known {
            0 => 0.0,
            known => self.result.cells / f64::from(known),
        }
    }

    /// With `outputs`: the output for each test pair, an array of int8, or None if it is not a grid. Empty without
    /// `outputs` and without a program.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> Vec<Option<Bound<'py, PyArray2<i8>>>> {
        let outputs = self.result.outputs.iter();
        let arrays = outputs.map(|grid| grid.as_ref().map(|grid| grids::array(py, grid)));
        arrays.collect()
    }

    fn __repr__(&self) -> String {
        let verdict = self.verdict();
        if let Some(reason) = self.reason() {
            // The reason includes the line.
            return format!("<Evaluated: {verdict}: {reason}>");
        }
        let (right, known) = (self.right(), self.expected());
        format!("<Evaluated: {verdict}, right on {right} of {known} pairs>")
    }
}

/// The codes of these verdicts.
const MATCH: usize = 0;
const MISMATCH: usize = 1;
const ERROR: usize = 3;
const LIMIT: usize = 4;

/// Line and reason of a text without a program.
type Bad = (u32, String);

/// Why a text has no program of the DSL, and whether it may have one in free Python.
type NotDsl = (Bad, bool);

/// The program found in a text, the lines of its steps, and the index of its member.
type TextProgram = Result<(PyProgram, Box<[u32]>, usize), NotDsl>;

/// The programs in the output of a model, in order: those in its fenced code or, if there is none, in the lines that
/// look like code. Each that cannot be read is a ProgramError in its place, with the line of the text.
///
/// `text` is a text, a message with "content", or a list of messages, of which the assistant's last one counts. None
/// and anything else that is not text is one ProgramError.
#[pyfunction]
#[pyo3(signature = (text, *, dialect = None))]
pub(crate) fn extract_programs<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::dialect)] dialect: Option<Dialect>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let text = match completion(text) {
        Ok(text) => text,
        Err(reason) => {
            let error = told(py, reason.clone(), 1, 1, &reason);
            return Ok(vec![error.into_value(py).into_bound(py).into_any()]);
        }
    };
    let programs = guard::engine(py, || completions::programs(&text, &in_dialect(dialect)))?;
    each_as_python(py, programs)
}

/// The tasks, and the index of the task for each of this many texts.
fn read_tasks(object: &Bound<'_, PyAny>, texts: usize) -> PyResult<(Vec<Task>, Vec<u32>)> {
    let is_one = object.is_instance_of::<PyTask>()
        || object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.hasattr("__fspath__")?
        || dict_of(object)?.is_some();
    let Some(items) = (!is_one).then(|| object.try_iter().ok()).flatten() else {
        return Ok((
            vec![task(object, &ArgumentPlace::Named("tasks"))?],
            vec![0; texts],
        ));
    };
    // An iterator may be endless.
    let items = items.take(texts + 1).map(|item| of_table(item?));
    let items: Vec<_> = items.collect::<PyResult<_>>()?;
    if items.len() != texts {
        let found = match object.len() {
            Ok(found) => found.to_string(),
            Err(_) if items.len() > texts => "more".to_owned(),
            Err(_) => items.len().to_string(),
        };
        return Err(PyValueError::new_err(format!(
            "tasks: expected one task, or a list of one for each of the {texts} texts, found {found}"
        )));
    }
    let (mut tasks, mut by_object, mut by_task) = (Vec::new(), HashMap::new(), HashMap::new());
    let place = ArgumentPlace::Named("tasks");
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

/// The task in an object, which may be JSON text, as in columns of data sets.
fn task(object: &Bound<'_, PyAny>, place: &ArgumentPlace<'_>) -> PyResult<Task> {
    let text = object.cast::<PyString>().map(|text| text.to_string_lossy());
    let text = match &text {
        Ok(text) => text.as_bytes(),
        Err(_) => object
            .cast::<PyBytes>()
            .map_or(&[][..], |text| text.as_bytes()),
    };
    if text.trim_ascii_start().starts_with(b"{") {
        return Task::from_json("task", text).map_err(|error| place.value_error(error));
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
            Some(rest) => PyValueError::new_err(format!("{place}{rest}")),
            None => error,
        }
    })
}

/// A text as it was read.
struct Reading {
    /// The program of the DSL that counts unless there is one in free Python.
    program: Option<(PyProgram, Normal)>,
    bad: Bad,
    python: FreePython,
}

impl Reading {
    fn of(text: &str, dialect: Option<Dialect>, normaliser: &mut Normaliser) -> Self {
        let answer = completions::answer(text, &in_dialect(dialect));
        let bad = match answer.error {
            Some(error) => (error.line, error.to_string()),
            None => (1, format!("no program: {EXPECTED_PROGRAM}")),
        };
        let normal = |program| {
            let normal = normaliser.normal(&program);
            (PyProgram::new(program), normal)
        };
        Self {
            program: answer.program.map(normal),
            bad,
            python: answer.python,
        }
    }

    /// The program of the DSL; if there is none, what may be in free Python is asked for.
    fn program(&self) -> Result<&(PyProgram, Normal), NotDsl> {
        let not_dsl = || (self.bad.clone(), self.python >= FreePython::Maybe);
        self.program.as_ref().ok_or_else(not_dsl)
    }
}

/// Decides between a program of the DSL and one in free Python that stands behind it, which only a pool knows to be one.
fn decide(texts: &[&str], readings: &mut [Reading], pool: Option<&Pool>) -> Result<(), PoolError> {
    let both = readings.iter_mut().zip(texts);
    let both = both.filter(|(reading, _)| reading.program.is_some());
    let Some(pool) = pool else {
        for (reading, _) in both.filter(|(reading, _)| reading.python == FreePython::Likely) {
            reading.program = None;
        }
        return Ok(());
    };
    let has_prelude = pool.settings().prelude.is_some();
    let both = both.filter(|(reading, _)| reading.python.is_asked(has_prelude));
    let both: Vec<_> = both
        .map(|(reading, text)| (reading, completions::code(text)))
        .collect();
    let codes: Vec<_> = both.iter().map(|(_, code)| &**code).collect();
    let failures = pool.recognise(&codes)?;
    for ((reading, _), failure) in both.into_iter().zip(failures) {
        if failure.is_none() {
            reading.program = None;
        }
    }
    Ok(())
}

/// Fewer texts than this are read by one thread.
const LEAST_TEXTS: usize = 64;

/// Reads texts, on several threads if there are many.
fn read_texts(texts: &[&str], dialect: Option<Dialect>, workers: usize) -> Vec<Reading> {
    let read = |texts: &[&str]| {
        let mut normaliser = Normaliser::default();
        let readings = texts
            .iter()
            .map(|text| Reading::of(text, dialect, &mut normaliser));
        readings.collect::<Vec<_>>()
    };
    let part = texts.len().div_ceil(workers.max(1)).max(LEAST_TEXTS);
    if part >= texts.len() {
        return read(texts);
    }
    let parts = thread::scope(|scope| {
        let threads = texts.chunks(part).map(|part| scope.spawn(|| read(part)));
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(read) => read,
            Err(panic) => resume_unwind(panic),
        });
        joined.collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}

/// A distinct program on a task, from the first text that has it.
struct Member {
    task: u32,
    normal: Normal,
    /// The member whose result it has: itself or the first one of its family.
    evaluated: usize,
}

/// The texts, and what has to be evaluated for them.
struct Evaluation {
    tasks: Vec<Task>,
    /// The task of each text.
    task_of: Vec<u32>,
    /// How each text was read.
    read: Vec<TextProgram>,
    /// Distinct by steps, their order, and task.
    members: Vec<Member>,
    /// The members of each family on one task; see [`Normal::family`].
    families: Vec<Vec<usize>>,
}

impl Evaluation {
    fn of(
        texts: &[Result<String, String>],
        (tasks, task_of): (Vec<Task>, Vec<u32>),
        dialect: Option<Dialect>,
        workers: usize,
        pool: Option<&Pool>,
    ) -> Result<Self, PoolError> {
        let (mut places, mut distinct) = (HashMap::new(), Vec::new());
        for text in texts.iter().flatten() {
            places.entry(&**text).or_insert_with(|| {
                distinct.push(&**text);
                distinct.len() - 1
            });
        }
        let mut readings = read_texts(&distinct, dialect, workers);
        decide(&distinct, &mut readings, pool)?;
        let (mut members, mut families) = (Vec::new(), Vec::new());
        let (mut by_steps, mut by_family) = (HashMap::new(), HashMap::new());
        let read = texts.iter().zip(&task_of).map(|(text, task)| {
            let task = *task;
            let text = text
                .as_ref()
                .map_err(|reason| -> NotDsl { ((1, reason.clone()), false) })?;
            let (program, normal) = readings[places[&**text]].program()?;
            let member = *by_steps.entry((task, normal.same)).or_insert_with(|| {
                let family = *by_family.entry((task, normal.family)).or_insert_with(|| {
                    families.push(Vec::new());
                    families.len() - 1
                });
                families[family].push(members.len());
                members.push(Member {
                    task,
                    normal: normal.clone(),
                    evaluated: families[family][0],
                });
                members.len() - 1
            });
            Ok((program.clone(), normal.lines.clone(), member))
        });
        let read = read.collect();
        Ok(Self {
            tasks,
            task_of,
            read,
            members,
            families,
        })
    }

    /// The members that are still to be evaluated once the first of each family was: those whose steps are in another
    /// order than those of a first one that did not finish.
    fn others(&mut self, results: &[TaskResult]) -> Vec<usize> {
        let is_open = |family: &&Vec<usize>| {
            let counts = results[family[0]].counts;
            counts[ERROR] + counts[LIMIT] > 0
        };
        let open = self.families.iter().filter(is_open);
        let mut others: Vec<_> = open.flat_map(|family| &family[1..]).copied().collect();
        others.retain(|at| std::mem::replace(&mut self.members[*at].evaluated, *at) != *at);
        others
    }
}

impl TaskResult {
    /// Counts a verdict on a pair, and the fraction of its right cells if its output is known.
    fn count(&mut self, verdict: usize, pair: &Pair, score: Option<Score>) {
        self.counts[verdict] += 1;
        self.verdicts.push(VERDICTS[verdict]);
        let Some(expected) = &pair.output else {
            return;
        };
        self.cells += if verdict == MATCH {
            1.0
        } else {
            let cells = expected.height() * expected.width();
            f64::from(score.map_or(0, |score| score.cells_right)) / cells as f64
        };
    }

    /// Takes the result on the next pair.
    fn take(&mut self, task: &Task, result: PairResult, keeps_outputs: bool) {
        let mut pairs = task.splits().filter(|(of, _)| *of == result.pair.split);
        let pair = pairs
            .next()
            .and_then(|(_, of)| of.get(result.pair.index as usize));
        if let Some(pair) = pair {
            self.count(verdict(&result.outcome).into(), pair, result.score);
        }
        match result.outcome {
            Outcome::Error(error) | Outcome::Limit(error) => {
                self.error.get_or_insert(*error);
            }
            Outcome::Internal(message) => {
                self.internal.get_or_insert(message.to_string());
            }
            Outcome::Python(failure) => {
                self.failure.get_or_insert(failure);
            }
            Outcome::Match | Outcome::Mismatch | Outcome::NoExpected => {}
        }
        if keeps_outputs && result.pair.split == Split::Test {
            let output = result.output.as_ref().and_then(Value::as_grid);
            self.outputs.push(output.map(Cow::into_owned));
        }
    }

    /// Pairs not evaluated after a limit count as reaching it.
    fn skip(&mut self, task: &Task, train_only: bool, keeps_outputs: bool) {
        for pair in evaluated_pairs(task, train_only) {
            self.count(LIMIT, pair, None);
        }
        if keeps_outputs && !train_only {
            self.outputs.extend(task.test.iter().map(|_| None));
        }
    }
}

/// A task with only the first pair, and one with the others.
fn parted(task: &Task) -> (Task, Task) {
    let (mut first, mut others) = (Task::default(), task.clone());
    // Further splits are not evaluated.
    others.others.clear();
    if !others.train.is_empty() {
        first.train.push(others.train.remove(0));
    } else if !others.test.is_empty() {
        first.test.push(others.test.remove(0));
    }
    (first, others)
}

/// The pairs that are evaluated.
fn evaluated_pairs(task: &Task, train_only: bool) -> impl Iterator<Item = &Pair> {
    let tests: &[Pair] = if train_only { &[] } else { &task.test };
    task.train.iter().chain(tests)
}

/// The number of those whose output is known.
fn known_pairs(task: &Task, train_only: bool) -> u32 {
    let pairs = evaluated_pairs(task, train_only);
    pairs.filter(|pair| pair.output.is_some()).count() as u32
}

/// The batch with one job for each program.
fn listed<'a>(
    programs: &'a [Program],
    tasks: &'a [Task],
    jobs: &[Job],
    train_only: bool,
) -> PyResult<Batch<'a>> {
    let batch = Batch::listed(programs, tasks, jobs.to_vec())
        .map_err(|error| crate::internal(&error.to_string()))?;
    Ok(if train_only {
        batch.train_only()
    } else {
        batch
    })
}

/// Runs a batch with one job for each program, after `before` evaluations of a `total`. Returns the results of the
/// programs, and how many evaluations were made.
fn judged(
    engine: &PyEngine,
    py: Python<'_>,
    batch: &Batch<'_>,
    mut results: Vec<TaskResult>,
    (before, total): (u64, u64),
    progress: &ProgressCallback,
) -> PyResult<(Vec<TaskResult>, u64)> {
    let keeps_outputs = engine.options().keep_outputs;
    let take = |job: Job, result: PairResult| {
        let task = &batch.tasks()[job.task as usize];
        results[job.program as usize].take(task, result, keeps_outputs);
        Ok(())
    };
    let mut sink = Watched::new(take, progress, engine.cancelled()).among(before, total);
    let run = engine.with_runner(py, |runner| runner.run_into(batch, &mut sink))?;
    let (summary, _) = sink.finish(py, run)?;
    if !summary.is_complete() {
        return Err(PyOSError::new_err(UNFINISHED));
    }
    Ok((results, summary.totals.evaluations))
}

/// Evaluates the members; the evaluations `beside` these are still to do. Returns their results by index; those that
/// share another member's result have none of their own.
fn evaluate_members(
    engine: &PyEngine,
    py: Python<'_>,
    evaluation: &mut Evaluation,
    train_only: bool,
    progress: &ProgressCallback,
    beside: u64,
) -> PyResult<Vec<TaskResult>> {
    let options = engine.options();
    // A program that reaches a limit is not evaluated on further pairs, each of which would take as long.
    let (first, others): (Vec<Task>, Vec<Task>) = evaluation.tasks.iter().map(parted).unzip();
    let members = evaluation.members.iter();
    let mut results: Vec<_> = members.map(|_| TaskResult::default()).collect();
    let evaluations = |jobs: &[Job], tasks: &[Task]| {
        let tasks = jobs.iter().map(|job| &tasks[job.task as usize]);
        let pairs = tasks.map(|task| evaluated_pairs(task, train_only).count() as u64);
        pairs.sum::<u64>()
    };
    let mut before = 0;
    let mut due: Vec<_> = evaluation.families.iter().map(|family| family[0]).collect();
    loop {
        let programs: Vec<_> = due
            .iter()
            .map(|at| evaluation.members[*at].normal.program.clone())
            .collect();
        let jobs = due.iter().zip(0..).map(|(at, program)| Job {
            program,
            task: evaluation.members[*at].task,
        });
        let mut jobs: Vec<_> = jobs.collect();
        let all = jobs.clone();
        let mut of_due: Vec<_> = due.iter().map(|_| TaskResult::default()).collect();
        let mut total = beside + before + evaluations(&jobs, &evaluation.tasks);
        for tasks in [&first, &others] {
            let batch = listed(&programs, tasks, &jobs, train_only)?;
            let made;
            (of_due, made) = judged(engine, py, &batch, of_due, (before, total), progress)?;
            jobs.retain(|job| {
                let counts = of_due[job.program as usize].counts;
                let is_wrong = counts[MISMATCH] + counts[ERROR] > 0;
                counts[LIMIT] == 0 && !(is_wrong && options.stop_after_wrong)
            });
            before += made;
            total = beside + before + evaluations(&jobs, &others);
        }
        for ((at, job), mut of) in due.iter().zip(&all).zip(of_due) {
            if of.verdicts == [VERDICTS[LIMIT]] {
                of.skip(&others[job.task as usize], train_only, options.keep_outputs);
            }
            // Pairs after a wrong one count, evaluated or not.
            let task = &evaluation.tasks[job.task as usize];
            of.known = known_pairs(task, train_only);
            results[*at] = of;
        }
        due = evaluation.others(&results);
        if due.is_empty() {
            return Ok(results);
        }
    }
}

/// Evaluates texts: see `mega_batch.evaluate`.
pub(crate) fn evaluate(
    engine: &PyEngine,
    texts: &Bound<'_, PyAny>,
    tasks: &Bound<'_, PyAny>,
    train_only: bool,
    dialect: Option<Dialect>,
    python: Option<&PyPythonPool>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<PyEvaluated>> {
    let py = texts.py();
    if texts.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "texts: expected a list of texts, found one str",
        ));
    }
    if dict_of(texts)?.is_some() {
        return Err(PyTypeError::new_err(
            "texts: expected a list of texts, found one dict: a message stands in a list, as a text does",
        ));
    }
    // Its elements are the names of its columns.
    if texts.hasattr("columns")? {
        return Err(PyTypeError::new_err(
            "texts: expected a list of texts, found a table: one of its columns is such a list",
        ));
    }
    let expected = |found| ArgumentPlace::Named("texts").expected("a list of texts", found);
    let mut found = None;
    let items = texts.try_iter().map_err(|_| expected(texts))?;
    let items = items.map(|item| {
        let item = of_table(item?)?;
        let text = completion(&item);
        // None is what some samplers return in place of a text.
        if text.is_err() && !item.is_none() && !has_message(&item)? {
            found.get_or_insert(item);
        }
        Ok(text)
    });
    let texts: Vec<Result<String, String>> = items.collect::<PyResult<_>>()?;
    if let Some(found) = found.filter(|_| texts.iter().all(Result::is_err)) {
        return Err(expected(&found));
    }
    let tasks = read_tasks(tasks, texts.len())?;
    let progress = ProgressCallback::new(py, progress, "evaluation")?;
    if !engine.options().scores {
        return Err(PyValueError::new_err(
            "evaluate: expected an engine with scores=True",
        ));
    }
    let workers = engine.workers(py)?;
    let pool = python.map(|python| python.pool(py)).transpose()?;
    let of = || Evaluation::of(&texts, tasks, dialect, workers, pool);
    let evaluation = guard::engine(py, of)?;
    let mut evaluation = evaluation.map_err(|error| PyOSError::new_err(error.to_string()))?;
    let free = python.map(|pool| (pool, PythonTexts::of(pool, &texts, &evaluation)));
    let beside = match &free {
        Some((_, free)) => free.pairs(train_only)?,
        None => 0,
    };
    let results = evaluate_members(engine, py, &mut evaluation, train_only, &progress, beside)?;
    let mut free = match free {
        Some((pool, free)) => {
            let before = results
                .iter()
                .map(|result| result.verdicts.len() as u64)
                .sum();
            let (evaluation, progress) = ((&evaluation, train_only), (&progress, before));
            free.evaluate(py, pool, engine, evaluation, progress)?
        }
        None => HashMap::new(),
    };
    let results: Vec<_> = results.into_iter().map(Arc::new).collect();
    let evaluated = evaluation
        .read
        .iter()
        .enumerate()
        .map(|(text, read)| match read {
            Err(((line, reason), is_foreign)) => free.remove(&text).unwrap_or_else(|| {
                let is_python = *is_foreign && python.is_none();
                let hint = if is_python {
                    "; python=True runs programs in free Python"
                } else {
                    ""
                };
                PyEvaluated::without_program((*line, format!("{reason}{hint}")))
            }),
            Ok((program, lines, at)) => {
                let result = &results[evaluation.members[*at].evaluated];
                let error = result.error.map(|mut error| {
                    // A normal program has each step on the line of its number.
                    let step = (error.line as usize).checked_sub(1);
                    let line = step.and_then(|step| lines.get(step));
                    error.line = line.copied().unwrap_or(error.line);
                    PyEvalError::from(&error)
                });
                let internal = || result.internal.as_deref().map(PyEvalError::internal);
                PyEvaluated {
                    program: Some(program.clone()),
                    bad: None,
                    language: Some("dsl"),
                    error: error.or_else(internal),
                    result: Arc::clone(result),
                }
            }
        });
    Ok(evaluated.collect())
}
