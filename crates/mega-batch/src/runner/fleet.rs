//! The devices that a runner has, and what the scheduler is told of them and of the host.

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

/// Takes a device into a fleet.
type Add = Box<dyn FnOnce(&mut Fleet, ExecutorDescription) -> io::Result<usize> + Send>;

/// A device that is open.
pub(super) struct Opened {
    about: Information,
    free: Option<u64>,
    add: Add,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Opened").field(&self.about).finish()
    }
}

impl Opened {
    /// Bytes of shared memory that an evaluation can have.
    pub(super) fn shared_bytes(&self) -> u32 {
        self.about.shared_bytes
    }
}

/// The costs that are kept between runs, and whose they are.
#[derive(Debug)]
pub(super) struct Kept {
    file: CostFile,
    host: Host,
    /// By executor.
    ids: Vec<ExecutorId>,
}

impl Kept {
    /// Those of this machine's user.
    pub(super) fn open(threads: usize) -> Self {
        let host = Host::this();
        Self {
            file: CostFile::open(),
            ids: vec![ExecutorId::host(&host, threads)],
            host,
        }
    }

    /// Tells a fleet what is known of its executors.
    pub(super) fn recall(&self, fleet: &mut Fleet) {
        for (executor, id) in self.ids.iter().enumerate() {
            if let Some(learned) = self.file.recall(id) {
                let costs = fleet.scheduler_mut().costs_mut(executor);
                costs.recall(&learned.remembered());
            }
        }
    }

    /// Keeps what was learned of a fleet's executors. That it cannot be kept costs the next run some
    /// batches.
    pub(super) fn remember(&mut self, fleet: &Fleet) {
        for (executor, id) in self.ids.iter().enumerate() {
            let learned = Learned::of(fleet.scheduler().costs(executor));
            self.file.remember(id, learned);
        }
        let _ = self.file.save();
    }

    /// The launch configuration of a device, measured now where it never was: what it costs is then known too.
    ///
    /// # Errors
    /// The device is not there or hangs. Of one that fails as it is measured nothing is known.
    fn tuning<D>(&mut self, id: &ExecutorId, open: Open<D>) -> Result<LaunchConfig, Unavailable>
    where
        D: Device<Buffer: Send> + Send + 'static,
    {
        if self.file.recall(id).is_none() {
            match calibration::device(open, &Sample::builtin(), BUDGET) {
                Ok(found) => {
                    self.file.remember(id, found.learned());
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
pub(super) struct Found {
    pub(super) devices: Vec<Opened>,
    pub(super) missing: Option<String>,
}

/// Opens the devices that are asked for.
pub(super) fn devices(request: Request, mut kept: Option<&mut Kept>) -> Found {
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
                let tuning = match (kept.as_deref_mut(), gpu) {
                    (Some(kept), Some(Ok(information))) => {
                        let id = ExecutorId::device(information, &kept.host);
                        kept.tuning(&id, Box::new(open))
                    }
                    _ => Ok(LaunchConfig::default()),
                };
                tuning.and_then(|tuning| device(Box::new(open), tuning))
            }
        };
        match one {
            Ok(one) => {
                if let Some(kept) = kept.as_deref_mut() {
                    kept.ids.push(ExecutorId::device(&one.about, &kept.host));
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
    Found {
        devices: opened,
        missing: (!failures.is_empty()).then(|| failures.join("; ")),
    }
}

/// Opens a device, whose launches have this shape, if it does not hang.
pub(super) fn device<D>(open: Open<D>, tuning: LaunchConfig) -> Result<Opened, Unavailable>
where
    D: Device<Buffer: Send> + Send + 'static,
{
    open::within(open::TIME_LIMIT, move || {
        let launcher = Launcher::<D, Note>::new(open, tuning)?;
        Ok(Opened {
            about: launcher.information().clone(),
            free: launcher.memory().ok().map(|(memory, _)| memory.free),
            add: Box::new(|fleet, about| fleet.add(about, launcher)),
        })
    })?
}

/// Bytes that go to a device and back for an evaluation, with the grid that it gives where that is kept. What it is run
/// on stays on the device.
pub(super) const BYTES: u32 = EVALUATION_BYTES;
pub(super) const BYTES_WITH_OUTPUT: u32 = EVALUATION_BYTES + Representation::Grid.bytes();

/// First guesses in seconds, until something is measured: an evaluation on one core, an evaluation of a
/// GPU for each of its resident warps, a launch, and bytes a second over PCI Express 3.
const ON_CORE: f64 = 2e-6;
const IN_WARP: f64 = 2e-5;
const LAUNCH: f64 = 5e-5;
const BANDWIDTH: f64 = 8e9;

/// A batch of a device that the CPU stands in for, one warp at a time.
const ON_ONE_WARP: (u64, u64) = (1, 4096);

/// The fleet of a runner whose workers have `windows` windows of `window` evaluations each in flight.
pub(super) fn fleet(
    options: &Options,
    executors: Executors,
    (windows, window): (usize, u64),
    devices: Vec<Opened>,
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
    for Opened { about, free, add } in devices {
        let warps = u64::from(about.multiprocessors) * u64::from(about.warps);
        let batch = match about.kind {
            gpu_kernels::device::Kind::Emulated | gpu_kernels::device::Kind::Interpreted => {
                ON_ONE_WARP
            }
            gpu_kernels::device::Kind::Cuda => {
                let range = about.suggested_batch();
                (*range.start(), *range.end())
            }
        };
        let about = ExecutorDescription {
            name: about.name,
            guess: Cost {
                overhead: LAUNCH,
                bandwidth: BANDWIDTH,
                unit: IN_WARP / warps.max(1) as f64,
            },
            // Less than it suggests is better than nothing: small lots are the scheduler's to place.
            batch: (1, batch.1),
            // Two of them have streams of their own.
            in_flight: 3,
            free,
        };
        add(&mut fleet, about)?;
    }
    Ok(fleet)
}
