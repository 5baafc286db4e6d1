//! [`Queue`]: the evaluations of a batch on one host, from which workers take chunks, and their results on the
//! way back.
//!
//! A chunk is consecutive evaluations, as many as are expected to take a worker some time: the more is left,
//! the longer, so that handing them over is nothing beside them and all workers end together. (Guided
//! self-scheduling, Polychronopoulos and Kuck 1987, by time rather than by count.) What a worker has not made
//! of its chunk when that has taken longer than expected it gives back.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gpu_sched::Order;

use super::Clock;
use super::chunk::Chunk;
use super::merging::Plan;
use super::partition::{Owners, Partition, Piece};
use super::unit::units_of;
use crate::batch::Batch;
use crate::options::Merging;
use crate::outcome::Known;
use crate::panics::lock;

/// What a worker has in its hands.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) work: Work,
    /// How long it is expected to take at most.
    pub(super) time: Duration,
}

#[derive(Debug)]
pub(super) enum Work {
    /// Evaluations, and where their results go.
    Chunk(Chunk, Vec<Known>),
    /// Some pairs of a chunk that several workers merge.
    Piece(Piece),
}

/// How long a chunk takes: the longest, where there is one worker for which it is only the time between two looks
/// at progress, and the shortest.
const LONGEST: Duration = Duration::from_micros(200);
const LONGEST_ALONE: Duration = Duration::from_millis(1);
const SHORTEST: Duration = Duration::from_micros(10);

/// The longest of which it is only guessed, by an earlier batch, what its evaluations take.
const LONGEST_GUESSED: Duration = Duration::from_micros(20);

/// How many evaluations a chunk has at most, whatever they are expected to take.
pub(super) const MOST: u64 = 1024;

/// Jobs of so many pairs are not divided by where a chunk ends.
const FEW_PAIRS: usize = 16;

/// How long the merged programs of a task have to take for their pairs to be divided among workers, each of which goes
/// through all programs: of variations of a program on four pairs, those that took less were made sooner by one.
const WORTH_DIVIDING: Duration = Duration::from_micros(600);

/// How long who waits looks before it sleeps: waking takes as long.
const SPIN: Duration = Duration::from_micros(50);

/// How long an evaluation is expected to take, in picoseconds, kept from batch to batch.
#[derive(Debug)]
pub(super) struct Pace(AtomicU64);

impl Default for Pace {
    fn default() -> Self {
        Self(AtomicU64::new(2_000_000))
    }
}

impl Pace {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Time for so many evaluations.
    fn time(&self, evaluations: u64) -> Duration {
        Duration::from_nanos(self.get().saturating_mul(evaluations) / 1000)
    }

    /// How many evaluations take so long.
    fn count(&self, time: Duration) -> u64 {
        time.as_nanos() as u64 * 1000 / self.get().max(1)
    }

    /// So many took so long: they count as much as all before.
    fn learn(&self, evaluations: u64, time: Duration) {
        let before = self.get();
        self.is(evaluations, time);
        self.0
            .store((before / 2 + self.get() / 2).max(1), Ordering::Relaxed);
    }

    /// So many took so long, and nothing else counts.
    fn is(&self, evaluations: u64, time: Duration) {
        let picoseconds = (time.as_nanos() as u64).saturating_mul(1000);
        if let Some(each) = picoseconds.checked_div(evaluations) {
            self.0.store(each.max(1), Ordering::Relaxed);
        }
    }
}

/// The evaluations that are to be made, and the results that are to be delivered.
#[derive(Debug)]
pub(super) struct Queue<'p> {
    batch: &'p Batch<'p>,
    plan: Option<&'p Plan<'p>>,
    state: Mutex<State>,
    changed: Condvar,
    /// How often something has changed, for those who wait.
    changes: AtomicU64,
    /// How many evaluations nobody has begun, and how many chunks are in workers' hands: changed under the
    /// lock, looked at without.
    waiting: AtomicU64,
    in_hand: AtomicUsize,
    /// How many workers beside the calling thread are at work, or on their way.
    pub(super) helpers: AtomicUsize,
    pace: &'p Pace,
    workers: u32,
    /// How many evaluations may be claimed and not delivered; `None` if none is delivered.
    room: Option<u64>,
}

