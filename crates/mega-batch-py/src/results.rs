//! Results as columns: flat arrays with one element per evaluation.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use arc_dsl::{MAX_SIDE, Split, Value};
use mega_batch::{Job, Outcome, PairResult};
use numpy::ndarray::{Array, Array2, Dimension, StrideShape};
use numpy::{
    IntoPyArray, PyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyUntypedArrayMethods,
};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};

use crate::arguments;
use crate::errors::{Fault, PickledFault, PyEvalError};
use crate::pickle::{Reduced, reduced};

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
    kept: Kept,
    programs: Vec<u32>,
    tasks: Vec<u32>,
    splits: Vec<u8>,
    pairs: Vec<u32>,
    verdicts: Vec<u8>,
    seconds: Vec<f64>,
    cells_right: Vec<i32>,
    hashes: Vec<u64>,
    /// By the index of the evaluation, ascending.
    faults: Vec<(u32, Fault)>,
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
                self.faults.push((at, Fault::from(&**error)));
            }
            Outcome::Internal(message) => self.faults.push((at, Fault::internal(message))),
            Outcome::Python(failure) => self.faults.push((at, Fault::python(failure))),
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

    /// The columns as arrays, which take over the memory.
    pub(crate) fn into_results(self, py: Python<'_>) -> PyResult<PyResults> {
        let len = self.len();
        let mut kinds = vec![0u8; len];
        let mut lines = vec![0i32; len];
        let mut primitives = vec![-1i16; len];
        for (at, fault) in &self.faults {
            let at = *at as usize;
            kinds[at] = fault.code();
            lines[at] = fault.line() as i32;
            primitives[at] = fault.primitive();
        }
        let Kept { scores, outputs } = self.kept;
        let hashes = scores.then(|| shaped(py, (len, 2), self.hashes));
        let shapes = outputs.then(|| shaped(py, (len, 2), self.shapes));
        Ok(PyResults {
            len,
            programs: self.programs.into_pyarray(py).unbind(),
            tasks: self.tasks.into_pyarray(py).unbind(),
            splits: self.splits.into_pyarray(py).unbind(),
            pairs: self.pairs.into_pyarray(py).unbind(),
            verdicts: self.verdicts.into_pyarray(py).unbind(),
            seconds: self.seconds.into_pyarray(py).unbind(),
            cells_right: scores.then(|| self.cells_right.into_pyarray(py).unbind()),
            hashes: hashes.transpose()?.map(Bound::unbind),
            error_kinds: kinds.into_pyarray(py).unbind(),
            error_lines: lines.into_pyarray(py).unbind(),
            error_primitives: primitives.into_pyarray(py).unbind(),
            cells: outputs.then(|| self.cells.into_pyarray(py).unbind()),
            offsets: outputs.then(|| self.offsets.into_pyarray(py).unbind()),
            shapes: shapes.transpose()?.map(Bound::unbind),
            faults: self.faults.into(),
        })
    }
}

