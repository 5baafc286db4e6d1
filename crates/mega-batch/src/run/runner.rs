//! [`Runner`]: evaluates a [`Batch`] on one thread or on many, and delivers the results in order.
//!
//! The threads take chunks of consecutive evaluations from a queue, each chunk worth some microseconds, and the calling
//! thread is one of them ([`host`]). Devices take windows from the same queue: the scheduler (`gpu-sched`) says how
//! large, a free thread prepares them, and threads evaluate what a device leaves of its window ([`DeviceStage`]). The
//! calling thread delivers the results in the order of the batch, so what a [`Sink`] sees does not depend on which
//! worker was faster, and the memory in use does not depend on the length of the batch.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arc_dsl::Limits;

use crate::batch::Batch;
use crate::batch::options::{Backend, Options};
use crate::results::outcome::{JobResult, Known, PairResult};
use crate::results::sink::Sink;
use crate::results::summary::{Progress, Summary, Tally};
use crate::run::backend::{BackendCounts, CountsByEvaluator, HostPrograms, MergeCounts};
use crate::run::compilers::Compilers;
use crate::run::delivery::Delivery;
use crate::run::devices::Request;
use crate::run::executors::Executors;
use crate::run::panics::lock;

mod chain;
mod chunk;
mod device;
mod evaluator;
mod fleet;
mod free_python;
mod host;
mod merging;
mod partition;
mod queue;
mod unit;
mod worker;

use device::{DeviceStage, Fleet};
use fleet::{OpenedDevice, OpenedDevices};
use free_python::FreePython;
use host::{Awake, Host};
use merging::MergePlan;
use queue::{Pace, Queue, on_devices};
use worker::Worker;

/// The results of every job in the order of the batch, and their summary, as [`run`] returns them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// The summary of the batch.
    pub summary: Summary,
    /// The results of each job.
    pub results: Vec<JobResult>,
}

/// Why a [`Runner`] cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// More threads are requested than are allowed.
    #[error("{workers} workers: expected 1 to {}", Runner::MAX_WORKERS)]
    TooManyWorkers {
        /// The requested number.
        workers: usize,
    },
    /// The system cannot start the threads.
    #[error(transparent)]
    Threads(#[from] io::Error),
}

/// For callers that run a batch and also use files.
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
/// An error means that the threads could not be started ([`StartError`]). To run many batches, or one whose results
/// do not fit in memory, use a [`Runner`].
pub fn run(batch: &Batch<'_>, options: &Options) -> io::Result<Report> {
    Runner::new(options)?.run(batch)
}

/// Threads that evaluate batches, each with its own interpreter; they live as long as the runner.
#[derive(Debug)]
pub struct Runner {
    options: Options,
    executors: Executors,
    /// The threads besides the calling one, if any.
    pool: Option<rayon::ThreadPool>,
    /// Whether the calling thread evaluates too, as the first of the workers.
    caller_works: bool,
    workers: Vec<Worker>,
    /// The threads of the pool that are awake.
    awake: Arc<Awake>,
    /// How long recent evaluations took.
    pace: Pace,
    /// The compilers, which last from batch to batch.
    compilers: Compilers,
    /// The devices, and the evaluations of a batch that nobody has claimed.
    fleet: Mutex<Fleet>,
    /// Why requested devices are not available.
    unavailable: Option<String>,
    /// Bytes of shared memory that an evaluation may use on every device; `None` without devices.
    shared_bytes: Option<u32>,
    /// The number for the next program or pool of values on devices.
    device_numbers: AtomicU64,
}

/// The stack of a worker, besides what nesting needs.
const STACK: usize = 8 << 20;

/// The stack of a worker for each level of nesting that the limits allow. A level takes up to 2 KiB in optimised
/// builds, and several times that in debug builds.
const STACK_PER_LEVEL: usize = 64 << 10;

