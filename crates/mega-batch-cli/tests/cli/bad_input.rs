//! `mega-batch run` on bad input: one line for each error, exit code 2, and good input is still run.

use serde_json::{Value, json};

use super::support::{Folder, mirror_program, mirror_task};

/// Runs the good task and program together with a bad file of each kind.
#[track_caller]
fn check(name: &str, bytes: impl AsRef<[u8]>, expected: &str) {
    let folder = Folder::new();
    folder
        .write("good.json", mirror_task())
        .write("good.py", mirror_program("solve_good"));
    folder.write(name, bytes);
    let is_program = name
        .rsplit_once('.')
        .is_some_and(|(_, extension)| extension == "py");
    let (tasks, programs) = if is_program { ("", name) } else { (name, "") };
    let options = format!("--tasks {tasks} good.json --programs {programs} good.py");
    let (done, document) = folder.run_json(&format!("{options} --quiet"));
    assert_eq!(done.stderr, format!("{expected}\n"));
    assert_eq!(done.code, 2);
    let last = document["results"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["task"], &last["program"]),
        (&json!("good"), &json!("solve_good"))
    );
    assert_eq!(document["tasks_solved"], 1);
    let line = |error: &Value| {
        let place = match error.get("line") {
            Some(line) => format!("{line}:{}:", error["column"]),
            None => String::new(),
        };
        let path = error
            .get("path")
            .map(|path| format!(" {}:", path.as_str().unwrap()));
        let [file, message] = ["file", "message"].map(|key| error[key].as_str().unwrap());
        format!("{file}:{place}{} {message}", path.unwrap_or_default())
    };
    let lines: Vec<_> = document["input_errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(line)
        .collect();
    assert_eq!(lines.join("\n"), expected);
}

/// A task with this as its first input.
fn with_input(grid: &str) -> String {
    format!("{{\n  \"train\": [{{\"input\": {grid}, \"output\": [[1]]}}],\n  \"test\": []\n}}\n")
}

#[test]
fn broken_json() {
    check(
        "bad.json",
        "{\n  \"train\": [,]}",
        "bad.json:2:13: train[0]: broken JSON: expected a value, found `,`",
    );
    check(
        "bad.json",
        "{\"train\": [{\"input\": [[1, 2",
        "bad.json:1:27: train[0].input[0]: broken JSON: it ends within a list, and the rest is missing",
    );
    check("bad.json", "", "bad.json:1:1: empty: expected JSON");
}

#[test]
fn bad_grids() {
    check(
        "bad.json",
        with_input("[[1, 2],\n   [3]]"),
        "bad.json:3:4: train[0].input[1]: row of 1 cells where row 0 has 2: \
         the rows of a grid are equally long",
    );
    check(
        "bad.json",
        with_input("[]"),
        "bad.json:2:23: train[0].input: grid of 0 rows: expected 1 at least",
    );
    check(
        "bad.json",
        with_input("[[]]"),
        "bad.json:2:24: train[0].input[0]: row of 0 cells: expected 1 at least",
    );
    check(
        "bad.json",
        with_input("[[0, 300]]"),
        "bad.json:2:28: train[0].input[0][1]: colour 300: expected -128 to 127",
    );
    check(
        "bad.json",
        with_input("[[0, \"1\"]]"),
        "bad.json:2:28: train[0].input[0][1]: expected a colour: an integer from -128 to 127, found string \"1\"",
    );
}

