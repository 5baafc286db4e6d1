//! [`SimulatedGpu`]: the state that all simulated devices have: their properties, how much of their memory is in use,
//! and whether they have failed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use gpu_kernels::device::{DeviceError, Information, Kind, Memory, Unavailable};

/// A GPU with one multiprocessor, simulated on the thread that launches; its streams share memory and failures.
#[derive(Debug)]
pub(crate) struct SimulatedGpu {
    pub(crate) information: Information,
    used: Arc<AtomicU64>,
    /// Why the device is lost, once it is.
    lost: Arc<OnceLock<String>>,
}

/// A part of the device's memory, in use until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    bytes: u64,
    used: Arc<AtomicU64>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl SimulatedGpu {
    /// The device at this index among this many, each with this many bytes.
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
        Ok(SimulatedGpu {
            information,
            used: Arc::default(),
            lost: Arc::default(),
        })
    }

    /// Fails once a kernel has failed.
    pub(crate) fn check_alive(&self) -> Result<(), DeviceError> {
        match self.lost.get() {
            None => Ok(()),
            Some(reason) => Err(DeviceError::Lost {
                reason: reason.clone(),
            }),
        }
    }

    pub(crate) fn new_stream(&self) -> Result<Self, DeviceError> {
        self.check_alive()?;
        Ok(SimulatedGpu {
            information: self.information.clone(),
            used: Arc::clone(&self.used),
            lost: Arc::clone(&self.lost),
        })
    }

    pub(crate) fn memory(&self) -> Result<Memory, DeviceError> {
        self.check_alive()?;
        let total = self.information.bytes;
        let free = total.saturating_sub(self.used.load(Ordering::Relaxed));
        Ok(Memory { free, total })
    }

    /// Reserves this many bytes.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Reservation, DeviceError> {
        self.check_alive()?;
        let (bytes, total) = (bytes as u64, self.information.bytes);
        // Other streams may allocate at the same time.
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= total);
        let relaxed = Ordering::Relaxed;
        let reserved = self.used.fetch_update(relaxed, relaxed, more);
        reserved.map_err(|used| self.full(bytes, used))?;
        let used = Arc::clone(&self.used);
        Ok(Reservation { bytes, used })
    }

    /// The error for a reservation that the host has no memory for.
    pub(crate) fn no_memory(&self, reservation: Reservation) -> DeviceError {
        let bytes = reservation.bytes;
        drop(reservation);
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

    /// Marks the device as lost because a kernel failed; returns the error.
    pub(crate) fn failed(&self, kernel: &'static str, reason: String) -> DeviceError {
        // Another stream's kernel may have failed first.
        let _ = self.lost.set(format!("kernel {kernel} failed: {reason}"));
        DeviceError::Kernel { kernel, reason }
    }
}

/// The error of a copy that was refused because it goes past the end.
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
