//! Relations between two shapes and between a shape and a tile, and tests of a shape.

use super::outlines::centre;
use super::shape::Columns;
use super::shape::Sideways;
use super::{COLUMNS, Shape};
use arc_dsl::{Loc, MAX_INT};

/// The number of steps after which gravity ends.
const STEPS: i32 = 42;

/// Whether the shape is a square without holes; an empty shape is one.
#[inline(always)]
pub(crate) fn square(a: Shape<'_>) -> bool {
    a.height() == a.width && fills(a)
}

/// Whether the shape is one column without gaps.
#[inline(always)]
pub(crate) fn vline(a: Shape<'_>) -> bool {
    a.width == 1 && fills(a)
}

/// Whether the shape is one row without gaps.
#[inline(always)]
pub(crate) fn hline(a: Shape<'_>) -> bool {
    a.height() == 1 && fills(a)
}

#[inline(always)]
fn fills(a: Shape<'_>) -> bool {
    a.count() == a.height() * a.width
}

/// Whether the shape reaches an edge of a tile of this size. The reference fails if there is no location, and
/// usually if the tile has no rows.
#[inline(always)]
pub(crate) fn bordering(a: Shape<'_>, height: u32, width: u32) -> Option<bool> {
    let vertical = a.i == 0 || a.j == 0 || a.i + a.height() as i32 == height as i32;
    let right = a.j + a.width as i32 == width as i32;
    (!a.is_empty() && (vertical || height > 0)).then_some(vertical || right)
}

/// Whether the shapes share a row.
#[inline(always)]
pub(crate) fn hmatching(a: Shape<'_>, b: Shape<'_>) -> bool {
    let down = b.i - a.i;
    let ours = a.rows.iter().skip(down.max(0) as usize);
    let theirs = b.rows.iter().skip(down.min(0).unsigned_abs() as usize);
    let mut matching = false;
    for (a, b) in ours.zip(theirs) {
        matching |= *a != 0 && *b != 0;
    }
    matching
}

/// Whether the shapes share a column.
#[inline(always)]
pub(crate) fn vmatching(a: Shape<'_>, b: Shape<'_>) -> bool {
    let all = |shape: Shape<'_>| shape.rows.iter().fold(0, |all, row| all | row);
    all(a) & Sideways::by(b.j - a.j).of(all(b)) != 0
}

/// The direction from the middle of `a` to that of `b`, as signs; `None` if one is empty.
#[inline(always)]
pub(crate) fn position(a: Shape<'_>, b: Shape<'_>) -> Option<Loc> {
    let (a, b) = (centre(a)?, centre(b)?);
    let down = (b.i - a.i).signum();
    // In one row, the second counts as on the left unless it is on the right.
    let right = if a.j < b.j { 1 } else { -1 };
    let right = if down != 0 && a.j == b.j { 0 } else { right };
    Some(Loc::new(down, right))
}

/// The distance by which the second of two boxes is ahead along an axis, from edge to edge: negative if it is
/// behind, 0 if they share a line.
#[inline(always)]
fn gap(from: i32, length: u32, to: i32, to_length: u32) -> i64 {
    let (from, to) = (i64::from(from), i64::from(to));
    let ahead = to - (from + i64::from(length) - 1);
    let behind = to + i64::from(to_length) - 1 - from;
    ahead.max(0) + behind.min(0)
}

/// A box of locations.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    i: i32,
    j: i32,
    height: u32,
    width: u32,
}

impl Bounds {
    /// The box of a shape.
    #[inline(always)]
    fn of(a: Shape<'_>) -> Self {
        Self {
            i: a.i,
            j: a.j,
            height: a.height(),
            width: a.width,
        }
    }
}

/// The gaps between two boxes, rows first.
#[inline(always)]
fn gaps(a: Shape<'_>, b: Bounds) -> (i64, i64) {
    (
        gap(a.i, a.height(), b.i, b.height),
        gap(a.j, a.width, b.j, b.width),
    )
}

/// Whether the distance of two shapes may exceed the integers of the DSL, for which the reference fails.
#[inline(always)]
fn too_far((down, right): (i64, i64)) -> bool {
    // More than the extents of both boxes and the steps of gravity together.
    const EXTENTS: i64 = 1000;
    down.abs() + right.abs() > i64::from(MAX_INT) - EXTENTS
}

