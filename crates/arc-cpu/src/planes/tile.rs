//! [`Tile`]: a grid as four bit planes.

use super::Misfit;
use arc_dsl::Grid;

/// The most rows and columns of a tile.
pub(crate) const SIDE: u32 = 32;

/// Locations of a tile's window: bit `j` of row `i` is `(i, j)`.
pub(crate) type Bits = [u32; SIDE as usize];

/// No location.
pub(crate) const NO_BITS: Bits = [0; SIDE as usize];

/// A grid of at most 32 rows and columns.
///
/// The planes are zero past its height and width. A tile without rows has no columns.
#[derive(Clone, Copy, Debug, Eq)]
#[repr(C, align(64))]
pub(crate) struct Tile {
    /// Bit `k` of the [code](code_of) of each cell.
    pub(crate) planes: [Bits; 4],
    /// Number of rows, at most 32.
    pub(crate) height: u32,
    /// Number of columns, at most 32.
    pub(crate) width: u32,
}

/// The four bits that stand for a colour: 0 to 14 for themselves, 15 for -1.
#[inline(always)]
pub(crate) fn code_of(colour: i32) -> Result<u32, Misfit> {
    if (-1..15).contains(&colour) {
        Ok(colour as u32 & 15)
    } else {
        Err(Misfit::Colour)
    }
}

/// The colour that four bits stand for.
#[inline(always)]
pub(crate) fn colour_of(code: u32) -> i32 {
    ((code as i32 + 1) & 15) - 1
}

/// The four bits of a code, each repeated in every column.
#[inline(always)]
pub(super) fn spread_code(code: u32) -> [u32; 4] {
    [0, 1, 2, 3].map(|k| (code >> k & 1).wrapping_neg())
}

impl Default for Tile {
    fn default() -> Self {
        Self {
            planes: [NO_BITS; 4],
            height: 0,
            width: 0,
        }
    }
}

impl PartialEq for Tile {
    /// Without branches: one comparison at the end.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        let differs = self.differences(other).iter().fold(0, |all, row| all | row);
        (self.height ^ other.height) | (self.width ^ other.width) | differs == 0
    }
}

impl Tile {
    /// Packs the grid into planes.
    #[inline(always)]
    pub(crate) fn set(&mut self, grid: &Grid) -> Result<(), Misfit> {
        let (height, width) = (grid.height(), grid.width());
        if height > SIDE as usize || width > SIDE as usize {
            return Err(Misfit::Grid);
        }
        let mut wrong = 0u8;
        self.planes = [NO_BITS; 4];
        self.height = height as u32;
        self.width = width as u32;
        if width == 0 {
            return Ok(());
        }
        for (i, row) in grid.cells().chunks_exact(width).enumerate() {
            let mut at = 0;
            let mut chunks = row.chunks_exact(8);
            let mut pack = |cells: [u8; 8], at: u32| {
                let word = u64::from_le_bytes(cells);
                for (k, plane) in self.planes.iter_mut().enumerate() {
                    // The multiplication gathers the lowest bits of the eight bytes side by side.
                    let bits = ((word >> k) & 0x0101_0101_0101_0101)
                        .wrapping_mul(0x0102_0408_1020_4080)
                        >> 56;
                    plane[i] |= (bits as u32) << at;
                }
            };
            for chunk in &mut chunks {
                let cells: [i8; 8] = chunk.try_into().unwrap_or_default();
                pack(cells.map(|cell| cell as u8), at);
                at += 8;
            }
            if at < 32 {
                let mut cells = [0; 8];
                for (to, from) in cells.iter_mut().zip(chunks.remainder()) {
                    *to = *from as u8;
                }
                pack(cells, at);
            }
            for &cell in row {
                wrong |= u8::from(!(-1..15).contains(&cell));
            }
        }
        if wrong == 0 {
            Ok(())
        } else {
            Err(Misfit::Colour)
        }
    }

    /// The grid that the planes hold.
    pub(crate) fn grid(&self) -> Grid {
        let cells = (0..self.height as usize)
            .flat_map(|i| (0..self.width as usize).map(move |j| self.colour(i, j) as i8))
            .collect();
        Grid::from_cells(self.height as usize, self.width as usize, cells)
    }

    /// The code of a cell of the window.
    #[inline(always)]
    pub(crate) fn code(&self, i: usize, j: usize) -> u32 {
        let mut code = 0;
        for (k, plane) in self.planes.iter().enumerate() {
            code |= ((plane[i & 31] >> (j & 31)) & 1) << k;
        }
        code
    }

