//! The sort of `list.sort` and `sorted` of CPython 3.11 and 3.12. Keys that are sets have no total order, so what comes
//! out depends on which pairs are compared.
//!
//! Sources: `Objects/listsort.txt` and `Objects/listobject.c` (runs, insertion by bisection, galloping); the order in which
//! runs are merged is powersort (Munro & Wild, "Nearly-optimal mergesorts", ESA 2018).

/// The indices of this many elements as Python's `sorted` puts them, where `less` compares two of them. Its first error
/// stops it.
pub fn sorted_places<E>(
    count: usize,
    mut less: impl FnMut(usize, usize) -> Result<bool, E>,
) -> Result<Vec<u32>, E> {
    let mut places: Vec<u32> = (0..count as u32).collect();
    let mut sort = Sort {
        less: |a: u32, b: u32| less(a as usize, b as usize),
        enough: ENOUGH,
    };
    let shortest = shortest_run(count);
    let mut runs: Vec<Run> = Vec::new();
    let mut start = 0;
    while start < count {
        let length = sort.next_run(&mut places[start..], shortest)?;
        if let Some(last) = runs.last() {
            let power = power(last.start, last.length, length, count);
            while let [.., before, _] = &*runs
                && before.power > power
            {
                sort.merge_at(runs.len() - 2, &mut runs, &mut places)?;
            }
            if let Some(last) = runs.last_mut() {
                last.power = power;
            }
        }
        runs.push(Run {
            start,
            length,
            power: 0,
        });
        start += length;
    }
    while runs.len() > 1 {
        let at = match &*runs {
            [.., first, _, last] if first.length < last.length => runs.len() - 3,
            _ => runs.len() - 2,
        };
        sort.merge_at(at, &mut runs, &mut places)?;
    }
    Ok(places)
}

/// Sorted elements, which are merged with those behind them.
struct Run {
    start: usize,
    length: usize,
    /// How deep the border to the next run lies in the tree of merges.
    power: u32,
}

/// The first two bits in which the middles of two neighbouring runs differ, as parts of the whole.
fn power(start: usize, first: usize, second: usize, count: usize) -> u32 {
    let (mut a, mut b) = (2 * start + first, 2 * start + 2 * first + second);
    let mut power = 1;
    while (a >= count) == (b >= count) {
        if a >= count {
            (a, b) = (a - count, b - count);
        }
        (a, b, power) = (2 * a, 2 * b, power + 1);
    }
    power
}

/// Shorter runs are lengthened: all elements are one run if they are few.
fn shortest_run(mut count: usize) -> usize {
    let mut odd = 0;
    while count >= 64 {
        odd |= count & 1;
        count >>= 1;
    }
    count + odd
}

/// From so many elements in a row out of one run on, galloping pays.
const ENOUGH: usize = 7;

struct Sort<L> {
    less: L,
    /// How many elements in a row have to come out of one run before it gallops.
    enough: usize,
}

impl<E, L: FnMut(u32, u32) -> Result<bool, E>> Sort<L> {
    /// Sorts the run at the start of `rest`, and as many elements behind it by insertion as it lacks. How long it is.
    fn next_run(&mut self, rest: &mut [u32], shortest: usize) -> Result<usize, E> {
        if rest.len() < 2 {
            return Ok(rest.len());
        }
        let mut run = 2;
        let falls = (self.less)(rest[1], rest[0])?;
        while run < rest.len() && (self.less)(rest[run], rest[run - 1])? == falls {
            run += 1;
        }
        if falls {
            rest[..run].reverse();
        }
        let length = run.max(shortest.min(rest.len()));
        for at in run..length {
            let (mut low, mut high) = (0, at);
            while low < high {
                let middle = low.midpoint(high);
                if (self.less)(rest[at], rest[middle])? {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            rest[low..=at].rotate_right(1);
        }
        Ok(length)
    }

    /// Merges a run with the next one.
    fn merge_at(&mut self, at: usize, runs: &mut Vec<Run>, places: &mut [u32]) -> Result<(), E> {
        let second = runs.remove(at + 1);
        let first = &mut runs[at];
        let both = &mut places[first.start..second.start + second.length];
        let middle = first.length;
        first.length += second.length;
        // Elements of the first run that are already in place, and those of the second.
        let (a, b) = both.split_at(middle);
        let start = self.before(a, Side::Start, |it, less| Ok(!less(b[0], it)?))?;
        let (a, last) = (&a[start..], a[a.len() - 1]);
        if a.is_empty() {
            return Ok(());
        }
        let end = self.before(b, Side::End, |it, less| less(it, last))?;
        let merged = self.merge(a, &b[..end])?;
        both[start..middle + end].copy_from_slice(&merged);
        Ok(())
    }

    /// The elements of both runs, the shorter of which is used up from its side on.
    fn merge<'r>(&mut self, mut a: &'r [u32], mut b: &'r [u32]) -> Result<Vec<u32>, E> {
        if b.is_empty() {
            return Ok(a.to_vec());
        }
        let mut merged = Vec::with_capacity(a.len() + b.len());
        let side = if a.len() <= b.len() {
            Side::Start
        } else {
            Side::End
        };
        let ends = |a: &[u32], b: &[u32]| match side {
            Side::Start => a.len() < 2 || b.is_empty(),
            Side::End => b.len() < 2 || a.is_empty(),
        };
        // It is known of one of the runs that its element comes first.
        let first = if side == Side::Start { &mut b } else { &mut a };
        side.take(first, 1, &mut merged);
        'merging: while !ends(a, b) {
            let mut counts = [0, 0];
            while counts.iter().all(|count| *count < self.enough) {
                let is_less = (self.less)(side.next(b), side.next(a))?;
                // The smaller one comes first at the start, the larger one at the end.
                let is_b = is_less == (side == Side::Start);
                side.take(if is_b { &mut b } else { &mut a }, 1, &mut merged);
                counts[usize::from(is_b)] += 1;
                counts[usize::from(!is_b)] = 0;
                if ends(a, b) {
                    break 'merging;
                }
            }
            self.enough += 1;
            loop {
                self.enough -= usize::from(self.enough > 1);
                // All of one run that comes before the next element of the other, and then that.
                for is_b in [false, true] {
                    let (from, other) = if is_b {
                        (&mut b, &mut a)
                    } else {
                        (&mut a, &mut b)
                    };
                    let next = side.next(other);
                    let before = self.before(from, side, |it, less| {
                        if is_b {
                            less(it, next)
                        } else {
                            Ok(!less(next, it)?)
                        }
                    })?;
                    let count = side.count(from, before);
                    counts[usize::from(is_b)] = count;
                    side.take(from, count, &mut merged);
                    if ends(a, b) {
                        break 'merging;
                    }
                    side.take(if is_b { &mut a } else { &mut b }, 1, &mut merged);
                    if ends(a, b) {
                        break 'merging;
                    }
                }
                if counts.iter().all(|count| *count < ENOUGH) {
                    break;
                }
            }
            self.enough += 1;
        }
        Ok(match side {
            Side::Start => [&*merged, b, a].concat(),
            Side::End => {
                merged.reverse();
                [b, a, &*merged].concat()
            }
        })
    }

