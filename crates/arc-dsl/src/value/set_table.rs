//! The hash tables of CPython's sets: which value has which hash, and where an element is put. The order in which a set
//! is iterated is the order of its table's slots, so it is a function of how the set was built, whatever
//! `PYTHONHASHSEED`, and the same in CPython 3.8 to 3.15 on 64 bits.
//!
//! Sources: `Objects/setobject.c` (`set_add_entry`, `set_insert_clean`, `set_table_resize`, `set_merge_lock_held`,
//! `set_difference`, `frozenset_hash`), `Objects/tupleobject.c` (`tuple_hash`: the lanes of xxHash) and
//! `Python/pyhash.c` (integers modulo 2^61 - 1).

use crate::patch::{Cell, Loc};

/// The hash of `None` from CPython 3.12 on; before, it was its address.
pub(crate) const NONE: u64 = 0xfca8_6420;

/// The hash of an integer; that of -1 is -2, since -1 stands for an error in C.
#[inline]
pub(crate) const fn integer(n: i32) -> u64 {
    // No 32-bit integer reaches the modulus.
    let n = if n == -1 { -2 } else { n };
    n as i64 as u64
}

/// The hash of a tuple, given those of its elements.
#[inline]
pub(crate) fn tuple(elements: impl ExactSizeIterator<Item = u64>) -> u64 {
    const PRIME_1: u64 = 11_400_714_785_074_694_791;
    const PRIME_2: u64 = 14_029_467_366_897_019_727;
    const PRIME_5: u64 = 2_870_177_450_012_600_261;
    let length = elements.len() as u64;
    let mut hash = PRIME_5;
    for element in elements {
        hash = hash
            .wrapping_add(element.wrapping_mul(PRIME_2))
            .rotate_left(31)
            .wrapping_mul(PRIME_1);
    }
    hash = hash.wrapping_add(length ^ (PRIME_5 ^ 3_527_539));
    if hash == u64::MAX {
        1_546_275_796
    } else {
        hash
    }
}

/// The hash of a pair of integers.
#[inline]
pub(crate) fn loc(loc: Loc) -> u64 {
    tuple([integer(loc.i), integer(loc.j)].into_iter())
}

/// The hash of a cell.
#[inline]
pub(crate) fn cell(cell: Cell) -> u64 {
    tuple([integer(cell.colour), loc(cell.loc)].into_iter())
}

/// The hash of a frozen set, given those of its elements, in any order.
#[inline]
pub(crate) fn set(elements: impl ExactSizeIterator<Item = u64>) -> u64 {
    let length = elements.len() as u64;
    let shuffled = |hash: u64| ((hash ^ 89_869_747) ^ (hash << 16)).wrapping_mul(3_644_798_167);
    let mut hash = elements.fold(0, |all, element| all ^ shuffled(element));
    hash ^= (length + 1).wrapping_mul(1_927_868_237);
    hash ^= (hash >> 11) ^ (hash >> 25);
    hash = hash.wrapping_mul(69_069).wrapping_add(907_133_923);
    if hash == u64::MAX { 590_923_713 } else { hash }
}

/// A slot that never held an element.
const FREE: u32 = u32::MAX;
/// A slot whose element was removed.
const REMOVED: u32 = u32::MAX - 1;

/// The table of a set. Its elements are numbers below a bound, all different; their hashes are passed to each function,
/// indexed by these numbers.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// A power of two of them, at least 8.
    slots: Vec<u32>,
    /// How many slots are not free.
    filled: usize,
    /// How many elements there are.
    len: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            slots: vec![FREE; 8],
            filled: 0,
            len: 0,
        }
    }
}

/// The slots in which an element with a hash may be, one after the other: ten in a row, and then ten elsewhere.
#[inline]
fn probe(slots: usize, hash: u64, mut visit: impl FnMut(usize) -> bool) {
    const IN_A_ROW: usize = 9;
    let mask = slots - 1;
    let (mut rest, mut start) = (hash, hash as usize & mask);
    loop {
        let last = if start + IN_A_ROW <= mask {
            start + IN_A_ROW
        } else {
            start
        };
        for at in start..=last {
            if visit(at) {
                return;
            }
        }
        rest >>= 5;
        start = start.wrapping_mul(5).wrapping_add(1 + rest as usize) & mask;
    }
}

