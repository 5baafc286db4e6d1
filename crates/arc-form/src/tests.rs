//! Hand-written programs for the difficult parts of forms: the text of each form, and its outcome.

use super::{BailOut, Evaluator, Form, Id, Operand, Options, Reason, Stop, Type, Unspecialised};
use super::{parse, specialise, specialise_with};
use arc_dsl::{EvalError, Grid, Interpreter, Program, Value};
use arc_text::parse_programs;

fn program(steps: &str) -> Program {
    let lines: Vec<_> = steps
        .lines()
        .map(|line| format!("    {}", line.trim()))
        .collect();
    let body = lines.join("\n");
    let mut programs = parse_programs(&format!("def solve_test(I):\n{body}\n"));
    programs.remove(0).unwrap()
}

fn form(steps: &str) -> Form {
    let form = specialise(&program(steps)).unwrap();
    form.verify().unwrap();
    assert_eq!(parse(&form.to_string()).as_ref(), Ok(&form));
    form
}

/// The body of the form as text, without line numbers.
fn text(steps: &str) -> String {
    let text = form(steps).to_string();
    let lines = text.lines().skip(1).map(|line| {
        let line = line.strip_prefix("  ").unwrap_or(line);
        match line.split_once(" @") {
            Some((step, rest)) => {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                format!("{step}{rest}\n")
            }
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}

/// Runs the program by the form and by the reference, which have to agree.
fn run(steps: &str, rows: &[&[i32]]) -> Result<Value, EvalError> {
    let program = program(steps);
    let form = specialise(&program).unwrap();
    let grid = Grid::from_rows(rows).unwrap();
    let found = Evaluator::default().run(&form, &grid);
    let expected = Interpreter::default().run(&program, grid);
    let found = found.map_err(|stop| match stop {
        Stop::Error(error) => error,
        Stop::BailOut(reason) => panic!("{reason}\n{form}"),
    });
    match (&found, &expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{form}"),
        (Err(found), Err(expected)) => {
            assert_eq!(
                (found.line, found.kind),
                (expected.line, expected.kind),
                "{form}"
            );
        }
        _ => panic!("{found:?} {expected:?}\n{form}"),
    }
    found
}

#[test]
fn functions_are_inlined_and_the_same_step_is_made_once() {
    let steps = "x1 = compose(double, height)
        x2 = fork(add, x1, x1)
        x3 = x2(I)
        x4 = astuple(x3, x3)
        x5 = canvas(3, x4)
        return x5";
    assert_eq!(
        text(steps),
        "v1: int = height(v0)\nv2: int = double(v1)\nv3: int = add(v2, v2)\n\
         v4: pair = astuple(v3, v3)\nv5: grid = canvas(3, v4)\nreturn v5\n"
    );
    let options = Options {
        share: false,
        ..Options::default()
    };
    let unshared = specialise_with(&program(steps), &options).unwrap();
    assert_eq!(unshared.body.len(), 7);
}

#[test]
fn steps_on_constants_are_done_before_the_run() {
    let steps = "x1 = astuple(2, 3)
        x2 = multiply(x1, 2)
        x3 = canvas(5, x2)
        x4 = hconcat(x3, I)
        return x4";
    assert_eq!(
        text(steps),
        "v1: grid = hconcat(grid((5, 5, 5, 5, 5, 5), (5, 5, 5, 5, 5, 5), (5, 5, 5, 5, 5, 5), \
         (5, 5, 5, 5, 5, 5)), v0)\nreturn v1\n"
    );
    let options = Options {
        fold: false,
        ..Options::default()
    };
    assert_eq!(
        specialise_with(&program(steps), &options)
            .unwrap()
            .body
            .len(),
        4
    );
}

#[test]
fn a_choice_between_functions_becomes_one_between_results() {
    let steps = "x1 = portrait(I)
        x2 = branch(x1, rot90, hmirror)
        x3 = x2(I)
        return x3";
    assert_eq!(
        text(steps),
        "v1: bool = portrait(v0)\nv2: grid = if(v1) {\n  v3: grid = rot90(v0)\n  yield v3\n} {\n  \
         v4: grid = hmirror(v0)\n  yield v4\n}\nreturn v2\n"
    );
    run(steps, &[&[1, 2]]).unwrap();
    run(steps, &[&[1], &[2]]).unwrap();
}

#[test]
fn a_choice_between_unlike_values_is_made_where_they_are_used() {
    let steps = "x1 = portrait(I)
        x2 = asindices(I)
        x3 = branch(x1, I, x2)
        x4 = height(x3)
        x5 = branch(x1, width, height)
        x6 = x5(x3)
        x7 = astuple(x4, x6)
        return x7";
    // A grid and indices have no type in common: the height of each is taken in an arm.
    assert_eq!(
        text(steps),
        "v1: bool = portrait(v0)\nv2: indices = asindices(v0)\nv3: int = if(v1) {\n  \
         v4: int = height(v0)\n  yield v4\n} {\n  v5: int = height(v2)\n  yield v5\n}\n\
         v6: int = if(v1) {\n  v7: int = if(v1) {\n    v8: int = width(v0)\n    yield v8\n  \
         } {\n    v9: int = width(v2)\n    yield v9\n  }\n  yield v7\n} {\n  yield v3\n}\n\
         v10: pair = astuple(v3, v6)\nreturn v10\n"
    );
    assert_eq!(run(steps, &[&[1, 2]]).unwrap().to_string(), "(1, 1)");
    assert_eq!(
        run(steps, &[&[1], &[2], &[2]]).unwrap().to_string(),
        "(3, 1)"
    );
}

#[test]
fn functions_made_in_an_arm_take_what_they_captured_out_of_it() {
    // The arms decide which colour is replaced, and by which function.
    let steps = "x1 = portrait(I)
        x2 = lbind(compose, size)
        x3 = lbind(rbind, ofcolor)
        x4 = compose(x3, mostcolor)
        x5 = chain(x2, x3, leastcolor)
        x6 = branch(x1, x4, x5)
        x7 = x6(I)
        x8 = x7(I)
        x9 = branch(x1, x8, ZERO)
        x10 = equality(x9, x8)
        return x10";
    for rows in [&[&[1, 2, 2][..]][..], &[&[1], &[2], &[2]]] {
        run(steps, rows).unwrap();
    }
}

#[test]
fn functions_stand_in_tuples_and_sets() {
    let steps = "x1 = astuple(vmirror, hmirror)
        x2 = rapply(x1, I)
        x3 = initset(rot90)
        x4 = insert(rot270, x3)
        x5 = rapply(x4, I)
        x6 = totuple(x5)
        x7 = combine(x2, x6)
        x8 = argmax(x1, identity)
        return x7";
    // Keys that are functions have no order: the last step but one fails.
    assert!(specialise(&program(steps)).is_err());
    let steps = steps.replace("argmax(x1, identity)", "first(x7)");
    assert_eq!(
        run(&steps, &[&[1, 2]]).unwrap().to_string(),
        "(((2, 1),), ((1, 2),), ((2,), (1,)), ((1,), (2,)))"
    );
}

#[test]
fn a_list_of_functions_is_searched_by_numbers() {
    let steps = "x1 = astuple(vmirror, hmirror)
        x2 = astuple(dmirror, cmirror)
        x3 = combine(x1, x2)
        x4 = rbind(compose, I)
        x5 = lbind(equality, I)
        x6 = lbind(rapply, x3)
        x7 = x6(I)
        x8 = lbind(compose, x5)
        x9 = compose(initset, x8)
        x10 = rbind(rapply, I)
        x11 = chain(first, x10, x9)
        x12 = extract(x3, x11)
        x13 = x12(I)
        return x13";
    assert_eq!(
        run(steps, &[&[1, 2], &[2, 3]]).unwrap().to_string(),
        "((1, 2), (2, 3))"
    );
    assert!(text(steps).contains("choose("), "{}", text(steps));
    let error = run(steps, &[&[1, 2], &[3, 4]]).unwrap_err();
    assert_eq!(error.line, 13);
}

#[test]
fn a_container_of_functions_keeps_what_each_captured() {
    let steps = "x1 = objects(I, T, F, T)
        x2 = apply(color, x1)
        x3 = lbind(lbind, add)
        x4 = totuple(x2)
        x5 = apply(x3, x4)
        x6 = rapply(x5, 10)
        return x6";
    assert_eq!(
        run(steps, &[&[0, 1, 0, 2], &[0, 0, 0, 0]])
            .unwrap()
            .to_string(),
        "(11, 12)"
    );
}

#[test]
fn the_order_of_functions_by_age_is_not_made_up() {
    // The reference takes the function that was made first, of the first object.
    let reason = specialise(&program(
        "x1 = objects(I, T, F, T)
        x2 = lbind(lbind, add)
        x3 = compose(x2, color)
        x4 = apply(x3, x1)
        x5 = first(x4)
        x6 = x5(10)
        return x6",
    ));
    assert!(matches!(
        reason.map_err(|error| error.reason),
        Err(Reason::Function(_))
    ));
}

#[test]
fn powers_are_loops_whose_first_round_may_stand_before_them() {
    let steps = "x1 = power(trim, 4)
        x2 = x1(I)
        return x2";
    assert!(
        text(steps).contains("iterate(3, v1) {v3: grid ->"),
        "{}",
        text(steps)
    );
    let steps = "x1 = objects(I, T, F, T)
        x2 = first(x1)
        x3 = power(outbox, 5)
        x4 = x3(x2)
        return x4";
    assert!(
        text(steps).contains("iterate(4, v3) {v5: indices ->"),
        "{}",
        text(steps)
    );
    run(steps, &[&[0, 1, 0, 0], &[0, 0, 0, 0]]).unwrap();
    let steps = "x1 = height(I)
        x2 = decrement(x1)
        x3 = power(hmirror, x2)
        x4 = x3(I)
        return x4";
    run(steps, &[&[0, 1], &[1, 1], &[2, 2]]).unwrap();
    assert_eq!(run(steps, &[&[0, 1]]).unwrap_err().line, 4);
}

#[test]
fn what_fails_in_the_reference_fails_in_the_form() {
    // Dead, but it may fail.
    let steps = "x1 = subtract(2, 2)
        x2 = height(I)
        x3 = divide(x2, x1)
        return I";
    assert_eq!(run(steps, &[&[1]]).unwrap_err().line, 4);
    // The arguments of `branch` come first, taken or not.
    let steps = "x1 = palette(I)
        x2 = remove(0, x1)
        x3 = first(x2)
        x4 = branch(T, I, x3)
        return x4";
    assert_eq!(run(steps, &[&[0]]).unwrap_err().line, 4);
    run(steps, &[&[1]]).unwrap();
    // A function that is not called does no harm; one that is called wrongly does.
    run("x1 = compose(first, height)\n return I", &[&[1]]).unwrap();
    run(
        "x1 = compose(first, height)\n x2 = x1(I)\n return I",
        &[&[1]],
    )
    .unwrap_err();
    run("x1 = lbind(add, 1)\n x2 = x1(1, 2)\n return I", &[&[1]]).unwrap_err();
    run("x1 = height(I)\n x2 = x1(I)\n return I", &[&[1]]).unwrap_err();
    run("x1 = power(trim, 0)\n return I", &[&[1]]).unwrap_err();
}

#[test]
fn what_is_of_another_type_than_the_signature_asks_is_the_references() {
    // Python returns a value for some, and raises on others.
    for steps in [
        "x1 = apply(7, I)\n return I",
        "x1 = height(first)\n return I",
        "x1 = compose(I, I)\n return I",
        "x1 = ofcolor(I, ORIGIN)\n return x1",
        "x1 = replace(I, first, 3)\n return x1",
        "x1 = index(I, UNITY)\n x2 = fill(I, x1, initset(ORIGIN))\n return x2",
        "x1 = index(I, UNITY)\n x2 = canvas(x1, UNITY)\n return x2",
    ] {
        let form = form(steps);
        let grid = Grid::from_rows(&[[1, 2]]).unwrap();
        let found = Evaluator::default().run(&form, &grid);
        assert!(
            matches!(found, Err(Stop::BailOut(BailOut::Type(_)))),
            "{steps}: {found:?}"
        );
    }
    // Like Python's `and` and `or`, these two return one of their operands.
    let operands = "x1 = either(0, 3)\n x2 = size(I)\n x3 = both(x2, x1)\n x4 = either(x3, T)";
    let steps = format!("{operands}\n x5 = canvas(x4, UNITY)\n return x5");
    let three = Grid::from_rows(&[[3]]).unwrap();
    assert_eq!(run(&steps, &[&[1, 2]]), Ok(three.into()));
    run("x1 = both(I, first)\n x2 = x1(I)\n return x2", &[&[1]]).unwrap();
}

#[test]
fn the_key_of_an_empty_container_is_that_of_zero() {
    let steps = "x1 = objects(I, T, F, T)
        x2 = valmax(x1, size)
        return x2";
    run(steps, &[&[0, 1]]).unwrap();
    run(steps, &[&[0, 0]]).unwrap_err();
    let steps = "x1 = palette(I)
        x2 = remove(3, x1)
        x3 = valmin(x2, increment)
        return x3";
    assert_eq!(run(steps, &[&[3, 3]]), Ok(Value::Int(1)));
}

/// Also of one that is known to be empty, but whose elements would have no type.
#[test]
fn the_first_of_no_pairs_is_an_error() {
    let steps = "x1 = rbind(product, frozenset())
        x2 = chain(contained, first, x1)
        x3 = rbind(both, (False,))
        x4 = fork(astuple, x3, identity)
        x5 = compose(x2, x4)
        x6 = x5(I)
        return I";
    run(steps, &[&[1]]).unwrap_err();
}

#[test]
fn a_value_of_another_type_is_handed_back() {
    let steps = "x1 = astuple(1, 5)
        x2 = canvas(0, x1)
        x3 = vconcat(I, x2)
        return x3";
    let mut evaluator = Evaluator::default();
    let form = form(steps);
    let stop = evaluator.run(&form, &Grid::filled(1, 1, 0));
    let primitive = arc_dsl::Primitive::Vconcat;
    assert_eq!(stop, Err(Stop::BailOut(BailOut::Type(Some(primitive)))));
    assert!(evaluator.run(&form, &Grid::filled(2, 5, 0)).is_ok());
}

#[test]
fn what_has_no_form_says_why() {
    let reason = |steps: &str| specialise(&program(steps)).map_err(|error| error.reason);
    let unlike = reason(
        "x1 = height(I)\n x2 = insert(x1, TWO)\n x3 = astuple(I, x1)\n \
        x4 = combine(x3, x3)\n x5 = dedupe(x4)\n return x5",
    );
    // The step before fails: the one after it is never reached.
    assert!(unlike.is_ok());
    let unlike = reason("x1 = height(I)\n x2 = astuple(I, x1)\n x3 = dedupe(x2)\n return x3");
    assert!(matches!(unlike, Err(Reason::Types(_))), "{unlike:?}");
    let function = reason("x1 = compose(first, last)\n return x1");
    assert!(matches!(function, Err(Reason::Function(_))), "{function:?}");
    // Each step doubles the calls; specialised once each, they are few.
    let mut steps = vec!["x1 = fork(add, height, width)".to_owned()];
    steps.extend((2..60).map(|at| format!("x{at} = fork(subtract, x{0}, x{0})", at - 1)));
    steps.push("x60 = x59(I)\nreturn x60".to_owned());
    let steps = steps.join("\n");
    assert!(form(&steps).body.len() < 70);
    let options = Options {
        share: false,
        ..Options::default()
    };
    let error = specialise_with(&program(&steps), &options).unwrap_err();
    assert_eq!(error.reason, Reason::Work);
}

#[test]
fn what_would_grow_without_end_is_refused() {
    // Tuples of the same tuple twice, choices between the same choices, sets of pairs of pairs: each step
    // doubles what a naive implementation would visit.
    let doubling = |first: &str, step: &str| {
        let step = |at: usize| step.replace("{x}", &format!("x{at}"));
        let steps: Vec<_> = (2..60)
            .map(|at| format!("x{at} = {}", step(at - 1)))
            .collect();
        program(&format!("{first}\n{}\nreturn x59", steps.join("\n")))
    };
    for program in [
        doubling("x1 = astuple(I, I)", "astuple({x}, {x})"),
        doubling("x1 = palette(I)", "product({x}, {x})"),
        doubling("x1 = palette(I)", "initset({x})"),
    ] {
        let error = specialise(&program).map(|form| form.body.len());
        assert!(
            matches!(error, Err(Unspecialised { .. }) | Ok(..70)),
            "{error:?}"
        );
    }
    let program = doubling("x1 = astuple(I, I)", "astuple({x}, {x})");
    assert_eq!(
        specialise(&program).map_err(|error| error.reason),
        Err(Reason::Size)
    );
}

#[test]
fn functions_that_call_each_other_deeply_are_followed_as_far_as_the_reference_does() {
    let deep = |depth: usize| {
        let steps: Vec<_> = (2..=depth)
            .map(|at| format!("x{at} = compose(identity, x{})", at - 1))
            .collect();
        let steps = steps.join("\n");
        program(&format!(
            "x1 = compose(vmirror, hmirror)\n{steps}\nO = x{depth}(I)\nreturn O"
        ))
    };
    assert_eq!(specialise(&deep(90)).unwrap().body.len(), 2);
    let error = specialise(&deep(500)).unwrap_err();
    assert_eq!(error.reason, Reason::Work);
}

#[test]
fn the_verifier_finds_what_is_wrong() {
    let good = form(
        "x1 = height(I)\n x2 = add(x1, 1)\n x3 = interval(0, 9, x2)\n \
         x4 = apply(increment, x3)\n return x4",
    );
    good.verify().unwrap();
    let broken = |change: fn(&mut Form)| {
        let mut form = good.clone();
        change(&mut form);
        form.verify().unwrap_err().to_string()
    };
    assert_eq!(
        broken(|form| form.body.instructions.swap(0, 1)),
        "v2: v1 is not defined before, in scope"
    );
    assert_eq!(
        broken(|form| form.body.instructions[0].ty = Type::Bool),
        "v1: expected the type int, found bool"
    );
    assert_eq!(
        broken(|form| form.body.instructions[1].id = Id(1)),
        "v1: defined twice"
    );
    assert_eq!(
        broken(|form| form.body.instructions[0].arguments.clear()),
        "v1: arguments: expected 1, found 0"
    );
    assert_eq!(
        broken(|form| form.body.result = Operand::Id(Id(5))),
        "v0: v5 is not defined before, in scope"
    );
    assert_eq!(
        broken(|form| {
            let function = Operand::Constant(Value::Primitive(arc_dsl::Primitive::First));
            form.body.instructions[0].arguments = vec![function];
        }),
        "v1: a constant without a type"
    );
}

#[test]
fn text_that_is_no_form_is_refused_with_its_line() {
    for (text, error) in [
        ("", "line 1: the text ends within a form"),
        (
            "form f(v0: grid)\n",
            "line 1: expected `form NAME(v0: grid):`",
        ),
        (
            "form f(v0: gird):\n  return v0\n",
            "line 1: unknown type `gird`",
        ),
        (
            "form f(v0: grid):\n  v1 = 3\n",
            "line 2: expected `vN: TYPE` before `=`",
        ),
        (
            "form f(v0: grid):\n  v1: int = height(v0 @2\n",
            "line 2: expected `)`",
        ),
        (
            "form f(v0: grid):\n  v999999: int = height(v0) @2\n",
            "line 2: `v999999` is far past the number of instructions",
        ),
        (
            "form f(v0: grid):\n  v300: int = height(v0) @2\n  return v300\n\n\n\n",
            "line 2: `v300` is far past the number of instructions",
        ),
        (
            "form f(v0: grid):\n  return v0\n\n  v1: int = height(v0) @2\n",
            "line 3: expected the end of the form, found ``",
        ),
        (
            "form f(v0: grid):\n  return v0\nform g(v0: grid):\n  return v0\n",
            "line 3: expected the end of the form, found `form g(v0: grid):`",
        ),
        (
            "form f(v0: grid):\n  v1: set<int> = apply(v0) @2 {\n    yield v0\n  return v1\n",
            "line 4: expected `}`",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), error, "{text}");
    }
}