/// Results of evaluations as flat arrays, one element per evaluation, in the order of the batch: by program, then by
/// task, then by pair. Also a sequence of `Result`.
///
/// They can be pickled, and equal results that differ at most in times; they are not hashable, since arrays can be
/// changed.
#[pyclass(frozen, name = "Results", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyResults {
    len: usize,
    /// uint32: the index of the program.
    #[pyo3(get)]
    programs: Py<PyArray1<u32>>,
    /// uint32: the index of the task.
    #[pyo3(get)]
    tasks: Py<PyArray1<u32>>,
    /// uint8: 0 for a train pair, 1 for a test pair, 2 for one of another split.
    #[pyo3(get)]
    splits: Py<PyArray1<u8>>,
    /// uint32: the index of the pair in its split of the task.
    #[pyo3(get)]
    pairs: Py<PyArray1<u32>>,
    /// uint8: the index of the verdict in `VERDICTS`, a `Verdict`.
    #[pyo3(get)]
    verdicts: Py<PyArray1<u8>>,
    /// float64: how long the evaluation took.
    #[pyo3(get)]
    seconds: Py<PyArray1<f64>>,
    /// int32: how many cells are as expected, -1 without an output; None without `scores`.
    #[pyo3(get)]
    cells_right: Option<Py<PyArray1<i32>>>,
    /// uint64 of shape (n, 2): the hash of the output, its upper and its lower half; None without `scores`. Equal for
    /// equal grids in every run; 0 for an output that is not a grid, and without an output.
    #[pyo3(get)]
    hashes: Option<Py<PyArray2<u64>>>,
    /// uint8: the index of the error in `ERROR_KINDS`, 0 if there is none.
    #[pyo3(get)]
    error_kinds: Py<PyArray1<u8>>,
    /// int32: the line on which the program failed, 0 if there is none.
    #[pyo3(get)]
    error_lines: Py<PyArray1<i32>>,
    /// int16: the index of the primitive that failed in `PRIMITIVES`, -1 if there is none.
    #[pyo3(get)]
    error_primitives: Py<PyArray1<i16>>,
    /// int8: the cells of all outputs, one after the other; None without `outputs`.
    #[pyo3(get)]
    cells: Option<Py<PyArray1<i8>>>,
    /// int64 of length n + 1: where each output begins and ends in `cells`; None without `outputs`.
    #[pyo3(get)]
    offsets: Option<Py<PyArray1<i64>>>,
    /// int32 of shape (n, 2): rows and columns of each output, -1 if it is not a grid; None without `outputs`.
    #[pyo3(get)]
    shapes: Option<Py<PyArray2<i32>>>,
    faults: Arc<[(u32, Fault)]>,
}

/// The result of one evaluation. It can be pickled, is hashable, and equals results that differ at most in the time.
#[pyclass(frozen, get_all, name = "Result", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyOneResult {
    /// The index of the program.
    program: u32,
    /// The index of the task.
    task: u32,
    /// "train", "test" or "other".
    split: &'static str,
    /// The index of the pair in its split of the task.
    pair: u32,
    /// "match", "mismatch", "no_expected", "error" or "limit".
    verdict: &'static str,
    /// How long it took.
    seconds: f64,
    /// How many cells are as expected; None without `scores` and without an output.
    cells_right: Option<i32>,
    /// The hash of the output; None without `scores` and without an output.
    hash: Option<u128>,
    /// Why there is no output, or None.
    error: Option<Py<PyEvalError>>,
    /// The output, an array of int8; None without `outputs` and if it is not a grid.
    output: Option<Py<PyArray2<i8>>>,
}

/// The fields of a `Result`, in order.
pub(crate) type PickledResult = (
    u32,
    u32,
    String,
    u32,
    String,
    f64,
    Option<i32>,
    Option<u128>,
    Option<Py<PyEvalError>>,
    Option<Py<PyArray2<i8>>>,
);

/// The names of splits, by their codes.
const SPLITS: [&str; 3] = ["train", "test", "other"];

impl PyOneResult {
    pub(crate) fn unpickled(state: PickledResult) -> PyResult<Self> {
        let (program, task, split, pair, verdict, seconds, cells_right, hash, error, output) =
            state;
        let known = |words: &[&'static str], word: &str| {
            let known = words.iter().find(|known| **known == word);
            known
                .copied()
                .ok_or_else(|| PyValueError::new_err(format!("Result: {word:?}")))
        };
        Ok(Self {
            program,
            task,
            split: known(&SPLITS, &split)?,
            pair,
            verdict: known(&VERDICTS, &verdict)?,
            seconds,
            cells_right,
            hash,
            error,
            output,
        })
    }

    /// All fields except the time and the output.
    fn facts<'py>(&'py self, py: Python<'py>) -> impl Hash + PartialEq {
        let error = self.error.as_ref().map(|error| error.bind(py).get());
        let place = (self.program, self.task, self.split, self.pair);
        (place, self.verdict, self.cells_right, self.hash, error)
    }
}

