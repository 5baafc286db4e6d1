//! [`Device`]: memory, copies and launches of one GPU, or of a simulation of one.
//!
//! Calls take effect in order: a launch sees what was uploaded before it, and a download waits for what
//! was launched before it. A device belongs to one thread at a time. Its [further streams](Device::new_stream) are
//! the same device with separately ordered work.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use crate::interface::constants::MAX_SIDE_BY_SIDE;
pub use crate::interface::{Argument, Entry};
use crate::interface::{EVALUATION_BYTES, Representation};
use crate::pool::LANES;

pub mod caching;
pub mod cuda;
pub mod image;
pub mod open;
#[cfg(test)]
mod testing;

/// Properties of a device, as its driver reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Information {
    /// Its name, such as `NVIDIA H200`.
    pub name: String,
    /// Where it computes.
    pub kind: DeviceKind,
    /// Major and minor compute capability; of a simulated device, the one that it imitates.
    pub capability: (u32, u32),
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Warps resident on a multiprocessor at once.
    pub warps: u32,
    /// Bytes of shared memory that a block may use.
    pub shared_bytes: u32,
    /// Bytes of shared memory per multiprocessor.
    pub multiprocessor_shared_bytes: u32,
    /// Bytes of device memory.
    pub bytes: u64,
    /// The version of CUDA that the driver supports, such as `(12, 2)`; `None` if there is no driver.
    pub driver: Option<(u32, u32)>,
}

/// The most waves of resident warps in a suggested batch: a launch of that length makes the cost of starting it
/// negligible.
const WAVES: u64 = 32;

/// A suggested batch takes at most one part in `SHARE` of a GPU's memory: one batch is uploaded and one downloaded
/// while a third is computed, and the programs need some too.
const SHARE: u64 = 4;

/// Bytes of device memory for an evaluation whose input, expected output and fetched result are grids that it shares
/// with no other.
const BYTES_AT_MOST: u64 = (EVALUATION_BYTES + 3 * Representation::Grid.bytes()) as u64;

impl Information {
    /// How many evaluations a batch should have: a first estimate, to be refined by measurement.
    ///
    /// At least `multiprocessors x warps x 4`, so that each resident warp gets one work item of four evaluations side
    /// by side; at most 32 times that. Both are limited to what fits a quarter of the memory if the input, expected
    /// output and result of an evaluation are grids.
    pub fn suggested_batch(&self) -> RangeInclusive<u64> {
        let wave = u64::from(self.multiprocessors)
            .saturating_mul(u64::from(self.warps))
            .saturating_mul(u64::from(MAX_SIDE_BY_SIDE));
        let most = (self.bytes / SHARE / BYTES_AT_MOST).max(1);
        wave.clamp(1, most)..=wave.saturating_mul(WAVES).clamp(1, most)
    }
}

/// Where a device computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// On an NVIDIA GPU.
    Cuda,
    /// On the CPU, compiled from the same sources.
    Emulated,
    /// On the CPU, interpreting the PTX that GPUs run.
    Interpreted,
}

/// Bytes of device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Not yet allocated.
    pub free: u64,
    /// In all.
    pub total: u64,
}

/// One launch of a kernel.
#[derive(Debug)]
pub struct Launch<'a, B> {
    /// The kernel.
    pub entry: Entry,
    /// Number of blocks.
    pub blocks: u32,
    /// Threads per block, a multiple of 32.
    pub threads: u32,
    /// Bytes of shared memory per block.
    pub shared_bytes: u32,
    /// The kernel's arguments, in order.
    pub arguments: Vec<Argument<'a, B>>,
}

/// The most threads per block.
const MOST_THREADS: u32 = 1024;

impl<B> Launch<'_, B> {
    /// Fails with the reason if its blocks are not whole warps, or need more than this many bytes of shared memory.
    pub fn check(&self, most_shared_bytes: u32) -> Result<(), String> {
        let (blocks, threads, shared_bytes) = (self.blocks, self.threads, self.shared_bytes);
        let is_whole =
            threads.is_multiple_of(LANES as u32) && (1..=MOST_THREADS).contains(&threads);
        if blocks == 0 || !is_whole {
            return Err(format!("{blocks} blocks of {threads} threads"));
        }
        if shared_bytes > most_shared_bytes {
            return Err(format!(
                "a block may have {most_shared_bytes} bytes of shared memory, not {shared_bytes}"
            ));
        }
        Ok(())
    }
}

