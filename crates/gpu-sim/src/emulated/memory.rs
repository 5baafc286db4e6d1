//! [`Block`]: memory of an emulated device, on the host's heap.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::{self, NonNull};

/// The least alignment of GPU memory.
const ALIGNMENT: usize = 128;

/// How much of a new block is filled with noise, to expose reads of unwritten memory. The rest holds zeros, which cost
/// nothing until they are read, or its previous content.
const NOISE: usize = 1 << 20;

/// Bytes that kernels read and write by their address. The block has exactly the requested length,
/// so that the address sanitizer detects accesses past its end.
#[derive(Debug)]
pub(super) struct Block {
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
        for start in (0..self.bytes().min(NOISE)).step_by(8) {
            // The generator is xorshift64 (Marsaglia 2003).
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let length = (self.bytes() - start).min(8);
            // SAFETY: `start + length` is at most the length of the block.
            unsafe {
                ptr::copy_nonoverlapping(
                    state.to_le_bytes().as_ptr(),
                    self.at.as_ptr().add(start),
                    length,
                );
            }
        }
    }

    /// Its length.
    pub(super) fn bytes(&self) -> usize {
        self.layout.size()
    }

    /// Its address, through which kernels read and write.
    pub(super) fn address(&self) -> *mut u8 {
        self.at.as_ptr()
    }

    /// Whether this range lies within the block.
    fn holds(&self, at: usize, bytes: usize) -> bool {
        at.checked_add(bytes).is_some_and(|end| end <= self.bytes())
    }

    /// Copies to byte `at`; returns false and does nothing if that goes past the end.
    pub(super) fn write(&mut self, at: usize, from: &[u8]) -> bool {
        let holds = self.holds(at, from.len());
        if holds {
            // SAFETY: the bytes lie within the block, and no slice overlaps a block.
            unsafe {
                ptr::copy_nonoverlapping(from.as_ptr(), self.at.as_ptr().add(at), from.len());
            }
        }
        holds
    }

    /// Copies from byte `at` on; returns false and does nothing if that goes past the end.
    pub(super) fn read(&self, at: usize, to: &mut [u8]) -> bool {
        let holds = self.holds(at, to.len());
        if holds {
            // SAFETY: the bytes lie within the block and were initialised when it was allocated.
            unsafe {
                ptr::copy_nonoverlapping(self.at.as_ptr().add(at), to.as_mut_ptr(), to.len());
            }
        }
        holds
    }

    /// Copies the first bytes of another block; returns false and does nothing if either is shorter.
    pub(super) fn copy(&mut self, from: &Block, bytes: usize) -> bool {
        let holds = self.holds(0, bytes) && from.holds(0, bytes);
        if holds {
            // SAFETY: both have this many bytes; two blocks do not overlap.
            unsafe { ptr::copy_nonoverlapping(from.at.as_ptr(), self.at.as_ptr(), bytes) };
        }
        holds
    }

    /// Sets all bytes to zero.
    pub(super) fn clear(&mut self) {
        // SAFETY: this is the length of the block.
        unsafe { ptr::write_bytes(self.at.as_ptr(), 0, self.bytes()) };
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout and is dropped once.
        unsafe { dealloc(self.at.as_ptr(), self.layout) };
    }
}
