//! Loops: containers processed by regions.

use std::cmp::Ordering;

use super::endings::finish;
use crate::bail_out::BailOut;
use crate::definition::is_set;
use crate::elements::Cursor;
use crate::exact::End;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::{Paint, Patch};
use crate::order::{compare_keys, have_order};
use crate::planes::colour_of;
use crate::program::{Code, Step};
use crate::slot::Slot;
use arc_dsl::{Cell, Loc, sorted_places};
use arc_form::Type;

mod select;

pub(crate) use select::{Loop, select, select_layers, select_merge, select_merged_layers};

/// The locations of a patch for which the region holds.
#[inline(always)]
fn filter_patch(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    item: impl Fn(&Machine, &Patch, Loc) -> Slot,
) -> Result<Slot, BailOut> {
    let region = m.loop_region(code, step);
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
        // The stack holds rows here: inner loops pop what they push.
        m.stack.push(Slot(kept as i64));
    }
    keep_rows(m, step, &patch, base, changed)
}

/// The patch of a filter, from the rows on the stack from `base` on, which it pops.
#[inline(always)]
pub(crate) fn keep_rows(
    m: &mut Machine,
    step: &Step,
    patch: &Patch,
    base: usize,
    changed: bool,
) -> Result<Slot, BailOut> {
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

/// Checks that the patch's cells fit slots: the components of their locations have 16 bits there.
#[inline(always)]
pub(crate) fn checked_cells(patch: &Patch) -> Result<(), BailOut> {
    if patch.i.unsigned_abs() > 1 << 14 || patch.j.unsigned_abs() > 1 << 14 {
        return Err(BailOut::Number);
    }
    Ok(())
}

/// Pushes the elements for which the region holds on the stack.
#[inline(always)]
fn filter(m: &mut Machine, code: &Code, step: &Step) -> Result<(), BailOut> {
    let region = m.loop_region(code, step);
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

/// The outermost key and its element; of several elements, the first. Those with the same key are left on the stack,
/// from its `base` on, if there are several.
#[inline(always)]
pub(super) fn outermost(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    wanted: Ordering,
) -> Result<Option<(Slot, Slot)>, BailOut> {
    let region = m.loop_region(code, step);
    m.base = m.stack.len();
    let base = m.base;
    let key_type = &code.types[step.d as usize];
    let scalar = matches!(key_type, Type::Int | Type::Bool | Type::Pair | Type::Cell);
    let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
    let is_identity = region.start == region.end && region.result == region.parameters[0];
    if is_identity && wanted.is_lt() && *code.ty(step) == Type::Indices {
        // They lie ascending.
        let least = elements.next(&mut m.memory)?;
        return Ok(least.map(|least| (least, least)));
    }
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
        if order == wanted {
            best = Some((key, element));
            m.stack.truncate(base);
        } else if let Some((_, first)) = best
            && order == Ordering::Equal
        {
            if m.stack.len() == base {
                m.stack.push(first);
            }
            m.stack.push(element);
        }
    }
    m.base = base;
    Ok(best)
}

/// The element with the outermost key; of several, the first in the order of Python.
#[inline(always)]
fn first_outermost(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    wanted: Ordering,
) -> Result<Slot, BailOut> {
    let (_, element) = outermost(m, code, step, wanted)?.ok_or(BailOut::Empty)?;
    let base = m.base;
    if m.stack.len() == base || !is_set(code.ty(step)) {
        m.stack.truncate(base);
        return Ok(element);
    }
    let wanted = base..m.stack.len();
    let first = m.end_in_order(code, step.a, code.ty(step), wanted, End::First);
    m.stack.truncate(base);
    first
}

/// Pushes a result on the stack, unless it is an empty patch of a union. Most results of some loops are empty, like the
/// lines between all pairs of locations, and a branch predictor cannot guess which, so there is no branch.
#[inline(always)]
fn push_result(m: &mut Machine, code: &Code, step: &Step, value: Slot) {
    m.stack.push(value);
    let is_left_out = code.endings[step.c as usize].is_union & (value == Slot::default());
    m.stack.truncate(m.stack.len() - usize::from(is_left_out));
}

kernels! {
    /// The results of the region for each element.
    APPLY |m, code, step| {
        let base = m.stack.len();
        let region = m.loop_region(code, step);
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        while let Some(element) = elements.next(&mut m.memory)? {
            m.give(&region, 0, element);
            let value = m.region(code, &region)?;
            push_result(m, code, step, value);
        }
        finish(m, code, step, base)
    }

    /// The elements themselves, for `merge`.
    GATHER |m, code, step| {
        let base = m.stack.len();
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        while let Some(element) = elements.next(&mut m.memory)? {
            m.stack.push(element);
        }
        finish(m, code, step, base)
    }

    /// The results of the region for the elements at the same index of two containers.
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

    /// The results of the region for every pair of an element of one container and one of another.
    APPLY_PRODUCT |m, code, step| {
        let base = m.stack.len();
        let mut region = m.loop_region(code, step);
        region.unordered |= m.has_several(&code.types[step.d as usize], m.get(step.b));
        let mut second = Cursor::new(&m.memory, &code.types[step.d as usize], m.get(step.b));
        while let Some(b) = second.next(&mut m.memory)? {
            let mut first = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
            while let Some(a) = first.next(&mut m.memory)? {
                m.give(&region, 0, a);
                m.give(&region, 1, b);
                let value = m.region(code, &region)?;
                push_result(m, code, step, value);
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

    /// The finished value of the elements for which the region holds.
    FILTER_MERGE |m, code, step| {
        let base = m.stack.len();
        filter(m, code, step)?;
        finish(m, code, step, base)
    }

    /// The first element for which the region holds.
    EXTRACT |m, code, step| {
        let region = m.loop_region(code, step);
        let all = is_set(code.ty(step));
        let base = m.stack.len();
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        while let Some(element) = elements.next(&mut m.memory)? {
            let mark = m.memory.mark();
            m.give(&region, 0, element);
            if m.region(code, &region)?.bool() {
                if !all {
                    return Ok(element);
                }
                m.stack.push(element);
            }
            m.memory.release(mark);
        }
        match m.stack[base..] {
            [] => Err(BailOut::NoMatch),
            [element] => {
                m.stack.truncate(base);
                Ok(element)
            }
            _ => {
                let wanted = base..m.stack.len();
                let first = m.end_in_order(code, step.a, code.ty(step), wanted, End::First);
                m.stack.truncate(base);
                first
            }
        }
    }

    /// The elements as a tuple, ascending by their keys.
    ORDER |m, code, step| {
        let region = m.loop_region(code, step);
        let base = m.keys.len();
        let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
        while let Some(element) = elements.next(&mut m.memory)? {
            m.give(&region, 0, element);
            let key = m.region(code, &region)?;
            let place = (m.keys.len() - base) as u64;
            m.keys.push((key, place, element));
        }
        let key_type = &code.types[step.d as usize];
        let memory = &m.memory;
        if have_order(key_type, m.keys[base..].iter().map(|(key, ..)| *key)) {
            let compare = |a: &(Slot, u64, Slot), b: &(Slot, u64, Slot)| {
                compare_keys(memory, key_type, a.0, b.0).unwrap_or(Ordering::Equal)
            };
            let sort = |keys: &mut [(Slot, u64, Slot)]| {
                keys.sort_unstable_by(|a, b| compare(a, b).then(a.1.cmp(&b.1)));
            };
            sort(&mut m.keys[base..]);
            // Equal keys keep the order of their elements.
            if is_set(code.ty(step)) && m.keys[base..].windows(2).any(|two| compare(&two[0], &two[1]).is_eq()) {
                let list = m.in_order(code, step.a, code.ty(step))?;
                let list = m.memory.lists.get(list);
                for (_, place, element) in &mut m.keys[base..] {
                    let at = list.iter().position(|one| one == element);
                    *place = at.ok_or(BailOut::Order)? as u64;
                }
                let memory = &m.memory;
                m.keys[base..].sort_unstable_by(|a, b| {
                    let order = compare_keys(memory, key_type, a.0, b.0);
                    order.unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
                });
            }
            let list = m.memory.lists.collect(m.keys[base..].iter().map(|&(_, _, item)| item));
            m.keys.truncate(base);
            return list;
        }
        let keyed = &m.keys[base..];
        if is_set(code.ty(step)) && keyed.len() > 1 {
            return Err(BailOut::Order);
        }
        let less = |a: usize, b: usize| {
            compare_keys(memory, key_type, keyed[a].0, keyed[b].0).map(Ordering::is_lt)
        };
        let places = sorted_places(keyed.len(), less);
        let list = places.and_then(|places| {
            m.memory.lists.collect(places.iter().map(|&at| keyed[at as usize].2))
        });
        m.keys.truncate(base);
        list
    }

    /// The first element with the largest key.
    ARGMAX |m, code, step| {
        first_outermost(m, code, step, Ordering::Greater)
    }

    /// The first element with the smallest key.
    ARGMIN |m, code, step| {
        first_outermost(m, code, step, Ordering::Less)
    }

    /// The largest key; without elements, the value of the second region.
    VALMAX |m, code, step| {
        let best = outermost(m, code, step, Ordering::Greater)?;
        m.stack.truncate(m.base);
        match best {
            Some((key, _)) => Ok(key),
            None => m.region(code, &code.region(step, 1)),
        }
    }

    /// The smallest key; without elements, the value of the second region.
    VALMIN |m, code, step| {
        let best = outermost(m, code, step, Ordering::Less)?;
        m.stack.truncate(m.base);
        match best {
            Some((key, _)) => Ok(key),
            None => m.region(code, &code.region(step, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Compiled, Machine, Stop};
    use arc_dsl::{Grid, Interpreter};
    use arc_form::specialise;
    use arc_text::parse_programs;

    /// The first cell by colour has no match; the first cell row by row divides by zero.
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
            let found = machine.run(&compiled, &grid).and_then(crate::Output::value);
            assert!(expected.is_err());
            match found {
                Err(Stop::BailOut(_)) => {}
                Err(Stop::Error(error)) => assert_eq!(Err(error), expected),
                Ok(value) => panic!("{value}"),
            }
        }
    }

    #[test]
    fn a_union_of_sets_of_objects_and_their_first_cells_ask_for_no_order() {
        let text = "
def f(I):
    x1 = combine(objects(I, T, F, T), partition(I))
    x2 = mfilter(x1, square)
    x3 = order(objects(I, T, F, T), compose(rbind(argmin, identity), toindices))
    x4 = recolor(6, first(x3))
    O = paint(fill(I, 5, x2), x4)
    return O
";
        let program = parse_programs(text).remove(0).unwrap();
        let form = specialise(&program).unwrap();
        let compiled = Compiled::new(&form).unwrap();
        let input = Grid::from_rows(&[[1, 0, 2], [0, 2, 1], [1, 1, 0]]).unwrap();
        let mut machine = Machine::default();
        let found = machine.run(&compiled, &input).unwrap().value().unwrap();
        assert_eq!(machine.orders_asked(), 0);
        let expected = Interpreter::default().run(&program, input);
        assert_eq!(Ok(found), expected);
    }
}
