//! Tuples, sets and their elements.

use super::counting;
use super::sorting::{common, equal, sort_set};
use crate::bail_out::BailOut;
use crate::elements::{Cursor, len};
use crate::exact::End;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::{Memory, Paint, Patch};
use crate::planes::{COLUMNS, Misfit, ROWS, Shape, Window, code_of, sets};
use crate::program::Step;
use crate::slot::Slot;
use arc_dsl::Loc;
use arc_form::Type;

mod select;

pub(super) use select::select;

/// A patch of the locations that `make` computes from two patches, with the colours of the first.
#[inline(always)]
fn part(
    m: &mut Machine,
    a: Slot,
    b: Slot,
    make: impl FnOnce(&Memory, [&Patch; 2], &mut Window) -> Result<(), Misfit>,
) -> Result<Slot, BailOut> {
    let Machine { memory, window, .. } = m;
    let [a, b] = [a, b].map(|slot| memory.patches.get(slot));
    make(memory, [&a, &b], window)?;
    memory.patches.store_window(window, a.paint)
}

/// The index of the first element of a list that equals a value.
fn position(memory: &Memory, ty: &Type, list: Slot, value: Slot) -> Option<usize> {
    let list = memory.lists.get(list);
    list.iter().position(|&item| equal(memory, ty, item, value))
}

/// The elements of the first list that are in the second, or those that are not.
#[inline(always)]
fn among(m: &mut Machine, ty: &Type, step: &Step, wanted: bool) -> Result<Slot, BailOut> {
    let base = m.stack.len();
    let (a, b) = (m.get(step.a), m.get(step.b));
    m.spend(a.list().1 * b.list().1 / 64)?;
    for &item in m.memory.lists.get(a) {
        if position(&m.memory, ty, b, item).is_some() == wanted {
            m.stack.push(item);
        }
    }
    m.list_of_stack(base)
}

/// The smallest of some integers, and the length of the range from it to the largest.
#[inline(always)]
fn span(ints: &[Slot]) -> Option<(i32, u32)> {
    let first = ints.first()?.int();
    let ends = ints.iter().fold((first, first), |(least, most), n| {
        (least.min(n.int()), most.max(n.int()))
    });
    Some((ends.0, ends.0.abs_diff(ends.1) + 1))
}

