//! Steps on columns: `a` to `d` are columns unless stated otherwise, and so is `to`, which comes after them
//! all.

use super::{Lanes, Part};
use crate::bail_out::BailOut;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::ops::sorting::equal;
use crate::program::Step;
use crate::slot::At;
use crate::slot::Slot;
use arc_dsl::MAX_INT;
use arc_form::Type;

/// The result of a step on columns: its value is in the column.
const DONE: Result<Slot, BailOut> = Ok(Slot(0));

/// Computes a column from columns.
#[inline(always)]
fn map<const N: usize>(
    lanes: &mut Lanes,
    from: [At; N],
    to: At,
    f: impl Fn([i32; N]) -> i32,
) -> Result<Slot, BailOut> {
    let portions = lanes.portions();
    let (made, free) = lanes.columns.split_at_mut(usize::from(to));
    let from = from.map(|at| &made[usize::from(at)]);
    let Some(to) = free.first_mut() else {
        return Err(BailOut::Memory);
    };
    for (p, to) in to.iter_mut().enumerate().take(portions) {
        let from = from.map(|column| &column[p]);
        for (k, to) in to.iter_mut().enumerate() {
            *to = f(from.map(|portion| portion[k]));
        }
    }
    DONE
}

/// The same for numbers that may be too large; on overflow the function has to return such a number.
#[inline(always)]
fn checked<const N: usize>(
    lanes: &mut Lanes,
    from: [At; N],
    to: At,
    f: impl Fn([i32; N]) -> i32,
) -> Result<Slot, BailOut> {
    map(lanes, from, to, f)?;
    let portions = &lanes.columns[usize::from(to)][..lanes.portions()];
    let mut wrong = false;
    for portion in portions {
        for &n in portion {
            wrong |= n.unsigned_abs() > MAX_INT as u32;
        }
    }
    if wrong { Err(BailOut::Number) } else { DONE }
}

/// The distance in rows and columns of two locations, or the largest number of 32 bits if it is larger.
#[inline(always)]
fn distance(a: i32, b: i32, c: i32, d: i32) -> i32 {
    // No number of a program has more than 30 bits and a sign.
    let [rows, columns] = [a.wrapping_sub(c), b.wrapping_sub(d)].map(i32::unsigned_abs);
    rows.wrapping_add(columns).min(i32::MAX as u32) as i32
}

