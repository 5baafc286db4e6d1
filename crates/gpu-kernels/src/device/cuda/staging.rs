//! [`Staging`]: copies through pinned memory, so that uploads run asynchronously and downloads overlap with the
//! host's own copies.
#![allow(
    unsafe_code,
    reason = "the device copies from and to memory that is the host's as well"
)]

use std::ptr;
use std::sync::Arc;

use super::driver::{Buffer, Direction, Event, Pinned, Stream};
use super::errors::Failure;

/// Bytes of a chunk, the unit in which the host waits for copies.
const CHUNK: usize = 1 << 20;

/// Chunks for uploads: as much can be queued for upload while the device still computes.
pub(super) const UPLOAD_CHUNKS: usize = 16;

/// Chunks for uploads of a further stream: its uploads overlap another stream's work and rarely wait, and pinned
/// memory is scarce, since the whole host shares it.
pub(super) const UPLOAD_CHUNKS_OF_FURTHER_STREAM: usize = 4;

/// Chunks for downloads: the device fills one while the host empties the other.
const DOWNLOAD_CHUNKS: usize = 2;

/// Each upload starts at a multiple of this in its chunk.
const ALIGNMENT: usize = 128;

/// The pinned memory of a stream, and how far it is in use.
#[derive(Debug)]
pub(super) struct Staging {
    stream: Arc<Stream>,
    up: Pinned,
    down: Pinned,
    /// For each chunk, the event after its last copy.
    up_done: Vec<Event>,
    down_done: Vec<Event>,
    /// The chunk that the next upload goes to, and how many of its bytes are in use.
    chunk: usize,
    used: usize,
}

impl Staging {
    /// Allocates pinned memory with this many chunks for uploads, at least one.
    pub(super) fn new(stream: &Arc<Stream>, upload_chunks: usize) -> Result<Self, Failure> {
        let context = stream.context();
        let events = |count| {
            let events = (0..count).map(|_| Event::new(context));
            events.collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            stream: Arc::clone(stream),
            up: Pinned::new(context, upload_chunks * CHUNK, Direction::Up)?,
            down: Pinned::new(context, DOWNLOAD_CHUNKS * CHUNK, Direction::Down)?,
            up_done: events(upload_chunks)?,
            down_done: events(DOWNLOAD_CHUNKS)?,
            chunk: 0,
            used: 0,
        })
    }

    /// Copies to byte `at` of a buffer, which must have room. Waits only if all chunks are being copied.
    pub(super) fn upload(
        &mut self,
        from: &[u8],
        to: &Buffer,
        mut at: usize,
    ) -> Result<(), Failure> {
        self.stream.context().bind()?;
        let mut rest = from;
        while !rest.is_empty() {
            if self.used == CHUNK {
                self.up_done[self.chunk].record(&self.stream)?;
                let next = (self.chunk + 1) % self.up_done.len();
                self.up_done[next].wait()?;
                self.chunk = next;
                self.used = 0;
            }
            let bytes = rest.len().min(CHUNK - self.used);
            let (now, later) = rest.split_at(bytes);
            let place = self.up.part(self.chunk * CHUNK + self.used, bytes);
            // SAFETY: This place in the chunk is not in use, and its earlier copies have finished. It is left alone
            // until the event that is recorded after this copy.
            unsafe {
                ptr::copy_nonoverlapping(now.as_ptr(), place, bytes);
                self.stream.copy_up(place, to, at, bytes)?;
            }
            self.used = (self.used + bytes).next_multiple_of(ALIGNMENT);
            at += bytes;
            rest = later;
        }
        Ok(())
    }

    /// Waits, and copies from byte `at` of a buffer, which must have as many bytes.
    pub(super) fn download(
        &mut self,
        from: &Buffer,
        at: usize,
        to: &mut [u8],
    ) -> Result<(), Failure> {
        self.stream.context().bind()?;
        let length = to.len();
        let start = |index: usize| {
            let offset = index * CHUNK;
            let bytes = CHUNK.min(length - offset.min(length));
            let place = self.down.part(index % DOWNLOAD_CHUNKS * CHUNK, bytes);
            if bytes > 0 {
                // SAFETY: The chunk's last copy has finished and the host has copied it out; it is read again only
                // after the event below.
                unsafe { self.stream.copy_down(from, at + offset, place, bytes)? };
                self.down_done[index % DOWNLOAD_CHUNKS].record(&self.stream)?;
            }
            Ok(())
        };
        start(0)?;
        for (index, part) in to.chunks_mut(CHUNK).enumerate() {
            start(index + 1)?;
            self.down_done[index % DOWNLOAD_CHUNKS].wait()?;
            let place = self.down.part(index % DOWNLOAD_CHUNKS * CHUNK, part.len());
            // SAFETY: The device has finished copying this many bytes here.
            unsafe { ptr::copy_nonoverlapping(place, part.as_mut_ptr(), part.len()) };
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The pinned memory is freed after this. An error means that the device no longer copies.
        let _ = self.stream.synchronize();
    }
}
