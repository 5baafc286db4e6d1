//! The CUDA path, from the driver's functions to whole runs, on a driver that stands in for NVIDIA's.

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
