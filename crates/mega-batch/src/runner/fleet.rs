//! The devices that a runner has, and what the scheduler is told of them and of the host.

use std::fmt;
use std::io;

use gpu_kernels::Tuning;
use gpu_kernels::device::emulated::Emulation;
use gpu_kernels::device::presets::{Preset, suggested_batch};
use gpu_kernels::device::{Device, Information, Unavailable, open};
use gpu_sched::launcher::{Answers, Evaluations, Launcher, Open};
use gpu_sched::{About, Cost, Placement, Policy};

use super::Window;
use super::device::Note;
use crate::backend::Backend;
use crate::options::Options;

/// The host's workers and the devices.
pub(super) type Fleet = gpu_sched::Fleet<Evaluations<Note>, Answers<Note>, Window>;

/// Takes a device into a fleet.
type Add = Box<dyn FnOnce(&mut Fleet, About) -> io::Result<usize> + Send>;

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

/// The devices of a backend, or why there are none; nothing for backends that need none.
pub(super) fn devices(options: &Options) -> Option<Result<Vec<Opened>, Unavailable>> {
    match options.backend {
        Backend::Reference | Backend::Compiled | Backend::Auto => None,
        Backend::Emulated => {
            let open = || open::emulated(0, &Emulation::default());
            Some(device(Box::new(open)).map(|device| vec![device]))
        }
        Backend::Cuda => Some(gpus(options.gpus.unwrap_or(usize::MAX))),
    }
}

/// So many GPUs, fewer where there are not as many that can be used.
fn gpus(most: usize) -> Result<Vec<Opened>, Unavailable> {
    let (mut opened, mut reason) = (Vec::new(), None);
    for (index, listed) in open::gpus()?.into_iter().enumerate() {
        if opened.len() == most {
            break;
        }
        let device = listed.and_then(|_| device(Box::new(move || open::gpu(index))));
        match device {
            Ok(device) => opened.push(device),
            Err(unavailable) => reason = reason.or(Some(unavailable)),
        }
    }
    match reason {
        Some(reason) if opened.is_empty() => Err(reason),
        _ => Ok(opened),
    }
}

/// Opens a device.
pub(super) fn device<D>(open: Open<D>) -> Result<Opened, Unavailable>
where
    D: Device<Buffer: Send> + Send + 'static,
{
    let launcher = Launcher::<D, Note>::new(open, Tuning::default())?;
    Ok(Opened {
        about: launcher.information().clone(),
        free: launcher.memory().ok().map(|(memory, _)| memory.free),
        add: Box::new(|fleet, about| fleet.add(about, launcher)),
    })
}

/// Bytes that go to a device and back for an evaluation: grids, whatever their size, and a verdict.
pub(super) const BYTES: u32 = 1100;
pub(super) const BYTES_WITH_OUTPUT: u32 = 1600;

/// First guesses in seconds, until something is measured: an evaluation on one core, an evaluation of a
/// GPU for each of its resident warps, a launch, and bytes a second over PCI Express 3.
const ON_CORE: f64 = 2e-6;
const IN_WARP: f64 = 2e-5;
const LAUNCH: f64 = 5e-5;
const BANDWIDTH: f64 = 8e9;

/// A batch of an emulated device, which is one warp at a time.
const EMULATED: (u64, u64) = (1, 4096);

/// The fleet of a runner of so many workers, who are given so many windows of so many evaluations at a
/// time.
pub(super) fn fleet(
    options: &Options,
    workers: usize,
    (windows, window): (usize, u64),
    devices: Vec<Opened>,
) -> io::Result<Fleet> {
    let host = About {
        name: "host".to_owned(),
        guess: Cost {
            overhead: 1e-5,
            bandwidth: f64::INFINITY,
            unit: ON_CORE / workers as f64,
        },
        batch: (window, window),
        in_flight: windows,
        free: None,
    };
    let policy = Policy {
        placement: options.placement.unwrap_or(match options.backend {
            Backend::Emulated => Placement::Devices,
            _ => Placement::Auto,
        }),
        threshold: options.threshold,
        batch: options.batch_size,
        ..Policy::default()
    };
    let mut fleet = Fleet::new(host, policy);
    for Opened { about, free, add } in devices {
        let warps = u64::from(about.multiprocessors) * u64::from(about.warps);
        let batch = match about.kind {
            gpu_kernels::device::Kind::Emulated => EMULATED,
            gpu_kernels::device::Kind::Cuda => {
                let range = Preset::of_device(&about).map_or_else(
                    || suggested_batch(about.multiprocessors, about.warps, about.bytes),
                    Preset::suggested_batch,
                );
                (*range.start(), *range.end())
            }
        };
        let about = About {
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
