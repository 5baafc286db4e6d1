//! `synth`: tasks generated from programs, and augmented tasks.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use arc_dsl::Program;
use mega_batch::synth::{
    AugmentError, Augmentation, COLOURS, Changes, Dropped, Filters, Inputs, Made, Recipe, Settings,
    Symmetry, Synthesis,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::guard::{self, lock};
use crate::options::workers as read_workers;
use crate::programs::{PyProgram, all_programs};
use crate::progress::ProgressCallback;
use crate::python;
use crate::tasks::{PyTask, all_tasks};

/// Checks the fields of a `mega_batch.SynthTask`; returns those that may be given in several forms.
#[pyfunction]
#[allow(unused_variables, reason = "the types are checked")]
pub(crate) fn _checked(
    task: &Bound<'_, PyTask>,
    program: Option<&Bound<'_, PyProgram>>,
    kind: Option<String>,
    parents: Vec<String>,
    behaviour: Option<String>,
    #[pyo3(from_py_with = arguments::optional::candidate)] candidate: Option<u64>,
    augmented_from: Option<String>,
) -> (Vec<String>, Option<u64>) {
    (parents, candidate)
}

/// An augmented task with its program, if it has one.
type Augmented = (PyTask, Option<PyProgram>);

/// The augmentation with these changes: see `SynthTask.augmented`.
#[pyfunction]
pub(crate) fn _augmented(
    task: &PyTask,
    program: Option<&PyProgram>,
    #[pyo3(from_py_with = arguments::symmetry)] symmetry: &str,
    #[pyo3(from_py_with = arguments::colours)] colours: Option<Vec<i64>>,
    #[pyo3(from_py_with = arguments::order)] order: Option<Vec<i64>>,
) -> PyResult<Augmented> {
    let symmetry = Symmetry::from_name(symmetry).ok_or_else(|| {
        let names: Vec<_> = Symmetry::ALL.map(Symmetry::name).into();
        let names = names.join("\", \"");
        PyValueError::new_err(format!(
            "symmetry: expected one of \"{names}\", found {symmetry:?}"
        ))
    })?;
    let mut augmentation = Augmentation::none();
    augmentation.symmetry = symmetry;
    if let Some(given) = colours {
        let given = given
            .iter()
            .map(|colour| i8::try_from(*colour).unwrap_or(-1));
        let given: Vec<i8> = given.collect();
        augmentation.colours = given.try_into().map_err(|given: Vec<i8>| {
            let found = given.len();
            PyValueError::new_err(format!(
                "colours: expected {COLOURS} of them, found {found}"
            ))
        })?;
    }
    if let Some(order) = order {
        // Without pairs an empty order is valid; otherwise it is too short.
        let count = pairs_of(task);
        if order.len() != count {
            return Err(PyValueError::new_err(format!(
                "order: expected the places of the {count} pairs, found {}",
                order.len()
            )));
        }
        // A negative index is invalid too.
        let order = order
            .iter()
            .map(|at| usize::try_from(*at).unwrap_or(usize::MAX));
        let order: Vec<usize> = order.collect();
        augmentation.order = order;
    }
    changed(task, program, &augmentation)
}

/// The augmentation of this number, as `augment` draws them.
#[pyfunction]
#[allow(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "they are the settings of augmentations"
)]
pub(crate) fn _drawn(
    task: &PyTask,
    program: Option<&PyProgram>,
    seed: u64,
    number: u64,
    symmetries: bool,
    colours: bool,
    order: bool,
    fixed: Vec<i8>,
) -> PyResult<Augmented> {
    let changes = Changes {
        symmetries,
        colours,
        order,
        fixed: &fixed,
    };
    let seed = seed ^ xxhash_rust::xxh3::xxh3_64(task.task().id.as_bytes());
    let augmentation = Augmentation::drawn(seed, number, &changes, pairs_of(task));
    changed(task, program, &augmentation)
}

/// The number of pairs that can be reordered.
fn pairs_of(task: &PyTask) -> usize {
    task.task().train.len() + task.task().test.len()
}

fn changed(
    task: &PyTask,
    program: Option<&PyProgram>,
    augmentation: &Augmentation,
) -> PyResult<Augmented> {
    let wrong = |error: AugmentError| PyValueError::new_err(error.to_string());
    let id = augmentation.id(&task.task().id);
    let task = augmentation.task(task.task(), &id).map_err(wrong)?;
    let program = program.map(|program| {
        let made = augmentation.program(program.program(), &format!("solve_{id}"));
        made.map(PyProgram::new).map_err(wrong)
    });
    Ok((PyTask::new(task), program.transpose()?))
}

