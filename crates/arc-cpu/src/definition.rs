//! How the sets of a program are built, and what an evaluation has found of their orders.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::slot::{At, Slot};
use crate::planes::Bits;
use arc_dsl::{ContainerKind, Primitive, Value};
use arc_form::Type;

/// How the value of a slot was built, if it is a set or contains one, or was built of one.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    /// The slot.
    pub(crate) slot: u32,
    /// The number of its type.
    pub(crate) ty: u32,
    /// Whether the slot holds the value as its type says.
    pub(crate) is_typed: bool,
    /// Whether cells of it may be dropped that no use sees.
    pub(crate) is_clipped: bool,
    /// Whether it is a tuple whose order no use sees.
    pub(crate) is_mixed: bool,
    /// The region in which it is built, 0 for the body.
    pub(crate) within: u32,
    /// The steps that build it, counted from the first one of that region until the region is finished.
    pub(crate) steps: Range<u32>,
    pub(crate) how: How,
    /// The region of a loop.
    pub(crate) region: u32,
    /// Which arguments of the code it takes. Those of a loop are its containers, the parameters of its region and the
    /// result of that; those of rounds are their number, the first value, the parameter and the result.
    pub(crate) arguments: Range<u32>,
}

/// How a value was built from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By a primitive.
    Call(Primitive),
    /// By a primitive that calls a region.
    Loop(Primitive),
    /// By so many rounds of a region.
    Iterate,
    /// It is a set of some elements of another set, in the order of that.
    Kept,
    /// It is the item of this index of a tuple.
    Item(u8),
    /// It is an element of a container.
    Element,
    /// It is a tuple of these.
    Items,
    /// It is a set to which these were added.
    Set,
    /// It is another value.
    Same,
}

/// A value from which another was built.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    /// The value of a slot, of the type of this number.
    Slot(u32, u32),
    Constant(Value),
}

/// What a step of the body leaves open after [`BailOut::Choice`](super::bail_out::BailOut::Choice).
#[derive(Clone, Debug, Default)]
pub(crate) enum Choice {
    #[default]
    Nothing,
    /// Its value is one of these.
    Elements(Vec<Slot>),
    /// It paints this grid, of which some cells may have another colour, and so may the same cells of the output.
    Cells(Slot, Open),
}

/// For each colour's number the cells that may have it, of those whose colour is open.
pub(crate) type Open = Box<[Bits; 16]>;

/// What one evaluation may spend on building values again: then the reference is faster. What is too large for a patch
/// costs one, a set for its order more.
pub(crate) const MOST_ORDERS: u32 = 256;
pub(crate) const COST_OF_ORDER: u32 = 4;

/// Of how many rounds a value may be that is built again.
pub(crate) const MOST_BUILT_ROUNDS: i32 = 64;

/// Whether values of the type are sets or contain sets.
pub(crate) fn has_sets(ty: &Type) -> bool {
    match ty {
        Type::Indices | Type::Object | Type::Patch | Type::Set(_) => true,
        Type::Tuple(element) => has_sets(element),
        Type::Fixed(items) => items.iter().any(has_sets),
        _ => false,
    }
}

/// Whether values of the type are sets.
pub(crate) fn is_set(ty: &Type) -> bool {
    ty.container() == Some(ContainerKind::Set)
}

/// Whether the value has only one order: no set in it has two elements.
pub(crate) fn has_one_order(value: &Value) -> bool {
    // The rows of a grid need not be made to know it.
    if let Value::Grid(_) = value {
        return true;
    }
    value.as_container().is_none_or(|container| {
        (container.kind == ContainerKind::Tuple || container.len() < 2)
            && container
                .iter_stored()
                .all(|element| has_one_order(&element))
    })
}

/// The values of slots with their orders, in the order in which they were found: those of regions are forgotten when
/// the region goes on to the next element.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Those of the body, which do not change during an evaluation.
    pub(crate) body: FxHashMap<u32, Value>,
    pub(crate) regions: Vec<(u32, Value)>,
    /// The indices of the elements of sets of the body in the order of Python.
    pub(crate) places: FxHashMap<u32, Arc<[u32]>>,
    /// A set whose order a vectorised loop needs, and the number of its type.
    pub(crate) wanted: Option<(At, u32)>,
    /// Whether cells were dropped that no use sees.
    pub(crate) has_dropped: bool,
    /// How often an order was asked for.
    pub(crate) asked: u32,
    pub(crate) depth: u32,
    /// The region whose values are built without running it; 0 if there is none.
    pub(crate) skipped: u32,
}

impl Known {
    pub(crate) fn clear(&mut self) {
        self.body.clear();
        self.regions.clear();
        self.places.clear();
        self.wanted = None;
        self.has_dropped = false;
        self.asked = 0;
        self.depth = 0;
        self.skipped = 0;
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&Value> {
        let in_regions = self.regions.iter().rev().find(|(at, _)| *at == slot);
        in_regions
            .map(|(_, value)| value)
            .or_else(|| self.body.get(&slot))
    }
}
