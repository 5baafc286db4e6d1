//! All evaluators that need no GPU on the same cases; `mega-batch selfcheck --backend all` does the
//! same by the hundred thousand.

#![allow(clippy::panic, reason = "a test fails by a panic, its helpers too")]

use arc_check::agreement::Path;
use arc_check::everywhere::{Everywhere, Tally};
use arc_check::selfcheck::everywhere;
use arc_dsl::{Grid, MAX_SIDE, builtin, parse_programs};
use gpu_kernels::device::emulated::Emulation;
use gpu_kernels::device::open;

/// Whether there is a C++ compiler to build the emulated device with; says why not.
fn is_here() -> bool {
    let device = open::emulated(0, &Emulation::default());
    if let Err(reason) = &device {
        eprintln!("ignored: {reason}");
    }
    device.is_ok()
}

/// All agree, and at least so many evaluations ended alike on all of them.
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
        // What ran nowhere else is counted for each of them, with its reason.
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
        // The same seed makes the same cases.
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

/// A round of a loop may give what it was given, held in any way.
#[test]
fn rounds_that_change_nothing_break_no_rule() {
    if is_here() {
        for made in ["identity(I)", "ofcolor(I, 3)", "asobject(I)"] {
            let text = format!(
                "def f(I):\n    x1 = {made}\n    x2 = power(identity, 4)\n    x3 = x2(x1)\n    x4 = size(x3)\n    O = canvas(x4, UNITY)\n    return O\n"
            );
            let program = parse_programs(&text).remove(0).unwrap();
            let inputs = [
                Grid::from_rows(&[[3, 0], [0, 3]]).unwrap(),
                Grid::from_rows(&[[3]]).unwrap(),
            ];
            let mut everywhere = Everywhere::new(0).unwrap();
            let tally = everywhere
                .programs([(&program, &inputs.each_ref()[..])])
                .unwrap();
            expect_agreement(&tally, 2);
        }
    }
}

/// Where the reference fails on what a set would do, no other evaluator gives a value: locations and cells
/// together, of which one kind lies off the grid, and the rest of the box of a tuple of locations.
#[test]
fn what_only_sets_of_one_kind_can_do_fails_everywhere() {
    if is_here() {
        let bodies = [
            "x1 = asobject(I)\n    x2 = width(I)\n    x3 = multiply(x2, 100)\n    x4 = tojvec(x3)\n    \
             x5 = vfrontier(x4)\n    x6 = combine(x1, x5)\n    x7 = fill(I, THREE, x6)\n    return x7\n",
            "x1 = asindices(I)\n    x2 = totuple(x1)\n    x3 = delta(x2)\n    x4 = fill(I, THREE, x3)\n    \
             return x4\n",
            "x1 = objects(I, F, T, F)\n    x2 = fork(astuple, llcorner, lrcorner)\n    \
             x3 = compose(delta, x2)\n    x4 = mapply(x3, x1)\n    x5 = fill(I, THREE, x4)\n    return x5\n",
        ];
        for body in bodies {
            let text = format!("def f(I):\n    {body}");
            let program = parse_programs(&text).remove(0).unwrap();
            let inputs = [
                Grid::from_rows(&[[7, 0], [0, 7]]).unwrap(),
                Grid::from_rows(&[[3, 3, 5], [3, 0, 5]]).unwrap(),
            ];
            let mut everywhere = Everywhere::new(0).unwrap();
            let tally = everywhere
                .programs([(&program, &inputs.each_ref()[..])])
                .unwrap();
            expect_agreement(&tally, 0);
            assert_eq!(tally.evaluators.by_path[&Path::Merged].errors, 2, "{tally}");
        }
    }
}

/// An empty tuple of locations that is moved stays one; on the device it would be an empty set.
#[test]
fn empty_tuples_that_are_moved_are_bailed_out_of() {
    if is_here() {
        for call in ["shift(x2, UNITY)", "box(x2)"] {
            let text = format!(
                "def f(I):\n    x1 = ofcolor(I, 7)\n    x2 = totuple(x1)\n    x3 = {call}\n    return x3\n"
            );
            let program = parse_programs(&text).remove(0).unwrap();
            let inputs = [
                Grid::from_rows(&[[7, 0], [0, 7]]).unwrap(),
                Grid::from_rows(&[[3]]).unwrap(),
            ];
            let mut everywhere = Everywhere::new(0).unwrap();
            let tally = everywhere
                .programs([(&program, &inputs.each_ref()[..])])
                .unwrap();
            expect_agreement(&tally, 0);
            let counts = &tally.evaluators.by_path[&Path::Interpreted];
            assert_eq!(counts.values, 1, "{tally}");
            assert_eq!(counts.bail_outs.values().sum::<u64>(), 1, "{tally}");
        }
    }
}
