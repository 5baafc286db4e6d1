//! The meaning of names that a text itself binds.

use std::fmt::Write as _;

use super::*;

#[test]
fn a_name_is_what_the_text_binds_it_to() {
    for (text, expected) in [
        // Definitions, before and after their use, and of the DSL's names.
        (
            "def trim(g):\n return rot90(g)\ndef a(I):\n return trim(I)\n",
            "def a(I):; t1 = rot90(I); return t1",
        ),
        (
            "def a(I): return trim(I)\ndef trim(g): return rot90(g)\n",
            "def a(I):; t1 = rot90(I); return t1",
        ),
        // An import below a definition restores the name.
        (
            "def trim(g): return rot90(g)\nfrom dsl import *\ndef a(I): return trim(I)\n",
            "def a(I):; t1 = trim(I); return t1",
        ),
        // Imports under other names, and of modules.
        (
            "from dsl import rot90 as trim, hmirror as flip\ndef a(I): return flip(trim(I))\n",
            "def a(I):; t1 = rot90(I); t2 = hmirror(t1); return t2",
        ),
        (
            "import dsl as d, constants\ndef a(I): return d.fill(I, constants.TWO, d.asindices(I))\n",
            "def a(I):; t1 = asindices(I); t2 = fill(I, TWO, t1); return t2",
        ),
        (
            "from arc import dsl\nimport arc.dsl\ndef a(I): return arc.dsl.trim(dsl.trim(I))\n",
            "def a(I):; t1 = trim(I); t2 = trim(t1); return t2",
        ),
        (
            "def a(I):\n from dsl import rot90 as trim\n return trim(I)\n",
            "def a(I):; t1 = rot90(I); return t1",
        ),
        // Values, functions under another name, and what a name meant when it was copied.
        (
            "ONE = 2\nN: int = 2 * 3 - -ONE ** 2\ndef a(I): return canvas(ONE, (N, N))\n",
            "def a(I):; t1 = canvas(2, (10, 10)); return t1",
        ),
        (
            "t = trim\ntrim = rot90\ndef a(I): return trim(t(I))\n",
            "def a(I):; t1 = trim(I); t2 = rot90(t1); return t2",
        ),
        (
            "A, B = ONE, (1, 2)\nC = D = B\ndef a(I): return canvas(A, D)\n",
            "def a(I):; t1 = canvas(1, (1, 2)); return t1",
        ),
        (
            "f = compose(trim, rot90)\ndef a(I): return f(I)\n",
            "def a(I):; t1 = compose(trim, rot90); t2 = t1(I); return t2",
        ),
        (
            "solve_a = lambda grid: trim(grid)\n",
            "def solve_a(grid):; t1 = trim(grid); return t1",
        ),
        // Functions of any number of parameters, by name, with defaults.
        (
            "def put(g, a, b, c, d=ONE):\n x = fill(g, a, b)\n return shift(x, (c, d))\n\
             def a(I):\n return put(I, 3, c=4, b=ORIGIN)\n",
            "def a(I):; t1 = fill(I, 3, ORIGIN); t2 = astuple(4, ONE); t3 = shift(t1, t2); return t3",
        ),
        (
            "def both(f, g): return f(f(g))\ndef a(I): return both(trim, I)\n",
            "def a(I):; t1 = trim(I); t2 = trim(t1); return t2",
        ),
        // A function that just passes its parameters on is the primitive that it calls.
        (
            "def flip(g): return vmirror(g)\ndef a(I): return apply(flip, hsplit(I, TWO))\n",
            "def a(I):; t1 = hsplit(I, TWO); t2 = apply(vmirror, t1); return t2",
        ),
        // Code that does not change a function's meaning, or belongs to none.
        (
            "import functools\n@functools.lru_cache(maxsize=None)\ndef a(I: 'Grid') -> 'Grid':\n \
             \"\"\"text\"\"\"\n return trim(I)\n\nclass B:\n def trim(self): return 1\n\nprint(a)\n\
             if __name__ == '__main__':\n trim = 3\n",
            "def a(I):; t1 = trim(I); return t1",
        ),
        (
            "def same(f):\n names.append(f)\n return f\n\n@same\ndef a(I): return trim(I)\n",
            "def a(I):; t1 = trim(I); return t1",
        ),
        (
            "try:\n from dsl import *\nexcept ImportError:\n from .dsl import *\ndef a(I): return trim(I)\n",
            "def a(I):; t1 = trim(I); return t1",
        ),
    ] {
        assert_eq!(read(text), [expected], "{text}");
    }
}

