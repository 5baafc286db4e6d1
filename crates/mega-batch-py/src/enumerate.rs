//! `enumerate_programs`: enumerates typed programs bottom-up, the cheapest first, with their values.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use arc_dsl::Grid;
use arc_search::Language;
use arc_search::enumerate::{Bounds, Enumeration, Stopped};
use arc_tasks::Task;
use mega_batch::batt::{self, Batt};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arguments;
use crate::batt::{PyBatt, of_task};
use crate::{guard, python};

/// The engine's default language.
fn default_language() -> &'static Language {
    static LANGUAGE: OnceLock<Language> = OnceLock::new();
    LANGUAGE.get_or_init(Language::default)
}

/// How often signals are checked.
const SIGNALS: Duration = Duration::from_millis(100);

/// The fields of `mega_batch.Enumeration`, before their conversion to Python: the batt, the values with their kinds and
/// costs, why it ended, how many calls were tried, and the greatest cost whose calls were all tried.
type Enumerated = (Batt, Vec<(batt::NodeId, String, u8)>, &'static str, u64, u8);

fn enumerated(
    task: &Task,
    language: &Language,
    within: &Bounds,
    max_bytes: usize,
    deadline: Option<Instant>,
) -> PyResult<Enumerated> {
    let mut bounds = batt::Bounds::for_search();
    bounds.max_bytes = max_bytes;
    let mut batt = of_task(task, bounds);
    let functions = language.functions().iter();
    let functions: Vec<_> = functions
        .map_while(|function| batt.define(function.clone()))
        .collect();
    let mut enumeration = Enumeration::new(language, &functions);
    enumeration.seed(&mut batt, &colours(task));
    let (mut raised, mut looked) = (None, Instant::now());
    let stopped = enumeration.run(&mut batt, within, &mut || {
        let now = Instant::now();
        if now - looked >= SIGNALS {
            looked = now;
            raised = Python::attach(|py| py.check_signals().err());
        }
        raised.is_some() || deadline.is_some_and(|end| now >= end)
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let mut values = Vec::new();
    for (place, name) in language.kinds().iter().enumerate() {
        if let Some(kind) = language.kind_at(place) {
            let known = enumeration.of(kind);
            values.extend(known.map(|known| (known.node, name.clone(), known.cost)));
        }
    }
    values.sort_by_key(|(node, _, cost)| (*cost, *node));
    let (_, calls) = enumeration.counts();
    // At the current cost calls may be left.
    let finished_cost = enumeration
        .cost()
        .saturating_sub(u8::from(stopped != Stopped::Exhausted));
    let stopped = match stopped {
        Stopped::Nodes => "nodes",
        Stopped::Calls => "calls",
        Stopped::Memory => "memory",
        Stopped::Exhausted => "exhausted",
        Stopped::Interrupted => "time",
    };
    Ok((batt, values, stopped, calls, finished_cost))
}

/// The colours of a task, except those in outputs of test pairs.
fn colours(task: &Task) -> Vec<i32> {
    let pairs = task.train.iter().chain(&task.test);
    let inputs = pairs.map(|pair| &*pair.input);
    let outputs = task.train.iter().filter_map(|pair| pair.output.as_ref());
    let shown: BTreeSet<i32> = inputs
        .chain(outputs)
        .flat_map(|grid: &Grid| grid.cells().iter().map(|colour| (*colour).into()))
        .collect();
    shown.into_iter().collect()
}

/// Typed programs bottom-up: every call of a language on every known value, the cheapest first. Among programs with
/// equal values on all inputs of the task the first is kept, and one that fails on an input is dropped. The same
/// arguments give the same values, unless `time_limit` ends it.
///
/// `task` is a task, or a list of input grids. The language is the search's: primitives and derived operations, with
/// the cost of each; `primitives` leaves out the derived ones. `language` is another one, a table as in
/// docs/search.md, and `functions` are the derived operations that it names, as functions of the public dialect. With
/// `by="size"` each operation costs 1.
///
/// It ends at `nodes` values, after `calls` calls (40 for each node by default), at `max_bytes` of memory, or after
/// `time_limit` seconds, and returns the values so far.
///
/// Raises ValueError for an invalid table or invalid functions, with the line; never MemoryError.
#[pyfunction]
#[pyo3(signature = (task, *, nodes = 10_000, calls = None, max_bytes = 536_870_912, time_limit = None,
    by = "cost", primitives = false, language = None, functions = ""))]
#[allow(clippy::too_many_arguments, reason = "they are keywords")]
pub(crate) fn enumerate_programs<'py>(
    py: Python<'py>,
    task: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::nodes)] nodes: usize,
    #[pyo3(from_py_with = arguments::optional::calls)] calls: Option<u64>,
    #[pyo3(from_py_with = arguments::max_bytes)] max_bytes: usize,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<Duration>,
    #[pyo3(from_py_with = arguments::by)] by: &str,
    #[pyo3(from_py_with = arguments::primitives)] primitives: bool,
    #[pyo3(from_py_with = arguments::optional::language)] language: Option<&str>,
    #[pyo3(from_py_with = arguments::functions)] functions: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let task = PyBatt::task_of(task)?;
    let by_size = match by {
        "cost" => false,
        "size" => true,
        _ => {
            return Err(PyValueError::new_err(format!(
                "by: expected \"cost\" or \"size\", found {by:?}"
            )));
        }
    };
    if language.is_none() && !functions.is_empty() {
        return Err(PyValueError::new_err(
            "functions: expected a language that names them",
        ));
    }
    let bounds = Bounds {
        enough: nodes,
        nodes,
        calls: calls.unwrap_or_else(|| (nodes as u64).saturating_mul(40)),
    };
    let deadline = time_limit.and_then(|time| Instant::now().checked_add(time));
    let (batt, values, stopped, calls, cost) = guard::engine(py, || {
        let given = language.map(|table| {
            let parsed = Language::parse(functions, table);
            parsed.map_err(|error| PyValueError::new_err(format!("language: {error}")))
        });
        let mut language = match given {
            Some(language) => language?,
            None => default_language().clone(),
        };
        if primitives {
            language = language.of_primitives();
        }
        if by_size {
            language = language.by_size();
        }
        enumerated(&task, &language, &bounds, max_bytes, deadline)
    })??;
    let batt = PyBatt::of(batt);
    let values = values.into_iter();
    let values = values.map(|(node, kind, cost)| (batt.node(node), kind, cost));
    let values: Vec<_> = values.collect();
    python(py, "Enumeration")?.call1((batt, values, stopped, calls, cost))
}
