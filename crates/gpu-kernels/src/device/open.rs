//! Lists and opens GPUs.
//!
//! A driver may hang in any call. [`within`] limits how long we wait for it.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::cuda::CudaDevice;
use super::{Information, Unavailable};
use crate::interface::fingerprint;

/// How long opening a device may take. The driver compiles the kernels when it first sees them, which takes
/// seconds, more on a slow machine.
pub const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Runs a function on a new thread, and returns its result if it finishes in time. After that the thread is left
/// running, and its result is dropped there.
///
/// ```
/// use std::time::Duration;
/// use gpu_kernels::device::{Unavailable, open};
///
/// let gpus = open::within(open::TIME_LIMIT, open::gpus)?;
/// let limit = Duration::from_millis(1);
/// let late = open::within(limit, || std::thread::sleep(Duration::from_secs(1)));
/// assert_eq!(late, Err(Unavailable::NoAnswer { limit }));
/// # Ok::<(), Unavailable>(())
/// ```
///
/// # Errors
/// [`Unavailable::NoAnswer`] if it takes longer, and [`Unavailable::NoThread`] if it panics.
pub fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unavailable> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("opens a device".to_owned());
    // Sending fails if the result is late: the receiver is gone.
    let started = thread.spawn(move || drop(sender.send(work())));
    started.map_err(|error| Unavailable::NoThread {
        reason: error.to_string(),
    })?;
    receiver.recv_timeout(limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => Unavailable::NoAnswer { limit },
        RecvTimeoutError::Disconnected => Unavailable::NoThread {
            reason: "it panicked".to_owned(),
        },
    })
}

/// The properties of each GPU, by index, or why it cannot be used; the error says why no GPU can be. This creates no
/// context: it takes milliseconds, whereas opening a GPU takes seconds when the driver first sees the kernels.
pub fn gpus() -> Result<Vec<Result<Information, Unavailable>>, Unavailable> {
    CudaDevice::all(fingerprint())
}

/// Opens the GPU at this index, counted from 0, and loads the kernels of this library.
pub fn gpu(index: usize) -> Result<CudaDevice, Unavailable> {
    CudaDevice::new(index, fingerprint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_no_answer_is_not_waited_for() {
        let (end, ended) = mpsc::channel::<()>();
        let limit = Duration::from_millis(10);
        let hung = within(limit, move || ended.recv());
        assert_eq!(hung, Err(Unavailable::NoAnswer { limit }));
        drop(end);
        assert_eq!(within(TIME_LIMIT, || 7), Ok(7));
        let panicked = within(TIME_LIMIT, || panic!("as is meant to be"));
        let reason = "it panicked".to_owned();
        assert_eq!(panicked, Err::<(), _>(Unavailable::NoThread { reason }));
    }

    #[test]
    fn what_is_listed_can_be_opened() {
        match gpus() {
            Err(reason) => {
                assert_eq!(gpu(0).err(), Some(reason));
            }
            Ok(all) => {
                let past = all.len();
                assert!(past > 0);
                let count = past;
                let none = Unavailable::NoSuchDevice { index: past, count };
                assert_eq!(gpu(past).err(), Some(none));
                for (index, listed) in all.into_iter().enumerate() {
                    if let Err(reason) = listed {
                        assert_eq!(gpu(index).err(), Some(reason));
                    }
                }
            }
        }
    }
}