#[test]
fn variables_may_be_set_again_and_bear_any_name() {
    for (lines, expected) in [
        (
            "x = trim(I)\nx = rot90(x)\nI = hconcat(I, x)\nreturn I",
            "x = trim(I); t1 = rot90(x); t2 = hconcat(I, t1); return t2",
        ),
        (
            "size = height(I)\nx = canvas(ONE, (size, size))\nreturn x",
            "t1 = height(I); t2 = astuple(t1, t1); x = canvas(ONE, t2); return x",
        ),
        (
            "a, b = trim(I), rot90(I)\na, b = b, a\nreturn hconcat(a, b)",
            "t1 = trim(I); t2 = rot90(I); t3 = hconcat(t2, t1); return t3",
        ),
        (
            "p = (height(I), 3)\nh, w = p\nreturn canvas(h, (w, w))",
            "t1 = height(I); p = astuple(t1, 3); w = identity(3); t2 = astuple(w, w); \
             t3 = canvas(t1, t2); return t3",
        ),
        (
            "h, w = shape(I)\nreturn canvas(h, (w, 1))",
            "t1 = shape(I); t2 = first(t1); t3 = last(t1); t4 = astuple(t3, 1); \
             t5 = canvas(t2, t4); return t5",
        ),
        (
            "(a, b) = hsplit(I, 2)\nreturn vconcat(b, a)",
            "t1 = hsplit(I, 2); t2 = first(t1); t3 = last(t1); t4 = vconcat(t3, t2); return t4",
        ),
        ("a = b = trim(I)\nreturn b", "t1 = trim(I); return t1"),
        (
            "x = canvas(7 // 2 + 7 % 4, (2 ** 3, -(-7 // 2)))\nreturn x",
            "x = canvas(6, (8, 4)); return x",
        ),
    ] {
        assert_eq!(body(lines), expected, "{lines}");
    }
    assert_eq!(
        printed("def f(size):\n return trim(size)\n"),
        "def f(i1):\n    t1 = trim(i1)\n    return t1\n"
    );
}

