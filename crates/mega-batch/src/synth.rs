//! [`Synthesis`]: generates tasks from programs.
//!
//! A candidate consists of a program, derived from one or two of the given ones, and inputs, generated or taken from
//! tasks. The program's outputs complete a task, unless a filter drops it. Candidate `n` of a seed is always the
//! same: its random numbers depend only on the seed and on `n`, and it is compared with earlier candidates in the
//! order of their numbers. So a synthesis gives the same tasks for any number of workers.

use std::collections::{HashSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use arc_dsl::{Limits, Program};
use arc_tasks::Task;

mod augment;
mod candidates;
mod draws;
mod settings;

pub use augment::{
    AS_THEY_ARE, AugmentError, Augmentation, COLOURS, Changes, Recolouring, Symmetry,
    drawn_colours, recoloured,
};
use candidates::{CandidateResult, Shared, Worker};
pub use settings::{Filters, Inputs, Recipe, Settings, SettingsError};

/// Why a candidate was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dropped {
    /// The program was not changed.
    Unchanged,
    /// The program fails, or reaches a limit, on too many inputs.
    Failed,
    /// The output is not a grid, or has no cells.
    NoGrid,
    /// A grid has too many rows or columns.
    TooLarge,
    /// An output has colours other than 0 to 9.
    Foreign,
    /// At least half of the outputs equal their inputs.
    Identity,
    /// All outputs are the same.
    Constant,
    /// There are too few different inputs.
    FewInputs,
    /// It behaves like an earlier program.
    Duplicate,
    /// A search finds its test outputs.
    Easy,
}

impl Dropped {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Unchanged,
        Self::Failed,
        Self::NoGrid,
        Self::TooLarge,
        Self::Foreign,
        Self::Identity,
        Self::Constant,
        Self::FewInputs,
        Self::Duplicate,
        Self::Easy,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Failed => "failed",
            Self::NoGrid => "no_grid",
            Self::TooLarge => "too_large",
            Self::Foreign => "foreign",
            Self::Identity => "identity",
            Self::Constant => "constant",
            Self::FewInputs => "few_inputs",
            Self::Duplicate => "duplicate",
            Self::Easy => "easy",
        }
    }
}

/// A task with its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The task. Its id is a hash of its pairs and its program.
    pub task: Task,
    /// The program, `solve_` and the task's id.
    pub program: Program,
    /// How the program was derived.
    pub recipe: Recipe,
    /// The programs that it was derived from, as indices.
    pub parents: Vec<usize>,
    /// A hash of the program's outputs: programs with equal hashes are assumed to behave alike.
    pub behaviour: u128,
    /// The number of the candidate.
    pub number: u64,
}

/// Statistics of the candidates so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SynthCounts {
    /// How many there were.
    pub candidates: u64,
    /// How many became tasks.
    pub made: u64,
    dropped: [u64; Dropped::ALL.len()],
}

impl SynthCounts {
    /// How many were dropped for this reason.
    pub fn dropped(&self, reason: Dropped) -> u64 {
        self.dropped[reason as usize]
    }
}

/// The synthesis was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// How many chunks are generated at a time, at first and at most.
const FIRST_CHUNKS: usize = 4;
const MOST_CHUNKS: usize = 64;

/// After this many candidates without a task the synthesis ends.
const PATIENCE: u64 = 20_000;

/// Generates tasks one by one.
pub struct Synthesis {
    shared: Shared,
    workers: Vec<Worker>,
    /// The next chunk, counted within the shard, and how many are generated next.
    next_chunk: u64,
    chunks: usize,
    known: HashSet<u128>,
    waiting: VecDeque<CandidateResult>,
    counts: SynthCounts,
    dropped_in_a_row: u64,
}

