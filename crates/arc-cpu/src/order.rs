//! The order in which sets lie, and the order of keys.

use std::cmp::Ordering;

use super::bail_out::BailOut;
use super::elements::Cells;
use super::memory::{Memory, Paint};
use super::slot::Slot;
use crate::planes::{rows, sets};
use arc_form::Type;

/// Whether values of the type order as their slots do.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Bool | Type::Int | Type::MaybeInt | Type::Pair | Type::MaybePair | Type::Cell
    )
}

/// Compares two values of a type in the order in which sets lie; values are equal if Python says so.
pub(crate) fn compare(memory: &Memory, ty: &Type, a: Slot, b: Slot) -> Ordering {
    match ty {
        Type::Indices => {
            let patches = &memory.patches;
            let (a, b) = (patches.get(a), patches.get(b));
            sets::order(patches.shape(&a), patches.shape(&b))
        }
        Type::Object => compare_objects(memory, a, b),
        Type::Patch => {
            let [x, y] = [a, b].map(|slot| memory.patches.get(slot));
            match (x.is_empty(), y.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => match (x.paint, y.paint) {
                    (Paint::None, Paint::None) => compare(memory, &Type::Indices, a, b),
                    // A location starts with a number and a cell with a colour, and both are compared as
                    // tuples: the location comes first only if its number is smaller.
                    (Paint::None, _) => compare_loc_with_cell(memory, a, b),
                    (_, Paint::None) => compare_loc_with_cell(memory, b, a).reverse(),
                    _ => compare_objects(memory, a, b),
                },
            }
        }
        Type::Grid => {
            let [a, b] = [a, b].map(|slot| memory.tiles.get(slot));
            rows::order(a, b)
        }
        Type::Set(element) | Type::Tuple(element) => {
            let [a, b] = [a, b].map(|slot| memory.lists.get(slot));
            for (&a, &b) in a.iter().zip(b) {
                match compare(memory, element, a, b) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                }
            }
            a.len().cmp(&b.len())
        }
        Type::Fixed(items) => {
            let [a, b] = [a, b].map(|slot| memory.lists.get(slot));
            let pairs = a.iter().zip(b).zip(items.iter());
            for ((&a, &b), item) in pairs {
                match compare(memory, item, a, b) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                }
            }
            Ordering::Equal
        }
        _ => a.cmp(&b),
    }
}

fn compare_objects(memory: &Memory, a: Slot, b: Slot) -> Ordering {
    let [a, b] = [a, b].map(|slot| memory.patches.get(slot));
    memory.object(&a).compare(&memory.object(&b))
}

/// Compares a set of locations with a set of cells, neither of them empty.
fn compare_loc_with_cell(memory: &Memory, locs: Slot, cells: Slot) -> Ordering {
    let [a, b] = [locs, cells].map(|slot| memory.patches.get(slot));
    let loc = memory.patches.shape(&a).locations().next();
    let cell = Cells::new(memory, &b).next(memory);
    match (loc, cell) {
        // An integer lies before a pair.
        (Some(loc), Some(cell)) => loc.i.cmp(&cell.colour).then(Ordering::Less),
        _ => Ordering::Equal,
    }
}

/// Whether these keys of a type have a total order. Missing values have none, nor have sets, which compare as subsets.
pub(crate) fn have_order(ty: &Type, mut keys: impl Iterator<Item = Slot>) -> bool {
    fn are_whole(ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Int | Type::Pair | Type::Cell | Type::Grid => true,
            Type::Tuple(element) => are_whole(element),
            Type::Fixed(items) => items.iter().all(are_whole),
            _ => false,
        }
    }
    match ty {
        Type::MaybeInt | Type::MaybePair => keys.all(|key| key != Slot::MISSING),
        _ => are_whole(ty),
    }
}

/// Compares two keys of `argmax`, `order` and similar primitives. Sets have only a partial order, which is left to the
/// reference, and a missing integer compares with nothing.
pub(crate) fn compare_keys(
    memory: &Memory,
    ty: &Type,
    a: Slot,
    b: Slot,
) -> Result<Ordering, BailOut> {
    Ok(match ty {
        Type::Bool | Type::Int | Type::Pair | Type::Cell => a.cmp(&b),
        // A missing integer compares with nothing and a missing pair as the empty tuple: left to the reference.
        Type::MaybeInt | Type::MaybePair => {
            if a == Slot::MISSING || b == Slot::MISSING {
                return Err(BailOut::Type);
            }
            a.cmp(&b)
        }
        Type::Indices | Type::Object | Type::Patch | Type::Set(_) => return Err(BailOut::Order),
        Type::Tuple(element) => {
            let [a, b] = [a, b].map(|slot| memory.lists.get(slot));
            for (&a, &b) in a.iter().zip(b) {
                if compare(memory, element, a, b).is_ne() {
                    return compare_keys(memory, element, a, b);
                }
            }
            a.len().cmp(&b.len())
        }
        Type::Fixed(items) => {
            let [a, b] = [a, b].map(|slot| memory.lists.get(slot));
            for ((&a, &b), item) in a.iter().zip(b).zip(items.iter()) {
                if compare(memory, item, a, b).is_ne() {
                    return compare_keys(memory, item, a, b);
                }
            }
            Ordering::Equal
        }
        Type::Grid => compare(memory, ty, a, b),
        Type::Never => return Err(BailOut::Fails),
    })
}
