//! Grids rotated, mirrored, cut and joined, as planes.
//!
//! Each function overwrites its destination completely, which is another tile than its sources. The planes of a
//! tile are contiguous, so the rows from any row on are a slice of the same 128 words: rows move without a loop
//! over them, and a mask removes the rows of the neighbouring plane.

use super::{Bits, Misfit, NO_BITS, Tile};
use arc_dsl::Loc;

/// A buffer for the plane that has no neighbour on one side.
type Spare = [u32; 64];

/// The rows of each plane from row `by` on, at most 32; rows past the plane's last one are undefined.
#[inline(always)]
fn raised<'p>(planes: &'p [Bits; 4], by: u32, spare: &'p mut Spare) -> [&'p Bits; 4] {
    let by = by.min(32) as usize;
    spare[..32].copy_from_slice(&planes[3]);
    let words = planes.as_flattened();
    [
        &words[by..],
        &words[32 + by..],
        &words[64 + by..],
        &spare[by..],
    ]
    .map(|rows| rows.first_chunk().unwrap_or(&NO_BITS))
}

/// The rows of each plane moved down by `by` rows, at most 32; the rows above the plane's first one are
/// undefined.
#[inline(always)]
fn lowered<'p>(planes: &'p [Bits; 4], by: u32, spare: &'p mut Spare) -> [&'p Bits; 4] {
    let back = 32 - by.min(32) as usize;
    spare[32..].copy_from_slice(&planes[0]);
    let words = planes.as_flattened();
    [
        &spare[back..],
        &words[back..],
        &words[32 + back..],
        &words[64 + back..],
    ]
    .map(|rows| rows.first_chunk().unwrap_or(&NO_BITS))
}

/// The rows of each plane moved down, or up if negative; rows without a source are undefined.
#[inline(always)]
pub(super) fn moved<'p>(planes: &'p [Bits; 4], by: i32, spare: &'p mut Spare) -> [&'p Bits; 4] {
    if by < 0 {
        raised(planes, by.unsigned_abs(), spare)
    } else {
        lowered(planes, by.unsigned_abs(), spare)
    }
}

/// Mirrored top to bottom.
#[inline(always)]
pub(crate) fn hmirror(tile: &Tile, to: &mut Tile) {
    let mut spare = [0; 64];
    let flipped = flipped(&tile.planes);
    let planes = raised(&flipped, 32 - tile.height.min(32), &mut spare);
    to.set_cut_rows(
        tile.height,
        tile.width,
        #[inline(always)]
        |k, r| planes[k][r],
    );
}

/// The rows of the whole planes in reverse order.
#[inline(always)]
fn flipped(planes: &[Bits; 4]) -> [Bits; 4] {
    let mut flipped = *planes;
    for plane in &mut flipped {
        plane.reverse();
    }
    flipped
}

/// Mirrored left to right.
#[inline(always)]
pub(crate) fn vmirror(tile: &Tile, to: &mut Tile) {
    let by = beside(tile);
    to.set_rows(
        tile.height,
        tile.width,
        #[inline(always)]
        |k, r| tile.planes[k][r].reverse_bits() >> by,
    );
}

/// How many of the 32 columns are not on the tile; any number if the tile has no columns, since its rows are
/// zero however far they are shifted.
#[inline(always)]
fn beside(tile: &Tile) -> u32 {
    32u32.wrapping_sub(tile.width) & 31
}

/// Reverses the columns.
#[inline(always)]
fn reverse(tile: &mut Tile) {
    let by = beside(tile);
    for plane in &mut tile.planes {
        for row in plane {
            *row = row.reverse_bits() >> by;
        }
    }
}

/// Half a turn.
#[inline(always)]
pub(crate) fn rot180(tile: &Tile, to: &mut Tile) {
    let by = beside(tile);
    let mut spare = [0; 64];
    let flipped = flipped(&tile.planes);
    let planes = raised(&flipped, 32 - tile.height.min(32), &mut spare);
    to.set_cut_rows(
        tile.height,
        tile.width,
        #[inline(always)]
        |k, r| planes[k][r].reverse_bits() >> by,
    );
}

/// Mirrored along the diagonal from the upper left.
#[inline(always)]
pub(crate) fn dmirror(tile: &Tile, to: &mut Tile) {
    *to = *tile;
    transpose(to);
}

