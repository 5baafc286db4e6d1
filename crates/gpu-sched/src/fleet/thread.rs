//! The thread of a device.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use tracing::debug_span;

use super::{Answer, Executor, Message};
use crate::scheduler::{BatchId, Made};
use crate::work::Failure;

/// How long to wait for a device's thread to end: a thread that hangs never ends.
const GRACE: Duration = Duration::from_secs(2);

/// A command for a device's thread.
pub(super) enum Command<B> {
    Run {
        batch: BatchId,
        content: B,
        recover: bool,
        prepare: Duration,
    },
    CleanUp,
    Stop,
}

/// The handle of a device's thread.
#[derive(Debug)]
pub(super) struct Thread<B> {
    commands: Sender<Command<B>>,
    ended: Receiver<()>,
}

impl<B: Send + 'static> Thread<B> {
    pub(super) fn start<E: Executor<Batch = B>, H: Send + 'static>(
        number: usize,
        name: &str,
        executor: E,
        events: Sender<Message<E::Answer, H>>,
    ) -> io::Result<Self> {
        let (commands, received) = unbounded();
        let (end, ended) = bounded::<()>(0);
        let name = format!("device {number}: {name}");
        std::thread::Builder::new().name(name).spawn(move || {
            let worker = Worker {
                number,
                executor,
                events,
                begun: VecDeque::new(),
            };
            worker.work(&received);
            // Closing the channel tells that the thread has ended.
            drop(end);
        })?;
        Ok(Self { commands, ended })
    }

    pub(super) fn commands(&self) -> Sender<Command<B>> {
        self.commands.clone()
    }

    pub(super) fn clean_up(&self) {
        // If the thread has ended, it holds no memory.
        let _ = self.commands.send(Command::CleanUp);
    }
}

impl<B> Drop for Thread<B> {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Stop);
        let waited = self.ended.recv_timeout(GRACE);
        if waited == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("a device's thread hangs and is left alone");
        }
    }
}

/// The state of a device's thread.
struct Worker<E: Executor, H> {
    number: usize,
    executor: E,
    events: Sender<Message<E::Answer, H>>,
    begun: VecDeque<(BatchId, E::Begun, Duration)>,
}

impl<E: Executor, H> Worker<E, H> {
    /// Begins the batches that arrive, up to one per lane, and finishes the oldest if no other can begin.
    fn work(mut self, commands: &Receiver<Command<E::Batch>>) {
        loop {
            let command = if self.begun.is_empty() {
                // A closed channel ends the thread too.
                Some(commands.recv().unwrap_or(Command::Stop))
            } else if self.begun.len() < self.executor.lanes() {
                commands.try_recv().ok()
            } else {
                None
            };
            match command {
                Some(Command::Run {
                    batch,
                    content,
                    recover,
                    prepare,
                }) => self.begin(batch, content, recover, prepare),
                Some(Command::CleanUp) => self.executor.clean_up(),
                None => self.finish(),
                Some(Command::Stop) => {
                    while !self.begun.is_empty() {
                        self.finish();
                    }
                    return;
                }
            }
        }
    }

    fn begin(&mut self, batch: BatchId, content: E::Batch, recover: bool, prepare: Duration) {
        let _span = debug_span!("begin", device = self.number, ?batch).entered();
        let executor = &mut self.executor;
        let begun = catch_panics(|| {
            if recover {
                executor.recover()?;
            }
            executor.begin(content)
        });
        match begun {
            Ok(begun) => self.begun.push_back((batch, begun, prepare)),
            Err(failure) => {
                // Batches begun before it are finished now, or lost with it.
                while !self.begun.is_empty() {
                    self.finish();
                }
                self.report(batch, Err(failure));
            }
        }
    }

    fn finish(&mut self) {
        let Some((batch, begun, prepare)) = self.begun.pop_front() else {
            return;
        };
        let _span = debug_span!("finish", device = self.number, ?batch).entered();
        let executor = &mut self.executor;
        let result = catch_panics(|| executor.finish(begun));
        let result = result.map(|(answer, mut made)| {
            made.stages.prepare = prepare;
            (Answer::Device(answer), made)
        });
        self.report(batch, result);
    }

    fn report(&self, batch: BatchId, result: Result<(Answer<E::Answer, H>, Made), Failure>) {
        // If the fleet is gone, nobody listens.
        let _ = self.events.send(Message::Ended {
            executor: self.number,
            batch,
            result,
        });
    }
}

/// A panic counts as the loss of this device, and affects nothing else.
fn catch_panics<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Failure::Lost("a panic of its driver".to_owned())))
}
