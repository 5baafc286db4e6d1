//! Devices that need no GPU: they run the kernels of gpu-kernels on the CPU, for tests.
//!
//! - [`emulated`] runs the sources, compiled by a C++ compiler for the host;
//! - [`interpreted`] executes the PTX that GPUs are given, and parses it;
//! - [`faulty`] injects faults into any device;
//! - [`open`] opens the first two.
//!
//! A release build of the command or of the wheel links none of it: their feature `simulated` does.

pub mod emulated;
pub mod faulty;
mod hosted;
pub mod interpreted;
pub mod open;
