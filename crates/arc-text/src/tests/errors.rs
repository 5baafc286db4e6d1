//! The error messages for wrong programs and literals.

use super::*;

#[test]
fn literals_say_what_is_wrong() {
    for (text, expected) in [
        (
            "",
            "line 1, column 1: expected a value, found the end of the text",
        ),
        (
            "1 2",
            "line 1, column 3: expected the end of the literal, found `2`",
        ),
        (
            "1 + 2",
            "line 1, column 3: expected the end of the literal, found `+`",
        ),
        ("'a'", "line 1, column 1: expected a value, found a string"),
        (
            "(1, 'a\n)",
            "line 1, column 5: a string that begins here is never closed, expected `'`",
        ),
        ("[1]", "line 1, column 1: expected a value, found `[`"),
        (
            "if",
            "line 1, column 1: expected a value, found the keyword `if`",
        ),
        (
            "(1,\n (2, 3)",
            "line 1, column 1: `(` is never closed, expected `)`",
        ),
        ("(1, 2]", "line 1, column 6: expected `,` or `)`, found `]`"),
        ("(1, , 2)", "line 1, column 5: expected a value, found `,`"),
        (
            "{}",
            "line 1, column 2: expected an element; the empty set is `frozenset()`, found `}`",
        ),
        ("{1: 2}", "line 1, column 3: expected `,` or `}`, found `:`"),
        (
            "frozenset(1)",
            "line 1, column 11: expected what is a tuple or a set whatever the grid is, as `frozenset(first(I))`, found `1`",
        ),
        (
            "frozenset({1}, 2)",
            "line 1, column 16: expected one container alone, found `2`",
        ),
        (
            "frozenset",
            "line 1, column 1: unknown name `frozenset`, expected a variable, a primitive or a constant",
        ),
        (
            "ORIGN",
            "line 1, column 1: unknown name `ORIGN`, did you mean `ORIGIN`?",
        ),
        (
            "I",
            "line 1, column 1: unknown name `I`, expected a variable, a primitive or a constant",
        ),
        (
            "add(1, 2)",
            "line 1, column 1: expected a literal, found a call",
        ),
        (
            "(1, f(1))",
            "line 1, column 5: expected a literal, found a call",
        ),
        (
            "-x",
            "line 1, column 2: expected an integer after `-`, found `x`",
        ),
        (
            "1.5",
            "line 1, column 1: expected an integer in decimal digits, found `1.5`",
        ),
        (
            "(0, 1073741824)",
            "line 1, column 5: expected an integer from -1073741823 to 1073741823, found 1073741824",
        ),
        (
            "-99999999999999999999999999999999999999999999",
            "line 1, column 2: expected an integer from -1073741823 to 1073741823, \
             found -9999999999999999999999999999999999999999…",
        ),
        ("\0", "line 1, column 1: expected a value, found `\\0`"),
        (
            "1\ndef f(I):",
            "line 2, column 1: expected the end of the literal, found the keyword `def`",
        ),
    ] {
        assert_eq!(value_error(text), expected);
    }
}

#[test]
fn brackets_nest_to_a_bound() {
    let nested = |open: &str, close: &str, n| format!("{}1{}", open.repeat(n), close.repeat(n));
    assert_eq!(value(&nested("(", ")", 100)), "1");
    assert_eq!(value(&nested("(", ",)", 100)), nested("(", ",)", 100));
    assert_eq!(
        value(&nested("frozenset({", "})", 100)),
        nested("frozenset({", "})", 100)
    );
    let expected =
        "expected at most 100 brackets, functions and branches inside each other, found more";
    assert_eq!(
        value_error(&nested("(", ")", 101)),
        format!("line 1, column 101: {expected}")
    );
    assert_eq!(
        value_error(&nested("{", "}", 101)),
        format!("line 1, column 101: {expected}")
    );
    assert_eq!(
        value_error(&nested("frozenset({", "})", 101)),
        format!("line 1, column 1110: {expected}")
    );
    assert_eq!(
        value_error(&"(".repeat(1_000_000)),
        format!("line 1, column 101: {expected}")
    );
    let calls = |n: usize| format!("return {}I{}", "trim(".repeat(n), ")".repeat(n));
    assert_eq!(body(&calls(100)).matches("trim").count(), 100);
    assert_eq!(
        body_error(&calls(101)),
        format!("line 2, column 513: {expected}")
    );
}

