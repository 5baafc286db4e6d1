//! Sets in no order: without a sort, with equal elements found by their hashes where that pays, and
//! gone through as they are made.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

use std::cmp::Ordering;

use super::loops::{concat, finish, outermost};
use super::sorting::equal;
use crate::elements::Cursor;
use crate::halt::Halt;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::order::compare;
use crate::program::{Code, Region, Step};
use crate::slot::Slot;
use arc_form::Type;

/// What a hash is multiplied with from word to word: any odd number without a pattern.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// A number that equal patches, as sets of locations or of cells, have in common.
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
        // A lane for each plane, and what the colours have no part in: the locations.
        let object = memory.object(&patch);
        let mut lanes = [start; 4];
        let mut place = start;
        for r in 0..object.shape.rows.len() {
            let (row, planes) = object.row_with_planes(r);
            place = mixed(place, row);
            for (lane, plane) in lanes.iter_mut().zip(planes) {
                *lane = mixed(*lane, plane);
            }
        }
        lanes.iter().fold(place, |all, &lane| mixed(all, lane))
    };
    whole ^ whole >> 32
}

/// Leaves of what is on the stack from `base` on one of several equal ones, the last: what comes
/// later, where patches are painted one after the other, is what stays.
#[inline(always)]
fn leave_distinct(m: &mut Machine, base: usize, element: &Type) {
    let Machine {
        memory,
        stack,
        places,
        ..
    } = m;
    let slots = &mut stack[base..];
    // Twice as many places as elements and more, so that few meet at one.
    let size = (2 * slots.len() + 2).next_power_of_two();
    places.clear();
    places.resize(size, (0, 0));
    let mut kept = slots.len();
    for at in (0..slots.len()).rev() {
        let slot = slots[at];
        let hash = hash(memory, element, slot);
        let mut place = hash as usize & (size - 1);
        let new = loop {
            // A place is free that says 0; others say of how many elements, from the end, it is.
            let (other, from_end) = places[place];
            if from_end == 0 {
                break true;
            }
            let there = slots[slots.len() - from_end as usize];
            if other == hash && equal(memory, element, there, slot) {
                break false;
            }
            place = (place + 1) & (size - 1);
        };
        if new {
            kept -= 1;
            slots[kept] = slot;
            places[place] = (hash, (slots.len() - kept) as u32);
        }
    }
    slots.copy_within(kept.., 0);
    let left = slots.len() - kept;
    stack.truncate(base + left);
}

