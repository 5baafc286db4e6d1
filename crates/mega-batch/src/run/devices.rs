//! [`Devices`]: the devices of this machine, and the selection of those that a run uses.
//!
//! [`gpu_kernels::device::open`] opens GPUs, [`simulated`] opens simulated devices.

use std::panic::catch_unwind;

use arc_dsl::Program;
use gpu_kernels::DeviceProgram;
use gpu_kernels::device::{Device as _, Information, Memory, Unavailable, open};
use gpu_kernels::interface::Representation;
use gpu_sched::MOST_DEVICES;

use crate::run::panics::PANIC;

pub mod simulated;

/// Reasons why no device runs a program.
pub(crate) const NO_GRID: &str = "a result that is no grid";
const SHARED: &str = "more values at a time than a block has memory for";

/// The program encoded for a device with so much shared memory for an evaluation, or why the host runs it.
///
/// Results that are not grids have more types on the host than representations on the device, and are right on no
/// pair.
pub(crate) fn encoded(program: &Program, shared_bytes: u32) -> Result<DeviceProgram, String> {
    let encode = || {
        let form = arc_form::specialise(program).map_err(|error| error.reason.to_string())?;
        gpu_kernels::encode(&form).map_err(|reason| reason.summary())
    };
    let encoded = catch_unwind(encode).unwrap_or_else(|_| Err(PANIC.to_owned()))?;
    if encoded.gives() != Representation::Grid {
        Err(NO_GRID.to_owned())
    } else if encoded.pool_bytes() > shared_bytes {
        Err(SHARED.to_owned())
    } else {
        Ok(encoded)
    }
}

/// The machine without its devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The processor's name, or its architecture if the system does not report the name.
    pub cpu: String,
    /// How many threads run at the same time.
    pub threads: usize,
    /// Its memory, if the system reports it.
    pub memory: Option<Memory>,
}

impl Host {
    /// This machine.
    pub fn this() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self {
            cpu: cpu_name(&info).unwrap_or(std::env::consts::ARCH).to_owned(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory_of(&memory),
        }
    }
}

fn cpu_name(info: &str) -> Option<&str> {
    let mut lines = info.lines();
    let named = lines.find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    named
        .map(|(_, name)| name.trim())
        .filter(|name| !name.is_empty())
}

fn memory_of(info: &str) -> Option<Memory> {
    let bytes = |name: &str| -> Option<u64> {
        let mut lines = info.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kilobytes.checked_mul(1024)
    };
    Some(Memory {
        free: bytes("MemAvailable")?,
        total: bytes("MemTotal")?,
    })
}

/// The description of each GPU by number, or why it cannot be used; or why no GPU can be used at all.
pub type Gpus = Result<Vec<Result<Information, Unavailable>>, Unavailable>;

/// The devices of a machine, as far as known without opening them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Devices {
    /// NVIDIA GPUs.
    pub gpus: Gpus,
    /// The device that the CPU emulates.
    pub emulated: Result<Information, Unavailable>,
}

/// The devices that a run asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Request {
    /// Every GPU that can be used.
    #[default]
    AllGpus,
    /// At most this many GPUs: the first usable ones.
    Gpus(usize),
    /// The CPU only.
    NoDevice,
    /// The emulated device instead of a GPU.
    Emulated,
    /// The interpreted device instead of a GPU.
    Interpreted,
}

/// Identifies a device to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceId {
    /// The GPU of this number.
    Gpu(usize),
    /// The emulated device.
    Emulated,
    /// The interpreted device.
    Interpreted,
}

/// The devices that a run uses besides the CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The devices; none if the CPU does everything.
    pub devices: Vec<DeviceId>,
    /// Their names, and why no others, in one line.
    pub why: String,
}

/// The GPUs of this machine; an error if the driver gives no answer.
pub fn gpus() -> Gpus {
    open::within(open::TIME_LIMIT, open::gpus)?
}

impl Devices {
    /// Those of this machine.
    pub fn here() -> Self {
        let emulated = simulated::emulated();
        Self {
            gpus: gpus(),
            emulated: emulated.map(|device| device.information().clone()),
        }
    }

