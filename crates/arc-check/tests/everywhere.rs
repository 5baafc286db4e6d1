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
use arc_dsl::{Grid, MAX_SIDE, builtin, parse_programs};
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

/// An empty tuple of locations stays one when moved; on the device it would be an empty set.
#[test]
fn empty_tuples_that_are_moved_are_bailed_out_of() {
    if is_here() {
        let inputs = [grid(&[[7, 0], [0, 7]]), grid(&[[3]])];
        for call in ["x3 = shift(x2, UNITY)", "x3 = box(x2)"] {
            let lines = ["x1 = ofcolor(I, 7)", "x2 = totuple(x1)", call, "return x3"];
            let tally = agreed(&lines, &inputs, 0);
            let counts = &tally.evaluators.by_path[&Path::Interpreted];
            assert_eq!(counts.values, 1, "{tally}");
            assert_eq!(counts.bail_outs.values().sum::<u64>(), 1, "{tally}");
        }
    }
}
