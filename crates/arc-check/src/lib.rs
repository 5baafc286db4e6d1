//! Checks that all evaluators of ARC programs agree.
//!
//! - [`agreement`] runs a program with every evaluator of the CPU: the reference interpreter, the form evaluator, the
//!   compiled path and batts, and compares the results.
//! - [`everywhere`] adds the devices that need no GPU, on the same cases.
//! - [`conformance`] compares a device with the reference, operation by operation and by programs.
//! - [`selfcheck`] does all that by the million, on all cores.
//! - [`shrink()`] reduces a program and an input while a property still holds.

pub mod agreement;
pub mod conformance;
pub mod everywhere;
pub mod selfcheck;
mod shrink;
mod simulated;

pub use shrink::shrink;
