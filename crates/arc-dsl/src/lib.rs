//! The ARC domain-specific language: types, all 160 primitives, programs and the reference interpreter.
//!
//! The crate is pure: it uses no files, threads or devices. A program is built with [`ProgramBuilder`], or parsed from
//! text by the crate arc-text; an [`Interpreter`] runs it on a [`Grid`] and returns a [`Value`] or an [`EvalError`].
//!
//! ```
//! use arc_dsl::{Constant, Grid, Interpreter, Primitive, ProgramBuilder};
//!
//! let mut builder = ProgramBuilder::new("solve_example");
//! let [yes, no] = [Constant::T, Constant::F];
//! let objects = builder.call(Primitive::Objects, [builder.input(), yes.into(), no.into(), yes.into()])?;
//! let largest = builder.call(Primitive::Argmax, [objects, Primitive::Size.into()])?;
//! let output = builder.call(Primitive::Subgrid, [largest, builder.input()])?;
//! let program = builder.finish(output)?;
//! let input = Grid::from_rows(&[[0, 3, 3, 0], [0, 3, 0, 0], [0, 0, 0, 5]])?;
//! let output = Interpreter::default().run(&program, input)?;
//! assert_eq!(output.as_grid().unwrap().to_string(), "((3, 3), (3, 0))");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All primitives are in [`Primitive`]. [`generate`] creates random values, calls and programs for tests.
//!
//! Modules by topic:
//!
//! - values: `value` (with `container`, `function`, `foreign`, `digest`), `grid`, `patch`; their text in `literal`;
//! - the language: `primitives` (the reference functions for the table of `arc-isa`, by family), `types`, `constants`,
//!   and for the typed dialect `dialect` and `typed`;
//! - programs: `program`, `interpreter`, `budget` (limits and their use), `bounds` (checks of results against the
//!   limits), `sizes`, `error`;
//! - for evaluators that hold values in other ways: [`hash`];
//! - for tests: [`generate`], `reads`.

mod bounds;
mod budget;
mod components;
mod constants;
mod dialect;
mod error;
pub mod generate;
mod grid;
pub mod hash;
mod interpreter;
mod literal;
mod patch;
mod primitives;
mod program;
mod reads;
mod sizes;
mod typed;
mod types;
mod value;

pub use arc_isa::{ContainerKind, Primitive, Type};
pub use budget::{Context, Identity, Limits, WORK_PER_STEP};
pub use constants::Constant;
pub use dialect::{Dialect, Sample};
pub use error::{ErrorKind, EvalError, Limit, ValueKind};
pub use grid::{COLOUR_RANGE, Grid, GridError, PALETTE, ansi_cell};
pub use interpreter::Interpreter;
pub use literal::{write_list, write_tuple};
pub use patch::{Cell, Indices, Loc, Object};
pub use primitives::{LoopBody, MOST_ROUNDS, iteration_order_of};
pub use program::{Block, BuildError, Callee, Operand, Program, ProgramBuilder, Slot, Step};
pub use typed::TypedPrimitive;
pub use value::container::{Container, Items};
pub use value::foreign::Foreign;
pub use value::function::{Function, FunctionKind};
pub use value::sets::sorted_cells;
pub use value::sort::sorted_places;
pub use value::{Elements, MAX_INT, Value};
