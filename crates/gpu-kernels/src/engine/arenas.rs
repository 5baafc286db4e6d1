//! [`Arenas`]: device memory that launches share: for the elements of lists an arena for each warp that runs at a time,
//! and the counter of works.

use super::Engine;
use crate::device::{Device, DeviceError};
use crate::interface::constants::ARENA_WORDS;

/// Bytes of an arena.
const BYTES: usize = ARENA_WORDS as usize * size_of::<u32>();

/// Arenas may take one part in `SHARE` of the memory that is free without them; if that is too little, fewer warps run
/// at a time.
const SHARE: u64 = 8;

/// The arenas of an engine.
#[derive(Debug)]
pub(super) struct Arenas<B> {
    pub(super) buffer: B,
    /// The number of arenas, one per warp.
    pub(super) warps: u32,
    /// The counter of the works that warps have taken, 0 between launches.
    pub(super) taken: B,
}

impl<D: Device> Engine<D> {
    /// Ensures that there are arenas for this many warps, or for as many as memory allows, at least one. Discards
    /// their content.
    ///
    /// Later launches reuse them, since launches run one after the other. If each launch allocated its own arenas,
    /// the driver would allocate, and wait, whenever one is larger than those before it.
    pub(super) fn ensure_arenas(&self, warps: u32) -> Result<(), DeviceError> {
        let mut held = self.arenas.borrow_mut();
        let mut warps = warps;
        let there = held.as_ref().map_or(0, |held| held.warps);
        if there < warps {
            let own = u64::from(there) * BYTES as u64;
            let most = (self.device.memory()?.free + own) / SHARE / BYTES as u64;
            warps = warps.min(u32::try_from(most).unwrap_or(u32::MAX).max(1));
        }
        if let Some(held) = held.as_mut().filter(|held| held.warps >= warps) {
            return self.device.discard(&mut held.buffer);
        }
        // There may be no room for both.
        *held = None;
        loop {
            match self.device.allocate((warps as usize * BYTES).max(1)) {
                Err(DeviceError::OutOfMemory { .. }) if warps > 1 => warps /= 2,
                Err(error) => return Err(error),
                Ok(buffer) => {
                    let taken = self.uploaded(&[0_u32])?;
                    *held = Some(Arenas {
                        buffer,
                        warps,
                        taken,
                    });
                    return Ok(());
                }
            }
        }
    }

    /// Frees the arenas. Call it only once the launches that use them have finished.
    pub fn drop_arenas(&self) {
        *self.arenas.borrow_mut() = None;
    }
}