/// How many evaluations may be claimed and not delivered on one thread; fewer if outputs are kept, since each may be
/// large. Several threads may have more of them, and so may devices, which need large windows to stay busy.
const WINDOW: usize = 4096;
const WINDOW_WITH_OUTPUTS: usize = 128;
const WINDOWS_OF_THREADS: u64 = 16;
const ON_DEVICES: u64 = 1 << 19;
const ON_DEVICES_WITH_OUTPUTS: u64 = 1 << 17;

/// How many evaluations may be claimed and not delivered.
fn room(options: &Options, executors: Executors, has_devices: bool) -> u64 {
    let (window, on_devices) = if options.needs_outputs() {
        (WINDOW_WITH_OUTPUTS, ON_DEVICES_WITH_OUTPUTS)
    } else {
        (WINDOW, ON_DEVICES)
    };
    match executors.threads {
        _ if has_devices => on_devices,
        Some(_) => WINDOWS_OF_THREADS * window as u64,
        None => window as u64,
    }
}

/// A process takes about this time, so that each evaluation in free Python is worth a thread.
const LEAST_BY_PYTHON: Duration = Duration::from_millis(1);

/// How often a sink is told of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

impl Runner {
    /// The maximum number of threads.
    pub const MAX_WORKERS: usize = 1024;

    /// Starts the threads, and opens the devices that the options request. A device that is not available is no error:
    /// see [`no_device`](Self::no_device).
    pub fn new(options: &Options) -> Result<Self, StartError> {
        let executors = options.executors();
        // Below the default limits, devices evaluate nothing.
        let needs_device = executors.devices != Request::NoDevice;
        if !needs_device || !Backend::allows_device(&options.limits) {
            return Self::with_devices(options, executors, OpenedDevices::default());
        }
        let opened = fleet::devices(executors.devices);
        Self::with_devices(options, executors, opened)
    }

