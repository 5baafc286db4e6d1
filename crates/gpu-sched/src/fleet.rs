//! [`Fleet`]: a thread for each device, and the scheduler that decides what they do.
//!
//! The driver of a fleet submits items, asks which batches to [start](Fleet::start), and waits for
//! [events](Fleet::wait). It evaluates batches for the host itself, on threads of its choice; it prepares batches for
//! devices, on threads of its choice, and hands them over. A device's thread begins the next batch while the one
//! before is computed, so that copies overlap with computing.
//!
//! If a device hangs, its thread is left alone; its late answer is dropped.

mod thread;

#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use tracing::{debug, warn};

use crate::scheduler::{BatchId, Ended, ExecutorDescription, HOST, Made, Policy, Scheduler, Start};
use crate::stages::Stages;
use crate::work::{Failure, Item};
use thread::{Command, Thread};

/// Runs batches on one device. It belongs to that device's thread.
pub trait Executor: Send + 'static {
    /// A batch prepared for the device.
    type Batch: Send + 'static;
    /// The answer of a batch.
    type Answer: Send + 'static;
    /// A batch in flight on the device.
    type Begun;

    /// How many batches may be in flight at a time.
    fn lanes(&self) -> usize;

    /// Starts copying a batch to the device and computing it, without waiting.
    fn begin(&mut self, batch: Self::Batch) -> Result<Self::Begun, Failure>;

    /// Waits for a batch, the oldest of those in flight, and returns its answer and what it took.
    fn finish(&mut self, begun: Self::Begun) -> Result<(Self::Answer, Made), Failure>;

    /// Reopens the device after it was lost.
    fn recover(&mut self) -> Result<(), Failure>;

    /// Releases the memory that is cached for later batches.
    fn clean_up(&mut self);
}

/// Messages from the threads.
enum Message<A, H> {
    /// The host has finished the fallback work of these items; `None` if it failed.
    FallbackDone {
        items: Range<u64>,
        answer: Option<H>,
    },
    /// A batch is prepared and was given to a device.
    HandedOver(BatchId),
    /// A batch has ended.
    Ended {
        executor: usize,
        batch: BatchId,
        result: Result<(Answer<A, H>, Made), Failure>,
    },
}

/// The answer of an executor.
enum Answer<A, H> {
    Host(H),
    Device(A),
}

/// What the driver of a fleet is told: `A` is the answer type of devices, `H` that of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<A, H> {
    /// The host has evaluated these items.
    ByHost {
        /// The items.
        items: Range<u64>,
        /// Their answers.
        answer: H,
    },
    /// A device has evaluated these items.
    ByDevice {
        /// The device's number among executors.
        executor: usize,
        /// The items.
        items: Range<u64>,
        /// Their answers.
        answer: A,
        /// The time that it took.
        stages: Stages,
    },
    /// No executor can evaluate this item.
    GivenUp(u64, Failure),
    /// No item is done: batches may have to be started again, or the waiting time is over.
    Nothing,
}

/// Hands batches to devices, and reports what the host has evaluated; from any thread.
#[derive(Debug)]
pub struct FleetHandle<B, A, H> {
    commands: Vec<Sender<Command<B>>>,
    events: Sender<Message<A, H>>,
}

impl<B, A, H> Clone for FleetHandle<B, A, H> {
    fn clone(&self) -> Self {
        Self {
            commands: self.commands.clone(),
            events: self.events.clone(),
        }
    }
}

impl<B, A, H> FleetHandle<B, A, H> {
    /// Gives a device its batch, whose preparation took `prepare`.
    pub fn hand_over(&self, start: &Start, batch: B, prepare: Duration) {
        let command = Command::Run {
            batch: start.batch,
            content: batch,
            recover: start.recover,
            prepare,
        };
        let thread = self.commands.get(start.executor.wrapping_sub(HOST + 1));
        // Send this before the device can answer. If the fleet is gone, nobody listens.
        let _ = self.events.send(Message::HandedOver(start.batch));
        if thread.is_none_or(|thread| thread.send(command).is_err()) {
            let failure = Failure::Lost("its thread has ended".to_owned());
            self.fail(start, failure);
        }
    }

    /// Reports that the host has evaluated a batch, in this time.
    pub fn made(&self, start: &Start, answer: H, time: Duration) {
        let stages = Stages {
            compute: time,
            ..Stages::default()
        };
        let made = Made {
            stages,
            ..Made::default()
        };
        self.end(start, Ok((Answer::Host(answer), made)));
    }

    /// Reports that the host has finished the fallback work of these items; `None` if it failed.
    pub fn fallback_done(&self, items: Range<u64>, answer: Option<H>) {
        let _ = self.events.send(Message::FallbackDone { items, answer });
    }

    /// Reports that a batch failed, or could not be prepared.
    pub fn fail(&self, start: &Start, failure: Failure) {
        self.end(start, Err(failure));
    }

    fn end(&self, start: &Start, result: Result<(Answer<A, H>, Made), Failure>) {
        // If the fleet is gone, nobody listens.
        let _ = self.events.send(Message::Ended {
            executor: start.executor,
            batch: start.batch,
            result,
        });
    }
}

