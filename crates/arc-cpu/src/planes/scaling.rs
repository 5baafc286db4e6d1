//! Grids made larger and smaller, as planes.

use super::{Bits, Misfit, NO_BITS, Tile};

/// Spreads the bits of a word by a factor: bit `j` moves to `j * factor`.
///
/// The bits of `j` are processed one by one from the highest: all columns with that bit in `j` move by its
/// share. Four steps are enough for 16 columns, the most that fit on a tile when the factor is 2.
#[derive(Clone, Copy)]
struct Spread {
    /// How far columns with bit `s` in their number move.
    by: [u32; 4],
    /// The positions of the columns whose bits from `s` on have been processed; the last entry has the
    /// positions at the start.
    at: [u32; 5],
}

/// By factor, up to 32.
static SPREADS: [Spread; 33] = {
    let mut spreads = [Spread {
        by: [0; 4],
        at: [u32::MAX; 5],
    }; 33];
    let mut factor = 2;
    while factor <= 32 {
        spreads[factor as usize] = Spread::new(factor);
        factor += 1;
    }
    spreads
};

impl Spread {
    const fn new(factor: u32) -> Self {
        let mut spread = Self {
            by: [0; 4],
            at: [0; 5],
        };
        let mut s = 0;
        while s <= 4 {
            let mut j = 0;
            while j * factor < 32 {
                let low = j & ((1 << s) - 1);
                spread.at[s] |= 1 << ((j - low) * factor + low);
                j += 1;
            }
            // If the distance is too long, no column has that bit.
            if s < 4 && (factor - 1) << s < 32 {
                spread.by[s] = (factor - 1) << s;
            }
            s += 1;
        }
        spread
    }

    #[inline(always)]
    fn spread(&self, row: u32) -> u32 {
        let mut row = row;
        for s in [3, 2, 1, 0] {
            row = (row | row << self.by[s]) & self.at[s];
        }
        row
    }

    /// The inverse of `spread`: gathers the bits at multiples of the factor.
    #[inline(always)]
    fn gather(&self, row: u32) -> u32 {
        let mut row = row & self.at[0];
        for s in 0..4 {
            row = (row | row >> self.by[s]) & self.at[s + 1];
        }
        row
    }
}

/// The row of the original that each row comes from, by factor; the factor 0 is not used.
static SOURCES: [[u8; 32]; 33] = {
    let mut sources = [[0; 32]; 33];
    let mut factor = 1;
    while factor <= 32 {
        let mut row = 0;
        while row < 32 {
            sources[factor][row] = (row / factor) as u8;
            row += 1;
        }
        factor += 1;
    }
    sources
};

/// The factor, and the scaled length of a side; an error if that is too long.
#[inline(always)]
fn scaled(length: u32, factor: i32) -> Result<(u32, u32), Misfit> {
    let factor = factor.max(0) as u32;
    let scaled = u64::from(length) * u64::from(factor);
    if scaled > 32 {
        return Err(Misfit::Grid);
    }
    // If a side has no cells, or gets none, the factor does not matter.
    Ok((factor.clamp(1, 32), scaled as u32))
}

/// Repeats each column.
#[inline(always)]
fn widen(planes: &[Bits; 4], factor: u32, to: &mut [Bits; 4]) {
    let spread = &SPREADS[factor as usize % SPREADS.len()];
    let by = factor & 31;
    let next = if factor < 32 { u32::MAX } else { 0 };
    for (to, plane) in to.iter_mut().zip(planes) {
        for (to, &row) in to.iter_mut().zip(plane) {
            // Each bit times `2^factor - 1`.
            let row = spread.spread(row);
            *to = (row << by & next).wrapping_sub(row);
        }
    }
}

/// Repeats each row.
#[inline(always)]
fn heighten(planes: &[Bits; 4], factor: u32, to: &mut [Bits; 4]) {
    let sources = &SOURCES[factor as usize % SOURCES.len()];
    for (r, &source) in sources.iter().enumerate() {
        for (to, plane) in to.iter_mut().zip(planes) {
            to[r] = plane[usize::from(source) & 31];
        }
    }
}

/// Repeats each column `factor` times.
#[inline(always)]
pub(crate) fn hupscale(tile: &Tile, factor: i32, to: &mut Tile) -> Result<(), Misfit> {
    let (factor, width) = scaled(tile.width, factor)?;
    to.height = tile.height;
    to.width = width;
    if width == 0 {
        to.planes = [NO_BITS; 4];
    } else {
        widen(&tile.planes, factor, &mut to.planes);
    }
    Ok(())
}

/// Repeats each row `factor` times.
#[inline(always)]
pub(crate) fn vupscale(tile: &Tile, factor: i32, to: &mut Tile) -> Result<(), Misfit> {
    let (factor, height) = scaled(tile.height, factor)?;
    if height == 0 {
        *to = Tile::default();
    } else {
        to.height = height;
        to.width = tile.width;
        heighten(&tile.planes, factor, &mut to.planes);
    }
    Ok(())
}

/// Repeats each cell as a square with sides of `factor`.
#[inline(always)]
pub(crate) fn upscale(tile: &Tile, factor: i32, to: &mut Tile) -> Result<(), Misfit> {
    let (_, height) = scaled(tile.height, factor)?;
    let (factor, width) = scaled(tile.width, factor)?;
    if height == 0 {
        *to = Tile::default();
        return Ok(());
    }
    to.height = height;
    to.width = width;
    let mut wide = [NO_BITS; 4];
    widen(&tile.planes, factor, &mut wide);
    heighten(&wide, factor, &mut to.planes);
    Ok(())
}

