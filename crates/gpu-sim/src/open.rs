//! Opens simulated devices, as [`gpu_kernels::device::open`] opens GPUs.

use gpu_kernels::device::Unavailable;
use gpu_kernels::interface::fingerprint;

use crate::emulated::{EmulatedDevice, Emulation};
use crate::interpreted::{Interpretation, InterpretedDevice};

/// Opens the emulated device at this index, counted from 0. Unless the emulation names another fingerprint, the kernels
/// must have that of this library.
///
/// # Errors
/// [`Unavailable::NoCompiler`] if the kernels were not compiled, [`Unavailable::NoSuchDevice`], and
/// [`Unavailable::StaleImage`] for another fingerprint.
pub fn emulated(index: usize, emulation: &Emulation) -> Result<EmulatedDevice, Unavailable> {
    EmulatedDevice::new(index, emulation)
}

/// Opens the interpreted device at this index, counted from 0. Embedded PTX must have the fingerprint of this library.
///
/// # Errors
/// [`Unavailable::NoSuchDevice`], [`Unavailable::UnknownPtx`], and [`Unavailable::StaleImage`] for
/// another fingerprint.
pub fn interpreted(
    index: usize,
    interpretation: &Interpretation,
) -> Result<InterpretedDevice, Unavailable> {
    InterpretedDevice::new(index, interpretation, fingerprint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulated_device_has_the_kernels_of_this_library() {
        let other = Emulation {
            fingerprint: Some(!fingerprint()),
            ..Emulation::default()
        };
        let opened = emulated(0, &Emulation::default()).map(drop);
        let stale = emulated(0, &other).map(drop);
        if EmulatedDevice::fingerprint().is_some() {
            assert_eq!(opened, Ok(()));
            assert!(matches!(stale, Err(Unavailable::StaleImage { .. })));
        } else {
            assert_eq!(
                (opened, stale.is_err()),
                (Err(Unavailable::NoCompiler), true)
            );
        }
        assert!(emulated(1, &Emulation::default()).is_err());
    }
}
