//! Programs: read from text and files, built, printed, called, traced and changed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_dsl::generate::Generator;
use arc_dsl::{BuildError, Dialect, Limits, Program};
use arc_tasks::TaskFile;
use arc_text::{Reading, parse_file};
use mega_batch::inputs::{self, numbered};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice, PyString, PyTuple};
use xxhash_rust::xxh3::xxh3_128;

use crate::arguments::{self, path_in};
use crate::call::Callable;
use crate::errors::{ProgramError, PyEvalError, input_errors, program_error, told};
use crate::grids::{self, ArgumentPlace, type_name};
use crate::pickle::{Reduced, reduced};
use crate::tasks::in_row;
use crate::tasks::json::{self, as_lists};
use crate::{guard, values};

/// A program of the ARC DSL: a straight-line sequence of calls from an input grid to an output.
///
/// Created by `Program.parse`, `parse_programs`, `read_programs` or a `ProgramBuilder`. It is hashable, equals
/// programs with the same steps under the same names, and can be pickled. Threads may share it.
#[pyclass(frozen, name = "Program", module = "mega_batch")]
#[derive(Debug, Clone)]
pub(crate) struct PyProgram(Arc<Callable>);

impl PyProgram {
    pub(crate) fn new(program: Program) -> Self {
        Self(Arc::new(Callable::new(program)))
    }

    pub(crate) fn program(&self) -> &Program {
        self.0.program()
    }

    pub(crate) fn unpickled(py: Python<'_>, (text, dialect): (String, String)) -> PyResult<Self> {
        let dialect = dialect.parse().map_err(PyValueError::new_err::<String>)?;
        Self::of_text(py, &text, "solve", Some(dialect))
    }

    /// Parses a text with one program.
    pub(crate) fn of_text(
        py: Python<'_>,
        text: &str,
        name: &str,
        dialect: Option<Dialect>,
    ) -> PyResult<Self> {
        let mut programs = parse_file(text, dialect, |_| name.to_owned());
        match (programs.pop(), programs.len()) {
            (None, _) => Err(nothing(py, text)),
            (Some(Ok(program)), 0) => Ok(Self::new(program)),
            (Some(Err(_)), 0) if is_path(text) => Err(nothing(py, text)),
            (Some(Err(error)), 0) => Err(program_error(py, &error, "")),
            (Some(_), others) => {
                let message = format!("{} programs: expected one, or parse_programs", others + 1);
                Err(told(py, message, 1, 1, "expected one program"))
            }
        }
    }
}