/// Leaves of what is on the stack from `base` on one of the slots that are 0, the empty patches or
/// containers. What loops make is mostly that, as with the lines between all pairs of locations, and
/// which is which no branch guesses, so that there is none.
#[inline(always)]
fn leave_one_nothing(m: &mut Machine, base: usize) {
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

/// The first element, in the order of the set, with the outermost key.
#[inline(always)]
fn outermost_of_bag(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    wanted: Ordering,
) -> Result<Slot, Halt> {
    let precedes = |m: &Machine, a: Slot, b: Slot| match code.ty(step) {
        Type::Tuple(inner) | Type::Set(inner) => a != b && compare(&m.memory, inner, a, b).is_lt(),
        _ => false,
    };
    let best = outermost(m, code, step, wanted, precedes)?;
    best.map(|(_, element)| element).ok_or(Halt::Empty)
}

/// What the region of a filter says of elements as they are made.
struct Test {
    region: Region,
    /// What it says of the slot 0, which is the empty patch and often comes.
    of_nothing: Option<bool>,
}

impl Test {
    #[inline(always)]
    fn new(region: Region) -> Self {
        Self {
            region,
            of_nothing: None,
        }
    }

    /// Whether the element passes.
    #[inline(always)]
    fn passes(&mut self, m: &mut Machine, code: &Code, value: Slot) -> Result<bool, Halt> {
        if value != Slot::default() {
            m.give(&self.region, 0, value);
            return Ok(m.region(code, &self.region)?.bool());
        }
        if let Some(known) = self.of_nothing {
            m.spend(1)?;
            return Ok(known);
        }
        m.give(&self.region, 0, value);
        let passes = m.region(code, &self.region)?.bool();
        self.of_nothing = Some(passes);
        Ok(passes)
    }
}

/// Puts the results of the first region for each element that pass the test on the stack.
#[inline(always)]
fn push_passing(m: &mut Machine, code: &Code, step: &Step, test: &mut Test) -> Result<(), Halt> {
    let region = code.region(step, 0);
    let mut elements = Cursor::new(&m.memory, code.ty(step), m.get(step.a));
    while let Some(element) = elements.next(&mut m.memory)? {
        let mark = m.memory.mark();
        m.give(&region, 0, element);
        let value = m.region(code, &region)?;
        if test.passes(m, code, value)? {
            m.stack.push(value);
        } else {
            m.memory.release(mark);
        }
    }
    Ok(())
}

kernels! {
    /// A set without an order, of elements that are no scalars.
    END_BAG |m, _, _| {
        let base = m.base;
        leave_one_nothing(m, base);
        m.list_of_stack(base)
    }

    /// A set of patches without an order.
    END_DISTINCT |m, code, step| {
        let base = m.base;
        leave_distinct(m, base, &code.types[code.endings[step.c as usize].element as usize]);
        m.list_of_stack(base)
    }

    /// The set of the patches in containers, without an order.
    END_CONCAT_DISTINCT |m, code, step| {
        let base = m.base;
        let ending = code.endings[step.c as usize];
        concat(m, base, &code.types[ending.inner as usize])?;
        leave_distinct(m, base, &code.types[ending.element as usize]);
        m.list_of_stack(base)
    }

    /// The patches of a list, without an order and each once.
    DISTINCT_OF_LIST |m, code, step| {
        let base = m.stack.len();
        m.stack.extend_from_slice(m.memory.lists.get(m.slots[step.a as usize]));
        leave_distinct(m, base, code.ty(step));
        m.list_of_stack(base)
    }

    /// Of elements in any order, the first one in the order of the set with the largest key.
    ARGMAX_OF_BAG |m, code, step| { outermost_of_bag(m, code, step, Ordering::Greater) }

    /// Of elements in any order, the first one in the order of the set with the smallest key.
    ARGMIN_OF_BAG |m, code, step| { outermost_of_bag(m, code, step, Ordering::Less) }

    /// The results of the first region for each element, where the second one holds for them.
    APPLY_AND_FILTER |m, code, step| {
        let base = m.stack.len();
        push_passing(m, code, step, &mut Test::new(code.region(step, 1)))?;
        finish(m, code, step, base)
    }

    /// The results of the first region for every element of one container with every one of
    /// another, where the second region holds for them.
    APPLY_PRODUCT_AND_FILTER |m, code, step| {
        let base = m.stack.len();
        let region = code.region(step, 0);
        let mut test = Test::new(code.region(step, 1));
        let mut second = Cursor::new(&m.memory, &code.types[step.d as usize], m.get(step.b));
        while let Some(b) = second.next(&mut m.memory)? {
            m.give(&region, 1, b);
            push_passing(m, code, step, &mut test)?;
        }
        finish(m, code, step, base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::check_text;
    use arc_dsl::Value;
    use arc_dsl::generate::Generator;

    /// Checks programs of these lines, of which the last one makes the output.
    fn check(lines: &[&str], least: usize) {
        let text = format!("def f(I):\n    {}\n    return O\n", lines.join("\n    "));
        let answered = check_text(&text, 31, 200);
        assert!(answered >= least, "{answered}: {text}");
    }

    #[test]
    fn sets_in_no_order_are_merged_and_painted() {
        let lines = "x1 = ofcolor(I, ONE)\n    x2 = prapply(connect, x1, x1)";
        let either = "x3 = fork(either, vline, hline)";
        // Made and gone through at once, or by two.
        check(
            &[
                lines,
                either,
                "x4 = mfilter(x2, x3)",
                "O = fill(I, TWO, x4)",
            ],
            150,
        );
        check(
            &[
                lines,
                either,
                "x4 = mfilter(x2, x3)",
                "O = shift(x4, (2, -3))",
            ],
            150,
        );
        check(&[lines, "x4 = merge(x2)", "O = underfill(I, TWO, x4)"], 150);
        check(&[lines, "x4 = merge(x2)", "O = backdrop(x4)"], 100);
        check(
            &[lines, either, "x4 = sfilter(x2, x3)", "O = apply(size, x4)"],
            150,
        );
        check(
            &[
                lines,
                "x3 = mfilter(x2, vline)",
                "x4 = mfilter(x2, hline)",
                "O = astuple(x3, x4)",
            ],
            150,
        );
        check(
            &[lines, either, "x4 = sfilter(x2, x3)", "O = merge(x4)"],
            150,
        );
        check(
            &[
                "x1 = partition(I)",
                "x2 = apply(outbox, x1)",
                "x3 = sizefilter(x2, 4)",
                "O = merge(x3)",
            ],
            150,
        );
        // The order is seen.
        check(
            &[lines, either, "x4 = sfilter(x2, x3)", "O = first(x4)"],
            100,
        );
        check(
            &[lines, either, "x4 = sfilter(x2, x3)", "O = size(x4)"],
            100,
        );
        check(&[lines, "O = identity(x2)"], 100);
    }

    #[test]
    fn objects_of_several_colours_are_painted_as_from_a_set() {
        let mirrored = [
            "x1 = objects(I, F, T, F)",
            "x2 = fork(insert, vmirror, compose(initset, hmirror))",
            "x3 = mapply(x2, x1)",
            "x4 = lbind(shift, ORIGIN)",
        ];
        let with = |lines: [&'static str; 2]| [&mirrored[..3], &lines[..]].concat();
        check(&with(["x5 = merge(x3)", "O = paint(I, x5)"]), 100);
        check(&with(["x5 = merge(x3)", "O = underpaint(I, x5)"]), 100);
        check(
            &with(["x5 = mapply(normalize, x3)", "O = paint(I, x5)"]),
            100,
        );
        check(
            &with(["x5 = mapply(toindices, x3)", "O = fill(I, 3, x5)"]),
            100,
        );
        check(&with(["x5 = argmax(x3, size)", "O = paint(I, x5)"]), 100);
        check(
            &with(["x5 = argmin(x3, leastcolor)", "O = normalize(x5)"]),
            100,
        );
        check(
            &with(["x5 = argmax(x3, toindices)", "O = normalize(x5)"]),
            100,
        );
        check(&with(["x5 = argmax(x3, center)", "O = normalize(x5)"]), 100);
        check(
            &with(["x5 = valmax(x3, height)", "O = canvas(2, astuple(x5, 3))"]),
            100,
        );
        check(&with(["x5 = order(x3, height)", "O = first(x5)"]), 100);
        check(&with(["x5 = colorfilter(x3, 0)", "O = merge(x5)"]), 80);
    }

    #[test]
    fn equal_objects_are_gone_through_once_where_that_takes_long() {
        let tuple = "x4 = astuple(astuple(hmirror(x2), vmirror(x2)), astuple(dmirror(x2), x2))";
        let lines = [
            "x1 = objects(I, F, T, F)",
            "x2 = argmax(x1, numcolors)",
            "x3 = matcher(first, 0)",
        ];
        let with = |more: &[&'static str]| [&lines[..], more].concat();
        let body =
            "x5 = fork(shift, identity, compose(invert, compose(ulcorner, rbind(sfilter, x3))))";
        for all in [
            "x4 = insert(hmirror(x2), insert(vmirror(x2), initset(hmirror(vmirror(x2)))))",
            "x4 = apply(hmirror, insert(vmirror(x2), initset(vmirror(vmirror(x2)))))",
            "x4 = combine(initset(x2), insert(vmirror(x2), initset(dmirror(cmirror(x2)))))",
        ] {
            check(
                &with(&[all, body, "x6 = mapply(x5, x4)", "O = paint(I, x6)"]),
                50,
            );
            check(
                &with(&[all, body, "x6 = mapply(x5, x4)", "O = underpaint(I, x6)"]),
                50,
            );
            check(
                &with(&[all, body, "x6 = mapply(x5, x4)", "O = palette(x6)"]),
                50,
            );
        }
        // In the order of a tuple what comes last is painted last, or what comes first stays.
        let body =
            "x5 = fork(recolor, compose(size, rbind(sfilter, x3)), compose(outbox, identity))";
        let flat = tuple
            .replace("astuple(astuple(", "merge(astuple(astuple(")
            .replace(", x2))", ", x2)))");
        let tuple: &'static str = Box::leak(flat.into_boxed_str());
        check(
            &with(&[tuple, body, "x6 = mapply(x5, x4)", "O = paint(I, x6)"]),
            50,
        );
        check(
            &with(&[tuple, body, "x6 = mapply(x5, x4)", "O = underpaint(I, x6)"]),
            50,
        );
    }

    #[test]
    fn the_reference_tells_which_element_fails() {
        let lines = "x1 = ofcolor(I, ONE)\n    x2 = prapply(connect, x1, x1)";
        check(&[lines, "O = apply(center, x2)"], 20);
        check(
            &[lines, "x3 = compose(first, center)", "O = argmax(x2, x3)"],
            20,
        );
        check(
            &[
                lines,
                "x3 = compose(positive, uppermost)",
                "O = mfilter(x2, x3)",
            ],
            20,
        );
        check(
            &[
                "x1 = objects(I, T, F, T)",
                "x2 = compose(rbind(extract, compose(positive, first)), toindices)",
                "x3 = apply(outbox, x1)",
                "O = apply(x2, x3)",
            ],
            20,
        );
    }

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
            leave_one_nothing(&mut machine, 1);
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
                // Not empty tuples and kin, which pass for patches too.
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
                leave_distinct(&mut machine, 0, &element);
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
