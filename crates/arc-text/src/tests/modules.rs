//! Modules: what imports bind, and which modules are the DSL.

use super::*;

#[test]
fn a_star_import_binds_what_the_module_says() {
    let read = |all: &str, body: &str| {
        let dsl = format!("{all}def trim(g): return rot90(g)\ndef own(g): return g\n");
        let text = format!("from my_dsl import *\ndef a(I): return {body}\n");
        read_beside(&[("my_dsl", "my_dsl.py", &dsl)], &text).remove(0)
    };
    let trimmed = "def a(I):; t1 = trim(I); return t1";
    let all = "__all__ = ['own']\n";
    assert_ne!(read("", "trim(I)"), trimmed);
    assert_eq!(read(all, "trim(I)"), trimmed);
    assert!(
        read(all, "own(I)").contains("my_dsl.py"),
        "{}",
        read(all, "own(I)")
    );
    assert!(!read("__all__ = ('trim',)\n", "own(I)").contains("my_dsl.py"));
    // More of it, in another statement or unknown.
    let all = "__all__ = ['own']\n__all__ += [\n    \"trim\",\n]\n";
    assert_ne!(read(all, "trim(I)"), trimmed);
    assert_ne!(read("__all__ = ['own'] + others\n", "trim(I)"), trimmed);
}

/// In Python, none of these texts has a program.
#[test]
fn a_text_whose_import_ends_has_no_program() {
    let program = "def solve(I):\n return vmirror(I)\n";
    for (lines, why) in [
        ("raise ValueError", "it raises an error"),
        ("assert 0", "what it asserts is false"),
        ("assert False, 'no'", "what it asserts is false"),
        ("1 / 0", "it divides by 0"),
        ("x = 1 % 0", "it divides by 0"),
        ("import sys; sys.exit()", "it ends Python"),
        ("quit()", "it ends Python"),
        ("<<<<<<< HEAD", "it marks a conflict of a merge"),
        ("=======", "it marks a conflict of a merge"),
        (">>>>>>> 11aa", "it marks a conflict of a merge"),
        ("x = 3 # \0", "Python reads no NUL"),
    ] {
        for text in [format!("{lines}\n{program}"), format!("{program}{lines}\n")] {
            let found = error(&text);
            let told = format!("program: {why}, in");
            assert!(found.contains(&told), "{lines}: {found}");
        }
    }
    // Whether these fail, the text does not say.
    for lines in [
        "import missing",
        "data = open('x').read()",
        "if T: raise ValueError",
        "assert data",
        "try:\n raise ValueError\nexcept ValueError:\n pass",
        "if __name__ == '__main__':\n raise ValueError",
        "f = lambda x: x / 0",
        "'%s' % 0",
        "x = [c / 10 for c in (1, 2)]",
    ] {
        let text = format!("{lines}\n{program}");
        let read = parse_programs(&text).into_iter().filter_map(Result::ok);
        let names: Vec<_> = read.map(|it| it.name().to_owned()).collect();
        assert!(names.contains(&"solve".to_owned()), "{text}");
    }
    // What stands below the function of an answer is an example of its use.
    let reading = Reading {
        is_answer: true,
        ..Reading::default()
    };
    let text = format!("{program}raise ValueError\n{program}");
    let read = read_programs(&text, &reading).programs;
    assert!(read.iter().all(Result::is_err), "{read:?}");
    let text = format!("Here it is:\n{program}raise ValueError\n");
    assert!(read_programs(&text, &reading).programs[0].is_ok());
}

