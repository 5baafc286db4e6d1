//! `PythonPool`: workers that run programs in free Python, each in an isolated process of its own.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arc_dsl::{Grid, Program, Value};
use arc_tasks::{Pair, Task};
use mega_batch::inputs::completions;
use mega_batch::{Batch, Cancellation, Job, Options, Outcome, PairResult, Runner};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use python_pool::{Axes, FailureKind, GridForm, Isolation, Outputs, Pool, Settings};

use crate::arguments::{self, flag, list, seconds, text, whole};
use crate::callbacks::{Watched, warn};
use crate::engine::completions::completion;
use crate::errors::{PyEvalError, told};
use crate::grids::{self, ArgumentPlace};
use crate::guard::{self, PerProcess};
use crate::options::{word, workers};
use crate::programs::is_path;
use crate::progress::ProgressCallback;

/// Workers that run programs in free Python.
///
/// A worker is a freshly started interpreter; each program runs in an isolated process that is forked from it. Keywords:
/// `workers`, how many run at a time; for each program `cpu_seconds`, `wall_seconds` (by the clock), `memory` (bytes);
/// `max_steps` for each pair; `modules`, the packages that programs may import beside the standard library; `prelude`,
/// a file or text with what all programs have; `entry`, the name of the function; `grid` ("auto", "array", "list",
/// "tuple"), what it takes; `axes` ("rc", "xy"), how a grid is indexed; `isolation` ("strict", "best_effort", "none").
/// It can be pickled, as a pool with the same keywords, and starts afresh in a forked process.
#[pyclass(frozen, name = "PythonPool", module = "mega_batch")]
pub(crate) struct PyPythonPool {
    settings: Settings,
    keywords: Py<PyDict>,
    running: PerProcess<Pool>,
}

fn pool_of(py: Python<'_>, settings: &Settings) -> PyResult<Pool> {
    let pool = guard::engine(py, || Pool::new(settings.clone()))?;
    pool.map_err(|error| PyOSError::new_err(format!("PythonPool: {error}")))
}

fn read(py: Python<'_>, keywords: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let python: Option<String> = py.import("sys")?.getattr("executable")?.extract()?;
    let Some(python) = python.filter(|python| !python.is_empty()) else {
        return Err(PyOSError::new_err(
            "PythonPool: this process does not tell its interpreter: sys.executable is empty",
        ));
    };
    let mut settings = Settings::of(PathBuf::from(python));
    let time = |name: &str, value: &Bound<'_, PyAny>| {
        let time = seconds(name, value)?.filter(|time| *time > Duration::ZERO);
        time.ok_or_else(|| {
            ArgumentPlace::Named(name).value_error("expected a time above 0 that ends")
        })
    };
    for (name, value) in keywords {
        let name: String = name.extract()?;
        let (name, value) = (name.as_str(), &value);
        if value.is_none() && ["workers", "max_steps", "prelude", "entry"].contains(&name) {
            continue;
        }
        match name {
            "workers" => settings.workers = workers(name, value)?.get(),
            "cpu_seconds" => settings.cpu_time = time(name, value)?,
            "wall_seconds" => settings.wall_time = time(name, value)?,
            "memory" => settings.memory = whole(name, value, 1 << 20..=1 << 45)?,
            "max_steps" => settings.max_steps = Some(whole(name, value, 0..=i64::MAX.into())?),
            "modules" => {
                let names = list(name, "a list of names of modules", value)?;
                let place = ArgumentPlace::Named(name);
                let names = names
                    .iter()
                    .enumerate()
                    .map(|(at, each)| text(&place.at(at).to_string(), each).map(str::to_owned));
                settings.modules = names.collect::<PyResult<_>>()?;
            }
            "prelude" => settings.prelude = Some(prelude(value)?),
            "entry" => settings.entry = Some(text(name, value)?.to_owned()),
            "grid" => {
                let words = [
                    ("auto", GridForm::Auto),
                    ("array", GridForm::Array),
                    ("list", GridForm::List),
                    ("tuple", GridForm::Tuple),
                ];
                settings.grid = word(name, value, &words)?;
            }
            "axes" => {
                let words = [("rc", Axes::RowColumn), ("xy", Axes::ColumnRow)];
                settings.axes = word(name, value, &words)?;
            }
            "isolation" => {
                let words = [
                    ("strict", Isolation::Strict),
                    ("best_effort", Isolation::BestEffort),
                    ("none", Isolation::None),
                ];
                settings.isolation = word(name, value, &words)?;
            }
            "landlock" => settings.landlock = flag(name, value)?,
            _ => {
                let message = format!("PythonPool: unexpected keyword {name:?}");
                return Err(PyTypeError::new_err(message));
            }
        }
    }
    Ok(settings)
}

/// The name and the text of a prelude: text, a file, which is importable by its name, or both as a tuple.
fn prelude(value: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
    if value.is_instance_of::<PyString>() {
        let text = text("prelude", value)?;
        if is_path(text) {
            let message = format!("{text:?} is taken for text: a file is given as a pathlib.Path");
            return Err(ArgumentPlace::Named("prelude").value_error(message));
        }
        return Ok(("prelude".to_owned(), text.to_owned()));
    }
    if let Ok(both) = value.extract() {
        return Ok(both);
    }
    let Ok(path) = value.extract::<PathBuf>() else {
        return Err(ArgumentPlace::Named("prelude").expected("text, or a file as a path", value));
    };
    let content = std::fs::read_to_string(&path);
    let content = content
        .map_err(|error| PyOSError::new_err(format!("prelude: {}: {error}", path.display())))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok((name.into_owned(), content))
}

