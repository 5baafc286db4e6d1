//! [`Grid`]: a rectangle of colours.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::error::{ErrorKind, EvalResult};
use crate::literal::write_tuple;
use crate::patch::Loc;
use crate::reads::count_reads;

/// The smallest and largest colour that a cell can hold.
///
/// ARC data uses 0 to 9; programs also paint -1 and occasionally ten and more.
pub const COLOUR_RANGE: std::ops::RangeInclusive<i32> = i8::MIN as i32..=i8::MAX as i32;

/// A rectangle of `height` rows and `width` columns of colours, stored row by row.
///
/// A grid without rows has no columns either, as in Python, where it is the empty tuple; a grid may have rows without
/// cells. The type does not limit the size; [`Limits::max_cells`](crate::Limits) does.
///
/// ```
/// use arc_dsl::Grid;
/// let grid = Grid::from_rows(&[[0, 1, 2], [3, 4, 5]])?;
/// assert_eq!((grid.height(), grid.width()), (2, 3));
/// assert_eq!(grid.to_string(), "((0, 1, 2), (3, 4, 5))");
/// # Ok::<(), arc_dsl::GridError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(try_from = "Vec<Vec<i8>>")]
pub struct Grid {
    height: usize,
    width: usize,
    cells: Vec<i8>,
}

/// Why rows do not form a grid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// A row has another length than the first one.
    #[error(
        "row {row} has {found} cells where row 0 has {expected}: the rows of a grid are equally long"
    )]
    Ragged {
        /// The row, counted from 0.
        row: usize,
        /// Its number of cells.
        found: usize,
        /// The number of cells of row 0.
        expected: usize,
    },
    /// A colour does not fit a cell.
    #[error("colour {colour} at row {row}, column {column} does not fit a cell (-128 to 127)")]
    Colour {
        /// The colour found.
        colour: i32,
        /// Its row, counted from 0.
        row: usize,
        /// Its column, counted from 0.
        column: usize,
    },
}

/// In the formats of serde a grid is the list of its rows.
impl Serialize for Grid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

impl TryFrom<Vec<Vec<i8>>> for Grid {
    type Error = GridError;

    fn try_from(rows: Vec<Vec<i8>>) -> Result<Self, GridError> {
        let widened = rows
            .iter()
            .map(|row| row.iter().map(|&cell| cell.into()).collect());
        Self::from_rows(&widened.collect::<Vec<Vec<i32>>>())
    }
}

impl Grid {
    /// A grid of one colour. Without rows there are no columns.
    #[must_use]
    pub fn filled(height: usize, width: usize, colour: i8) -> Self {
        Self::from_cells(height, width, vec![colour; height * width])
    }

    /// A grid of `height` x `width` cells given row by row.
    ///
    /// # Panics
    /// If `cells` does not hold `height * width` colours: a programming error of the caller, never caused by data.
    #[must_use]
    pub fn from_cells(height: usize, width: usize, cells: Vec<i8>) -> Self {
        assert_eq!(cells.len(), height * width, "a grid of {height}x{width}");
        let width = if height == 0 { 0 } else { width };
        Self {
            height,
            width,
            cells,
        }
    }

    /// A grid from rows of colours.
    pub fn from_rows<R: AsRef<[i32]>>(rows: &[R]) -> Result<Self, GridError> {
        let width = rows.first().map_or(0, |row| row.as_ref().len());
        let mut cells = Vec::with_capacity(rows.len() * width);
        for (i, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != width {
                return Err(GridError::Ragged {
                    row: i,
                    found: row.len(),
                    expected: width,
                });
            }
            for (j, &colour) in row.iter().enumerate() {
                let cell = i8::try_from(colour).map_err(|_| GridError::Colour {
                    colour,
                    row: i,
                    column: j,
                })?;
                cells.push(cell);
            }
        }
        Ok(Self {
            height: rows.len(),
            width,
            cells,
        })
    }

    /// Number of rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// All colours, row by row.
    #[must_use]
    pub fn cells(&self) -> &[i8] {
        &self.cells
    }

    /// Mutable access to all colours, row by row.
    pub fn cells_mut(&mut self) -> &mut [i8] {
        &mut self.cells
    }

    /// The colours of row `i`, which must exist.
    #[must_use]
    pub fn row(&self, i: usize) -> &[i8] {
        &self.cells[i * self.width..(i + 1) * self.width]
    }

    /// The rows from top to bottom.
    #[must_use]
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[i8]> + ExactSizeIterator {
        (0..self.height).map(|i| self.row(i))
    }

