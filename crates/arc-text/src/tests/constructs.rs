//! The constructs that programs and literals may contain.

use arc_dsl::{Cell, Loc};

use super::*;

#[test]
fn calls_stand_one_a_line() {
    let text = "def solve_1(I):\n    x1 = vmirror(I)\n    O = hconcat(I, x1)\n    return O\n";
    assert_eq!(printed(text), text);
    let program = parse_programs(text).remove(0).unwrap();
    assert_eq!((program.name(), program.line()), ("solve_1", 1));
    assert_eq!(program.variables(), ["I", "x1", "O"]);
    let lines: Vec<_> = program.steps().iter().map(|step| step.line).collect();
    assert_eq!(lines, [2, 3]);
}

#[test]
fn the_parameter_may_have_any_name_and_types_are_passed_over() {
    let text = "def f(grid: Grid,) -> Tuple[int, (Grid)]:\n return grid";
    assert_eq!(printed(text), "def f(grid):\n    return grid\n");
    assert_eq!(
        printed("def f ( I : 'Grid' ) :\n return I"),
        "def f(I):\n    return I\n"
    );
    assert_eq!(
        body("x: Dict[int, int] = trim(I)\nreturn x"),
        "x = trim(I); return x"
    );
}

#[test]
fn layout_is_free() {
    let plain = "def f(I):\n    x = crop(I, ORIGIN, (2, 3))\n    return x\n";
    for text in [
        "def f(I):\n\n  x = crop(  # note\n I,\n\tORIGIN, (2,\n3)\n)\n\n# note\n      # note\n  return x  ",
        "\u{feff}def f(I):\r\n\tx = crop(I, ORIGIN, (2, 3))\t\r\n\treturn x\r\n",
        "def f(I):\r x=crop(I,ORIGIN,(2,3,),)\r return x",
        "def f(I):\n \\\n x = \\\n  crop(I, ORIGIN, (2, 3))\n return x",
        "\x0c\ndef f(I): x = crop(I, ORIGIN, (2, 3)); return x;",
    ] {
        assert_eq!(printed(text), plain, "{text:?}");
    }
    assert_eq!(printed("def f(I): return I"), "def f(I):\n    return I\n");
}

#[test]
fn imports_comments_and_documentation_are_passed_over() {
    let text = r#"#!/usr/bin/env python3
"""Solvers.

def f(I): this one is not a program.
"""
from dsl import *; import constants as c
from constants import (
    ZERO,
    ONE,  # note
)

def f(I):
    r'''What it does.

    def g(I):
'''
    from dsl import trim
    'in ' "parts"
    return trim(I)
    "done"
# note
"#;
    assert_eq!(
        printed(text),
        "def f(I):\n    t1 = trim(I)\n    return t1\n"
    );
    assert!(parse_programs("").is_empty());
    assert!(parse_programs("\u{feff}  \n# note\nimport dsl\n'''note'''").is_empty());
}

#[test]
fn arguments_may_be_given_by_keyword() {
    let expected = "x = objects(I, T, F, True); return x";
    assert_eq!(
        body("x = objects(I, T, F, without_bg=True)\nreturn x"),
        expected
    );
    assert_eq!(
        body("x = objects(without_bg=True, diagonal=F, univalued=T, grid=I)\nreturn x"),
        expected
    );
}

#[test]
fn nested_calls_become_steps_inner_ones_first() {
    assert_eq!(
        body("t2 = hconcat(rot90(trim(I)), rot180(I))\nreturn vconcat(t2, b=I)"),
        "t1 = trim(I); t3 = rot90(t1); t4 = rot180(I); t2 = hconcat(t3, t4); \
         t5 = vconcat(t2, I); return t5"
    );
    assert_eq!(
        body("x = crop(dims=shape(trim(I)), start=ulcorner(asindices(I)), grid=I)\nreturn x"),
        "t1 = trim(I); t2 = shape(t1); t3 = asindices(I); t4 = ulcorner(t3); \
         x = crop(I, t4, t2); return x"
    );
    let program = parse_programs("def f(I):\n x = rot90(\n  trim(I))\n return x")
        .remove(0)
        .unwrap();
    let lines: Vec<_> = program.steps().iter().map(|step| step.line).collect();
    assert_eq!(lines, [3, 2]);
}

#[test]
fn functions_are_values_and_can_be_called() {
    assert_eq!(
        body("f1 = compose(trim, rot90)\nx = f1(I)\nreturn rbind(add, ONE)(size(x))"),
        "f1 = compose(trim, rot90); x = f1(I); t1 = rbind(add, ONE); t2 = size(x); \
         t3 = t1(t2); return t3"
    );
    assert_eq!(body("return (trim)(I)"), "t1 = trim(I); return t1");
    // What a variable holds is known only when the program runs.
    assert_eq!(body("x = I()\nreturn x"), "x = I(); return x");
}

#[test]
fn what_is_no_call_is_assigned_through_identity() {
    assert_eq!(
        body("x = I\ny = ZERO\nz = (x)\ng = trim\nn = -5\nreturn x"),
        "x = identity(I); y = identity(ZERO); z = identity(x); g = identity(trim); \
         n = identity(-5); return x"
    );
}

#[test]
fn pairs_of_variables_become_a_call() {
    assert_eq!(
        body("x = (height(I), 3)\nreturn ((x, ZERO), ORIGIN)"),
        "t1 = height(I); x = astuple(t1, 3); t2 = astuple(x, ZERO); t3 = astuple(t2, ORIGIN); \
         return t3"
    );
    assert_eq!(
        body("return (ONE, (2, 3), trim)"),
        "return (1, (2, 3), trim)"
    );
}