impl Synthesis {
    /// A synthesis with these settings.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        let threads = settings.workers.map_or_else(
            || thread::available_parallelism().map_or(1, NonZeroUsize::get),
            NonZeroUsize::get,
        );
        let limits = Limits {
            max_steps: settings.max_steps,
            ..Limits::default()
        };
        Ok(Self {
            workers: (0..threads).map(|_| Worker::new(limits.clone())).collect(),
            shared: Shared::new(settings),
            next_chunk: 0,
            chunks: FIRST_CHUNKS,
            known: HashSet::new(),
            waiting: VecDeque::new(),
            counts: SynthCounts::default(),
            dropped_in_a_row: 0,
        })
    }

    /// Statistics of the candidates so far.
    pub fn counts(&self) -> &SynthCounts {
        &self.counts
    }

    /// The next task; `None` if there seem to be no others. `interrupted` is called on this thread all the time;
    /// after an interruption the synthesis can continue as if nothing had happened.
    pub fn next_task(
        &mut self,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Box<Made>>, Interrupted> {
        loop {
            while let Some(outcome) = self.waiting.pop_front() {
                self.counts.candidates += 1;
                match outcome {
                    Ok(made) => {
                        self.dropped_in_a_row = 0;
                        self.counts.made += 1;
                        return Ok(Some(made));
                    }
                    Err(reason) => {
                        self.dropped_in_a_row += 1;
                        self.counts.dropped[reason as usize] += 1;
                        if self.dropped_in_a_row == PATIENCE {
                            self.waiting.clear();
                            return Ok(None);
                        }
                    }
                }
            }
            if self.dropped_in_a_row >= PATIENCE {
                return Ok(None);
            }
            self.generate(interrupted)?;
        }
    }

    /// Generates the next chunks.
    fn generate(&mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<(), Interrupted> {
        let (part, of) = self.shared.settings.shard;
        let first = self.next_chunk;
        let shared = &self.shared;
        let chunks = in_parallel(
            &mut self.workers,
            self.chunks,
            interrupted,
            |worker, at, stop| shared.chunk(worker, part + (first + at as u64) * of, stop),
        )?;
        let mut outcomes: Vec<CandidateResult> = chunks.into_iter().flatten().collect();

        let mut known = HashSet::new();
        if shared.settings.filters.duplicates {
            for outcome in &mut outcomes {
                if let Ok(made) = outcome
                    && (self.known.contains(&made.behaviour) || !known.insert(made.behaviour))
                {
                    *outcome = Err(Dropped::Duplicate);
                }
            }
        }
        if shared.settings.filters.easy_nodes > 0 {
            let to_search: Vec<(usize, &Task)> = outcomes
                .iter()
                .enumerate()
                .filter_map(|(at, outcome)| Some((at, &outcome.as_ref().ok()?.task)))
                .collect();
            let easy = in_parallel(
                &mut self.workers,
                to_search.len(),
                interrupted,
                |worker, at, stop| shared.is_easy(worker, to_search[at].1, stop),
            )?;
            let places: Vec<usize> = to_search.iter().map(|(at, _)| *at).collect();
            for (at, is_easy) in places.into_iter().zip(easy) {
                if is_easy {
                    outcomes[at] = Err(Dropped::Easy);
                }
            }
        }
        self.known.extend(known);
        self.next_chunk += self.chunks as u64;
        self.chunks = (self.chunks * 2).min(MOST_CHUNKS);
        self.waiting.extend(outcomes);
        Ok(())
    }
}

/// Runs `work` for each number below `count` on all workers, of which the first belongs to this thread. The function
/// passed to `work` tells whether to stop early.
fn in_parallel<T: Send>(
    workers: &mut [Worker],
    count: usize,
    interrupted: &mut dyn FnMut() -> bool,
    work: impl Fn(&mut Worker, usize, &mut dyn FnMut() -> bool) -> T + Sync,
) -> Result<Vec<T>, Interrupted> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let run = |worker: &mut Worker, asked: &mut dyn FnMut() -> bool| {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            // Ask first: others may have taken everything before this thread begins.
            if asked() || at >= count {
                return done;
            }
            done.push((at, work(worker, at, asked)));
        }
    };
    let Some((own, others)) = workers.split_first_mut() else {
        return Ok(Vec::new());
    };
    let mut done = thread::scope(|scope| {
        let others = others.iter_mut().take(count.saturating_sub(1));
        // A thread that cannot be started leaves its part to the others.
        let threads = others.map_while(|other| {
            let builder = thread::Builder::new().name("synthesis".to_owned());
            let (run, stop) = (&run, &stop);
            let work = move || run(other, &mut || stop.load(Ordering::Relaxed));
            builder.spawn_scoped(scope, work).ok()
        });
        let threads: Vec<_> = threads.collect();
        let mut asked = || {
            if !stop.load(Ordering::Relaxed) && interrupted() {
                stop.store(true, Ordering::Relaxed);
            }
            stop.load(Ordering::Relaxed)
        };
        let mut done = run(own, &mut asked);
        for thread in threads {
            while !thread.is_finished() && !asked() {
                thread::sleep(std::time::Duration::from_micros(50));
            }
            let of_thread = thread.join();
            done.extend(of_thread.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    if stop.load(Ordering::Relaxed) {
        return Err(Interrupted);
    }
    done.sort_unstable_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, made)| made).collect())
}

#[cfg(test)]
mod tests;
