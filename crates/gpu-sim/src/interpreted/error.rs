//! Errors: issues in PTX text, and violations by a kernel.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Violation {
    #[error("a register is read that was never written")]
    UnwrittenRegister,
    #[error("a parameter is read that was never written")]
    UnwrittenParameter,
    #[error("byte {0} is read and was never written")]
    UnwrittenMemory(usize),
    #[error("address {0:#x} is not mapped")]
    Unmapped(u64),
    #[error("address {0:#x} is not in the instruction's state space")]
    OtherSpace(u64),
    #[error("byte {at} is past the end of {bytes} bytes")]
    PastEnd { at: u64, bytes: usize },
    #[error("address {address:#x} is not aligned to {to} bytes")]
    Unaligned { address: u64, to: u64 },
    #[error("byte {0} of shared memory is not the warp's, which has {1} to {2}")]
    ForeignPart(usize, usize, usize),
    #[error("a constant is written")]
    ReadOnly,
    #[error("a race: lane {other} has {} this word since the last barrier", verb(*.wrote))]
    Race { other: u32, wrote: bool },
    #[error("a race: another warp has {} this word", verb(*.wrote))]
    RaceOfWarps { wrote: bool },
    #[error("it names lanes {named:#010x}, another lane names {other:#010x}")]
    OtherMask { named: u32, other: u32 },
    /// The active lanes are not the named ones.
    #[error("lanes {named:#010x} are named, but {active:#010x} are active")]
    Incomplete { named: u32, active: u32 },
    #[error("a value is read from lane {0}, which is not active")]
    ShuffleFromAbsent(u32),
    #[error("branch target {index} of a table of {entries}")]
    NoTarget { index: u32, entries: usize },
    #[error("lane {0} branches elsewhere, although the branch is declared uniform")]
    NotUniform(u32),
    #[error("division by zero")]
    DivisionByZero,
    #[error("a trap")]
    Trap,
    #[error("more than {0} instructions of a warp")]
    Steps(u64),
    #[error("internal error of the interpreter: {0}")]
    Internal(&'static str),
}

fn verb(wrote: bool) -> &'static str {
    if wrote { "written" } else { "read" }
}

/// The instruction that caused a violation, the first lane in which it did, and the violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LaneFault(pub(super) u32, pub(super) u32, pub(super) Violation);
