//! Grids in JSON.

use arc_dsl::Grid;
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};

/// A grid as the list of its rows.
pub(crate) struct Rows<'a>(pub(crate) &'a Grid);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.height()))?;
        for row in self.0.rows() {
            rows.serialize_element(row)?;
        }
        rows.end()
    }
}
