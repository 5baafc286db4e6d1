//! Analyses of a form's values by their definitions and uses.
//!
//! [`Index`] has the definition and the uses of each value. It is built once, and every analysis queries it
//! instead of walking through the form: [`order`] finds uses that observe the order of elements, [`window`]
//! those that observe cells outside a window. [`verdict`] bounds the output of a program.

mod index;
pub mod order;
pub mod verdict;
pub mod window;

pub use index::{Called, Definition, Index, Role, User};
