//! [`Failure`]: why a device did not finish a window.

/// Why a device did not finish a window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// There is not enough memory for the window; a smaller one may fit.
    #[error("out of device memory")]
    OutOfMemory,
    /// This window failed; another one may succeed.
    #[error("{0}")]
    Failed(String),
    /// The device is gone. It may come back.
    #[error("the device is lost: {0}")]
    Lost(String),
    /// The device had not answered when the time limit of the window was over.
    #[error("no answer within its time limit")]
    Hung,
}
