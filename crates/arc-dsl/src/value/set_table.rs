//! The hash tables of CPython's sets: which value has which hash, and where an element is put. The order in which a set
//! is iterated is the order of its table's slots, so it is a function of how the set was built, whatever
//! `PYTHONHASHSEED`, and the same in CPython 3.8 to 3.15 on 64 bits.
//!
//! Sources: `Objects/setobject.c` (`set_add_entry`, `set_insert_clean`, `set_table_resize`, `set_merge_lock_held`,
//! `set_difference`, `frozenset_hash`), `Objects/tupleobject.c` (`tuple_hash`: the lanes of xxHash) and
//! `Python/pyhash.c` (integers modulo 2^61 - 1).

use smallvec::{SmallVec, smallvec};

use crate::patch::{Cell, Loc};

/// The hash of `None` from CPython 3.12 on; before, it was its address.
pub(crate) const NONE: u64 = 0xfca8_6420;

/// A hash for an object that Python hashes by its address, which is another one in each process. Where the order of a set
/// does not depend on it, the set has its order; where it does, one that CPython may give.
pub(crate) fn address(number: u64) -> u64 {
    number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The hash of an integer; that of -1 is -2, since -1 stands for an error in C.
#[inline]
#[must_use]
pub const fn integer(n: i32) -> u64 {
    // No 32-bit integer reaches the modulus.
    let n = if n == -1 { -2 } else { n };
    n as i64 as u64
}

const PRIME_1: u64 = 11_400_714_785_074_694_791;
const PRIME_2: u64 = 14_029_467_366_897_019_727;
const PRIME_5: u64 = 2_870_177_450_012_600_261;

/// What the next element of a tuple makes of the hash so far.
#[inline]
const fn with_element(hash: u64, element: u64) -> u64 {
    hash.wrapping_add(element.wrapping_mul(PRIME_2))
        .rotate_left(31)
        .wrapping_mul(PRIME_1)
}

#[inline]
const fn with_length(hash: u64, length: u64) -> u64 {
    match hash.wrapping_add(length ^ (PRIME_5 ^ 0x0035_D373)) {
        u64::MAX => 1_546_275_796,
        hash => hash,
    }
}

/// The hash of a tuple, given those of its elements.
#[inline]
#[must_use]
pub fn tuple(elements: impl ExactSizeIterator<Item = u64>) -> u64 {
    let length = elements.len() as u64;
    with_length(elements.fold(PRIME_5, with_element), length)
}

#[inline]
const fn pair(a: u64, b: u64) -> u64 {
    with_length(with_element(with_element(PRIME_5, a), b), 2)
}

/// The sides of the largest grid of ARC, and its locations.
const SIDE: usize = 30;
const AREA: usize = SIDE * SIDE;

/// The number of a location on a square grid with these sides.
#[inline]
pub(crate) fn place(loc: Loc, side: usize) -> Option<usize> {
    // A negative coordinate becomes a large one.
    let (i, j) = (loc.i as u32 as usize, loc.j as u32 as usize);
    (i < side && j < side).then(|| i * side + j)
}

/// The hash of a pair of integers.
#[inline]
#[must_use]
pub fn loc(loc: Loc) -> u64 {
    static KNOWN: [u64; AREA] = {
        let (mut all, mut at) = ([0; AREA], 0);
        while at < AREA {
            all[at] = pair((at / SIDE) as u64, (at % SIDE) as u64);
            at += 1;
        }
        all
    };
    match place(loc, SIDE) {
        Some(place) => KNOWN[place],
        None => pair(integer(loc.i), integer(loc.j)),
    }
}

/// The hash of a cell.
#[inline]
#[must_use]
pub fn cell(cell: Cell) -> u64 {
    pair(integer(cell.colour), loc(cell.loc))
}

/// The hash of a frozen set, given those of its elements, in any order.
#[inline]
#[must_use]
pub fn set(elements: impl Iterator<Item = u64>) -> u64 {
    let shuffled = |hash: u64| ((hash ^ 0x055B_4DB3) ^ (hash << 16)).wrapping_mul(3_644_798_167);
    let add = |(hash, length), element| (hash ^ shuffled(element), length + 1);
    let (mut hash, length) = elements.fold((0, 0_u64), add);
    hash ^= (length + 1).wrapping_mul(1_927_868_237);
    hash ^= (hash >> 11) ^ (hash >> 25);
    hash = hash.wrapping_mul(69_069).wrapping_add(907_133_923);
    if hash == u64::MAX { 590_923_713 } else { hash }
}

/// The hashes of the elements of a table, by their numbers.
pub(crate) trait Hashes {
    fn of(&self, element: u32) -> u64;
}

impl<T: AsRef<[u64]> + ?Sized> Hashes for T {
    #[inline]
    fn of(&self, element: u32) -> u64 {
        self.as_ref()[element as usize]
    }
}

/// A slot that never held an element.
const FREE: u32 = u32::MAX;
/// A slot whose element was removed.
const REMOVED: u32 = u32::MAX - 1;

/// Tables of at most this many slots need no allocation.
const INLINE: usize = 32;

/// The table of a set. Its elements are numbers below a bound, all different; their hashes are passed to each function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// A power of two of them, at least 8.
    slots: SmallVec<[u32; INLINE]>,
    /// How many slots are not free.
    filled: usize,
    /// How many elements there are.
    len: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            slots: smallvec![FREE; 8],
            filled: 0,
            len: 0,
        }
    }
}

