//! Pinned host memory, which the device copies from and to.
#![allow(
    unsafe_code,
    reason = "the device copies from and to memory that is the host's as well"
)]

use std::alloc::{Layout, alloc, dealloc};
use std::{ptr, slice};

/// The alignment of pinned memory.
const ALIGNMENT: usize = 4096;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, ALIGNMENT)
        .ok()
        .filter(|_| bytes > 0)
}

/// Allocates this many bytes, filled with noise; `None` if there is too little memory.
pub(crate) fn allocate(bytes: usize) -> Option<usize> {
    let layout = layout(bytes)?;
    // SAFETY: The layout is not empty, and the write stays within it.
    unsafe {
        let start = alloc(layout);
        if start.is_null() {
            return None;
        }
        ptr::write_bytes(start, 0xa5, bytes);
        Some(start.expose_provenance())
    }
}

/// Frees memory that was allocated with this length.
pub(crate) fn free(start: usize, bytes: usize) {
    if let Some(layout) = layout(bytes) {
        // SAFETY: The caller found it in its list of pinned memory with this length.
        unsafe { dealloc(ptr::with_exposed_provenance_mut(start), layout) };
    }
}

/// Bytes of pinned memory.
pub(crate) fn bytes<'a>(start: usize, bytes: usize) -> &'a [u8] {
    // SAFETY: They were found in the list of pinned memory, all of which was written, and
    // which is not freed while it is copied.
    unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(start), bytes) }
}

/// Bytes of pinned memory, which nothing else uses until the host has waited for the copy.
pub(crate) fn bytes_mut<'a>(start: usize, bytes: usize) -> &'a mut [u8] {
    // SAFETY: As for `bytes`.
    unsafe { slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(start), bytes) }
}
