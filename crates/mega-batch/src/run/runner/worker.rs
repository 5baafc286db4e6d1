//! [`Worker`]: the state of one thread, and how it evaluates a unit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_cpu::{Compiled, prefetch};
use arc_dsl::Limits;
use arc_tasks::Pair;

use super::Run;
use super::chain::Chain;
use super::evaluator::{Ahead, Evaluation};
use super::merging::Merger;
use super::unit::Unit;
use crate::batch::Job;
use crate::results::outcome::{Answer, Known, PairResult, set_score};
use crate::results::summary;
use crate::run::backend::{BackendCounts, MergeCounts};
use crate::run::panics::lock;

/// The state of one thread, alone on its cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Worker {
    /// Only the thread itself locks these, and never twice at a time, so they are always free.
    chain: Mutex<Chain>,
    merger: Mutex<Merger>,
    tallied: Mutex<summary::SummaryCounts>,
    done: AtomicU64,
}

/// The contents of a mutex, even if it is poisoned.
fn inner<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    /// A worker that evaluates within these limits.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            chain: Mutex::new(Chain::new(limits)),
            merger: Mutex::default(),
            tallied: Mutex::default(),
            done: AtomicU64::new(0),
        }
    }

    /// Resets the counters.
    pub(super) fn reset(&mut self) {
        *self.done.get_mut() = 0;
        *self.counts() = BackendCounts::default();
        *inner(&mut self.tallied) = summary::SummaryCounts::default();
        inner(&mut self.merger).reset();
    }

    /// Its batts.
    pub(super) fn merger(&self) -> &Mutex<Merger> {
        &self.merger
    }

    /// The counters of its batts.
    pub(super) fn merged(&mut self) -> &MergeCounts {
        &inner(&mut self.merger).counts
    }

    /// The evaluation counters.
    pub(super) fn counts(&mut self) -> &mut BackendCounts {
        &mut inner(&mut self.chain).counts
    }

    /// The result counters.
    pub(super) fn tallied(&self) -> &Mutex<summary::SummaryCounts> {
        &self.tallied
    }

    /// Adds evaluations that it has finished.
    pub(super) fn add_done(&self, evaluations: u64) {
        self.done.fetch_add(evaluations, Ordering::Relaxed);
    }

    /// How many evaluations it has finished.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// How many pairs ahead grids are prefetched.
const PREFETCH_DISTANCE: usize = 2;

/// After how many evaluations the worker checks the clock and the stop flag. It also does so after bail-outs, which
/// may have used up all steps.
const CHECK_INTERVAL: usize = 4;

/// Prefetches the grids of a pair.
#[inline]
fn prefetch_grids(pair: &Pair) {
    prefetch(pair.input.cells());
    if let Some(output) = &pair.output {
        prefetch(output.cells());
    }
}

/// The time until which a worker continues, if limited: another worker may take the rest.
#[derive(Clone, Copy)]
pub(super) struct Watch<'w> {
    end: Option<Instant>,
    /// What a thread that also has other work does while it waits.
    meanwhile: &'w dyn Fn(),
}

impl<'w> Watch<'w> {
    /// Ends after `time`. In tests it is over at once.
    pub(super) fn of(time: Duration) -> Self {
        let time = if cfg!(test) { Duration::ZERO } else { time };
        Self {
            end: Instant::now().checked_add(time),
            ..Self::none()
        }
    }

    /// The same, for a thread that does this while it waits.
    pub(super) fn meanwhile(self, meanwhile: &'w dyn Fn()) -> Self {
        Self { meanwhile, ..self }
    }

    /// Never ends.
    pub(super) fn none() -> Self {
        Self {
            end: None,
            meanwhile: &|| {},
        }
    }

