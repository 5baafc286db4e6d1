//! [`Plain`]: a device of plain memory that runs nothing, for tests of what wraps a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Device, DeviceError, Information, Kind, Launch, Memory};

/// A device whose launches do nothing.
#[derive(Debug)]
pub(super) struct Plain {
    information: Information,
    account: Arc<Account>,
}

/// What a device and its further streams came to.
#[derive(Debug, Default)]
pub(super) struct Account {
    used: AtomicU64,
    allocations: AtomicU64,
    launches: AtomicU64,
}

#[derive(Debug)]
pub(super) struct Bytes {
    bytes: Vec<u8>,
    account: Arc<Account>,
}

impl Drop for Bytes {
    fn drop(&mut self) {
        let bytes = self.bytes.len() as u64;
        self.account.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Account {
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

impl Plain {
    /// A device of so many bytes.
    pub(super) fn new(bytes: u64) -> Self {
        Self {
            information: Information {
                name: "plain".to_owned(),
                kind: Kind::Emulated,
                capability: (6, 0),
                multiprocessors: 1,
                warps: 32,
                shared_bytes: 49_152,
                multiprocessor_shared_bytes: 98_304,
                bytes,
                driver: None,
            },
            account: Arc::default(),
        }
    }

    /// What it came to, also once it is gone.
    pub(super) fn account(&self) -> Arc<Account> {
        Arc::clone(&self.account)
    }
}

impl Device for Plain {
    type Buffer = Bytes;
    type Event = Instant;

    fn information(&self) -> &Information {
        &self.information
    }

    fn new_stream(&self) -> Result<Self, DeviceError> {
        Ok(Self {
            information: self.information.clone(),
            account: self.account(),
        })
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        let total = self.information.bytes;
        let free = total - self.account.used();
        Ok(Memory { free, total })
    }

    fn allocate(&self, bytes: usize) -> Result<Bytes, DeviceError> {
        let Memory { free, total } = self.memory()?;
        let requested = bytes as u64;
        if requested > free {
            return Err(DeviceError::OutOfMemory {
                requested,
                free,
                total,
            });
        }
        self.account.used.fetch_add(requested, Ordering::Relaxed);
        self.account.allocations.fetch_add(1, Ordering::Relaxed);
        Ok(Bytes {
            bytes: vec![0; bytes],
            account: self.account(),
        })
    }

    fn discard(&self, buffer: &mut Bytes) -> Result<(), DeviceError> {
        buffer.bytes.fill(0xa5);
        Ok(())
    }

    fn upload(&self, from: &[u8], to: &mut Bytes, at: usize) -> Result<(), DeviceError> {
        to.bytes[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }

    fn download(&self, from: &Bytes, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        to.copy_from_slice(&from.bytes[at..at + to.len()]);
        Ok(())
    }

    fn copy(&self, from: &Bytes, to: &mut Bytes, bytes: usize) -> Result<(), DeviceError> {
        to.bytes[..bytes].copy_from_slice(&from.bytes[..bytes]);
        Ok(())
    }

    fn clear(&self, buffer: &mut Bytes) -> Result<(), DeviceError> {
        buffer.bytes.fill(0);
        Ok(())
    }

    fn launch(&self, _: &Launch<'_, Bytes>) -> Result<(), DeviceError> {
        self.account.launches.fetch_add(1, Ordering::Relaxed);
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
