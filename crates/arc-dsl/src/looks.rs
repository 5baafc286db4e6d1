//! How many elements are really looked at, counted where tests ask whether all of it is accounted for
//! as work.
//!
//! It is counted in the few places that everything goes through: comparisons, elements of containers,
//! cells of grids, sets that are made. In other builds nothing is counted.

#[cfg(test)]
thread_local! {
    static COUNT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts so many elements.
#[inline(always)]
#[allow(
    clippy::inline_always,
    reason = "it stands in the innermost loops and is nothing in all builds but one"
)]
pub(crate) fn looked_at(elements: usize) {
    #[cfg(test)]
    COUNT.with(|count| count.set(count.get() + elements as u64));
    #[cfg(not(test))]
    let _ = elements;
}

/// How many elements `run` looks at.
#[cfg(test)]
pub(crate) fn looks<R>(run: impl FnOnce() -> R) -> (u64, R) {
    let before = COUNT.get();
    let result = run();
    (COUNT.get() - before, result)
}
