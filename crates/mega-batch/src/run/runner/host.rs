//! [`Host`]: runs a batch on the threads of this machine, including the calling thread, beside devices if there are any.
//!
//! The calling thread claims work from the [`Queue`] like the others, and between delivers results to the sink. It
//! begins alone, and wakes others if there is enough work for them; each woken thread may wake the next. So a batch that
//! takes less time than waking a thread costs no more than on one thread. A device has no thread here that waits for
//! it: whoever is free prepares its next window.

use std::cell::{Cell, RefCell};
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_cpu::{Compiled, prefetch};
use gpu_sched::Window;
use rayon::{Scope, Yield};

use super::chunk::Chunk;
use super::evaluator::Ahead;
use super::merging::MergePlan;
use super::partition::Piece;
use super::queue::{Claimed, Queue, Work};
use super::unit::{Unit, units_of};
use super::worker::Watch;
use super::{PROGRESS_INTERVAL, Run, lost};
use crate::results::outcome::Known;
use crate::results::sink::Sink;
use crate::results::summary::{SummaryCounts, Tally};
use crate::run::backend::EvaluatedBy;
use crate::run::delivery::Delivery;
use crate::run::panics::lock;

/// How much work there must be per thread to wake one that sleeps, and to use one that is still awake: each is about
/// what that takes.
const WORTH_WAKING: Duration = Duration::from_micros(60);
const WORTH_ASSIGNING: Duration = Duration::from_micros(20);

/// The same before the first chunk of a batch has finished, when only an earlier batch tells how long evaluations
/// take.
const WORTH_WAKING_BY_GUESS: Duration = Duration::from_micros(300);

/// How long a thread stays awake for the next batch.
const AWAKE: Duration = Duration::from_micros(50);

/// How long a thread without work waits for others to return some, and the calling thread for others to end, before
/// it sleeps.
const ENDING: Duration = Duration::from_micros(200);

/// The number of awake threads in a pool, whether they work or not.
#[derive(Debug, Default)]
pub(super) struct Awake(AtomicUsize);

thread_local! {
    static STAYS_AWAKE: Cell<bool> = const { Cell::new(false) };
}

impl Awake {
    /// Keeps this thread of a pool awake for a moment after its current work.
    fn stay(awake: &Arc<Self>) {
        if STAYS_AWAKE.get() {
            return;
        }
        let awake = Arc::clone(awake);
        rayon::spawn(move || {
            STAYS_AWAKE.set(true);
            awake.0.fetch_add(1, Ordering::Relaxed);
            let mut since = Instant::now();
            while since.elapsed() < AWAKE {
                if rayon::yield_now() == Some(Yield::Executed) {
                    since = Instant::now();
                }
                std::hint::spin_loop();
            }
            awake.0.fetch_sub(1, Ordering::Relaxed);
            STAYS_AWAKE.set(false);
        });
    }
}

/// A batch that runs on the host.
#[derive(Clone, Copy)]
pub(super) struct Host<'h, 'r> {
    pub(super) run: Run<'r>,
    pub(super) queue: &'h Queue<'r>,
    pub(super) tally: &'h Tally<'r>,
    /// Which jobs are merged, if any.
    pub(super) plan: Option<&'h MergePlan<'r>>,
    /// Whether workers count their own results. If a job ends at its first wrong result, only the delivery in order
    /// knows which results count.
    pub(super) workers_count: bool,
}

