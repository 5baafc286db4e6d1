//! Panics of the engine, which are bugs: they become a `RuntimeError`, which `except Exception` catches, unlike
//! PyO3's `PanicException`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::prelude::*;

/// Runs engine code without the GIL.
pub(crate) fn engine<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| caught(work))
}

/// The result, or the message of a panic as an error.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    // Callers discard anything that a panic may leave inconsistent.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        crate::internal(text.unwrap_or("a panic without a message"))
    })
}

/// Locks a mutex, ignoring poisoning.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something with threads or processes of its own, which a forked process lacks: there it is made anew.
pub(crate) struct PerProcess<T> {
    process: u32,
    own: T,
    /// Its replacement in a forked process, where its locks may be held for ever by a thread that does not exist.
    after_fork: OnceLock<Box<PerProcess<T>>>,
}

impl<T> PerProcess<T> {
    pub(crate) fn new(own: T) -> Self {
        Self {
            process: process::id(),
            own,
            after_fork: OnceLock::new(),
        }
    }

    /// That of this process.
    pub(crate) fn here(&self, make: impl Fn() -> PyResult<T>) -> PyResult<&T> {
        let mut found = self;
        while found.process != process::id() {
            if let Some(forked) = found.after_fork.get() {
                found = forked;
                continue;
            }
            // If two threads get here, one of what they make is kept.
            let _ = found.after_fork.set(Box::new(Self::new(make()?)));
        }
        Ok(&found.own)
    }
}
