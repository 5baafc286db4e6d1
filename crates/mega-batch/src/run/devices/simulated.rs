//! Devices that need no GPU; they need the feature `simulated`.

use gpu_kernels::device::Unavailable;

#[cfg(feature = "simulated")]
pub use gpu_sim::{emulated::EmulatedDevice, interpreted::InterpretedDevice};

/// Placeholder types for devices that are not in this build: they are never opened.
#[cfg(not(feature = "simulated"))]
pub use gpu_kernels::device::cuda::{
    CudaDevice as EmulatedDevice, CudaDevice as InterpretedDevice,
};

/// The emulated device.
///
/// # Errors
/// [`Unavailable::NotSimulated`] if it is not in this build, [`Unavailable::NoCompiler`] if there was no C++ compiler
/// at build time.
pub fn emulated() -> Result<EmulatedDevice, Unavailable> {
    #[cfg(feature = "simulated")]
    return gpu_sim::open::emulated(0, &gpu_sim::emulated::Emulation::default());
    #[cfg(not(feature = "simulated"))]
    Err(Unavailable::NotSimulated)
}

/// The interpreted device.
///
/// # Errors
/// [`Unavailable::NotSimulated`] if it is not in this build.
pub fn interpreted() -> Result<InterpretedDevice, Unavailable> {
    #[cfg(feature = "simulated")]
    return gpu_sim::open::interpreted(0, &gpu_sim::interpreted::Interpretation::default());
    #[cfg(not(feature = "simulated"))]
    Err(Unavailable::NotSimulated)
}
