//! Panics of the engine, which are bugs of it: they become a `RuntimeError`, which `except Exception`
//! catches, unlike the `PanicException` that they would be otherwise.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// What the engine gives, made without the GIL.
pub(crate) fn engine<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| caught(work))
}

/// What it gives, or what its panic said.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    // What a panic may leave half done is thrown away by the callers.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("a panic without a message");
        PyRuntimeError::new_err(format!("internal error of the engine, a bug: {text}"))
    })
}

/// The lock, whatever a panic left behind it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
