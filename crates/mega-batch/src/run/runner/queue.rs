//! [`Queue`]: the evaluations of a batch, from which workers claim chunks and devices windows, and their results on the
//! way back.
//!
//! A chunk is consecutive evaluations that are expected to take a certain time: the more work remains, the longer, so
//! that dispatching costs next to nothing and all workers finish together. (Guided self-scheduling, Polychronopoulos
//! and Kuck 1987, by time rather than by count.) A worker that needs longer than expected returns the rest of its
//! chunk.
//!
//! A device's window is claimed by a worker, which prepares it. When the device has finished it, it comes back as a chunk
//! with answers, of which workers claim parts like of any other. What a device fails on is unclaimed again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gpu_sched::{Finished, Order, Signal, Window};

use super::Clock;
use super::chunk::Chunk;
use super::device::{Fleet, Prepared, WindowAnswers};
use super::merging::MergePlan;
use super::partition::{Owners, Partition, Piece};
use super::unit::units_of;
use crate::batch::Batch;
use crate::batch::options::Merging;
use crate::results::outcome::Known;
use crate::run::panics::lock;

/// The work that a worker has claimed.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) work: Work,
    /// The most time that it is expected to take.
    pub(super) time: Duration,
}

#[derive(Debug)]
pub(super) enum Work {
    /// Evaluations, and a vector for their results.
    Chunk(Chunk, Vec<Known>),
    /// Some pairs of a chunk that several workers merge.
    Piece(Piece),
    /// A window to prepare for a device.
    Window(Window),
}

/// Bounds on the duration of a chunk. With one worker, chunks only set the interval of progress reports, so they may
/// be longer.
const LONGEST: Duration = Duration::from_micros(200);
const LONGEST_ALONE: Duration = Duration::from_millis(1);
const SHORTEST: Duration = Duration::from_micros(10);

/// The maximum as long as only an earlier batch tells how long evaluations take.
const LONGEST_GUESSED: Duration = Duration::from_micros(20);

/// The most evaluations in a chunk, however short they are.
pub(super) const MAX_CHUNK: u64 = 1024;

/// Jobs with at most this many pairs are not divided between chunks.
const FEW_PAIRS: usize = 16;

/// The least time of the merged programs of a task for its pairs to be divided among workers, each of which goes
/// through all programs. Measured: below it, variations of a program on four pairs were faster on one worker.
const WORTH_DIVIDING: Duration = Duration::from_micros(600);

/// The expected time of an evaluation in picoseconds, kept between batches.
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

    /// The expected time of this many evaluations.
    fn time(&self, evaluations: u64) -> Duration {
        Duration::from_nanos(self.get().saturating_mul(evaluations) / 1000)
    }

    /// How many evaluations are expected to take this time.
    fn count(&self, time: Duration) -> u64 {
        time.as_nanos() as u64 * 1000 / self.get().max(1)
    }

    /// Records a measurement; it has the same weight as all earlier ones together.
    fn learn(&self, evaluations: u64, time: Duration) {
        let before = self.get();
        self.replace(evaluations, time);
        self.0
            .store((before / 2 + self.get() / 2).max(1), Ordering::Relaxed);
    }

    /// Records a measurement and drops all earlier ones.
    pub(super) fn replace(&self, evaluations: u64, time: Duration) {
        let picoseconds = (time.as_nanos() as u64).saturating_mul(1000);
        if let Some(each) = picoseconds.checked_div(evaluations) {
            self.0.store(each.max(1), Ordering::Relaxed);
        }
    }
}

/// The evaluations to run, and the results to deliver.
#[derive(Debug)]
pub(super) struct Queue<'p> {
    batch: &'p Batch<'p>,
    plan: Option<&'p MergePlan<'p>>,
    state: Mutex<QueueState>,
    /// The devices, and the evaluations that nobody has claimed. It is locked after the state.
    fleet: &'p Mutex<Fleet>,
    has_devices: bool,
    /// Counts changes, for waiting threads, and how many there were before the batch.
    signal: Arc<Signal>,
    changes_before: u64,
    /// How many evaluations nobody has claimed, and how many chunks are claimed: written under the lock, read without
    /// it.
    waiting: AtomicU64,
    in_hand: AtomicUsize,
    /// How many workers besides the calling thread are running or being woken.
    pub(super) helpers: AtomicUsize,
    pace: &'p Pace,
    workers: u32,
    /// How many evaluations may be claimed and not yet delivered; `None` if results are not delivered.
    room: Option<u64>,
}

