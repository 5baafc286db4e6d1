//! The devices that need no GPU, if the feature `simulated` is on.

use gpu_kernels::Engine;
use gpu_kernels::device::Unavailable;

#[cfg(feature = "simulated")]
pub(crate) use gpu_sim::{emulated::EmulatedDevice, interpreted::InterpretedDevice};

/// Placeholder types for devices that are not in this build: none is ever opened.
#[cfg(not(feature = "simulated"))]
pub(crate) use gpu_kernels::device::cuda::{
    CudaDevice as EmulatedDevice, CudaDevice as InterpretedDevice,
};

/// An emulated device; its number determines the order in which lanes run.
#[cfg(feature = "simulated")]
pub(crate) fn emulated(number: u64) -> Result<Engine<EmulatedDevice>, Unavailable> {
    use gpu_sim::emulated::{Emulation, LaneOrder};

    let order = match number % 3 {
        0 => LaneOrder::Ascending,
        1 => LaneOrder::Descending,
        _ => LaneOrder::Random(number),
    };
    let emulation = Emulation {
        order,
        ..Emulation::default()
    };
    Ok(Engine::new(gpu_sim::open::emulated(0, &emulation)?))
}

/// An interpreted device.
#[cfg(feature = "simulated")]
pub(crate) fn interpreted() -> Result<Engine<InterpretedDevice>, Unavailable> {
    let interpretation = gpu_sim::interpreted::Interpretation::default();
    let device = gpu_sim::open::interpreted(0, &interpretation)?;
    Ok(Engine::new(device))
}

#[cfg(not(feature = "simulated"))]
pub(crate) fn emulated(_: u64) -> Result<Engine<EmulatedDevice>, Unavailable> {
    Err(Unavailable::NotSimulated)
}

#[cfg(not(feature = "simulated"))]
pub(crate) fn interpreted() -> Result<Engine<InterpretedDevice>, Unavailable> {
    Err(Unavailable::NotSimulated)
}