#[derive(Debug)]
struct State {
    /// Those that nobody has had, and those that were given back.
    fresh: Range<u64>,
    returned: Vec<Chunk>,
    /// Those that workers merge pair by pair, in the order of the batch.
    partitions: Vec<Partition>,
    owners: Owners,
    made: Order<Vec<Known>>,
    /// Memory for results.
    spare: Vec<Vec<Known>>,
    clock: Clock,
    /// How many evaluations are made, and how long that took all workers together.
    all: (u64, Duration),
    /// How many threads sleep.
    sleepers: usize,
    /// Whether a worker has ended before its work was done.
    is_lost: bool,
}

impl<'p> Queue<'p> {
    /// Those of a batch that are left, for so many workers.
    pub(super) fn new(
        batch: &'p Batch<'p>,
        plan: Option<&'p Plan<'p>>,
        left: Range<u64>,
        workers: usize,
        room: Option<u64>,
        pace: &'p Pace,
    ) -> Self {
        Self {
            batch,
            plan,
            waiting: AtomicU64::new(left.end - left.start),
            in_hand: AtomicUsize::new(0),
            state: Mutex::new(State {
                made: Order::starting_at(left.start),
                fresh: left,
                returned: Vec::new(),
                partitions: Vec::new(),
                owners: Owners::default(),
                spare: Vec::new(),
                clock: Clock::default(),
                all: (0, Duration::ZERO),
                sleepers: 0,
                is_lost: false,
            }),
            changed: Condvar::new(),
            changes: AtomicU64::new(0),
            helpers: AtomicUsize::new(0),
            pace,
            workers: u32::try_from(workers).unwrap_or(u32::MAX).max(1),
            room,
        }
    }

    /// The next chunk for this worker; `None` if none is to be had, for now or at all.
    pub(super) fn claim(&self, worker: usize) -> Option<Claimed> {
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting == 0 {
            return None;
        }
        let time = if self.workers == 1 {
            LONGEST_ALONE
        } else {
            let share = self.pace.time(waiting) / (2 * self.workers);
            let longest = if self.changes() > 0 {
                LONGEST
            } else {
                LONGEST_GUESSED
            };
            share.clamp(SHORTEST, longest)
        };
        let count = self.pace.count(time).clamp(1, MOST);
        let state = &mut *lock(&self.state);
        let is_room = self.room.is_none_or(|room| state.on_way() < room);
        // Others wait for the results of what was given back, so it is made before the rest. What another worker
        // has begun to merge is left to that one while there is anything else: two would make its calls twice.
        let is_mine = |chunk: &Chunk| chunk.merged_by.is_none_or(|by| by == worker);
        let work = self
            .pop_returned(state, count, is_mine)
            .or_else(|| state.piece(worker, false))
            .or_else(|| is_room.then(|| self.cut(state, count, worker))?)
            .or_else(|| state.piece(worker, true))
            .or_else(|| self.pop_returned(state, count, |_| true))?;
        self.in_hand.fetch_add(1, Ordering::Relaxed);
        self.is_waiting(state);
        // A whole task may be more than was asked for.
        let time = match &work {
            Work::Chunk(chunk, _) => time.max(self.pace.time(chunk.len() as u64)),
            Work::Piece(_) => time,
        };
        Some(Claimed { work, time })
    }

    /// So many evaluations, or some more, of the first chunk that was given back and is such a one.
    fn pop_returned(
        &self,
        state: &mut State,
        count: u64,
        is_such: impl Fn(&Chunk) -> bool,
    ) -> Option<Work> {
        let places = (0..state.returned.len()).filter(|at| is_such(&state.returned[*at]));
        let first = places.min_by_key(|at| state.returned[*at].evaluations.start)?;
        let mut chunk = state.returned.swap_remove(first);
        // What is answered takes next to no time, but for some that have to be asked elsewhere.
        let count = if chunk.answers.is_empty() {
            count
        } else {
            MOST
        };
        let end = self.end_of_job(&chunk.evaluations, chunk.evaluations.start + count);
        let rest = chunk.split_off((end - chunk.evaluations.start) as usize);
        state.returned.extend(rest);
        Some(state.work(chunk))
    }