#[derive(Debug)]
struct QueueState {
    returned: Returned,
    /// Chunks that workers merge pair by pair, in the order of the batch.
    partitions: Vec<Partition>,
    owners: Owners,
    finished: Order<Vec<Known>>,
    /// Empty vectors for results.
    spare: Vec<Vec<Known>>,
    clock: Clock,
    /// How many evaluations are finished, and the time that they took, summed over workers.
    all: (u64, Duration),
    /// Whether a worker has ended before its work was done.
    is_lost: bool,
}

/// Chunks that were returned. A window that the host has kept parts of comes back in many.
#[derive(Debug, Default)]
struct Returned {
    /// By their first evaluation.
    chunks: BTreeMap<u64, Chunk>,
    /// How many evaluations they have.
    evaluations: u64,
}

impl Returned {
    fn extend(&mut self, chunks: impl IntoIterator<Item = Chunk>) {
        for chunk in chunks {
            self.evaluations += chunk.len() as u64;
            self.chunks.insert(chunk.evaluations.start, chunk);
        }
    }

    /// Removes the first chunk that fits.
    fn pop(&mut self, fits: impl Fn(&Chunk) -> bool) -> Option<Chunk> {
        let (start, chunk) = self.chunks.iter().find(|(_, chunk)| fits(chunk))?;
        let start = *start;
        self.evaluations -= chunk.len() as u64;
        self.chunks.remove(&start)
    }
}

impl<'p> Queue<'p> {
    /// A queue of the evaluations `left`, for this many workers and the devices of a fleet.
    pub(super) fn new(
        batch: &'p Batch<'p>,
        plan: Option<&'p MergePlan<'p>>,
        left: Range<u64>,
        workers: usize,
        fleet: &'p Mutex<Fleet>,
        room: Option<u64>,
        pace: &'p Pace,
    ) -> Self {
        let mut devices = lock(fleet);
        devices.scheduler_mut().begin(left.clone());
        let signal = Arc::clone(devices.signal());
        let queue = Self {
            batch,
            plan,
            has_devices: devices.scheduler().activities().len() > 0,
            fleet,
            changes_before: signal.changes(),
            signal,
            waiting: AtomicU64::new(0),
            in_hand: AtomicUsize::new(0),
            state: Mutex::new(QueueState {
                finished: Order::starting_at(left.start),
                returned: Returned::default(),
                partitions: Vec::new(),
                owners: Owners::default(),
                spare: Vec::new(),
                clock: Clock::default(),
                all: (0, Duration::ZERO),
                is_lost: false,
            }),
            helpers: AtomicUsize::new(0),
            pace,
            workers: u32::try_from(workers).unwrap_or(u32::MAX).max(1),
            room,
        };
        queue.update_waiting(&lock(&queue.state), &devices);
        queue
    }

    fn lock(&self) -> (MutexGuard<'_, QueueState>, MutexGuard<'_, Fleet>) {
        (lock(&self.state), lock(self.fleet))
    }

    /// What the scheduler of devices has to know of the host.
    fn host(&self, state: &QueueState, fleet: &Fleet) -> gpu_sched::Host {
        let on_way = state.on_way(fleet);
        gpu_sched::Host {
            room: self
                .room
                .map_or(u64::MAX, |room| room.saturating_sub(on_way)),
            unit: self.pace.get() as f64 * 1e-12 / f64::from(self.workers),
        }
    }

    /// Notes what has happened on devices.
    pub(super) fn receive(&self) {
        if self.has_devices {
            let (mut state, mut fleet) = self.lock();
            state.receive(&mut fleet);
            self.update_waiting(&state, &fleet);
        }
    }

