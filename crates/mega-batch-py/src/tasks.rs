//! Tasks: from folders, files, Kaggle's challenges and solutions, and dicts.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use arc_dsl::Grid;
use arc_tasks::{OtherSplit, Pair, Solution, Solutions, Task, TaskFile};
use arc_text::misspelt;
use mega_batch::{escaped, inputs};
use numpy::PyArray2;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCFunction, PyDict, PyList, PyMapping, PyString};

use crate::grids::show;
use crate::grids::{self, ArgumentPlace};
use crate::programs::{input_errors, not_standard_input, path};

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
                let entry = PyDict::new(py);
                entry.set_item("input", rows(&pair.input))?;
                if let Some(output) = &pair.output {
                    entry.set_item("output", rows(output))?;
                }
                list.append(entry)?;
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
    let items = items.iter().enumerate();
    items.map(|(at, item)| pair(item, &place.at(at))).collect()
}

fn pair(object: &Bound<'_, PyAny>, place: &ArgumentPlace<'_>) -> PyResult<Pair> {
    if let Ok(pair) = object.cast::<PyPair>() {
        return Ok(pair.get().0.clone());
    }
    let (input, output) = if let Some(dict) = dict_of(object)? {
        let Some(input) = dict.get_item("input")? else {
            let found = misspelt_key(&dict, "input");
            let found = found.map_or(String::new(), |key| format!(", found \"{key}\""));
            let message = format!("expected the key \"input\" with a grid{found}");
            return Err(place.value_error(message));
        };
        let output = dict.get_item("output")?;
        if output.is_none()
            && let Some(key) = misspelt_key(&dict, "output")
        {
            let message = format!("expected the key \"output\", found \"{key}\"");
            return Err(place.value_error(message));
        }
        (input, output)
    } else if let Some(both) = grids::elements(object)? {
        match &*both {
            [input] => (input.clone(), None),
            [input, output] => (input.clone(), Some(output.clone())),
            _ => return Err(place.value_error("expected a tuple of input and output")),
        }
    } else {
        return Err(place.expected(
            "a pair: a Pair, a dict or a tuple of input and output",
            object,
        ));
    };
    // As in files, a list without rows means that the output is not known.
    let is_empty = |output: &Bound<'_, PyAny>| output.len().is_ok_and(|len| len == 0);
    let output = output.filter(|output| !output.is_none() && !is_empty(output));
    let output = output.map(|output| grids::grid(&output, &ArgumentPlace::Part(place, "output")));
    let input = grids::grid(&input, &ArgumentPlace::Part(place, "input"))?;
    Ok(Pair::new(input, output.transpose()?))
}

/// The key of the dict that is `key` in another spelling.
fn misspelt_key(dict: &Bound<'_, PyDict>, key: &str) -> Option<String> {
    let keys: Vec<String> = dict
        .keys()
        .iter()
        .filter_map(|key| key.extract().ok())
        .collect();
    misspelt(key, keys.iter().map(String::as_str)).map(str::to_owned)
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

/// Whether a dict is a task rather than tasks by id.
fn is_task(dict: &Bound<'_, PyDict>) -> PyResult<bool> {
    Ok(dict.contains("train")? || dict.contains("test")?)
}

fn of_dict(dict: &Bound<'_, PyDict>, id: &str, place: &ArgumentPlace<'_>) -> PyResult<Task> {
    let part = |name: &'static str| {
        let place = ArgumentPlace::Part(place, name);
        match dict.get_item(name)?.filter(|list| !list.is_none()) {
            Some(list) => pairs(&list, &place),
            None => Ok(Vec::new()),
        }
    };
    if !is_task(dict)? {
        return Err(
            place.value_error("expected the keys \"train\" and \"test\" with lists of pairs")
        );
    }
    if !dict.contains("train")? {
        /// How many keys are listed.
        const TOLD: usize = 6;
        let keys = dict.keys().iter().take(TOLD);
        let keys = keys.map(|key| Ok(key.repr()?.to_string()));
        let mut keys = keys.collect::<PyResult<Vec<_>>>()?.join(", ");
        if dict.len() > TOLD {
            keys += ", ..";
        }
        return Err(place.value_error(format_args!(
            "expected the key \"train\" with a list of pairs, found the keys {keys}"
        )));
    }
    let mut others = Vec::new();
    for (key, value) in dict.iter() {
        let Ok(key) = key.cast::<PyString>() else {
            continue;
        };
        let name = key.to_cow()?;
        if !matches!(&*name, "train" | "test") && is_pairs(&value)? {
            others.push(OtherSplit {
                pairs: pairs(&value, &ArgumentPlace::Part(place, &name))?,
                name: name.into_owned(),
            });
        }
    }
    Ok(Task {
        id: id.to_owned(),
        train: part("train")?,
        test: part("test")?,
        others,
        ..Task::default()
    })
}

