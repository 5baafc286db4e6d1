//! The device's interface: everything that the host and the kernels must agree on, stated once.
//!
//! Constants, codes, bit fields of words, records, the parameters of launches and [`operations`] are rows in the
//! modules below; each row generates the Rust item that the host uses and the part of the
//! [`Description`] from which `cargo xtask docs` writes `kernels/interface.cuh`. The kernels are compiled with that
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
mod signature;
mod sizes;
pub(crate) mod words;

pub use codes::{BailOut, ElementKind, Key, Representation, Structure};
pub use constants::{COLOURS, MAX_ORIGIN, ROW_BYTES, SIDE, UNIT_BYTES};
pub use launches::{Argument, CopyArguments, Entry, ProgramsArguments};
pub use signature::OperationSignature;
pub use sizes::EVALUATION_BYTES;
pub use words::{BitField, Bits};

/// A named number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// Its name, on both sides.
    pub name: &'static str,
    /// Its value.
    pub value: Number,
    /// Its documentation.
    pub about: String,
}

/// A 32-bit number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// With a sign.
    Signed(i32),
    /// Without one.
    Unsigned(u32),
}

impl From<i32> for Number {
    fn from(number: i32) -> Self {
        Number::Signed(number)
    }
}

impl From<u32> for Number {
    fn from(number: u32) -> Self {
        Number::Unsigned(number)
    }
}

/// An enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// The name of its type in the kernels.
    pub name: &'static str,
    /// What its codes mean.
    pub about: String,
    /// Its codes.
    pub codes: Vec<Code>,
}

/// A code of an [`Enumeration`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// Its name in the kernels.
    pub name: &'static str,
    /// The number.
    pub number: u32,
    /// What it means.
    pub about: String,
}

/// A word with several bit fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedWord {
    /// The name of its type in the kernels.
    pub name: &'static str,
    /// How many bits it has.
    pub bits: u32,
    /// Its documentation.
    pub about: String,
    /// Its bit fields.
    pub fields: Vec<PackedField>,
}

/// A bit field of a [`PackedWord`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedField {
    /// Its name.
    pub name: String,
    /// Its position in the word.
    pub bits: BitField,
    /// Its documentation.
    pub about: String,
}

/// A structure in device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The name of its type, on both sides.
    pub name: &'static str,
    /// Its size in bytes.
    pub bytes: usize,
    /// Its alignment in bytes.
    pub alignment: usize,
    /// Whether a lane reads it as one vector, and its fields with shifts.
    pub is_vector: bool,
    /// Its documentation.
    pub about: String,
    /// Its fields.
    pub fields: Vec<RecordField>,
}

/// A field of a [`Record`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordField {
    /// Its name.
    pub name: &'static str,
    /// Its type in the kernels, or that of its elements.
    pub ty: &'static str,
    /// How many elements it has, if it is an array.
    pub elements: Option<usize>,
    /// Its first byte.
    pub offset: usize,
    /// Bytes of an element.
    pub bytes: usize,
    /// Its documentation.
    pub about: String,
}

/// A kernel and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSignature {
    /// The kernel's name.
    pub name: &'static str,
    /// What it does.
    pub about: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// How it is passed.
    pub passed: Passed,
    /// Its documentation.
    pub about: String,
}

/// How a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// The address of memory that the kernel reads, with elements of this type.
    From(&'static str),
    /// The address of memory that the kernel writes, with elements of this type.
    To(&'static str),
    /// A 32-bit number.
    Number,
}

impl Passed {
    /// Bytes of the parameter.
    pub fn bytes(self) -> usize {
        match self {
            Passed::From(_) | Passed::To(_) => 8,
            Passed::Number => 4,
        }
    }
}

/// Everything that the host and the kernels must agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Numbers.
    pub constants: Vec<Constant>,
    /// Codes.
    pub enumerations: Vec<Enumeration>,
    /// Words with several bit fields.
    pub words: Vec<PackedWord>,
    /// Structures in device memory.
    pub records: Vec<Record>,
    /// Kernels.
    pub kernels: Vec<KernelSignature>,
    /// Opcodes.
    pub operations: Vec<OperationSignature>,
    /// The opcodes of operations by lanes, which follow.
    pub lane_operations: Vec<OperationSignature>,
}

impl Description {
    /// The interface of this library.
    pub fn new() -> Self {
        Self {
            constants: constants::all(),
            enumerations: vec![
                BailOut::enumeration(),
                sizes::representations(),
                Structure::enumeration(),
                Key::enumeration(),
                ElementKind::enumeration(),
            ],
            words: words::all(),
            records: records::all(),
            kernels: launches::all(),
            operations: list_operations::signatures(),
            lane_operations: lane_operations::signatures(),
        }
    }

    /// A hash that identifies it.
    pub fn fingerprint(&self) -> u64 {
        header::fingerprint(&header::body(self))
    }

    /// The text of `kernels/interface.cuh`.
    pub fn header(&self) -> String {
        header::whole(self)
    }
}

impl Default for Description {
    fn default() -> Self {
        Self::new()
    }
}

/// The fingerprint of this library's interface. An image that was compiled for another interface has another one.
pub fn fingerprint() -> u64 {
    Description::new().fingerprint()
}

/// Joins the lines of a documentation comment.
fn about(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests;
