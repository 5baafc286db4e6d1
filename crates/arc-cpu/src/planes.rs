//! Grids and patches as bit planes: the data of the compiled path, and operations on it.
//!
//! A [`Tile`] is a grid of at most 32 rows and 32 columns: four planes of 32 rows of 32 bits, where bit `j` of
//! row `i` of plane `k` is bit `k` of the colour at `(i, j)`. An operation on a grid is a handful of operations
//! on vectors. A [`Shape`] is a set of locations: one word of 64 bits per row of its bounding box, and the
//! position of the box, which may be anywhere. A [`Window`] is a buffer in which a shape is built, and an
//! [`Object`] is a shape with its [`Colours`]. [`Bits`] are locations within a tile's 32 x 32 window.
//!
//! Equal grids are equal tiles, and equal sets are equal shapes: a tile is zero past its size, and a shape's
//! box is tight. A function returns what the reference's primitive returns, or a [`Misfit`]. Callers check
//! first for arguments with which the reference fails. Nothing in this module depends on slots, steps or
//! memory.
//!
//! Functions write their result to a destination of the caller, allocate nothing, and are inlined into their
//! callers, which are compiled once for every CPU and once for wide vectors.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

pub(crate) mod colours;
pub(crate) mod components;
pub(crate) mod mirrors;
pub(crate) mod object;
pub(crate) mod outlines;
pub(crate) mod painting;
pub(crate) mod patterns;
pub(crate) mod placing;
pub(crate) mod relations;
pub(crate) mod rows;
pub(crate) mod scaling;
pub(crate) mod sets;
mod shape;
#[cfg(test)]
mod testing;
mod tile;
pub(crate) mod transforms;

pub(crate) use object::{Colours, Object};
pub(crate) use shape::{COLUMNS, ROWS, Shape, Window, shifted};
pub(crate) use tile::{Bits, NO_BITS, SIDE, Tile, code_of, colour_of};

/// A value that does not fit planes: the reference has to do the evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// A grid of more than 32 rows or columns.
    Grid,
    /// A patch whose bounding box is past [`ROWS`] rows or [`COLUMNS`] columns.
    Patch,
    /// A colour outside -1 to 14.
    Colour,
    /// Of several colours, one that only the order of Python tells.
    Order,
}
