//! The conformance suite on every kind of device: a device that is unavailable is reported as ignored.
//!
//! `ARC_CASES` sets the number of random cases per operation and device (240), `ARC_SEED` the seed. A test is named
//! after device and operation, so that `cargo test --test conformance -- rot90` runs one operation on all devices.

use std::process::ExitCode;

use arc_check::conformance::suite::{Extent, Test};
use gpu_kernels::Engine;
use gpu_kernels::device::cuda::CudaDevice;
use gpu_kernels::device::{Device, Unavailable, open};
use gpu_sim::emulated::{EmulatedDevice, Emulation, LaneOrder};
use gpu_sim::interpreted::{Interpretation, InterpretedDevice};
use libtest_mimic::{Arguments, Trial};

/// A device of the suite, opened anew for each test.
trait Backend: Copy + Send + 'static {
    type Device: Device;
    /// Whether cargo builds its kernels from their sources.
    const IS_BUILT_HERE: bool = false;
    fn device(self) -> Result<Self::Device, Unavailable>;
}

#[derive(Clone, Copy)]
struct Emulated(LaneOrder);

impl Backend for Emulated {
    type Device = EmulatedDevice;
    const IS_BUILT_HERE: bool = true;

    fn device(self) -> Result<EmulatedDevice, Unavailable> {
        let emulation = Emulation {
            order: self.0,
            ..Emulation::default()
        };
        gpu_sim::open::emulated(0, &emulation)
    }
}

#[derive(Clone, Copy)]
struct Interpreted;

impl Backend for Interpreted {
    type Device = InterpretedDevice;

    fn device(self) -> Result<InterpretedDevice, Unavailable> {
        gpu_sim::open::interpreted(0, &Interpretation::default())
    }
}

#[derive(Clone, Copy)]
struct Cuda;

impl Backend for Cuda {
    type Device = CudaDevice;

    fn device(self) -> Result<CudaDevice, Unavailable> {
        open::gpu(0)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    let orders = [
        ("emulated, lanes ascending", LaneOrder::Ascending),
        ("emulated, lanes descending", LaneOrder::Descending),
        ("emulated, lanes at random", LaneOrder::Random(7)),
    ];
    for (name, order) in orders {
        instantiate(name, Emulated(order), &mut trials);
    }
    instantiate("interpreted", Interpreted, &mut trials);
    instantiate("cuda", Cuda, &mut trials);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The suite for one device.
fn instantiate<B: Backend>(name: &str, backend: B, trials: &mut Vec<Trial>) {
    let missing = backend.device().err();
    // The header in the tree may be out of date: then the tests run, and fail with that reason. The PTX of the other
    // devices needs a compiler that is fetched, and `cargo xtask ci` compares it where that can be had.
    let is_stale = |reason: &Unavailable| matches!(reason, Unavailable::StaleImage { .. });
    let missing = missing.filter(|reason| !(B::IS_BUILT_HERE && is_stale(reason)));
    if let Some(reason) = &missing {
        eprintln!("{name}: ignored: {reason}");
    }
    for test in Test::all() {
        let run = move || {
            let engine = Engine::new(backend.device()?);
            test.run(&engine, extent())?;
            Ok(())
        };
        let trial = Trial::test(format!("{name}::{}", test.name()), run);
        trials.push(trial.with_ignored_flag(missing.is_some()));
    }
}

fn extent() -> Extent {
    let usual = Extent::default();
    Extent {
        cases: setting("ARC_CASES", usual.cases as u64) as usize,
        seed: setting("ARC_SEED", usual.seed),
        ..usual
    }
}

fn setting(name: &str, otherwise: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
