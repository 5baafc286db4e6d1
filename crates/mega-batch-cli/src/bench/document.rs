//! [`Document`]: the result of a benchmark, as it is written and read back; [`Part`]: the result of one of its stages.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use mega_batch::OnDevice;
use mega_batch::files::replace;
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::plan::{BenchMode, PlanNote};
use super::statistics::Spread;
use crate::table::thousands;

/// The version of the document's schema.
pub(crate) const SCHEMA: u32 = 1;

/// A benchmark, finished or in progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Document {
    /// [`SCHEMA`].
    pub(crate) schema: u32,
    /// The machine that it was run on.
    pub(crate) environment: Environment,
    /// The plan that was measured.
    pub(crate) plan: PlanNote,
    #[serde(default)]
    pub(crate) stages: Vec<StageReport>,
    #[serde(flatten)]
    pub(crate) found: Found,
    /// Which expectations are met.
    #[serde(skip_deserializing)]
    pub(crate) verdict: Vec<Judgement>,
    /// The comparison with an earlier benchmark, if one was given.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<Comparison>,
}

/// What was measured.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Found {
    /// The times of each mode, by kind and size.
    pub(crate) cells: Vec<Cell>,
    /// Modes that were not measured, and why.
    pub(crate) not_measured: Vec<NotMeasured>,
    /// What was left out for lack of time or memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
    /// The largest batches of some kinds by number of workers and of GPUs.
    #[serde(default)]
    pub(crate) by_count: Vec<Cell>,
    /// Single figures; the lines of their stages tell them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) figures: Vec<Figure>,
}

impl Found {
    /// Adds what another stage found.
    pub(crate) fn add(&mut self, other: Self) {
        self.cells.extend(other.cells);
        self.not_measured.extend(other.not_measured);
        self.left_out.extend(other.left_out);
        self.by_count.extend(other.by_count);
        self.figures.extend(other.figures);
    }
}

/// What a stage leaves in its file, for the process that started it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) environment: Environment,
    /// The command line of the benchmark.
    pub(crate) arguments: Vec<String>,
    /// Whether the stage came to its end.
    pub(crate) ended: bool,
    /// Why it was not run here.
    pub(crate) skipped: Option<String>,
    pub(crate) failures: Vec<String>,
    pub(crate) lines: Vec<String>,
    pub(crate) found: Found,
}

impl Part {
    pub(crate) fn new(environment: Environment, arguments: Vec<String>) -> Self {
        Self {
            environment,
            arguments,
            ended: false,
            skipped: None,
            failures: Vec::new(),
            lines: Vec::new(),
            found: Found::default(),
        }
    }

    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read(file).with_context(|| format!("{}", file.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{}", file.display()))
    }

    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(self)?;
        replace(file, |out| out.write_all(text.as_bytes()))
            .with_context(|| format!("{}: cannot be written", file.display()))
    }

    /// Whether the same benchmark need not repeat it.
    pub(crate) fn is_kept_by(&self, other: &Self) -> bool {
        let build = |part: &Self| {
            let environment = &part.environment;
            let versions = (
                environment.engine_version.clone(),
                environment.commit.clone(),
            );
            (versions, environment.folder(), environment.note.clone())
        };
        self.state() <= ExpectationState::Cut
            && self.arguments == other.arguments
            && build(self) == build(other)
    }

    pub(crate) fn state(&self) -> ExpectationState {
        if !self.failures.is_empty() || !self.ended {
            ExpectationState::Failed
        } else if self.skipped.is_some() {
            ExpectationState::Skipped
        } else if self.found.left_out.is_empty() {
            ExpectationState::Ended
        } else {
            ExpectationState::Cut
        }
    }
}

/// A stage in the document.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StageReport {
    pub(crate) stage: String,
    pub(crate) state: ExpectationState,
    pub(crate) seconds: f64,
    /// What failed, or why it was skipped or not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasons: Vec<String>,
    /// Its results as text, where they are not in the tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lines: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExpectationState {
    Ended,
    /// It ended with some of its work left out.
    Cut,
    Skipped,
    Failed,
    NotRun,
}

impl Display for ExpectationState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ended => "ended",
            Self::Cut => "cut",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::NotRun => "not run",
        })
    }
}

/// A single figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
}

