//! Grids in JSON.

use std::borrow::Borrow;

use arc_dsl::Grid;
use serde::{Serialize, Serializer};

/// A grid as the list of its rows.
#[derive(Debug, Clone)]
pub(crate) struct Rows<G>(pub(crate) G);

impl<G: Borrow<Grid>> Serialize for Rows<G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.borrow().rows())
    }
}
