//! `Report`: the results of a run.

use std::sync::Arc;

use arc_dsl::{Program, Task};
use mega_batch::{Summary, Totals};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::arguments;
use crate::grids::show;
use crate::pickle::{Reduced, reduced};
use crate::programs::PyProgram;
use crate::results::{Columns, PyResults, table};
use crate::tasks::PyTask;

/// The programs and tasks of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Subject {
    pub(crate) programs: Vec<Program>,
    pub(crate) tasks: Vec<Task>,
}

/// The results of a run: its counts, and the results of all evaluations, unless a callback took them.
///
/// `len(report)` and `report[i]` are those of `report.results`. It can be pickled, and equals reports of the same
/// programs and tasks that differ at most in times and `backends`; like its results it is not hashable.
#[pyclass(frozen, name = "Report", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyReport {
    subject: Arc<Subject>,
    /// How many evaluations were run.
    #[pyo3(get)]
    evaluations: u64,
    /// Evaluations that gave the expected output.
    #[pyo3(get)]
    right: u64,
    /// Evaluations that gave another output.
    #[pyo3(get)]
    wrong: u64,
    /// Evaluations whose expected output is not known.
    #[pyo3(get)]
    no_expected: u64,
    /// Evaluations that failed.
    #[pyo3(get)]
    errors: u64,
    /// Evaluations that reached a limit.
    #[pyo3(get)]
    limits: u64,
    /// How many evaluations the batch has.
    #[pyo3(get)]
    planned: u64,
    /// How many evaluations were skipped after a wrong pair, with `stop_after_wrong`.
    #[pyo3(get)]
    skipped: u64,
    /// How many tasks have a program that is right on every pair whose output is known.
    #[pyo3(get)]
    tasks_solved: u64,
    /// On how many pairs at least one program is right.
    #[pyo3(get)]
    pairs_right: u64,
    /// How many pairs of the tasks that were tried have a known output.
    #[pyo3(get)]
    pairs_expected: u64,
    /// The state of each task.
    by_task: Vec<&'static str>,
    /// Seconds of evaluating and compiling, by the clock.
    #[pyo3(get)]
    seconds: f64,
    /// What the backends did, as JSON.
    backends: String,
    /// The results as arrays.
    #[pyo3(get)]
    results: Py<PyResults>,
}

/// Programs, tasks, the [counts](PyReport::counts), the states of tasks, seconds, backends and results.
pub(crate) type PickledReport = (
    Vec<Py<PyProgram>>,
    Vec<Py<PyTask>>,
    [u64; 11],
    Vec<String>,
    f64,
    String,
    Py<PyResults>,
);

impl PyReport {
    pub(crate) fn new(
        py: Python<'_>,
        subject: Arc<Subject>,
        summary: Summary,
        columns: Columns,
    ) -> PyResult<Self> {
        let results = Py::new(py, columns.into_results(py)?)?;
        let backends = serde_json::to_string(&summary.backends);
        let states = summary.by_task.iter().map(|state| STATES[*state as usize]);
        let Totals {
            evaluations,
            right,
            wrong,
            no_expected,
            errors,
            limits,
        } = summary.totals;
        let report = Self {
            subject,
            evaluations,
            right,
            wrong,
            no_expected,
            errors,
            limits,
            planned: summary.planned,
            skipped: summary.skipped,
            tasks_solved: summary.tasks_solved,
            pairs_right: summary.pairs_right,
            pairs_expected: summary.pairs_expected,
            by_task: states.collect(),
            seconds: summary.elapsed.as_secs_f64(),
            backends: backends.map_err(|error| crate::internal(&error.to_string()))?,
            results,
        };
        log(py, || report.line())?;
        Ok(report)
    }

    pub(crate) fn unpickled(state: PickledReport) -> PyResult<Self> {
        let (programs, tasks, numbers, states, seconds, backends, results) = state;
        let [evaluations, right, wrong, no_expected, errors, limits, ..] = numbers;
        let [
            ..,
            planned,
            skipped,
            tasks_solved,
            pairs_right,
            pairs_expected,
        ] = numbers;
        let states = states.iter().map(|state| {
            let known = STATES.into_iter().find(|known| known == state);
            known.ok_or_else(|| PyValueError::new_err(format!("Report: {state:?}")))
        });
        let programs = programs.iter().map(|program| program.get().program());
        let tasks = tasks.iter().map(|task| task.get().task());
        Ok(Self {
            subject: Arc::new(Subject {
                programs: programs.cloned().collect(),
                tasks: tasks.cloned().collect(),
            }),
            evaluations,
            right,
            wrong,
            no_expected,
            errors,
            limits,
            planned,
            skipped,
            tasks_solved,
            pairs_right,
            pairs_expected,
            by_task: states.collect::<PyResult<_>>()?,
            seconds,
            backends,
            results,
        })
    }
}

