//! [`CachingDevice`]: a device with a caching allocator: buffers that are dropped are given out again.
//!
//! To allocate and to free makes a GPU's driver wait for all work under way, and a launch takes a
//! dozen buffers. Here a buffer that is dropped is kept on a list of its size, and whoever asks for as
//! much next gets it.
//!
//! Every stream of a GPU, each made by [`new_stream`](Device::new_stream), has lists of its own: what is
//! dropped may still be in use by work under way, and only work of the same stream comes after that.
//! Memory is counted for all streams together, and given back for all of them together.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Argument, Device, DeviceError, Information, Launch, Memory};

/// A device that keeps the buffers that are dropped, and gives them out again.
///
/// A buffer may be dropped on any thread on which one of the device's own may be.
#[derive(Debug)]
pub struct CachingDevice<D: Device> {
    device: D,
    stream: usize,
    shelf: Shared<D::Buffer>,
}

/// Memory of a [`CachingDevice`] device.
#[derive(Debug)]
pub struct CachedBuffer<B> {
    /// Nothing only while it is dropped.
    buffer: Option<B>,
    /// Bytes that were asked for; the buffer has those of its size class.
    bytes: usize,
    stream: usize,
    shelf: Shared<B>,
}

/// What a device holds through [`CachingDevice`], all its streams included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryUsage {
    /// Bytes of buffers that are given out.
    pub in_use: u64,
    /// Bytes of buffers that are given out or kept.
    pub reserved: u64,
    /// The most bytes that ever were in use at a time.
    pub most: u64,
    /// How often the device was asked to allocate.
    pub allocations: u64,
    /// How often a kept buffer was given out.
    pub reuses: u64,
}

type Shared<B> = Arc<Mutex<Shelf<B>>>;

/// The buffers that are kept.
#[derive(Debug)]
struct Shelf<B> {
    /// By stream and size class. A stream that is gone has no lists.
    kept: BTreeMap<usize, Lists<B>>,
    /// The number of the next stream.
    next: usize,
    usage: MemoryUsage,
}

/// Buffers by their size class.
type Lists<B> = BTreeMap<usize, Vec<B>>;

/// The least size class.
const LEAST: usize = 256;

/// The bytes of a buffer that is to hold so many: four sizes between a power of two and the next, so
/// that less than a quarter of what is asked for comes on top, but for what is below [`LEAST`].
fn size_class(bytes: usize) -> usize {
    let bytes = bytes.max(LEAST);
    let step = 1 << (bytes.ilog2() - 2);
    // What is too large for this is too large for any device.
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

/// Nothing leaves the lists half changed, so what a panic elsewhere left behind is whole.
fn locked<B>(shelf: &Shared<B>) -> MutexGuard<'_, Shelf<B>> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B> Shelf<B> {
    /// A new stream's number.
    fn stream(&mut self) -> usize {
        let stream = self.next;
        self.next += 1;
        self.kept.insert(stream, BTreeMap::new());
        stream
    }

    /// A kept buffer of this size class.
    fn taken(&mut self, stream: usize, class: usize) -> Option<B> {
        let buffer = self.kept.get_mut(&stream)?.get_mut(&class)?.pop()?;
        self.usage.reuses += 1;
        self.given_out(class);
        Some(buffer)
    }

    fn given_out(&mut self, class: usize) {
        self.usage.in_use += class as u64;
        self.usage.most = self.usage.most.max(self.usage.in_use);
    }

    /// Takes a buffer back; if its stream is gone, it is the caller's to free.
    fn dropped(&mut self, stream: usize, class: usize, buffer: B) -> Option<B> {
        self.usage.in_use -= class as u64;
        if let Some(lists) = self.kept.get_mut(&stream) {
            lists.entry(class).or_default().push(buffer);
            return None;
        }
        self.usage.reserved -= class as u64;
        Some(buffer)
    }

    /// Everything that is kept, which is the caller's to free.
    fn given_up(&mut self) -> Vec<Lists<B>> {
        self.usage.reserved = self.usage.in_use;
        self.kept.values_mut().map(mem::take).collect()
    }

    /// What is kept for a stream that ends.
    fn ended(&mut self, stream: usize) -> Lists<B> {
        let lists = self.kept.remove(&stream).unwrap_or_default();
        for (class, buffers) in &lists {
            self.usage.reserved -= (class * buffers.len()) as u64;
        }
        lists
    }
}

