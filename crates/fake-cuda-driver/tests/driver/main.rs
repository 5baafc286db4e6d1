//! The CUDA path, from the driver's functions to whole runs, on a fake of NVIDIA's driver.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests, which lints do not know of those without a harness"
)]

use std::process::ExitCode;

mod conformance;
mod device;
mod run;
mod support;

fn main() -> ExitCode {
    // Those that wait for a GPU that hangs are the first of whole runs.
    let mut cases = run::cases();
    cases.extend(device::cases());
    cases.extend(conformance::cases());
    support::main(cases)
}
