//! All evaluators that need no GPU on the same cases; `mega-batch selfcheck --backend all` does the
//! same by the hundred thousand.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by a panic, its helpers too"
)]

use arc_check::agreement::Path;
use arc_check::everywhere::{Everywhere, Tally};
use arc_check::selfcheck::everywhere;
use arc_dsl::Grid;
use arc_tasks::{MAX_SIDE, builtin};
use arc_text::parse_programs;
use gpu_sim::emulated::Emulation;
use gpu_sim::open;

/// Whether there is a C++ compiler to build the emulated device with; prints why not.
fn is_here() -> bool {
    let device = open::emulated(0, &Emulation::default());
    if let Err(reason) = &device {
        eprintln!("ignored: {reason}");
    }
    device.is_ok()
}

/// All agree, and at least `least` evaluations ended in the same way on all of them.
fn expect_agreement(tally: &Tally, least: u64) {
    let evaluations = tally.evaluators.evaluations;
    assert_eq!(tally.different(), 0, "{tally}");
    assert!(tally.everywhere >= least, "{tally}");
    for path in [
        Path::Form,
        Path::Baseline,
        Path::Merged,
        Path::Emulated,
        Path::Interpreted,
    ] {
        // Evaluations that did not run on an evaluator are counted there, with the reason.
        let counts = &tally.evaluators.by_path[&path];
        let reasons = [&counts.bail_outs, &counts.not_compiled, &counts.no_form];
        let not_run: u64 = reasons.iter().flat_map(|all| all.values()).sum();
        let run = counts.values + counts.errors + counts.bounds;
        assert_eq!(run + not_run, evaluations, "{tally}");
    }
}

#[test]
fn programs_with_loops_end_alike_everywhere() {
    if is_here() {
        let tally = everywhere::random(400, 3, |_| {}).unwrap();
        expect_agreement(&tally, 400);
        // The same seed gives the same cases.
        let again = everywhere::random(400, 3, |_| {}).unwrap();
        assert_eq!(again.to_string(), tally.to_string());
    }
}

#[test]
fn programs_end_alike_everywhere_on_foreign_inputs() {
    if is_here() {
        let built_ins = builtin::all().iter();
        let programs: Vec<_> = built_ins.clone().map(|one| one.program().clone()).collect();
        let tasks: Vec<_> = built_ins.map(|one| one.task(0, 3, 0, MAX_SIDE)).collect();
        let tally = everywhere::foreign(&programs, &tasks, 400, 3, false, |_| {}).unwrap();
        assert_eq!(tally.evaluators.evaluations, 400);
        expect_agreement(&tally, 300);
        let tally = everywhere::foreign(&programs, &tasks, 400, 3, true, |_| {}).unwrap();
        assert_eq!(tally.evaluators.evaluations, 400);
        expect_agreement(&tally, 100);
    }
}

fn grid<const WIDTH: usize>(rows: &[[i32; WIDTH]]) -> Grid {
    Grid::from_rows(rows).unwrap()
}

/// The results of a program of these lines on these inputs, on which all evaluators agree.
fn agreed(lines: &[&str], inputs: &[Grid], least: u64) -> Tally {
    let text = format!("def f(I):\n    {}\n", lines.join("\n    "));
    let program = parse_programs(&text).remove(0).unwrap();
    let inputs: Vec<_> = inputs.iter().collect();
    let mut everywhere = Everywhere::new(0).unwrap();
    let tally = everywhere.programs([(&program, &inputs[..])]).unwrap();
    expect_agreement(&tally, least);
    tally
}

/// A round of a loop may return what it got, in any representation.
#[test]
fn rounds_that_change_nothing_break_no_rule() {
    if is_here() {
        let inputs = [grid(&[[3, 0], [0, 3]]), grid(&[[3]])];
        for made in ["identity(I)", "ofcolor(I, 3)", "asobject(I)"] {
            let first = format!("x1 = {made}");
            let lines = [
                &first,
                "x2 = power(identity, 4)",
                "x3 = x2(x1)",
                "x4 = size(x3)",
                "O = canvas(x4, UNITY)",
                "return O",
            ];
            agreed(&lines, &inputs, 2);
        }
    }
}

