//! Grids as notebooks and terminals show them.

use std::fmt::Write as _;

use arc_dsl::{Grid, PALETTE};
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::grids::{self, Place};

/// The side of a cell in a notebook, in pixels.
const CELL: usize = 12;

/// The colour in which a cell is drawn that is none of ARC's.
const OTHER: (u8, u8, u8) = (0xff, 0xff, 0xff);

/// A grid that shows itself: in a notebook in its colours, in a terminal by `str`.
///
/// `Grid(data)` takes a list of rows, a tuple of rows or an array of integers, as all that takes grids
/// does; `grid.array`, or `numpy.asarray(grid)`, is an array of int8 of its own, rows by columns.
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

    /// An array of int8 of its own, rows by columns.
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
        // It is a copy in any case.
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

/// A grid as a picture.
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

/// Input and output of a pair beside each other, as cells of a table.
pub(crate) fn pair_cells(pair: &arc_dsl::Pair) -> String {
    let output = pair.output.as_ref().map_or_else(|| "?".to_owned(), svg);
    format!(
        "<td>{}</td><td>&rarr;</td><td>{output}</td>",
        svg(&pair.input)
    )
}

/// Text between tags.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