#[pymethods]
impl PyProgram {
    /// Parses a text with one program: `def NAME(I):`, `def NAME(S, I, C):`, or bare lines that end in `O = ...`,
    /// which are called `name`. Raises ProgramError, a ValueError, with line and column, also for None and chat
    /// messages, which models may return in place of text.
    #[staticmethod]
    #[pyo3(signature = (text, *, name = "solve", dialect = None))]
    fn parse(
        text: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = arguments::name)] name: &str,
        #[pyo3(from_py_with = arguments::dialect)] dialect: Option<Dialect>,
    ) -> PyResult<Self> {
        check_name(name, &ArgumentPlace::Named("name"))?;
        let given = program_text(text, "")?;
        Self::of_text(text.py(), &given, name, dialect)
    }

    /// The name after `def`.
    #[getter]
    fn name(&self) -> &str {
        self.program().name()
    }
    /// The id of the task that it belongs to: what follows the last underscore of its name.
    #[getter]
    fn task_id(&self) -> &str {
        self.program().task_id()
    }

    /// The file that it was read from, or None.
    #[getter]
    fn source(&self) -> Option<&str> {
        self.program().source()
    }

    /// The line of its `def` in its text, counted from 1; 0 if it was built.
    #[getter]
    fn line(&self) -> u32 {
        self.program().line()
    }

    /// "public" or "typed".
    #[getter]
    fn dialect(&self) -> &'static str {
        self.program().dialect().name()
    }

    /// The type of what it returns, such as `grid` or `set<object>`; None if it is not known before it runs.
    #[getter]
    fn r#type(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let program = self.program();
        guard::engine(py, || type_of(program))
    }

    /// 32 hexadecimal digits: the XXH3 hash of its steps, independent of the names of the program and its variables,
    /// and the same in every run.
    #[getter]
    fn digest(&self) -> PyResult<String> {
        let digest = digest(self.program()).map_err(built)?;
        Ok(format!("{digest:032x}"))
    }

    /// The same program under another name. Raises ValueError for an invalid Python name.
    fn with_name(&self, #[pyo3(from_py_with = arguments::name)] name: &str) -> PyResult<Self> {
        check_name(name, &ArgumentPlace::Named("name"))?;
        Ok(Self::new(self.program().clone().with_name(name)))
    }

    /// The number of its steps.
    fn __len__(&self) -> usize {
        self.program().steps().len()
    }

    fn __str__(&self) -> String {
        self.program().to_string()
    }

    fn __repr__(&self) -> String {
        let program = self.program();
        format!(
            "<Program {} of {} steps>",
            program.name(),
            program.steps().len()
        )
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.program().to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Self>();
        other.is_ok_and(|other| other.get().program() == self.program())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let program = self.program();
        reduced(
            py,
            "Program",
            (program.to_string(), program.dialect().name()),
        )
    }

    /// Its result for a grid, as a value: an array of int8 for a grid, otherwise None, bool, int, tuple, frozenset or
    /// Function; an EvalError if it fails or reaches a limit.
    ///
    /// The grid is a list of rows, a tuple of rows or an array of integers, up to 1,000,000 cells of colours from
    /// -128 to 127; anything else raises TypeError or ValueError. With `max_steps` or `timeout` (seconds) the
    /// reference interpreter evaluates it within these limits. A program of the typed dialect gets no train pairs.
    #[pyo3(signature = (grid, *, max_steps = None, timeout = None))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        grid: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = arguments::optional::max_steps)] max_steps: Option<u64>,
        #[pyo3(from_py_with = arguments::timeout)] timeout: Option<Duration>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let input = grids::grid(grid, &ArgumentPlace::Named("grid"))?;
        let made = if max_steps.is_none() && timeout.is_none() {
            py.detach(|| self.0.evaluate(&input))?
        } else {
            let limits = limits(max_steps, timeout);
            py.detach(|| self.0.by_reference(&input, limits))?
        };
        match made {
            Ok(value) => values::to_python(py, &value),
            Err(error) => PyEvalError::from(&error).into_bound_py_any(py),
        }
    }
}

/// The default limits, with these changed.
pub(crate) fn limits(max_steps: Option<u64>, timeout: Option<Duration>) -> Limits {
    let default = Limits::default();
    Limits {
        max_steps: max_steps.unwrap_or(default.max_steps),
        timeout,
        ..default
    }
}

/// A hash of the steps of a program, independent of its name and those of its variables.
pub(crate) fn digest(program: &Program) -> Result<u128, BuildError> {
    Ok(xxh3_128(program.anonymous()?.to_string().as_bytes()))
}

pub(crate) fn built(error: BuildError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Rejects an invalid name of a function, which the program's text would contain verbatim.
pub(crate) fn check_name(name: &str, place: &ArgumentPlace<'_>) -> PyResult<()> {
    if is_name(name) {
        return Ok(());
    }
    Err(place.value_error(format_args!(
        "{name:?} is no name of a program: expected letters, digits and `_`, and no word of Python or the DSL"
    )))
}

/// Whether a function can have this name: whether the parser reads a function with it.
fn is_name(name: &str) -> bool {
    let read = parse_file(&format!("def {name}(I):\n    return I\n"), None, |_| {
        String::new()
    });
    // In Python these are values, not names.
    let is_value = matches!(name, "None" | "True" | "False");
    !is_value && matches!(&*read, [Ok(program)] if program.name() == name)
}

/// The text of programs. `place` says which it is if there are several.
///
/// None or messages, which models may return in place of text, are a `ProgramError` like text that is not a program;
/// anything else is a `TypeError`.
pub(crate) fn program_text<'a>(
    object: &'a Bound<'_, PyAny>,
    place: &str,
) -> PyResult<Cow<'a, str>> {
    let py = object.py();
    let colon = if place.is_empty() { "" } else { ": " };
    let Ok(text) = object.cast::<PyString>() else {
        let expected = format!("expected text, found {}", type_name(object));
        let is_of_a_model = object.is_none()
            || object.is_instance_of::<PyList>()
            || object.is_instance_of::<PyDict>();
        return Err(if is_of_a_model {
            let message = format!(
                "{place}{colon}{expected}: what a model writes, as text or messages, goes to evaluate"
            );
            told(py, message, 1, 1, &expected)
        } else {
            PyTypeError::new_err(format!("{place}{colon}{expected}"))
        });
    };
    text.to_cow().map_err(|error| {
        let before = error
            .value(py)
            .getattr("start")
            .and_then(|start| text.get_item(PySlice::new(py, 0, start.extract()?, 1)))
            .and_then(|before| before.extract::<String>());
        let Ok(before) = before else {
            return error;
        };
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() as u32 + 1;
        let reason = "half of a surrogate pair, which is no character";
        let message = format!("{place}{colon}line {line}, column {column}: {reason}");
        told(py, message, line, column, reason)
    })
}