/// The host and devices.
#[derive(Debug)]
pub struct Fleet<B, A, H> {
    scheduler: Scheduler,
    threads: Vec<Thread<B>>,
    handle: FleetHandle<B, A, H>,
    events: Receiver<Message<A, H>>,
    began: Instant,
    /// The last failure of each executor.
    failures: Vec<Option<Failure>>,
    /// Items before this one that were not done were abandoned.
    first: u64,
}

impl<B: Send + 'static, A: Send + 'static, H: Send + 'static> Fleet<B, A, H> {
    /// A fleet with the host only.
    pub fn new(host: ExecutorDescription, policy: Policy) -> Self {
        let (sender, events) = unbounded();
        Self {
            failures: vec![None],
            first: 0,
            scheduler: Scheduler::new(host, policy),
            threads: Vec::new(),
            handle: FleetHandle {
                commands: Vec::new(),
                events: sender,
            },
            events,
            began: Instant::now(),
        }
    }

    /// Starts the thread of a device, and returns its number among executors. There may be at most
    /// [`MOST_EXECUTORS`](crate::MOST_EXECUTORS).
    pub fn add<E>(&mut self, description: ExecutorDescription, executor: E) -> io::Result<usize>
    where
        E: Executor<Batch = B, Answer = A>,
    {
        let name = description.name.clone();
        let number = self.scheduler.add(description);
        let number = number.ok_or_else(|| io::Error::other("too many devices"))?;
        let thread = Thread::start(number, &name, executor, self.handle.events.clone())?;
        self.handle.commands.push(thread.commands());
        self.threads.push(thread);
        self.failures.push(None);
        Ok(number)
    }

    /// A handle for other threads.
    pub fn handle(&self) -> FleetHandle<B, A, H> {
        self.handle.clone()
    }

    /// The scheduler.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The scheduler, mutable.
    pub fn scheduler_mut(&mut self) -> &mut Scheduler {
        &mut self.scheduler
    }

    /// The last failure of an executor.
    pub fn failure(&self, executor: usize) -> Option<&Failure> {
        self.failures.get(executor)?.as_ref()
    }

    /// Submits items as pairs of an item and a count, and returns their numbers.
    pub fn submit(&mut self, items: impl IntoIterator<Item = (Item, u64)>) -> Range<u64> {
        self.scheduler.submit(items)
    }

    /// Drops all items that are not done.
    pub fn abandon(&mut self) {
        self.scheduler.abandon();
        self.first = self.scheduler.end();
    }

    /// Has every device release the memory that it caches for later batches.
    pub fn clean_up(&self) {
        for thread in &self.threads {
            thread.clean_up();
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// The next batch to start; `None` if every executor has enough.
    pub fn start(&mut self) -> Option<Start> {
        let start = self.scheduler.start(self.now())?;
        debug!(batch = ?start.batch, executor = start.executor, items = ?start.items, "started");
        Some(start)
    }

    /// Waits for an event, at most for `time`.
    pub fn wait(&mut self, time: Duration) -> Event<A, H> {
        let now = self.now();
        let wake = self.scheduler.wake().map(|at| at.saturating_sub(now));
        let time = wake.map_or(time, |wake| wake.min(time));
        match self.events.recv_timeout(time) {
            Ok(event) => self.handle_message(event),
            // The channel cannot close: `self.handle` keeps a sender.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                self.expire();
                Event::Nothing
            }
        }
    }

    fn expire(&mut self) {
        let now = self.now();
        for (batch, executor) in self.scheduler.expire(now) {
            warn!(
                ?batch,
                executor, "given up: no answer within the time limit"
            );
            self.failures[executor] = Some(Failure::Hung);
        }
    }

    fn handle_message(&mut self, event: Message<A, H>) -> Event<A, H> {
        let (executor, batch, result) = match event {
            Message::HandedOver(batch) => {
                let now = self.now();
                self.scheduler.handed_over(now, batch);
                return Event::Nothing;
            }
            // The scheduler counts these as done, so it does not know that they were abandoned.
            Message::FallbackDone { items, .. } if items.start < self.first => {
                return Event::Nothing;
            }
            Message::FallbackDone { items, answer } => {
                let now = self.now();
                self.scheduler.fallback_done(now, &items);
                return match answer {
                    Some(answer) => Event::ByHost { items, answer },
                    None => Event::GivenUp(items.start, Failure::Failed(PANIC.to_owned())),
                };
            }
            Message::Ended {
                executor,
                batch,
                result,
            } => (executor, batch, result),
        };
        let mut stages = Stages::default();
        let (result, answer) = match result {
            Ok((answer, made)) => {
                stages = made.stages;
                (Ok(made), Some(answer))
            }
            Err(failure) => {
                debug!(?batch, executor, %failure, "failed");
                self.failures[executor] = Some(failure.clone());
                (Err(failure), None)
            }
        };
        let now = self.now();
        match (self.scheduler.ended(now, batch, result), answer) {
            (Ended::Done(items), Some(Answer::Host(answer))) => Event::ByHost { items, answer },
            (Ended::Done(items), Some(Answer::Device(answer))) => Event::ByDevice {
                executor,
                items,
                answer,
                stages,
            },
            (Ended::GivenUp(item, failure), _) => Event::GivenUp(item, failure),
            (Ended::Dropped | Ended::Done(_), _) => {
                self.scheduler.answered(executor);
                Event::Nothing
            }
        }
    }
}

/// The failure reported for a panic of the host's evaluation.
const PANIC: &str = "a panic";
