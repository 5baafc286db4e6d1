//! Program text: [`parse_programs`] and [`parse_value`].
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
//! A statement is `name = expression` or, last, `return expression`. An expression is a call of a
//! primitive or of a variable, a variable, a primitive, a constant by its public name, or a literal:
//! integers, `True`, `False`, `None`, tuples, `frozenset({...})` and `{...}`. A pair with variables
//! or calls in it stands for a call of `astuple`; a name or a literal alone that is assigned, for
//! one of `identity`; a call inside another expression becomes a step of its own before it, with a
//! name that the program does not use (`t1`, `t2`, ...). Annotations, imports, comments and
//! documentation are passed over. Text is data: nothing in it is executed.
//!
//! Nothing that a text contains makes the parser panic. Its memory and time are in proportion to
//! the text's length, and brackets nest at most 100 deep.

mod bare;
mod batt;
mod error;
mod expression;
mod lexer;
mod names;
mod parser;
mod statements;
mod tokens;

use std::collections::HashMap;

use crate::dialect::Dialect;
use crate::program::Program;
use crate::value::Value;

pub use batt::{is_batt, parse_batt};
pub use error::{ParseError, ParseErrorKind};
use lexer::{Block, Lexer};
use parser::Parser;

/// The programs of a text in its order.
///
/// A program that is wrong gives an error and leaves the others as they are, and so does text at
/// the top level that is neither a program, an import, a comment nor documentation. After an error
/// reading goes on at the next line that begins with `def`. Of programs of one name the first one
/// without an error stands. A text without programs gives nothing.
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
/// let programs = arc_dsl::parse_programs(text);
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
/// A program with the parameters `(S, I, C)` is of the typed dialect, any other of the public one.
pub fn parse_programs(text: &str) -> Vec<Result<Program, ParseError>> {
    parse(text, None)
}

/// The programs of a text in its order, all of this dialect.
pub fn parse_programs_in(dialect: Dialect, text: &str) -> Vec<Result<Program, ParseError>> {
    parse(text, Some(dialect))
}

/// The programs of a file in its order, of this dialect where one is given.
///
/// A file that defines none may be one without a first line: bare statements as they stand in a program,
/// up to the one that sets `O`, its output; what follows is another program. The k-th one from 1 on bears
/// the name that is given for k. They are of the public dialect.
///
/// ```
/// let text = "x1 = vmirror(I)\nO = hconcat(I, x1)\n";
/// let programs = arc_dsl::parse_file(text, None, |_| "solve_a".to_owned());
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
    let programs = without_mark(text);
    let mut lexer = Lexer::new(programs);
    if dialect == Some(Dialect::Typed) || lexer.has_def() {
        return parse(text, dialect);
    }
    let mut block = Block::default();
    lexer.read_lines(&mut block);
    Parser::new(programs, &block, None).bare(name)
}

fn parse(text: &str, dialect: Option<Dialect>) -> Vec<Result<Program, ParseError>> {
    let text = without_mark(text);
    let mut lexer = Lexer::new(text);
    let mut block = Block::default();
    let mut programs = Vec::new();
    let mut lines = HashMap::new();
    while lexer.next_block(&mut block) {
        match Parser::new(text, &block, dialect).top_level(&lines) {
            Ok(None) => {}
            Ok(Some(program)) => {
                lines.insert(program.name().to_owned(), program.line());
                programs.push(Ok(program));
            }
            Err(error) => {
                programs.push(Err(error));
                lexer.recover();
            }
        }
    }
    programs
}

/// The functions of a text in its order: programs of the public dialect with 1 to 4 inputs of any kind,
/// which those below them may call. Such a call stands for the steps of the function.
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
/// let functions = arc_dsl::parse_functions(text);
/// assert_eq!(functions[0].as_ref().unwrap().inputs(), ["a", "b"]);
/// let four = functions[1].as_ref().unwrap();
/// let names = four.steps().iter().map(|step| &*four.variables()[step.target.index()]);
/// assert_eq!(names.collect::<Vec<_>>(), ["t1", "t2", "t3", "t4"]);
/// ```
pub fn parse_functions(text: &str) -> Vec<Result<Program, ParseError>> {
    let text = without_mark(text);
    let mut lexer = Lexer::new(text);
    let mut block = Block::default();
    let (mut known, mut lines) = (HashMap::new(), HashMap::new());
    let mut functions = Vec::new();
    while lexer.next_block(&mut block) {
        let mut parser = Parser::new(text, &block, Some(Dialect::Public));
        parser.functions = Some(&known);
        match parser.top_level(&lines) {
            Ok(None) => {}
            Ok(Some(function)) => {
                lines.insert(function.name().to_owned(), function.line());
                known.insert(function.name().to_owned(), function.clone());
                functions.push(Ok(function));
            }
            Err(error) => {
                functions.push(Err(error));
                lexer.recover();
            }
        }
    }
    functions
}

/// The value of a literal, as [`Value`]'s `Display` prints it.
///
/// Constants and primitives may stand in it by name. A grid is read as the tuple of its rows, which
/// equals it; [`Value::as_grid`] makes a grid of that.
///
/// ```
/// use arc_dsl::parse_value;
/// let object = parse_value("frozenset({(2, ORIGIN), (1, (0, 1))})")?;
/// assert_eq!(object.to_string(), "frozenset({(1, (0, 1)), (2, (0, 0))})");
/// assert_eq!(
///     parse_value("(1, 2").unwrap_err().to_string(),
///     "line 1, column 1: `(` is never closed, expected `)`",
/// );
/// # Ok::<(), arc_dsl::ParseError>(())
/// ```
pub fn parse_value(text: &str) -> Result<Value, ParseError> {
    let text = without_mark(text);
    let mut block = Block::default();
    Lexer::new(text).read_all(&mut block);
    Parser::new(text, &block, None).literal()
}

/// The text without the byte order mark that some editors put before it.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests;
