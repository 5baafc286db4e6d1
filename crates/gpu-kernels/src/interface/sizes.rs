//! How much memory values and evaluations take.

use super::Enumeration;
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

/// The representations, each with what it takes of a pool.
pub(super) fn representations() -> Enumeration {
    let mut representations = Representation::enumeration();
    for (code, representation) in representations.codes.iter_mut().zip(Representation::ALL) {
        let units = representation.units();
        code.about += match representation.is_operand() {
            true if units == 0 => " A word.".to_owned(),
            true if units == 1 => " A word and a unit.".to_owned(),
            true => format!(" A word and {units} units."),
            false => String::new(),
        }
        .as_str();
    }
    representations
}
