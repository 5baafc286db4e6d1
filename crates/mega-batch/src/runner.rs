//! [`Runner`]: evaluates a [`Batch`] on one thread or on many, and gives the results in order.
//!
//! The batch is cut into windows of consecutive evaluations. Some of them are in the workers' hands
//! at a time, so that a slow evaluation in one does not idle the workers. A window is made of units,
//! some dozens of evaluations of one program, which one worker's machine goes through; what the
//! reference interpreter has to do is slow, and each such evaluation is a piece of work of its own.
//! Who makes which window, workers or a device, is the scheduler's to say (`gpu-sched`); what a device
//! leaves of its window ([`Desk`]) workers do.
//! The calling thread takes the windows in order, and where there is to be one thread it evaluates
//! them itself: what a [`Sink`] sees does not depend on who was faster, and what is held in memory
//! does not depend on the length of the batch.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_dsl::Limits;
use gpu_sched::HOST;

use crate::backend::{Backend, Counts, Library, MergeCounts};
use crate::batch::{Batch, Job};
use crate::compilers::Compilers;
use crate::coordinator::Notice;
use crate::delivery::{Known, Source, deliver};
use crate::devices::gpus;
use crate::options::{Mode, Options};
use crate::outcome::{JobResult, PairResult};
use crate::panics::lock;
use crate::summary::{Progress, Summary, Tally};

mod device;
mod fleet;
mod line;
mod merging;
mod unit;
mod window;
mod worker;

use device::{Desk, Made};
use fleet::{Fleet, Found, Kept, Opened};
use line::{InPlace, Line, Workers, on_devices};
use merging::Segment;
use unit::Unit;
use worker::Worker;

/// Takes results as they come, in the order of the batch.
///
/// Where the batch is [cancelled](Options::cancellation), pairs that were not evaluated are left out,
/// and so are jobs without any. An error stops the batch and is what [`Runner::run_into`] returns.
pub trait Sink {
    /// The results that follow are of this job.
    fn job(&mut self, job: Job) -> io::Result<()> {
        let _ = job;
        Ok(())
    }

    /// The result of the next pair of `job`.
    fn pair(&mut self, job: Job, result: PairResult) -> io::Result<()>;

    /// The next pair of `job` is [left out](Options::stop_after_wrong).
    fn skipped(&mut self, job: Job) -> io::Result<()> {
        let _ = job;
        Ok(())
    }

    /// Something is to be told.
    fn notice(&mut self, notice: Notice) {
        let _ = notice;
    }

    /// Called ten times a second or so while evaluations are under way.
    fn progress(&mut self, progress: Progress) {
        let _ = progress;
    }
}

/// Lets the results go: for runs of which only the [`Summary`] is of interest.
impl Sink for () {
    fn pair(&mut self, _: Job, _: PairResult) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps every result.
impl Sink for Vec<JobResult> {
    fn job(&mut self, job: Job) -> io::Result<()> {
        self.push(JobResult {
            job,
            pairs: Vec::new(),
        });
        Ok(())
    }

    fn pair(&mut self, _: Job, result: PairResult) -> io::Result<()> {
        if let Some(last) = self.last_mut() {
            last.pairs.push(result);
        }
        Ok(())
    }
}

/// What [`run`] gives: the results of every job, in the order of the batch, and what they come to.
#[derive(Debug, Clone)]
pub struct Report {
    /// What the batch came to.
    pub summary: Summary,
    /// The results of each job.
    pub results: Vec<JobResult>,
}

/// Runs a batch and keeps every result.
///
/// An error means that the threads could not be started. To run many batches, or one that is too
/// long to keep, use a [`Runner`].
pub fn run(batch: &Batch<'_>, options: &Options) -> io::Result<Report> {
    Runner::new(options)?.run(batch)
}

/// Threads that evaluate batches, each with its interpreter; they last as long as the runner.
#[derive(Debug)]
pub struct Runner {
    options: Options,
    /// None where the calling thread makes the evaluations itself.
    pool: Option<rayon::ThreadPool>,
    workers: Vec<Worker>,
    /// What compiles programs, from batch to batch.
    compilers: Compilers,
    /// The workers and the devices. Only the calling thread takes it, so it is always free.
    fleet: Mutex<Fleet>,
    /// The costs that are kept between runs, where they are.
    kept: Option<Kept>,
    /// Why devices that are asked for are not there.
    missing: Option<String>,
    /// Bytes of shared memory that an evaluation can have on every device; nothing without one.
    shared_bytes: Option<u32>,
    /// The number of the next program, or pool of values, that devices are given.
    device_numbers: AtomicU64,
}

/// The stack of a worker besides what nesting needs.
const STACK: usize = 8 << 20;

/// The stack of a worker for every level of nesting that the limits allow. A level takes up to 2 KiB
/// when the compiler optimises and several times that when it does not.
const STACK_PER_LEVEL: usize = 64 << 10;

/// How many evaluations make a window; fewer where outputs are kept, for each may be large, and
/// where the calling thread evaluates them, for only between windows does it tell of progress.
const WINDOW: usize = 4096;
const WINDOW_WITH_OUTPUTS: usize = 128;
const WINDOW_IN_PLACE: usize = 1024;

/// How many windows are in the workers' hands at a time.
const WINDOWS_IN_FLIGHT: usize = 16;

/// How many windows workers have at a time, and the evaluations of each.
fn windows(options: &Options, in_place: bool) -> (usize, u64) {
    let in_flight = if options.mode.is_parallel() {
        WINDOWS_IN_FLIGHT
    } else {
        1
    };
    let evaluations = if in_place {
        WINDOW_IN_PLACE
    } else if options.keep_outputs {
        WINDOW_WITH_OUTPUTS
    } else {
        WINDOW
    };
    (in_flight, evaluations as u64)
}

/// How often a sink is told of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

impl Runner {
    /// How many threads there may be.
    pub const MAX_WORKERS: usize = 1024;

