//! Names from outside in messages, tables and documents.

use std::fs;

use serde_json::json;

use super::support::{Folder, mirror_program, mirror_task, zipped};

#[test]
fn programs_of_one_name_are_told_apart_by_their_files() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    folder.write("good.py", mirror_program("solve_a"));
    let failing = "def solve_a(I):\n    x1 = height(I)\n    x2 = vmirror(x1)\n    return x2\n";
    folder.write("mine/bad.py", failing);
    folder.write("other.py", mirror_program("solve_b"));
    let (done, document) = folder.run_json("--tasks a.json --programs good.py mine other.py");
    let file = |at: usize| document["results"][at]["file"].clone();
    assert_eq!([file(0), file(1)], ["good.py", "mine/bad.py"]);
    for told in [
        "\n  solve_a (good.py) ",
        "\n  solve_a (mine/bad.py) ",
        "\n  solve_a (mine/bad.py) on a train[0]: error: line 3: vmirror: ",
        "(the name solve_b has none of their ids)",
    ] {
        assert!(done.stderr.contains(told), "{told}\n{}", done.stderr);
    }
    let alone = folder.run("run --tasks a.json --programs good.py");
    assert!(alone.stdout.contains("\n  solve_a  "), "{}", alone.stdout);
    // Built-in programs are not in a file.
    let (_, document) = folder.run_json("--pairs 1");
    assert_eq!(document["results"][0].get("file"), None);

    let function = "def solve_f(I):\n    x1 = compose(first, last)\n    return x1\n";
    folder.write("f.py", function).write("g.py", function);
    let done = folder.run("explain --programs f.py g.py");
    let told = "no form: a function is used as a value: 2 (solve_f (f.py), line 2)\n";
    assert!(done.stdout.contains(told), "{}", done.stdout);
}

#[test]
fn a_file_may_say_whose_task_its_program_is_of() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    let lines = mirror_program("p");
    folder.write("mine/a.py", &lines);
    folder.write(
        "mine/solve_a.py",
        "# as it was found\nO = vmirror(I)\nO = identity(I)\n",
    );
    let (done, document) = folder.run_json("--tasks a.json --programs mine");
    let told = |at: usize| {
        let result = &document["results"][at];
        (result["program"].clone(), result["file"].clone())
    };
    assert_eq!(
        told(0),
        (json!("p_a"), json!("mine/a.py")),
        "{}",
        done.stderr
    );
    assert_eq!(told(1), (json!("solve_a"), json!("mine/solve_a.py")));
    assert_eq!(told(2), (json!("solve2_a"), json!("mine/solve_a.py")));
    folder.write("mine/b.py", "x1 = vmirror(I)\n");
    let done = folder.run("run --tasks a.json --programs mine");
    let told = "mine/b.py:1:16: expected `O = ..` at the end of the program that begins on line 1";
    assert!(done.stderr.contains(told), "{}", done.stderr);
    assert_eq!(done.code, 2);
}

#[test]
fn what_a_terminal_would_obey_is_escaped() {
    let folder = Folder::new();
    let bad = "\u{1b}[31mred\nmega-batch: all is well\r";
    folder.write(&format!("bad/{bad}.json"), "{");
    let wrong = mirror_task()
        .replace('5', "6")
        .replacen("[[6,0]]", "[[7,7]]", 1);
    folder.write(&format!("wrong/{bad}.json"), &wrong);
    folder.write(
        "many.json",
        json!({ "x\u{1b}]0;t\u{7}": { "train": [7], "test": [] } }).to_string(),
    );
    folder.write("a.py", "def solve_a(I):\n    return height(I)\n");
    folder.write(
        &format!("bad/{bad}.py"),
        "def solve_a(I):\n    return x\u{9b}1m\n",
    );
    let done = folder.run("run --tasks bad wrong many.json --programs a.py bad --all-pairs");
    assert_eq!(done.code, 2);
    for text in [&done.stdout, &done.stderr] {
        let obeyed = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(obeyed, None, "{text}");
        assert!(!text.contains("\nmega-batch: all"), "{text}");
    }
    let name = "\\u{1b}[31mred\\nmega-batch: all is well\\r";
    assert!(
        done.stderr.contains(&format!("bad/{name}.json:1:1: ")),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains(" x\\u{1b}]0;t\\u{7}.train[0]: "),
        "{}",
        done.stderr
    );
    assert!(
        done.stdout.contains(&format!("\nnot solved: {name}\n")),
        "{}",
        done.stdout
    );

    let shown = folder.run("show many.json --id \u{1b}[2J");
    assert!(
        shown.stderr.contains("no task \\u{1b}[2J in this file\n"),
        "{}",
        shown.stderr
    );
    let explained = folder.run("explain --name \u{1b}[2J");
    assert!(
        explained.stderr.contains("\\u{1b}[2J"),
        "{}",
        explained.stderr
    );
    let failed = folder.run("run --json \u{1b}[2J/x.json");
    assert!(
        failed.stderr.contains("\\u{1b}[2J/x.json: cannot"),
        "{}",
        failed.stderr
    );
}

