//! Shapes as sets: union, intersection, difference, comparison and order.

use std::cmp::Ordering;

use super::shape::Sideways;
use super::{COLUMNS, Misfit, ROWS, Shape, Window};
use arc_dsl::{Loc, MAX_INT};

/// The first `width` columns; there must be at least one.
#[inline(always)]
pub(crate) fn columns(width: u32) -> u64 {
    u64::MAX >> (COLUMNS.wrapping_sub(width) & 63)
}

/// Places the window and returns its rows, whose contents are undefined: the caller writes all of them.
#[inline(always)]
pub(super) fn room(
    to: &mut Window,
    i: i32,
    j: i32,
    height: u32,
    width: u32,
) -> Result<&mut [u64], Misfit> {
    if width > COLUMNS {
        return Err(Misfit::Patch);
    }
    let rows = to.rows.get_mut(..height as usize).ok_or(Misfit::Patch)?;
    to.i = i;
    to.j = j;
    to.height = height as usize;
    Ok(rows)
}

/// Rejects a box that exceeds the integers of the DSL, for which the reference fails.
#[inline(always)]
pub(super) fn require_range(i: i64, j: i64, height: u32, width: u32) -> Result<Loc, Misfit> {
    let most = i64::from(MAX_INT);
    let (bottom, right) = (i + i64::from(height) - 1, j + i64::from(width) - 1);
    if i.min(j) < -most || bottom.max(right) > most {
        return Err(Misfit::Patch);
    }
    Ok(Loc::new(i as i32, j as i32))
}

/// The rows that both shapes have: the index of the first of them among the rows of `a`, and the rows of both
/// from there on.
#[inline(always)]
fn together<'r>(a: Shape<'r>, b: Shape<'r>) -> (usize, &'r [u64], &'r [u64]) {
    let down = b.i - a.i;
    let first = down.max(0) as usize;
    let theirs = down.min(0).unsigned_abs() as usize;
    (
        first,
        a.rows.get(first..).unwrap_or_default(),
        b.rows.get(theirs..).unwrap_or_default(),
    )
}

/// The same locations.
#[inline(always)]
pub(crate) fn copy(a: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    room(to, a.i, a.j, a.height(), a.width)?.copy_from_slice(a.rows);
    Ok(())
}

/// The locations of either.
#[inline(always)]
pub(crate) fn union(a: Shape<'_>, b: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    if b.is_empty() {
        return copy(a, to);
    }
    if a.is_empty() {
        return copy(b, to);
    }
    let (i, j) = (a.i.min(b.i), a.j.min(b.j));
    let below = (a.i + a.height() as i32).max(b.i + b.height() as i32);
    let right = (a.j + a.width as i32).max(b.j + b.width as i32);
    let rows = room(to, i, j, (below - i) as u32, (right - j) as u32)?;
    rows.fill(0);
    for shape in [a, b] {
        let by = Sideways::by(shape.j - j);
        let at = (shape.i - i) as usize;
        for (row, from) in rows.iter_mut().skip(at).zip(shape.rows) {
            *row |= by.of(*from);
        }
    }
    Ok(())
}

/// The locations that are in both.
#[inline(always)]
pub(crate) fn intersection(a: Shape<'_>, b: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    let by = Sideways::by(b.j - a.j);
    let (first, ours, theirs) = together(a, b);
    let height = ours.len().min(theirs.len());
    let rows = room(to, a.i + first as i32, a.j, height as u32, a.width)?;
    for ((row, a), b) in rows.iter_mut().zip(ours).zip(theirs) {
        *row = a & by.of(*b);
    }
    Ok(())
}

/// The locations of `a` that are not in `b`.
#[inline(always)]
pub(crate) fn difference(a: Shape<'_>, b: Shape<'_>, to: &mut Window) -> Result<(), Misfit> {
    let by = Sideways::by(b.j - a.j);
    let (first, _, theirs) = together(a, b);
    let rows = room(to, a.i, a.j, a.height(), a.width)?;
    rows.copy_from_slice(a.rows);
    for (row, b) in rows.iter_mut().skip(first).zip(theirs) {
        *row &= !by.of(*b);
    }
    Ok(())
}