#[test]
fn python_beyond_calls_is_refused_in_one_way() {
    let any = "`name = primitive(arguments)` or `return value`";
    let each = "a comprehension, `apply` or `power`";
    let method = "a function, as `size(x)`";
    for (lines, column, found, expected) in [
        ("for x in I:\n  pass", 2, "the keyword `for`", each),
        ("while I:\n  pass", 2, "the keyword `while`", each),
        ("x = size(I) / 2", 14, "`/`", any),
        ("x = I is I", 8, "the keyword `is`", "`==`"),
        ("x = {1: 2}", 6, "a dictionary", "`a if x == 1 else b`"),
        ("x = trim([I])", 11, "`[`", "a tuple"),
        ("x = I.shape", 7, "`.`", method),
        ("x = color('red')", 12, "a string", any),
        (
            "x = apply(trim, (I for y in I))",
            21,
            "the keyword `for`",
            each,
        ),
        ("x = fill(I, 1, *y)", 17, "`*`", "the values one by one"),
        ("x = (*I)", 7, "`*`", "the values one by one"),
        ("I /= 1", 4, "`/=`", any),
        ("x == I", 4, "`==`", any),
        ("@f", 2, "`@`", any),
        ("x = I ? I", 8, "`?`", any),
        ("'text'.strip()", 8, "`.`", method),
    ] {
        let expected = format!(
            "line 2, column {column}: found {found}, which is not read: expected {expected}"
        );
        assert_eq!(body_error(lines), expected);
    }
}

#[test]
fn statements_say_what_is_wrong() {
    for (lines, expected) in [
        (
            "return",
            "line 2, column 8: expected a value, found the end of the line",
        ),
        (
            "vmirror(I)",
            "line 2, column 9: expected `=` after the name of a variable, found `(`",
        ),
        (
            "x, y = I",
            "line 2, column 9: expected a value of 2 elements to take apart, found a value whose elements \
             are counted only when the program runs",
        ),
        (
            "x, y = (I, I, I)",
            "line 2, column 9: expected a value of 2 elements to take apart, found 3",
        ),
        (
            "x, y = {1, 2}",
            "line 2, column 9: expected a value of 2 elements to take apart, found `frozenset({1, 2})`",
        ),
        (
            "x, = I",
            "line 2, column 7: expected a value of 1 elements to take apart, found a value whose elements \
             are counted only when the program runs",
        ),
        (
            "(x,) = (I, I)",
            "line 2, column 9: expected a value of 1 elements to take apart, found 2",
        ),
        (
            "x = canvas(05, UNITY)",
            "line 2, column 13: expected an integer in decimal digits, found `05`",
        ),
        (
            "x, *y = I, I",
            "line 2, column 5: found `*`, which is not read: expected the values one by one",
        ),
        (
            "x = I y",
            "line 2, column 8: expected the end of the line, found `y`",
        ),
        (
            "x =",
            "line 2, column 5: expected a value, found the end of the line",
        ),
        (
            "5 = I",
            "line 2, column 2: expected `name = primitive(arguments)` or `return value`, found `5`",
        ),
        (
            "x: int\nreturn I",
            "line 2, column 8: expected the end of the annotation, found the end of the line",
        ),
        (
            "x = trim(I",
            "line 2, column 10: `(` is never closed, expected `)`",
        ),
        (
            "x = trim(I\ny = trim(x)\nreturn y",
            "line 2, column 10: `(` is never closed, expected `)`",
        ),
        (
            "x = trim((I)\ny = {1}\nreturn y",
            "line 2, column 10: `(` is never closed, expected `)`",
        ),
        (
            "x = trim(I))",
            "line 2, column 13: expected the end of the line, found `)`",
        ),
        (
            "\"\"\"text\nreturn I",
            "line 2, column 2: a string that begins here is never closed, expected `\"\"\"`",
        ),
        (
            "from dsl import (a\nreturn I",
            "line 2, column 18: `(` is never closed, expected `)`",
        ),
        (
            "x = trim(I)",
            "line 1, column 1: expected a `return` at the end of program `f`, found none",
        ),
        (
            "return I\nx = trim(I)",
            "line 3, column 2: expected nothing more after `return`, found `x`",
        ),
        (
            "return I; return I",
            "line 2, column 12: expected nothing more after `return`, found the keyword `return`",
        ),
    ] {
        assert_eq!(body_error(lines), expected);
    }
}

