//! What a search calls: primitives, and operations that are derived of them.

/// The derived operations, as functions of the public dialect.
pub const DERIVED: &str = include_str!("language/derived.py");

pub mod derived;
