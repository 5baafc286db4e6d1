//! Checks that all evaluators of ARC programs agree.
//!
//! - [`agreement`] runs a program with every evaluator of the CPU: the reference interpreter, the form evaluator, the
//!   compiled path and batts, and compares the results.
//! - [`everywhere`] adds the devices that need no GPU, on the same cases.
//! - [`conformance`] compares a device with the reference, operation by operation and by programs.
//! - `mutation` changes single instructions of the device's PTX and checks that the suite detects it.
//! - [`selfcheck`] does all that by the million, on all cores.
//! - [`shrink()`] reduces a program and an input while a property still holds.

pub mod agreement;
pub mod conformance;
pub mod everywhere;
#[cfg(feature = "simulated")]
pub mod mutation;
pub mod selfcheck;
mod shrink;
mod simulated;

pub use shrink::shrink;
