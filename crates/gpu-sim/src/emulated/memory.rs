//! [`Block`]: memory of an emulated device, on the host's heap.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::{self, NonNull};

/// What a GPU aligns memory to at least.
const ALIGNMENT: usize = 128;

/// How much of a new block is filled with noise, so that reading what nobody wrote shows. Further
/// in there are zeros, which cost nothing until they are read, or what was there before.
const NOISE: usize = 1 << 20;

/// Bytes that kernels read and write by their address. The block is no longer than was asked for,
/// so that the address sanitizer sees what goes past its end.
#[derive(Debug)]
pub(super) struct Block {
    at: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is the block's alone. Shared references only read it, but for launches, and
// those are the business of one device, which is not `Sync`.
unsafe impl Send for Block {}

impl Block {
    /// So many bytes, at least one; `None` if the host has not so many.
    pub(super) fn new(bytes: usize, noise: u64) -> Option<Block> {
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).ok()?;
        // SAFETY: the layout is not of size 0.
        let at = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let mut block = Block { at, layout };
        block.fill(noise);
        Some(block)
    }

    /// Fills it with noise, as far as that goes.
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

    /// Whether so many bytes lie there.
    fn holds(&self, at: usize, bytes: usize) -> bool {
        at.checked_add(bytes).is_some_and(|end| end <= self.bytes())
    }

    /// Copies to byte `at`; false, and nothing done, if that goes past the end.
    pub(super) fn write(&mut self, at: usize, from: &[u8]) -> bool {
        let holds = self.holds(at, from.len());
        if holds {
            // SAFETY: the bytes lie within the block, and a block is no slice of anything.
            unsafe {
                ptr::copy_nonoverlapping(from.as_ptr(), self.at.as_ptr().add(at), from.len());
            }
        }
        holds
    }

    /// Copies from byte `at` on; false, and nothing done, if that goes past the end.
    pub(super) fn read(&self, at: usize, to: &mut [u8]) -> bool {
        let holds = self.holds(at, to.len());
        if holds {
            // SAFETY: the bytes lie within the block and were set when it was made.
            unsafe {
                ptr::copy_nonoverlapping(self.at.as_ptr().add(at), to.as_mut_ptr(), to.len());
            }
        }
        holds
    }

    /// Copies so many first bytes of another one; false, and nothing done, if either is shorter.
    pub(super) fn copy(&mut self, from: &Block, bytes: usize) -> bool {
        let holds = self.holds(0, bytes) && from.holds(0, bytes);
        if holds {
            // SAFETY: both hold so many bytes; two blocks do not overlap.
            unsafe { ptr::copy_nonoverlapping(from.at.as_ptr(), self.at.as_ptr(), bytes) };
        }
        holds
    }

    /// Sets all bytes to zero.
    pub(super) fn clear(&mut self) {
        // SAFETY: as many as the block has.
        unsafe { ptr::write_bytes(self.at.as_ptr(), 0, self.bytes()) };
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout and is dropped once.
        unsafe { dealloc(self.at.as_ptr(), self.layout) };
    }
}
