//! Vectorised loops, and the loops inside them.

use super::columns::{LANES, Part};
use crate::bail_out::BailOut;
use crate::elements::{Cursor, len};
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::Patch;
use crate::ops::endings::finish;
use crate::ops::loops::{self, checked_cells, keep_rows};
use crate::program::Kernel;
use crate::program::{Code, Step};
use crate::program::{LaneLoop, ResultType};
use crate::slot::Slot;
use arc_dsl::{Cell, Loc};
use arc_form::Type;

/// The vectorised version of a scalar loop kernel, if the body gives values of a suitable type: numbers, except
/// for `apply`.
pub(crate) fn by_lanes(
    scalar: &'static Kernel,
    gives: impl Fn(&Type) -> bool,
    result: Option<&Type>,
) -> Option<&'static Kernel> {
    if std::ptr::eq(scalar, &raw const loops::APPLY) {
        return result.is_some_and(gives).then_some(&APPLY);
    }
    let pairs: [(&'static Kernel, &'static Kernel); 4] = [
        (&loops::FILTER_INDICES, &FILTER_INDICES),
        (&loops::FILTER_OBJECT, &FILTER_OBJECT),
        (&loops::FILTER_LIST, &FILTER_LIST),
        (&loops::FILTER_MERGE, &FILTER_MERGE),
    ];
    let found = pairs.iter().find(|(one, _)| std::ptr::eq(*one, scalar));
    found.filter(|_| gives(&Type::Int)).map(|&(_, lanes)| lanes)
}

