//! Counts how many locations a pattern shares with a set, at many places at once.

use super::sets::{require_range, room};
use super::shape::Columns;
use super::shape::Sideways;
use super::{COLUMNS, Misfit, Shape, Window};

/// The test of the number of locations that a pattern shares with a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// Equal to this.
    Equal(i64),
    /// More than this.
    More(i64),
    /// Fewer than this.
    Fewer(i64),
}

impl Test {
    /// The smallest and the largest number that passes, for a pattern with `all` locations.
    #[inline(always)]
    fn range(self, all: i64) -> (i64, i64) {
        let (least, most) = match self {
            Test::Equal(n) => (n, n),
            Test::More(n) => (n.saturating_add(1), all),
            Test::Fewer(n) => (0, n.saturating_sub(1)),
        };
        (least.max(0), most.min(all))
    }
}

/// The bits of a count: no shape has more locations.
const BITS: usize = 14;

/// The places at which the pattern, moved there, passes the test with the set.
#[inline(always)]
pub(crate) fn passing(
    places: Shape<'_>,
    pattern: Shape<'_>,
    set: Shape<'_>,
    test: Test,
    to: &mut Window,
) -> Result<(), Misfit> {
    if places.is_empty() {
        return to.place(0, 0, 0);
    }
    if !pattern.is_empty() {
        // The reference moves the pattern to each place, and fails if that exceeds the integers.
        let ends = |from: i32, by: i32| i64::from(from) + i64::from(by);
        let (height, width) = (places.height(), places.width);
        let (i, j) = (ends(places.i, pattern.i), ends(places.j, pattern.j));
        require_range(
            i,
            j,
            height + pattern.height() - 1,
            width + pattern.width - 1,
        )?;
    }
    let all = i64::from(pattern.count());
    let (least, most) = test.range(all);
    let rows = room(to, places.i, places.j, places.height(), places.width)?;
    if least > most {
        rows.fill(0);
        return Ok(());
    }
    if (least, most) == (0, all) {
        rows.copy_from_slice(places.rows);
        return Ok(());
    }
    let bits = (u64::BITS - (all as u64 + 1).leading_zeros()) as usize;
    for (r, row) in rows.iter_mut().enumerate() {
        let counts = counts(places, pattern, set, r as i32, bits.min(BITS));
        let counts = &counts[..bits.min(BITS)];
        *row = places.rows[r] & !below(counts, least as u64) & below(counts, most as u64 + 1);
    }
    Ok(())
}

/// The shift of a row of the set after which the bit of a place says whether the set has the location that this
/// column of the pattern has there.
#[inline(always)]
fn aligned(places: Shape<'_>, pattern: Shape<'_>, set: Shape<'_>, column: u32) -> Sideways {
    let from = i64::from(places.j) + i64::from(pattern.j) + i64::from(column);
    let far = i64::from(COLUMNS);
    Sideways::by((i64::from(set.j) - from).clamp(-far, far) as i32)
}

/// For each place of a row, the number of locations that the pattern shares with the set: word `k` has bit `k`
/// of the numbers.
#[inline(always)]
fn counts(
    places: Shape<'_>,
    pattern: Shape<'_>,
    set: Shape<'_>,
    r: i32,
    bits: usize,
) -> [u64; BITS] {
    let mut counts = [0; BITS];
    for (down, &cells) in pattern.rows.iter().enumerate() {
        let seen = set.row(places.i + r + pattern.i + down as i32);
        if seen == 0 {
            continue;
        }
        for column in Columns(cells) {
            let mut carry = aligned(places, pattern, set, column).of(seen);
            for word in &mut counts[..bits] {
                let both = *word & carry;
                *word ^= carry;
                carry = both;
            }
        }
    }
    counts
}

/// The places whose count is smaller than this number.
#[inline(always)]
fn below(counts: &[u64], number: u64) -> u64 {
    let (mut below, mut same) = (0, u64::MAX);
    for (k, &word) in counts.iter().enumerate().rev() {
        if number >> k & 1 == 1 {
            below |= same & !word;
            same &= word;
        } else {
            same &= !word;
        }
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planes::sets::testing::{laid, locs, pairs, patches, value};
    use arc_dsl::{Loc, MAX_INT};

    #[test]
    fn places_pass_as_they_do_one_by_one() {
        let (mut one, mut two, mut three, mut to) = <(Window, Window, Window, Window)>::default();
        let patterns = patches(8);
        let mut seen = [0; 3];
        for (n, (a, b)) in pairs(7).into_iter().enumerate().step_by(3) {
            let (places, set) = (laid(&a, &mut one).unwrap(), laid(&b, &mut two).unwrap());
            let near = locs(&[(0, 0), (0, 1), (1, 0), (-1, 2), (2, 2)]);
            let small = locs(&[(0, 0), (0, 1)]);
            for pattern in [&patterns[n % patterns.len()], &near, &small, &a] {
                let pattern = laid(pattern, &mut three).unwrap();
                let (all, many) = (i64::from(pattern.count()), i64::from(MAX_INT));
                let mut far = false;
                let met = |at: Loc| {
                    let cells = pattern.locations().map(|p| (p.i + at.i, p.j + at.j));
                    cells
                        .filter(|&(i, j)| {
                            far |= i.max(j) > MAX_INT || i.min(j) < -MAX_INT;
                            set.contains(Loc::new(i, j))
                        })
                        .count() as i64
                };
                let met: Vec<_> = places.locations().map(met).collect();
                for number in [0, 1, 2, all - 1, all, all / 2, -1, -many, many] {
                    for test in [Test::Equal(number), Test::More(number), Test::Fewer(number)] {
                        let made = passing(places, pattern, set, test, &mut to);
                        assert_eq!(made.is_err(), far);
                        if far {
                            seen[2] += 1;
                            continue;
                        }
                        let passes = |met: i64| match test {
                            Test::Equal(n) => met == n,
                            Test::More(n) => met > n,
                            Test::Fewer(n) => met < n,
                        };
                        let all = places.locations().zip(&met);
                        let expected = all.filter(|&(_, &met)| passes(met)).map(|(at, _)| at);
                        let expected: Vec<_> = expected.collect();
                        seen[usize::from(expected.is_empty())] += 1;
                        let found: Vec<_> = to.tighten().locations().collect();
                        assert_eq!(
                            found,
                            expected,
                            "{test:?} {} {}",
                            value(pattern),
                            value(set)
                        );
                    }
                }
            }
        }
        assert!(seen.iter().all(|&count| count > 500), "{seen:?}");
    }
}
