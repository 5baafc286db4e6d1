//! A cache of values converted for the reference: converting a large value from the machine takes longer than
//! most calls that fail.

use arc_dsl::{EvalError, Value};
use rustc_hash::FxHashMap;

use super::{Batt, NodeId, Storage};

/// The most that the cached values may weigh together, in elements of 16 bytes; then the cache is cleared.
const MOST_WEIGHT: usize = 1 << 21;

/// Lighter values are not cached.
const LEAST_WEIGHT: u32 = 8;

#[derive(Debug, Default)]
pub(super) struct ReferenceValues {
    values: FxHashMap<(u32, u32), Value>,
    weight: usize,
    /// The values that the reference has computed for the current call, by input.
    pending: Vec<(u32, Value)>,
}

impl ReferenceValues {
    /// The bytes that the values count as.
    pub(super) fn bytes(&self) -> usize {
        self.weight * 16
    }

    pub(super) fn clear(&mut self) {
        self.pending.clear();
        if !self.values.is_empty() {
            self.values.clear();
            self.weight = 0;
        }
    }

    /// Adds a value that the reference has computed for the current call.
    pub(super) fn add(&mut self, input: u32, value: Value) {
        if value.weight() >= LEAST_WEIGHT {
            self.pending.push((input, value));
        }
    }

    /// Drops the values of the current call.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.pending.clear();
    }

    /// Caches the values of the current call as those of a node.
    #[inline]
    pub(super) fn keep(&mut self, node: u32) {
        for (input, value) in std::mem::take(&mut self.pending) {
            self.insert((node, input), value);
        }
    }

    fn insert(&mut self, place: (u32, u32), value: Value) {
        self.weight += value.weight() as usize;
        if self.weight > MOST_WEIGHT {
            self.values.clear();
            self.weight = value.weight() as usize;
        }
        if let Some(before) = self.values.insert(place, value) {
            self.weight -= before.weight() as usize;
        }
    }
}

impl Batt {
    /// The value of a node on an input that is found like this, if it is not in the cache.
    pub(super) fn once(
        &self,
        place: (u32, u32),
        find: impl FnOnce() -> Result<Value, EvalError>,
    ) -> Result<Value, EvalError> {
        if let Some(value) = self.reference_values.borrow().values.get(&place) {
            return Ok(value.clone());
        }
        let value = find()?;
        let mut cache = self.reference_values.borrow_mut();
        cache.insert(place, value.clone());
        Ok(value)
    }

    /// The value of a node on an input, converted once for several calls.
    pub(super) fn reference_value(&self, node: NodeId, input: usize) -> Result<Value, EvalError> {
        let known = &self.nodes[node.index()];
        if !matches!(known.held, Storage::Typed(_)) || known.has_loose {
            return self.value(node, input);
        }
        let place = (node.0, input as u32);
        if let Some(value) = self.reference_values.borrow().values.get(&place) {
            return Ok(value.clone());
        }
        let value = self.value(node, input)?;
        if value.weight() >= LEAST_WEIGHT {
            self.reference_values
                .borrow_mut()
                .insert(place, value.clone());
        }
        Ok(value)
    }
}
