//! ARC DSL operations and whole programs on NVIDIA GPUs, a batch in one launch.
//!
//! The kernels are CUDA C++, built to PTX that the crate arc-kernels embeds. Tests run them without a GPU, on the
//! simulated devices of the crate gpu-sim.
//!
//! Modules, from the form to a verdict:
//!
//! - `encode` compiles a form to a [`DeviceProgram`] (`program`) of [`operations`], [`list_operations`] and
//!   [`lane_operations`];
//! - `engine` uploads programs and arguments (`pool`) to a [`device`] and launches them; `verdict` decodes what each
//!   evaluation returns;
//! - `batch` runs one program on a batch of grids;
//! - [`interface`] describes everything that host and kernels must agree on;
//! - [`device`] has the trait [`Device`](device::Device), GPUs, and a caching allocator for any device.

mod batch;
pub mod device;
mod encode;
mod engine;
pub mod interface;
mod pool;
mod program;
mod verdict;

pub use encode::{HostOnly, encode};
pub use engine::{
    Arguments, Engine, Evaluation, LaunchConfig, PairPlace, Prepared, Programs, Results, Span,
};
pub use interface::{
    BailOut, Representation, Structure, lane_operations, list_operations, operations,
};
pub use pool::{LANES, Pool, PoolPlace};
pub use program::{Builder, DeviceProgram, Immediate, Label, TooLarge, ValueId};
pub use verdict::Verdict;
