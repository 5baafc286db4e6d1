//! Grids with patches painted on them, as planes.
//!
//! A patch is given as bits of the target grid: locations off the grid have been removed, and for `underpaint`
//! those that do not have the background's colour.

use super::tile::spread_code;
use super::transforms::moved;
use super::{Bits, Tile};

/// Paints in one colour: `fill`, `paint` of an object of one colour, and `cover` in the background's.
#[inline(always)]
pub(crate) fn fill(tile: &Tile, bits: &Bits, code: u32, to: &mut Tile) {
    let colour = spread_code(code);
    to.set_rows(
        tile.height,
        tile.width,
        #[inline(always)]
        |k, r| tile.planes[k][r] ^ ((tile.planes[k][r] ^ colour[k]) & bits[r]),
    );
}

/// Paints in one colour where the tile has the background's: `underfill`, and `underpaint` of an object of one
/// colour.
#[inline(always)]
pub(crate) fn underfill(tile: &Tile, bits: &Bits, code: u32, background: u32, to: &mut Tile) {
    let (colour, background) = (spread_code(code), spread_code(background));
    to.set_rows(
        tile.height,
        tile.width,
        #[inline(always)]
        |k, r| {
            let plane = tile.planes[k][r];
            plane ^ ((plane ^ colour[k]) & bits[r] & tile.row_of_code(r, background))
        },
    );
}

/// Paints cells of another tile where the bits are set; its cell `(0, 0)` is at `(i, j)` of the target. Each of
/// the bits lies on that tile.
#[inline(always)]
pub(crate) fn paint(tile: &Tile, bits: &Bits, source: &Tile, (i, j): (i32, i32), to: &mut Tile) {
    // Tiles at an offset of 32 rows or columns have no location in common.
    let (right, left) = (j.max(0) as u32 & 31, j.min(0).unsigned_abs() & 31);
    let mut spare = [0; 64];
    let sources = moved(&source.planes, i, &mut spare);
    to.set_rows(
        tile.height,
        tile.width,
        #[inline(always)]
        |k, r| {
            let source = sources[k][r] << right >> left;
            tile.planes[k][r] ^ ((tile.planes[k][r] ^ source) & bits[r])
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planes::NO_BITS;
    use crate::planes::code_of;
    use crate::planes::colours::mostcolor;
    use crate::planes::testing::{agree, agree_on_cases, grids, tile};
    use arc_dsl::{Cell, Loc, Object, Primitive, Value};

    /// The locations of a patch that are on the tile.
    fn bits(patch: &Value, tile: &Tile) -> Option<Bits> {
        let mut bits = NO_BITS;
        for item in patch.as_container()?.iter() {
            let loc = match item.as_ref() {
                Value::Loc(loc) => *loc,
                Value::Cell(cell) => cell.loc,
                _ => return None,
            };
            if (0..tile.height as i32).contains(&loc.i) && (0..tile.width as i32).contains(&loc.j) {
                bits[loc.i as usize] |= 1 << loc.j;
            }
        }
        Some(bits)
    }

    fn background(tile: &Tile) -> Option<u32> {
        code_of(mostcolor(tile)?).ok()
    }

    #[test]
    fn filling_agrees_with_the_reference() {
        agree_on_cases(Primitive::Fill, |tile, arguments, to| {
            let code = code_of(arguments[1].as_int()?).ok()?;
            let bits = bits(&arguments[2], tile)?;
            (tile.height > 0).then(|| fill(tile, &bits, code, to))
        });
        agree_on_cases(Primitive::Underfill, |tile, arguments, to| {
            let code = code_of(arguments[1].as_int()?).ok()?;
            let bits = bits(&arguments[2], tile)?;
            underfill(tile, &bits, code, background(tile)?, to);
            Some(())
        });
        agree_on_cases(Primitive::Cover, |tile, arguments, to| {
            let bits = bits(&arguments[1], tile)?;
            fill(tile, &bits, background(tile)?, to);
            Some(())
        });
    }

    /// The cells of one grid, moved.
    fn object(source: &Tile, (i, j): (i32, i32)) -> Value {
        let cells = source.grid();
        let cells = cells
            .enumerate()
            .filter(|(loc, _)| (loc.i * 7 + loc.j) % 3 != 0);
        let cells =
            cells.map(|(loc, colour)| Cell::new(i32::from(colour), Loc::new(loc.i + i, loc.j + j)));
        cells.collect::<Object>().into()
    }

    #[test]
    fn painting_agrees_with_the_reference() {
        let grids = grids(31);
        let mut painted = 0;
        for (at, target) in grids.iter().enumerate() {
            for source in grids.iter().skip(at % 9).step_by(9) {
                let source = tile(source).unwrap();
                for place in [
                    (0, 0),
                    (1, 2),
                    (-1, 3),
                    (4, -2),
                    (-5, -5),
                    (31, 0),
                    (0, -31),
                    (-31, 31),
                    (16, -16),
                    (-32, 1),
                    (1, 40),
                    (90, -90),
                ] {
                    let object = object(&source, place);
                    painted +=
                        usize::from(agree(Primitive::Paint, &[target, &object], |tile, to| {
                            let bits = bits(&object, tile)?;
                            paint(tile, &bits, &source, place, to);
                            (tile.height > 0).then_some(())
                        }));
                    agree(Primitive::Underpaint, &[target, &object], |tile, to| {
                        let bits = bits(&object, tile)?;
                        let bits = tile.of_code_in(background(tile)?, &bits);
                        paint(tile, &bits, &source, place, to);
                        Some(())
                    });
                }
            }
        }
        assert!(painted > 10_000, "{painted}");
    }
}