type Parsed = Result<Program, arc_text::ParseError>;

/// What was expected in a text without programs.
pub(crate) const EXPECTED_PROGRAM: &str = "expected `def NAME(I):`, or lines that end in `O = ...`";

/// The error for a text without programs.
fn nothing(py: Python<'_>, text: &str) -> PyErr {
    let expected = EXPECTED_PROGRAM;
    if is_path(text) {
        let message = format!("{text:?} is taken for text: a file is given as a pathlib.Path");
        return told(py, message, 1, 1, expected);
    }
    told(py, format!("no program: {expected}"), 1, 1, expected)
}

/// Whether a text looks like the path of a file.
pub(crate) fn is_path(text: &str) -> bool {
    let mut ends = [".py", ".json", ".jsonl"].into_iter();
    text.lines().count() == 1 && ends.any(|end| text.trim_end().ends_with(end))
}

/// The programs of a text in order; each that cannot be read is a ProgramError in its place, which is returned and
/// not raised.
///
/// A text without `def` is bare lines up to each `O = ...`; these programs are called `name`, the second one `name2`
/// and so on. None, chat messages, and text with half of a surrogate pair are one ProgramError.
#[pyfunction]
#[pyo3(signature = (text, *, name = "solve", dialect = None))]
pub(crate) fn parse_programs<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::name)] name: &str,
    #[pyo3(from_py_with = arguments::dialect)] dialect: Option<Dialect>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    check_name(name, &ArgumentPlace::Named("name"))?;
    let text = match program_text(text, "") {
        Ok(text) => text,
        Err(error) if error.is_instance_of::<ProgramError>(py) => {
            return Ok(vec![error.into_value(py).into_bound(py).into_any()]);
        }
        Err(error) => return Err(error),
    };
    let programs = parse_file(&text, dialect, |number| numbered(name, number));
    each_as_python(py, programs)
}

/// Programs, with a ProgramError in place of each that cannot be read.
pub(crate) fn each_as_python(
    py: Python<'_>,
    programs: Vec<Parsed>,
) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let programs = programs.into_iter().map(|program| match program {
        Ok(program) => Ok(PyProgram::new(program).into_pyobject(py)?.into_any()),
        Err(error) => Ok(program_error(py, &error, "")
            .into_value(py)
            .into_bound(py)
            .into_any()),
    });
    programs.collect()
}

/// The programs in an object: see `Programs` in the stubs.
pub(crate) fn all_programs(
    object: &Bound<'_, PyAny>,
    dialect: Option<Dialect>,
) -> PyResult<Vec<Program>> {
    let mut programs = Vec::new();
    add(
        object,
        dialect,
        &ArgumentPlace::Named("programs"),
        None,
        &mut programs,
    )?;
    Ok(programs)
}

pub(crate) fn in_dialect(dialect: Option<Dialect>) -> Reading {
    Reading {
        dialect,
        ..Reading::default()
    }
}

const EXPECTED: &str = "programs: a Program, text, a pathlib.Path, a dict of these or lists of them by task, a table, or a list of these";