    /// Selects the devices for a run.
    pub fn select(&self, request: Request) -> Selection {
        let most = match request {
            Request::AllGpus => usize::MAX,
            Request::Gpus(most) => most,
            Request::NoDevice => 0,
            Request::Emulated => {
                return match &self.emulated {
                    Ok(_) => Selection {
                        devices: vec![DeviceId::Emulated],
                        why: "the emulated device: the CPU runs the kernels in the place of a GPU"
                            .to_owned(),
                    },
                    Err(reason) => cpu_alone(&reason.to_string()),
                };
            }
            Request::Interpreted if !cfg!(feature = "simulated") => {
                return cpu_alone(&Unavailable::NotSimulated.to_string());
            }
            Request::Interpreted => {
                return Selection {
                    devices: vec![DeviceId::Interpreted],
                    why: "the interpreted device: the CPU executes the PTX in the place of a GPU"
                        .to_owned(),
                };
            }
        };
        if most == 0 {
            return cpu_alone("no GPU was asked for");
        }
        let gpus = match &self.gpus {
            Ok(gpus) => gpus,
            Err(reason) => return cpu_alone(&reason.to_string()),
        };
        let (mut usable, mut remarks) = (Vec::new(), Vec::new());
        for (number, gpu) in gpus.iter().enumerate() {
            match gpu {
                Ok(gpu) => usable.push((number, gpu)),
                Err(reason) => remarks.push(format!("GPU {number} cannot be used: {reason}")),
            }
        }
        // The host is an executor, too.
        let taken = &usable[..usable.len().min(most).min(MOST_DEVICES)];

        if taken.is_empty() {
            if remarks.is_empty() {
                remarks.push(Unavailable::NoDevice.to_string());
            }
            return cpu_alone(&remarks.join("; "));
        }
        if taken.len() < usable.len() {
            remarks.push(if taken.len() == most {
                "no more were asked for".to_owned()
            } else {
                format!("a run takes {MOST_DEVICES} at most")
            });
        } else if most != usize::MAX && taken.len() < most {
            remarks.push(format!("{most} were asked for"));
        }
        let names: Vec<&str> = taken.iter().map(|(_, gpu)| gpu.name.as_str()).collect();
        let named = format!("{}: {}", counted(taken.len(), gpus.len()), names.join(", "));
        remarks.insert(0, named);
        let devices = taken.iter().map(|(number, _)| DeviceId::Gpu(*number));
        Selection {
            devices: devices.collect(),
            why: remarks.join("; "),
        }
    }
}

fn cpu_alone(reason: &str) -> Selection {
    Selection {
        devices: Vec::new(),
        why: format!("the CPU alone: {reason}"),
    }
}

fn counted(taken: usize, all: usize) -> String {
    let gpus = if all == 1 { "GPU" } else { "GPUs" };
    if taken == all {
        format!("{all} {gpus}")
    } else {
        format!("{taken} of {all} {gpus}")
    }
}

#[cfg(test)]
mod tests {
    use gpu_kernels::device;

    use super::*;

    /// A GPU of this name; a K80 is too old.
    fn gpu(name: &str) -> Result<Information, Unavailable> {
        if name == "Tesla K80" {
            return Err(Unavailable::TooOld {
                name: name.to_owned(),
                found: (3, 7),
                needed: (6, 0),
            });
        }
        Ok(Information {
            name: name.to_owned(),
            kind: device::DeviceKind::Cuda,
            capability: (7, 5),
            multiprocessors: 40,
            warps: 32,
            shared_bytes: 65_536,
            multiprocessor_shared_bytes: 65_536,
            bytes: 16 << 30,
            driver: Some((12, 2)),
        })
    }

    fn devices(gpus: Gpus) -> Devices {
        Devices {
            gpus,
            emulated: gpu("emulated device"),
        }
    }

    fn check(gpus: Gpus, request: Request, numbers: &[usize], why: &str) {
        let selection = devices(gpus).select(request);
        let numbers: Vec<_> = numbers
            .iter()
            .map(|&number| DeviceId::Gpu(number))
            .collect();
        assert_eq!((selection.devices, selection.why.as_str()), (numbers, why));
    }

