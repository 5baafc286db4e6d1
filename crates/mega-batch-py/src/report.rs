//! `Report`: what a run came to.

use std::sync::Arc;

use arc_dsl::{Program, Task};
use mega_batch::{Summary, TaskState};
use pyo3::prelude::*;

use crate::programs::PyProgram;
use crate::results::{Columns, PyOneResult, PyResults};
use crate::show;
use crate::tasks::PyTask;

/// The programs and tasks of a run.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) programs: Vec<Program>,
    pub(crate) tasks: Vec<Task>,
}

/// What a run came to: its counts, and the results of all evaluations, unless a callback took them.
///
/// `len(report)` and `report[i]` are those of `report.results`.
#[pyclass(frozen, name = "Report", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyReport {
    subject: Arc<Subject>,
    summary: Summary,
    results: Py<PyResults>,
}

impl PyReport {
    pub(crate) fn new(
        py: Python<'_>,
        subject: Arc<Subject>,
        summary: Summary,
        columns: Columns,
    ) -> PyResult<Self> {
        let results = Py::new(py, columns.into_results(py)?)?;
        Ok(Self {
            subject,
            summary,
            results,
        })
    }
}

fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Untried => "untried",
        TaskState::Unsolved => "unsolved",
        TaskState::Solved => "solved",
    }
}

#[pymethods]
impl PyReport {
    /// The results as arrays.
    #[getter]
    fn results(&self, py: Python<'_>) -> Py<PyResults> {
        self.results.clone_ref(py)
    }

    /// The programs, in the order that `Results.programs` counts.
    #[getter]
    fn programs(&self) -> Vec<PyProgram> {
        self.subject
            .programs
            .iter()
            .cloned()
            .map(PyProgram::new)
            .collect()
    }

    /// The tasks, in the order that `Results.tasks` counts.
    #[getter]
    fn tasks(&self) -> Vec<PyTask> {
        self.subject
            .tasks
            .iter()
            .cloned()
            .map(PyTask::new)
            .collect()
    }

    /// How many evaluations were made.
    #[getter]
    fn evaluations(&self) -> u64 {
        self.summary.totals.evaluations
    }

    /// How many the batch has.
    #[getter]
    fn planned(&self) -> u64 {
        self.summary.planned
    }

    /// How many were left out behind a wrong pair, with `stop_after_wrong`.
    #[getter]
    fn skipped(&self) -> u64 {
        self.summary.skipped
    }

    /// Whether the run came to its end: it was not cancelled, and its time was not over.
    #[getter]
    fn complete(&self) -> bool {
        self.summary.is_complete()
    }

    /// Evaluations that gave the expected output.
    #[getter]
    fn right(&self) -> u64 {
        self.summary.totals.right
    }

    /// Evaluations that gave another output.
    #[getter]
    fn wrong(&self) -> u64 {
        self.summary.totals.wrong
    }

    /// Evaluations of which the expected output is not known.
    #[getter]
    fn no_expected(&self) -> u64 {
        self.summary.totals.no_expected
    }

    /// Evaluations that failed.
    #[getter]
    fn errors(&self) -> u64 {
        self.summary.totals.errors
    }

    /// Evaluations that reached a limit.
    #[getter]
    fn limits(&self) -> u64 {
        self.summary.totals.limits
    }

    /// How many tasks a program is right on, on every pair whose output is known.
    #[getter]
    fn tasks_solved(&self) -> u64 {
        self.summary.tasks_solved
    }

    /// "solved", "unsolved" or "untried", by task id.
    #[getter]
    fn task_states(&self) -> Vec<(String, &'static str)> {
        let states = self.subject.tasks.iter().zip(&self.summary.by_task);
        states
            .map(|(task, it)| (task.id.clone(), state(*it)))
            .collect()
    }

    /// How many pairs at least one program is right on.
    #[getter]
    fn pairs_right(&self) -> u64 {
        self.summary.pairs_right
    }

    /// How many pairs of the tasks that were tried have a known output.
    #[getter]
    fn pairs_expected(&self) -> u64 {
        self.summary.pairs_expected
    }

    /// Seconds of evaluating and compiling, by the clock.
    #[getter]
    fn seconds(&self) -> f64 {
        self.summary.elapsed.as_secs_f64()
    }

    /// Evaluations a second.
    #[getter]
    fn evaluations_per_second(&self) -> f64 {
        self.summary.evaluations_per_second()
    }

    /// Who made the evaluations: the object `backend` of the command's JSON document, as a dict.
    #[getter]
    fn backends<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(&self.summary.backends);
        let text = text.map_err(|error| crate::internal(&error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.results.bind(py).as_any().len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, at: isize) -> PyResult<Bound<'py, PyOneResult>> {
        let result = self.results.bind(py).as_any().get_item(at)?;
        Ok(result.cast_into()?)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.results.bind(py).as_any().call_method0("__iter__")
    }

    fn __repr__(&self) -> String {
        format!("<Report: {}>", self.line())
    }

    fn __str__(&self) -> String {
        let totals = &self.summary.totals;
        format!(
            "{}\nright {}  wrong {}  without expected output {}  errors {}  limits {}",
            self.line(),
            totals.right,
            totals.wrong,
            totals.no_expected,
            totals.errors,
            totals.limits,
        )
    }

    fn _repr_html_(&self) -> String {
        let totals = &self.summary.totals;
        let counts = [
            (
                "tasks solved",
                format!("{} of {}", self.summary.tasks_solved, self.summary.tasks),
            ),
            (
                "pairs right",
                format!(
                    "{} of {}",
                    self.summary.pairs_right, self.summary.pairs_expected
                ),
            ),
            ("evaluations", totals.evaluations.to_string()),
            ("right", totals.right.to_string()),
            ("wrong", totals.wrong.to_string()),
            ("without expected output", totals.no_expected.to_string()),
            ("errors", totals.errors.to_string()),
            ("limits", totals.limits.to_string()),
            ("seconds", format!("{:.3}", self.seconds())),
        ];
        let rows = counts.iter().map(|(name, count)| {
            format!("<tr><th>{name}</th><td>{}</td></tr>", show::escaped(count))
        });
        format!("<table>{}</table>", rows.collect::<String>())
    }
}

impl PyReport {
    fn line(&self) -> String {
        let summary = &self.summary;
        format!(
            "{} of {} tasks solved, {} of {} pairs right, {} evaluations in {:.3} s{}",
            summary.tasks_solved,
            summary.tasks,
            summary.pairs_right,
            summary.pairs_expected,
            summary.totals.evaluations,
            summary.elapsed.as_secs_f64(),
            if summary.is_complete() {
                ""
            } else {
                ", incomplete"
            },
        )
    }
}
