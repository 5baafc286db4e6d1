//! [`Document`]: everything that the command reports. The text for people is generated from it.

use std::fmt::{self, Display, Formatter};

use gpu_kernels::LaunchConfig;
use gpu_sched::Policy;
use mega_batch::devices::{DeviceId, Devices, Request};
use mega_batch::escaped;
use mega_batch::tuning::{Best, DeviceIdentity, TuningFile};
use serde::Serialize;

use crate::machine::{MachineReport, line};

/// What the command reports; each part only if it was asked for.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    pub(super) engine_version: &'static str,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) devices: Option<DevicesReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) measured: Vec<MeasuredReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<KeptReport>,
}

/// The available devices, and which of them a run uses.
#[derive(Debug, Serialize)]
pub(super) struct DevicesReport {
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

impl DevicesReport {
    pub(super) fn new(found: &Devices, machine: MachineReport, request: Request) -> Self {
        let selection = found.select(request);
        let has = |id| selection.devices.contains(&id);
        let gpus = selection.devices.iter().filter_map(|id| match id {
            DeviceId::Gpu(number) => Some(*number),
            DeviceId::Emulated | DeviceId::Interpreted => None,
        });
        Self {
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

/// The launch configurations that are kept.
#[derive(Debug, Serialize)]
pub(super) struct KeptReport {
    /// `None` if no folder is known.
    pub(super) file: Option<String>,
    /// Whether a file was removed, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) removed: Option<bool>,
    pub(super) devices: Vec<TuningReport>,
}

impl KeptReport {
    pub(super) fn new(file: &TuningFile, removed: Option<bool>) -> Self {
        let devices = file.devices();
        Self {
            file: file.path().map(|path| path.to_string_lossy().into_owned()),
            removed,
            devices: devices
                .map(|(id, config)| TuningReport::new(id, config))
                .collect(),
        }
    }
}

/// The launch configuration of a GPU.
#[derive(Debug, Serialize)]
pub(super) struct TuningReport {
    #[serde(flatten)]
    pub(super) id: DeviceIdentity,
    pub(super) warps: u32,
    pub(super) side_by_side: u32,
    pub(super) blocks: u32,
}

impl TuningReport {
    fn new(id: &DeviceIdentity, config: LaunchConfig) -> Self {
        Self {
            id: id.clone(),
            warps: config.warps,
            side_by_side: config.side_by_side,
            blocks: config.blocks,
        }
    }
}

/// How the launch configuration of a GPU was found.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct MeasuredReport {
    #[serde(flatten)]
    pub(super) tuning: TuningReport,
    pub(super) tried: usize,
    pub(super) seconds: f64,
    pub(super) default_seconds: f64,
}

impl MeasuredReport {
    pub(in crate::commands) fn new(id: &DeviceIdentity, best: &Best) -> Self {
        Self {
            tuning: TuningReport::new(id, best.tuning),
            tried: best.tried,
            seconds: best.time.as_secs_f64(),
            default_seconds: best.default_time.as_secs_f64(),
        }
    }
}

impl Display for Document {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        let mut gap = |f: &mut Formatter<'_>| {
            if std::mem::take(&mut is_first) {
                return Ok(());
            }
            writeln!(f)
        };
        if let Some(devices) = &self.devices {
            gap(f)?;
            devices.fmt(f)?;
        }
        for measured in &self.measured {
            gap(f)?;
            measured.fmt(f)?;
        }
        if let Some(kept) = &self.kept {
            gap(f)?;
            kept.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for DevicesReport {
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

impl Display for KeptReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(file) = &self.file else {
            return line(f, "kept", "nothing: no cache folder is known");
        };
        line(f, "kept", file)?;
        match self.removed {
            Some(true) => line(f, "", "removed")?,
            Some(false) => line(f, "", "there was nothing to be removed")?,
            None if self.devices.is_empty() => line(f, "", "nothing is measured so far")?,
            None => {}
        }
        for device in &self.devices {
            writeln!(f)?;
            device.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for TuningReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let DeviceIdentity {
            device,
            driver,
            engine,
            kernels,
        } = &self.id;
        write!(f, "{}, engine {}", escaped(device), escaped(engine))?;
        if let Some(driver) = driver {
            write!(f, ", CUDA {}", escaped(driver))?;
        }
        writeln!(f, ", kernels {}", escaped(kernels))?;
        writeln!(
            f,
            "  launches: {} warps a block, {} evaluations side by side, {} blocks a multiprocessor",
            self.warps, self.side_by_side, self.blocks
        )
    }
}

impl Display for MeasuredReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "measured: {}", self.tuning)?;
        let share = self.seconds / self.default_seconds.max(f64::MIN_POSITIVE);
        writeln!(
            f,
            "  found among {}: {:.0}% of the time of the default one",
            self.tried,
            share * 100.0
        )
    }
}
