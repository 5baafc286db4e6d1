//! [`Partition`]: a chunk whose merged evaluations are divided among workers by task and pair.
//!
//! Programs that are tried on one task share calls. Workers that took different programs would each repeat the shared
//! calls; workers that take different pairs repeat none. Pairs take different times, too: a worker that has finished
//! its own takes half of the remaining programs of another's.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::chunk::Chunk;
use super::merging::Segment;
use crate::batch::Batch;
use crate::batch::options::Merging;
use crate::results::outcome::Answer;

/// With this many tasks per worker, tasks are not divided.
const ENOUGH_TASKS: usize = 4;

/// How many programs a part needs beyond those that its worker has claimed for another worker to take half of them.
const WORTH_SPLITTING: usize = 2 * Merging::LEAST_PROGRAMS;

/// A chunk that batts answer part by part; it is evaluated when all parts are answered.
#[derive(Debug)]
pub(super) struct Partition {
    /// The chunk with the answers so far.
    chunk: Chunk,
    parts: Vec<Part>,
    /// How many evaluations are merged, and how long that has taken, summed over workers.
    merged: usize,
    time: Duration,
}

/// Some pairs of a task, with the programs of the chunk that are merged on it: all of them, until an idle worker
/// takes half of the rest.
#[derive(Debug)]
struct Part {
    task: u32,
    pairs: Range<usize>,
    /// The segments cut to these pairs, and the range of those that are not answered.
    segments: Arc<[Segment]>,
    left: Range<usize>,
    /// The end of the claimed segments, if a worker has claimed some.
    in_hand: Option<usize>,
    /// The worker whose batt has the calls of this part.
    owner: Option<usize>,
}

impl Part {
    /// The first segment that nobody has claimed.
    fn begin(&self) -> usize {
        self.in_hand.unwrap_or(self.left.start)
    }

    /// How many segments another worker could take. The owner comes back for the rest, so others take only as much as
    /// is worth repeating its calls.
    fn spare(&self) -> usize {
        let left = self.left.end - self.begin();
        let is_enough = self.owner.is_none() || left >= WORTH_SPLITTING;
        if is_enough { left } else { 0 }
    }
}

/// The worker whose batt has the calls of a part, by task and first pair; kept across partitions.
pub(super) type Owners = FxHashMap<(u32, usize), usize>;

/// How many owners are remembered: more than there are parts at a time.
const OWNERS_KEPT: usize = 4096;

/// The claimed segments of a part.
#[derive(Debug)]
pub(super) struct Piece {
    /// The first evaluation of the partition's chunk, which identifies the partition.
    start: u64,
    part: usize,
    /// The pairs of its task, as indices.
    pub(super) pairs: Range<usize>,
    segments: Arc<[Segment]>,
    left: Range<usize>,
    /// The answers so far, segment by segment.
    pub(super) answers: Vec<Option<Answer>>,
}

impl Piece {
    /// The next segment to merge on these pairs; `None` if none remains.
    pub(super) fn next(&mut self) -> Option<Segment> {
        self.left.next().map(|at| self.segments[at])
    }
}

/// Divides `places` into at most `most` ranges of similar amounts; each is returned with its amount.
fn split_evenly(
    mut places: Range<usize>,
    most: usize,
    amount: impl Fn(usize) -> usize,
) -> Vec<(Range<usize>, usize)> {
    let mut left: usize = places.clone().map(&amount).sum();
    let mut ranges = Vec::new();
    for ranges_left in (1..=most).rev() {
        let Some(first) = places.next() else {
            break;
        };
        let mut of_range = amount(first);
        // Include the next place if at least half of it is within the share.
        while let Some(next) = places.clone().next()
            && (ranges_left == 1 || (2 * of_range + amount(next)) * ranges_left <= 2 * left)
        {
            of_range += amount(next);
            places.next();
        }
        left -= of_range;
        ranges.push((first..places.start, of_range));
    }
    ranges
}

impl Partition {
    /// Divides the segments of a chunk among workers; `None` if there is nothing to divide. Parts with larger inputs,
    /// which take longest, come first.
    pub(super) fn of(
        batch: &Batch<'_>,
        mut chunk: Chunk,
        segments: &[Segment],
        workers: usize,
    ) -> Option<Self> {
        let mut tasks: Vec<(u32, Range<usize>)> = Vec::new();
        for segment in segments {
            let pairs = segment.pair..segment.pair + segment.len;
            match tasks.iter_mut().find(|(task, _)| *task == segment.task) {
                Some((_, all)) => *all = all.start.min(pairs.start)..all.end.max(pairs.end),
                None => tasks.push((segment.task, pairs)),
            }
        }
        // With enough tasks, each is one part. Every part goes through all programs, so there are no more parts than
        // workers.
        let of_task = if tasks.len() >= ENOUGH_TASKS * workers {
            1
        } else {
            workers
        };
        let mut parts = Vec::new();
        for (task, all) in tasks {
            let cells = |at: usize| {
                batch.tasks()[task as usize]
                    .pair_at(at)
                    .1
                    .input
                    .cells()
                    .len()
            };
            for (pairs, cells) in split_evenly(all, of_task, cells) {
                let of_task = segments.iter().filter(|segment| segment.task == task);
                let segments: Arc<[_]> = of_task.filter_map(|it| it.within(&pairs)).collect();
                let part = Part {
                    task,
                    pairs,
                    left: 0..segments.len(),
                    segments,
                    in_hand: None,
                    owner: None,
                };
                parts.push((cells, part));
            }
        }
        parts.sort_by_key(|(cells, _)| Reverse(*cells));
        let parts: Vec<Part> = parts.into_iter().map(|(_, part)| part).collect();
        if parts.iter().map(|part| part.left.len()).sum::<usize>() < 2 {
            return None;
        }
        chunk.answers.resize_with(chunk.len(), || None);
        Some(Self {
            chunk,
            parts,
            merged: segments.iter().map(|segment| segment.len).sum(),
            time: Duration::ZERO,
        })
    }

