//! The reference: one function for every row of the table of primitives.
//!
//! The function of a row has the row's name and stands in the module of its family. It receives its arguments as the
//! types that [`types`](crate::types) assigns to the parameters; a function that does not match its row does not
//! compile. A row marked `[cx]` also receives the running [`Context`] as first argument. If an argument does not have
//! the type of its parameter, the call goes to the family's `untyped` function, see [`untyped`]. A row marked `[values]`
//! has no other function.
//!
//! Before it is evaluated, a call is charged for its arguments as [work](crate::WORK_PER_STEP): see [`Reads`].

use arc_isa::{Primitive, Type};

use crate::budget::{Context, WORK_PER_STEP};
use crate::error::{ErrorKind, EvalResult};
use crate::types::{ArcType, Returns, as_set, parameters};
use crate::value::Value;

pub use colours::iteration_order_of;
pub use loops::LoopBody;

mod arithmetic;
mod colours;
pub(crate) mod comparison;
mod containers;
pub(crate) mod extents;
mod functions;
pub(crate) mod loops;
pub(crate) mod objects;
mod painting;
pub(crate) mod patches;
#[cfg(test)]
mod tests;
mod transforms;
pub(crate) mod untyped;

pub use functions::MOST_ROUNDS;

/// A primitive's function behind its checks: the number of arguments, and the type of each.
pub(crate) type Native = fn(&mut Context<'_>, &[&Value]) -> EvalResult<Value>;

/// The two functions of a primitive.
struct Reference {
    native: Native,
    /// The function of its family, for arguments that do not have the types of the row.
    untyped: untyped::FamilyCall,
}

/// Which part of an argument a call reads and is charged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// A few elements at most.
    Nothing,
    /// All of it.
    All,
    /// A few elements at most, except that the first row of a grid is copied to become one.
    Row,
    /// All of it, to convert it to a grid or to find its bounding box; but only a few cells of a grid.
    AllButGrids,
}

impl Reads {
    /// What a primitive reads of an argument of this type.
    const fn whole(ty: Type) -> Self {
        match ty {
            Type::Boolean
            | Type::Integer
            | Type::IntegerTuple
            | Type::Numerical
            | Type::Callable => Reads::Nothing,
            _ => Reads::All,
        }
    }

    /// What a primitive marked `@constant` reads of an argument of this type.
    ///
    /// Patches are read whole even then, to find where they lie.
    const fn constant(ty: Type) -> Self {
        match ty {
            Type::Any => Reads::Nothing,
            Type::IntegerSet
            | Type::Objects
            | Type::Container
            | Type::ContainerContainer
            | Type::Tuple
            | Type::TupleTuple
            | Type::FrozenSet => Reads::Row,
            Type::Grid | Type::Element | Type::Piece => Reads::AllButGrids,
            _ => Reads::whole(ty),
        }
    }

    /// How many elements of this argument that is.
    #[inline]
    fn of(self, argument: &Value) -> u64 {
        match (self, argument) {
            (Reads::Row, Value::Grid(grid)) => grid.width() as u64,
            (Reads::Nothing | Reads::Row, _) | (Reads::AllButGrids, Value::Grid(_)) => 0,
            (Reads::All | Reads::AllButGrids, _) => u64::from(argument.work()),
        }
    }
}

/// The meaning of a row's mark.
macro_rules! reads {
    () => {
        Reads::whole
    };
    (constant) => {
        Reads::constant
    };
    (of_set) => {
        Reads::whole
    };
}

/// Whether a primitive with this mark accepts a value for a parameter of this type, if it can be converted.
macro_rules! accepts {
    (of_set) => {
        |ty, value| ty != Type::Object || as_set(value).is_some()
    };
    ($($other:ident)?) => {
        |_, _| true
    };
}

#[cold]
fn mismatch(argument: u8, expected: Type, found: &Value) -> ErrorKind {
    ErrorKind::Type {
        argument,
        expected,
        found: found.kind(),
    }
}

#[cold]
fn wrong_count(expected: usize, found: usize) -> ErrorKind {
    ErrorKind::ArgumentCount {
        expected: expected as u8,
        found: found as u8,
    }
}