    pub(super) fn is_over(self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

impl<'r> Run<'r> {
    /// Evaluates a unit until the watch ends it; returns how many of its first evaluations have an entry in the
    /// results, and how long others than the reference took. After a stop, evaluations that were not answered ahead have
    /// the entry `None`. Prefetches the grids of the unit that follows on this thread, if it is known.
    pub(super) fn evaluate(
        self,
        unit: &Unit,
        mut ahead: Ahead<'_>,
        compiled: Option<&Compiled>,
        following: Option<&Unit>,
        watch: Watch<'_>,
        results: &mut Vec<Known>,
    ) -> (usize, Duration) {
        let options = &self.runner.options;
        let program = &self.batch.programs()[unit.program as usize];
        let mut stopped = self.stopped();
        let mut to_prefetch = compiled.map(|_| {
            let units = std::iter::once(unit).chain(following);
            let pairs = units.flat_map(|unit| unit.pairs(self.batch));
            pairs.map(|(_, pair)| pair).skip(PREFETCH_DISTANCE)
        });
        // A job ends at its first wrong result.
        let stops = options.stop_after_wrong;
        let mut jobs = stops.then(|| unit.jobs(self.batch));
        let mut wrong = stops.then(|| self.wrong.load(Ordering::Relaxed));
        let mut places = program.python().map(|_| unit.places(self.batch));
        let mut held = None;
        let worker = self.worker();
        let chain = &mut *lock(&worker.chain);
        let first = results.len();
        let (began, mut by_reference) = (Instant::now(), Duration::ZERO);
        let (mut slow, mut made) = (false, 0);
        for (at, (task, (id, pair))) in unit.of_tasks(self.batch).enumerate() {
            if slow || at % CHECK_INTERVAL == CHECK_INTERVAL - 1 {
                stopped = stopped || self.stopped();
                if !stopped && at > 0 && watch.is_over() {
                    break;
                }
            }
            slow = false;
            if let Some(pair) = to_prefetch.as_mut().and_then(Iterator::next) {
                prefetch_grids(pair);
            }
            let job = jobs.as_mut().and_then(Iterator::next);
            let place = places.as_mut().and_then(Iterator::next);
            if stops && job == wrong {
                results.push(None);
                continue;
            }
            let evaluation = Evaluation {
                at,
                program,
                compiled,
                task,
                pair,
                options,
            };
            let evaluated = match place {
                Some(_) if stopped => None,
                Some((task, pair)) => {
                    let job = Job {
                        program: unit.program,
                        task: task as u32,
                    };
                    let is_over = &mut || {
                        (watch.meanwhile)();
                        self.stopped()
                    };
                    let python = self.free_python;
                    python.ask(job, pair, &evaluation, &mut held, is_over)
                }
                None => chain.ask(&evaluation, &mut ahead, &self.runner.compilers, stopped),
            };
            let Some(evaluated) = evaluated else {
                results.push(None);
                continue;
            };
            slow = evaluated.by_reference.is_some();
            let time = evaluated.by_reference.unwrap_or_default();
            by_reference += time;
            let Answer { outcome, output } = evaluated.answer;
            if stops && outcome.is_wrong() {
                wrong = job;
            }
            made += 1;
            results.push(Some(PairResult {
                pair: id,
                outcome,
                output,
                score: None,
                time,
                evaluated_by: Some(evaluated.by),
            }));
        }
        let results = &mut results[first..];
        // The clock is read once for all evaluations, except those of the reference: reading it takes longer than
        // short evaluations.
        let took = began.elapsed().saturating_sub(by_reference);
        let share = took / results.len().max(1) as u32;
        for result in results.iter_mut().flatten() {
            result.time += share + ahead.share;
        }
        worker.add_done(made);
        if options.scores {
            for (result, (_, pair)) in results.iter_mut().zip(unit.pairs(self.batch)) {
                if let Some(result) = result {
                    set_score(options, result, pair);
                }
            }
        }
        (results.len(), took)
    }

    /// The worker of this thread.
    pub(super) fn worker(self) -> &'r Worker {
        &self.runner.workers[self.worker_number()]
    }

    /// Its number.
    pub(super) fn worker_number(self) -> usize {
        // A thread of another pool may be the calling thread, which is the first worker if it works.
        let pool = self.runner.pool.as_ref();
        let thread = pool.and_then(rayon::ThreadPool::current_thread_index);
        thread.map_or(0, |thread| thread + usize::from(self.runner.caller_works))
    }
}
