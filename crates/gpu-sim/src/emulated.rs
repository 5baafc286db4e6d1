//! [`EmulatedDevice`]: runs the kernels on the CPU.
//!
//! A C++ compiler, if one is found when this crate is built, compiles the sources under `kernels/`; each lane then runs
//! as a fiber. What is undefined behaviour on a GPU is an error here: lanes
//! that reach different collectives, a mask that names a lane which has exited, a deadlock. It
//! replaces a GPU in tests; it is not fast.

use std::cell::Cell;
use std::hash::{BuildHasher as _, Hasher as _};

use gpu_kernels::device::{Argument, DeviceError, DeviceKind, Launch, Unavailable};
use gpu_kernels::interface;

use crate::simulated::{self, Kernels, SimulatedDevice, SimulatedGpu};
use memory::Block;

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

        pub(super) fn launch(self, _: &[RawArgument], _: Settings) -> Result<(), Refusal> {
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
    /// The fingerprint that the kernels must have; `None` for that of this library.
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

/// A GPU that the kernels compiled for the host emulate.
pub type EmulatedDevice = SimulatedDevice<Emulator>;

/// Memory of an emulated device.
pub type Buffer = simulated::Buffer<Block>;

/// Runs the compiled kernels.
#[derive(Debug)]
pub struct Emulator {
    emulation: Emulation,
    noise: Cell<u64>,
}

/// An argument of a kernel.
#[cfg_attr(not(emulated), allow(dead_code, reason = "without kernels"))]
enum RawArgument {
    Memory(*mut u8),
    Number(u32),
}

/// The settings of one launch; the same fields are in `kernels/host/emulation.cpp`.
#[cfg_attr(not(emulated), allow(dead_code, reason = "without kernels"))]
#[derive(Clone, Copy)]
#[repr(C)]
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
        let gpu = SimulatedGpu::new(number, name, DeviceKind::Emulated, emulation.bytes)?;
        let own = emulation.fingerprint;
        let expected = own.unwrap_or_else(interface::fingerprint);
        if expected != found {
            let found = format!("{found:#018x}");
            return Err(Unavailable::StaleImage { expected, found });
        }
        let random = || std::hash::RandomState::new().build_hasher().finish();
        let kernels = Emulator {
            emulation: emulation.clone(),
            noise: Cell::new(emulation.noise.unwrap_or_else(random)),
        };
        Ok(Self { gpu, kernels })
    }

    /// The fingerprint of the kernels; `None` if they were not compiled.
    pub fn fingerprint() -> Option<u64> {
        image::fingerprint()
    }
}

impl Emulator {
    /// The seed of the next buffer's initial content.
    fn noise(&self) -> u64 {
        let noise = self.noise.get();
        self.noise.set(noise.wrapping_add(0x9e37_79b9_7f4a_7c15));
        noise
    }

    /// Runs a kernel; errors call it by this name.
    fn run(
        &self,
        gpu: &SimulatedGpu,
        kernel: image::Kernel,
        name: &'static str,
        launch: &Launch<'_, Buffer>,
    ) -> Result<(), DeviceError> {
        let given = launch.arguments.iter().map(|argument| match argument {
            Argument::Buffer(buffer) => RawArgument::Memory(buffer.content.borrow().address()),
            Argument::Number(number) => RawArgument::Number(*number),
        });
        let given: Vec<_> = given.collect();
        let (order, seed) = match self.emulation.order {
            LaneOrder::Ascending => (0, 0),
            LaneOrder::Descending => (1, 0),
            LaneOrder::Random(seed) => (2, seed),
        };
        let settings = Settings {
            blocks: launch.blocks,
            threads: launch.threads,
            shared_bytes: launch.shared_bytes,
            most_shared_bytes: gpu.information.shared_bytes,
            order,
            seed,
            fill: self.noise(),
            patience: self.emulation.patience,
        };
        let done = kernel.launch(&given, settings);
        done.map_err(|refusal| match refusal {
            Refusal::Launch(reason) => DeviceError::Launch {
                kernel: name,
                reason,
            },
            Refusal::Kernel(reason) => gpu.failed(name, reason),
        })
    }
}

impl Kernels for Emulator {
    type Content = Block;

    fn new_stream(&self) -> Self {
        Self {
            emulation: self.emulation.clone(),
            noise: Cell::new(self.noise().rotate_left(32)),
        }
    }

    fn allocate(&self, bytes: usize) -> Option<Block> {
        Block::new(bytes, self.noise())
    }

    fn discard(&self, block: &mut Block) {
        block.fill(self.noise());
    }

    fn launch(&self, gpu: &SimulatedGpu, launch: &Launch<'_, Buffer>) -> Result<(), DeviceError> {
        let name = launch.entry.symbol();
        let kernel = image::Kernel::named(name).ok_or_else(|| DeviceError::Launch {
            kernel: name,
            reason: "the image has no kernel of this name".to_owned(),
        })?;
        self.run(gpu, kernel, name, launch)
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
