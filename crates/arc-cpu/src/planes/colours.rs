//! Colours of grids, as planes.

use super::object::{first_in_set, in_order};
use super::tile::spread_code;
use super::{Bits, Misfit, Tile, code_of, colour_of};
use arc_dsl::{Loc, iteration_order_of};

/// How many locations there are.
#[inline(always)]
pub(crate) fn count(bits: &Bits) -> u32 {
    bits.iter().map(|row| row.count_ones()).sum()
}

/// The code of the most common colour, of several the first in the set of all; `None` if there is no cell.
///
/// Counts the colours in the order of their first cells, until one has as many cells as remain: most grids have
/// a background, and it is among the first.
#[inline(always)]
pub(crate) fn most_common(tile: &Tile) -> Option<u32> {
    let mut left = tile.bits();
    let mut cells = tile.height * tile.width;
    let (mut most, mut best) = (0, 0u16);
    let mut row = 0;
    while row < tile.height as usize {
        let columns = left[row & 31];
        if columns == 0 {
            row += 1;
            continue;
        }
        let code = tile.code(row, columns.trailing_zeros() as usize);
        let bits = tile.of_code_in(code, &left);
        for (left, bits) in left.iter_mut().zip(&bits) {
            *left ^= bits;
        }
        let count = count(&bits);
        cells = cells.saturating_sub(count);
        if count > most {
            (most, best) = (count, 0);
        }
        best |= u16::from(count == most) << code;
        if cells < most {
            break;
        }
    }
    match best {
        0 => None,
        _ if best.is_power_of_two() => Some(best.trailing_zeros()),
        _ => Some(first_of_several(tile, best)),
    }
}

/// Of several colours, the code of the one that is first in Python's set of the colours of the grid.
#[cold]
#[inline(never)]
fn first_of_several(tile: &Tile, tied: u16) -> u32 {
    first_in_set(palette(tile), tied).unwrap_or_else(|| {
        let rows = 0..tile.height as usize;
        let cells = rows.flat_map(|i| (0..tile.width as usize).map(move |j| tile.code(i, j)));
        let mut met = Vec::new();
        for code in cells {
            let colour = colour_of(code);
            if !met.contains(&colour) {
                met.push(colour);
            }
        }
        let all = iteration_order_of(&met);
        let codes = all.into_iter().filter_map(|colour| code_of(colour).ok());
        let mut tied_codes = codes.filter(|code| tied >> code & 1 == 1);
        tied_codes.next().unwrap_or_else(|| tied.trailing_zeros())
    })
}

/// The code of the most common colour, and all codes that occur; `None` if there is no cell.
#[inline(always)]
pub(crate) fn background(tile: &Tile) -> Option<(u32, u16)> {
    Some((most_common(tile)?, palette(tile)))
}

/// The most common colour; `None` if there is no cell.
#[inline(always)]
pub(crate) fn mostcolor(tile: &Tile) -> Option<i32> {
    most_common(tile).map(colour_of)
}

/// The least common colour, of several the first in the set of all; `None` if there is no cell.
#[inline(always)]
pub(crate) fn leastcolor(tile: &Tile) -> Option<i32> {
    let (mut least, mut best) = (u32::MAX, 0u16);
    for code in in_order(palette(tile)) {
        let count = count(&tile.of_code(code));
        if count < least {
            (least, best) = (count, 0);
        }
        best |= u16::from(count == least) << code;
    }
    match best {
        0 => None,
        _ if best.is_power_of_two() => Some(colour_of(best.trailing_zeros())),
        _ => Some(colour_of(first_of_several(tile, best))),
    }
}

/// The codes of the colours that occur, as the bits of a number.
///
/// Tests all sixteen at once, in eight rows at a time: without a branch per colour, this is several times as
/// fast as a loop over those that occur.
#[inline(always)]
pub(crate) fn palette(tile: &Tile) -> u16 {
    let on_grid = tile.bits();
    let mut seen = [[0; 8]; 16];
    for rows in 0..tile.height.div_ceil(8) as usize & 7 {
        for lane in 0..8 {
            let r = (8 * rows + lane) & 31;
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| tile.planes[k][r]);
            let cells = on_grid[r];
            let low = [cells & !a & !b, a & !b, b & !a, a & b];
            let high = [!c & !d, c & !d, d & !c, c & d];
            for (code, seen) in seen.iter_mut().enumerate() {
                seen[lane] |= low[code & 3] & high[code >> 2 & 3] & cells;
            }
        }
    }
    let mut codes = 0;
    for (code, seen) in seen.iter().enumerate() {
        let any = seen.iter().fold(0, |any, row| any | row);
        codes |= u16::from(any != 0) << code;
    }
    codes
}

