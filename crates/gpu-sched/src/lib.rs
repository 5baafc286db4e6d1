//! Lets GPUs take part in a batch: how large the windows are that each evaluates, and what happens if one fails.
//!
//! The [`Scheduler`] owns the items of a batch that nobody has claimed. The host claims pieces of them as it likes;
//! each device is given its next window as it is free. The scheduler neither starts threads nor reads a clock, so that
//! tests can run it in virtual time. A [`Fleet`] owns the threads.
//!
//! Modules, by what they decide:
//!
//! - who gets what: `scheduler`, `costs`; how large a window may be: `scheduler/device.rs`, `size`;
//! - in which order answers are delivered: `order`; where the time goes: `stages`;
//! - who runs it: [`fleet`] (threads), [`launcher`] (evaluations on a device).

mod costs;
mod failure;
pub mod fleet;
pub mod launcher;
mod order;
mod scheduler;
mod size;
mod stages;

pub use costs::Costs;
pub use failure::Failure;
pub use fleet::{Executor, Finished, Fleet, Signal};
pub use order::Order;
pub use scheduler::{
    DeviceDescription, Host, Keep, MOST_DEVICES, Made, Placement, Policy, Scheduler, Window,
    WindowId,
};
pub use stages::{Activity, Stages};
