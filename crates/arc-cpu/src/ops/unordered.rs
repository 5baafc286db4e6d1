//! Loops over unordered sets, for their outermost element.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vectors of its caller"
)]

use std::cmp::Ordering;

use super::loops::outermost;
use super::sorting::equal;
use crate::bail_out::BailOut;
use crate::kernel::kernels;
use crate::machine::Machine;
use crate::program::{Code, Step};
use crate::slot::Slot;
use arc_form::Type;

/// The first element with the outermost key, in the order of Python.
#[inline(always)]
fn outermost_of_unordered(
    m: &mut Machine,
    code: &Code,
    step: &Step,
    wanted: Ordering,
) -> Result<Slot, BailOut> {
    let best = outermost(m, code, step, wanted)?;
    let (base, inner) = (m.base, code.ty(step).element().unwrap_or(Type::Never));
    // An element may be repeated, but of different ones with the same key the order of Python decides.
    if let Some((first, others)) = m.stack[base..].split_first() {
        let mut others = others.iter();
        if others.any(|other| other != first && !equal(&m.memory, &inner, *other, *first)) {
            return Err(m.leave_open(base..m.stack.len()));
        }
        m.stack.truncate(base);
    }
    best.map(|(_, element)| element).ok_or(BailOut::Empty)
}

kernels! {
    /// The first element with the largest key, in the order of Python, of an unordered set.
    ARGMAX_OF_UNORDERED |m, code, step| { outermost_of_unordered(m, code, step, Ordering::Greater) }

    /// The first element with the smallest key, in the order of Python, of an unordered set.
    ARGMIN_OF_UNORDERED |m, code, step| { outermost_of_unordered(m, code, step, Ordering::Less) }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    /// Checks programs of these lines, of which the last one computes the output.
    fn check(lines: &[&str], least: usize) {
        let text = format!("def f(I):\n    {}\n    return O\n", lines.join("\n    "));
        let answered = check_text(&text, 31, 200);
        assert!(answered >= least, "{answered}: {text}");
    }

    /// How often a program of these lines asks for the order of a set.
    fn asked(lines: &[&str]) -> u32 {
        let text = format!("def f(I):\n    {}\n    return O\n", lines.join("\n    "));
        let program = arc_text::parse_programs(&text).remove(0).unwrap();
        let form = arc_form::specialise(&program).unwrap();
        let compiled = crate::Compiled::new(&form).unwrap();
        let input = [[1, 1, 0, 2], [0, 1, 0, 2], [3, 3, 3, 0]];
        let input = arc_dsl::Grid::from_rows(&input).unwrap();
        let mut machine = crate::Machine::default();
        machine.run(&compiled, &input).unwrap();
        machine.orders_asked()
    }

    #[test]
    fn sets_in_no_order_are_merged_and_painted() {
        let lines = "x1 = ofcolor(I, ONE)\n    x2 = prapply(connect, x1, x1)";
        let either = "x3 = fork(either, vline, hline)";
        // For one use, and for two.
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
        // The order is observed.
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
    fn tuples_of_elements_of_sets_in_a_set_need_no_order_where_no_use_sees_it() {
        let lines = [
            "x1 = objects(I, T, F, T)",
            "x2 = product(x1, x1)",
            "x3 = sfilter(x2, fork(greater, compose(leftmost, first), compose(leftmost, last)))",
            "x4 = apply(merge, x3)",
        ];
        let with = |more: &[&'static str]| [&lines[..], more].concat();
        for unseen in [
            &["x5 = mapply(delta, x4)", "O = fill(I, TWO, x5)"][..],
            &["x5 = mapply(backdrop, x4)", "O = underfill(I, TWO, x5)"],
        ] {
            let lines = with(unseen);
            check(&lines, 150);
            assert_eq!(asked(&lines), 0, "{lines:?}");
        }
        // These see it, or how many tuples there are.
        for seen in [
            &["O = size(x4)"][..],
            &["x5 = apply(first, x4)", "O = fill(I, TWO, apply(last, x5))"],
            &["x5 = mapply(identity, x4)", "O = first(totuple(x5))"],
            &["O = argmax(x4, first)"],
            &["O = x4"],
        ] {
            check(&with(seen), 0);
        }
    }

    #[test]
    fn the_order_of_the_cells_of_each_object_of_a_tuple_is_not_seen_by_painting() {
        let lines = [
            "x1 = totuple(objects(I, T, F, T))",
            "x2 = fork(combine, compose(initset, center), compose(merge, fork(astuple, outbox, inbox)))",
            "x3 = fork(intersection, x2, toindices)",
        ];
        let with = |more: &[&'static str]| [&lines[..], more].concat();
        let painted = &[
            "x4 = fork(recolor, size, x3)",
            "O = paint(I, mapply(x4, x1))",
        ];
        check(&with(painted), 60);
        assert_eq!(asked(&with(painted)), asked(&[lines[0], "O = first(x1)"]));
        // These see it.
        check(
            &with(&["x4 = fork(recolor, size, x3)", "O = first(mapply(x4, x1))"]),
            0,
        );
        check(&with(&["O = first(mapply(x3, x1))"]), 0);
        // So does the order of the objects of each set of a tuple.
        check(
            &[
                "x1 = totuple(objects(I, T, F, T))",
                "x2 = compose(lbind(apply, outbox), initset)",
                "x3 = fork(insert, identity, x2)",
                "x4 = compose(lbind(apply, lbind(recolor, 3)), x3)",
                "O = paint(I, merge(mapply(x4, x1)))",
            ],
            0,
        );
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
        // In the order of a tuple, the last is painted last, or the first stays.
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
}
