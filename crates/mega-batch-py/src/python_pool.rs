//! `PythonPool`: workers that run programs in free Python, each in an isolated process of its own.

use std::path::PathBuf;
use std::process;
use std::sync::OnceLock;
use std::time::Duration;

use arc_dsl::Grid;
use mega_batch::inputs::completions;
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyOSError, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use python_pool::{Answer, Axes, Block, Failure, GridForm, Isolation, Job, Pool, Settings};

use crate::arguments::{flag, list, seconds, text, whole};
use crate::engine::completions::completion;
use crate::errors::{Fault, PyEvalError, told};
use crate::grids::{self, Place};
use crate::guard;
use crate::options::{word, workers};
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
    running: Running,
}

/// The workers of a process.
struct Running {
    process: u32,
    pool: Pool,
    after_fork: OnceLock<Box<Running>>,
}

impl Running {
    fn new(py: Python<'_>, settings: &Settings) -> PyResult<Self> {
        let pool = guard::engine(py, || Pool::new(settings.clone()))?;
        let pool = pool.map_err(|error| PyOSError::new_err(format!("PythonPool: {error}")))?;
        Ok(Self {
            process: process::id(),
            pool,
            after_fork: OnceLock::new(),
        })
    }
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
        time.ok_or_else(|| Place::Named(name).value_error("expected a time above 0 that ends"))
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
                let place = Place::Named(name);
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
        return Ok(("prelude".to_owned(), text("prelude", value)?.to_owned()));
    }
    if let Ok(both) = value.extract() {
        return Ok(both);
    }
    let Ok(path) = value.extract::<PathBuf>() else {
        return Err(Place::Named("prelude").expected("text, or a file as a path", value));
    };
    let content = std::fs::read_to_string(&path);
    let content = content
        .map_err(|error| PyOSError::new_err(format!("prelude: {}: {error}", path.display())))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok((name.into_owned(), content))
}

/// The outputs of a program, or why there is none.
type Outputs<'py> = Vec<Bound<'py, PyAny>>;

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
        let running = Running::new(py, &settings)?;
        let guards = running.pool.guards();
        if settings.isolation == Isolation::BestEffort && (!guards.seccomp || guards.landlock == 0)
        {
            let text =
                c"PythonPool: programs are not fully isolated here; `guards` says what is in force";
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 1)?;
        }
        Ok(Self {
            settings,
            keywords: keywords.unbind(),
            running,
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
        let inputs = list("inputs", "a list of grids", inputs)?;
        let place = Place::Named("inputs");
        let inputs = inputs.iter().enumerate();
        let inputs: Vec<Grid> = inputs
            .map(|(at, grid)| grids::grid(grid, &place.at(at)))
            .collect::<PyResult<_>>()?;
        let progress = ProgressCallback::new(progress.as_ref(), "program")?;
        let code: Vec<_> = texts.iter().map(completion).collect();
        let code: Vec<Vec<Vec<Block>>> = guard::engine(py, || {
            let code = code.iter().map(|text| {
                text.as_ref()
                    .map_or_else(|_| Vec::new(), |text| completions::code(text))
            });
            code.collect()
        })?;
        let jobs = code.iter().map(|tries| Job {
            tries,
            inputs: &inputs,
        });
        let jobs: Vec<_> = jobs.collect();
        let answers = self.answers(py, &jobs, |py, done| {
            progress.tell(py, done as u64, jobs.len() as u64)
        })?;
        let answers = answers.into_iter().map(|answer| match answer {
            Answer::NoProgram(line, reason) => {
                let error = told(py, format!("line {line}: {reason}"), line, 1, &reason);
                Ok(error.into_value(py).into_bound(py).into_any())
            }
            Answer::Ran(outputs) => {
                let outputs = outputs.into_iter().map(|output| output_of(py, output));
                outputs
                    .collect::<PyResult<Outputs>>()?
                    .into_bound_py_any(py)
            }
        });
        answers.collect()
    }

    fn __repr__(&self) -> String {
        format!("<PythonPool with {} workers>", self.settings.workers)
    }
}

fn output_of(py: Python<'_>, output: Result<Grid, Failure>) -> PyResult<Bound<'_, PyAny>> {
    match output {
        Ok(grid) => Ok(grids::array(py, &grid).into_any()),
        Err(failure) => PyEvalError(Fault::python(&failure)).into_bound_py_any(py),
    }
}

impl PyPythonPool {
    pub(crate) fn has_prelude(&self) -> bool {
        self.settings.prelude.is_some()
    }

    /// Runs programs. `tell` is called with the number of jobs done, a few times a second; an exception ends the run.
    pub(crate) fn answers(
        &self,
        py: Python<'_>,
        jobs: &[Job],
        mut tell: impl FnMut(Python<'_>, usize) -> PyResult<()> + Send,
    ) -> PyResult<Vec<Answer>> {
        let pool = self.pool(py)?;
        let mut raised = None;
        let ran = guard::engine(py, || {
            pool.run(jobs, |done, _| {
                let told = Python::attach(|py| py.check_signals().and_then(|()| tell(py, done)));
                raised = told.err();
                raised.is_none()
            })
        })?;
        match (raised, ran) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(PyOSError::new_err(format!("PythonPool: {error}"))),
            (None, Ok(answers)) => Ok(answers),
        }
    }

    /// The pool of this process.
    fn pool(&self, py: Python<'_>) -> PyResult<&Pool> {
        let mut running = &self.running;
        while running.process != process::id() {
            if let Some(forked) = running.after_fork.get() {
                running = forked;
                continue;
            }
            let replacement = Running::new(py, &self.settings)?;
            // If two threads get here, one of them is kept.
            let _ = running.after_fork.set(Box::new(replacement));
        }
        Ok(&running.pool)
    }
}
