//! `Report`: the results of a run.

use std::sync::Arc;

use arc_dsl::Program;
use arc_tasks::Task;
use mega_batch::Summary;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::programs::PyProgram;
use crate::results::Columns;
use crate::tasks::PyTask;

/// The programs and tasks of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Subject {
    pub(crate) programs: Vec<Program>,
    pub(crate) tasks: Vec<Task>,
}

/// The programs and tasks of a run, which become Python objects if they are asked for.
#[pyclass(frozen, eq, name = "_Subject", module = "mega_batch._engine")]
#[derive(Debug, PartialEq)]
pub(crate) struct PySubject(Arc<Subject>);

#[pymethods]
impl PySubject {
    #[new]
    fn new(programs: Vec<Py<PyProgram>>, tasks: Vec<Py<PyTask>>) -> Self {
        let programs = programs.iter().map(|program| program.get().program());
        let tasks = tasks.iter().map(|task| task.get().task());
        Self(Arc::new(Subject {
            programs: programs.cloned().collect(),
            tasks: tasks.cloned().collect(),
        }))
    }

    #[getter]
    fn programs(&self) -> Vec<PyProgram> {
        let programs = self.0.programs.iter();
        programs.cloned().map(PyProgram::new).collect()
    }

    #[getter]
    fn tasks(&self) -> Vec<PyTask> {
        let tasks = self.0.tasks.iter();
        tasks.cloned().map(PyTask::new).collect()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyAny>, (Vec<PyProgram>, Vec<PyTask>)) {
        let class = py.get_type::<Self>().into_any();
        (class, (self.programs(), self.tasks()))
    }
}

/// The words for the states of tasks, by [`TaskState`](mega_batch::TaskState).
const STATES: [&str; 3] = ["untried", "unsolved", "solved"];

/// `mega_batch.Report` of a run that has ended, which is logged.
pub(crate) fn report<'py>(
    py: Python<'py>,
    subject: Arc<Subject>,
    summary: &Summary,
    columns: Columns,
) -> PyResult<Bound<'py, PyAny>> {
    let totals = &summary.totals;
    let backends = serde_json::to_string(&summary.backends);
    let states = summary.by_task.iter().map(|state| STATES[*state as usize]);
    let fields = PyDict::new(py);
    for (name, count) in [
        ("evaluations", totals.evaluations),
        ("right", totals.right),
        ("wrong", totals.wrong),
        ("no_expected", totals.no_expected),
        ("errors", totals.errors),
        ("limits", totals.limits),
        ("planned", summary.planned),
        ("skipped", summary.skipped),
        ("tasks_solved", summary.tasks_solved),
        ("pairs_right", summary.pairs_right),
        ("pairs_expected", summary.pairs_expected),
    ] {
        fields.set_item(name, count)?;
    }
    fields.set_item("_subject", PySubject(subject))?;
    fields.set_item("_states", states.collect::<Vec<_>>())?;
    fields.set_item("seconds", summary.elapsed.as_secs_f64())?;
    let backends = backends.map_err(|error| crate::internal(&error.to_string()))?;
    fields.set_item("_backends", backends)?;
    fields.set_item("results", columns.into_results(py)?)?;
    let module = py.import("mega_batch._results")?;
    module.getattr("logged")?.call((), Some(&fields))
}
