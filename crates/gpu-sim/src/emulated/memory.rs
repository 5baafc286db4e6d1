//! [`Block`]: memory of an emulated device, on the host's heap.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::slice;

use crate::simulated::Content;

/// The least alignment of GPU memory.
const ALIGNMENT: usize = 128;

/// How much of a new block is filled with noise, to expose reads of unwritten memory. The rest holds zeros, which cost
/// nothing until they are read, or its previous content.
const NOISE: usize = 1 << 20;

/// Bytes that kernels read and write by their address. The block has exactly the requested length,
/// so that the address sanitizer detects accesses past its end.
#[derive(Debug)]
pub struct Block {
    at: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the block owns its memory. Shared references only read it, except in launches, and
// those belong to one device, which is not `Sync`.
unsafe impl Send for Block {}

impl Block {
    /// Allocates this many bytes, at least one; `None` if the host has too little memory.
    pub(super) fn new(bytes: usize, noise: u64) -> Option<Block> {
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).ok()?;
        // SAFETY: the layout is not of size 0.
        let at = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let mut block = Block { at, layout };
        block.fill(noise);
        Some(block)
    }

    /// Fills the first [`NOISE`] bytes with noise.
    pub(super) fn fill(&mut self, noise: u64) {
        let mut state = noise | 1;
        let noisy = self.layout.size().min(NOISE);
        for bytes in self.bytes_mut()[..noisy].chunks_mut(8) {
            // The generator is xorshift64 (Marsaglia 2003).
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.copy_from_slice(&state.to_le_bytes()[..bytes.len()]);
        }
    }

    /// Its address, through which kernels read and write.
    pub(super) fn address(&self) -> *mut u8 {
        self.at.as_ptr()
    }
}

impl Content for Block {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the block has this many bytes, which were initialised when it was allocated.
        unsafe { slice::from_raw_parts(self.at.as_ptr(), self.layout.size()) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; and the block is borrowed mutably, so no launch uses it.
        unsafe { slice::from_raw_parts_mut(self.at.as_ptr(), self.layout.size()) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout and is dropped once.
        unsafe { dealloc(self.at.as_ptr(), self.layout) };
    }
}
