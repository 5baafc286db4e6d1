use arc_dsl::{Operand, Program};

use crate::{ParseError, parse_file};

fn file(text: &str) -> Vec<Result<Program, ParseError>> {
    parse_file(text, None, |number| format!("p{number}"))
}

fn error(text: &str) -> String {
    let mut programs = file(text);
    programs.pop().unwrap().unwrap_err().to_string()
}

#[test]
fn bare_lines_are_programs_up_to_what_sets_the_output() {
    let text = "\
# Two of them.
from dsl import *
x1 = objects(I, T, F, T); x2 = argmax(x1, size)

O = subgrid(x2, I)
t1 = (
    1, 2)
O = shift(toindices(first(objects(I, T, F, T))), t1)
";
    let programs = file(text);
    let printed: Vec<_> = programs
        .iter()
        .map(|it| it.as_ref().unwrap().to_string())
        .collect();
    let first = "\
def p1(I):
    x1 = objects(I, T, F, T)
    x2 = argmax(x1, size)
    O = subgrid(x2, I)
    return O
";
    assert_eq!(printed[0], first);
    assert!(printed[1].starts_with("def p2(I):\n    t1 = identity((1, 2))\n    t2 = objects("));
    assert_eq!(printed.len(), 2);
    let lines = programs.iter().map(|it| it.as_ref().unwrap().line());
    assert_eq!(lines.collect::<Vec<_>>(), [3, 6]);
}

#[test]
fn a_file_that_defines_programs_has_no_bare_lines() {
    let programs = file("x1 = ORIGIN\ndef solve_a(I):\n    return I\n");
    assert_eq!(programs[0].as_ref().unwrap().name(), "solve_a");
    assert_eq!(programs.len(), 1);
    assert!(file("").is_empty() && file("# nothing\nimport os\n").is_empty());
}

#[test]
fn errors_in_bare_lines_say_where() {
    for (text, expected) in [
        (
            "x1 = vmirror(I)\nx2 = hmirror(x1)\n",
            "line 2, column 17: expected `O = ..` at the end of the program that begins on line 1, \
             found none",
        ),
        ("O = vmirror(J)\n", "line 1, column 13: unknown name `J`"),
        (
            "x1 = vmirror(I)\n    O = hmirror(x1)\n",
            "line 2, column 5: expected an indentation of nothing",
        ),
        (
            "O = I\nO = vmiror(I)\n",
            "line 2, column 5: unknown primitive `vmiror`",
        ),
        ("x1 = vmirror(I\n", "line 1, column 13: `(` is never closed"),
    ] {
        let found = error(text);
        assert!(found.starts_with(expected), "{text}{found}");
    }
    // One that the line may belong to is not.
    assert!(file("x = I\nO = 1\n = x").iter().all(Result::is_err));
    // The program before it is parsed.
    assert!(file("O = I\nO = vmirror(I) ??")[0].is_ok());
    assert!(file("O = I\nO = vmiror(I)\n")[0].is_ok());
}

#[test]
fn half_of_a_statement_is_no_program() {
    for line in [
        "O = rot180(I) ?? y",
        "O = vmirror(I) & x",
        "O = vmirror(I) vmirror(I)",
        "return I I",
    ] {
        let programs = file(line);
        assert_eq!(programs.len(), 1, "{line}");
        assert!(programs[0].is_err(), "{line}");
    }
}

#[test]
fn bare_lines_go_on_where_they_take_what_is_set() {
    for (lines, steps) in [
        ("O = hmirror(I)\nO = rot180(O)\n", 2),
        (
            "O = hmirror(I); x = rot90(I)\ny = hconcat(x, O)\nO = rot180(y)\n",
            4,
        ),
        ("x = hmirror(I)\nreturn x\n", 1),
        ("O = hmirror(I)\nreturn O\n", 1),
    ] {
        let [Ok(program)] = &file(lines)[..] else {
            panic!("{lines}");
        };
        let last = program
            .steps()
            .last()
            .map(|step| Operand::Slot(step.target));
        assert_eq!(
            (program.steps().len(), Some(program.output())),
            (steps, last.as_ref())
        );
    }
    // Lines that use only names that they set themselves are another program.
    assert_eq!(
        file("x = hmirror(I)\nO = rot90(x)\nx = rot180(I)\nO = hmirror(x)\n").len(),
        2
    );
    assert_eq!(file("O = I\nO = hmirror(I)\nO = rot90(I)\n").len(), 3);
}

#[test]
fn programs_are_set_and_not_defined() {
    let all = |text: &str| -> Vec<String> {
        let programs = parse_file(text, None, |_| "solve".to_owned());
        programs
            .iter()
            .map(|it| it.as_ref().unwrap().to_string())
            .collect()
    };
    assert_eq!(
        all("from dsl import *\nsolve_a = compose(vmirror, hmirror)\n"),
        ["def solve_a(I):\n    t1 = compose(vmirror, hmirror)\n    O = t1(I)\n    return O\n"]
    );
    assert_eq!(
        all("solve_b = rot90\ndef solve_c(I):\n    return I\n"),
        [
            "def solve_b(I):\n    O = rot90(I)\n    return O\n",
            "def solve_c(I):\n    return I\n"
        ]
    );
    // Neither values that are not functions nor names that do not identify a program are programs.
    assert_eq!(
        all("main_colour = 5\nturn = compose(rot90, rot90)\ndef solve_c(I):\n    return turn(I)\n")
            .len(),
        1
    );
    // Lines of a program are not mistaken for assigned programs, whatever their variables are called.
    assert_eq!(
        all("transformed = vmirror(I)\nO = hmirror(transformed)\n").len(),
        1
    );
    assert_eq!(
        all("def solve_d(I=None):\n    print(I)\n    pass\n    return hmirror(I)\n").len(),
        1
    );
}