/// If the reference fails on an operation for sets, no other evaluator returns a value: locations and cells together,
/// of which one kind lies outside the grid, and the rest of the box of a tuple of locations.
#[test]
fn what_only_sets_of_one_kind_can_do_fails_everywhere() {
    if is_here() {
        let programs: [&[_]; 3] = [
            &[
                "x1 = asobject(I)",
                "x2 = width(I)",
                "x3 = multiply(x2, 100)",
                "x4 = tojvec(x3)",
                "x5 = vfrontier(x4)",
                "x6 = combine(x1, x5)",
                "x7 = fill(I, THREE, x6)",
                "return x7",
            ],
            &[
                "x1 = asindices(I)",
                "x2 = totuple(x1)",
                "x3 = delta(x2)",
                "x4 = fill(I, THREE, x3)",
                "return x4",
            ],
            &[
                "x1 = objects(I, F, T, F)",
                "x2 = fork(astuple, llcorner, lrcorner)",
                "x3 = compose(delta, x2)",
                "x4 = mapply(x3, x1)",
                "x5 = fill(I, THREE, x4)",
                "return x5",
            ],
        ];
        let inputs = [grid(&[[7, 0], [0, 7]]), grid(&[[3, 3, 5], [3, 0, 5]])];
        for lines in programs {
            let tally = agreed(lines, &inputs, 0);
            assert_eq!(tally.evaluators.by_path[&Path::Merged].errors, 2, "{tally}");
        }
    }
}

/// A known grid of two columns equals a tuple of locations, and counts as one for everything that takes tuples.
#[test]
fn a_known_grid_of_two_columns_is_a_tuple_of_locations() {
    if is_here() {
        let inputs = [
            grid(&[[0, 0], [0, 0]]),
            grid(&[[0, 0, 0], [1, 0, 0]]),
            grid(&[[0, 1], [0, 0]]),
        ];
        let uses = [
            ("equality(x3, x1)", "branch(x4, 1, 2)"),
            ("equality(x1, x3)", "branch(x4, 1, 2)"),
            ("combine(x3, x1)", "size(x4)"),
            ("difference(x3, x1)", "size(x4)"),
            ("difference(x1, x3)", "size(x4)"),
            ("contained((0, 0), x1)", "branch(x4, 1, 2)"),
            ("remove((0, 0), x1)", "size(x4)"),
            ("pair(x3, x1)", "size(x4)"),
        ];
        for (used, counted) in uses {
            let (used, counted) = (format!("x4 = {used}"), format!("x5 = {counted}"));
            let lines = [
                "x1 = canvas(0, (2, 2))",
                "x2 = first(I)",
                "x3 = apply(tojvec, x2)",
                &used,
                &counted,
                "O = canvas(x5, UNITY)",
                "return O",
            ];
            agreed(&lines, &inputs, 0);
        }
    }
}

/// `power` of one round is the function itself, whatever its parameters are; of more rounds it takes one argument. If
/// only the evaluation determines the number, no evaluator assumes one.
#[test]
fn power_of_one_round_takes_what_its_function_takes() {
    if is_here() {
        let inputs = [grid(&[[1, 0, 2]]), grid(&[[1, 0], [0, 2]])];
        let uses: [&[_]; 4] = [
            &["x4 = x3(5, 2)"],
            &["x5 = lbind(x3, 2)", "x4 = x5(3)"],
            &["x5 = rbind(x3, 2)", "x4 = x5(3)"],
            &["x5 = papply(x3, (1, 2), (3, 4))", "x4 = last(x5)"],
        ];
        for used in uses {
            let mut lines = vec!["x1 = height(I)", "x3 = power(add, x1)"];
            lines.extend_from_slice(used);
            lines.extend(["O = canvas(x4, UNITY)", "return O"]);
            let tally = agreed(&lines, &inputs, 0);
            let merged = &tally.evaluators.by_path[&Path::Merged];
            assert_eq!((merged.values, merged.errors), (1, 1), "{tally}");
        }
    }
}