/// Mirrored along the diagonal from the upper right.
#[inline(always)]
pub(crate) fn cmirror(tile: &Tile, to: &mut Tile) {
    rot180(tile, to);
    transpose(to);
}

/// A quarter turn clockwise.
#[inline(always)]
pub(crate) fn rot90(tile: &Tile, to: &mut Tile) {
    *to = *tile;
    transpose(to);
    reverse(to);
}

/// A quarter turn anticlockwise.
#[inline(always)]
pub(crate) fn rot270(tile: &Tile, to: &mut Tile) {
    vmirror(tile, to);
    transpose(to);
}

/// Swaps rows and columns.
#[inline(always)]
fn transpose(tile: &mut Tile) {
    if tile.height.max(tile.width) <= 16 {
        transpose_small(&mut tile.planes);
    } else {
        exchange(&mut tile.planes, 16, 0x0000_ffff);
        exchange(&mut tile.planes, 8, 0x00ff_00ff);
        exchange(&mut tile.planes, 4, 0x0f0f_0f0f);
        exchange(&mut tile.planes, 2, 0x3333_3333);
        exchange(&mut tile.planes, 1, 0x5555_5555);
    }
    let (height, width) = (tile.width, tile.height);
    tile.height = height;
    tile.width = if height == 0 { 0 } else { width };
}

/// Transposes planes of 16 rows and columns, two side by side in a word.
#[inline(always)]
fn transpose_small(planes: &mut [Bits; 4]) {
    let mut pairs = [[0; 16]; 2];
    for r in 0..16 {
        for (k, pair) in pairs.iter_mut().enumerate() {
            pair[r] = planes[2 * k][r] | planes[2 * k + 1][r] << 16;
        }
    }
    exchange(&mut pairs, 8, 0x00ff_00ff);
    exchange(&mut pairs, 4, 0x0f0f_0f0f);
    exchange(&mut pairs, 2, 0x3333_3333);
    exchange(&mut pairs, 1, 0x5555_5555);
    for r in 0..16 {
        for (k, pair) in pairs.iter().enumerate() {
            planes[2 * k][r] = pair[r] & 0xffff;
            planes[2 * k + 1][r] = pair[r] >> 16;
        }
    }
}

/// Exchanges the highest bit of the row number with the bit `distance` of the column number, and makes it the
/// lowest bit of the row number.
///
/// Done once for each bit of the column number, from the highest down, this exchanges rows with columns and
/// leaves the bits of the row number in order. Both halves of the rows are read sequentially regardless of the
/// distance, so each step works on whole vectors.
#[inline(always)]
fn exchange<const PLANES: usize, const ROWS: usize>(
    planes: &mut [[u32; ROWS]; PLANES],
    distance: u32,
    low: u32,
) {
    let from = *planes;
    for r in 0..ROWS / 2 {
        for k in 0..PLANES {
            let (a, b) = (from[k][r], from[k][r + ROWS / 2]);
            let differs = (a >> distance ^ b) & low;
            planes[k][2 * r] = a ^ differs << distance;
            planes[k][2 * r + 1] = b ^ differs;
        }
    }
}

/// A rectangle of cells from row `i` and column `j` on; it must lie on the tile.
#[inline(always)]
pub(crate) fn extract(tile: &Tile, (i, j): (u32, u32), (height, width): (u32, u32), to: &mut Tile) {
    // From column 32 on there are no columns, so nothing is left.
    let by = j & 31;
    let mut spare = [0; 64];
    let planes = raised(&tile.planes, i, &mut spare);
    to.set_cut_rows(
        height,
        width,
        #[inline(always)]
        |k, r| planes[k][r] >> by,
    );
}

/// The first rows and columns.
#[inline(always)]
fn first(tile: &Tile, height: u32, width: u32, to: &mut Tile) {
    to.set_cut_rows(
        height,
        width,
        #[inline(always)]
        |k, r| tile.planes[k][r],
    );
}

/// The start and the length of Python's slice `[start:stop]` of `length` rows or columns.
#[inline(always)]
fn slice(length: u32, start: i64, stop: i64) -> (u32, u32) {
    let length = i64::from(length);
    let place = |at: i64| {
        let from_end = (at + length).max(0);
        if at < 0 { from_end } else { at.min(length) }
    };
    let (start, stop) = (place(start), place(stop));
    (start as u32, (stop - start).max(0) as u32)
}

