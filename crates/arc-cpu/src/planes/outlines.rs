//! Shapes of boxes, lines and single locations.

use super::mirrors::require_location;
use super::sets::{columns, require_range, room};
use super::{Misfit, Shape, Window};
use arc_dsl::Loc;

/// The outline of the bounding box; an empty shape stays empty.
#[inline(always)]
pub(crate) fn r#box(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    if a.is_empty() {
        return to.place(0, 0, 0);
    }
    outline(a, 0, to)
}

/// The outline one inside that of the box. The reference fails if there is no box.
#[inline(always)]
pub(crate) fn inbox(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    require_location(a)?;
    outline(a, -1, to)
}

/// The outline around the box. The reference fails if there is no box.
#[inline(always)]
pub(crate) fn outbox(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    require_location(a)?;
    outline(a, 1, to)
}

/// The outline of the box grown by `by` on each side. A box that shrinks past its middle turns inside out: its
/// edges change places.
#[inline(always)]
fn outline(a: Shape<'_>, by: i32, to: &mut Window) -> Result<(), Misfit> {
    let span = |from: i32, length: u32| {
        let (start, end) = (from - by, from + length as i32 - 1 + by);
        (i64::from(start.min(end)), start.abs_diff(end) + 1)
    };
    let ((i, height), (j, width)) = (span(a.i, a.height()), span(a.j, a.width));
    let start = require_range(i, j, height, width)?;
    frame(start, height, width, to)
}

/// The outline of a box of at least one row and one column.
#[inline(always)]
pub(crate) fn frame(start: Loc, height: u32, width: u32, to: &mut Window) -> Result<(), Misfit> {
    let rows = room(to, start.i, start.j, height, width)?;
    let full = columns(width);
    rows.fill(full & !(full >> 1) | 1);
    if let [first, .., last] = rows {
        *first = full;
        *last = full;
    } else {
        rows.fill(full);
    }
    Ok(())
}

/// The corners of the box. For an empty shape, the reference's result is not a patch.
#[inline(always)]
pub(crate) fn corners(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    require_location(a)?;
    let rows = room(to, a.i, a.j, a.height(), a.width)?;
    let full = columns(a.width);
    let both = full & !(full >> 1) | 1;
    rows.fill(0);
    if let Some(row) = rows.first_mut() {
        *row = both;
    }
    if let Some(row) = rows.last_mut() {
        *row = both;
    }
    Ok(())
}

/// All locations of the box.
#[inline(always)]
pub(crate) fn backdrop(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    room(to, a.i, a.j, a.height(), a.width)?.fill(columns(a.width));
    Ok(())
}

/// The locations of the box that are not in the set.
#[inline(always)]
pub(crate) fn delta(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    let rows = room(to, a.i, a.j, a.height(), a.width)?;
    let full = columns(a.width);
    for (row, taken) in rows.iter_mut().zip(a.rows) {
        *row = full & !taken;
    }
    Ok(())
}

/// The line between two locations, if it is straight or diagonal. Returns its number of columns, 0 if there is
/// no line. The window is no larger than the line.
#[inline(always)]
pub(crate) fn connect(a: Loc, b: Loc, to: &mut Window) -> Result<u32, Misfit> {
    let (down, right) = (b.i - a.i, b.j - a.j);
    if down != 0 && right != 0 && down.abs() != right.abs() {
        to.place(0, 0, 0)?;
        return Ok(0);
    }
    let (height, width) = (down.unsigned_abs() + 1, right.unsigned_abs() + 1);
    let rows = room(to, a.i.min(b.i), a.j.min(b.j), height, width)?;
    if down == 0 || right == 0 {
        rows.fill(columns(width));
        return Ok(width);
    }
    // Each row is one column further to the right, or one to the left.
    let falling = (down < 0) == (right < 0);
    let mut row = if falling { 1 } else { 1 << ((width - 1) & 63) };
    for to in rows {
        *to = row;
        row = if falling { row << 1 } else { row >> 1 };
    }
    Ok(width)
}

