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
    let cases = device::cases().into_iter();
    support::main(
        cases
            .chain(conformance::cases())
            .chain(run::cases())
            .collect(),
    )
}
