//! Values that the reference was given, kept for the next call that takes them: to make a large one of
//! what the machine holds takes longer than most calls that fail.

use arc_dsl::{EvalError, Value};
use rustc_hash::FxHashMap;

use super::{Batt, NodeId, Storage};

/// What the values may weigh together, in elements of 16 bytes; then all are let go of.
const MOST_WEIGHT: usize = 1 << 21;

/// What weighs less is made anew.
const LEAST_WEIGHT: u32 = 8;

#[derive(Debug, Default)]
pub(super) struct Given {
    values: FxHashMap<(u32, u32), Value>,
    weight: usize,
    /// What the reference has made of the call at hand, by input.
    made: Vec<(u32, Value)>,
}

impl Given {
    /// What the values are counted for.
    pub(super) fn bytes(&self) -> usize {
        self.weight * 16
    }

    pub(super) fn clear(&mut self) {
        self.made.clear();
        if !self.values.is_empty() {
            self.values.clear();
            self.weight = 0;
        }
    }

    /// Takes what the reference has made of the call at hand.
    pub(super) fn make(&mut self, input: u32, value: Value) {
        if value.weight() >= LEAST_WEIGHT {
            self.made.push((input, value));
        }
    }

    /// Forgets what was made of the call at hand.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.made.clear();
    }

    /// Keeps what was made of the call at hand as the values of a node.
    #[inline]
    pub(super) fn keep(&mut self, node: u32) {
        for (input, value) in std::mem::take(&mut self.made) {
            self.insert((node, input), value);
        }
    }

    fn insert(&mut self, place: (u32, u32), value: Value) {
        self.weight += value.weight() as usize;
        if self.weight > MOST_WEIGHT {
            self.values.clear();
            self.weight = value.weight() as usize;
        }
        self.values.insert(place, value);
    }
}

impl Batt {
    /// The value of a node on an input, made once for several calls.
    pub(super) fn given(&self, node: NodeId, input: usize) -> Result<Value, EvalError> {
        let known = &self.nodes[node.index()];
        if !matches!(known.held, Storage::Typed(_)) || known.has_loose {
            return self.value(node, input);
        }
        let place = (node.0, input as u32);
        if let Some(value) = self.given.borrow().values.get(&place) {
            return Ok(value.clone());
        }
        let value = self.value(node, input)?;
        if value.weight() >= LEAST_WEIGHT {
            self.given.borrow_mut().insert(place, value.clone());
        }
        Ok(value)
    }
}
