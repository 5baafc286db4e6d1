//! The command `mega-batch`, run as a user runs it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic, its helpers too"
)]

mod arc_data;
mod bad_input;
mod batt;
mod bench;
mod broken_programs;
mod coordinator;
mod devices;
#[cfg(target_os = "linux")]
mod documents;
mod explain;
#[cfg(unix)]
mod first_hour;
#[cfg(target_os = "linux")]
mod free_python;
mod layouts;
mod names;
mod packed;
mod program_files;
mod readers;
mod report;
mod run;
#[path = "../sample/mod.rs"]
mod sample;
mod search;
mod selfcheck;
mod show;
#[cfg(target_os = "linux")]
mod standard_input;
mod submissions;
mod support;
