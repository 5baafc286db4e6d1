//! The hashes of CPython, and what they tell of the order of a set.

pub use crate::value::set_table::{cell, integer, loc, runs, set, tuple};