#[test]
fn outputs_may_be_anything() {
    assert_eq!(body("return I"), "return I");
    assert_eq!(body("return ZERO"), "return ZERO");
    assert_eq!(body("return trim"), "return trim");
    assert_eq!(
        body("return {(1, 2), ORIGIN}"),
        "return frozenset({(1, 2), (0, 0)})"
    );
}

#[test]
fn literals_read_as_they_print() {
    for text in [
        "0",
        "-7",
        "1073741823",
        "-1073741823",
        "True",
        "False",
        "None",
        "()",
        "(1,)",
        "(1, 2)",
        "(3, (1, -2))",
        "((1, 2), (3, 4))",
        "((),)",
        "frozenset()",
        "frozenset({1, 2})",
        "frozenset({(1, (0, 0))})",
        "frozenset({frozenset(), frozenset({(0, 1)})})",
        "(None, True, vmirror)",
    ] {
        assert_eq!(value(text), text);
    }
    assert_eq!(value(" # note\n( 1,\n2 , ) # note\r\n"), "(1, 2)");
    assert_eq!(value("{2, 1, 2,}"), "frozenset({1, 2})");
    assert_eq!(value("frozenset((3, (3)))"), "frozenset({3})");
    assert_eq!(value("(ORIGIN, NEG_ONE, - 1, T)"), "((0, 0), -1, -1, True)");
    assert!(matches!(parse_value("(1, 2)"), Ok(Value::Loc(_))));
    assert!(matches!(parse_value("(THREE, DOWN)"), Ok(Value::Cell(_))));
    assert_eq!(
        parse_value("{(THREE, DOWN)}").unwrap(),
        Value::set([Cell::new(3, Loc::new(1, 0)).into()])
    );
}

#[test]
fn indentation_says_what_is_wrong() {
    for (text, expected) in [
        (
            "def f(I):\n    x = trim(I)\n  return x",
            "line 3, column 3: expected an indentation of 4 spaces as in the program's first line, found 2 spaces",
        ),
        (
            "def f(I):\n x = trim(I)\n\t return x",
            "line 3, column 3: expected an indentation of 1 space as in the program's first line, \
             found 1 tab and 1 space",
        ),
        (
            "def f(I): return I\n return I",
            "line 2, column 1: expected the end of the program, found an indented line",
        ),
        (
            " def f(I):\n  return I",
            "line 1, column 2: expected `def` or an import at the top level, found an indented line",
        ),
        (
            "import dsl\n  # note\n\n   x = I",
            "line 4, column 4: expected `def` or an import at the top level, found an indented line",
        ),
    ] {
        assert_eq!(error(text), expected);
    }
}

#[test]
fn what_is_printed_has_no_effect() {
    for printed in [
        "print()",
        "print(I)",
        "print(I, sep='')",
        "print('a', I, 2, ONE, True, sep=\"\", end='\\n', flush=True)",
        "print(I, file=None,)",
        "print('a' 'b', [1, 2], sep=None)",
    ] {
        assert_eq!(
            body(&format!("{printed}; return I")),
            "return I",
            "{printed}"
        );
    }
    // What is calculated for it may fail.
    let of = |printed: &str| outcome(&format!("def f(I):\n print({printed})\n return size(I)"));
    assert_eq!(
        of("'n', len(I), sum(I[0]), sorted(palette(I))"),
        Ok("2".to_owned())
    );
    assert!(
        of("'n', first(frozenset())")
            .unwrap_err()
            .starts_with("line 2: first")
    );
    for (printed, column, expected) in [
        ("print(x, sep='')", 8, "unknown name `x`, expected"),
        ("print(I, sep=trim(I))", 11, "expected in `print(..)`"),
        ("print(I, x='')", 11, "expected in `print(..)`"),
        ("print(I, file=True)", 11, "expected in `print(..)`"),
        (
            "print(f'{(I := 2)}')",
            8,
            "found a string, which is not read",
        ),
    ] {
        let expected = format!("line 2, column {column}: {expected}");
        let found = body_error(&format!("{printed}\nreturn I"));
        assert!(found.starts_with(&expected), "{printed}: {found}");
    }
    assert!(body_error("f'{(I := 2)}'\nreturn I").contains("found a string"));
}

#[test]
fn a_form_feed_begins_the_indentation_anew() {
    let program = "def f(I):\n    x = trim(I)\n    return x\n";
    for text in [
        "\x0cdef f(I):\n  x = trim(I)\n  return x\n",
        " \x0cdef f(I):\n  \x0c x = trim(I)\n \x0c return x\n",
        "\x0c\ndef f(I):\n x\x0c=trim(I)\n\x0c\n return x\n",
    ] {
        assert_eq!(printed(text), program, "{text:?}");
    }
    let text = "def f(I):\n return I\n\x0cdef g(I):\n return I\n";
    assert_eq!(outline(text), ["f", "g"]);
    // Here too, a string that is never closed costs one program.
    let text = "def f(I):\n \"\"\"\n\x0cdef g(I):\n return I\n";
    assert_eq!(outline(text), ["2:2", "g"]);
    let text = "# task: a b\n\x0cdef f(I): return I\n";
    let [program] = <[_; 1]>::try_from(parse_programs(text)).unwrap();
    assert_eq!(program.unwrap().task(), Some("a b"));
}
