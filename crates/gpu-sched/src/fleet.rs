//! [`Fleet`]: a thread for each device, and the scheduler that decides what they evaluate.
//!
//! Any thread of the caller may [claim](Fleet::claim) a window for a device, prepare it, and [hand it
//! over](Fleet::hand_over). The device's thread begins the next window while the one before is computed, so that copies
//! overlap with computing, and rings the [`Signal`] when it has [finished](Fleet::receive) one.
//!
//! If a device hangs, its thread is left alone; its late answer is dropped.

mod signal;
mod thread;

#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use tracing::{debug, warn};

use crate::failure::Failure;
use crate::scheduler::{DeviceDescription, Host, Made, Policy, Scheduler, Window, WindowId};
use crate::stages::Stages;
pub use signal::Signal;
use thread::{Command, Thread};

/// Evaluates windows on one device. It belongs to that device's thread.
pub trait Executor: Send + 'static {
    /// A window prepared for the device.
    type Batch: Send + 'static;
    /// The answers of a window.
    type Answer: Send + 'static;
    /// A window in flight on the device.
    type Begun;

    /// How many windows may be in flight at a time.
    fn lanes(&self) -> usize;

    /// Starts copying a window to the device and computing it, without waiting.
    fn begin(&mut self, batch: Self::Batch) -> Result<Self::Begun, Failure>;

    /// Waits for a window, the oldest of those in flight, and returns its answers and what it took.
    fn finish(&mut self, begun: Self::Begun) -> Result<(Self::Answer, Made), Failure>;

    /// Reopens the device after it was lost.
    fn recover(&mut self) -> Result<(), Failure>;

    /// Releases the memory that is cached for later windows.
    fn clean_up(&mut self);
}

/// A window has ended on a device.
#[derive(Debug)]
struct Ended<A> {
    device: usize,
    window: WindowId,
    result: Result<(A, Made), Failure>,
}

/// A window that a device has finished.
#[derive(Debug)]
pub struct Finished<A> {
    /// Its items, without those that the host kept.
    pub items: Vec<Range<u64>>,
    /// Their answers.
    pub answer: A,
    /// The time that it took.
    pub stages: Stages,
}

/// The devices.
#[derive(Debug)]
pub struct Fleet<B, A> {
    scheduler: Scheduler,
    threads: Vec<Thread<B>>,
    sender: Sender<Ended<A>>,
    ended: Receiver<Ended<A>>,
    signal: Arc<Signal>,
    clock: Instant,
    /// The last failure of each device.
    failures: Vec<Option<Failure>>,
}

impl<B: Send + 'static, A: Send + 'static> Fleet<B, A> {
    /// A fleet without devices.
    pub fn new(policy: Policy) -> Self {
        let (sender, ended) = unbounded();
        Self {
            scheduler: Scheduler::new(policy),
            threads: Vec::new(),
            sender,
            ended,
            signal: Arc::default(),
            clock: Instant::now(),
            failures: Vec::new(),
        }
    }

    /// Starts the thread of a device. There may be at most [`MOST_DEVICES`](crate::MOST_DEVICES).
    pub fn add<E>(&mut self, description: DeviceDescription, executor: E) -> io::Result<()>
    where
        E: Executor<Batch = B, Answer = A>,
    {
        let name = description.name.clone();
        let number = self.scheduler.add(description);
        let number = number.ok_or_else(|| io::Error::other("too many devices"))?;
        let (sender, signal) = (self.sender.clone(), Arc::clone(&self.signal));
        let thread = Thread::start(number, &name, executor, sender, signal)?;
        self.threads.push(thread);
        self.failures.push(None);
        Ok(())
    }

    /// Rung whenever a window has ended.
    pub fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }

    /// The scheduler.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The scheduler, mutable.
    pub fn scheduler_mut(&mut self) -> &mut Scheduler {
        &mut self.scheduler
    }

    /// The last failure of each device.
    pub fn failures(&self) -> impl Iterator<Item = Option<&Failure>> {
        self.failures.iter().map(Option::as_ref)
    }

    /// Has every device release the memory that it caches for later windows.
    pub fn clean_up(&self) {
        for thread in &self.threads {
            thread.send(Command::CleanUp);
        }
    }

    fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// How many items the window has that [`claim`](Self::claim) would claim now.
    pub fn due(&self, host: Host) -> u64 {
        let next = self.scheduler.next(self.now(), host);
        next.map_or(0, |(_, items)| items.end - items.start)
    }

    /// Claims a window for a device; `None` if every device has enough.
    pub fn claim(&mut self, host: Host) -> Option<Window> {
        let window = self.scheduler.claim(self.now(), host)?;
        debug!(?window, "claimed");
        Some(window)
    }

    /// Gives a device its window, whose preparation took `prepare`, without the items that the host `kept`; returns
    /// whether [these are its own](Scheduler::handed_over).
    pub fn hand_over(
        &mut self,
        window: &Window,
        batch: B,
        kept: &[Range<u64>],
        prepare: Duration,
    ) -> bool {
        let is_kept = self.scheduler.handed_over(self.now(), window.id, kept);
        let command = Command::Run {
            window: window.id,
            batch,
            recover: window.recover,
            prepare,
        };
        if !self.threads[window.device].send(command) {
            let failure = Failure::Lost("its thread has ended".to_owned());
            self.end(window.device, window.id, Err(failure));
        }
        is_kept
    }

    /// Notes what has happened on devices since, and returns the next window that one has finished, if there is any.
    pub fn receive(&mut self) -> Option<Finished<A>> {
        while let Ok(Ended {
            device,
            window,
            result,
        }) = self.ended.try_recv()
        {
            let (result, answer) = match result {
                Ok((answer, made)) => (Ok(made), Some(answer)),
                Err(failure) => (Err(failure), None),
            };
            let stages = result
                .as_ref()
                .map_or(Stages::default(), |made| made.stages);
            if let (Some(items), Some(answer)) = (self.end(device, window, result), answer) {
                return Some(Finished {
                    items,
                    answer,
                    stages,
                });
            }
        }
        let now = self.now();
        self.scheduler.revive(now);
        for (window, device) in self.scheduler.expire(now) {
            warn!(?window, device, "given up: no answer within the time limit");
            self.failures[device] = Some(Failure::Hung);
        }
        None
    }

    fn end(
        &mut self,
        device: usize,
        window: WindowId,
        result: Result<Made, Failure>,
    ) -> Option<Vec<Range<u64>>> {
        if let Err(failure) = &result {
            debug!(?window, device, %failure, "failed");
            self.failures[device] = Some(failure.clone());
        }
        let now = self.now();
        let items = self.scheduler.ended(now, window, result);
        if items.is_none() {
            self.scheduler.answered(device);
        }
        items
    }
}