#[test]
fn what_cannot_be_followed_is_refused_where_it_is_used() {
    let used = ", bound on line 1, cannot be used: ";
    for (line, why) in [
        (
            "def trim(g): return [r for r in g]",
            "line 1, column 21: found `[`, which is not read: expected a tuple",
        ),
        (
            "from numpy import trim",
            "`trim` is imported from `numpy`, and not defined in this file",
        ),
        ("from numpy import *", "it may be hidden there"),
        (
            "import dsl; setattr(dsl, 'trim', rot90)",
            "it may be set there",
        ),
        ("import numpy as trim", "it is the module `numpy`"),
        ("from dsl import trimm as trim", "the DSL has no `trimm`"),
        ("if T: trim = rot90", "it is set inside of `if`"),
        ("for trim in (1, 2): pass", "it is set inside of `for`"),
        ("class trim: pass", "it is set by `class`"),
        ("trim += rot90", "it is set by more than `=`"),
        ("trim.x = rot90", "a part of it is set"),
        ("del trim", "it is deleted"),
        ("def trim(g): return trim(g)", "it calls itself"),
    ] {
        let text = format!("{line}\ndef a(I):\n return trim(I)\ndef b(I):\n return I\n");
        let found = read(&text);
        assert_eq!(found.len(), 2, "{text}{found:?}");
        assert_eq!(
            found[0],
            format!("line 3, column 9: `trim`{used}{why}"),
            "{text}"
        );
        assert_eq!(found[1], "def b(I):; return I");
    }
    for (text, expected) in [
        (
            "def turn(g, h):\n return rot90(rot90(g))\ndef a(I):\n return apply(turn, hsplit(I, TWO))\n",
            "line 4, column 15: the function `turn` is used as a value: expected one parameter, or a single call with \
             all parameters in their order",
        ),
        (
            "def two(g, h):\n return hconcat(g, h)\ndef a(I):\n return two(I)\n",
            "line 4, column 9: `two` takes 2 arguments, found 1",
        ),
        (
            "def two(g, h):\n return hconcat(g, h)\ndef a(I):\n return two(I, k=I)\n",
            "line 4, column 16: `two` has no parameter `k`",
        ),
        (
            "def two(g, h):\n return hconcat(g, h)\ndef a(I):\n return two(I, g=I)\n",
            "line 4, column 16: argument `g` of `two` is given twice",
        ),
        (
            "@twice\ndef a(I):\n return trim(I)\n",
            "line 2, column 5: `a`, bound on line 1, cannot be used: the decorator `@twice` may change it",
        ),
        (
            "def set_it():\n global TWO\n TWO = 3\ndef a(I):\n return canvas(TWO, TWO)\n",
            "line 5, column 16: `TWO`, bound on line 1, cannot be used: a function sets it",
        ),
        (
            "import dsl\ndef a(I):\n return dsl.trimm(I)\n",
            "line 3, column 13: unknown primitive `trimm`, did you mean `trim`?",
        ),
    ] {
        let found = read(text);
        let expected = expected.replace(
            "line 1, cannot be used: a function",
            "line 2, cannot be used: a function",
        );
        assert_eq!(found, [expected], "{text}");
    }
}

#[test]
fn what_is_set_at_the_same_time_sees_what_was_before() {
    for (text, expected) in [
        (
            "ONE, TWO = TWO, ONE\ndef a(I): return canvas(ONE, (TWO, TWO))\n",
            "def a(I):; t1 = canvas(2, (1, 1)); return t1",
        ),
        (
            "def b(I, n=ONE): return canvas(n, UNITY)\nONE = 2\ndef a(I): return b(I)\n",
            "def a(I):; t1 = canvas(ONE, UNITY); return t1",
        ),
        (
            "ONE = 2\nfrom dsl import *\ndef a(I): return canvas(ONE, UNITY)\n",
            "line 3, column 25: `ONE`, bound on line 2, cannot be used: it may be set again there",
        ),
        (
            "def a(I):\n x = trim(I)\n from dsl import rot90 as trim\n return x\n",
            "line 2, column 6: `trim` is used before it is set on line 3",
        ),
    ] {
        assert_eq!(read(text), [expected], "{text}");
    }
}

#[test]
fn notes_tell_what_has_no_part_in_any_program() {
    let text = "def two(g, h):\n return g\ndef test_it():\n assert T\nprint(1)\nprint(2)\nfrom other import *\n\
                def a(I):\n return I\n";
    assert_eq!(outline(text), ["a"]);
    assert_eq!(
        notes(text),
        [
            "line 1, column 8: `two` is not a program, and none here calls it: expected one parameter, the input \
             grid, or `(S, I, C)`, found 2",
            "line 3, column 12: `test_it` is not a program, and none here calls it: line 4, column 2: found the \
             keyword `assert`, which is not read: expected `name = primitive(arguments)` or `return \
             value`",
            "line 5, column 1: ignored, since it is not part of a program: `print`, and 1 more like it",
            "line 7, column 1: what `other` defines is not read: names that are bound nowhere else are the \
             DSL's",
        ]
    );
}

