//! Functions within programs and as values, and operators.

use proptest::prelude::*;

use super::*;

#[test]
fn a_function_that_is_passed_on_is_what_compose_and_kin_make() {
    for (function, made) in [
        ("lambda x: trim(x)", ""),
        ("lambda x: x", ""),
        ("lambda x: rot90(trim(x))", "compose(rot90, trim)"),
        ("lambda x: add(x, ONE)", "rbind(add, ONE)"),
        ("lambda x: add(ONE, x)", "lbind(add, ONE)"),
        (
            "lambda x: crop(I, x, UNITY)",
            "rbind(crop, UNITY); t2 = lbind(t1, I)",
        ),
        ("lambda x, y: crop(I, x, y)", "lbind(crop, I)"),
        ("lambda x: fill(x, ONE, x)", ""),
        (
            "lambda x: hconcat(rot90(x), trim(x))",
            "fork(hconcat, rot90, trim)",
        ),
        (
            "lambda x: astuple(x, x)",
            "fork(astuple, identity, identity)",
        ),
    ] {
        let read = body(&format!("return apply({function}, I)"));
        let first = read.split_once("= ").unwrap().1;
        if made.is_empty() {
            assert!(!read.contains("lambda"), "{read}");
        } else {
            assert!(first.starts_with(made), "{function}: {read}");
        }
    }
}

#[test]
fn functions_within_a_program_mean_what_python_makes_of_them() {
    for (lines, expected) in [
        (
            "f = lambda x: add(x, ONE)\nreturn (f(1), f(f(1)))",
            "(2, 3)",
        ),
        ("def f(x):\n  y = add(x, ONE)\n  return y\nreturn f(5)", "6"),
        ("def f(x, y=TWO): return add(x, y)\nreturn f(y=5, x=1)", "6"),
        // A name is looked up when the function is called.
        ("k = 1\nf = lambda x: add(x, k)\nk = 5\nreturn f(1)", "6"),
        (
            "k = 1\nx = apply(lambda x: add(x, k), (1, 2))\nk = 5\nreturn x",
            "(2, 3)",
        ),
        (
            "k = 2\ndef f(x):\n  k = 7\n  return add(x, k)\nreturn astuple(f(1), k)",
            "(8, 2)",
        ),
        (
            "f = lambda x: add(x, 1)\ng = lambda x: f(f(x))\nreturn apply(g, (1, 2))",
            "(3, 4)",
        ),
        // Functions within functions, and functions that return functions.
        (
            "k = 3\ndef f(x):\n  def g(y):\n    return add(multiply(x, y), k)\n  return apply(g, (1, 2))\nreturn f(5)",
            "(8, 13)",
        ),
        (
            "f = lambda a: lambda b: subtract(a, b)\ng = f(9)\nreturn g(4)",
            "5",
        ),
        (
            "return apply(lambda a: apply(lambda b: subtract(a, b), (1, 2)), (5, 7))",
            "((4, 3), (6, 5))",
        ),
        ("return (lambda x: add(x, x))(4)", "8"),
        // A function value that depends on the parameter.
        ("return apply(lambda f: f(I), (height, width))", "(2, 3)"),
        (
            "return apply(lambda f: f(9, TWO), (add, subtract))",
            "(11, 7)",
        ),
        // Three arguments that depend on it.
        (
            "return apply(lambda x: branch(greater(x, 1), double(x), invert(x)), (1, 2, 3))",
            "(-1, 4, 6)",
        ),
        ("return apply(lambda x: 7, (1, 2))", "(7, 7)"),
        ("return apply(lambda x: add(3, 4), (1, 2))", "(7, 7)"),
        // A function that is never called does not fail.
        ("return apply(lambda x: first(()), ())", "()"),
        // A local function with a name of the DSL.
        ("def size(x): return 5\nreturn size(I)", "5"),
        ("size = lambda x: 5\nreturn size(I)", "5"),
        (
            "f = lambda size: add(size, 1)\nreturn add(f(1), size(I))",
            "4",
        ),
    ] {
        assert_eq!(given(lines), Ok(expected.to_owned()), "{lines}");
    }
    // An unneeded call that fails ends the program, as in Python.
    let text =
        "def half(x):\n y = first(())\n return x\ndef solve(I): return apply(half, (1, 2))\n";
    assert!(outcome(text).is_err());
    let text = text.replace("first(())", "add(x, ONE)");
    assert_eq!(outcome(&text), Ok("(1, 2)".to_owned()));
}

