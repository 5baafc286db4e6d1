//! Sets and counts of small integers, which have a bit each.

use arc_dsl::hash;

use crate::slot::Slot;

/// How many integers have a bit: -32 to 31.
const COUNT: usize = 64;

/// The bit of an integer; past the last one if it has none.
#[inline(always)]
fn place(slot: Slot) -> usize {
    slot.0.wrapping_add(COUNT as i64 / 2) as u64 as usize
}

/// The integer of a bit.
#[inline(always)]
fn integer(place: u32) -> Slot {
    Slot(i64::from(place) - COUNT as i64 / 2)
}

/// The integer that a list has most often, or least often; of several, the first in Python's set of them. `None` if the
/// list is empty or an integer has no bit.
#[inline(always)]
pub(super) fn common(list: &[Slot], most: bool) -> Option<Slot> {
    let mut counts = [0u32; COUNT];
    let mut seen = 0u64;
    for &slot in list {
        let place = place(slot);
        *counts.get_mut(place)? += 1;
        seen |= 1 << place;
    }
    let mut best = seen.trailing_zeros();
    if seen == 0 {
        return None;
    }
    // A rare integer scores higher if the least common one is wanted.
    let worth = |place: u32| {
        let count = counts[place as usize & (COUNT - 1)];
        if most { count } else { u32::MAX - count }
    };
    let mut left = seen & (seen - 1);
    let mut tied = false;
    while left != 0 {
        let place = left.trailing_zeros();
        left &= left - 1;
        tied = worth(place) == worth(best) || tied && worth(place) < worth(best);
        best = if worth(place) > worth(best) {
            place
        } else {
            best
        };
    }
    if tied {
        let is_best = |slot: Slot| counts[place(slot) & (COUNT - 1)] == counts[best as usize];
        return first_of_set(list, is_best);
    }
    Some(integer(best))
}

/// The first that is wanted in Python's set of these integers, which have a bit each.
#[cold]
#[inline(never)]
fn first_of_set(list: &[Slot], is_wanted: impl Fn(Slot) -> bool) -> Option<Slot> {
    let mut all = Vec::new();
    distinct(list, &mut all);
    let hashes: Vec<u64> = all.iter().map(|slot| hash::integer(slot.int())).collect();
    hash::in_order(&hashes)
        .map(|at| all[at])
        .find(|slot| is_wanted(*slot))
}

/// Pushes the integers that did not occur before; returns whether all have a bit.
#[inline(always)]
pub(super) fn distinct(list: &[Slot], stack: &mut Vec<Slot>) -> bool {
    let base = stack.len();
    let mut seen = 0u64;
    for &slot in list {
        let place = place(slot);
        if place >= COUNT {
            stack.truncate(base);
            return false;
        }
        if seen >> place & 1 == 0 {
            seen |= 1 << place;
            stack.push(slot);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::Value;

    fn ints(all: &[i32]) -> Vec<Slot> {
        all.iter().map(|&n| Slot::of_int(n)).collect()
    }

    #[test]
    fn of_several_the_first_of_the_set_is_the_most_common() {
        for list in [
            &[3, -1, 3, -1, 7, -32, 31, 7][..],
            &[8, 1, 0, 9],
            &[9, 1, 8, 0],
            &[1, 8, 16, 24, 0],
            &[-2, -1, -2, -1, 6],
            &[6, -1, -2, -1, -2],
            &[2, 2, 10, 10, 18],
        ] {
            for most in [true, false] {
                let values: Vec<Value> = list.iter().map(|n| Value::Int(*n)).collect();
                let found = Value::commonest(&values, most).and_then(|it| it.as_int());
                assert_eq!(
                    common(&ints(list), most),
                    found.map(Slot::of_int),
                    "{list:?}"
                );
            }
        }
        let list = ints(&[3, -1, 3, -1, 3, -32]);
        assert_eq!(common(&list, true), Some(Slot::of_int(3)));
        assert_eq!(common(&list, false), Some(Slot::of_int(-32)));
        assert_eq!(common(&ints(&[5]), false), Some(Slot::of_int(5)));
        assert_eq!(common(&[], true), None);
        assert_eq!(common(&ints(&[1, 32]), true), None);
        assert_eq!(common(&ints(&[-33, 1, 1]), true), None);
        assert_eq!(common(&[Slot::MISSING], true), None);
    }

    #[test]
    fn the_first_of_equal_ones_stays() {
        let mut stack = ints(&[9]);
        assert!(distinct(&ints(&[4, 0, 4, -1, 0, 31, -32]), &mut stack));
        assert_eq!(stack, ints(&[9, 4, 0, -1, 31, -32]));
        assert!(!distinct(&ints(&[4, 0, 100]), &mut stack));
        assert!(!distinct(&[Slot::MISSING], &mut stack));
        assert_eq!(stack.len(), 6);
    }
}
