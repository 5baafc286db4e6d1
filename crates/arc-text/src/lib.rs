//! Program text: [`parse_programs`] and [`parse_value`].
//!
//! ```
//! use arc_dsl::{Grid, Interpreter};
//! use arc_text::parse_programs;
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
//! # use arc_dsl::{Grid, Interpreter};
//! # use arc_text::parse_programs;
//! let program = parse_programs("def f(I):\n    return argmax(palette(I), first)").remove(0)?;
//! let error = Interpreter::default().run(&program, Grid::filled(1, 1, 0)).unwrap_err();
//! assert_eq!(error.to_string(), "line 2: first: argument `container`: expected Container, found an integer");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The language is the straight-line part of Python in which the community writes its solvers:
//!
//! ```text
//! def solve_00000000(I):
//!     x1 = objects(I, univalued=T, diagonal=F, without_bg=True)
//!     x2 = compose(first, totuple)
//!     O = fill(I, 3, toindices(x2(x1)))
//!     return O
//! ```
//!
//! A statement is `name = expression` or, at the end, `return expression`. An expression is a call of a primitive or of
//! a variable, a variable, a primitive, a constant by its public name, or a literal: integers, `True`, `False`, `None`,
//! tuples, `frozenset({...})` and `{...}`. A pair that contains variables or calls becomes a call of `astuple`;
//! assigning just a name or a literal becomes a call of `identity`. A call inside another expression, or an operator,
//! becomes a separate step before it, with a name that the program does not use (`t1`, `t2`, ...). A function of the
//! text (`def`, `lambda`) is inlined where it is called, and becomes a function of the DSL where it is passed on. So do
//! comprehensions, branches and what Python may not evaluate.
//!
//! Annotations, imports, comments and docstrings are ignored. Text is data: nothing in it is executed.
//!
//! `lexer` splits a text into tokens, `syntax` parses a function into its `tree`, `lowering` makes steps of that, and
//! `module` says what names mean.
//!
//! No text makes the parser panic. Its memory and time are proportional to the length of the text, and brackets nest at
//! most 100 deep.

mod bare;
mod batt;
mod batt_file;
mod beside;
mod error;
mod expression;
mod globals;
mod lexer;
mod local;
mod module;
mod names;
mod reference;
mod spelling;
mod statements;
mod syntax;
mod tokens;
mod top_level;
mod tree;

use arc_dsl::{Dialect, Program, Value};

pub use batt::{is_batt, parse_batt};
pub use batt_file::{BattEntry, BattEntryKind, BattFile};
pub use beside::{Beside, imported_modules, package_of};
pub use error::{ParseError, ParseErrorKind, Unfilled};
pub use globals::Renames;
use lexer::{Block, Lexer};
use module::Module;
use module::lowering::Lowering;
pub use module::{ProgramText, Reading, says_program};
pub use reference::definition_digests;
pub use spelling::misspelt;
use tokens::Tokens;

/// The programs of a text, in its order.
///
/// A bad program gives an error and does not affect the others. Of several programs with the same name, the last one
/// counts, as in Python. A text without programs gives an empty list. [`read_programs`] explains what names mean that
/// the text itself binds.
///
/// ```
/// let text = "
/// from dsl import *
///
/// def solve_a(I):
///     return hconcat(I, vmiror(I))
///
/// def solve_b(I):
///     return hconcat(I, vmirror(I))  # twice as wide
/// ";
/// let programs = arc_text::parse_programs(text);
/// assert_eq!(
///     programs[0].as_ref().unwrap_err().to_string(),
///     "line 5, column 23: unknown primitive `vmiror`, did you mean `vmirror`?",
/// );
/// assert_eq!(
///     programs[1].as_ref().unwrap().to_string(),
///     "def solve_b(I):\n    t1 = vmirror(I)\n    t2 = hconcat(I, t1)\n    return t2\n",
/// );
/// ```
///
/// A program of several parameters is in the dialect whose names it uses; if they are those of both, in the typed one if
/// its first parameter is `S`. Any other program is in the public dialect.
#[must_use]
pub fn parse_programs(text: &str) -> Vec<Result<Program, ParseError>> {
    read_programs(text, &Reading::default()).programs
}

/// The programs of a text in its order, all in this dialect.
#[must_use]
pub fn parse_programs_in(dialect: Dialect, text: &str) -> Vec<Result<Program, ParseError>> {
    let reading = Reading {
        dialect: Some(dialect),
        ..Reading::default()
    };
    read_programs(text, &reading).programs
}

/// The programs of a text, and notes on the rest of the text.
///
/// A program is a function of one parameter (in the typed dialect also `(S, I)` or three; others have defaults) that no other function calls, or whose
/// name says that it is a program (`solve..`, `verify..`, `..007bbfb7`). A function with a name of the DSL is never a
/// program. As in Python, a name means what the text binds it to: calls of the text's functions are inlined, values
/// that it sets are constants. What cannot be resolved is an error of each program that uses it; what belongs to no
/// program is a note.
///
/// ```
/// use arc_text::{Reading, read_programs};
/// let text = "
/// from dsl import hmirror as vmirror
///
/// def turned(grid):
///     return vmirror(grid)
///
/// def solve_a(I):
///     return turned(turned(I))
///
/// print(solve_a)
/// ";
/// let read = read_programs(text, &Reading::default());
/// assert_eq!(
///     read.programs[0].as_ref().unwrap().to_string(),
///     "def solve_a(I):\n    t1 = hmirror(I)\n    t2 = hmirror(t1)\n    return t2\n",
/// );
/// assert_eq!(read.notes[0].line, 10);
/// ```
#[must_use]
pub fn read_programs(text: &str, reading: &Reading) -> ProgramText {
    Module::new(without_mark(text), reading).read()
}

