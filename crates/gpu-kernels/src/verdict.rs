//! [`Verdict`]: what the device says of an evaluation without its result being fetched.

use arc_dsl::Grid;
use bytemuck::{Pod, Zeroable};

use crate::bail_out::BailOut;
use crate::pool::{LANES, Place, Pool};

/// What came of an evaluation on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was made.
    Done {
        /// Whether the result is the expected grid; false where none was expected.
        right: bool,
        /// Cells that are as expected; none where the sizes differ.
        cells_right: u32,
        /// The [`hash`] of a result that is a grid.
        hash: Option<u64>,
    },
    /// The host has to make it.
    BailedOut {
        /// Why.
        reason: BailOut,
        /// The instruction, counted from 1, at which the first of the evaluations that ran side by
        /// side bailed out.
        instruction: u16,
    },
}

/// A verdict as the kernels write it; see `Verdict` in `kernels/programs.cu`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
pub(crate) struct Written {
    status: u32,
    cells_right: u32,
    hash_low: u32,
    hash_high: u32,
}

impl From<Written> for Verdict {
    fn from(written: Written) -> Self {
        let number = written.status as u8;
        if number != 0 {
            return Verdict::BailedOut {
                // A number that stands for nothing is an image of another version.
                reason: BailOut::of(number).unwrap_or(BailOut::Operation),
                instruction: (written.status >> 16) as u16,
            };
        }
        let hash = u64::from(written.hash_high) << 32 | u64::from(written.hash_low);
        Verdict::Done {
            right: written.status >> 8 & 1 == 1,
            cells_right: written.cells_right,
            hash: (written.status >> 9 & 1 == 1).then_some(hash),
        }
    }
}

/// A number of 64 bits that stands for a grid: equal grids have equal ones, and different grids
/// hardly ever. Nothing for grids that the device does not hold.
///
/// It is what the kernels compute: see `hash_of` in `kernels/verdict.cuh`.
pub fn hash(grid: &Grid) -> Option<u64> {
    let mut pool = Pool::default();
    let place = pool.push_grid(grid).ok()?;
    hash_at(&pool, place)
}

/// The [`hash`] of a grid in a pool.
pub(crate) fn hash_at(pool: &Pool, place: Place) -> Option<u64> {
    let size = *pool.words().get(place.word as usize)?;
    let units = pool
        .units()
        .get(place.unit as usize..place.unit as usize + 4)?;
    let (mut low, mut high) = (0u32, 0u32);
    for (lane, row) in units.as_flattened().chunks_exact(4).enumerate().take(LANES) {
        let number = lane as u32 + 1;
        low = low.wrapping_add(finished(chain(
            number.wrapping_mul(0x9e37_79b9),
            row,
            0xcc9e_2d51,
            15,
        )));
        high = high.wrapping_add(finished(chain(
            number.wrapping_mul(0x7feb_352d),
            row,
            0x1b87_3593,
            13,
        )));
    }
    let low = finished(low ^ size.wrapping_mul(0x846c_a68b));
    let high = finished(high.wrapping_add(size.wrapping_mul(0x2c1b_3c6d)));
    Some(u64::from(high) << 32 | u64::from(low))
}

fn chain(start: u32, row: &[u32], multiplier: u32, by: u32) -> u32 {
    row.iter().fold(start, |x, plane| {
        (x ^ plane).rotate_left(by).wrapping_mul(multiplier)
    })
}

fn finished(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
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
