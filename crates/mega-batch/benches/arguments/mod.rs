//! The arguments behind `--` on the command line of a bench.

/// The arguments without what cargo adds.
pub(crate) fn arguments() -> impl Iterator<Item = String> {
    std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
}
