//! [`Document`]: everything that the command reports. The text for people is generated from it.

use gpu_kernels::LaunchConfig;
use gpu_kernels::device::Device as _;
use gpu_sched::{Kind, Policy};
use mega_batch::costs::{CostFile, ExecutorId, Learned};
use mega_batch::devices::{DeviceId, Request, simulated};
use serde::Serialize;

use super::Measured;
use crate::machine::{DeviceReport, MachineReport, Opened};

/// What the command reports; each part only if it was asked for.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    pub(super) engine_version: &'static str,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) devices: Option<DevicesReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) measured: Vec<MeasuredReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) costs: Option<CostsReport>,
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
    /// For one GPU, if no costs are known.
    pub(super) gpu: u64,
    /// For each of several, if no costs are known.
    pub(super) each_of_several: u64,
    /// The kinds of work whose costs are known for the host and for a device that a run uses: the thresholds do not
    /// apply to these.
    pub(super) measured_kinds: Vec<Kind>,
}

impl DevicesReport {
    pub(super) fn new(opened: &Opened, file: &CostFile, request: Request) -> Self {
        let Opened { host, found, .. } = opened;
        let selection = found.select(request);
        let is_emulated = request == Request::Emulated;
        let is_interpreted = request == Request::Interpreted;
        let interpreted = is_interpreted.then(|| {
            let opened = simulated::interpreted();
            opened.ok().map(|device| device.information().clone())
        });
        let interpreted = interpreted.flatten();

        let information = |id: &DeviceId| match id {
            DeviceId::Gpu(number) => found.gpus.as_ref().ok()?.get(*number)?.as_ref().ok(),
            DeviceId::Emulated => found.emulated.as_ref().ok(),
            // Its costs are stored under its identity, which is known only after opening it.
            DeviceId::Interpreted => interpreted.as_ref(),
        };
        let taken = selection.devices.iter().filter_map(information);
        let taken: Vec<_> = taken
            .filter_map(|device| file.recall(&ExecutorId::device(device, host)))
            .collect();
        let of_host = file.recall(&ExecutorId::host(host, host.threads));
        let of_host = of_host.into_iter().flat_map(|known| known.kinds.keys());
        let is_known = |kind: &&Kind| taken.iter().any(|known| known.kinds.contains_key(kind));

        Self {
            machine: MachineReport {
                interpreted: is_interpreted.then(DeviceReport::interpreted),
                ..MachineReport::new(opened, is_emulated)
            },
            run: RunReport {
                backend: match request {
                    Request::Emulated => "emulated",
                    Request::Interpreted => "ptx",
                    Request::AllGpus | Request::Gpus(_) | Request::NoDevice => "cuda",
                },
                gpus: selection
                    .devices
                    .iter()
                    .filter_map(|id| match id {
                        DeviceId::Gpu(number) => Some(*number),
                        DeviceId::Emulated | DeviceId::Interpreted => None,
                    })
                    .collect(),
                emulated: selection.devices.contains(&DeviceId::Emulated),
                interpreted: selection.devices.contains(&DeviceId::Interpreted),
                why: selection.why,
            },
            thresholds: Thresholds {
                gpu: Policy::THRESHOLD,
                each_of_several: Policy::PER_DEVICE,
                measured_kinds: of_host.filter(is_known).copied().collect(),
            },
        }
    }
}

/// The costs that are kept.
#[derive(Debug, Serialize)]
pub(super) struct CostsReport {
    /// `None` if no folder is known.
    pub(super) file: Option<String>,
    /// Whether a file was removed, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) removed: Option<bool>,
    pub(super) executors: Vec<ExecutorReport>,
}

impl CostsReport {
    pub(super) fn new(file: &CostFile, removed: Option<bool>) -> Self {
        let executors = file.executors();
        Self {
            file: file.path().map(|path| path.to_string_lossy().into_owned()),
            removed,
            executors: executors
                .map(|(id, learned)| ExecutorReport::new(id, learned))
                .collect(),
        }
    }
}

/// The costs of evaluations on an executor.
#[derive(Debug, Serialize)]
pub(super) struct ExecutorReport {
    #[serde(flatten)]
    pub(super) id: ExecutorId,
    pub(super) kinds: Vec<KindReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) launch_shape: Option<ShapeReport>,
}

/// The costs of batches of a kind.
#[derive(Debug, Serialize)]
pub(super) struct KindReport {
    pub(super) kind: Kind,
    /// The programs of this kind, by their number of steps, from and to.
    pub(super) steps: (u64, u64),
    pub(super) overhead_seconds: f64,
    /// `None` if nothing is copied.
    pub(super) bytes_per_second: Option<f64>,
    pub(super) unit_seconds: f64,
    pub(super) batches: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct ShapeReport {
    pub(super) warps: u32,
    pub(super) side_by_side: u32,
    pub(super) blocks: u32,
}

impl From<LaunchConfig> for ShapeReport {
    fn from(tuning: LaunchConfig) -> Self {
        Self {
            warps: tuning.warps,
            side_by_side: tuning.side_by_side,
            blocks: tuning.blocks,
        }
    }
}

/// The numbers of steps of a kind.
fn steps(kind: Kind) -> (u64, u64) {
    let from = 1_u64.checked_shl(kind.0.into()).unwrap_or(u64::MAX);
    (from, from.saturating_mul(2).saturating_sub(1).max(from))
}

impl ExecutorReport {
    fn new(id: &ExecutorId, learned: &Learned) -> Self {
        let kinds = learned.kinds.iter().map(|(kind, known)| KindReport {
            kind: *kind,
            steps: steps(*kind),
            overhead_seconds: known.cost.overhead,
            bytes_per_second: Some(known.cost.bandwidth).filter(|bytes| bytes.is_finite()),
            unit_seconds: known.cost.unit,
            batches: known.batches,
        });
        Self {
            id: id.clone(),
            kinds: kinds.collect(),
            launch_shape: learned.tuning.map(Into::into),
        }
    }
}

/// A fresh calibration of an executor.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct MeasuredReport {
    #[serde(flatten)]
    pub(super) costs: ExecutorReport,
    /// The batches that the costs were estimated from.
    pub(super) batches: Vec<BatchReport>,
    /// How launch shapes were chosen, if some were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shapes: Option<ShapesReport>,
}

#[derive(Debug, Serialize)]
pub(super) struct BatchReport {
    pub(super) kind: Kind,
    pub(super) items: u64,
    pub(super) seconds: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct ShapesReport {
    pub(super) tried: usize,
    pub(super) seconds: f64,
    pub(super) default_seconds: f64,
}

impl MeasuredReport {
    /// `None` if nothing was measured.
    pub(in crate::commands) fn new(measured: &Measured) -> Option<Self> {
        let found = measured.result.as_ref().ok()?;
        let batches = found.points.iter().map(|point| BatchReport {
            kind: point.kind,
            items: point.items,
            seconds: point.seconds,
        });
        Some(Self {
            costs: ExecutorReport::new(&measured.id, &found.learned()),
            batches: batches.collect(),
            shapes: found.shape.map(|best| ShapesReport {
                tried: best.tried,
                seconds: best.time.as_secs_f64(),
                default_seconds: best.default_time.as_secs_f64(),
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_covers_the_programs_up_to_the_next() {
        assert_eq!(
            [0, 1, 2, 5].map(|kind| steps(Kind(kind))),
            [(1, 1), (2, 3), (4, 7), (32, 63)]
        );
        for kind in [63, 64, u16::MAX] {
            let (from, to) = steps(Kind(kind));
            assert!(from <= to);
        }
    }
}
