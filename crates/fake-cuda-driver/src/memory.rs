//! [`Memory`]: the allocations on a GPU.

use std::collections::BTreeMap;

use gpu_kernels::device::{Argument, Device as _, DeviceError, Entry};
use gpu_sim::interpreted::{Buffer, InterpretedDevice};

use crate::Outcome;
use crate::code;
use crate::stream::{Launch, Parameter};

/// The address of the first allocation.
const FIRST_ADDRESS: u64 = 0x7f00_0000_0000;

/// The alignment of allocations.
const ALIGNMENT: u64 = 256;

/// Allocations by address; no address is used twice.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The device that the memory is allocated on.
    device: InterpretedDevice,
    allocations: BTreeMap<u64, Allocation>,
    next: u64,
    /// The most bytes that were allocated at any time.
    pub(crate) peak: u64,
}

#[derive(Debug)]
struct Allocation {
    buffer: Buffer,
    bytes: usize,
}

/// The driver's code for an error of an interpreted device.
fn code_of(error: &DeviceError) -> i32 {
    match error {
        DeviceError::OutOfMemory { .. } => code::OUT_OF_MEMORY,
        _ => code::INVALID_VALUE,
    }
}

impl Memory {
    pub(crate) fn new(device: InterpretedDevice) -> Self {
        Self {
            device,
            allocations: BTreeMap::new(),
            next: FIRST_ADDRESS,
            peak: 0,
        }
    }

    /// Bytes free, and in all.
    pub(crate) fn free_and_total(&self) -> Outcome<(u64, u64)> {
        let memory = self.device.memory().map_err(|error| code_of(&error))?;
        Ok((memory.free, memory.total))
    }

    /// The number of allocations.
    pub(crate) fn allocations(&self) -> usize {
        self.allocations.len()
    }

    pub(crate) fn allocate(&mut self, bytes: usize) -> Outcome<u64> {
        if bytes == 0 {
            return Err(code::INVALID_VALUE);
        }
        let buffer = self.device.allocate(bytes);
        let buffer = buffer.map_err(|error| code_of(&error))?;
        let (free, total) = self.free_and_total()?;
        self.peak = self.peak.max(total - free);
        let address = self.next;
        // The byte after the end of an allocation is in no other allocation.
        self.next = (address + bytes as u64 + 1).next_multiple_of(ALIGNMENT);
        self.allocations
            .insert(address, Allocation { buffer, bytes });
        Ok(address)
    }

    pub(crate) fn free(&mut self, address: u64) -> Outcome<()> {
        let removed = self.allocations.remove(&address);
        removed.map(drop).ok_or(code::INVALID_VALUE)
    }

    /// The start of the allocation that contains this range.
    pub(crate) fn allocation_of(&self, address: u64, bytes: usize) -> Outcome<u64> {
        let mut before = self.allocations.range(..=address);
        let (start, found) = before.next_back().ok_or(code::INVALID_VALUE)?;
        let end = ((address - start) as usize).checked_add(bytes);
        let within = end.is_some_and(|end| end <= found.bytes);
        within.then_some(*start).ok_or(code::INVALID_VALUE)
    }

    pub(crate) fn read(&self, from: u64, to: &mut [u8]) -> Outcome<()> {
        let start = self.allocation_of(from, to.len())?;
        let found = self.allocations.get(&start).ok_or(code::INVALID_VALUE)?;
        let read = self
            .device
            .download(&found.buffer, (from - start) as usize, to);
        read.map_err(|error| code_of(&error))
    }

    pub(crate) fn write(&mut self, to: u64, from: &[u8]) -> Outcome<()> {
        let start = self.allocation_of(to, from.len())?;
        let found = self
            .allocations
            .get_mut(&start)
            .ok_or(code::INVALID_VALUE)?;
        let at = (to - start) as usize;
        let written = self.device.upload(from, &mut found.buffer, at);
        written.map_err(|error| code_of(&error))
    }

    /// Instead of running a kernel, writes verdicts, if it returns any: every evaluation is done and wrong.
    pub(crate) fn skip(&mut self, launch: &Launch) -> Outcome<()> {
        if launch.entry != Entry::Programs {
            return Ok(());
        }
        let mut parameters = launch.entry.parameters().iter();
        let at = parameters.position(|parameter| parameter.name == "verdicts");
        let verdicts = at.and_then(|at| launch.parameters.get(at));
        let Some(Parameter::Address(address)) = verdicts else {
            return Err(code::INVALID_VALUE);
        };
        let found = self.allocations.get(address);
        let bytes = found.ok_or(code::ILLEGAL_ADDRESS)?.bytes;
        self.write(*address, &vec![0; bytes])
    }

    /// Runs a kernel; the error says which rule it broke.
    pub(crate) fn launch(&self, device: &InterpretedDevice, launch: &Launch) -> Result<(), String> {
        let arguments = launch.parameters.iter().map(|parameter| match parameter {
            Parameter::Number(number) => Ok(Argument::Number(*number)),
            Parameter::Address(address) => {
                let found = self.allocations.get(address);
                let found = found.map(|found| Argument::Buffer(&found.buffer));
                found.ok_or_else(|| format!("nothing is allocated at {address:#x}"))
            }
        });
        let launch = gpu_kernels::device::Launch {
            entry: launch.entry,
            blocks: launch.blocks,
            threads: launch.threads,
            shared_bytes: launch.shared_bytes,
            arguments: arguments.collect::<Result<_, _>>()?,
        };
        device.launch(&launch).map_err(|error| error.to_string())
    }
}
