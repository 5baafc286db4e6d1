//! Conversion of grids: lists of lists, tuples of tuples and integer arrays in, arrays of `int8` out.

pub(crate) mod show;

use std::fmt;

use arc_dsl::Grid;
use arc_tasks::MAX_CELLS;
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{
    Element, IntoPyArray, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt, PyList, PyString, PyTuple};

/// The place of a value in the caller's arguments, such as `tasks["007bbfb7"].train[0].input[2]`.
#[derive(Clone, Copy)]
pub(crate) enum ArgumentPlace<'a> {
    /// An argument.
    Named(&'a str),
    /// A key from the data.
    Key(&'a ArgumentPlace<'a>, &'a str),
    /// An element.
    At(&'a ArgumentPlace<'a>, usize),
}

impl fmt::Display for ArgumentPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentPlace::Named(name) => f.write_str(name),
            ArgumentPlace::Key(whole, key) => write!(f, "{whole}[{key:?}]"),
            ArgumentPlace::At(whole, at) => write!(f, "{whole}[{at}]"),
        }
    }
}

impl<'a> ArgumentPlace<'a> {
    /// The place of an element.
    pub(crate) fn at(&'a self, at: usize) -> ArgumentPlace<'a> {
        ArgumentPlace::At(self, at)
    }

    /// A `ValueError` about the value here.
    pub(crate) fn value_error(&self, message: impl fmt::Display) -> PyErr {
        PyValueError::new_err(format!("{self}: {message}"))
    }

    /// A `ValueError` about what stands here at a JSON path.
    pub(crate) fn value_error_in(&self, path: &str, message: &str) -> PyErr {
        PyValueError::new_err(format!("{}: {message}", place_in(&self.to_string(), path)))
    }

    /// A `TypeError` that says what was expected here and what was found.
    pub(crate) fn expected(&self, expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
        let found = type_name(found);
        PyTypeError::new_err(format!("{self}: expected {expected}, found {found}"))
    }
}

/// The place of what stands at a JSON path.
pub(crate) fn place_in(whole: &str, path: &str) -> String {
    match path.chars().next() {
        None | Some('[') => format!("{whole}{path}"),
        Some(_) => format!("{whole}.{path}"),
    }
}

/// The name of an object's type, with the element type if it is an array.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return format!("an array of {}", array.dtype());
    }
    match object.get_type().name() {
        Ok(name) => name.to_string(),
        Err(_) => "an object without a type's name".to_owned(),
    }
}

/// Rejects an array some of whose elements are masked: what is below the mask is no colour.
pub(crate) fn not_masked<'a, 'py>(
    array: &'a Bound<'py, PyUntypedArray>,
    place: &ArgumentPlace<'_>,
) -> PyResult<&'a Bound<'py, PyUntypedArray>> {
    if !array.is_exact_instance_of::<PyUntypedArray>() && array.hasattr("mask")? {
        let message = "a masked array: expected one without a mask, as its `filled` gives";
        return Err(PyTypeError::new_err(format!("{place}: {message}")));
    }
    Ok(array)
}

/// The array that an object of another library, such as a tensor, can be made; `None` if it does not say so.
pub(crate) fn as_array<'py>(
    object: &Bound<'py, PyAny>,
    place: &ArgumentPlace<'_>,
) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    if object.is_instance_of::<PyString>() || !object.hasattr("__array__")? {
        return Ok(None);
    }
    let py = object.py();
    let array = py.import("numpy")?.call_method1("asarray", (object,));
    let array = array.map_err(|error| {
        if !error.is_instance_of::<PyException>(py) {
            return error;
        }
        // Such as tensors on a GPU, or of a type that numpy lacks.
        let message = format!("{place}: no array can be made of it: {}", error.value(py));
        let raised = PyTypeError::new_err(message);
        raised.set_cause(py, Some(error));
        raised
    })?;
    Ok(array.cast_into::<PyUntypedArray>().ok())
}

const EXPECTED: &str =
    "a grid: a list of rows, a tuple of rows, or an array of integers of 2 dimensions";

/// The elements of a list, a tuple or an array of objects, which tables of other libraries use for lists.
pub(crate) fn elements<'py>(
    object: &Bound<'py, PyAny>,
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if let Ok(list) = object.cast::<PyList>() {
        return Ok(Some(list.iter().collect()));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Ok(Some(tuple.iter().collect()));
    }
    match object.cast::<PyUntypedArray>() {
        Ok(array) if is_of_objects(array) && array.ndim() > 0 => {
            Ok(Some(array.try_iter()?.collect::<PyResult<_>>()?))
        }
        _ => Ok(None),
    }
}

/// Whether its elements are Python objects.
fn is_of_objects(array: &Bound<'_, PyUntypedArray>) -> bool {
    array.dtype().kind() == b'O'
}

