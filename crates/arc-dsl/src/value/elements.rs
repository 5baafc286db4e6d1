//! The elements of tuples and sets, and the weights of values: what stands for the memory that they hold.

use smallvec::SmallVec;

use super::Value;
use super::sets::order::{Order, weight_of};
use crate::budget::ELEMENT_BYTES;
use crate::grid::Grid;
use crate::patch::Indices;

/// The elements of a [`Value::Tuple`] or [`Value::Set`], with what the limits need to know about them.
#[derive(Debug)]
pub struct Elements {
    /// Most tuples and sets have one or two elements, stored inline: one allocation instead of two.
    pub(super) values: SmallVec<[Value; 2]>,
    /// Without what is kept.
    pub(super) weight: u32,
    /// The weight of what is kept to find the order of sets.
    pub(super) kept: u32,
    pub(super) depth: u16,
}

/// The weight of a tuple or a set without its elements: the value that refers to it, its header, and spare capacity for
/// two elements.
pub(crate) const CONTAINER_WEIGHT: u32 = 8;

/// The same for a set.
const SET_WEIGHT: u32 = 14;

/// The same for a patch, whose items are smaller than an element.
pub(super) const PATCH_WEIGHT: u32 = 8;

/// The same for a grid, whose cells take one byte each.
pub(super) const GRID_WEIGHT: u32 = 5;

// Checks that a weight never stands for less memory than is held.
const _: () = {
    // An `Arc` stores two reference counts before its value.
    const COUNTS: usize = 16;
    const BYTES: usize = ELEMENT_BYTES as usize;
    assert!(size_of::<Value>() == BYTES);
    assert!(BYTES + COUNTS + size_of::<Elements>() <= (CONTAINER_WEIGHT as usize - 2) * BYTES);
    assert!(BYTES + COUNTS + size_of::<SetElements>() <= (SET_WEIGHT as usize - 2) * BYTES);
    assert!(BYTES + COUNTS + size_of::<Indices>() <= PATCH_WEIGHT as usize * BYTES);
    assert!(BYTES + COUNTS + size_of::<Grid>() <= GRID_WEIGHT as usize * BYTES);
};

impl Elements {
    #[inline]
    pub(super) fn new(values: SmallVec<[Value; 2]>) -> Self {
        let (mut weight, mut kept, mut depth) = (CONTAINER_WEIGHT, 0u32, 0);
        let mut kept_at = None;
        for value in &values {
            match value {
                Value::Nothing | Value::Bool(_) | Value::Int(_) | Value::Primitive(_) => {
                    weight = weight.saturating_add(1);
                }
                Value::Loc(_) | Value::Cell(_) => {
                    weight = weight.saturating_add(1);
                    depth = depth.max(1);
                }
                _ => {
                    let (own, more) = value.weights();
                    weight = weight.saturating_add(own);
                    depth = depth.max(value.depth());
                    // Elements often keep one and the same thing.
                    if more > 0 {
                        let at = value.kept_at();
                        if at.is_none() || at != kept_at {
                            kept = kept.saturating_add(more);
                        }
                        kept_at = at;
                    }
                }
            }
        }
        let depth = depth.saturating_add(1);
        Self {
            values,
            weight,
            kept,
            depth,
        }
    }

    /// The same, from a vector that may have spare capacity.
    pub(super) fn fitted(mut values: Vec<Value>) -> Self {
        const SPARE: usize = 2;
        // One or two elements are stored inline.
        match values.as_mut_slice() {
            [] => Self::new(SmallVec::new()),
            [a] => Self::new(SmallVec::from_buf_and_len([take(a), Value::Nothing], 1)),
            [a, b] => Self::new(SmallVec::from_buf([take(a), take(b)])),
            _ => {
                if values.capacity() > values.len() + SPARE {
                    values.shrink_to_fit();
                }
                Self::new(SmallVec::from_vec(values))
            }
        }
    }

    /// The elements; ascending for a set.
    #[must_use]
    pub fn as_slice(&self) -> &[Value] {
        &self.values
    }
}

/// The elements of a [`Value::Set`], ascending and distinct, with the order in which Python iterates over them.
#[derive(Debug)]
pub struct SetElements {
    elements: Elements,
    order: Order,
}

impl SetElements {
    /// The set of these elements, which are ascending and distinct.
    pub(super) fn new(elements: Elements, order: Order) -> Self {
        let order = order.settled(elements.as_slice());
        let header = SET_WEIGHT - CONTAINER_WEIGHT;
        let places = weight_of(elements.values.len() * size_of::<u32>());
        Self {
            elements: Elements {
                weight: elements.weight.saturating_add(header + places),
                kept: elements.kept.saturating_add(order.kept_weight()),
                ..elements
            },
            order,
        }
    }

    /// The indices of the elements in the order of iteration; nothing if it is ascending.
    pub(crate) fn places(&self) -> Option<&[u32]> {
        self.order.places(self.elements.as_slice())
    }

    pub(crate) fn order(&self) -> &Order {
        &self.order
    }
}

impl std::ops::Deref for SetElements {
    type Target = Elements;

    fn deref(&self) -> &Elements {
        &self.elements
    }
}

/// Takes the value and leaves `Nothing` in its place.
fn take(value: &mut Value) -> Value {
    std::mem::replace(value, Value::Nothing)
}
