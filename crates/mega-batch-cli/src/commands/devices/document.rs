//! [`Document`]: everything that the command reports. The text for people is generated from it.

use std::fmt::{self, Display, Formatter};

use gpu_sched::Policy;
use mega_batch::VERSION;
use mega_batch::devices::{DeviceId, Devices, Request};
use serde::Serialize;

use crate::machine::{MachineReport, line};

/// The available devices, and which of them a run uses.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    engine_version: &'static str,
    #[serde(flatten)]
    pub(super) machine: MachineReport,
    pub(super) run: RunReport,
    pub(super) thresholds: Thresholds,
}

/// What a run uses.
#[derive(Debug, Serialize)]
pub(super) struct RunReport {
    /// The name of the `--backend` option.
    pub(super) backend: &'static str,
    /// Numbers of the GPUs; empty if a simulated device or the CPU alone is used.
    pub(super) gpus: Vec<usize>,
    pub(super) emulated: bool,
    pub(super) interpreted: bool,
    pub(super) why: String,
}

/// From how many evaluations on devices are used.
#[derive(Debug, Serialize)]
pub(super) struct Thresholds {
    /// For one GPU.
    pub(super) gpu: u64,
    /// For each of several.
    pub(super) each_of_several: u64,
}

impl Document {
    pub(super) fn new(found: &Devices, machine: MachineReport, request: Request) -> Self {
        let selection = found.select(request);
        let has = |id| selection.devices.contains(&id);
        let gpus = selection.devices.iter().filter_map(|id| match id {
            DeviceId::Gpu(number) => Some(*number),
            DeviceId::Emulated | DeviceId::Interpreted => None,
        });
        Self {
            engine_version: VERSION,
            machine,
            run: RunReport {
                backend: match request {
                    Request::Emulated => "emulated",
                    Request::Interpreted => "ptx",
                    Request::AllGpus | Request::Gpus(_) | Request::NoDevice => "cuda",
                },
                gpus: gpus.collect(),
                emulated: has(DeviceId::Emulated),
                interpreted: has(DeviceId::Interpreted),
                why: selection.why,
            },
            thresholds: Thresholds {
                gpu: Policy::THRESHOLD,
                each_of_several: Policy::PER_DEVICE,
            },
        }
    }
}

impl Display for Document {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.machine.fmt(f)?;
        let run = &self.run;
        let why = format!("with --backend {}: {}", run.backend, run.why);
        line(f, "a run takes", why)?;
        let Thresholds {
            gpu,
            each_of_several,
        } = &self.thresholds;
        let text = if run.emulated || run.interpreted {
            // A run asks for a simulated device to try it, not to save time.
            let forced = "without --placement auto from the first one on";
            format!("the device from {gpu} evaluations on; {forced}")
        } else {
            format!("a GPU from {gpu} evaluations on, several from {each_of_several} a GPU on")
        };
        line(f, "thresholds", text)
    }
}