    /// Starts the threads, and the device where the backend has one. That a device cannot be had is
    /// no error: see [`no_device`](Self::no_device).
    pub fn new(options: &Options) -> io::Result<Self> {
        let options = &options.resolved(|| match options.gpus {
            Some(0) => false,
            _ => gpus().is_ok_and(|gpus| gpus.iter().any(Result::is_ok)),
        });
        // Within lower bounds a device has nothing to do.
        let needs_device = options.backend.is_of_devices();
        if !needs_device || !Backend::allows_device(&options.limits) {
            return Self::with_devices(options, Found::default(), None);
        }
        let threads = threads(options);
        let mut kept = options.keep_costs.then(|| Kept::open(threads));
        let found = fleet::devices(options, kept.as_mut());
        Self::with_devices(options, found, kept)
    }

    fn with_devices(options: &Options, found: Found, kept: Option<Kept>) -> io::Result<Self> {
        let threads = threads(options);
        if threads > Self::MAX_WORKERS {
            let most = Self::MAX_WORKERS;
            let message = format!("{threads} workers: expected 1 to {most}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let nesting = usize::from(options.limits.max_nesting);
        // Nesting as deep as the default allows takes less than 128 KiB of stack, less than 1 MiB
        // unoptimised: any thread has that, and is spared the way to another and back.
        let shallow = nesting <= usize::from(Limits::default().max_nesting);
        let pool = if options.mode == Mode::Sequential && shallow {
            None
        } else {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .stack_size(STACK + nesting * STACK_PER_LEVEL)
                .thread_name(|at| format!("worker {at}"))
                .build();
            Some(pool.map_err(io::Error::other)?)
        };
        let threads = pool
            .as_ref()
            .map_or(1, rayon::ThreadPool::current_num_threads);
        let workers = (0..threads).map(|_| Worker::new(&options.limits)).collect();
        let Found { devices, missing } = found;
        let shared_bytes = devices.iter().map(Opened::shared_bytes).min();
        let windows = windows(options, pool.is_none());
        let mut fleet = fleet::fleet(options, threads, windows, devices)?;
        if let Some(kept) = &kept {
            kept.recall(&mut fleet);
        }
        Ok(Self {
            options: options.clone(),
            pool,
            workers,
            compilers: Compilers::default(),
            fleet: Mutex::new(fleet),
            kept,
            missing,
            shared_bytes,
            device_numbers: AtomicU64::new(0),
        })
    }

    /// How it runs.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// For how long batches may run from now on, see [`Options::time_limit`].
    pub fn set_time_limit(&mut self, time_limit: Option<Duration>) {
        self.options.time_limit = time_limit;
    }

    /// The number of its threads.
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Why the device that was asked for is not there; then the CPU does its work.
    pub fn no_device(&self) -> Option<&str> {
        self.missing.as_deref().filter(|_| !self.has_device())
    }

    /// Why a device that was asked for is not used, where others are.
    pub fn left_out(&self) -> Option<&str> {
        self.missing.as_deref().filter(|_| self.has_device())
    }

    fn has_device(&self) -> bool {
        self.shared_bytes.is_some()
    }

    /// The names of its devices.
    pub fn devices(&self) -> Vec<String> {
        let fleet = lock(&self.fleet);
        let scheduler = fleet.scheduler();
        let devices = HOST + 1..scheduler.executors();
        devices
            .map(|device| scheduler.name(device).to_owned())
            .collect()
    }

    /// Has devices give back the memory that they keep for later batches, with the programs and grids in it. Those of a
    /// later batch are loaded again.
    pub fn clean_up(&mut self) {
        lock(&self.fleet).clean_up();
    }

    /// Runs a batch and keeps every result.
    pub fn run(&mut self, batch: &Batch<'_>) -> io::Result<Report> {
        let mut results = Vec::with_capacity(batch.job_count());
        let summary = self.run_into(batch, &mut results)?;
        Ok(Report { summary, results })
    }

    /// Runs a batch and hands every result to `sink`.
    ///
    /// An error of the sink stops the batch and is given back; the runner can be used again. A batch
    /// that is [cancelled](Options::cancellation) is no error: what is finished is delivered, and the
    /// summary is of that.
    pub fn run_into(&mut self, batch: &Batch<'_>, sink: &mut impl Sink) -> io::Result<Summary> {
        self.resume_into(batch, std::iter::empty(), sink)
    }

    /// The same for a batch of which the first evaluations were made before: `done` has a result for
    /// each, and nothing for those that were [left out](Options::stop_after_wrong). They are handed to
    /// `sink` and counted like the others.
    pub fn resume_into(
        &mut self,
        batch: &Batch<'_>,
        done: impl ExactSizeIterator<Item = io::Result<Option<PairResult>>>,
        sink: &mut impl Sink,
    ) -> io::Result<Summary> {
        for worker in &mut self.workers {
            worker.reset();
        }
        let Options {
            backend, limits, ..
        } = &self.options;
        let library = Library::new(batch, *backend, limits, &self.compilers);
        let stop = AtomicBool::new(false);
        let wrong = AtomicUsize::new(usize::MAX);
        // A time past what the clock can tell is none.
        let time_limit = self.options.time_limit;
        let deadline = time_limit.and_then(|time| Instant::now().checked_add(time));
        let desk = self.shared_bytes.map(|shared_bytes| {
            let keep = self.options.makes_outputs();
            Desk::new(batch, keep, shared_bytes, &self.device_numbers)
        });
        let run = Run {
            runner: self,
            batch,
            library: &library,
            desk: desk.as_ref(),
            done: done.len() as u64,
            total: batch.evaluations(),
            stop: &stop,
            wrong: &wrong,
            deadline,
        };
        let result = run.deliver_all(done, sink);
        let device = desk.map(|desk| desk.finish(&lock(&self.fleet)));
        let mut summary = result?;
        let (mut counts, mut merged) = (Counts::default(), MergeCounts::default());
        for worker in &mut self.workers {
            counts.add(worker.counts());
            merged.add(worker.merged());
        }
        let (mut device, encoding) = device.unzip();
        if let (Some(device), Some(reason)) = (&mut device, self.left_out()) {
            let failures = std::iter::once(reason).chain(device.failure.as_deref());
            device.failure = Some(failures.collect::<Vec<_>>().join("; "));
        }
        summary.backends = library.backends(&counts, &merged, device);
        summary.backends.no_device = self.no_device().map(str::to_owned);
        summary.backends.compile_time += encoding.unwrap_or_default();
        // Who runs a second batch may run a third.
        self.compilers.keep();
        Ok(summary)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.remember(&lock(&self.fleet));
        }
    }
}

/// How many threads there are to be.
fn threads(options: &Options) -> usize {
    match (options.mode, options.workers) {
        (Mode::Sequential, _) => 1,
        (_, Some(workers)) => workers.get(),
        (_, None) => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    }
}

/// One batch on its way.
#[derive(Clone, Copy)]
struct Run<'r> {
    runner: &'r Runner,
    batch: &'r Batch<'r>,
    library: &'r Library<'r>,
    /// None without a device.
    desk: Option<&'r Desk<'r>>,
    /// How many of its evaluations were made before.
    done: u64,
    total: u64,
    stop: &'r AtomicBool,
    /// The place of the job that is being delivered, if it is stopped since it was wrong.
    wrong: &'r AtomicUsize,
    deadline: Option<Instant>,
}

/// The result of an evaluation that was made before; nothing where it was left out.
type Recorded = io::Result<Known>;

/// A window for workers: a device is through with it, or has nothing to do with it.
#[derive(Debug)]
struct Passed {
    units: Vec<(Unit, Made)>,
    /// What is to be merged of them, by task.
    merged: Vec<Vec<Segment>>,
    began: Instant,
}

/// A window that the workers are through with.
#[derive(Debug)]
struct Window {
    /// Those of each unit; nothing where a stop came first.
    results: Vec<Vec<Option<PairResult>>>,
    began: Instant,
    ended: Instant,
}

impl<'r> Run<'r> {
    /// Evaluates the batch, handing the results to `sink`.
    fn deliver_all<S: Sink>(
        self,
        done: impl Iterator<Item = Recorded>,
        sink: &mut S,
    ) -> io::Result<Summary> {
        let result = match &self.runner.pool {
            None => self.deliver_by(&InPlace, done, sink),
            Some(pool) => pool.in_place_scope(|scope| {
                let result = self.deliver_by(scope, done, sink);
                // What is still in the workers' hands after an error is of no use to anyone.
                self.stop.store(true, Ordering::Relaxed);
                result
            }),
        };
        if let Ok(summary) = &result {
            sink.progress(Progress {
                done: summary.totals.evaluations + summary.skipped,
                total: self.total,
                on_devices: on_devices(&lock(&self.runner.fleet)),
            });
        }
        result
    }

