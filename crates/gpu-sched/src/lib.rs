//! Distributes work over the host and its GPUs: by cost, in order, each item exactly once, whatever fails.
//!
//! It knows how many items of work there are, and the size in bytes and the kind of each ([`Item`]). It learns what
//! batches cost each executor ([`Costs`]). The [`Scheduler`] decides; it neither starts threads nor reads a clock, so
//! that tests can run it in virtual time. A [`Fleet`] owns the threads.
//!
//! Modules, by what they decide:
//!
//! - how long a batch takes: `cost`; how much each executor gets: `shares`, `size`; what starts next: `scheduler`;
//! - what is submitted: `work`, `runs`; in which order answers are delivered: `order`; where the time goes: `stages`;
//! - who runs it: [`fleet`] (threads), [`launcher`] (evaluations on a device).

mod cost;
pub mod fleet;
pub mod launcher;
mod order;
mod runs;
mod scheduler;
mod shares;
mod size;
mod stages;
mod work;

pub use cost::{Cost, Costs, FallbackShares, Measured, Remembered};
pub use fleet::{Event, Executor, Fleet, FleetHandle};
pub use order::Order;
pub use scheduler::{
    BatchId, Ended, ExecutorDescription, HOST, MOST_EXECUTORS, Made, Placement, Policy, Scheduler,
    Start,
};
pub use size::{allowance, find_max_batch};
pub use stages::{Activity, Bottleneck, Stages};
pub use work::{Failure, Fallback, Item, Kind};
