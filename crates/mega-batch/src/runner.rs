//! [`Runner`]: evaluates a [`Batch`] on one thread or on many, and gives the results in order.
//!
//! Without devices the threads take chunks of consecutive evaluations from a queue, as many as take some
//! microseconds, and the calling thread is one of them ([`host`]). With devices the batch is cut into windows:
//! who makes which window, workers or a device, is the scheduler's to say (`gpu-sched`); what a device
//! leaves of its window ([`DeviceStage`]) workers do, and the calling thread hands work to all ([`mod@pipeline`]).
//! Either way results are delivered by the calling thread in the order of the batch, so that what a [`Sink`]
//! sees does not depend on who was faster, and what is held in memory does not depend on the length of the
//! batch.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arc_dsl::Limits;
use gpu_sched::HOST;

use crate::backend::{Backend, ByMaker, Counts, HostPrograms, MergeCounts};
use crate::batch::Batch;
use crate::compilers::Compilers;
use crate::delivery::Delivery;
use crate::devices::Request;
use crate::executors::Executors;
use crate::options::Options;
use crate::outcome::{JobResult, Known, PairResult};
use crate::panics::lock;
use crate::sink::Sink;
use crate::summary::{Progress, Summary, Tally};

pub mod calibration;
mod chain;
mod chunk;
mod device;
mod evaluator;
mod fleet;
mod host;
mod merging;
mod partition;
mod pipeline;
mod queue;
mod unit;
mod window;
mod worker;

use device::{DeviceStage, Fleet, UnitAnswers};
use fleet::{Found, Kept, Opened};
use host::{Awake, Host};
use merging::Plan;
use pipeline::{InPlace, Pipeline, Workers, on_devices};
use queue::{Pace, Queue};
use unit::Unit;
use worker::Worker;

/// What [`run`] gives: the results of every job, in the order of the batch, and what they come to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// What the batch came to.
    pub summary: Summary,
    /// The results of each job.
    pub results: Vec<JobResult>,
}

/// Why a [`Runner`] cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// More threads are asked for than there may be.
    #[error("{workers} workers: expected 1 to {}", Runner::MAX_WORKERS)]
    TooManyWorkers {
        /// How many are asked for.
        workers: usize,
    },
    /// The system has no room for the threads.
    #[error(transparent)]
    Threads(#[from] io::Error),
}

/// For who runs a batch, and has to do with files besides.
impl From<StartError> for io::Error {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Threads(error) => error,
            error => io::Error::new(io::ErrorKind::InvalidInput, error),
        }
    }
}

/// Runs a batch and keeps every result.
///
/// An error means that the threads could not be started ([`StartError`]). To run many batches, or one that is too
/// long to keep, use a [`Runner`].
pub fn run(batch: &Batch<'_>, options: &Options) -> io::Result<Report> {
    Runner::new(options)?.run(batch)
}