#[test]
fn what_python_would_execute_is_told_and_what_changes_nothing_is_not() {
    let program = "def solve(I):\n return vmirror(I)\n";
    for (line, found) in [
        ("print('x')", "print"),
        ("import sys; sys.path.append('x')", "sys"),
        ("x = 1; x += 1", "x"),
        ("x = 1; del x", "del"),
        ("import re; x = re.compile('x')", "x"),
        ("for x in range(3): print(x)", "for"),
    ] {
        let read = notes(&format!("{line}\n{program}"));
        let told = format!("ignored, since it is not part of a program: `{found}`");
        assert!(read[0].ends_with(&told), "{line}: {read:?}");
    }
    for line in [
        "'''A text.'''",
        "import os, sys",
        "from dsl import *",
        "from typing import TypeVar; T = TypeVar('T', bound=int)",
        "type Cells = Tuple[int, int]",
        "Grid = Tuple[Tuple[int]]",
        "x: int",
        "x = 5",
        "x = astuple(1, 2)",
        "half = lambda g: tophalf(g)",
        "if __name__ == '__main__':\n print(solve(1))",
    ] {
        assert_eq!(notes(&format!("{line}\n{program}")), [""; 0], "{line}");
    }
    let read = |text| read_file(text, &Reading::default(), |_| "bare".to_owned());
    let notes = read("from dsl import *\nprint('hi')\nO = vmirror(I)\n").notes;
    let told = "line 2, column 1: ignored, since it is not part of a program: `print`";
    assert_eq!(notes[0].to_string(), told);
    assert!(read("open('x', 'w').close()\nO = vmirror(I)\n").programs[0].is_err());
}

#[test]
fn a_type_that_has_the_name_of_a_constant_is_told() {
    let text = "type F = int\ndef solve(I):\n return objects(I, F, F, T)\n";
    let told = "line 3, column 20: `F`, bound on line 1, cannot be used: it is set by `type`";
    assert_eq!(error(text), told);
}

#[test]
fn programs_are_listed_by_every_name_that_says_so() {
    // A function that others call is not a program, unless its name says so.
    let text = "def half(g): return tophalf(g)\ndef solve_b(I): return half(I)\n\
                def solve_c(I): return solve_b(half(I))\n";
    assert_eq!(outline(text), ["solve_b", "solve_c"]);
    let text = "def solve_a(I): return I\nsolve_b = solve_a\n";
    assert_eq!(outline(text), ["solve_a", "solve_b"]);
    let text = "def flip(I): return trim(I)\ndef solve_b(I): return I\n\
                SOLVERS = {'ab12cd34': flip, 'b': solve_b}\n";
    assert_eq!(outline(text), ["flip_ab12cd34", "solve_b"]);
    let text = "turn = compose(rot90, rot90)\nSOLVERS = {'ab12cd34': trim, 'ef': turn, 'gh': lambda I: I}\n\
                def solve_b(I): return I\n";
    assert_eq!(outline(text), ["solve_ef", "solve_ab12cd34", "solve_b"]);
    let expected = "line 2, column 42: ignored, since it is not part of a program: `\\'gh\\'`";
    assert_eq!(notes(text), [expected]);
    // A program cannot have a name of the DSL.
    assert_eq!(outline("def trim(g): return rot90(g)\n"), [""; 0]);
}

#[test]
fn a_function_that_something_unread_calls_is_no_program() {
    let helper = "def helper(I): return vmirror(I)\n";
    let unread = format!("{helper}def solve(I):\n  x = I.shape\n  return helper(I)\n");
    assert_eq!(outline(&unread), ["3:8"]);
    let class = format!("{helper}class Solver:\n  def solve(self, I):\n    return helper(I)\n");
    assert_eq!(outline(&class), Vec::<String>::new());
}

#[test]
fn parameters_behind_a_star_are_given_by_name() {
    assert_eq!(
        outline("def solve(I, /, *, flag=False): return vmirror(I)"),
        ["solve"]
    );
    let helper = "def h(a, /, *, b=1, c): return canvas(b, astuple(1, c))\n";
    let call = |given: &str| outline(&format!("{helper}def solve(I): return h({given})")).join(" ");
    assert_eq!(call("I, c=2"), "solve");
    assert_eq!(call("I, 2"), "2:27");
    assert_eq!(call("a=I, c=2"), "2:24");
    for wrong in ["I, *", "I, *,", "I, /, /", "I, *, a=1, /", "I, *a", "*, I"] {
        let read = parse_programs(&format!("def solve({wrong}): return 1"));
        assert!(
            read.iter().all(Result::is_err) && !read.is_empty(),
            "{wrong}"
        );
    }
}