    /// Hands the results to `sink` while these workers evaluate further windows.
    fn deliver_by<'scope, S: Sink>(
        self,
        workers: &impl Workers<'scope>,
        done: impl Iterator<Item = Recorded>,
        sink: &mut S,
    ) -> io::Result<Summary>
    where
        'r: 'scope,
    {
        let mut line = Line::new(self);
        let mut last_told = Instant::now();
        self.deliver(done, sink, |sink| {
            // In parallel the workers go on while the sink works.
            if self.runner.options.mode.is_parallel() {
                line.start(workers);
            }
            loop {
                self.tell(sink, &mut last_told, &line);
                if let Some(window) = line.take() {
                    return Ok(Some(window));
                }
                line.start(workers);
                if line.is_empty() {
                    return Ok(None);
                }
                line.wait(workers, PROGRESS_INTERVAL)?;
            }
        })
    }

    /// Whether what is not begun shall not be begun.
    fn stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.runner.options.cancellation.is_cancelled()
            || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Hands the results of one window after the other to `sink`, in the order of the batch. After a
    /// stop there may be no next window, and windows with gaps.
    fn deliver<S: Sink>(
        self,
        done: impl Iterator<Item = Recorded>,
        sink: &mut S,
        next_window: impl FnMut(&mut S) -> io::Result<Option<Window>>,
    ) -> io::Result<Summary> {
        let Options {
            mode,
            stop_after_wrong,
            ..
        } = self.runner.options;
        let mut tally = Tally::new(self.batch, mode, self.runner.workers.len());
        let mut windows = Windows {
            run: self,
            done,
            next_window,
            results: Vec::new().into_iter().flatten(),
            clock: Clock::default(),
        };
        deliver(self.batch, stop_after_wrong, &mut windows, &mut tally, sink)?;
        Ok(tally.finish(windows.clock.elapsed))
    }

