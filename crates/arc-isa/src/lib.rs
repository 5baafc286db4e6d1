//! The primitives of the ARC domain-specific language, as one table.
//!
//! [`for_each_primitive!`] has a row for each primitive: its signature, and the [`Facts`] that typing,
//! optimisers, generators and documentation need. The crate has no values and evaluates nothing: `arc-dsl` supplies the
//! reference function of each row, `arc-cpu` and `gpu-kernels` supply the kernels.
//!
//! ```
//! use arc_isa::{Primitive, Use, ValueType, rules};
//!
//! let shift = Primitive::Shift;
//! assert_eq!(shift.parameters()[1].0, "directions");
//! assert_eq!(shift.facts().of_argument(0), Use::Moved);
//! let typing = shift.typing(&[ValueType::Object, ValueType::Pair])?;
//! assert_eq!(typing.ty, ValueType::Object);
//! # Ok::<(), rules::Unlike>(())
//! ```
//!
//! Modules: `table` (the rows), `primitive` (the enum generated from them), `signature` (types of parameters), `types`
//! (types of values), [`rules`] and `typing` (the type of a result), `facts`, `sampling`.

mod facts;
mod primitive;
pub mod rules;
mod sampling;
mod signature;
mod table;
mod types;
mod typing;

pub use facts::{Body, Elements, Facts, Size, Use};
pub use primitive::Primitive;
pub use sampling::Sampling;
pub use signature::Type;
pub use types::{ContainerKind, ValueType};