/// How many colours occur.
#[inline(always)]
pub(crate) fn numcolors(tile: &Tile) -> u32 {
    palette(tile).count_ones()
}

/// How many cells have a colour.
#[inline(always)]
pub(crate) fn colorcount(tile: &Tile, colour: i32) -> u32 {
    code_of(colour).map_or(0, |code| count(&tile.of_code(code)))
}

/// The grid with one colour replaced by another.
#[inline(always)]
pub(crate) fn replace(
    tile: &Tile,
    replacee: i32,
    replacer: i32,
    to: &mut Tile,
) -> Result<(), Misfit> {
    let replacer = code_of(replacer)?;
    let Ok(replacee) = code_of(replacee) else {
        // The grid has no such colour.
        *to = *tile;
        return Ok(());
    };
    let (from, replacer) = (spread_code(replacee), spread_code(replacer));
    to.set_cut_rows(
        tile.height,
        tile.width,
        #[inline(always)]
        |k, r| {
            let plane = tile.planes[k][r];
            plane ^ ((plane ^ replacer[k]) & tile.row_of_code(r, from))
        },
    );
    Ok(())
}

/// The grid with two colours exchanged.
#[inline(always)]
pub(crate) fn switch(tile: &Tile, a: i32, b: i32, to: &mut Tile) -> Result<(), Misfit> {
    let (a, b) = (code_of(a)?, code_of(b)?);
    let differs = spread_code(a ^ b);
    let (a, b) = (spread_code(a), spread_code(b));
    to.set_cut_rows(
        tile.height,
        tile.width,
        #[inline(always)]
        |k, r| {
            let either = tile.row_of_code(r, a) | tile.row_of_code(r, b);
            tile.planes[k][r] ^ (either & differs[k])
        },
    );
    Ok(())
}

/// The cells of the first tile that equal those of the second, the others in a fallback colour; `false` if the
/// second has no cell for one of the first, or the first has no rows.
#[inline(always)]
pub(crate) fn cellwise(a: &Tile, b: &Tile, fallback: i32, to: &mut Tile) -> Result<bool, Misfit> {
    let fallback = code_of(fallback)?;
    // Rows without cells need no counterpart.
    if a.height == 0 || (a.width > 0 && (a.height > b.height || a.width > b.width)) {
        return Ok(false);
    }
    let fallback = spread_code(fallback);
    to.set_cut_rows(
        a.height,
        a.width,
        #[inline(always)]
        |k, r| {
            let plane = a.planes[k][r];
            plane ^ ((plane ^ fallback[k]) & a.row_of_differences(r, b))
        },
    );
    Ok(true)
}

/// The colour at a location, or `None` if it is off the grid.
#[inline(always)]
pub(crate) fn index(tile: &Tile, loc: Loc) -> Option<i32> {
    // A negative coordinate becomes a large one.
    let (i, j) = (loc.i as u32, loc.j as u32);
    (i < tile.height && j < tile.width).then(|| tile.colour(i as usize, j as usize))
}

