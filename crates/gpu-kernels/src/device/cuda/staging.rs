//! [`Staging`]: pinned memory through which copies go, so that the device can make them while the
//! host goes on.
#![allow(
    unsafe_code,
    reason = "the device copies from and to memory that is the host's as well"
)]

use std::ptr;
use std::sync::Arc;

use super::driver::{Buffer, Direction, Event, Pinned, Stream};
use super::errors::Failure;

/// Bytes of a part, which is waited for as a whole.
const PART: usize = 1 << 20;

/// Parts on the way up: what they hold may be uploaded while the device still computes.
pub(super) const UP: usize = 16;

/// Parts on the way up of a further stream: what is uploaded there goes beside another's work, and waits for
/// little. Pinned memory is taken from the whole host.
pub(super) const UP_OF_FURTHER_STREAM: usize = 4;

/// Parts on the way down: one is copied by the device and one by the host.
const DOWN: usize = 2;

/// What is copied starts at multiples of this.
const ALIGNMENT: usize = 128;

/// The pinned memory of a device, and how far it is in use.
#[derive(Debug)]
pub(super) struct Staging {
    stream: Arc<Stream>,
    up: Pinned,
    down: Pinned,
    /// The end of each part's last use.
    up_through: Vec<Event>,
    down_through: Vec<Event>,
    /// The part that uploads go to next, and how much of it is taken.
    part: usize,
    taken: usize,
}

impl Staging {
    /// With so many parts on the way up, at least one.
    pub(super) fn new(stream: &Arc<Stream>, up: usize) -> Result<Self, Failure> {
        let context = stream.context();
        let events = |count| {
            let events = (0..count).map(|_| Event::new(context));
            events.collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            stream: Arc::clone(stream),
            up: Pinned::new(context, up * PART, Direction::Up)?,
            down: Pinned::new(context, DOWN * PART, Direction::Down)?,
            up_through: events(up)?,
            down_through: events(DOWN)?,
            part: 0,
            taken: 0,
        })
    }

    /// Copies to byte `at` of a buffer, where it fits. It waits only where all parts are on their
    /// way.
    pub(super) fn upload(
        &mut self,
        from: &[u8],
        to: &Buffer,
        mut at: usize,
    ) -> Result<(), Failure> {
        self.stream.context().bind()?;
        let mut rest = from;
        while !rest.is_empty() {
            if self.taken == PART {
                self.up_through[self.part].record(&self.stream)?;
                let next = (self.part + 1) % self.up_through.len();
                self.up_through[next].wait()?;
                self.part = next;
                self.taken = 0;
            }
            let bytes = rest.len().min(PART - self.taken);
            let (now, later) = rest.split_at(bytes);
            let place = self.up.part(self.part * PART + self.taken, bytes);
            // SAFETY: This place of the part is not taken, and none of its earlier copies is
            // under way. It is left alone until the event that is recorded after this copy.
            unsafe {
                ptr::copy_nonoverlapping(now.as_ptr(), place, bytes);
                self.stream.copy_up(place, to, at, bytes)?;
            }
            self.taken = (self.taken + bytes).next_multiple_of(ALIGNMENT);
            at += bytes;
            rest = later;
        }
        Ok(())
    }

    /// Waits, and copies from byte `at` of a buffer, where there is as much.
    pub(super) fn download(
        &mut self,
        from: &Buffer,
        at: usize,
        to: &mut [u8],
    ) -> Result<(), Failure> {
        self.stream.context().bind()?;
        let length = to.len();
        let start = |index: usize| {
            let offset = index * PART;
            let bytes = PART.min(length - offset.min(length));
            let place = self.down.part(index % DOWN * PART, bytes);
            if bytes > 0 {
                // SAFETY: The place's last copy was waited for and taken over by the host, and it
                // is read only after the event below.
                unsafe { self.stream.copy_down(from, at + offset, place, bytes)? };
                self.down_through[index % DOWN].record(&self.stream)?;
            }
            Ok(())
        };
        start(0)?;
        for (index, part) in to.chunks_mut(PART).enumerate() {
            start(index + 1)?;
            self.down_through[index % DOWN].wait()?;
            let place = self.down.part(index % DOWN * PART, part.len());
            // SAFETY: The device has copied so many bytes here, and is through.
            unsafe { ptr::copy_nonoverlapping(place, part.as_mut_ptr(), part.len()) };
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The pinned memory is freed after this. An error is that of a device that no longer
        // copies.
        let _ = self.stream.synchronize();
    }
}