fn add(
    object: &Bound<'_, PyAny>,
    dialect: Option<Dialect>,
    place: &ArgumentPlace<'_>,
    id: Option<&str>,
    programs: &mut Vec<Program>,
) -> PyResult<()> {
    let py = object.py();
    if let Ok(program) = object.cast::<PyProgram>() {
        programs.push(program.get().program().clone());
        return Ok(());
    }
    if object.is_instance_of::<PyString>() {
        let text = program_text(object, &place.to_string())?;
        let before = programs.len();
        let name = |number| match id.filter(|id| is_name(&format!("solve_{id}"))) {
            Some(id) => format!("{}_{id}", numbered("solve", number)),
            None => numbered("solve", number),
        };
        for program in parse_file(&text, dialect, name) {
            programs.push(program.map_err(|error| {
                if is_path(&text) {
                    return place.value_error(nothing(py, &text).value(py));
                }
                program_error(py, &error, &place.to_string())
            })?);
        }
        if programs.len() == before {
            let error = nothing(py, &text);
            let message = format!("{place}: {}", error.value(py));
            return Err(told(py, message, 1, 1, EXPECTED_PROGRAM));
        }
        return Ok(());
    }
    if let Some(path) = path_in(object)? {
        let read = py.detach(|| inputs::read_programs(&[path], &in_dialect(dialect)));
        if !read.errors.is_empty() {
            return Err(input_errors(&read.errors));
        }
        programs.extend(read.programs);
        return Ok(());
    }
    if let Some(lists) = as_lists(object)? {
        return add(&lists, dialect, place, id, programs);
    }
    if id.is_some() {
        let list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
        if !list || matches!(place, ArgumentPlace::At(..)) {
            let expected = "text, a Program, a path, or a list of these";
            return Err(place.expected(expected, object));
        }
        for (at, item) in object.try_iter()?.enumerate() {
            add(&item?, dialect, &place.at(at), id, programs)?;
        }
        return Ok(());
    }
    if let Ok(by_task) = object.cast::<PyDict>() {
        if is_row(object)? {
            return add_rows(py, std::slice::from_ref(object), dialect, place, programs);
        }
        if by_task.contains("role")? && by_task.contains("content")? {
            let reason = "expected programs by the id of their task, found a message of a chat, \
                          which `evaluate` and `extract_programs` read";
            return Err(told(py, format!("{place}: {reason}"), 1, 1, reason));
        }
        for (key, value) in by_task.iter() {
            let Ok(key) = key.cast::<PyString>() else {
                return Err(place.expected("the id of a task as key", &key));
            };
            let key = key.to_cow()?;
            let mut of_task = Vec::new();
            let place = ArgumentPlace::Key(place, &key);
            add(&value, dialect, &place, Some(&key), &mut of_task)?;
            // Whatever their names say, they belong to this task.
            let of_task = of_task.into_iter();
            programs.extend(of_task.map(|program| program.with_task(&*key)));
        }
        return Ok(());
    }
    let is_bytes = object.is_instance_of::<PyBytes>();
    if is_bytes || matches!(place, ArgumentPlace::At(..)) || object.extract::<f64>().is_ok() {
        return Err(place.expected(EXPECTED, object));
    }
    let Ok(items) = object.try_iter() else {
        return Err(place.expected(EXPECTED, object));
    };
    let items = items.collect::<PyResult<Vec<_>>>()?;
    let are_rows = items.iter().map(is_row).collect::<PyResult<Vec<_>>>()?;
    if !items.is_empty() && are_rows.iter().all(|is_row| *is_row) {
        return add_rows(py, &items, dialect, place, programs);
    }
    for (at, item) in items.iter().enumerate() {
        add(item, dialect, &place.at(at), None, programs)?;
    }
    Ok(())
}

