//! What can be known of a form's values by looking at where they are made and used.
//!
//! [`Index`] says who makes and who uses each value. It is made once, and every analysis asks it
//! instead of walking through the form: [`order`] finds where the order of elements is seen,
//! [`window`] which cells are.

mod index;
pub mod order;
pub mod window;

pub use index::{Called, Definition, Index, Role, User};
