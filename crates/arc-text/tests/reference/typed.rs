//! Programs of the typed dialect.

use arc_dsl::generate::Generator;
use arc_dsl::{
    Constant, Dialect, EvalError, Grid, Interpreter, Limit, Limits, Sample, TypedPrimitive, Value,
};
use arc_text::parse_programs_in;

/// The result of these lines for a grid, as text.
fn run(lines: &str) -> Result<String, EvalError> {
    let lines = lines.replace("; ", "\n    ");
    let text = format!("def f(S, I, C):\n    {lines}\n    return O\n");
    let program = parse_programs_in(Dialect::Typed, &text).remove(0).unwrap();
    assert_eq!(
        parse_programs_in(Dialect::Typed, &program.to_string()),
        [Ok(program.clone())]
    );
    let grid = |rows: &[&[i32]]| Value::from(Grid::from_rows(rows).unwrap());
    let input = grid(&[&[1, 2, 0], &[0, 2, 2]]);
    let turned = grid(&[&[0, 2, 1], &[2, 2, 0]]);
    let sample = Sample {
        train: Value::tuple(vec![Value::pair(&input, &turned)]),
        input,
        expected: turned,
    };
    let result = Interpreter::default().run_on(&program, sample.into_inputs());
    result.map(|value| value.to_string())
}

#[track_caller]
fn gives(lines: &str, expected: &str) {
    assert_eq!(run(lines).unwrap(), expected, "{lines}");
}

/// Python asks for the row first, and does not look at the column of one off the grid.
#[test]
fn a_column_of_a_row_that_there_is_not_may_be_anything() {
    let patch = "x = frozenset({(9, frozenset({3})), (0, 0)})";
    let cells = "x = frozenset({(9, frozenset({3}), 7), (0, 0, 4)})";
    for (patch, call, expected) in [
        (patch, "fill(I, FIVE, x)", "((5, 2, 0), (0, 2, 2))"),
        (patch, "underfill(I, FIVE, x)", "((1, 2, 0), (0, 2, 2))"),
        (patch, "toobject(x, I)", "frozenset({(0, 0, 1)})"),
        (cells, "paint(I, x)", "((4, 2, 0), (0, 2, 2))"),
        (
            "x = ((1, frozenset({3})), (0, 0))",
            "fill(I, FIVE, x)",
            "()",
        ),
    ] {
        gives(&format!("{patch}; O = {call}"), expected);
    }
}

#[test]
fn constants_are_those_of_the_public_dialect_and_more() {
    let names: Vec<_> = Constant::of(Dialect::Typed).map(Constant::name).collect();
    assert_eq!(names.len(), Constant::ALL.len() + Constant::TYPED.len());
    gives(
        "x1 = astuple(L10, BURGUNDY); O = add(x1, HUNDRED)",
        "(90, 109)",
    );
    assert_eq!(Constant::from_name("L10"), None);
}

#[test]
fn cells_are_row_column_and_colour() {
    gives(
        "O = asobject(crop(I, (0, 1), TWO_BY_TWO))",
        "frozenset({(1, 0, 2), (0, 0, 2), (0, 1, 0), (1, 1, 2)})",
    );
    gives("x1 = o_g(I, R5); O = size_f(x1)", "3");
    gives(
        "O = o_g_t(I, R6)",
        "(((0, 1, 2), (1, 2, 2), (1, 1, 2)), ((0, 0, 1),), ((0, 2, 0),), ((1, 0, 0),))",
    );
    gives(
        "O = paint(I, initset(ascell(UNITY, NINE)))",
        "((1, 2, 0), (0, 9, 2))",
    );
}

#[test]
fn what_fails_gives_its_default_and_the_others_go_on() {
    gives("O = add(I, ONE)", "()");
    gives("O = height_f(ONE)", "0");
    gives("O = adjacent(ONE)", "False");
    gives("x1 = astuple(I, ONE); O = apply_t(height_t, x1)", "(2, 0)");
    gives("x1 = lbind(ONE, TWO); O = x1(I, I)", "()");
    // A composed function has no default of its own.
    assert!(run("x1 = compose(size_t, ONE); O = x1(I)").is_err());
    gives("x1 = compose(size_t, ONE); O = apply_t(x1, I)", "()");
    // Python's recursion ends within `power`, which returns all the same.
    for n in ["ZERO", "NEG_ONE", "THOUSAND"] {
        assert!(run(&format!("x1 = power(height_t, {n}); O = x1(I)")).is_err());
        gives(
            &format!("x1 = power(height_t, {n}); O = apply_t(x1, I)"),
            "()",
        );
    }
    // The wrong number of arguments is a failure like any other.
    gives("O = o_g(I)", "()");
}

#[test]
fn a_bound_is_no_failure() {
    let error =
        run("x1 = interval(ZERO, THOUSAND, ONE); x2 = product(x1, x1); O = product(x2, x2)");
    assert!(matches!(
        error.unwrap_err().limit(),
        Some(Limit::Elements | Limit::Memory)
    ));
    let error = run("x1 = canvas(ZERO, (999, 999)); O = upscale_t(x1, NINE)");
    assert_eq!(error.unwrap_err().limit(), Some(Limit::Cells));
}

#[test]
fn numbers_that_are_not_finite_compare_as_python_has_it() {
    gives("x1 = get_nth_t(I, NINE); O = equality(x1, x1)", "False");
    gives(
        "x1 = get_nth_t(I, NINE); x2 = astuple(x1, ONE); O = contained(x1, x2)",
        "True",
    );
    gives("x1 = manhattan(I, ()); O = greater(x1, THOUSAND)", "True");
    gives(
        "x1 = index(I, TEN); x2 = astuple(ONE, index(I, (9, 9))); O = minimum(x2)",
        "-inf",
    );
    gives(
        "x1 = get_nth_t(I, NINE); x2 = astuple(x1, ONE); O = maximum(x2)",
        "nan",
    );
    gives("O = subtract(UNITY, manhattan((), ()))", "(-inf, -inf)");
}

#[test]
fn train_pairs_and_the_expected_output_are_inputs() {
    gives("O = a_mr(S)", "2");
    gives("O = c_iz_n(S, p_g, rbind(get_nth_t, F0))", "nan");
    gives(
        "x1 = apply(second, S); O = equality(C, get_nth_t(x1, F0))",
        "True",
    );
    gives(
        "O = dedupe_pair_tuple(astuple((1, 1), (1, 2)))",
        "((1, 2),)",
    );
}

/// Whatever the arguments are, there is a value or a bound.
#[test]
fn no_call_is_an_error() {
    let mut generator = Generator::new(5);
    let mut interpreter = Interpreter::new(Limits {
        max_steps: 100_000,
        ..Limits::default()
    });
    let mut values = 0;
    for &primitive in TypedPrimitive::ALL {
        for _ in 0..20 {
            let mut case = generator.typed_case_of_any_types(primitive);
            case.applied_to.clear();
            let text = format!("def f(I):\n    return {case}\n");
            let program = parse_programs_in(Dialect::Typed, &text).remove(0).unwrap();
            match interpreter.run(&program, Grid::default()) {
                Ok(_) => values += 1,
                Err(error) => assert!(error.limit().is_some(), "{text}{error}"),
            }
        }
    }
    assert!(values > 19 * TypedPrimitive::ALL.len(), "{values}");
}
