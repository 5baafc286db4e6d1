//! [`Document`]: the parts of a search's document that are read. `crates/mega-batch/src/search/document.rs` says what
//! its members mean.

use std::time::Duration;

use serde::Deserialize;

use super::results::Results;
use crate::report::bounded::{First, Text};
use crate::report::document::{BadInput, Schema, seconds};

/// The document of a search.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object, the document of `mega-batch search --json`")]
pub(crate) struct Document {
    pub(in crate::report) engine_version: Text,
    #[serde(default, rename = "schema")]
    _schema: Schema,
    pub(in crate::report) workers: u64,
    pub(in crate::report) nodes: u64,
    pub(in crate::report) attempts: u64,
    pub(in crate::report) tasks: u64,
    #[serde(default)]
    pub(in crate::report) incomplete: bool,
    #[serde(deserialize_with = "seconds")]
    pub(in crate::report) seconds: Duration,
    pub(in crate::report) totals: Totals,
    pub(in crate::report) results: Results,
    #[serde(default)]
    pub(in crate::report) input_errors: First<BadInput, 100>,
}

/// What was found, over all tasks.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object, what was found")]
pub(in crate::report) struct Totals {
    pub(in crate::report) tasks: u64,
    pub(in crate::report) interrupted: u64,
    pub(in crate::report) fitting: u64,
    pub(in crate::report) solved: u64,
    pub(in crate::report) chains: u64,
    pub(in crate::report) stacks: u64,
    pub(in crate::report) partly: u64,
    pub(in crate::report) nodes: u64,
    pub(in crate::report) calls: u64,
    pub(in crate::report) tests_known: u64,
    pub(in crate::report) tests_right: First<u64, 3>,
}