/// A GPU, or a simulation of one.
pub trait Device {
    /// Memory of the device, aligned to 128 bytes and freed when it is dropped.
    type Buffer;
    /// A point in the order of the device's work.
    type Event;

    /// Its properties.
    fn information(&self) -> &Information;

    /// A further stream of the same device, whose work is ordered separately: its copies overlap the
    /// launches of this one. The two share memory and faults. One may use a buffer of the other only after
    /// [waiting](Device::synchronize) for the other's work.
    fn new_stream(&self) -> Result<Self, DeviceError>
    where
        Self: Sized;

    /// Free and total memory.
    fn memory(&self) -> Result<Memory, DeviceError>;

    /// Allocates this many bytes, at least one, of unspecified content.
    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, DeviceError>;

    /// Declares the content of this memory dead, because the memory is about to be reused. A simulated device
    /// invalidates it; others do nothing.
    fn discard(&self, buffer: &mut Self::Buffer) -> Result<(), DeviceError> {
        let _ = buffer;
        Ok(())
    }

    /// Copies to the device, to byte `at` of the buffer; an error if the bytes do not fit.
    fn upload(&self, from: &[u8], to: &mut Self::Buffer, at: usize) -> Result<(), DeviceError>;

    /// Waits, and copies from the device, from byte `at` of the buffer on.
    fn download(&self, from: &Self::Buffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies the first bytes of one buffer to another, within the device.
    fn copy(
        &self,
        from: &Self::Buffer,
        to: &mut Self::Buffer,
        bytes: usize,
    ) -> Result<(), DeviceError>;

    /// Sets all bytes to zero.
    fn clear(&self, buffer: &mut Self::Buffer) -> Result<(), DeviceError>;

    /// Runs a kernel; on a GPU the call returns before the kernel has finished.
    fn launch(&self, launch: &Launch<'_, Self::Buffer>) -> Result<(), DeviceError>;

    /// Records this point in the device's work.
    fn record(&self) -> Result<Self::Event, DeviceError>;

    /// Waits for both events, and returns the device's time between them.
    fn elapsed(&self, from: &Self::Event, to: &Self::Event) -> Result<Duration, DeviceError>;

    /// Waits for all work.
    fn synchronize(&self) -> Result<(), DeviceError>;
}

/// An error of an open device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The device's memory is full; smaller batches may fit.
    #[error("out of device memory: {requested} bytes asked for, {free} of {total} free")]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes free.
        free: u64,
        /// Bytes in all.
        total: u64,
    },
    /// A copy past the end of a buffer.
    #[error("{bytes} bytes at {at} are past the end of a buffer of {length}")]
    PastEnd {
        /// First byte.
        at: usize,
        /// Bytes to be copied.
        bytes: usize,
        /// Bytes of the buffer.
        length: usize,
    },
    /// The device rejected a launch.
    #[error("kernel {kernel} was not launched: {reason}")]
    Launch {
        /// The kernel's name.
        kernel: &'static str,
        /// Why.
        reason: String,
    },
    /// The kernel broke a rule of the device, which then accepts no further work.
    #[error("kernel {kernel} failed: {reason}")]
    Kernel {
        /// The kernel's name.
        kernel: &'static str,
        /// What it did.
        reason: String,
    },
    /// The device is gone.
    #[error("the device is lost: {reason}")]
    Lost {
        /// What the driver says.
        reason: String,
    },
    /// Any other error of the driver.
    #[error("driver error {code} ({name}) in {call}")]
    Driver {
        /// The function that was called.
        call: &'static str,
        /// The driver's error code.
        code: i32,
        /// The driver's name for the code.
        name: String,
    },
}

/// The range of these bytes in a buffer of this length; fails if it goes past the end.
pub fn bytes_within(at: usize, bytes: usize, length: usize) -> Result<Range<usize>, DeviceError> {
    let end = at.checked_add(bytes).filter(|end| *end <= length);
    let past_end = DeviceError::PastEnd { at, bytes, length };
    end.map(|end| at..end).ok_or(past_end)
}

