//! [`Dialect`]: what names in program text mean, and what a failing call returns.

use std::fmt;
use std::str::FromStr;

use crate::value::Value;

/// A dialect of the DSL.
///
/// It determines which names may be called, which constants exist, what the parameters of a program are, the order of
/// the parts of a cell, and what a failing call returns. docs/dialects.md compares the dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Dialect {
    /// The public ARC DSL: `solve(I)`, cells are (colour, (row, column)), and a failing call is an error.
    #[default]
    Public,
    /// The DSL of the project tokpidjin: names specialised by argument type, `solve(S, I, C)`, cells are (row, column,
    /// colour), and a failing call returns a default value of its type.
    Typed,
}

impl Dialect {
    /// All dialects.
    pub const ALL: &'static [Dialect] = &[Dialect::Public, Dialect::Typed];

    /// The name that selects it in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Public => "public",
            Dialect::Typed => "typed",
        }
    }

    /// The parameters of a program. In the typed dialect these are the train pairs, the input, and the expected output
    /// if it may be known.
    #[must_use]
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Dialect::Public => &["I"],
            Dialect::Typed => &["S", "I", "C"],
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|dialect| dialect.name() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|dialect| dialect.name()).collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}

/// The inputs of a program of the typed dialect.
#[derive(Debug, Clone)]
pub struct Sample {
    /// `S`: the train pairs of the task, a tuple of (input, output) pairs.
    pub train: Value,
    /// `I`: the input.
    pub input: Value,
    /// `C`: the expected output, if there is one.
    pub expected: Value,
}

impl Sample {
    /// An input without train pairs or expected output.
    #[must_use]
    pub fn alone(input: Value) -> Self {
        Self {
            train: Value::tuple(Vec::new()),
            input,
            expected: Value::Nothing,
        }
    }

    /// The inputs in the order of the parameters.
    #[must_use]
    pub fn into_inputs(self) -> [Value; 3] {
        [self.train, self.input, self.expected]
    }
}
