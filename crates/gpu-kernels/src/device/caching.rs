//! [`CachingDevice`]: a device with a caching allocator that reuses dropped buffers.
//!
//! Allocating and freeing make a GPU's driver wait for all running work, and a launch needs a dozen
//! buffers. A dropped buffer goes on the free list of its size class, and the next allocation of that class reuses it.
//!
//! Every stream of a GPU ([`new_stream`](Device::new_stream)) has its own free lists: running work may still use a
//! dropped buffer, and only work of the same stream is sure to run after it.
//! Memory is counted for all streams together, and freed for all of them together.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Argument, Device, DeviceError, Information, Launch, Memory, bytes_within};

/// A device that caches dropped buffers and reuses them.
///
/// A buffer may be dropped on any thread on which a buffer of the wrapped device may be.
#[derive(Debug)]
pub struct CachingDevice<D: Device> {
    device: D,
    stream: usize,
    cache: SharedCache<D::Buffer>,
}

/// Memory of a [`CachingDevice`].
#[derive(Debug)]
pub struct CachedBuffer<B> {
    /// `None` only while this is dropped.
    buffer: Option<B>,
    /// Bytes requested; the buffer has those of its size class.
    bytes: usize,
    stream: usize,
    cache: SharedCache<B>,
}

/// The memory that a [`CachingDevice`] holds, all its streams included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryUsage {
    /// Bytes of buffers in use.
    pub in_use: u64,
    /// Bytes of buffers in use or cached.
    pub reserved: u64,
    /// The most bytes in use at any time.
    pub most: u64,
    /// How often the wrapped device allocated.
    pub allocations: u64,
    /// How often a cached buffer was reused.
    pub reuses: u64,
}

type SharedCache<B> = Arc<Mutex<BufferCache<B>>>;

/// The cached buffers.
#[derive(Debug)]
struct BufferCache<B> {
    /// By stream and size class. A stream that has been dropped has no entry.
    free: BTreeMap<usize, FreeLists<B>>,
    /// The number of the next stream.
    next: usize,
    usage: MemoryUsage,
}

/// Buffers by size class.
type FreeLists<B> = BTreeMap<usize, Vec<B>>;

/// The smallest size class.
const MIN_CLASS: usize = 256;

/// The size class, in bytes, of a buffer that must hold this many bytes: there are four classes between a power of two
/// and the next, so a buffer wastes less than a quarter of what is requested, except below [`MIN_CLASS`].
fn size_class(bytes: usize) -> usize {
    let bytes = bytes.max(MIN_CLASS);
    let step = 1 << (bytes.ilog2() - 2);
    // What is too large for this is too large for any device.
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

/// Locks the cache. A poisoned lock is fine: no panic can leave the cache half changed.
fn locked<B>(cache: &SharedCache<B>) -> MutexGuard<'_, BufferCache<B>> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B> BufferCache<B> {
    /// Adds a stream; returns its number.
    fn add_stream(&mut self) -> usize {
        let stream = self.next;
        self.next += 1;
        self.free.insert(stream, BTreeMap::new());
        stream
    }

    /// Takes a cached buffer of this size class, if there is one.
    fn take(&mut self, stream: usize, class: usize) -> Option<B> {
        let buffer = self.free.get_mut(&stream)?.get_mut(&class)?.pop()?;
        self.usage.reuses += 1;
        self.count_in_use(class);
        Some(buffer)
    }

    fn count_in_use(&mut self, class: usize) {
        self.usage.in_use += class as u64;
        self.usage.most = self.usage.most.max(self.usage.in_use);
    }

    /// Caches a dropped buffer; if its stream no longer exists, returns it for the caller to free.
    fn put_back(&mut self, stream: usize, class: usize, buffer: B) -> Option<B> {
        self.usage.in_use -= class as u64;
        if let Some(lists) = self.free.get_mut(&stream) {
            lists.entry(class).or_default().push(buffer);
            return None;
        }
        self.usage.reserved -= class as u64;
        Some(buffer)
    }

    /// Takes all cached buffers, for the caller to free.
    fn take_all(&mut self) -> Vec<FreeLists<B>> {
        self.usage.reserved = self.usage.in_use;
        self.free.values_mut().map(mem::take).collect()
    }

    /// Removes a stream; returns its cached buffers, for the caller to free.
    fn remove_stream(&mut self, stream: usize) -> FreeLists<B> {
        let lists = self.free.remove(&stream).unwrap_or_default();
        for (class, buffers) in &lists {
            self.usage.reserved -= (class * buffers.len()) as u64;
        }
        lists
    }
}

impl<D: Device> CachingDevice<D> {
    /// Wraps a device.
    pub fn new(device: D) -> Self {
        let mut cache = BufferCache {
            free: BTreeMap::new(),
            next: 0,
            usage: MemoryUsage::default(),
        };
        Self {
            device,
            stream: cache.add_stream(),
            cache: Arc::new(Mutex::new(cache)),
        }
    }

