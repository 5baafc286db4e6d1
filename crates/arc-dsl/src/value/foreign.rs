//! [`Foreign`]: the values that only programs of the typed dialect create.

use std::fmt;

use crate::budget::Context;
use crate::error::{EvalResult, ValueKind};
use crate::typed::TypedPrimitive;
use crate::value::{Value, set_table};

/// A value that no program of the public dialect creates.
///
/// The three numbers are what the typed dialect returns as a measure of an empty value. As `Ord` has it,
/// [`NotANumber`](Foreign::NotANumber) comes before all numbers, and the infinities before and after the finite ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Foreign {
    /// NaN, which equals no number, not even itself; but an element of a container equals itself all the same.
    NotANumber,
    /// Less than every integer.
    NegativeInfinity,
    /// Greater than every integer.
    Infinity,
    /// A primitive of the typed dialect as a value.
    Primitive(TypedPrimitive),
    /// The function that a failing call returns in place of a function: it takes any arguments and returns the empty
    /// tuple.
    Default,
}

impl Foreign {
    /// Whether it can be called.
    #[must_use]
    pub fn is_function(self) -> bool {
        matches!(self, Foreign::Primitive(_) | Foreign::Default)
    }

    pub(crate) fn kind(self) -> ValueKind {
        if self.is_function() {
            ValueKind::Function
        } else {
            ValueKind::NotFinite
        }
    }

    /// Its position among the numbers, or among the primitives.
    pub(crate) fn place(self) -> i64 {
        match self {
            Foreign::NotANumber => i64::MIN,
            Foreign::NegativeInfinity => i64::MIN + 1,
            Foreign::Infinity | Foreign::Default => i64::MAX,
            Foreign::Primitive(primitive) => primitive as i64,
        }
    }

    /// The hash in Python.
    pub(crate) fn python_hash(self) -> u64 {
        match self {
            Foreign::Infinity => 314_159,
            Foreign::NegativeInfinity => 314_159_u64.wrapping_neg(),
            Foreign::Primitive(primitive) => set_table::address((primitive as u64).wrapping_neg()),
            _ => set_table::address(u64::MAX),
        }
    }

    /// How many parameters it has when one is to be fixed.
    pub(crate) fn parameters(self) -> u8 {
        match self {
            Foreign::Primitive(primitive) => primitive.parameters().len() as u8,
            _ => 0,
        }
    }

    pub(crate) fn call(self, cx: &mut Context<'_>, arguments: &[&Value]) -> EvalResult<Value> {
        match self {
            Foreign::Primitive(primitive) => cx.call_typed(primitive, arguments),
            _ => Ok(Value::tuple(Vec::new())),
        }
    }
}

/// As Python prints it.
impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Foreign::NotANumber => "nan",
            Foreign::NegativeInfinity => "-inf",
            Foreign::Infinity => "inf",
            Foreign::Primitive(primitive) => primitive.name(),
            Foreign::Default => "<function>",
        })
    }
}
