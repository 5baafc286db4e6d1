//! Functions that a text writes in Python: what they are called with, and the types for which they are read.

use super::*;

/// The expected values are CPython's.
#[test]
fn functions_are_called_by_their_own_parameters() {
    for (lines, expected) in [
        ("return (lambda b, a: subtract(b, a))(b=5, a=3)", "2"),
        (
            "return ((lambda b, a, c=2: (b, a, c)))(a=5, b=3)",
            "(3, 5, 2)",
        ),
        ("return (lambda g: first(g))(g=I)", "(1, 1, 0)"),
        (
            "x = (rot90, hmirror)\nreturn x[1](I)",
            "((0, 0, 2), (1, 1, 0))",
        ),
        ("return (rot90, vmirror, len)[-1](I)", "2"),
        (
            "x = I == I\nreturn (True + True, x * 3, x - 5, -x, x <= 0, True % True)",
            "(2, 3, -4, -1, False, 0)",
        ),
    ] {
        assert_eq!(given(lines), Ok(expected.to_owned()), "{lines}");
    }
    for (lines, expected) in [
        (
            "return (lambda g: rot90(g))(grid=I)",
            "line 2, column 30: `lambda` has no parameter `grid`",
        ),
        (
            "f = (lambda b, a: subtract(b, a), 1)[0]\nreturn f(a=1, b=2)",
            "line 3, column 11: `f` is a variable, expected arguments without keywords",
        ),
        (
            "return (len)(container=I)",
            "line 2, column 15: `len` is a variable, expected arguments without keywords",
        ),
    ] {
        assert_eq!(body_error(lines), expected, "{lines}");
    }
}

/// A function looks the variable of a comprehension up when it is called. The expected values are CPython's.
#[test]
fn functions_of_a_round_do_not_outlive_it() {
    for lines in [
        "fs = tuple(lambda g: replace(g, 0, c) for c in (1, 2))\nreturn first(fs)(I)",
        "fs = tuple((c, lambda g: c) for c in (1, 2))\nreturn last(first(fs))(I)",
        "return rapply(tuple(compose(lambda g: add(g, c), size) for c in (1, 2)), I)",
        "return rapply({rbind(lambda g, d: replace(g, d, c), 0) for c in (1, 2)}, I)",
        "return tuple(tuple(lambda g: (c, d) for c in (1, 2)) for d in (7, 8))",
        "return first(tuple(lambda g: f(g) for f in (rot90, vmirror)))(I)",
        "return first(tuple(lambda g: c if c > 1 else g for c in (1, 2)))(I)",
        "return first(tuple(rot90 if c > 1 else (lambda g: c) for c in (1, 2)))(I)",
        "return first(tuple(branch(c > 1, lambda g: c, rot90) for c in (3, 1)))(I)",
        "return tuple(apply(lambda x: lambda y: (x, c, y), (1, 2)) for c in (1, 2))",
        "return first(tuple((lambda x: lambda y: (x, c, y))(7) for c in (1, 2)))(5)",
        "return max((lambda g: c for c in (3, 1, 2)), key=lambda f: f(0))(0)",
        "return tuple(f for f in (lambda g: c for c in (3, 1, 2)))",
        "return tuple(f(0) for f in [lambda g: c for c in (3, 1, 2)])",
    ] {
        let error = body_error(lines);
        assert!(
            error.contains("the variable of the comprehension"),
            "{error}"
        );
    }
    for (lines, expected) in [
        (
            "make = lambda c: lambda g: (c, g)\nreturn rapply(tuple(make(c) for c in (1, 2)), 5)",
            "((1, 5), (2, 5))",
        ),
        (
            "k = 4\nfs = tuple(lambda g: (g, k) for c in (1, 2))\nreturn first(fs)(5)",
            "(5, 4)",
        ),
        (
            "fs = tuple(lambda c: (c, I[0]) for c in (1, 2))\nreturn first(fs)(5)",
            "(5, (1, 1, 0))",
        ),
        (
            "return tuple(compose(lambda x: add(x, c), double)(4) for c in (1, 2))",
            "(9, 10)",
        ),
        (
            "return tuple(branch(c > 1, lambda x: (x, c), lambda x: x)(5) for c in (1, 2))",
            "(5, (5, 2))",
        ),
        (
            "return tuple(sfilter(I[0], lambda x: x == c) for c in (1, 2))",
            "((1, 1), ())",
        ),
        (
            "return tuple(first(apply(lambda x: lambda y: (x, c, y), (1, 2)))(5) for c in (3, 4))",
            "((1, 3, 5), (1, 4, 5))",
        ),
        (
            "return tuple(f(0) for f in (lambda g: c for c in (3, 1, 2)))",
            "(3, 1, 2)",
        ),
        (
            "return tuple(max(I[0], key=lambda x: (x == c, x)) for c in (0, 1))",
            "(0, 1)",
        ),
    ] {
        assert_eq!(given(lines), Ok(expected.to_owned()), "{lines}");
    }
}