#[pymethods]
impl PyOneResult {
    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else {
            return Ok(false);
        };
        let other = other.get();
        let same = self.facts(py) == other.facts(py);
        Ok(same && same_array(py, self.output.as_ref(), other.output.as_ref())?)
    }

    fn __hash__(&self, py: Python<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.facts(py).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let state: PickledResult = (
            self.program,
            self.task,
            self.split.to_owned(),
            self.pair,
            self.verdict.to_owned(),
            self.seconds,
            self.cells_right,
            self.hash,
            self.error.as_ref().map(|error| error.clone_ref(py)),
            self.output.as_ref().map(|output| output.clone_ref(py)),
        );
        reduced(py, "Result", state)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let error = self
            .error
            .as_ref()
            .map(|error| format!(": {}", error.bind(py).get().0.text()));
        let Self {
            program,
            task,
            split,
            pair,
            verdict,
            ..
        } = self;
        let error = error.unwrap_or_default();
        format!("<Result of program {program} on task {task}, {split}[{pair}]: {verdict}{error}>")
    }
}

#[pymethods]
impl PyResults {
    fn __len__(&self) -> usize {
        self.len
    }

    /// The result at an index, counted from the end if it is negative; for a slice new Results.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = at.cast::<PySlice>() {
            return Ok(self.sliced(py, slice)?.into_pyobject(py)?.into_any());
        }
        let at = arguments::place_of(at, "result", self.len)?;
        Ok(self.result(py, at)?.into_pyobject(py)?.into_any())
    }

    /// The outputs as an array of int8 of shape (n, side, side), each at the top left of its square and surrounded by
    /// `fill`, and a mask of bool of the same shape, True where the output has a cell.
    ///
    /// The square is all `fill` and its mask empty if there is no output, it is not a grid, or it has more rows or
    /// columns than `side`; with `drop_foreign` also if it has colours other than 0 to 9. Raises ValueError without
    /// `outputs` and for a side that is not from 1 to 1024, MemoryError if there is not enough memory.
    #[pyo3(signature = (side = 30, fill = 0, drop_foreign = false))]
    fn padded<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::side)] side: usize,
        #[pyo3(from_py_with = arguments::fill)] fill: i8,
        #[pyo3(from_py_with = arguments::drop_foreign)] drop_foreign: bool,
    ) -> PyResult<(Cube<'py, i8>, Cube<'py, bool>)> {
        if self.cells.is_none() {
            return Err(PyValueError::new_err(
                "padded: expected results of a run with outputs=True",
            ));
        }
        let all = self.len.saturating_mul(side * side);
        let (mut cells, mut mask) = (filled(fill, all)?, filled(false, all)?);
        for at in 0..self.len {
            let Some((height, width, output)) = self.cells_of(py, at)? else {
                continue;
            };
            if height > side || width > side || width == 0 || drop_foreign && is_foreign(&output) {
                continue;
            }
            for (row, of_row) in output.chunks_exact(width).enumerate() {
                let begin = (at * side + row) * side;
                cells[begin..begin + width].copy_from_slice(of_row);
                mask[begin..begin + width].fill(true);
            }
        }
        let shape = (self.len, side, side);
        Ok((shaped(py, shape, cells)?, shaped(py, shape, mask)?))
    }

    /// Which outputs have more than 30 rows or columns: an array of bool. Raises ValueError without `outputs`.
    #[getter]
    fn too_large<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        self.of_outputs(py, "too_large", |height, width, _| {
            height.max(width) > MAX_SIDE
        })
    }

    /// Which outputs have colours other than 0 to 9: an array of bool. Raises ValueError without `outputs`.
    #[getter]
    fn foreign<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        self.of_outputs(py, "foreign", |_, _, cells| is_foreign(cells))
    }

    /// The results as a `pyarrow.Table`, one row per evaluation: "program", "task", "split", "pair", "verdict",
    /// "seconds", "error_kind", "error_line" and "error_primitive" (null if there is none); with `scores`
    /// "cells_right" and "hash" (32 hexadecimal digits); with `outputs` "height", "width", "too_large", "foreign" and
    /// "output", a list of lists of int8 (null if there is none).
    ///
    /// `drop_unfit` leaves out the rows whose output has more than 30 rows or columns or colours other than 0 to 9, which
    /// needs `outputs`. Raises ImportError, which names the extra, without pyarrow.
    #[pyo3(signature = (*, drop_unfit = false))]
    fn to_arrow<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = arguments::drop_unfit)] drop_unfit: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        table(slf.as_any(), "arrow", drop_unfit)
    }

    /// The results as a `pandas.DataFrame`, with the columns of `to_arrow`; an output is a list of its rows, arrays of
    /// int8, or None. Raises ImportError, which names the extra, without pandas.
    #[pyo3(signature = (*, drop_unfit = false))]
    fn to_pandas<'py>(
        slf: &Bound<'py, Self>,
        #[pyo3(from_py_with = arguments::drop_unfit)] drop_unfit: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        table(slf.as_any(), "pandas", drop_unfit)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        results_of(slf.as_any(), slf.get().len)
    }

    /// The EvalError of the evaluation at this index, or None.
    fn error(&self, #[pyo3(from_py_with = arguments::at)] at: usize) -> Option<PyEvalError> {
        self.fault(at).cloned().map(PyEvalError)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else {
            return Ok(false);
        };
        let other = other.get();
        if self.len != other.len || self.faults != other.faults {
            return Ok(false);
        }
        let (mine, others) = (self.columns(py), other.columns(py));
        for ((name, mine), (_, other)) in mine.iter().zip(&others) {
            if *name != "seconds" && !same_array(py, mine.as_ref(), other.as_ref())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let faults = self.faults.iter().map(|(at, fault)| (*at, fault.state()));
        let faults: Vec<_> = faults.collect();
        let columns = PyDict::new(py);
        for (name, column) in self.columns(py) {
            columns.set_item(name, column)?;
        }
        reduced(py, "Results", (columns, faults))
    }

    fn __repr__(&self) -> String {
        format!("<Results of {} evaluations>", self.len)
    }
}

