//! [`Arenas`]: memory in which programs with lists and loops have their elements, one arena for each warp that runs
//! at a time.

use super::Engine;
use crate::device::{Device, DeviceError};
use crate::interface::constants::ARENA_WORDS;

/// Bytes of an arena.
const BYTES: usize = ARENA_WORDS as usize * size_of::<u32>();

/// Arenas may take so much of the memory that is free, as its divisor; where that is too little, warps take turns.
const SHARE: u64 = 8;

/// The arenas of an engine.
#[derive(Debug)]
pub(super) struct Arenas<B> {
    pub(super) buffer: B,
    /// For how many warps.
    pub(super) warps: u32,
}

impl<D: Device> Engine<D> {
    /// Sees to it that there are arenas for so many warps, or for as many as memory is left for, one at least, and
    /// that their content is of no account.
    ///
    /// They stay for later launches, which come one after the other: each launch with arenas of its own would have
    /// the driver allocate, and wait, wherever one is larger than those before it.
    pub(super) fn make_arenas(&self, warps: u32) -> Result<(), DeviceError> {
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
                    *held = Some(Arenas { buffer, warps });
                    return Ok(());
                }
            }
        }
    }

    /// Gives the memory of its arenas back, once the launches that use it are through.
    pub fn drop_arenas(&self) {
        *self.arenas.borrow_mut() = None;
    }
}
