//! The compiled path against the reference: built-in programs and random ones, on inputs that suit
//! them and on others. `mega-batch selfcheck` does the same by the million.

#![allow(clippy::panic, reason = "a test fails by a panic, its helpers too")]

use arc_check::agreement::{self, CHUNK, Checker, Path, Prepared, Tally};
use arc_cpu::{Compiled, Machine, Stop};
use arc_dsl::{ErrorKind, Grid, Interpreter, Limits, Operand, Program, ProgramBuilder, Value};
use arc_form::Options;
use arc_tasks::{MAX_SIDE, builtin};
use arc_text::parse_programs;

/// The number of chunks of random cases.
const CHUNKS: u64 = 24;

/// Fails with the first disagreements, shrunk.
fn expect_agreement(tally: &Tally) {
    if !tally.disagreements.is_empty() {
        let shrunk = tally.disagreements.iter().take(3);
        let shrunk: Vec<_> = shrunk.map(|one| one.shrunk().to_string()).collect();
        panic!("{tally}\n{}", shrunk.join("\n"));
    }
}

#[test]
fn random_programs_and_single_calls_end_alike() {
    let mut checker = Checker::default();
    let mut tally = Tally::default();
    for chunk in 0..CHUNKS {
        tally.add(agreement::random(2, chunk, CHUNK, &mut checker));
    }
    expect_agreement(&tally);
    assert_eq!(tally.evaluations, CHUNKS * CHUNK);
    // Bail-outs and programs without a form are not compared: most cases must be.
    assert!(
        tally.agreed(Path::Form) > tally.evaluations * 3 / 4,
        "{tally}"
    );
    assert!(
        tally.agreed(Path::Baseline) > tally.evaluations / 2,
        "{tally}"
    );
}

#[test]
fn built_in_programs_end_alike_on_their_own_inputs_and_on_those_of_others() {
    let mut checker = Checker::default();
    let (mut own, mut others) = (Tally::default(), Tally::default());
    for (at, built_in) in builtin::all().iter().enumerate() {
        let prepared = Prepared::new(built_in.program());
        for index in 0..3 {
            let input = built_in.input(5, index, MAX_SIDE);
            let result = checker.check(&prepared, &input, &mut own);
            assert!(result.is_ok(), "{}: {result:?}", built_in.id());
        }
        for (index, other) in builtin::all().iter().enumerate().skip(at % 9).step_by(9) {
            let _ = checker.check(&prepared, &other.input(5, index, 14), &mut others);
        }
    }
    for tally in [own, others] {
        expect_agreement(&tally);
        let agreed = tally.agreed(Path::Baseline);
        assert!(agreed > tally.evaluations * 4 / 5, "{tally}");
    }
}

/// The elements of this set are selections between a pair of truth values and a pair, which a form holds as all of
/// their parts.
#[test]
fn what_weighs_more_in_a_form_is_no_limit() {
    let text = "
def f(I):
    x1 = asindices(I)
    x2 = fork(both, lbind(apply, positive), double)
    x3 = apply(x2, x1)
    return THREE
";
    let program = parse_programs(text).remove(0).unwrap();
    let prepared = Prepared::new(&program);
    let input = Grid::filled(30, 30, 1);
    let mut bailed_out = 0;
    for max_elements in (500..10_000).step_by(500) {
        let limits = Limits {
            max_elements,
            ..Limits::default()
        };
        let mut tally = Tally::default();
        let mut checker = Checker::with_limits(&limits);
        let reference = checker.check(&prepared, &input, &mut tally);
        assert!(tally.disagreements.is_empty(), "{max_elements}: {tally}");
        bailed_out += u64::from(reference.is_ok() && tally.agreed(Path::Form) == 0);
    }
    assert!(bailed_out > 0);
}

