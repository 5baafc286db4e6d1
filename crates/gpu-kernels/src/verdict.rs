//! [`Verdict`]: what the device reports about an evaluation; reading it needs no result to be fetched.

use arc_dsl::Grid;

use crate::interface::constants::{
    HASH_FINISH_FIRST, HASH_FINISH_INNER, HASH_FINISH_OUTER, HASH_FINISH_SECOND, HASH_HIGH_BEGIN,
    HASH_HIGH_MULTIPLIER, HASH_HIGH_ROTATION, HASH_HIGH_SIZE, HASH_LOW_BEGIN, HASH_LOW_MULTIPLIER,
    HASH_LOW_ROTATION, HASH_LOW_SIZE, PLANES,
};
use crate::interface::records::VerdictRecord;
use crate::interface::words::status;
use crate::interface::{BailOut, Representation};
use crate::pool::{LANES, Pool, PoolPlace};

/// The outcome of an evaluation on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It ran to the end.
    Done {
        /// Whether the result is the expected grid; false if there was none.
        right: bool,
        /// Cells equal to the expected ones; 0 if the sizes differ.
        cells_right: u32,
        /// The [`hash`] of a result that is a grid, if requested.
        hash: Option<u64>,
    },
    /// The host has to run it.
    BailedOut {
        /// Why.
        reason: BailOut,
        /// The instruction, counted from 1, at which it bailed out.
        instruction: u16,
    },
}

impl From<VerdictRecord> for Verdict {
    fn from(written: VerdictRecord) -> Self {
        let status = written.status;
        let number = status::BAIL_OUT.get(status) as u8;
        if number != 0 {
            return Verdict::BailedOut {
                // An unknown number comes from an image of another version.
                reason: BailOut::of(number).unwrap_or(BailOut::Operation),
                instruction: status::INSTRUCTION.get(status) as u16,
            };
        }
        let hash = u64::from(written.hash_high) << 32 | u64::from(written.hash_low);
        Verdict::Done {
            right: status::RIGHT.is_set(status),
            cells_right: written.cells_right,
            hash: status::HASHED.is_set(status).then_some(hash),
        }
    }
}

/// A 64-bit hash of a grid: equal grids have equal hashes, different grids almost never. `None` for a grid that the
/// device cannot hold.
///
/// The kernels compute the same hash: see `hash_of` in `kernels/verdict.cuh`.
pub fn hash(grid: &Grid) -> Option<u64> {
    let mut pool = Pool::default();
    let place = pool.push_grid(grid).ok()?;
    hash_at(&pool, place)
}

/// The [`hash`] of a grid in a pool.
pub(crate) fn hash_at(pool: &Pool, place: PoolPlace) -> Option<u64> {
    let size = *pool.words().get(place.word as usize)?;
    let units = pool.units_at(place, Representation::Grid)?;
    let (mut low, mut high) = (0u32, 0u32);
    let rows = units.as_flattened().chunks_exact(PLANES as usize);
    for (lane, row) in rows.enumerate().take(LANES) {
        let number = lane as u32 + 1;
        low = low.wrapping_add(finished(chain(
            number.wrapping_mul(HASH_LOW_BEGIN),
            row,
            HASH_LOW_MULTIPLIER,
            HASH_LOW_ROTATION,
        )));
        high = high.wrapping_add(finished(chain(
            number.wrapping_mul(HASH_HIGH_BEGIN),
            row,
            HASH_HIGH_MULTIPLIER,
            HASH_HIGH_ROTATION,
        )));
    }
    let low = finished(low ^ size.wrapping_mul(HASH_LOW_SIZE));
    let high = finished(high.wrapping_add(size.wrapping_mul(HASH_HIGH_SIZE)));
    Some(u64::from(high) << 32 | u64::from(low))
}

fn chain(begin: u32, row: &[u32], multiplier: u32, by: u32) -> u32 {
    row.iter().fold(begin, |x, plane| {
        (x ^ plane).rotate_left(by).wrapping_mul(multiplier)
    })
}

fn finished(x: u32) -> u32 {
    let x = (x ^ x >> HASH_FINISH_OUTER).wrapping_mul(HASH_FINISH_FIRST);
    let x = (x ^ x >> HASH_FINISH_INNER).wrapping_mul(HASH_FINISH_SECOND);
    x ^ x >> HASH_FINISH_OUTER
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn grids_that_differ_little_have_other_hashes() {
        let mut hashes = HashSet::new();
        let mut count = 0;
        for (height, width) in [(1, 1), (1, 32), (32, 1), (2, 3), (3, 2), (30, 30), (32, 32)] {
            for i in 0..height {
                for j in 0..width {
                    for colour in -1..15i8 {
                        let mut grid = Grid::filled(height, width, 0);
                        grid.cells_mut()[i * width + j] = colour;
                        // The grid of zeroes comes up once.
                        if colour != 0 || (i, j) == (0, 0) {
                            hashes.insert(hash(&grid));
                            count += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(hashes.len(), count);
    }

    #[test]
    fn what_the_device_does_not_hold_has_none() {
        assert_eq!(hash(&Grid::filled(33, 1, 0)), None);
        assert_eq!(hash(&Grid::filled(1, 1, 15)), None);
        assert!(hash(&Grid::default()).is_some());
    }
}
