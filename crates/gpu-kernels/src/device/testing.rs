//! [`MemoryDevice`]: a device that has memory but runs nothing, for tests of code that wraps a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Device, DeviceError, DeviceKind, Information, Launch, Memory};

/// A device whose launches do nothing.
#[derive(Debug)]
pub(super) struct MemoryDevice {
    information: Information,
    counters: Arc<Counters>,
}

/// What a device and its further streams have allocated and launched.
#[derive(Debug, Default)]
pub(super) struct Counters {
    used: AtomicU64,
    allocations: AtomicU64,
    launches: AtomicU64,
}

#[derive(Debug)]
pub(super) struct MemoryBuffer {
    bytes: Vec<u8>,
    counters: Arc<Counters>,
}

impl Drop for MemoryBuffer {
    fn drop(&mut self) {
        let bytes = self.bytes.len() as u64;
        self.counters.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Counters {
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn allocations(&self) -> u64 {
        self.allocations.load(Ordering::Relaxed)
    }

    pub(super) fn launches(&self) -> u64 {
        self.launches.load(Ordering::Relaxed)
    }
}

impl MemoryDevice {
    /// A device with this much memory.
    pub(super) fn new(bytes: u64) -> Self {
        Self {
            information: Information {
                name: "plain".to_owned(),
                kind: DeviceKind::Emulated,
                capability: (6, 0),
                multiprocessors: 1,
                warps: 32,
                shared_bytes: 49_152,
                multiprocessor_shared_bytes: 98_304,
                bytes,
                driver: None,
            },
            counters: Arc::default(),
        }
    }

    /// Its counters, which outlive it.
    pub(super) fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }
}

impl Device for MemoryDevice {
    type Buffer = MemoryBuffer;
    type Event = Instant;

    fn information(&self) -> &Information {
        &self.information
    }

    fn new_stream(&self) -> Result<Self, DeviceError> {
        Ok(Self {
            information: self.information.clone(),
            counters: self.counters(),
        })
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        let total = self.information.bytes;
        let free = total - self.counters.used();
        Ok(Memory { free, total })
    }

    fn allocate(&self, bytes: usize) -> Result<MemoryBuffer, DeviceError> {
        let Memory { free, total } = self.memory()?;
        let requested = bytes as u64;
        if requested > free {
            return Err(DeviceError::OutOfMemory {
                requested,
                free,
                total,
            });
        }
        self.counters.used.fetch_add(requested, Ordering::Relaxed);
        self.counters.allocations.fetch_add(1, Ordering::Relaxed);
        Ok(MemoryBuffer {
            bytes: vec![0; bytes],
            counters: self.counters(),
        })
    }

    fn discard(&self, buffer: &mut MemoryBuffer) -> Result<(), DeviceError> {
        buffer.bytes.fill(0xa5);
        Ok(())
    }

    fn upload(&self, from: &[u8], to: &mut MemoryBuffer, at: usize) -> Result<(), DeviceError> {
        to.bytes[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }

    fn download(&self, from: &MemoryBuffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        to.copy_from_slice(&from.bytes[at..at + to.len()]);
        Ok(())
    }

    fn copy(
        &self,
        from: &MemoryBuffer,
        to: &mut MemoryBuffer,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        to.bytes[..bytes].copy_from_slice(&from.bytes[..bytes]);
        Ok(())
    }

    fn clear(&self, buffer: &mut MemoryBuffer) -> Result<(), DeviceError> {
        buffer.bytes.fill(0);
        Ok(())
    }

    fn launch(&self, _: &Launch<'_, MemoryBuffer>) -> Result<(), DeviceError> {
        self.counters.launches.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn record(&self) -> Result<Instant, DeviceError> {
        Ok(Instant::now())
    }

    fn elapsed(&self, from: &Instant, to: &Instant) -> Result<Duration, DeviceError> {
        Ok(to.saturating_duration_since(*from))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}