#[test]
fn a_text_may_bind_frozenset() {
    for own in [
        "def frozenset(x): return hmirror(x)",
        "frozenset = lambda x: hmirror(x)",
        "frozenset = hmirror",
        "from dsl import hmirror as frozenset",
    ] {
        let text = format!("{own}\ndef solve(I): return frozenset(I)");
        assert_eq!(outcome(&text).unwrap(), "((0, 0, 2), (1, 1, 0))", "{own}");
    }
}

#[test]
fn steps_that_helpers_become_are_bounded() {
    let mut text = "def f0(a): return vmirror(hmirror(a))\n".to_owned();
    for n in 1..40 {
        let _ = writeln!(text, "def f{n}(a): return f{0}(f{0}(a))", n - 1);
    }
    let expected =
        "line 17, column 20: with the steps of `f15` there are more than 100000, expected fewer";
    let found = read(&text);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0],
        format!("line 40, column 24: `f16`, bound on line 17, cannot be used: {expected}")
    );
    let functions = parse_functions(&text);
    assert_eq!(functions.iter().filter(|it| it.is_ok()).count(), 16);
    assert_eq!(functions[16].as_ref().unwrap_err().to_string(), expected);
    // The functions of a text together are bounded, too.
    let mut text = "def f0(a): return vmirror(hmirror(a))\n".to_owned();
    for n in 1..14 {
        let _ = writeln!(text, "def f{n}(a): return f{0}(f{0}(a))", n - 1);
    }
    for n in 0..100 {
        let _ = writeln!(text, "def solve_{n}(a): return f13(f13(a))");
    }
    let (good, bad): (Vec<_>, Vec<_>) = parse_programs(&text).into_iter().partition(Result::is_ok);
    assert!(
        good.len() > 25 && bad.len() > 25,
        "{} {}",
        good.len(),
        bad.len()
    );
}

#[test]
fn functions_are_read_in_any_order_however_long_the_chain_is() {
    let mut text = "def a(I): return f0(I)\n".to_owned();
    for n in 0..20_000 {
        let _ = writeln!(text, "def f{n}(g): return f{}(g)", n + 1);
    }
    text += "def f20000(g): return trim(g)\n";
    assert_eq!(read(&text), ["def a(I):; t1 = trim(I); return t1"]);
    let circle = "def a(I): return b(I)\ndef b(g): return c(g)\ndef c(g): return b(g)\n";
    assert!(
        read(circle)[0].contains("it calls itself"),
        "{:?}",
        read(circle)
    );
}

#[test]
fn whatever_binds_a_name_of_the_dsl_hides_it() {
    for binding in [
        "(hmirror := vmirror)",
        "x = (hmirror := vmirror)",
        "print(hmirror := vmirror)",
        "match 1:\n    case hmirror: pass",
        "match 1:\n    case [hmirror, _]:\n        pass",
        "if (hmirror := vmirror):\n    pass",
        "globals()['hmirror'] = vmirror",
        "vars()['hmirror'] = vmirror",
    ] {
        let found = read(&format!("{binding}\ndef a(I): return hmirror(I)\n"));
        let [error] = &found[..] else {
            panic!("{binding}: {found:?}");
        };
        assert!(error.contains("`hmirror`"), "{binding}: {error}");
        assert!(error.starts_with("line "), "{binding}: {error}");
    }
}

