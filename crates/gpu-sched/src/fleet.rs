//! [`Fleet`]: a thread for each device, and the scheduler that says what they do.
//!
//! Whoever drives it submits items, asks what is to be [started](Fleet::start), and waits for what
//! [happens](Fleet::wait). A batch for the host it makes itself, on whichever threads; a batch for a device
//! it prepares, on whichever threads, and hands over. A device's thread begins with the next batch while the one
//! before it is computed, so that copies go beside computing.
//!
//! A device that hangs keeps its thread, which is left alone; what it answers later is not taken.

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

/// Makes batches on one device. It belongs to its thread.
pub trait Executor: Send + 'static {
    /// What it is given: items made ready for a device.
    type Batch: Send + 'static;
    /// What it gives.
    type Answer: Send + 'static;
    /// A batch that the device is at work on.
    type Begun;

    /// How many batches may be begun at a time.
    fn lanes(&self) -> usize;

    /// Copies a batch to the device and has it made, without waiting for it.
    fn begin(&mut self, batch: Self::Batch) -> Result<Self::Begun, Failure>;

    /// Waits for a batch, which is the first one that was begun of those that are, and gives its answer
    /// and what it took.
    fn finish(&mut self, begun: Self::Begun) -> Result<(Self::Answer, Made), Failure>;

    /// Opens the device anew after it was lost.
    fn recover(&mut self) -> Result<(), Failure>;

    /// Gives back the memory that is kept for later batches.
    fn clean_up(&mut self);
}

/// What the threads tell.
enum Message<A, H> {
    Host {
        batch: BatchId,
        result: Result<(H, Made), Failure>,
    },
    /// What the host has made of what a device gave; `None` if it failed.
    FallbackDone {
        items: Range<u64>,
        answer: Option<H>,
    },
    /// A batch is prepared and a device's.
    HandedOver(BatchId),
    Device {
        executor: usize,
        batch: BatchId,
        result: Result<(A, Made), Failure>,
    },
}

/// What the driver of a fleet is told: `A` is what devices answer, `H` what the host answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<A, H> {
    /// The host has made them.
    ByHost {
        /// The items.
        items: Range<u64>,
        /// Their answers.
        answer: H,
    },
    /// A device has made them.
    ByDevice {
        /// The device's number among executors.
        executor: usize,
        /// The items.
        items: Range<u64>,
        /// Their answers.
        answer: A,
        /// What that took.
        stages: Stages,
    },
    /// Nobody can make this item.
    GivenUp(u64, Failure),
    /// Nothing that concerns items: some are to be started anew, or the time is over.
    Nothing,
}

/// Hands batches to devices, and tells what the host has made; from any thread.
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
    /// Gives a device its batch, which took so long to prepare.
    pub fn hand_over(&self, start: &Start, batch: B, prepare: Duration) {
        let command = Command::Make {
            batch: start.batch,
            content: batch,
            recover: start.recover,
            prepare,
        };
        let thread = self.commands.get(start.executor.wrapping_sub(HOST + 1));
        // Before the device can answer. Nobody listens any more where the fleet is gone.
        let _ = self.events.send(Message::HandedOver(start.batch));
        if thread.is_none_or(|thread| thread.send(command).is_err()) {
            let failure = Failure::Lost("its thread has ended".to_owned());
            self.fail(start, failure);
        }
    }

    /// Tells what the host has made of its batch, in so much time.
    pub fn made(&self, start: &Start, answer: H, time: Duration) {
        let stages = Stages {
            compute: time,
            ..Stages::default()
        };
        let made = Made {
            stages,
            ..Made::default()
        };
        let (batch, result) = (start.batch, Ok((answer, made)));
        // Nobody listens any more where the fleet is gone.
        let _ = self.events.send(Message::Host { batch, result });
    }

    /// Tells what the host has made of what a device gave for these items; `None` if it failed.
    pub fn fallback_done(&self, items: Range<u64>, answer: Option<H>) {
        let _ = self.events.send(Message::FallbackDone { items, answer });
    }

    /// Tells that a batch was not made, or could not be prepared.
    pub fn fail(&self, start: &Start, failure: Failure) {
        let batch = start.batch;
        let _ = self.events.send(if start.executor == HOST {
            let result = Err(failure);
            Message::Host { batch, result }
        } else {
            Message::Device {
                executor: start.executor,
                batch,
                result: Err(failure),
            }
        });
    }
}

