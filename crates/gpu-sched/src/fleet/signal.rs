//! [`Signal`]: wakes threads that wait for a change.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a waiting thread spins before it sleeps: waking it takes as long.
const SPIN: Duration = Duration::from_micros(50);

/// A counter of changes, for which threads can wait.
#[derive(Debug, Default)]
pub struct Signal {
    changes: AtomicU64,
    sleepers: AtomicU64,
    asleep: Mutex<()>,
    changed: Condvar,
}

impl Signal {
    /// How many changes there were.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    /// Counts a change without waking anyone.
    pub fn count(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts a change, and wakes all who wait for one.
    pub fn ring(&self) {
        self.count();
        // Who begins to sleep after this has seen the change.
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
            self.changed.notify_all();
        }
    }

    /// Waits for a change after `changes`, at most for `time`.
    pub fn wait(&self, changes: u64, time: Duration) {
        let began = Instant::now();
        while began.elapsed() < SPIN {
            if self.changes() != changes {
                return;
            }
            std::hint::spin_loop();
        }
        let asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        if self.changes() == changes {
            let woken = self.changed.wait_timeout(asleep, time);
            drop(woken.unwrap_or_else(PoisonError::into_inner));
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}