/// How many slots behind the first are looked at, if the table does not end there.
const IN_A_ROW: usize = 9;

/// The slot that `is_it` accepts of those in which an element with a hash may be: ten in a row, and then ten elsewhere.
#[inline]
fn probe(slots: &[u32], hash: u64, is_it: impl Fn(u32) -> bool) -> usize {
    let mask = slots.len() - 1;
    let (mut rest, mut start) = (hash, hash as usize & mask);
    loop {
        // Most often it is the first.
        if is_it(slots[start]) {
            return start;
        }
        let behind = start + 1..start + 1 + IN_A_ROW;
        let found = slots
            .get(behind)
            .and_then(|behind| behind.iter().position(|slot| is_it(*slot)));
        if let Some(found) = found {
            return start + 1 + found;
        }
        rest >>= 5;
        start = start.wrapping_mul(5).wrapping_add(1 + rest as usize) & mask;
    }
}

/// The slots of the table of so many elements that were added one by one, or of the copy of such a set.
fn slots_of(count: usize, is_copied: bool) -> usize {
    if is_copied {
        return if count * 5 < 7 * 3 {
            8
        } else {
            (2 * count + 1).next_power_of_two()
        };
    }
    let mut slots = 8_usize;
    loop {
        let full = ((slots - 1) * 3).div_ceil(5);
        if count < full {
            return slots;
        }
        slots = (full * if full > 50_000 { 2 } else { 4 } + 1).next_power_of_two();
    }
}

/// Another place of an element than that of its hash.
struct Elsewhere {
    element: u32,
    slot: usize,
    /// The rest of its hash.
    rest: u64,
    /// Whether its next place is counted.
    is_counted: bool,
}

/// The runs of filled slots of a table.
struct Runs {
    /// How many elements may be put in each slot.
    counts: Vec<u8>,
    /// How far before each slot its run begins; the most stands for as far or further.
    behind: Vec<u8>,
    /// A bit for each slot whose elements may find all those taken that they look at.
    leaves: Vec<u64>,
    elsewhere: Vec<Elsewhere>,
}

/// The bit of a slot.
#[inline]
fn bit(bits: &[u64], slot: usize) -> bool {
    bits[slot / 64] >> (slot % 64) & 1 != 0
}

impl Runs {
    /// Counts an element in a slot; nothing if there are too many.
    #[inline]
    fn add(&mut self, slot: usize) -> Option<()> {
        self.counts[slot] = self.counts[slot].checked_add(1)?;
        Some(())
    }

    /// Counts an element at the place behind this one, too.
    fn add_next(&mut self, element: u32, slot: usize, rest: u64) -> Option<()> {
        let rest = rest >> 5;
        let slot = slot.wrapping_mul(5).wrapping_add(1 + rest as usize) & (self.counts.len() - 1);
        self.elsewhere.push(Elsewhere {
            element,
            slot,
            rest,
            is_counted: false,
        });
        self.add(slot)
    }

