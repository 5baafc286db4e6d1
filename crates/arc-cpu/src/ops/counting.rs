//! Sets and counts of small integers, which have a bit each.

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

/// The integer that a list has most often, or least often. `None` if the list is empty, an integer has no bit, or
/// several integers are equally common.
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
    (!tied).then(|| integer(best))
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

    fn ints(all: &[i32]) -> Vec<Slot> {
        all.iter().map(|&n| Slot::of_int(n)).collect()
    }

    #[test]
    fn which_of_several_is_the_most_common_is_not_told() {
        let list = ints(&[3, -1, 3, -1, 7, -32, 31, 7]);
        assert_eq!(common(&list, true), None);
        assert_eq!(common(&list, false), None);
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
