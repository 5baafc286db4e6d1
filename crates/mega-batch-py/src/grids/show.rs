//! How notebooks and terminals display grids.

use arc_dsl::Grid;
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::grids::{self, ArgumentPlace};

/// A grid that displays itself: in colours in a notebook, by `str` in a terminal.
///
/// `Grid(data)` takes a list of rows, a tuple of rows or an array of integers, like all functions that take grids;
/// `grid.array`, or `numpy.asarray(grid)`, is a new array of int8, rows by columns.
#[pyclass(frozen, eq, hash, name = "Grid", module = "mega_batch")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyGrid(Grid);

impl PyGrid {
    pub(crate) fn grid(&self) -> &Grid {
        &self.0
    }
}

#[pymethods]
impl PyGrid {
    #[new]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        grids::grid(data, &ArgumentPlace::Named("grid")).map(Self)
    }

    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.height(), self.0.width())
    }

    /// A new array of int8, rows by columns.
    #[getter]
    fn array<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i8>> {
        grids::array(py, &self.0)
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // It is always a copy.
        let _ = copy;
        let array = grids::array(py, &self.0);
        match dtype {
            None => Ok(array.into_any()),
            Some(dtype) => array.to_dyn().call_method1("astype", (dtype,)),
        }
    }

    /// A list of rows.
    fn tolist(&self) -> Vec<Vec<i8>> {
        self.0.rows().map(<[i8]>::to_vec).collect()
    }

    fn __str__(&self) -> String {
        self.0.to_ansi()
    }

    fn __repr__(&self) -> String {
        format!("Grid({})", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (Vec<Vec<i8>>,)) {
        (py.get_type::<Self>().into_any(), (self.tolist(),))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any(), "svg")
    }
}

/// How a notebook displays an object, by this function of `mega_batch._html`.
pub(crate) fn html<'py>(of: &Bound<'py, PyAny>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    let module = of.py().import("mega_batch._html")?;
    module.call_method1(function, (of,))
}