/// The programs of a file in its order, in this dialect if one is given.
///
/// A file that defines none may consist of bare statements without a `def` line, up to the one that sets `O`, the
/// output. Whatever follows is another program, unless it uses variables that this one has set. The k-th program,
/// counted from 1, gets the name `name(k)`. These programs are in the public dialect.
///
/// ```
/// let text = "x1 = vmirror(I)\nO = hconcat(I, x1)\n";
/// let programs = arc_text::parse_file(text, None, |_| "solve_a".to_owned());
/// assert_eq!(
///     programs[0].as_ref().unwrap().to_string(),
///     "def solve_a(I):\n    x1 = vmirror(I)\n    O = hconcat(I, x1)\n    return O\n",
/// );
/// ```
pub fn parse_file(
    text: &str,
    dialect: Option<Dialect>,
    name: impl Fn(usize) -> String,
) -> Vec<Result<Program, ParseError>> {
    let reading = Reading {
        dialect,
        ..Reading::default()
    };
    read_file(text, &reading, name).programs
}

/// The programs of a file as [`parse_file`] returns them, and notes on the rest of the text.
pub fn read_file(text: &str, reading: &Reading, name: impl Fn(usize) -> String) -> ProgramText {
    let text = without_mark(text);
    let has_function = Lexer::new(text).has_function() || sets_program(text);
    if reading.dialect == Some(Dialect::Typed) || has_function {
        return read_programs(text, reading);
    }
    Module::new(text, reading).read_bare(name)
}

/// Whether lines assign to names of programs, as in `solve_a = compose(vmirror, hmirror)`, or assign a `lambda`, and no
/// line sets `O`.
fn sets_program(text: &str) -> bool {
    let set = text.lines().filter_map(|line| line.split_once('='));
    let mut set = set.map(|(name, value)| {
        let name = name.split(':').next().unwrap_or(name).trim_end();
        (name, value.trim_start().starts_with("lambda "))
    });
    let is_program = |(name, is_lambda): (&str, bool)| {
        says_program(name) || (is_lambda && name.starts_with(char::is_alphabetic))
    };
    set.clone().any(is_program) && !set.any(|(name, _)| name == "O")
}

/// The functions of a text in its order: programs of the public dialect with 1 to 4 inputs of any kind. Later functions
/// may call earlier ones; such a call is inlined.
///
/// ```
/// let text = "
/// def beside(a, b):
///     return hconcat(a, vmirror(b))
///
/// def four(a):
///     x = beside(a, a)
///     return vconcat(x, hmirror(x))
/// ";
/// let functions = arc_text::parse_functions(text);
/// assert_eq!(functions[0].as_ref().unwrap().inputs(), ["a", "b"]);
/// let four = functions[1].as_ref().unwrap();
/// let names = four.steps().iter().map(|step| &*four.variables()[step.target.index()]);
/// assert_eq!(names.collect::<Vec<_>>(), ["t1", "t2", "t3", "t4"]);
/// ```
#[must_use]
pub fn parse_functions(text: &str) -> Vec<Result<Program, ParseError>> {
    let reading = Reading {
        dialect: Some(Dialect::Public),
        ..Reading::default()
    };
    Module::of_functions(without_mark(text), &reading)
        .read()
        .programs
}

/// The value of a literal, as [`Value`]'s `Display` prints it.
///
/// Constants and primitives may occur in it by name. A grid is parsed as the tuple of its rows, which equals it;
/// [`Value::as_grid`] converts it to a grid.
///
/// ```
/// use arc_text::parse_value;
/// let object = parse_value("frozenset({(2, ORIGIN), (1, (0, 1))})")?;
/// assert_eq!(object.to_string(), "frozenset({(2, (0, 0)), (1, (0, 1))})");
/// assert_eq!(
///     parse_value("(1, 2").unwrap_err().to_string(),
///     "line 1, column 1: `(` is never closed, expected `)`",
/// );
/// # Ok::<(), arc_text::ParseError>(())
/// ```
pub fn parse_value(text: &str) -> Result<Value, ParseError> {
    let text = without_mark(text);
    let mut block = Block::default();
    Lexer::new(text).read_all(&mut block);
    let mut tokens = Tokens::new(text, &block);
    tokens.is_plain = true;
    let literal = tokens.expression(0)?;
    let value = Lowering::new(text, &block, Dialect::Public).literal(&literal)?;
    if tokens.is_line_end() {
        return Ok(value);
    }
    Err(tokens.unexpected("the end of the literal"))
}

/// The text without the byte order mark that some editors put before it.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests;
