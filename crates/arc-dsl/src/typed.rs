//! The typed dialect: the table of its primitives.
//!
//! A row has the name with its parameters, other names of the same (`as`), the default that a failing call returns, and
//! how a call is evaluated: as a primitive of the public dialect (`public`), as another row (`same`), by calls of other
//! rows (`calls`), or by a function in the module of the family (`own`), which also receives what the row gives it. The
//! call returns the default if an argument passes a check (`unless`). One line of documentation follows. The enum with its
//! documentation and look-up by name are derived from the table.
//!
//! As in Python, arguments are values of any type, and a function checks a type only where it uses it. A function that
//! cannot continue fails, and the call returns the default of its row, also inside other calls. Functions that call
//! other primitives do so through [`Context::call_typed`], since a failing call returns its default there too.
//!
//! A cell is the tuple (row, column, colour). Values store it like any tuple of three integers; [`objects`] converts it
//! to the public dialect's cell and back when a public primitive does the work.

use std::cmp::Ordering::{Greater, Less};

use arc_isa::{ContainerKind, Primitive, Primitive as P};

use crate::budget::{Context, WORK_PER_STEP};
use crate::error::{ErrorKind, EvalResult};
use crate::primitives::native;
use crate::value::Value;
use crate::value::foreign::Foreign;

#[allow(
    clippy::unnecessary_wraps,
    reason = "the functions of rows have one type"
)]
mod containers;
mod extents;
#[allow(
    clippy::unnecessary_wraps,
    reason = "the functions of rows have one type"
)]
mod grids;
mod objects;
mod patches;
mod python;
mod samples;
mod table;

use grids::palette_t;
use patches::LocationsOf::{Indices, Object, Patch};
use patches::{is_no_location, opposite_corners, palette_f, reach};
use python::{
    PythonResult, Refusal, as_tuple, call, has_no_elements, is_empty, is_empty_tuple, public,
};
use table::TypedPrimitive as T;
pub use table::TypedPrimitive;
use table::for_each_typed_primitive;

/// What a row says about a call.
struct TypedRow {
    default: Default,
    implementation: Implementation,
}

/// What a failing call returns.
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
    /// The function that returns the empty tuple, whatever its arguments.
    Function,
}