/// The line from a location on for 42 steps; returns its number of columns, as [`connect`] does.
#[inline(always)]
pub(crate) fn shoot(start: Loc, direction: Loc, to: &mut Window) -> Result<u32, Misfit> {
    let reach = |from: i32, step: i32| i64::from(from) + 42 * i64::from(step);
    let (i, j) = (reach(start.i, direction.i), reach(start.j, direction.j));
    connect(start, require_range(i, j, 1, 1)?, to)
}

/// How many rows and columns a frontier spans.
const FRONTIER: u32 = 30;

/// The column of a location.
#[inline(always)]
pub(crate) fn vfrontier(loc: Loc, to: &mut Window) -> Result<(), Misfit> {
    room(to, 0, loc.j, FRONTIER, 1)?.fill(1);
    Ok(())
}

/// The row of a location.
#[inline(always)]
pub(crate) fn hfrontier(loc: Loc, to: &mut Window) -> Result<(), Misfit> {
    room(to, loc.i, 0, 1, FRONTIER)?.fill(columns(FRONTIER));
    Ok(())
}

/// The four locations beside one.
#[inline(always)]
pub(crate) fn dneighbors(loc: Loc, to: &mut Window) -> Result<(), Misfit> {
    around(loc, [0b010, 0b101, 0b010], to)
}

/// The four locations diagonally beside one.
#[inline(always)]
pub(crate) fn ineighbors(loc: Loc, to: &mut Window) -> Result<(), Misfit> {
    around(loc, [0b101, 0b000, 0b101], to)
}

/// The eight locations around one.
#[inline(always)]
pub(crate) fn neighbors(loc: Loc, to: &mut Window) -> Result<(), Misfit> {
    around(loc, [0b111, 0b101, 0b111], to)
}

#[inline(always)]
fn around(loc: Loc, all: [u64; 3], to: &mut Window) -> Result<(), Misfit> {
    let start = require_range(i64::from(loc.i) - 1, i64::from(loc.j) - 1, 3, 3)?;
    room(to, start.i, start.j, 3, 3)?.copy_from_slice(&all);
    Ok(())
}

/// The middle of the box, rounded down and to the right; `None` if there is no box.
#[inline(always)]
pub(crate) fn centre(a: Shape<'_>) -> Option<Loc> {
    let middle = Loc::new(a.i + (a.height() / 2) as i32, a.j + (a.width / 2) as i32);
    (!a.is_empty()).then_some(middle)
}

/// The mean of the locations, rounded down; `None` if there are none.
#[inline(always)]
pub(crate) fn centre_of_mass(a: Shape<'_>) -> Option<Loc> {
    /// The columns whose number has bit 0 set, bit 1, and so on.
    const PLACES: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    let (mut count, mut rows, mut columns) = (0, 0, 0);
    for (r, row) in (0..).zip(a.rows) {
        let here = row.count_ones();
        count += here;
        rows += r * here;
        for (k, place) in PLACES.iter().enumerate() {
            columns += (row & place).count_ones() << k;
        }
    }
    let mean = |from: i32, sum: u32| Some(from + sum.checked_div(count)? as i32);
    Some(Loc::new(mean(a.i, rows)?, mean(a.j, columns)?))
}

#[cfg(test)]
mod tests {
    use super::super::sets::testing::{at, call, check_window, laid, locs, patches};
    use super::*;
    use arc_dsl::generate::{Expression, Generator};
    use arc_dsl::{MAX_INT, Primitive, Value};

    /// Checks that the window is as large as the line in it, and that the line has this many columns.
    fn check_width(width: u32, window: &Window) {
        let mut line = window.clone();
        let tight = line.tighten();
        assert_eq!((tight.width, tight.rows.len()), (width, window.height));
        assert!(width == 0 || (tight.i, tight.j) == (window.i, window.j));
    }

