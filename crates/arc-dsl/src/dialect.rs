//! [`Dialect`]: what names in program text mean, and what a failing call gives.

use std::fmt;
use std::str::FromStr;

use crate::task::{Pair, Task};
use crate::value::Value;

/// A dialect of the DSL.
///
/// It says which names may be called, which constants there are, what the parameters of a program
/// are, in which order the parts of a cell stand, and what a failing call gives. docs/dialects.md
/// compares them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Dialect {
    /// The public ARC DSL: `solve(I)`, cells as (colour, (row, column)), and a failing call is an
    /// error.
    #[default]
    Public,
    /// The DSL of the project tokpidjin: names by type of argument, `solve(S, I, C)`, cells as
    /// (row, column, colour), and a failing call gives a default of its type.
    Typed,
}

impl Dialect {
    /// All dialects.
    pub const ALL: &'static [Dialect] = &[Dialect::Public, Dialect::Typed];

    /// The name by which options choose it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Public => "public",
            Dialect::Typed => "typed",
        }
    }

    /// The parameters of a program: of the typed dialect the train pairs, the input, and the
    /// expected output where that may be known.
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

/// What a program of the typed dialect is called with.
#[derive(Debug, Clone)]
pub struct Sample {
    /// `S`: the train pairs of the task, a tuple of pairs of input and output.
    pub train: Value,
    /// `I`: the input.
    pub input: Value,
    /// `C`: the expected output, if there is one.
    pub expected: Value,
}

impl Sample {
    /// An input without train pairs and expected output.
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

impl Task {
    /// The train pairs as programs of the typed dialect get them: a tuple of pairs of input and
    /// output. A pair without an output has nothing in its place.
    #[must_use]
    pub fn train_pairs(&self) -> Value {
        let pair = |pair: &Pair| {
            let output = pair.output.clone().map_or(Value::Nothing, Value::from);
            Value::pair(&Value::Grid(pair.input.clone()), &output)
        };
        Value::tuple(self.train.iter().map(pair).collect())
    }
}