/// The expected values are CPython's.
#[test]
fn results_of_functions_over_containers_have_the_types_of_their_elements() {
    for (lines, expected) in [
        ("return order(I, last)[0][::-1]", "(0, 1, 1)"),
        (
            "return argmax(palette(I), lambda c: colorcount(I, c)) % 2 + 1",
            "1",
        ),
        ("return argmin(asindices(I), last)[0]", "0"),
        ("return extract(I, lambda r: 2 in r)[2]", "2"),
        ("return sfilter(I, lambda r: 2 in r)[0]", "(0, 0, 2)"),
        ("return mfilter(I, lambda r: 2 in r)[-1]", "2"),
        (
            "return sorted(s[0] * 2 for s in apply(shape, objects(I, T, F, F)))[-1]",
            "2",
        ),
        (
            "return tuple(i + j for i, j in mapply(toindices, objects(I, T, F, F)))[:4]",
            "(1, 3, 0, 2)",
        ),
        ("return valmax(I, len) - valmin(I, size)", "0"),
        ("return tuple(map(frozenset, I))[1]", "frozenset({0, 2})"),
        ("return I[0] * 2 + 2 * (7,)", "(1, 1, 0, 1, 1, 0, 7, 7)"),
        ("x = (5,)\nx *= height(I) - 4\nreturn x", "()"),
        ("return (0,) * width(I) * 2", "(0, 0, 0, 0, 0, 0)"),
        ("return len(set(I[0])) + max(set(merge(I)))", "4"),
        (
            "return (tuple(set((16, 8, 1))), 3 in set(), set(I[0]) == {1, 0})",
            "((16, 8, 1), False, True)",
        ),
        (
            "return (*I[0], 7, *(c + 1 for c in I[1]), *palette(I))",
            "(1, 1, 0, 7, 1, 1, 3, 0, 1, 2)",
        ),
        (
            "return ((*I[1],), tuple([5, *I[0]]))",
            "((0, 0, 2), (5, 1, 1, 0))",
        ),
        (
            "return tuple(enumerate(I[0], 3))[1][0] + sum(i for i, c in enumerate(I[0], start=-1))",
            "4",
        ),
        (
            "a, b, c = hsplit(I, 3)\nreturn (c, a)",
            "(((0,), (2,)), ((1,), (0,)))",
        ),
    ] {
        assert_eq!(given(lines), Ok(expected.to_owned()), "{lines}");
    }
}

/// A function of Python is the same as itself alone. The expected values are CPython's.
#[test]
fn functions_made_anew_are_others() {
    for (lines, expected) in [
        (
            "return size(dedupe(tuple(compose(rot90, vmirror) for i in (1, 2, 3))))",
            "3",
        ),
        (
            "return size(apply(lambda i: rbind(add, 0), frozenset({1, 2})))",
            "2",
        ),
        (
            "return size(frozenset(compose(rot90, vmirror) for i in (1, 2)))",
            "2",
        ),
        (
            "return size(dedupe(apply(lambda i: (i, compose(rot90, vmirror)), (1, 1))))",
            "2",
        ),
        ("return size(dedupe(tuple(rot90 for i in (1, 2))))", "1"),
        (
            "f = compose(rot90, vmirror)\nreturn (f == f, rot90 == rot90)",
            "(True, True)",
        ),
        ("return rbind(add, 1) == rbind(add, 1)", "False"),
    ] {
        assert_eq!(given(lines), Ok(expected.to_owned()), "{lines}");
    }
    for lines in [
        "return (lambda x: x) == (lambda x: x)",
        "f = lambda x: rot90(x)\nreturn f == rot90",
        "f = lambda x: rot90(x)\nreturn contained(f, (rot90, vmirror))",
        "f = lambda x: rot90(x)\nreturn rot90 in (vmirror, f)",
    ] {
        let error = body_error(lines);
        assert!(
            error.contains("are the same is not known"),
            "{lines}: {error}"
        );
    }
}

