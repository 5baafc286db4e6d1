//! Tasks: from folders, files, Kaggle's challenges and solutions, and dicts.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use arc_dsl::Grid;
use arc_tasks::{OtherSplit, Pair, Solutions, Task, TaskFile, bare_id, may_be_id};
use mega_batch::inputs::{self, InputError, TaskSource};
use numpy::PyArray2;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping, PyString};

use crate::arguments::{not_standard_input, path_in};
use crate::errors::input_errors;
use crate::grids::show;
use crate::grids::{self, ArgumentPlace};

pub(crate) mod json;

/// An input grid and its expected output, if known.
#[pyclass(frozen, eq, hash, name = "Pair", module = "mega_batch")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PyPair(Pair);

impl Hash for PyPair {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.0.input, &self.0.output).hash(state);
    }
}

#[pymethods]
impl PyPair {
    #[new]
    #[pyo3(signature = (input, output = None))]
    fn new(input: &Bound<'_, PyAny>, output: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let input = grids::grid(input, &ArgumentPlace::Named("input"))?;
        let output = output.map(|output| grids::grid(output, &ArgumentPlace::Named("output")));
        Ok(Self(Pair::new(input, output.transpose()?)))
    }

    /// The input, a new array of int8, rows by columns.
    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i8>> {
        grids::array(py, &self.0.input)
    }

    /// The output, an array like the input, or None.
    #[getter]
    fn output<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<i8>>> {
        self.0
            .output
            .as_ref()
            .map(|output| grids::array(py, output))
    }

    fn __repr__(&self) -> String {
        let sides = |grid: &Grid| format!("{}x{}", grid.height(), grid.width());
        let output = self.0.output.as_ref().map_or_else(|| "?".to_owned(), sides);
        format!("<Pair {} -> {output}>", sides(&self.0.input))
    }

    fn __str__(&self) -> String {
        let output = self
            .0
            .output
            .as_ref()
            .map_or_else(|| "?\n".to_owned(), Grid::to_ansi);
        format!("{}\n{output}", self.0.input.to_ansi())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (Rows, Option<Rows>)) {
        let output = self.0.output.as_ref().map(rows);
        (
            py.get_type::<Self>().into_any(),
            (rows(&self.0.input), output),
        )
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        show::html(slf.as_any(), "of_pair")
    }
}

fn dict_of_pair<'py>(py: Python<'py>, pair: &Pair) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("input", rows(&pair.input))?;
    if let Some(output) = &pair.output {
        dict.set_item("output", rows(output))?;
    }
    Ok(dict)
}

type Rows = Vec<Vec<i8>>;

fn rows(grid: &Grid) -> Rows {
    grid.rows().map(<[i8]>::to_vec).collect()
}

/// A task: pairs to learn from (`train`) and pairs to be judged by (`test`).
///
/// `Task(id, train, test=(), others=())` takes pairs as Pair, as dicts with the keys "input" and "output", or
/// as tuples or lists of input and output; `others` are further splits, each a tuple of its name and its pairs.
#[pyclass(frozen, eq, hash, name = "Task", module = "mega_batch")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PyTask(Arc<Task>);

impl Hash for PyTask {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
        for (_, pair) in self.0.pairs() {
            (&pair.input, &pair.output).hash(state);
        }
    }
}

impl PyTask {
    pub(crate) fn new(task: Task) -> Self {
        Self(Arc::new(task))
    }

    pub(crate) fn task(&self) -> &Task {
        &self.0
    }
}