/// A module with the DSL's name next to programs is what Python would import; if it binds names differently, they are
/// not taken for the DSL's.
#[test]
fn what_the_dsl_beside_a_program_binds_otherwise_is_refused() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    let dsl =
        "def vmirror(piece):\n    return piece\n\ndef identity(x):\n    return x\n\nTWO = 3\n";
    folder.write("programs/dsl.py", dsl);
    let text = "from dsl import *\n\ndef solve_a(I):\n    O = vmirror(I)\n    return O\n\ndef solve2_a(I):\n    x1 = identity(I)\n    O = dmirror(x1)\n    return O\n\ndef solve3_a(I):\n    return fill(I, TWO, ofcolor(I, ONE))\n";
    folder.write("programs/solvers.py", text);
    for path in ["programs", "programs/solvers.py"] {
        let (done, document) = folder.run_json(&format!("--tasks a.json --programs {path}"));
        assert_eq!(done.code, 2, "{}", done.stderr);
        for error in [
            "solvers.py:4:9: `vmirror` is not the DSL's here: line 1 of programs/dsl.py defines it differently",
            "solvers.py:13:20: `TWO` is not the DSL's here: line 7 of programs/dsl.py defines it differently",
        ] {
            assert!(done.stderr.contains(error), "{}", done.stderr);
        }
        let names = document["results"].as_array().unwrap().iter();
        let names: Vec<_> = names
            .map(|result| result["program"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["solve2_a"]);
    }
    let done = folder.run("run --tasks a.json --programs programs");
    let note = "note: programs: no programs in `dsl.py`\n";
    assert!(done.stderr.contains(note), "{}", done.stderr);
    // What cannot be resolved is reported.
    let dsl = "def vmirror(piece):\n    return tuple(row[::-1] for row in list(piece))\n";
    folder.write("programs/dsl.py", dsl);
    let done = folder.run("run --tasks a.json --programs programs/solvers.py");
    let expected = "note: programs/dsl.py: functions other than the DSL's own, which are used instead: \
                    `vmirror`\n";
    assert_eq!((done.code, done.stderr.as_str()), (0, expected));
    // A copy is skipped.
    folder.write("programs/dsl.py", "def identity(x):\n    return x\n");
    let done = folder.run("run --tasks a.json --programs programs/solvers.py");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    // The same holds for its constants.
    folder.write("others/constants.py", "ONE = 1\nTWO = 1 + 2\n");
    let text = "from dsl import *\nfrom constants import *\n\ndef solve_a(I):\n    return replace(I, ONE, TWO)\n\ndef solve2_a(I):\n    return replace(I, ONE, THREE)\n";
    folder.write("others/solvers.py", text);
    let done = folder.run("run --tasks a.json --programs others/solvers.py");
    let expected = "others/solvers.py:5:28: `TWO` is not the DSL's here: line 2 of others/constants.py defines it differently";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
    assert!(
        done.stdout.contains("programs                   1\n"),
        "{}",
        done.stdout
    );
}

#[test]
fn files_of_a_folder_that_hold_no_programs_are_one_note() {
    let folder = Folder::new();
    folder
        .write("a.json", mirror_task())
        .write("p/solvers.py", mirror_program("solve_a"))
        .write(
            "p/io_helpers.py",
            "def load(path):\n    with open(path) as f:\n        return f.read()\n",
        )
        .write(
            "p/zoo.py",
            "import os\n\ndef here(x):\n    return os.path.join(x, 'a')\n",
        )
        .write("p/data.json", "{\"a\": 5}");
    let done = folder.run("run --tasks a.json --programs p");
    let expected = "note: p/data.json: passed over: no programs, which are the key `program` beside `task_id`\n\
                    note: p: no programs in `io_helpers.py`, `zoo.py`\n";
    assert_eq!((done.code, done.stderr.as_str()), (0, expected));
    // The part that marks it as a program is missing.
    folder.write(
        "p/zoo.py",
        "def solve_b(I):\n    while True:\n        pass\n",
    );
    let done = folder.run("run --tasks a.json --programs p");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("p/zoo.py:2:5: "), "{}", done.stderr);
}

