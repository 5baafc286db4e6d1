//! Results as columns: flat arrays with one element per evaluation.

use std::collections::BTreeMap;

use arc_dsl::Value;
use arc_tasks::Split;
use mega_batch::{Job, Outcome, PairResult};
use numpy::ndarray::{Array, Dimension, StrideShape};
use numpy::{IntoPyArray, PyArray, PyArray3, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::errors::PyEvalError;
use crate::python;

/// The names of verdicts; the index of each is its code.
pub(crate) const VERDICTS: [&str; 5] = ["match", "mismatch", "no_expected", "error", "limit"];

/// The code of an outcome.
pub(crate) fn verdict(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Match => 0,
        Outcome::Mismatch => 1,
        Outcome::NoExpected => 2,
        Outcome::Limit(_) => 4,
        Outcome::Python(failure) if failure.limit().is_some() => 4,
        Outcome::Error(_) | Outcome::Internal(_) | Outcome::Python(_) => 3,
    }
}

/// The optional columns that are kept.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kept {
    pub(crate) scores: bool,
    pub(crate) outputs: bool,
}

/// Results as they come in.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub(crate) kept: Kept,
    programs: Vec<u32>,
    tasks: Vec<u32>,
    splits: Vec<u8>,
    pairs: Vec<u32>,
    verdicts: Vec<u8>,
    seconds: Vec<f64>,
    cells_right: Vec<i32>,
    hashes: Vec<u64>,
    /// By the index of the evaluation, ascending.
    errors: Vec<(u32, PyEvalError)>,
    cells: Vec<i8>,
    offsets: Vec<i64>,
    shapes: Vec<i32>,
}

impl Columns {
    pub(crate) fn new(kept: Kept) -> Self {
        Self {
            kept,
            offsets: vec![0],
            ..Self::default()
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.verdicts.len()
    }

    /// Adds a result.
    pub(crate) fn push(&mut self, job: Job, result: &PairResult) {
        let at = self.verdicts.len() as u32;
        match &result.outcome {
            Outcome::Error(error) | Outcome::Limit(error) => {
                self.errors.push((at, PyEvalError::from(&**error)));
            }
            Outcome::Internal(message) => self.errors.push((at, PyEvalError::internal(message))),
            Outcome::Python(failure) => self.errors.push((at, PyEvalError::python(failure))),
            Outcome::Match | Outcome::Mismatch | Outcome::NoExpected => {}
        }
        self.programs.push(job.program);
        self.tasks.push(job.task);
        self.splits.push(match result.pair.split {
            Split::Train => 0,
            Split::Test => 1,
            Split::Other(_) => 2,
        });
        self.pairs.push(result.pair.index);
        self.verdicts.push(verdict(&result.outcome));
        self.seconds.push(result.time.as_secs_f64());
        if self.kept.scores {
            let digest = result.score.map_or(0, |score| score.digest);
            self.hashes.extend([(digest >> 64) as u64, digest as u64]);
            let right = result.score.map_or(-1, |score| score.cells_right as i32);
            self.cells_right.push(right);
        }
        if self.kept.outputs {
            let grid = result.output.as_ref().and_then(Value::as_grid);
            match grid {
                Some(grid) => {
                    self.cells.extend_from_slice(grid.cells());
                    self.shapes
                        .extend([grid.height() as i32, grid.width() as i32]);
                }
                None => self.shapes.extend([-1, -1]),
            }
            self.offsets.push(self.cells.len() as i64);
        }
    }

    /// The columns as arrays, which take over the memory: `mega_batch.Results`.
    pub(crate) fn into_results(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let len = self.len();
        let mut kinds = vec![0u8; len];
        let mut lines = vec![0i32; len];
        let mut primitives = vec![-1i16; len];
        for (at, error) in &self.errors {
            let at = *at as usize;
            kinds[at] = error.code();
            lines[at] = error.line as i32;
            primitives[at] = error.primitive.map_or(-1, |primitive| primitive as i16);
        }
        let Kept { scores, outputs } = self.kept;
        let columns = PyDict::new(py);
        columns.set_item("programs", self.programs.into_pyarray(py))?;
        columns.set_item("tasks", self.tasks.into_pyarray(py))?;
        columns.set_item("splits", self.splits.into_pyarray(py))?;
        columns.set_item("pairs", self.pairs.into_pyarray(py))?;
        columns.set_item("verdicts", self.verdicts.into_pyarray(py))?;
        columns.set_item("seconds", self.seconds.into_pyarray(py))?;
        let cells_right = scores.then(|| self.cells_right.into_pyarray(py));
        columns.set_item("cells_right", cells_right)?;
        let hashes = scores.then(|| shaped(py, (len, 2), self.hashes));
        columns.set_item("hashes", hashes.transpose()?)?;
        columns.set_item("error_kinds", kinds.into_pyarray(py))?;
        columns.set_item("error_lines", lines.into_pyarray(py))?;
        columns.set_item("error_primitives", primitives.into_pyarray(py))?;
        columns.set_item("cells", outputs.then(|| self.cells.into_pyarray(py)))?;
        columns.set_item("offsets", outputs.then(|| self.offsets.into_pyarray(py)))?;
        let shapes = outputs.then(|| shaped(py, (len, 2), self.shapes));
        columns.set_item("shapes", shapes.transpose()?)?;
        columns.set_item("_errors", PyErrors(self.errors))?;
        python(py, "Results")?.call((), Some(&columns))
    }
}

/// The errors of evaluations by their indices, ascending, which become Python objects if they are asked for.
#[pyclass(frozen, eq, name = "_Errors", module = "mega_batch._engine")]
#[derive(Debug, PartialEq)]
pub(crate) struct PyErrors(Vec<(u32, PyEvalError)>);

#[pymethods]
impl PyErrors {
    #[new]
    fn new(errors: BTreeMap<u32, Py<PyEvalError>>) -> Self {
        let errors = errors.into_iter();
        Self(
            errors
                .map(|(at, error)| (at, error.get().clone()))
                .collect(),
        )
    }

