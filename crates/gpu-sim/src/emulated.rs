//! [`EmulatedDevice`]: runs the kernels on the CPU.
//!
//! A C++ compiler, if one is found when this crate is built, compiles the sources under `kernels/`; each lane then runs
//! as a fiber. What is undefined behaviour on a GPU is an error here: lanes
//! that reach different collectives, a mask that names a lane which has exited, a deadlock. It
//! replaces a GPU in tests; it is not fast.

use std::cell::Cell;
use std::hash::{BuildHasher as _, Hasher as _};
use std::time::{Duration, Instant};

use gpu_kernels::device::{
    Argument, Device, DeviceError, Information, Kind, Launch, Memory, Unavailable,
};

use crate::simulated::{Reservation, SimulatedGpu, within};

#[cfg(emulated)]
#[allow(unsafe_code, reason = "the kernels are a C++ library")]
mod image;
#[allow(unsafe_code, reason = "kernels read and write memory by its address")]
mod memory;

/// The stub for a build without compiled kernels.
#[cfg(not(emulated))]
mod image {
    use super::{RawArgument, Refusal, Settings};

    #[derive(Debug, Clone, Copy)]
    pub(super) enum Kernel {}

    pub(super) fn fingerprint() -> Option<u64> {
        None
    }

    impl Kernel {
        pub(super) fn named(_: &str) -> Option<Kernel> {
            None
        }

        pub(super) fn launch(self, _: &[RawArgument], _: &Settings) -> Result<(), Refusal> {
            match self {}
        }
    }
}

/// The order in which the lanes of a warp run from one collective to the next. A kernel whose result depends on the
/// order has a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LaneOrder {
    /// Lane 0 first.
    #[default]
    Ascending,
    /// Lane 31 first.
    Descending,
    /// A different order each time, determined by the seed.
    Random(u64),
}

/// Settings of emulated devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emulation {
    /// How many devices there are.
    pub devices: usize,
    /// Bytes of memory of each.
    pub bytes: u64,
    /// The order of lanes.
    pub order: LaneOrder,
    /// Seed of the content of memory before it is written; `None` for a random seed.
    pub noise: Option<u64>,
    /// How many collectives a warp may reach in one launch; a warp that exceeds this is assumed to be in an endless
    /// loop.
    pub patience: u64,
    /// The fingerprint that the kernels must have; `None` for any.
    pub fingerprint: Option<u64>,
}

impl Default for Emulation {
    /// One device of a gigabyte, lanes in ascending order, 2^28 collectives.
    fn default() -> Self {
        Emulation {
            devices: 1,
            bytes: 1 << 30,
            order: LaneOrder::Ascending,
            noise: None,
            patience: 1 << 28,
            fingerprint: None,
        }
    }
}

/// A GPU with one multiprocessor, emulated on the thread that launches.
#[derive(Debug)]
pub struct EmulatedDevice {
    gpu: SimulatedGpu,
    emulation: Emulation,
    noise: Cell<u64>,
}

/// Memory of an emulated device.
#[derive(Debug)]
pub struct Buffer {
    block: memory::Block,
    _reservation: Reservation,
}

/// An argument of a kernel.
#[cfg_attr(not(emulated), allow(dead_code, reason = "without kernels"))]
enum RawArgument {
    Memory(*mut u8),
    Number(u32),
}

/// The settings of one launch.
#[cfg_attr(not(emulated), allow(dead_code, reason = "without kernels"))]
struct Settings {
    blocks: u32,
    threads: u32,
    shared_bytes: u32,
    most_shared_bytes: u32,
    order: u32,
    seed: u64,
    fill: u64,
    patience: u64,
}

/// Why a kernel did not run to its end.
#[cfg_attr(not(emulated), allow(dead_code, reason = "without kernels"))]
enum Refusal {
    Launch(String),
    Kernel(String),
}

impl EmulatedDevice {
    /// Opens the device at this index, counted from 0.
    ///
    /// # Errors
    /// [`Unavailable::NoCompiler`] if the kernels were not compiled,
    /// [`Unavailable::NoSuchDevice`], and [`Unavailable::StaleImage`] if the kernels do not have the requested
    /// fingerprint.
    pub(crate) fn new(index: usize, emulation: &Emulation) -> Result<Self, Unavailable> {
        let found = Self::fingerprint().ok_or(Unavailable::NoCompiler)?;
        let (number, name) = ((index, emulation.devices), "emulated device");
        let gpu = SimulatedGpu::new(number, name, Kind::Emulated, emulation.bytes)?;
        if let Some(expected) = emulation.fingerprint.filter(|expected| *expected != found) {
            let found = format!("{found:#018x}");
            return Err(Unavailable::StaleImage { expected, found });
        }
        let random = || std::hash::RandomState::new().build_hasher().finish();
        Ok(EmulatedDevice {
            gpu,
            emulation: emulation.clone(),
            noise: Cell::new(emulation.noise.unwrap_or_else(random)),
        })
    }

