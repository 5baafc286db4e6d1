//! `_Pool`: the pairs of tasks as arrays for networks: augmented, padded, with masks.

use std::sync::{Arc, Mutex};

use arc_dsl::Grid;
use arc_tasks::Task;
use mega_batch::synth::{Augmentation, COLOURS, Changes, recoloured};
use numpy::{IntoPyArray, PyArray1, PyArray4, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arguments;
use crate::guard::{self, lock};
use crate::results::{filled, shaped};
use crate::tasks::PyTask;

/// The pairs of tasks: those with a known output, with grids of at most `side` rows and columns and colours 0 to 9.
#[pyclass(frozen, name = "_Pool", module = "mega_batch")]
pub(crate) struct PyPool {
    side: usize,
    tasks: Mutex<Vec<Arc<Pairs>>>,
}

struct Pairs {
    pairs: Vec<(Arc<Grid>, Grid)>,
    /// The number of train pairs.
    train: usize,
}

/// The inputs, their mask, the outputs and their mask.
type Arrays<'py> = (
    Bound<'py, PyArray4<u8>>,
    Bound<'py, PyArray4<bool>>,
    Bound<'py, PyArray4<u8>>,
    Bound<'py, PyArray4<bool>>,
);

#[pymethods]
impl PyPool {
    #[new]
    fn new(#[pyo3(from_py_with = arguments::side)] side: usize) -> Self {
        Self {
            side,
            tasks: Mutex::new(Vec::new()),
        }
    }

    /// Adds the pairs of a task, or replaces those of the earlier task `at`. Returns whether it has at least `least`
    /// pairs; if not, nothing changes.
    #[pyo3(signature = (task, least, at = None))]
    fn add(&self, task: &Bound<'_, PyAny>, least: usize, at: Option<usize>) -> PyResult<bool> {
        // Of a SynthTask.
        let inner = task.getattr("task");
        let Ok(task) = inner.as_ref().unwrap_or(task).cast::<PyTask>() else {
            return Err(PyTypeError::new_err("task: expected a Task or a SynthTask"));
        };
        let pairs = self.pairs_of(task.get().task());
        if pairs.pairs.len() < least.max(1) {
            return Ok(false);
        }
        let mut tasks = lock(&self.tasks);
        match at {
            None => tasks.push(Arc::new(pairs)),
            Some(at) => match tasks.get_mut(at) {
                Some(place) => *place = Arc::new(pairs),
                None => return Err(PyValueError::new_err(format!("at: no task {at}"))),
            },
        }
        Ok(true)
    }

    fn __len__(&self) -> usize {
        lock(&self.tasks).len()
    }