    fn get(&self, at: u64) -> Option<PyEvalError> {
        let place = self.0.binary_search_by_key(&at, |(at, _)| u64::from(*at));
        Some(self.0[place.ok()?].1.clone())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyAny>, (BTreeMap<u32, PyEvalError>,)) {
        let class = py.get_type::<Self>().into_any();
        (class, (self.0.iter().cloned().collect(),))
    }
}

/// The outputs in squares, and their mask: see `Results.padded`.
#[pyfunction]
pub(crate) fn _padded<'py>(
    py: Python<'py>,
    cells: Option<PyReadonlyArray1<'py, i8>>,
    offsets: Option<PyReadonlyArray1<'py, i64>>,
    shapes: Option<PyReadonlyArray2<'py, i32>>,
    #[pyo3(from_py_with = arguments::side)] side: usize,
    #[pyo3(from_py_with = arguments::fill)] fill: i8,
    #[pyo3(from_py_with = arguments::drop_foreign)] drop_foreign: bool,
) -> PyResult<(Cube<'py, i8>, Cube<'py, bool>)> {
    let (Some(cells), Some(offsets), Some(shapes)) = (cells, offsets, shapes) else {
        return Err(PyValueError::new_err(
            "padded: expected results of a run with outputs=True",
        ));
    };
    let (cells, shapes) = (cells.as_slice()?, shapes.as_array());
    let len = shapes.nrows();
    let all = len.saturating_mul(side * side);
    let (mut padded, mut mask) = (filled(fill, all)?, filled(false, all)?);
    for (at, (shape, begin)) in shapes
        .rows()
        .into_iter()
        .zip(offsets.as_array())
        .enumerate()
    {
        let (Ok(height), Ok(width)) = (usize::try_from(shape[0]), usize::try_from(shape[1])) else {
            continue;
        };
        // The caller may have changed the arrays.
        let begin = usize::try_from(*begin).unwrap_or(0);
        let Some(output) = cells.get(begin..begin + height * width) else {
            continue;
        };
        let is_foreign = || output.iter().any(|cell| !(0..10).contains(cell));
        if height > side || width > side || width == 0 || drop_foreign && is_foreign() {
            continue;
        }
        for (row, of_row) in output.chunks_exact(width).enumerate() {
            let begin = (at * side + row) * side;
            padded[begin..begin + width].copy_from_slice(of_row);
            mask[begin..begin + width].fill(true);
        }
    }
    let shape = (len, side, side);
    Ok((shaped(py, shape, padded)?, shaped(py, shape, mask)?))
}

/// A vector of this length, if there is memory for it.
pub(crate) fn filled<T: Clone>(element: T, len: usize) -> PyResult<Vec<T>> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(len).map_err(|_| {
        PyMemoryError::new_err(format!("an array of {len} elements: not enough memory"))
    })?;
    elements.resize(len, element);
    Ok(elements)
}

/// An array of three dimensions.
type Cube<'py, T> = Bound<'py, PyArray3<T>>;

/// An array of this shape with these elements.
pub(crate) fn shaped<T: numpy::Element, S: Into<StrideShape<D>>, D: Dimension>(
    py: Python<'_>,
    shape: S,
    elements: Vec<T>,
) -> PyResult<Bound<'_, PyArray<T, D>>> {
    let array = Array::from_shape_vec(shape, elements);
    let array = array.map_err(|error| crate::internal(&error.to_string()))?;
    Ok(array.into_pyarray(py))
}
