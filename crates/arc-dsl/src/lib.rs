//! The ARC domain-specific language: types, all 160 primitives, program text and the reference
//! interpreter.
//!
//! The crate is pure: it uses no files, threads or devices. A program is parsed from text with [`parse_programs`] or
//! built in memory with [`ProgramBuilder`]; an [`Interpreter`] runs it on a [`Grid`] and returns a [`Value`] or an
//! [`EvalError`].
//!
//! ```
//! use arc_dsl::{Grid, Interpreter, parse_programs};
//!
//! let text = "
//! def solve_example(I):
//!     x1 = objects(I, T, F, T)
//!     x2 = argmax(x1, size)
//!     O = subgrid(x2, I)
//!     return O
//! ";
//! // One bad program in a file does not affect the others, so each has its own result.
//! let programs: Vec<_> = parse_programs(text).into_iter().collect::<Result<_, _>>()?;
//! let input = Grid::from_rows(&[[0, 3, 3, 0], [0, 3, 0, 0], [0, 0, 0, 5]])?;
//! let output = Interpreter::default().run(&programs[0], input)?;
//! assert_eq!(output.as_grid().unwrap().to_string(), "((3, 3), (3, 0))");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A wrong output is an ordinary value; an error says where it happened:
//!
//! ```
//! # use arc_dsl::{Grid, Interpreter, parse_programs};
//! let program = parse_programs("def f(I):\n    return argmax(palette(I), first)").remove(0)?;
//! let error = Interpreter::default().run(&program, Grid::filled(1, 1, 0)).unwrap_err();
//! assert_eq!(error.to_string(), "line 2: first: argument `container`: expected Container, found an integer");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All primitives are in [`Primitive`]. [`builtin`] has programs and tasks of any size that need no download;
//! [`generate`] creates random values, calls and programs for tests.
//!
//! Modules by topic:
//!
//! - values: `value` (with `container`, `function`, `foreign`, `digest`), `grid`, `patch`; their text in `literal`;
//! - the language: `primitives` (the reference functions for the table of `arc-isa`, by family), `types`, `constants`,
//!   and for the typed dialect `dialect` and `typed`;
//! - programs: `program`, `text` (parsing, with `batt_file` for batts), `interpreter`, `budget` (limits and their use),
//!   `bounds` (checks of results against the limits), `error`, `spelling`;
//! - tasks: `task` (with their JSON), `task_ids`, [`builtin`];
//! - for tests: [`generate`], `reads`.

mod batt_file;
mod bounds;
mod budget;
pub mod builtin;
mod constants;
mod dialect;
mod error;
pub mod generate;
mod grid;
mod interpreter;
mod literal;

mod patch;
mod primitives;
mod program;
mod reads;
mod sizes;
mod spelling;
mod task;
mod task_ids;
mod text;
mod typed;
mod types;
mod value;

pub use arc_isa::{ContainerKind, Primitive, Type};
pub use batt_file::{BattFile, Entry, EntryKind};
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
pub use spelling::misspelt;
pub use task::{
    FileForm, FileProgram, FileTask, MAX_CELLS, MAX_SIDE, OtherSplit, Pair, PairId, Solution,
    Solutions, Split, SubmissionFile, SubmittedGrid, SubmittedTask, Task, TaskError, TaskFile,
    bare_id, broken_json, is_arc_id, utf8,
};
pub use task_ids::{OwnTask, TaskIds, says_no_task, says_nothing};
pub use text::{
    Beside, ParseError, ParseErrorKind, ProgramText, Reading, Renames, Unfilled,
    definition_digests, imported_modules, is_batt, package_of, parse_batt, parse_file,
    parse_functions, parse_programs, parse_programs_in, parse_value, read_file, read_programs,
    says_program,
};
pub use typed::TypedPrimitive;
pub use value::container::{Container, Items};
pub use value::foreign::Foreign;
pub use value::function::{Function, FunctionKind};
pub use value::sort::sorted_places;
pub use value::{Elements, MAX_INT, Value};