#[test]
fn a_name_that_python_takes_for_another_one_is_refused() {
    let respelled = "Python normalises the name `\u{ff54}rim` to `trim`, expected that spelling";
    let followed =
        "`trim`, bound on line 1, cannot be used: Python normalises a name there to another one";
    for (text, expected) in [
        // Within a program, the other programs are not affected.
        (
            "def a(I): return TRIM(I)\ndef b(I): return trim(I)\n",
            vec![
                format!("line 1, column 18: {respelled}"),
                "def b(I):; t1 = trim(I); return t1".to_owned(),
            ],
        ),
        (
            "def a(I):\n TRIM = I\n return trim(I)\n",
            vec![format!("line 2, column 2: {respelled}")],
        ),
        (
            "def a(TRIM): return TRIM\n",
            vec![format!("line 1, column 7: {respelled}")],
        ),
        // Outside of programs, it is unknown what the name binds.
        (
            "TRIM = rot90\ndef a(I): return trim(I)\n",
            vec![
                format!("line 1, column 1: {respelled}"),
                format!("line 2, column 18: {followed}"),
            ],
        ),
        (
            "def TRIM(g): return rot90(g)\ndef a(I): return trim(I)\n",
            vec![
                format!("line 1, column 5: {respelled}"),
                format!("line 2, column 18: {followed}"),
            ],
        ),
        (
            "from dsl import rot90 as TRIM\ndef a(I): return trim(I)\n",
            vec![
                format!("line 1, column 26: {respelled}"),
                format!("line 2, column 18: {followed}"),
            ],
        ),
        (
            "if T: TRIM = rot90\ndef a(I): return trim(I)\n",
            vec![
                format!("line 1, column 7: {respelled}"),
                format!("line 2, column 18: {followed}"),
            ],
        ),
        (
            "def b(n): global TRIM; TRIM = n\ndef a(I): return trim(I)\n",
            vec![
                "line 1, column 11: found the keyword `global`, which is not read: expected \
                 `name = primitive(arguments)` or `return value`"
                    .to_owned(),
                format!("line 2, column 18: {followed}"),
            ],
        ),
    ] {
        assert_eq!(
            read(&text.replace("TRIM", "\u{ff54}rim")),
            expected,
            "{text}"
        );
    }
    let text = "x\u{2167} = I\nO = trim(x\u{2167})\n";
    let bare = parse_file(text, None, |_| "a".to_owned());
    assert_eq!(
        bare[0].as_ref().unwrap_err().to_string(),
        "line 1, column 1: Python normalises the name `x\u{2167}` to `xVIII`, expected that spelling"
    );
    // All other names stay as they are.
    let text = "größe = 2\ndef a(σχῆμα):\n ширина = trim(σχῆμα)\n 幅 = upscale(ширина, größe)\n return 幅\n";
    assert_eq!(
        read(text),
        ["def a(σχῆμα):; ширина = trim(σχῆμα); 幅 = upscale(ширина, 2); return 幅"]
    );
    // A module next to the text is read in the same way.
    let dsl = ("dsl", "dsl.py", "def \u{ff54}rim(grid): return grid\n");
    assert_eq!(
        read_beside(&[dsl], "def a(I): return trim(I)"),
        [
            "line 1, column 18: `trim` is not the DSL's here: line 1 of dsl.py defines it differently, which is not supported"
        ]
    );
}

/// The dialect of a text's program and its inputs.
fn dialect(text: &str) -> Result<(&'static str, String), String> {
    let read = parse_programs(text).remove(0);
    read.map(|program| (program.dialect().name(), program.inputs().join(" ")))
        .map_err(|error| error.to_string())
}