    /// The fingerprint of the kernels; `None` if they were not compiled.
    pub fn fingerprint() -> Option<u64> {
        image::fingerprint()
    }

    /// The seed of the next buffer's initial content.
    fn noise(&self) -> u64 {
        let noise = self.noise.get();
        self.noise.set(noise.wrapping_add(0x9e37_79b9_7f4a_7c15));
        noise
    }

    /// Runs a kernel; errors call it by this name.
    fn run(
        &self,
        kernel: image::Kernel,
        name: &'static str,
        launch: &Launch<'_, Buffer>,
    ) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let given: Vec<_> = launch
            .arguments
            .iter()
            .map(|argument| match argument {
                Argument::Buffer(buffer) => RawArgument::Memory(buffer.block.address()),
                Argument::Number(number) => RawArgument::Number(*number),
            })
            .collect();
        let (order, seed) = match self.emulation.order {
            LaneOrder::Ascending => (0, 0),
            LaneOrder::Descending => (1, 0),
            LaneOrder::Random(seed) => (2, seed),
        };
        let settings = Settings {
            blocks: launch.blocks,
            threads: launch.threads,
            shared_bytes: launch.shared_bytes,
            most_shared_bytes: self.gpu.information.shared_bytes,
            order,
            seed,
            fill: self.noise(),
            patience: self.emulation.patience,
        };
        kernel
            .launch(&given, &settings)
            .map_err(|refusal| match refusal {
                Refusal::Launch(reason) => DeviceError::Launch {
                    kernel: name,
                    reason,
                },
                Refusal::Kernel(reason) => self.gpu.failed(name, reason),
            })
    }
}

impl Device for EmulatedDevice {
    type Buffer = Buffer;
    type Event = Instant;

    fn information(&self) -> &Information {
        &self.gpu.information
    }

    fn new_stream(&self) -> Result<Self, DeviceError> {
        Ok(EmulatedDevice {
            gpu: self.gpu.new_stream()?,
            emulation: self.emulation.clone(),
            noise: Cell::new(self.noise().rotate_left(32)),
        })
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        self.gpu.memory()
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer, DeviceError> {
        let bytes = bytes.max(1);
        let reservation = self.gpu.reserve(bytes)?;
        match memory::Block::new(bytes, self.noise()) {
            Some(block) => Ok(Buffer {
                block,
                _reservation: reservation,
            }),
            None => Err(self.gpu.no_memory(reservation)),
        }
    }

    fn discard(&self, buffer: &mut Buffer) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        buffer.block.fill(self.noise());
        Ok(())
    }

    fn upload(&self, from: &[u8], to: &mut Buffer, at: usize) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let length = to.block.bytes();
        within(to.block.write(at, from), at, from.len(), length)
    }

    fn download(&self, from: &Buffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        within(from.block.read(at, to), at, to.len(), from.block.bytes())
    }

    fn copy(&self, from: &Buffer, to: &mut Buffer, bytes: usize) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let length = from.block.bytes().min(to.block.bytes());
        within(to.block.copy(&from.block, bytes), 0, bytes, length)
    }

    fn clear(&self, buffer: &mut Buffer) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        buffer.block.clear();
        Ok(())
    }

    fn launch(&self, launch: &Launch<'_, Buffer>) -> Result<(), DeviceError> {
        let name = launch.entry.symbol();
        let kernel = image::Kernel::named(name).ok_or_else(|| DeviceError::Launch {
            kernel: name,
            reason: "the image has no kernel of this name".to_owned(),
        })?;
        self.run(kernel, name, launch)
    }

    fn record(&self) -> Result<Instant, DeviceError> {
        self.gpu.check_alive()?;
        Ok(Instant::now())
    }

    fn elapsed(&self, from: &Instant, to: &Instant) -> Result<Duration, DeviceError> {
        self.gpu.check_alive()?;
        Ok(to.saturating_duration_since(*from))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.gpu.check_alive()
    }
}

#[cfg(test)]
#[cfg(emulated)]
mod tests;

#[cfg(test)]
#[cfg(not(emulated))]
mod tests {
    use super::*;

    #[test]
    fn without_a_compiler_there_is_no_device() {
        assert_eq!(EmulatedDevice::fingerprint(), None);
        assert_eq!(
            EmulatedDevice::new(0, &Emulation::default()).unwrap_err(),
            Unavailable::NoCompiler
        );
    }
}