/// Python copies a set that meets itself; one that meets an equal one it builds anew, maybe in another order.
#[test]
fn sets_that_meet_themselves_and_equal_ones_have_the_order_of_python() {
    let ways = [
        ("ofcolor(I, 1)", "x1", "x1"),
        ("ofcolor(I, 1)", "ofcolor(I, 1)", "x1"),
        ("ofcolor(I, 1)", "branch(T, x1, x1)", "x1"),
        ("ofcolor(I, 1)", "shift(x1, (0, 0))", "x1"),
        ("ofcolor(I, 1)", "sfilter(x1, rbind(contained, x1))", "x1"),
        (
            "fork(intersection, rbind(ofcolor, 1), rbind(ofcolor, 1))",
            "x1(I)",
            "x2",
        ),
        ("asobject(I)", "asobject(I)", "x1"),
        ("objects(I, T, F, T)", "objects(I, T, F, T)", "x1"),
        ("objects(I, T, F, T)", "x1", "x1"),
    ];
    let (mut checker, mut tally) = (Checker::default(), Tally::default());
    for (first, second, third) in ways {
        for ends in ["first(x3)", "order(x3, height)", "totuple(x3)"] {
            let text = format!(
                "def f(I):\n    x1 = {first}\n    x2 = {second}\n    x3 = intersection(x2, {third})\n    x4 = {ends}\n    return x4\n"
            );
            let program = parse_programs(&text).remove(0).unwrap();
            let prepared = Prepared::new(&program);
            for built_in in builtin::all().iter().step_by(5) {
                let _ = checker.check(&prepared, &built_in.input(5, 0, 14), &mut tally);
            }
        }
    }
    expect_agreement(&tally);
    assert!(tally.evaluations > 300, "{tally}");
}

#[test]
fn power_ends_where_python_recurses_too_deep() {
    let (mut checker, mut tally) = (Checker::default(), Tally::default());
    let mut errors = 0;
    for rounds in [
        "0",
        "1",
        "998",
        "999",
        "multiply(x1, 9)",
        "multiply(x1, 400)",
        "subtract(x1, 3)",
    ] {
        let text = format!(
            "def f(I):\n    x1 = height(I)\n    x2 = power(vmirror, {rounds})\n    x3 = x2(I)\n    return x3\n"
        );
        let program = parse_programs(&text).remove(0).unwrap();
        let input = Grid::from_rows(&[[1, 2], [0, 3], [4, 0]]).unwrap();
        let reference = checker.check(&Prepared::new(&program), &input, &mut tally);
        errors += u32::from(matches!(
            reference.map_err(|error| error.kind),
            Err(ErrorKind::Recursion(_))
        ));
    }
    expect_agreement(&tally);
    assert_eq!(errors, 4);
}

/// The first round is called by all others, those of another `power` around it included.
#[test]
fn power_of_power_ends_where_python_recurses_too_deep() {
    let (mut checker, mut tally) = (Checker::default(), Tally::default());
    for (inner, outer, expected) in [
        (600, 600, Some(1199)),
        (499, 500, None),
        (500, 500, Some(999)),
        (3, 300, None),
    ] {
        let steps = [
            format!("power(vmirror, {inner})"),
            format!("power(x1, {outer})"),
        ];
        let program = program(&[&*steps[0], &*steps[1], "x2(I)"]);
        let input = Grid::from_rows(&[[1, 2]]).unwrap();
        let reference = checker.check(&Prepared::new(&program), &input, &mut tally);
        let kind = reference.err().map(|error| error.kind);
        assert_eq!(kind, expected.map(ErrorKind::Recursion), "{inner} {outer}");
    }
    expect_agreement(&tally);
}