/// The columns of `Results` by name, and the error of each evaluation without an output.
pub(crate) type PickledResults<'py> = (Bound<'py, PyDict>, Vec<(u32, PickledFault)>);

/// Whether arrays are equal, or both missing.
pub(crate) fn same_array<T>(
    py: Python<'_>,
    a: Option<&Py<T>>,
    b: Option<&Py<T>>,
) -> PyResult<bool> {
    match (a, b) {
        (Some(a), Some(b)) => py
            .import("numpy")?
            .call_method1("array_equal", (a.bind(py).as_any(), b.bind(py).as_any()))?
            .extract(),
        (None, None) => Ok(true),
        _ => Ok(false),
    }
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

/// Whether a grid with these cells has colours other than those of ARC.
fn is_foreign(cells: &[i8]) -> bool {
    cells.iter().any(|cell| !(0..10).contains(cell))
}

/// The results, or those of a report, as a table of another library.
pub(crate) fn table<'py>(
    of: &Bound<'py, PyAny>,
    library: &str,
    drop_unfit: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let module = of.py().import("mega_batch._tables")?;
    module.call_method1(library, (of, drop_unfit))
}

/// An array of three dimensions.
pub(crate) type Cube<'py, T> = Bound<'py, PyArray3<T>>;

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

impl PyResults {
    /// Which outputs satisfy a predicate on their rows, columns and cells.
    fn of_outputs<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        is_so: impl Fn(usize, usize, &[i8]) -> bool,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        if self.cells.is_none() {
            return Err(PyValueError::new_err(format!(
                "{name}: expected results of a run with outputs=True"
            )));
        }
        let mut so = vec![false; self.len];
        for (at, so) in so.iter_mut().enumerate() {
            if let Some((height, width, cells)) = self.cells_of(py, at)? {
                *so = is_so(height, width, &cells);
            }
        }
        Ok(so.into_pyarray(py))
    }

    /// The columns by name; missing ones are None.
    fn columns(&self, py: Python<'_>) -> [(&'static str, Option<Py<PyAny>>); 14] {
        fn kept<'c, T: 'c>(
            py: Python<'_>,
            column: impl Into<Option<&'c Py<T>>>,
        ) -> Option<Py<PyAny>> {
            let column = column.into();
            column.map(|column| column.clone_ref(py).into_any())
        }
        [
            ("programs", kept(py, &self.programs)),
            ("tasks", kept(py, &self.tasks)),
            ("splits", kept(py, &self.splits)),
            ("pairs", kept(py, &self.pairs)),
            ("verdicts", kept(py, &self.verdicts)),
            ("seconds", kept(py, &self.seconds)),
            ("cells_right", kept(py, self.cells_right.as_ref())),
            ("hashes", kept(py, self.hashes.as_ref())),
            ("error_kinds", kept(py, &self.error_kinds)),
            ("error_lines", kept(py, &self.error_lines)),
            ("error_primitives", kept(py, &self.error_primitives)),
            ("cells", kept(py, self.cells.as_ref())),
            ("offsets", kept(py, self.offsets.as_ref())),
            ("shapes", kept(py, self.shapes.as_ref())),
        ]
    }

    pub(crate) fn unpickled((columns, faults): PickledResults<'_>) -> PyResult<Self> {
        fn column<'py, T: FromPyObjectOwned<'py>>(
            columns: &Bound<'py, PyDict>,
            name: &str,
        ) -> PyResult<T> {
            let column = columns.get_item(name)?;
            let column = column.ok_or_else(|| PyValueError::new_err(format!("Results: {name}")))?;
            column.extract().map_err(Into::into)
        }
        let columns = &columns;
        let verdicts: Bound<'_, PyArray1<u8>> = column(columns, "verdicts")?;
        let faults = faults
            .into_iter()
            .map(|(at, fault)| Ok((at, Fault::unpickled(fault)?)));
        Ok(Self {
            len: verdicts.len(),
            programs: column(columns, "programs")?,
            tasks: column(columns, "tasks")?,
            splits: column(columns, "splits")?,
            pairs: column(columns, "pairs")?,
            verdicts: verdicts.unbind(),
            seconds: column(columns, "seconds")?,
            cells_right: column(columns, "cells_right")?,
            hashes: column(columns, "hashes")?,
            error_kinds: column(columns, "error_kinds")?,
            error_lines: column(columns, "error_lines")?,
            error_primitives: column(columns, "error_primitives")?,
            cells: column(columns, "cells")?,
            offsets: column(columns, "offsets")?,
            shapes: column(columns, "shapes")?,
            faults: faults.collect::<PyResult<_>>()?,
        })
    }

    /// A slice of the results, with new arrays.
    fn sliced(&self, py: Python<'_>, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        fn part<'py, T>(column: &Py<T>, slice: &Bound<'py, PySlice>) -> PyResult<Py<T>>
        where
            Py<T>: FromPyObjectOwned<'py>,
        {
            let py = slice.py();
            let part = column.bind(py).as_any().get_item(slice)?;
            part.call_method0("copy")?.extract().map_err(Into::into)
        }
        fn kept<'py, T>(
            column: Option<&Py<T>>,
            slice: &Bound<'py, PySlice>,
        ) -> PyResult<Option<Py<T>>>
        where
            Py<T>: FromPyObjectOwned<'py>,
        {
            column.map(|column| part(column, slice)).transpose()
        }
        let of = slice.indices(self.len as isize)?;
        let places = (0..of.slicelength as isize).map(|number| of.start + number * of.step);
        let (mut faults, mut cells, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
        for (number, at) in places.enumerate() {
            let at = at as usize;
            if let Some(fault) = self.fault(at) {
                faults.push((number as u32, fault.clone()));
            }
            if let Some((.., output)) = self.cells_of(py, at)? {
                cells.extend_from_slice(&output);
            }
            offsets.push(cells.len() as i64);
        }
        let has_outputs = self.cells.is_some();
        Ok(Self {
            len: of.slicelength,
            programs: part(&self.programs, slice)?,
            tasks: part(&self.tasks, slice)?,
            splits: part(&self.splits, slice)?,
            pairs: part(&self.pairs, slice)?,
            verdicts: part(&self.verdicts, slice)?,
            seconds: part(&self.seconds, slice)?,
            cells_right: kept(self.cells_right.as_ref(), slice)?,
            hashes: kept(self.hashes.as_ref(), slice)?,
            error_kinds: part(&self.error_kinds, slice)?,
            error_lines: part(&self.error_lines, slice)?,
            error_primitives: part(&self.error_primitives, slice)?,
            cells: has_outputs.then(|| cells.into_pyarray(py).unbind()),
            offsets: has_outputs.then(|| offsets.into_pyarray(py).unbind()),
            shapes: kept(self.shapes.as_ref(), slice)?,
            faults: faults.into(),
        })
    }

    fn fault(&self, at: usize) -> Option<&Fault> {
        let place = self
            .faults
            .binary_search_by_key(&at, |(place, _)| *place as usize);
        self.faults.get(place.ok()?).map(|(_, fault)| fault)
    }

    fn result(&self, py: Python<'_>, at: usize) -> PyResult<PyOneResult> {
        let verdict = element(py, &self.verdicts, at)?;
        let cells_right = match &self.cells_right {
            Some(cells) => Some(element(py, cells, at)?).filter(|cells| *cells >= 0),
            None => None,
        };
        let hash = match (&self.hashes, cells_right) {
            (Some(hashes), Some(_)) => {
                let hashes = hashes.bind(py);
                let half = |column| hashes.get_owned([at, column]).unwrap_or(0);
                Some(u128::from(half(0)) << 64 | u128::from(half(1)))
            }
            _ => None,
        };
        Ok(PyOneResult {
            program: element(py, &self.programs, at)?,
            task: element(py, &self.tasks, at)?,
            split: SPLITS[usize::from(element(py, &self.splits, at)?).min(2)],
            pair: element(py, &self.pairs, at)?,
            verdict: VERDICTS.get(usize::from(verdict)).copied().unwrap_or("?"),
            seconds: element(py, &self.seconds, at)?,
            cells_right,
            hash,
            error: self.error(at).map(|error| Py::new(py, error)).transpose()?,
            output: self.output(py, at)?,
        })
    }

    /// The output of the evaluation at this index, if it was kept and is a grid.
    fn output(&self, py: Python<'_>, at: usize) -> PyResult<Option<Py<PyArray2<i8>>>> {
        if self.cells.is_none() {
            return Ok(None);
        }
        let output = self.cells_of(py, at)?;
        let array = output
            .and_then(|(height, width, cells)| Array2::from_shape_vec((height, width), cells).ok());
        Ok(array.map(|array| array.into_pyarray(py).unbind()))
    }

    /// Rows, columns and cells of the output of the evaluation at this index, if it is a grid. None without
    /// `outputs`.
    fn cells_of(&self, py: Python<'_>, at: usize) -> PyResult<Option<(usize, usize, Vec<i8>)>> {
        let (Some(cells), Some(offsets), Some(shapes)) = (&self.cells, &self.offsets, &self.shapes)
        else {
            return Ok(None);
        };
        let shapes = shapes.bind(py);
        let side = |column| shapes.get_owned([at, column]).unwrap_or(-1);
        let (Ok(height), Ok(width)) = (usize::try_from(side(0)), usize::try_from(side(1))) else {
            return Ok(None);
        };
        let begin = usize::try_from(element(py, offsets, at)?).unwrap_or(0);
        let cells = cells.bind(py).try_readonly()?;
        let cells = cells.as_slice()?.get(begin..begin + height * width);
        Ok(cells.map(|cells| (height, width, cells.to_vec())))
    }
}

/// An iterator over the elements of an object.
pub(crate) fn results_of<'py>(
    object: &Bound<'py, PyAny>,
    len: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let builtins = object.py().import("builtins")?;
    let places = builtins.call_method1("range", (len,))?;
    builtins.call_method1("map", (object.getattr("__getitem__")?, places))
}

/// The element of a column.
fn element<T: numpy::Element + Copy>(
    py: Python<'_>,
    column: &Py<PyArray1<T>>,
    at: usize,
) -> PyResult<T> {
    let column = column.bind(py).get_owned(at);
    // The caller may have changed the array's length.
    column.ok_or_else(|| PyIndexError::new_err(format!("result {at} is not in the array any more")))
}