/// The lines observe the order of the elements of a set, of which the first input gives one and the second several.
#[test]
fn what_the_order_of_a_set_decides_the_device_passes_on() {
    if is_here() {
        let inputs = [
            grid(&[[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]),
            grid(&[[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]),
        ];
        let program = |lines| {
            let sets = ["x1 = objects(I, T, F, T)", "x2 = ofcolor(I, 1)"];
            [sets[0], sets[1], lines, "return x9"]
        };
        let observing = [
            "x9 = first(x1)",
            "x9 = last(x1)",
            "x9 = argmax(x1, size)",
            "x9 = argmin(x1, numcolors)",
            "x9 = argmax(x1, color)",
            "x3 = matcher(size, 1)\n    x9 = extract(x1, x3)",
            "x3 = order(x1, size)\n    x9 = first(x3)",
            "x3 = totuple(x1)\n    x9 = last(x3)",
            "x3 = totuple(x1)\n    x4 = apply(ulcorner, x3)\n    x9 = mostcommon(x4)",
            "x9 = first(x2)",
            "x9 = last(x2)",
            "x3 = compose(even, first)\n    x9 = argmax(x2, x3)",
            "x3 = repeat(x2, 2)\n    x4 = merge(x3)\n    x9 = first(x4)",
            "x3 = repeat(x2, 2)\n    x4 = mapply(toindices, x3)\n    x9 = last(x4)",
            "x3 = pair(x2, x2)\n    x4 = first(x3)\n    x9 = first(x4)",
            "x3 = papply(add, x2, x2)\n    x9 = first(x3)",
            "x3 = repeat(ORIGIN, 1)\n    x4 = combine(x3, x2)\n    x9 = last(x4)",
        ];
        for lines in observing {
            let tally = agreed(&program(lines), &inputs, 0);
            let counts = &tally.evaluators.by_path[&Path::Interpreted];
            let passed_on = counts.bail_outs.get("the order of a set").copied();
            assert_eq!((counts.values, passed_on), (1, Some(1)), "{lines} {tally}");
        }
        let not_observing = [
            "x3 = totuple(x1)\n    x4 = apply(color, x3)\n    x5 = mostcommon(x4)\n    x9 = canvas(x5, UNITY)",
            "x3 = repeat(x2, 2)\n    x4 = merge(x3)\n    x9 = fill(I, 2, x4)",
            "x3 = repeat(x1, 2)\n    x4 = mapply(merge, x3)\n    x9 = paint(I, x4)",
            "x3 = order(x1, ulcorner)\n    x4 = first(x3)\n    x9 = subgrid(x4, I)",
        ];
        for lines in not_observing {
            let tally = agreed(&program(lines), &inputs, 0);
            let counts = &tally.evaluators.by_path[&Path::Interpreted];
            assert_eq!(counts.values, 2, "{lines} {tally}");
        }
    }
}

/// Of equally common colours the first in Python's set of all decides, which the device knows unless two of them share a
/// slot of its table.
#[test]
fn equally_common_colours_are_told_apart_by_their_slots() {
    if is_here() {
        let inputs = [
            grid(&[[1, 9, 2]]),
            grid(&[[9, 2], [2, 9]]),
            grid(&[[1, 2, 3], [4, 5, 9]]),
            grid(&[[9, 1]]),
        ];
        for call in ["mostcolor(I)", "leastcolor(I)", "first(x1)", "last(x1)"] {
            let call = format!("x2 = {call}");
            let lines = [
                "x1 = palette(I)",
                &call,
                "O = canvas(x2, UNITY)",
                "return O",
            ];
            let tally = agreed(&lines, &inputs[1..3], 2);
            assert_eq!(tally.everywhere, 2, "{tally}");
            let tally = agreed(&lines, &[inputs[0].clone(), inputs[3].clone()], 0);
            let counts = &tally.evaluators.by_path[&Path::Interpreted];
            assert_eq!(counts.bail_outs["the order of a set"], 2, "{tally}");
        }
    }
}

/// An empty tuple of locations stays one when moved; on the device it would be an empty set.
#[test]
fn empty_tuples_that_are_moved_are_bailed_out_of() {
    if is_here() {
        let inputs = [grid(&[[7, 0], [0, 0]]), grid(&[[3]])];
        for call in ["x3 = shift(x2, UNITY)", "x3 = box(x2)"] {
            let lines = ["x1 = ofcolor(I, 7)", "x2 = totuple(x1)", call, "return x3"];
            let tally = agreed(&lines, &inputs, 0);
            let counts = &tally.evaluators.by_path[&Path::Interpreted];
            assert_eq!(counts.values, 1, "{tally}");
            assert_eq!(counts.bail_outs.values().sum::<u64>(), 1, "{tally}");
        }
    }
}