    /// Claims the next work for this worker; `None` if none is available, for now or at all.
    pub(super) fn claim(&self, worker: usize) -> Option<Claimed> {
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting == 0 && !self.has_devices {
            return None;
        }
        let time = if self.workers == 1 {
            LONGEST_ALONE
        } else {
            let share = self.pace.time(waiting) / (2 * self.workers);
            let longest = if self.has_changed() {
                LONGEST
            } else {
                LONGEST_GUESSED
            };
            share.clamp(SHORTEST, longest)
        };
        let count = self.pace.count(time).clamp(1, MAX_CHUNK);
        let (mut state, mut fleet) = self.lock();
        let (state, fleet) = (&mut *state, &mut *fleet);
        if self.has_devices {
            state.receive(fleet);
        }
        // Devices come first: while one waits, more than a worker is idle.
        let host = self.host(state, fleet);
        let window = fleet.claim(host).map(Work::Window);
        // Others wait for the results of returned chunks, so these come first. What another worker has begun to merge
        // is left to that worker as long as there is anything else: two would repeat its calls.
        let is_mine = |chunk: &Chunk| chunk.merged_by.is_none_or(|by| by == worker);
        let work = window
            .or_else(|| self.pop_returned(state, count, is_mine))
            .or_else(|| state.piece(worker, false))
            .or_else(|| self.cut(state, fleet, count, worker, host.room > 0))
            .or_else(|| state.piece(worker, true))
            .or_else(|| self.pop_returned(state, count, |_| true))?;
        self.in_hand.fetch_add(1, Ordering::Relaxed);
        self.update_waiting(state, fleet);
        // A whole task may be more than was asked for.
        let time = match &work {
            Work::Chunk(chunk, _) => time.max(self.pace.time(chunk.len() as u64)),
            Work::Piece(_) | Work::Window(_) => time,
        };
        Some(Claimed { work, time })
    }

    /// About `count` evaluations, to the end of a job, of the first returned chunk that fits.
    fn pop_returned(
        &self,
        state: &mut QueueState,
        count: u64,
        fits: impl Fn(&Chunk) -> bool,
    ) -> Option<Work> {
        let mut chunk = state.returned.pop(fits)?;
        // Answered evaluations take next to no time, except for some that other evaluators have to answer.
        let count = if chunk.answers.is_empty() && !chunk.by_device {
            count
        } else {
            MAX_CHUNK
        };
        let end = self.end_of_job(&chunk.evaluations, chunk.evaluations.start + count);
        let rest = chunk.split_off((end - chunk.evaluations.start) as usize);
        state.returned.extend(rest);
        Some(state.work(chunk))
    }

    /// Cuts about `count` evaluations from those that devices gave back, or from those that were never claimed if there
    /// is room, or claims a part of a chunk that several workers merge.
    fn cut(
        &self,
        state: &mut QueueState,
        fleet: &mut Fleet,
        count: u64,
        worker: usize,
        is_room: bool,
    ) -> Option<Work> {
        let scheduler = fleet.scheduler_mut();
        let fresh = scheduler.for_host()?;
        if fresh != *scheduler.fresh() {
            let end = self.end_of_job(&fresh, fresh.start + count);
            scheduler.take(fresh.start, end);
            return Some(state.work(Chunk::of(fresh.start..end)));
        }
        if !is_room {
            return None;
        }
        let mut end = fresh.start + count;
        let (job, _) = self.batch.evaluation(fresh.start);
        let several = self.plan.filter(|_| self.workers > 1);
        if let Some(plan) = several.filter(|plan| plan.is_merged(job)) {
            // If tasks follow each other, each worker merges the programs of a different task.
            let (end_of_task, jobs) = self.end_of_task(&fresh, job);
            let (of_task, behind) = (end_of_task - fresh.start, fresh.end - end_of_task);
            let is_enough = behind >= of_task * u64::from(self.workers);
            let is_short = self.pace.time(of_task) < WORTH_DIVIDING;
            if jobs >= Merging::LEAST_PROGRAMS && (is_enough || is_short) {
                end = end.max(end_of_task);
            } else if let Some(partition) = self.partition(&fresh, plan) {
                scheduler.take(fresh.start, partition.end());
                return state.divide(partition, worker);
            }
        }
        let end = self.end_of_job(&fresh, end);
        scheduler.take(fresh.start, end);
        Some(state.work(Chunk::of(fresh.start..end)))
    }

