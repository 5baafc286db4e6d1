//! Hashes of the values of nodes: 128 bits, the same for the same values in every batt.

use std::hash::{Hash, Hasher};

use arc_dsl::{EvalError, Value};
use arc_form::Type;
use rustc_hash::FxHasher;

use super::{Called, Source};
use crate::memory::{Memory, Paint};
use crate::planes::Bits;
use crate::slot::Slot;

/// Odd numbers without a pattern: the fractional parts of the square roots of 2, 3, 5 and 7.
const KEYS: [u64; 4] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
];

/// The two halves of a product, combined.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The state of a hash: four lanes that take words side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes([u64; 4]);

impl Default for Lanes {
    fn default() -> Self {
        Self(KEYS)
    }
}

impl Lanes {
    /// Adds a word.
    #[inline(always)]
    pub(super) fn word(&mut self, word: u64) {
        let [a, b, ..] = &mut self.0;
        *a = fold(*a ^ word, KEYS[1]);
        *b = fold(*b ^ word.rotate_left(32), KEYS[2]);
    }

    /// Adds four words, two to a product.
    #[inline(always)]
    fn words(&mut self, words: [u64; 4]) {
        let [a, b, c, d] = &mut self.0;
        // The lanes take turns, so that no multiplication waits for the one before it.
        (*a, *b, *c, *d) = (
            *c,
            *d,
            fold(*a ^ words[0], words[1] ^ KEYS[1]),
            fold(*b ^ words[2], words[3] ^ KEYS[2]),
        );
    }

    /// The hash.
    #[inline(always)]
    pub(super) fn finish(self) -> u128 {
        let [a, b, c, d] = self.0;
        let sum = a
            .wrapping_add(b.wrapping_mul(KEYS[2]))
            .wrapping_add(c.wrapping_mul(KEYS[3]))
            .wrapping_add(d.wrapping_mul(KEYS[1]));
        let high = fold(a ^ KEYS[0], b ^ KEYS[1]) ^ fold(c ^ KEYS[2], d ^ KEYS[3]);
        u128::from(fold(sum, KEYS[0])) | u128::from(high) << 64
    }
}

/// Adds a value of this type.
#[inline]
pub(super) fn value(lanes: &mut Lanes, memory: &Memory, ty: &Type, slot: Slot) {
    match ty {
        Type::Grid => {
            let tile = memory.tiles.get(slot);
            lanes.word(u64::from(tile.height) << 32 | u64::from(tile.width));
            // Cells past the grid are 0 in every plane.
            let [a, b, c, d] = &tile.planes;
            for r in (0..tile.height as usize).step_by(2) {
                let two =
                    |plane: &Bits| u64::from(plane[r & 31]) | u64::from(plane[(r + 1) & 31]) << 32;
                lanes.words([two(a), two(b), two(c), two(d)]);
            }
        }
        Type::Indices | Type::Object | Type::Patch => patch(lanes, memory, slot),
        Type::Set(element) | Type::Tuple(element) => {
            let elements = memory.lists.get(slot);
            lanes.word(elements.len() as u64);
            for element_slot in elements {
                value(lanes, memory, element, *element_slot);
            }
        }
        Type::Fixed(items) => {
            for (slot, item) in memory.lists.get(slot).iter().zip(items.iter()) {
                value(lanes, memory, item, *slot);
            }
        }
        _ => lanes.word(slot.0.cast_unsigned()),
    }
}

/// Adds a grid that is stored by its rows.
#[inline]
pub(super) fn grid(lanes: &mut Lanes, size: u64, words: &[u64]) {
    lanes.word(size);
    rows(lanes, words);
}

/// Adds a patch: its box, its locations, and its colours; a single colour is added once.
fn patch(lanes: &mut Lanes, memory: &Memory, slot: Slot) {
    let patch = memory.patches.get(slot);
    let corner = (i64::from(patch.i) << 32 ^ i64::from(patch.j)).cast_unsigned();
    let sides = u64::from(patch.height) << 16 | u64::from(patch.width);
    let shape = memory.patches.shape(&patch);
    let many = match patch.paint {
        Paint::None => None,
        Paint::One(code) => {
            lanes.words([corner, sides, 1, code.into()]);
            return rows(lanes, shape.rows);
        }
        Paint::Tile { .. } => Some(memory.object(&patch)),
    };
    let Some(object) = many else {
        lanes.words([corner, sides, 0, 0]);
        return rows(lanes, shape.rows);
    };
    let palette = object.palette();
    if palette.is_power_of_two() {
        lanes.words([corner, sides, 1, palette.trailing_zeros().into()]);
        return rows(lanes, shape.rows);
    }
    lanes.words([corner, sides, 2, 0]);
    rows(lanes, shape.rows);
    for r in 0..shape.rows.len() {
        lanes.words(object.row_with_planes(r).1);
    }
}