kernels! {
    /// A part, `immediate`, of the value in the slot `a`, in all lanes.
    SPREAD |m, _, step| {
        let part = Part::ALL[step.immediate as usize % Part::ALL.len()];
        let value = part.of(m.get(step.a));
        map(&mut m.lanes, [], step.to, |[]| value)
    }

    /// The sum.
    ADD |m, _, step| { checked(&mut m.lanes, [step.a, step.b], step.to, |[a, b]| a.wrapping_add(b)) }

    /// The difference.
    SUBTRACT |m, _, step| { checked(&mut m.lanes, [step.a, step.b], step.to, |[a, b]| a.wrapping_sub(b)) }

    /// The product.
    MULTIPLY |m, _, step| {
        checked(&mut m.lanes, [step.a, step.b], step.to, |[a, b]| {
            let product = i64::from(a) * i64::from(b);
            if product.unsigned_abs() > MAX_INT as u64 { i32::MAX } else { product as i32 }
        })
    }

    /// The sum with `immediate`.
    ADD_NUMBER |m, _, step| {
        let number = step.immediate as i32;
        checked(&mut m.lanes, [step.a], step.to, |[a]| a.wrapping_add(number))
    }

    /// Twice the number.
    DOUBLE |m, _, step| { checked(&mut m.lanes, [step.a], step.to, |[a]| a.wrapping_mul(2)) }

    /// One step away from zero.
    CREMENT |m, _, step| { checked(&mut m.lanes, [step.a], step.to, |[a]| a.wrapping_add(a.signum())) }

    /// The negative.
    INVERT |m, _, step| { map(&mut m.lanes, [step.a], step.to, |[a]| a.wrapping_neg()) }

    /// Half, rounded down.
    HALVE |m, _, step| { map(&mut m.lanes, [step.a], step.to, |[a]| a >> 1) }

    /// The sign.
    SIGN |m, _, step| { map(&mut m.lanes, [step.a], step.to, |[a]| a.signum()) }

    /// The absolute value.
    MAGNITUDE |m, _, step| { map(&mut m.lanes, [step.a], step.to, |[a]| a.wrapping_abs()) }

    /// The larger.
    MAXIMUM |m, _, step| { map(&mut m.lanes, [step.a, step.b], step.to, |[a, b]| a.max(b)) }

    /// The smaller.
    MINIMUM |m, _, step| { map(&mut m.lanes, [step.a, step.b], step.to, |[a, b]| a.min(b)) }

    /// Whether it is a multiple of two.
    EVEN |m, _, step| { map(&mut m.lanes, [step.a], step.to, |[a]| i32::from(a & 1 == 0)) }

    /// Whether it is greater than zero.
    POSITIVE |m, _, step| { map(&mut m.lanes, [step.a], step.to, |[a]| i32::from(a > 0)) }

    /// Whether the first is greater.
    GREATER |m, _, step| { map(&mut m.lanes, [step.a, step.b], step.to, |[a, b]| i32::from(a > b)) }

    /// Whether they are equal.
    EQUAL |m, _, step| { map(&mut m.lanes, [step.a, step.b], step.to, |[a, b]| i32::from(a == b)) }

    /// Not.
    FLIP |m, _, step| { map(&mut m.lanes, [step.a], step.to, |[a]| i32::from(a == 0)) }

    /// And.
    BOTH |m, _, step| {
        map(&mut m.lanes, [step.a, step.b], step.to, |[a, b]| if a != 0 { b } else { a })
    }

    /// The first if it is true, otherwise the second.
    EITHER |m, _, step| {
        map(&mut m.lanes, [step.a, step.b], step.to, |[a, b]| if a != 0 { a } else { b })
    }

    /// The distance in rows and columns of the locations `(a, b)` and `(c, d)`.
    DISTANCE |m, _, step| {
        let from = [step.a, step.b, step.c, step.d];
        checked(&mut m.lanes, from, step.to, |[a, b, c, d]| distance(a, b, c, d))
    }

    /// The distance from the location `(b, c)` to the nearest one of the patch in the slot `a`.
    NEAREST |m, _, step| {
        let shape = m.memory.patches.shape(&m.memory.patches.get(m.slots[usize::from(step.a)]));
        let portions = m.lanes.portions();
        let (made, free) = m.lanes.columns.split_at_mut(usize::from(step.to));
        let [i, j] = [step.b, step.c].map(|at| made[usize::from(at)][..portions].as_flattened());
        let Some(to) = free.first_mut() else {
            return Err(BailOut::Memory);
        };
        let to = to[..portions].as_flattened_mut();
        to.fill(i32::MAX);
        for loc in shape.locations() {
            for ((to, &i), &j) in to.iter_mut().zip(i).zip(j) {
                *to = (*to).min(distance(i, j, loc.i, loc.j));
            }
        }
        // There is none, or it is too far away for a number.
        let most = to.iter().fold(0, |most, &n| most.max(n));
        if most > MAX_INT { Err(BailOut::Number) } else { DONE }
    }

    /// Whether the patch in the slot `a` has a location in the row `b`.
    IN_ROWS |m, _, step| {
        let shape = m.memory.patches.shape(&m.memory.patches.get(m.slots[usize::from(step.a)]));
        map(&mut m.lanes, [step.b], step.to, |[i]| {
            let row = shape.rows.get(i.wrapping_sub(shape.i) as u32 as usize);
            i32::from(row.is_some_and(|&row| row != 0))
        })
    }

    /// Whether the patch in the slot `a` has a location in the column `b`.
    IN_COLUMNS |m, _, step| {
        let shape = m.memory.patches.shape(&m.memory.patches.get(m.slots[usize::from(step.a)]));
        let columns = shape.rows.iter().fold(0, |all, row| all | row);
        map(&mut m.lanes, [step.b], step.to, |[j]| {
            let j = j.wrapping_sub(shape.j) as u32;
            i32::from(j < 64 && columns >> (j & 63) & 1 == 1)
        })
    }

    /// Whether the element whose slot is in the column `a` equals that in the slot `b`; both are of the type
    /// `immediate`.
    SAME_ELEMENT |m, code, step| { same_element(m, step, code.ty(step)) }
}

/// Compares elements with one value. Neighbouring lanes mostly have the same element.
#[inline(always)]
fn same_element(m: &mut Machine, step: &Step, ty: &Type) -> Result<Slot, BailOut> {
    let other = m.get(step.b);
    let (mut last, mut result) = (None, 0);
    for lane in 0..m.lanes.portions() * 8 {
        let (portion, k) = (lane / 8, lane % 8);
        let element = m.lanes.columns[usize::from(step.a)][portion][k];
        if last != Some(element) {
            last = Some(element);
            let element = Slot::of_index(element as usize);
            result = i32::from(equal(&m.memory, ty, element, other));
        }
        m.lanes.columns[usize::from(step.to)][portion][k] = result;
    }
    DONE
}