    /// Finds where the runs begin, and whose elements may leave them.
    fn find(&mut self) {
        let (mut start, mut end) = (0, 0);
        for slot in 0..self.counts.len() {
            if slot >= end {
                self.end(start, end);
                (start, end) = (slot, slot);
            }
            self.behind[slot] = (slot - start).min(u8::MAX.into()) as u8;
            end += usize::from(self.counts[slot]);
        }
        self.end(start, end);
    }

    fn end(&mut self, start: usize, end: usize) {
        let last = self.counts.len() - 1;
        if end - start <= 1 + IN_A_ROW && end + IN_A_ROW <= last {
            return;
        }
        for slot in start..end.min(last + 1) {
            let reach = if slot + IN_A_ROW <= last { IN_A_ROW } else { 0 };
            let leaves = self.counts[slot] > 0 && end - slot > 1 + reach;
            self.leaves[slot / 64] |= u64::from(leaves) << (slot % 64);
        }
    }

    /// Where the run of a slot begins.
    #[inline]
    fn start(&self, mut slot: usize) -> u32 {
        while self.behind[slot] == u8::MAX {
            slot -= usize::from(u8::MAX);
        }
        slot as u32 - u32::from(self.behind[slot])
    }
}

/// The indices of elements with these hashes, all different, in the order of a set to which they were added one by one.
pub fn in_order(hashes: &[u64]) -> impl Iterator<Item = usize> {
    let table = Table::of(0..hashes.len() as u32, hashes);
    let slots = table.slots.into_iter().filter(|slot| *slot < REMOVED);
    slots.map(|element| element as usize)
}

/// What is known of the order of a set to which elements with these hashes, all different, were added one by one, in
/// whatever order, or of the copy of such a set: for each of them the first and the last slot at which the run of slots
/// may begin in which it lies. One element is before another if its last such slot is before the other's first.
///
/// This is linear probing: each run of slots with as many elements as slots is filled by these, whichever comes first. An
/// element that may find the slots behind its first one taken is counted at its next place too, so that no run is shorter
/// than it can be.
#[must_use]
pub fn runs(hashes: &[u64], is_copied: bool) -> Vec<(u32, u32)> {
    known_runs(hashes, is_copied).unwrap_or_else(|| vec![(0, u32::MAX); hashes.len()])
}

fn known_runs(hashes: &[u64], is_copied: bool) -> Option<Vec<(u32, u32)>> {
    let slots = slots_of(hashes.len(), is_copied);
    let first = |hash: &u64| *hash as usize & (slots - 1);
    let mut runs = Runs {
        counts: vec![0; slots],
        behind: vec![0; slots],
        leaves: vec![0; slots.div_ceil(64)],
        elsewhere: Vec::new(),
    };
    for hash in hashes {
        runs.add(first(hash))?;
    }
    let mut counted = runs.leaves.clone();
    loop {
        runs.find();
        let known = runs.elsewhere.len();
        if runs.leaves != counted {
            for (element, hash) in (0..).zip(hashes) {
                let slot = first(hash);
                if bit(&runs.leaves, slot) && !bit(&counted, slot) {
                    runs.add_next(element, slot, *hash)?;
                }
            }
            counted.clone_from(&runs.leaves);
        }
        for at in 0..known {
            let other = &mut runs.elsewhere[at];
            if !other.is_counted && bit(&runs.leaves, other.slot) {
                other.is_counted = true;
                let (element, slot, rest) = (other.element, other.slot, other.rest);
                runs.add_next(element, slot, rest)?;
            }
        }
        if runs.elsewhere.len() == known {
            break;
        }
        if runs.elsewhere.len() > hashes.len() {
            return None;
        }
    }
    let starts = hashes.iter().map(|hash| runs.start(first(hash)));
    let mut all: Vec<(u32, u32)> = starts.map(|start| (start, start)).collect();
    for other in &runs.elsewhere {
        let start = runs.start(other.slot);
        let run = &mut all[other.element as usize];
        *run = (run.0.min(start), run.1.max(start));
    }
    Some(all)
}