/// Two grids are painted, or one and another thing is chosen, before the order of any set is known.
#[test]
fn what_is_right_is_right_however_much_the_order_decides() {
    let start = "
def f(I):
    x1 = palette(I)
    x2 = rbind(recolor, ofcolor(I, 1))
    x3 = mapply(x2, x1)
    x4 = rbind(recolor, ofcolor(I, 2))
    x5 = mapply(x4, x1)
    x6 = objects(I, T, F, F)
";
    let ends = [
        "    x7 = paint(I, x3)\n    x8 = paint(x7, x5)\n    return x8\n",
        "    x7 = paint(I, x3)\n    x8 = argmax(x6, size)\n    x9 = fill(x7, 9, x8)\n    return x9\n",
        "    x7 = argmin(x6, size)\n    x8 = paint(I, x5)\n    x9 = fill(x8, 9, x7)\n    x10 = paint(x9, x3)\n    return x10\n",
    ];
    let (mut machine, mut reference) = (Machine::default(), Interpreter::default());
    let (mut right, mut unasked) = (0, 0);
    for end in ends {
        let program = parse_programs(&format!("{start}{end}")).remove(0).unwrap();
        let compiled = Compiled::new(&arc_form::specialise(&program).unwrap()).unwrap();
        for seed in 0..40_usize {
            let cells = (0..64).map(|at| ((at * at + at / 8 * seed + seed * 7) % 11 % 4) as i8);
            let input = Grid::from_cells(8, 8, cells.collect());
            let output = reference.run(&program, input.clone()).unwrap();
            let expected = output.as_grid().unwrap();
            match machine.run_against(&compiled, &input, &expected) {
                Ok(found) => assert!(
                    found.is_some_and(|found| found.equals(&expected)),
                    "{program}"
                ),
                Err(stop) => assert!(matches!(stop, Stop::BailOut(_)), "{stop}"),
            }
            right += u32::from(machine.run_against(&compiled, &input, &expected).is_ok());
            // No object has this colour, so it is wrong wherever it is, even where it is not known which object comes last.
            let mut other = expected.cells().to_vec();
            other[seed] = 8;
            let other = Grid::from_cells(8, 8, other);
            match machine.run_against(&compiled, &input, &other) {
                Ok(found) => assert!(found.is_none_or(|found| !found.equals(&other))),
                Err(stop) => assert!(matches!(stop, Stop::BailOut(_)), "{stop}"),
            }
            unasked += u32::from(machine.orders_asked() == 0);
        }
    }
    assert!(right > 60 && unasked == 120, "{right} {unasked}");
}

/// If only the verdict is asked for, the order of a set is not always found.
#[test]
fn a_verdict_is_that_of_the_reference_whatever_the_expected_grid() {
    let all: Vec<_> = builtin::all().iter().collect();
    let (mut machine, mut reference) = (Machine::default(), Interpreter::default());
    let (mut wrong, mut right) = (0, 0);
    for (at, program) in all.iter().enumerate() {
        let form = arc_form::specialise(program.program());
        let Some(compiled) = form.ok().and_then(|form| Compiled::new(&form).ok()) else {
            continue;
        };
        for other in all.iter().skip(at % 3).step_by(3) {
            let input = other.input(7, 1, 16);
            let result = reference.run(program.program(), input.clone());
            let output = result
                .as_ref()
                .ok()
                .and_then(|value| Some(value.as_grid()?.into_owned()));
            let (height, width) = output
                .as_ref()
                .map_or((3, 3), |grid| (grid.height(), grid.width()));
            let mut changed = output
                .clone()
                .map(|grid| grid.cells().to_vec())
                .unwrap_or_default();
            if let Some(cell) = changed.last_mut() {
                *cell = 9 - *cell;
            }
            let changed = (!changed.is_empty()).then(|| Grid::from_cells(height, width, changed));
            let others = [
                Some(input.clone()),
                Some(Grid::filled(height, width, 1)),
                changed,
            ];
            for expected in others.into_iter().chain([output]).flatten() {
                let verdict = reference.run_against(program.program(), &input, &expected);
                let verdict = verdict.map(|value| value.is_some_and(|it| it.is_grid(&expected)));
                let is_right = |value: &Value| value.is_grid(&expected);
                assert_eq!(
                    verdict,
                    result.as_ref().map(is_right).map_err(|error| *error)
                );
                let found = match machine.run_against(&compiled, &input, &expected) {
                    Ok(output) => output.is_some_and(|output| output.equals(&expected)),
                    Err(Stop::BailOut(_)) => continue,
                    Err(Stop::Error(error)) => {
                        let kind = result.as_ref().unwrap_err().kind;
                        assert_eq!(kind, error.kind, "{}", program.id());
                        continue;
                    }
                };
                let expected = result.as_ref().map(|value| value.is_grid(&expected));
                assert_eq!(Ok(found), expected, "{} on {}", program.id(), other.id());
                wrong += u32::from(!found);
                right += u32::from(found);
            }
        }
    }
    assert!(wrong > 2_000 && right > 1_000, "{wrong} {right}");
}

