//! [`Order`]: a reorder buffer. Answers arrive in any order and are delivered in the order of their items.

use std::collections::BTreeMap;
use std::ops::Range;

/// Holds answers back until all those before them have arrived.
#[derive(Debug)]
pub struct Order<A> {
    next: u64,
    waiting: BTreeMap<u64, (u64, A)>,
}

impl<A> Default for Order<A> {
    fn default() -> Self {
        Self::starting_at(0)
    }
}

impl<A> Order<A> {
    /// Expects the answers from item `next` on.
    pub fn starting_at(next: u64) -> Self {
        Self {
            next,
            waiting: BTreeMap::new(),
        }
    }

    /// Adds the answers of a range of items, which must not have arrived before.
    pub fn put(&mut self, range: Range<u64>, answers: A) {
        debug_assert!(range.start >= self.next, "{range:?} came before");
        let before = self.waiting.insert(range.start, (range.end, answers));
        debug_assert!(before.is_none(), "{range:?} came before");
    }

    /// The next answers in order, with the range of their items; `None` if they have not arrived.
    pub fn take(&mut self) -> Option<(Range<u64>, A)> {
        let entry = self.waiting.first_entry()?;
        if *entry.key() != self.next {
            return None;
        }
        let (start, (end, answers)) = entry.remove_entry();
        self.next = end;
        Some((start..end, answers))
    }

    /// The first item whose answer was not delivered yet.
    pub fn next(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_wait_for_those_before_them() {
        let mut order = Order::default();
        order.put(3..5, "b");
        assert_eq!(order.take(), None);
        order.put(0..3, "a");
        order.put(9..10, "d");
        assert_eq!(order.take(), Some((0..3, "a")));
        assert_eq!(order.take(), Some((3..5, "b")));
        assert_eq!((order.take(), order.next()), (None, 5));
        order.put(5..9, "c");
        assert_eq!(order.take(), Some((5..9, "c")));
        assert_eq!(order.take(), Some((9..10, "d")));
        assert_eq!(order.next(), 10);
    }
}