/// Tasks generated from programs: an iterator of SynthTask, each a task with the program that computes its
/// outputs.
///
/// A candidate is a program and inputs; with the program's outputs it is a task unless a filter drops it. `counts`
/// of the returned object says how many were dropped for which reason. The same arguments give the same tasks on
/// every machine, for any number of `workers` (threads, one for each core by default).
///
/// `programs` are the programs to start from, the engine's built-in ones by default. `kinds` are the ways to
/// derive new ones: `"program"`, one of them unchanged, `"mutant"`, with one to three changes, `"variation"`,
/// with changes that keep types, `"composition"`, one applied to the output of another, `"crossover"`, one with
/// one of its grids replaced by a grid of another. All are equally likely; the default is all but the first. Steps on
/// which the output does not depend are removed.
///
/// Inputs are generated scenes of up to `scene_side` rows and columns (a few programs need more), those of the
/// built-in program itself or of any other; and inputs of `tasks`, of the program's own task or of any other, half
/// of them rotated and mirrored. `"both"` uses each for half of the candidates, if tasks are given.
///
/// Dropped are tasks in which half of the outputs or more equal their inputs (unless `keep_identity`), whose
/// outputs are all the same (`keep_constant`), with grids of more than `max_side` rows or columns (None: any),
/// with colours other than 0 to 9 in outputs (`keep_foreign`), whose program behaves like an earlier one on a fixed
/// set of scenes and, if these say little, on inputs of its own (`keep_duplicates`), and whose test outputs a
/// `search` of `easy_nodes` nodes finds (0: no search). An evaluation takes `max_steps` steps at most.
///
/// It ends after `count` tasks, or after 20,000 candidates in a row without a task; without `count` it goes on.
/// `shard=(part, of)` generates a part of the candidates: all parts together generate those of the whole, and each
/// drops only its own duplicates. `progress` is True for a bar by tqdm, or a function that is called with the tasks
/// generated and in total.
///
/// Raises ValueError and TypeError for invalid arguments, naming them. Ctrl-C raises KeyboardInterrupt; the iterator
/// can be used further.
///
/// Threads may share it: each gets other tasks.
#[pyclass(frozen, name = "Synthesis", module = "mega_batch")]
pub(crate) struct PySynthesis {
    /// The names of the programs.
    names: Vec<String>,
    count: Option<u64>,
    progress: ProgressCallback,
    state: Mutex<SynthesisState>,
}

struct SynthesisState {
    synthesis: Synthesis,
    made: u64,
    is_over: bool,
    told: Instant,
}

/// How often signals are checked and progress is reported.
const TICK: Duration = Duration::from_millis(100);

