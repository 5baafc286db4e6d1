//! Vectorised loops against the reference.

use crate::ops::testing::check_text;
use crate::{Compiled, Machine, Stop};
use arc_dsl::{Grid, Interpreter};
use arc_form::specialise;
use arc_text::parse_programs;

/// The program with these lines, of which this many loops are vectorised.
fn text(loops: usize, lines: &[&str]) -> String {
    let text = format!("def f(I):\n    {}\n    return O\n", lines.join("\n    "));
    assert_eq!(compiled(&text).code.lane_loops.len(), loops, "{text}");
    text
}

fn compiled(text: &str) -> Compiled {
    let program = parse_programs(text).remove(0).unwrap();
    Compiled::new(&specialise(&program).unwrap()).unwrap()
}

fn check(lines: &[&str]) {
    let text = text(1, lines);
    let answered = check_text(&text, 5, 60);
    assert!(answered > 30, "{text}{answered}");
}

#[test]
fn operations_agree_with_the_reference() {
    for body in [
        "rbind(add, TWO_BY_TWO)",
        "rbind(add, THREE)",
        "lbind(subtract, FIVE)",
        "rbind(multiply, NEG_TWO)",
        "fork(multiply, identity, identity)",
        "double",
        "halve",
        "increment",
        "decrement",
        "crement",
        "invert",
        "sign",
        "chain(tojvec, double, first)",
        "chain(toivec, double, last)",
    ] {
        check(&[
            "x1 = asindices(I)",
            "x2 = rbind(subtract, THREE_BY_THREE)",
            &format!("x3 = compose({body}, x2)"),
            "O = apply(x3, x1)",
        ]);
    }
    for test in [
        "compose(even, first)",
        "compose(positive, last)",
        "chain(flip, even, maximum)",
        "chain(positive, decrement, minimum)",
        "fork(greater, first, last)",
        "fork(equality, first, last)",
        "matcher(last, TWO)",
        "matcher(identity, UNITY)",
        "fork(both, compose(positive, first), compose(even, last))",
        "fork(either, compose(even, first), compose(even, last))",
        "compose(lbind(hmatching, x1), initset)",
        "compose(rbind(vmatching, x1), initset)",
    ] {
        // On a tuple: a set of locations may be filtered at once.
        check(&[
            "x1 = ofcolor(I, ONE)",
            "x2 = totuple(asindices(I))",
            &format!("x3 = {test}"),
            "O = sfilter(x2, x3)",
        ]);
    }
}

#[test]
fn loops_agree_with_the_reference() {
    // Cells, and cells built in the body.
    check(&[
        "x1 = asobject(I)",
        "x2 = chain(even, last, last)",
        "O = sfilter(x1, x2)",
    ]);
    check(&[
        "x1 = asobject(I)",
        "x2 = compose(increment, last)",
        "x3 = fork(astuple, first, x2)",
        "O = apply(x3, x1)",
    ]);
    // Lists of pairs and of numbers, and a set with repeated results.
    check(&[
        "x1 = asindices(I)",
        "x2 = totuple(x1)",
        "x3 = compose(even, first)",
        "O = sfilter(x2, x3)",
    ]);
    check(&[
        "x1 = interval(ZERO, TEN, ONE)",
        "x2 = fork(multiply, increment, double)",
        "O = apply(x2, x1)",
    ]);
    check(&[
        "x1 = asindices(I)",
        "x2 = fork(multiply, first, last)",
        "O = apply(x2, x1)",
    ]);
}

#[test]
fn filters_of_products_agree_with_the_reference() {
    check(&[
        "x1 = ofcolor(I, ONE)",
        "x2 = asindices(I)",
        "x3 = product(x1, x2)",
        "x4 = compose(first, first)",
        "x5 = compose(last, last)",
        "x6 = fork(greater, x4, x5)",
        "O = sfilter(x3, x6)",
    ]);
    check(&[
        "x1 = ofcolor(I, ONE)",
        "x2 = toobject(x1, I)",
        "x3 = product(x2, x2)",
        "x4 = compose(last, first)",
        "x5 = compose(last, last)",
        "x6 = fork(add, x4, x5)",
        "x7 = chain(even, maximum, x6)",
        "O = sfilter(x3, x7)",
    ]);
    // A product that is materialised, since its filter is not vectorised.
    let made = text(
        0,
        &[
            "x1 = ofcolor(I, ONE)",
            "x2 = product(x1, x1)",
            "x4 = fork(connect, first, last)",
            "x5 = compose(portrait, x4)",
            "O = sfilter(x2, x5)",
        ],
    );
    assert!(check_text(&made, 5, 60) > 30);
}

