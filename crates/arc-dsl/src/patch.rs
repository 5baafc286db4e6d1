//! [`Loc`] and [`Cell`], and the sets of them: [`Indices`] and [`Object`], together called patches.

use std::cmp::Ordering;
use std::fmt;

use crate::literal::write_tuple;
use crate::reads::count_reads;
pub use crate::value::sets::{Indices, Object};

/// A pair of integers: row `i` and column `j` of a cell, or any vector, size or pair of numbers.
///
/// Components may be negative and may lie off every grid. Ordered by row, then by column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Loc {
    /// Row, counted downwards from 0.
    pub i: i32,
    /// Column, counted to the right from 0.
    pub j: i32,
}

impl Loc {
    /// The pair `(i, j)`.
    #[must_use]
    pub const fn new(i: i32, j: i32) -> Self {
        Self { i, j }
    }

    /// Adds both components; two components within [`MAX_INT`](crate::MAX_INT) never wrap.
    pub(crate) const fn wrapping_add(self, other: Self) -> Self {
        Self::new(self.i.wrapping_add(other.i), self.j.wrapping_add(other.j))
    }

    /// One integer that orders like the pair: comparing it is one instruction.
    const fn key(self) -> i64 {
        ((self.i as i64) << 32) | (self.j as i64 - i32::MIN as i64)
    }
}

impl Ord for Loc {
    fn cmp(&self, other: &Self) -> Ordering {
        count_reads(1);
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Loc {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A coloured location. Ordered by colour, then by location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Cell {
    /// The colour; only those of [`COLOUR_RANGE`](crate::COLOUR_RANGE) can be painted.
    pub colour: i32,
    /// Where it lies.
    pub loc: Loc,
}

impl Cell {
    /// The cell of `colour` at row `i`, column `j`.
    #[must_use]
    pub const fn new(colour: i32, loc: Loc) -> Self {
        Self { colour, loc }
    }
}

impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tuple(f, [self.i, self.j].iter())
    }
}

/// The literal of the cell.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.colour, self.loc)
    }
}

impl fmt::Debug for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
