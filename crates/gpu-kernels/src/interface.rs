//! The device's interface: all that the host and the kernels must agree on, said once.
//!
//! Constants, codes, bit fields of words, records and the parameters of launches are rows of the
//! modules below; each row makes the Rust item that the host uses and the part of the
//! [`Description`] from which `cargo xtask docs` writes `kernels/interface.cuh` and
//! `docs/device-interface.md`. With them stands the table of [`operations`](crate::operations).
//!
//! The [`fingerprint`] is one of the header's whole text. An image carries that of the header it was
//! compiled with, and one with another is refused: whatever changes here makes images stale.

pub(crate) mod codes;
pub(crate) mod constants;
mod header;
pub(crate) mod launches;
pub(crate) mod records;
mod signature;
pub(crate) mod words;

pub use codes::{BailOut, ElementKind, Key, Representation, Structure};
pub use constants::{COLOURS, MAX_ORIGIN, ROW_BYTES, SIDE, UNIT_BYTES};
pub use launches::{CopyArguments, Entry, ProgramsArguments};
pub use signature::OperationSignature;
pub use words::{BitField, Bits};

/// A number by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// Its name, on both sides.
    pub name: &'static str,
    /// What it is.
    pub value: Number,
    /// What it says.
    pub about: String,
}

/// A number of 32 bits.
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

/// Numbers that stand for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// The name of its type in the kernels.
    pub name: &'static str,
    /// What they stand for.
    pub about: String,
    /// Each of them.
    pub codes: Vec<Code>,
}

/// A number that stands for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// Its name in the kernels.
    pub name: &'static str,
    /// The number.
    pub number: u32,
    /// What it stands for.
    pub about: String,
}

/// A word whose bits are more than one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedWord {
    /// The name of its type in the kernels.
    pub name: &'static str,
    /// How many bits it has.
    pub bits: u32,
    /// What it says.
    pub about: String,
    /// Its parts.
    pub fields: Vec<PackedField>,
}

/// A part of a [`PackedWord`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedField {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub bits: BitField,
    /// What it says.
    pub about: String,
}

/// A structure in device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The name of its type, on both sides.
    pub name: &'static str,
    /// Bytes of one.
    pub bytes: usize,
    /// What its address is a multiple of.
    pub alignment: usize,
    /// Whether a lane reads it as one vector, and its parts with shifts.
    pub is_vector: bool,
    /// What it is.
    pub about: String,
    /// Its parts.
    pub fields: Vec<RecordField>,
}

/// A part of a [`Record`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordField {
    /// Its name.
    pub name: &'static str,
    /// Its type in the kernels, or that of its elements.
    pub ty: &'static str,
    /// How many elements it has, where it is an array.
    pub elements: Option<usize>,
    /// Its first byte.
    pub offset: usize,
    /// Bytes of an element.
    pub bytes: usize,
    /// What it says.
    pub about: String,
}

/// A kernel and what it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSignature {
    /// The kernel's name.
    pub name: &'static str,
    /// What it does.
    pub about: String,
    /// What it is given, in order.
    pub parameters: Vec<Parameter>,
}

/// What a kernel is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub passed: Passed,
    /// What it says.
    pub about: String,
}

/// How a parameter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// The address of memory that is read, which holds such elements.
    From(&'static str),
    /// The address of memory that is written, which holds such elements.
    To(&'static str),
    /// A number of 32 bits.
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

/// All that the host and the kernels must agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Numbers.
    pub constants: Vec<Constant>,
    /// Codes.
    pub enumerations: Vec<Enumeration>,
    /// Words of more than one part.
    pub words: Vec<PackedWord>,
    /// Structures in device memory.
    pub records: Vec<Record>,
    /// Kernels.
    pub kernels: Vec<KernelSignature>,
    /// Opcodes.
    pub operations: Vec<OperationSignature>,
    /// Those of operations by lanes, which come next.
    pub lane_operations: Vec<OperationSignature>,
}

impl Description {
    /// That of this library.
    pub fn new() -> Self {
        Self {
            constants: constants::all(),
            enumerations: codes::all(),
            words: words::all(),
            records: records::all(),
            kernels: launches::all(),
            operations: crate::list_operations::signatures(),
            lane_operations: crate::lane_operations::signatures(),
        }
    }

    /// What it is known by.
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

/// What the interface of this library is known by. An image that was compiled with another has
/// another number.
pub fn fingerprint() -> u64 {
    Description::new().fingerprint()
}

/// Bytes in device memory of an evaluation beside its values, where it is the only one of its work:
/// what it is, the work, and the verdict.
pub const EVALUATION_BYTES: u32 = (size_of::<records::EvaluationRecord>()
    + size_of::<records::WorkRecord>()
    + size_of::<records::VerdictRecord>()) as u32;

/// The lines of a documentation comment as one text.
fn about(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests;
