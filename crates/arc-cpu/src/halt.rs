//! [`Halt`]: why a machine hands an evaluation back.

use std::fmt;

use crate::planes::Misfit;
use arc_dsl::ErrorKind;

/// Why the compiled path does not follow an evaluation to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u64)]
pub enum Halt {
    /// A grid of more than 32 rows or columns.
    Grid,
    /// A patch whose bounding box has more than 128 rows or 64 columns.
    Patch,
    /// A colour outside -1 to 14.
    Colour,
    /// An object with two colours at one location.
    Overlap,
    /// A number that its code has no room for.
    Number,
    /// A value of another type than the form expects.
    Type,
    /// Too many values for the machine's memory.
    Memory,
    /// Too many steps.
    Steps,
    /// The reference fails here, in a way that only it tells.
    Fails,
    /// A grid, patch or container has nothing in it where something is needed.
    Empty,
    /// No element satisfies the condition.
    NoMatch,
    /// Division by zero.
    DivisionByZero,
    /// An error among elements that are not gone through in the reference's order.
    Order,
    /// An operation that has no kernel for its types, in a program of several results: a program of
    /// one is [`Unsupported`](super::Unsupported).
    Kernel,
}

impl Halt {
    /// The error that the reference ends with, where it is known from here.
    pub(crate) fn error(self) -> Option<ErrorKind> {
        match self {
            Halt::Empty => Some(ErrorKind::Empty),
            Halt::NoMatch => Some(ErrorKind::NoMatch),
            Halt::DivisionByZero => Some(ErrorKind::DivisionByZero),
            _ => None,
        }
    }
}

impl From<Misfit> for Halt {
    #[inline(always)]
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::Grid => Halt::Grid,
            Misfit::Patch => Halt::Patch,
            Misfit::Colour => Halt::Colour,
        }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Halt::Grid => "a grid past 32 rows or columns",
            Halt::Patch => "a patch past 128 rows or 64 columns",
            Halt::Colour => "a colour outside -1 to 14",
            Halt::Overlap => "two colours at one location of an object",
            Halt::Number => "a number of more than 16 bits in a cell, or past the largest integer",
            Halt::Type => "a value of another type",
            Halt::Memory => "more values than the machine holds",
            Halt::Steps => "too many steps",
            Halt::Fails => "an error that the reference describes",
            Halt::Empty => "nothing where something is needed",
            Halt::NoMatch => "no element satisfies the condition",
            Halt::DivisionByZero => "division by zero",
            Halt::Order => "an error among elements in another order",
            Halt::Kernel => "an operation that has no kernel",
        })
    }
}
