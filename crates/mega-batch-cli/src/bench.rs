//! The benchmark of this machine: what its cores and GPUs are worth, and whether all of them give the same results.
//!
//! A benchmark is a list of stages ([`STAGES`]), each a process of its own: a GPU with a broken context, a driver that
//! hangs and a process that is killed for its memory end that stage and no other. A stage fills a part of the
//! [`Document`]; [`targets`](judge) compares the whole with what is expected.

mod clock;
mod compare;
mod document;
mod environment;
mod gpu;
mod matrix;
mod measure;
mod outcomes;
mod page;
mod plan;
mod processes;
mod sheet;
mod stages;
mod statistics;
mod table;
mod targets;
mod tensors;
mod workload;

pub(crate) use compare::{compare, read as read_kept};
pub(crate) use document::{Document, ExpectationState, Found, Part, SCHEMA, StageReport};
pub(crate) use environment::Environment;
pub(crate) use gpu::DRIVER_CACHE;
pub(crate) use page::page;
pub(crate) use plan::{BenchPlan, MOST_EVALUATIONS};
pub(crate) use processes::{Ended, end_with_parent, run};
pub(crate) use sheet::{Context, Sheet};
pub(crate) use stages::{STAGES, Stage, command};
pub(crate) use targets::judge;
pub(crate) use workload::Given;