    fn with_devices(
        options: &Options,
        executors: Executors,
        opened: OpenedDevices,
    ) -> Result<Self, StartError> {
        let threads = executors.thread_count();
        if threads > Self::MAX_WORKERS {
            return Err(StartError::TooManyWorkers { workers: threads });
        }
        let nesting = usize::from(options.limits.max_nesting);
        // Nesting within the default limit takes less than 128 KiB of stack, or 1 MiB in debug builds. Any thread has
        // that, so the calling thread evaluates too, which saves passing work to another thread and back.
        let caller_works = nesting <= usize::from(Limits::default().max_nesting);
        let OpenedDevices {
            devices,
            unavailable,
        } = opened;
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
        let shared_bytes = devices.iter().map(OpenedDevice::shared_bytes).min();
        let room = room(options, executors, shared_bytes.is_some());
        let fleet = fleet::fleet(options, executors, room, devices)?;
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
            unavailable,
            shared_bytes,
            device_numbers: AtomicU64::new(0),
        })
    }

    /// Sets how long later batches may run; see [`Options::time_limit`].
    pub fn set_time_limit(&mut self, time_limit: Option<Duration>) {
        self.options.time_limit = time_limit;
    }

    /// The number of threads.
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Why no requested device is available, if so; the CPU then does all the work.
    pub fn no_device(&self) -> Option<&str> {
        self.unavailable.as_deref().filter(|_| !self.has_device())
    }

    /// Why some requested devices are not used, if others are.
    pub fn left_out(&self) -> Option<&str> {
        self.unavailable.as_deref().filter(|_| self.has_device())
    }

    fn has_device(&self) -> bool {
        self.shared_bytes.is_some()
    }

    /// The names of its devices.
    pub fn devices(&self) -> Vec<String> {
        let fleet = lock(&self.fleet);
        let activities = fleet.scheduler().activities();
        activities.map(|(name, _)| name.to_owned()).collect()
    }

    /// Has devices release the memory that they cache for later batches, with its programs and grids. Later batches
    /// load theirs again.
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
    /// An error of the sink stops the batch and is returned; the runner can be used again. If the batch is
    /// [cancelled](Options::cancellation), that is no error: the finished results are delivered and summarised.
    pub fn run_into(&mut self, batch: &Batch<'_>, sink: &mut impl Sink) -> io::Result<Summary> {
        self.resume_into(batch, std::iter::empty(), sink)
    }

    /// Like [`run_into`](Self::run_into), for a batch whose first evaluations were done before: `done` has a result for
    /// each, or `None` if it was [skipped](Options::stop_after_wrong). They are handed to `sink` and counted like the
    /// others.
    pub(crate) fn resume_into(
        &mut self,
        batch: &Batch<'_>,
        done: impl ExactSizeIterator<Item = io::Result<Option<PairResult>>>,
        sink: &mut impl Sink,
    ) -> io::Result<Summary> {
        for worker in &mut self.workers {
            worker.reset();
        }
        let programs = HostPrograms::new(batch, self.executors, &self.options, &self.compilers);
        let stop = AtomicBool::new(false);
        let wrong = AtomicUsize::new(usize::MAX);
        // A limit beyond the range of the clock is no limit.
        let time_limit = self.options.time_limit;
        let deadline = time_limit.and_then(|time| Instant::now().checked_add(time));
        let device_stage = self.shared_bytes.map(|shared_bytes| {
            let keep_outputs = self.options.needs_outputs();
            let numbers = &self.device_numbers;
            DeviceStage::new(batch, keep_outputs, shared_bytes, numbers)
        });
        let free_python = FreePython::new(batch);
        let run = Run {
            runner: self,
            batch,
            programs: &programs,
            free_python: &free_python,
            device_stage: device_stage.as_ref(),
            done: done.len() as u64,
            total: batch.evaluations(),
            stop: &stop,
            wrong: &wrong,
            deadline,
        };
        let result = run.deliver_all(done, sink);
        let device = device_stage.map(|stage| stage.finish(&lock(&self.fleet)));
        let (mut summary, evaluated_by) = result?;
        let (mut counts, mut merged) = (BackendCounts::default(), MergeCounts::default());
        for worker in &mut self.workers {
            counts.add(worker.counts());
            merged.add(worker.merged());
        }
        let (mut device, encoding) = device.unzip();
        if let (Some(device), Some(reason)) = (&mut device, self.left_out()) {
            let failures = std::iter::once(reason).chain(device.failure.as_deref());
            device.failure = Some(failures.collect::<Vec<_>>().join("; "));
        }
        summary.backends = programs.backends(&evaluated_by, &counts, &merged, device);
        summary.backends.no_device = self.no_device().map(str::to_owned);
        summary.backends.compile_time += encoding.unwrap_or_default();
        // From the second batch on, compiled programs are cached: a caller that runs two batches may run more.
        self.compilers.keep();
        Ok(summary)
    }
}

/// A batch that is running.
#[derive(Clone, Copy)]
struct Run<'r> {
    runner: &'r Runner,
    batch: &'r Batch<'r>,
    programs: &'r HostPrograms<'r>,
    free_python: &'r FreePython<'r>,
    /// `None` without devices.
    device_stage: Option<&'r DeviceStage<'r>>,
    /// How many of its evaluations were done before.
    done: u64,
    total: u64,
    stop: &'r AtomicBool,
    /// The index of the job that is being delivered, if it was stopped by a wrong result; otherwise `usize::MAX`.
    wrong: &'r AtomicUsize,
    deadline: Option<Instant>,
}

/// The result of an evaluation that was done before; `None` if it was skipped.
type Recorded = io::Result<Known>;

