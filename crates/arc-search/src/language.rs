//! What a search calls: primitives, and operations that are derived of them.

mod costs;
mod counts;
mod producer;

pub use costs::Costs;
pub use counts::{CostError, Counts, Entropies, Use};
pub use producer::Producer;

/// The derived operations, as functions of the public dialect.
pub const DERIVED: &str = include_str!("language/derived.py");
