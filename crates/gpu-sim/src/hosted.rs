//! [`Hosted`]: what the devices have in common that the CPU stands in for a GPU with: what they say of
//! themselves, how much of their memory is taken, and what they failed with.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use gpu_kernels::device::{DeviceError, Information, Kind, Memory, Unavailable};

/// A GPU of one multiprocessor, on the thread that launches; its streams share memory and failure.
#[derive(Debug)]
pub(crate) struct Hosted {
    pub(crate) information: Information,
    used: Arc<AtomicU64>,
    /// Why it is of no further use.
    lost: Arc<OnceLock<String>>,
}

/// Memory that is taken, until this is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    bytes: u64,
    used: Arc<AtomicU64>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Hosted {
    /// The device of this number, of so many that have so many bytes each.
    pub(crate) fn new(
        (index, count): (usize, usize),
        name: &str,
        kind: Kind,
        bytes: u64,
    ) -> Result<Self, Unavailable> {
        if index >= count {
            return Err(Unavailable::NoSuchDevice { index, count });
        }
        let information = Information {
            name: name.to_owned(),
            kind,
            capability: (6, 0),
            multiprocessors: 1,
            warps: 32,
            shared_bytes: 49_152,
            multiprocessor_shared_bytes: 98_304,
            bytes,
            driver: None,
        };
        Ok(Hosted {
            information,
            used: Arc::default(),
            lost: Arc::default(),
        })
    }

    /// Fails once a kernel has failed.
    pub(crate) fn alive(&self) -> Result<(), DeviceError> {
        match self.lost.get() {
            None => Ok(()),
            Some(reason) => Err(DeviceError::Lost {
                reason: reason.clone(),
            }),
        }
    }

    pub(crate) fn new_stream(&self) -> Result<Self, DeviceError> {
        self.alive()?;
        Ok(Hosted {
            information: self.information.clone(),
            used: Arc::clone(&self.used),
            lost: Arc::clone(&self.lost),
        })
    }

    pub(crate) fn memory(&self) -> Result<Memory, DeviceError> {
        self.alive()?;
        let total = self.information.bytes;
        let free = total.saturating_sub(self.used.load(Ordering::Relaxed));
        Ok(Memory { free, total })
    }

    /// Takes so many bytes.
    pub(crate) fn take(&self, bytes: usize) -> Result<Taken, DeviceError> {
        self.alive()?;
        let (bytes, total) = (bytes as u64, self.information.bytes);
        // Siblings may allocate at the same time.
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= total);
        let relaxed = Ordering::Relaxed;
        let taken = self.used.fetch_update(relaxed, relaxed, more);
        taken.map_err(|used| self.full(bytes, used))?;
        let used = Arc::clone(&self.used);
        Ok(Taken { bytes, used })
    }

    /// That there is not so much memory, for all that is not taken.
    pub(crate) fn no_memory(&self, taken: Taken) -> DeviceError {
        let bytes = taken.bytes;
        drop(taken);
        self.full(bytes, self.used.load(Ordering::Relaxed))
    }

    fn full(&self, requested: u64, used: u64) -> DeviceError {
        let total = self.information.bytes;
        DeviceError::OutOfMemory {
            requested,
            free: total.saturating_sub(used),
            total,
        }
    }

    /// Is of no further use, since a kernel failed.
    pub(crate) fn failed(&self, kernel: &'static str, reason: String) -> DeviceError {
        // The fault of another stream may have come first.
        let _ = self.lost.set(format!("kernel {kernel} failed: {reason}"));
        DeviceError::Kernel { kernel, reason }
    }
}

/// The error of a copy that was not made since it went past the end.
pub(crate) fn within(
    holds: bool,
    at: usize,
    bytes: usize,
    length: usize,
) -> Result<(), DeviceError> {
    if holds {
        Ok(())
    } else {
        Err(DeviceError::PastEnd { at, bytes, length })
    }
}
