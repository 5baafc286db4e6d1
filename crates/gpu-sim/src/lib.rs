//! Simulated devices, which run the kernels of gpu-kernels on the CPU, for tests without a GPU.
//!
//! - [`emulated`] runs the sources, compiled by a C++ compiler for the host;
//! - [`interpreted`] parses and executes the PTX that GPUs run;
//! - [`faulty`] injects faults into any device;
//! - [`open`] opens the first two.
//!
//! The command and the wheel link this crate only with their feature `simulated`, which release builds do not have.

pub mod emulated;
pub mod faulty;
pub mod interpreted;
pub mod open;
mod simulated;
