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
        let kept = keep_first(slots, |a, b| a == b);
        m.stack.truncate(base + kept);
    } else {
        sort_values(m, base, element);
    }
}

/// The same for values that do not order as their slots do.
#[inline(never)]
fn sort_values(m: &mut Machine, base: usize, element: &Type) {
    let Machine { memory, stack, .. } = m;
    let slots = &mut stack[base..];
    let order = |a: Slot, b: Slot| {
        // They are often equal, which is faster to find out than their order.
        if a == b || (*element == Type::Object && equal(memory, element, a, b)) {
            Ordering::Equal
        } else {
            compare(memory, element, a, b)
        }
    };
    slots.sort_unstable_by(|&a, &b| order(a, b));
    let kept = keep_first(slots, |a, b| order(a, b).is_eq());
    stack.truncate(base + kept);
}

/// Moves the first of each run of equal slots to the front; returns how many there are.
#[inline(always)]
fn keep_first(slots: &mut [Slot], are_equal: impl Fn(Slot, Slot) -> bool) -> usize {
    let mut kept = usize::from(!slots.is_empty());
    for at in 1..slots.len() {
        if !are_equal(slots[at], slots[kept - 1]) {
            slots[kept] = slots[at];
            kept += 1;
        }
    }
    kept
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