/// Whether a value is a list of pairs, as in further splits, rather than other data of a task.
fn is_pairs(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(first) = grids::elements(object)?.and_then(|items| items.into_iter().next()) else {
        return Ok(false);
    };
    match dict_of(&first)? {
        Some(dict) => dict.contains("input"),
        None => Ok(first.is_instance_of::<PyPair>()),
    }
}

/// The id given in a task, as in files; numbers, such as those of rows, are accepted too.
fn said_id(dict: &Bound<'_, PyDict>, place: &ArgumentPlace<'_>) -> PyResult<Option<String>> {
    for key in TaskFile::ID_KEYS {
        match dict.get_item(key)?.filter(|id| !id.is_none()) {
            Some(id) if id.is_instance_of::<PyString>() => return id.extract().map(Some),
            Some(id) if id.hasattr("__index__")? && !id.is_instance_of::<PyBool>() => {
                return Ok(Some(id.str()?.to_string()));
            }
            Some(id) => return Err(ArgumentPlace::Part(place, key).expected("a text", &id)),
            None => {}
        }
    }
    Ok(None)
}

const EXPECTED: &str = "tasks: a Task, a dict, a path, a table, or a list of these";

/// The tasks in an object, with the outputs of Kaggle's solutions.
pub(crate) fn all_tasks(
    object: &Bound<'_, PyAny>,
    solutions: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Task>> {
    let mut tasks = Vec::new();
    let solutions = solutions.filter(|solutions| !solutions.is_none());
    add(object, &ArgumentPlace::Named("tasks"), &mut tasks)?;
    if let Some(solutions) = solutions {
        solve(solutions, &mut tasks)?;
    }
    Ok(tasks)
}

/// The path in an object; text is one too, since tasks have no text form here.
fn file(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if object.is_instance_of::<PyString>() {
        return object.extract().map(not_standard_input).map(Some);
    }
    path(object)
}

fn add(
    object: &Bound<'_, PyAny>,
    place: &ArgumentPlace<'_>,
    tasks: &mut Vec<Task>,
) -> PyResult<()> {
    if let Ok(task) = object.cast::<PyTask>() {
        tasks.push(task.get().task().clone());
        return Ok(());
    }
    if let Some(path) = file(object)? {
        if path.to_string_lossy().trim_start().starts_with(['{', '[']) && !path.exists() {
            let message =
                "text is taken for the path of a file: JSON text is made a dict by json.loads";
            return Err(place.value_error(message));
        }
        let read = object.py().detach(|| inputs::read_tasks(&[path], &[]));
        if !read.errors.is_empty() {
            return Err(input_errors(&read.errors));
        }
        tasks.extend(read.tasks);
        return Ok(());
    }
    if let Some(dict) = &dict_of(object)? {
        if !is_plain(dict)?
            && let Some(mut read) = as_file(object, tasks.len())?
        {
            tasks.append(&mut read);
            return Ok(());
        }
        if is_task(dict)? {
            let id = said_id(dict, place)?;
            let id = id.unwrap_or_else(|| format!("task{}", tasks.len()));
            tasks.push(of_dict(dict, &id, place)?);
            return Ok(());
        }
        for (id, task) in dict.iter() {
            let Ok(id) = id.cast::<PyString>() else {
                return Err(place.expected("the id of a task as key", &id));
            };
            let id = id.to_cow()?;
            let place = ArgumentPlace::Key(place, &id);
            if let Ok(task) = task.cast::<PyTask>() {
                let task = task.get().task().clone();
                tasks.push(Task {
                    id: id.into_owned(),
                    ..task
                });
                continue;
            }
            let Some(of) = dict_of(&task)? else {
                return Err(place.expected("a task: a dict with \"train\" and \"test\"", &task));
            };
            tasks.push(of_dict(&of, &id, &place)?);
        }
        return Ok(());
    }
    if let Some(rows) = rows_of_table(object)? {
        if rows.is_instance_of::<PyList>() {
            return add(&rows, place, tasks);
        }
        return Err(place.expected(EXPECTED, object));
    }
    if object.is_instance_of::<PyBytes>() || matches!(place, ArgumentPlace::At(..)) {
        return Err(place.expected(EXPECTED, object));
    }
    let Ok(items) = object.try_iter() else {
        return Err(place.expected(EXPECTED, object));
    };
    let items = items.collect::<PyResult<Vec<_>>>()?;
    if are_rows(&items)?
        && let Some(mut read) = as_file(PyList::new(object.py(), &items)?.as_any(), tasks.len())?
    {
        tasks.append(&mut read);
        return Ok(());
    }
    for (at, item) in items.iter().enumerate() {
        add(item, &place.at(at), tasks)?;
    }
    Ok(())
}

/// The rows of a table of pandas, polars or pyarrow as dicts; iterating over it gives its columns.
fn rows_of_table<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if object.hasattr("iterrows")? {
        return object.call_method1("to_dict", ("records",)).map(Some);
    }
    for rows in ["to_dicts", "to_pylist"] {
        if object.hasattr(rows)? {
            return object.call_method0(rows).map(Some);
        }
    }
    Ok(None)
}

