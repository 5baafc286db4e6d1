//! Endings of loops: kernels that build a list, set, patch or grid from the results on the stack, and unordered
//! sets, which find equal elements by hash where that pays.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

use super::sorting::{equal, sort_set};
use crate::bail_out::BailOut;
use crate::definition::is_set;
use crate::elements::Cursor;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::planes::Tile;
use crate::program::Kernel;
use crate::program::{Code, Step};
use crate::slot::Slot;
use arc_dsl::Loc;
use arc_form::Type;

/// How a loop builds its value from the results that it has pushed on the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// A tuple of them.
    List,
    /// The pair of two integers.
    Pair,
    /// The set of them; they are of this type.
    Set(Type),
    /// The set of locations.
    Indices,
    /// The set of cells.
    Object,
    /// The union of the patches.
    Union,
    /// The union of the patches, of which no use sees cells outside 0..32 x 0..32.
    ClippedUnion,
    /// A tuple of the elements of containers; the containers are of this type.
    Concat(Type),
    /// The same, of which no use sees the order.
    Joined(Type),
    /// The set of the elements of containers; the containers are of the first type, the elements of the second.
    ConcatSet(Type, Type),
    /// The unordered set of them, which may contain equal elements.
    Unordered,
    /// The unordered set of them without equal elements; they are of this type.
    Distinct(Type),
    /// The unordered set of the elements of containers without equal elements; the containers are of the first
    /// type, the elements of the second.
    ConcatDistinct(Type, Type),
    /// The grids stacked vertically.
    Stack,
}

impl Finish {
    /// The kernel that builds the value from the stack, from [`Machine::base`] on.
    pub(crate) fn kernel(&self) -> &'static Kernel {
        match self {
            Finish::List => &END_LIST,
            Finish::Pair => &END_PAIR,
            Finish::Set(_) => &END_SET,
            Finish::Indices => &END_INDICES,
            Finish::Object => &END_OBJECT,
            Finish::Union => &END_UNION,
            Finish::ClippedUnion => &END_CLIPPED_UNION,
            Finish::Concat(_) => &END_CONCAT,
            Finish::Joined(_) => &END_JOINED,
            Finish::ConcatSet(..) => &END_CONCAT_SET,
            Finish::Unordered => &END_UNORDERED,
            Finish::Distinct(_) => &END_DISTINCT,
            Finish::ConcatDistinct(..) => &END_CONCAT_DISTINCT,
            Finish::Stack => &END_STACK,
        }
    }

    /// The types of the containers that it iterates over and of the elements that it sorts.
    pub(crate) fn types(&self) -> [Type; 2] {
        match self {
            Finish::Set(element) | Finish::Distinct(element) => [Type::Never, element.clone()],
            Finish::Concat(inner) | Finish::Joined(inner) => [inner.clone(), Type::Never],
            Finish::ConcatSet(inner, element) | Finish::ConcatDistinct(inner, element) => {
                [inner.clone(), element.clone()]
            }
            _ => [Type::Never, Type::Never],
        }
    }
}

/// Builds the value of a loop from the stack, from `base` on. A separate kernel does it, so that the loops are
/// small.
#[inline(always)]
pub(crate) fn finish(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    base: usize,
) -> Result<Slot, BailOut> {
    m.base = base;
    code.endings[step.c as usize].run.call(m, code, step)
}

