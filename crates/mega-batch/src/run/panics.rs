//! Handling of panics: each is a bug of the engine that costs one evaluation.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why an evaluation or a program is left to the reference.
pub(crate) const PANIC: &str = "a panic, which is a bug of the engine";

/// Locks a mutex even if it is poisoned. The data is consistent then: no change under these locks can be interrupted
/// halfway by a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a panic said.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message")
}