/// A rectangle from a start on: a negative start counts from the end, and cells past the edges are left out.
#[inline(always)]
pub(crate) fn crop(tile: &Tile, start: Loc, dims: Loc, to: &mut Tile) {
    let range = |length, start: i32, size: i32| {
        let start = i64::from(start);
        slice(length, start, start + i64::from(size))
    };
    let (i, height) = range(tile.height, start.i, dims.i);
    let (j, width) = range(tile.width, start.j, dims.j);
    extract(tile, (i, j), (height, width), to);
}

/// Without the outermost rows and columns.
#[inline(always)]
pub(crate) fn trim(tile: &Tile, to: &mut Tile) {
    let dims = (tile.height.saturating_sub(2), tile.width.saturating_sub(2));
    extract(tile, (1, 1), dims, to);
}

/// The upper half.
#[inline(always)]
pub(crate) fn tophalf(tile: &Tile, to: &mut Tile) {
    first(tile, tile.height / 2, tile.width, to);
}

/// The lower half.
#[inline(always)]
pub(crate) fn bottomhalf(tile: &Tile, to: &mut Tile) {
    let half = tile.height / 2;
    extract(tile, (tile.height - half, 0), (half, tile.width), to);
}

/// The left half; without columns there are no rows either.
#[inline(always)]
pub(crate) fn lefthalf(tile: &Tile, to: &mut Tile) {
    let half = tile.width / 2;
    let height = if half == 0 { 0 } else { tile.height };
    first(tile, height, half, to);
}

/// The right half; without columns there are no rows either.
#[inline(always)]
pub(crate) fn righthalf(tile: &Tile, to: &mut Tile) {
    let half = tile.width / 2;
    let height = if half == 0 { 0 } else { tile.height };
    columns(tile, tile.width - half, height, half, to);
}

/// The first `height` rows of a range of columns from column `j` on.
#[inline(always)]
fn columns(tile: &Tile, j: u32, height: u32, width: u32, to: &mut Tile) {
    let by = j & 31;
    to.set_cut_rows(
        height,
        width,
        #[inline(always)]
        |k, r| tile.planes[k][r] >> by,
    );
}

/// The split of a length into equal parts, with a line left out between them if it does not divide evenly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    length: u32,
    size: u32,
    step: u32,
}

impl Split {
    /// Splits a length into parts, at least one.
    #[inline(always)]
    pub(crate) fn new(length: u32, parts: u32) -> Self {
        let parts = parts.max(1);
        let size = length / parts;
        Self {
            length,
            size,
            step: size + u32::from(size * parts != length),
        }
    }

    /// The start and the length of a part.
    #[inline(always)]
    fn part(self, number: u32) -> (u32, u32) {
        let start = self.step.saturating_mul(number).min(self.length);
        (start, self.size.min(self.length - start))
    }
}

/// A part of `hsplit`, by a split of the tile's width.
#[inline(always)]
pub(crate) fn hpart(tile: &Tile, split: Split, number: u32, to: &mut Tile) {
    let (j, width) = split.part(number);
    columns(tile, j, tile.height, width, to);
}

/// A part of `vsplit`, by a split of the tile's height.
#[inline(always)]
pub(crate) fn vpart(tile: &Tile, split: Split, number: u32, to: &mut Tile) {
    let (i, height) = split.part(number);
    extract(tile, (i, 0), (height, tile.width), to);
}

/// Side by side, with as many rows as both have.
#[inline(always)]
pub(crate) fn hconcat(a: &Tile, b: &Tile, to: &mut Tile) -> Result<(), Misfit> {
    let (height, width) = (a.height.min(b.height), a.width + b.width);
    if width > 32 && height > 0 {
        return Err(Misfit::Grid);
    }
    // A grid of 32 columns leaves no room beside it.
    let by = a.width & 31;
    to.set_cut_rows(
        height,
        width,
        #[inline(always)]
        |k, r| a.planes[k][r] | b.planes[k][r] << by,
    );
    Ok(())
}