/// The result of the function of a row for arguments that have its types.
macro_rules! result {
    (
        $context:ident, $arguments:ident, $primitive:expr, $family:ident $name:ident [values]
        ($($parameter:ident: $type:ident),*) -> $returns:ident
    ) => {{
        let _ = ($(&$parameter),*);
        let result = $family::untyped($context, $primitive, $arguments).map_err(ErrorKind::from);
        Returns::<parameters::$returns>::into_value(result, $context)
    }};
    (
        $context:ident, $arguments:ident, $primitive:expr, $family:ident $name:ident $([$cx:ident])?
        ($($parameter:ident: $type:ident),*) -> $returns:ident
    ) => {{
        $(let $cx = &mut *$context;)?
        let result = $family::$name(
            $($cx,)? $(<parameters::$type as ArcType>::borrow(&$parameter)),*
        );
        let result = Returns::<parameters::$returns>::into_value(result, $context);
        $(
            let $cx = $context;
            let result = $cx.attribute($primitive, result);
        )?
        result
    }};
}

macro_rules! natives {
    ($(
        $(#[doc = $family_doc:literal])+
        $family:ident {
            $(
                #[doc = $doc:literal]
                $name:ident $([$cx:ident])? $(@$mark:ident)? ($($parameter:ident: $type:ident),*) -> $returns:ident
                    $({ $($facts:tt)* })?;
            )+
        }
    )+) => {
        pastey::paste! {
        /// Indexed by primitive.
        static REFERENCE: &[Reference] = &[$($(Reference {
            untyped: $family::untyped,
            native: |context, arguments| {
                const READS: fn(Type) -> Reads = reads!($($mark)?);
                const ACCEPTS: fn(Type, &Value) -> bool = accepts!($($mark)?);
                let [$($parameter),*] = arguments else {
                    return Err(wrong_count(
                        [$(stringify!($parameter)),*].len(),
                        arguments.len(),
                    ));
                };
                let work = 0 $(+ READS(<parameters::$type as ArcType>::TYPE).of($parameter))*;
                // Work of less than a step takes less time than counting it.
                if work >= WORK_PER_STEP {
                    context.work(work)?;
                }
                let mut at = 0;
                $(
                    let ty = <parameters::$type as ArcType>::TYPE;
                    let accepted = Some($parameter).filter(|value| ACCEPTS(ty, value));
                    let Some($parameter) = accepted.and_then(|value| <parameters::$type as ArcType>::convert(value)) else {
                        let mismatch = mismatch(at, ty, $parameter);
                        return untyped::call(context, Primitive::[<$name:camel>], arguments, mismatch);
                    };
                    at += 1;
                )*
                let _ = at;
                result!(
                    context, arguments, Primitive::[<$name:camel>], $family $name $([$cx])?
                    ($($parameter: $type),*) -> $returns
                )
            },
        },)+)+];

        /// Each primitive as a value that operands can refer to.
        static VALUES: &[Value] = &[$($(Value::Primitive(Primitive::[<$name:camel>]),)+)+];
        }
    };
}

arc_isa::for_each_primitive!(natives);

/// The function of a primitive behind its checks.
pub(crate) fn native(primitive: Primitive) -> Native {
    REFERENCE[primitive as usize].native
}

impl Value {
    /// The primitive as a value.
    #[must_use]
    pub fn primitive(primitive: Primitive) -> &'static Value {
        &VALUES[primitive as usize]
    }
}

/// Shared helpers for the tests of the families.
#[cfg(test)]
mod testing {
    use super::*;
    use crate::Interpreter;
    use crate::patch::{Indices, Loc};

    /// The result of one call.
    pub(super) fn call(primitive: Primitive, arguments: &[&Value]) -> EvalResult<Value> {
        let result = Interpreter::default().call(Value::primitive(primitive), arguments);
        result.map_err(|error| error.kind)
    }

    /// A tuple of integers.
    pub(super) fn ints(values: &[i32]) -> Value {
        Value::tuple(values.iter().map(|&n| Value::Int(n)).collect())
    }

    /// A pair of integers.
    pub(super) fn at(i: i32, j: i32) -> Value {
        Loc::new(i, j).into()
    }

    /// A set of locations.
    pub(super) fn locs(locs: &[(i32, i32)]) -> Value {
        locs.iter()
            .map(|&(i, j)| Loc::new(i, j))
            .collect::<Indices>()
            .into()
    }
}
