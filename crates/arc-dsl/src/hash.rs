//! The hashes of CPython, and what they tell of the order of a set.

pub use crate::value::set_table::{cell, in_order, integer, loc, runs, set, tuple};
