//! How notebooks and terminals display grids.

use std::fmt::Write as _;

use arc_dsl::{Grid, PALETTE};
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::grids::{self, Place};

/// The side of a cell in a notebook, in pixels.
const CELL: usize = 12;

/// The colour of cells with none of ARC's colours.
const OTHER: (u8, u8, u8) = (0xff, 0xff, 0xff);

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
        grids::grid(data, &Place::Named("grid")).map(Self)
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

    fn _repr_html_(&self) -> String {
        svg(&self.0)
    }
}

/// A grid as SVG.
pub(crate) fn svg(grid: &Grid) -> String {
    let (height, width) = (grid.height() * CELL, grid.width() * CELL);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         shape-rendering=\"crispEdges\">"
    );
    for (i, row) in grid.rows().enumerate() {
        for (j, &colour) in row.iter().enumerate() {
            let of_palette = usize::try_from(colour).ok().and_then(|at| PALETTE.get(at));
            let (r, g, b) = *of_palette.unwrap_or(&OTHER);
            let (x, y) = (j * CELL, i * CELL);
            // Writing into a string does not fail.
            let _ = write!(
                text,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" \
                 fill=\"#{r:02x}{g:02x}{b:02x}\" stroke=\"#555\" stroke-width=\"0.5\"/>"
            );
        }
    }
    text + "</svg>"
}

/// Input and output of a pair side by side, as table cells.
pub(crate) fn pair_cells(pair: &arc_dsl::Pair) -> String {
    let output = pair.output.as_ref().map_or_else(|| "?".to_owned(), svg);
    format!(
        "<td>{}</td><td>&rarr;</td><td>{output}</td>",
        svg(&pair.input)
    )
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