#[test]
fn names_say_what_is_wrong() {
    for (lines, expected) in [
        (
            "x = vmiror(I)",
            "line 2, column 6: unknown primitive `vmiror`, did you mean `vmirror`?",
        ),
        (
            "x = wibble(I)",
            "line 2, column 6: unknown primitive `wibble`, expected a primitive or a variable",
        ),
        (
            "turned = trim\nx = tuned(I)",
            "line 3, column 6: unknown primitive `tuned`, did you mean `turned`?",
        ),
        (
            "x = trim(i)",
            "line 2, column 11: unknown name `i`, did you mean `I`?",
        ),
        (
            "x = fill(I, THRE, I)",
            "line 2, column 14: unknown name `THRE`, did you mean `THREE`?",
        ),
        (
            "x = apply(vmirorr, I)",
            "line 2, column 12: unknown name `vmirorr`, did you mean `vmirror`?",
        ),
        (
            "x = trim(y)\ny = trim(I)",
            "line 2, column 11: `y` is used before it is set on line 3",
        ),
        (
            "x = trim(x)",
            "line 2, column 11: `x` is used before it is set on line 2",
        ),
        (
            "x = I; y = z(x); z = trim",
            "line 2, column 13: `z` is used before it is set on line 2",
        ),
        (
            "trim = trim(I)",
            "line 2, column 9: `trim` is used before it is set on line 2",
        ),
        (
            "x = fill(I, F, I)\nF = 3",
            "line 2, column 14: `F` is used before it is set on line 3",
        ),
        (
            "None = I",
            "line 2, column 2: the name `None` is taken by a literal, expected another name",
        ),
    ] {
        assert_eq!(body_error(lines), expected);
    }
}

#[test]
fn arguments_say_what_is_wrong() {
    for (lines, expected) in [
        (
            "x = trim()",
            "line 2, column 6: `trim` takes 1 argument (grid), found 0",
        ),
        (
            "x = add(1, 2, 3)",
            "line 2, column 6: `add` takes 2 arguments (a, b), found 3",
        ),
        (
            "x = objects(I, diagonal=T)",
            "line 2, column 6: `objects` takes 4 arguments (grid, univalued, diagonal, without_bg), found 2",
        ),
        (
            "x = add(1, c=2)",
            "line 2, column 13: `add` has no parameter `c`, expected one of a, b",
        ),
        (
            "x = add(1, a=2)",
            "line 2, column 13: argument `a` of `add` is given twice",
        ),
        (
            "x = add(b=1, b=2)",
            "line 2, column 15: argument `b` of `add` is given twice",
        ),
        (
            "x = add(b=1, 2)",
            "line 2, column 15: expected `name=value` after another such argument, found `2`",
        ),
        (
            "g = trim\nx = g(grid=I)",
            "line 3, column 8: `g` is a variable, expected arguments without keywords",
        ),
        (
            "x = ZERO(I)",
            "line 2, column 6: expected a primitive or a variable to call, found the constant `ZERO`",
        ),
        (
            "x = (1, 2)(I)",
            "line 2, column 6: expected a primitive or a variable to call, found a pair of integers",
        ),
        (
            "x = add(1 2)",
            "line 2, column 12: expected `,` or `)`, found `2`",
        ),
        (
            "x = add(, 2)",
            "line 2, column 10: expected a value, found `,`",
        ),
        (
            "x = palette(I) | {1}",
            "line 2, column 17: expected `combine(a, b)` for the elements of both sets, found `|`",
        ),
        (
            "x = frozenset({1, I})",
            "line 2, column 16: found a set with variables or calls in it, expected constants alone; \
             `initset` and `insert` make sets of variables",
        ),
        (
            "x = frozenset(first(()))",
            "line 2, column 16: expected what is a tuple or a set whatever the grid is, as \
             `frozenset(first(I))`, found `first`",
        ),
    ] {
        assert_eq!(body_error(lines), expected);
    }
}

