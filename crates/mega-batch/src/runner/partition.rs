//! [`Partition`]: a chunk whose merged evaluations are divided among workers by task and pair.
//!
//! Programs that are tried on one task have calls in common. Workers that took different programs would each make
//! those calls; workers that take different pairs make none twice. Pairs differ, too: who is done with its own takes
//! half of the programs that are left of another's.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::chunk::Chunk;
use super::merging::Segment;
use crate::batch::Batch;
use crate::options::Merging;
use crate::outcome::Answer;

/// Of so many tasks for each worker none is divided.
const ENOUGH_TASKS: usize = 4;

/// How many programs a part has to have beyond those in its worker's hands for another worker to take half of them.
const WORTH_SPLITTING: usize = 2 * Merging::LEAST_PROGRAMS;

/// A chunk of which batts answer part by part; it is evaluated when all parts are answered.
#[derive(Debug)]
pub(super) struct Partition {
    /// The chunk, with the answers that have come.
    chunk: Chunk,
    parts: Vec<Part>,
    /// How many evaluations are merged, and how long that has taken all workers together.
    merged: usize,
    time: Duration,
}

/// Some pairs of a task, with programs of the chunk that are merged on it: all of them, until who has nothing else to
/// do takes half of what is left.
#[derive(Debug)]
struct Part {
    task: u32,
    pairs: Range<usize>,
    /// Cut to these pairs, and which of them are not answered.
    segments: Arc<[Segment]>,
    left: Range<usize>,
    /// Up to where they are in a worker's hands, if any are.
    in_hand: Option<usize>,
    /// The worker whose batt has its calls.
    owner: Option<usize>,
}

impl Part {
    /// Where what is in nobody's hands begins.
    fn begin(&self) -> usize {
        self.in_hand.unwrap_or(self.left.start)
    }

    /// How many segments could be another worker's. Who has begun the part comes back for the rest of it, so that others
    /// take no less than what is worth making its calls again.
    fn spare(&self) -> usize {
        let left = self.left.end - self.begin();
        let is_enough = self.owner.is_none() || left >= WORTH_SPLITTING;
        if is_enough { left } else { 0 }
    }
}

/// By task and first pair of a part, the worker whose batt has its calls: of another partition, too.
pub(super) type Owners = FxHashMap<(u32, usize), usize>;

/// How many owners are remembered: more than there are parts at a time.
const OWNERS_KEPT: usize = 4096;

/// What a worker has in its hands of a part.
#[derive(Debug)]
pub(super) struct Piece {
    /// The first evaluation of the partition's chunk, by which it is found again.
    start: u64,
    part: usize,
    /// The pairs of its task, by their places.
    pub(super) pairs: Range<usize>,
    segments: Arc<[Segment]>,
    left: Range<usize>,
    /// The answers so far, segment by segment.
    pub(super) answers: Vec<Option<Answer>>,
}

impl Piece {
    /// The next segment that is to be merged on these pairs; `None` if none is left.
    pub(super) fn next(&mut self) -> Option<Segment> {
        self.left.next().map(|at| self.segments[at])
    }
}

/// Divides places into so many ranges, or fewer, of about as much each; each with how much that is.
fn alike(
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
        // Half of the next one is to be within the share.
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
    /// Divides the segments of a chunk among so many workers; `None` if there is nothing to divide. The parts with the
    /// largest inputs, which take longest, come first.
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
        // Where there are tasks enough, each is a part. Each part goes through all programs, so there are no more than
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
            for (pairs, cells) in alike(all, of_task, cells) {
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

    /// Where the evaluations of its chunk end.
    pub(super) fn end(&self) -> u64 {
        self.chunk.evaluations.end
    }

    /// Takes half of what is left of a part for a worker, which gives back what it does not come to in its time: of a
    /// part whose calls the worker has made, or of one that nobody has begun, or, where it is to be any, of the part of
    /// another worker of which most is left.
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

    /// Makes a part of the second half of what its worker has not in hand: the first takes longer than the others. Shared
    /// calls are made twice then, which is better than to wait.
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

    /// Whether a piece is of this partition.
    pub(super) fn has(&self, piece: &Piece) -> bool {
        self.start() == piece.start
    }

    /// A piece has come back, after so long; whether all parts are answered.
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

    /// How many evaluations could be begun, at most.
    pub(super) fn waiting(&self) -> usize {
        let parts = self.parts.iter();
        let of_part = |part: &Part| match part.in_hand {
            None => part.left.len() * part.pairs.len(),
            Some(_) => part.spare() * part.pairs.len(),
        };
        parts.map(of_part).sum()
    }

    /// Whether some of them could be begun by a worker that has begun nothing of it.
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
            let ranges = alike(0..amounts.len(), most, |at| amounts[at]);
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
