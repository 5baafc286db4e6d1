//! Containers taken through regions, and what becomes of the results.

use std::cmp::Ordering;

use super::bags;
use super::sorting::sort_set;
use crate::elements::Cursor;
use crate::halt::Halt;
use crate::kernel::{Kernel, kernels};
use crate::machine::Machine;
use crate::memory::{Paint, Patch};
use crate::order::compare_keys;
use crate::planes::{Tile, colour_of};
use crate::program::{Code, Step};
use crate::slot::Slot;
use arc_dsl::{Cell, Loc};
use arc_form::Type;

mod select;

pub(crate) use select::{Loop, merged, select, select_layers, select_merge, select_merged_layers};

/// What becomes of the results that a loop has put on the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// A tuple of them.
    List,
    /// The pair of two integers.
    Pair,
    /// The set of them, which are of this type.
    Set(Type),
    /// The set of locations.
    Indices,
    /// The set of cells.
    Object,
    /// The union of the patches.
    Union,
    /// The union of the patches, of which nothing sees what lies outside 0..32 x 0..32.
    ClippedUnion,
    /// A tuple of the elements of the containers, which are of this type.
    Concat(Type),
    /// The set of the elements, of the second type, of the containers, which are of the first.
    ConcatSet(Type, Type),
    /// The set of them without an order.
    Bag,
    /// The set of them, which are of this type, without an order, each once.
    Distinct(Type),
    /// The set of the elements, of the second type, of the containers, which are of the first,
    /// without an order, each once.
    ConcatDistinct(Type, Type),
    /// The grids one below the other.
    Stack,
}

impl Finish {
    /// The kernel that makes the value of what is on the stack from [`Machine::base`] on.
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
            Finish::ConcatSet(..) => &END_CONCAT_SET,
            Finish::Bag => &bags::END_BAG,
            Finish::Distinct(_) => &bags::END_DISTINCT,
            Finish::ConcatDistinct(..) => &bags::END_CONCAT_DISTINCT,
            Finish::Stack => &END_STACK,
        }
    }

    /// The types of the containers that it goes through and of the elements that it sorts.
    pub(crate) fn types(&self) -> [Type; 2] {
        match self {
            Finish::Set(element) | Finish::Distinct(element) => [Type::Never, element.clone()],
            Finish::Concat(inner) => [inner.clone(), Type::Never],
            Finish::ConcatSet(inner, element) | Finish::ConcatDistinct(inner, element) => {
                [inner.clone(), element.clone()]
            }
            _ => [Type::Never, Type::Never],
        }
    }
}

