//! The machine as commands report it, as text and in documents: [`MachineReport`], the host and its devices with
//! their memory.

use std::fmt::{self, Display, Formatter};

use gpu_kernels::device::{Device, Information, Memory, Unavailable, open};
use mega_batch::devices::{Devices, Host, simulated};
use mega_batch::escaped;
use serde::{Deserialize, Serialize};

use crate::table::thousands;

/// The executors of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MachineReport {
    pub(crate) host: HostReport,
    pub(crate) gpus: Vec<DeviceReport>,
    /// Why there is no GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) no_gpu: Option<String>,
    /// If it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) emulated: Option<DeviceReport>,
    /// If it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) interpreted: Option<DeviceReport>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostReport {
    pub(crate) cpu: String,
    pub(crate) threads: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<MemoryReport>,
}

/// Bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MemoryReport {
    pub(crate) free: u64,
    pub(crate) in_use: u64,
    pub(crate) total: u64,
}

impl From<Memory> for MemoryReport {
    fn from(Memory { free, total }: Memory) -> Self {
        let in_use = total.saturating_sub(free);
        Self {
            free,
            in_use,
            total,
        }
    }
}

/// A device, or why it cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum DeviceReport {
    Usable(Box<Usable>),
    Unusable { unusable: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usable {
    pub(crate) name: String,
    /// Major and minor.
    pub(crate) capability: (u32, u32),
    pub(crate) multiprocessors: u32,
    pub(crate) warps: u32,
    /// The CUDA version of the driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) driver: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<MemoryReport>,
    /// The suggested batch sizes, from and to.
    pub(crate) suggested_batch: (u64, u64),
}

impl DeviceReport {
    fn new(device: &Result<Information, Unavailable>, memory: Option<Memory>) -> Self {
        let device = match device {
            Ok(device) => device,
            Err(reason) => {
                let unusable = reason.to_string();
                return DeviceReport::Unusable { unusable };
            }
        };
        let batch = device.suggested_batch();
        DeviceReport::Usable(Box::new(Usable {
            name: device.name.clone(),
            capability: device.capability,
            multiprocessors: device.multiprocessors,
            warps: device.warps,
            driver: device.driver,
            memory: memory.map(Into::into),
            suggested_batch: (*batch.start(), *batch.end()),
        }))
    }
}

impl DeviceReport {
    /// A simulated device.
    fn of<D: Device>(device: Result<D, Unavailable>) -> Self {
        let memory = device.as_ref().ok().and_then(|device| device.memory().ok());
        Self::new(&device.map(|device| device.information().clone()), memory)
    }
}

impl MachineReport {
    /// The devices of this machine, and their description, with the simulated ones that are asked for. Opens every device
    /// once: only then is it known whether it takes the kernels, and how much of its memory is free.
    pub(crate) fn here(emulated: bool, interpreted: bool) -> (Devices, Self) {
        let (host, mut found) = (Host::this(), Devices::here());
        let mut gpus = Vec::new();
        for (number, gpu) in found.gpus.iter_mut().flatten().enumerate() {
            let mut free = None;
            if gpu.is_ok() {
                let memory = move || open::gpu(number).map(|device| device.memory().ok());
                match open::within(open::TIME_LIMIT, memory).flatten() {
                    Ok(memory) => free = memory,
                    Err(reason) => *gpu = Err(reason),
                }
            }
            gpus.push(DeviceReport::new(gpu, free));
        }
        let report = Self {
            host: HostReport {
                cpu: host.cpu,
                threads: host.threads,
                memory: host.memory.map(Into::into),
            },
            gpus,
            no_gpu: found.gpus.as_ref().err().map(ToString::to_string),
            emulated: emulated.then(|| DeviceReport::of(simulated::emulated())),
            interpreted: interpreted.then(|| DeviceReport::of(simulated::interpreted())),
        };
        (found, report)
    }
}

/// The width of a line's label.
const NAME: usize = 18;

/// Writes a line: a label and a value.
pub(crate) fn line(f: &mut Formatter<'_>, name: &str, value: impl Display) -> fmt::Result {
    // Names of devices come from drivers and files.
    writeln!(f, "{name:<NAME$}{}", escaped(&value.to_string()))
}

impl Display for MachineReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let threads = if self.host.threads == 1 {
            "thread"
        } else {
            "threads"
        };
        let host = format!("{}, {} {threads}", self.host.cpu, self.host.threads);
        line(f, "host", host)?;
        if let Some(memory) = &self.host.memory {
            line(f, "  memory", memory)?;
        }
        if let Some(reason) = &self.no_gpu {
            line(f, "GPUs", format_args!("none: {reason}"))?;
        }
        for (number, gpu) in self.gpus.iter().enumerate() {
            write_device(f, &format!("GPU {number}"), gpu)?;
        }
        if let Some(emulated) = &self.emulated {
            write_device(f, "emulated", emulated)?;
        }
        if let Some(interpreted) = &self.interpreted {
            write_device(f, "interpreted", interpreted)?;
        }
        Ok(())
    }
}

impl Display for MemoryReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [free, in_use, total] = [self.free, self.in_use, self.total].map(gibibytes);
        write!(f, "{free} free, {in_use} in use, {total} in all")
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

fn write_device(f: &mut Formatter<'_>, name: &str, device: &DeviceReport) -> fmt::Result {
    let device = match device {
        DeviceReport::Usable(device) => device,
        DeviceReport::Unusable { unusable } => {
            return line(f, name, format_args!("cannot be used: {unusable}"));
        }
    };
    let (major, minor) = device.capability;
    let driver = device.driver;
    let driver = driver.map_or(String::new(), |(major, minor)| {
        format!(", CUDA {major}.{minor}")
    });
    let about = format!(
        "{}, compute capability {major}.{minor}{driver}",
        device.name
    );
    line(f, name, about)?;
    if let Some(memory) = &device.memory {
        line(f, "  memory", memory)?;
    }
    let batch = range(device.suggested_batch);
    line(
        f,
        "  batches",
        format_args!("{batch} evaluations suggested"),
    )
}

/// A range of numbers as text.
pub(crate) fn range((from, to): (u64, u64)) -> String {
    if from == to {
        thousands(from)
    } else {
        format!("{} to {}", thousands(from), thousands(to))
    }
}
