//! [`InterpretedDevice`]: interprets the embedded PTX.
//!
//! It executes the PTX that a GPU's driver would compile, 32 lanes in lockstep, without a
//! GPU or a compiler. It checks what a GPU does not: that all lanes that a collective names
//! are active, that no lane uses a word that another has written since the last barrier, that nothing
//! is read before it is written, that accesses are aligned and stay within their buffer and a warp
//! within its part of shared memory, and that a warp terminates. It also
//! [counts](InstructionCounts) what it executes.
//!
//! `tokens`, `names`, `decode` and `parse` parse the text into a [`Module`]; `flow` computes where lanes
//! reconverge; `warp`, `branches`, `execute`, `access` and `compute` run it on `memory`.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gpu_kernels::device::image::{Image, PTX};
use gpu_kernels::device::{Argument, DeviceError, DeviceKind, Launch, Unavailable};

use crate::simulated::{self, Kernels, SimulatedDevice, SimulatedGpu};
use memory::{Bytes, Region};
use warp::Machine;

mod access;
mod branches;
mod compute;
mod counts;
mod decode;
mod error;
mod execute;
mod flow;
mod memory;
mod module;
mod names;
mod parse;
mod tokens;
mod warp;

pub use counts::InstructionCounts;
pub use error::ParseError;
pub use module::Module;

/// Settings of interpreted devices.
#[derive(Debug, Clone)]
pub struct Interpretation {
    /// How many devices there are.
    pub devices: usize,
    /// Bytes of memory of each.
    pub bytes: u64,
    /// Bytes of shared memory that a block may use.
    pub shared_bytes: u32,
    /// The most instructions that a warp executes in one launch.
    pub steps: u64,
    /// The module to execute; `None` for the embedded PTX.
    pub module: Option<Arc<Module>>,
}

impl Default for Interpretation {
    /// One device of a gigabyte, with the embedded PTX, 48 KiB of shared memory per block, and 2^32
    /// instructions per warp.
    fn default() -> Self {
        Interpretation {
            devices: 1,
            bytes: 1 << 30,
            shared_bytes: 48 << 10,
            steps: 1 << 32,
            module: None,
        }
    }
}

/// The embedded PTX, parsed once.
fn embedded_module() -> Result<Arc<Module>, Unavailable> {
    static MODULE: OnceLock<Result<Arc<Module>, ParseError>> = OnceLock::new();
    let module = MODULE.get_or_init(|| Module::parse(PTX).map(Arc::new));
    module.clone().map_err(|error| Unavailable::UnknownPtx {
        what: error.to_string(),
    })
}

/// A GPU whose PTX is interpreted.
pub type InterpretedDevice = SimulatedDevice<Interpreter>;

/// Memory of an interpreted device.
pub type Buffer = simulated::Buffer<Bytes>;

/// Executes the PTX.
#[derive(Debug)]
pub struct Interpreter {
    steps: u64,
    module: Arc<Module>,
    machine: RefCell<Machine>,
    counts: RefCell<InstructionCounts>,
    time: Cell<Duration>,
}

impl InterpretedDevice {
    /// Opens the device at this index, counted from 0.
    ///
    /// # Errors
    /// [`Unavailable::NoSuchDevice`]; [`Unavailable::UnknownPtx`] with the unsupported instructions;
    /// [`Unavailable::StaleImage`] if the embedded PTX has another fingerprint.
    pub(crate) fn new(
        index: usize,
        interpretation: &Interpretation,
        fingerprint: u64,
    ) -> Result<Self, Unavailable> {
        let (number, name) = ((index, interpretation.devices), "interpreted PTX");
        let mut gpu =
            SimulatedGpu::new(number, name, DeviceKind::Interpreted, interpretation.bytes)?;
        gpu.information.shared_bytes = interpretation.shared_bytes;
        let module = if let Some(module) = &interpretation.module {
            Arc::clone(module)
        } else {
            Image::new(PTX).check(fingerprint)?;
            embedded_module()?
        };
        let kernels = Interpreter::new(interpretation.steps, module);
        Ok(Self { gpu, kernels })
    }

    /// Returns the counts since the last call, and resets them; other streams have their own.
    pub fn take_counts(&self) -> InstructionCounts {
        let Interpreter { counts, module, .. } = &self.kernels;
        counts.replace(InstructionCounts::new(module))
    }