    /// Where the evaluations of the first job's task end, and how many jobs that are; at most the size of a chunk.
    fn end_of_task(&self, within: &Range<u64>, job: usize) -> (u64, usize) {
        let most = within.end.min(within.start + MAX_CHUNK);
        let task = |at| self.batch.job(at).task;
        let last = self.batch.job_count().min(job + MAX_CHUNK as usize);
        let other = (job + 1..last).find(|at| task(*at) != task(job));
        let end = other.map_or(most, |other| self.batch.first_of(other).min(most));
        (end, other.unwrap_or(last) - job)
    }

    /// The next evaluations, divided by pairs; `None` if there is nothing to divide.
    fn partition(&self, fresh: &Range<u64>, plan: &MergePlan<'_>) -> Option<Partition> {
        let end = self.end_of_job(fresh, fresh.end.min(fresh.start + MAX_CHUNK));
        let evaluations = fresh.start..end;
        let segments = plan.segments(&units_of(self.batch, &evaluations));
        let chunk = Chunk::of(evaluations);
        Partition::of(self.batch, chunk, &segments, self.workers as usize)
    }

    /// Takes back a chunk that was evaluated from `began` on, without the rests, which are returned to the queue.
    /// `before` is the time that its answers took earlier; `None` if a device gave them, which says nothing of workers.
    pub(super) fn put(
        &self,
        made: Range<u64>,
        mut results: Vec<Known>,
        rests: impl IntoIterator<Item = Chunk>,
        began: Instant,
        before: Option<Duration>,
    ) {
        let ended = Instant::now();
        let (evaluations, time) = (made.end - made.start, ended - began);
        let (mut state, fleet) = self.lock();
        let state = &mut *state;
        if let Some(before) = before {
            self.pace.learn(evaluations, time + before);
            state.all = (state.all.0 + evaluations, state.all.1 + time);
        }
        self.in_hand.fetch_sub(1, Ordering::Relaxed);
        state.clock.add(began, ended);
        state.returned.extend(rests);
        self.update_waiting(state, &fleet);
        if self.room.is_some() && !made.is_empty() {
            state.finished.put(made, results);
        } else {
            results.clear();
            state.spare.push(results);
        }
        self.signal.ring();
    }

    /// Gives a device its window, whose preparation took `time`, without what the host `kept`, which workers claim
    /// before anything else.
    pub(super) fn hand_over(
        &self,
        window: &Window,
        prepared: Prepared,
        kept: &[Range<u64>],
        time: Duration,
    ) {
        let (mut state, mut fleet) = self.lock();
        if fleet.hand_over(window, prepared, kept, time) {
            let kept = kept.iter().cloned().map(Chunk::of);
            state.returned.extend(kept);
        }
        self.in_hand.fetch_sub(1, Ordering::Relaxed);
        self.update_waiting(&state, &fleet);
        self.signal.ring();
    }

    /// How many evaluations devices have finished.
    pub(super) fn on_devices(&self) -> u64 {
        on_devices(&lock(self.fleet))
    }

    /// Takes back a piece that was merged from `began` on; returns the chunk if this was its last piece.
    pub(super) fn put_piece(&self, piece: Piece, began: Instant) -> Option<(Chunk, Vec<Known>)> {
        let ended = Instant::now();
        let (evaluations, time) = (piece.answers.len() as u64, ended - began);
        self.pace.learn(evaluations, time);
        let (mut state, fleet) = self.lock();
        let state = &mut *state;
        state.clock.add(began, ended);
        state.all.1 += time;
        // After a stop the partition is gone, and nobody needs the answers.
        let at = state.partitions.iter().position(|it| it.has(&piece));
        if let Some(at) = at
            && state.partitions[at].put(piece, time)
        {
            let chunk = state.partitions.remove(at).into_chunk();
            self.update_waiting(state, &fleet);
            return Some((chunk, state.spare.pop().unwrap_or_default()));
        }
        self.in_hand.fetch_sub(1, Ordering::Relaxed);
        self.update_waiting(state, &fleet);
        // Its own worker claims the rest, and waking another takes longer than a piece.
        let others_could = state.partitions.iter().any(Partition::is_for_others);
        if others_could || state.partitions.is_empty() {
            self.signal.ring();
        } else {
            self.signal.count();
        }
        None
    }