/// They are read for the arguments that they get. The expected values are CPython's.
#[test]
fn functions_kept_in_variables_mean_what_python_makes_of_them() {
    for (lines, expected) in [
        (
            "f = lambda r: r[1:] + r[:1]\nx = apply(f, apply(f, I))\nreturn (x[1], apply(lambda r: r[::-1], I))",
            "((2, 0, 0), ((0, 1, 1), (2, 0, 0)))",
        ),
        (
            "k = 1\nf = lambda c: c[0] > k\nreturn size(sfilter(asobject(I), f))",
            "1",
        ),
        (
            "def f(c):\n  x = c[0]\n  return x > 0\nreturn size(sfilter(asobject(I), f))",
            "3",
        ),
        (
            "f = lambda a, b=2: a + b\nreturn (f(height(I), width(I)), f(b=1, a=4), f(7))",
            "(5, 5, 9)",
        ),
        (
            "f = lambda a: a[0]\nreturn (f(I), f(f(I)))",
            "((1, 1, 0), 1)",
        ),
        (
            "f = lambda r: max(r) - min(r)\nreturn tuple(f(r) for r in I)",
            "(1, 2)",
        ),
        (
            "f = lambda x: x[0]\ng = lambda x: f(x)[2]\nreturn (g(I), apply(lambda r: f(r) + 1, I))",
            "(0, (2, 1))",
        ),
        ("return (lambda a, b: b[a] + 1)(2, I[1])", "3"),
        // A name is looked up when the function is called.
        ("f = lambda r: r[0] + k\nk = 5\nreturn f(I[0])", "6"),
        (
            "f = lambda r: replace(r, k, 5)\nk = 1\nreturn f(I)",
            "((5, 5, 0), (0, 0, 2))",
        ),
        (
            "f = lambda r: h(r)[1]\nh = lambda r: r[::-1]\nreturn apply(f, I)",
            "(1, 0)",
        ),
        (
            "f = lambda x: x[0]\ng = f\nf = lambda x: 7\nreturn f(I)",
            "line 2, column 17: expected before `[`",
        ),
        ("f = lambda x: x[5][x]\nreturn 3", "3"),
    ] {
        let found = given(lines).unwrap_or_else(|error| error);
        assert!(found.starts_with(expected), "{lines}: {found}");
    }
    for (lines, expected) in [
        (
            "k = 1\nf = lambda r: r[0] + k\nreturn apply(lambda k: f(I[k]), (0, 1))",
            "line 4, column 25: `f`, bound on line 3, cannot be used: `k`, which it uses, has another meaning here",
        ),
        (
            "x = 0\nf = lambda r: r[x]\nreturn tuple(f(r) for x in (1, 2) for r in I)",
            "line 4, column 15: `f`, bound on line 3, cannot be used: `x`, which it uses, has another meaning here",
        ),
        (
            "x = 0\nf = lambda r: add(x, r)\nreturn tuple(f(r) for x in (1, 2) for r in I[0])",
            "line 4, column 15: `f`, bound on line 3, cannot be used: `x`, which it uses, has another meaning here",
        ),
        (
            "f = lambda x: x[0] + f(x)\nreturn f(I)",
            "line 2, column 23: `f`, bound on line 2, cannot be used: it calls itself",
        ),
        (
            "f = lambda x: g(x)[0]\ng = lambda x: f(x)[0]\nreturn g(I)",
            "line 2, column 16: `g`, bound on line 3, cannot be used: it calls itself",
        ),
        (
            "f = lambda x: x[0]\nreturn f(palette(I))",
            "line 2, column 17: expected before `[` what is a tuple whatever the grid is",
        ),
        (
            "def f(x):\n  y = x[0]\n  z = \n  return y\nreturn 1",
            "line 3, column 9: expected before `[`",
        ),
    ] {
        let found = given(lines).unwrap_err();
        assert!(found.starts_with(expected), "{lines}: {found}");
    }
    // Each of them calls the one before twice, so what is read is bounded.
    let calls = (1..40).map(|at| format!("f{at} = lambda x: (f{}(x), f{0}(x))\n", at - 1));
    let lines = format!(
        "f0 = lambda x: x[0]\n{}return f39(I)",
        calls.collect::<String>()
    );
    let found = given(&lines).unwrap_err();
    assert!(found.contains("there are more than"), "{found}");
}

#[test]
fn bare_lines_may_define_functions() {
    let bare = "f = lambda o: size(o) > 2\nx = objects(I, T, F, T)\nO = fill(I, 5, merge(sfilter(x, f)))\n";
    let read = parse_file(bare, None, |_| "solve".to_owned());
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].as_ref().unwrap().name(), "solve");
    let functions = "turn = lambda g: rot90(g)\nsolve = lambda g: turn(trim(g))\n";
    let read = parse_file(functions, None, |_| String::new());
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].as_ref().unwrap().name(), "solve");
}