#[test]
fn names_of_a_fork_are_counted_and_the_table_is_named() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    let solvers = (0..12).map(|at| {
        let name = if at < 8 {
            "vertical_flip"
        } else {
            "turn_around"
        };
        format!("def solve{at}_a(I):\n    return {name}(I)\n")
    });
    folder.write("fork.py", solvers.collect::<String>());
    let done = folder.run("run --tasks a.json --programs fork.py");
    assert_eq!(done.code, 2);
    let note = "note: fork.py: names that the DSL does not have: `vertical_flip` 8 times, `turn_around` 4 times; \
                if they belong to a fork, --names FILE maps them to the DSL's\n";
    assert!(done.stderr.contains(note), "{}", done.stderr);
}

#[test]
fn ids_stand_in_text_or_json() {
    let folder = Folder::new();
    for id in ["a", "b", "c"] {
        folder.write(&format!("data/{id}.json"), mirror_task());
    }
    folder.write("p.py", mirror_program("p"));
    for text in [
        "a, b",
        "a\nb.json\n",
        "[\"a\", \"b\"]",
        "['a', 'b']",
        "{\"train\": [\"a\"], \"eval\": [\"b\"]}",
        "{\"a\": {\"train\": []}, \"b\": []}",
    ] {
        folder.write("ids", text);
        let (done, document) =
            folder.run_json("--tasks data --ids-file ids --programs p.py --all-pairs");
        assert_eq!(
            (done.code, document["tasks"].as_u64()),
            (0, Some(2)),
            "{text}: {}",
            done.stderr
        );
    }
    for (text, place) in [
        ("a\n b, zz.json", "2:5"),
        ("[\"a\",\n\"zz\"]", "2:2"),
        ("{\"a\": [],\n \"zz\": []}", "2:3"),
    ] {
        folder.write("ids", text);
        let done = folder.run("run --tasks data --ids-file ids --programs p.py --all-pairs");
        let told = format!("ids:{place}: zz: no task of this id among the tasks\n");
        assert!(
            done.code == 2 && done.stderr.contains(&told),
            "{}",
            done.stderr
        );
    }
    folder.write("ids", "{\"a\": ");
    let done = folder.run("run --tasks data --ids-file ids --programs p.py --all-pairs");
    assert_eq!(done.code, 2);
    assert!(
        done.stderr
            .contains("\nids:1:6: expected a list of ids of tasks: "),
        "{}",
        done.stderr
    );
}

