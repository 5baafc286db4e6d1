//! ARC DSL operations and whole programs on NVIDIA GPUs, a batch in one launch.
//!
//! The kernels are CUDA C++ (`kernels/`), built to PTX that is embedded here. The same sources,
//! compiled for the host, make the emulated device, so that every kernel is tested on machines
//! that have no GPU.

pub mod device;
pub mod operations;
mod punt;

pub use punt::Punt;
