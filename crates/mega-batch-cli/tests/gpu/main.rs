//! `mega-batch bench` on the fake driver. If that was not built, the tests are ignored, and say so.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic, its helpers too"
)]

use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod tests;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use libtest_mimic::{Arguments, Trial};

    let libraries = fake_cuda_driver::folder();
    if let Err(error) = &libraries {
        eprintln!("the benchmark of a GPU: skipped: {error}");
    }
    let trials = tests::ALL.map(|(name, test, is_slow)| {
        let libraries = libraries.as_ref().map(Clone::clone);
        let libraries = libraries.map_err(ToString::to_string);
        let ignored = libraries.is_err() || is_slow && cfg!(debug_assertions);
        let run = move || {
            test(&libraries?);
            Ok(())
        };
        Trial::test(format!("gpu_bench::{name}"), run).with_ignored_flag(ignored)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

/// The fake driver is for Linux.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("the benchmark of a GPU: skipped: the fake driver is for Linux");
    ExitCode::SUCCESS
}