/// Modules of any name are read for what they bind, in the order of the imports.
#[test]
fn what_modules_beside_a_program_bind_counts_in_the_order_of_its_imports() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    folder.write(
        "p/dsl2.py",
        "from dsl import *\n\ndef vmirror(piece):\n    return rot180(piece)\n",
    );
    folder.write(
        "p/mine/prims.py",
        "def vmirror(g):\n    return tuple(row for row in reversed(g))\n",
    );
    folder.write("p/dsl_constants.py", "ONE = 2\n");
    folder.write("q/dsl.py", "from typing import TypeVar\nT = TypeVar('T')\n");
    folder.write("q/constants.py", "T = True\nF = False\n");
    let program = "def solve_a(I):\n    x1 = objects(I, T, F, T)\n    O = upscale(vmirror(I), ONE)\n    return O\n";
    let refused = |name: &str, place: &str| {
        format!("`{name}` is not the DSL's here: line {place} defines it")
    };
    for (file, imports, error) in [
        (
            "p/a.py",
            "from dsl import *\nfrom dsl2 import *\n",
            refused("vmirror", "3 of p/dsl2.py"),
        ),
        (
            "p/a.py",
            "from dsl2 import *\nfrom dsl import *\n",
            String::new(),
        ),
        (
            "p/a.py",
            "from mine.prims import *\n",
            refused("vmirror", "1 of p/mine/prims.py"),
        ),
        (
            "p/mine/a.py",
            "from mine.prims import *\n",
            refused("vmirror", "1 of p/mine/prims.py"),
        ),
        (
            "p/mine/a.py",
            "from .prims import *\n",
            refused("vmirror", "1 of p/mine/prims.py"),
        ),
        (
            "p/a.py",
            "from dsl_constants import *\n",
            refused("ONE", "1 of p/dsl_constants.py"),
        ),
        // Python may be run in a folder above.
        (
            "p/deep/er/a.py",
            "from dsl_constants import *\n",
            refused("ONE", "1 of p/dsl_constants.py"),
        ),
        (
            "q/a.py",
            "from dsl import *\nfrom constants import *\n",
            String::new(),
        ),
        (
            "q/a.py",
            "from constants import *\nfrom dsl import *\n",
            refused("T", "2 of q/dsl.py"),
        ),
    ] {
        folder.write(file, format!("{imports}{program}"));
        let done = folder.run(&format!("run --tasks a.json --programs {file} --quiet"));
        let expected = if error.is_empty() { 0 } else { 2 };
        assert_eq!(done.code, expected, "{file}: {imports}{}", done.stderr);
        assert!(
            done.stderr.contains(&error),
            "{file}: {imports}{}",
            done.stderr
        );
    }
    // In a row as in a file.
    let text = format!("from dsl_constants import *\n{program}");
    let row = serde_json::json!({ "task_id": "a", "program": "of mine", "code": text });
    folder.write("p/rows.json", row.to_string());
    let done = folder.run("run --tasks a.json --programs p/rows.json --quiet");
    let told = refused("ONE", "1 of p/dsl_constants.py");
    assert!(done.stderr.contains(&told), "{}", done.stderr);
    // In an archive as in a folder.
    let packed = zipped(&[
        (
            "dsl2.py",
            &*fs::read_to_string(folder.path().join("p/dsl2.py")).unwrap(),
        ),
        ("a.py", &format!("from dsl2 import *\n{program}")),
    ]);
    folder.write("p.zip", packed);
    let done = folder.run("run --tasks a.json --programs p.zip --quiet");
    assert!(
        done.stderr
            .contains(&refused("vmirror", "3 of p.zip/dsl2.py")),
        "{}",
        done.stderr
    );
}

#[test]
fn modules_in_folders_that_a_program_adds_are_read() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    folder.write("s/lib/dsl2.py", "def vmirror(g): return rot90(g)\n");
    folder.write("p/dsl2.py", "\ndef vmirror(g): return rot90(g)\n");
    let refused = |place: &str| format!("`vmirror` is not the DSL's here: line {place} defines it");
    for (file, imports, error) in [
        (
            "s/a.py",
            "import sys\nsys.path.insert(0, 'lib')\nfrom dsl2 import *\n",
            refused("1 of s/lib/dsl2.py"),
        ),
        (
            "s/a.py",
            "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), '..', 'p'))\nfrom dsl2 import *\n",
            refused("2 of s/../p/dsl2.py"),
        ),
        (
            "s/b/a.py",
            "sys.path.insert(0, str(Path(__file__).parent / \"lib\"))\nfrom dsl2 import *\n",
            refused("1 of s/lib/dsl2.py"),
        ),
    ] {
        folder.write(
            file,
            format!("{imports}def solve_a(I):\n    return vmirror(I)\n"),
        );
        let done = folder.run(&format!("run --tasks a.json --programs {file} --quiet"));
        assert!(done.stderr.contains(&error), "{imports}{}", done.stderr);
    }
}

#[test]
fn a_program_runs_on_the_newest_version_of_its_task_and_with_two_ids_on_none() {
    let folder = Folder::new();
    for id in ["11aa22bb", "11aa22bb_v2", "33cc44dd"] {
        folder.write(&format!("tasks/{id}.json"), mirror_task());
    }
    folder.write("p.py", "def solve_11aa22bb(I):\n    return vmirror(I)\n");
    let (done, document) = folder.run_json("--tasks tasks --programs p.py");
    assert_eq!(document["results"][0]["task"], "11aa22bb_v2");
    let note =
        "note: 1 program is run on the newest version of its task: solve_11aa22bb on 11aa22bb_v2\n";
    assert!(
        done.code == 0 && done.stderr.contains(note),
        "{}",
        done.stderr
    );
    folder.write(
        "q.py",
        "def solve_11aa22bb_33cc44dd(I):\n    return vmirror(I)\n",
    );
    let done = folder.run("run --tasks tasks --programs p.py q.py");
    let note = "note: 1 program has the ids of two tasks in its name and runs on neither: \
                solve_11aa22bb_33cc44dd (33cc44dd and 11aa22bb)";
    assert!(
        done.code == 0 && done.stderr.contains(note),
        "{}",
        done.stderr
    );
    assert!(!done.stdout.contains("has no task here"), "{}", done.stdout);
}