    #[test]
    fn all_gpus_that_can_be_used_are_taken() {
        let all = Request::AllGpus;
        check(Ok(vec![gpu("Tesla T4")]), all, &[0], "1 GPU: Tesla T4");
        check(
            Ok(vec![gpu("Tesla T4"), gpu("NVIDIA L4")]),
            all,
            &[0, 1],
            "2 GPUs: Tesla T4, NVIDIA L4",
        );
        check(
            Ok(vec![gpu("Tesla K80"), gpu("Tesla T4")]),
            all,
            &[1],
            "1 of 2 GPUs: Tesla T4; GPU 0 cannot be used: Tesla K80 has compute capability 3.7; \
             6.0 is needed",
        );
    }

    #[test]
    fn where_no_gpu_can_be_used_the_reason_is_told() {
        for request in [Request::AllGpus, Request::Gpus(2)] {
            check(
                Err(Unavailable::NoDriverLibrary),
                request,
                &[],
                "the CPU alone: no NVIDIA driver: the library libcuda is not found",
            );
            check(
                Ok(vec![gpu("Tesla K80")]),
                request,
                &[],
                "the CPU alone: GPU 0 cannot be used: Tesla K80 has compute capability 3.7; 6.0 is \
                 needed",
            );
            check(
                Ok(Vec::new()),
                request,
                &[],
                "the CPU alone: the NVIDIA driver finds no GPU",
            );
        }
    }

    #[test]
    fn no_more_gpus_are_taken_than_were_asked_for() {
        let two = || Ok(vec![gpu("Tesla T4"), gpu("NVIDIA L4")]);
        check(
            two(),
            Request::Gpus(1),
            &[0],
            "1 of 2 GPUs: Tesla T4; no more were asked for",
        );
        check(
            two(),
            Request::Gpus(2),
            &[0, 1],
            "2 GPUs: Tesla T4, NVIDIA L4",
        );
        check(
            two(),
            Request::Gpus(3),
            &[0, 1],
            "2 GPUs: Tesla T4, NVIDIA L4; 3 were asked for",
        );
        for none in [Request::NoDevice, Request::Gpus(0)] {
            check(two(), none, &[], "the CPU alone: no GPU was asked for");
        }
    }

    #[test]
    fn no_more_gpus_are_taken_than_a_scheduler_has_room_for() {
        let many = devices(Ok((0..70).map(|_| gpu("Tesla T4")).collect()));
        let selection = many.select(Request::AllGpus);
        assert_eq!(selection.devices.len(), MOST_DEVICES);
        assert!(selection.why.starts_with("64 of 70 GPUs: Tesla T4, "));
        assert!(selection.why.ends_with("; a run takes 64 at most"));
    }

    #[test]
    fn the_emulated_device_stands_in_for_a_gpu() {
        let mut devices = devices(Ok(vec![gpu("Tesla T4")]));
        let selection = devices.select(Request::Emulated);
        assert_eq!(selection.devices, [DeviceId::Emulated]);
        devices.emulated = Err(Unavailable::NoCompiler);
        let selection = devices.select(Request::Emulated);
        assert!(selection.devices.is_empty());
        assert!(
            selection
                .why
                .starts_with("the CPU alone: no emulated device: "),
            "{}",
            selection.why
        );
    }

    #[test]
    fn what_is_selected_here_can_be_opened() {
        let devices = Devices::here();
        let selection = devices.select(Request::Emulated);
        let opened = simulated::emulated();
        assert_eq!(selection.devices.len(), usize::from(opened.is_ok()));
        let gpus = devices.gpus.iter().flatten().flatten().count();
        assert_eq!(devices.select(Request::AllGpus).devices.len(), gpus);
    }

    #[test]
    fn the_host_is_read_from_what_the_system_tells() {
        let info = "processor\t: 0\nmodel name\t: AMD EPYC 7R13\nmodel name\t: other\n";
        assert_eq!(cpu_name(info), Some("AMD EPYC 7R13"));
        assert_eq!(cpu_name("model name\t:\nprocessor: 1"), None);
        let info = "MemTotal:  8000 kB\nMemFree: 10 kB\nMemAvailable:  500 kB\n";
        let memory = Memory {
            free: 512_000,
            total: 8_192_000,
        };
        assert_eq!(memory_of(info), Some(memory));
        assert_eq!(memory_of("MemTotal: x kB\nMemAvailable: 1 kB"), None);
        let host = Host::this();
        assert!(host.threads > 0 && !host.cpu.is_empty());
    }
}