    /// Cuts a chunk of so many evaluations, or some more, from those that nobody has had, or takes a part of one
    /// that is to be merged by several.
    fn cut(&self, state: &mut State, count: u64, worker: usize) -> Option<Work> {
        let fresh = state.fresh.clone();
        if fresh.is_empty() {
            return None;
        }
        let mut end = fresh.start + count;
        let (job, _) = self.batch.evaluation(fresh.start);
        let several = self.plan.filter(|_| self.workers > 1);
        if let Some(plan) = several.filter(|plan| plan.is_merged(job)) {
            // Where tasks follow each other, each worker merges the programs of another one.
            let (end_of_task, jobs) = self.end_of_task(&fresh, job);
            let (of_task, behind) = (end_of_task - fresh.start, fresh.end - end_of_task);
            let is_enough = behind >= of_task * u64::from(self.workers);
            let is_short = self.pace.time(of_task) < WORTH_DIVIDING;
            if jobs >= Merging::LEAST_PROGRAMS && (is_enough || is_short) {
                end = end.max(end_of_task);
            } else if let Some(partition) = self.partition(&fresh, plan) {
                state.fresh.start = partition.end();
                return state.divide(partition, worker);
            }
        }
        let end = self.end_of_job(&fresh, end);
        state.fresh.start = end;
        Some(state.work(Chunk::of(fresh.start..end)))
    }

    /// Where the evaluations of the task of a job end, which is the first one of these, and how many jobs that are; at
    /// most so many as a chunk has.
    fn end_of_task(&self, within: &Range<u64>, job: usize) -> (u64, usize) {
        let most = within.end.min(within.start + MOST);
        let task = |at| self.batch.job(at).task;
        let last = self.batch.job_count().min(job + MOST as usize);
        let other = (job + 1..last).find(|at| task(*at) != task(job));
        let end = other.map_or(most, |other| self.batch.first_of(other).min(most));
        (end, other.unwrap_or(last) - job)
    }

    /// The next evaluations, divided by pairs; `None` if there is nothing to divide.
    fn partition(&self, fresh: &Range<u64>, plan: &Plan<'_>) -> Option<Partition> {
        let end = self.end_of_job(fresh, fresh.end.min(fresh.start + MOST));
        let evaluations = fresh.start..end;
        let segments = plan.segments(&units_of(self.batch, &evaluations));
        let chunk = Chunk::of(evaluations);
        Partition::of(self.batch, chunk, &segments, self.workers as usize)
    }

    /// A chunk was made from `began` on, but for these rests, which are given back. Their answers took so long before.
    pub(super) fn put(
        &self,
        made: Range<u64>,
        mut results: Vec<Known>,
        rests: impl IntoIterator<Item = Chunk>,
        began: Instant,
        before: Duration,
    ) {
        let ended = Instant::now();
        let (evaluations, time) = (made.end - made.start, ended - began);
        self.pace.learn(evaluations, time + before);
        let state = &mut *lock(&self.state);
        self.in_hand.fetch_sub(1, Ordering::Relaxed);
        state.clock.add(began, ended);
        state.all = (state.all.0 + evaluations, state.all.1 + time);
        state.returned.extend(rests);
        self.is_waiting(state);
        if self.room.is_some() && !made.is_empty() {
            state.made.put(made, results);
        } else {
            results.clear();
            state.spare.push(results);
        }
        self.has_changed(state);
    }

    /// A piece was merged from `began` on; gives the chunk in its place if it was the last of it.
    pub(super) fn put_piece(&self, piece: Piece, began: Instant) -> Option<(Chunk, Vec<Known>)> {
        let ended = Instant::now();
        let (evaluations, time) = (piece.answers.len() as u64, ended - began);
        self.pace.learn(evaluations, time);
        let state = &mut *lock(&self.state);
        state.clock.add(began, ended);
        state.all.1 += time;
        // After a stop there is none, and nobody wants the answers.
        let at = state.partitions.iter().position(|it| it.has(&piece));
        if let Some(at) = at
            && state.partitions[at].put(piece, time)
        {
            let chunk = state.partitions.remove(at).into_chunk();
            self.is_waiting(state);
            return Some((chunk, state.spare.pop().unwrap_or_default()));
        }
        self.in_hand.fetch_sub(1, Ordering::Relaxed);
        self.is_waiting(state);
        // Its worker takes what it can of the rest itself, and to wake another takes longer than a piece.
        let others_could = state.partitions.iter().any(Partition::is_for_others);
        if others_could || state.partitions.is_empty() {
            self.has_changed(state);
        } else {
            self.changes.fetch_add(1, Ordering::Release);
        }
        None
    }

    /// The results that are next in the order of the batch, where they have come.
    pub(super) fn take(&self) -> Option<Vec<Known>> {
        self.room?;
        let (_, results) = lock(&self.state).made.take()?;
        Some(results)
    }

    /// Gives back the memory of results that are delivered.
    pub(super) fn recycle(&self, mut results: Vec<Known>) {
        results.clear();
        lock(&self.state).spare.push(results);
    }

