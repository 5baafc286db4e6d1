//! The typed dialect: the table of its primitives.
//!
//! A row is the name with its parameters, the default that a failing call gives, and how the call is
//! made: as a primitive of the public dialect (`public`), as another row (`same`), or by a function
//! of its own in the module of the family (`own`), with a line that says what it gives. The enum,
//! look-up by name and `docs/dialects.md` follow.
//!
//! Arguments are values of any type, as in Python, which asks for the type only where it uses it. A
//! function that cannot go on fails, and the call gives the default of its row, inside of other calls
//! too. Functions that call other primitives do so through [`Context::call_typed`], since there, too,
//! a failing one gives its default.
//!
//! A cell is the tuple (row, column, colour). Values hold it as any tuple of three integers, and
//! [`grids`] turns it into the public dialect's cell and back where a public primitive does the work.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use crate::error::ErrorKind;
use crate::foreign::Foreign;
use crate::interpreter::{Context, WORK_PER_STEP};
use crate::primitives::Primitive;
use crate::value::Value;

mod containers;
mod grids;
mod patches;
mod python;
mod samples;
mod table;

use table::TABLE;
pub use table::TypedPrimitive;

/// What a row becomes.
struct Row {
    name: &'static str,
    family: &'static str,
    parameters: &'static [&'static str],
    default: Default,
    how: How,
    /// Of a row with a function of its own, what it gives.
    doc: &'static str,
}

/// What a failing call gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Default {
    /// The empty set.
    Set,
    /// The empty tuple.
    Tuple,
    /// 0.
    Zero,
    /// False.
    False,
    /// The function that gives the empty tuple, whatever its arguments.
    Function,
}

/// A row's function, given as many arguments as it has parameters.
type Own = fn(&mut Context<'_>, &[&Value]) -> Result<Value, ErrorKind>;

/// How a call is made.
enum How {
    /// As this primitive of the public dialect.
    Public(Primitive),
    /// As that of another row.
    Same(TypedPrimitive),
    /// By a function of its own.
    Own(Own),
}

impl TypedPrimitive {
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The name that program text uses.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The family in which it stands.
    pub fn family(self) -> &'static str {
        self.row().family
    }

    /// The names of its parameters.
    pub fn parameters(self) -> &'static [&'static str] {
        self.row().parameters
    }

    /// The primitive of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        static BY_NAME: LazyLock<HashMap<&str, TypedPrimitive>> = LazyLock::new(|| {
            let all = TypedPrimitive::ALL.iter();
            all.map(|&primitive| (primitive.name(), primitive))
                .collect()
        });
        BY_NAME.get(name).copied()
    }

    /// It as a value.
    pub fn value(self) -> Value {
        Value::Foreign(Foreign::Primitive(self))
    }

    /// What a failing call gives.
    pub fn default_value(self) -> Value {
        match self.row().default {
            Default::Set => Value::empty_set(),
            Default::Tuple => Value::tuple(Vec::new()),
            Default::Zero => Value::Int(0),
            Default::False => Value::Bool(false),
            Default::Function => Value::Foreign(Foreign::Default),
        }
    }

    /// The primitive of the public dialect as which a call is made, if it is.
    pub fn public(self) -> Option<Primitive> {
        match self.row().how {
            How::Public(primitive) => Some(primitive),
            How::Same(other) => other.public(),
            How::Own(_) => None,
        }
    }

    /// How a call is made, in words.
    pub fn description(self) -> String {
        match &self.row().how {
            How::Public(primitive) => format!("`{primitive}` of the public dialect"),
            How::Same(other) => format!("`{other}`"),
            How::Own(_) => self.row().doc.to_owned(),
        }
    }

    /// Makes a call; one that fails has no value here, and its default in [`Context::call_typed`].
    pub(crate) fn call(
        self,
        cx: &mut Context<'_>,
        arguments: &[&Value],
    ) -> Result<Value, ErrorKind> {
        // Elements are taken out one by one, and are copied and sorted several times.
        const COPIES: u64 = 8;
        const LOOKS: u64 = 16;
        match &self.row().how {
            How::Public(primitive) => primitive.native()(cx, arguments),
            How::Same(other) => other.call(cx, arguments),
            How::Own(own) => {
                let weight: u64 = arguments.iter().map(|value| u64::from(value.work())).sum();
                if weight >= WORK_PER_STEP {
                    cx.work(LOOKS * weight)?;
                }
                let held = cx.hold_weight(COPIES * weight)?;
                let value = own(cx, arguments)?;
                cx.check_value(&value)?;
                cx.release(held);
                Ok(value)
            }
        }
    }
}

impl fmt::Display for TypedPrimitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