    /// Tells the sink how far the workers are, unless it was told a moment ago.
    fn tell(self, sink: &mut impl Sink, last_told: &mut Instant, line: &Line<'_>) {
        if last_told.elapsed() < PROGRESS_INTERVAL {
            return;
        }
        *last_told = Instant::now();
        let workers = self.runner.workers.iter();
        let done: u64 = workers.map(Worker::done).sum();
        sink.progress(Progress {
            done: self.done + done,
            total: self.total,
            on_devices: line.on_devices(),
        });
    }
}

/// Results of before, then those of one window after the other.
struct Windows<'r, D, N> {
    run: Run<'r>,
    done: D,
    next_window: N,
    results: std::iter::Flatten<std::vec::IntoIter<Vec<Option<PairResult>>>>,
    clock: Clock,
}

impl<S, D, N> Source<S> for Windows<'_, D, N>
where
    D: Iterator<Item = Recorded>,
    N: FnMut(&mut S) -> io::Result<Option<Window>>,
{
    fn next(&mut self, _: Job, _: usize, sink: &mut S) -> io::Result<Option<Known>> {
        loop {
            if let Some(recorded) = self.done.next() {
                return recorded.map(Some);
            }
            if let Some(result) = self.results.next() {
                return Ok(Some(result));
            }
            let Some(window) = (self.next_window)(sink)? else {
                return Ok(None);
            };
            self.clock.add(window.began, window.ended);
            self.results = window.results.into_iter().flatten();
        }
    }

    fn wrong(&mut self, at: usize) {
        self.run.wrong.store(at, Ordering::Relaxed);
    }

    fn delivered(&mut self, job: Job, pairs: usize) {
        self.run.library.delivered(job.program, pairs);
        if let Some(desk) = self.run.desk {
            desk.delivered(job.program, pairs);
        }
    }
}

fn lost() -> io::Error {
    io::Error::other("a worker ended before its work was done")
}

/// Wall-clock time during which at least one window was in the workers' hands.
#[derive(Debug, Default)]
struct Clock {
    elapsed: Duration,
    until: Option<Instant>,
}

impl Clock {
    /// Adds a window; windows come in the order in which they began, or nearly.
    fn add(&mut self, began: Instant, ended: Instant) {
        let began = self.until.map_or(began, |until| began.max(until));
        self.elapsed += ended.saturating_duration_since(began);
        self.until = Some(self.until.map_or(ended, |until| ended.max(until)));
    }
}

#[cfg(test)]
mod tests;