    /// Nothing more is to be begun: in the places of what was given back is nothing.
    pub(super) fn stop(&self) {
        let state = &mut *lock(&self.state);
        state.fresh.end = state.fresh.start;
        let divided = std::mem::take(&mut state.partitions);
        state
            .returned
            .extend(divided.into_iter().map(Partition::into_chunk));
        if state.returned.is_empty() {
            return self.is_waiting(state);
        }
        for chunk in std::mem::take(&mut state.returned) {
            if self.room.is_some() {
                let nothing = (0..chunk.len()).map(|_| None).collect();
                state.made.put(chunk.evaluations, nothing);
            }
        }
        self.is_waiting(state);
        self.has_changed(state);
    }

    /// Looks for so long whether others give back some of what they have; whether they do.
    pub(super) fn is_given_more(&self, time: Duration) -> bool {
        let is_waiting = || self.waiting.load(Ordering::Relaxed) > 0;
        if is_waiting() {
            // There is no room for its results.
            return false;
        }
        let began = Instant::now();
        while self.in_hand.load(Ordering::Relaxed) > 0 && began.elapsed() < time {
            if is_waiting() {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// Whether all that was to be made is made.
    pub(super) fn is_over(&self) -> bool {
        let state = lock(&self.state);
        state.fresh.is_empty()
            && state.returned.is_empty()
            && state.partitions.is_empty()
            && self.in_hand.load(Ordering::Relaxed) == 0
    }

    /// A worker ends before its work is done.
    pub(super) fn lose(&self) {
        let state = &mut *lock(&self.state);
        state.is_lost = true;
        self.has_changed(state);
    }

    pub(super) fn is_lost(&self) -> bool {
        lock(&self.state).is_lost
    }

    /// For how long there is work that nobody has begun.
    pub(super) fn work(&self) -> Duration {
        self.pace.time(self.waiting.load(Ordering::Relaxed))
    }

    /// Where a chunk ends that is to end behind `at`: there, or some evaluations later, where the job of a
    /// few pairs ends. A batt would be given its program twice.
    fn end_of_job(&self, within: &Range<u64>, at: u64) -> u64 {
        if at >= within.end {
            return within.end;
        }
        let (job, pair) = self.batch.evaluation(at);
        let pairs = self.batch.pairs_of(self.batch.job(job));
        let left = if pair > 0 && pairs <= FEW_PAIRS {
            (pairs - pair) as u64
        } else {
            0
        };
        within.end.min(at + left)
    }

    /// Counts what nobody has begun.
    fn is_waiting(&self, state: &State) {
        let fresh = state.fresh.end - state.fresh.start;
        let returned = state.returned.iter().map(|chunk| chunk.len() as u64);
        let divided = state.partitions.iter().map(|it| it.waiting() as u64);
        let waiting = fresh + returned.sum::<u64>() + divided.sum::<u64>();
        self.waiting.store(waiting, Ordering::Relaxed);
    }

    fn has_changed(&self, state: &State) {
        self.changes.fetch_add(1, Ordering::Release);
        if state.sleepers > 0 {
            self.changed.notify_all();
        }
    }

    /// How often something has changed so far.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Waits for something to change after `changes`, at most so long.
    pub(super) fn wait(&self, changes: u64, time: Duration) {
        let began = Instant::now();
        while began.elapsed() < SPIN {
            if self.changes() != changes {
                return;
            }
            std::hint::spin_loop();
        }
        let mut state = lock(&self.state);
        if self.changes() == changes {
            state.sleepers += 1;
            let waited = self.changed.wait_timeout(state, time);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            state.sleepers -= 1;
        }
    }

    /// During how much time something was being made. The next batch is expected to be like this one as a whole:
    /// its last chunks may have found most of their calls in batts.
    pub(super) fn finish(self) -> Duration {
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let (evaluations, time) = state.all;
        self.pace.is(evaluations, time);
        state.clock.elapsed
    }
}

impl State {
    /// A chunk, with memory for its results.
    fn work(&mut self, chunk: Chunk) -> Work {
        Work::Chunk(chunk, self.spare.pop().unwrap_or_default())
    }

    /// Some of a part for a worker, of the first partition that has any; see [`Partition::claim`].
    fn piece(&mut self, worker: usize, any: bool) -> Option<Work> {
        let owners = &mut self.owners;
        let mut partitions = self.partitions.iter_mut();
        let piece = partitions.find_map(|partition| partition.claim(worker, any, owners));
        piece.map(Work::Piece)
    }

    /// Some of a part of a new partition for a worker.
    fn divide(&mut self, mut partition: Partition, worker: usize) -> Option<Work> {
        let piece = partition.claim(worker, true, &mut self.owners);
        self.partitions.push(partition);
        piece.map(Work::Piece)
    }

    /// How many evaluations are claimed and not delivered.
    fn on_way(&self) -> u64 {
        self.fresh.start - self.made.next()
    }
}

#[cfg(test)]
mod tests {
    use arc_dsl::builtin::{self, Kind};
    use arc_dsl::generate::Generator;
    use arc_dsl::{Limits, Program};

    use super::*;
    use crate::batch::Job;
    use crate::executors::Compilation;
    use crate::options::Merging;

    const PAIRS: u64 = 3;

    /// What has so many variations of a program on so many tasks, one after the other, made by two workers; merged tasks
    /// are worth dividing.
    fn with_queue(count: usize, tasks: usize, test: impl FnOnce(&Batch<'_>, &Queue<'_>)) {
        with_queue_of(Duration::from_micros(100), count, tasks, test);
    }

    /// The same, an evaluation expected to take so long.
    fn with_queue_of(
        each: Duration,
        count: usize,
        tasks: usize,
        test: impl FnOnce(&Batch<'_>, &Queue<'_>),
    ) {
        let whole = builtin::all().iter().find(|one| one.kind() == Kind::Whole);
        let whole = whole.unwrap();
        let mut generator = Generator::new(1);
        let programs: Vec<Program> = (0..count)
            .map(|_| generator.variation(whole.program()))
            .collect();
        let seeds = 1..=tasks as u64;
        let tasks: Vec<_> = seeds
            .map(|seed| whole.task(seed, PAIRS as usize - 1, 1, 10))
            .collect();
        let job = |at: usize| Job {
            program: (at % count) as u32,
            task: (at / count) as u32,
        };
        let jobs = (0..tasks.len() * count).map(job).collect();
        let batch = Batch::listed(&programs, &tasks, jobs).unwrap();
        let plan = Plan::new(
            &batch,
            Merging::Always,
            Compilation::Auto,
            &Limits::default(),
        )
        .unwrap();
        let pace = Pace::default();
        pace.is(1, each);
        let all = 0..batch.evaluations();
        test(
            &batch,
            &Queue::new(&batch, Some(&plan), all, 2, None, &pace),
        );
    }

    fn chunk(claimed: Option<Claimed>) -> Option<Chunk> {
        match claimed?.work {
            Work::Chunk(chunk, _) => Some(chunk),
            Work::Piece(_) => None,
        }
    }

    fn piece(claimed: Option<Claimed>) -> Option<Piece> {
        match claimed?.work {
            Work::Chunk(..) => None,
            Work::Piece(piece) => Some(piece),
        }
    }

    #[test]
    fn who_has_begun_a_batt_goes_on_with_it_while_there_is_anything_else() {
        let of_task = 16 * PAIRS;
        with_queue(16, 3, |_, queue| {
            let mut first = chunk(queue.claim(0)).unwrap();
            assert_eq!(first.evaluations, 0..of_task);
            let mut rest = first.split_off(PAIRS as usize).unwrap();
            rest.merged_by = Some(0);
            let left = rest.evaluations.clone();
            let (now, no_time) = (Instant::now(), Duration::ZERO);
            queue.put(first.evaluations, Vec::new(), Some(rest), now, no_time);

            // The other two tasks, each divided in two.
            for _ in 0..4 {
                assert!(piece(queue.claim(1)).is_some());
            }
            let mine = chunk(queue.claim(0)).unwrap().evaluations;
            assert_eq!(mine.start, left.start);
            // Nothing else is left, so that another may help.
            assert!(mine.end < left.end);
            let others = chunk(queue.claim(1)).unwrap().evaluations;
            assert_eq!(others.start, mine.end);
        });
    }

    #[test]
    fn a_task_that_is_merged_sooner_than_divided_is_one_workers() {
        with_queue_of(Duration::from_micros(2), 16, 1, |batch, queue| {
            let all = chunk(queue.claim(0)).unwrap();
            assert_eq!(all.evaluations, 0..batch.evaluations());
            assert!(queue.work().is_zero());
        });
    }

    #[test]
    fn who_has_begun_a_part_comes_back_for_the_last_of_it() {
        with_queue(16, 1, |_, queue| {
            let mine = piece(queue.claim(0)).unwrap();
            let pairs = mine.pairs.clone();
            let others = piece(queue.claim(1)).unwrap();
            assert!(give_back(queue, others, usize::MAX).0.is_none());
            let (_, answered) = give_back(queue, mine, usize::MAX);
            // The other one does not take what is left of mine before I am back.
            while let Some(piece) = piece(queue.claim(1)) {
                assert_ne!(piece.pairs, pairs);
                assert!(give_back(queue, piece, usize::MAX).0.is_none());
            }
            let rest = piece(queue.claim(0)).unwrap();
            assert_eq!(rest.pairs, pairs);
            let (whole, left) = give_back(queue, rest, usize::MAX);
            assert_eq!(answered + left, 16 * pairs.len());
            assert!(whole.is_some());
        });
    }

    /// Answers the next segment of a piece; how many evaluations it has.
    fn answer(piece: &mut Piece) -> Option<usize> {
        let len = piece.next()?.len;
        let answered = piece.answers.len();
        piece.answers.resize_with(answered + len, || None);
        Some(len)
    }

    /// Answers as many segments of a piece, and gives it back; the chunk in the end, and how many evaluations
    /// were answered.
    fn give_back(queue: &Queue<'_>, mut piece: Piece, most: usize) -> (Option<Chunk>, usize) {
        let segments = std::iter::from_fn(|| answer(&mut piece));
        let answered = segments.take(most).sum();
        let chunk = queue.put_piece(piece, Instant::now());
        (chunk.map(|(chunk, _)| chunk), answered)
    }

    #[test]
    fn a_task_is_divided_by_pairs_and_each_worker_keeps_its_own() {
        with_queue(16, 1, |batch, queue| {
            let mine = piece(queue.claim(0)).unwrap();
            let others = piece(queue.claim(1)).unwrap();
            assert_ne!(mine.pairs, others.pairs);
            let pairs = [mine.pairs.clone(), others.pairs.clone()];
            let mut all = 0;
            for (piece, most) in [(mine, 1), (others, usize::MAX)] {
                let (chunk, answered) = give_back(queue, piece, most);
                assert!(chunk.is_none());
                all += answered;
            }
            // Each goes on with its own.
            let mut last = None;
            let mut worker = 0;
            while let Some(piece) = piece(queue.claim(worker)) {
                assert_eq!(piece.pairs, pairs[worker]);
                let (chunk, answered) = give_back(queue, piece, usize::MAX);
                (all, last) = (all + answered, chunk);
                worker = 1 - worker;
            }
            let whole = last.unwrap();
            assert_eq!((whole.len(), whole.answers.len()), (all, all));
            assert_eq!(whole.evaluations, 0..batch.evaluations());
        });
    }

    #[test]
    fn who_is_done_with_its_pairs_takes_half_of_the_programs_that_another_has_left() {
        with_queue(64, 1, |batch, queue| {
            let slow = piece(queue.claim(0)).unwrap();
            let (mut all, mut of_slow) = (0, 0);
            while let Some(piece) = piece(queue.claim(1)) {
                let is_shared = piece.pairs == slow.pairs;
                let (chunk, answered) = give_back(queue, piece, usize::MAX);
                assert!(chunk.is_none());
                all += answered;
                of_slow += if is_shared { answered } else { 0 };
            }
            // All of the other pairs, and of these a part.
            let pairs = slow.pairs.len();
            assert_eq!(all - of_slow, 64 * (PAIRS as usize - pairs));
            assert!((16..48).contains(&(of_slow / pairs)), "{of_slow}");
            let mut last = None;
            let mut next = Some(slow);
            while let Some(piece) = next {
                let (chunk, answered) = give_back(queue, piece, usize::MAX);
                (all, last) = (all + answered, chunk);
                next = self::piece(queue.claim(0));
            }
            let whole = last.unwrap();
            assert_eq!(whole.answers.len(), all);
            assert_eq!(whole.evaluations, 0..batch.evaluations());
        });
    }

    #[test]
    fn a_stop_leaves_nothing_of_what_is_divided() {
        with_queue(16, 1, |_, queue| {
            let piece = piece(queue.claim(0)).unwrap();
            queue.stop();
            assert!(queue.claim(1).is_none());
            assert!(!queue.is_over());
            assert!(queue.put_piece(piece, Instant::now()).is_none());
            assert!(queue.is_over());
        });
    }
}
