//! Calls of primitives with arguments that their rows reject: the results are CPython's.

use arc_dsl::{ErrorKind, EvalError, Grid, Interpreter};
use arc_text::parse_programs;

/// The result of the last of these lines for a grid, as text, or the error.
fn run(lines: &str, input: &[&[i32]]) -> Result<String, EvalError> {
    let text = format!(
        "def f(I):\n    {}\n    return O\n",
        lines.replace("; ", "\n    ")
    );
    let program = parse_programs(&text).remove(0).unwrap();
    let input = Grid::from_rows(input).unwrap();
    Interpreter::default()
        .run(&program, input)
        .map(|value| value.to_string())
}

fn gives(lines: &str, expected: &str) {
    assert_eq!(
        run(lines, &[&[1, 2, 0], &[0, 2, 2]]).unwrap(),
        expected,
        "{lines}"
    );
}

#[test]
fn a_tuple_of_cells_occurs_in_a_window_with_the_sides_of_the_tuple() {
    let cells = "(2, (0, 0)), (2, (1, 0)), (2, (1, 1))";
    let of = |cells: &str| format!("x = {cells}; O = occurrences(I, x)");
    gives(&of(&format!("({cells})")), "frozenset()");
    gives(
        &of(&format!("frozenset({{{cells}}})")),
        "frozenset({(0, 1)})",
    );
    gives(&of("((2, (5, 5)), (2, (6, 5)))"), "frozenset({(0, 1)})");
}

fn raises(lines: &str) {
    let found = run(lines, &[&[1, 2, 0], &[0, 2, 2]]);
    assert!(
        matches!(
            found,
            Err(EvalError {
                kind: ErrorKind::Type { .. },
                ..
            })
        ),
        "{lines}: {found:?}"
    );
}

#[test]
fn rows_are_seen_as_far_as_the_first_one_reaches() {
    gives(
        "O = cellwise((frozenset(), frozenset({1})), (), ZERO)",
        "((), ())",
    );
    gives("O = cellwise(((), (1, 2)), (), ZERO)", "((), ())");
    raises("O = cellwise(((1,), frozenset({1})), I, ZERO)");
    gives("O = downscale(((), frozenset({3})), TWO)", "((),)");
    // The rest of a longer row counts for the background.
    gives(
        "O = objects(((1,), (2, 2, 2)), T, F, T)",
        "frozenset({frozenset({(1, (0, 0))})})",
    );
    gives(
        "O = objects(((1, 1), (2, 1, 3, 3, 3, 3)), F, T, T)",
        "frozenset({frozenset({(2, (1, 0)), (1, (0, 1)), (1, (1, 1)), (1, (0, 0))})})",
    );
    gives("O = objects(((), (2,)), T, T, T)", "frozenset()");
}

#[test]
fn unlike_values_are_not_equal() {
    gives("O = ofcolor(I, ORIGIN)", "frozenset()");
    gives("O = replace(I, ORIGIN, THREE)", "((1, 2, 0), (0, 2, 2))");
    gives("O = replace(I, I, 1000)", "((1, 2, 0), (0, 2, 2))");
    gives(
        "O = switch(I, ORIGIN, ZERO)",
        "((1, 2, (0, 0)), ((0, 0), 2, 2))",
    );
    gives("O = replace(I, add, ZERO)", "((1, 2, 0), (0, 2, 2))");
    gives(
        "x1 = objects(I, T, F, F); O = colorfilter(x1, I)",
        "frozenset()",
    );
    gives(
        "x1 = objects(I, T, F, F); O = sizefilter(x1, UNITY)",
        "frozenset()",
    );
    gives("O = colorcount(I, UNITY)", "0");
}

