//! Programs in the files that hold them: as Python, in JSON beside their tasks, in archives.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;

use super::layouts::{RIGHT, outcomes, pair};
use super::support::{Folder, gzipped, mirror_program, mirror_task, zipped};

#[test]
fn programs_are_read_from_archives_as_from_folders() {
    let folder = Folder::new();
    let in_json = json!({ "task_id": "b", "program": "O = vmirror(I)" }).to_string();
    let packed = zipped(&[
        ("x/a.py", &*mirror_program("solve_a")),
        ("x/b.json", &*in_json),
        // Python would import it.
        ("y/constants.py", "ONE = 2\n"),
        ("y/c.py", "def solve_c(I):\n    return upscale(I, ONE)\n"),
        ("y/d.py", "def solve_d(I):\n    return vmiror(I)\n"),
        ("__MACOSX/x/._a.py", "?"),
    ]);
    folder
        .write("tasks/a.json", mirror_task())
        .write("tasks/b.json", mirror_task())
        .write("p.zip", &packed)
        .write("q/p.zip", &packed)
        .write("q/tasks.zip", zipped(&[("t.json", &*mirror_task())]))
        .write("e.py.gz", gzipped(&mirror_program("solve_a")))
        .write("f/e.py.gz", gzipped(&mirror_program("solve_a")))
        .write("g.zip", zipped(&[("readme.txt", "?")]));
    for programs in ["p.zip", "q", "q/p.zip"] {
        let (done, document) = folder.run_json(&format!("--tasks tasks --programs {programs}"));
        let archive = if programs == "q" { "q/p.zip" } else { programs };
        let expected = format!("a: {RIGHT}, b: {RIGHT}");
        assert_eq!(outcomes(&document).join(", "), expected, "{}", done.stderr);
        for line in [
            format!("{archive}/y/c.py:2:23: "),
            format!("{archive}/y/d.py:2:12: unknown primitive `vmiror`"),
        ] {
            assert!(done.stderr.contains(&line), "{line}\n{}", done.stderr);
        }
        assert_eq!(done.code, 2);
    }
    for programs in ["e.py.gz", "f"] {
        let (done, document) =
            folder.run_json(&format!("--tasks tasks --programs {programs} --quiet"));
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        assert_eq!(outcomes(&document), [format!("a: {RIGHT}")]);
    }
    let done = folder.run("run --tasks tasks --programs g.zip --quiet");
    let message =
        "g.zip: no files of programs (*.py, *.json) in this zip archive, but `readme.txt`\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, message));
}

#[test]
fn programs_stand_in_json_beside_their_tasks() {
    let folder = Folder::new();
    let mut lines = String::new();
    for (id, program) in [
        ("a", "x1 = hmirror(I)\nO = hmirror(x1)"),
        ("row_b", &*mirror_program("f")),
    ] {
        let line = json!({ "task_id": id, "program": program, "train": [pair(1, 2)] });
        let _ = writeln!(lines, "{line}");
    }
    folder.write("all.jsonl", lines);
    let (done, document) =
        folder.run_json("--tasks all.jsonl --programs all.jsonl --all-pairs --quiet");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let results = document["results"].as_array().unwrap();
    let programs: Vec<_> = results
        .iter()
        .map(|it| it["program"].as_str().unwrap())
        .collect();
    assert_eq!(
        programs,
        ["solve_a", "solve_a", "solve_row_b", "solve_row_b"]
    );
    assert_eq!(
        outcomes(&document)[1..],
        [
            "row_b: train mismatch",
            "a: train match",
            "row_b: train match"
        ]
    );
}

