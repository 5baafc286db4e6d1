//! What a text has that is not known, and what a kernel may not do.

use std::fmt;

/// What a text has that is not known, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) line: u32,
    pub(super) what: String,
}

impl Refused {
    pub(super) fn new(line: u32, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { line, what }
    }
}

/// Why PTX cannot be executed: what is not known, each thing once, with its first line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct ParseError(Vec<String>);

impl ParseError {
    pub(super) fn new(refused: Vec<Refused>) -> Self {
        let mut named: Vec<Refused> = Vec::new();
        for one in refused {
            if named.iter().all(|other| other.what != one.what) {
                named.push(one);
            }
        }
        let told = named
            .iter()
            .map(|Refused { line, what }| format!("line {line}: {what}"));
        ParseError(told.collect())
    }
}

/// A rule that a kernel broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Violation {
    UnwrittenRegister,
    UnwrittenParameter,
    UnwrittenMemory {
        at: usize,
    },
    /// An address that nobody has.
    Nowhere {
        address: u64,
    },
    /// An address of another space than the instruction names.
    OtherSpace {
        address: u64,
    },
    PastEnd {
        at: u64,
        bytes: usize,
    },
    Unaligned {
        address: u64,
        to: u64,
    },
    ForeignPart {
        at: usize,
        begin: usize,
        end: usize,
    },
    ReadOnly,
    Race {
        other: u32,
        wrote: bool,
    },
    RaceOfWarps {
        wrote: bool,
    },
    /// Lanes of a collective name different masks.
    OtherMask {
        named: u32,
        others: u32,
    },
    /// The lanes that are there are not those that are named.
    Incomplete {
        named: u32,
        there: u32,
    },
    ShuffleFromAbsent {
        from: u32,
    },
    /// An indexed branch past its table.
    NoTarget {
        index: u32,
        entries: usize,
    },
    /// Lanes of a branch that is said to be uniform go to different places.
    NotUniform {
        other: u32,
    },
    /// A barrier of the block that has no such number.
    NoBarrier {
        number: u32,
    },
    /// Lanes come to barriers of the block with different numbers.
    OtherBarrier {
        number: u32,
        others: u32,
    },
    /// A barrier of the block that waits for others than its threads.
    OtherThreads {
        named: u32,
        threads: u32,
    },
    /// A warp came to a barrier of the block more or less often than the first one.
    BarrierMissed {
        number: u32,
        times: u32,
        first: u32,
    },
    DivisionByZero,
    Trap,
    Steps {
        most: u64,
    },
    Internal(&'static str),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |wrote: bool| if wrote { "written" } else { "read" };
        match *self {
            Self::UnwrittenRegister => f.write_str("a register is read that was never written"),
            Self::UnwrittenParameter => f.write_str("a parameter is read that was never written"),
            Self::UnwrittenMemory { at } => write!(f, "byte {at} is read and was never written"),
            Self::Nowhere { address } => write!(f, "address {address:#x} is nobody's"),
            Self::OtherSpace { address } => {
                write!(f, "address {address:#x} is not in the space that is named")
            }
            Self::PastEnd { at, bytes } => write!(f, "byte {at} is past the end of {bytes} bytes"),
            Self::Unaligned { address, to } => {
                write!(f, "address {address:#x} is not aligned to {to} bytes")
            }
            Self::ForeignPart { at, begin, end } => write!(
                f,
                "byte {at} of shared memory is not the warp's, which are {begin} to {end}"
            ),
            Self::ReadOnly => f.write_str("a constant is written"),
            Self::Race { other, wrote } => write!(
                f,
                "a race: lane {other} has {} this word since the last barrier",
                verb(wrote)
            ),
            Self::RaceOfWarps { wrote } => {
                write!(f, "a race: another warp has {} this word", verb(wrote))
            }
            Self::OtherMask { named, others } => {
                write!(
                    f,
                    "it names the lanes {named:#010x}, another {others:#010x}"
                )
            }
            Self::Incomplete { named, there } => {
                write!(
                    f,
                    "lanes {named:#010x} are named and {there:#010x} are there"
                )
            }
            Self::ShuffleFromAbsent { from } => {
                write!(f, "the value of lane {from} is taken, which is not there")
            }
            Self::NoTarget { index, entries } => {
                write!(f, "branch target {index} of a table of {entries}")
            }
            Self::NotUniform { other } => write!(
                f,
                "lane {other} goes elsewhere, and the branch is said to be uniform"
            ),
            Self::NoBarrier { number } => {
                write!(f, "barrier {number} of a block, which has 16 of them")
            }
            Self::OtherBarrier { number, others } => {
                write!(f, "it names barrier {number}, another lane {others}")
            }
            Self::OtherThreads { named, threads } => {
                write!(f, "it waits for {named} threads of a block of {threads}")
            }
            Self::BarrierMissed {
                number,
                times,
                first,
            } => write!(
                f,
                "the warp came to barrier {number} {times} times, the block's first one {first} times"
            ),
            Self::DivisionByZero => f.write_str("division by zero"),
            Self::Trap => f.write_str("a trap"),
            Self::Steps { most } => write!(f, "more than {most} instructions of a warp"),
            Self::Internal(what) => write!(f, "the interpreter is at fault: {what}"),
        }
    }
}

/// A violation, the instruction that made it, and the first lane that did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) place: u32,
    pub(super) lane: u32,
    pub(super) violation: Violation,
}
