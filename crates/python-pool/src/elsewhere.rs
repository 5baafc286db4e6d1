//! In place of `worker.rs` where the system has no seccomp.

use std::convert::Infallible;

use crate::reply::Ending;
use crate::{Guards, PoolError, Settings};

/// A worker that does not exist.
#[derive(Debug)]
pub(crate) struct Worker(Infallible);

impl Worker {
    pub(crate) fn start(_: &Settings) -> Result<(Self, Guards), PoolError> {
        Err(PoolError::Start(
            "free Python runs on Linux only, which has the seccomp that isolates it".to_owned(),
        ))
    }

    pub(crate) fn run(&mut self, _: &[u8], _: &Settings, _: &mut dyn FnMut() -> bool) -> Ending {
        match self.0 {}
    }
}