kernels! {
    /// Whether two values of the type are equal.
    EQUALITY |m, code, step| {
        Ok(Slot::of_bool(equal(&m.memory, code.ty(step), m.get(step.a), m.get(step.b))))
    }

    /// Whether two scalars are equal.
    EQUAL_SCALARS |m, _, step| { Ok(Slot::of_bool(m.get(step.a) == m.get(step.b))) }

    /// False: values of types that have no value in common.
    UNEQUAL |_, _, _| { Ok(Slot::of_bool(false)) }

    /// The second argument if the first is true, otherwise the third.
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

    /// Whether an integer is the colour of a cell: a location never equals an integer.
    CONTAINED_IN_CELL |m, _, step| {
        Ok(Slot::of_bool(m.get(step.b).cell().colour == m.int(step.a)))
    }

    /// The colour of the first cell of a list.
    COLOR_OF_LIST |m, _, step| {
        let first = m.list(step.a).first().ok_or(BailOut::Empty)?;
        Ok(Slot::of_int(first.cell().colour))
    }

    /// An object without one of its cells.
    REMOVE_CELL |m, _, step| {
        let base = m.stack.len();
        let (cell, patch) = (m.get(step.a), m.get(step.b));
        m.stack.push(cell);
        let one = m.object_of_cells(base)?;
        part(m, patch, one, #[inline(always)] |memory, [a, b], window| {
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

    /// How many locations of the first set are not in the second.
    SIZE_OF_DIFFERENCE |m, _, step| {
        let (a, b) = (m.shape(step.a), m.shape(step.b));
        Ok(Slot::of_int((a.count() - sets::common(a, b)) as i32))
    }

    /// The first element.
    FIRST |m, code, step| {
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        elements.next(&mut m.memory)?.ok_or(BailOut::Empty)
    }

    /// The first element of a set.
    FIRST_OF_SET |m, code, step| { m.end_of_set(code, step.a, code.ty(step), End::First) }

    /// The last element of a set.
    LAST_OF_SET |m, code, step| { m.end_of_set(code, step.a, code.ty(step), End::Last) }

    /// The last element of a list.
    LAST_OF_LIST |m, _, step| { m.list(step.a).last().copied().ok_or(BailOut::Empty) }

    /// The last element.
    LAST |m, code, step| {
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        let mut last = None;
        while let Some(element) = elements.next(&mut m.memory)? {
            last = Some(element);
        }
        last.ok_or(BailOut::Empty)
    }

    /// The union of two patches, of which no use sees cells outside 0..32 x 0..32.
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
            return part(m, a, b, #[inline(always)] |memory, [a, b], window| {
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

    /// The set of the elements of two lists; the elements are of type `immediate`.
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
        part(m, m.get(step.a), m.get(step.b), #[inline(always)] |memory, [a, b], window| {
            sets::intersection(memory.patches.shape(a), memory.patches.shape(b), window)
        })
    }

    /// The locations of the first set that are not in the second.
    DIFFERENCE_OF_INDICES |m, _, step| {
        part(m, m.get(step.a), m.get(step.b), #[inline(always)] |memory, [a, b], window| {
            sets::difference(memory.patches.shape(a), memory.patches.shape(b), window)
        })
    }

    /// The cells of the first object that are in the second.
    INTERSECTION_OF_OBJECTS |m, _, step| {
        part(m, m.get(step.a), m.get(step.b), #[inline(always)] |memory, [a, b], window| {
            memory.object(a).intersection(&memory.object(b), window)
        })
    }

    /// The cells of the first object that are not in the second.
    DIFFERENCE_OF_OBJECTS |m, _, step| {
        part(m, m.get(step.a), m.get(step.b), #[inline(always)] |memory, [a, b], window| {
            memory.object(a).difference(&memory.object(b), window)
        })
    }

    /// The elements of the first list that are in the second; they are of type `immediate`.
    INTERSECTION_OF_LISTS |m, code, step| { among(m, code.ty(step), step, true) }

    /// The elements of the first list that are not in the second; they are of type `immediate`.
    DIFFERENCE_OF_LISTS |m, code, step| { among(m, code.ty(step), step, false) }

    /// The elements of a list that differ from a value; they are of type `immediate`.
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

    /// The locations of a patch except one.
    REMOVE_LOC |m, _, step| {
        let loc = m.loc(step.a);
        let patch = m.patch(step.b);
        if !m.shape(step.b).contains(loc) {
            return Ok(m.get(step.b));
        }
        sets::without(m.memory.patches.shape(&patch), loc, &mut m.window)?;
        m.memory.patches.store_window(&mut m.window, patch.paint)
    }

    /// The set of one location.
    INITSET_LOC |m, _, step| {
        let Loc { i, j } = m.loc(step.a);
        m.memory.patches.store(Shape { i, j, width: 1, rows: &[1] }, Paint::None)
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

    /// A patch and a location.
    INSERT_LOC |m, _, step| {
        let (loc, patch) = (m.loc(step.a), m.patch(step.b));
        let shape = m.memory.patches.shape(&patch);
        sets::with(shape, loc, &mut m.window)?;
        // The box around both is tight, since that of the patch is.
        m.store_tight()
    }

    /// An object and a cell.
    INSERT_CELL |m, _, step| {
        let base = m.stack.len();
        let (cell, patch) = (m.get(step.a), m.get(step.b));
        m.stack.push(cell);
        let one = m.object_of_cells(base)?;
        m.stack.push(patch);
        m.stack.push(one);
        m.union_of_patches(base)
    }

    /// A set and a value; its elements are of type `immediate`.
    INSERT |m, code, step| {
        let base = m.stack.len();
        m.stack.extend_from_slice(m.memory.lists.get(m.slots[step.b as usize]));
        let value = m.get(step.a);
        m.stack.push(value);
        sort_set(m, base, code.ty(step));
        m.list_of_stack(base)
    }

    /// A list with a value appended.
    APPEND |m, _, step| {
        let base = m.stack.len();
        m.stack.extend_from_slice(m.memory.lists.get(m.slots[step.b as usize]));
        let value = m.get(step.a);
        m.stack.push(value);
        m.list_of_stack(base)
    }

    /// The set of a list of elements of the type.
    SET_OF_LIST |m, code, step| {
        let base = m.stack.len();
        m.stack.extend_from_slice(m.memory.lists.get(m.slots[step.a as usize]));
        sort_set(m, base, code.ty(step));
        m.list_of_stack(base)
    }

    /// The integers from one up to, but not including, another, with a step.
    INTERVAL |m, _, step| {
        let (start, stop, by) = (m.int(step.a), m.int(step.b), m.int(step.c));
        if by == 0 {
            return Err(BailOut::Fails);
        }
        let span = if by > 0 { stop - start } else { start - stop };
        let count = span.max(0).unsigned_abs().div_ceil(by.unsigned_abs());
        m.spend(count as usize / 64)?;
        if count > 1 << 20 {
            return Err(BailOut::Memory);
        }
        m.memory.lists.collect((0..count as i32).map(|n| Slot::of_int(start + n * by)))
    }

    /// A value repeated.
    REPEAT |m, _, step| {
        let (value, count) = (m.get(step.a), m.int(step.b).max(0));
        if count > 1 << 20 {
            return Err(BailOut::Memory);
        }
        m.spend(count as usize / 64)?;
        m.memory.lists.collect(std::iter::repeat_n(value, count as usize))
    }

    /// The elements of a list without repetitions, as a tuple; they are of type `immediate`.
    DEDUPE |m, code, step| {
        let base = m.stack.len();
        let list = m.get(step.a);
        if *code.ty(step) == Type::Int
            && counting::distinct(m.memory.lists.get(list), &mut m.stack)
        {
            return m.list_of_stack(base);
        }
        m.spend(list.list().1 * list.list().1 / 64)?;
        for &item in m.memory.lists.get(list) {
            let seen = &m.stack[base..];
            if !seen.iter().any(|&other| equal(&m.memory, code.ty(step), item, other)) {
                m.stack.push(item);
            }
        }
        m.list_of_stack(base)
    }

    /// The most common element of a list; it is of type `immediate`.
    MOSTCOMMON |m, code, step| { common(m, code.ty(step), step.a, true) }

    /// The least common element of a list; it is of type `immediate`.
    LEASTCOMMON |m, code, step| { common(m, code.ty(step), step.a, false) }

    /// The pairs of integers at the same index of two lists.
    ZIP_INTS |m, _, step| {
        let base = m.stack.len();
        let [a, b] = [step.a, step.b].map(|at| m.slots[at as usize]);
        let lists = &m.memory.lists;
        let pairs = lists.get(a).iter().zip(lists.get(b));
        m.stack.extend(pairs.map(|(a, b)| Slot::of_loc(Loc::new(a.int(), b.int()))));
        m.list_of_stack(base)
    }

    /// The cells of a list of integers (colours) and one of locations.
    ZIP_CELLS |m, _, step| {
        let base = m.stack.len();
        let [a, b] = [step.a, step.b].map(|at| m.slots[at as usize]);
        let lists = &m.memory.lists;
        for (a, b) in lists.get(a).iter().zip(lists.get(b)) {
            let cell = arc_dsl::Cell::new(a.int(), b.loc());
            m.stack.push(Slot::of_cell(cell).ok_or(BailOut::Number)?);
        }
        m.list_of_stack(base)
    }

    /// The pairs of elements at the same index of two lists.
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

    /// All pairs of an integer of one list and one of another.
    PRODUCT_OF_INTS |m, _, step| {
        let Machine { memory, window, slots, .. } = &mut *m;
        let lists = &memory.lists;
        let [rows, columns] = [step.a, step.b].map(|at| lists.get(slots[at as usize]));
        let (Some((i, height)), Some((j, width))) = (span(rows), span(columns)) else {
            return Ok(Slot::default());
        };
        if width > COLUMNS {
            return Err(BailOut::Patch);
        }
        let row = columns.iter().fold(0u64, |row, column| row | 1 << (column.int() - j));
        window.place(i, j, height)?;
        for at in rows {
            window.rows[(at.int() - i) as usize & (ROWS - 1)] = row;
        }
        m.store_tight()
    }

    /// The list of all pairs of an integer of one list and one of another.
    PRODUCT_AS_LIST |m, _, step| {
        let base = m.stack.len();
        let [a, b] = [step.a, step.b].map(|at| m.slots[at as usize]);
        m.spend(a.list().1 * b.list().1 / 64)?;
        for i in m.memory.lists.get(a) {
            for j in m.memory.lists.get(b) {
                m.stack.push(Slot::of_loc(Loc::new(i.int(), j.int())));
            }
        }
        sort_set(m, base, &Type::Pair);
        m.list_of_stack(base)
    }

    /// All pairs of an element of one set and one of another; they come in ascending order.
    PRODUCT |m, _, step| {
        let [a, b] = [step.a, step.b].map(|at| m.get(at));
        m.spend(a.list().1 * b.list().1)?;
        m.memory.lists.product(a, b)
    }

    /// The elements of a list that have this many elements; they are of type `immediate`.
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
            let palette = m.memory.object(&patch).palette();
            let has = code_of(colour).is_ok_and(|code| palette >> code & 1 == 1);
            if palette == 0 {
                return Err(BailOut::Empty);
            }
            if has && !palette.is_power_of_two() {
                return Err(BailOut::Order);
            }
            if has {
                m.stack.push(item);
            }
        }
        m.list_of_stack(base)
    }
}