impl Table {
    /// The table of a set to which these elements were added one by one, as by `frozenset` of a generator or by a set
    /// display.
    pub(crate) fn of(elements: impl IntoIterator<Item = u32>, hashes: &[u64]) -> Self {
        let mut table = Self::default();
        for element in elements {
            table.add(element, hashes);
        }
        table
    }

    /// The elements in the order in which Python iterates over them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().copied().filter(|slot| *slot < REMOVED)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of its slots.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    fn mask(&self) -> usize {
        self.slots.len() - 1
    }

    /// Adds an element, unless it is there. No element of the table has been removed.
    #[inline]
    pub(crate) fn add(&mut self, element: u32, hashes: &[u64]) {
        debug_assert_eq!(self.filled, self.len);
        let mut place = 0;
        probe(self.slots.len(), hashes[element as usize], |at| {
            place = at;
            self.slots[at] == FREE || self.slots[at] == element
        });
        if self.slots[place] == element {
            return;
        }
        self.slots[place] = element;
        self.len += 1;
        self.filled += 1;
        if self.filled * 5 >= self.mask() * 3 {
            self.resize(self.grown(), hashes);
        }
    }

    /// The number of elements for which a table that is full makes room.
    fn grown(&self) -> usize {
        if self.len > 50_000 {
            self.len * 2
        } else {
            self.len * 4
        }
    }

    /// Puts an element that is not there into a table without removed ones and with room.
    #[inline]
    fn put(slots: &mut [u32], element: u32, hash: u64) {
        probe(slots.len(), hash, |at| {
            let free = slots[at] == FREE;
            if free {
                slots[at] = element;
            }
            free
        });
    }

    /// Moves the elements to a table with more than `least` slots.
    fn resize(&mut self, least: usize, hashes: &[u64]) {
        let size = (least + 1).next_power_of_two().max(8);
        if size == 8 && self.slots.len() == 8 && self.filled == self.len {
            return;
        }
        let mut slots = vec![FREE; size];
        for element in self.iter() {
            Self::put(&mut slots, element, hashes[element as usize]);
        }
        self.slots = slots;
        self.filled = self.len;
    }

    /// Adds all elements of another table, as `set.update` does with a set.
    pub(crate) fn merge(&mut self, other: &Self, hashes: &[u64]) {
        if other.len == 0 {
            return;
        }
        if (self.filled + other.len) * 5 >= self.mask() * 3 {
            self.resize((self.len + other.len) * 2, hashes);
        }
        if self.filled > 0 {
            for element in other.iter() {
                self.add(element, hashes);
            }
        } else if self.mask() == other.mask() && other.filled == other.len {
            self.slots.copy_from_slice(&other.slots);
        } else {
            for element in other.iter() {
                Self::put(&mut self.slots, element, hashes[element as usize]);
            }
        }
        if self.filled == 0 {
            (self.filled, self.len) = (other.len, other.len);
        }
    }

    /// The table of a copy: of `frozenset` of a set, of `copy`, and of the left operand of `|`.
    pub(crate) fn copied(&self, hashes: &[u64]) -> Self {
        let mut copy = Self::default();
        copy.merge(self, hashes);
        copy
    }

    /// The table of `self - other`, where `other` holds `count` elements, those that `contains` accepts.
    pub(crate) fn minus(
        &self,
        count: usize,
        contains: impl Fn(u32) -> bool,
        hashes: &[u64],
    ) -> Self {
        if self.len >> 2 <= count {
            return Self::of(self.iter().filter(|element| !contains(*element)), hashes);
        }
        let mut rest = self.copied(hashes);
        for slot in &mut rest.slots {
            if *slot < REMOVED && contains(*slot) {
                *slot = REMOVED;
                rest.len -= 1;
            }
        }
        if rest.filled - rest.len > rest.mask() / 4 {
            rest.resize(rest.grown(), hashes);
        }
        rest
    }

    /// The same table with other numbers for the elements.
    pub(crate) fn renumbered(mut self, number: impl Fn(u32) -> u32) -> Self {
        for slot in &mut self.slots {
            if *slot < REMOVED {
                *slot = number(*slot);
            }
        }
        self
    }
}
