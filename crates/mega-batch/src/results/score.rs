//! [`Score`]: how close an output is, and a hash to compare outputs.

use arc_dsl::Grid;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// How close an output is to the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Score {
    /// The hash of the output: equal for equal grids, in every run and build. All outputs that are not grids have the
    /// same hash.
    pub digest: u128,
    /// How many cells are as expected; 0 if the output has another height or width, or if no output is expected.
    pub cells_right: u32,
}

impl Score {
    /// The digest of outputs that are not grids.
    pub(crate) const NO_GRID: u128 = 0;

    /// The score of an output.
    pub fn of(output: &Grid, expected: Option<&Grid>) -> Self {
        Self {
            digest: digest(output),
            cells_right: expected.map_or(0, |expected| cells_right(output, expected)),
        }
    }
}

/// The hash of a grid: 128-bit XXH3 of its cells, with its sides as the seed.
pub(crate) fn digest(grid: &Grid) -> u128 {
    let sides = (grid.height() as u64) << 32 | grid.width() as u64;
    xxh3_128_with_seed(bytemuck::cast_slice(grid.cells()), sides)
}

fn cells_right(output: &Grid, expected: &Grid) -> u32 {
    let sides = |grid: &Grid| (grid.height(), grid.width());
    if sides(output) != sides(expected) {
        return 0;
    }
    let cells = output.cells().iter().zip(expected.cells());
    cells.filter(|(a, b)| a == b).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: &[[i32; 2]]) -> Grid {
        Grid::from_rows(rows).unwrap()
    }

    #[test]
    fn equal_grids_alone_have_the_same_digest() {
        let grids = [
            Grid::filled(2, 3, 0),
            Grid::filled(3, 2, 0),
            Grid::filled(6, 1, 0),
            Grid::filled(2, 3, 1),
        ];
        for (at, a) in grids.iter().enumerate() {
            for (other, b) in grids.iter().enumerate() {
                assert_eq!(digest(a) == digest(b), at == other);
            }
        }
        // Checkpoints of other builds contain it.
        assert_eq!(
            digest(&grid(&[[1, 2], [3, 4]])),
            0xc40a_eaed_6d31_d4f2_552f_4f00_3539_58ea
        );
    }

    #[test]
    fn cells_are_right_in_their_places_alone() {
        let expected = grid(&[[1, 2], [3, 4]]);
        let right = |output: &Grid| Score::of(output, Some(&expected)).cells_right;
        assert_eq!(right(&expected), 4);
        assert_eq!(right(&grid(&[[1, 0], [0, 4]])), 2);
        assert_eq!(right(&grid(&[[1, 2]])), 0);
        assert_eq!(Score::of(&expected, None).cells_right, 0);
    }
}
