//! Counts the elements that are actually read, for tests that check whether all reads are charged as work.
//!
//! The few functions that all reads go through do the counting: comparisons, access to elements of containers and cells
//! of grids, construction of sets. Other builds count nothing.

/// Counts reads of this many elements.
#[inline(always)]
#[allow(
    clippy::inline_always,
    reason = "it stands in the innermost loops and is nothing in all builds but one"
)]
pub(crate) fn count_reads(elements: usize) {
    #[cfg(test)]
    testing::COUNT.with(|count| count.set(count.get() + elements as u64));
    #[cfg(not(test))]
    let _ = elements;
}

#[cfg(test)]
pub(crate) mod testing {
    thread_local! {
        pub(super) static COUNT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    /// How many elements `run` reads.
    pub(crate) fn reads_during<R>(run: impl FnOnce() -> R) -> (u64, R) {
        let before = COUNT.get();
        let result = run();
        (COUNT.get() - before, result)
    }
}
