//! Times as arguments.

use std::time::Duration;

use crate::table::thousands;

/// The longest time limit: some thirty years.
const MAX_SECONDS: f64 = 1e9;

/// Reads a time in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    seconds
        .filter(|seconds| *seconds <= MAX_SECONDS)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            let most = thousands(MAX_SECONDS as u64);
            format!("{text}: expected seconds, 0 or more and {most} at most")
        })
}