#[test]
fn a_condition_chooses_between_functions_of_the_input() {
    assert_eq!(
        body("return I if portrait(I) else vmirror(trim(I))"),
        "t1 = portrait(I); t2 = compose(vmirror, trim); t3 = branch(t1, identity, t2); t4 = t3(I); return t4"
    );
    assert_eq!(
        body("return portrait(I) and square(trim(I))"),
        "t1 = portrait(I); t2 = compose(square, trim); t3 = lbind(branch, True); t4 = lbind(t3, False); \
         t5 = branch(t1, t2, t4); t6 = t5(I); return t6"
    );
    assert_eq!(
        body("x = portrait(I)\nreturn x and I"),
        "x = portrait(I); t1 = both(x, I); return t1"
    );
}

#[test]
fn operators_are_the_primitives_that_give_the_same() {
    for (expression, expected) in [
        ("size(I) + 1", "3"),
        ("height(I) - width(I) * 2", "-4"),
        ("-size(I) // 2", "-1"),
        ("-(size(I) // 2)", "-1"),
        ("len(I) == 2", "True"),
        ("size(I) != 2", "False"),
        ("width(I) > height(I)", "True"),
        ("width(I) < height(I)", "False"),
        ("width(I) <= 3", "True"),
        ("4 - 1 >= width(I) + 1", "False"),
        ("2 in palette(I)", "True"),
        ("7 not in palette(I)", "True"),
        ("not square(I)", "True"),
        ("not not square(I)", "False"),
        ("I == I and height(I)", "2"),
        ("height(I) and portrait(I) or 5", "5"),
        ("1 if square(I) else 2", "2"),
        ("1 if square(I) else 2 if portrait(I) else 3", "3"),
        ("I if portrait(I) else size(I) + 5", "7"),
        // Operands that Python would not evaluate are not evaluated.
        ("square(I) and first(())", "False"),
        ("height(I) or first(())", "2"),
        ("first(()) if square(I) else 2", "2"),
        ("2 if not square(I) else first(())", "2"),
        (
            "size(sfilter(asindices(I), lambda p: first(p) == 0 and last(p) != 1))",
            "2",
        ),
        ("apply(lambda x: 0 if x == 1 else x, (1, 2))", "(0, 2)"),
    ] {
        let lines = format!("return {expression}");
        assert_eq!(given(&lines), Ok(expected.to_owned()), "{expression}");
    }
    assert!(given("return height(I) and first(())").is_err());
    assert_eq!(
        given("h = height(I)\nh += 0x1\nh *= 1_0\nreturn h"),
        Ok("30".to_owned())
    );
    let n = "n = height(I)\nreturn apply(lambda x: size(x) * n - 1, I)";
    assert_eq!(given(n), Ok("(5, 5)".to_owned()));
}

#[test]
fn what_cannot_be_passed_on_says_why() {
    for (lines, expected) in [
        (
            "k = 1\nf = rbind(lambda x, y: add(x, k), 1)\nreturn f",
            "line 3, column 12: the function `lambda` is used as a value: expected one parameter, or a single call \
             with all parameters in their order",
        ),
        (
            "k = 1\nf = compose(lambda x: add(x, k), size)\nk = 2\nreturn f(I)",
            "line 4, column 2: `k` is set again, but the function used on line 3 keeps its earlier value, \
             expected another name",
        ),
        (
            "g = lambda x: g(x)\nreturn g(I)",
            "line 2, column 16: `g`, bound on line 2, cannot be used: it calls itself",
        ),
        (
            "f = I\nf = lambda x: f(x)\nreturn f(I)",
            "line 3, column 16: `f`, bound on line 3, cannot be used: it calls itself",
        ),
        (
            "k = 1\nf = lambda x: add(x, k)\ng = lambda k: f(k)\nreturn g(1)",
            "line 4, column 16: `f`, bound on line 3, cannot be used: `k`, which it uses, has another meaning here",
        ),
        (
            "f = lambda x: trim(x)\ng = lambda x: f(x)\nf = lambda x: x\nreturn g(I)",
            "line 4, column 2: `f` is set again, but the function used on line 3 keeps its earlier value, \
             expected another name",
        ),
        (
            "return power(lambda x: x + 1, 2)(1)",
            "line 2, column 27: `+` means something else of tuples and sets, and here these may be some, expected \
             `add(a, b)`",
        ),
        (
            "return first(I) >= last(I)",
            "line 2, column 18: `>=` means something else of tuples and sets, and here these may be some, expected \
             `flip(greater(b, a))`",
        ),
        (
            "def g(x):\nreturn g(I)",
            "line 3, column 2: expected a line that is indented further, found the keyword `return`",
        ),
        (
            "def g(x): trim(x)\nreturn g(I)",
            "line 2, column 16: expected `=` after the name of a variable, found `(`",
        ),
        (
            "def g(x):\n  y = trim(x)\nreturn g(I)",
            "line 2, column 6: expected a `return` at the end of program `g`, found none",
        ),
        (
            "def g(x):\n   return x\n  y = x\nreturn g(I)",
            "line 4, column 4: expected an indentation of 4 spaces as in the program's first line, found 3 spaces",
        ),
    ] {
        assert_eq!(given(lines), Err(expected.to_owned()), "{lines}");
    }
    let deep = (1..200).map(|n| format!("{}def f(x):\n", " ".repeat(n)));
    let text = format!("def f(x):\n{}", deep.collect::<String>());
    assert!(
        outcome(&text).unwrap_err().contains("at most 100 brackets"),
        "{text}"
    );
    let wide = "lambda x: ".repeat(200);
    assert!(given(&format!("return {wide}x")).is_err());
    // A value used twice is computed twice, but only up to a limit.
    let doubled = "x = add(x, x)\n  ".repeat(30);
    let lines = format!("def f(x):\n  {doubled}return x\nreturn apply(f, (1, 2))");
    assert!(
        given(&lines)
            .unwrap_err()
            .contains("in more than 1,000 calls")
    );
}