#[test]
fn bad_tasks() {
    check(
        "bad.json",
        "{\"test\": []}",
        "bad.json:1:1: expected the key `train` with a list of pairs, found the key `test`",
    );
    check(
        "bad.json",
        "{\"train\": [{\"output\": [[1]]}], \"test\": []}",
        "bad.json:1:12: train[0]: expected the key `input` with a grid",
    );
    check(
        "bad.json",
        "[]",
        "bad.json:1:1: expected a task: an object with the keys `train` and `test`, found an empty list",
    );
    check(
        "bad.json",
        b"{\"train\": \"\xe9\"}",
        "bad.json:1:12: not UTF-8 text: byte 0xe9",
    );
    check(
        "challenges.json",
        format!(
            "{{\"a\": {},\n \"b\": {{\"test\": []}},\n \"a\": {0}}}",
            mirror_task()
        ),
        "challenges.json:2:7: b: expected the key `train` with a list of pairs, found the key `test`\n\
         challenges.json:3:7: a: the id stands here a second time; the first task is used",
    );
}

#[test]
fn bad_programs() {
    let check_body = |text: &str, expected: &str| {
        check(
            "bad.py",
            format!("def solve_bad(I):\n    {text}\n    return x1\n"),
            expected,
        );
    };
    check_body(
        "x1 = vmiror(I)",
        "bad.py:2:10: unknown primitive `vmiror`, did you mean `vmirror`?",
    );
    check_body(
        "x1 = hconcat(I)",
        "bad.py:2:10: `hconcat` takes 2 arguments (a, b), found 1",
    );
    check_body(
        "x1 = vmirror(x7)",
        "bad.py:2:18: unknown name `x7`, expected a variable, a primitive or a constant",
    );
    check_body(
        "x1 = vmirror(I",
        "bad.py:2:17: `(` is never closed, expected `)`",
    );
    check_body(
        "for x1 in I: pass",
        "bad.py:2:5: found the keyword `for`, which is not read: \
         expected a comprehension, `apply` or `power`",
    );
    check(
        "bad.py",
        "def solve_bad(I):\n    x1 = vmirror(I)\n",
        "bad.py:1:1: expected a `return` at the end of program `solve_bad`, found none",
    );
    check(
        "bad.py",
        "x = 3\n",
        "bad.py:1:6: expected `O = ..` at the end of the program that begins on line 1, found none",
    );
    check(
        "bad.py",
        b"# caf\xe9\n",
        "bad.py:1:6: not UTF-8 text: byte 0xe9",
    );
    check(
        "bad.py",
        "from dsl import *\n",
        "bad.py: no program: expected `def NAME(I):`, or lines that end in `O = ..`",
    );
}

#[test]
fn bad_files_and_folders() {
    let folder = Folder::new();
    folder
        .write("good.json", mirror_task())
        .write("good.py", mirror_program("solve_good"));
    folder.write("empty/readme.txt", "");
    let run = |options: &str, expected: &str| {
        let done = folder.run(&format!("run {options}"));
        assert_eq!((done.code, done.stderr.as_str()), (2, expected));
        assert!(
            done.stdout
                .contains("\ntasks solved               1 of 1\n"),
            "{}",
            done.stdout
        );
    };
    run(
        "--tasks none.json good.json --programs good.py",
        "none.json: no such file or folder\n",
    );
    run(
        "--tasks empty good.json --programs empty good.py",
        "empty: no task files (*.json, *.jsonl, *.ndjson, *.jsonlines, *.parquet, *.parq, *.pq, *.pqt, *.arrow, *.arrows, *.ipc, *.feather, *.ft, these with .gz, .xz, .zst, .bz2, *.zip, *.tar) in this folder\n\
         empty: no programs (*.py, or JSON with the keys `program` and `task_id`) in this folder\n",
    );
    run(
        "--tasks good.json --programs none.py good.py",
        "none.py: no such file or folder\n",
    );
    run(
        "--tasks good.json --programs good.py --solutions good.json",
        "good.json:1:1: expected solutions: an object that holds a list of grids for each id, found tasks\n",
    );

    let done = folder.run("run --tasks none.json --programs good.py");
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (2, "nothing to run: no tasks\n")
    );
    let done = folder.run("run --tasks good.json --programs none.py");
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (2, "nothing to run: no programs\n")
    );
}

