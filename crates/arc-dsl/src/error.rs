//! What can go wrong while a program runs.

use arc_isa::{Primitive, Type};

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why one evaluation returned no value, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalError {
    /// Line of the step that failed, counted from 1 in the file that the program was parsed from.
    pub line: u32,
    /// The innermost primitive that failed; `None` if the step failed before one was called.
    pub primitive: Option<Primitive>,
    /// What was wrong.
    pub kind: ErrorKind,
}

impl EvalError {
    /// The limit that was reached, if the evaluation was stopped rather than failed.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        match self.kind {
            ErrorKind::Limit(limit) => Some(limit),
            _ => None,
        }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if let Some(primitive) = self.primitive {
            write!(f, "{}: ", primitive.name())?;
            if let ErrorKind::Type { argument, .. } = self.kind
                && let Some((name, _)) = primitive.parameters().get(usize::from(argument))
            {
                write!(f, "argument `{name}`: ")?;
            }
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for EvalError {}

/// A kind of value, as error messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ValueKind {
    /// [`Value::Nothing`](crate::Value::Nothing).
    #[error("nothing")]
    Nothing,
    /// True or false.
    #[error("a boolean")]
    Boolean,
    /// An integer.
    #[error("an integer")]
    Integer,
    /// A tuple of two integers.
    #[error("a pair of integers")]
    Pair,
    /// A colour with its location.
    #[error("a cell")]
    Cell,
    /// A grid.
    #[error("a grid")]
    Grid,
    /// Any other tuple.
    #[error("a tuple")]
    Tuple,
    /// A set of locations.
    #[error("a set of locations")]
    Indices,
    /// A set of cells.
    #[error("an object")]
    Object,
    /// A set without elements.
    #[error("an empty set")]
    EmptySet,
    /// Any other set.
    #[error("a set")]
    Set,
    /// A number that is not finite.
    #[error("a number that is not finite")]
    NotFinite,
    /// A primitive, or a function composed of primitives.
    #[error("a function")]
    Function,
    /// Any tuple or set; only as what was expected.
    #[error("a tuple or a set")]
    Container,
}

/// The result of an evaluation, or of a part of one.
pub(crate) type EvalResult<T> = Result<T, ErrorKind>;

/// What was wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ErrorKind {
    /// An argument has another type than the primitive takes.
    #[error("expected {expected}, found {found}")]
    Type {
        /// Which argument, counted from 0.
        argument: u8,
        /// The type that the primitive takes there.
        expected: Type,
        /// The kind of value found.
        found: ValueKind,
    },
    /// A value inside an argument has another kind than the primitive needs.
    #[error("expected {expected} as element, found {found}")]
    Element {
        /// What the primitive needs.
        expected: ValueKind,
        /// The kind of value found.
        found: ValueKind,
    },
    /// The value being called is not a function.
    #[error("expected a function to call, found {found}")]
    NotCallable {
        /// The kind of value found.
        found: ValueKind,
    },
    /// A function is called with the wrong number of arguments.
    #[error("expected {expected} argument{}, found {found}", if *expected == 1 { "" } else { "s" })]
    ArgumentCount {
        /// How many the function takes.
        expected: u8,
        /// How many it was given.
        found: u8,
    },
    /// A grid, patch or container is empty where it must not be.
    #[error("expected at least one element, found none")]
    Empty,
    /// No element satisfies the condition.
    #[error("no element satisfies the condition")]
    NoMatch,
    /// A row, column or component that does not exist.
    #[error("index out of range")]
    OutOfRange,
    /// Two keys of different kinds have no order.
    #[error("cannot compare {0} with {1}")]
    Incomparable(ValueKind, ValueKind),
    /// Division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A function is to be applied less than once, or more than [`MOST_ROUNDS`](crate::MOST_ROUNDS) times.
    #[error(
        "expected a number of times from 1 to 998, found {0}, for which Python recurses too deep"
    )]
    Recursion(i32),
    /// An interval has a step of zero.
    #[error("expected a step other than zero")]
    ZeroStep,
    /// A limit was reached. The program may be correct, but it was not run to the end.
    #[error("limit exceeded: {0}")]
    Limit(Limit),
}

/// The limits of one evaluation; see [`Limits`](crate::Limits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Limit {
    /// Steps: calls of primitives, and their work.
    #[error("steps")]
    Steps,
    /// Cells of one grid.
    #[error("cells of a grid")]
    Cells,
    /// Elements of one container, including those nested inside its elements.
    #[error("elements of a container")]
    Elements,
    /// Elements of all values that the program holds.
    #[error("memory")]
    Memory,
    /// Nesting of containers or functions.
    #[error("nesting")]
    Nesting,
    /// An integer past [`MAX_INT`](crate::MAX_INT).
    #[error("size of an integer")]
    Integer,
    /// A colour that no cell can hold.
    #[error("range of colours")]
    Colour,
    /// Wall-clock time.
    #[error("time")]
    Time,
}

impl From<Limit> for ErrorKind {
    fn from(limit: Limit) -> Self {
        ErrorKind::Limit(limit)
    }
}