#[test]
fn of_programs_in_json_none_is_passed_over_in_silence() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    let good = r#"{"task_id": "a", "program": "O = vmirror(I)"}"#;
    for (name, text, place, message) in [
        (
            "cut.jsonl",
            format!("{good}\n{{\"task_id\": \"a\", \"prog"),
            ":2:",
            "broken JSON",
        ),
        (
            "line.jsonl",
            format!("{good}\nnonsense\n{good}"),
            ":2:",
            "broken JSON: expected a value",
        ),
        (
            "key.jsonl",
            format!("{good}\n{{\"task_id\": \"a\", \"kode\": \"O = I\"}}"),
            ":2:",
            "found the keys `task_id`, `kode`",
        ),
        (
            "null.json",
            format!("[{good}, {{\"task_id\": \"a\", \"program\": null}}]"),
            ":1:",
            "expected the text of a program, found null",
        ),
        (
            "list.json",
            format!("[{good}, {{\"task_id\": \"a\", \"program\": [5]}}]"),
            ":1:",
            "found a list",
        ),
        (
            "empty.json",
            format!("[{good}, {{\"task_id\": \"a\", \"program\": \"\"}}]"),
            ":1:",
            "found an empty text",
        ),
    ] {
        folder.write(&format!("p/{name}"), text);
        for programs in [format!("p/{name}"), "p".to_owned()] {
            let (done, document) = folder.run_json(&format!(
                "--tasks a.json --programs {programs} --all-pairs --quiet"
            ));
            assert_eq!(done.code, 2, "{name}");
            assert!(
                done.stderr.starts_with(&format!("p/{name}{place}"))
                    && done.stderr.contains(message),
                "{}",
                done.stderr
            );
            assert_eq!(
                document["input_errors"].as_array().unwrap().len(),
                1,
                "{name}"
            );
            // What can be read is run.
            assert!(
                !document["results"].as_array().unwrap().is_empty(),
                "{name}"
            );
        }
        fs::remove_dir_all(folder.path().join("p")).unwrap();
    }
    // Next to Python files a file that cannot be read gets a note: it may be something else.
    folder
        .write("p/cut.json", r#"{"task_id": "a", "prog"#)
        .write("p/a.py", mirror_program("solve_a"));
    let done = folder.run("run --tasks a.json --programs p");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr.starts_with("note: p/cut.json:1:")
            && done.stderr.contains("passed over: broken JSON"),
        "{}",
        done.stderr
    );
}