/// Whether the smallest distance is 1; `None` if one has no location, or if they are so far apart that the
/// reference fails.
#[inline(always)]
pub(crate) fn adjacent(a: Shape<'_>, b: Shape<'_>) -> Option<bool> {
    let gaps = gaps(a, Bounds::of(b));
    if a.is_empty() || b.is_empty() || too_far(gaps) {
        return None;
    }
    Some(gaps.0.abs() + gaps.1.abs() <= 1 && beside(a, b, a.i - b.i, a.j - b.j))
}

/// Whether the smallest distance is 1, with `a` at row `i` and column `j` relative to `b`.
#[inline(always)]
fn beside(a: Shape<'_>, b: Shape<'_>, i: i32, j: i32) -> bool {
    let (common, near) = meeting(a, b, i, j);
    !common && near
}

/// Whether the shapes share locations, and whether some are adjacent, with `a` at row `i` and column `j`
/// relative to `b`.
#[inline(always)]
fn meeting(a: Shape<'_>, b: Shape<'_>, i: i32, j: i32) -> (bool, bool) {
    let (here, left, right) = (Sideways::by(j), Sideways::by(j - 1), Sideways::by(j + 1));
    // The rows of `a` from the one above the first of `b` to the one below its last.
    let first = (-1 - i).max(0);
    let (mut common, mut near) = (0, 0);
    let of = |at: i32| b.rows.get(at as usize).copied().unwrap_or(0);
    let count = b.rows.len() as i32 + 1 - i - first;
    let rows = a.rows.iter().skip(first as usize);
    for (r, &row) in (first..).zip(rows.take(count.max(0) as usize)) {
        let at = i + r;
        let (own, above, below) = (of(at), of(at - 1), of(at + 1));
        let moved = here.of(row);
        common |= moved & own;
        near |= moved & (above | below) | (left.of(row) | right.of(row)) & own;
    }
    (common != 0, near != 0)
}

/// The smallest distance, along rows and columns; `None` if one has no location, or if they are so far apart
/// that the reference fails.
#[inline(always)]
pub(crate) fn manhattan(a: Shape<'_>, b: Shape<'_>) -> Option<i32> {
    let (down, right) = gaps(a, Bounds::of(b));
    if a.is_empty() || b.is_empty() || too_far((down, right)) {
        return None;
    }
    // Every path crosses the full width of a gap: with the boxes moved until they share a row and a column, the
    // locations are closer by exactly that. The boxes are then at most as far apart as their extents.
    let i = (i64::from(a.i) - i64::from(b.i) + down) as i32;
    let j = (i64::from(a.j) - i64::from(b.j) + right) as i32;
    Some((down.abs() + right.abs()) as i32 + steps_apart(a, b, i, j) as i32)
}

/// The smallest distance, with `a` at row `i` and column `j` relative to `b` and overlapping boxes.
#[inline(always)]
fn steps_apart(a: Shape<'_>, b: Shape<'_>, i: i32, j: i32) -> u32 {
    /// The most rows for growing one shape until it meets the other; larger shapes compare locations.
    const FEW: usize = 32;
    let (top, left) = (i.min(0), j.min(0));
    let height = (i + a.rows.len() as i32).max(b.rows.len() as i32) - top;
    let width = (j + a.width as i32).max(b.width as i32) - left;
    if height > FEW as i32 || width > COLUMNS as i32 {
        return steps_by_location(a, b, i, j);
    }
    // Both in the box around them, which shortest paths do not leave. Bits that grow past it reach nothing.
    let height = height as usize;
    let (mut grown, mut goal) = ([0; FEW], [0; FEW]);
    let by = Sideways::by(j - left);
    for (to, row) in grown.iter_mut().skip((i - top) as usize).zip(a.rows) {
        *to = by.of(*row);
    }
    let by = Sideways::by(-left);
    let mut common = 0;
    let first = top.unsigned_abs() as usize;
    for ((to, grown), row) in goal.iter_mut().zip(&grown).skip(first).zip(b.rows) {
        *to = by.of(*row);
        common |= *to & grown;
    }
    let mut steps = 0;
    while common == 0 && steps < (FEW as u32 + COLUMNS) {
        steps += 1;
        let mut above = 0;
        for r in 0..height.min(FEW) {
            let row = grown[r];
            let below = grown.get(r + 1).copied().unwrap_or(0);
            let next = row | row << 1 | row >> 1 | above | below;
            above = row;
            grown[r] = next;
            common |= next & goal[r];
        }
    }
    steps
}

