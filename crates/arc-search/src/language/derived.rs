//! The derived operations, their parameters, and an example of each.
//!
//! They are text, [`DERIVED`]: functions of the public dialect that call primitives and the functions above them, in
//! a file per family: colours and two grids, lines, areas and their borders, symmetry and tilings, parts, objects,
//! choices. In them 0 is the background, *empty*, whatever the most common colour is, and cells that are not empty
//! are *shown*. A *thing* is a component of shown cells of any colours, a *piece* one of a single colour, a *blob*
//! the locations of a thing, and a *gap* a component of empty cells. The examples are text too; the types of the
//! parameters follow from their arguments.
//!
//! ```
//! use arc_search::language::derived::{Parameter, examples, functions};
//! let functions = functions()?;
//! let examples = examples()?;
//! let filled = functions.iter().find(|function| function.name() == "filled").ok_or("not there")?;
//! let example = examples.iter().find(|example| example.function == "filled").ok_or("none")?;
//! assert_eq!(example.parameters(), Some(vec![Parameter::Grid, Parameter::Color]));
//! let value = arc_dsl::Interpreter::default().run_on(filled, example.arguments.clone())?;
//! assert_eq!(value, example.value);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use arc_dsl::{Grid, ParseError, Program, Value, parse_functions, parse_value};

use super::DERIVED;

/// Examples of the derived operations, worked out by hand: a call per paragraph, and after `=` its value.
pub const EXAMPLES: &str = concat!(
    include_str!("derived/grids.txt"),
    "\n",
    include_str!("derived/lines.txt"),
    "\n",
    include_str!("derived/areas.txt"),
    "\n",
    include_str!("derived/symmetry.txt"),
    "\n",
    include_str!("derived/parts.txt"),
    "\n",
    include_str!("derived/objects.txt"),
    "\n",
    include_str!("derived/choices.txt")
);

/// The type of a parameter of a derived operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// A grid.
    Grid,
    /// A colour, or a count.
    Color,
    /// Indices.
    Indices,
    /// An object.
    Object,
    /// A set of objects.
    Objects,
    /// A tuple of grids.
    Grids,
    /// A pair of integers.
    Pair,
}

/// A call of a derived operation and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The name of the function.
    pub function: String,
    /// The arguments.
    pub arguments: Vec<Value>,
    /// The value for these arguments.
    pub value: Value,
}

impl Example {
    /// The types of the parameters, by the arguments; `None` if one has another type.
    pub fn parameters(&self) -> Option<Vec<Parameter>> {
        self.arguments.iter().map(parameter).collect()
    }
}

/// An example that cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("example {number}: {why}")]
pub struct Unreadable {
    /// Its number, from 1 on.
    pub number: usize,
    /// Why.
    pub why: String,
}

/// The derived operations in the order of the text.
pub fn functions() -> Result<Vec<Program>, ParseError> {
    parse_functions(DERIVED).into_iter().collect()
}

/// The examples in the order of the text.
pub fn examples() -> Result<Vec<Example>, Unreadable> {
    let paragraphs = EXAMPLES.split("\n\n").map(without_comments);
    let paragraphs = paragraphs.filter(|paragraph| !paragraph.is_empty());
    let read = |(at, paragraph): (usize, String)| {
        let why = |why| Unreadable {
            number: at + 1,
            why,
        };
        example(&paragraph).map_err(why)
    };
    paragraphs.enumerate().map(read).collect()
}

fn without_comments(paragraph: &str) -> String {
    let lines = paragraph.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

fn example(paragraph: &str) -> Result<Example, String> {
    let parts = paragraph.split_once("\n= ");
    let (call, value) = parts.ok_or("a call, then a line that begins with `= `")?;
    let parts = call.trim_end().strip_suffix(')');
    let parts = parts.and_then(|call| call.split_once('('));
    let (function, arguments) = parts.ok_or("a name, then arguments in brackets")?;
    let read = |text: &str| parse_value(text).map_err(|error| error.to_string());
    let arguments = read(&format!("({arguments},)"))?;
    let arguments = arguments.as_container().ok_or("no arguments")?;
    Ok(Example {
        function: function.to_owned(),
        arguments: arguments
            .iter()
            .map(|value| as_grid(value.into_owned()))
            .collect(),
        value: as_grid(read(value)?),
    })
}

/// The value as a grid if it is one, since programs take grids in that form.
fn as_grid(value: Value) -> Value {
    match value.as_grid() {
        Some(grid) => Value::from(Grid::clone(&grid)),
        None => value,
    }
}

fn parameter(value: &Value) -> Option<Parameter> {
    match value {
        Value::Grid(_) => Some(Parameter::Grid),
        Value::Int(_) => Some(Parameter::Color),
        Value::Loc(_) => Some(Parameter::Pair),
        _ => {
            let container = value.as_container()?;
            match &*container.get(0)? {
                Value::Loc(_) => Some(Parameter::Indices),
                Value::Cell(_) => Some(Parameter::Object),
                Value::Object(_) => Some(Parameter::Objects),
                grid if grid.as_grid().is_some() => Some(Parameter::Grids),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests;