/// Whether these are those of elements of which the order is known.
pub(crate) fn are_apart(runs: &[(u32, u32)]) -> bool {
    let mut sorted = runs.to_vec();
    sorted.sort_unstable();
    sorted.is_sorted_by(|a, b| a.1 < b.0)
}

impl Table {
    /// The table of a set to which these elements were added one by one, as by `frozenset` of a generator or by a set
    /// display.
    pub(crate) fn of(
        elements: impl IntoIterator<Item = u32>,
        hashes: &(impl Hashes + ?Sized),
    ) -> Self {
        let mut table = Self::default();
        for element in elements {
            table.add(element, hashes);
        }
        table
    }

    /// The table of all elements, added one by one in whatever order or copied, if there are few and each finds its first
    /// slot free.
    pub(crate) fn of_apart(hashes: &[u64], is_copied: bool) -> Option<Self> {
        if hashes.len() > INLINE / 2 {
            return None;
        }
        let mut slots = smallvec![FREE; slots_of(hashes.len(), is_copied)];
        let mask = slots.len() - 1;
        for (element, hash) in (0..).zip(hashes) {
            let slot: &mut u32 = &mut slots[*hash as usize & mask];
            if *slot != FREE {
                return None;
            }
            *slot = element;
        }
        Some(Self {
            slots,
            filled: hashes.len(),
            len: hashes.len(),
        })
    }