#[test]
fn names_that_star_imports_bind_are_told_with_their_modules() {
    let outer = "from inner import *\n\ndef helper(g): return vmirror(g)\n";
    let inner = "def deep(g): return g\nSIDE = 3\n";
    let modules = [("outer", "outer.py", outer), ("inner", "inner.py", inner)];
    for (used, unknown, place) in [
        ("helper(I)", "primitive `helper`", "line 3 of outer.py"),
        ("deep(I)", "primitive `deep`", "line 1 of inner.py"),
        ("crop(I, SIDE, 1)", "name `SIDE`", "line 2 of inner.py"),
    ] {
        let text = format!("from outer import *\ndef solve(I):\n return {used}\n");
        let expected = format!(
            "unknown {unknown}, which {place} defines, and not this file: only what the DSL has is read of other files"
        );
        let error = read_beside(&modules, &text).concat();
        assert!(error.ends_with(&expected), "{error}");
    }
    // The other module does not import it.
    let text = "from inner import *\ndef solve(I):\n return helper(I)\n";
    let expected =
        "line 3, column 9: unknown primitive `helper`, expected a primitive or a variable";
    assert_eq!(read_beside(&modules, text), [expected]);
}

#[test]
fn names_of_another_project_are_read_by_a_table() {
    let names = Renames::parse("flip_lr = vmirror\nUNIT=ONE # one\n\n").unwrap();
    let reading = Reading {
        names,
        ..Reading::default()
    };
    let text = "import dsl\ndef solve_a(I): return fill(flip_lr(I), UNIT, dsl.flip_lr(I))\n";
    let read = read_programs(text, &reading);
    assert_eq!(
        read.programs[0].as_ref().unwrap().to_string(),
        "def solve_a(I):\n    t1 = vmirror(I)\n    t2 = vmirror(I)\n    t3 = fill(t1, ONE, t2)\n    return t3\n"
    );
    for (text, expected) in [
        (
            "a = vmiror",
            (1, "the DSL has no `vmiror`, did you mean `vmirror`?"),
        ),
        ("\na", (2, "expected `theirs = ours`, found `a`")),
        ("a b = trim", (1, "expected a name before `=`, found `a b`")),
        ("a = trim\na = rot90", (2, "`a` is `trim` already")),
    ] {
        let (line, message) = Renames::parse(text).unwrap_err();
        assert_eq!((line, &*message), expected);
    }
}

#[test]
fn a_module_whose_parts_are_set_is_not_the_dsl() {
    for change in [
        "setattr(dsl, 'trim', rot90)",
        "setattr(d, 'trim', rot90)",
        "x = setattr(dsl, 'trim', rot90)",
        "delattr(dsl, 'trim')",
        "dsl.__setattr__('trim', rot90)",
        "dsl.__dict__['trim'] = rot90",
        "dsl.__dict__.update(trim=rot90)",
        "x = vars(dsl).update(trim=rot90)",
        "sys.modules['dsl'].trim = rot90",
        "dsl.trim = rot90",
        "d.trim = rot90",
        "arc.dsl.trim = rot90",
        "del dsl.trim",
        "exec('dsl.trim = rot90')",
        "if T: setattr(dsl, 'trim', rot90)",
        "for k in ('trim', 'x'):\n setattr(dsl, k, rot90)",
        "for k in ('trim', 'x'):\n d.trim = rot90",
        "def patch():\n setattr(dsl, 'trim', rot90)\npatch()",
        "def patch():\n dsl.trim = rot90\npatch()",
        "def patch(): d.trim = rot90\npatch()",
    ] {
        for (import, program) in [
            ("", "return dsl.trim(I)"),
            ("", "return d.trim(I)"),
            ("", "return arc.dsl.trim(I)"),
            ("from dsl import trim\n", "return trim(I)"),
            ("from dsl import *\n", "return trim(I)"),
            ("from dsl import trim as t\n", "return t(I)"),
            ("import dsl as e\n", "return e.trim(I)"),
            ("", "from dsl import trim\n return trim(I)"),
            ("", "import dsl\n return dsl.trim(I)"),
        ] {
            let text = format!(
                "import dsl, arc.dsl, sys\nimport dsl as d\n{change}\n{import}def a(I):\n {program}\n"
            );
            let found = read(&text);
            let is_told = |it: &String| it.contains(", cannot be used: ");
            assert!(
                found.iter().any(is_told) && !found.iter().any(|it| it.starts_with("def a")),
                "{text}: {found:?}"
            );
        }
    }
    // Such statements set the text's own names too, except those that are bound below.
    let text = "t = trim\ndef u(g): return trim(g)\nglobals()['t'] = rot90\ndef v(g): return g\n\
                def a(I): return t(I)\ndef b(I): return u(I)\ndef c(I): return v(I)\n";
    let found = read(text);
    for name in ["t", "u", "trim"] {
        let expected = format!("`{name}`, bound on line 3, cannot be used: it may be set there");
        let is_told = found.iter().any(|found| found.ends_with(&expected));
        assert!(is_told, "{name}: {found:?}");
    }
    assert_eq!(found[3..], ["def c(I):; return I"]);
    let text = "def patch():\n globals()['trim'] = rot90\nx = patch\ndef a(I): return trim(I)\n";
    assert_eq!(
        read(text),
        ["line 4, column 18: `trim`, bound on line 2, cannot be used: a function sets it"]
    );
    // Code that only reads names, or sets parts of something else, changes nothing.
    for lines in [
        "solvers = {k: v for k, v in globals().items() if k}",
        "dsl_path = 'x'",
        "def set_it(o, n): setattr(o, 'dsl', n)",
        "def look(): return globals()['trim']",
    ] {
        let text = format!("import dsl\n{lines}\ndef a(I): return dsl.trim(I)\n");
        let found = read(&text);
        assert!(
            found.contains(&"def a(I):; t1 = trim(I); return t1".to_owned()),
            "{text}: {found:?}"
        );
    }
}

