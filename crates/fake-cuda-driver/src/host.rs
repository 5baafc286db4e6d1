//! Memory of the host that the device copies from and to.
#![allow(
    unsafe_code,
    reason = "the device copies from and to memory that is the host's as well"
)]

use std::alloc::{Layout, alloc, dealloc};
use std::{ptr, slice};

/// What pinned memory is aligned to.
const ALIGNMENT: usize = 4096;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, ALIGNMENT)
        .ok()
        .filter(|_| bytes > 0)
}

/// Takes so many bytes, of noise; `None` if there are not so many.
pub(crate) fn allocate(bytes: usize) -> Option<usize> {
    let layout = layout(bytes)?;
    // SAFETY: The layout is not empty, and what is written lies in it.
    unsafe {
        let start = alloc(layout);
        if start.is_null() {
            return None;
        }
        ptr::write_bytes(start, 0xa5, bytes);
        Some(start.expose_provenance())
    }
}

/// Gives back what was allocated with so many bytes.
pub(crate) fn free(start: usize, bytes: usize) {
    if let Some(layout) = layout(bytes) {
        // SAFETY: Whoever keeps the list of pinned memory found it there with this length.
        unsafe { dealloc(ptr::with_exposed_provenance_mut(start), layout) };
    }
}

/// Bytes of pinned memory.
pub(crate) fn bytes<'a>(start: usize, bytes: usize) -> &'a [u8] {
    // SAFETY: They were found in the list of pinned memory, all of which was written, and
    // which is not freed while it is copied.
    unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(start), bytes) }
}

/// Bytes of pinned memory, which nobody else uses until the copy is waited for.
pub(crate) fn bytes_mut<'a>(start: usize, bytes: usize) -> &'a mut [u8] {
    // SAFETY: As for `bytes`.
    unsafe { slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(start), bytes) }
}