    /// The colour at row `i`, column `j`, both of which must exist.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> i8 {
        count_reads(1);
        self.cells[i * self.width + j]
    }

    /// The index of `loc` in [`cells`](Self::cells); `None` if it is off the grid.
    #[inline]
    #[must_use]
    pub fn offset(&self, loc: Loc) -> Option<usize> {
        count_reads(1);
        // A negative coordinate becomes a large one.
        let (i, j) = (loc.i as u32 as usize, loc.j as u32 as usize);
        (i < self.height && j < self.width).then(|| i * self.width + j)
    }

    /// The colour at `loc`; `None` if it is off the grid.
    #[must_use]
    pub fn get(&self, loc: Loc) -> Option<i8> {
        self.offset(loc).map(|at| self.cells[at])
    }

    /// Fails if the grid has no row, as Python does when it looks up the width in row 0.
    pub(crate) fn require_row(&self) -> EvalResult<()> {
        if self.height == 0 {
            Err(ErrorKind::Empty)
        } else {
            Ok(())
        }
    }

    /// The locations and colours of all cells in reading order.
    pub fn enumerate(&self) -> impl Iterator<Item = (Loc, i8)> {
        self.rows().enumerate().flat_map(|(i, row)| {
            row.iter()
                .enumerate()
                .map(move |(j, &colour)| (Loc::new(i as i32, j as i32), colour))
        })
    }

    /// The grid in the ARC palette for a terminal with 24-bit colour: two columns per cell, one line per row.
    #[must_use]
    pub fn to_ansi(&self) -> String {
        self.rows()
            .map(|row| row.iter().map(|&c| ansi_cell(c, "  ")).collect::<String>() + "\n")
            .collect()
    }
}

/// The palette of the public ARC viewers: red, green and blue of the colours 0 to 9.
pub const PALETTE: [(u8, u8, u8); 10] = [
    (0, 0, 0),
    (0, 116, 217),
    (255, 65, 54),
    (46, 204, 64),
    (255, 220, 0),
    (170, 170, 170),
    (240, 18, 190),
    (255, 133, 27),
    (127, 219, 255),
    (135, 12, 37),
];

/// `text` (two columns wide) on the background of `colour` in the ARC palette.
#[must_use]
pub fn ansi_cell(colour: i8, text: &str) -> String {
    let (r, g, b) = usize::try_from(colour)
        .ok()
        .and_then(|c| PALETTE.get(c))
        .copied()
        .unwrap_or((90, 90, 90));
    let ink = if u32::from(r) * 3 + u32::from(g) * 6 + u32::from(b) > 1275 {
        30
    } else {
        97
    };
    format!("\x1b[{ink};48;2;{r};{g};{b}m{text}\x1b[0m")
}

/// A row, printed as a tuple.
struct RowText<'a>(&'a [i8]);

impl fmt::Display for RowText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tuple(f, self.0.iter())
    }
}

/// The literal of the grid.
impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tuple(f, self.rows().map(RowText))
    }
}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_cells_agree() {
        let grid = Grid::from_rows(&[[1, 2], [3, 4], [5, 6]]).unwrap();
        assert_eq!(grid.row(1), [3, 4]);
        assert_eq!(grid.at(2, 1), 6);
        assert_eq!(grid.get(Loc::new(0, 1)), Some(2));
        assert_eq!(grid.get(Loc::new(-1, 0)), None);
        assert_eq!(grid.get(Loc::new(0, 2)), None);
        assert_eq!(grid.enumerate().last(), Some((Loc::new(2, 1), 6)));
    }

    #[test]
    fn bad_rows_are_told_by_place() {
        let ragged = Grid::from_rows(&[vec![1, 2], vec![3]]).unwrap_err();
        assert_eq!(
            ragged,
            GridError::Ragged {
                row: 1,
                found: 1,
                expected: 2
            }
        );
        let colour = Grid::from_rows(&[[1, 300]]).unwrap_err();
        assert_eq!(
            colour,
            GridError::Colour {
                colour: 300,
                row: 0,
                column: 1
            }
        );
    }

    #[test]
    fn prints_as_python_does() {
        assert_eq!(Grid::from_rows(&[[7]]).unwrap().to_string(), "((7,),)");
        assert_eq!(Grid::default().to_string(), "()");
        assert_eq!(Grid::filled(2, 0, 0).to_string(), "((), ())");
    }

    #[test]
    fn a_cell_in_colour_is_two_columns_on_its_background() {
        let text = Grid::from_rows(&[[2, 0]]).unwrap().to_ansi();
        assert_eq!(
            text,
            "\x1b[97;48;2;255;65;54m  \x1b[0m\x1b[97;48;2;0;0;0m  \x1b[0m\n"
        );
    }
}