#[pymethods]
impl PyTask {
    #[new]
    #[pyo3(signature = (id, train, test = None, others = None))]
    fn py_new(
        id: &str,
        train: &Bound<'_, PyAny>,
        test: Option<&Bound<'_, PyAny>>,
        others: Option<Vec<(String, Bound<'_, PyAny>)>>,
    ) -> PyResult<Self> {
        let others = others.unwrap_or_default().into_iter().map(|(name, of)| {
            let pairs = pairs(&of, &ArgumentPlace::Named(&name))?;
            Ok(OtherSplit { name, pairs })
        });
        let others = others.collect::<PyResult<_>>()?;
        let test = test
            .map(|test| pairs(test, &ArgumentPlace::Named("test")))
            .transpose()?;
        Ok(Self::new(Task {
            id: id.to_owned(),
            train: pairs(train, &ArgumentPlace::Named("train"))?,
            test: test.unwrap_or_default(),
            others,
            ..Task::default()
        }))
    }

    /// The id, such as "007bbfb7".
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// The pairs whose outputs a solver is shown.
    #[getter]
    fn train(&self) -> Vec<PyPair> {
        self.0.train.iter().cloned().map(PyPair).collect()
    }

    /// The pairs whose outputs a solver is asked for.
    #[getter]
    fn test(&self) -> Vec<PyPair> {
        self.0.test.iter().cloned().map(PyPair).collect()
    }

    /// The pairs of other splits, such as "arc-gen", by name: they are run too, and counted separately.
    #[getter]
    fn others(&self) -> Others {
        let others = self.0.others.iter();
        let others = others.map(|split| {
            let pairs = split.pairs.iter().cloned().map(PyPair);
            (split.name.clone(), pairs.collect())
        });
        others.collect()
    }

    /// The task in the form of the public data: "train" and "test", lists of dicts with "input" and "output", lists
    /// of rows.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (split, pairs) in self.0.splits() {
            let list = PyList::empty(py);
            for pair in pairs {
                list.append(dict_of_pair(py, pair)?)?;
            }
            dict.set_item(self.0.split_name(split), list)?;
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let (train, test) = (self.0.train.len(), self.0.test.len());
        format!(
            "<Task {} of {train} train and {test} test pairs>",
            self.0.id
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, PickledTask) {
        let state = (self.0.id.clone(), self.train(), self.test(), self.others());
        (py.get_type::<Self>().into_any(), state)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        show::html(slf.as_any(), "of_task")
    }
}

type Others = Vec<(String, Vec<PyPair>)>;

type PickledTask = (String, Vec<PyPair>, Vec<PyPair>, Others);

/// The pairs in a list.
fn pairs(object: &Bound<'_, PyAny>, place: &ArgumentPlace<'_>) -> PyResult<Vec<Pair>> {
    let Some(items) = grids::elements(object)? else {
        return Err(place.expected("a list of pairs", object));
    };
    let known = |item: &Bound<'_, PyAny>| Some(item.cast::<PyPair>().ok()?.get().0.clone());
    if let Some(pairs) = items.iter().map(known).collect() {
        return Ok(pairs);
    }
    let dict = PyDict::new(object.py());
    dict.set_item("train", object)?;
    let task = Task::from_json("", &json::text(&dict, place)?);
    task.map(|task| task.train).map_err(|error| {
        let path = error.path.strip_prefix("train").unwrap_or_default();
        place.value_error_in(path, &error.message)
    })
}

/// The object if it is a dict, or a dict of any other mapping.
pub(crate) fn dict_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if let Ok(dict) = object.cast::<PyDict>() {
        return Ok(Some(dict.clone()));
    }
    if object.cast::<PyMapping>().is_err() {
        return Ok(None);
    }
    let dict = object.py().get_type::<PyDict>().call1((object,))?;
    Ok(Some(dict.cast_into()?))
}

const EXPECTED: &str = "tasks: a Task, a dict, a path, a table, or a list of these";

/// The tasks in an object, with the outputs of Kaggle's solutions: a file or a dict with one grid for each test pair, by
/// id.
pub(crate) fn all_tasks(
    object: &Bound<'_, PyAny>,
    solutions: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Task>> {
    let solutions = solutions.filter(|solutions| !solutions.is_none());
    // In training each completion comes with such a dict.
    if solutions.is_none()
        && let Some(task) = object.cast::<PyDict>().ok().and_then(plain)
    {
        return Ok(vec![task]);
    }
    let path = solutions.map_or(Ok(None), file)?;
    let mut given = Given::default();
    given.add(object, &ArgumentPlace::Named("tasks"))?;
    let mut tasks = given.read(object.py(), path.as_slice())?;
    if let Some(solutions) = solutions.filter(|_| path.is_none()) {
        solve(solutions, &mut tasks)?;
    }
    Ok(tasks)
}

/// The task that a dict is, if that takes no reading of layouts: it has pairs of grids alone, and maybe an id.
fn plain(dict: &Bound<'_, PyDict>) -> Option<Task> {
    let grid = |cells: Bound<'_, PyAny>| grids::grid(&cells, &ArgumentPlace::Named("tasks")).ok();
    let pair = |pair: Bound<'_, PyAny>| {
        let pair = pair.cast::<PyDict>().ok()?;
        let input = grid(pair.get_item("input").ok()??)?;
        match pair.get_item("output").ok()? {
            Some(output) if pair.len() == 2 => Some(Pair::new(input, grid(output)?)),
            None if pair.len() == 1 => Some(Pair::new(input, None)),
            _ => None,
        }
    };
    let of_key = |key: &str| -> Option<Vec<Pair>> {
        let pairs = dict.get_item(key).ok()??;
        pairs.cast::<PyList>().ok()?.iter().map(pair).collect()
    };
    let id_of = |key: &str| dict.get_item(key).ok().flatten();
    let ids: Vec<_> = ["id", "task_id"].into_iter().filter_map(id_of).collect();
    let id: String = match &ids[..] {
        [] => "task0".to_owned(),
        [id] => id.extract().ok()?,
        _ => return None,
    };
    let task = Task {
        train: of_key("train")?,
        test: of_key("test")?,
        id,
        ..Task::default()
    };
    let is_one = dict.len() == 2 + ids.len() && !task.train.is_empty();
    (is_one && may_be_id(&task.id) && bare_id(&task.id) == task.id).then_some(task)
}