    /// Whether results are delivered, beside being counted.
    pub(super) fn delivers(&self) -> bool {
        self.room.is_some()
    }

    /// The results that are next in the order of the batch, if they have arrived.
    pub(super) fn take(&self) -> Option<Vec<Known>> {
        self.room?;
        let (_, results) = lock(&self.state).finished.take()?;
        Some(results)
    }

    /// Takes back the memory of delivered results.
    pub(super) fn recycle(&self, mut results: Vec<Known>) {
        results.clear();
        lock(&self.state).spare.push(results);
    }

    /// Ends the batch: nothing more is claimed but what devices have answered, and returned chunks count as not
    /// evaluated.
    pub(super) fn stop(&self) {
        let (mut state, mut fleet) = self.lock();
        let state = &mut *state;
        let given_back = fleet.scheduler_mut().stop().into_iter().map(Chunk::of);
        let divided = std::mem::take(&mut state.partitions);
        let others = divided.into_iter().map(Partition::into_chunk);
        let returned = std::mem::take(&mut state.returned).chunks.into_values();
        let (answered, dropped): (Vec<_>, Vec<_>) = returned
            .chain(others)
            .chain(given_back)
            .partition(|chunk| chunk.by_device);
        state.returned.extend(answered);
        self.update_waiting(state, &fleet);
        if dropped.is_empty() {
            return;
        }
        for chunk in dropped {
            if self.room.is_some() {
                let nothing = (0..chunk.len()).map(|_| None).collect();
                state.finished.put(chunk.evaluations, nothing);
            }
        }
        self.signal.ring();
    }