#[test]
fn a_task_of_a_taken_id_is_refused_unless_it_is_the_same() {
    let folder = Folder::new();
    let other = mirror_task().replace('5', "6");
    folder
        .write("00aa11bb.json", mirror_task())
        .write("same/00aa11bb.json", mirror_task());
    folder
        .write("other/00aa11bb.json", other)
        .write("a.py", mirror_program("solve_00aa11bb"));
    let done = folder.run("run --tasks 00aa11bb.json same other --programs a.py");
    let expected = "other/00aa11bb.json: 00aa11bb.train[1].input: differs from what `00aa11bb.json` has, which is \
                    used\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, expected));
    assert!(
        done.stdout
            .contains("\ntasks solved               1 of 1\n"),
        "{}",
        done.stdout
    );
}

#[test]
fn bad_solutions() {
    let folder = Folder::new();
    let pair = json!({ "input": [[1, 2]], "output": [[2, 1]] });
    let task = json!({ "train": [pair], "test": [{ "input": [[3, 4]] }] });
    let bad = json!({ "train": [], "test": [{ "input": [[3, 999]] }] });
    folder.write(
        "challenges.json",
        json!({ "a": task, "b": task, "c": bad }).to_string(),
    );
    folder.write("a.py", mirror_program("solve_a"));
    folder.write(
        "solutions.json",
        "{\"a\": [[[4, 3]]],\n \"b\": [],\n \"c\": [[[1]]],\n \"d\": [[[1]]],\n \"e\": [[[1], 7]]}",
    );
    let (done, document) = folder
        .run_json("--tasks challenges.json --solutions solutions.json --programs a.py --quiet");
    let expected = "\
challenges.json:1:184: c.test[0].input[0][1]: colour 999: expected -128 to 127
solutions.json:5:14: e[0][1]: expected a row: a list of colours, found integer `7`
solutions.json:2:7: b: expected 1 output, one for each test pair of the task, found 0
";
    assert_eq!((done.code, done.stderr.as_str()), (2, expected));
    assert_eq!(document["results"][0]["pairs"][1]["outcome"], "match");
}

