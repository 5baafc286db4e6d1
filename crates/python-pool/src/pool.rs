//! Shares programs out among workers.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use arc_dsl::Grid;
use serde::Serialize;

use crate::reply::{Ending, crashed, outputs};
use crate::worker::Worker;
use crate::{Code, Failure, FailureKind, Guards, Outputs, PoolError, Settings};

/// How often one who waits for a worker looks whether that is over.
const POLL: Duration = Duration::from_millis(50);

/// How many codes are recognised in one process.
const AT_ONCE: usize = 64;

/// Workers that wait for programs. Threads share a pool. A fork of the process needs a pool of its own.
#[derive(Debug)]
pub struct Pool {
    settings: Settings,
    guards: Guards,
    /// The workers without work, None for one that was lost.
    free: Mutex<Vec<Option<Worker>>>,
    freed: Condvar,
}

/// A job as a worker reads it.
#[derive(Serialize)]
struct Message<'a> {
    programs: &'a [&'a Code],
    /// Without any, programs are recognised and not executed.
    inputs: Vec<Vec<Vec<i8>>>,
}

impl Pool {
    /// Starts the workers.
    pub fn new(settings: Settings) -> Result<Self, PoolError> {
        let started = thread::scope(|scope| {
            let starts =
                (0..settings.workers.max(1)).map(|_| scope.spawn(|| Worker::start(&settings)));
            let starts: Vec<_> = starts.collect();
            let joined = starts.into_iter().map(|start| {
                start.join().unwrap_or_else(|_| {
                    Err(PoolError::Start(
                        "a bug: the start of a worker panicked".to_owned(),
                    ))
                })
            });
            joined.collect::<Result<Vec<_>, _>>()
        })?;
        let guards = started.first().map(|(_, guards)| *guards);
        Ok(Self {
            guards: guards.unwrap_or_default(),
            free: Mutex::new(
                started
                    .into_iter()
                    .map(|(worker, _)| Some(worker))
                    .collect(),
            ),
            freed: Condvar::new(),
            settings,
        })
    }

    /// What isolates programs.
    pub fn guards(&self) -> Guards {
        self.guards
    }

    /// How programs are run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The outputs of a program for these inputs. Waits for a worker; asks a few times a second `is_over`, which ends it.
    pub fn run(
        &self,
        code: &Code,
        inputs: &[Grid],
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<Outputs, PoolError> {
        let rows = |grid: &'_ Grid| {
            let rows = grid.cells().chunks(grid.width().max(1));
            rows.map(<[i8]>::to_vec).collect()
        };
        let message = Message {
            programs: &[code],
            inputs: inputs.iter().map(rows).collect(),
        };
        self.ask(&message, inputs.len(), is_over)
    }

    /// For each code whether it is a program in free Python, and otherwise why not. Nothing is executed.
    pub fn recognise(&self, codes: &[&Code]) -> Result<Vec<Option<Failure>>, PoolError> {
        let mut known: Vec<Option<Failure>> = Vec::with_capacity(codes.len());
        while known.len() < codes.len() {
            let left = &codes[known.len()..];
            let message = Message {
                programs: &left[..left.len().min(AT_ONCE)],
                inputs: Vec::new(),
            };
            let count = message.programs.len();
            let begins = known.len();
            for answer in self.ask(&message, count, &mut || false)? {
                let failure = answer.err();
                let is_read = |it: &Failure| it.kind == FailureKind::NoProgram;
                // A limit or a crash of the parser. It is the code's own if that was the first.
                if !failure.as_ref().is_none_or(is_read) {
                    if known.len() == begins {
                        known.push(failure);
                    }
                    break;
                }
                known.push(failure);
            }
        }
        Ok(known)
    }

    /// Has a free worker do a job; the reply has this many results.
    fn ask(
        &self,
        message: &Message,
        results: usize,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<Outputs, PoolError> {
        let message =
            serde_json::to_vec(message).map_err(|error| PoolError::Start(error.to_string()))?;
        let worker = loop {
            // Nobody waits for what `is_over` may do.
            if is_over() {
                return Err(PoolError::Cancelled);
            }
            let free = lock(&self.free);
            let waited = self
                .freed
                .wait_timeout_while(free, POLL, |free| free.is_empty());
            if let Some(worker) = waited.unwrap_or_else(PoisonError::into_inner).0.pop() {
                break worker;
            }
        };
        let started = worker.map_or_else(|| Ok(Worker::start(&self.settings)?.0), Ok);
        let ended = started.map(|mut worker| {
            let ending = worker.run(&message, &self.settings, is_over);
            (matches!(ending, Ending::Reply(_)).then_some(worker), ending)
        });
        let (worker, ending) = match ended {
            Ok((worker, ending)) => (worker, Ok(ending)),
            Err(error) => (None, Err(error)),
        };
        lock(&self.free).push(worker);
        self.freed.notify_one();
        match ending? {
            Ending::Reply(reply) => Ok(outputs(&reply, results)),
            Ending::Lost(reason) => Ok(vec![Err(crashed(reason)); results]),
            Ending::Cancelled => Err(PoolError::Cancelled),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
