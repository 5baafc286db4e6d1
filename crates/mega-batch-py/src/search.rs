//! `search`: programs for tasks, found by the engine.

use std::hash::{Hash, Hasher};
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_dsl::Task;
use mega_batch::search::{
    AttemptKind, FoundAttempt, Search, SearchOptions, SearchProgress, SearchSink, SearchState,
    Searched, SearchesTasks, Take,
};
use mega_batch::{Cancellation, CoordinatorError, Notice};
use numpy::PyArray2;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::arguments;
use crate::coordinator::check_folder;
use crate::grids::{self, Place};
use crate::guard;
use crate::options::workers as read_workers;
use crate::pickle::{Reduced, reduced};
use crate::programs::PyProgram;
use crate::progress::ProgressCallback;
use crate::tasks::{PyTask, all_tasks};

/// An attempt: a program that is right on train pairs. It can be pickled, and compares by value.
#[pyclass(frozen, eq, hash, name = "Attempt", module = "mega_batch")]
#[derive(Debug, PartialEq)]
pub(crate) struct PyAttempt {
    attempt: FoundAttempt,
    train: usize,
}

impl Hash for PyAttempt {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.attempt.program, &self.attempt.outputs).hash(state);
    }
}

impl PyAttempt {
    pub(crate) fn unpickled((attempt, train): (String, usize)) -> PyResult<Self> {
        let attempt = serde_json::from_str(&attempt)
            .map_err(|error| PyValueError::new_err(format!("Attempt: {error}")))?;
        Ok(Self { attempt, train })
    }
}

#[pymethods]
impl PyAttempt {
    /// The number of train pairs on which it is right.
    #[getter]
    fn fits(&self) -> u32 {
        self.attempt.fits
    }

    /// "chain", one layer that is right on all train pairs, "stack", several layers, or "partly".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.attempt.kind(self.train) {
            AttemptKind::Chain => "chain",
            AttemptKind::Stack => "stack",
            AttemptKind::Partly => "partly",
        }
    }

    /// Its score by the ranker.
    #[getter]
    fn score(&self) -> f64 {
        self.attempt.score
    }

    /// The greatest cost of a piece.
    #[getter]
    fn cost(&self) -> u32 {
        self.attempt.cost
    }

    /// The program.
    #[getter]
    fn program(&self, py: Python<'_>) -> PyResult<PyProgram> {
        PyProgram::of_text(py, &self.attempt.program, "solve", None)
    }

    /// The program as text.
    #[getter]
    fn text(&self) -> &str {
        &self.attempt.program
    }

    /// The output for each test pair, arrays of int8.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray2<i8>>> {
        self.attempt
            .outputs
            .iter()
            .map(|grid| grids::array(py, grid))
            .collect()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let attempt = serde_json::to_string(&self.attempt);
        let attempt = attempt.map_err(|error| crate::internal(&error.to_string()))?;
        reduced(py, "Attempt", (attempt, self.train))
    }

    fn __repr__(&self) -> String {
        format!(
            "<Attempt, {}, right on {} of {} train pairs>",
            self.kind(),
            self.fits(),
            self.train
        )
    }
}

/// The result of a search for one task. It can be pickled, and equals results that differ at most in times and bytes;
/// it is not hashable.
#[pyclass(frozen, eq, name = "Searched", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PySearched {
    searched: Searched,
    task: Arc<Task>,
    /// The index of the task.
    at: usize,
}

impl PartialEq for PySearched {
    fn eq(&self, other: &Self) -> bool {
        let timeless = |searched: &Searched| Searched {
            seconds: 0.0,
            bytes: 0,
            ..searched.clone()
        };
        (self.at, &self.task) == (other.at, &other.task)
            && timeless(&self.searched) == timeless(&other.searched)
    }
}

impl PySearched {
    pub(crate) fn unpickled(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (searched, task, at): (String, Bound<'_, PyTask>, usize) = state.extract()?;
        let searched = serde_json::from_str(&searched)
            .map_err(|error| PyValueError::new_err(format!("Searched: {error}")))?;
        Ok(Self {
            searched,
            task: Arc::new(task.get().task().clone()),
            at,
        })
    }
}

#[pymethods]
impl PySearched {
    /// The task.
    #[getter]
    fn task(&self) -> PyTask {
        PyTask::new((*self.task).clone())
    }

    /// The index of the task.
    #[getter]
    fn index(&self) -> usize {
        self.at
    }

    /// "solved" if the test outputs are known and one of the first two answers to each is right, "fits" if an attempt
    /// is right on all train pairs, "partly", or "nothing".
    #[getter]
    fn state(&self) -> &'static str {
        match self.searched.state(&self.task) {
            SearchState::Solved => "solved",
            SearchState::Fits => "fits",
            SearchState::Partly => "partly",
            SearchState::Nothing => "nothing",
        }
    }

    /// Why the task could not be searched, or None.
    #[getter]
    fn failure(&self) -> Option<&str> {
        self.searched.failure.as_deref()
    }

