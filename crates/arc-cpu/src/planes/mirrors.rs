//! Shapes mirrored within their bounding box, and scaled up.

use super::sets::{columns, require_range, room};
use super::shape::Columns;
use super::{COLUMNS, Misfit, ROWS, Shape, Window};

/// Mirrored top to bottom. An empty shape has no box: the reference fails, as with all mirrors.
#[inline(always)]
pub(crate) fn hmirror(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    require_location(a)?;
    let rows = room(to, a.i, a.j, a.height(), a.width)?;
    for (row, from) in rows.iter_mut().zip(a.rows.iter().rev()) {
        *row = *from;
    }
    Ok(())
}

/// Mirrored left to right.
#[inline(always)]
pub(crate) fn vmirror(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    require_location(a)?;
    let rows = room(to, a.i, a.j, a.height(), a.width)?;
    for (row, from) in rows.iter_mut().zip(a.rows) {
        *row = from.reverse_bits() >> (COLUMNS.wrapping_sub(a.width) & 63);
    }
    Ok(())
}

/// Mirrored along the diagonal through the upper left corner of the box.
#[inline(always)]
pub(crate) fn dmirror(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    transposed(a, |r| a.rows.get(r), to)?;
    Ok(())
}

/// Mirrored along the other diagonal; the upper left corner of the box stays.
#[inline(always)]
pub(crate) fn cmirror(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    let last = a.rows.len().wrapping_sub(1);
    transposed(a, |r| a.rows.get(last.wrapping_sub(r)), to)?.reverse();
    Ok(())
}

/// Transposes the rows that `row` returns, in blocks of eight by eight; most shapes fit one block.
#[inline(always)]
fn transposed<'r, 'w>(
    a: Shape<'r>,
    row: impl Fn(usize) -> Option<&'r u64>,
    to: &'w mut Window,
) -> Result<&'w mut [u64], Misfit> {
    require_location(a)?;
    let start = require_range(i64::from(a.i), i64::from(a.j), a.width, a.height())?;
    let rows = room(to, start.i, start.j, a.width, a.height())?;
    rows.fill(0);
    for (block, rows) in rows.chunks_mut(8).enumerate() {
        for first in (0..a.rows.len()).step_by(8) {
            let mut cells = 0;
            for r in 0..8 {
                let row = row(first + r).copied().unwrap_or(0);
                cells |= ((row >> ((8 * block) & 63)) & 255) << (8 * r);
            }
            let cells = transposed_block(cells);
            for (c, row) in rows.iter_mut().enumerate() {
                *row |= ((cells >> ((8 * c) & 63)) & 255) << (first & 63);
            }
        }
    }
    Ok(rows)
}

/// Moves bit `8 j + i` to bit `8 i + j`, by exchanging halves of ever smaller blocks.
#[inline(always)]
fn transposed_block(mut cells: u64) -> u64 {
    for (by, mask) in [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ] {
        let change = (cells ^ (cells >> by)) & mask;
        cells ^= change ^ (change << by);
    }
    cells
}

/// Each location as a square with sides of `factor`. An empty shape stays empty.
#[inline(always)]
pub(crate) fn upscale(a: Shape<'_>, factor: i32, to: &mut Window) -> Result<(), Misfit> {
    if factor <= 0 || a.is_empty() {
        return to.place(0, 0, 0);
    }
    let factor = factor as u32;
    // Larger factors do not fit; up to this one, nothing wraps.
    if factor > ROWS as u32 {
        return Err(Misfit::Patch);
    }
    let (height, width) = (a.height() * factor, a.width * factor);
    let start = require_range(i64::from(a.i), i64::from(a.j), height, width)?;
    let rows = room(to, start.i, start.j, height, width)?;
    let cell = columns(factor);
    for (rows, &from) in rows.chunks_exact_mut(factor as usize).zip(a.rows) {
        let mut row = 0;
        for column in Columns(from) {
            row |= cell << ((column * factor) & 63);
        }
        rows.fill(row);
    }
    Ok(())
}

/// Rejects the empty shape, for which the reference fails.
#[inline(always)]
pub(super) fn require_location(a: Shape<'_>) -> Result<(), Misfit> {
    if a.is_empty() {
        Err(Misfit::Patch)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sets::testing::{call, check_window, laid, locs, patches};
    use super::*;
    use arc_dsl::{MAX_INT, Primitive, Value};

    #[test]
    fn mirrors_are_those_of_the_reference() {
        type Mirror = fn(Shape<'_>, &mut Window) -> Result<(), Misfit>;
        let all: [(Primitive, Mirror); 4] = [
            (Primitive::Hmirror, |a, to| hmirror(a, to)),
            (Primitive::Vmirror, |a, to| vmirror(a, to)),
            (Primitive::Dmirror, |a, to| dmirror(a, to)),
            (Primitive::Cmirror, |a, to| cmirror(a, to)),
        ];
        let (mut one, mut to) = <(Window, Window)>::default();
        let mut fitted = 0;
        let mut sets = patches(1);
        sets.push(locs(&[(MAX_INT - 1, MAX_INT), (MAX_INT, MAX_INT)]));
        for set in sets {
            let shape = laid(&set, &mut one).unwrap();
            for (primitive, mirror) in all {
                let made = mirror(shape, &mut to);
                let expected = call(primitive, &[&set]);
                fitted += usize::from(check_window(&set, made, &mut to, &expected));
            }
        }
        assert!(fitted > 500, "{fitted}");
    }

    #[test]
    fn scaled_up_is_as_in_the_reference() {
        let (mut one, mut to) = <(Window, Window)>::default();
        let mut fitted = 0;
        for set in patches(2) {
            let shape = laid(&set, &mut one).unwrap();
            let object = call(Primitive::Recolor, &[&Value::Int(1), &set]).unwrap();
            for factor in [-1, 0, 1, 2, 3, 7, 64, 129, MAX_INT] {
                if factor > 3 && shape.count() > 9 {
                    continue;
                }
                let made = upscale(shape, factor, &mut to);
                let expected = call(Primitive::Upscale, &[&object, &Value::Int(factor)])
                    .and_then(|object| call(Primitive::Toindices, &[&object]));
                fitted += usize::from(check_window(&set, made, &mut to, &expected));
            }
        }
        assert!(fitted > 500, "{fitted}");
    }
}
