//! Tuples, sets and their elements.

use std::cmp::Ordering;

use super::basics;
use super::{Choice, Extra, Want};
use crate::compiled::elements::{Cursor, len};
use crate::compiled::kernel::kernels;
use crate::compiled::machine::{Halt, Machine};
use crate::compiled::memory::{Memory, Patch};
use crate::compiled::order::{compare, is_scalar};
use crate::compiled::program::At;
use crate::compiled::slot::Slot;
use crate::container::ContainerKind;
use crate::form::Type;
use crate::planes::{Misfit, Window, colour_of, sets};
use crate::primitives::Primitive;

/// Brings what is on the stack from `base` on into the order of a set of such elements.
#[inline(always)]
pub(in crate::compiled) fn sort_set(m: &mut Machine, base: usize, element: &Type) {
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

/// The same for what does not order as its slots do: by keys, and by the values where these are
/// equal.
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
            // Empty ones are one and the same.
            if a.2 == b.2 {
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

/// Numbers that order values of the type as far as they go: the codes of a patch's first element
/// and, of locations, of the second. Nothing where one has none.
#[inline(always)]
fn key(memory: &Memory, element: &Type, slot: Slot) -> Option<(Slot, u64)> {
    Some(match element {
        Type::Indices => {
            let patch = memory.patches.get(slot);
            let mut locations = memory.patches.shape(&patch).locations();
            match (locations.next(), locations.next()) {
                (None, _) => (Slot::MISSING, 0),
                (Some(first), None) => (Slot::of_loc(first), 0),
                // The sign bit turned, codes order without a sign; no location has the code of 0.
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
fn equal(memory: &Memory, ty: &Type, a: Slot, b: Slot) -> bool {
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

/// What is made of the locations of two patches, with the colours of the first.
#[inline(always)]
fn part(
    m: &mut Machine,
    a: Slot,
    b: Slot,
    make: impl FnOnce(&Memory, [&Patch; 2], &mut Window) -> Result<(), Misfit>,
) -> Result<Slot, Halt> {
    let Machine { memory, window, .. } = m;
    let [a, b] = [a, b].map(|slot| memory.patches.get(slot));
    make(memory, [&a, &b], window)?;
    memory.patches.store_window(window, a.paint)
}

/// Whether an element of a list equals a value.
fn position(memory: &Memory, ty: &Type, list: Slot, value: Slot) -> Option<usize> {
    let list = memory.lists.get(list);
    list.iter().position(|&item| equal(memory, ty, item, value))
}

kernels! {
    /// Whether two values of the type are equal.
    EQUALITY |m, code, step| {
        Ok(Slot::of_bool(equal(&m.memory, code.ty(step), m.get(step.a), m.get(step.b))))
    }

    /// Whether two scalars are equal.
    EQUAL_SCALARS |m, _, step| { Ok(Slot::of_bool(m.get(step.a) == m.get(step.b))) }

    /// Never: values of types that have none in common.
    UNEQUAL |_, _, _| { Ok(Slot::of_bool(false)) }

    /// The second argument where the first is true, otherwise the third.
    BRANCH |m, _, step| { Ok(m.get(if m.get(step.a).bool() { step.b } else { step.c })) }

    /// Whether a location is in a patch.
    CONTAINED_LOC |m, _, step| {
        Ok(Slot::of_bool(m.shape(step.b).contains(m.loc(step.a))))
    }

    /// Whether a value is an element of a list of values of the type.
    CONTAINED |m, code, step| {
        let found = position(&m.memory, code.ty(step), m.get(step.b), m.get(step.a));
        Ok(Slot::of_bool(found.is_some()))
    }

    /// Whether an integer is the colour of a cell: its location is none.
    CONTAINED_IN_CELL |m, _, step| {
        Ok(Slot::of_bool(m.get(step.b).cell().colour == m.int(step.a)))
    }

    /// The colour of the first of a list of cells.
    COLOR_OF_LIST |m, _, step| {
        let first = m.list(step.a).first().ok_or(Halt::Empty)?;
        Ok(Slot::of_int(first.cell().colour))
    }

    /// An object without a cell.
    REMOVE_CELL |m, _, step| {
        let base = m.stack.len();
        let (cell, patch) = (m.get(step.a), m.get(step.b));
        m.stack.push(cell);
        let one = m.object_of_cells(base)?;
        part(m, patch, one, |memory, [a, b], window| {
            memory.object(a).difference(&memory.object(b), window)
        })
    }

    /// Number of elements.
    SIZE |m, code, step| {
        Ok(Slot::of_int(len(&m.memory, code.ty(step), m.get(step.a)) as i32))
    }

    /// Number of locations.
    SIZE_OF_PATCH |m, _, step| { Ok(Slot::of_int(m.shape(step.a).count() as i32)) }

    /// How many locations two sets have in common.
    SIZE_OF_INTERSECTION |m, _, step| {
        Ok(Slot::of_int(sets::common(m.shape(step.a), m.shape(step.b)) as i32))
    }

    /// How many locations the first set has and the second has not.
    SIZE_OF_DIFFERENCE |m, _, step| {
        let (a, b) = (m.shape(step.a), m.shape(step.b));
        Ok(Slot::of_int((a.count() - sets::common(a, b)) as i32))
    }

    /// The first element.
    FIRST |m, code, step| {
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        elements.next(&mut m.memory)?.ok_or(Halt::Empty)
    }

    /// The last element of a list.
    LAST_OF_LIST |m, _, step| { m.list(step.a).last().copied().ok_or(Halt::Empty) }

    /// The last cell of an object.
    LAST_CELL |m, _, step| {
        let cell = m.memory.object(&m.patch(step.a)).last_cell().ok_or(Halt::Empty)?;
        Slot::of_cell(cell).ok_or(Halt::Number)
    }

    /// The last element.
    LAST |m, code, step| {
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        let mut last = None;
        while let Some(element) = elements.next(&mut m.memory)? {
            last = Some(element);
        }
        last.ok_or(Halt::Empty)
    }

    /// The union of two patches of which nothing sees what lies outside 0..32 x 0..32.
    COMBINE_CLIPPED |m, _, step| {
        let base = m.stack.len();
        let (a, b) = (m.get(step.a), m.get(step.b));
        m.stack.push(a);
        m.stack.push(b);
        m.clipped_union(base)
    }

    /// The union of two patches.
    COMBINE_PATCHES |m, _, step| {
        let (a, b) = (m.get(step.a), m.get(step.b));
        let [first, second] = [a, b].map(|slot| m.memory.patches.get(slot));
        if first.is_empty() || second.is_empty() {
            return Ok(if first.is_empty() { b } else { a });
        }
        if first.paint == second.paint {
            return part(m, a, b, |memory, [a, b], window| {
                sets::union(memory.patches.shape(a), memory.patches.shape(b), window)
            });
        }
        let base = m.stack.len();
        m.stack.push(a);
        m.stack.push(b);
        m.union_of_patches(base)
    }

    /// The elements of two lists.
    COMBINE_LISTS |m, _, step| {
        let base = m.stack.len();
        for slot in [m.get(step.a), m.get(step.b)] {
            m.stack.extend_from_slice(m.memory.lists.get(slot));
        }
        m.list_of_stack(base)
    }

    /// The set of the elements, of the type, of two lists.
    COMBINE_SETS |m, code, step| {
        let base = m.stack.len();
        for slot in [m.get(step.a), m.get(step.b)] {
            m.stack.extend_from_slice(m.memory.lists.get(slot));
        }
        sort_set(m, base, code.ty(step));
        m.list_of_stack(base)
    }

    /// The locations of the first set that are in the second.
    INTERSECTION_OF_INDICES |m, _, step| {
        part(m, m.get(step.a), m.get(step.b), |memory, [a, b], window| {
            sets::intersection(memory.patches.shape(a), memory.patches.shape(b), window)
        })
    }

    /// The locations of the first set that are not in the second.
    DIFFERENCE_OF_INDICES |m, _, step| {
        part(m, m.get(step.a), m.get(step.b), |memory, [a, b], window| {
            sets::difference(memory.patches.shape(a), memory.patches.shape(b), window)
        })
    }

    /// The cells of the first object that are in the second.
    INTERSECTION_OF_OBJECTS |m, _, step| {
        part(m, m.get(step.a), m.get(step.b), |memory, [a, b], window| {
            memory.object(a).intersection(&memory.object(b), window)
        })
    }

    /// The cells of the first object that are not in the second.
    DIFFERENCE_OF_OBJECTS |m, _, step| {
        part(m, m.get(step.a), m.get(step.b), |memory, [a, b], window| {
            memory.object(a).difference(&memory.object(b), window)
        })
    }

    /// The elements, of the type, of the first list that are in the second.
    INTERSECTION_OF_LISTS |m, code, step| {
        let base = m.stack.len();
        let (a, b) = (m.get(step.a), m.get(step.b));
        m.spend(a.list().1 * b.list().1 / 64)?;
        for &item in m.memory.lists.get(a) {
            if position(&m.memory, code.ty(step), b, item).is_some() {
                m.stack.push(item);
            }
        }
        m.list_of_stack(base)
    }

    /// The elements, of the type, of the first list that are not in the second.
    DIFFERENCE_OF_LISTS |m, code, step| {
        let base = m.stack.len();
        let (a, b) = (m.get(step.a), m.get(step.b));
        m.spend(a.list().1 * b.list().1 / 64)?;
        for &item in m.memory.lists.get(a) {
            if position(&m.memory, code.ty(step), b, item).is_none() {
                m.stack.push(item);
            }
        }
        m.list_of_stack(base)
    }

    /// The elements, of the type, of a list that differ from a value.
    REMOVE |m, code, step| {
        let base = m.stack.len();
        let value = m.get(step.a);
        for &item in m.memory.lists.get(m.slots[step.b as usize]) {
            if !equal(&m.memory, code.ty(step), item, value) {
                m.stack.push(item);
            }
        }
        m.list_of_stack(base)
    }

    /// The locations of a patch but one.
    REMOVE_LOC |m, _, step| {
        let loc = m.loc(step.a);
        let patch = m.patch(step.b);
        if !m.shape(step.b).contains(loc) {
            return Ok(m.get(step.b));
        }
        sets::without(m.memory.patches.shape(&patch), loc, &mut m.window)?;
        m.memory.patches.store_window(&mut m.window, patch.paint)
    }

    /// The first element, of the type, of a list that differs from a value.
    OTHER |m, code, step| {
        let value = m.get(step.b);
        let list = m.list(step.a).iter();
        let mut others = list.filter(|&&item| !equal(&m.memory, code.ty(step), item, value));
        others.next().copied().ok_or(Halt::NoMatch)
    }

    /// The first location of a patch that differs from one.
    OTHER_LOC |m, _, step| {
        let loc = m.loc(step.b);
        let found = m.shape(step.a).locations().find(|&other| other != loc);
        found.map(Slot::of_loc).ok_or(Halt::NoMatch)
    }

    /// The set of one location.
    INITSET_LOC |m, _, step| {
        let base = m.stack.len();
        let loc = m.get(step.a);
        m.stack.push(loc);
        m.indices_of_locs(base)
    }

    /// The object of one cell.
    INITSET_CELL |m, _, step| {
        let base = m.stack.len();
        let cell = m.get(step.a);
        m.stack.push(cell);
        m.object_of_cells(base)
    }

    /// The list of one value.
    INITSET |m, _, step| {
        let value = m.get(step.a);
        m.memory.lists.add(&[value])
    }

    /// A patch with a location.
    INSERT_LOC |m, _, step| {
        let (loc, patch) = (m.loc(step.a), m.patch(step.b));
        sets::with(m.memory.patches.shape(&patch), loc, &mut m.window)?;
        m.store_window()
    }

    /// An object with a cell.
    INSERT_CELL |m, _, step| {
        let base = m.stack.len();
        let (cell, patch) = (m.get(step.a), m.get(step.b));
        m.stack.push(cell);
        let one = m.object_of_cells(base)?;
        m.stack.push(patch);
        m.stack.push(one);
        m.union_of_patches(base)
    }

    /// A set, of elements of the type, with a value.
    INSERT |m, code, step| {
        let base = m.stack.len();
        m.stack.extend_from_slice(m.memory.lists.get(m.slots[step.b as usize]));
        let value = m.get(step.a);
        m.stack.push(value);
        sort_set(m, base, code.ty(step));
        m.list_of_stack(base)
    }

    /// The set of a list of elements of the type.
    SET_OF_LIST |m, code, step| {
        let base = m.stack.len();
        m.stack.extend_from_slice(m.memory.lists.get(m.slots[step.a as usize]));
        sort_set(m, base, code.ty(step));
        m.list_of_stack(base)
    }

    /// The integers from one on, before another, so far apart.
    INTERVAL |m, _, step| {
        let (start, stop, by) = (m.int(step.a), m.int(step.b), m.int(step.c));
        if by == 0 {
            return Err(Halt::Fails);
        }
        let span = if by > 0 { stop - start } else { start - stop };
        let count = span.max(0).unsigned_abs().div_ceil(by.unsigned_abs());
        m.spend(count as usize / 64)?;
        if count > 1 << 20 {
            return Err(Halt::Memory);
        }
        m.memory.lists.collect((0..count as i32).map(|n| Slot::of_int(start + n * by)))
    }

    /// A value so many times.
    REPEAT |m, _, step| {
        let (value, count) = (m.get(step.a), m.int(step.b).max(0));
        if count > 1 << 20 {
            return Err(Halt::Memory);
        }
        m.spend(count as usize / 64)?;
        m.memory.lists.collect(std::iter::repeat_n(value, count as usize))
    }

    /// The tuple of a list's elements, of the type, that did not stand in it before.
    DEDUPE |m, code, step| {
        let base = m.stack.len();
        let list = m.get(step.a);
        m.spend(list.list().1 * list.list().1 / 64)?;
        for &item in m.memory.lists.get(list) {
            let seen = &m.stack[base..];
            if !seen.iter().any(|&other| equal(&m.memory, code.ty(step), item, other)) {
                m.stack.push(item);
            }
        }
        m.list_of_stack(base)
    }

    /// The element, of the type, that a list has most often.
    MOSTCOMMON |m, code, step| { common(m, code.ty(step), step.a, true) }

    /// The element, of the type, that a list has least often.
    LEASTCOMMON |m, code, step| { common(m, code.ty(step), step.a, false) }

    /// The pairs of integers that stand at the same place of two lists.
    ZIP_INTS |m, _, step| {
        let base = m.stack.len();
        let [a, b] = [step.a, step.b].map(|at| m.slots[at as usize]);
        let lists = &m.memory.lists;
        let pairs = lists.get(a).iter().zip(lists.get(b));
        m.stack.extend(pairs.map(|(a, b)| Slot::of_loc(crate::Loc::new(a.int(), b.int()))));
        m.list_of_stack(base)
    }

    /// The cells of a list of integers and one of locations.
    ZIP_CELLS |m, _, step| {
        let base = m.stack.len();
        let [a, b] = [step.a, step.b].map(|at| m.slots[at as usize]);
        let lists = &m.memory.lists;
        for (a, b) in lists.get(a).iter().zip(lists.get(b)) {
            let cell = crate::Cell::new(a.int(), b.loc());
            m.stack.push(Slot::of_cell(cell).ok_or(Halt::Number)?);
        }
        m.list_of_stack(base)
    }

    /// The tuples of what stands at the same place of two lists.
    ZIP_LISTS |m, _, step| {
        let base = m.stack.len();
        let [(a, a_len), (b, b_len)] = [step.a, step.b].map(|at| m.get(at).list());
        for at in 0..a_len.min(b_len) {
            let pair = [m.memory.lists.at(a + at), m.memory.lists.at(b + at)];
            let tuple = m.memory.lists.add(&pair)?;
            m.stack.push(tuple);
        }
        m.list_of_stack(base)
    }

    /// All pairs of an integer of one list with one of another.
    PRODUCT_OF_INTS |m, _, step| {
        let base = m.stack.len();
        let [a, b] = [step.a, step.b].map(|at| m.slots[at as usize]);
        m.spend(a.list().1 * b.list().1 / 64)?;
        for first in m.memory.lists.get(a) {
            for second in m.memory.lists.get(b) {
                m.stack.push(Slot::of_loc(crate::Loc::new(first.int(), second.int())));
            }
        }
        m.indices_of_locs(base)
    }

    /// The list of all pairs of an integer of one list with one of another.
    PRODUCT_AS_LIST |m, _, step| {
        let base = m.stack.len();
        let [a, b] = [step.a, step.b].map(|at| m.slots[at as usize]);
        m.spend(a.list().1 * b.list().1 / 64)?;
        for i in m.memory.lists.get(a) {
            for j in m.memory.lists.get(b) {
                m.stack.push(Slot::of_loc(crate::Loc::new(i.int(), j.int())));
            }
        }
        sort_set(m, base, &Type::Pair);
        m.list_of_stack(base)
    }

    /// All tuples of an element of one set with one of another: ascending as they come.
    PRODUCT |m, _, step| {
        let base = m.stack.len();
        let [(a, a_len), (b, b_len)] = [step.a, step.b].map(|at| m.get(at).list());
        m.spend(a_len * b_len)?;
        for first in 0..a_len {
            for second in 0..b_len {
                let pair = [m.memory.lists.at(a + first), m.memory.lists.at(b + second)];
                let tuple = m.memory.lists.add(&pair)?;
                m.stack.push(tuple);
            }
        }
        m.list_of_stack(base)
    }

    /// The elements, of the type, of a list that have so many elements.
    SIZEFILTER |m, code, step| {
        let base = m.stack.len();
        let size = m.int(step.b);
        for &item in m.memory.lists.get(m.slots[step.a as usize]) {
            if i64::from(size) == len(&m.memory, code.ty(step), item) as i64 {
                m.stack.push(item);
            }
        }
        m.list_of_stack(base)
    }

    /// The objects of a list whose first cell has the colour.
    COLORFILTER |m, _, step| {
        let base = m.stack.len();
        let colour = m.int(step.b);
        for &item in m.memory.lists.get(m.slots[step.a as usize]) {
            let patch = m.memory.patches.get(item);
            let first = m.memory.object(&patch).first_code().ok_or(Halt::Empty)?;
            if colour_of(first) == colour {
                m.stack.push(item);
            }
        }
        m.list_of_stack(base)
    }
}

fn common(m: &mut Machine, ty: &Type, list: At, most: bool) -> Result<Slot, Halt> {
    let base = m.stack.len();
    m.stack
        .extend_from_slice(m.memory.lists.get(m.slots[list as usize]));
    let memory = &m.memory;
    let slots = &mut m.stack[base..];
    slots.sort_unstable_by(|&a, &b| compare(memory, ty, a, b));
    let mut best: Option<(usize, Slot)> = None;
    let mut at = 0;
    while at < slots.len() {
        let first = slots[at];
        let run = slots[at..]
            .iter()
            .take_while(|&&slot| equal(memory, ty, slot, first))
            .count();
        let better = best.is_none_or(|(n, _)| if most { run > n } else { run < n });
        if better {
            best = Some((run, first));
        }
        at += run;
    }
    m.stack.truncate(base);
    best.map(|(_, slot)| slot).ok_or(Halt::Empty)
}

/// The one type in which two values are compared, where there is one.
fn joined(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (Type::Bool, Type::Int | Type::MaybeInt) | (Type::Int | Type::MaybeInt, Type::Bool) => {
            Some(Type::MaybeInt)
        }
        _ => a.join(b),
    }
}

/// Whether values of the two types can be told to be unequal from their types alone.
fn unlike(a: &Type, b: &Type) -> bool {
    let class = |ty: &Type| match ty {
        Type::Bool | Type::Int => Some(0),
        Type::Pair | Type::Cell => Some(1),
        Type::Never => None,
        _ if ty.container() == Some(ContainerKind::Set) => Some(2),
        _ => None,
    };
    matches!((class(a), class(b)), (Some(a), Some(b)) if a != b)
}

pub(super) fn select(
    primitive: Primitive,
    arguments: &[Type],
    result: &Type,
    clipped: bool,
) -> Option<Choice> {
    use Primitive as P;
    use Want as W;
    let as_type = |ty: &Type| W::Type(ty.clone());
    let typed = |ty: &Type| Extra::Type(ty.clone());
    let list_of = |ty: &Type| Some(Type::tuple_of(ty.element()?));
    let is_patch = |ty: &Type| matches!(ty, Type::Indices | Type::Object | Type::Patch);
    let a = &arguments[0];
    let b = arguments.get(1).unwrap_or(a);
    Some(match primitive {
        P::identity => Choice::new(&basics::COPY, &[W::AsIs]),
        P::equality => match joined(a, b) {
            Some(ty) if is_scalar(&ty) => {
                Choice::new(&EQUAL_SCALARS, &[as_type(&ty), as_type(&ty)])
            }
            Some(ty) => Choice::new(&EQUALITY, &[as_type(&ty), as_type(&ty)]).with(typed(&ty)),
            None if unlike(a, b) => Choice::new(&UNEQUAL, &[W::AsIs, W::AsIs]),
            None => return None,
        },
        P::branch if matches!(a, Type::Bool | Type::Int) => {
            Choice::new(&BRANCH, &[W::AsIs, as_type(result), as_type(result)])
        }
        P::contained => match b {
            Type::Cell if matches!(a, Type::Int | Type::Bool) => {
                Choice::new(&CONTAINED_IN_CELL, &[W::Int, W::AsIs])
            }
            Type::Indices if matches!(a, Type::Pair | Type::MaybePair) => {
                Choice::new(&CONTAINED_LOC, &[W::Pair, W::Patch])
            }
            _ => {
                let element = joined(a, &b.element()?)?;
                let list = Type::tuple_of(element.clone());
                Choice::new(&CONTAINED, &[as_type(&element), as_type(&list)]).with(typed(&element))
            }
        },
        P::size => match a {
            Type::Indices | Type::Object | Type::Patch => Choice::new(&SIZE_OF_PATCH, &[W::AsIs]),
            _ => {
                a.container()?;
                Choice::new(&SIZE, &[W::AsIs]).with(typed(a))
            }
        },
        P::first | P::last => {
            let first = primitive == P::first;
            match a {
                Type::Pair => {
                    let kernel = if first {
                        &basics::ROW_OF_PAIR
                    } else {
                        &basics::COLUMN_OF_PAIR
                    };
                    Choice::new(kernel, &[W::AsIs])
                }
                Type::MaybePair => {
                    let kernel = if first {
                        &basics::ROW_OF_PAIR
                    } else {
                        &basics::COLUMN_OF_PAIR
                    };
                    Choice::new(kernel, &[W::Pair])
                }
                Type::Cell => {
                    let kernel = if first {
                        &basics::COLOUR_OF_CELL
                    } else {
                        &basics::LOC_OF_CELL
                    };
                    Choice::new(kernel, &[W::AsIs])
                }
                Type::Fixed(items) => {
                    let at = if first { 0 } else { items.len() - 1 };
                    Choice::new(&basics::ITEM, &[W::AsIs]).with(Extra::Number(at as u32))
                }
                Type::Set(_) | Type::Tuple(_) if !first => Choice::new(&LAST_OF_LIST, &[W::AsIs]),
                Type::Object if !first => Choice::new(&LAST_CELL, &[W::AsIs]),
                Type::Indices | Type::Object | Type::Grid | Type::Set(_) | Type::Tuple(_) => {
                    let kernel = if first { &FIRST } else { &LAST };
                    Choice::new(kernel, &[W::AsIs]).with(typed(a))
                }
                _ => return None,
            }
        }
        P::combine => match result {
            Type::Indices | Type::Object | Type::Patch => {
                let kernel = if clipped {
                    &COMBINE_CLIPPED
                } else {
                    &COMBINE_PATCHES
                };
                Choice::new(kernel, &[as_type(result), as_type(result)])
            }
            Type::Set(element) => {
                Choice::new(&COMBINE_SETS, &[as_list(result), as_list(result)]).with(typed(element))
            }
            Type::Tuple(_) => Choice::new(&COMBINE_LISTS, &[as_list(result), as_list(result)]),
            _ => return None,
        },
        P::intersection | P::difference => {
            let common = primitive == P::intersection;
            match (a, b) {
                (Type::Indices, Type::Indices) => {
                    let kernel = if common {
                        &INTERSECTION_OF_INDICES
                    } else {
                        &DIFFERENCE_OF_INDICES
                    };
                    Choice::new(kernel, &[W::AsIs, W::AsIs])
                }
                (Type::Object, Type::Object) => {
                    let kernel = if common {
                        &INTERSECTION_OF_OBJECTS
                    } else {
                        &DIFFERENCE_OF_OBJECTS
                    };
                    Choice::new(kernel, &[W::AsIs, W::AsIs])
                }
                // No location is a cell.
                (Type::Indices, Type::Object) | (Type::Object, Type::Indices) => {
                    let kernel = if common {
                        &basics::ABSENT
                    } else {
                        &basics::COPY
                    };
                    Choice::new(kernel, &[W::AsIs, W::AsIs])
                }
                (Type::Indices | Type::Object | Type::Patch, Type::Set(never))
                    if **never == Type::Never =>
                {
                    let kernel = if common {
                        &INTERSECTION_OF_INDICES
                    } else {
                        &DIFFERENCE_OF_INDICES
                    };
                    Choice::new(kernel, &[W::AsIs, W::Patch])
                }
                (Type::Set(_) | Type::Tuple(_) | Type::Fixed(_), _) if !is_patch(result) => {
                    let element = joined(&a.element()?, &b.element()?)?;
                    let list = Type::tuple_of(element.clone());
                    let kernel = if common {
                        &INTERSECTION_OF_LISTS
                    } else {
                        &DIFFERENCE_OF_LISTS
                    };
                    Choice::new(kernel, &[as_type(&list), as_type(&list)])
                        .with(typed(&element))
                        .giving(container_like(result, &element))
                }
                _ => return None,
            }
        }
        P::color => match a {
            Type::Tuple(cell) if **cell == Type::Cell => Choice::new(&COLOR_OF_LIST, &[W::AsIs]),
            Type::Fixed(items) if items.iter().all(|item| *item == Type::Cell) => {
                Choice::new(&COLOR_OF_LIST, &[W::AsIs])
            }
            _ => return None,
        },
        P::remove => match b {
            Type::Indices if matches!(a, Type::Pair | Type::MaybePair) => {
                Choice::new(&REMOVE_LOC, &[W::Pair, W::AsIs])
            }
            Type::Object if *a == Type::Cell => Choice::new(&REMOVE_CELL, &[W::AsIs, W::AsIs]),
            Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) | Type::Grid => {
                let element = joined(a, &b.element()?)?;
                let list = Type::tuple_of(element.clone());
                Choice::new(&REMOVE, &[as_type(&element), as_type(&list)])
                    .with(typed(&element))
                    .giving(container_like(result, &element))
            }
            _ => return None,
        },
        P::other => match a {
            Type::Indices if matches!(b, Type::Pair | Type::MaybePair) => {
                Choice::new(&OTHER_LOC, &[W::AsIs, W::Pair])
            }
            Type::Set(_) | Type::Tuple(_) | Type::Fixed(_) => {
                let element = joined(&a.element()?, b)?;
                let list = Type::tuple_of(element.clone());
                Choice::new(&OTHER, &[as_type(&list), as_type(&element)])
                    .with(typed(&element))
                    .giving(element)
            }
            _ => return None,
        },
        P::initset => match result {
            Type::Indices => Choice::new(&INITSET_LOC, &[W::Pair]),
            Type::Object => Choice::new(&INITSET_CELL, &[as_type(&Type::Cell)]),
            _ => Choice::new(&INITSET, &[W::AsIs]),
        },
        P::insert => match result {
            Type::Indices => Choice::new(&INSERT_LOC, &[W::Pair, as_type(result)]),
            Type::Object => Choice::new(&INSERT_CELL, &[as_type(&Type::Cell), as_type(result)]),
            Type::Set(element) => {
                Choice::new(&INSERT, &[as_type(element), as_list(result)]).with(typed(element))
            }
            _ => return None,
        },
        P::interval => Choice::new(&INTERVAL, &[W::Int, W::Int, W::Int]),
        P::repeat => match result {
            Type::Tuple(element) => Choice::new(&REPEAT, &[as_type(element), W::Int]),
            _ => return None,
        },
        P::dedupe => {
            let list = list_of(a)?;
            Choice::new(&DEDUPE, &[as_type(&list)])
                .with(typed(&list.element()?))
                .giving(list)
        }
        P::mostcommon | P::leastcommon => {
            let list = list_of(a)?;
            let kernel = if primitive == P::mostcommon {
                &MOSTCOMMON
            } else {
                &LEASTCOMMON
            };
            Choice::new(kernel, &[as_type(&list)])
                .with(typed(&list.element()?))
                .giving(list.element()?)
        }
        P::totuple => match a.container()? {
            ContainerKind::Tuple => Choice::new(&basics::COPY, &[W::AsIs]),
            ContainerKind::Set => match a {
                Type::Set(_) => Choice::new(&basics::COPY, &[W::AsIs]),
                Type::Indices | Type::Object => {
                    Choice::new(&basics::LIST_OF_ELEMENTS, &[W::AsIs]).with(typed(a))
                }
                _ => return None,
            },
        },
        P::astuple => match result {
            Type::Pair => Choice::new(&basics::PAIR, &[W::Int, W::Int]),
            Type::Cell => Choice::new(&basics::CELL, &[W::Int, W::Pair]),
            _ => return None,
        },
        P::pair => {
            let (first, second) = (a.element()?, b.element()?);
            let lists = [
                as_type(&Type::tuple_of(first.clone())),
                as_type(&Type::tuple_of(second.clone())),
            ];
            match Type::fixed(vec![first, second]) {
                Type::Pair => Choice::new(&ZIP_INTS, &lists),
                Type::Cell => Choice::new(&ZIP_CELLS, &lists),
                _ => Choice::new(&ZIP_LISTS, &lists),
            }
        }
        P::product => {
            let (first, second) = (a.element()?, b.element()?);
            let lists = [
                as_type(&Type::tuple_of(first)),
                as_type(&Type::tuple_of(second)),
            ];
            let sets = [a.container(), b.container()] == [Some(ContainerKind::Set); 2];
            match result {
                Type::Indices => Choice::new(&PRODUCT_OF_INTS, &lists),
                Type::Set(pair) if **pair == Type::Pair => Choice::new(&PRODUCT_AS_LIST, &lists),
                Type::Set(_) if sets => Choice::new(&PRODUCT, &lists),
                _ => return None,
            }
        }
        P::sizefilter | P::colorfilter => match (a, result) {
            (Type::Set(element), Type::Set(_)) => {
                if primitive == P::sizefilter {
                    element.container()?;
                    Choice::new(&SIZEFILTER, &[W::AsIs, W::Int]).with(typed(element))
                } else if **element == Type::Object {
                    Choice::new(&COLORFILTER, &[W::AsIs, W::Int])
                } else {
                    return None;
                }
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// A container of this type as a list, its elements of the type's own.
fn as_list(ty: &Type) -> Want {
    Want::Type(Type::tuple_of(ty.element().unwrap_or(Type::Never)))
}

/// The type of a container of elements of a type, of the kind that `ty` is.
fn container_like(ty: &Type, element: &Type) -> Type {
    match ty.container() {
        Some(ContainerKind::Set) => Type::Set(element.clone().into()),
        _ => Type::tuple_of(element.clone()),
    }
}

#[cfg(test)]
mod tests {
    use crate::Primitive;
    use crate::compiled::ops::testing::check;

    #[test]
    fn sets_are_joined_and_cut_as_in_the_reference() {
        for primitive in [
            Primitive::combine,
            Primitive::intersection,
            Primitive::difference,
            Primitive::insert,
            Primitive::remove,
        ] {
            let (answered, run) = check(primitive, 1, 400);
            assert!(
                run > 250 && 4 * answered > 3 * run,
                "{primitive}: {answered} of {run}"
            );
        }
    }
}