/// The same for large boxes: the nearest column of each row to each location.
#[cold]
#[inline(never)]
fn steps_by_location(a: Shape<'_>, b: Shape<'_>, i: i32, j: i32) -> u32 {
    let mut nearest = u32::MAX;
    for (from, &row) in (i..).zip(a.rows) {
        for column in Columns(row) {
            let column = j + column as i32;
            for (at, &other) in (0..).zip(b.rows) {
                // Columns to the right move to bit 0, those to the left to the last bit.
                let after = Sideways::by(-column).of(other);
                let last = COLUMNS as i32 - 1;
                let before = Sideways::by(last - column).of(other);
                let across = after.trailing_zeros().min(before.leading_zeros());
                let beyond = match other {
                    0 => continue,
                    _ if column < 0 => other.trailing_zeros() + column.unsigned_abs(),
                    _ if column > last => other.leading_zeros() + (column - last).unsigned_abs(),
                    _ => across,
                };
                nearest = nearest.min(beyond + from.abs_diff(at));
            }
        }
    }
    nearest
}

/// The offset by which `a` moves towards `b` until it is adjacent, at most 42 steps; `None` if one has no
/// location, or if they are so far apart that the reference fails.
#[inline(always)]
pub(crate) fn gravitate(a: Shape<'_>, b: Shape<'_>) -> Option<Loc> {
    if b.is_empty() {
        return None;
    }
    let (i, j) = (a.i - b.i, a.j - b.j);
    fall(
        a,
        Bounds::of(b),
        vmatching(a, b),
        #[inline(always)]
        |down, right| beside(a, b, i + down, j + right),
    )
}

