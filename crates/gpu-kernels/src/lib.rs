//! ARC DSL operations and whole programs on NVIDIA GPUs, a batch in one launch.
//!
//! The kernels are CUDA C++ (`kernels/`), built to PTX that is embedded here. The same sources,
//! compiled for the host, make the emulated device, so that every kernel is tested on machines
//! that have no GPU.
//!
//! Modules, from the form to a verdict:
//!
//! - `encode` makes a [`DeviceProgram`] (`program`) of a form, in terms of [`operations`], [`list_operations`] and
//!   [`lane_operations`];
//! - `engine` puts programs and arguments (`pool`) on a [`device`] and launches them; `verdict` is what comes back;
//! - [`batch`] runs single operations and pipelines for callers of their own;
//! - [`interface`] is all that host and kernels agree on;
//! - [`device`] has GPUs, the emulated device, the interpreted one, and what wraps a device.

pub mod batch;
pub mod device;
mod encode;
mod engine;
pub mod interface;
pub mod lane_operations;
pub mod list_operations;
pub mod operations;
mod pool;
mod program;
mod verdict;

pub use encode::{HostOnly, encode, encode_all};
pub use engine::{Arguments, Engine, Evaluation, Prepared, Programs, Results, Tuning};
pub use interface::{BailOut, Representation, Structure};
pub use pool::{LANES, Place, Pool};
pub use program::{Builder, DeviceProgram, Immediate, Label, TooLarge, ValueId};
pub use verdict::{Verdict, hash};