    fn start(&self) -> u64 {
        self.chunk.evaluations.start
    }

    /// The end of its chunk.
    pub(super) fn end(&self) -> u64 {
        self.chunk.evaluations.end
    }

    /// Claims half of the remaining segments of a part for a worker, which returns what it does not finish in its
    /// time. It prefers a part whose calls the worker has evaluated, then one that nobody has begun; with `any`,
    /// otherwise the part of another worker with the most remaining segments.
    pub(super) fn claim(&mut self, worker: usize, any: bool, owners: &mut Owners) -> Option<Piece> {
        let parts = || self.parts.iter().enumerate();
        let free = || parts().filter(|(_, part)| part.in_hand.is_none() && !part.left.is_empty());
        let key = |part: &Part| (part.task, part.pairs.start);
        let owner = |part: &Part| part.owner.or_else(|| owners.get(&key(part)).copied());
        let mine = free().find(|(_, part)| owner(part) == Some(worker));
        let mine = mine.or_else(|| free().find(|(_, part)| owner(part).is_none()));
        let part = match mine {
            Some((part, _)) => part,
            None if any => {
                let (part, of) = parts().max_by_key(|(_, part)| part.spare())?;
                match of.owner {
                    _ if of.spare() == 0 => return None,
                    Some(_) => self.split(part),
                    None => part,
                }
            }
            None => return None,
        };
        let start = self.start();
        let it = &mut self.parts[part];
        let half = (it.left.len() / 2).max(Merging::LEAST_PROGRAMS);
        let end = it.left.end.min(it.left.start + half);
        it.in_hand = Some(end);
        it.owner = Some(worker);
        if owners.len() >= OWNERS_KEPT {
            owners.clear();
        }
        owners.insert(key(it), worker);
        Some(Piece {
            start,
            part,
            pairs: it.pairs.clone(),
            segments: Arc::clone(&it.segments),
            left: it.left.start..end,
            answers: Vec::new(),
        })
    }

    /// Moves the second half of the unclaimed segments of a part to a new part: the first half takes longer. This
    /// repeats shared calls, which is better than waiting.
    fn split(&mut self, part: usize) -> usize {
        let it = &mut self.parts[part];
        let middle = it.begin().midpoint(it.left.end);
        let second = Part {
            task: it.task,
            pairs: it.pairs.clone(),
            segments: Arc::clone(&it.segments),
            left: middle..it.left.end,
            in_hand: None,
            owner: None,
        };
        it.left.end = middle;
        self.parts.push(second);
        self.parts.len() - 1
    }

    /// Whether a piece belongs to this partition.
    pub(super) fn has(&self, piece: &Piece) -> bool {
        self.start() == piece.start
    }

    /// Takes back a piece after `time`; returns whether all parts are answered.
    pub(super) fn put(&mut self, piece: Piece, time: Duration) -> bool {
        let part = &mut self.parts[piece.part];
        let mut answers = piece.answers.into_iter();
        self.time += time;
        for segment in &part.segments[part.left.start..piece.left.start] {
            let places = segment.at..segment.at + segment.len;
            for (place, answer) in self.chunk.answers[places].iter_mut().zip(&mut answers) {
                *place = answer;
            }
        }
        part.left.start = piece.left.start;
        part.in_hand = None;
        self.parts.iter().all(|part| part.left.is_empty())
    }

    /// How many evaluations can be claimed, at most.
    pub(super) fn waiting(&self) -> usize {
        let parts = self.parts.iter();
        let of_part = |part: &Part| match part.in_hand {
            None => part.left.len() * part.pairs.len(),
            Some(_) => part.spare() * part.pairs.len(),
        };
        parts.map(of_part).sum()
    }

    /// Whether a worker that owns no part of it could claim some.
    pub(super) fn is_for_others(&self) -> bool {
        self.parts.iter().any(|part| part.spare() > 0)
    }

    /// The chunk with its answers.
    pub(super) fn into_chunk(self) -> Chunk {
        Chunk {
            share: self.time / self.merged.max(1) as u32,
            ..self.chunk
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_all_places_and_about_as_much_each() {
        let lens = |amounts: &[usize], most| -> Vec<usize> {
            let ranges = split_evenly(0..amounts.len(), most, |at| amounts[at]);
            let len = |(range, amount): (Range<usize>, usize)| {
                assert_eq!(amount, amounts[range.clone()].iter().sum::<usize>());
                range.len()
            };
            ranges.into_iter().map(len).collect()
        };
        assert_eq!(lens(&[5, 5, 5, 5], 2), [2, 2]);
        assert_eq!(lens(&[9, 1, 1, 1], 2), [1, 3]);
        assert_eq!(lens(&[1, 1, 1, 9], 2), [3, 1]);
        assert_eq!(lens(&[9, 9, 1, 9, 9], 3), [1, 2, 2]);
        assert_eq!(lens(&[3, 4], 5), [1, 1]);
        assert_eq!(lens(&[3, 4, 5], 1), [3]);
        assert!(lens(&[], 3).is_empty());
    }
}
