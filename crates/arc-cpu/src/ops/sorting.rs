//! The order in which sets lie, equality, and frequencies.

use std::cmp::Ordering;

use super::counting;
use crate::bail_out::BailOut;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::order::{compare, is_scalar};
use crate::slot::At;
use crate::slot::Slot;
use arc_dsl::Value;
use arc_form::Type;

/// Sorts the elements on the stack, from `base` on, as sets lie, and removes equal ones.
#[inline(always)]
pub(super) fn sort_set(m: &mut Machine, base: usize, element: &Type) {
    if is_scalar(element) {
        let slots = &mut m.stack[base..];
        slots.sort_unstable();
        let mut kept = usize::from(!slots.is_empty());
        for at in 1..slots.len() {
            if slots[at] != slots[kept - 1] {
                slots[kept] = slots[at];
                kept += 1;
            }
        }
        m.stack.truncate(base + kept);
    } else {
        sort_values(m, base, element);
    }
}

/// The same for values that do not order as their slots do: by keys, and by the values if the keys are equal.
#[inline(never)]
fn sort_values(m: &mut Machine, base: usize, element: &Type) {
    let Machine {
        memory,
        stack,
        keys,
        ..
    } = m;
    let slots = &mut stack[base..];
    let below = keys.len();
    keys.extend(slots.iter().map(|&slot| (Slot::default(), 0, slot)));
    let keyed = &mut keys[below..];
    let keys_fit = keyed.iter_mut().all(|(first, second, slot)| {
        let found = key(memory, element, *slot);
        (*first, *second) = found.unwrap_or_default();
        found.is_some()
    });
    if !keys_fit {
        let plain = |keyed: &mut (Slot, u64, Slot)| (keyed.0, keyed.1) = Default::default();
        keyed.iter_mut().for_each(plain);
    }
    let order = |a: &(Slot, u64, Slot), b: &(Slot, u64, Slot)| {
        (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| {
            // Values with equal keys are often equal, which is faster to find out than their order.
            if a.2 == b.2 || (*element == Type::Object && equal(memory, element, a.2, b.2)) {
                Ordering::Equal
            } else {
                compare(memory, element, a.2, b.2)
            }
        })
    };
    keyed.sort_unstable_by(order);
    let mut kept = 0;
    for (at, one) in keyed.iter().enumerate() {
        if at == 0 || order(one, &keyed[at - 1]).is_ne() {
            slots[kept] = one.2;
            kept += 1;
        }
    }
    keys.truncate(below);
    stack.truncate(base + kept);
}

/// A key that orders values of the type partially: the code of a patch's first element and, for locations, of
/// the second. `None` if a cell has no code.
#[inline(always)]
fn key(memory: &Memory, element: &Type, slot: Slot) -> Option<(Slot, u64)> {
    Some(match element {
        Type::Indices => {
            let patch = memory.patches.get(slot);
            let mut locations = memory.patches.shape(&patch).locations();
            match (locations.next(), locations.next()) {
                (None, _) => (Slot::MISSING, 0),
                (Some(first), None) => (Slot::of_loc(first), 0),
                // With the sign bit flipped, codes order as unsigned numbers; no location has the code 0.
                (Some(first), Some(second)) => {
                    let code = Slot::of_loc(second).0 ^ i64::MIN;
                    (Slot::of_loc(first), code as u64)
                }
            }
        }
        Type::Object => {
            let object = memory.object(&memory.patches.get(slot));
            match object.first_cell() {
                None => (Slot::MISSING, 0),
                Some(cell) => (Slot::of_cell(cell)?, 0),
            }
        }
        _ => (Slot::default(), 0),
    })
}

/// Whether two values of a type are equal.
#[inline(always)]
pub(crate) fn equal(memory: &Memory, ty: &Type, a: Slot, b: Slot) -> bool {
    if a == b {
        return true;
    }
    match ty {
        Type::Indices => {
            let [a, b] = [a, b].map(|slot| memory.patches.get(slot));
            memory.patches.shape(&a) == memory.patches.shape(&b)
        }
        Type::Grid => memory.tiles.get(a) == memory.tiles.get(b),
        Type::Object => {
            let [a, b] = [a, b].map(|slot| memory.patches.get(slot));
            memory.object(&a).equals(&memory.object(&b))
        }
        ty if is_scalar(ty) => a == b,
        _ => compare(memory, ty, a, b).is_eq(),
    }
}

/// The most common, or least common, element of a list; of several, the first in Python's set of them.
pub(super) fn common(m: &mut Machine, ty: &Type, list: At, most: bool) -> Result<Slot, BailOut> {
    if *ty == Type::Int
        && let Some(found) = counting::common(m.list(list), most)
    {
        return Ok(found);
    }
    let base = m.stack.len();
    m.stack
        .extend_from_slice(m.memory.lists.get(m.slots[list as usize]));
    let memory = &m.memory;
    let slots = &mut m.stack[base..];
    slots.sort_unstable_by(|&a, &b| compare(memory, ty, a, b));
    let mut best: Option<(usize, Slot)> = None;
    let mut tied = false;
    let mut at = 0;
    while at < slots.len() {
        let first = slots[at];
        let run = slots[at..]
            .iter()
            .take_while(|&&slot| equal(memory, ty, slot, first))
            .count();
        let better = best.is_none_or(|(n, _)| if most { run > n } else { run < n });
        tied = !better && (tied || best.is_some_and(|(n, _)| n == run));
        if better {
            best = Some((run, first));
        }
        at += run;
    }
    m.stack.truncate(base);
    let (_, best) = best.ok_or(BailOut::Empty)?;
    if tied {
        first_common(m, ty, list, most)
    } else {
        Ok(best)
    }
}

/// The same where several elements are equally common.
#[cold]
#[inline(never)]
fn first_common(m: &Machine, ty: &Type, list: At, most: bool) -> Result<Slot, BailOut> {
    let slots = m.list(list);
    let values = slots.iter().map(|&slot| m.value(ty, slot));
    let values: Vec<Value> = values.collect::<Result<_, _>>()?;
    let found = Value::commonest(&values, most).ok_or(BailOut::Empty)?;
    let at = values.iter().position(|value| *value == found);
    Ok(slots[at.ok_or(BailOut::Order)?])
}