/// One below the other: grids of the same width, or one of them without rows.
#[inline(always)]
pub(crate) fn vconcat(a: &Tile, b: &Tile, to: &mut Tile) -> Result<(), Misfit> {
    let height = a.height + b.height;
    if height > 32 {
        return Err(Misfit::Grid);
    }
    let mut spare = [0; 64];
    let planes = lowered(&b.planes, a.height, &mut spare);
    to.set_rows(
        height,
        a.width.max(b.width),
        #[inline(always)]
        |k, r| {
            let below = if (r as u32) < a.height {
                0
            } else {
                planes[k][r]
            };
            a.planes[k][r] | below
        },
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planes::testing::{agree, agree_on_cases, grids, loc, reference, tile, used};
    use arc_dsl::{Primitive, Value};

    #[test]
    fn turns_mirrors_and_halves_agree_with_the_reference() {
        type Function = fn(&Tile, &mut Tile);
        let functions: [(Primitive, Function); 12] = [
            (Primitive::Hmirror, hmirror),
            (Primitive::Vmirror, vmirror),
            (Primitive::Dmirror, dmirror),
            (Primitive::Cmirror, cmirror),
            (Primitive::Rot90, rot90),
            (Primitive::Rot180, rot180),
            (Primitive::Rot270, rot270),
            (Primitive::Trim, trim),
            (Primitive::Tophalf, tophalf),
            (Primitive::Bottomhalf, bottomhalf),
            (Primitive::Lefthalf, lefthalf),
            (Primitive::Righthalf, righthalf),
        ];
        for grid in grids(11) {
            for (primitive, function) in functions {
                agree(primitive, &[&grid], |tile, to| {
                    function(tile, to);
                    Some(())
                });
            }
        }
    }

    #[test]
    fn cropping_agrees_with_the_reference() {
        agree_on_cases(Primitive::Crop, |tile, arguments, to| {
            crop(tile, loc(&arguments[1])?, loc(&arguments[2])?, to);
            Some(())
        });
        let ends = [
            i32::MIN,
            -40,
            -32,
            -31,
            -3,
            -1,
            0,
            1,
            2,
            16,
            31,
            32,
            33,
            i32::MAX,
        ];
        for grid in grids(12).iter().skip(100).step_by(7) {
            for (at, &start) in ends.iter().enumerate() {
                for (other, &size) in ends.iter().enumerate() {
                    let start = Loc::new(start, ends[other]);
                    let dims = Loc::new(size, ends[(at + other) % ends.len()]);
                    agree(
                        Primitive::Crop,
                        &[grid, &Value::Loc(start), &Value::Loc(dims)],
                        |tile, to| {
                            crop(tile, start, dims, to);
                            Some(())
                        },
                    );
                }
            }
        }
    }

    #[test]
    fn parts_agree_with_the_reference() {
        type Part = fn(&Tile, Split, u32, &mut Tile);
        for grid in grids(13).iter().skip(60) {
            let whole = tile(grid).unwrap();
            for n in [1, 2, 3, 4, 5, 7, 31, 32, 33, 40] {
                let cases: [(Primitive, Part, u32); 2] = [
                    (Primitive::Hsplit, hpart, whole.width),
                    (Primitive::Vsplit, vpart, whole.height),
                ];
                for (primitive, part, length) in cases {
                    let Some(parts) = reference(primitive, &[grid, &Value::Int(n)]) else {
                        assert_eq!(whole.height, 0);
                        continue;
                    };
                    let split = Split::new(length, n as u32);
                    let parts = parts.as_container().unwrap();
                    assert_eq!(parts.len(), n as usize);
                    for (number, expected) in parts.iter().enumerate() {
                        let mut made = used();
                        part(&whole, split, number as u32, &mut made);
                        let expected = tile(&expected).unwrap();
                        assert!(made == expected, "{primitive}({grid}, {n})[{number}]");
                    }
                }
            }
        }
    }

    #[test]
    fn joining_agrees_with_the_reference() {
        let grids = grids(14);
        let (mut beside, mut below) = (0, 0);
        for (at, a) in grids.iter().enumerate() {
            for b in grids.iter().skip(at % 5).step_by(5) {
                let other = tile(b).unwrap();
                beside += usize::from(agree(Primitive::Hconcat, &[a, b], |tile, to| {
                    hconcat(tile, &other, to).ok()
                }));
                let first = tile(a).unwrap();
                if first.width == other.width || first.height == 0 || other.height == 0 {
                    below += usize::from(agree(Primitive::Vconcat, &[a, b], |tile, to| {
                        vconcat(tile, &other, to).ok()
                    }));
                }
            }
        }
        assert!(beside > 1000 && below > 300, "{beside} {below}");
    }
}