    /// The elements in the order in which Python iterates over them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().copied().filter(|slot| *slot < REMOVED)
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.slots)
    }

    fn mask(&self) -> usize {
        self.slots.len() - 1
    }

    /// Adds an element, unless it is there. No element of the table has been removed.
    #[inline]
    pub(crate) fn add(&mut self, element: u32, hashes: &(impl Hashes + ?Sized)) {
        debug_assert_eq!(self.filled, self.len);
        let slots = self.slots.as_mut_slice();
        let place = probe(slots, hashes.of(element), |slot| {
            slot == FREE || slot == element
        });
        if slots[place] == element {
            return;
        }
        slots[place] = element;
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
        let place = probe(slots, hash, |slot| slot == FREE);
        slots[place] = element;
    }

    /// Moves the elements to a table with more than `least` slots.
    fn resize(&mut self, least: usize, hashes: &(impl Hashes + ?Sized)) {
        let size = (least + 1).next_power_of_two().max(8);
        if size == 8 && self.slots.len() == 8 && self.filled == self.len {
            return;
        }
        let mut slots = smallvec![FREE; size];
        for element in self.iter() {
            Self::put(&mut slots, element, hashes.of(element));
        }
        self.slots = slots;
        self.filled = self.len;
    }

    /// Adds all elements of another table, as `set.update` does with a set.
    pub(crate) fn merge(&mut self, other: &Self, hashes: &(impl Hashes + ?Sized)) {
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
                Self::put(&mut self.slots, element, hashes.of(element));
            }
        }
        if self.filled == 0 {
            (self.filled, self.len) = (other.len, other.len);
        }
    }

    /// The table of a copy: of `frozenset` of a set, of `copy`, and of the left operand of `|`.
    pub(crate) fn copied(&self, hashes: &(impl Hashes + ?Sized)) -> Self {
        let mut copy = Self::default();
        copy.merge(self, hashes);
        copy
    }

    /// The table of `self - other`, where `other` holds `count` elements, those that `contains` accepts.
    pub(crate) fn minus(
        &self,
        count: usize,
        contains: impl Fn(u32) -> bool,
        hashes: &(impl Hashes + ?Sized),
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Value;
    use crate::value::literal::tests::read;
    use crate::value::sets::order::Element;

    /// The lines of a section of the vectors of sets, which `xtask/python/sets.py` writes and describes: what CPython was
    /// asked, and what it answered.
    pub(crate) fn vectors(section: &str) -> Vec<(&'static str, &'static str)> {
        let text = include_str!("../../tests/vectors/sets.txt");
        let start = format!("[{section}]");
        let lines = text.lines().skip_while(|line| *line != start).skip(1);
        let lines = lines.take_while(|line| !line.starts_with('['));
        lines.map(|line| line.rsplit_once('=').unwrap()).collect()
    }

    /// The digest of a text in the vectors.
    pub(crate) fn digest(text: &str) -> String {
        let start = 0xcbf2_9ce4_8422_2325_u64;
        let hash = text.bytes().fold(start, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{:08x}", hash as u32)
    }

    #[test]
    fn values_have_the_hashes_of_cpython() {
        let all = vectors("hash");
        assert!(all.len() >= 300);
        for (literal, hash) in all {
            let value = read(literal);
            let found = Value::hashes(&[value])[0];
            assert_eq!(found as i64, hash.parse::<i64>().unwrap(), "{literal}");
        }
    }

    proptest::proptest! {
        /// Whatever the order of adding, elements of different runs are in the order of these.
        #[test]
        fn runs_are_in_the_order_of_every_table(
            mut hashes in proptest::collection::hash_set(0u64..1 << 12, 0..300),
            orders in proptest::collection::vec(proptest::prelude::any::<u64>(), 4),
            is_copied in proptest::prelude::any::<bool>(),
        ) {
            let hashes: Vec<u64> = hashes.drain().collect();
            for order in orders {
                let mut added: Vec<u32> = (0..hashes.len() as u32).collect();
                added.sort_by_key(|at| (u64::from(*at) + 1).wrapping_mul(order | 1));
                let mut table = Table::of(added, &hashes);
                if is_copied {
                    table = table.copied(&hashes);
                }
                assert_eq!(table.slots.len(), slots_of(hashes.len(), is_copied));
                let runs = runs(&hashes, is_copied);
                let mut last = 0;
                for element in table.iter() {
                    let run = runs[element as usize];
                    assert!(run.1 >= last);
                    last = last.max(run.0);
                }
            }
        }
    }

    #[test]
    fn tables_have_the_order_of_cpython_however_they_are_made() {
        let all = vectors("table");
        assert!(all.len() >= 500);
        for (steps, digests) in all {
            let steps: Vec<(&str, Vec<u64>)> = steps
                .split("; ")
                .map(|step| {
                    let (operation, operands) = step.split_once(' ').unwrap();
                    let operands = operands.split(' ').map(|it| it.parse().unwrap());
                    (operation, operands.collect())
                })
                .collect();
            let added = |of: &[u64]| -> Vec<u64> {
                (0..of[2]).map(|k| (of[0] + k * of[1]) % of[3]).collect()
            };
            let mut hashes: Vec<u64> = steps
                .iter()
                .filter(|(operation, _)| *operation == "a")
                .flat_map(|(_, operands)| added(operands))
                .collect();
            hashes.sort_unstable();
            hashes.dedup();
            let number = |hash: &u64| hashes.binary_search(hash).unwrap() as u32;
            let mut tables: Vec<Table> = Vec::new();
            let mut found = Vec::new();
            for (operation, operands) in &steps {
                let at = |operand: usize| &tables[operands[operand] as usize];
                let contains = |operand, element| at(operand).iter().any(|it| it == element);
                let table = match *operation {
                    "a" => Table::of(added(operands).iter().map(number), &hashes),
                    "c" => at(0).copied(&hashes),
                    // Of a set and itself both are copies.
                    "u" | "i" if operands[0] == operands[1] => at(0).copied(&hashes),
                    "u" => {
                        let mut table = at(0).copied(&hashes);
                        table.merge(at(1), &hashes);
                        table
                    }
                    "d" => {
                        let count = at(1).iter().count();
                        at(0).minus(count, |it| contains(1, it), &hashes)
                    }
                    _ => {
                        // An intersection goes over the smaller set.
                        let lengths = [0, 1].map(|operand| at(operand).iter().count());
                        let second = *operation == "i" && lengths[1] <= lengths[0];
                        let (from, other) = if second { (1, 0) } else { (0, 1) };
                        Table::of(at(from).iter().filter(|it| contains(other, *it)), &hashes)
                    }
                };
                let elements: Vec<String> = table
                    .iter()
                    .map(|it| hashes[it as usize].to_string())
                    .collect();
                found.push(digest(&elements.join(" ")));
                tables.push(table);
            }
            assert_eq!(found.join(" "), digests, "{steps:?}");
        }
    }
}