/// Why a device cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The driver's library is not installed.
    #[error("no NVIDIA driver: the library libcuda is not found")]
    NoDriverLibrary,
    /// There is a driver but no GPU.
    #[error("the NVIDIA driver finds no GPU")]
    NoDevice,
    /// There are fewer devices.
    #[error("there is no device {index}: {count} in all")]
    NoSuchDevice {
        /// The requested index, counted from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The GPU is older than the image requires.
    #[error("{name} has compute capability {}.{}; {}.{} is needed", found.0, found.1, needed.0, needed.1)]
    TooOld {
        /// The device.
        name: String,
        /// The compute capability that it has.
        found: (u32, u32),
        /// The compute capability that the image needs.
        needed: (u32, u32),
    },
    /// The driver cannot read the image.
    #[error("the driver knows CUDA {}.{}; the kernels need {}.{}: install a newer driver", driver.0, driver.1, needed.0, needed.1)]
    DriverTooOld {
        /// The version of CUDA that the driver supports.
        driver: (u32, u32),
        /// The version that the image needs.
        needed: (u32, u32),
    },
    /// The driver refused the image.
    #[error("the driver refused the kernels: {reason}")]
    ImageRefused {
        /// The driver's reason.
        reason: String,
    },
    /// The image was built for another interface than this library's.
    #[error(
        "the kernels have fingerprint {found}, this library {expected:#018x}: run `cargo xtask docs`, which writes their \
         header, and for a GPU `cargo xtask ptx`"
    )]
    StaleImage {
        /// The fingerprint of this library's interface.
        expected: u64,
        /// The fingerprint that the image carries.
        found: String,
    },
    /// The PTX contains something that the interpreter does not support.
    #[error("the interpreter does not know all of the PTX: {what}")]
    UnknownPtx {
        /// What it does not support, each with its line.
        what: String,
    },
    /// The driver hangs.
    #[error("no answer from the driver within {} s", limit.as_secs_f64())]
    NoAnswer {
        /// How long we waited.
        limit: Duration,
    },
    /// The thread that should open the device could not be started, or panicked.
    #[error("no thread for the device: {reason}")]
    NoThread {
        /// Why.
        reason: String,
    },
    /// This build did not compile the kernels for the host.
    #[error("no emulated device: no C++ compiler was found when this was built")]
    NoCompiler,
    /// The simulated devices were left out of this build.
    #[error("this build has no simulated devices; build with `--features simulated`")]
    NotSimulated,
    /// Any other error of the driver.
    #[error("driver error {code} ({name}) in {call}")]
    Driver {
        /// The function that was called.
        call: &'static str,
        /// The driver's error code.
        code: i32,
        /// The driver's name for the code.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(multiprocessors: u32, warps: u32, bytes: u64) -> RangeInclusive<u64> {
        let information = Information {
            name: "a GPU".to_owned(),
            kind: DeviceKind::Cuda,
            capability: (8, 0),
            multiprocessors,
            warps,
            shared_bytes: 0,
            multiprocessor_shared_bytes: 0,
            bytes,
            driver: None,
        };
        information.suggested_batch()
    }

    #[test]
    fn a_launch_is_of_whole_warps_and_within_shared_memory() {
        let check = |(blocks, threads), shared_bytes, most| {
            let launch: Launch<'_, ()> = Launch {
                entry: Entry::Programs,
                blocks,
                threads,
                shared_bytes,
                arguments: Vec::new(),
            };
            launch.check(most)
        };
        assert_eq!(check((1, 32), 0, 0), Ok(()));
        assert_eq!(check((u32::MAX, 1024), 100, 100), Ok(()));
        for (blocks, threads) in [(0, 32), (1, 0), (1, 33), (1, 1056)] {
            let reason = check((blocks, threads), 0, 0).unwrap_err();
            assert_eq!(reason, format!("{blocks} blocks of {threads} threads"));
        }
        assert_eq!(
            check((1, 32), 101, 100).unwrap_err(),
            "a block may have 100 bytes of shared memory, not 101"
        );
    }

    #[test]
    fn suggested_batches_fill_a_gpu_and_fit_its_memory() {
        // A T4 and an H100.
        assert_eq!(suggested(40, 32, 15 << 30), 5_120..=163_840);
        assert_eq!(suggested(132, 64, 79 << 30), 33_792..=1_081_344);
        // Little memory limits both ends, and no figures give an empty range.
        let small = 100 * SHARE * BYTES_AT_MOST;
        assert_eq!(suggested(40, 32, small), 100..=100);
        assert_eq!(suggested(0, 0, 0), 1..=1);
        assert!(!suggested(u32::MAX, u32::MAX, u64::MAX).is_empty());
    }
}
