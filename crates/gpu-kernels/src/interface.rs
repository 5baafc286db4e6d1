//! The device's interface: everything that the host and the kernels must agree on, stated once.
//!
//! Constants, codes, bit fields of words, records, the parameters of launches and [`operations`] are rows in the
//! modules below; each row generates the Rust item that the host uses and its part of
//! `kernels/interface.cuh`, which `cargo xtask docs` writes. The kernels are compiled with that
//! header, which asserts that every structure has the size and the offsets that it has on the host.
//!
//! A value lies in a *pool*: one word of 32 bits, and as many *units* as its [`Representation`] says, consecutive and
//! numbered separately. A unit is one word a lane: lane `r` has row `r` of a window, bit `j` is column `j`. The rows of
//! planes of a grid, and of an object's colours, are consecutive: row 0 with its planes, then row 1. Bits beyond a
//! grid's size, and planes outside an object's locations, are 0. Pools of many values in device memory have a buffer of
//! words and one of units. An evaluation has a pool in the shared memory of its block: units upwards from an address,
//! and words downwards from there, so that word `n` is the `n + 1`-th before the first unit.
//!
//! A launch has works, each of one program on up to `MAX_SIDE_BY_SIDE` pairs; a warp takes the work of its own number,
//! then, as long as there are any, the next that no warp has taken. For each evaluation it copies constants and arguments
//! into the pool, runs the instructions, compares the result with the expected grid, copies it if requested, and writes a
//! verdict of one byte.
//!
//! The [`fingerprint`] is a hash of the header's whole text. An image carries the fingerprint of the header it was
//! compiled with, and opening an image with another one fails: any change here, also of a comment, makes images stale.

pub(crate) mod codes;
pub(crate) mod constants;
mod header;
pub mod lane_operations;
pub(crate) mod launches;
pub mod list_operations;
pub mod operations;
pub(crate) mod records;
mod sizes;
mod text;
pub(crate) mod words;

pub use codes::{BailOut, ElementKind, Key, Representation, Structure};
pub use constants::{COLOURS, MAX_ORIGIN, ROW_BYTES, SIDE, UNIT_BYTES};
pub use launches::{Argument, CopyArguments, Entry, Parameter, ProgramsArguments};
pub use sizes::EVALUATION_BYTES;
pub use words::{BitField, Bits};

/// The fingerprint of this library's interface. An image that was compiled for another interface has another one.
pub fn fingerprint() -> u64 {
    header::fingerprint(&header::body())
}

/// The text of `kernels/interface.cuh`.
pub fn header_text() -> String {
    header::whole()
}

#[cfg(test)]
mod tests;
