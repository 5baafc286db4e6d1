//! What the scheduler knows of work: how much there is of it, and of which kind.

use serde::{Deserialize, Serialize};

/// What sort of work an item is: items of one kind take about the same time.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub struct Kind(pub u16);

/// One piece of work, which an executor makes as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Item {
    /// Its kind.
    pub kind: Kind,
    /// Bytes that go to a device and back for it.
    pub bytes: u32,
}

/// The items of a kind in a batch that fall back to the host, since the device did not make them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fallback {
    /// Their kind.
    pub kind: Kind,
    /// Items that it did not try.
    pub skipped: u64,
    /// Items that it bailed out of.
    pub bailed_out: u64,
}

/// Why an executor did not make a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// There is not enough memory for the batch; a smaller one may fit.
    #[error("out of device memory")]
    OutOfMemory,
    /// This batch was not made; another one may be.
    #[error("{0}")]
    Failed(String),
    /// The executor is gone. It may come back.
    #[error("the device is lost: {0}")]
    Lost(String),
    /// It had not answered when the time limit of the batch was over.
    #[error("no answer within its time limit")]
    Hung,
}