    /// Waits up to `time` for others to return work; returns whether they did.
    pub(super) fn wait_for_returned(&self, time: Duration) -> bool {
        let is_waiting = || self.waiting.load(Ordering::Relaxed) > 0;
        if is_waiting() {
            // The remaining work waits for room for its results.
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

    /// Whether everything is finished.
    pub(super) fn is_over(&self) -> bool {
        let (state, fleet) = self.lock();
        fleet.scheduler().is_over()
            && state.returned.chunks.is_empty()
            && state.partitions.is_empty()
            && self.in_hand.load(Ordering::Relaxed) == 0
    }

    /// Records that a worker has ended before its work was done.
    pub(super) fn lose(&self) {
        lock(&self.state).is_lost = true;
        self.signal.ring();
    }

    pub(super) fn is_lost(&self) -> bool {
        lock(&self.state).is_lost
    }

    /// The expected time of the unclaimed work.
    pub(super) fn expected_work(&self) -> Duration {
        self.pace.time(self.waiting.load(Ordering::Relaxed))
    }

    /// Where a chunk ends that should end at `at`: there, or at the end of the job if that has few pairs. Otherwise a
    /// batt would be given its program twice.
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

    /// Updates the count of evaluations that workers can claim, for themselves or for a device.
    fn update_waiting(&self, state: &QueueState, fleet: &Fleet) {
        let unclaimed = match fleet.scheduler().waiting() {
            0 if self.has_devices => fleet.due(self.host(state, fleet)),
            waiting => waiting,
        };
        let divided = state.partitions.iter().map(|it| it.waiting() as u64);
        let waiting = unclaimed + state.returned.evaluations + divided.sum::<u64>();
        self.waiting.store(waiting, Ordering::Relaxed);
    }

    /// The counter of changes.
    pub(super) fn changes(&self) -> u64 {
        self.signal.changes()
    }

    /// Whether anything has been finished in this batch.
    pub(super) fn has_changed(&self) -> bool {
        self.changes() > self.changes_before
    }

    /// Waits for a change after `changes`, at most for `time`.
    pub(super) fn wait(&self, changes: u64, time: Duration) {
        self.signal.wait(changes, time);
    }

    /// The time during which work was running. The pace for the next batch is the average over this one, since its
    /// last chunks may have found most of their calls in batts.
    pub(super) fn finish(self) -> Duration {
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let (evaluations, time) = state.all;
        self.pace.replace(evaluations, time);
        state.clock.elapsed
    }
}

impl QueueState {
    /// Takes the windows that devices have finished.
    fn receive(&mut self, fleet: &mut Fleet) {
        while let Some(Finished {
            items,
            answer,
            stages,
        }) = fleet.receive()
        {
            self.clock.add(answer.note.began, Instant::now());
            let answers = Arc::new(WindowAnswers::new(answer, &stages));
            let chunks = items.into_iter().map(|items| Chunk {
                by_device: true,
                unread: Some(Arc::clone(&answers)),
                ..Chunk::of(items)
            });
            self.returned.extend(chunks);
        }
    }

    /// A claimed chunk, with a vector for its results.
    fn work(&mut self, chunk: Chunk) -> Work {
        Work::Chunk(chunk, self.spare.pop().unwrap_or_default())
    }

    /// Claims a part of the first partition that has any for the worker; see [`Partition::claim`].
    fn piece(&mut self, worker: usize, any: bool) -> Option<Work> {
        let owners = &mut self.owners;
        let mut partitions = self.partitions.iter_mut();
        let piece = partitions.find_map(|partition| partition.claim(worker, any, owners));
        piece.map(Work::Piece)
    }

    /// Adds a partition, and claims a part of it for the worker.
    fn divide(&mut self, mut partition: Partition, worker: usize) -> Option<Work> {
        let piece = partition.claim(worker, true, &mut self.owners);
        self.partitions.push(partition);
        piece.map(Work::Piece)
    }

    /// How many evaluations are claimed and not yet delivered.
    fn on_way(&self, fleet: &Fleet) -> u64 {
        fleet.scheduler().fresh().start - self.finished.next()
    }
}

/// How many evaluations a fleet's devices have finished.
pub(super) fn on_devices(fleet: &Fleet) -> u64 {
    let activities = fleet.scheduler().activities();
    activities.map(|(_, activity)| activity.items).sum()
}

#[cfg(test)]
mod tests {
    use arc_dsl::generate::Generator;
    use arc_dsl::{Limits, Program};
    use arc_tasks::builtin::{self, BuiltinKind};

    use super::*;
    use crate::batch::Job;
    use crate::batch::options::Merging;
    use crate::run::executors::Compilation;

    const PAIRS: u64 = 3;

    /// A queue of variations of a program on several tasks, one task after the other, for two workers; merged tasks
    /// are worth dividing.
    fn with_queue(count: usize, tasks: usize, test: impl FnOnce(&Batch<'_>, &Queue<'_>)) {
        with_queue_of(Duration::from_micros(100), count, tasks, test);
    }

    /// The same, with the expected time of an evaluation.
    fn with_queue_of(
        each: Duration,
        count: usize,
        tasks: usize,
        test: impl FnOnce(&Batch<'_>, &Queue<'_>),
    ) {
        let whole = builtin::all()
            .iter()
            .find(|one| one.kind() == BuiltinKind::Whole);
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
        let plan = MergePlan::new(
            &batch,
            Merging::Always,
            Compilation::Auto,
            &Limits::default(),
        )
        .unwrap();
        let pace = Pace::default();
        pace.replace(1, each);
        let all = 0..batch.evaluations();
        let fleet = Mutex::new(Fleet::new(gpu_sched::Policy::default()));
        test(
            &batch,
            &Queue::new(&batch, Some(&plan), all, 2, &fleet, None, &pace),
        );
    }

    fn chunk(claimed: Option<Claimed>) -> Option<Chunk> {
        match claimed?.work {
            Work::Chunk(chunk, _) => Some(chunk),
            Work::Piece(_) | Work::Window(_) => None,
        }
    }

    fn piece(claimed: Option<Claimed>) -> Option<Piece> {
        match claimed?.work {
            Work::Chunk(..) | Work::Window(_) => None,
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
            queue.put(
                first.evaluations,
                Vec::new(),
                Some(rest),
                now,
                Some(no_time),
            );

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
            assert!(queue.expected_work().is_zero());
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

    /// Answers the next segment of a piece; returns how many evaluations it has.
    fn answer(piece: &mut Piece) -> Option<usize> {
        let len = piece.next()?.len;
        let answered = piece.answers.len();
        piece.answers.resize_with(answered + len, || None);
        Some(len)
    }

    /// Answers this many segments of a piece and takes it back; returns the chunk if it is complete, and how many
    /// evaluations were answered.
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
