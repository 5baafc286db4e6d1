//! [`Verdict`]: what the device reports about an evaluation; reading it needs no result to be fetched.

use bytemuck::{Pod, Zeroable};

use crate::interface::BailOut;
use crate::interface::words::verdict::{BAIL_OUT, RIGHT};

/// The outcome of an evaluation on the device, a byte.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Verdict(u8);

impl Verdict {
    /// Whether the result is the expected grid, false if there was none; or why the host has to run the evaluation.
    pub fn ended(self) -> Result<bool, BailOut> {
        let word = u32::from(self.0);
        match BAIL_OUT.get(word) {
            0 => Ok(RIGHT.is_set(word)),
            // An unknown number comes from an image of another version.
            number => Err(BailOut::of(number as u8).unwrap_or(BailOut::Operation)),
        }
    }

    /// Whether the evaluation ran to the end.
    pub fn is_done(self) -> bool {
        self.ended().is_ok()
    }
}

impl From<Result<bool, BailOut>> for Verdict {
    fn from(ended: Result<bool, BailOut>) -> Self {
        Self(match ended {
            Ok(right) => RIGHT.put(right.into()),
            Err(reason) => BAIL_OUT.put(reason as u32),
        } as u8)
    }
}

impl std::fmt::Debug for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.ended().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_holds_what_came_of_an_evaluation() {
        let reasons = BailOut::ALL.iter().map(|reason| Err(*reason));
        for ended in reasons.chain([Ok(false), Ok(true)]) {
            assert_eq!(Verdict::from(ended).ended(), ended);
        }
    }
}