    /// How many elements of the run `is_before` accepts, which are the first ones: looks at more and more distant ones from
    /// this side on, and then bisects.
    fn before(
        &mut self,
        run: &[u32],
        side: Side,
        mut is_before: impl FnMut(u32, &mut L) -> Result<bool, E>,
    ) -> Result<usize, E> {
        let mut is_before = |at: usize| is_before(run[at], &mut self.less);
        let hint = match side {
            Side::Start => 0,
            Side::End => run.len() - 1,
        };
        let goes_up = is_before(hint)?;
        let most = if goes_up { run.len() - hint } else { hint + 1 };
        let (mut last, mut offset) = (0, 1);
        while offset < most
            && is_before(if goes_up {
                hint + offset
            } else {
                hint - offset
            })? == goes_up
        {
            (last, offset) = (offset, 2 * offset + 1);
        }
        offset = offset.min(most);
        let (mut low, mut high) = if goes_up {
            (hint + last + 1, hint + offset)
        } else {
            (hint + 1 - offset, hint - last)
        };
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle)? {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

/// From which side two runs are merged.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Start,
    End,
}

impl Side {
    fn next(self, run: &[u32]) -> u32 {
        match self {
            Side::Start => run[0],
            Side::End => run[run.len() - 1],
        }
    }

    /// How many elements come before the others from this side, if so many do from the start.
    fn count(self, run: &[u32], before: usize) -> usize {
        match self {
            Side::Start => before,
            Side::End => run.len() - before,
        }
    }

    /// Moves elements of a run to those that are merged.
    fn take(self, run: &mut &[u32], count: usize, merged: &mut Vec<u32>) {
        match self {
            Side::Start => {
                let (taken, rest) = run.split_at(count);
                merged.extend_from_slice(taken);
                *run = rest;
            }
            Side::End => {
                let (rest, taken) = run.split_at(run.len() - count);
                merged.extend(taken.iter().rev());
                *run = rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::set_table::tests::{digest, vectors};

    #[test]
    fn what_has_an_order_is_sorted_and_what_has_none_comes_to_an_end() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for count in 0..200 {
            let keys: Vec<u64> = (0..count).map(|_| random(20)).collect();
            let places = sorted_places(count, |a, b| Ok::<_, ()>(keys[a] < keys[b])).unwrap();
            let mut expected: Vec<u32> = (0..count as u32).collect();
            expected.sort_by_key(|&at| keys[at as usize]);
            assert_eq!(places, expected);
            let any = |_, _| Ok::<_, ()>(random(3) == 0);
            let mut places = sorted_places(count, any).unwrap();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..count as u32));
        }
        assert_eq!(sorted_places(2, |_, _| Err(5)), Err(5));
        assert_eq!(sorted_places(1, |_, _| Err(5)), Ok(vec![0]));
    }

    /// The keys are sets of small numbers, as bits: some at random, the others ascending.
    #[test]
    fn sets_are_sorted_like_in_cpython() {
        let all = vectors("sort");
        assert!(all.len() >= 300);
        for (keys, places) in all {
            let [mut state, count, chance, bits] = <[u64; 4]>::try_from(
                keys.split(' ')
                    .map(|it| it.parse().unwrap())
                    .collect::<Vec<_>>(),
            )
            .unwrap();
            let keys: Vec<u64> = (0..count)
                .map(|at| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    let draw = state >> 33;
                    let is_random = (draw >> 16) % 100 < chance;
                    if is_random {
                        draw % (1 << bits)
                    } else {
                        (1 << (at * bits / count)) - 1
                    }
                })
                .collect();
            let less = |a: usize, b: usize| {
                Ok::<_, ()>(keys[a] & keys[b] == keys[a] && keys[a] != keys[b])
            };
            let found = sorted_places(keys.len(), less).unwrap();
            let found: Vec<String> = found.iter().map(u32::to_string).collect();
            assert_eq!(digest(&found.join(" ")), places);
        }
    }
}
