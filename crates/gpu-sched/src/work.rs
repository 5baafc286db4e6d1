//! What the scheduler knows of work: how many items there are, and of which kind.

use serde::{Deserialize, Serialize};

/// The kind of an item: items of one kind take about the same time.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub struct Kind(pub u16);

/// One piece of work. An executor runs it as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Item {
    /// Its kind.
    pub kind: Kind,
    /// Bytes copied to a device and back for it.
    pub bytes: u32,
}

/// The items of one kind in a batch that fall back to the host because the device did not evaluate them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fallback {
    /// Their kind.
    pub kind: Kind,
    /// Items that the device did not try.
    pub skipped: u64,
    /// Items that the device bailed out of.
    pub bailed_out: u64,
}

/// Why an executor did not finish a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// There is not enough memory for the batch; a smaller one may fit.
    #[error("out of device memory")]
    OutOfMemory,
    /// This batch failed; another one may succeed.
    #[error("{0}")]
    Failed(String),
    /// The executor is gone. It may come back.
    #[error("the device is lost: {0}")]
    Lost(String),
    /// The executor had not answered when the time limit of the batch was over.
    #[error("no answer within its time limit")]
    Hung,
}