#[test]
fn what_python_reads_and_this_does_not_says_why() {
    for (lines, expected) in [
        (
            "x = initset({1, 2})",
            "line 2, column 14: Python cannot hash a set, expected `frozenset(..)`",
        ),
        (
            "x = {1, 2}\ny = frozenset({3}) if height(I) == 9 else combine(x, {3})\nz = insert(y, {1, y})",
            "line 4, column 13: Python cannot hash a set, expected `frozenset(..)`",
        ),
        (
            "x = {1, 2}\nx = 5\ny = initset(x)\nz = frozenset({(1, {1})})",
            "line 5, column 17: Python cannot hash a set, expected `frozenset(..)`",
        ),
        (
            "if height(I) == 9:\n    x = {1}\nelse:\n    x = frozenset({2})\ny = initset(x)",
            "line 6, column 14: Python cannot hash a set, expected `frozenset(..)`",
        ),
        (
            "x = 5\nif height(I) == 9:\n    x = {1}\ny = initset(x)",
            "line 5, column 14: Python cannot hash a set, expected `frozenset(..)`",
        ),
        (
            "x = y = {1}\nz = initset(x)",
            "line 3, column 14: Python cannot hash a set, expected `frozenset(..)`",
        ),
        (
            "x, y = 5, {1}\nz = initset(x)\nz = initset(y)",
            "line 4, column 14: Python cannot hash a set, expected `frozenset(..)`",
        ),
        (
            "x = frozenset((1, {2}) for r in I)",
            "line 2, column 16: Python cannot hash a set, expected `frozenset(..)`",
        ),
        (
            "x = apply(lambda r: {1, 2}, asindices(I))",
            "line 2, column 22: Python cannot hash a set, expected `frozenset(..)`",
        ),
        (
            "x = 4 // 0",
            "line 2, column 11: expected a divisor that is not 0, found 4 // 0",
        ),
        (
            "f = lambda g: replace(g, k, 5)\nx = f(I)\nk = 1\nreturn x",
            "line 2, column 27: `k` is used before it is set on line 4",
        ),
        (
            "k = height(I)\nf = lambda g, k=k: replace(g, k, 5)\nreturn f(I)",
            "line 3, column 18: expected a default that is known before the program runs, found `k`",
        ),
        (
            "f = lambda g, x: g(x)\nreturn f(5, I)",
            "line 3, column 9: expected a primitive or a variable to call, found an integer",
        ),
        (
            "f = lambda g, *, k: replace(g, 1, k)\nreturn f(I, 5)",
            "line 3, column 14: expected the name of a parameter and `=`, since it follows `*`, found `5`",
        ),
    ] {
        assert_eq!(body_error(lines), expected);
    }
}

#[test]
fn first_lines_say_what_is_wrong() {
    for (text, expected) in [
        (
            "def",
            "line 1, column 4: expected the name of the program, found the end of the line",
        ),
        (
            "def if(I):",
            "line 1, column 5: expected the name of the program, found the keyword `if`",
        ),
        ("def f:", "line 1, column 6: expected `(`, found `:`"),
        (
            "def solve(I, S):\n return I",
            "line 1, column 10: expected one parameter, the input grid, or `(S, I, C)`, found 2: nothing fills `S`, \
             which has no default",
        ),
        (
            "def f(I=trim(I)):\n return I",
            "line 1, column 9: expected a literal, found a call",
        ),
        (
            "def f(*I):",
            "line 1, column 7: expected the name of the parameter, found `*`",
        ),
        (
            "def f(None):",
            "line 1, column 7: the name `None` is taken by a literal, expected another name",
        ),
        (
            "def f(I)\n return I",
            "line 1, column 9: expected `:`, found the end of the line",
        ),
        (
            "def f(I) -> Grid\n return I",
            "line 1, column 17: expected the end of the annotation, found the end of the line",
        ),
        (
            "def f(I: Grid\n return I",
            "line 1, column 6: `(` is never closed, expected `)`",
        ),
        (
            "def f(I):",
            "line 1, column 10: expected an indented line with a call or a `return`, found the end of the program",
        ),
        (
            "def f(I):\n\n# note\n",
            "line 1, column 10: expected an indented line with a call or a `return`, found the end of the program",
        ),
    ] {
        assert_eq!(error(text), expected);
    }
}

#[test]
fn columns_count_characters() {
    assert_eq!(
        body_error("é = trim(I); ü = ñandú(é)"),
        "line 2, column 19: unknown primitive `ñandú`, expected a primitive or a variable"
    );
    assert_eq!(
        notes("\u{feff}x"),
        ["line 1, column 1: ignored, since it is not part of a program: `x`"]
    );
    let long = "a".repeat(100);
    let told = "a".repeat(40);
    assert_eq!(
        body_error(&format!("return {long}")),
        format!(
            "line 2, column 9: unknown name `{told}…`, expected a variable, a primitive or a constant"
        )
    );
}

#[test]
fn a_wrong_program_leaves_the_others_alone() {
    let good = |name: &str| format!("def {name}(I):\n    return trim(I)\n\n");
    for wrong in [
        "def b(I):\n    return trim(\n\n",
        "def b(I):\n    return nothing(I)\n    '''\n",
        "def b(I):\n    '''text\n    return I\n",
        "def b(I):\n    'text\n    return I\n",
        "def b(I:\n",
        "def\n",
        "def b(I):\n",
        "def b(I)):\n    return [}\n",
        "X = {\n",
        "if True:\n    x = '''\n",
        "'''text\n",
        "import (a, b\n",
        "def b(I):\n    \u{a0}return I\n",
    ] {
        let text = good("a") + wrong + &good("c") + &good("d");
        let outline = outline(&text);
        assert_eq!(outline.len(), 4, "{wrong:?}: {outline:?}");
        assert_eq!(
            (&*outline[0], &*outline[2], &*outline[3]),
            ("a", "c", "d"),
            "{wrong:?}"
        );
        let line: u32 = outline[1].split_once(':').unwrap().0.parse().unwrap();
        assert!((4..=6).contains(&line), "{wrong:?}: {outline:?}");
    }
}

