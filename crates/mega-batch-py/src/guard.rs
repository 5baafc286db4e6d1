//! Panics of the engine, which are bugs: they become a `RuntimeError`, which `except Exception` catches, unlike
//! PyO3's `PanicException`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