/// What CPython 3.11 does with each: the last star import that binds a name counts.
#[test]
fn of_star_imports_the_last_one_that_binds_a_name_counts() {
    let generic = "from typing import TypeVar\nT = TypeVar('T')\ndef black(g): return g\n";
    let flag = "def black(g): return g\nF = 3\n";
    let five = "from constants import *\ndef black(g): return g\nFIVE = 6\n";
    let constants = "F = False\nT = True\nONE = 1\nFIVE = 5\n";
    let program = "def solve_a(I): return fill(I, FIVE, merge(objects(I, T, F, T)))\n";
    let imports = |first: &str, second: &str| {
        format!("from {first} import *\nfrom {second} import *\n{program}")
    };
    for (dsl, error) in [
        (generic, "`T` is not the DSL's here: line 2 of dsl.py"),
        (flag, "`F` is not the DSL's here: line 2 of dsl.py"),
        (five, "`FIVE` is not the DSL's here: line 3 of dsl.py"),
    ] {
        let modules = [
            ("dsl", "dsl.py", dsl),
            ("constants", "constants.py", constants),
        ];
        let read = |text: &str| read_beside(&modules, text).remove(0);
        assert!(
            read(&imports("dsl", "constants")).starts_with("def solve_a"),
            "{dsl}"
        );
        assert!(read(&imports("constants", "dsl")).contains(error), "{dsl}");
        // One that imports no constants after it.
        assert!(
            read(&format!("from dsl import *\n{program}")).contains(error),
            "{dsl}"
        );
        // Names on their own count in the same way.
        let named = "from constants import F, T, FIVE\n";
        assert!(read(&format!("from dsl import *\n{named}{program}")).starts_with("def solve_a"));
        assert!(
            read(&format!("{named}from dsl import *\n{program}")).contains(error),
            "{dsl}"
        );
        let bare = "O = fill(I, FIVE, merge(objects(I, T, F, T)))\n";
        assert!(
            read(&format!(
                "from constants import *\nfrom dsl import *\n{bare}"
            ))
            .contains(error)
        );
        assert!(
            read(&format!(
                "from dsl import *\nfrom constants import *\n{bare}"
            ))
            .starts_with("def bare")
        );
    }
    // A module without constants does not set those of another.
    let modules = [
        ("dsl", "dsl.py", "def black(g): return g\n"),
        ("constants", "constants.py", "FIVE = 6\n"),
    ];
    for order in [["dsl", "constants"], ["constants", "dsl"]] {
        let read = read_beside(&modules, &imports(order[0], order[1])).remove(0);
        assert!(
            read.contains("`FIVE` is not the DSL's here: line 1 of constants.py"),
            "{read}"
        );
    }
}

