//! Threads that the system refuses to start: reported as an error, where rayon would panic.

use std::error::Error;
use std::io;

use mega_batch::CoordinatorError;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

/// Starts the threads that all parallel iterators share. Otherwise rayon starts them on first use, and panics if it
/// cannot.
pub(super) fn share() -> anyhow::Result<()> {
    match ThreadPoolBuilder::new().build_global() {
        // If the pool already exists, the error has no source.
        Err(error) if error.source().is_some() => Err(not_started(&error)),
        _ => Ok(()),
    }
}

/// The error of a run or a search; if a thread could not be started, it says so.
pub(super) fn explain(error: CoordinatorError) -> anyhow::Error {
    match &error {
        CoordinatorError::Run(cause) if is_thread_error(cause) => not_started(cause),
        _ => error.into(),
    }
}

fn not_started(cause: &dyn Error) -> anyhow::Error {
    anyhow::anyhow!("a thread could not be started: {cause}")
}

/// Whether it is the error of a thread pool or of a thread: for no other error of a run is retrying of use.
fn is_thread_error(error: &io::Error) -> bool {
    let inner = error.get_ref();
    let is_of_pool =
        inner.is_some_and(|inner| inner.downcast_ref::<ThreadPoolBuildError>().is_some());
    error.kind() == io::ErrorKind::WouldBlock || is_of_pool
}