/// A grid of one colour.
#[inline(always)]
pub(crate) fn canvas(colour: i32, dims: Loc, to: &mut Tile) -> Result<(), Misfit> {
    let (height, width) = (dims.i.max(0) as u32, dims.j.max(0) as u32);
    if height > 32 || width > 32 {
        return Err(Misfit::Grid);
    }
    let code = code_of(colour)?;
    let colour = spread_code(code);
    to.set_cut_rows(
        height,
        width,
        #[inline(always)]
        |k, _| colour[k],
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planes::testing::{agree, agree_on_cases, grids, reference, tile};
    use arc_dsl::{Primitive, Value};

    #[test]
    fn colours_agree_with_the_reference() {
        for grid in grids(21) {
            let tile = tile(&grid).unwrap();
            let answer = |primitive| reference(primitive, &[&grid]);
            let integer = |n: i32| Some(Value::Int(n));
            assert_eq!(
                mostcolor(&tile).and_then(integer),
                answer(Primitive::Mostcolor),
                "{grid}"
            );
            assert_eq!(
                leastcolor(&tile).and_then(integer),
                answer(Primitive::Leastcolor),
                "{grid}"
            );
            assert_eq!(
                integer(numcolors(&tile) as i32),
                answer(Primitive::Numcolors)
            );
            let codes = palette(&tile);
            let set = (0..16).filter(|code| codes >> code & 1 == 1);
            let set = Value::set(set.map(|code| Value::Int(colour_of(code))));
            assert_eq!(Some(set), answer(Primitive::Palette));
            for colour in -2..=16 {
                let expected = reference(Primitive::Colorcount, &[&grid, &Value::Int(colour)]);
                assert_eq!(integer(colorcount(&tile, colour) as i32), expected);
            }
        }
    }

    #[test]
    fn of_equally_common_colours_the_first_in_pythons_set_counts() {
        for (rows, most, least) in [
            ([[5, 3], [3, 5]], 3, 3),
            ([[14, -1], [-1, 14]], 14, 14),
            ([[0, 0], [0, 9]], 0, 9),
            ([[7, 0], [2, -1]], 0, 0),
            ([[8, 0], [0, 8]], 8, 8),
            ([[9, 3], [1, 9]], 9, 3),
        ] {
            let grid = arc_dsl::Grid::from_rows(&rows).unwrap();
            let mut tile = Tile::default();
            tile.set(&grid).unwrap();
            assert_eq!(
                (mostcolor(&tile), leastcolor(&tile)),
                (Some(most), Some(least)),
                "{grid}"
            );
        }
    }

    #[test]
    fn recolouring_agrees_with_the_reference() {
        agree_on_cases(Primitive::Replace, |tile, arguments, to| {
            replace(tile, arguments[1].as_int()?, arguments[2].as_int()?, to).ok()
        });
        agree_on_cases(Primitive::Switch, |tile, arguments, to| {
            switch(tile, arguments[1].as_int()?, arguments[2].as_int()?, to).ok()
        });
        for grid in grids(22).iter().skip(100) {
            for (a, b) in [
                (-1, 14),
                (14, -1),
                (2, 2),
                (0, 1),
                (99, 3),
                (3, 99),
                (-7, -1),
            ] {
                let arguments = [grid, &Value::Int(a), &Value::Int(b)];
                let made = agree(Primitive::Replace, &arguments, |tile, to| {
                    replace(tile, a, b, to).ok()
                });
                assert_eq!(made, b < 15);
                let made = agree(Primitive::Switch, &arguments, |tile, to| {
                    switch(tile, a, b, to).ok()
                });
                assert_eq!(made, a.max(b) < 15 && a.min(b) >= -1);
            }
        }
    }

    #[test]
    fn comparing_agrees_with_the_reference() {
        let grids = grids(23);
        let mut made = 0;
        for (at, a) in grids.iter().enumerate() {
            for b in grids.iter().skip(at % 4).step_by(4).chain([a]) {
                let other = tile(b).unwrap();
                let fallback = Value::Int(14);
                let agreed = agree(Primitive::Cellwise, &[a, b, &fallback], |tile, to| {
                    cellwise(tile, &other, 14, to)
                        .is_ok_and(|made| made)
                        .then_some(())
                });
                made += usize::from(agreed);
                let cells = reference(Primitive::Cellwise, &[a, b, &fallback]);
                assert_eq!(agreed, cells.is_some());
                let first = tile(a).unwrap();
                assert_eq!(first == other, a == b);
            }
        }
        assert!(made > 500, "{made}");
    }

    #[test]
    fn single_cells_and_canvases_agree_with_the_reference() {
        for grid in grids(24) {
            let tile = tile(&grid).unwrap();
            for i in -1..=tile.height as i32 {
                for j in [-32, -1, 0, 1, 5, 31, 32] {
                    let loc = Loc::new(i, j);
                    let expected = reference(Primitive::Index, &[&grid, &Value::Loc(loc)]);
                    let found = index(&tile, loc).map_or(Value::Nothing, Value::Int);
                    assert_eq!(found, expected.unwrap_or(Value::Nothing));
                }
            }
        }
        for colour in [-2, -1, 0, 14, 15] {
            for (i, j) in [
                (0, 5),
                (5, 0),
                (-3, 2),
                (2, -3),
                (32, 32),
                (33, 1),
                (1, 33),
                (3, 4),
            ] {
                let dims = Loc::new(i, j);
                let mut to = crate::planes::testing::used();
                if canvas(colour, dims, &mut to).is_err() {
                    assert!(i > 32 || j > 32 || !(-1..15).contains(&colour));
                    continue;
                }
                let arguments = [&Value::Int(colour), &Value::Loc(dims)];
                let expected = reference(Primitive::Canvas, &arguments).unwrap();
                assert!(tile(&expected) == Some(to), "{colour} {dims:?}");
            }
        }
    }
}
