//! [`Document`]: the result of a benchmark, as it is written and read back.

use std::fmt::{self, Display, Formatter};

use mega_batch::OnDevice;
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::plan::{BenchMode, PlanNote};
use super::statistics::{Ratio, Spread};
use super::workload::Workload;

/// The version of the document's schema.
pub(crate) const SCHEMA: u32 = 1;

/// A finished benchmark.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Document {
    /// [`SCHEMA`].
    pub(crate) schema: u32,
    /// The machine that it was run on.
    pub(crate) environment: Environment,
    /// The plan that was measured.
    pub(crate) plan: PlanNote,
    /// The results of each mode, by kind and size.
    pub(crate) cells: Vec<Cell>,
    /// What was not measured, and why.
    pub(crate) not_measured: Vec<NotMeasured>,
    /// What was left out for lack of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
    /// How times change with more workers and more GPUs.
    pub(crate) scaling: Vec<Scale>,
    /// Which targets are met.
    #[serde(skip_deserializing)]
    pub(crate) verdict: Vec<Judgement>,
    /// The comparison with an earlier benchmark, if one was given.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<Comparison>,
}

/// Whether a target is met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Judgement {
    pub(crate) target: &'static str,
    pub(crate) wording: &'static str,
    /// The target speed-up on this machine.
    pub(crate) from: f64,
    pub(crate) to: Option<f64>,
    pub(crate) measured: Option<Measured>,
    pub(crate) finding: Finding,
    /// Why it was not measured, what limits it, what to look at.
    pub(crate) remarks: Vec<String>,
}

/// Speed-ups on the largest batches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// Evaluations of a batch.
    pub(crate) size: usize,
    /// The geometric mean over the kinds.
    pub(crate) mean: f64,
    /// The slowest kind, and its speed-up.
    pub(crate) least: (Workload, f64),
    pub(crate) greatest: (Workload, f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finding {
    Above,
    Met,
    Below,
    NotMeasured,
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Above => "above",
            Self::Met => "met",
            Self::Below => "below",
            Self::NotMeasured => "not measured",
        })
    }
}

/// The comparison of two benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Comparison {
    /// The file of the earlier one.
    pub(crate) file: String,
    /// What differs between the two, apart from the times.
    pub(crate) remarks: Vec<String>,
    /// The cells that both have.
    pub(crate) cells: Vec<Compared>,
}

/// A cell in both benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Compared {
    pub(crate) kind: Workload,
    pub(crate) size: usize,
    pub(crate) mode: BenchMode,
    /// How many times as fast it is now, by the medians.
    pub(crate) ratio: f64,
    /// The same by the quartiles that favour the new benchmark least and most.
    pub(crate) least: f64,
    pub(crate) greatest: f64,
    pub(crate) change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Faster,
    Slower,
    WithinNoise,
}

impl Change {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::WithinNoise => "within the noise",
        }
    }
}

/// One mode on batches of one kind and size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) kind: Workload,
    /// Evaluations of a batch.
    pub(crate) size: usize,
    pub(crate) mode: BenchMode,
    /// Wall-clock seconds of a batch.
    pub(crate) seconds: Spread,
    /// Batches that were timed.
    pub(crate) batches: usize,
    /// At the median time.
    pub(crate) evaluations_per_second: f64,
    /// Against the sequential mode; `None` for the emulated device, which is there to see that it works.
    pub(crate) speedup: Option<Ratio>,
    /// What devices did in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) on_device: Option<DeviceShare>,
}

/// What devices did in a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeviceShare {
    /// The share of the evaluations that ran on devices.
    pub(crate) evaluations: f64,
    /// Why others ran on the host, the most frequent reasons first: programs that devices do not run, and evaluations
    /// that they bailed out of.
    pub(crate) host_reasons: Vec<(String, u64)>,
    /// How a device failed, if one did.
    pub(crate) failure: Option<String>,
    pub(crate) devices: Vec<DeviceStages>,
}

/// Where the time of a device went, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeviceStages {
    pub(crate) name: String,
    pub(crate) batches: u64,
    pub(crate) prepare: f64,
    pub(crate) upload: f64,
    pub(crate) compute: f64,
    pub(crate) download: f64,
    pub(crate) elapsed: f64,
    /// How well it was used, and what it waited for.
    pub(crate) bottleneck: String,
}

/// How many reasons are kept.
const REASONS: usize = 5;

impl DeviceShare {
    /// For a batch of `size` evaluations.
    pub(super) fn of(device: &OnDevice, size: usize) -> Self {
        let reasons = device.programs_host_only.iter().chain(&device.bail_outs);
        let mut reasons: Vec<(String, u64)> = reasons
            .map(|(reason, count)| (reason.clone(), *count))
            .collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        reasons.truncate(REASONS);
        let devices = device.activities.iter().map(|(name, activity)| {
            let stages = activity.stages;
            DeviceStages {
                name: name.clone(),
                batches: activity.batches,
                prepare: stages.prepare.as_secs_f64(),
                upload: stages.upload.as_secs_f64(),
                compute: stages.compute.as_secs_f64(),
                download: stages.download.as_secs_f64(),
                elapsed: activity.elapsed.as_secs_f64(),
                bottleneck: activity.to_string(),
            }
        });
        Self {
            evaluations: device.evaluations as f64 / size.max(1) as f64,
            host_reasons: reasons,
            failure: device.failure.clone(),
            devices: devices.collect(),
        }
    }
}

/// What was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotMeasured {
    pub(crate) mode: BenchMode,
    /// Larger batches than this were not measured, while smaller ones were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) above: Option<usize>,
    pub(crate) reason: String,
}

/// The resource whose number varies in a [`Scale`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Resource {
    Workers,
    Gpus,
}

/// The largest batches of a kind on a number of workers or GPUs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scale {
    pub(crate) kind: Workload,
    /// Evaluations of a batch.
    pub(crate) size: usize,
    pub(crate) resource: Resource,
    pub(crate) count: usize,
    /// Wall-clock seconds of a batch.
    pub(crate) seconds: Spread,
    /// Against one of them.
    pub(crate) speedup: Ratio,
}

impl Document {
    /// A cell.
    pub(crate) fn cell(&self, kind: Workload, size: usize, mode: BenchMode) -> Option<&Cell> {
        let mut cells = self.cells.iter();
        cells.find(|cell| (cell.kind, cell.size, cell.mode) == (kind, size, mode))
    }

    /// The modes that were measured, in the order of the tables.
    pub(crate) fn modes(&self) -> Vec<BenchMode> {
        let modes = BenchMode::ALL.iter().copied();
        modes
            .filter(|mode| self.cells.iter().any(|cell| cell.mode == *mode))
            .collect()
    }

    /// The kinds that were measured, in the order of the tables.
    pub(crate) fn kinds(&self) -> Vec<Workload> {
        let kinds = Workload::ALL.iter().copied();
        kinds
            .filter(|kind| self.cells.iter().any(|cell| cell.kind == *kind))
            .collect()
    }

    /// The sizes that were measured.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.cells.iter().map(|cell| cell.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The size of the largest batches that this mode ran.
    pub(crate) fn largest(&self, mode: BenchMode) -> Option<usize> {
        let cells = self.cells.iter().filter(|cell| cell.mode == mode);
        cells.map(|cell| cell.size).max()
    }
}
