//! Where devices are opened: which GPUs there are, and one by its number.

use super::cuda::CudaDevice;
use super::emulated::{EmulatedDevice, Emulation};
use super::interpreted::{Interpretation, InterpretedDevice};
use super::{Information, Unavailable};
use crate::interface::fingerprint;

/// What each GPU is, by its number, or why it cannot be used; otherwise why no GPU can. Nothing of them
/// is taken: it takes milliseconds, where to open one takes seconds when the driver first sees the
/// kernels.
pub fn gpus() -> Result<Vec<Result<Information, Unavailable>>, Unavailable> {
    CudaDevice::all(fingerprint())
}

/// The GPU of this number, from 0 on, with the kernels of this library.
pub fn gpu(index: usize) -> Result<CudaDevice, Unavailable> {
    CudaDevice::new(index, fingerprint())
}

/// The emulated device of this number, from 0 on. Where the emulation names no fingerprint, the kernels
/// must have that of this library.
///
/// # Errors
/// [`Unavailable::NoCompiler`] where the kernels were not compiled, [`Unavailable::NoSuchDevice`], and
/// [`Unavailable::StaleImage`] for another fingerprint.
pub fn emulated(index: usize, emulation: &Emulation) -> Result<EmulatedDevice, Unavailable> {
    let expected = emulation.fingerprint.unwrap_or_else(fingerprint);
    let emulation = Emulation {
        fingerprint: Some(expected),
        ..emulation.clone()
    };
    EmulatedDevice::new(index, &emulation)
}

/// The interpreted device of this number, from 0 on. Embedded PTX must have the fingerprint of this
/// library.
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
    fn what_is_listed_can_be_opened() {
        match gpus() {
            Err(reason) => {
                assert_eq!(gpu(0).err(), Some(reason));
            }
            Ok(all) => {
                let past = all.len();
                assert!(past > 0);
                let count = past;
                let none = Unavailable::NoSuchDevice { index: past, count };
                assert_eq!(gpu(past).err(), Some(none));
                for (index, listed) in all.into_iter().enumerate() {
                    if let Err(reason) = listed {
                        assert_eq!(gpu(index).err(), Some(reason));
                    }
                }
            }
        }
    }

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