    #[test]
    fn boxes_are_those_of_the_reference() {
        type Outline = fn(Shape<'_>, &mut Window) -> Result<(), Misfit>;
        let all: [(Primitive, Outline); 6] = [
            (Primitive::Box, |a, to| r#box(a, to)),
            (Primitive::Inbox, |a, to| inbox(a, to)),
            (Primitive::Outbox, |a, to| outbox(a, to)),
            (Primitive::Corners, |a, to| corners(a, to)),
            (Primitive::Backdrop, |a, to| backdrop(a, to)),
            (Primitive::Delta, |a, to| delta(a, to)),
        ];
        let (mut one, mut to) = <(Window, Window)>::default();
        let mut fitted = 0;
        let mut sets = patches(1);
        // Boxes of all small sizes.
        for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
            sets.push(locs(&[(0, j), (i, 0)]));
        }
        for set in sets {
            let shape = laid(&set, &mut one).unwrap();
            for (primitive, function) in all {
                let made = function(shape, &mut to);
                let expected = call(primitive, &[&set]);
                fitted += usize::from(check_window(&set, made, &mut to, &expected));
            }
        }
        assert!(fitted > 1000, "{fitted}");
    }

    #[test]
    fn lines_are_those_of_the_reference() {
        type Outline = fn(Loc, Loc, &mut Window) -> Result<(), Misfit>;
        let mut to = Window::default();
        let all: [(Primitive, Outline); 2] = [
            (Primitive::Connect, |a, b, to| {
                connect(a, b, to).map(|width| check_width(width, to))
            }),
            (Primitive::Shoot, |a, b, to| {
                shoot(a, b, to).map(|width| check_width(width, to))
            }),
        ];
        for (primitive, function) in all {
            let mut generator = Generator::new(1);
            let mut calls: Vec<(Value, Value)> = vec![
                (at(0, 0), at(0, 63)),
                (at(0, 0), at(0, 64)),
                (at(0, 0), at(-127, 0)),
                (at(0, 0), at(128, 0)),
                (at(3, 3), at(66, -60)),
                (at(3, 3), at(66, 66)),
                (at(3, 3), at(67, -61)),
                (at(5, 5), at(2, 0)),
                (at(5, 5), at(3, 0)),
                (at(MAX_INT, 0), at(-1, 0)),
                (at(MAX_INT, 0), at(1, 0)),
                (at(-MAX_INT, 0), at(MAX_INT, MAX_INT)),
            ];
            for _ in 0..300 {
                if let [Expression::Value(a), Expression::Value(b)] =
                    &generator.arguments(primitive)[..]
                {
                    calls.push((a.clone(), b.clone()));
                }
            }
            let mut fitted = 0;
            for (a, b) in calls {
                let (&Value::Loc(from), &Value::Loc(way)) = (&a, &b) else {
                    continue;
                };
                let made = function(from, way, &mut to);
                let expected = call(primitive, &[&a, &b]);
                fitted += usize::from(check_window(&a, made, &mut to, &expected));
            }
            assert!(fitted > 200, "{primitive}: {fitted}");
        }
    }

    #[test]
    fn what_lies_about_a_location_is_that_of_the_reference() {
        type Outline = fn(Loc, &mut Window) -> Result<(), Misfit>;
        let all: [(Primitive, Outline); 5] = [
            (Primitive::Vfrontier, |a, to| vfrontier(a, to)),
            (Primitive::Hfrontier, |a, to| hfrontier(a, to)),
            (Primitive::Dneighbors, |a, to| dneighbors(a, to)),
            (Primitive::Ineighbors, |a, to| ineighbors(a, to)),
            (Primitive::Neighbors, |a, to| neighbors(a, to)),
        ];
        let mut to = Window::default();
        for (i, j) in [
            (0, 0),
            (3, -7),
            (-1, 40),
            (MAX_INT, 1),
            (2, -MAX_INT),
            (-MAX_INT, MAX_INT),
            (MAX_INT - 1, 1 - MAX_INT),
        ] {
            for (primitive, function) in all {
                let made = function(Loc::new(i, j), &mut to);
                let expected = call(primitive, &[&at(i, j)]);
                check_window(&at(i, j), made, &mut to, &expected);
            }
        }
    }

    #[test]
    fn middles_are_those_of_the_reference() {
        let mut one = Window::default();
        for set in patches(3) {
            let shape = laid(&set, &mut one).unwrap();
            let expected = call(Primitive::Center, &[&set]).ok();
            assert_eq!(centre(shape).map(Value::from), expected, "{set}");
            let expected = call(Primitive::Centerofmass, &[&set]).unwrap();
            let found = centre_of_mass(shape).map(Value::from);
            assert_eq!(found.unwrap_or(Value::tuple(vec![])), expected, "{set}");
        }
    }
}