kernels! {
    /// A tuple.
    END_LIST |m, _, _| { m.list_of_stack(m.base) }

    /// The pair of two integers.
    END_PAIR |m, _, _| {
        let base = m.base;
        let pair = Loc::new(m.stack[base].int(), m.stack[base + 1].int());
        m.stack.truncate(base);
        Ok(Slot::of_loc(pair))
    }

    /// A set.
    END_SET |m, code, step| {
        let base = m.base;
        sort_set(m, base, &code.types[code.endings[step.c as usize].element as usize]);
        m.list_of_stack(base)
    }

    /// The set of locations.
    END_INDICES |m, _, _| { m.indices_of_locs(m.base) }

    /// The set of cells.
    END_OBJECT |m, _, _| { m.object_of_cells(m.base) }

    /// The union of patches.
    END_UNION |m, _, _| { m.union_of_patches(m.base) }

    /// The union of patches, of which no use sees cells outside 0..32 x 0..32.
    END_CLIPPED_UNION |m, _, _| { m.clipped_union(m.base) }

    /// A tuple of the elements of containers.
    END_CONCAT |m, code, step| {
        let base = m.base;
        let inner = &code.types[code.endings[step.c as usize].inner as usize];
        // Sets come in an order that only how they were built tells.
        if is_set(inner) && m.stack[base..].iter().any(|&set| m.has_several(inner, set)) {
            return Err(BailOut::Order);
        }
        concat(m, base, inner)?;
        m.list_of_stack(base)
    }

    /// The same if no use sees the order of elements.
    END_JOINED |m, code, step| {
        let base = m.base;
        concat(m, base, &code.types[code.endings[step.c as usize].inner as usize])?;
        m.list_of_stack(base)
    }

    /// The set of the elements of containers.
    END_CONCAT_SET |m, code, step| {
        let base = m.base;
        let ending = code.endings[step.c as usize];
        concat(m, base, &code.types[ending.inner as usize])?;
        sort_set(m, base, &code.types[ending.element as usize]);
        m.list_of_stack(base)
    }

    /// Grids stacked vertically.
    END_STACK |m, _, _| { stack_grids(m, m.base) }

    /// An unordered set of elements that are not scalars.
    END_UNORDERED |m, _, _| {
        let base = m.base;
        keep_one_empty(m, base);
        m.list_of_stack(base)
    }

    /// An unordered set of patches.
    END_DISTINCT |m, code, step| {
        let base = m.base;
        keep_distinct(m, base, &code.types[code.endings[step.c as usize].element as usize]);
        m.list_of_stack(base)
    }

    /// The unordered set of the patches in containers.
    END_CONCAT_DISTINCT |m, code, step| {
        let base = m.base;
        let ending = code.endings[step.c as usize];
        concat(m, base, &code.types[ending.inner as usize])?;
        keep_distinct(m, base, &code.types[ending.element as usize]);
        m.list_of_stack(base)
    }

    /// The patches of a list, unordered and without equal ones.
    DISTINCT_OF_LIST |m, code, step| {
        let base = m.stack.len();
        m.stack.extend_from_slice(m.memory.lists.get(m.slots[step.a as usize]));
        keep_distinct(m, base, code.ty(step));
        m.list_of_stack(base)
    }
}

/// Replaces the containers on the stack by their elements.
#[inline(always)]
fn concat(m: &mut Machine, base: usize, inner: &Type) -> Result<(), BailOut> {
    let end = m.stack.len();
    for at in base..end {
        let mut elements = Cursor::new(&m.memory, inner, m.stack[at]);
        while let Some(element) = elements.next(&mut m.memory)? {
            m.stack.push(element);
        }
    }
    m.stack.drain(base..end);
    Ok(())
}

/// Stacks the grids on the stack vertically, as one grid.
#[inline(always)]
fn stack_grids(m: &mut Machine, base: usize) -> Result<Slot, BailOut> {
    let (made, to) = m.memory.tiles.next()?;
    let mut width = None;
    *to = Tile::default();
    for slot in &m.stack[base..] {
        let tile = &made[slot.index()];
        if tile.height == 0 {
            continue;
        }
        if *width.get_or_insert(tile.width) != tile.width {
            return Err(BailOut::Type);
        }
        let height = tile.height;
        if height > 32 - to.height {
            return Err(BailOut::Grid);
        }
        for (to_plane, plane) in to.planes.iter_mut().zip(&tile.planes) {
            let rows = to_plane[to.height as usize..].iter_mut().zip(plane);
            for (to, from) in rows.take(height as usize) {
                *to = *from;
            }
        }
        to.height += height;
        to.width = tile.width;
    }
    m.stack.truncate(base);
    Ok(m.memory.tiles.commit())
}

/// The factor of the hash: any odd number without a pattern.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// A hash of a patch, equal for equal sets of locations or of cells.
#[inline(always)]
fn hash(memory: &Memory, element: &Type, slot: Slot) -> u64 {
    let patch = memory.patches.get(slot);
    let corner = (i64::from(patch.i) << 32 ^ i64::from(patch.j)) as u64;
    let sides = u64::from(patch.height) << 16 | u64::from(patch.width);
    let start = corner.wrapping_mul(FACTOR) ^ sides;
    let mixed = |word: u64, by: u64| (word ^ by).wrapping_mul(FACTOR).rotate_left(29);
    let whole = if *element == Type::Indices {
        let shape = memory.patches.shape(&patch);
        shape.rows.iter().fold(start, |all, &row| mixed(all, row))
    } else {
        // A lane for each plane, and one for the locations.
        let object = memory.object(&patch);
        let mut lanes = [start; 4];
        let mut bucket = start;
        for r in 0..object.shape.rows.len() {
            let (row, planes) = object.row_with_planes(r);
            bucket = mixed(bucket, row);
            for (lane, plane) in lanes.iter_mut().zip(planes) {
                *lane = mixed(*lane, plane);
            }
        }
        lanes.iter().fold(bucket, |all, &lane| mixed(all, lane))
    };
    whole ^ whole >> 32
}

