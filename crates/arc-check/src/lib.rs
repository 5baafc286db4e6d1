//! Whether all that evaluate ARC programs agree.
//!
//! - [`agreement`] runs a program in every way that the CPU has, by the reference interpreter, the
//!   evaluator of forms and the compiled path, and compares what comes of it.
//! - [`everywhere`] adds the devices that need no GPU, all on the same cases.
//! - [`conformance`] holds a device against the reference, operation by operation and by programs.
//! - `mutation` changes single instructions of the device's PTX, and sees whether that would notice.
//! - [`selfcheck`] does all that by the million, on all cores.
//! - [`shrink()`] makes a program and an input small that still do what they are looked at for.

pub mod agreement;
pub mod conformance;
pub mod everywhere;
#[cfg(feature = "simulated")]
pub mod mutation;
pub mod selfcheck;
mod shrink;
mod simulated;

pub use shrink::shrink;
