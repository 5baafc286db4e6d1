//! Opens the devices of a runner, and describes them and the host to the scheduler.

use std::fmt;
use std::io;

use gpu_kernels::LaunchConfig;
use gpu_kernels::device::{Device, Information, Unavailable, open};
use gpu_kernels::interface::{EVALUATION_BYTES, Representation};
use gpu_sched::launcher::{Launcher, Open};
use gpu_sched::{Cost, ExecutorDescription, Policy};

use super::device::{Fleet, Note};
use crate::costs::{CostFile, ExecutorId, Learned};
use crate::devices::{DeviceId, Devices, Host, Request, Selection, simulated};
use crate::executors::Executors;
use crate::options::Options;
use crate::runner::calibration::{self, BUDGET, CalibrationError, Sample};

/// Adds a device to a fleet.
type Add = Box<dyn FnOnce(&mut Fleet, ExecutorDescription) -> io::Result<usize> + Send>;

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

/// The costs that are saved between runs, and the executors that they belong to.
#[derive(Debug)]
pub(super) struct SavedCosts {
    file: CostFile,
    host: Host,
    /// By number of the executor.
    ids: Vec<ExecutorId>,
}

impl SavedCosts {
    /// Reads the file of this user.
    pub(super) fn open(threads: usize) -> Self {
        let host = Host::this();
        Self {
            file: CostFile::open(),
            ids: vec![ExecutorId::host(&host, threads)],
            host,
        }
    }

    /// Gives a fleet the saved costs of its executors.
    pub(super) fn recall(&self, fleet: &mut Fleet) {
        for (executor, id) in self.ids.iter().enumerate() {
            if let Some(learned) = self.file.recall(id) {
                let costs = fleet.scheduler_mut().costs_mut(executor);
                costs.recall(&learned.remembered());
            }
        }
    }

    /// Saves the costs of a fleet's executors. If that fails, the next run spends some batches on measuring.
    pub(super) fn remember(&mut self, fleet: &Fleet) {
        for (executor, id) in self.ids.iter().enumerate() {
            let learned = Learned::of(fleet.scheduler().costs(executor));
            self.file.remember(id, learned);
        }
        let _ = self.file.save();
    }

    /// The launch configuration of a device. If the device has no saved costs, it is measured now, and its costs too.
    ///
    /// # Errors
    /// The device is missing or hangs. If it fails while it is measured, it has the default configuration.
    fn tuning<D>(&mut self, id: &ExecutorId, open: Open<D>) -> Result<LaunchConfig, Unavailable>
    where
        D: Device<Buffer: Send> + Send + 'static,
    {
        if self.file.recall(id).is_none() {
            match calibration::device(open, &Sample::builtin(), BUDGET) {
                Ok(calibration) => {
                    self.file.remember(id, calibration.learned());
                    let _ = self.file.save();
                }
                Err(CalibrationError::Unavailable(reason)) => return Err(reason),
                Err(reason) => tracing::warn!(device = id.device, %reason, "not measured"),
            }
        }
        let learned = self.file.recall(id);
        Ok(learned
            .and_then(|learned| learned.tuning)
            .unwrap_or_default())
    }
}

/// The devices that could be opened, and why others could not.
#[derive(Debug, Default)]
pub(super) struct OpenedDevices {
    pub(super) devices: Vec<OpenedDevice>,
    pub(super) unavailable: Option<String>,
}