#[test]
fn a_function_of_python_is_what_the_text_binds_its_name_to() {
    for (text, expected) in [
        (
            "def max(a, b): return a\ndef f(I): return max(1, 2)",
            Ok("1"),
        ),
        ("max = subtract\ndef f(I): return max(1, 2)", Ok("-1")),
        ("def f(I):\n max = 3\n return max", Ok("3")),
        ("from dsl import *\ndef f(I): return max(1, 2)", Ok("2")),
        (
            "import builtins\nbuiltins.max = min\ndef f(I): return max(1, 2)",
            Err("`max`, bound on line 2, cannot be used: it may be set there"),
        ),
        (
            "from numpy import *\ndef f(I): return max(1, 2)",
            Err("`max`, bound on line 1, cannot be used: it may be hidden there"),
        ),
        (
            "from numpy import *\ndef f(I): return tuple(sorted(I))",
            Err("`tuple`, bound on line 1, cannot be used: it may be hidden there"),
        ),
        (
            "def f(I):\n x = max(1, 2)\n max = 3\n return x",
            Err("`max` is used before it is set on line 3"),
        ),
    ] {
        let found = outcome(text);
        match expected {
            Ok(expected) => assert_eq!(found.as_deref(), Ok(expected), "{text}"),
            Err(expected) => assert!(found.unwrap_err().ends_with(expected), "{text}"),
        }
    }
}

#[test]
fn functions_are_read_for_the_arguments_that_they_get() {
    // The results are those of CPython 3.12.
    for (functions, value, expected) in [
        (
            "def largest(objs): return max(objs, key=size)",
            "size(largest(objects(I, T, F, F)))",
            "2",
        ),
        (
            "def many(objs): return frozenset(o for o in objs if size(o) > 1)",
            "size(many(objects(I, T, F, F)))",
            "2",
        ),
        (
            "def total(row): return sum(row)",
            "(total(I[0]), total(I[1]))",
            "(2, 2)",
        ),
        (
            "def back(row): return row[::-1]",
            "tuple(back(row) for row in I)",
            "((0, 1, 1), (2, 0, 0))",
        ),
        (
            "def back(row): return tuple(reversed(row))",
            "(back(I[0]), back(I))",
            "((0, 1, 1), ((0, 0, 2), (1, 1, 0)))",
        ),
        (
            "def a(x, y): return x[0] + y[0]\ndef b(x): return a(x, x)",
            "b((1, 2))",
            "2",
        ),
    ] {
        let text = format!("{functions}\ndef solve(I): return {value}\n");
        assert_eq!(outcome(&text).as_deref(), Ok(expected), "{text}");
    }
    // An error is on the line of the function that fails, as the last one of Python's.
    let text = "def g(x):\n y = first(())\n return y\ndef solve(I):\n z = g(I)\n return z\n";
    let found = outcome(text).unwrap_err();
    assert!(found.starts_with("line 2: first"), "{found}");
    let text = "def f(x): return f((x[0], x))\ndef solve(I): return f((1, 2))\n";
    assert!(outcome(text).unwrap_err().contains("it calls itself"));
    // More of them than that are not read within each other.
    let mut text = "def f0(x, y): return x + y\n".to_owned();
    for at in 1..12 {
        text = format!("{text}def f{at}(x, y): return f{}(x, y) + 1\n", at - 1);
    }
    let found = outcome(&format!("{text}def solve(I): return f11(1, 2)\n")).unwrap_err();
    assert!(
        found.contains("`f3`, bound on line 4, cannot be used: of functions that are no"),
        "{found}"
    );
    // Each is read once for each type, whoever calls it how often.
    let mut text = "def f0(x): return x[0]\n".to_owned();
    for at in 1..9 {
        let below = at - 1;
        text = format!("{text}def f{at}(x): return f{below}(x) + f{below}((x[0], 2))\n");
    }
    assert!(outcome(&format!("{text}def solve(I): return f7((1, 2))\n")).is_ok());
}

