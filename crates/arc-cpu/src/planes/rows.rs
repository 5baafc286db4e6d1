//! Grids as rows: cellwise maximum and minimum, and rows compared.

use std::cmp::Ordering;

use super::Tile;

/// The columns in which the first of two rows of planes has the larger colour.
///
/// Colours order as their codes do, except -1, which has the largest code and is the smallest colour.
#[inline(always)]
fn larger_in_row(a: [u32; 4], b: [u32; 4]) -> u32 {
    let least = |row: [u32; 4]| row[0] & row[1] & row[2] & row[3];
    let mut larger = 0;
    for k in 0..4 {
        larger = (a[k] & !b[k]) | (larger & !(a[k] ^ b[k]));
    }
    !least(a) & (larger | least(b))
}

/// Row `r` of each plane.
#[inline(always)]
fn row(tile: &Tile, r: usize) -> [u32; 4] {
    let [a, b, c, d] = &tile.planes;
    [a[r], b[r], c[r], d[r]]
}

/// The larger of the colours of two grids in each cell, or the smaller; the result ends where either grid ends.
#[inline(always)]
pub(crate) fn outer_colours(a: &Tile, b: &Tile, larger: bool, to: &mut Tile) {
    let (height, width) = (a.height.min(b.height), a.width.min(b.width));
    let columns = ((1u64 << width) - 1) as u32;
    let turned = if larger { 0 } else { u32::MAX };
    to.height = height;
    to.width = if height == 0 { 0 } else { width };
    for r in 0..32 {
        let (ours, theirs) = (row(a, r), row(b, r));
        let first = larger_in_row(ours, theirs) ^ turned;
        let on = if (r as u32) < height { columns } else { 0 };
        for k in 0..4 {
            to.planes[k][r] = ((ours[k] & first) | (theirs[k] & !first)) & on;
        }
    }
}

/// Compares two grids: row by row, and rows by their colours.
#[inline(always)]
pub(crate) fn order(a: &Tile, b: &Tile) -> Ordering {
    let columns = ((1u64 << a.width.min(b.width)) - 1) as u32;
    for r in 0..a.height.min(b.height) as usize & 63 {
        let differing = a.row_of_differences(r & 31, b) & columns;
        if differing != 0 {
            let at = differing.trailing_zeros() as usize;
            return a.colour(r, at).cmp(&b.colour(r, at));
        }
        if a.width != b.width {
            return a.width.cmp(&b.width);
        }
    }
    a.height.cmp(&b.height)
}

/// The codes of eight cells of a row, a byte each, from a column on that must be a multiple of eight.
#[inline(always)]
pub(crate) fn eight_codes(tile: &Tile, r: usize, from: u32) -> u64 {
    let mut codes = 0;
    for (k, plane) in tile.planes.iter().enumerate() {
        let bits = u64::from(plane[r & 31] >> (from & 31) & 0xff);
        // Moves bit j to byte j: copies the byte, masks one bit in each copy, and reduces it to 0 or 1.
        let own = bits.wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        let ones = own.wrapping_add(0x7f7f_7f7f_7f7f_7f7f) >> 7;
        codes |= (ones & 0x0101_0101_0101_0101) << k;
    }
    codes
}

/// The bits of each plane for eight cells of a row; their codes are the bytes.
#[inline(always)]
pub(crate) fn planes_of_eight(codes: u64) -> [u32; 4] {
    [0, 1, 2, 3].map(|k| {
        // The multiplication gathers the lowest bits of the eight bytes side by side.
        let ones = (codes >> k) & 0x0101_0101_0101_0101;
        (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planes::testing::{tile, used};
    use crate::planes::transforms::crop;
    use crate::planes::{code_of, colour_of};
    use arc_dsl::generate::Generator;
    use arc_dsl::{Grid, Loc, Type, Value};

    /// Random grids that fit a tile.
    fn tiles(seed: u64) -> Vec<Tile> {
        let mut generator = Generator::new(seed);
        let all = (0..200).map(|_| generator.value(Type::Grid));
        let mut all: Vec<_> = all.filter_map(|grid| tile(&grid)).collect();
        for (height, width) in [(0, 0), (32, 32), (3, 0), (1, 32), (32, 1)] {
            let mut one = Tile::default();
            one.set(&Grid::filled(height, width, -1)).unwrap();
            all.push(one);
        }
        all
    }

    #[test]
    fn two_grids_are_compared_cell_by_cell() {
        let all = tiles(1);
        for (n, a) in all.iter().enumerate() {
            for b in [&all[(n * 7 + 1) % all.len()], &all[n / 2], a] {
                for larger in [true, false] {
                    let mut to = used();
                    outer_colours(a, b, larger, &mut to);
                    let (height, width) = (a.height.min(b.height), a.width.min(b.width));
                    let (height, width) = (height as usize, width as usize);
                    let cells = (0..height).flat_map(|i| (0..width).map(move |j| (i, j)));
                    let cells = cells.map(|(i, j)| {
                        let (a, b) = (a.colour(i, j), b.colour(i, j));
                        (if larger { a.max(b) } else { a.min(b) }) as i8
                    });
                    let mut expected = Tile::default();
                    let grid = Grid::from_cells(height, width, cells.collect());
                    expected.set(&grid).unwrap();
                    assert_eq!(to, expected);
                    assert_eq!(to.planes, expected.planes);
                }
            }
        }
    }

    #[test]
    fn grids_order_as_their_rows_do() {
        let all = tiles(4);
        let mut seen = [0; 3];
        for (n, a) in all.iter().enumerate() {
            // A prefix, one that differs in a cell, and a random one.
            let (mut part, mut changed) = (*a, *a);
            let but_last = Loc::new(a.height as i32 - 1, a.width as i32);
            crop(a, Loc::new(0, 0), but_last, &mut part);
            changed.planes[n % 4][0] ^= 1 & a.columns();
            for b in [&part, &changed, &all[(n * 7 + 1) % all.len()], a] {
                let expected = Value::from(a.grid()).cmp(&Value::from(b.grid()));
                seen[(expected as i8 + 1) as usize] += 1;
                assert_eq!(order(a, b), expected);
                assert_eq!(order(b, a), expected.reverse());
            }
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }

    #[test]
    fn eight_cells_go_to_bytes_and_back() {
        for tile in tiles(3) {
            for r in 0..tile.height as usize {
                for from in [0, 8, 16, 24] {
                    let codes = eight_codes(&tile, r, from);
                    for (j, byte) in codes.to_le_bytes().into_iter().enumerate() {
                        let code = tile.code(r, from as usize + j);
                        assert_eq!(u32::from(byte), code);
                        assert_eq!(code_of(colour_of(byte.into())), Ok(code));
                    }
                    let bits = row(&tile, r).map(|row| row >> from & 0xff);
                    assert_eq!(planes_of_eight(codes), bits);
                }
            }
        }
    }
}