#[test]
fn the_names_that_a_program_uses_decide_its_dialect() {
    let head = "from dsl import *\nfrom constants import *\n";
    for (text, expected) in [
        // Defaults fill the parameters after the input.
        (
            "def solve_a(I, h=FIVE, w=FIVE): return crop(I, ORIGIN, astuple(h, w))",
            ("public", "I"),
        ),
        (
            "def solve_a(I, n=ONE, c=TWO): return rot90(I)",
            ("public", "I"),
        ),
        (
            "def solve_a(grid: Grid, k: int = 1, debug: bool = False) -> Grid: return rot90(grid)",
            ("public", "grid"),
        ),
        (
            "def solve_a(I, n=F1, c=L1): return vmirror_t(upscale_t(I, n))",
            ("typed", "I"),
        ),
        (
            "solve_a = lambda I, n=ONE, c=TWO: rot90(I)",
            ("public", "I"),
        ),
        // The parameters of the typed dialect, if names do not decide.
        ("def solve_a(S, I, C): return rot90(I)", ("typed", "S I C")),
        ("def solve_a(S, I): return rot90(I)", ("typed", "S I C")),
        ("def solve_a(S, I): return vmirror_t(I)", ("typed", "S I C")),
        (
            "def solve_a(S, I, C=None): return vmirror_t(I)",
            ("typed", "S I C"),
        ),
        (
            "def solve_a(S, I, n=F1): return upscale_t(I, n)",
            ("typed", "S I C"),
        ),
        (
            "def solve_a(S, I):\n C = vmirror_t(I)\n return C",
            ("typed", "S I C_"),
        ),
        (
            "def solve_a(x, y, z): return vmirror_t(y)",
            ("typed", "x y z"),
        ),
        (
            "def solve_a(x, y, z): return rot90(y)\ndef solve_b(S, I, C): return vmirror_t(I)",
            ("typed", "x y z"),
        ),
        // Earlier solvers of that project used the public names.
        ("def solve_a(S, I): return vmirror(I)", ("public", "I")),
        ("def solve_a(S, I, C): return vmirror(I)", ("public", "I")),
    ] {
        let expected = Ok((expected.0, expected.1.to_owned()));
        assert_eq!(dialect(text), expected, "{text}");
        assert_eq!(dialect(&format!("{head}{text}")), expected, "{text}");
    }
}

#[test]
fn what_nothing_fills_and_names_of_the_other_dialect_are_told() {
    let public = "expected one parameter, the input grid, or `(S, I, C)`";
    for (text, expected) in [
        (
            "def solve_a(I, train_inputs, train_outputs): return rot90(I)",
            format!("{public}, found 3: nothing fills `train_inputs`, which has no default"),
        ),
        (
            "def solve_a(I, pairs): return vmirror(I)",
            format!("{public}, found 2: nothing fills `pairs`, which has no default"),
        ),
        (
            "def solve_a(S, I): return canvas(size(S), shape(vmirror(I)))",
            format!("{public}, found 2: `S` is filled in the typed dialect only (`--dialect typed`)"),
        ),
        (
            "def solve_a(I, S, C): return vmirror_t(I)",
            format!("{public}, found 3: nothing fills `I`, which has no default"),
        ),
        (
            "def solve_a(S, I): return hconcat(vmirror_t(I), vmirror(I))",
            "unknown primitive `vmirror` in the typed dialect, which the public dialect has (`--dialect public`)".into(),
        ),
        (
            "def solve_a(S, I, C): return vmiror_t(I)",
            "unknown primitive `vmiror_t` in the typed dialect, did you mean `vmirror_t`?".into(),
        ),
        (
            "def solve_a(I): return vmirror_t(I)",
            "unknown primitive `vmirror_t`, which the typed dialect has (`--dialect typed`)".into(),
        ),
    ] {
        let error = dialect(text).unwrap_err();
        assert!(error.ends_with(&expected), "{text}: {error}");
    }
    let chosen = |dialect, text| {
        let read = parse_programs_in(dialect, text).remove(0);
        read.map(|program| program.inputs().join(" "))
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        chosen(Dialect::Typed, "def solve_a(S, I): return rot90(I)").unwrap(),
        "S I C"
    );
    assert_eq!(
        chosen(Dialect::Public, "def solve_a(S, I): return vmirror(I)").unwrap(),
        "I"
    );
    let error = chosen(Dialect::Public, "def solve_a(I): return vmiror(I)").unwrap_err();
    assert!(
        error
            .ends_with("unknown primitive `vmiror` in the public dialect, did you mean `vmirror`?")
    );
}