/// Converts an object to a grid, copying it once.
///
/// A list or tuple of rows, each of them a list, a tuple or an array; or an array of 2 dimensions of any integer
/// type. The limits are those of files: up to [`MAX_CELLS`] cells, colours that fit a byte.
pub(crate) fn grid(object: &Bound<'_, PyAny>, place: &ArgumentPlace<'_>) -> PyResult<Grid> {
    if let Ok(rows) = object.cast::<PyList>() {
        return of_rows(rows.len(), rows.iter(), place, colours(object.py()));
    }
    if let Ok(rows) = object.cast::<PyTuple>() {
        return of_rows(rows.len(), rows.iter(), place, colours(object.py()));
    }
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        let array = not_masked(array, place)?;
        if let Some(rows) = elements(object)? {
            let colours = colours(object.py());
            return of_rows(rows.len(), rows.into_iter(), place, colours);
        }
        return of_array(array, place);
    }
    if let Ok(grid) = object.cast::<show::PyGrid>() {
        return Ok(grid.get().grid().clone());
    }
    if let Some(array) = as_array(object, place)? {
        return of_array(&array, place);
    }
    Err(place.expected(EXPECTED, object))
}

fn check_side(side: usize, before: &str, what: &str, place: &ArgumentPlace<'_>) -> PyResult<()> {
    if (1..=MAX_CELLS).contains(&side) {
        return Ok(());
    }
    Err(place.value_error(format_args!(
        "{before} {side} {what}: expected 1 to {MAX_CELLS}"
    )))
}

fn check_cells(height: usize, width: usize, place: &ArgumentPlace<'_>) -> PyResult<()> {
    if height.saturating_mul(width) <= MAX_CELLS {
        return Ok(());
    }
    Err(place.value_error(format_args!(
        "grid of {height} rows and {width} columns: expected {MAX_CELLS} cells at most"
    )))
}

fn of_rows<'py>(
    height: usize,
    rows: impl Iterator<Item = Bound<'py, PyAny>>,
    place: &ArgumentPlace<'_>,
    colours: &[Py<PyInt>; 10],
) -> PyResult<Grid> {
    check_side(height, "grid of", "rows", place)?;
    let whole = place;
    let mut cells = Vec::new();
    let mut width = None;
    let mut read = 0;
    for (at, row) in rows.enumerate().take(height) {
        let place = place.at(at);
        let before = cells.len();
        if let Ok(row) = row.cast::<PyList>() {
            of_row(row.len(), row.iter(), &place, &mut cells, colours)?;
        } else if let Ok(row) = row.cast::<PyTuple>() {
            of_row(row.len(), row.iter(), &place, &mut cells, colours)?;
        } else if let Ok(array) = row.cast::<PyUntypedArray>() {
            let array = not_masked(array, &place)?;
            match elements(&row)? {
                Some(row) => of_row(row.len(), row.into_iter(), &place, &mut cells, colours)?,
                None => of_array_row(array, &place, &mut cells)?,
            }
        } else if let Some(array) = as_array(&row, &place)? {
            of_array_row(&array, &place, &mut cells)?;
        } else {
            return Err(place.expected("a row: a list or a tuple of colours", &row));
        }
        let found = cells.len() - before;
        if width.is_none() {
            check_cells(height, found, whole)?;
        }
        let expected = *width.get_or_insert(found);
        if found != expected {
            let message = format!("row of {found} cells where row 0 has {expected}");
            return Err(place.value_error(format_args!(
                "{message}: the rows of a grid are equally long"
            )));
        }
        read += 1;
    }
    let width = width.unwrap_or(0);
    // Another thread may change a list while it is read.
    if read != height {
        return Err(place.value_error("the list was changed while it was read"));
    }
    Ok(Grid::from_cells(height, width, cells))
}

fn of_row<'py>(
    width: usize,
    row: impl Iterator<Item = Bound<'py, PyAny>>,
    place: &ArgumentPlace<'_>,
    cells: &mut Vec<i8>,
    colours: &[Py<PyInt>; 10],
) -> PyResult<()> {
    check_side(width, "row of", "cells", place)?;
    for (at, cell) in row.enumerate().take(width) {
        cells.push(colour(&cell, at, place, colours)?);
    }
    Ok(())
}

/// The integers 0 to 9, which are unique objects in CPython: most colours are recognised by identity.
static COLOURS: PyOnceLock<[Py<PyInt>; 10]> = PyOnceLock::new();