/// Makes the value of a loop of what is on the stack from `base` on. A kernel of its own does it,
/// so that the loops are small.
#[inline(always)]
pub(crate) fn finish(m: &mut Machine, code: &Code, step: &Step, base: usize) -> Result<Slot, Halt> {
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

    /// The union of patches of which nothing sees what lies outside 0..32 x 0..32.
    END_CLIPPED_UNION |m, _, _| { m.clipped_union(m.base) }

    /// A tuple of the elements of containers.
    END_CONCAT |m, code, step| {
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

    /// Grids one below the other.
    END_STACK |m, _, _| { stack_grids(m, m.base) }
}

/// Puts the elements of the containers on the stack in place of the containers.
#[inline(always)]
pub(super) fn concat(m: &mut Machine, base: usize, inner: &Type) -> Result<(), Halt> {
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

/// Makes one grid of the rows of the grids on the stack.
#[inline(always)]
fn stack_grids(m: &mut Machine, base: usize) -> Result<Slot, Halt> {
    let (made, to) = m.memory.tiles.next()?;
    let mut width = None;
    *to = Tile::default();
    for slot in &m.stack[base..] {
        let tile = &made[slot.index()];
        if tile.height == 0 {
            continue;
        }
        if *width.get_or_insert(tile.width) != tile.width {
            return Err(Halt::Type);
        }
        let height = tile.height;
        if height > 32 - to.height {
            return Err(Halt::Grid);
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

/// The locations of a patch for which the region holds.
#[inline(always)]
fn filter_patch(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    item: impl Fn(&Machine, &Patch, Loc) -> Slot,
) -> Result<Slot, Halt> {
    let region = code.region(step, 0);
    let patch = m.patch(step.a);
    let base = m.stack.len();
    let mut changed = false;
    for r in 0..usize::from(patch.height) {
        let row = m.memory.patches.row(patch.rows as usize + r);
        let (mut left, mut kept) = (row, row);
        while left != 0 {
            let bit = left & left.wrapping_neg();
            let loc = Loc::new(patch.i + r as i32, patch.j + left.trailing_zeros() as i32);
            left ^= bit;
            let mark = m.memory.mark();
            let item = item(m, &patch, loc);
            m.give(&region, 0, item);
            if !m.region(code, &region)?.bool() {
                kept ^= bit;
                changed = true;
            }
            m.memory.release(mark);
        }
        // The stack holds rows here: loops inside take away what they put on it.
        m.stack.push(Slot(kept as i64));
    }
    keep_rows(m, step, &patch, base, changed)
}

/// The patch of a filter with the rows that are on the stack from `base` on, which it takes away.
#[inline(always)]
pub(crate) fn keep_rows(
    m: &mut Machine,
    step: &Step,
    patch: &Patch,
    base: usize,
    changed: bool,
) -> Result<Slot, Halt> {
    if !changed {
        m.stack.truncate(base);
        return Ok(m.get(step.a));
    }
    m.window.place(patch.i, patch.j, u32::from(patch.height))?;
    for (to, from) in m.window.rows.iter_mut().zip(&m.stack[base..]) {
        *to = from.0 as u64;
    }
    m.stack.truncate(base);
    m.memory.patches.store_window(&mut m.window, patch.paint)
}

/// Sees to it that the patch's cells have slots: their components have 16 bits there, and what lies
/// further out is the reference's.
#[inline(always)]
pub(crate) fn checked_cells(patch: &Patch) -> Result<(), Halt> {
    if patch.i.unsigned_abs() > 1 << 14 || patch.j.unsigned_abs() > 1 << 14 {
        return Err(Halt::Number);
    }
    Ok(())
}

/// Puts the elements for which the region holds on the stack.
#[inline(always)]
fn filter(m: &mut Machine, code: &Code, step: &Step) -> Result<(), Halt> {
    let region = code.region(step, 0);
    let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
    while let Some(element) = elements.next(&mut m.memory)? {
        let mark = m.memory.mark();
        m.give(&region, 0, element);
        if m.region(code, &region)?.bool() {
            m.stack.push(element);
        }
        m.memory.release(mark);
    }
    Ok(())
}

/// Whether an element precedes one that came before it.
#[inline(always)]
fn in_order(_: &Machine, _: Slot, _: Slot) -> bool {
    false
}

/// The element with the outermost key and that key; of several the one that precedes the others.
#[inline(always)]
pub(super) fn outermost(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    wanted: Ordering,
    precedes: impl Fn(&Machine, Slot, Slot) -> bool,
) -> Result<Option<(Slot, Slot)>, Halt> {
    let region = code.region(step, 0);
    let key_type = &code.types[step.d as usize];
    let scalar = matches!(key_type, Type::Int | Type::Bool | Type::Pair | Type::Cell);
    let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
    let mut best: Option<(Slot, Slot)> = None;
    while let Some(element) = elements.next(&mut m.memory)? {
        let mark = m.memory.mark();
        m.give(&region, 0, element);
        let key = m.region(code, &region)?;
        let order = match best {
            None => wanted,
            Some((best, _)) if scalar => key.cmp(&best),
            Some((best, _)) => compare_keys(&m.memory, key_type, key, best)?,
        };
        if scalar {
            m.memory.release(mark);
        }
        let better = match best {
            Some((_, best)) if order == Ordering::Equal => precedes(m, element, best),
            _ => order == wanted,
        };
        if better {
            best = Some((key, element));
        }
    }
    Ok(best)
}

kernels! {
    /// The results of the region for each element.
    APPLY |m, code, step| {
        let base = m.stack.len();
        let region = code.region(step, 0);
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        while let Some(element) = elements.next(&mut m.memory)? {
            m.give(&region, 0, element);
            let value = m.region(code, &region)?;
            m.stack.push(value);
        }
        finish(m, code, step, base)
    }

    /// The elements themselves: `merge`.
    GATHER |m, code, step| {
        let base = m.stack.len();
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        while let Some(element) = elements.next(&mut m.memory)? {
            m.stack.push(element);
        }
        finish(m, code, step, base)
    }

    /// The results of the region for the elements at the same place of two containers.
    APPLY_PAIRS |m, code, step| {
        let base = m.stack.len();
        let region = code.region(step, 0);
        let mut first = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        let mut second = Cursor::new(&m.memory, &code.types[step.d as usize], m.get(step.b));
        while let Some(a) = first.next(&mut m.memory)? {
            let Some(b) = second.next(&mut m.memory)? else { break };
            m.give(&region, 0, a);
            m.give(&region, 1, b);
            let value = m.region(code, &region)?;
            m.stack.push(value);
        }
        finish(m, code, step, base)
    }

    /// The results of the region for every element of one container with every one of another.
    APPLY_PRODUCT |m, code, step| {
        let base = m.stack.len();
        let region = code.region(step, 0);
        let mut second = Cursor::new(&m.memory, &code.types[step.d as usize], m.get(step.b));
        while let Some(b) = second.next(&mut m.memory)? {
            let mut first = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
            while let Some(a) = first.next(&mut m.memory)? {
                m.give(&region, 0, a);
                m.give(&region, 1, b);
                let value = m.region(code, &region)?;
                m.stack.push(value);
            }
        }
        finish(m, code, step, base)
    }

    /// The locations for which the region holds.
    FILTER_INDICES |m, code, step| {
        filter_patch(m, code, step, |_, _, loc| Slot::of_loc(loc))
    }

    /// The cells for which the region holds.
    FILTER_OBJECT |m, code, step| {
        checked_cells(&m.patch(step.a))?;
        filter_patch(m, code, step, |m, patch, loc| {
            let code = match patch.paint {
                Paint::None => 0,
                Paint::One(code) => code,
                Paint::Tile { tile, i, j } => {
                    let tile = m.memory.tiles.get(Slot::of_index(tile as usize));
                    tile.code((loc.i - i) as usize, (loc.j - j) as usize)
                }
            };
            Slot::of_cell(Cell::new(colour_of(code), loc)).unwrap_or_default()
        })
    }

    /// The elements for which the region holds.
    FILTER_LIST |m, code, step| {
        let base = m.stack.len();
        filter(m, code, step)?;
        m.list_of_stack(base)
    }

    /// The pairs of an element of the list `a` and one of the list `c` for which the region holds.
    FILTER_PRODUCT |m, code, step| {
        let base = m.stack.len();
        let region = code.region(step, 0);
        let [(a, a_len), (c, c_len)] = [step.a, step.c].map(|at| m.get(at).list());
        for first in 0..a_len {
            for second in 0..c_len {
                let before = m.memory.mark();
                let pair = [m.memory.lists.at(a + first), m.memory.lists.at(c + second)];
                let pair = m.memory.lists.add(&pair)?;
                let mark = m.memory.mark();
                m.give(&region, 0, pair);
                if m.region(code, &region)?.bool() {
                    m.stack.push(pair);
                    m.memory.release(mark);
                } else {
                    m.memory.release(before);
                }
            }
        }
        m.list_of_stack(base)
    }

    /// What becomes of the elements for which the region holds.
    FILTER_MERGE |m, code, step| {
        let base = m.stack.len();
        filter(m, code, step)?;
        finish(m, code, step, base)
    }

    /// The first element for which the region holds.
    EXTRACT |m, code, step| {
        let region = code.region(step, 0);
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        while let Some(element) = elements.next(&mut m.memory)? {
            let mark = m.memory.mark();
            m.give(&region, 0, element);
            if m.region(code, &region)?.bool() {
                return Ok(element);
            }
            m.memory.release(mark);
        }
        Err(Halt::NoMatch)
    }

    /// The elements as a tuple, ascending by their keys.
    ORDER |m, code, step| {
        let region = code.region(step, 0);
        let base = m.keys.len();
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        while let Some(element) = elements.next(&mut m.memory)? {
            m.give(&region, 0, element);
            let key = m.region(code, &region)?;
            let place = (m.keys.len() - base) as u64;
            m.keys.push((key, place, element));
        }
        let key_type = &code.types[step.d as usize];
        let mut failed = None;
        let memory = &m.memory;
        m.keys[base..].sort_unstable_by(|a, b| {
            let order = compare_keys(memory, key_type, a.0, b.0).unwrap_or_else(|halt| {
                failed = Some(halt);
                Ordering::Equal
            });
            order.then(a.1.cmp(&b.1))
        });
        let list = m.memory.lists.collect(m.keys[base..].iter().map(|&(_, _, item)| item));
        m.keys.truncate(base);
        match failed {
            Some(halt) => Err(halt),
            None => list,
        }
    }

    /// The first element with the largest key.
    ARGMAX |m, code, step| {
        let best = outermost(m, code, step, Ordering::Greater, in_order)?;
        best.map(|(_, element)| element).ok_or(Halt::Empty)
    }

    /// The first element with the smallest key.
    ARGMIN |m, code, step| {
        let best = outermost(m, code, step, Ordering::Less, in_order)?;
        best.map(|(_, element)| element).ok_or(Halt::Empty)
    }

    /// The largest key; of no element, what the second region gives.
    VALMAX |m, code, step| {
        match outermost(m, code, step, Ordering::Greater, in_order)? {
            Some((key, _)) => Ok(key),
            None => m.region(code, &code.region(step, 1)),
        }
    }

    /// The smallest key; of no element, what the second region gives.
    VALMIN |m, code, step| {
        match outermost(m, code, step, Ordering::Less, in_order)? {
            Some((key, _)) => Ok(key),
            None => m.region(code, &code.region(step, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Compiled, Machine, Stop};
    use arc_dsl::{Grid, Interpreter, parse_programs};
    use arc_form::specialise;

    /// The first cell, by colour, has no match; the first one row by row divides by zero.
    #[test]
    fn of_several_errors_in_a_filter_of_cells_the_machine_gives_the_first_or_none() {
        let lines = [
            "x1 = asobject(I)",
            "x2 = compose(first, last)",
            "x3 = lbind(divide, TEN)",
            "x4 = compose(x3, x2)",
            "x5 = interval(TWO, TEN, ONE)",
            "x6 = lbind(extract, x5)",
            "x7 = lbind(rbind, equality)",
            "x8 = chain(x6, x7, first)",
            "x9 = fork(greater, x4, x8)",
            "O = sfilter(x1, x9)",
        ];
        let text = format!("def f(I):\n    {}\n    return O\n", lines.join("\n    "));
        let program = parse_programs(&text).remove(0).unwrap();
        let compiled = Compiled::new(&specialise(&program).unwrap()).unwrap();
        let mut machine = Machine::default();
        for rows in [[[2, 2], [1, 1]], [[1, 1], [2, 2]], [[1, 1], [1, 1]]] {
            let grid = Grid::from_rows(&rows).unwrap();
            let expected = Interpreter::default().run(&program, grid.clone());
            let found = machine.run(&compiled, &grid).map(|output| output.value());
            assert!(expected.is_err());
            match found {
                Err(Stop::HandBack(_)) => {}
                Err(Stop::Error(error)) => assert_eq!(Err(error), expected),
                Ok(value) => panic!("{value}"),
            }
        }
    }
}