impl<D: Device> CachingDevice<D> {
    /// Keeps the buffers of this device.
    pub fn new(device: D) -> Self {
        let mut shelf = Shelf {
            kept: BTreeMap::new(),
            next: 0,
            usage: MemoryUsage::default(),
        };
        Self {
            device,
            stream: shelf.stream(),
            shelf: Arc::new(Mutex::new(shelf)),
        }
    }

    /// The device itself.
    pub fn inner(&self) -> &D {
        &self.device
    }

    /// The memory that it holds, and what came of keeping it.
    pub fn memory_usage(&self) -> MemoryUsage {
        locked(&self.shelf).usage
    }

    /// Gives what is kept back to the device, and says how many bytes that was.
    pub fn cleanup(&self) -> u64 {
        let (kept, bytes) = {
            let mut shelf = locked(&self.shelf);
            let before = shelf.usage.reserved;
            let kept = shelf.given_up();
            (kept, before - shelf.usage.reserved)
        };
        // The driver may wait for work when it frees; other streams go on meanwhile.
        drop(kept);
        bytes
    }

    fn give_out(&self, buffer: D::Buffer, bytes: usize) -> CachedBuffer<D::Buffer> {
        CachedBuffer {
            buffer: Some(buffer),
            bytes,
            stream: self.stream,
            shelf: Arc::clone(&self.shelf),
        }
    }
}

impl<D: Device> Drop for CachingDevice<D> {
    fn drop(&mut self) {
        let kept = locked(&self.shelf).ended(self.stream);
        drop(kept);
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

    /// Fails where so many bytes from `at` on are not all within what was asked for: the buffer
    /// itself may be longer.
    fn within(&self, at: usize, bytes: usize) -> Result<(), DeviceError> {
        let length = self.bytes;
        match at.checked_add(bytes) {
            Some(end) if end <= length => Ok(()),
            _ => Err(DeviceError::PastEnd { at, bytes, length }),
        }
    }
}

impl<B> Drop for CachedBuffer<B> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            let class = size_class(self.bytes);
            let freed = locked(&self.shelf).dropped(self.stream, class, buffer);
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
        let stream = locked(&self.shelf).stream();
        Ok(Self {
            device,
            stream,
            shelf: Arc::clone(&self.shelf),
        })
    }

    /// Its memory, in which what is kept is not free.
    fn memory(&self) -> Result<Memory, DeviceError> {
        self.device.memory()
    }

    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, DeviceError> {
        let bytes = bytes.max(1);
        let class = size_class(bytes);
        let kept = locked(&self.shelf).taken(self.stream, class);
        if let Some(buffer) = kept {
            let mut buffer = self.give_out(buffer, bytes);
            self.device.discard(buffer.inner_mut())?;
            return Ok(buffer);
        }
        let buffer = match self.device.allocate(class) {
            Err(DeviceError::OutOfMemory { .. }) if self.cleanup() > 0 => {
                self.device.allocate(class)
            }
            allocated => allocated,
        }?;
        let mut shelf = locked(&self.shelf);
        shelf.usage.allocations += 1;
        shelf.usage.reserved += class as u64;
        shelf.given_out(class);
        drop(shelf);
        Ok(self.give_out(buffer, bytes))
    }

    fn discard(&self, buffer: &mut Self::Buffer) -> Result<(), DeviceError> {
        self.device.discard(buffer.inner_mut())
    }

    fn upload(&self, from: &[u8], to: &mut Self::Buffer, at: usize) -> Result<(), DeviceError> {
        to.within(at, from.len())?;
        self.device.upload(from, to.inner_mut(), at)
    }

    fn download(&self, from: &Self::Buffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        from.within(at, to.len())?;
        self.device.download(from.inner(), at, to)
    }

    fn copy(
        &self,
        from: &Self::Buffer,
        to: &mut Self::Buffer,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        from.within(0, bytes)?;
        to.within(0, bytes)?;
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
