//! [`Document`]: the parts of a run's document that are read. `crates/mega-batch/src/results/json.rs` says what its members
//! mean. Unknown members are ignored, so that documents of later engines can be read; members that a page can do
//! without are optional.

use std::time::Duration;

use mega_batch::{Activity, DOCUMENT_SCHEMA, Stages};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};

use super::bounded::{First, Reasons, Text};
use super::results::Results;
use super::tasks::Tasks;

/// The schema of a document, which documents of the first engines lack. An unknown one is an error: its members may
/// have other meanings.
#[derive(Debug, Default)]
pub(super) struct Schema;

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let schema = u32::deserialize(deserializer)?;
        if schema <= DOCUMENT_SCHEMA {
            return Ok(Self);
        }
        Err(D::Error::custom(format_args!(
            "schema {schema}: expected {DOCUMENT_SCHEMA} at most; a later version of mega-batch wrote this document"
        )))
    }
}

/// The document of a run.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object, the document of `mega-batch run --json`")]
pub(crate) struct Document {
    pub(super) engine_version: Text,
    #[serde(default, rename = "schema")]
    _schema: Schema,
    pub(super) mode: Text,
    pub(super) workers: u64,
    pub(super) tasks: u64,
    pub(super) programs: u64,
    pub(super) evaluations: u64,
    #[serde(default)]
    pub(super) incomplete: bool,
    pub(super) evaluations_planned: Option<u64>,
    pub(super) evaluations_skipped: Option<u64>,
    pub(super) seconds: Seconds,
    pub(super) compile_seconds: Option<Seconds>,
    pub(super) tasks_solved: Option<u64>,
    pub(super) pairs_right: Option<u64>,
    pub(super) pairs_expected: Option<u64>,
    pub(super) backend: Option<Backend>,
    pub(super) results: Results,
    /// Present with `run --attempts`.
    pub(super) by_task: Option<Tasks>,
    /// Present with `run --attempts`, the slowest first.
    pub(super) slowest_programs: Option<First<SlowProgram, 10>>,
    #[serde(default)]
    pub(super) input_errors: First<BadInput, 100>,
}

/// What evaluated the programs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object, what the backend did")]
pub(super) struct Backend {
    pub(super) name: Text,
    pub(super) compiled: u64,
    pub(super) merged: u64,
    pub(super) reference: u64,
    pub(super) bail_outs: Reasons,
    pub(super) programs_compiled: u64,
    pub(super) programs_not_compiled: Reasons,
    pub(super) device: Option<OnDevice>,
    pub(super) no_device: Option<Text>,
}

/// What devices did.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object, what devices did")]
pub(super) struct OnDevice {
    pub(super) name: Text,
    pub(super) evaluations: u64,
    pub(super) bail_outs: Reasons,
    pub(super) programs: u64,
    pub(super) programs_host_only: Reasons,
    pub(super) launches_halved: u64,
    pub(super) failure: Option<Text>,
    pub(super) activities: First<DeviceActivity, 64>,
}

/// The activity of one device, by stage.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object, what a device did")]
pub(super) struct DeviceActivity {
    pub(super) name: Text,
    batches: u64,
    items: u64,
    stages: StageSeconds,
    elapsed: Seconds,
    memory: Memory,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object of seconds by stage")]
struct StageSeconds {
    prepare: Seconds,
    upload: Seconds,
    compute: Seconds,
    download: Seconds,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object of bytes")]
struct Memory {
    most: u64,
}

impl DeviceActivity {
    /// The activity as the scheduler defines it, which says what a device waits for.
    pub(super) fn activity(&self) -> Activity {
        let mut activity = Activity {
            batches: self.batches,
            items: self.items,
            stages: Stages {
                prepare: self.stages.prepare.0,
                upload: self.stages.upload.0,
                compute: self.stages.compute.0,
                download: self.stages.download.0,
            },
            elapsed: self.elapsed.0,
            ..Activity::default()
        };
        activity.memory.most = self.memory.most;
        activity
    }
}

/// What a program cost.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object, what a program cost")]
pub(super) struct SlowProgram {
    pub(super) program: Text,
    pub(super) file: Option<Text>,
    pub(super) evaluations: u64,
    #[serde(default)]
    pub(super) failures: u64,
    pub(super) seconds: Seconds,
}

/// What could not be read.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object, an error of the input")]
pub(super) struct BadInput {
    pub(super) file: Text,
    pub(super) line: Option<u64>,
    pub(super) column: Option<u64>,
    pub(super) path: Option<Text>,
    pub(super) message: Text,
}

/// A time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seconds(Duration);

impl Seconds {
    pub(super) fn get(self) -> f64 {
        self.0.as_secs_f64()
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        let time = Duration::try_from_secs_f64(seconds);
        time.map(Self)
            .map_err(|_| D::Error::invalid_value(Unexpected::Float(seconds), &"seconds, 0 or more"))
    }
}