    /// The attempts, the best one first.
    #[getter]
    fn attempts(&self) -> Vec<PyAttempt> {
        let attempts = self.searched.attempts.iter();
        let train = self.task.train.len();
        attempts
            .map(|attempt| PyAttempt {
                attempt: attempt.clone(),
                train,
            })
            .collect()
    }

    /// For each test pair the answers, the best first, arrays of int8.
    #[getter]
    fn answers<'py>(&self, py: Python<'py>) -> Vec<Vec<Bound<'py, PyArray2<i8>>>> {
        let tests = 0..self.task.test.len();
        let answers = tests.map(|test| {
            let answers = self.searched.answers_of(test);
            answers.map(|grid| grids::array(py, grid)).collect()
        });
        answers.collect()
    }

    /// How many values were kept, and how many calls were tried.
    #[getter]
    fn counts(&self) -> (u64, u64) {
        (self.searched.counts.nodes, self.searched.counts.calls)
    }

    /// How long it took.
    #[getter]
    fn seconds(&self) -> f64 {
        self.searched.seconds
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let searched = serde_json::to_string(&self.searched);
        let searched = searched.map_err(|error| crate::internal(&error.to_string()))?;
        reduced(py, "Searched", (searched, self.task(), self.at))
    }

    fn __repr__(&self) -> String {
        let attempts = self.searched.attempts.len();
        format!(
            "<Searched {}: {}, {attempts} attempts>",
            self.task.id,
            self.state()
        )
    }
}

/// Collects the results, and checks for signals.
struct Collector<'a> {
    searched_tasks: Vec<(usize, Searched)>,
    callback: Option<Py<PyAny>>,
    progress: ProgressCallback,
    tasks: &'a [Task],
    cancelled: &'a AtomicBool,
    raised: Option<PyErr>,
}

impl Collector<'_> {
    fn call(&mut self, call: impl FnOnce(Python<'_>, &Self) -> PyResult<()>) {
        if self.raised.is_some() {
            return;
        }
        let called = Python::attach(|py| {
            py.check_signals()?;
            call(py, self)
        });
        if let Err(error) = called {
            self.raised = Some(error);
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

impl SearchSink for Collector<'_> {
    fn task(&mut self, task: usize, searched: Searched) -> io::Result<()> {
        if self.callback.is_some() {
            let of = Arc::new(self.tasks[task].clone());
            let given = PySearched {
                searched: searched.clone(),
                task: of,
                at: task,
            };
            self.call(|py, found| match &found.callback {
                Some(callback) => callback.call1(py, (given,)).map(drop),
                None => Ok(()),
            });
        }
        self.searched_tasks.push((task, searched));
        Ok(())
    }

    fn progress(&mut self, progress: SearchProgress) {
        self.call(|py, found| {
            let (done, total) = (progress.done as u64, progress.total as u64);
            found.progress.tell(py, done, total)
        });
    }

    fn idle(&mut self) {
        self.call(|_, _| Ok(()));
    }

    fn notice(&mut self, _: Notice) {}
}

/// A task's index and result; `None` if nothing has come for a moment.
type Given = Option<(usize, Searched)>;

/// Lets a Python callable search the tasks; `search` documents its interface.
struct DelegatedSearch<'a> {
    by: Py<PyAny>,
    tasks: &'a [Task],
    cancelled: &'a AtomicBool,
    raised: Option<PyErr>,
}

impl DelegatedSearch<'_> {
    fn all(&self, todo: &[usize]) -> PyResult<Py<PyIterator>> {
        Python::attach(|py| {
            let task = |at: &usize| (*at, PyTask::new(self.tasks[*at].clone()));
            let todo: Vec<_> = todo.iter().map(task).collect();
            let given = self.by.bind(py).call1((todo,))?;
            let expected = "that it gives an iterator of places with what was found";
            let all = given.try_iter();
            Ok(all
                .map_err(|_| Place::Named("by").expected(expected, &given))?
                .unbind())
        })
    }

    /// The next result; `None` at the end.
    fn next(&self, all: &Py<PyIterator>) -> PyResult<Option<Given>> {
        Python::attach(|py| {
            py.check_signals()?;
            let Some(given) = all.bind(py).clone().next().transpose()? else {
                return Ok(None);
            };
            if given.is_none() {
                return Ok(Some(None));
            }
            let by = Place::Named("by");
            let (at, found): (usize, Bound<'_, PyAny>) = given.extract().map_err(|_| {
                by.expected("the place of a task with what was found, or None", &given)
            })?;
            let searched = if let Ok(searched) = found.cast::<PySearched>() {
                searched.get().searched.clone()
            } else {
                let no_task = || PyValueError::new_err(format!("by: there is no task {at}"));
                Searched::failed(
                    self.tasks.get(at).ok_or_else(no_task)?,
                    found.extract::<String>().map_err(|_| {
                        by.expected("a Searched, or a text that says why there is none", &found)
                    })?,
                )
            };
            Ok(Some(Some((at, searched))))
        })
    }
}