    /// The module that it executes.
    pub fn module(&self) -> &Module {
        &self.kernels.module
    }

    /// How long its launches took on the host.
    pub fn time(&self) -> Duration {
        self.kernels.time.get()
    }
}

impl Interpreter {
    fn new(steps: u64, module: Arc<Module>) -> Self {
        Self {
            steps,
            machine: RefCell::new(Machine::new(&module)),
            counts: RefCell::new(InstructionCounts::new(&module)),
            module,
            time: Cell::default(),
        }
    }

    /// The index of the entry; fails if the launch does not fit it, or asks for more than this many bytes of shared
    /// memory.
    fn entry_of(&self, most: u32, launch: &Launch<'_, Buffer>) -> Result<usize, String> {
        let entry = self.module.entry(launch.entry.symbol());
        let entry = entry.ok_or("the image has no kernel of this name")?;
        let parameters = &self.module.functions[entry].parameters;
        let sizes = launch.arguments.iter().map(|argument| match argument {
            Argument::Buffer(_) => 8,
            Argument::Number(_) => 4,
        });
        if !parameters.iter().map(|parameter| parameter.bytes).eq(sizes) {
            return Err("the arguments do not match its parameters".to_owned());
        }
        launch.check(most)?;
        Ok(entry)
    }

    /// Runs a kernel. Moves the buffers among its arguments into the kernel's memory, and back afterwards.
    fn run(&self, entry: usize, launch: &Launch<'_, Buffer>) -> Result<(), error::LaneFault> {
        let shared = Bytes::new(launch.shared_bytes as usize);
        let data = Bytes::of(self.module.data.clone());
        let mut memory = memory::Memory {
            regions: vec![Region::new(shared, false), Region::new(data, true)],
        };
        let fixed = memory.regions.len();
        let mut buffers: Vec<&Buffer> = Vec::new();
        let mut arguments = Vec::with_capacity(launch.arguments.len());
        for argument in &launch.arguments {
            arguments.push(match argument {
                Argument::Number(number) => u64::from(*number),
                Argument::Buffer(buffer) => {
                    let known = buffers
                        .iter()
                        .position(|other| std::ptr::eq(*other, *buffer));
                    let number = known.unwrap_or_else(|| {
                        let content = buffer.content.take();
                        memory.regions.push(Region::new(content, false));
                        buffers.push(buffer);
                        buffers.len() - 1
                    });
                    memory::Memory::address(fixed + number)
                }
            });
        }
        let launch = warp::Launch {
            entry,
            blocks: launch.blocks,
            threads: launch.threads,
            arguments: &arguments,
            steps: self.steps,
        };
        let mut machine = self.machine.borrow_mut();
        let mut counts = self.counts.borrow_mut();
        let done = machine.launch(&self.module, &launch, &mut memory, &mut counts);
        for (buffer, region) in buffers.into_iter().zip(memory.regions.drain(fixed..)) {
            buffer.content.replace(region.content);
        }
        done
    }

    /// The message for a fault: its line, its lane and the violation.
    fn fault_message(&self, error::LaneFault(pc, lane, violation): error::LaneFault) -> String {
        let instruction = self.module.code.get(pc as usize);
        let line = instruction.map_or(0, |instruction| instruction.line);
        let text = self.module.line(line);
        format!("line {line} (`{text}`), lane {lane}: {violation}")
    }
}

impl Kernels for Interpreter {
    type Content = Bytes;

    fn new_stream(&self) -> Self {
        Self::new(self.steps, Arc::clone(&self.module))
    }

    fn allocate(&self, bytes: usize) -> Option<Bytes> {
        Some(Bytes::new(bytes))
    }

    fn discard(&self, bytes: &mut Bytes) {
        bytes.mark_unwritten();
    }

    fn launch(&self, gpu: &SimulatedGpu, launch: &Launch<'_, Buffer>) -> Result<(), DeviceError> {
        let kernel = launch.entry.symbol();
        let entry = self.entry_of(gpu.information.shared_bytes, launch);
        let entry = entry.map_err(|reason| DeviceError::Launch { kernel, reason })?;
        let begin = Instant::now();
        let done = self.run(entry, launch);
        self.time.set(self.time.get() + begin.elapsed());
        done.map_err(|fault| gpu.failed(kernel, self.fault_message(fault)))
    }
}

#[cfg(test)]
mod tests;
