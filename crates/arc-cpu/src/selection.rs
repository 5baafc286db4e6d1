//! [`Selection`]: the kernel selected for a call, and how it gets its operands.

use crate::program::Kernel;
use arc_form::Type;

/// The type that a kernel needs of an argument; other types are converted if possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constraint {
    /// Any representation: `select` has checked the type.
    AsIs,
    /// An integer (true and false are 1 and 0).
    Int,
    /// A pair of integers.
    Pair,
    /// A cell.
    Cell,
    /// A grid.
    Grid,
    /// A set of locations or of cells.
    Patch,
    /// A set of cells.
    Object,
    /// A value of the type of the instruction's result.
    Result,
    /// A value of the selection's own type number `.0`.
    Own(u8),
    /// The locations of a colour in a grid: consumes two arguments, the grid and the colour.
    CellsOfColour,
}

/// An additional number for a kernel, passed in `step.immediate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Immediate {
    /// Nothing.
    #[default]
    None,
    /// A number.
    Number(u32),
    /// The type of the first argument, read as `code.ty(step)`.
    First,
    /// The selection's own type number `.0`, read in the same way.
    Own(u8),
}

/// The type of a kernel's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ResultType {
    /// That of the instruction.
    #[default]
    Result,
    /// A pair, or nothing.
    MaybePair,
    /// A grid.
    Grid,
    /// The selection's own type number `.0`.
    Own(u8),
}

/// The kernel for a call.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) kernel: &'static Kernel,
    /// One for every argument; some consume two.
    pub(crate) constraints: &'static [Constraint],
    pub(crate) immediate: Immediate,
    /// The type of its result, which is converted if it is not the instruction's.
    pub(crate) gives: ResultType,
    /// Types that are neither the arguments' nor the result's; others name them by number.
    pub(crate) own: Vec<Type>,
}

impl Selection {
    /// A kernel with these constraints.
    pub(crate) fn new(kernel: &'static Kernel, constraints: &'static [Constraint]) -> Self {
        Self {
            kernel,
            constraints,
            immediate: Immediate::None,
            gives: ResultType::Result,
            own: Vec::new(),
        }
    }

    /// The same with this immediate.
    pub(crate) fn with(self, immediate: Immediate) -> Self {
        Self { immediate, ..self }
    }

    /// The same with a result of this type.
    pub(crate) fn giving(self, gives: ResultType) -> Self {
        Self { gives, ..self }
    }

    /// The same with types of its own.
    pub(crate) fn of<const N: usize>(self, own: [Type; N]) -> Self {
        Self {
            own: own.into(),
            ..self
        }
    }
}