#[test]
fn a_string_that_swallows_a_program_is_found_out() {
    // The opening quotation marks of `b` are closed by those of `c`: what follows is string to `b`, code to `c`.
    let text =
        "def a(I):\n return I\ndef b(I):\n '''text\n return I\ndef c(I):\n '''text'''\n return I\n";
    assert_eq!(outline(text), ["a", "7:5", "c"]);
    // A string in a correct program may contain what looks like a program.
    let text = "def a(I):\n '''\ndef b(I):\n return I\n'''\n return I\n";
    assert_eq!(outline(text), ["a"]);
    // And in a wrong one, if Python takes it for a string, too.
    let quoted = "'''Write:\n\ndef vm(g):\n return hmirror(g)\n'''";
    for line in [
        "text = QUOTED + str(I)",
        "return QUOTED",
        "print(QUOTED)",
        "text = fQUOTED",
        "x = {1: QUOTED}",
    ] {
        let line = line.replace("QUOTED", quoted);
        let text = format!(
            "def vm(g):\n return vmirror(g)\ndef a(I):\n {line}\n return text\ndef b(I):\n return vm(I)\n"
        );
        assert!(matches!(&outline(&text)[..], [_, b] if b == "b"), "{line}");
        assert_eq!(
            outcome(&text),
            Ok("((0, 1, 1), (2, 0, 0))".to_owned()),
            "{line}"
        );
    }
    assert!(outline(&format!("class A:\n x = {quoted}\n")).is_empty());
}

#[test]
fn of_programs_of_one_name_the_last_one_stands() {
    let text = "def a(I):\n return I\ndef b(I):\n return I\ndef a(I):\n return trim(I)\n";
    assert_eq!(outline(text), ["b", "a"]);
    assert_eq!(
        notes(text),
        ["line 1, column 5: `a` is defined again on line 5, and that definition counts"]
    );
    let text = "def a(I):\n return I\ndef a(I):\n return wrong\n";
    assert_eq!(outline(text), ["4:9"]);
}

#[test]
fn long_texts_are_read() {
    let many = |text: &str| -> String {
        (0..5_000)
            .map(|n| text.replace('N', &n.to_string()))
            .collect()
    };
    let quoted = many("def fN(I):\n # '''\n '''\n");
    assert_eq!(parse_programs(&quoted).len(), 5_000);
    let open = many("def fN(I):\n x = trim(\n");
    assert_eq!(parse_programs(&open).len(), 5_000);
    let tuple = format!("def f(I):\n return ({})\n", "1, ".repeat(100_000));
    assert!(matches!(parse_programs(&tuple)[..], [Ok(_)]));
    let calls = format!("def f(I):\n return I{}\n", "()".repeat(20_000));
    let [Ok(program)] = &parse_programs(&calls)[..] else {
        panic!("one program")
    };
    assert_eq!(program.steps().len(), 20_000);
}

#[test]
fn what_sets_a_name_within_an_expression_is_told() {
    let expected = "found `:=`, which is not read: expected `name = value` on a line before";
    for (lines, column) in [
        ("x = vmirror(y := I)", 16),
        ("x = vmirror(I := I)", 16),
        ("x = (y := vmirror(I))", 9),
        ("x = vmirror((y := I))", 17),
        ("return apply(lambda g: (y := g), I)", 28),
    ] {
        assert_eq!(
            body_error(lines),
            format!("line 2, column {column}: {expected}"),
            "{lines}"
        );
    }
}

#[test]
fn a_sign_before_brackets_is_read_of_integers() {
    assert_eq!(value("-(2)"), "-2");
    assert_eq!(value("(-(THREE), 1)"), "(-3, 1)");
    assert_eq!(
        value_error("-((1, 2))"),
        "line 1, column 2: expected an integer after `-`, found `((1, 2))`"
    );
    assert_eq!(
        body("n = height(I)\nreturn shift(I, (-(n), -(2)))"),
        "n = height(I); t1 = invert(n); t2 = astuple(t1, -2); t3 = shift(I, t2); return t3"
    );
    assert_eq!(
        body_error("n = extract(I, size)\nreturn -(n)"),
        "line 3, column 10: expected after `-` an integer, or what is one whatever the grid is, as `height(I)` \
         (`invert(x)` takes any), found `(n)`"
    );
}