impl<'h, 'r> Host<'h, 'r> {
    /// Runs and delivers everything, with the help of other threads if there are any. Without a scope it cannot wake
    /// others: it then returns when others are needed, with the claimed work in `in_hand`. Returns whether the batch
    /// is finished.
    pub(super) fn deliver<'scope, S: Sink>(
        self,
        scope: Option<&Scope<'scope>>,
        in_hand: &mut Option<Claimed>,
        delivery: &mut Delivery<'_, '_, S>,
    ) -> io::Result<bool>
    where
        'h: 'scope,
        'r: 'scope,
    {
        let (run, queue) = (self.run, self.queue);
        let caller_works = run.runner.caller_works;
        let mut last_told = Instant::now();
        loop {
            let changes = queue.changes();
            queue.receive();
            run.tell_progress(delivery.sink(), &mut last_told, || queue.on_devices());
            while let Some(mut results) = queue.take() {
                delivery.deliver(&mut results, self.workers_count)?;
                queue.recycle(results);
                if let Some(wrong) = delivery.wrong_job() {
                    run.wrong.store(wrong, Ordering::Relaxed);
                }
                run.tell_progress(delivery.sink(), &mut last_told, || queue.on_devices());
            }
            if run.stopped() {
                queue.stop();
            }
            if caller_works && in_hand.is_none() {
                *in_hand = queue.claim(run.worker_number());
            }
            if self.has_work_for_another() {
                match scope {
                    Some(scope) => self.wake_another(scope),
                    None => return Ok(false),
                }
            }
            if let Some(claimed) = in_hand.take() {
                let tell =
                    RefCell::new(|| run.tell_progress(delivery.sink(), &mut last_told, || 0));
                self.run_claimed(claimed, &|| tell.borrow_mut()());
                continue;
            }
            if queue.is_lost() {
                return Err(lost());
            }
            if queue.is_over() && queue.changes() == changes {
                break;
            }
            queue.wait(changes, PROGRESS_INTERVAL);
        }
        // Joining sleeping threads takes long to wake up.
        let began = Instant::now();
        while queue.helpers.load(Ordering::Acquire) > 0 && began.elapsed() < ENDING {
            std::hint::spin_loop();
        }
        Ok(true)
    }

    /// Whether there is enough work for one more thread, and a thread to do it.
    fn has_work_for_another(self) -> bool {
        let runner = self.run.runner;
        let others = runner
            .pool
            .as_ref()
            .map_or(0, rayon::ThreadPool::current_num_threads);
        let at_work = self.queue.helpers.load(Ordering::Relaxed);
        let work = self.queue.expected_work();
        if at_work >= others || work.is_zero() {
            return false;
        }
        let is_awake = runner.awake.0.load(Ordering::Relaxed) > at_work;
        let worth = match (is_awake, self.queue.has_changed()) {
            (true, _) => WORTH_ASSIGNING,
            (false, false) => WORTH_WAKING_BY_GUESS,
            (false, true) => WORTH_WAKING,
        };
        let is_needed = at_work == 0 && !runner.caller_works;
        is_needed || work >= worth * (at_work as u32 + 1)
    }

    /// Wakes another thread, unless others have already done so.
    fn wake_another<'scope>(self, scope: &Scope<'scope>)
    where
        'h: 'scope,
        'r: 'scope,
    {
        let helpers = &self.queue.helpers;
        let at_work = helpers.load(Ordering::Relaxed);
        let others = self.run.runner.workers.len() - usize::from(self.run.runner.caller_works);
        let (one_more, relaxed) = (at_work + 1, Ordering::Relaxed);
        if at_work < others
            && helpers
                .compare_exchange(at_work, one_more, Ordering::AcqRel, relaxed)
                .is_ok()
        {
            scope.spawn(move |scope| self.help(scope));
        }
    }

    /// Runs claimed work until there is none.
    fn help<'scope>(self, scope: &Scope<'scope>)
    where
        'h: 'scope,
        'r: 'scope,
    {
        let work = || {
            loop {
                let claimed = self.queue.claim(self.run.worker_number());
                if self.has_work_for_another() {
                    self.wake_another(scope);
                }
                match claimed {
                    Some(claimed) => self.run_claimed(claimed, &|| {}),
                    None if self.queue.wait_for_returned(ENDING) => {}
                    None => break,
                }
            }
        };
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.queue.lose();
        }
        Awake::stay(&self.run.runner.awake);
        self.queue.helpers.fetch_sub(1, Ordering::Release);
    }

    /// Evaluates a chunk until its time is over, and returns the rest to the queue; or prepares a window. `meanwhile` is
    /// called a few times a second while it waits for a process.
    fn run_claimed(self, claimed: Claimed, meanwhile: &dyn Fn()) {
        let time = claimed.time;
        let (mut chunk, mut results) = match claimed.work {
            Work::Chunk(chunk, results) => (chunk, results),
            Work::Piece(piece) => match self.merge_piece(piece, time) {
                Some(chunk) => chunk,
                None => return,
            },
            Work::Window(window) => return self.prepare(&window),
        };
        let began = Instant::now();
        if let Some(passed_on) = self.tally_verdicts(&chunk) {
            self.queue
                .put(chunk.evaluations, results, passed_on, began, None);
            return;
        }
        let units = units_of(self.run.batch, &chunk.evaluations);
        if let (Some(window), Some(stage)) = (chunk.unread.take(), self.run.device_stage) {
            chunk.answers = stage.read(&window, &units, chunk.evaluations.start);
            chunk.share = window.share;
        }
        let is_answered = !chunk.answers.is_empty();
        let unmerged = match self.plan {
            Some(plan) if !is_answered => self.merge(plan, &units, &mut chunk, time),
            _ => None,
        };
        let finished = {
            let watch = Watch::of(2 * time).meanwhile(meanwhile);
            self.evaluate(&units, &mut chunk, watch, &mut results)
        };
        if self.workers_count {
            self.count(chunk.evaluations.start, &results);
        }
        let share = if is_answered {
            chunk.share
        } else {
            Duration::ZERO
        };
        let before = (!chunk.by_device).then(|| share * finished as u32);
        let rest = chunk.split_off(finished);
        let rests = rest.into_iter().chain(unmerged);
        self.queue
            .put(chunk.evaluations, results, rests, began, before);
    }

    /// Counts the verdicts of a device, job by job, where nobody takes the results themselves, and returns those jobs of
    /// which it passes some evaluations on, with its answers for the others.
    fn tally_verdicts(self, chunk: &Chunk) -> Option<Vec<Chunk>> {
        let is_counted = self.workers_count && !self.queue.delivers();
        let window = chunk.unread.as_ref().filter(|_| is_counted)?;
        let (batch, stage) = (self.run.batch, self.run.device_stage?);
        let mut verdicts = stage.verdicts(window, &chunk.evaluations)?;
        let counts: &mut SummaryCounts = &mut lock(self.run.worker().tallied());
        let (mut job, mut pair) = batch.evaluation(chunk.evaluations.start);
        let (mut at, mut passed_on) = (chunk.evaluations.start, Vec::<Range<u64>>::new());
        let (mut program, mut answered, mut made) = (batch.job(job).program, 0, 0);
        let told = |program, answered| {
            stage.answered(program, answered);
            self.run.count_done(program, answered);
        };
        while !verdicts.is_empty() {
            let of_batch = batch.job(job);
            if of_batch.program != program {
                told(program, std::mem::take(&mut answered));
                program = of_batch.program;
            }
            let count = verdicts.len().min(batch.pairs_of(of_batch) - pair);
            let (of_job, others) = verdicts.split_at(count);
            let end = at + count as u64;
            if of_job.iter().all(|verdict| verdict.is_done()) {
                let are_right = of_job.iter().map(|verdict| verdict.ended() == Ok(true));
                self.tally
                    .add_verdicts(counts, job, pair, are_right, window.share);
                answered += count;
                made += count;
            } else {
                match passed_on.last_mut() {
                    Some(last) if last.end == at => last.end = end,
                    _ => passed_on.push(at..end),
                }
            }
            (at, job, pair, verdicts) = (end, job + 1, 0, others);
        }
        told(program, answered);
        self.run.worker().add_done(made as u64);
        let chunks = passed_on.into_iter().map(|evaluations| {
            let units = units_of(batch, &evaluations);
            Chunk {
                answers: stage.read(window, &units, evaluations.start),
                share: window.share,
                by_device: true,
                ..Chunk::of(evaluations)
            }
        });
        Some(chunks.collect())
    }

    /// Prepares a window for a device, and hands it over.
    fn prepare(self, window: &Window) {
        let Some(stage) = self.run.device_stage else {
            return;
        };
        let began = Instant::now();
        let (prepared, kept) = stage.prepare(&window.items, window.keep);
        self.queue
            .hand_over(window, prepared, &kept, began.elapsed());
    }

    /// Has batts evaluate a piece until its time is over; returns the chunk if this completes its answers.
    fn merge_piece(self, mut piece: Piece, time: Duration) -> Option<(Chunk, Vec<Known>)> {
        let (began, watch) = (Instant::now(), Watch::of(2 * time));
        let merger = &mut *lock(self.run.worker().merger());
        while piece.answers.is_empty() || !(watch.is_over() || self.run.stopped()) {
            let Some(segment) = piece.next() else {
                break;
            };
            let at = piece.answers.len();
            piece.answers.resize_with(at + segment.len, || None);
            merger.merge(self.run, &segment, &piece.pairs, &mut piece.answers[at..]);
        }
        self.queue.put_piece(piece, began)
    }

    /// Has batts evaluate the merged segments of a chunk until the time is over; splits off and returns the rest.
    fn merge(
        self,
        plan: &MergePlan<'_>,
        units: &[Unit],
        chunk: &mut Chunk,
        time: Duration,
    ) -> Option<Chunk> {
        let segments = plan.segments(units);
        if segments.is_empty() {
            return None;
        }
        let (began, watch) = (Instant::now(), Watch::of(2 * time));
        let merger = &mut *lock(self.run.worker().merger());
        chunk.answers.resize_with(chunk.len(), || None);
        let (mut merged, mut cut) = (0, None);
        for segment in &segments {
            let is_enough = merged > 0 && (watch.is_over() || self.run.stopped());
            if is_enough {
                cut = Some(segment.at);
                break;
            }
            let of_segment = &mut chunk.answers[segment.at..segment.at + segment.len];
            let batch = self.run.batch;
            let all = 0..batch.pairs_in(segment.task as usize);
            merger.merge(self.run, segment, &all, of_segment);
            merged += segment.len;
        }
        chunk.share = began.elapsed() / merged.max(1) as u32;
        let mut rest = chunk.split_off(cut?)?;
        rest.answers.clear();
        rest.merged_by = Some(self.run.worker_number());
        Some(rest)
    }

    /// Evaluates the rest of a chunk unit by unit until the watch ends it; returns how many evaluations are finished.
    fn evaluate(
        self,
        units: &[Unit],
        chunk: &mut Chunk,
        watch: Watch<'_>,
        results: &mut Vec<Known>,
    ) -> usize {
        let run = self.run;
        // Compile first, then evaluate: they use different code and data, so separating them saves cache misses.
        let (mut at, len) = (0, chunk.len());
        let programs = units.iter().map_while(|unit| {
            if at >= len {
                return None;
            }
            let of_unit = chunk.answers.iter().skip(at).take(unit.len);
            let answered = of_unit.flatten().count();
            at += unit.len;
            let is_due = answered < unit.len && !run.stopped();
            Some(is_due.then(|| run.programs.get(unit.program)).flatten())
        });
        let programs: Vec<Option<Arc<Compiled>>> = programs.collect();
        let mut finished = 0;
        for (number, unit) in units.iter().enumerate().take(programs.len()) {
            if finished == len || (number > 0 && watch.is_over() && !run.stopped()) {
                break;
            }
            // A chunk may end in the middle of a unit.
            let unit = &unit.split_at(run.batch, len - finished).0;
            self.prefetch_ahead(units, &programs, number);
            let answers = &mut chunk.answers[..];
            let answers = answers
                .get_mut(finished..finished + unit.len)
                .unwrap_or_default();
            let ahead = Ahead {
                answers,
                by: if chunk.by_device {
                    EvaluatedBy::Device
                } else {
                    EvaluatedBy::Batt
                },
                share: chunk.share,
            };
            let (program, following) = (programs[number].as_deref(), units.get(number + 1));
            let (count, time) = run.evaluate(unit, ahead, program, following, watch, results);
            run.count_done(unit.program, count);
            if let Some(stage) = run.device_stage.filter(|_| !chunk.by_device) {
                stage.learn(unit.program, count, time + chunk.share * count as u32);
            }
            finished += count;
            if count < unit.len {
                break;
            }
        }
        finished
    }

    /// Prefetches memory that the units behind one will read.
    ///
    /// A task refers to its pairs, a pair to its grid, and a grid to its cells, which [`Run::evaluate`] prefetches.
    /// Each can only be prefetched once the one before has arrived, so each step is done some units earlier than the
    /// next.
    fn prefetch_ahead(self, units: &[Unit], programs: &[Option<Arc<Compiled>>], at: usize) {
        let batch = self.run.batch;
        let program = |ahead: usize| programs.get(at + ahead)?.as_deref();
        let unit = |ahead: usize| program(ahead).map(|_| &units[at + ahead]);
        if let Some(unit) = unit(6) {
            prefetch(from_ref(batch.task(batch.job(unit.job))));
        }
        for (_, pair) in unit(4).into_iter().flat_map(|unit| unit.pairs(batch)) {
            prefetch(from_ref(pair));
        }
        for (_, pair) in unit(2).into_iter().flat_map(|unit| unit.pairs(batch)) {
            prefetch(from_ref(&*pair.input));
        }
        if let Some(program) = program(2) {
            prefetch(from_ref(program));
        }
        if let Some(program) = program(1) {
            program.prefetch();
        }
    }

    /// Counts the results of consecutive evaluations.
    fn count(self, first: u64, results: &[Known]) {
        let batch = self.run.batch;
        let counts: &mut SummaryCounts = &mut lock(self.run.worker().tallied());
        let (mut job, mut pair) = batch.evaluation(first);
        let mut left = results;
        while !left.is_empty() {
            let pairs = batch.pairs_of(batch.job(job));
            let (of_job, others) = left.split_at(left.len().min(pairs - pair));
            if !of_job.is_empty() {
                self.tally.add(counts, job, pair, of_job);
            }
            (job, pair, left) = (job + 1, 0, others);
        }
    }
}