#[pymethods]
impl PyPythonPool {
    #[new]
    #[pyo3(signature = (**keywords))]
    fn new(py: Python<'_>, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let keywords = match keywords {
            Some(keywords) => keywords.copy()?,
            None => PyDict::new(py),
        };
        let settings = read(py, &keywords)?;
        if let Some(prelude) = &settings.prelude {
            // A file need not be where this is unpickled.
            keywords.set_item("prelude", prelude)?;
        }
        let pool = pool_of(py, &settings)?;
        let guards = pool.guards();
        if settings.isolation == Isolation::BestEffort && (!guards.seccomp || guards.landlock == 0)
        {
            let text =
                "PythonPool: programs are not fully isolated here; `guards` says what is in force";
            warn(py, text, 1)?;
        }
        Ok(Self {
            settings,
            keywords: keywords.unbind(),
            running: PerProcess::new(pool),
        })
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), self.keywords.bind(py).copy()?))
    }

    /// What isolates programs: "seccomp", whether system calls are filtered, and "landlock", the version of what limits
    /// files, 0 without it; with "strict" no file can be opened then.
    #[getter]
    fn guards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let guards = self.pool(py)?.guards();
        let told = PyDict::new(py);
        told.set_item("seccomp", guards.seccomp)?;
        told.set_item("landlock", guards.landlock)?;
        Ok(told)
    }

    /// How many programs run at a time.
    #[getter]
    fn workers(&self) -> usize {
        self.settings.workers
    }

    /// Runs the programs in texts on inputs, which are grids: for each text a list with, for each input, an array or an
    /// EvalError; or a ProgramError if it has no program.
    #[pyo3(signature = (texts, inputs, *, progress = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        inputs: &Bound<'py, PyAny>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let texts = list("texts", "a list of texts", texts)?;
        let inputs = arguments::grids("inputs", inputs)?.into_iter();
        let task = Task {
            test: inputs.map(|grid| Pair::new(grid, None)).collect(),
            ..Task::default()
        };
        let progress = ProgressCallback::new(py, progress, "evaluation")?;
        let texts: Vec<_> = texts.iter().map(completion).collect();
        let program = |text: &Result<String, String>| {
            let code = text.as_ref().map(|text| completions::code(text));
            Program::in_python("", code.unwrap_or_default())
        };
        let programs: Vec<_> = guard::engine(py, || texts.iter().map(program).collect())?;
        let pool = self.pool(py)?;
        let tasks = [task];
        let batch = Batch::all_pairs(&programs, &tasks).with_python(pool);
        let cancelled = Arc::new(AtomicBool::new(false));
        let mut options = Options::default();
        options.workers = NonZeroUsize::new(self.settings.workers);
        options.keep_outputs = true;
        options.cancellation = Cancellation::from(Arc::clone(&cancelled));
        let mut outputs: Vec<Outputs> = vec![Vec::new(); programs.len()];
        let take = |job: Job, result: PairResult| {
            let output = match (result.outcome, result.output) {
                (Outcome::Python(failure), _) => Err(*failure),
                (_, Some(Value::Grid(grid))) => Ok(Grid::clone(&grid)),
                (outcome, _) => {
                    let message = outcome.error().unwrap_or_default().into_owned();
                    return Err(io::Error::other(message));
                }
            };
            outputs[job.program as usize].push(output);
            Ok(())
        };
        let mut sink = Watched::new(take, &progress, &cancelled);
        let ran = guard::engine(py, || Runner::new(&options)?.run_into(&batch, &mut sink))?;
        let _ = sink.finish(py, ran)?;
        if tasks[0].test.is_empty() {
            let codes = programs.iter().filter_map(Program::python);
            let codes: Vec<_> = codes.map(|code| &**code).collect();
            let none = guard::engine(py, || pool.recognise(&codes))?;
            let none = none.map_err(|error| PyOSError::new_err(error.to_string()))?;
            for (of, none) in outputs.iter_mut().zip(none) {
                of.extend(none.map(Err));
            }
        }
        let found = outputs.into_iter().map(|outputs| match outputs.first() {
            Some(Err(none)) if none.kind == FailureKind::NoProgram => {
                let error = told(py, none.to_string(), none.line, 1, &none.message);
                Ok(error.into_value(py).into_bound(py).into_any())
            }
            _ => {
                let outputs = outputs.into_iter().map(|output| match output {
                    Ok(grid) => Ok(grids::array(py, &grid).into_any()),
                    Err(failure) => PyEvalError::python(&failure).into_bound_py_any(py),
                });
                outputs.collect::<PyResult<Vec<_>>>()?.into_bound_py_any(py)
            }
        });
        found.collect()
    }

    fn __repr__(&self) -> String {
        format!("<PythonPool with {} workers>", self.settings.workers)
    }
}

impl PyPythonPool {
    pub(crate) fn has_prelude(&self) -> bool {
        self.settings.prelude.is_some()
    }

    /// The pool of this process.
    pub(crate) fn pool(&self, py: Python<'_>) -> PyResult<&Pool> {
        self.running.here(|| pool_of(py, &self.settings))
    }
}