/// Defines the kernels of vectorised loops: `loops! { /// Doc. NAME |m, code, step, this, elements| { .. } ..
/// }`. If the body fails, or there are too few elements, the loop runs element by element.
macro_rules! loops {
    ($($(#[$doc:meta])* $name:ident |$m:ident, $code:pat_param, $step:pat_param, $this:ident, $elements:ident| $body:block)+) => {
        kernels! {
            $(
                $(#[$doc])*
                $name |m, code, step| {
                    #[inline(always)]
                    fn run(
                        $m: &mut Machine,
                        $code: &Code,
                        $step: &Step,
                        $this: &LaneLoop,
                        mut $elements: Cursor,
                    ) -> Result<Slot, BailOut> $body

                    let (ty, container) = (code.ty(step), m.get(step.a));
                    let this = &code.lane_loops[usize::from(step.b)];
                    if let Some(before) = m.begin_lanes(len(&m.memory, ty, container)) {
                        let elements = Cursor::new(&m.memory, ty, container);
                        let mut result = run(m, code, step, this, elements);
                        let is_final = |result| matches!(result, Ok(_) | Err(BailOut::Limit));
                        if !is_final(result) {
                            m.undo_lanes(&before);
                            if m.finds_wanted(code) {
                                let elements = Cursor::new(&m.memory, ty, container);
                                result = run(m, code, step, this, elements);
                            }
                        }
                        if is_final(result) {
                            return result;
                        }
                        m.undo_lanes(&before);
                    }
                    this.scalar.call(m, code, step)
                }
            )+
        }
    };
}

loops! {
    /// The locations for which the region holds.
    FILTER_INDICES |m, code, step, this, elements| {
        let (patch, base) = begin_filter(m, code, step, this)?;
        let mut kept = true;
        while m.next_block(code, this, &mut elements)? {
            kept &= keep(m, this, &patch, base, Slot::loc);
        }
        keep_rows(m, step, &patch, base, !kept)
    }

    /// The cells for which the region holds.
    FILTER_OBJECT |m, code, step, this, elements| {
        checked_cells(&m.patch(step.a))?;
        let (patch, base) = begin_filter(m, code, step, this)?;
        let mut kept = true;
        while m.next_block(code, this, &mut elements)? {
            kept &= keep(m, this, &patch, base, |slot| slot.cell().loc);
        }
        keep_rows(m, step, &patch, base, !kept)
    }

    /// The elements for which the region holds.
    FILTER_LIST |m, code, _, this, elements| {
        let base = m.stack.len();
        filter(m, code, this, &mut elements)?;
        m.list_of_stack(base)
    }

    /// The finished value of the elements for which the region holds.
    FILTER_MERGE |m, code, step, this, elements| {
        let base = m.stack.len();
        filter(m, code, this, &mut elements)?;
        finish(m, code, step, base)
    }

    /// The results of the region for each element.
    APPLY |m, code, step, this, elements| {
        let base = m.stack.len();
        m.region(code, &this.same)?;
        while m.next_block(code, this, &mut elements)? {
            push_results(m, this)?;
        }
        finish(m, code, step, base)
    }
}

kernels! {
    /// In each lane the largest key, and the parts of the first element with that key.
    GREATEST |m, code, step| { best(m, code, step, |key, best| key > best) }

    /// In each lane the smallest key, and the parts of the first element with that key.
    LEAST |m, code, step| { best(m, code, step, |key, best| key < best) }
}

/// Pushes the rows of the filtered patch on the stack, and returns where they start.
#[inline(always)]
fn begin_filter(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    this: &LaneLoop,
) -> Result<(Patch, usize), BailOut> {
    m.region(code, &this.same)?;
    let (patch, base) = (m.patch(step.a), m.stack.len());
    let rows = m.memory.patches.shape(&patch).rows;
    m.stack.extend(rows.iter().map(|&row| Slot(row as i64)));
    Ok((patch, base))
}

/// Clears the elements of the block for which the region does not hold in the rows on the stack; returns
/// whether it held for all of them.
#[inline(always)]
fn keep(
    m: &mut Machine,
    this: &LaneLoop,
    patch: &Patch,
    base: usize,
    loc: impl Fn(Slot) -> Loc,
) -> bool {
    let rows = &mut m.stack[base..];
    let results = m.lanes.column(this.lanes.result);
    let mut all = true;
    for (&element, &holds) in m.lanes.elements().iter().zip(results) {
        let loc = loc(element);
        let row = &mut rows[loc.i.wrapping_sub(patch.i) as usize];
        row.0 &= !(i64::from(holds == 0) << (loc.j.wrapping_sub(patch.j) & 63));
        all &= holds != 0;
    }
    all
}

/// Pushes the elements for which the region holds on the stack.
#[inline(always)]
fn filter(
    m: &mut Machine,
    code: &Code,
    this: &LaneLoop,
    elements: &mut Cursor,
) -> Result<(), BailOut> {
    m.region(code, &this.same)?;
    while m.next_block(code, this, elements)? {
        let mut left = m.lanes.holds(this.lanes.result);
        while left != 0 {
            m.stack
                .push(m.lanes.elements[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
    }
    Ok(())
}

/// Pushes the body's results on the stack.
#[inline(always)]
fn push_results(m: &mut Machine, this: &LaneLoop) -> Result<(), BailOut> {
    let (lanes, stack) = (&m.lanes, &mut m.stack);
    match this.gives {
        ResultType::Int([n]) => stack.extend(lanes.column(n).iter().map(|&n| Slot::of_int(n))),
        ResultType::Pair(columns) => {
            let [i, j] = columns.map(|at| lanes.column(at).iter());
            stack.extend(i.zip(j).map(|(&i, &j)| Slot::of_loc(Loc::new(i, j))));
        }
        ResultType::Cell(columns) => {
            let [colour, i, j] = columns.map(|at| lanes.column(at));
            for lane in 0..lanes.count {
                let loc = Loc::new(i[lane], j[lane]);
                let cell = Slot::of_cell(Cell::new(colour[lane], loc));
                stack.push(cell.ok_or(BailOut::Number)?);
            }
        }
    }
    Ok(())
}

/// What the lanes keep of an element: the parts of its type, or its slot.
pub(crate) fn kept_parts(element: &Type) -> Option<&'static [Part]> {
    Some(match element {
        Type::Pair => &Part::PAIR,
        Type::Cell => &Part::CELL,
        Type::Int | Type::Bool | Type::Indices | Type::Object => &Part::INT,
        _ => return None,
    })
}

/// Goes through the elements, of the type `immediate`, of the container in the slot `a`, which is the same for
/// all lanes: `to` gets the outermost key, and the columns after it the `d` parts of the element with that key,
/// from number `c` of [`Part::ALL`] on.
#[inline(always)]
fn best(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    is_better: impl Fn(i32, i32) -> bool,
) -> Result<Slot, BailOut> {
    let (same, lanes) = (code.region(step, 0), code.region(step, 1));
    let parts = Part::ALL.get(usize::from(step.c)..usize::from(step.c + step.d));
    let parts = parts.unwrap_or_default();
    // Of several elements of a set with the best key, the first one in the order of Python counts. If that is not known,
    // the loop around this finds it and starts again.
    let by_order = !parts.is_empty() && m.has_several(code.ty(step), m.get(step.a));
    let in_order = if by_order {
        m.known_list(code, step.a, code.ty(step))?
    } else {
        None
    };
    let by_order = by_order && in_order.is_none();
    let mut tied = [false; LANES];
    let mut elements = match in_order.map(Slot::list) {
        Some((at, len)) => Cursor::List { at, end: at + len },
        None => Cursor::new(&m.memory, code.ty(step), m.get(step.a)),
    };
    let mut first = true;
    while let Some(element) = elements.next(&mut m.memory)? {
        let mark = m.memory.mark();
        m.give(&same, 0, element);
        m.region(code, &same)?;
        m.run_lanes(code, &lanes)?;
        m.memory.release(mark);
        let portions = m.lanes.portions();
        let (made, free) = m.lanes.columns.split_at_mut(usize::from(step.to));
        let keys = made[usize::from(lanes.result)][..portions].as_flattened();
        let Some((best, kept)) = free.split_first_mut() else {
            return Err(BailOut::Memory);
        };
        let best = best.as_flattened_mut();
        for (part, kept) in parts.iter().zip(kept) {
            let value = part.of(element);
            let kept = kept.as_flattened_mut().iter_mut();
            for ((kept, &key), &best) in kept.zip(keys).zip(&*best) {
                *kept = if first | is_better(key, best) {
                    value
                } else {
                    *kept
                };
            }
        }
        if by_order {
            for ((tied, &key), &best) in tied.iter_mut().zip(keys).zip(&*best) {
                *tied = !first && !is_better(key, best) && (*tied || key == best);
            }
        }
        for (best, &key) in best.iter_mut().zip(keys) {
            *best = if first | is_better(key, *best) {
                key
            } else {
                *best
            };
        }
        first = false;
    }
    if tied[..m.lanes.count].contains(&true) {
        m.known.wanted = Some((step.a, step.immediate));
        return Err(BailOut::Order);
    }
    if first {
        Err(BailOut::Empty)
    } else {
        Ok(Slot::default())
    }
}