/// The path in an object; text is one too, since tasks have no text form here.
fn file(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if object.is_instance_of::<PyString>() {
        return object.extract().map(not_standard_input).map(Some);
    }
    path_in(object)
}

/// What tasks are read from.
#[derive(Default)]
struct Given {
    sources: Vec<TaskSource>,
    /// The names of texts among the sources, with the places of the dicts and lists that they were made of, and whether
    /// a line is a row.
    places: Vec<(PathBuf, String, bool)>,
}

impl Given {
    fn add(&mut self, object: &Bound<'_, PyAny>, place: &ArgumentPlace<'_>) -> PyResult<()> {
        if let Ok(task) = object.cast::<PyTask>() {
            let task = task.get().task().clone();
            self.sources.push(TaskSource::Task(task));
            return Ok(());
        }
        if let Some(path) = file(object)? {
            if path.to_string_lossy().trim_start().starts_with(['{', '[']) && !path.exists() {
                let message =
                    "text is taken for the path of a file: JSON text is made a dict by json.loads";
                return Err(place.value_error(message));
            }
            self.sources.push(TaskSource::Path(path));
            return Ok(());
        }
        if let Some(dict) = dict_of(object)? {
            return self.add_dict(&dict, place);
        }
        if let Some(dict) = json::as_dict(object)? {
            return self.add_dict(&dict, place);
        }
        let rows = json::as_lists(object)?;
        let is_text = object.is_instance_of::<PyBytes>();
        let is_within = rows.is_none() && matches!(place, ArgumentPlace::At(..));
        let items = rows.as_ref().unwrap_or(object).try_iter();
        let Some(items) = items.ok().filter(|_| !is_text && !is_within) else {
            return Err(place.expected(EXPECTED, object));
        };
        let items = items.collect::<PyResult<Vec<_>>>()?;
        let dicts = items.iter().map(dict_of);
        if let Some(dicts) = dicts.collect::<PyResult<Option<Vec<_>>>>()? {
            return self.add_rows(&dicts, place);
        }
        let mut items = items.iter().enumerate();
        items.try_for_each(|(at, item)| self.add(item, &place.at(at)))
    }

    fn add_dict(&mut self, dict: &Bound<'_, PyDict>, place: &ArgumentPlace<'_>) -> PyResult<()> {
        let mut keys = dict.keys().iter();
        if let Some(key) = keys.find(|key| !key.is_instance_of::<PyString>()) {
            return Err(place.expected("the id of a task as key", &key));
        }
        // Such tasks are not written and read again.
        let by_id = dict.iter().map(|(id, task)| {
            let task = task.cast::<PyTask>().ok()?.get().task().clone();
            let id = id.to_string();
            Some(TaskSource::Task(Task { id, ..task }))
        });
        if let Some(tasks) = by_id.collect::<Option<Vec<_>>>() {
            self.sources.extend(tasks);
            return Ok(());
        }
        let json = json::text(dict, place)?;
        match odd_id(dict)? {
            None => self.add_text(json, place, false),
            Some(id) => {
                let task = Task::from_json(id, &json);
                let task = task.map_err(|error| place.value_error_in(&error.path, &error.message));
                self.sources.push(TaskSource::Task(task?));
            }
        }
        Ok(())
    }