/// Removes equal patches from the stack, from `base` on, and keeps the last of each: when patches are painted
/// in turn, the last one is visible.
#[inline(always)]
fn keep_distinct(m: &mut Machine, base: usize, element: &Type) {
    let Machine {
        memory,
        stack,
        buckets,
        ..
    } = m;
    let slots = &mut stack[base..];
    // More than two buckets per element, so that few collide.
    let size = (2 * slots.len() + 2).next_power_of_two();
    buckets.clear();
    buckets.resize(size, (0, 0));
    let mut kept = slots.len();
    for at in (0..slots.len()).rev() {
        let slot = slots[at];
        let hash = hash(memory, element, slot);
        let mut bucket = hash as usize & (size - 1);
        let new = loop {
            // 0 marks a free bucket; other values are the element's number, counted from the end.
            let (other, from_end) = buckets[bucket];
            if from_end == 0 {
                break true;
            }
            let there = slots[slots.len() - from_end as usize];
            if other == hash && equal(memory, element, there, slot) {
                break false;
            }
            bucket = (bucket + 1) & (size - 1);
        };
        if new {
            kept -= 1;
            slots[kept] = slot;
            buckets[bucket] = (hash, (slots.len() - kept) as u32);
        }
    }
    slots.copy_within(kept.., 0);
    let left = slots.len() - kept;
    stack.truncate(base + left);
}

/// Keeps one of the slots on the stack that are 0, the empty patches or containers, from `base` on. Most
/// results of some loops are empty, like the lines between all pairs of locations, and a branch predictor
/// cannot guess which, so there is no branch.
#[inline(always)]
fn keep_one_empty(m: &mut Machine, base: usize) {
    let slots = &mut m.stack[base..];
    let (mut kept, mut nothing) = (0, 1);
    for at in 0..slots.len() {
        let slot = slots[at];
        slots[kept] = slot;
        let is_nothing = usize::from(slot == Slot::default());
        kept += nothing | (is_nothing ^ 1);
        nothing &= is_nothing ^ 1;
    }
    m.stack.truncate(base + kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::Value;
    use arc_dsl::generate::Generator;

    #[test]
    fn of_nothing_the_first_is_left() {
        let mut machine = Machine::default();
        for (all, expected) in [
            (&[][..], &[][..]),
            (&[0], &[0]),
            (&[0, 0, 0], &[0]),
            (&[7, 0, 7, 0, 3], &[7, 0, 7, 3]),
            (&[5, 6], &[5, 6]),
        ] {
            machine.stack.clear();
            machine.stack.push(Slot::default());
            machine.stack.extend(all.iter().copied().map(Slot));
            keep_one_empty(&mut machine, 1);
            let left: Vec<_> = machine.stack[1..].iter().map(|slot| slot.0).collect();
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn of_equal_patches_the_last_is_left() {
        let mut generator = Generator::new(12);
        let (mut machine, mut twice) = (Machine::default(), 0);
        for element in [Type::Indices, Type::Object] {
            for _ in 0..200 {
                let ty = match element {
                    Type::Indices => arc_dsl::Type::Indices,
                    _ => arc_dsl::Type::Object,
                };
                let all = std::iter::from_fn(|| Some(generator.value(ty)));
                // Not empty tuples or sets, which pass for patches too.
                let sets =
                    all.filter(|value| matches!(value, Value::Indices(_) | Value::Object(_)));
                let values: Vec<Value> = sets.take(6).collect();
                machine.stack.clear();
                machine.memory.clear();
                let mut all = Vec::new();
                for at in [0, 1, 2, 1, 3, 0, 4, 5, 5, 2, 3, 3] {
                    let base = machine.stack.len();
                    match machine.put(&values[at], &element) {
                        Ok(slot) => {
                            all.push(values[at].clone());
                            machine.stack.push(slot);
                        }
                        Err(_) => machine.stack.truncate(base),
                    }
                }
                keep_distinct(&mut machine, 0, &element);
                let mut expected: Vec<Value> = Vec::new();
                for value in all.iter().rev() {
                    if !expected.contains(value) {
                        expected.insert(0, value.clone());
                    }
                }
                twice += all.len() - expected.len();
                let left: Result<Vec<_>, _> = machine
                    .stack
                    .iter()
                    .map(|&slot| machine.value(&element, slot))
                    .collect();
                assert_eq!(left, Ok(expected));
            }
        }
        assert!(twice > 1000, "{twice}");
    }
}
