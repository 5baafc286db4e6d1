//! [`ProgramCache`]: the programs of a batch in the form in which an executor runs them.
//!
//! A program is compiled when its first evaluation is due, and evicted after its last one, so memory does not grow
//! with the batch.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::run::panics::lock;

/// The programs of a batch, each with the number of its remaining evaluations.
#[derive(Debug)]
pub(crate) struct ProgramCache<T> {
    /// By the index of the program in the batch. Empty if nothing is compiled.
    entries: Vec<Mutex<CachedProgram<T>>>,
    counts: Mutex<CacheCounts>,
}

#[derive(Debug)]
struct CachedProgram<T> {
    state: CacheState<T>,
    /// How many evaluations of it there are, and how many remain.
    evaluations: u64,
    left: u64,
}

#[derive(Debug)]
enum CacheState<T> {
    /// No evaluation was due so far.
    New,
    Compiled(T),
    /// It cannot be compiled, is not worth it, or was evicted.
    NotCompiled,
}

/// Why a program is not compiled.
#[derive(Debug)]
pub(crate) enum NotCompiled {
    /// Compiling failed.
    Failed(String),
    /// It is not worth compiling, so nobody tried.
    Untried(String),
}

impl From<String> for NotCompiled {
    fn from(reason: String) -> Self {
        NotCompiled::Failed(reason)
    }
}

/// What happened to the programs of a batch.
#[derive(Debug, Default)]
pub(crate) struct CacheCounts {
    /// Programs that were compiled.
    pub(crate) compiled: u64,
    /// Programs that were not, by reason.
    pub(crate) not_compiled: BTreeMap<String, u64>,
    /// How long compiling took, summed over workers.
    pub(crate) time: Duration,
}

impl<T: Clone> ProgramCache<T> {
    /// A cache for programs with these numbers of evaluations.
    pub(crate) fn new(evaluations: Vec<u64>) -> Self {
        let entry = |evaluations| {
            Mutex::new(CachedProgram {
                state: CacheState::New,
                evaluations,
                left: evaluations,
            })
        };
        Self {
            entries: evaluations.into_iter().map(entry).collect(),
            counts: Mutex::default(),
        }
    }

    /// The program, compiled now if it was not; `None` if it is not compiled. `compile` gets the number of its
    /// evaluations, and says why it does not compile it.
    pub(crate) fn get(
        &self,
        program: u32,
        compile: impl FnOnce(u64) -> Result<T, NotCompiled>,
    ) -> Option<T> {
        // Others wait while it is being compiled, which takes less than doing it twice.
        let mut entry = lock(self.entries.get(program as usize)?);
        if let CacheState::New = entry.state {
            let began = Instant::now();
            let compiled = compile(entry.evaluations);
            let mut counts = lock(&self.counts);
            if !matches!(compiled, Err(NotCompiled::Untried(_))) {
                counts.time += began.elapsed();
            }
            entry.state = match compiled {
                Ok(compiled) => {
                    counts.compiled += 1;
                    CacheState::Compiled(compiled)
                }
                Err(NotCompiled::Failed(reason) | NotCompiled::Untried(reason)) => {
                    *counts.not_compiled.entry(reason).or_default() += 1;
                    CacheState::NotCompiled
                }
            };
        }
        match &entry.state {
            CacheState::Compiled(compiled) => Some(compiled.clone()),
            CacheState::New | CacheState::NotCompiled => None,
        }
    }

    /// Records finished evaluations of the program; after the last one it is evicted.
    pub(crate) fn done(&self, program: u32, evaluations: usize) {
        if let Some(entry) = self.entries.get(program as usize) {
            let mut entry = lock(entry);
            entry.left -= (evaluations as u64).min(entry.left);
            if entry.left == 0 {
                entry.state = CacheState::NotCompiled;
            }
        }
    }

    /// The statistics.
    pub(crate) fn finish(self) -> CacheCounts {
        let counts = self.counts.into_inner();
        counts.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_compiled_once_and_evicted_after_its_last_evaluation() {
        let cache = ProgramCache::new(vec![3, 1, 0]);
        let never = |_| -> Result<u64, NotCompiled> { panic!("it was compiled before") };
        assert_eq!(cache.get(0, |evaluations| Ok(10 * evaluations)), Some(30));
        assert_eq!(cache.get(0, never), Some(30));
        assert_eq!(
            cache.get(1, |_| Err("no such step".to_owned().into())),
            None
        );
        assert_eq!(cache.get(1, never), None);
        cache.done(0, 2);
        assert_eq!(cache.get(0, never), Some(30));
        // More evaluations may be reported than remain.
        cache.done(0, 2);
        assert_eq!(cache.get(0, never), None);
        // A program that is done before it was due is not compiled.
        cache.done(2, 0);
        assert_eq!(cache.get(2, never), None);
        // There is no such program.
        cache.done(3, 1);
        assert_eq!(cache.get(3, never), None);
        let CacheCounts {
            compiled,
            not_compiled,
            ..
        } = cache.finish();
        assert_eq!(compiled, 1);
        assert_eq!(
            not_compiled,
            BTreeMap::from([("no such step".to_owned(), 1)])
        );
    }

    #[test]
    fn what_nobody_has_tried_to_compile_has_taken_no_time() {
        let cache = ProgramCache::<u64>::new(vec![1]);
        let untried = || Err(NotCompiled::Untried("few evaluations".to_owned()));
        assert_eq!(cache.get(0, |_| untried()), None);
        let counts = cache.finish();
        assert_eq!(counts.time, Duration::ZERO);
        assert_eq!(counts.not_compiled["few evaluations"], 1);
    }
}
