//! What can be known of a form's values by looking at where they are defined and used.
//!
//! [`Index`] has the definition and the uses of each value. It is built once, and every analysis asks it
//! instead of walking through the form: [`order`] finds where the order of elements is seen,
//! [`window`] which cells are.

mod index;
pub mod order;
pub mod window;

pub use index::{Called, Definition, Index, Role, User};