#[test]
fn distances_from_all_patches_agree_with_the_reference() {
    for patches in [
        "objects(I, T, F, T)",
        "apply(initset, ofcolor(I, ONE))",
        "apply(toindices, objects(I, F, T, F))",
    ] {
        for outermost in ["minimum", "maximum"] {
            check(&[
                &format!("x1 = totuple({patches})"),
                "x2 = totuple(asindices(I))",
                "x3 = rbind(apply, x1)",
                "x4 = compose(lbind(lbind, manhattan), initset)",
                &format!("x5 = chain({outermost}, x3, x4)"),
                "O = apply(x5, x2)",
            ]);
        }
    }
    // The difference is read twice, and one has no magnitude.
    for body in [
        "fork(add, compose(x4, first), compose(x4, last))",
        "fork(multiply, fork(add, compose(x4, first), compose(x4, last)), first)",
        "fork(add, compose(x4, first), last)",
    ] {
        check(&[
            "x1 = totuple(asindices(I))",
            "x2 = rbind(subtract, TWO)",
            "x3 = fork(multiply, sign, identity)",
            "x4 = compose(x3, x2)",
            &format!("x5 = {body}"),
            "O = apply(x5, x1)",
        ]);
    }
}

#[test]
fn loops_inside_agree_with_the_reference() {
    // The distance of a location from the middle of each object.
    let distance = [
        "x1 = objects(I, T, F, F)",
        "x2 = asindices(I)",
        "x3 = compose(center, last)",
        "x4 = fork(subtract, first, x3)",
        "x5 = fork(multiply, sign, identity)",
        "x6 = lbind(apply, x5)",
        "x7 = fork(add, first, last)",
        "x8 = chain(x7, x6, x4)",
        "x9 = lbind(lbind, astuple)",
        "x10 = lbind(compose, x8)",
        "x11 = compose(x10, x9)",
    ];
    for rest in [
        &[
            "x12 = lbind(argmin, x1)",
            "x13 = compose(x12, x11)",
            "x14 = argmax(x1, size)",
            "x15 = matcher(x13, x14)",
            "O = sfilter(x2, x15)",
        ][..],
        &[
            "x12 = lbind(valmax, x1)",
            "x13 = chain(even, x12, x11)",
            "O = sfilter(x2, x13)",
        ],
        &[
            "x12 = lbind(valmin, x1)",
            "x13 = compose(x12, x11)",
            "O = apply(x13, x2)",
        ],
    ] {
        check(&[&distance[..], rest].concat());
    }
    let nothing = [
        "x12 = sizefilter(x1, ZERO)",
        "x13 = lbind(valmin, x12)",
        "x14 = compose(x13, x11)",
        "O = apply(x14, x2)",
    ];
    check_text(&text(1, &[&distance[..], &nothing].concat()), 5, 60);
    // The cell next to a location, by sets of one location.
    let distance = [
        "x1 = asindices(I)",
        "x2 = toobject(ofcolor(I, ONE), I)",
        "x3 = lbind(rbind, manhattan)",
        "x4 = rbind(compose, initset)",
        "x5 = chain(x4, x3, initset)",
    ];
    for rest in [
        &[
            "x6 = lbind(argmin, x2)",
            "x7 = chain(first, x6, x5)",
            "x8 = fork(astuple, x7, identity)",
            "O = apply(x8, x1)",
        ][..],
        &[
            "x6 = lbind(argmax, x2)",
            "x7 = compose(x6, x5)",
            "x8 = chain(even, first, x7)",
            "O = sfilter(x1, x8)",
        ],
    ] {
        let text = text(1, &[&distance[..], rest].concat());
        check_text(&text, 5, 60);
    }
}

/// Only the last element exceeds the largest integer: the outcome is as element by element.
#[test]
fn what_fails_by_lanes_runs_element_by_element() {
    let text = text(
        1,
        &[
            "x1 = totuple(asindices(I))",
            "x2 = multiply(TEN, TEN)",
            "x3 = multiply(x2, x2)",
            "x4 = multiply(x3, x3)",
            "x5 = rbind(multiply, x4)",
            "x6 = chain(x5, double, last)",
            "x7 = compose(positive, x6)",
            "O = sfilter(x1, x7)",
        ],
    );
    let program = parse_programs(&text).remove(0).unwrap();
    let compiled = compiled(&text);
    let mut machine = Machine::default();
    for (width, fails) in [(6, false), (7, true)] {
        let grid = Grid::filled(3, width, 1);
        let expected = Interpreter::default().run(&program, grid.clone());
        let found = machine.run(&compiled, &grid);
        assert_eq!(expected.is_err(), fails);
        match found {
            Ok(output) => assert_eq!(Ok(output.unordered_value()), expected),
            Err(stop) => assert!(fails && matches!(stop, Stop::BailOut(_)), "{stop}"),
        }
    }
}
