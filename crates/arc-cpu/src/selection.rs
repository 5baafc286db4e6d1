//! [`Selection`]: the kernel that is selected for a call, and how its operands reach it.

use crate::program::Kernel;
use arc_form::Type;

/// What a kernel wants of an argument; other types are converted where they can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constraint {
    /// It takes any representation: `select` has looked at the type.
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
    /// A value of the type of the result.
    Result,
    /// A value of the selection's own type with this number.
    Own(u8),
    /// The locations of a grid, which this argument is, that have the colour that the next one is.
    CellsOfColour,
}

/// What else a kernel is told, in `step.immediate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Immediate {
    /// Nothing.
    #[default]
    None,
    /// A number.
    Number(u32),
    /// The type of the first argument, which is `code.ty(step)`.
    First,
    /// The selection's own type with this number, in the same way.
    Own(u8),
}

/// The type of what a kernel gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ResultType {
    /// That of the instruction.
    #[default]
    Result,
    /// A pair, or nothing.
    MaybePair,
    /// A grid.
    Grid,
    /// The selection's own type with this number.
    Own(u8),
}

/// The kernel for a call.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) kernel: &'static Kernel,
    /// One for every argument, but that some take two.
    pub(crate) constraints: &'static [Constraint],
    pub(crate) immediate: Immediate,
    /// What it gives; that is converted where it is not of the instruction's type.
    pub(crate) gives: ResultType,
    /// Types that are neither the arguments' nor the result's.
    pub(crate) own: Vec<Type>,
}

impl Selection {
    /// A kernel that wants this.
    pub(crate) fn new(kernel: &'static Kernel, constraints: &'static [Constraint]) -> Self {
        Self {
            kernel,
            constraints,
            immediate: Immediate::None,
            gives: ResultType::Result,
            own: Vec::new(),
        }
    }

    /// The same, told this.
    pub(crate) fn with(self, immediate: Immediate) -> Self {
        Self { immediate, ..self }
    }

    /// The same, giving a value of this type.
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
