//! What a panic leaves behind: a bug of the engine, which costs one evaluation.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The reason for which an evaluation or a program is left to the reference.
pub(crate) const PANIC: &str = "a panic, which is a bug of the engine";

/// The lock. What a panic left behind it is whole: nothing is changed in steps under these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a panic said.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message")
}
