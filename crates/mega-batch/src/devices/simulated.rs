//! The devices that need no GPU, if this is built with them: the feature `simulated`.

use gpu_kernels::device::Unavailable;

#[cfg(feature = "simulated")]
pub use gpu_sim::{emulated::EmulatedDevice, interpreted::InterpretedDevice};

/// In the place of a device that is not in this build: none is ever opened.
#[cfg(not(feature = "simulated"))]
pub use gpu_kernels::device::cuda::{
    CudaDevice as EmulatedDevice, CudaDevice as InterpretedDevice,
};

/// The emulated device.
///
/// # Errors
/// [`Unavailable::NotSimulated`] if it is not in this build, [`Unavailable::NoCompiler`] if no C++ compiler
/// was there when this was built.
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
