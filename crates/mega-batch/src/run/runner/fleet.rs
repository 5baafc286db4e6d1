//! Opens the devices of a runner, and describes them to the scheduler.

use std::fmt;
use std::io;

use gpu_kernels::device::{DeviceKind, Information, Unavailable, open};
use gpu_sched::launcher::{Launcher, Open};
use gpu_sched::{DeviceDescription, Policy};

use super::device::{Fleet, Note};
use crate::batch::options::Options;
use crate::run::devices::{DeviceId, Devices, Request, Selection, simulated};
use crate::run::executors::Executors;

/// Adds a device to a fleet.
type Add = Box<dyn FnOnce(&mut Fleet, DeviceDescription) -> io::Result<()> + Send>;

/// An open device.
pub(super) struct OpenedDevice {
    information: Information,
    /// Bytes of free memory, if known.
    free: Option<u64>,
    add: Add,
}

impl fmt::Debug for OpenedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenedDevice")
            .field(&self.information)
            .finish()
    }
}

impl OpenedDevice {
    /// Bytes of shared memory that an evaluation may use.
    pub(super) fn shared_bytes(&self) -> u32 {
        self.information.shared_bytes
    }
}

/// The devices that could be opened, and why others could not.
#[derive(Debug, Default)]
pub(super) struct OpenedDevices {
    pub(super) devices: Vec<OpenedDevice>,
    pub(super) unavailable: Option<String>,
}

/// Opens the requested devices.
pub(super) fn devices(request: Request) -> OpenedDevices {
    let here = Devices::here();
    let Selection {
        devices: selected,
        why,
    } = here.select(request);
    let (mut opened, mut failures) = (Vec::new(), Vec::new());
    for selected in selected {
        let one = match selected {
            DeviceId::Emulated => device(Box::new(simulated::emulated)),
            DeviceId::Interpreted => device(Box::new(simulated::interpreted)),
            DeviceId::Gpu(index) => device(Box::new(move || open::gpu(index))),
        };
        match one {
            Ok(one) => opened.push(one),
            Err(reason) => failures.push(match selected {
                DeviceId::Gpu(index) => format!("GPU {index} is not used: {reason}"),
                DeviceId::Emulated | DeviceId::Interpreted => reason.to_string(),
            }),
        }
    }
    if opened.is_empty() {
        failures.insert(0, why);
    }
    OpenedDevices {
        devices: opened,
        unavailable: (!failures.is_empty()).then(|| failures.join("; ")),
    }
}

/// Opens a device; an error if it hangs.
pub(super) fn device<D>(open: Open<D>) -> Result<OpenedDevice, Unavailable>
where
    D: gpu_kernels::device::Device<Buffer: Send> + Send + 'static,
{
    open::within(open::TIME_LIMIT, move || {
        let launcher = Launcher::<D, Note>::new(open)?;
        Ok(OpenedDevice {
            information: launcher.information().clone(),
            free: launcher.memory().ok().map(|(memory, _)| memory.free),
            add: Box::new(|fleet, description| fleet.add(description, launcher)),
        })
    })?
}

/// The initial guess, until it is measured: seconds for an evaluation by one of the resident warps of a GPU.
const IN_WARP: f64 = 2e-5;

/// The most evaluations in a window of a simulated device, which runs one warp at a time.
const MOST_SIMULATED: u64 = 4096;

/// The fleet of a runner that has room for the results of so many evaluations.
pub(super) fn fleet(
    options: &Options,
    executors: Executors,
    room: u64,
    devices: Vec<OpenedDevice>,
) -> io::Result<Fleet> {
    let mut fleet = Fleet::new(Policy {
        placement: executors.placement,
        threshold: options.threshold,
        batch: options.batch_size,
        ..Policy::default()
    });
    for OpenedDevice {
        information,
        free,
        add,
    } in devices
    {
        let warps = u64::from(information.multiprocessors) * u64::from(information.warps);
        let most = match information.kind {
            DeviceKind::Emulated | DeviceKind::Interpreted => MOST_SIMULATED,
            DeviceKind::Cuda => *information.suggested_batch().end(),
        };
        let description = DeviceDescription {
            name: information.name,
            unit: IN_WARP / warps.max(1) as f64,
            // Other windows are delivered meanwhile.
            most: most.min(room / 8),
            // Two of them have their own streams.
            in_flight: 3,
            free,
        };
        add(&mut fleet, description)?;
    }
    Ok(fleet)
}
