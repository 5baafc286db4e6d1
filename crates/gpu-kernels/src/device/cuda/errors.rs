//! Maps error codes of the driver to errors of a device.

use super::super::{DeviceError, Memory, Unavailable};

/// A call of the driver that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) call: &'static str,
    pub(super) code: i32,
    /// The driver's name of the code.
    pub(super) name: String,
}

/// The codes that are handled here: `CUresult` of the driver's API.
pub(super) mod code {
    pub(in super::super) const OUT_OF_MEMORY: i32 = 2;
    pub(in super::super) const NO_DEVICE: i32 = 100;
    pub(in super::super) const NOT_FOUND: i32 = 500;
    pub(in super::super) const UNSUPPORTED_PTX_VERSION: i32 = 222;
    /// The image is for other GPUs, is not PTX, or cannot be compiled here.
    pub(in super::super) const IMAGE: [i32; 6] = [200, 209, 218, 221, 223, NOT_FOUND];
    /// A kernel failed: an illegal address, another fault, a time limit.
    pub(in super::super) const KERNEL: [i32; 9] = [700, 702, 710, 714, 715, 716, 717, 718, 719];
    /// A memory or link failure, or the device or its context no longer exists.
    pub(in super::super) const LOST: [i32; 9] = [3, 4, 46, 201, 214, 220, 226, 709, 999];
}

impl Failure {
    /// The code with its name.
    pub(super) fn reason(&self) -> String {
        format!("{} ({}) in {}", self.name, self.code, self.call)
    }

    /// Why the device cannot be opened.
    pub(super) fn unavailable(self) -> Unavailable {
        if self.code == code::NO_DEVICE {
            return Unavailable::NoDevice;
        }
        let Self { call, code, name } = self;
        Unavailable::Driver { call, code, name }
    }

    /// Why the driver refused the image, with the compiler's log.
    pub(super) fn image(
        self,
        log: &str,
        driver: (u32, u32),
        needed: Option<(u32, u32)>,
    ) -> Unavailable {
        match needed {
            Some(needed) if self.code == code::UNSUPPORTED_PTX_VERSION => {
                Unavailable::DriverTooOld { driver, needed }
            }
            _ if code::IMAGE.contains(&self.code) || !log.is_empty() => {
                let mut reason = self.reason();
                if !log.is_empty() {
                    reason = reason + ": " + log;
                }
                Unavailable::ImageRefused { reason }
            }
            _ => self.unavailable(),
        }
    }

    /// Converts a failure on an open device. Launches are asynchronous, so a later call reports a kernel's fault: it is
    /// attributed to the kernel launched last.
    pub(super) fn device_error(
        self,
        launched: Option<&'static str>,
        requested: u64,
        memory: impl FnOnce() -> Memory,
    ) -> DeviceError {
        match self.code {
            code::OUT_OF_MEMORY => {
                let Memory { free, total } = memory();
                DeviceError::OutOfMemory {
                    requested,
                    free,
                    total,
                }
            }
            code if code::KERNEL.contains(&code) => {
                let reason = self.reason();
                match launched {
                    Some(kernel) => DeviceError::Kernel { kernel, reason },
                    None => DeviceError::Lost { reason },
                }
            }
            code if code::LOST.contains(&code) => DeviceError::Lost {
                reason: self.reason(),
            },
            _ => {
                let Self { call, code, name } = self;
                DeviceError::Driver { call, code, name }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> Failure {
        Failure {
            call: "cuCall",
            code,
            name: format!("CUDA_ERROR_{code}"),
        }
    }

    fn error(code: i32, launched: Option<&'static str>) -> DeviceError {
        let memory = || Memory {
            free: 10,
            total: 20,
        };
        failure(code).device_error(launched, 99, memory)
    }

    #[test]
    fn a_full_memory_says_how_full() {
        let expected = DeviceError::OutOfMemory {
            requested: 99,
            free: 10,
            total: 20,
        };
        assert_eq!(error(2, Some("arc_copy")), expected);
    }

    #[test]
    fn a_fault_is_that_of_the_last_kernel() {
        for code in code::KERNEL {
            let reason = format!("CUDA_ERROR_{code} ({code}) in cuCall");
            let kernel = "arc_programs";
            assert_eq!(
                error(code, Some(kernel)),
                DeviceError::Kernel {
                    kernel,
                    reason: reason.clone()
                }
            );
            assert_eq!(error(code, None), DeviceError::Lost { reason });
        }
    }

    #[test]
    fn a_broken_device_is_lost_whatever_ran() {
        for code in code::LOST {
            let lost = error(code, Some("arc_copy"));
            assert!(matches!(lost, DeviceError::Lost { .. }), "{code}");
        }
    }

    #[test]
    fn other_codes_stay_as_the_driver_tells_them() {
        let expected = DeviceError::Driver {
            call: "cuCall",
            code: 1,
            name: "CUDA_ERROR_1".to_owned(),
        };
        assert_eq!(error(1, Some("arc_copy")), expected);
    }

    #[test]
    fn a_refused_image_says_why() {
        let refused = |code, log| failure(code).image(log, (12, 1), Some((12, 2)));
        assert_eq!(
            refused(222, ""),
            Unavailable::DriverTooOld {
                driver: (12, 1),
                needed: (12, 2)
            }
        );
        let reason = "CUDA_ERROR_218 (218) in cuCall: line 3: syntax error".to_owned();
        assert_eq!(
            refused(218, "line 3: syntax error"),
            Unavailable::ImageRefused { reason }
        );
        assert!(matches!(refused(209, ""), Unavailable::ImageRefused { .. }));
        assert!(matches!(refused(2, ""), Unavailable::Driver { .. }));
    }

    #[test]
    fn without_a_gpu_there_is_no_device() {
        assert_eq!(failure(100).unavailable(), Unavailable::NoDevice);
        assert!(matches!(
            failure(803).unavailable(),
            Unavailable::Driver { code: 803, .. }
        ));
    }
}