/// Whether a dict is a task with its pairs in lists, or such tasks by id.
fn is_plain(dict: &Bound<'_, PyDict>) -> PyResult<bool> {
    let has_pairs = |dict: &Bound<'_, PyDict>| match dict.get_item("train")? {
        Some(train) => Ok::<_, PyErr>(grids::elements(&train)?.is_some()),
        None => Ok(false),
    };
    if has_pairs(dict)? {
        return Ok(true);
    }
    for (_, task) in dict.iter() {
        let is_one = task.is_instance_of::<PyTask>();
        if !is_one && !matches!(dict_of(&task)?, Some(inner) if has_pairs(&inner)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether these are dicts in a layout of data sets: not all plain tasks, or several rows of one task.
fn are_rows(items: &[Bound<'_, PyAny>]) -> PyResult<bool> {
    let (mut ids, mut are_rows) = (HashSet::new(), false);
    for item in items {
        let Some(dict) = dict_of(item)? else {
            return Ok(false);
        };
        are_rows |= !is_plain(&dict)?;
        if let Some(id) = said_id(&dict, &ArgumentPlace::Named("tasks"))
            .ok()
            .flatten()
        {
            are_rows |= !ids.insert(id);
        }
    }
    Ok(are_rows)
}

/// The tasks in dicts and lists as a file of the same JSON has them; `None` if it would have none, or errors.
fn as_file(object: &Bound<'_, PyAny>, before: usize) -> PyResult<Option<Vec<Task>>> {
    let py = object.py();
    // Of arrays.
    let to_list = PyCFunction::new_closure(py, None, None, |given, _| {
        given.get_item(0)?.call_method0("tolist").map(Bound::unbind)
    })?;
    let options = PyDict::new(py);
    options.set_item("default", to_list)?;
    let json = py.import("json")?.getattr("dumps")?;
    let Ok(text) = json.call((object,), Some(&options)) else {
        return Ok(None);
    };
    let text: String = text.extract()?;
    let name = PathBuf::from(format!("task{before}.json"));
    let read = py.detach(|| inputs::read_tasks_of_text(&name, text.into_bytes()));
    Ok(Some(read.tasks).filter(|tasks| read.errors.is_empty() && !tasks.is_empty()))
}

/// Adds outputs from solutions to tasks: a file or a dict with one grid for each test pair, by id.
fn solve(solutions: &Bound<'_, PyAny>, tasks: &mut [Task]) -> PyResult<()> {
    let whole = ArgumentPlace::Named("solutions");
    if let Some(path) = file(solutions)? {
        let (read, errors) = solutions.py().detach(|| inputs::read_solutions(&path));
        if !errors.is_empty() {
            return Err(input_errors(&errors));
        }
        return match read.apply(tasks.iter_mut(), &HashSet::new()).first() {
            None => Ok(()),
            Some(error) => Err(PyValueError::new_err(format!(
                "{}:{}:{}: {}: {}",
                escaped(&path.to_string_lossy()),
                error.line,
                error.column,
                error.path,
                error.message
            ))),
        };
    }
    let Some(by_task) = dict_of(solutions)? else {
        return Err(whole.expected("a path or a dict of lists of grids by task", solutions));
    };
    let mut read = Vec::with_capacity(by_task.len());
    for (id, outputs) in by_task.iter() {
        let Ok(id) = id.cast::<PyString>() else {
            return Err(whole.expected("the id of a task as key", &id));
        };
        let id = id.to_cow()?;
        let place = ArgumentPlace::Key(&whole, &id);
        let Some(outputs) = grids::elements(&outputs)? else {
            return Err(place.expected("a list of grids, one for each test pair", &outputs));
        };
        let outputs = outputs.iter().enumerate();
        let outputs = outputs.map(|(at, output)| grids::grid(output, &place.at(at)));
        read.push(Solution {
            task: id.clone().into_owned(),
            line: 0,
            column: 0,
            outputs: outputs.collect::<PyResult<_>>()?,
        });
    }
    let read = Solutions {
        solutions: read,
        errors: Vec::new(),
    };
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
