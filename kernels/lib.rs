//! The CUDA kernels: their sources in C++, and the PTX built from them. gpu-kernels launches them, gpu-sim compiles the
//! sources for the host.

/// The kernels for GPUs, built by `cargo xtask ptx`.
pub const PTX: &str = include_str!("ptx/programs.ptx");
