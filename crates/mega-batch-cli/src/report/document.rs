//! [`Document`]: the parts of a run's document that are read. `crates/mega-batch/src/json.rs` says what its members
//! mean. Unknown members are ignored, so that documents of later engines can be read; members that a page can do
//! without are optional.

use std::time::Duration;

use mega_batch::{Activity, DOCUMENT_SCHEMA, Stages};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};

use super::bounded::{First, Reasons, Text};
use super::outcomes::Results;
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
    #[serde(deserialize_with = "seconds")]
    pub(super) seconds: Duration,
    #[serde(default, deserialize_with = "some_seconds")]
    pub(super) compile_seconds: Option<Duration>,
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

impl Document {
    /// The numbers of evaluations and tasks.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.evaluations, self.tasks)
    }

    /// Evaluations per second; 0 if no time has passed.
    pub(super) fn rate(&self) -> f64 {
        let seconds = self.seconds.as_secs_f64();
        if seconds > 0.0 {
            self.evaluations as f64 / seconds
        } else {
            0.0
        }
    }
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

/// The activity of one device, by stage; times are in seconds.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object, what a device did")]
pub(super) struct DeviceActivity {
    pub(super) name: Text,
    batches: u64,
    items: u64,
    #[serde(with = "StageSeconds")]
    stages: Stages,
    #[serde(deserialize_with = "seconds")]
    elapsed: Duration,
    memory: Memory,
}

#[derive(Deserialize)]
#[serde(
    default = "Stages::default",
    remote = "Stages",
    expecting = "an object of seconds by stage"
)]
struct StageSeconds {
    #[serde(deserialize_with = "seconds")]
    prepare: Duration,
    #[serde(deserialize_with = "seconds")]
    upload: Duration,
    #[serde(deserialize_with = "seconds")]
    compute: Duration,
    #[serde(deserialize_with = "seconds")]
    download: Duration,
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
            stages: self.stages,
            elapsed: self.elapsed,
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
    #[serde(deserialize_with = "seconds")]
    pub(super) seconds: Duration,
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

pub(super) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| D::Error::invalid_value(Unexpected::Float(seconds), &"seconds, 0 or more"))
}

fn some_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    seconds(deserializer).map(Some)
}