/// A row's dedicated function, called with as many arguments as it has parameters.
type OwnFn = fn(&mut Context<'_>, &[&Value]) -> PythonResult;

/// How a call is evaluated.
enum Implementation {
    /// As this primitive of the public dialect.
    Public(Primitive),
    /// As another row.
    Same(TypedPrimitive),
    /// By a dedicated function.
    Own(OwnFn),
}

/// A row's function: the default if a check holds for one of its arguments, otherwise the value of `body`.
macro_rules! own {
    (($($parameter:ident),*) [$($check:ident ($($checked:ident),+))?] $cx:ident => $body:expr) => {
        Implementation::Own(|$cx, arguments| {
            let [$($parameter),*] = *arguments else {
                return Err(ErrorKind::ArgumentCount {
                    expected: [$(stringify!($parameter)),*].len() as u8,
                    found: u8::try_from(arguments.len()).unwrap_or(u8::MAX),
                }
                .into());
            };
            $(if [$($checked),+].into_iter().any($check) {
                return Err(Refusal::Raises);
            })?
            $body
        })
    };
}

/// An argument of a call: a parameter of the row; in `public`, what a function makes of one; in `calls`, the result of
/// another row.
macro_rules! argument {
    ($how:ident $cx:ident $parameter:ident) => {
        $parameter.clone()
    };
    (public $cx:ident $function:ident ($($given:tt)*)) => {{
        let given = argument!(public $cx $($given)*);
        $function($cx, &given)?
    }};
    (calls $cx:ident $target:ident ($($given:ident $(($($of:tt)*))?),*)) => {{
        let given = [$(argument!(calls $cx $given $(($($of)*))?)),*];
        pastey::paste! { call($cx, T::[<$target:camel>], &given.each_ref())? }
    }};
}

macro_rules! implementation {
    ($family:ident $parameters:tt $checks:tt public $target:ident) => {
        pastey::paste! { Implementation::Public(P::[<$target:camel>]) }
    };
    ($family:ident $parameters:tt $checks:tt same $target:ident) => {
        pastey::paste! { Implementation::Same(T::[<$target:camel>]) }
    };
    ($family:ident $parameters:tt $checks:tt public $target:ident ($($given:ident $(($of:ident))?),*)) => {
        own!($parameters $checks cx => {
            let given = [$(argument!(public cx $given $(($of))?)),*];
            pastey::paste! { public(cx, P::[<$target:camel>], &given.each_ref()) }
        })
    };
    ($family:ident $parameters:tt $checks:tt calls $target:ident $given:tt) => {
        own!($parameters $checks cx => Ok(argument!(calls cx $target $given)))
    };
    ($family:ident ($($parameter:ident),*) $checks:tt own $target:ident $(($($given:expr),*))?) => {
        own!(($($parameter),*) $checks cx => $family::$target(cx $(, $parameter)* $($(, $given)*)?))
    };
    // The last argument is optional.
    ($family:ident $parameters:tt $checks:tt optional $target:ident) => {
        Implementation::Own(|cx, arguments| $family::$target(cx, arguments))
    };
}

macro_rules! rows {
    ($($family:ident {
        $($name:ident $parameters:tt $(as $($alias:ident),+)? -> $default:ident = $how:ident $target:ident $(($($given:tt)*))?
            $(unless $check:ident ($($checked:ident),+))? $(: $doc:literal)?;)+
    })+) => {
        #[allow(non_snake_case, reason = "the names of parameters are the dialect's own")]
        static TABLE: &[TypedRow] = &[$($(
            TypedRow {
                default: Default::$default,
                implementation: implementation!(
                    $family $parameters [$($check ($($checked),+))?] $how $target $(($($given)*))?
                ),
            },
            $($(TypedRow {
                default: Default::$default,
                implementation: implementation!($alias () [] same $name),
            },)+)?
        )+)+];
    };
}

for_each_typed_primitive!(rows);

impl TypedPrimitive {
    fn row(self) -> &'static TypedRow {
        &TABLE[self as usize]
    }

    /// The primitive as a value.
    #[must_use]
    pub fn value(self) -> Value {
        Value::Foreign(Foreign::Primitive(self))
    }

    /// What a failing call returns.
    #[must_use]
    pub fn default_value(self) -> Value {
        match self.row().default {
            Default::Set => Value::empty_set(),
            Default::Tuple => Value::tuple(Vec::new()),
            Default::Zero => Value::Int(0),
            Default::False => Value::Bool(false),
            Default::Function => Value::Foreign(Foreign::Default),
        }
    }

    /// The primitive of the public dialect that evaluates a call, if there is one.
    #[must_use]
    pub fn public(self) -> Option<Primitive> {
        match self.row().implementation {
            Implementation::Public(primitive) => Some(primitive),
            Implementation::Same(other) => other.public(),
            Implementation::Own(_) => None,
        }
    }

    /// Evaluates a call. A failure is an error here; [`Context::call_typed`] turns it into the default.
    pub(crate) fn call(self, cx: &mut Context<'_>, arguments: &[&Value]) -> EvalResult<Value> {
        // Elements are taken out one by one and copied; sorting is charged separately.
        const COPIES: u64 = 4;
        const LOOKS: u64 = 4;
        match &self.row().implementation {
            Implementation::Public(primitive) => native(*primitive)(cx, arguments),
            Implementation::Same(other) => other.call(cx, arguments),
            Implementation::Own(own) => {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_rows_belong_together() {
        let mut names = BTreeSet::new();
        for &primitive in TypedPrimitive::ALL {
            assert!(names.insert(primitive.name()), "{primitive}");
            // No chain of `same` rows leads back to itself.
            let mut row = primitive;
            for _ in 0..3 {
                match row.row().implementation {
                    Implementation::Same(other) => row = other,
                    _ => break,
                }
            }
            assert!(
                !matches!(row.row().implementation, Implementation::Same(_)),
                "{primitive}"
            );
        }
        assert_eq!(TypedPrimitive::Box.name(), "box");
        assert_eq!(TypedPrimitive::OG.parameters(), ["grid", "type"]);
        assert_eq!(TypedPrimitive::SizeF.public(), Some(Primitive::Size));
    }
}
