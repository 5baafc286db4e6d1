//! The ARC domain-specific language: types, all 160 primitives, program text and the reference
//! interpreter.
//!
//! The crate is pure: it knows no files, threads or devices. A program is read from text with
//! [`parse_programs`] or made in memory with [`ProgramBuilder`]; an [`Interpreter`] runs it on a
//! [`Grid`] and gives a [`Value`] or an [`EvalError`].

pub mod builtin;
mod constants;
mod container;
mod error;
pub mod form;
mod function;
pub mod generate;
mod grid;
mod interpreter;
mod patch;
mod primitives;
mod program;
mod task;
mod text;
mod types;
mod value;

pub use constants::Constant;
pub use container::{Container, ContainerKind, Items};
pub use error::{ErrorKind, EvalError, Kind, Limit};
pub use function::{Function, FunctionKind};
pub use grid::{COLOUR_RANGE, Grid, GridError, ansi_cell};
pub use interpreter::{Interpreter, Limits, WORK_PER_STEP};
pub use patch::{Cell, Indices, Loc, Object};
pub use primitives::Primitive;
pub use program::{BuildError, Callee, Operand, Program, ProgramBuilder, Slot, Step};
pub use task::{Challenges, MAX_SIDE, Pair, PairId, Solution, Solutions, Split, Task, TaskError};
pub use text::{ParseError, ParseErrorKind, parse_programs, parse_value};
pub use types::Type;
pub use value::{Elements, MAX_INT, Value};
