//! Threads that the system does not start: told as an error, where rayon would panic.

use std::error::Error;
use std::io;

use mega_batch::CoordinatorError;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

/// Makes the threads that all parallel iterators share. Without this rayon makes them where they are needed first,
/// and panics where they cannot be started.
pub(super) fn share() -> anyhow::Result<()> {
    match ThreadPoolBuilder::new().build_global() {
        // One that is made already has no cause.
        Err(error) if error.source().is_some() => Err(not_started(&error)),
        _ => Ok(()),
    }
}

/// Lets parallel iterators run on the calling thread alone, so that no other one is started. From now on no other
/// thread may use them: it would wait for this one.
pub(super) fn share_none() {
    let builder = ThreadPoolBuilder::new().num_threads(1);
    // One that is made already does the same.
    let _ = builder.use_current_thread().build_global();
}

/// The error of a run or a search, which says so where a thread could not be started.
pub(super) fn told(error: CoordinatorError) -> anyhow::Error {
    match &error {
        CoordinatorError::Run(cause) if is_of_threads(cause) => not_started(cause),
        _ => error.into(),
    }
}

fn not_started(cause: &dyn Error) -> anyhow::Error {
    anyhow::anyhow!("a thread could not be started: {cause}")
}

/// Whether it is the error of a pool of threads, or of a thread: nothing else of a run is to be tried again.
fn is_of_threads(error: &io::Error) -> bool {
    let inner = error.get_ref();
    let is_of_pool =
        inner.is_some_and(|inner| inner.downcast_ref::<ThreadPoolBuildError>().is_some());
    error.kind() == io::ErrorKind::WouldBlock || is_of_pool
}
