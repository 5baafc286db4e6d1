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

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use tracing::{debug, warn};

use crate::scheduler::{About, BatchId, Ended, HOST, Made, Policy, Scheduler, Start};
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

    /// Waits for a batch, which is the first one that was begun of those that are, and gives what came
    /// of it and what it took.
    fn finish(&mut self, begun: Self::Begun) -> Result<(Self::Answer, Made), Failure>;

    /// Opens the device anew after it was lost.
    fn recover(&mut self) -> Result<(), Failure>;

    /// Gives back the memory that is kept for later batches.
    fn clean_up(&mut self);
}

/// What the threads tell.
enum Event<A> {
    Host {
        batch: BatchId,
        result: Result<Made, Failure>,
    },
    Device {
        executor: usize,
        batch: BatchId,
        result: Result<(A, Made), Failure>,
    },
}

/// What has become of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened<A> {
    /// The host has made them.
    ByHost(Range<u64>),
    /// A device has made them.
    ByDevice {
        /// The device's number among executors.
        executor: usize,
        /// The items.
        items: Range<u64>,
        /// What came of them.
        answer: A,
    },
    /// Nobody can make this item.
    GivenUp(u64, Failure),
    /// Nothing that concerns items: some are to be started anew, or the time is over.
    Nothing,
}

/// Hands batches to devices, and tells what the host has made; from any thread.
pub struct Courier<E: Executor> {
    commands: Vec<Sender<Command<E::Batch>>>,
    events: Sender<Event<E::Answer>>,
}

impl<E: Executor> fmt::Debug for Courier<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Courier").finish_non_exhaustive()
    }
}

impl<E: Executor> Clone for Courier<E> {
    fn clone(&self) -> Self {
        Self {
            commands: self.commands.clone(),
            events: self.events.clone(),
        }
    }
}

impl<E: Executor> Courier<E> {
    /// Gives a device its batch, which took so long to prepare.
    pub fn hand_over(&self, start: &Start, batch: E::Batch, prepare: Duration) {
        let command = Command::Make {
            batch: start.batch,
            content: batch,
            recover: start.recover,
            prepare,
        };
        let thread = self.commands.get(start.executor.wrapping_sub(HOST + 1));
        if thread.is_none_or(|thread| thread.send(command).is_err()) {
            let failure = Failure::Lost("its thread has ended".to_owned());
            self.fail(start, failure);
        }
    }

    /// Tells that the host has made its batch, in so much time.
    pub fn made(&self, start: &Start, time: Duration) {
        let stages = Stages {
            compute: time,
            ..Stages::default()
        };
        let made = Made {
            stages,
            ..Made::default()
        };
        let (batch, result) = (start.batch, Ok(made));
        // Nobody listens any more where the fleet is gone.
        let _ = self.events.send(Event::Host { batch, result });
    }

    /// Tells that a batch was not made, or could not be prepared.
    pub fn fail(&self, start: &Start, failure: Failure) {
        let batch = start.batch;
        let _ = self.events.send(if start.executor == HOST {
            let result = Err(failure);
            Event::Host { batch, result }
        } else {
            Event::Device {
                executor: start.executor,
                batch,
                result: Err(failure),
            }
        });
    }
}

/// The host and devices, ready for work; see the [module](self).
pub struct Fleet<E: Executor> {
    scheduler: Scheduler,
    threads: Vec<Thread<E>>,
    courier: Courier<E>,
    events: Receiver<Event<E::Answer>>,
    began: Instant,
    /// The last failure of each executor.
    failures: Vec<Option<Failure>>,
}

impl<E: Executor> fmt::Debug for Fleet<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fleet = f.debug_struct("Fleet");
        fleet
            .field("scheduler", &self.scheduler)
            .finish_non_exhaustive()
    }
}

impl<E: Executor> Fleet<E> {
    /// Starts the devices' threads.
    pub fn new(
        host: About,
        devices: impl IntoIterator<Item = (About, E)>,
        policy: Policy,
    ) -> std::io::Result<Self> {
        let (sender, events) = unbounded();
        let (mut about, mut threads) = (Vec::new(), Vec::new());
        for (number, (of_device, executor)) in devices.into_iter().enumerate() {
            let name = of_device.name.clone();
            let thread = Thread::start(HOST + 1 + number, &name, executor, sender.clone())?;
            about.push(of_device);
            threads.push(thread);
        }
        let commands = threads.iter().map(Thread::commands).collect();
        Ok(Self {
            failures: vec![None; threads.len() + 1],
            scheduler: Scheduler::new(host, about, policy),
            threads,
            courier: Courier {
                commands,
                events: sender,
            },
            events,
            began: Instant::now(),
        })
    }

    /// What hands batches over.
    pub fn courier(&self) -> Courier<E> {
        self.courier.clone()
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

    /// Takes items, and gives their numbers.
    pub fn submit(&mut self, items: impl IntoIterator<Item = Item>) -> Range<u64> {
        self.scheduler.submit(items)
    }

    /// Forgets what is not done: nobody waits for it any more.
    pub fn abandon(&mut self) {
        self.scheduler.abandon();
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

    /// What is to be started next; nothing where all have what they should have.
    pub fn start(&mut self) -> Option<Start> {
        let start = self.scheduler.start(self.now())?;
        debug!(batch = ?start.batch, executor = start.executor, items = ?start.items, "started");
        Some(start)
    }

    /// Waits for something to happen, at most so long.
    pub fn wait(&mut self, time: Duration) -> Happened<E::Answer> {
        let now = self.now();
        let wake = self.scheduler.wake().map(|at| at.saturating_sub(now));
        let time = wake.map_or(time, |wake| wake.min(time));
        match self.events.recv_timeout(time) {
            Ok(event) => self.happen(event),
            // The sender of the courier that is kept here never ends.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                self.expire();
                Happened::Nothing
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

    fn happen(&mut self, event: Event<E::Answer>) -> Happened<E::Answer> {
        let now = self.now();
        let (executor, batch, result, answer) = match event {
            Event::Host { batch, result } => (HOST, batch, result, None),
            Event::Device {
                executor,
                batch,
                result,
            } => match result {
                Ok((answer, made)) => (executor, batch, Ok(made), Some(answer)),
                Err(failure) => (executor, batch, Err(failure), None),
            },
        };
        if let Err(failure) = &result {
            debug!(?batch, executor, %failure, "failed");
            self.failures[executor] = Some(failure.clone());
        }
        match (self.scheduler.ended(now, batch, result), answer) {
            (Ended::Done(items), Some(answer)) => Happened::ByDevice {
                executor,
                items,
                answer,
            },
            (Ended::Done(items), None) => Happened::ByHost(items),
            (Ended::GivenUp(item, failure), _) => Happened::GivenUp(item, failure),
            (Ended::Dropped, _) => {
                self.scheduler.answered(executor);
                Happened::Nothing
            }
        }
    }
}