    /// Sets a grid of this size, at most 32 x 32; `row` returns row `r` of plane `k`, with zeros past the size.
    ///
    /// It is one loop over the rows, not one per plane: compilers unroll short loops with small bodies before
    /// they try to vectorise them, and then seldom succeed.
    #[inline(always)]
    pub(super) fn set_rows(&mut self, height: u32, width: u32, row: impl Fn(usize, usize) -> u32) {
        self.height = height;
        self.width = if height == 0 { 0 } else { width };
        for r in 0..32 {
            for k in 0..4 {
                self.planes[k][r] = row(k, r);
            }
        }
    }

    /// The same if `row` may return bits past the size.
    #[inline(always)]
    pub(super) fn set_cut_rows(
        &mut self,
        height: u32,
        width: u32,
        row: impl Fn(usize, usize) -> u32,
    ) {
        let columns = ((1u64 << width) - 1) as u32;
        self.set_rows(
            height,
            width,
            #[inline(always)]
            |k, r| {
                let on = if (r as u32) < height { columns } else { 0 };
                row(k, r) & on
            },
        );
    }

    /// The colour of a cell of the window.
    #[inline(always)]
    pub(crate) fn colour(&self, i: usize, j: usize) -> i32 {
        colour_of(self.code(i, j))
    }

    /// The columns of a row that lie on the grid.
    #[inline(always)]
    pub(crate) fn columns(&self) -> u32 {
        ((1u64 << self.width) - 1) as u32
    }

    /// All locations of the grid.
    #[inline(always)]
    pub(crate) fn bits(&self) -> Bits {
        let columns = self.columns();
        let mut bits = NO_BITS;
        for (i, row) in bits.iter_mut().enumerate() {
            *row = if (i as u32) < self.height { columns } else { 0 };
        }
        bits
    }

    /// Where the planes of two tiles differ.
    #[inline(always)]
    pub(crate) fn differences(&self, other: &Self) -> Bits {
        let mut bits = NO_BITS;
        for (r, bits) in bits.iter_mut().enumerate() {
            *bits = self.row_of_differences(r, other);
        }
        bits
    }

    /// How many cells differ; `None` if the sizes do.
    pub(crate) fn wrong_cells(&self, other: &Self) -> Option<u32> {
        if (self.height, self.width) != (other.height, other.width) {
            return None;
        }
        let differences = self.differences(other);
        Some(differences.iter().map(|row| row.count_ones()).sum())
    }

    /// Row `r` of the differences between the planes of two tiles.
    #[inline(always)]
    pub(super) fn row_of_differences(&self, r: usize, other: &Self) -> u32 {
        let ([a, b, c, d], [e, f, g, h]) = (&self.planes, &other.planes);
        (a[r] ^ e[r]) | (b[r] ^ f[r]) | (c[r] ^ g[r]) | (d[r] ^ h[r])
    }

    /// The locations of the cells that have a code.
    #[inline(always)]
    pub(crate) fn of_code(&self, code: u32) -> Bits {
        self.of_code_in(code, &self.bits())
    }

    /// The locations among `bits` that have a code.
    #[inline(always)]
    pub(crate) fn of_code_in(&self, code: u32, bits: &Bits) -> Bits {
        let code = spread_code(code);
        let mut found = NO_BITS;
        for r in 0..32 {
            found[r] = bits[r] & self.row_of_code(r, code);
        }
        found
    }

    /// Row `r` of the locations of a code's [four bits](spread_code), including bits off the grid.
    #[inline(always)]
    pub(super) fn row_of_code(&self, r: usize, code: [u32; 4]) -> u32 {
        let [a, b, c, d] = &self.planes;
        let [ones, twos, fours, eights] = code;
        !((a[r] ^ ones) | (b[r] ^ twos) | (c[r] ^ fours) | (d[r] ^ eights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::generate::Generator;
    use arc_dsl::{Type, Value};

    #[test]
    fn a_grid_comes_back_as_it_went_in() {
        let mut generator = Generator::new(1);
        let mut tile = Tile::default();
        let mut fitted = 0;
        for _ in 0..500 {
            let Value::Grid(grid) = generator.value(Type::Grid) else {
                continue;
            };
            if tile.set(&grid).is_ok() {
                fitted += 1;
                assert_eq!(tile.grid(), *grid);
            }
        }
        assert!(fitted > 300, "{fitted}");
        assert_eq!(tile.set(&Grid::filled(33, 1, 0)), Err(Misfit::Grid));
        assert_eq!(tile.set(&Grid::filled(1, 1, 15)), Err(Misfit::Colour));
        assert_eq!(tile.set(&Grid::filled(32, 32, -1)), Ok(()));
        assert_eq!(tile.grid(), Grid::filled(32, 32, -1));
    }
}
