//! Errors: issues in PTX text, and violations by a kernel.

use std::fmt;

/// Something in PTX text that is unsupported or malformed, and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParseIssue {
    pub(super) line: u32,
    pub(super) what: String,
}

impl ParseIssue {
    pub(super) fn new(line: u32, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { line, what }
    }
}

/// Why PTX cannot be executed: each distinct issue, with its first line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct ParseError(Vec<String>);

impl ParseError {
    pub(super) fn new(issues: Vec<ParseIssue>) -> Self {
        let mut distinct: Vec<ParseIssue> = Vec::new();
        for one in issues {
            if distinct.iter().all(|other| other.what != one.what) {
                distinct.push(one);
            }
        }
        let messages = distinct
            .iter()
            .map(|ParseIssue { line, what }| format!("line {line}: {what}"));
        ParseError(messages.collect())
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
    /// An address that is not mapped.
    Unmapped {
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
    /// The active lanes are not the named ones.
    Incomplete {
        named: u32,
        active: u32,
    },
    ShuffleFromAbsent {
        from: u32,
    },
    /// The index of a branch is past its table.
    NoTarget {
        index: u32,
        entries: usize,
    },
    /// Lanes of a branch declared uniform go to different targets.
    NotUniform {
        other: u32,
    },
    /// A block has no barrier with this number.
    NoBarrier {
        number: u32,
    },
    /// Lanes are at barriers of the block with different numbers.
    OtherBarrier {
        number: u32,
        others: u32,
    },
    /// A barrier of the block waits for another number of threads than the block has.
    OtherThreads {
        named: u32,
        threads: u32,
    },
    /// A warp reached a barrier of the block more or less often than the block's first warp.
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
            Self::Unmapped { address } => write!(f, "address {address:#x} is not mapped"),
            Self::OtherSpace { address } => {
                write!(
                    f,
                    "address {address:#x} is not in the instruction's state space"
                )
            }
            Self::PastEnd { at, bytes } => write!(f, "byte {at} is past the end of {bytes} bytes"),
            Self::Unaligned { address, to } => {
                write!(f, "address {address:#x} is not aligned to {to} bytes")
            }
            Self::ForeignPart { at, begin, end } => write!(
                f,
                "byte {at} of shared memory is not the warp's, which has {begin} to {end}"
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
                    "it names lanes {named:#010x}, another lane names {others:#010x}"
                )
            }
            Self::Incomplete { named, active } => {
                write!(
                    f,
                    "lanes {named:#010x} are named, but {active:#010x} are active"
                )
            }
            Self::ShuffleFromAbsent { from } => {
                write!(f, "a value is read from lane {from}, which is not active")
            }
            Self::NoTarget { index, entries } => {
                write!(f, "branch target {index} of a table of {entries}")
            }
            Self::NotUniform { other } => write!(
                f,
                "lane {other} branches elsewhere, although the branch is declared uniform"
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
            Self::Internal(what) => write!(f, "internal error of the interpreter: {what}"),
        }
    }
}

/// A violation, the instruction that caused it, and the first lane in which it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) pc: u32,
    pub(super) lane: u32,
    pub(super) violation: Violation,
}