/// Whether an object is a row of a table of programs, rather than programs by the ids of their tasks.
fn is_row(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    const PROGRAMS: [&str; 5] = ["program", "code", "solution", "response", "completion"];
    let Ok(row) = object.cast::<PyDict>() else {
        return Ok(false);
    };
    for key in PROGRAMS {
        if row.contains(key)? {
            return Ok(true);
        }
    }
    for key in TaskFile::ID_KEYS {
        // A program may be for a task that is called so.
        let is_id = |value: &Bound<'_, PyAny>| {
            !value.to_string().contains(['=', '(']) && !value.is_instance_of::<PyProgram>()
        };
        if row.len() > 1 && row.get_item(key)?.as_ref().is_some_and(is_id) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Adds the programs in the rows of a table, as files of such rows have them.
fn add_rows(
    py: Python<'_>,
    rows: &[Bound<'_, PyAny>],
    dialect: Option<Dialect>,
    place: &ArgumentPlace<'_>,
    programs: &mut Vec<Program>,
) -> PyResult<()> {
    let mut lines = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        lines.append(&mut json::text(row, &place.at(at))?);
        lines.push(b'\n');
    }
    let name = Path::new("programs.jsonl");
    let mut read = py.detach(|| inputs::read_program_rows(name, &lines, &in_dialect(dialect)));
    for error in &mut read.errors {
        in_row(error, &place.to_string(), true);
    }
    if !read.errors.is_empty() {
        return Err(input_errors(&read.errors));
    }
    programs.extend(read.programs);
    Ok(())
}

/// The programs of files, folders and texts; raises ValueError if something cannot be read.
#[pyfunction]
#[pyo3(signature = (programs, *, dialect = None))]
pub(crate) fn read_programs(
    programs: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::dialect)] dialect: Option<Dialect>,
) -> PyResult<Vec<PyProgram>> {
    let programs = all_programs(programs, dialect)?;
    Ok(programs.into_iter().map(PyProgram::new).collect())
}

/// The type of what a program returns; `None` if it is not known before it runs.
fn type_of(program: &Program) -> Option<String> {
    let form = arc_form::specialise(program).ok()?;
    let compiled = arc_cpu::Compiled::new(&form).ok()?;
    Some(compiled.output().to_string())
}

/// Mutants of a program, the same for the same seed on every machine: programs with one to three changes each. `kind`
/// is "mutant", any change, or "variation", changes that keep the type of the result.
///
/// Each differs from the program and from the others in its steps, whatever variables are called; there are fewer
/// than `count` if no more are found, as for a program with few mutants. With `unique=False` they are not filtered:
/// some are the program itself, and some are equal. Ctrl-C ends it: KeyboardInterrupt.
#[pyfunction]
#[pyo3(signature = (program, seed, *, count = 1, kind = "mutant", unique = true))]
pub(crate) fn mutate(
    py: Python<'_>,
    #[pyo3(from_py_with = program)] program: &Bound<'_, PyProgram>,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    #[pyo3(from_py_with = arguments::count)] count: usize,
    #[pyo3(from_py_with = arguments::kind)] kind: &str,
    #[pyo3(from_py_with = arguments::unique)] unique: bool,
) -> PyResult<Vec<PyProgram>> {
    /// After this many known mutants in a row there are taken to be no others; if they must keep the type, after this
    /// many times as many.
    const TRIES: u32 = 1000;
    const TRIES_OF_TYPE: u32 = 10;
    /// How many are generated between checks for signals: some milliseconds.
    const ASKED: usize = 1000;
    let is_mutant = match kind {
        "mutant" => true,
        "variation" => false,
        _ => {
            let message = format!("kind: expected \"mutant\" or \"variation\", found {kind:?}");
            return Err(PyValueError::new_err(message));
        }
    };
    let program = program.get().program();
    if program.dialect() != Dialect::Public {
        return Err(PyValueError::new_err(
            "program: mutants are made of the public dialect alone",
        ));
    }
    guard::engine(py, || {
        let mut generator = Generator::new(seed);
        let mut known = HashSet::from([digest(program).map_err(built)?]);
        let ty = type_of(program).filter(|_| !is_mutant);
        let tries = TRIES * if ty.is_some() { TRIES_OF_TYPE } else { 1 };
        let (mut mutants, mut in_row) = (Vec::new(), 0);
        for made in 0.. {
            if mutants.len() == count || in_row == tries {
                break;
            }
            if made % ASKED == 0
                && let Some(raised) = Python::attach(|py| py.check_signals().err())
            {
                return Err(raised);
            }
            let mutant = if is_mutant {
                generator.mutant(program)
            } else {
                generator.variation(program)
            };
            if unique && !known.insert(digest(&mutant).map_err(built)?)
                || ty.is_some() && type_of(&mutant) != ty
            {
                in_row += 1;
                continue;
            }
            in_row = 0;
            mutants.push(PyProgram::new(mutant));
        }
        Ok(mutants)
    })?
}

/// A program.
pub(crate) fn program<'a, 'py>(
    value: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyProgram>> {
    let expected = |_| {
        ArgumentPlace::Named("program")
            .expected("a Program, as Program.parse makes it of text", value)
    };
    value.cast().map_err(expected)
}
