//! How much memory values and evaluations take.

use super::codes::Representation;
use super::constants::{PLANES, SIDE, UNIT_BYTES};
use super::records::{PairRecord, WorkRecord};

/// Bytes in device memory of an evaluation besides its values, if it is the only one of its work: the pair's record,
/// the work's, and the verdict.
pub const EVALUATION_BYTES: u32 = (size_of::<PairRecord>() + size_of::<WorkRecord>() + 1) as u32;

impl Representation {
    /// Units that a value so represented has beside its word.
    pub const fn units(self) -> u32 {
        match self {
            Representation::Grid => PLANES,
            Representation::Patch | Representation::Column => 1,
            Representation::Object | Representation::Objects => 1 + PLANES,
            Representation::Int
            | Representation::Pair
            | Representation::Colours
            | Representation::Flag
            | Representation::Key
            | Representation::Word
            | Representation::Cell
            | Representation::List => 0,
        }
    }

    /// Bytes that a value so represented has in a pool.
    pub const fn bytes(self) -> u32 {
        let words = if self.is_operand() { 1 } else { 0 };
        words * (UNIT_BYTES / SIDE as u32) + self.units() * UNIT_BYTES
    }
}

/// What a value so represented takes of a pool, as a sentence.
pub(super) fn room(representation: Representation) -> String {
    match representation.units() {
        _ if !representation.is_operand() => String::new(),
        0 => " A word.".to_owned(),
        1 => " A word and a unit.".to_owned(),
        units => format!(" A word and {units} units."),
    }
}
