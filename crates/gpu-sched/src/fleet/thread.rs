//! The thread of a device.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use tracing::debug_span;

use super::{Ended, Executor, Signal};
use crate::failure::Failure;
use crate::scheduler::{Made, WindowId};

/// How long to wait for a device's thread to end: a thread that hangs never ends.
const GRACE: Duration = Duration::from_secs(2);

/// A command for a device's thread.
pub(super) enum Command<B> {
    Run {
        window: WindowId,
        batch: B,
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
    pub(super) fn start<E: Executor<Batch = B>>(
        number: usize,
        name: &str,
        executor: E,
        sender: Sender<Ended<E::Answer>>,
        signal: Arc<Signal>,
    ) -> io::Result<Self> {
        let (commands, received) = unbounded();
        let (end, ended) = bounded::<()>(0);
        let name = format!("device {number}: {name}");
        std::thread::Builder::new().name(name).spawn(move || {
            let worker = Worker {
                number,
                executor,
                sender,
                signal,
                begun: VecDeque::new(),
            };
            worker.work(&received);
            // Closing the channel tells that the thread has ended.
            drop(end);
        })?;
        Ok(Self { commands, ended })
    }

    /// Sends a command; returns whether the thread is there.
    pub(super) fn send(&self, command: Command<B>) -> bool {
        self.commands.send(command).is_ok()
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
struct Worker<E: Executor> {
    number: usize,
    executor: E,
    sender: Sender<Ended<E::Answer>>,
    signal: Arc<Signal>,
    begun: VecDeque<(WindowId, E::Begun, Duration)>,
}

impl<E: Executor> Worker<E> {
    /// Begins the windows that arrive, up to one per lane, and finishes the oldest if no other can begin.
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
                    window,
                    batch,
                    recover,
                    prepare,
                }) => self.begin(window, batch, recover, prepare),
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

    fn begin(&mut self, window: WindowId, batch: E::Batch, recover: bool, prepare: Duration) {
        let _span = debug_span!("begin", device = self.number, ?window).entered();
        let executor = &mut self.executor;
        let begun = catch_panics(|| {
            if recover {
                executor.recover()?;
            }
            executor.begin(batch)
        });
        match begun {
            Ok(begun) => self.begun.push_back((window, begun, prepare)),
            Err(failure) => {
                // Windows begun before it are finished now, or lost with it.
                while !self.begun.is_empty() {
                    self.finish();
                }
                self.report(window, Err(failure));
            }
        }
    }

    fn finish(&mut self) {
        let Some((window, begun, prepare)) = self.begun.pop_front() else {
            return;
        };
        let _span = debug_span!("finish", device = self.number, ?window).entered();
        let executor = &mut self.executor;
        let result = catch_panics(|| executor.finish(begun));
        let result = result.map(|(answer, mut made)| {
            made.stages.prepare = prepare;
            (answer, made)
        });
        self.report(window, result);
    }

    fn report(&self, window: WindowId, result: Result<(E::Answer, Made), Failure>) {
        // If the fleet is gone, nobody listens.
        let _ = self.sender.send(Ended {
            device: self.number,
            window,
            result,
        });
        self.signal.ring();
    }
}

/// A panic counts as the loss of this device, and affects nothing else.
fn catch_panics<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Failure::Lost("a panic of its driver".to_owned())))
}