impl Run<'_> {
    /// Evaluates the batch, handing the results to `sink`.
    fn deliver_all<S: Sink>(
        self,
        done: impl Iterator<Item = Recorded>,
        sink: &mut S,
    ) -> io::Result<(Summary, CountsByEvaluator)> {
        let options = &self.runner.options;
        let tally = Tally::new(self.batch);
        let mut delivery = Delivery::new(self.batch, options.stop_after_wrong, &tally, sink);
        for known in done {
            let place = delivery.next()?;
            delivery.deliver(&mut [known?], false)?;
            if let Some((job, _)) = place {
                self.count_done(self.batch.job(job).program, 1);
            }
        }
        let elapsed = self.deliver_by_workers(&mut delivery, &tally)?;
        // Jobs without pairs may follow the last result.
        delivery.next()?;
        let (mut counts, sink) = delivery.finish();
        for worker in &self.runner.workers {
            counts.add(std::mem::take(&mut lock(worker.tallied())));
        }
        let (workers, evaluated_by) = (self.runner.workers.len(), counts.evaluated_by);
        let summary = tally.finish(options.mode, workers, counts, elapsed);
        sink.progress(Progress {
            done: summary.totals.evaluations + summary.skipped,
            total: self.total,
            on_devices: on_devices(&lock(&self.runner.fleet)),
        });
        Ok((summary, evaluated_by))
    }

    /// Evaluates on the threads of this machine and on devices, and delivers the results; returns the wall-clock time of
    /// evaluating.
    fn deliver_by_workers<S: Sink>(
        self,
        delivery: &mut Delivery<'_, '_, S>,
        tally: &Tally<'_>,
    ) -> io::Result<Duration> {
        let options = &self.runner.options;
        let room = room(options, self.runner.executors, self.device_stage.is_some());
        let workers_count = !options.stop_after_wrong;
        let is_delivered = delivery.takes_results() || !workers_count;
        let room = is_delivered.then_some(room);
        let left = self.done..self.total;
        let (workers, pace) = (self.runner.workers.len(), &self.runner.pace);
        if self.free_python.has_any() {
            pace.replace(1, LEAST_BY_PYTHON);
        }
        let plan = MergePlan::new(
            self.batch,
            options.merging,
            self.runner.executors.compilation,
            &options.limits,
        );
        let fleet = &self.runner.fleet;
        let queue = Queue::new(self.batch, plan.as_ref(), left, workers, fleet, room, pace);
        let host = Host {
            run: self,
            queue: &queue,
            tally,
            plan: plan.as_ref(),
            workers_count,
        };
        let mut in_hand = None;
        match &self.runner.pool {
            // Other threads start only if there is enough work for them.
            _ if host.deliver(None, &mut in_hand, delivery)? => {}
            None => {}
            Some(pool) => pool.in_place_scope(|scope| {
                let delivered = host.deliver(Some(scope), &mut in_hand, delivery);
                let result = delivered.map(drop);
                // After an error, nobody needs the work in progress.
                self.stop.store(true, Ordering::Relaxed);
                queue.stop();
                result
            })?,
        }
        Ok(queue.finish())
    }

    /// Reports finished evaluations of a program to the program caches.
    fn count_done(self, program: u32, evaluations: usize) {
        self.programs.done(program, evaluations);
        if let Some(stage) = self.device_stage {
            stage.done(program, evaluations);
        }
    }

    /// Whether no more evaluations shall begin.
    fn stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.runner.options.cancellation.is_cancelled()
            || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Reports progress to a sink, unless it was told recently.
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

/// The wall-clock time in which at least one window or chunk was evaluated.
#[derive(Debug, Default)]
struct Clock {
    elapsed: Duration,
    until: Option<Instant>,
}

impl Clock {
    /// Adds a window or chunk; they come roughly in the order in which they began.
    fn add(&mut self, began: Instant, ended: Instant) {
        let began = self.until.map_or(began, |until| began.max(until));
        self.elapsed += ended.saturating_duration_since(began);
        self.until = Some(self.until.map_or(ended, |until| ended.max(until)));
    }
}

#[cfg(test)]
mod tests;
