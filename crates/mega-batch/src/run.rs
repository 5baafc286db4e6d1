//! Runs a batch: a [`Runner`](runner::Runner) with its workers, on the executors and devices of the machine or, by
//! shards, in other processes.

pub(crate) mod backend;
pub(crate) mod batts;
pub(crate) mod cancellation;
pub(crate) mod compilers;
pub(crate) mod delivery;
pub mod devices;
pub(crate) mod executors;
pub(crate) mod panics;
pub(crate) mod program_cache;
pub(crate) mod runner;
pub mod shards;