/// How many locations they have in common.
#[inline(always)]
pub(crate) fn common(a: Shape<'_>, b: Shape<'_>) -> u32 {
    let by = Sideways::by(b.j - a.j);
    let (_, ours, theirs) = together(a, b);
    let mut common = 0;
    for (a, b) in ours.iter().zip(theirs) {
        common += (a & by.of(*b)).count_ones();
    }
    common
}

/// The locations and one more.
#[inline(always)]
pub(crate) fn with(a: Shape<'_>, loc: Loc, to: &mut Window) -> Result<(), Misfit> {
    let one = Shape {
        i: loc.i,
        j: loc.j,
        width: 1,
        rows: &[1],
    };
    union(a, one, to)
}

/// The locations without this one.
#[inline(always)]
pub(crate) fn without(a: Shape<'_>, loc: Loc, to: &mut Window) -> Result<(), Misfit> {
    copy(a, to)?;
    let column = loc.j.wrapping_sub(a.j);
    if let Some(row) = to.rows[..a.rows.len().min(ROWS)].get_mut(loc.i.wrapping_sub(a.i) as usize) {
        *row &= !Sideways::by(column).of(1);
    }
    Ok(())
}

/// The locations that are on a tile of this size.
#[inline(always)]
pub(crate) fn clipped(
    a: Shape<'_>,
    height: u32,
    width: u32,
    to: &mut Window,
) -> Result<(), Misfit> {
    let columns = Sideways::by(a.j.wrapping_neg()).of((1 << (width & 63)) - 1);
    for row in clip(a, height, to)? {
        *row &= columns;
    }
    Ok(())
}

/// Copies the rows of the shape that are on a tile of this height.
#[inline(always)]
fn clip<'w>(a: Shape<'_>, height: u32, to: &'w mut Window) -> Result<&'w mut [u64], Misfit> {
    let above = a.i.min(0).unsigned_abs() as usize;
    let from = a.rows.get(above..).unwrap_or_default();
    let height = (height as usize).saturating_sub(a.i.max(0) as usize);
    let from = &from[..from.len().min(height)];
    let rows = room(to, a.i.max(0), a.j, from.len() as u32, a.width)?;
    rows.copy_from_slice(from);
    Ok(rows)
}

/// Compares two sets of locations: by their elements in ascending order, lexicographically; a prefix comes
/// first.
#[inline(always)]
pub(crate) fn order(a: Shape<'_>, b: Shape<'_>) -> Ordering {
    if a.is_empty() || b.is_empty() {
        return a.height().cmp(&b.height());
    }
    if a.i != b.i {
        return a.i.cmp(&b.i);
    }
    if a.j <= b.j {
        order_of_rows(a.rows, b.rows, (b.j - a.j) as u32)
    } else {
        order_of_rows(b.rows, a.rows, (a.j - b.j) as u32).reverse()
    }
}

/// Compares rows that start on one line, with `b` shifted to the right by `right` columns relative to `a`.
///
/// Where they differ first, the one with the location comes first, unless the other one ends before it.
#[inline(always)]
fn order_of_rows(a: &[u64], b: &[u64], right: u32) -> Ordering {
    for (r, (&mine, &theirs)) in a.iter().zip(b).enumerate() {
        let alone = match right {
            0 => 0,
            right => mine & columns(right.min(COLUMNS)),
        };
        if alone != 0 {
            return if theirs != 0 || r + 1 < b.len() {
                Ordering::Less
            } else {
                Ordering::Greater
            };
        }
        let mine = mine.checked_shr(right).unwrap_or(0);
        let differing = mine ^ theirs;
        if differing != 0 {
            let first = differing & differing.wrapping_neg();
            let (other, other_height, order) = if mine & first != 0 {
                (theirs, b.len(), Ordering::Less)
            } else {
                (mine, a.len(), Ordering::Greater)
            };
            return if other > first || r + 1 < other_height {
                order
            } else {
                order.reverse()
            };
        }
    }
    a.len().cmp(&b.len())
}

#[cfg(test)]
pub(crate) mod testing {
    use std::borrow::Cow;

    use super::*;
    use arc_dsl::generate::Generator;
    use arc_dsl::{EvalError, Interpreter, Primitive, Type, Value};