/// Kaggle's file has the solutions of all tasks, of which only some may be run.
#[test]
fn solutions_of_other_tasks() {
    let folder = Folder::new();
    let pair = json!({ "input": [[1, 2]], "output": [[2, 1]] });
    let task = json!({ "train": [pair], "test": [{ "input": [[3, 4]] }] });
    folder
        .write("challenges.json", json!({ "a": task }).to_string())
        .write("a.py", mirror_program("solve_a"))
        .write("all.json", r#"{"b": [[[1]]], "a": [[[4, 3]]], "c": []}"#)
        .write("others.json", "{\"b\": [[[1]]],\n \"c\": []}");
    let run = |solutions: &str| {
        folder.run_json(&format!(
            "--tasks challenges.json --solutions {solutions} --programs a.py --quiet"
        ))
    };
    let (done, document) = run("all.json");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(document["results"][0]["pairs"][1]["outcome"], "match");
    let (done, document) = run("others.json");
    let expected = "others.json:1:7: b: a solution for a task that is not among the tasks, like the other one\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, expected));
    assert_eq!(document["results"][0]["pairs"][1]["outcome"], "no_expected");
}

#[test]
fn numbers_that_are_no_colours_are_told_as_they_were_written() {
    for (written, expected) in [
        (
            "-0.5",
            "expected a colour: an integer from -128 to 127, found number `-0.5`",
        ),
        (
            "1e+32",
            "expected a colour: an integer from -128 to 127, found number `1e+32`",
        ),
        (
            "1.5",
            "expected a colour: an integer from -128 to 127, found number `1.5`",
        ),
        (
            "007",
            "broken JSON: invalid number `007`: expected no leading zeros",
        ),
    ] {
        let folder = Folder::new();
        folder.write("bad.json", with_input(&format!("[[{written}]]")));
        let done = folder.run("run --tasks bad.json");
        assert_eq!(done.code, 2);
        let told = format!(": train[0].input[0][0]: {expected}\n");
        assert!(done.stderr.ends_with(&told), "{}", done.stderr);
    }
}

/// Reading any of these would never end, or block.
#[test]
#[cfg(unix)]
fn what_is_no_regular_file_is_refused() {
    let folder = Folder::new();
    let path = |name: &str| folder.path().join(name);
    let made = std::process::Command::new("mkfifo")
        .args([path("pipe.json"), path("pipe.py")])
        .status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(path("socket.json")).unwrap();
    folder
        .write("good.json", mirror_task())
        .write("good.py", mirror_program("solve_good"));
    let run = |options: &str, expected: &str| {
        let done = folder.run(options);
        assert_eq!(
            (done.code, done.stderr.as_str()),
            (2, expected),
            "{options}"
        );
    };
    for (file, found) in [
        ("/dev/zero", "a device"),
        ("pipe.json", "a pipe"),
        ("socket.json", "a socket"),
    ] {
        let expected = format!("{file}: expected a file, found {found}\n");
        run(
            &format!("run --tasks {file} good.json --programs good.py"),
            &expected,
        );
        run(
            &format!("run --tasks good.json --programs {file} good.py"),
            &expected,
        );
        run(&format!("show {file}"), &expected);
        run(&format!("explain --programs {file}"), &expected);
    }
    let expected = "./pipe.json: expected a file, found a pipe\n\
                    ./socket.json: expected a file, found a socket\n\
                    ./pipe.py: expected a file, found a pipe\n";
    run("run --tasks . --programs .", expected);
}

#[test]
fn files_of_more_than_a_gibibyte_are_refused() {
    let folder = Folder::new();
    for name in ["large.json", "large.py"] {
        // A sparse file, which takes no room on disk.
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.set_len(mega_batch::inputs::MAX_FILE_BYTES + 1)
            .unwrap();
    }
    let done = folder.run("run --tasks large.json --programs large.py");
    let message = "file of 1073741825 bytes: expected 1073741824 at most";
    let expected = format!("large.json: {message}\nlarge.py: {message}\n");
    assert_eq!((done.code, done.stderr), (2, expected));
}

#[test]
fn numbers_past_a_limit_are_told_the_limit() {
    let folder = Folder::new();
    for (options, expected) in [
        ("run --pairs 1000000000000", "expected 1 to 100000 pairs"),
        (
            "run --pairs 99999999999999999999",
            "expected 1 to 100000 pairs",
        ),
        ("run --workers 100000", "expected 1 to 1024 threads"),
        ("bench --workers 1025", "expected 1 to 1024 threads"),
    ] {
        let done = folder.run(options);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{options}");
        assert!(done.stderr.contains(expected), "{options}: {}", done.stderr);
    }
}

#[test]
fn the_command_tells_its_name_and_version() {
    let done = Folder::new().run("--version");
    assert_eq!(done.code, 0);
    assert_eq!(done.stdout, format!("mega-batch {}\n", mega_batch::VERSION));
}

#[test]
fn exit_codes_stand_in_the_help() {
    let folder = Folder::new();
    for command in [
        "",
        "run",
        "bench",
        "show",
        "explain",
        "selfcheck",
        "coverage",
    ] {
        for help in ["--help", "-h"] {
            let done = folder.run(&format!("{command} {help}"));
            assert_eq!(done.code, 0);
            let (_, codes) = done.stdout.split_once("\nExit codes:\n").unwrap();
            for code in [0, 1, 2, 129, 130, 141, 143] {
                assert!(
                    codes.contains(&format!("\n  {code:>3}  "))
                        || codes.starts_with(&format!("  {code:>3}  ")),
                    "{codes}"
                );
            }
        }
    }
}

#[test]
fn wrong_options_are_refused() {
    let folder = Folder::new();
    for options in [
        "",
        "run --workers 0",
        "run --mode both",
        "run --outputs",
        "run --tasks",
        "show",
    ] {
        let done = folder.run(options);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{options}");
        let told = ["Usage:", "For more information"]
            .iter()
            .any(|text| done.stderr.contains(text));
        assert!(told, "{options}: {}", done.stderr);
    }
}

#[test]
fn options_that_come_to_nothing_say_so() {
    let folder = Folder::new();
    folder
        .write("a.json", mirror_task())
        .write("a.py", mirror_program("solve_a"))
        .write("none.txt", "\n");
    for (options, told) in [
        ("--ids ,", "--ids: no id of a task: expected one at least\n"),
        (
            "--ids , --ids-file none.txt",
            "none.txt: no id of a task: expected one at least\n",
        ),
        (
            "--time-limit inf",
            "inf: expected seconds, 0 or more and 1,000,000,000 at most\n",
        ),
        (
            "--time-limit 1e300",
            "1e300: expected seconds, 0 or more and 1,000,000,000 at most\n",
        ),
        ("--workers -1", "expected 1 to 1024 threads"),
        (
            "--log a.log --log-level loud",
            "expected `error`, `warn`, `info` or `debug`",
        ),
        (
            "--json no/x.json",
            "no/x.json: cannot be written: there is no folder no\n",
        ),
        (
            "--checkpoint no/x",
            "no/x: cannot be written: there is no folder no\n",
        ),
    ] {
        let done = folder.run(&format!("run --tasks a.json --programs a.py {options}"));
        assert!(
            done.code != 0 && done.stderr.contains(told),
            "{options}: {}",
            done.stderr
        );
    }
}

#[test]
fn a_file_without_ids_means_nothing_to_do() {
    let folder = Folder::new();
    folder
        .write("a.json", mirror_task())
        .write("a.py", mirror_program("solve_a"))
        .write("sub.json", "{\"a\": [{\"attempt_1\": [[4, 3]]}]}")
        .write("none.txt", "");
    let told = "note: none.txt: no id of a task in it: there is nothing to do\n";
    for command in [
        "run --programs a.py",
        "search --programs-out found.py",
        "score sub.json",
    ] {
        for text in ["", "\n", "[]", "{}"] {
            folder.write("none.txt", text);
            let done = folder.run(&format!("{command} --tasks a.json --ids-file none.txt"));
            assert!(done.stderr.contains(told), "{command}: {}", done.stderr);
            assert_eq!(done.code, 0, "{command}: {}", done.stderr);
        }
    }
}

#[test]
fn options_of_files_are_refused_where_what_is_built_in_is_taken() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    for (arguments, told) in [
        ("run --solutions no", "--tasks"),
        ("run --pairs 2 --solutions no", "--solutions"),
        ("run --names no", "--programs"),
        ("run --dialect typed", "--programs"),
        ("explain --names no", "--programs"),
        ("coverage --names no", "--programs"),
        ("search a.json --solutions no", "--solutions"),
        ("selfcheck --ids no", "expected --tasks"),
        ("bench --emulated --programs no", "--tasks"),
    ] {
        let done = folder.run(arguments);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments}");
        assert!(done.stderr.contains(told), "{arguments}: {}", done.stderr);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_once_with_what_could_not_be_written() {
    let folder = Folder::new();
    folder
        .write("a.json", mirror_task())
        .write("a.py", mirror_program("solve_a"));
    let done = folder.run("run --tasks a.json --programs a.py --log /dev/full --quiet");
    let told = "mega-batch: /dev/full: cannot be written: No space left on device (os error 28); \
                the work goes on without its log\n";
    assert_eq!((done.code, done.stderr.as_str()), (0, told));
    for arguments in ["run --tasks a.json --programs a.py", "show a.json"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = folder.command(arguments);
        let done = super::support::done(command.stdout(full.unwrap()).output().unwrap());
        let told = "mega-batch: standard output: cannot be written: No space left on device (os error 28)\n";
        assert_eq!((done.code, done.stderr.as_str()), (1, told), "{arguments}");
    }
}
