//! Checks what the reference interpreter makes of programs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod sets;
mod sizes;
mod typed;
mod untyped;