    fn add_rows(&mut self, rows: &[Bound<'_, PyDict>], place: &ArgumentPlace<'_>) -> PyResult<()> {
        let mut lines = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            if at == 0 && row.contains("input")? && !row.contains("train")? {
                let pairs = PyList::new(row.py(), rows)?;
                self.add_text(json::text(&pairs, place)?, place, false);
                return Ok(());
            }
            if odd_id(row)?.is_some() {
                let mut rows = rows.iter().enumerate();
                return rows.try_for_each(|(at, row)| self.add_dict(row, &place.at(at)));
            }
            lines.append(&mut json::text(row, &place.at(at))?);
            lines.push(b'\n');
        }
        if !lines.is_empty() {
            self.add_text(lines, place, true);
        }
        Ok(())
    }

    /// Adds the text of a file, which has every layout, for dicts and lists; it may have a row a line.
    fn add_text(&mut self, json: Vec<u8>, place: &ArgumentPlace<'_>, has_lines: bool) {
        let name = PathBuf::from(format!("task{}.jsonl", self.sources.len()));
        self.sources.push(TaskSource::Text(name.clone(), json));
        self.places.push((name, place.to_string(), has_lines));
    }

    fn read(self, py: Python<'_>, solutions: &[PathBuf]) -> PyResult<Vec<Task>> {
        let as_task = |source: &TaskSource| match source {
            TaskSource::Task(task) => Some(task.clone()),
            _ => None,
        };
        if let Some(tasks) = self.sources.iter().map(as_task).collect()
            && solutions.is_empty()
        {
            return Ok(tasks);
        }
        let mut read = py.detach(|| inputs::read_sources(self.sources, solutions));
        for error in &mut read.errors {
            let mut places = self.places.iter();
            if let Some((_, place, has_lines)) = places.find(|(name, ..)| *name == error.file) {
                in_row(error, place, *has_lines);
            }
        }
        if !read.errors.is_empty() {
            return Err(input_errors(&read.errors));
        }
        Ok(read.tasks)
    }
}

/// Makes an error in a text that was made of an argument one of the argument, of which a line may be a row.
pub(crate) fn in_row(error: &mut InputError, place: &str, has_lines: bool) {
    let line = error.line.take().filter(|_| has_lines);
    let row = line.map_or(String::new(), |line| format!("[{}]", line - 1));
    let path = error.path.take().unwrap_or_default();
    error.file = grids::place_in(&format!("{place}{row}"), &path).into();
}

/// The id in a row if a row of a file could not have it.
fn odd_id(row: &Bound<'_, PyDict>) -> PyResult<Option<String>> {
    for key in TaskFile::ID_KEYS {
        if let Some(Ok(id)) = row.get_item(key)?.map(|id| id.extract::<String>()) {
            return Ok(Some(id).filter(|id| !id.is_empty() && !may_be_id(id)));
        }
    }
    Ok(None)
}

/// Adds the outputs of solutions that are no file.
fn solve(solutions: &Bound<'_, PyAny>, tasks: &mut [Task]) -> PyResult<()> {
    let whole = ArgumentPlace::Named("solutions");
    let Some(by_task) = dict_of(solutions)? else {
        return Err(whole.expected("a path or a dict of lists of grids by task", solutions));
    };
    let read = Solutions::from_json(&json::text(&by_task, &whole)?);
    if let Some(error) = read.errors.first() {
        return Err(whole.value_error_in(&error.path, &error.message));
    }
    match read.apply(tasks.iter_mut(), &HashSet::new()).first() {
        None => Ok(()),
        Some(error) => Err(whole.value_error(format_args!("{}: {}", error.path, error.message))),
    }
}

/// The tasks of files, folders and dicts, with the outputs of Kaggle's solutions if given.
///
/// Raises ValueError, with file, line, column and what was expected, if something cannot be read.
#[pyfunction]
#[pyo3(signature = (tasks, solutions = None))]
pub(crate) fn read_tasks(
    tasks: &Bound<'_, PyAny>,
    solutions: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<PyTask>> {
    let tasks = all_tasks(tasks, solutions)?;
    Ok(tasks.into_iter().map(PyTask::new).collect())
}

/// The one task in an object.
pub(crate) fn one_task(object: &Bound<'_, PyAny>) -> PyResult<Task> {
    let mut tasks = all_tasks(object, None)?;
    match (tasks.pop(), tasks.len()) {
        (Some(task), 0) => Ok(task),
        (None, _) => Err(PyValueError::new_err("task: expected one, found none")),
        (Some(_), others) => {
            let message = format!("task: expected one, found {}", others + 1);
            Err(PyTypeError::new_err(message))
        }
    }
}