#[test]
fn functions_are_read_for_the_elements_that_they_are_called_with() {
    // The results are those of CPython 3.12.
    for (functions, value, expected) in [
        (
            "",
            "tuple(sfilter(asobject(I), lambda c: c[0] != 0))",
            "((1, (0, 0)), (1, (0, 1)), (2, (1, 2)))",
        ),
        (
            "",
            "tuple(apply(lambda ij: (ij[1], ij[0] + ij[1]), ofcolor(I, 0)))",
            "((0, 1), (1, 2), (2, 2))",
        ),
        (
            "",
            "tuple(apply(lambda c: c[1][1] * 2 - c[0], asobject(I)))",
            "(0, 1, 2, 4, -1)",
        ),
        (
            "",
            "apply(lambda r: r[::-1] + (7,), I)",
            "((0, 1, 1, 7), (2, 0, 0, 7))",
        ),
        (
            "",
            "tuple(sfilter(asindices(I), lambda ij: (ij[0] + ij[1]) % 2 == 0))",
            "((0, 2), (1, 1), (0, 0))",
        ),
        (
            "",
            "tuple(argmin(objects(I, T, F, F), lambda o: (-size(o), -leftmost(o))))",
            "((0, (1, 1)), (0, (1, 0)))",
        ),
        (
            "",
            "extract(asobject(I), lambda c: c[0] > 1)",
            "(2, (1, 2))",
        ),
        (
            "",
            "mapply(lambda r: r + (len(r),), I)",
            "(1, 1, 0, 3, 0, 0, 2, 3)",
        ),
        (
            "",
            "apply(lambda r: apply(lambda c: c + len(r), r), I)",
            "((4, 4, 3), (3, 3, 5))",
        ),
        (
            "def far(ij): return ij[0] + ij[1] > 2",
            "tuple(sfilter(asindices(I), far))",
            "((1, 2),)",
        ),
        (
            "def back(row): return row[::-1]",
            "apply(back, I)",
            "((0, 1, 1), (2, 0, 0))",
        ),
        (
            "def top(g): return g[0]",
            "apply(top, hsplit(I, 2))",
            "((1,), (0,))",
        ),
        (
            "def bright(c): return c[0] > 0\ndef some(g): return sfilter(asobject(g), bright)",
            "size(some(rot90(I)))",
            "3",
        ),
        (
            "def has(x, n): return size(sfilter(x, lambda e: n in e))",
            "(has(I, 2), has(asobject(I), 2))",
            "(1, 1)",
        ),
    ] {
        let text = format!("{functions}\ndef solve(I): return {value}\n");
        assert_eq!(outcome(&text).as_deref(), Ok(expected), "{text}");
    }
    // Of no elements, this one is called with 0.
    let text = "def solve(I): return valmax(sfilter(I, lambda r: len(r) > 9), lambda r: tuple(r))";
    assert!(outcome(text).unwrap_err().starts_with("line 1"), "{text}");
    // What follows from the type of a variable holds only as long as the variable is not set again.
    let text = "def solve(I):\n x = I\n f = lambda y: apply(lambda r: r[0], x)\n z = f(1)\n x = palette(I)\n return f(1)";
    let found = outcome(text).unwrap_err();
    assert!(found.contains("`x` is set again"), "{found}");
}

#[test]
fn a_function_that_takes_a_grid_apart_takes_nothing_else() {
    let text = "def top(g): return g[0]\ndef solve(I): return top(HERE)\n";
    let of = |value: &str| outcome(&text.replace("HERE", value));
    assert_eq!(of("rot90(I)"), Ok("(0, 1)".to_owned()));
    assert_eq!(of("hsplit(I, 3)"), Ok("((1,), (0,))".to_owned()));
    let expected = "line 2, column 22: `top`, bound on line 1, cannot be used: line 1, column 21: ";
    let found = of("palette(I)").unwrap_err();
    assert!(found.starts_with(expected), "{found}");
    assert!(
        of("compose(top, first)(I)")
            .unwrap_err()
            .contains("as a grid")
    );
    let functions = parse_functions("def top(g): return g[0]\n");
    assert!(functions[0].is_err());
}