/// The host and devices, ready for work.
#[derive(Debug)]
pub struct Fleet<B, A, H> {
    scheduler: Scheduler,
    threads: Vec<Thread<B>>,
    handle: FleetHandle<B, A, H>,
    events: Receiver<Message<A, H>>,
    began: Instant,
    /// The last failure of each executor.
    failures: Vec<Option<Failure>>,
    /// Items before this one were abandoned, if they were not done.
    first: u64,
}

impl<B: Send + 'static, A: Send + 'static, H: Send + 'static> Fleet<B, A, H> {
    /// The host alone.
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

    /// Starts the thread of a device, and gives its number among executors. There may be
    /// [so many](crate::MOST_EXECUTORS).
    pub fn add<E>(&mut self, about: ExecutorDescription, executor: E) -> io::Result<usize>
    where
        E: Executor<Batch = B, Answer = A>,
    {
        let name = about.name.clone();
        let number = self.scheduler.add(about);
        let number = number.ok_or_else(|| io::Error::other("too many devices"))?;
        let thread = Thread::start(number, &name, executor, self.handle.events.clone())?;
        self.handle.commands.push(thread.commands());
        self.threads.push(thread);
        self.failures.push(None);
        Ok(number)
    }

    /// What hands batches over.
    pub fn handle(&self) -> FleetHandle<B, A, H> {
        self.handle.clone()
    }

    /// The scheduler.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The scheduler, to be told of items and costs.
    pub fn scheduler_mut(&mut self) -> &mut Scheduler {
        &mut self.scheduler
    }

    /// How an executor failed last, if it ever did.
    pub fn failure(&self, executor: usize) -> Option<&Failure> {
        self.failures.get(executor)?.as_ref()
    }

    /// Takes items, so many of each sort, and gives their numbers.
    pub fn submit(&mut self, items: impl IntoIterator<Item = (Item, u64)>) -> Range<u64> {
        self.scheduler.submit(items)
    }

    /// Forgets what is not done: nobody waits for it any more.
    pub fn abandon(&mut self) {
        self.scheduler.abandon();
        self.first = self.scheduler.end();
    }

    /// Has every device give back the memory that it keeps for later batches.
    pub fn clean_up(&self) {
        for thread in &self.threads {
            thread.clean_up();
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// What is to be started next; `None` if all have what they should have.
    pub fn start(&mut self) -> Option<Start> {
        let start = self.scheduler.start(self.now())?;
        debug!(batch = ?start.batch, executor = start.executor, items = ?start.items, "started");
        Some(start)
    }

    /// Waits for something to happen, at most so long.
    pub fn wait(&mut self, time: Duration) -> Event<A, H> {
        let now = self.now();
        let wake = self.scheduler.wake().map(|at| at.saturating_sub(now));
        let time = wake.map_or(time, |wake| wake.min(time));
        match self.events.recv_timeout(time) {
            Ok(event) => self.happen(event),
            // The sender of the handle that is kept here never ends.
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

    fn happen(&mut self, event: Message<A, H>) -> Event<A, H> {
        let (executor, batch, result) = match event {
            Message::HandedOver(batch) => {
                let now = self.now();
                self.scheduler.handed_over(now, batch);
                return Event::Nothing;
            }
            // The scheduler is through with these, so that it does not know that nobody waits for them.
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
            Message::Host { batch, result } => (
                HOST,
                batch,
                result.map(|(answer, made)| (Answer::Host(answer), made)),
            ),
            Message::Device {
                executor,
                batch,
                result,
            } => {
                let result = result.map(|(answer, made)| (Answer::Device(answer), made));
                (executor, batch, result)
            }
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

/// What is said of a panic of whoever makes items.
const PANIC: &str = "a panic";

/// What an executor gave.
enum Answer<A, H> {
    Host(H),
    Device(A),
}