/// Of a folder, the note says why a file with rows gives no program.
#[test]
fn rows_of_a_folder_that_lack_their_program_are_told() {
    let folder = Folder::new();
    folder
        .write("a.json", mirror_task())
        .write("p/a.py", mirror_program("solve_a"))
        .write("p/config.json", r#"{"model": "x"}"#)
        .write("p/null.jsonl", r#"{"task_id": "a", "code": null}"#)
        .write(
            "p/prose.json",
            r#"[{"task_id": "a", "response": "No idea."}]"#,
        );
    let done = folder.run("run --tasks a.json --programs p");
    let told: Vec<_> = done.stderr.lines().collect();
    assert_eq!(
        (done.code, &told[..]),
        (
            0,
            &[
                "note: p/config.json: passed over: no programs, which are the key `program` beside `task_id`",
                "note: p/null.jsonl:1:26: code: passed over: expected the text of a program, found null",
                "note: p/prose.json:1:31: [0].response: passed over: expected the text of a program, found \"No idea.\" \
                 without `def` and `O =`",
            ][..]
        )
    );
}

#[test]
fn what_a_folder_has_in_other_places_is_told() {
    let folder = Folder::new();
    folder
        .write("0a1b2c3d.json", mirror_task())
        .write("p/solve_0a1b2c3d.pyw", mirror_program("solve_0a1b2c3d"))
        .write("p/0a1b2c3d.txt", mirror_program("solve"))
        .write(
            "p/x/solve.md",
            format!("```\n{}```\n", mirror_program("solve")),
        )
        .write("p/readme.md", "No program.")
        .write(
            "p/inner.py",
            "class A:\n    def solve_0a1b2c3d(I):\n        return I\n",
        )
        .write(
            "p/library.py",
            "class A:\n    def transformed(self, x):\n        return x\n",
        );
    let (done, document) = folder.run_json("--tasks 0a1b2c3d.json --programs p");
    assert_eq!(
        (done.code, &document["tasks_solved"]),
        (0, &json!(1)),
        "{}",
        done.stderr
    );
    for note in [
        "note: p: passed over: `0a1b2c3d.txt`, `x/solve.md`; of a folder only files with the endings of programs are read\n",
        "note: p/inner.py:2:5: no programs: `solve_0a1b2c3d` is defined within another statement, such as `class` or `if`, ",
        "note: p: no programs in `library.py`\n",
    ] {
        assert!(done.stderr.contains(note), "{note}\n{}", done.stderr);
    }
    // A function beside one with the name of a program is none, and told.
    let text = mirror_program("solve") + "\ndef unused(g):\n    return rot90(g)\n";
    folder.write("p/0a1b2c3d.py", text);
    let (done, document) = folder.run_json("--tasks 0a1b2c3d.json --programs p/0a1b2c3d.py");
    assert_eq!(document["results"].as_array().unwrap().len(), 1);
    let note = "p/0a1b2c3d.py: no programs, since another function has the name of one: `unused`\n";
    assert!(
        done.code == 0 && done.stderr.contains(note),
        "{}",
        done.stderr
    );
}

/// A helper in an earlier block may have the name of a primitive.
#[test]
fn what_an_earlier_block_of_an_answer_binds_is_not_the_dsls() {
    let folder = Folder::new();
    let answer = "First:\n```python\ndef flip(g):\n    return vmirror(g)\n```\nThen:\n```python\n\
                  def solve(I):\n    return flip(I)\n```\n";
    let alone = "```python\ndef solve(I):\n    return rot90(I)\n```\nNo:\n```python\n\
                 def solve(I):\n    x = flip(even(3))\n    return vmirror(I)\n```\n";
    for answer in [answer, alone] {
        folder.write("a.json", mirror_task());
        folder.write(
            "r.jsonl",
            json!({ "task_id": "a", "response": answer }).to_string(),
        );
        let (done, document) = folder.run_json("--tasks a.json --programs r.jsonl --quiet");
        assert_eq!(
            (done.code, &document["tasks_solved"]),
            (0, &json!(1)),
            "{}",
            done.stderr
        );
    }
}

/// Lines that look like prose to the search for programs may be code that changes one, or ends Python before it.
#[test]
fn lines_around_the_function_of_an_answer_may_spoil_it() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    let program = "def solve(I):\n    return vmirror(I)\n";
    let solved = |answer: &str| {
        let row = json!({ "task_id": "a", "response": answer });
        folder.write("r.jsonl", row.to_string());
        let (_, document) = folder.run_json("--tasks a.json --programs r.jsonl --quiet");
        document["tasks_solved"] == json!(1)
    };
    for lines in [
        "try:\n    vmirror = hmirror\nexcept NameError:\n    pass",
        "for vmirror in (hmirror,): pass",
        "(vmirror := hmirror)",
        "if 1:\n    vmirror = hmirror",
        "class vmirror: pass",
        "del vmirror",
        "vmirror += 1",
        "vmirror.__code__ = hmirror.__code__",
        "globals().update(vmirror=hmirror)",
    ] {
        for answer in [format!("{lines}\n{program}"), format!("{program}{lines}\n")] {
            assert!(!solved(&answer), "{answer}");
            assert!(!solved(&format!("It is:\n\n{answer}")), "{answer}");
        }
    }
    for line in ["raise ValueError", "assert 0", "1/0"] {
        assert!(!solved(&format!("{line}\n{program}")), "{line}");
        assert!(solved(&format!("{program}{line}\n")), "{line}");
    }
    for lines in [
        "1. Find it.\n2. Mirror it with vmirror(I).",
        "with vmirror as the tool, we are done:",
        "For each row, we reverse it (vmirror).",
    ] {
        assert!(solved(&format!("{lines}\n{program}")), "{lines}");
        assert!(solved(&format!("{program}{lines}\n")), "{lines}");
    }
}

#[test]
fn programs_stand_in_the_code_of_notebooks() {
    let folder = Folder::new();
    let cells = |last: &str| {
        json!({ "nbformat": 4, "cells": [
            { "cell_type": "markdown", "source": ["def solve_a(I): nothing"] },
            { "cell_type": "code", "source": ["!ls\n", "%time x\n", "from dsl import *\n"] },
            { "cell_type": "code", "source": "%%writefile s.py\ndef solve_a(I):\n    return vmirror(I)" },
            { "cell_type": "code", "source": ["%%bash\n", "def solve_a(I): no Python"] },
            { "cell_type": "code", "source": last },
        ] })
        .to_string()
    };
    folder
        .write("a.json", mirror_task())
        .write("p/a.ipynb", cells(""))
        .write("bad.ipynb", cells("def solve_b(I):\n    return vmiror(I)"))
        .write("other.ipynb", r#"{"x": 1}"#);
    for programs in ["p", "p/a.ipynb"] {
        let (done, document) = folder.run_json(&format!("--tasks a.json --programs {programs}"));
        assert_eq!(
            (done.code, &document["tasks_solved"]),
            (0, &json!(1)),
            "{}",
            done.stderr
        );
    }
    for (programs, expected) in [
        (
            "bad.ipynb",
            "bad.ipynb:10:12: unknown primitive `vmiror`, did you mean `vmirror`?\n",
        ),
        (
            "other.ipynb",
            "other.ipynb:1:1: expected a notebook: an object with the key `cells`\n",
        ),
    ] {
        let done = folder.run(&format!("run --tasks a.json --programs {programs}"));
        assert!(
            done.code == 2 && done.stderr.contains(expected),
            "{}",
            done.stderr
        );
    }
    // Of a folder, a notebook may be about something else.
    folder.write(
        "q/x.ipynb",
        cells("def solve(I):\n    for i in I: pass").replace("vmirror", "vmiror"),
    );
    folder.write("q/a.py", mirror_program("solve_a"));
    let done = folder.run("run --tasks a.json --programs q");
    assert_eq!(
        (done.code, &*done.stderr),
        (0, "note: q: no programs in `x.ipynb`\n")
    );
}

#[test]
fn programs_have_names_of_their_own_and_files_are_read_once() {
    let folder = Folder::new();
    folder
        .write("a.json", mirror_task())
        .write("p/a.py", mirror_program("solve_a"));
    let done = folder.run("run --tasks a.json --programs p/a.py p ./p/a.py");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains("programs                   1\n"),
        "{}",
        done.stdout
    );
    assert_eq!(
        done.stderr
            .matches("given a second time, read once")
            .count(),
        2,
        "{}",
        done.stderr
    );
    // Several programs in one text get distinct names.
    let two = format!(
        "{}\n{}",
        mirror_program("f"),
        "def g(I):\n    return hmirror(I)\n"
    );
    let text = json!([{ "task_id": "a", "program": two }, { "task_id": "a", "program": "O = I" }]);
    folder.write("two.json", text.to_string());
    let (_, document) = folder.run_json("--tasks a.json --programs two.json --quiet");
    let results = document["results"].as_array().unwrap();
    let names: Vec<_> = results
        .iter()
        .map(|it| it["program"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["solve_a", "solve2_a", "solve3_a"]);
}

#[test]
fn programs_stand_in_rows_under_the_keys_that_data_sets_have() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    let program = mirror_program("solve_a");
    let answer = format!("<think>O = I</think>Mirror it:\n```python\n{program}\n```\nIt fits.");
    for (key, text) in [
        ("program", &program),
        ("source", &program),
        ("code", &program),
        ("function", &program),
        ("response", &program),
        ("completion", &program),
        ("response", &answer),
        ("completion", &answer),
    ] {
        folder.write(
            "rows.jsonl",
            json!({ "task_id": "a", key: text }).to_string(),
        );
        folder.write(
            "rows.json",
            json!([{ "name": "a", "n": 3, key: text }]).to_string(),
        );
        folder.write(
            "by_id.json",
            json!({ "a": [{ key: text, "right": [true] }] }).to_string(),
        );
        for file in ["rows.jsonl", "rows.json", "by_id.json"] {
            let (done, document) =
                folder.run_json(&format!("--tasks a.json --programs {file} --quiet"));
            assert_eq!(
                (done.code, done.stderr.as_str()),
                (0, ""),
                "{key} in {file}"
            );
            assert_eq!(
                outcomes(&document),
                [format!("a: {RIGHT}")],
                "{key} in {file}"
            );
        }
    }
    // Two keys in a row.
    let row = json!({ "task_id": "a", "response": answer, "code": program, "n": 1 });
    folder.write("rows.jsonl", format!("{row}\n{row}\n"));
    let done = folder.run("run --tasks a.json --programs rows.jsonl");
    let note = "note: rows.jsonl:1:9: code: programs under `code` and `response`: that under `code` is read; the \
                same for 1 more with several keys\n";
    assert_eq!((done.code, done.stderr.as_str()), (0, note));
    // What is passed over of programs and answers is told, once a file.
    let opens = format!("open('x', 'w').close()\n{program}");
    let row = json!({ "task_id": "a", "code": opens });
    let answers = json!({ "task_id": "a", "response": [answer, "I do not know.", "?"] });
    folder.write("rows.jsonl", format!("{row}\n{row}\n{answers}\n"));
    let done = folder.run("run --tasks a.json --programs rows.jsonl");
    let notes = "note: rows.jsonl:3:13: response: 2 texts in lists of programs hold none (no `def`, `lambda` or `O =`), the \
                 first of them here\n\
                 note: rows.jsonl:1:9: code: line 1, column 1 of the program: ignored, since it is not part of a \
                 program: `open`; 1 more of the file's programs have such notes\n";
    assert_eq!((done.code, done.stderr.as_str()), (0, notes));
    // What is given as programs is not called a task.
    for text in [
        json!({ "task_id": "a", "text": "?" }).to_string(),
        json!({ "a": "?" }).to_string(),
        json!([1, 2]).to_string(),
        "3".to_owned(),
        "{}".to_owned(),
    ] {
        folder.write("rows.jsonl", &text);
        let done = folder.run("run --tasks a.json --programs rows.jsonl --quiet");
        assert_eq!(done.code, 2, "{text}");
        assert!(!done.stderr.contains("task:"), "{}", done.stderr);
        assert!(
            done.stderr
                .contains("(or `code`, `solution`, `response`, ..)")
                || done
                    .stderr
                    .contains("text: expected the text of a program, found \"?\""),
            "{}",
            done.stderr
        );
    }
}