/// Expressions in the parameter `x`, and in `a` and `b` of the enclosing scope.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => Just("x".to_owned()),
        1 => Just("a".to_owned()),
        1 => Just("b".to_owned()),
        1 => Just("2".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner.clone());
        prop_oneof![
            (
                prop::sample::select(&["double", "invert", "toivec", "first", "identity"][..]),
                inner.clone()
            )
                .prop_map(|(name, x)| format!("{name}({x})")),
            (
                prop::sample::select(&["add", "subtract", "astuple", "greater", "equality"][..]),
                two.clone()
            )
                .prop_map(|(name, (x, y))| format!("{name}({x}, {y})")),
            three
                .clone()
                .prop_map(|(x, y, z)| format!("branch({x}, {y}, {z})")),
            two.clone().prop_map(|(x, y)| format!("({x} == {y})")),
            two.clone().prop_map(|(x, y)| format!("({x} and {y})")),
            two.prop_map(|(x, y)| format!("apply(lambda y: add(y, {x}), (1, {y}))")),
            three.prop_map(|(x, y, z)| format!("({x} if {y} else {z})")),
            inner.prop_map(|x| format!("rbind(add, {x})(1)")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A function passed as a value gives what its inlined steps give.
    #[test]
    fn a_function_passed_on_gives_what_a_call_gives(body in expression(), x in 0..3) {
        let around = "a = height(I)\nb = (1, 2)\n";
        let called = given(&format!("{around}f = lambda x: {body}\nreturn f({x})"));
        let passed_on = given(&format!("{around}return first(apply(lambda x: {body}, ({x},)))"));
        match (called, passed_on) {
            (Ok(called), Ok(passed_on)) => prop_assert_eq!(called, passed_on),
            (called, passed_on) => prop_assert!(
                called.is_err() && passed_on.is_err(), "{:?} {:?}", called, passed_on
            ),
        }
    }
}

#[test]
fn one_name_with_a_comma_takes_a_value_apart() {
    for text in [
        "def f(I):\n    a, = (3,)\n    return a",
        "def f(I):\n    (a,) = (3,)\n    return a",
        "a, = (3,)\ndef f(I):\n    return a",
        "(a,) = (3,)\ndef f(I):\n    return a",
    ] {
        assert_eq!(outcome(text), Ok("3".to_owned()), "{text}");
    }
    for text in [
        "(a) = (3,)\ndef f(I):\n    return a",
        "def f(I):\n    (a) = (3,)\n    return a",
    ] {
        assert_eq!(outcome(text), Ok("(3,)".to_owned()), "{text}");
    }
    assert_eq!(
        outcome("def f(I):\n    return canvas(00, UNITY)"),
        Ok("((0,),)".to_owned())
    );
}

#[test]
fn a_program_whose_name_is_set_to_a_value_is_refused() {
    let text = "def solve(I):\n    return vmirror(I)\n\ndef wrap(f):\n    return f\n\nsolve = wrap(solve)\n";
    let errors: Vec<_> = parse_programs(text)
        .into_iter()
        .map(|it| it.unwrap_err().to_string())
        .collect();
    assert_eq!(
        errors,
        ["line 1, column 5: `solve`, bound on line 7, cannot be used: it is set to a value"]
    );
    let imported = "def solve(I):\n    import numpy as np\n    x = I\n    return np.fliplr(x)\n";
    let [Err(error)] = &parse_programs(imported)[..] else {
        panic!("an import of the program counts")
    };
    assert_eq!(
        error.to_string(),
        "line 4, column 12: `np`, bound on line 2, cannot be used: it is the module `numpy`"
    );
    let kept = "def solve(I):\n    return vmirror(I)\nsolve_2 = solve\n";
    assert!(parse_programs(kept).iter().all(Result::is_ok));
}
