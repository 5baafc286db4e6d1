//! `search`: programs for tasks, found by the engine.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_tasks::Task;
use mega_batch::search::{
    AttemptKind, FoundAttempt, Search, SearchOptions, SearchProgress, SearchSink, SearchState,
    Searched, SearchesTasks, Take,
};
use mega_batch::{Cancellation, CoordinatorError, Notice};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::arguments;
use crate::coordinator::check_folder;
use crate::grids::{self, ArgumentPlace};
use crate::options::workers as read_workers;
use crate::progress::ProgressCallback;
use crate::tasks::{PyTask, all_tasks};
use crate::{guard, python};

/// `mega_batch.Attempt`, from the fields that are pickled.
pub(crate) fn attempt(
    py: Python<'_>,
    (json, train): (String, usize),
) -> PyResult<Bound<'_, PyAny>> {
    let found = read("Attempt", &json)?;
    attempt_of(py, &found, train)
}

fn attempt_of<'py>(
    py: Python<'py>,
    found: &FoundAttempt,
    train: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let kind = match found.kind(train) {
        AttemptKind::Chain => "chain",
        AttemptKind::Stack => "stack",
        AttemptKind::Partly => "partly",
    };
    let outputs = found.outputs.iter().map(|grid| grids::array(py, grid));
    let outputs: Vec<_> = outputs.collect();
    let FoundAttempt {
        fits,
        score,
        cost,
        program,
        ..
    } = found;
    let json = written(found)?;
    python(py, "Attempt")?.call1((fits, kind, score, cost, program, outputs, train, json))
}

/// `mega_batch.Searched`, from the fields that are pickled.
pub(crate) fn searched<'py>(
    py: Python<'py>,
    (json, task, at): (String, Bound<'py, PyTask>, usize),
) -> PyResult<Bound<'py, PyAny>> {
    searched_of(py, &read("Searched", &json)?, task.get(), at)
}

fn searched_of<'py>(
    py: Python<'py>,
    found: &Searched,
    task: &PyTask,
    at: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let of = task.task();
    let attempts = found.attempts.iter();
    let attempts = attempts.map(|attempt| attempt_of(py, attempt, of.train.len()));
    let answers = (0..of.test.len()).map(|test| {
        let answers = found.answers_of(test);
        answers.map(|grid| grids::array(py, grid)).collect()
    });
    let state = match found.state(of) {
        SearchState::Solved => "solved",
        SearchState::Fits => "fits",
        SearchState::Partly => "partly",
        SearchState::Nothing => "nothing",
    };
    python(py, "Searched")?.call1((
        task.clone(),
        at,
        state,
        &found.failure,
        attempts.collect::<PyResult<Vec<_>>>()?,
        answers.collect::<Vec<Vec<_>>>(),
        found.counts.nodes,
        found.counts.calls,
        found.seconds,
        written(found)?,
    ))
}

fn read<T: DeserializeOwned>(class: &str, json: &str) -> PyResult<T> {
    let read = serde_json::from_str(json);
    read.map_err(|error| PyValueError::new_err(format!("{class}: {error}")))
}

fn written(value: &impl Serialize) -> PyResult<String> {
    let written = serde_json::to_string(value);
    written.map_err(|error| crate::internal(&error.to_string()))
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
        self.call(|py, found| {
            let Some(callback) = &found.callback else {
                return Ok(());
            };
            let of = PyTask::new(found.tasks[task].clone());
            let given = searched_of(py, &searched, &of, task)?;
            callback.call1(py, (given,)).map(drop)
        });
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
                .map_err(|_| ArgumentPlace::Named("by").expected(expected, &given))?
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
            let by = ArgumentPlace::Named("by");
            let (at, found): (usize, Bound<'_, PyAny>) = given.extract().map_err(|_| {
                by.expected("the place of a task with what was found, or None", &given)
            })?;
            let searched = if let Ok(json) = found.getattr("_json") {
                read("Searched", &json.extract::<String>()?)?
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
pub(crate) fn search<'py>(
    py: Python<'py>,
    tasks: &Bound<'py, PyAny>,
    solutions: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = arguments::optional::nodes)] nodes: Option<usize>,
    #[pyo3(from_py_with = arguments::optional::attempts)] attempts: Option<usize>,
    workers: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = arguments::time_per_task)] time_per_task: Option<Duration>,
    #[pyo3(from_py_with = arguments::checkpoint)] checkpoint: Option<PathBuf>,
    #[pyo3(from_py_with = arguments::resume)] resume: bool,
    #[pyo3(from_py_with = arguments::submission)] submission: Option<PathBuf>,
    #[pyo3(from_py_with = arguments::on_task)] on_task: Option<Py<PyAny>>,
    progress: Option<Bound<'_, PyAny>>,
    #[pyo3(from_py_with = arguments::by_function)] by: Option<Py<PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
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
        progress: ProgressCallback::new(py, progress, "task")?,
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
    let found = found.into_iter().map(|(at, searched)| {
        let task = PyTask::new(tasks[at].clone());
        searched_of(py, &searched, &task, at)
    });
    found.collect()
}