/// The first of every `factor` rows and columns; `None` if the factor is 0 or there is no row.
///
/// A negative factor counts as the positive one.
#[inline(always)]
pub(crate) fn downscale(tile: &Tile, factor: i32, to: &mut Tile) -> Option<()> {
    let factor = factor.unsigned_abs();
    if factor == 0 || tile.height == 0 {
        return None;
    }
    if factor == 1 {
        *to = *tile;
        return Some(());
    }
    // From 32 on, only the first cell remains.
    let factor = factor.min(32);
    to.height = tile.height.div_ceil(factor);
    to.width = tile.width.div_ceil(factor);
    let spread = &SPREADS[factor as usize];
    let mut rows = [NO_BITS; 4];
    for r in 0..16 {
        let source = r * factor as usize;
        let kept = if source < 32 { u32::MAX } else { 0 };
        for (rows, plane) in rows.iter_mut().zip(&tile.planes) {
            rows[r] = plane[source & 31] & kept;
        }
    }
    for (to, rows) in to.planes.iter_mut().zip(&rows) {
        for (to, &row) in to.iter_mut().zip(rows) {
            *to = spread.gather(row);
        }
    }
    Some(())
}

/// Removes the rows and the columns of one colour.
#[inline(always)]
pub(crate) fn compress(tile: &Tile, to: &mut Tile) {
    if tile.width == 0 {
        *to = *tile;
        return;
    }
    let on = tile.bits();
    let columns = tile.columns();
    // A plane with both a cell with its bit and one without it means two colours.
    let mut varied = 0;
    let mut several = NO_BITS;
    for plane in &tile.planes {
        let (mut with, mut without) = (0, 0);
        for r in 0..32 {
            let rest = plane[r] ^ on[r];
            with |= plane[r];
            without |= rest;
            several[r] |= u32::from(plane[r] != 0 && rest != 0);
        }
        varied |= with & without;
    }
    let steps = Gather::of(varied);
    let mut height = 0;
    let mut rows = [NO_BITS; 4];
    for r in 0..tile.height as usize & 63 {
        for (rows, plane) in rows.iter_mut().zip(&tile.planes) {
            rows[height & 31] = plane[r & 31];
        }
        height += several[r & 31] as usize;
    }
    to.set_cut_rows(
        height as u32,
        (varied & columns).count_ones(),
        #[inline(always)]
        |k, r| steps.gather(rows[k][r]),
    );
}

/// Gathers the bits of a mask side by side: bits that have to move by an odd number of columns move by one,
/// then those by an odd number of pairs by two, and so on (Hacker's Delight, 7-4).
#[derive(Clone, Copy)]
struct Gather {
    mask: u32,
    /// The bits that move in each step, at their positions before it.
    moves: [u32; 5],
}

impl Gather {
    #[inline(always)]
    fn of(mask: u32) -> Self {
        let mut moves = [0; 5];
        let mut left = mask;
        // The columns with an odd number of gaps to their right; then of pairs of gaps.
        let mut gaps = !mask << 1;
        for (s, moves) in moves.iter_mut().enumerate() {
            let mut odd = gaps;
            for by in [1, 2, 4, 8, 16] {
                odd ^= odd << by;
            }
            *moves = odd & left;
            left = (left ^ *moves) | *moves >> (1 << s);
            gaps &= !odd;
        }
        Self { mask, moves }
    }

    #[inline(always)]
    fn gather(&self, row: u32) -> u32 {
        let mut row = row & self.mask;
        for (s, &moves) in self.moves.iter().enumerate() {
            let moved = row & moves;
            row = (row ^ moved) | moved >> (1 << s);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planes::testing::{agree, agree_on_cases, reference};
    use arc_dsl::{Grid, Primitive, Value};

    #[test]
    fn scaling_agrees_with_the_reference() {
        agree_on_cases(Primitive::Hupscale, |tile, arguments, to| {
            hupscale(tile, arguments[1].as_int()?, to).ok()
        });
        agree_on_cases(Primitive::Vupscale, |tile, arguments, to| {
            vupscale(tile, arguments[1].as_int()?, to).ok()
        });
        agree_on_cases(Primitive::Upscale, |tile, arguments, to| {
            upscale(tile, arguments[1].as_int()?, to).ok()
        });
        agree_on_cases(Primitive::Downscale, |tile, arguments, to| {
            downscale(tile, arguments[1].as_int()?, to)
        });
        agree_on_cases(Primitive::Compress, |tile, _, to| {
            compress(tile, to);
            Some(())
        });
    }

    #[test]
    fn every_factor_and_side() {
        for side in [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 15, 16, 17, 31, 32] {
            let cells = (0..side * 3).map(|at| (at * at % 11) as i8 - 1).collect();
            let wide = Value::from(Grid::from_cells(3, side, cells));
            let high = reference(Primitive::Dmirror, &[&wide]).unwrap();
            for factor in (-1..=34).chain([i32::MIN, i32::MAX]) {
                let n = Value::Int(factor);
                let fits = side as i64 * i64::from(factor.max(0)) <= 32;
                let made = agree(Primitive::Hupscale, &[&wide, &n], |tile, to| {
                    hupscale(tile, factor, to).ok()
                });
                assert_eq!(made, fits, "{side} {factor}");
                agree(Primitive::Vupscale, &[&high, &n], |tile, to| {
                    vupscale(tile, factor, to).ok()
                });
                for grid in [&wide, &high] {
                    agree(Primitive::Upscale, &[grid, &n], |tile, to| {
                        upscale(tile, factor, to).ok()
                    });
                    agree(Primitive::Downscale, &[grid, &n], |tile, to| {
                        downscale(tile, factor, to)
                    });
                }
            }
        }
    }
}