/// Adds rows, four at a time.
#[inline(always)]
fn rows(lanes: &mut Lanes, rows: &[u64]) {
    let (fours, rest) = rows.as_chunks::<4>();
    for four in fours {
        lanes.words(*four);
    }
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    lanes.words(last);
}

/// Adds an error in place of a value. The values in it are left to the comparison.
pub(super) fn error(lanes: &mut Lanes, error: &EvalError) {
    let mut hasher = FxHasher::default();
    std::mem::discriminant(&error.kind).hash(&mut hasher);
    error.primitive.hash(&mut hasher);
    lanes.word(hasher.finish() | 1);
}

/// The hash of a call.
pub(super) fn of_source(source: &Source) -> u128 {
    let mut lanes = Lanes::default();
    match source {
        Source::Input | Source::Constant(_) => {}
        Source::Primitive(primitive) => lanes.word(*primitive as u64 + 1),
        Source::Call {
            called,
            count,
            arguments,
        } => {
            lanes.word(match called {
                Called::Primitive(primitive) => *primitive as u64 + 1_000,
                Called::Function(node) => u64::from(node.0) + 2_000,
                Called::Defined(function) => u64::from(function.0) | 1 << 40,
            });
            for argument in &arguments[..usize::from(*count)] {
                lanes.word(u64::from(*argument));
            }
        }
    }
    lanes.finish()
}

/// Whether two values come from the same call, or are the same constant.
pub(super) fn is_same(a: &Source, b: &Source) -> bool {
    match (a, b) {
        (Source::Primitive(a), Source::Primitive(b)) => a == b,
        // Equal sets may be in different orders.
        (Source::Constant(a), Source::Constant(b)) => a == b && a.to_string() == b.to_string(),
        (
            Source::Call {
                called: a,
                count: m,
                arguments: x,
            },
            Source::Call {
                called: b,
                count: n,
                arguments: y,
            },
        ) => a == b && m == n && x == y,
        _ => false,
    }
}

/// How many elements at either end of a container of the reference are hashed.
const SAMPLED: usize = 8;

/// The hash of a value of the reference. Of large containers it covers only some elements: values are compared
/// before they are identified.
pub(super) fn loose(value: &Value) -> u64 {
    let mut hasher = FxHasher::default();
    take_loose(&mut hasher, value);
    hasher.finish()
}

fn take_loose(hasher: &mut FxHasher, value: &Value) {
    let elements = match value {
        Value::Tuple(_) | Value::Set(_) => value.values(),
        Value::Grid(grid) => {
            (grid.height(), grid.width()).hash(hasher);
            return grid.cells().hash(hasher);
        }
        Value::Indices(_) | Value::Object(_) => {
            // Its size and the elements at its ends.
            let Some(elements) = value.as_container() else {
                return;
            };
            elements.len().hash(hasher);
            let ends = [0, elements.len().saturating_sub(1)];
            for element in ends.iter().filter_map(|at| elements.iter_stored().nth(*at)) {
                element.hash(hasher);
            }
            return;
        }
        _ => return value.hash(hasher),
    };
    elements.len().hash(hasher);
    let (first, rest) = elements.split_at(elements.len().min(SAMPLED));
    let last = &rest[rest.len().saturating_sub(SAMPLED)..];
    for element in first.iter().chain(last) {
        take_loose(hasher, element);
    }
}

/// Whether two values of the reference are identical: equal, and of the same kind throughout, which tells a
/// grid from the tuple of its rows, and true from 1.
pub(super) fn is_same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Tuple(_), Value::Tuple(_)) | (Value::Set(_), Value::Set(_)) => {
            let (x, y) = (a.values(), b.values());
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_same_value(x, y))
        }
        _ => a.kind() == b.kind() && a == b,
    }
}