/// Opens the requested devices.
pub(super) fn devices(request: Request, mut saved_costs: Option<&mut SavedCosts>) -> OpenedDevices {
    let here = Devices::here();
    let Selection {
        devices: selected,
        why,
    } = here.select(request);
    let (mut opened, mut failures) = (Vec::new(), Vec::new());
    for selected in selected {
        let one = match selected {
            DeviceId::Emulated => device(Box::new(simulated::emulated), LaunchConfig::default()),
            DeviceId::Interpreted => {
                device(Box::new(simulated::interpreted), LaunchConfig::default())
            }
            DeviceId::Gpu(index) => {
                let open = move || open::gpu(index);
                let gpu = here.gpus.iter().flatten().nth(index);
                let tuning = match (saved_costs.as_deref_mut(), gpu) {
                    (Some(costs), Some(Ok(information))) => {
                        let id = ExecutorId::device(information, &costs.host);
                        costs.tuning(&id, Box::new(open))
                    }
                    _ => Ok(LaunchConfig::default()),
                };
                tuning.and_then(|tuning| device(Box::new(open), tuning))
            }
        };
        match one {
            Ok(one) => {
                if let Some(costs) = saved_costs.as_deref_mut() {
                    let id = ExecutorId::device(&one.information, &costs.host);
                    costs.ids.push(id);
                }
                opened.push(one);
            }
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

/// Opens a device with this launch configuration; an error if it hangs.
pub(super) fn device<D>(open: Open<D>, tuning: LaunchConfig) -> Result<OpenedDevice, Unavailable>
where
    D: Device<Buffer: Send> + Send + 'static,
{
    open::within(open::TIME_LIMIT, move || {
        let launcher = Launcher::<D, Note>::new(open, tuning)?;
        Ok(OpenedDevice {
            information: launcher.information().clone(),
            free: launcher.memory().ok().map(|(memory, _)| memory.free),
            add: Box::new(|fleet, description| fleet.add(description, launcher)),
        })
    })?
}

/// Bytes that an evaluation transfers to a device and back, without or with its output grid. Its inputs stay on the
/// device.
pub(super) const BYTES: u32 = EVALUATION_BYTES;
pub(super) const BYTES_WITH_OUTPUT: u32 = EVALUATION_BYTES + Representation::Grid.bytes();

/// Initial guesses, until costs are measured: seconds for an evaluation on one core, for an evaluation by one of the
/// resident warps of a GPU, and for a launch; and bytes a second over PCI Express 3.
const ON_CORE: f64 = 2e-6;
const IN_WARP: f64 = 2e-5;
const LAUNCH: f64 = 5e-5;
const BANDWIDTH: f64 = 8e9;

/// The minimum and maximum batch of a simulated device, which runs one warp at a time.
const SIMULATED_BATCH: (u64, u64) = (1, 4096);

/// The fleet of a runner whose workers have `windows` windows in flight, of `window` evaluations each.
pub(super) fn fleet(
    options: &Options,
    executors: Executors,
    (windows, window): (usize, u64),
    devices: Vec<OpenedDevice>,
) -> io::Result<Fleet> {
    let host = ExecutorDescription {
        name: "host".to_owned(),
        guess: Cost {
            overhead: 1e-5,
            bandwidth: f64::INFINITY,
            unit: ON_CORE / executors.thread_count() as f64,
        },
        batch: (window, window),
        in_flight: windows,
        free: None,
    };
    let policy = Policy {
        placement: executors.placement,
        threshold: options.threshold,
        batch: options.batch_size,
        ..Policy::default()
    };
    let mut fleet = Fleet::new(host, policy);
    for OpenedDevice {
        information,
        free,
        add,
    } in devices
    {
        let warps = u64::from(information.multiprocessors) * u64::from(information.warps);
        let batch = match information.kind {
            gpu_kernels::device::Kind::Emulated | gpu_kernels::device::Kind::Interpreted => {
                SIMULATED_BATCH
            }
            gpu_kernels::device::Kind::Cuda => {
                let range = information.suggested_batch();
                (*range.start(), *range.end())
            }
        };
        let description = ExecutorDescription {
            name: information.name,
            guess: Cost {
                overhead: LAUNCH,
                bandwidth: BANDWIDTH,
                unit: IN_WARP / warps.max(1) as f64,
            },
            // Less than the suggested minimum is better than nothing: the scheduler decides where small batches run.
            batch: (1, batch.1),
            // Two of them have their own streams.
            in_flight: 3,
            free,
        };
        add(&mut fleet, description)?;
    }
    Ok(fleet)
}