/// The program that assigns these to `x1`, `x2` and so on, and returns the last.
fn program(steps: &[&str]) -> Program {
    let lines = (1..).zip(steps).map(|(at, step)| format!("x{at} = {step}"));
    let lines: Vec<String> = lines.collect();
    let text = format!(
        "def f(I):\n    {}\n    return x{}\n",
        lines.join("\n    "),
        steps.len()
    );
    match parse_programs(&text).remove(0) {
        Ok(program) => program,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// The value that another step needs may be found again without this one.
#[test]
fn a_step_of_a_loop_fails_though_nothing_needs_its_value() {
    let unused = program(&[
        "apply(rbind(connect, (1, 0)), frozenset({(0, 2)}))",
        "fork(lbind(branch, T), identity, dmirror)",
        "apply(x2, x1)",
    ]);
    let (mut checker, mut tally) = (Checker::default(), Tally::default());
    let prepared = Prepared::new(&unused);
    let found = checker.check(&prepared, &Grid::filled(1, 1, 0), &mut tally);
    assert_eq!(found.unwrap_err().kind, ErrorKind::Empty);
    expect_agreement(&tally);
}

/// What equals another value is not that value, nor is it always written alike.
#[test]
fn equal_values_are_told_apart_as_python_does() {
    let [a, b] = ["frozenset({7, 15})", "insert(15, frozenset({7}))"];
    let meet =
        "mpapply(intersection, frozenset({frozenset({7, 15})}), frozenset({frozenset({7, 15})}))";
    // Python iterates over the grids the other way round.
    let grids = [1, 7].map(|colour| Value::from(Grid::filled(1, 1, colour)));
    let grids = Operand::from(Value::set(grids).into_literal());
    let programs = [
        (program(&[meet]), "(7, 15)"),
        (
            program(&[
                "rbind(intersection, frozenset({7, 15}))",
                &format!("x1({a})"),
            ]),
            a,
        ),
        (
            program(&[b, "lbind(intersection, x1)", "x2(x1)"]),
            "frozenset({15, 7})",
        ),
        (program(&[b, b, "lbind(intersection, x1)", "x3(x2)"]), a),
        (
            program(&["even(1)", "initset(x1)", "intersection(frozenset({0}), x2)"]),
            "frozenset({False})",
        ),
        // Of nothing it is the value of 0.
        (
            program(&[
                "rbind(insert, frozenset({8, 0}))",
                "chain(tojvec, first, x1)",
                "valmin(frozenset(), x2)",
            ]),
            "(0, 8)",
        ),
        (
            ProgramBuilder::new("f").finish(grids).unwrap(),
            "frozenset({((1,),), ((7,),)})",
        ),
        // The pairs that stand for those with functions are in another order than these.
        (
            program(&[
                "palette(I)",
                "insert(hmirror, initset(vmirror))",
                "product(x1, x2)",
                "argmin(x3, size)",
                "first(x4)",
            ]),
            "7",
        ),
        // What holds colours alone could not give the boolean back.
        (
            program(&[
                "height(I)",
                "decrement(x1)",
                "astuple(x2, x2)",
                "index(((False,),), x3)",
            ]),
            "False",
        ),
    ];
    expect_values(&programs);
}

/// Sets of functions iterate by their hashes, whatever else is in them, and however they grow.
#[test]
fn sets_of_functions_iterate_as_the_reference_iterates_over_them() {
    let programs = [
        (
            program(&[
                "insert(color, frozenset({frozenset({(1, 0)})}))",
                "first(x1)",
            ]),
            ANY,
        ),
        (
            program(&[
                "lbind(add, 1)",
                "lbind(add, 2)",
                "lbind(add, 3)",
                "lbind(add, 4)",
                "initset(x1)",
                "insert(x2, x5)",
                "insert(x3, x6)",
                "insert(x4, x7)",
                "totuple(x8)",
                "rapply(x9, 0)",
            ]),
            "(1, 2, 3, 4)",
        ),
        (
            program(&[
                "insert(subtract, frozenset({color, height, width, add}))",
                "rbind(add, 2)",
                "insert(x2, x1)",
                "totuple(x3)",
                "rbind(equality, add)",
                "apply(x5, x4)",
            ]),
            ANY,
        ),
    ];
    expect_values(&programs);
}

/// What depends on the places of primitives in the table, as their hashes do.
const ANY: &str = "a value";

/// All evaluators give these values, as text, with folding and without.
fn expect_values(programs: &[(Program, &str)]) {
    let input = Grid::from_rows(&[[3, 1, 7]]).expect("a grid");
    let (mut checker, mut tally) = (Checker::default(), Tally::default());
    for (program, expected) in programs {
        for fold in [true, false] {
            let options = Options {
                fold,
                ..Options::default()
            };
            let prepared = Prepared::with(program, &options);
            let found = checker.check(&prepared, &input, &mut tally);
            let found = found.expect(expected).to_string();
            assert!(
                found == *expected || *expected == ANY,
                "{found} is not {expected}"
            );
        }
    }
    expect_agreement(&tally);
}

/// A call that fails in a loop has no value, although a later one only compares it and needs no order of it.
#[test]
fn what_fails_in_a_loop_that_is_built_again_fails() {
    let text = "def f(I):
    x1 = rbind(remove, frozenset({frozenset({0})}))
    x2 = rbind(repeat, 0)
    x3 = chain(x1, first, x2)
    O = apply(x3, frozenset({frozenset({1}), frozenset({0})}))
    return O
";
    let program = parse_programs(text).remove(0).unwrap();
    let (mut checker, mut tally) = (Checker::default(), Tally::default());
    let prepared = Prepared::with(&program, &Options::default());
    assert!(
        checker
            .check(&prepared, &Grid::filled(1, 1, 0), &mut tally)
            .is_err()
    );
    expect_agreement(&tally);
}

/// What a vectorised loop makes in its body is gone when it looks for an order again.
#[test]
fn the_order_of_what_a_loop_has_made_is_no_fault() {
    let text = "def f(I):\n    x = tuple(argmin(ofcolor(I, 0), lambda k: c) for c in palette(I))\n    return x\n";
    let program = parse_programs(text).remove(0).unwrap();
    let form = arc_form::specialise(&program).unwrap();
    let compiled = Compiled::new(&form).unwrap();
    let (mut machine, mut reference) = (Machine::default(), Interpreter::default());
    let cells = (0..81).map(|at| (at * at % 7) as i8).collect();
    let grid = Grid::from_cells(9, 9, cells);
    let expected = reference.run(&program, grid.clone()).unwrap();
    match machine.run(&compiled, &grid) {
        Ok(output) => assert_eq!(output.value().unwrap(), expected),
        Err(stop) => assert!(matches!(stop, Stop::BailOut(_)), "{stop}"),
    }
}
