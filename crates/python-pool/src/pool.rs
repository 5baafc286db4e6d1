//! Shares programs out among workers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use arc_dsl::Grid;
use serde::Serialize;

use crate::reply::{Ending, answer, crashed};
use crate::worker::Worker;
use crate::{Answer, Block, Guards, Job, PoolError, Settings};

/// How often the caller is asked whether a run goes on.
const POLL: Duration = Duration::from_millis(50);

/// Workers that wait for programs. Threads may share a pool. A fork of the process needs a pool of its own.
#[derive(Debug)]
pub struct Pool {
    settings: Settings,
    guards: Guards,
    /// None where a worker was lost.
    workers: Vec<Mutex<Option<Worker>>>,
}

/// A job as a worker reads it.
#[derive(Serialize)]
struct Message<'a> {
    tries: &'a [Vec<Block>],
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
            workers: started
                .into_iter()
                .map(|(worker, _)| Mutex::new(Some(worker)))
                .collect(),
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

    /// Runs programs; the answers are in the order of the jobs. `watch` is called in this thread, a few times a second
    /// and after each program, with the numbers of jobs done and in total; false ends the run.
    pub fn run(
        &self,
        jobs: &[Job],
        mut watch: impl FnMut(usize, usize) -> bool,
    ) -> Result<Vec<Answer>, PoolError> {
        let (mut known, mut distinct) = (HashMap::new(), Vec::new());
        let places = jobs.iter().map(|job| {
            *known
                .entry((job.tries, job.inputs.as_ptr(), job.inputs.len()))
                .or_insert_with(|| {
                    distinct.push(job);
                    distinct.len() - 1
                })
        });
        let places: Vec<_> = places.collect();
        let mut weights = vec![0; distinct.len()];
        for place in &places {
            weights[*place] += 1;
        }
        let (next, cancelled) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, receiver) = channel();
        let mut answers: Vec<_> = distinct.iter().map(|_| None).collect();
        let work = |worker: &Mutex<Option<Worker>>, sender: Sender<_>| {
            while !cancelled.load(Ordering::Relaxed) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = distinct.get(at) else {
                    return;
                };
                // It is not read any more if the run was ended.
                let _ = sender.send((at, self.run_on(worker, job, &cancelled)));
            }
        };
        let ended = thread::scope(|scope| {
            for worker in self.workers.iter().take(distinct.len()) {
                let (work, sender) = (&work, sender.clone());
                scope.spawn(move || work(worker, sender));
            }
            drop(sender);
            let mut done = 0;
            loop {
                match receiver.recv_timeout(POLL) {
                    Ok((at, Ok(answer))) => {
                        done += weights[at];
                        answers[at] = Some(answer);
                    }
                    Ok((_, Err(error))) => {
                        cancelled.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                if !watch(done, jobs.len()) {
                    cancelled.store(true, Ordering::Relaxed);
                    return Err(PoolError::Cancelled);
                }
            }
        });
        ended?;
        let answers: Option<Vec<_>> = places.iter().map(|place| answers[*place].clone()).collect();
        // Each job is taken by one thread, which panics or answers.
        answers.ok_or(PoolError::Cancelled)
    }

    fn run_on(
        &self,
        worker: &Mutex<Option<Worker>>,
        job: &Job,
        cancelled: &AtomicBool,
    ) -> Result<Answer, PoolError> {
        let rows = |grid: &'_ Grid| {
            grid.cells()
                .chunks(grid.width().max(1))
                .map(<[i8]>::to_vec)
                .collect()
        };
        let message = Message {
            tries: job.tries,
            inputs: job.inputs.iter().map(rows).collect(),
        };
        let message =
            serde_json::to_vec(&message).map_err(|error| PoolError::Start(error.to_string()))?;
        let mut worker = worker.lock().unwrap_or_else(PoisonError::into_inner);
        let running = match &mut *worker {
            Some(running) => running,
            lost => lost.insert(Worker::start(&self.settings)?.0),
        };
        let ending = running.run(&message, &self.settings, cancelled);
        if !matches!(ending, Ending::Reply(_)) {
            *worker = None;
        }
        match ending {
            Ending::Reply(reply) => Ok(answer(&reply, job.inputs.len())),
            Ending::Lost(reason) => Ok(Answer::Ran(vec![Err(crashed(reason)); job.inputs.len()])),
            Ending::Cancelled => Err(PoolError::Cancelled),
        }
    }
}