impl SearchesTasks for DelegatedSearch<'_> {
    fn search(&mut self, todo: &[usize], take: &mut Take<'_>) -> io::Result<()> {
        // Results so far are kept: after an exception the search ends as if it were cancelled.
        let all = match self.all(todo) {
            Ok(all) => all,
            Err(error) => {
                self.raised = Some(error);
                return Ok(());
            }
        };
        while !self.cancelled.load(Ordering::Relaxed) {
            match self.next(&all) {
                Ok(Some(found)) => take(found)?,
                Ok(None) => break,
                Err(error) => {
                    self.raised = Some(error);
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Searches programs for tasks: the result for each, in the order of the tasks.
///
/// `nodes` is how many values are kept for a task (default 12,000), `attempts` how many answers are given for each
/// test pair (default 2), `time_per_task` ends the search of a task after this many seconds, which makes the result
/// depend on the machine. `checkpoint`, `resume` and `submission` are those of `Coordinator`. `on_task` is called
/// with each Searched as it comes, `progress` with the tasks finished and in total; True is a bar by tqdm.
///
/// With `by` a callable does the searching: it is called with a list of the indices and tasks to search, and returns
/// an iterator of indices with a Searched, or with a text that says why there is none, and of None from time to time.
#[pyfunction]
#[pyo3(signature = (tasks, *, solutions = None, nodes = None, attempts = None, workers = None,
    time_per_task = None, checkpoint = None, resume = false, submission = None, on_task = None,
    progress = None, by = None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords")]
pub(crate) fn search(
    py: Python<'_>,
    tasks: &Bound<'_, PyAny>,
    solutions: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = arguments::optional::nodes)] nodes: Option<usize>,
    #[pyo3(from_py_with = arguments::optional::attempts)] attempts: Option<usize>,
    workers: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = arguments::time_per_task)] time_per_task: Option<Duration>,
    #[pyo3(from_py_with = arguments::paths::checkpoint)] checkpoint: Option<PathBuf>,
    #[pyo3(from_py_with = arguments::resume)] resume: bool,
    #[pyo3(from_py_with = arguments::paths::submission)] submission: Option<PathBuf>,
    on_task: Option<Py<PyAny>>,
    progress: Option<Bound<'_, PyAny>>,
    by: Option<Py<PyAny>>,
) -> PyResult<Vec<PySearched>> {
    if on_task
        .as_ref()
        .is_some_and(|callback| !callback.bind(py).is_callable())
    {
        return Err(PyTypeError::new_err("on_task: expected a function"));
    }
    if by.as_ref().is_some_and(|by| !by.bind(py).is_callable()) {
        return Err(PyTypeError::new_err("by: expected a function"));
    }
    if resume && checkpoint.is_none() {
        return Err(PyValueError::new_err(
            "resume: expected a checkpoint to begin with",
        ));
    }
    submission.as_deref().map_or(Ok(()), check_folder)?;
    let tasks = all_tasks(tasks, solutions)?;
    let cancelled = Arc::new(AtomicBool::new(false));
    let mut options = SearchOptions::default();
    options.workers = workers.map(|it| read_workers("workers", it)).transpose()?;
    options.time_per_task = time_per_task;
    options.cancellation = Cancellation::from(Arc::clone(&cancelled));
    if let Some(nodes) = nodes {
        options.search = arc_search::Options::of_nodes(nodes);
    }
    options.search.attempts = attempts.unwrap_or(options.search.attempts);
    let mut found = Collector {
        searched_tasks: Vec::new(),
        callback: on_task,
        progress: ProgressCallback::new(progress.as_ref(), "task")?,
        tasks: &tasks,
        cancelled: &cancelled,
        raised: None,
    };
    let workers = options.workers.map_or(1, NonZeroUsize::get);
    let mut delegated = by.map(|by| DelegatedSearch {
        by,
        tasks: &tasks,
        cancelled: &cancelled,
        raised: None,
    });
    let run = guard::engine(py, || {
        let mut search = Search::new(&tasks, arc_search::Language::default(), &options);
        search = match checkpoint {
            Some(path) if resume => search.resume(path),
            Some(path) => search.checkpoint(path),
            None => search,
        };
        if let Some(path) = submission {
            search = search.submission(path);
        }
        match &mut delegated {
            Some(asked) => search.run_by(asked, workers, &mut found),
            None => search.run(&mut found),
        }
    })?;
    let Collector {
        searched_tasks: found,
        raised,
        ..
    } = found;
    if let Some(error) = raised.or(delegated.and_then(|search| search.raised)) {
        return Err(error);
    }
    run.map_err(|error| match error {
        CoordinatorError::Checkpoint(_) => PyValueError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    })?;
    let found = found.into_iter().map(|(at, searched)| PySearched {
        searched,
        task: Arc::new(tasks[at].clone()),
        at,
    });
    Ok(found.collect())
}