#[pymethods]
impl PySynthesis {
    #[new]
    #[pyo3(signature = (programs = None, tasks = None, *, count = None, seed = 0, train = 3, test = 1, kinds = None,
        inputs = "both", scene_side = 20, keep_identity = false, keep_constant = false, max_side = Some(30), keep_foreign = false,
        keep_duplicates = false, easy_nodes = 300, max_steps = 100_000, shard = (0, 1), workers = None, progress = None))]
    #[allow(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "they are keywords"
    )]
    fn new(
        py: Python<'_>,
        programs: Option<&Bound<'_, PyAny>>,
        tasks: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::optional::count)] count: Option<u64>,
        #[pyo3(from_py_with = arguments::seed)] seed: u64,
        #[pyo3(from_py_with = arguments::train)] train: usize,
        #[pyo3(from_py_with = arguments::test)] test: usize,
        kinds: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::inputs)] inputs: &str,
        #[pyo3(from_py_with = arguments::scene_side)] scene_side: usize,
        #[pyo3(from_py_with = arguments::keep_identity)] keep_identity: bool,
        #[pyo3(from_py_with = arguments::keep_constant)] keep_constant: bool,
        #[pyo3(from_py_with = arguments::optional::max_side)] max_side: Option<usize>,
        #[pyo3(from_py_with = arguments::keep_foreign)] keep_foreign: bool,
        #[pyo3(from_py_with = arguments::keep_duplicates)] keep_duplicates: bool,
        #[pyo3(from_py_with = arguments::easy_nodes)] easy_nodes: usize,
        #[pyo3(from_py_with = arguments::max_steps)] max_steps: u64,
        #[pyo3(from_py_with = arguments::shard)] shard: (u64, u64),
        workers: Option<&Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut settings = Settings::default();
        settings.seed = seed;
        settings.train = train;
        settings.test = test;
        settings.scene_side = scene_side;
        settings.max_steps = max_steps;
        settings.shard = shard;
        settings.filters = Filters {
            identity: !keep_identity,
            constant: !keep_constant,
            max_side,
            foreign: !keep_foreign,
            duplicates: !keep_duplicates,
            easy_nodes,
        };
        if let Some(programs) = programs {
            settings.programs = all_programs(programs, None)?;
        }
        if let Some(tasks) = tasks {
            settings.tasks = all_tasks(tasks, None)?;
        }
        if let Some(kinds) = kinds {
            settings.recipes = read_kinds(kinds)?;
        }
        settings.inputs = match inputs {
            "both" => Inputs::Both,
            "scenes" => Inputs::Scenes,
            "tasks" => Inputs::Tasks,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "inputs: expected \"both\", \"scenes\" or \"tasks\", found {inputs:?}"
                )));
            }
        };
        settings.workers = workers
            .map(|workers| read_workers("workers", workers))
            .transpose()?;
        let progress = ProgressCallback::new(py, progress, "task")?;
        if count.is_none() && progress.is_wanted() {
            return Err(PyValueError::new_err(
                "progress: expected a count of tasks, without which there is no end",
            ));
        }
        let names = settings.programs.iter().map(Program::name);
        let names = names.map(str::to_owned).collect();
        let synthesis =
            Synthesis::new(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self {
            names,
            count,
            progress,
            state: Mutex::new(SynthesisState {
                synthesis,
                made: 0,
                is_over: false,
                told: Instant::now(),
            }),
        })
    }

    /// The candidates so far: how many "candidates" there were, how many were "made" into tasks, and how many were
    /// dropped for each reason: "unchanged", the changes to the program had no effect; "failed", it fails or reaches
    /// a limit; "no_grid"; "too_large"; "foreign", colours other than 0 to 9; "identity"; "constant"; "few_inputs",
    /// too few different ones; "duplicate"; "easy".
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = guard::engine(py, || *lock(&self.state).synthesis.counts())?;
        let dict = PyDict::new(py);
        dict.set_item("candidates", counts.candidates)?;
        dict.set_item("made", counts.made)?;
        for reason in Dropped::ALL {
            dict.set_item(reason.name(), counts.dropped(reason))?;
        }
        Ok(dict)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (made, tell) = guard::engine(py, || {
            let mut state = lock(&self.state);
            if state.is_over || self.count == Some(state.made) {
                return Ok((None, None));
            }
            let (mut raised, mut looked) = (None, Instant::now());
            let made = state.synthesis.next_task(&mut || {
                if looked.elapsed() >= TICK {
                    looked = Instant::now();
                    raised = Python::attach(|py| py.check_signals().err());
                }
                raised.is_some()
            });
            if let Some(error) = raised {
                return Err(error);
            }
            let made = made.map_err(|error| crate::internal(&error.to_string()))?;
            state.made += u64::from(made.is_some());
            state.is_over |= made.is_none();
            let is_end = made.is_none() || self.count == Some(state.made);
            let tell = is_end || state.told.elapsed() >= TICK;
            if tell {
                state.told = Instant::now();
            }
            Ok((made, tell.then_some(state.made)))
        })??;
        if let (Some(done), Some(count)) = (tell, self.count) {
            self.progress.tell(py, done, count)?;
        }
        made.map(|made| synth_task(py, *made, &self.names))
            .transpose()
    }

    fn __repr__(&self) -> String {
        match self.count {
            Some(count) => format!("<Synthesis of {count} tasks>"),
            None => "<Synthesis without end>".to_owned(),
        }
    }
}

/// `mega_batch.SynthTask`.
fn synth_task<'py>(py: Python<'py>, made: Made, names: &[String]) -> PyResult<Bound<'py, PyAny>> {
    let parents = made.parents.iter().filter_map(|at| names.get(*at));
    let parents: Vec<_> = parents.collect();
    let fields = PyDict::new(py);
    fields.set_item("kind", made.recipe.name())?;
    fields.set_item("parents", parents)?;
    fields.set_item("behaviour", format!("{:032x}", made.behaviour))?;
    fields.set_item("candidate", made.number)?;
    let task = (PyTask::new(made.task), PyProgram::new(made.program));
    python(py, "SynthTask")?.call(task, Some(&fields))
}

/// The ways to generate programs: names, each as often as its weight.
fn read_kinds(kinds: &Bound<'_, PyAny>) -> PyResult<Vec<Recipe>> {
    let names = Recipe::ALL.map(Recipe::name).join("\", \"");
    let expected = format!("a list of \"{names}\"");
    let kinds = arguments::list("kinds", &expected, kinds)?;
    let kinds = kinds.iter().map(|kind| {
        let kind = arguments::text("kinds", kind)?;
        let known = Recipe::ALL.into_iter().find(|one| one.name() == kind);
        known.ok_or_else(|| {
            PyValueError::new_err(format!("kinds: expected {expected}, found {kind:?}"))
        })
    });
    kinds.collect()
}
