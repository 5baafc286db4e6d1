//! [`BailOut`]: why a machine bails out of an evaluation.

use std::fmt;

use crate::planes::Misfit;
use arc_dsl::ErrorKind;

/// Why the compiled path bails out of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u64)]
pub enum BailOut {
    /// A grid of more than 32 rows or columns.
    Grid,
    /// A patch whose bounding box has more than 128 rows or 64 columns.
    Patch,
    /// A colour outside -1 to 14.
    Colour,
    /// An object with two cells of different colours at one location.
    Overlap,
    /// A number that does not fit its encoding.
    Number,
    /// A value of another type than the form expects.
    Type,
    /// Too many values for the machine's memory.
    Memory,
    /// Too many steps of the machine.
    Steps,
    /// More steps than the reference may take, however it counts them.
    Limit,
    /// The reference fails here, and only the reference can tell how.
    Fails,
    /// A grid, patch or container is empty where an element is needed.
    Empty,
    /// No element satisfies the condition.
    NoMatch,
    /// Division by zero.
    DivisionByZero,
    /// The order of a set in Python decides, or an error in a loop that does not visit elements in that order.
    Order,
    /// The same, and every output that an order may give can be compared first.
    Choice,
    /// An operation without a kernel for its types, in a [batt](crate::Batt). A program with such an operation is
    /// [`Unsupported`] instead.
    Kernel,
}

impl BailOut {
    /// The error that the reference ends with, if the machine knows it.
    pub(crate) fn error(self) -> Option<ErrorKind> {
        match self {
            BailOut::Empty => Some(ErrorKind::Empty),
            BailOut::NoMatch => Some(ErrorKind::NoMatch),
            BailOut::DivisionByZero => Some(ErrorKind::DivisionByZero),
            _ => None,
        }
    }
}

impl From<Misfit> for BailOut {
    #[inline(always)]
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::Grid => BailOut::Grid,
            Misfit::Patch => BailOut::Patch,
            Misfit::Colour => BailOut::Colour,
            Misfit::Order => BailOut::Order,
        }
    }
}

impl fmt::Display for BailOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BailOut::Grid => "a grid past 32 rows or columns",
            BailOut::Patch => "a patch past 128 rows or 64 columns",
            BailOut::Colour => "a colour outside -1 to 14",
            BailOut::Overlap => "two colours at one location of an object",
            BailOut::Number => {
                "a number of more than 16 bits in a cell, or past the largest integer"
            }
            BailOut::Type => "a value of another type",
            BailOut::Memory => "more values than the machine holds",
            BailOut::Steps => "too many steps",
            BailOut::Limit => "more steps than the limit",
            BailOut::Fails => "an error that the reference describes",
            BailOut::Empty => "nothing where something is needed",
            BailOut::NoMatch => "no element satisfies the condition",
            BailOut::DivisionByZero => "division by zero",
            BailOut::Order | BailOut::Choice => "the order of a set",
            BailOut::Kernel => "an operation that has no kernel",
        })
    }
}

/// Why a program cannot be compiled: the reference runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The line of the program.
    pub line: u32,
    /// The operation or conversion that the machine lacks.
    pub reason: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for Unsupported {}
