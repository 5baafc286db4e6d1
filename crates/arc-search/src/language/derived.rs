//! The derived operations, what they take, and an example of each.
//!
//! They are text, [`DERIVED`]: functions of the public dialect that stand on the primitives and on those
//! above them, a file a family: colours and two grids, lines, areas and their borders, symmetry and
//! tilings, parts, objects, choices. 0 is the background in them, *empty*, whatever the most common colour is, and
//! what is not empty is *shown*. A *thing* is a component of what is shown, of any colours; a *piece* one
//! of a single colour; a *blob* is where a thing lies, a *gap* a component of what is empty. The examples are text too;
//! they say by their arguments what a function takes.
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

/// Examples of the derived operations, worked out by hand: a call a paragraph, and after `=` what it gives.
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

/// What a derived operation takes.
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

/// A call of a derived operation, and what it gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The name of the function.
    pub function: String,
    /// What it is given.
    pub arguments: Vec<Value>,
    /// What it gives for that.
    pub value: Value,
}

impl Example {
    /// What the function takes, by the arguments: `None` if one of them is something else.
    pub fn parameters(&self) -> Option<Vec<Parameter>> {
        self.arguments.iter().map(parameter).collect()
    }
}

/// An example that cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("example {number}: {why}")]
pub struct Unreadable {
    /// Which it is, from 1 on.
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

/// The value as a grid where it is one, as programs are given them.
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