    /// The result of the reference.
    pub(in crate::planes) fn call(
        primitive: Primitive,
        arguments: &[&Value],
    ) -> Result<Value, EvalError> {
        Interpreter::default().call(Value::primitive(primitive), arguments)
    }

    /// The value of a location.
    pub(in crate::planes) fn at(i: i32, j: i32) -> Value {
        Loc::new(i, j).into()
    }

    /// The set of these locations.
    pub(in crate::planes) fn locs(all: &[(i32, i32)]) -> Value {
        Value::set(all.iter().map(|&(i, j)| at(i, j)))
    }

    /// The set of locations as a shape.
    pub(in crate::planes) fn laid<'w>(set: &Value, window: &'w mut Window) -> Option<Shape<'w>> {
        window.height = 0;
        for item in set.as_container()?.iter() {
            let Value::Loc(loc) = *item else { return None };
            window.insert(loc).ok()?;
        }
        Some(window.tighten())
    }

    /// The shape as a set of locations.
    pub(in crate::planes) fn value(shape: Shape<'_>) -> Value {
        Value::set(shape.locations().map(Value::from))
    }

    /// Random sets of locations, and edge cases.
    pub(in crate::planes) fn patches(seed: u64) -> Vec<Value> {
        let mut generator = Generator::new(seed);
        let mut all = vec![
            Value::empty_set(),
            locs(&[(3, 4)]),
            locs(&[(-3, 40)]),
            locs(&[(MAX_INT, -MAX_INT)]),
            locs(&[(0, MAX_INT), (1, MAX_INT - 2)]),
            locs(&[(2, 1), (2, 2)]),
            locs(&[(2, 1), (3, 1)]),
            locs(&[(0, -20), (0, 43), (127, 0)]),
            locs(&[(0, 0), (40, 0)]),
            locs(&[(-3, 31), (31, 31), (32, 32), (31, 32), (0, 0), (5, -1)]),
        ];
        for _ in 0..150 {
            let patch = generator.value(Type::Patch);
            let set = call(Primitive::Toindices, &[&patch]).unwrap();
            all.push(Value::set(
                set.as_container().unwrap().iter().map(Cow::into_owned),
            ));
        }
        all
    }

    /// Pairs of sets, many of them near to each other.
    pub(in crate::planes) fn pairs(seed: u64) -> Vec<(Value, Value)> {
        let mut generator = Generator::new(seed);
        let all = patches(seed);
        let mut pairs = Vec::new();
        for (n, a) in all.iter().enumerate() {
            for b in [&all[n], &all[(n * 7 + 3) % all.len()], &all[n / 2]] {
                pairs.push((a.clone(), b.clone()));
                for _ in 0..3 {
                    let way = generator.value(Type::IntegerTuple);
                    if let Ok(moved) = call(Primitive::Shift, &[b, &way]) {
                        pairs.push((a.clone(), moved));
                    }
                }
            }
        }
        pairs
    }

    /// Checks that `made` gives what the reference gives, or a misfit if that is too large or an error. Returns
    /// whether it fits.
    pub(in crate::planes) fn check_window(
        of: &Value,
        made: Result<(), Misfit>,
        window: &mut Window,
        expected: &Result<Value, EvalError>,
    ) -> bool {
        let mut other = Window::default();
        let large = match expected {
            Ok(value) => laid(value, &mut other).is_none(),
            Err(_) => true,
        };
        match made {
            Ok(()) => assert_eq!(Ok(value(window.tighten())), *expected, "{of}"),
            Err(misfit) => {
                assert_eq!(misfit, Misfit::Patch, "{of}");
                assert!(large, "{of} does not fit, though the result does");
            }
        }
        made.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{at, call, check_window, laid, locs, pairs, patches, value};
    use super::*;
    use arc_dsl::generate::Generator;
    use arc_dsl::{Primitive, Type, Value};

    #[test]
    fn sets_are_joined_and_cut_as_the_reference_does() {
        type Joined = fn(Shape<'_>, Shape<'_>, &mut Window) -> Result<(), Misfit>;
        let all: [(Primitive, Joined); 3] = [
            (Primitive::Combine, |a, b, to| union(a, b, to)),
            (Primitive::Intersection, |a, b, to| intersection(a, b, to)),
            (Primitive::Difference, |a, b, to| difference(a, b, to)),
        ];
        let (mut one, mut two, mut to) = <(Window, Window, Window)>::default();
        let mut fitted = 0;
        for (a, b) in pairs(1) {
            let shapes = (laid(&a, &mut one).unwrap(), laid(&b, &mut two).unwrap());
            for (primitive, function) in all {
                let expected = call(primitive, &[&a, &b]);
                let made = function(shapes.0, shapes.1, &mut to);
                fitted += usize::from(check_window(&a, made, &mut to, &expected));
            }
            let both = call(Primitive::Intersection, &[&a, &b]).unwrap();
            let count = both.as_container().unwrap().len();
            assert_eq!(common(shapes.0, shapes.1) as usize, count, "{a} {b}");
            assert_eq!(shapes.0 == shapes.1, a == b, "{a} {b}");
        }
        assert!(fitted > 3000, "{fitted}");
    }

    #[test]
    fn the_order_is_that_of_their_elements() {
        let (mut one, mut two) = <(Window, Window)>::default();
        let mut seen = [0; 3];
        let mut check = |a: &Value, b: &Value| {
            let (Some(x), Some(y)) = (laid(a, &mut one), laid(b, &mut two)) else {
                return;
            };
            let expected = x.locations().cmp(y.locations());
            seen[(expected as i8 + 1) as usize] += 1;
            assert_eq!(order(x, y), expected, "{a} {b}");
            assert_eq!(order(y, x), expected.reverse(), "{b} {a}");
        };
        for (a, b) in pairs(2) {
            check(&a, &b);
            // Sets with a common prefix, one of them a subset of the other.
            for primitive in [Primitive::Combine, Primitive::Intersection] {
                check(&a, &call(primitive, &[&a, &b]).unwrap());
            }
        }
        // All sets of up to six locations in two rows, at all distances of their boxes.
        let some = |bits: u32| {
            let cells = (0..6).filter(|at| bits >> at & 1 == 1);
            Value::set(cells.map(|n| at(n / 3, n % 3)))
        };
        for a in 0..64 {
            for b in 0..64 {
                check(&some(a), &some(b));
            }
        }
        for far in [40, 63, 64, 65, 200] {
            check(&locs(&[(0, 0), (0, 5)]), &locs(&[(0, far), (0, far + 3)]));
            check(&locs(&[(0, 0), (1, 5)]), &locs(&[(0, 0), (1, far)]));
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }

    #[test]
    fn one_location_is_added_or_taken_away() {
        let (mut one, mut to) = <(Window, Window)>::default();
        let mut generator = Generator::new(3);
        for a in patches(3) {
            let shape = laid(&a, &mut one).unwrap();
            let mut places = vec![Loc::new(MAX_INT, 3), Loc::new(-MAX_INT, -MAX_INT)];
            places.extend(shape.locations().take(3));
            places.extend(shape.locations().map(|l| Loc::new(l.i, l.j + 64)).take(1));
            for _ in 0..5 {
                let Value::Loc(loc) = generator.value(Type::IntegerTuple) else {
                    unreachable!("a tuple of two integers is a pair")
                };
                places.push(loc);
            }
            for loc in places {
                let made = with(shape, loc, &mut to);
                let expected = call(Primitive::Insert, &[&loc.into(), &a]);
                check_window(&a, made, &mut to, &expected);
                let made = without(shape, loc, &mut to);
                let expected = call(Primitive::Remove, &[&loc.into(), &a]);
                assert!(check_window(&a, made, &mut to, &expected));
            }
        }
    }

    #[test]
    fn what_is_clipped_lies_on_the_tile() {
        let (mut one, mut to) = <(Window, Window)>::default();
        for a in patches(4) {
            let shape = laid(&a, &mut one).unwrap();
            for (height, width) in [(32, 32), (0, 0), (5, 0), (5, 12), (31, 1)] {
                let (rows, columns) = (0..height as i32, 0..width as i32);
                let inside = |loc: &Loc| rows.contains(&loc.i) && columns.contains(&loc.j);
                clipped(shape, height, width, &mut to).unwrap();
                let expected = Value::set(shape.locations().filter(inside).map(Value::from));
                assert_eq!(value(to.tighten()), expected, "{a}");
            }
        }
    }
}