    /// The wrapped device.
    pub fn inner(&self) -> &D {
        &self.device
    }

    /// The memory that it holds, and how often it was reused.
    pub fn memory_usage(&self) -> MemoryUsage {
        locked(&self.cache).usage
    }

    /// Frees all cached buffers; returns how many bytes that was.
    pub fn cleanup(&self) -> u64 {
        let (cached, bytes) = {
            let mut cache = locked(&self.cache);
            let before = cache.usage.reserved;
            let cached = cache.take_all();
            (cached, before - cache.usage.reserved)
        };
        // Free them without the lock: the driver may wait for work, and other streams must not.
        drop(cached);
        bytes
    }

    fn wrap(&self, buffer: D::Buffer, bytes: usize) -> CachedBuffer<D::Buffer> {
        CachedBuffer {
            buffer: Some(buffer),
            bytes,
            stream: self.stream,
            cache: Arc::clone(&self.cache),
        }
    }
}

impl<D: Device> Drop for CachingDevice<D> {
    fn drop(&mut self) {
        let cached = locked(&self.cache).remove_stream(self.stream);
        drop(cached);
    }
}

impl<B> CachedBuffer<B> {
    fn inner(&self) -> &B {
        match &self.buffer {
            Some(buffer) => buffer,
            None => unreachable!("it is taken only when this is dropped"),
        }
    }

    fn inner_mut(&mut self) -> &mut B {
        match &mut self.buffer {
            Some(buffer) => buffer,
            None => unreachable!("it is taken only when this is dropped"),
        }
    }
}

impl<B> Drop for CachedBuffer<B> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            let class = size_class(self.bytes);
            let freed = locked(&self.cache).put_back(self.stream, class, buffer);
            drop(freed);
        }
    }
}

impl<D: Device> Device for CachingDevice<D> {
    type Buffer = CachedBuffer<D::Buffer>;
    type Event = D::Event;

    fn information(&self) -> &Information {
        self.device.information()
    }

    fn new_stream(&self) -> Result<Self, DeviceError> {
        let device = self.device.new_stream()?;
        let stream = locked(&self.cache).add_stream();
        Ok(Self {
            device,
            stream,
            cache: Arc::clone(&self.cache),
        })
    }

    /// The wrapped device's memory; cached buffers do not count as free.
    fn memory(&self) -> Result<Memory, DeviceError> {
        self.device.memory()
    }

    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, DeviceError> {
        let bytes = bytes.max(1);
        let class = size_class(bytes);
        let cached = locked(&self.cache).take(self.stream, class);
        if let Some(buffer) = cached {
            let mut buffer = self.wrap(buffer, bytes);
            self.device.discard(buffer.inner_mut())?;
            return Ok(buffer);
        }
        let buffer = match self.device.allocate(class) {
            Err(DeviceError::OutOfMemory { .. }) if self.cleanup() > 0 => {
                self.device.allocate(class)
            }
            allocated => allocated,
        }?;
        let mut cache = locked(&self.cache);
        cache.usage.allocations += 1;
        cache.usage.reserved += class as u64;
        cache.count_in_use(class);
        drop(cache);
        Ok(self.wrap(buffer, bytes))
    }

    fn discard(&self, buffer: &mut Self::Buffer) -> Result<(), DeviceError> {
        self.device.discard(buffer.inner_mut())
    }

    fn upload(&self, from: &[u8], to: &mut Self::Buffer, at: usize) -> Result<(), DeviceError> {
        bytes_within(at, from.len(), to.bytes)?;
        self.device.upload(from, to.inner_mut(), at)
    }

    fn download(&self, from: &Self::Buffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        bytes_within(at, to.len(), from.bytes)?;
        self.device.download(from.inner(), at, to)
    }

    fn copy(
        &self,
        from: &Self::Buffer,
        to: &mut Self::Buffer,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        bytes_within(0, bytes, from.bytes.min(to.bytes))?;
        self.device.copy(from.inner(), to.inner_mut(), bytes)
    }

    fn clear(&self, buffer: &mut Self::Buffer) -> Result<(), DeviceError> {
        self.device.clear(buffer.inner_mut())
    }

    fn launch(&self, launch: &Launch<'_, Self::Buffer>) -> Result<(), DeviceError> {
        let arguments = launch.arguments.iter().map(|argument| match argument {
            Argument::Buffer(buffer) => Argument::Buffer(buffer.inner()),
            Argument::Number(number) => Argument::Number(*number),
        });
        self.device.launch(&Launch {
            entry: launch.entry,
            blocks: launch.blocks,
            threads: launch.threads,
            shared_bytes: launch.shared_bytes,
            arguments: arguments.collect(),
        })
    }

    fn record(&self) -> Result<D::Event, DeviceError> {
        self.device.record()
    }

    fn elapsed(&self, from: &D::Event, to: &D::Event) -> Result<Duration, DeviceError> {
        self.device.elapsed(from, to)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.device.synchronize()
    }
}

#[cfg(test)]
mod tests;
