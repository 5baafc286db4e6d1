//! [`SimulatedDevice`]: what all simulated devices have: their properties, how much of their memory is in use, whether
//! they have failed, and the copies between host and device.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gpu_kernels::device::{
    Device, DeviceError, DeviceKind, Information, Launch, Memory, Unavailable, bytes_within,
};

/// A GPU with one multiprocessor, simulated on the thread that launches.
#[derive(Debug)]
pub struct SimulatedDevice<K> {
    pub(crate) gpu: SimulatedGpu,
    pub(crate) kernels: K,
}

/// Memory of a simulated device. A launch can access only the buffers among its arguments.
#[derive(Debug)]
pub struct Buffer<C> {
    pub(crate) content: RefCell<C>,
    _reservation: Reservation,
}

/// How a simulated device runs kernels.
pub trait Kernels: Sized {
    /// The content of a buffer.
    type Content: Content;
    /// Those of another stream.
    fn new_stream(&self) -> Self;
    /// This many bytes; `None` if the host has too little memory.
    fn allocate(&self, bytes: usize) -> Option<Self::Content>;
    /// Makes all bytes undefined.
    fn discard(&self, content: &mut Self::Content);
    /// Runs a kernel on a device that has not failed.
    fn launch(
        &self,
        gpu: &SimulatedGpu,
        launch: &Launch<'_, Buffer<Self::Content>>,
    ) -> Result<(), DeviceError>;
}

/// Bytes of a simulated device.
pub trait Content {
    /// The bytes.
    fn bytes(&self) -> &[u8];
    /// The bytes, to be written.
    fn bytes_mut(&mut self) -> &mut [u8];
    /// Notes that these bytes were written.
    fn mark_written(&mut self, _bytes: Range<usize>) {}
    /// Notes that the first bytes are copies of those of another content.
    fn mark_copied(&mut self, _from: &Self, _bytes: usize) {}
}

impl<K: Kernels> Device for SimulatedDevice<K> {
    type Buffer = Buffer<K::Content>;
    type Event = Instant;

    fn information(&self) -> &Information {
        &self.gpu.information
    }

    fn new_stream(&self) -> Result<Self, DeviceError> {
        self.gpu.check_alive()?;
        Ok(Self {
            gpu: self.gpu.clone(),
            kernels: self.kernels.new_stream(),
        })
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        self.gpu.check_alive()?;
        let total = self.gpu.information.bytes;
        let free = total.saturating_sub(self.gpu.used.load(Ordering::Relaxed));
        Ok(Memory { free, total })
    }

    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, DeviceError> {
        let bytes = bytes.max(1);
        let reservation = self.gpu.reserve(bytes)?;
        match self.kernels.allocate(bytes) {
            Some(content) => Ok(Buffer {
                content: RefCell::new(content),
                _reservation: reservation,
            }),
            None => Err(self.gpu.no_memory(reservation)),
        }
    }

    fn discard(&self, buffer: &mut Self::Buffer) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        self.kernels.discard(buffer.content.get_mut());
        Ok(())
    }

    fn upload(&self, from: &[u8], to: &mut Self::Buffer, at: usize) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let to = to.content.get_mut();
        let range = bytes_within(at, from.len(), to.bytes().len())?;
        to.bytes_mut()[range.clone()].copy_from_slice(from);
        to.mark_written(range);
        Ok(())
    }

    fn download(&self, from: &Self::Buffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let from = from.content.borrow();
        let range = bytes_within(at, to.len(), from.bytes().len())?;
        to.copy_from_slice(&from.bytes()[range]);
        Ok(())
    }

    fn copy(
        &self,
        from: &Self::Buffer,
        to: &mut Self::Buffer,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let (from, to) = (from.content.borrow(), to.content.get_mut());
        let length = from.bytes().len().min(to.bytes().len());
        let range = bytes_within(0, bytes, length)?;
        to.bytes_mut()[range.clone()].copy_from_slice(&from.bytes()[range]);
        to.mark_copied(&from, bytes);
        Ok(())
    }

    fn clear(&self, buffer: &mut Self::Buffer) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let content = buffer.content.get_mut();
        content.bytes_mut().fill(0);
        content.mark_written(0..content.bytes().len());
        Ok(())
    }

    fn launch(&self, launch: &Launch<'_, Self::Buffer>) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        self.kernels.launch(&self.gpu, launch)
    }

    fn record(&self) -> Result<Instant, DeviceError> {
        self.gpu.check_alive()?;
        Ok(Instant::now())
    }

    fn elapsed(&self, from: &Instant, to: &Instant) -> Result<Duration, DeviceError> {
        self.gpu.check_alive()?;
        Ok(to.saturating_duration_since(*from))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.gpu.check_alive()
    }
}

/// The state of a simulated device; its streams share memory and failures.
#[derive(Debug, Clone)]
pub struct SimulatedGpu {
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
        kind: DeviceKind,
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
