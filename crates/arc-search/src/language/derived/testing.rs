//! An example of each derived operation, worked out by hand: for the tests, and for the example program that measures
//! the operations.

use arc_dsl::{Grid, Value};
use arc_text::parse_value;

/// A call per paragraph, and after `=` its value.
const EXAMPLES: &str = concat!(
    include_str!("grids.txt"),
    "\n",
    include_str!("lines.txt"),
    "\n",
    include_str!("areas.txt"),
    "\n",
    include_str!("symmetry.txt"),
    "\n",
    include_str!("parts.txt"),
    "\n",
    include_str!("objects.txt"),
    "\n",
    include_str!("choices.txt")
);

/// The type of a parameter of a derived operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Parameter {
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
pub(crate) struct Example {
    /// The name of the function.
    pub(crate) function: String,
    /// The arguments.
    pub(crate) arguments: Vec<Value>,
    /// The value for these arguments.
    pub(crate) value: Value,
}

impl Example {
    /// The types of the parameters, by the arguments; `None` if one has another type.
    pub(crate) fn parameters(&self) -> Option<Vec<Parameter>> {
        self.arguments.iter().map(parameter).collect()
    }
}

/// The examples in the order of the text.
pub(crate) fn examples() -> Result<Vec<Example>, String> {
    let paragraphs = EXAMPLES.split("\n\n").map(without_comments);
    let paragraphs = paragraphs.filter(|paragraph| !paragraph.is_empty());
    let read = |paragraph: String| example(&paragraph).map_err(|why| format!("{paragraph}: {why}"));
    paragraphs.map(read).collect()
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