/// Threads that evaluate batches, each with its interpreter; they last as long as the runner.
#[derive(Debug)]
pub struct Runner {
    options: Options,
    executors: Executors,
    /// The threads beside the calling one, where there are any.
    pool: Option<rayon::ThreadPool>,
    /// Whether the calling thread makes evaluations too: then it is the first of the workers.
    caller_works: bool,
    workers: Vec<Worker>,
    /// The threads of the pool that are awake.
    awake: Arc<Awake>,
    /// How long evaluations take, as the last ones did.
    pace: Pace,
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

/// How many evaluations make a window of the host beside devices; fewer where outputs are kept, for each may
/// be large.
const WINDOW: usize = 4096;
const WINDOW_WITH_OUTPUTS: usize = 128;

/// How many windows there are at a time, of the host beside devices; and so many evaluations without devices are
/// made and not delivered.
const WINDOWS_IN_FLIGHT: usize = 16;

/// How many windows workers have at a time, and the evaluations of each.
fn windows(options: &Options, executors: Executors) -> (usize, u64) {
    let in_flight = if executors.threads.is_some() {
        WINDOWS_IN_FLIGHT
    } else {
        1
    };
    let evaluations = if options.keep_outputs {
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
    pub fn new(options: &Options) -> Result<Self, StartError> {
        let executors = options.executors();
        // Within lower bounds a device has nothing to do.
        let needs_device = executors.devices != Request::NoDevice;
        if !needs_device || !Backend::allows_device(&options.limits) {
            return Self::with_devices(options, executors, Found::default(), None);
        }
        let threads = executors.thread_count();
        let mut kept = options.keep_costs.then(|| Kept::open(threads));
        let found = fleet::devices(executors.devices, kept.as_mut());
        Self::with_devices(options, executors, found, kept)
    }

    fn with_devices(
        options: &Options,
        executors: Executors,
        found: Found,
        kept: Option<Kept>,
    ) -> Result<Self, StartError> {
        let threads = executors.thread_count();
        if threads > Self::MAX_WORKERS {
            return Err(StartError::TooManyWorkers { workers: threads });
        }
        let nesting = usize::from(options.limits.max_nesting);
        // Nesting as deep as the default allows takes less than 128 KiB of stack, less than 1 MiB
        // unoptimised: any thread has that, and is spared the way to another and back.
        let shallow = nesting <= usize::from(Limits::default().max_nesting);
        let Found { devices, missing } = found;
        // Beside devices the calling thread has the scheduler to serve.
        let caller_works = shallow && (devices.is_empty() || executors.threads.is_none());
        let others = threads - usize::from(caller_works);
        let pool = if others == 0 {
            None
        } else {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(others)
                .stack_size(STACK + nesting * STACK_PER_LEVEL)
                .thread_name(|at| format!("worker {at}"))
                .build();
            Some(pool.map_err(io::Error::other)?)
        };
        let workers = (0..threads).map(|_| Worker::new(&options.limits)).collect();
        let shared_bytes = devices.iter().map(Opened::shared_bytes).min();
        let mut fleet = fleet::fleet(options, executors, windows(options, executors), devices)?;
        if let Some(kept) = &kept {
            kept.recall(&mut fleet);
        }
        Ok(Self {
            options: options.clone(),
            executors,
            pool,
            caller_works,
            workers,
            awake: Arc::default(),
            pace: Pace::default(),
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

    /// Who evaluates, as its options said.
    pub fn executors(&self) -> &Executors {
        &self.executors
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
        let limits = &self.options.limits;
        let programs = HostPrograms::new(batch, self.executors, limits, &self.compilers);
        let stop = AtomicBool::new(false);
        let wrong = AtomicUsize::new(usize::MAX);
        // A time past what the clock can tell is none.
        let time_limit = self.options.time_limit;
        let deadline = time_limit.and_then(|time| Instant::now().checked_add(time));
        let device_stage = self.shared_bytes.map(|shared_bytes| {
            let keep = self.options.makes_outputs();
            DeviceStage::new(batch, keep, shared_bytes, &self.device_numbers)
        });
        let run = Run {
            runner: self,
            batch,
            programs: &programs,
            device_stage: device_stage.as_ref(),
            done: done.len() as u64,
            total: batch.evaluations(),
            stop: &stop,
            wrong: &wrong,
            deadline,
        };
        let result = run.deliver_all(done, sink);
        let device = device_stage.map(|stage| stage.finish(&lock(&self.fleet)));
        let (mut summary, made_by) = result?;
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
        summary.backends = programs.backends(&made_by, &counts, &merged, device);
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

/// One batch on its way.
#[derive(Clone, Copy)]
struct Run<'r> {
    runner: &'r Runner,
    batch: &'r Batch<'r>,
    programs: &'r HostPrograms<'r>,
    /// None without a device.
    device_stage: Option<&'r DeviceStage<'r>>,
    /// How many of its evaluations were made before.
    done: u64,
    total: u64,
    stop: &'r AtomicBool,
    /// The place of the job that is being delivered, if it is stopped since it was wrong.
    wrong: &'r AtomicUsize,
    deadline: Option<Instant>,
}

/// The result of an evaluation that was made before; `None` if it was left out.
type Recorded = io::Result<Known>;

/// A window for workers: a device is through with it, or has nothing to do with it.
#[derive(Debug)]
struct Passed {
    units: Vec<(Unit, UnitAnswers)>,
    began: Instant,
}

/// A window that the workers are through with.
#[derive(Debug)]
struct Window {
    /// Those of each unit; `None` if a stop came first.
    results: Vec<Vec<Known>>,
    began: Instant,
    ended: Instant,
}

impl<'r> Run<'r> {
    /// Evaluates the batch, handing the results to `sink`.
    fn deliver_all<S: Sink>(
        self,
        done: impl Iterator<Item = Recorded>,
        sink: &mut S,
    ) -> io::Result<(Summary, ByMaker)> {
        let options = &self.runner.options;
        let tally = Tally::new(self.batch);
        let mut delivery = Delivery::new(self.batch, options.stop_after_wrong, &tally, sink);
        for known in done {
            let place = delivery.next()?;
            delivery.deliver(&mut [known?], false)?;
            if let Some((job, _)) = place {
                self.done_of(self.batch.job(job).program, 1);
            }
        }
        let elapsed = match self.device_stage {
            None => self.deliver_by_host(&mut delivery, &tally)?,
            Some(_) => self.deliver_by_devices(&mut delivery)?,
        };
        // Jobs without pairs may stand behind the last result.
        delivery.next()?;
        let (mut counts, sink) = delivery.finish();
        for worker in &self.runner.workers {
            counts.add(std::mem::take(&mut lock(worker.tallied())));
        }
        let (workers, made_by) = (self.runner.workers.len(), counts.made_by);
        let summary = tally.finish(options.mode, workers, counts, elapsed);
        sink.progress(Progress {
            done: summary.totals.evaluations + summary.skipped,
            total: self.total,
            on_devices: on_devices(&lock(&self.runner.fleet)),
        });
        Ok((summary, made_by))
    }

    /// Delivers what the threads of this machine make; the wall-clock time of that.
    fn deliver_by_host<S: Sink>(
        self,
        delivery: &mut Delivery<'_, '_, S>,
        tally: &Tally<'_>,
    ) -> io::Result<Duration> {
        let options = &self.runner.options;
        let (in_flight, window) = windows(options, self.runner.executors);
        let workers_count = !options.stop_after_wrong;
        let is_delivered = delivery.takes_results() || !workers_count;
        let room = is_delivered.then_some(in_flight as u64 * window);
        let left = self.done..self.total;
        let (workers, pace) = (self.runner.workers.len(), &self.runner.pace);
        let plan = Plan::new(
            self.batch,
            options.merging,
            self.runner.executors.compilation,
            &options.limits,
        );
        let queue = Queue::new(self.batch, plan.as_ref(), left, workers, room, pace);
        let host = Host {
            run: self,
            queue: &queue,
            tally,
            plan: plan.as_ref(),
            workers_count,
        };
        let mut in_hand = None;
        match &self.runner.pool {
            // Whether there is work for others is found out without them.
            _ if host.deliver(None, &mut in_hand, delivery)? => {}
            None => {}
            Some(pool) => pool.in_place_scope(|scope| {
                let delivered = host.deliver(Some(scope), &mut in_hand, delivery);
                let result = delivered.map(drop);
                // What is still in the workers' hands after an error is of no use to anyone.
                self.stop.store(true, Ordering::Relaxed);
                queue.stop();
                result
            })?,
        }
        Ok(queue.finish())
    }

    /// Delivers what the threads of this machine and devices make; the wall-clock time of that.
    fn deliver_by_devices<S: Sink>(
        self,
        delivery: &mut Delivery<'_, '_, S>,
    ) -> io::Result<Duration> {
        match &self.runner.pool {
            None => self.deliver_by(&InPlace, delivery),
            Some(pool) => pool.in_place_scope(|scope| {
                let result = self.deliver_by(scope, delivery);
                self.stop.store(true, Ordering::Relaxed);
                result
            }),
        }
    }

    /// Delivers windows while these workers evaluate further ones.
    fn deliver_by<'scope, S: Sink>(
        self,
        workers: &impl Workers<'scope>,
        delivery: &mut Delivery<'_, '_, S>,
    ) -> io::Result<Duration>
    where
        'r: 'scope,
    {
        let mut pipeline = Pipeline::new(self);
        let (mut last_told, mut clock) = (Instant::now(), Clock::default());
        loop {
            // In parallel the workers go on while the sink works.
            if self.runner.executors.threads.is_some() {
                pipeline.start(workers);
            }
            let window = loop {
                self.tell_progress(delivery.sink(), &mut last_told, || pipeline.on_devices());
                if let Some(window) = pipeline.take() {
                    break window;
                }
                pipeline.start(workers);
                if pipeline.is_empty() {
                    return Ok(clock.elapsed);
                }
                pipeline.wait(workers, PROGRESS_INTERVAL)?;
            };
            clock.add(window.began, window.ended);
            for mut results in window.results {
                let place = delivery.next()?;
                delivery.deliver(&mut results, false)?;
                if let Some((job, _)) = place {
                    self.done_of(self.batch.job(job).program, results.len());
                }
                if let Some(wrong) = delivery.wrong_job() {
                    self.wrong.store(wrong, Ordering::Relaxed);
                }
            }
        }
    }

    /// So many evaluations of a program are done, for those who keep programs.
    fn done_of(self, program: u32, evaluations: usize) {
        self.programs.done(program, evaluations);
        if let Some(stage) = self.device_stage {
            stage.done(program, evaluations);
        }
    }

    /// Whether what is not begun shall not be begun.
    fn stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.runner.options.cancellation.is_cancelled()
            || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Tells a sink of progress, unless it was told a moment ago.
    fn tell_progress(
        self,
        sink: &mut impl Sink,
        last_told: &mut Instant,
        on_devices: impl FnOnce() -> u64,
    ) {
        if last_told.elapsed() >= PROGRESS_INTERVAL {
            *last_told = Instant::now();
            let workers = self.runner.workers.iter();
            sink.progress(Progress {
                done: self.done + workers.map(Worker::done).sum::<u64>(),
                total: self.total,
                on_devices: on_devices(),
            });
        }
    }
}

fn lost() -> io::Error {
    io::Error::other("a worker ended before its work was done")
}

/// Wall-clock time during which at least one window, or chunk, was in the workers' hands.
#[derive(Debug, Default)]
struct Clock {
    elapsed: Duration,
    until: Option<Instant>,
}

impl Clock {
    /// Adds one; they come in the order in which they began, or nearly.
    fn add(&mut self, began: Instant, ended: Instant) {
        let began = self.until.map_or(began, |until| began.max(until));
        self.elapsed += ended.saturating_duration_since(began);
        self.until = Some(self.until.map_or(ended, |until| ended.max(until)));
    }
}

#[cfg(test)]
mod tests;