    /// The number of pairs of each task, an array of int64.
    fn counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let counts: Vec<i64> = lock(&self.tasks)
            .iter()
            .map(|task| task.pairs.len() as i64)
            .collect();
        counts.into_pyarray(py)
    }

    /// `count` pairs of each task: inputs (uint8, (n, count, side, side)), their mask (bool), outputs and their mask.
    /// All pairs of a task are augmented alike. The first is the one of `first`, an index for each task, if it is
    /// given; otherwise with `order` they are any, without it the first train pairs and, as the last one, a test pair.
    #[allow(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "they are the settings of augmentations"
    )]
    fn draw<'py>(
        &self,
        py: Python<'py>,
        tasks: PyReadonlyArray1<'py, i64>,
        first: Option<PyReadonlyArray1<'py, i64>>,
        count: usize,
        seed: u64,
        symmetries: bool,
        colours: bool,
        order: bool,
        fixed: Vec<i8>,
        fill: u8,
    ) -> PyResult<Arrays<'py>> {
        let chosen = self.chosen(tasks.as_array().iter().copied())?;
        let first = first.map(|first| first.as_array().to_vec());
        let changes = Changes {
            symmetries,
            colours,
            order: order && first.is_none(),
            fixed: &fixed,
        };
        let (side, groups) = (self.side, chosen.len());
        let drawn = guard::engine(py, || {
            let cells = (groups * count).saturating_mul(side * side);
            let mut squares = [
                (filled(fill, cells)?, filled(false, cells)?),
                (filled(fill, cells)?, filled(false, cells)?),
            ];
            for (number, task) in chosen.iter().enumerate() {
                let of_task = task.pairs.len();
                if of_task < count {
                    return Err(PyValueError::new_err(format!(
                        "count: a task has {of_task} pairs, expected {count}"
                    )));
                }
                let change = Augmentation::drawn(seed, number as u64, &changes, of_task);
                for at in 0..count {
                    let place = match (&first, change.order.get(at)) {
                        (Some(first), _) => first[number] as usize,
                        (None, Some(place)) => *place,
                        (None, None) if at + 1 == count && task.train < of_task => {
                            task.train.max(at)
                        }
                        (None, None) => at,
                    };
                    let Some((input, output)) = task.pairs.get(place) else {
                        return Err(PyValueError::new_err(format!("pairs: no pair {place}")));
                    };
                    let begin = (number * count + at) * side * side;
                    for ((cells, mask), grid) in squares.iter_mut().zip([&**input, output]) {
                        let of = begin..begin + side * side;
                        lay(grid, &change, side, &mut cells[of.clone()], &mut mask[of]);
                    }
                }
            }
            Ok(squares)
        })??;
        let shape = (groups, count, side, side);
        let [inputs, outputs] = drawn;
        Ok((
            shaped(py, shape, inputs.0)?,
            shaped(py, shape, inputs.1)?,
            shaped(py, shape, outputs.0)?,
            shaped(py, shape, outputs.1)?,
        ))
    }
}

impl PyPool {
    /// The tasks with these indices.
    fn chosen(&self, places: impl Iterator<Item = i64>) -> PyResult<Vec<Arc<Pairs>>> {
        let tasks = lock(&self.tasks);
        let chosen = places.map(|at| {
            let task = usize::try_from(at).ok().and_then(|at| tasks.get(at));
            task.cloned()
                .ok_or_else(|| PyValueError::new_err(format!("tasks: no task {at}")))
        });
        chosen.collect()
    }

    fn pairs_of(&self, task: &Task) -> Pairs {
        let fits = |grid: &Grid| {
            let side = grid.height().max(grid.width());
            let colours = 0..COLOURS as i8;
            side <= self.side && grid.cells().iter().all(|cell| colours.contains(cell))
        };
        let mut pairs = Vec::with_capacity(task.train.len() + task.test.len());
        let mut train = 0;
        for (at, pair) in task.train.iter().chain(&task.test).enumerate() {
            if let Some(output) = &pair.output
                && fits(&pair.input)
                && fits(output)
            {
                train += usize::from(at < task.train.len());
                pairs.push((Arc::clone(&pair.input), output.clone()));
            }
        }
        Pairs { pairs, train }
    }
}

/// Writes an augmented grid into the top left of a square.
fn lay(grid: &Grid, change: &Augmentation, side: usize, cells: &mut [u8], mask: &mut [bool]) {
    let sides = (grid.height(), grid.width());
    let (height, width) = if change.symmetry.turns() {
        (sides.1, sides.0)
    } else {
        sides
    };
    if height == 0 || width == 0 {
        return;
    }
    // The new colours by old ones; cells have no others.
    let table: [u8; COLOURS] =
        std::array::from_fn(|colour| recoloured(&change.colours, colour as i8) as u8);
    let from = grid.cells();
    // Along a row of the square the index into the grid changes by a constant step.
    let place = |i, j| {
        let (row, column) = change.symmetry.source(sides, i, j);
        row * sides.1 + column
    };
    let step = if width > 1 {
        place(0, 1) as isize - place(0, 0) as isize
    } else {
        0
    };
    let rows = cells
        .chunks_exact_mut(side)
        .zip(mask.chunks_exact_mut(side));
    for (i, (of_row, of_mask)) in rows.take(height).enumerate() {
        let mut at = place(i, 0) as isize;
        for cell in &mut of_row[..width] {
            *cell = table[from[at as usize] as usize % COLOURS];
            at += step;
        }
        of_mask[..width].fill(true);
    }
}