pub(crate) fn colours(py: Python<'_>) -> &'static [Py<PyInt>; 10] {
    COLOURS.get_or_init(py, || {
        std::array::from_fn(|colour| PyInt::new(py, colour).unbind())
    })
}

const EXPECTED_COLOUR: &str = "a colour: an integer from -128 to 127";

/// The colour at this index of a row.
fn colour(
    cell: &Bound<'_, PyAny>,
    at: usize,
    row: &ArgumentPlace<'_>,
    colours: &[Py<PyInt>; 10],
) -> PyResult<i8> {
    if let Some(colour) = colours.iter().position(|colour| cell.is(colour)) {
        return Ok(colour as i8);
    }
    let is_index = || {
        // The integers of numpy have it too.
        !cell.is_instance_of::<PyBool>() && cell.hasattr("__index__").unwrap_or(false)
    };
    if !cell.is_exact_instance_of::<PyInt>() && !is_index() {
        return Err(row.at(at).expected(EXPECTED_COLOUR, cell));
    }
    if let Ok(colour) = cell.extract::<i64>() {
        return in_range(colour.into(), &row.at(at));
    }
    // An integer of more than 64 bits, or an object with a broken `__index__`.
    let index = cell.py().import("operator")?.call_method1("index", (cell,));
    Err(match index {
        Ok(_) => row
            .at(at)
            .value_error("colour out of range: expected -128 to 127"),
        Err(_) => row.at(at).expected(EXPECTED_COLOUR, cell),
    })
}

fn in_range(colour: i128, place: &ArgumentPlace<'_>) -> PyResult<i8> {
    i8::try_from(colour)
        .map_err(|_| place.value_error(format_args!("colour {colour}: expected -128 to 127")))
}

/// A row, itself an array, in a list of rows.
fn of_array_row(
    row: &Bound<'_, PyUntypedArray>,
    place: &ArgumentPlace<'_>,
    cells: &mut Vec<i8>,
) -> PyResult<()> {
    if row.ndim() != 1 {
        let message = format!("an array of {} dimensions as a row: expected 1", row.ndim());
        return Err(place.value_error(message));
    }
    check_integers(row, place)?;
    check_side(row.len(), "row of", "cells", place)?;
    let colours: Vec<i128> = row.call_method0("tolist")?.extract()?;
    for (at, colour) in colours.into_iter().enumerate() {
        cells.push(in_range(colour, &place.at(at))?);
    }
    Ok(())
}

/// Rejects anything but an array of integers.
fn check_integers(array: &Bound<'_, PyUntypedArray>, place: &ArgumentPlace<'_>) -> PyResult<()> {
    match array.dtype().kind() {
        b'i' | b'u' => Ok(()),
        _ => Err(place.expected("integers", array.as_any())),
    }
}

fn of_array(array: &Bound<'_, PyUntypedArray>, place: &ArgumentPlace<'_>) -> PyResult<Grid> {
    let [height, width] = *array.shape() else {
        let message = format!("an array of {} dimensions: expected 2", array.ndim());
        return Err(place.value_error(message));
    };
    check_integers(array, place)?;
    check_side(height, "grid of", "rows", place)?;
    check_side(width, "grid of", "columns", place)?;
    check_cells(height, width, place)?;
    if let Some(grid) = of_elements::<u8>(array, place)
        .or_else(|| of_elements::<i8>(array, place))
        .or_else(|| of_elements::<i64>(array, place))
        .or_else(|| of_elements::<i32>(array, place))
    {
        return grid;
    }
    // Arrays of other types are converted by numpy, whose copy is cheap for so few cells.
    let (wide, of_wide): (_, fn(&_, &_) -> _) = if array.dtype().kind() == b'u' {
        ("uint64", of_elements::<u64>)
    } else {
        ("int64", of_elements::<i64>)
    };
    let wide = array.call_method1("astype", (wide,))?;
    let wide = wide.cast::<PyUntypedArray>()?;
    of_wide(wide, place).unwrap_or_else(|| Err(place.expected(EXPECTED, wide.as_any())))
}

/// An integer type of array elements.
trait Integer: Element + Copy + Into<i128> {}

impl<T: Element + Copy + Into<i128>> Integer for T {}

/// The grid in an array of this type; `None` if it is of another type.
fn of_elements<T: Integer>(
    array: &Bound<'_, PyUntypedArray>,
    place: &ArgumentPlace<'_>,
) -> Option<PyResult<Grid>> {
    let array = array.cast::<PyArray2<T>>().ok()?;
    // Arrays that are borrowed for writing are not read.
    let array = match array.try_readonly() {
        Ok(array) => array,
        Err(error) => return Some(Err(place.value_error(error))),
    };
    Some(of_view(&array.as_array(), place))
}

fn of_view<T: Integer>(view: &ArrayView2<'_, T>, place: &ArgumentPlace<'_>) -> PyResult<Grid> {
    let (height, width) = view.dim();
    let mut cells = Vec::with_capacity(height * width);
    let mut is_good = true;
    let mut take = |cell: T| {
        let colour: i128 = cell.into();
        is_good &= i8::try_from(colour).is_ok();
        cells.push(colour as i8);
    };
    match view.as_slice() {
        Some(slice) => slice.iter().for_each(|&cell| take(cell)),
        None => view.iter().for_each(|&cell| take(cell)),
    }
    if !is_good {
        for ((i, j), cell) in view.indexed_iter() {
            in_range((*cell).into(), &place.at(i).at(j))?;
        }
    }
    Ok(Grid::from_cells(height, width, cells))
}

/// The grid as a new array of `int8`, rows by columns.
pub(crate) fn array<'py>(py: Python<'py>, grid: &Grid) -> Bound<'py, PyArray2<i8>> {
    let sides = (grid.height(), grid.width());
    match Array2::from_shape_vec(sides, grid.cells().to_vec()) {
        Ok(array) => array.into_pyarray(py),
        // Cannot happen: a grid has as many cells as its sides say.
        Err(_) => PyArray2::zeros(py, sides, false),
    }
}