/// The offset by which `a` falls towards a box; `met` says whether it is adjacent once it has moved by an
/// offset.
#[inline(always)]
fn fall(a: Shape<'_>, b: Bounds, vertical: bool, met: impl Fn(i32, i32) -> bool) -> Option<Loc> {
    let from = centre(a)?;
    let to = Loc::new(b.i + (b.height / 2) as i32, b.j + (b.width / 2) as i32);
    let (down, right) = gaps(a, b);
    if too_far((down, right)) {
        return None;
    }
    let (ahead, across, way, length) = if vertical {
        (down, right, from.i < to.i, a.height() + b.height)
    } else {
        (right, down, from.j < to.j, a.width + b.width)
    };
    let way = if way { 1 } else { -1 };
    let mut steps = STEPS;
    if across.abs() <= 1 && ahead.abs() <= i64::from(STEPS) {
        let ahead = ahead as i32 * way;
        // The shapes can only be adjacent while the boxes are at most one apart.
        let last = ahead + length as i32;
        for step in (ahead - 1).max(0)..=last.min(STEPS - 1) {
            let moved = step * way;
            let there = if vertical {
                met(moved, 0)
            } else {
                met(0, moved)
            };
            if there {
                steps = step;
                break;
            }
        }
    }
    let moved = steps * way;
    Some(if vertical {
        Loc::new(moved, 0)
    } else {
        Loc::new(0, moved)
    })
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::super::Window;
    use super::super::sets::testing::{call, laid, locs, pairs, patches};
    use super::*;
    use arc_dsl::{Grid, Primitive, Value};

    /// Pairs of few locations, near each other, next to each other and one within the other, and those of the
    /// generator that the reference handles quickly.
    fn related(seed: u64) -> Vec<(Value, Value)> {
        let mut dice = Pcg64Mcg::seed_from_u64(seed);
        let mut all = Vec::new();
        for _ in 0..1500 {
            let mut one = |i: i32, j: i32| {
                let (height, width) = (dice.random_range(0..7), dice.random_range(0..7));
                let mut cells = vec![(i, j)];
                for _ in 0..dice.random_range(0..9) {
                    let within = (dice.random_range(0..=height), dice.random_range(0..=width));
                    cells.push((i + within.0, j + within.1));
                }
                let place = dice.random_range(1..12);
                let place = (
                    dice.random_range(-place..=place),
                    dice.random_range(-place..=place),
                );
                (locs(&cells), place)
            };
            let (a, (i, j)) = one(3, -2);
            all.push((a, one(i, j).0));
        }
        // Far from each other, and at the range of gravity.
        for far in [40, 41, 42, 43, 44, 45, 46, 90, 300, MAX_INT - 2000] {
            for (i, j) in [(far, 0), (-far, 1), (0, far), (1, -far), (-far, far)] {
                let a = locs(&[(0, 0), (0, 1), (2, 1)]);
                all.push((a, locs(&[(i, j), (i, j + 1), (i + 1, j)])));
            }
        }
        let size = |set: &Value| set.as_container().unwrap().len();
        all.extend(
            pairs(seed)
                .into_iter()
                .filter(|(a, b)| size(a) * size(b) < 900),
        );
        all
    }

    #[test]
    fn relations_are_those_of_the_reference() {
        let (mut one, mut two) = <(Window, Window)>::default();
        let mut answered = 0;
        for (x, y) in related(1) {
            let (a, b) = (laid(&x, &mut one).unwrap(), laid(&y, &mut two).unwrap());
            for (primitive, found) in [
                (Primitive::Hmatching, Some(hmatching(a, b).into())),
                (Primitive::Vmatching, Some(vmatching(a, b).into())),
                (Primitive::Position, position(a, b).map(Value::from)),
                (Primitive::Manhattan, manhattan(a, b).map(Value::from)),
                (Primitive::Adjacent, adjacent(a, b).map(Value::from)),
                (Primitive::Gravitate, gravitate(a, b).map(Value::from)),
            ] {
                let expected = call(primitive, &[&x, &y]);
                answered += usize::from(found.is_some());
                match found {
                    Some(found) => assert_eq!(Ok(found), expected, "{primitive} {x} {y}"),
                    // What is almost too far for the reference is too far here.
                    None => assert!(
                        expected.is_err() || too_far(gaps(a, Bounds::of(b))),
                        "{primitive} {x} {y}"
                    ),
                }
            }
        }
        assert!(answered > 12_000, "{answered}");
    }

    #[test]
    fn large_shapes_are_as_far_apart_as_small_ones() {
        let (mut one, mut two) = <(Window, Window)>::default();
        let mut dice = Pcg64Mcg::seed_from_u64(2);
        for _ in 0..300 {
            let mut set = || {
                let count = dice.random_range(1..9);
                let cells: Vec<(i32, i32)> = (0..count)
                    .map(|_| (dice.random_range(-50..70), dice.random_range(-20..40)))
                    .collect();
                locs(&cells)
            };
            let (x, y) = (set(), set());
            let (a, b) = (laid(&x, &mut one).unwrap(), laid(&y, &mut two).unwrap());
            let found = manhattan(a, b).map(Value::from);
            assert_eq!(found, call(Primitive::Manhattan, &[&x, &y]).ok(), "{x} {y}");
        }
    }

    #[test]
    fn what_a_shape_looks_like_is_as_in_the_reference() {
        let mut one = Window::default();
        let mut sets = patches(3);
        for (height, width) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
            let cells = (0..height).flat_map(|i| (0..width).map(move |j| (i + 2, j - 1)));
            let cells: Vec<_> = cells.collect();
            sets.push(locs(&cells));
            sets.push(locs(cells.get(1..).unwrap_or_default()));
        }
        for set in sets {
            let a = laid(&set, &mut one).unwrap();
            for (primitive, found) in [
                (Primitive::Square, square(a)),
                (Primitive::Vline, vline(a)),
                (Primitive::Hline, hline(a)),
            ] {
                let expected = call(primitive, &[&set]);
                assert_eq!(Ok(found.into()), expected, "{primitive} {set}");
            }
            for (height, width) in [(0, 0), (1, 1), (5, 5), (4, 0), (10, 12), (30, 31)] {
                let grid = Grid::filled(height, width, 0);
                let found = bordering(a, grid.height() as u32, grid.width() as u32);
                let expected = call(Primitive::Bordering, &[&set, &grid.into()]).ok();
                assert_eq!(found.map(Value::from), expected, "{set} {height} {width}");
            }
        }
    }
}