/// Logs the end of a run to the logger `mega_batch`, if it is enabled.
fn log(py: Python<'_>, line: impl FnOnce() -> String) -> PyResult<()> {
    const INFO: u8 = 20;
    static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = LOGGER.get_or_try_init(py, || {
        let logging = py.import("logging")?;
        let logger = logging.call_method1("getLogger", ("mega_batch",))?;
        Ok::<_, PyErr>(logger.unbind())
    })?;
    let logger = made.bind(py);
    if logger.call_method1("isEnabledFor", (INFO,))?.is_truthy()? {
        logger.call_method1("info", ("%s", line()))?;
    }
    Ok(())
}

/// The words for the states of tasks, by [`TaskState`](mega_batch::TaskState).
const STATES: [&str; 3] = ["untried", "unsolved", "solved"];

#[pymethods]
impl PyReport {
    /// The programs, indexed by `Results.programs`.
    #[getter]
    fn programs(&self) -> Vec<PyProgram> {
        let programs = self.subject.programs.iter();
        programs.cloned().map(PyProgram::new).collect()
    }

    /// The tasks, indexed by `Results.tasks`.
    #[getter]
    fn tasks(&self) -> Vec<PyTask> {
        let tasks = self.subject.tasks.iter();
        tasks.cloned().map(PyTask::new).collect()
    }

    /// Whether the run finished: it was not cancelled, and its time was not over.
    #[getter]
    fn complete(&self) -> bool {
        self.evaluations + self.skipped == self.planned
    }

    /// "solved", "unsolved" or "untried", by task id.
    #[getter]
    fn task_states(&self) -> Vec<(String, &'static str)> {
        let states = self.subject.tasks.iter().zip(&self.by_task);
        states.map(|(task, it)| (task.id.clone(), *it)).collect()
    }

    /// Evaluations per second; 0 if there are none.
    #[getter]
    fn evaluations_per_second(&self) -> f64 {
        if self.seconds > 0.0 {
            self.evaluations as f64 / self.seconds
        } else {
            0.0
        }
    }

    /// What the backends did: the object `backend` of the command's JSON document, as a dict.
    #[getter]
    fn backends<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.backends,))
    }

    /// The results as a `pyarrow.Table`, as from `Results.to_arrow`, with "program_name" and "task_id" before its
    /// columns. Empty if a callback took the results.
    #[pyo3(signature = (*, drop_unfit = false))]
    fn to_arrow<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = arguments::drop_unfit)] drop_unfit: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        table(slf.as_any(), "arrow", drop_unfit)
    }

    /// The results as a `pandas.DataFrame`, with the columns of `to_arrow`.
    #[pyo3(signature = (*, drop_unfit = false))]
    fn to_pandas<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = arguments::drop_unfit)] drop_unfit: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        table(slf.as_any(), "pandas", drop_unfit)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.results.bind(py).as_any().len()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.results.bind(py).as_any().get_item(at)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.results.bind(py).as_any().call_method0("__iter__")
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else {
            return Ok(false);
        };
        let other = other.get();
        let same = self.counts() == other.counts()
            && self.by_task == other.by_task
            && self.subject == other.subject;
        Ok(same && self.results.bind(py).eq(&other.results)?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let state = (
            self.programs(),
            self.tasks(),
            self.counts(),
            &self.by_task,
            self.seconds,
            &self.backends,
            self.results.clone_ref(py),
        );
        reduced(py, "Report", state)
    }

    fn __repr__(&self) -> String {
        format!("<Report: {}>", self.line())
    }

    fn __str__(&self) -> String {
        format!(
            "{}\nright {}  wrong {}  without expected output {}  errors {}  limits {}",
            self.line(),
            self.right,
            self.wrong,
            self.no_expected,
            self.errors,
            self.limits,
        )
    }

    fn _repr_html_(&self) -> String {
        let of = |count: u64, all: u64| format!("{count} of {all}");
        let solved = of(self.tasks_solved, self.subject.tasks.len() as u64);
        let right = of(self.pairs_right, self.pairs_expected);
        let counts = [
            ("tasks solved", solved),
            ("pairs right", right),
            ("evaluations", self.evaluations.to_string()),
            ("right", self.right.to_string()),
            ("wrong", self.wrong.to_string()),
            ("without expected output", self.no_expected.to_string()),
            ("errors", self.errors.to_string()),
            ("limits", self.limits.to_string()),
            ("seconds", format!("{:.3}", self.seconds)),
        ];
        let rows = counts.iter().map(|(name, count)| {
            format!("<tr><th>{name}</th><td>{}</td></tr>", show::escaped(count))
        });
        format!("<table>{}</table>", rows.collect::<String>())
    }
}

impl PyReport {
    fn counts(&self) -> [u64; 11] {
        [
            self.evaluations,
            self.right,
            self.wrong,
            self.no_expected,
            self.errors,
            self.limits,
            self.planned,
            self.skipped,
            self.tasks_solved,
            self.pairs_right,
            self.pairs_expected,
        ]
    }

    fn line(&self) -> String {
        format!(
            "{} of {} tasks solved, {} of {} pairs right, {} evaluations in {:.3} s{}",
            self.tasks_solved,
            self.subject.tasks.len(),
            self.pairs_right,
            self.pairs_expected,
            self.evaluations,
            self.seconds,
            if self.complete() { "" } else { ", incomplete" },
        )
    }
}