/// Whether an expectation is met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Judgement {
    pub(crate) target: &'static str,
    /// What the tuning guides say, if they say it.
    pub(crate) wording: &'static str,
    /// The expectation on this machine.
    pub(crate) from: Option<f64>,
    pub(crate) to: Option<f64>,
    pub(crate) unit: &'static str,
    pub(crate) measured: Option<f64>,
    /// What it was measured on.
    pub(crate) on: String,
    pub(crate) finding: Finding,
    /// Why it was not measured, what limits it, what to look at.
    pub(crate) remarks: Vec<String>,
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
    pub(crate) kind: String,
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
    pub(crate) kind: String,
    /// Evaluations of a batch.
    pub(crate) size: usize,
    pub(crate) mode: BenchMode,
    /// The number of workers or GPUs, if it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<usize>,
    /// Seconds of a batch: wall-clock time, of [`BenchMode::Kernel`] by the device's clock.
    pub(crate) seconds: Spread,
    /// Batches that were timed.
    pub(crate) batches: usize,
    /// At the median time.
    pub(crate) evaluations_per_second: f64,
    /// The mean number of calls of an evaluation's program.
    #[serde(default)]
    pub(crate) steps: f64,
    /// Against the sequential mode, or one worker or GPU; `None` for the emulated device, which is there to see that it works.
    pub(crate) speedup: Option<Spread>,
    /// What devices did in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) on_device: Option<DeviceShare>,
}

impl Cell {
    /// A mode whose batches took these times.
    pub(super) fn new(
        kind: &str,
        size: usize,
        mode: BenchMode,
        steps: f64,
        seconds: Spread,
    ) -> Self {
        Self {
            kind: kind.to_owned(),
            size,
            mode,
            count: None,
            seconds,
            batches: seconds.samples,
            // A clock that has not moved has too low a resolution.
            evaluations_per_second: size as f64 / seconds.median.max(1e-9),
            steps,
            speedup: None,
            on_device: None,
        }
    }
}

/// What devices did in a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeviceShare {
    /// The share of the evaluations that ran on devices.
    pub(crate) evaluations: f64,
    /// How a device failed, if one did.
    pub(crate) failure: Option<String>,
    /// Why others ran on the host, and where the time of the devices went.
    #[serde(default)]
    pub(crate) remarks: Vec<String>,
}

/// How many reasons are told.
const REASONS: usize = 5;

impl DeviceShare {
    /// For a batch of `size` evaluations.
    pub(super) fn of(device: &OnDevice, size: usize) -> Self {
        // Programs that devices do not run, and evaluations that they bailed out of.
        let reasons = device.programs_host_only.iter().chain(&device.bail_outs);
        let mut reasons: Vec<(&String, &u64)> = reasons.collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let reasons = reasons.iter().take(REASONS);
        let reasons = reasons.map(|(reason, count)| format!("{reason} ({})", thousands(**count)));
        let reasons: Vec<String> = reasons.collect();
        let on_host =
            (!reasons.is_empty()).then(|| format!("the host the others: {}", reasons.join(", ")));
        let activities = device.activities.iter().map(|(name, activity)| {
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            let stages = activity.stages;
            format!(
                "{name}: {activity}; of {:.2} ms it prepared {:.2}, uploaded {:.2}, computed {:.2}, downloaded {:.2}",
                ms(activity.elapsed),
                ms(stages.prepare),
                ms(stages.upload),
                ms(stages.compute),
                ms(stages.download)
            )
        });
        Self {
            evaluations: device.evaluations as f64 / size.max(1) as f64,
            failure: device.failure.clone(),
            remarks: on_host.into_iter().chain(activities).collect(),
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

impl Document {
    /// A cell.
    pub(crate) fn cell(&self, kind: &str, size: usize, mode: BenchMode) -> Option<&Cell> {
        let mut cells = self.found.cells.iter();
        cells.find(|cell| (&*cell.kind, cell.size, cell.mode) == (kind, size, mode))
    }

    /// The cell of the largest batch of a kind that this mode ran.
    pub(crate) fn largest(&self, kind: &str, mode: BenchMode) -> Option<&Cell> {
        let cells = self.found.cells.iter();
        let cells = cells.filter(|cell| cell.kind == kind && cell.mode == mode);
        cells.max_by_key(|cell| cell.size)
    }

    /// A figure.
    pub(crate) fn figure(&self, name: &str) -> Option<f64> {
        let mut figures = self.found.figures.iter();
        Some(figures.find(|figure| figure.name == name)?.value)
    }

    /// Whether every stage came to its end or was skipped.
    pub(crate) fn is_whole(&self) -> bool {
        let mut stages = self.stages.iter();
        stages.all(|stage| stage.state <= ExpectationState::Skipped)
    }
}
