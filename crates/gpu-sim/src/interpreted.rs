//! [`InterpretedDevice`]: interprets the embedded PTX.
//!
//! It executes the PTX that a GPU's driver would compile, 32 lanes in lockstep, without a
//! GPU or a compiler. It checks what a GPU does not: that all lanes that a collective names
//! are active, that no lane uses a word that another has written since the last barrier, that nothing
//! is read before it is written, that accesses are aligned and stay within their buffer and a warp
//! within its part of shared memory, and that a warp terminates. It also
//! [counts](InterpretedDevice::take_counts) what it executes.
//!
//! `tokens`, `names`, `decode` and `parse` parse the text into a [`Module`]; `flow` computes where lanes
//! reconverge; `warp`, `branches`, `execute`, `access` and `compute` run it on `memory`.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gpu_kernels::device::image::{Image, PTX};
use gpu_kernels::device::{
    Argument, Device, DeviceError, Information, Kind, Launch, Memory, Unavailable,
};

use crate::simulated::{Reservation, SimulatedGpu, within};
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

pub use counts::{Counts, Issued, Kind as InstructionKind, OperationRun, PartCounts, Traffic};
pub use error::ParseError;
pub use module::{Module, Part};

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

/// A GPU with one multiprocessor, interpreted on the thread that launches.
#[derive(Debug)]
pub struct InterpretedDevice {
    gpu: SimulatedGpu,
    interpretation: Interpretation,
    module: Arc<Module>,
    machine: RefCell<Machine>,
    counts: RefCell<Counts>,
    time: Cell<Duration>,
}

/// Memory of an interpreted device. A launch can access only the buffers among its arguments.
#[derive(Debug)]
pub struct Buffer {
    content: RefCell<Bytes>,
    _reservation: Reservation,
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
        let mut gpu = SimulatedGpu::new(number, name, Kind::Interpreted, interpretation.bytes)?;
        gpu.information.shared_bytes = interpretation.shared_bytes;
        let module = if let Some(module) = &interpretation.module {
            Arc::clone(module)
        } else {
            let found = Image::new(PTX).fingerprint();
            if found != Some(fingerprint) {
                let found = found.map_or("none".to_owned(), |found| format!("{found:#018x}"));
                let expected = fingerprint;
                return Err(Unavailable::StaleImage { expected, found });
            }
            embedded_module()?
        };
        Ok(InterpretedDevice {
            gpu,
            machine: RefCell::new(Machine::new(&module)),
            counts: RefCell::new(Counts::new(&module)),
            module,
            interpretation: interpretation.clone(),
            time: Cell::default(),
        })
    }

    /// Returns the counts since the last call, and resets them; other streams have their own.
    pub fn take_counts(&self) -> Counts {
        self.counts.replace(Counts::new(&self.module))
    }

    /// The module that it executes.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// How long its launches took on the host.
    pub fn time(&self) -> Duration {
        self.time.get()
    }

    /// The index of the entry; fails if the launch does not fit it.
    fn entry_of(&self, name: &str, launch: &Launch<'_, Buffer>) -> Result<usize, String> {
        let entry = self.module.entry(name);
        let entry = entry.ok_or("the image has no kernel of this name")?;
        let parameters = &self.module.functions[entry].parameters;
        let sizes = launch.arguments.iter().map(|argument| match argument {
            Argument::Buffer(_) => 8,
            Argument::Number(_) => 4,
        });
        if !parameters.iter().map(|parameter| parameter.bytes).eq(sizes) {
            return Err("the arguments do not match its parameters".to_owned());
        }
        let threads = launch.threads;
        if launch.blocks == 0 || threads == 0 || threads & 31 != 0 || threads > 1024 {
            return Err(format!("{} blocks of {threads} threads", launch.blocks));
        }
        let most = self.gpu.information.shared_bytes;
        if launch.shared_bytes > most {
            let asked = launch.shared_bytes;
            return Err(format!("{asked} bytes of shared memory, of {most} at most"));
        }
        Ok(entry)
    }

    /// Runs a kernel. Moves the buffers among its arguments into the kernel's memory, and back afterwards.
    fn run(&self, entry: usize, launch: &Launch<'_, Buffer>) -> Result<(), error::Fault> {
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
            steps: self.interpretation.steps,
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
    fn fault_message(&self, fault: error::Fault) -> String {
        let error::Fault {
            pc,
            lane,
            violation,
        } = fault;
        let instruction = self.module.code.get(pc as usize);
        let line = instruction.map_or(0, |instruction| instruction.line);
        let text = self.module.line(line);
        format!("line {line} (`{text}`), lane {lane}: {violation}")
    }
}

impl Device for InterpretedDevice {
    type Buffer = Buffer;
    type Event = Instant;

    fn information(&self) -> &Information {
        &self.gpu.information
    }

    fn new_stream(&self) -> Result<Self, DeviceError> {
        Ok(InterpretedDevice {
            gpu: self.gpu.new_stream()?,
            interpretation: self.interpretation.clone(),
            module: Arc::clone(&self.module),
            machine: RefCell::new(Machine::new(&self.module)),
            counts: RefCell::new(Counts::new(&self.module)),
            time: Cell::default(),
        })
    }

    fn memory(&self) -> Result<Memory, DeviceError> {
        self.gpu.memory()
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer, DeviceError> {
        let bytes = bytes.max(1);
        let reservation = self.gpu.reserve(bytes)?;
        Ok(Buffer {
            content: RefCell::new(Bytes::new(bytes)),
            _reservation: reservation,
        })
    }

    fn discard(&self, buffer: &mut Buffer) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        buffer.content.get_mut().mark_unwritten();
        Ok(())
    }

    fn upload(&self, from: &[u8], to: &mut Buffer, at: usize) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let to = to.content.get_mut();
        within(to.write(at, from), at, from.len(), to.bytes.len())
    }

    fn download(&self, from: &Buffer, at: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let from = from.content.borrow();
        within(from.read(at, to), at, to.len(), from.bytes.len())
    }

    fn copy(&self, from: &Buffer, to: &mut Buffer, bytes: usize) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let (from, to) = (from.content.borrow(), to.content.get_mut());
        let length = from.bytes.len().min(to.bytes.len());
        within(to.copy(&from, bytes), 0, bytes, length)
    }

    fn clear(&self, buffer: &mut Buffer) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let content = buffer.content.get_mut();
        *content = Bytes::of(vec![0; content.bytes.len()]);
        Ok(())
    }

    fn launch(&self, launch: &Launch<'_, Buffer>) -> Result<(), DeviceError> {
        self.gpu.check_alive()?;
        let kernel = launch.entry.symbol();
        let entry = self.entry_of(kernel, launch);
        let entry = entry.map_err(|reason| DeviceError::Launch { kernel, reason })?;
        let begin = Instant::now();
        let done = self.run(entry, launch);
        self.time.set(self.time.get() + begin.elapsed());
        done.map_err(|fault| {
            let reason = self.fault_message(fault);
            self.gpu.failed(kernel, reason)
        })
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
mod tests;
