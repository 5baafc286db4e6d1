//! Spreads work over the host and its GPUs: by cost, in order, each item exactly once, whatever fails.
//!
//! It knows of work how many items there are, how many bytes each has and of which kind it is
//! ([`Item`]), and of executors what batches cost them, which it learns ([`Costs`]). The [`Scheduler`]
//! decides; it neither starts threads nor reads a clock, so that [`simulated`] executors show in
//! virtual time what it does. A [`Fleet`] has the threads.
//!
//! Modules, by what they decide:
//!
//! - how long: `cost`; who gets how much: `shares`, `size`; what is started next: `scheduler`;
//! - what is given out: `work`, `runs`; in which order answers leave: `order`; where time goes: `stages`;
//! - who runs it: [`fleet`] (threads), [`launcher`] (evaluations on a device), [`simulated`] (in virtual time).

mod cost;
pub mod fleet;
pub mod launcher;
mod order;
mod runs;
mod scheduler;
mod shares;
pub mod simulated;
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