#[test]
fn functions_need_be_none_until_they_are_called() {
    gives("x1 = compose(I, I); O = size(I)", "2");
    gives(
        "x1 = chain(I, ZERO, size); x2 = fork(x1, I, I); O = matcher(x2, x1)",
        "matcher(fork(chain(((1, 2, 0), (0, 2, 2)), 0, size), ((1, 2, 0), (0, 2, 2)), ((1, 2, 0), (0, 2, 2))), chain(((1, 2, 0), (0, 2, 2)), 0, size))",
    );
    gives("O = apply(I, ofcolor(I, SEVEN))", "frozenset()");
    gives("O = power(I, ONE)", "((1, 2, 0), (0, 2, 2))");
    gives("O = prapply(I, I, ofcolor(I, SEVEN))", "frozenset()");
    assert!(run("x1 = compose(I, size); O = x1(I)", &[&[1]]).is_err());
    raises("O = apply(I, I)");
    raises("O = lbind(I, I)");
}

#[test]
fn tuples_are_measured_and_cut_as_grids() {
    gives("x1 = interval(0, 5, 1); O = height(x1)", "5");
    raises("x1 = interval(0, 5, 1); O = width(x1)");
    gives("O = ulcorner(I)", "(0, 2, 0)");
    gives("O = subgrid(I, I)", "((0,), (2,))");
    gives("O = subgrid(asobject(I), I)", "((1, 2, 0), (0, 2, 2))");
    gives("x1 = astuple(I, I); O = shape(x1)", "(2, 2)");
    gives(
        "x1 = repeat(ORIGIN, 3); x2 = insert(ONE, initset(I)); O = vconcat(x1, I)",
        "((0, 0), (0, 0), (0, 0), (1, 2, 0), (0, 2, 2))",
    );
    gives("x1 = interval(0, 3, 1); O = hconcat(x1, x1)", "(0, 2, 4)");
    gives("O = double(I)", "((1, 2, 0, 1, 2, 0), (0, 2, 2, 0, 2, 2))");
    gives("x1 = interval(3, 0, -1); O = add(x1, ONE)", "(4, 3)");
    gives("O = vconcat(ONE, TWO)", "3");
    raises("O = vconcat(I, ONE)");
    raises("O = even(I)");
}

#[test]
fn what_reaches_no_cell_may_be_anything() {
    gives(
        "O = fill(I, ORIGIN, ofcolor(I, SEVEN))",
        "((1, 2, 0), (0, 2, 2))",
    );
    gives(
        "O = fill(I, ORIGIN, initset(ORIGIN))",
        "(((0, 0), 2, 0), (0, 2, 2))",
    );
    gives(
        "O = recolor(UNITY, initset(ORIGIN))",
        "frozenset({((1, 1), (0, 0))})",
    );
    gives(
        "x1 = recolor(UNITY, ofcolor(I, TWO)); x2 = hmirror(x1); O = toindices(x2)",
        "frozenset({(0, 1), (1, 1), (0, 2)})",
    );
    gives(
        "x1 = recolor(UNITY, initset(ORIGIN)); O = shape(x1)",
        "(1, 1)",
    );
    gives("O = canvas(ORIGIN, (1, 2))", "(((0, 0), (0, 0)),)");
    gives(
        "x1 = canvas(I, UNITY); O = first(first(x1))",
        "((1, 2, 0), (0, 2, 2))",
    );
    gives("O = shift(ofcolor(I, SEVEN), I)", "frozenset()");
}

#[test]
fn bounds_hold_here_too() {
    for lines in [
        "x1 = interval(0, 1000, 1); x2 = astuple(x1, x1); O = multiply(x2, 1000000)",
        "O = canvas(ORIGIN, (100000, 100000))",
        "x1 = interval(0, 1000, 1); O = hupscale(initset(x1), 1000000)",
        "x1 = recolor(ORIGIN, asindices(I)); O = upscale(x1, 100000)",
    ] {
        let found = run(lines, &[&[1, 2, 0]]);
        assert!(
            found.as_ref().is_err_and(|error| error.limit().is_some()),
            "{lines}: {found:?}"
        );
    }
}