#[test]
fn a_module_is_the_dsls_only_if_it_binds_what_the_dsl_does() {
    let fork = "from dsl import *\ndef vmirror(piece):\n    return rot180(piece)\n";
    let other = "def vmirror(g):\n    return tuple(row for row in reversed(g))\n";
    let copy = "def identity(x):\n    return x\n\ndef flip(b):\n    return not b\n";
    let line = "of m.py defines it differently";
    for (path, module, import, refused) in [
        (
            "dsl2",
            fork,
            "from dsl import *\nfrom dsl2 import *",
            "`vmirror`",
        ),
        ("dsl2", fork, "from dsl2 import *\nfrom dsl import *", ""),
        ("dsl2", fork, "from dsl2 import vmirror", "`vmirror`"),
        ("dsl2", fork, "from dsl2 import rot180 as vmirror", ""),
        ("dsl2", fork, "import dsl2\nfrom dsl2 import hmirror", ""),
        ("my_dsl", other, "from my_dsl import *", "`vmirror`"),
        (
            "utils",
            other,
            "from dsl import *\nfrom utils import *",
            "`vmirror`",
        ),
        (
            "mydsl.prims",
            other,
            "from mydsl.prims import *",
            "`vmirror`",
        ),
        ("prims", other, "from .prims import *", "`vmirror`"),
        // The rest of a fork of the DSL is taken for the DSL's.
        ("dsl", other, "from dsl import *", ""),
        (
            "my_dsl",
            &[copy, other].concat(),
            "from my_dsl import *",
            "",
        ),
        ("my_dsl", "ONE = 2\n", "from my_dsl import *", "`ONE`"),
        ("my_dsl", "ONE = TWO - 1\n", "from my_dsl import *", ""),
        (
            "dsl_constants",
            "if True:\n    ONE = 2\n",
            "from dsl_constants import *",
            "`ONE`",
        ),
        (
            "my_dsl",
            "def half(g): return tophalf(g)\n",
            "from my_dsl import *",
            "",
        ),
        (
            "my_dsl",
            "vmirror = rot90\n",
            "from my_dsl import *",
            "`vmirror`",
        ),
        (
            "my_dsl",
            "from numpy import *\n",
            "from my_dsl import *",
            "`upscale`",
        ),
    ] {
        let text = format!("{import}\ndef solve_a(I): return upscale(vmirror(I), ONE)\n");
        let read = read_beside(&[(path, "m.py", module)], &text).remove(0);
        if refused.is_empty() {
            assert!(read.starts_with("def solve_a"), "{import}: {read}");
        } else {
            assert!(
                read.contains(line) && read.contains(refused),
                "{import}: {read}"
            );
        }
    }
    // Which import is run is not known.
    for text in [
        "try:\n from dsl2 import *\nexcept ImportError:\n from dsl import *\n",
        "try:\n from dsl2 import vmirror\nexcept ImportError:\n from dsl import vmirror\n",
        "if FAST:\n from dsl2 import *\nelse:\n from dsl import *\n",
    ] {
        let text = format!("{text}def solve_a(I): return vmirror(I)\n");
        assert!(
            read_beside(&[("dsl2", "m.py", fork)], &text)[0].contains(line),
            "{text}"
        );
    }
    let parts = "import dsl2\ndef solve_a(I): return dsl2.vmirror(I)\n";
    assert!(read_beside(&[("dsl2", "m.py", fork)], parts)[0].contains(line));
    let set = "from dsl2 import *\nsolve_a = vmirror\nSOLVERS = {}\n";
    assert!(read_beside(&[("dsl2", "m.py", fork)], set)[0].contains(line));
    // Modules that import each other, and what a module takes from another one.
    let modules = [
        ("dsl2", "a.py", "from dsl import *\nfrom dsl3 import *\n"),
        ("dsl3", "b.py", "from dsl2 import *\nONE = 2\n"),
    ];
    let text = "from dsl2 import *\ndef solve_a(I): return upscale(I, ONE)\n";
    assert!(read_beside(&modules, text)[0].contains("line 2 of b.py"));
}
