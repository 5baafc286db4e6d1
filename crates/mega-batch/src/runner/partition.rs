//! [`Partition`]: a chunk whose merged evaluations are divided among workers by task and pair.
//!
//! Programs that are tried on one task have calls in common. Workers that took different programs would each make
//! those calls; workers that take different pairs make none twice.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::chunk::Chunk;
use super::merging::Segment;
use crate::outcome::Answer;

/// How many parts a task has at most: each costs a batt of its own, and the programs gone through once more.
const MOST_PARTS: usize = 8;

/// Of so many tasks for each worker none is divided.
const ENOUGH_TASKS: usize = 4;

/// A chunk of which batts answer part by part; it is evaluated when all parts are answered.
#[derive(Debug)]
pub(super) struct Partition {
    /// The chunk, with the answers that have come.
    chunk: Chunk,
    segments: Arc<[Segment]>,
    parts: Vec<Part>,
    /// How long the answers have taken all workers together.
    time: Duration,
}

/// Some pairs of a task, with all programs of the chunk that are merged on it.
#[derive(Debug)]
struct Part {
    task: u32,
    pairs: Range<usize>,
    /// How many of the partition's segments are gone through for this part.
    at: usize,
    /// How many evaluations are not answered.
    left: usize,
    in_hand: bool,
}

/// By task and first pair of a part, the worker whose batt has its calls: of another partition, too.
pub(super) type Owners = FxHashMap<(u32, usize), usize>;

/// How many owners are remembered: more than there are parts at a time.
const OWNERS_KEPT: usize = 4096;

/// A part in a worker's hands.
#[derive(Debug)]
pub(super) struct Piece {
    /// The first evaluation of the partition's chunk, by which it is found again.
    start: u64,
    part: usize,
    /// The pairs of its task, by their places.
    pub(super) pairs: Range<usize>,
    segments: Arc<[Segment]>,
    at: usize,
    task: u32,
    /// The answers so far, segment by segment.
    pub(super) answers: Vec<Option<Answer>>,
}

impl Piece {
    /// The next segment that is to be merged on these pairs; `None` if none is left.
    pub(super) fn next(&mut self) -> Option<Segment> {
        let (at, segment) = next(&self.segments, self.at, self.task, &self.pairs)?;
        self.at = at + 1;
        Some(segment)
    }
}

/// The first segment from a place on that has evaluations of these pairs, and its place; it is cut to them.
fn next(
    segments: &[Segment],
    from: usize,
    task: u32,
    pairs: &Range<usize>,
) -> Option<(usize, Segment)> {
    let mut places = (from..segments.len()).filter(|at| segments[*at].task == task);
    places.find_map(|at| Some((at, segments[at].within(pairs)?)))
}

impl Partition {
    /// Divides the segments of a chunk among so many workers; `None` if there is nothing to divide.
    pub(super) fn of(mut chunk: Chunk, segments: Vec<Segment>, workers: usize) -> Option<Self> {
        let mut parts: Vec<Part> = Vec::new();
        let mut tasks: Vec<(u32, Range<usize>)> = Vec::new();
        for segment in &segments {
            let pairs = segment.pair..segment.pair + segment.len;
            match tasks.iter_mut().find(|(task, _)| *task == segment.task) {
                Some((_, all)) => *all = all.start.min(pairs.start)..all.end.max(pairs.end),
                None => tasks.push((segment.task, pairs)),
            }
        }
        // Where there are tasks enough, each is a part.
        let most_parts = if tasks.len() >= ENOUGH_TASKS * workers {
            1
        } else {
            MOST_PARTS
        };
        for (task, all) in tasks {
            let each = all.len().div_ceil(most_parts);
            for start in all.clone().step_by(each.max(1)) {
                let pairs = start..all.end.min(start + each);
                let of_part = segments.iter().filter(|segment| segment.task == task);
                let left = of_part.filter_map(|segment| segment.within(&pairs));
                parts.push(Part {
                    task,
                    left: left.map(|segment| segment.len).sum(),
                    pairs,
                    at: 0,
                    in_hand: false,
                });
            }
        }
        if parts.len() < 2 {
            return None;
        }
        chunk.answers.resize_with(chunk.len(), || None);
        Some(Self {
            chunk,
            segments: segments.into(),
            parts,
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

    /// How many parts there are.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Takes a part for a worker: one whose calls the worker has made, or one that nobody has begun, or, where it
    /// is to be any, the one of another worker of which most is left.
    pub(super) fn claim(&mut self, worker: usize, any: bool, owners: &mut Owners) -> Option<Piece> {
        let parts = || self.parts.iter().enumerate();
        let parts = || parts().filter(|(_, part)| !part.in_hand && part.left > 0);
        let owner = |part: &Part| owners.get(&(part.task, part.pairs.start)).copied();
        let mine = parts().find(|(_, part)| owner(part) == Some(worker));
        let mine = mine.or_else(|| parts().find(|(_, part)| owner(part).is_none()));
        let part = match mine {
            None if any => parts().max_by_key(|(_, part)| part.left)?.0,
            mine => mine?.0,
        };
        let start = self.start();
        let it = &mut self.parts[part];
        it.in_hand = true;
        if owners.len() >= OWNERS_KEPT {
            owners.clear();
        }
        owners.insert((it.task, it.pairs.start), worker);
        Some(Piece {
            start,
            part,
            pairs: it.pairs.clone(),
            segments: Arc::clone(&self.segments),
            at: it.at,
            task: it.task,
            answers: Vec::new(),
        })
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
        while part.at < piece.at {
            let Some((at, segment)) = next(&self.segments, part.at, part.task, &part.pairs) else {
                break;
            };
            let places = segment.at..segment.at + segment.len;
            for (place, answer) in self.chunk.answers[places].iter_mut().zip(&mut answers) {
                *place = answer;
            }
            part.left -= segment.len;
            part.at = at + 1;
        }
        part.in_hand = false;
        self.parts.iter().all(|part| part.left == 0)
    }

    /// How many evaluations nobody has begun.
    pub(super) fn waiting(&self) -> usize {
        let free = self.parts.iter().filter(|part| !part.in_hand);
        free.map(|part| part.left).sum()
    }

    /// The chunk with its answers.
    pub(super) fn into_chunk(self) -> Chunk {
        let answered: usize = self.segments.iter().map(|segment| segment.len).sum();
        Chunk {
            share: self.time / answered.max(1) as u32,
            ..self.chunk
        }
    }
}
