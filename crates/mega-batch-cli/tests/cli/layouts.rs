//! Tasks and solutions in the layouts in use, and what the command does with each.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::support::{Done, Folder, gzipped, mirror_program, mirror_task, tarred, zipped};

/// Runs the mirroring program for all tasks on what these options name.
pub(crate) fn run(folder: &Folder, options: &str) -> (Done, Value) {
    folder.write("mirror.py", mirror_program("p"));
    folder.run_json(&format!(
        "{options} --programs mirror.py --all-pairs --quiet"
    ))
}

/// The ids of the tasks in the document of a run, each with its outcomes.
pub(crate) fn outcomes(document: &Value) -> Vec<String> {
    let results = document["results"].as_array().unwrap();
    let of_task = |result: &Value| {
        let pairs = result["pairs"].as_array().unwrap().iter();
        let pairs = pairs.map(|pair| {
            let [split, outcome] = ["split", "outcome"].map(|key| pair[key].as_str().unwrap());
            format!(" {split} {outcome}")
        });
        format!(
            "{}:{}",
            result["task"].as_str().unwrap(),
            pairs.collect::<String>()
        )
    };
    results.iter().map(of_task).collect()
}

/// The results of a run of these files with these options, which has no errors.
#[track_caller]
pub(crate) fn check(files: &[(&str, Vec<u8>)], options: &str, expected: &[&str]) {
    let folder = Folder::new();
    for (name, bytes) in files {
        folder.write(name, bytes);
    }
    let (done, document) = run(&folder, options);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{options}");
    assert_eq!(outcomes(&document), expected, "{options}");
}

pub(crate) fn pair(a: i32, b: i32) -> Value {
    json!({ "input": [[a, b]], "output": [[b, a]] })
}

pub(crate) const RIGHT: &str = "train match train match test match";

#[test]
fn folders_are_gone_through_but_for_what_is_hidden() {
    let task = mirror_task().into_bytes();
    let files = [
        ("data/b.json", task.clone()),
        ("data/a/deep/c.json", task.clone()),
        ("data/.git/x.json", task.clone()),
        ("data/._b.json", b"\0\x05".to_vec()),
        ("data/__MACOSX/b.json", b"?".to_vec()),
        ("data/.ipynb_checkpoints/b.json", task),
        (
            "data/package.json",
            br#"{"name": "x", "version": "1"}"#.to_vec(),
        ),
    ];
    check(
        &files,
        "--tasks data",
        &[&format!("c: {RIGHT}"), &format!("b: {RIGHT}")],
    );
}

#[test]
#[cfg(unix)]
fn links_to_folders_are_not_followed() {
    let folder = Folder::new();
    folder.write("data/a.json", mirror_task());
    std::os::unix::fs::symlink(folder.path().join("data"), folder.path().join("data/again"))
        .unwrap();
    let (done, document) = run(&folder, "--tasks data");
    assert_eq!((done.code, outcomes(&document).len()), (0, 1));
    let done = folder.run("run --tasks data --programs mirror.py");
    assert!(
        done.stderr
            .contains("note: data/again: a link to a folder: not followed\n"),
        "{}",
        done.stderr
    );
}

#[test]
fn pairs_may_stand_without_a_task_around_them() {
    let pairs = json!([pair(1, 2), pair(3, 4), pair(5, 6)])
        .to_string()
        .into_bytes();
    let all = "train match train match train match";
    check(
        &[("a.json", pairs.clone())],
        "--tasks a.json",
        &[&format!("a: {all}")],
    );
    let by_id = json!({ "b": [pair(1, 2)], "c": [pair(3, 4)] })
        .to_string()
        .into_bytes();
    check(
        &[("x.json", by_id)],
        "--tasks x.json",
        &["b: train match", "c: train match"],
    );
    // Together with its task such a list is a further split, whichever is read first.
    for [first, second] in [["1", "2"], ["2", "1"]] {
        let files = [
            (&*format!("{first}/a.json"), mirror_task().into_bytes()),
            (&*format!("{second}/a.json"), pairs.clone()),
        ];
        let expected = format!("a: {RIGHT} pairs match pairs match pairs match");
        check(&files, "--tasks 1 2", &[&expected]);
    }
}

#[test]
fn tasks_stand_by_split_and_in_lines() {
    let task: Value = serde_json::from_str(&mirror_task()).unwrap();
    let by_split = json!({ "train": { "a": task }, "eval": { "b": task } }).to_string();
    let (a, b) = (format!("a: {RIGHT}"), format!("b: {RIGHT}"));
    check(
        &[("x.json", by_split.into_bytes())],
        "--tasks x.json",
        // In the order of the keys in the file.
        &[&b, &a],
    );
    let mut lines = String::new();
    for id in ["a", "b"] {
        let mut line = task.clone();
        line["id"] = id.into();
        let _ = writeln!(lines, "{line}");
    }
    check(
        &[("x.jsonl", lines.into_bytes())],
        "--tasks x.jsonl",
        &[&a, &b],
    );
}

#[test]
fn challenges_find_their_solutions_in_the_folder() {
    let challenge = json!({ "train": [pair(1, 2)], "test": [{ "input": [[3, 4]] }] });
    let file = |value: Value| value.to_string().into_bytes();
    let attempt = json!({ "attempt_1": [[0]], "attempt_2": [[0]] });
    let files = [
        (
            "k/arc_evaluation_challenges.json",
            file(json!({ "b": challenge })),
        ),
        (
            "k/arc_evaluation_solutions.json",
            file(json!({ "b": [[[4, 3]]] })),
        ),
        (
            "k/arc_test_challenges.json",
            file(json!({ "c": challenge })),
        ),
        (
            "k/arc_training_challenges.json",
            file(json!({ "a": challenge })),
        ),
        (
            "k/arc_training_solutions.json",
            file(json!({ "a": [[[7, 7]]] })),
        ),
        ("k/sample_submission.json", file(json!({ "c": [attempt] }))),
    ];
    let expected = [
        "b: train match test match",
        "c: train match test no_expected",
        "a: train match test mismatch",
    ];
    check(&files, "--tasks k", &expected);
    check(
        &files,
        "--tasks k/arc_evaluation_challenges.json k/arc_training_challenges.json \
         --solutions k/arc_evaluation_solutions.json --solutions k/arc_training_solutions.json",
        &[expected[0], expected[2]],
    );
}

#[test]
fn data_in_other_forms_is_told_in_one_line() {
    let folder = Folder::new();
    for name in [
        "a.csv",
        "b.csv",
        "train.orc",
        "x/t.xlsx",
        "a.npz",
        "a.pkl",
        "c.json.txt",
        "d.ipynb",
        "e.txt",
        "66cc44dd",
        "LICENSE",
        "a.png",
        "a.zst",
    ] {
        folder.write(&format!("data/{name}"), "?");
    }
    folder
        .write("data/readme.txt", "A [list]")
        .write("data/e.txt", format!(" {}", mirror_task()));
    let told = "data: 11 files of data in a form that is not read: 66cc44dd, a.csv, d.ipynb, a.npz, train.orc, a.pkl, \
                c.json.txt, x/t.xlsx, a.zst and 2 more of these kinds";
    let (done, _) = run(&folder, "--tasks data");
    assert_eq!(done.code, 2);
    folder.write("data/a.json", mirror_task());
    let done = folder.run("run --tasks data --programs mirror.py --all-pairs");
    assert!(
        done.code == 0 && done.stderr.starts_with(&format!("note: {told}")),
        "{}",
        done.stderr
    );
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    // In archives, too.
    let task = mirror_task();
    let mut files = [
        ("a.json", &*task),
        ("x/a.csv", ""),
        ("x/b.csv", ""),
        ("b.pkl", ""),
        ("x/11aa22bb.txt", ""),
        ("y/attempt_0.txt", ""),
        ("readme.txt", ""),
    ];
    folder.write("t.zip", zipped(&files));
    files[0].0 = "b.json";
    let files = files.map(|(name, text)| (name, text.as_bytes()));
    folder.write("t.tar", tarred(&files));
    let done = folder.run("run --tasks t.zip t.tar --programs mirror.py --all-pairs");
    for name in ["t.zip", "t.tar"] {
        let told = format!(
            "note: {name}: 5 files of data in a form that is not read: x/a.csv, b.pkl, x/11aa22bb.txt and 2 more of these \
             kinds\n"
        );
        assert!(done.stderr.contains(&told), "{}", done.stderr);
    }
    folder
        .write("train.parquet", "PAR1..")
        .write("a.npy", b"\x93NUMPY");
    let (done, _) = run(&folder, "--tasks train.parquet a.npy");
    let expected = "train.parquet: cannot be read as a table of Parquet or Arrow: ";
    assert!(done.stderr.starts_with(expected), "{}", done.stderr);
    assert!(
        done.stderr.ends_with("found an array of NumPy\n"),
        "{}",
        done.stderr
    );
}

#[test]
fn what_a_file_is_instead_is_said_in_our_words() {
    let folder = Folder::new();
    let instead = "expected text, as it is or packed with gzip, xz, zstd or bzip2, found";
    let pointer = "a pointer of Git LFS in the place of the file, which `git lfs pull` fetches";
    let encrypted = "an encrypted table of Parquet";
    let damaged = "cannot be unpacked: it is damaged or incomplete";
    for (name, content, message) in [
        (
            "a.json",
            b"version https://git-lfs.github.com/spec/v1\n".to_vec(),
            format!("{instead} {pointer}"),
        ),
        (
            "b.json",
            b"<!DOCTYPE html><html>".to_vec(),
            format!("{instead} a web page"),
        ),
        (
            "c.json",
            b"%PDF-1.7".to_vec(),
            format!("{instead} a PDF document"),
        ),
        (
            "d.json",
            b"SQLite format 3\0".to_vec(),
            format!("{instead} a database of SQLite"),
        ),
        (
            "e.parquet",
            b"PARE".to_vec(),
            format!("{instead} {encrypted}"),
        ),
        (
            "e.feather",
            b"FEA1".to_vec(),
            format!("{instead} a table of the first version of Feather"),
        ),
        (
            "e.avro",
            b"Obj\x01".to_vec(),
            format!("{instead} a table of Avro"),
        ),
        (
            "e.lz4",
            b"\x04\x22\x4d\x18{}".to_vec(),
            format!("{instead} a file packed with lz4"),
        ),
        (
            "e.Z",
            b"\x1f\x9d\x90{".to_vec(),
            format!("{instead} a file packed with compress"),
        ),
        (
            "e.lzma",
            b"\x5d\0\0\x80\0".to_vec(),
            format!("{instead} a file packed with lzma, without the frame of xz"),
        ),
        (
            "e.json.br",
            b"\x8b\x05\x80{}".to_vec(),
            format!("{instead} a file packed with brotli"),
        ),
        (
            "f.parquet",
            b"PAR1....".to_vec(),
            "cannot be read as a table of Parquet or Arrow: it is damaged or incomplete".to_owned(),
        ),
        (
            "g.json.zst",
            b"\x28\xb5\x2f\xfd?".to_vec(),
            damaged.to_owned(),
        ),
        (
            "h.json.gz",
            gzipped(&mirror_task())[..20].to_vec(),
            damaged.to_owned(),
        ),
        (
            "i.pt",
            b"PK\x03\x04?".to_vec(),
            "broken zip archive: it is damaged or incomplete".to_owned(),
        ),
        (
            "j.npz",
            zipped(&[("x.npy", "?")]),
            "no task files in this zip archive, but `x.npy`".to_owned(),
        ),
        (
            "k.zip",
            zipped(&[]),
            "no task files in this zip archive, which is empty".to_owned(),
        ),
    ] {
        folder.write(name, content);
        let (done, _) = run(&folder, &format!("--tasks {name}"));
        assert_eq!(
            (done.code, done.stderr),
            (2, format!("{name}: {message}\n"))
        );
    }
}

#[test]
fn tasks_that_are_given_twice_are_read_once() {
    let folder = Folder::new();
    folder
        .write("x/a.json", mirror_task())
        .write("a.py", mirror_program("solve_a"));
    for (paths, again) in [("x x/../x", "x/../x"), ("x/a.json x/a.json", "x/a.json")] {
        let done = folder.run(&format!("run --tasks {paths} --programs a.py"));
        let told = format!("note: {again}: given a second time, read once\n");
        assert_eq!((done.code, done.stderr.as_str()), (0, &*told));
    }
}

#[test]
fn rows_of_data_sets_may_call_their_parts_otherwise() {
    let row = json!({ "fewshots": [pair(1, 2), pair(0, 5)], "question": [pair(3, 4)] }).to_string();
    check(
        &[("rows.jsonl", format!("{row}\n{row}\n").into_bytes())],
        "--tasks rows.jsonl",
        &[&format!("rows_0: {RIGHT}"), &format!("rows_1: {RIGHT}")],
    );
}

/// A row of the data set with one test input of the task `a`, and what else it holds.
fn row(test: Value, rest: Value) -> Value {
    let mut row = json!({ "id": "a", "train": [pair(1, 2), pair(0, 5)] });
    row["test"] = vec![test].into();
    let Value::Object(rest) = rest else {
        panic!("expected an object, found {rest}");
    };
    row.as_object_mut().unwrap().extend(rest);
    row
}

fn lines(rows: &[Value]) -> Vec<u8> {
    let lines: Vec<_> = rows.iter().map(Value::to_string).collect();
    (lines.join("\n") + "\n").into_bytes()
}

#[test]
fn rows_of_one_task_are_put_together() {
    let wrong = json!({ "input": [[7, 8]], "output": [[7, 8]] });
    let open = json!({ "input": [[7, 8]] });
    let train = "a: train match train match";
    let [first, second] = [0, 1].map(|at| json!({ "test_index": at }));
    for (rows, expected) in [
        (
            [row(pair(3, 4), json!({})), row(wrong.clone(), json!({}))],
            "test match test mismatch",
        ),
        // In the order of their numbers.
        (
            [row(wrong.clone(), second.clone()), row(pair(3, 4), first)],
            "test match test mismatch",
        ),
        (
            [
                row(open.clone(), second.clone()),
                row(wrong.clone(), second),
            ],
            "test mismatch",
        ),
    ] {
        check(
            &[("rows.jsonl", lines(&rows))],
            "--tasks rows.jsonl",
            &[&format!("{train} {expected}")],
        );
        // In two files, too.
        let files = [
            ("x/1.jsonl", lines(&[rows[0].clone(), rows[0].clone()])),
            ("x/2.jsonl", lines(&[rows[1].clone(), rows[1].clone()])),
        ];
        check(&files, "--tasks x", &[&format!("{train} {expected}")]);
    }
    // Named by their numbers, in a table as pandas writes it, too.
    let id = "11aa22bb";
    let rows = [(1, &wrong), (0, &pair(3, 4))]
        .map(|(at, test)| row(test.clone(), json!({ "id": format!("{id}_{at}") })));
    let values = rows
        .each_ref()
        .map(|row| json!([row["id"], row["train"], row["test"]]));
    let table = json!({ "columns": ["id", "train", "test"], "index": [0, 1], "data": values });
    let expected = format!("{id}: train match train match test match test mismatch");
    for (name, rows) in [
        ("rows.jsonl", lines(&rows)),
        ("rows.json", table.to_string().into_bytes()),
    ] {
        check(&[(name, rows)], &format!("--tasks {name}"), &[&expected]);
    }
    // Two test inputs have no number together.
    let same = json!({ "test_index": 0 });
    let rows = lines(&[row(pair(3, 4), same.clone()), row(pair(5, 6), same)]);
    let folder = Folder::new();
    folder.write("rows.jsonl", rows);
    let (done, _) = run(&folder, "--tasks rows.jsonl");
    assert!(
        done.stderr.contains("a.test[0].input: differs from"),
        "{}",
        done.stderr
    );
    // Rows with other train pairs are no rows of one task.
    let folder = Folder::new();
    let other = json!({ "id": "a", "train": [pair(1, 2), pair(6, 5)], "test": [open] });
    folder.write("rows.jsonl", lines(&[row(pair(3, 4), json!({})), other]));
    let (done, document) = run(&folder, "--tasks rows.jsonl");
    let told = "rows.jsonl: a.train[1].input: differs from what stands before it in this file, which is used\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, told));
    assert_eq!(outcomes(&document), [format!("{train} test match")]);
}

#[test]
fn the_numbers_of_rows_say_the_places_of_test_inputs_or_their_order() {
    let wrong = json!({ "input": [[7, 8]], "output": [[7, 8]] });
    let train = "a: train match train match";
    // Under other names, and in other forms; the numbers of a table's rows only say the order.
    for key in ["test_num", "test_number", "test_pair_index", "idx"] {
        for [first, second] in [
            [json!(0), json!(1)],
            [json!("0"), json!("1")],
            [json!(0.0), json!(1.0)],
        ] {
            let rows = [
                row(wrong.clone(), json!({ key: second })),
                row(pair(3, 4), json!({ key: first })),
            ];
            let expected = format!("{train} test match test mismatch");
            check(
                &[("rows.jsonl", lines(&rows))],
                "--tasks rows.jsonl",
                &[&expected],
            );
        }
    }
    let numbered =
        |key: &str, number: usize, test: &Value| row(test.clone(), json!({ (key): number }));
    let submitted = |rows: &[Value]| {
        let folder = Folder::new();
        folder
            .write("rows.jsonl", lines(rows))
            .write("a.py", mirror_program("solve_a"));
        let done = folder.run("run --tasks rows.jsonl --programs a.py --submission s.json");
        let submission: Value =
            serde_json::from_slice(&fs::read(folder.path().join("s.json")).unwrap()).unwrap();
        let tests = submission["a"].as_array().unwrap().iter();
        let tests: Vec<_> = tests.map(|it| it["attempt_1"][0][0].clone()).collect();
        (done.stderr, tests)
    };
    let (first, second) = (pair(3, 4), pair(5, 6));
    for key in ["idx", "test_index"] {
        let (told, tests) = submitted(&[numbered(key, 57, &second), numbered(key, 55, &first)]);
        let places = if key == "idx" { 2 } else { 58 };
        assert_eq!((&*told, tests.len()), ("", places));
        assert_eq!(tests[tests.len() - 1], 6);
    }
    // A table may number all rows of a task alike.
    let (told, tests) = submitted(&[numbered("idx", 5, &second), numbered("idx", 5, &first)]);
    assert_eq!((&*told, tests), ("", vec![json!(6), json!(4)]));
    for (rows, what, expected) in [
        (
            [
                numbered("test_num", 2, &second),
                numbered("test_num", 1, &first),
            ],
            "there is no 0, so 1 is taken for the first test input",
            [4, 6],
        ),
        (
            [
                numbered("test_index", 1, &second),
                row(first.clone(), json!({})),
            ],
            "some have none, so their order counts",
            [6, 4],
        ),
    ] {
        let (told, tests) = submitted(&rows);
        let note = format!(
            "note: rows.jsonl: 1 of the tasks come from rows with numbers of test inputs, of which {what}; the first \
             is a\n"
        );
        assert_eq!((told, tests), (note, expected.map(|it| json!(it)).to_vec()));
    }
}

#[test]
fn the_description_of_a_data_set_is_passed_by() {
    let feature = json!({ "feature": { "dtype": "int64", "_type": "Value" }, "_type": "List" });
    let info = json!({ "citation": "", "features": { "train": { "feature": { "input": feature } }, "test": feature },
        "splits": { "train": { "num_examples": 1 } } });
    let folder = Folder::new();
    folder
        .write("sd/train/dataset_info.json", info.to_string())
        .write(
            "sd/train/state.json",
            r#"{"_data_files": [{"filename": "data.arrow"}], "_split": "train"}"#,
        )
        .write("sd/dataset_dict.json", r#"{"splits": ["train"]}"#)
        .write("sd/train/a.json", mirror_task())
        .write("a.py", mirror_program("solve_a"));
    let done = folder.run("run --tasks sd --programs a.py");
    let told = "note: sd/train/dataset_info.json: passed over: the description of a data set\n";
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains(told), "{}", done.stderr);
}

#[test]
fn a_bad_pair_is_left_out_and_large_grids_are_run() {
    let folder = Folder::new();
    let wide: Vec<i32> = (0..45).map(|at| at % 12).collect();
    let back: Vec<i32> = wide.iter().rev().copied().collect();
    let bad = json!({ "input": [[1, "x"]], "output": [[0]] });
    let large = json!({ "input": [wide], "output": [back] });
    let task = json!({ "train": [pair(1, 2), bad, large], "test": [{ "input": [[1, 2]], "output": null }] });
    folder.write("a.json", task.to_string());
    let (done, document) = run(&folder, "--tasks a.json");
    assert_eq!(done.code, 2);
    assert!(
        done.stderr
            .contains(": train[1].input[0][1]: expected a colour: an integer from"),
        "{}",
        done.stderr
    );
    assert_eq!(
        outcomes(&document),
        ["a: train match train match test no_expected"]
    );
    let done = folder.run("run --tasks a.json --programs mirror.py");
    assert!(
        done.stderr
            .contains("note: a.json: 1 of the tasks have grids beyond 30 rows"),
        "{}",
        done.stderr
    );
    for test in ["", ", \"test\": null", ", \"test\": []"] {
        let text = format!("{{\"train\": [{}]{test}}}", pair(1, 2));
        check(
            &[("a.json", text.into_bytes())],
            "--tasks a.json",
            &["a: train match"],
        );
    }
}

#[test]
fn other_splits_are_run_and_counted_by_themselves() {
    let folder = Folder::new();
    let wrong = json!({ "input": [[1, 2]], "output": [[5, 5]] });
    let task =
        json!({ "train": [pair(1, 2)], "test": [pair(3, 4)], "arc-gen": [wrong, pair(5, 6)] });
    folder.write("a.json", task.to_string());
    let (done, document) = run(&folder, "--tasks a.json");
    assert_eq!(done.code, 0);
    assert_eq!(
        outcomes(&document),
        ["a: train match test match arc-gen mismatch arc-gen match"]
    );
    let key = |key: &str| document[key].as_u64().unwrap();
    assert_eq!(
        [
            key("tasks_solved"),
            key("pairs_right"),
            key("pairs_expected")
        ],
        [1, 2, 2]
    );
    let counts = json!({ "evaluations": 2, "right": 1, "pairs_expected": 2, "pairs_right": 1 });
    assert_eq!(document["by_split"], json!({ "arc-gen": counts }));
    let done = folder.run("run --tasks a.json --programs mirror.py --all-pairs");
    assert!(
        done.stdout
            .contains("\n  arc-gen                  1 of 2\n"),
        "{}",
        done.stdout
    );
}

#[test]
fn what_is_known_in_two_places_is_put_together() {
    let open = json!({ "train": [pair(1, 2)], "test": [pair(3, 4)] });
    let closed = json!({ "train": [pair(1, 2)], "test": [{ "input": [[3, 4]] }] });
    let file = |value: &Value| value.to_string().into_bytes();
    let files = [("o/a.json", file(&open)), ("c/a.json", file(&closed))];
    for options in ["--tasks o c", "--tasks c o"] {
        check(&files, options, &["a: train match test match"]);
    }
    let folder = Folder::new();
    let other = json!({ "train": [pair(1, 2)], "test": [{ "input": [[3, 4]], "output": [[0]] }] });
    folder
        .write("o/a.json", file(&open))
        .write("x/a.json", file(&other));
    folder.write("x/b.json", file(&open));
    let (done, document) = run(&folder, "--tasks o x");
    let expected = "x/a.json: a.test[0].output: differs from what `o/a.json` has, which is used\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, expected));
    assert_eq!(outcomes(&document)[0], "a: train match test match");
    let done = folder.run("run --tasks o x/b.json --programs mirror.py");
    let note = "note: x/b.json: a and b have the same pairs\n";
    assert!(done.stderr.contains(note), "{}", done.stderr);
}

#[test]
fn files_of_one_name_in_several_folders_are_several_tasks() {
    let folder = Folder::new();
    let turned =
        json!({ "train": [{ "input": [[1], [2]], "output": [[2], [1]] }], "test": [pair(3, 3)] })
            .to_string();
    let versions = [
        ("easy", mirror_task()),
        ("hard", turned.clone()),
        ("more/v1", mirror_task()),
    ];
    for (name, text) in &versions {
        folder.write(&format!("t/{name}/7.json"), text);
    }
    folder
        .write("p/easy/p.py", mirror_program("solve_7"))
        .write(
            "p/hard/7.py",
            mirror_program("solve").replace("vmirror", "hmirror"),
        )
        .write("q.py", mirror_program("solve_7"))
        .write(
            "r.py",
            format!("# task: hard/7\n{}", mirror_program("solve")),
        );
    let (done, document) = folder.run_json("--tasks t --programs p --quiet");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    // The third file is a version of the first.
    let expected = [
        format!("easy/7: {RIGHT}"),
        "hard/7: train match test match".to_owned(),
    ];
    assert_eq!(outcomes(&document), expected);
    let done = folder.run("run --tasks t --programs q.py");
    let named = "note: t/easy/7.json: 7 is the name of 2 tasks, which are called easy/7, hard/7\n";
    assert_eq!((done.code, done.stderr.as_str()), (0, named));
    let several =
        "note: solve_7 may be for each of easy/7, hard/7, and is run on each; a line `# task: ID`";
    assert!(done.stdout.contains(several), "{}", done.stdout);
    let (_, document) = folder.run_json("--tasks t --programs r.py --quiet");
    assert_eq!(outcomes(&document), ["hard/7: train mismatch test match"]);
    for (ids, count) in [("7", 2), ("easy/7", 1)] {
        let (done, document) =
            folder.run_json(&format!("--tasks t --ids {ids} --programs q.py --quiet"));
        assert_eq!((done.code, outcomes(&document).len()), (0, count));
    }
    // However the files are given.
    folder.write("t/easy/solution.py", mirror_program("solve_7"));
    for (inside, tasks, program) in [
        ("t/easy", ". ../hard", "solution.py"),
        ("t/easy", "7.json ../hard/7.json", "./solution.py"),
        ("t/hard", "../hard ../easy", "../easy/solution.py"),
        ("t/hard/..", "hard/../easy hard", "easy/solution.py"),
        ("t/easy/x", "../../hard ..", "../solution.py"),
    ] {
        fs::create_dir_all(folder.path().join(inside)).unwrap();
        let run = format!("run --tasks {tasks} --programs {program} --json - --quiet");
        let mut command = folder.command(&run);
        let done = crate::support::done(
            command
                .current_dir(folder.path().join(inside))
                .output()
                .unwrap(),
        );
        let document = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!((done.code, &*done.stderr), (0, ""), "{inside}: {run}");
        assert_eq!(
            outcomes(&document),
            [format!("easy/7: {RIGHT}")],
            "{inside}: {run}"
        );
    }
    // One of them alone has the name of its file.
    let (_, document) = folder.run_json("--tasks t/hard --programs q.py --quiet");
    assert_eq!(outcomes(&document), ["7: train mismatch test match"]);
    // The same name with the same train pairs, or an id of the ARC data, is one task.
    let other = mirror_task().replace("[[4,3]]", "[[0]]");
    folder
        .write("o/1/a.json", mirror_task())
        .write("o/2/a.json", other)
        .write("o/1/00aa11bb.json", mirror_task())
        .write("o/2/00aa11bb.json", turned);
    let (done, document) = folder.run_json("--tasks o --programs q.py --all-pairs --quiet");
    assert_eq!(
        (
            done.code,
            outcomes(&document).len(),
            done.stderr.lines().count()
        ),
        (2, 2, 2),
        "{}",
        done.stderr
    );
}

#[test]
fn a_file_of_a_common_name_has_that_of_its_folder() {
    let folder = Folder::new();
    let names = ["11aa22bb", "33cc44dd", "mine_7"];
    for name in names {
        folder
            .write(
                &format!("data/{name}/task.json"),
                mirror_task().replace('5', &name[4..5].replace(|c: char| !c.is_ascii_digit(), "6")),
            )
            .write(&format!("sol/{name}/solution.py"), mirror_program("solve"))
            .write(
                &format!("attempts/{name}/attempt_1/solution.py"),
                mirror_program("solve"),
            );
    }
    let (done, document) = folder.run_json("--tasks data --programs sol --quiet");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(
        outcomes(&document),
        names.map(|name| format!("{name}: {RIGHT}"))
    );
    let programs: Vec<_> = document["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["program"].as_str().unwrap())
        .collect();
    assert_eq!(programs, ["solve_11aa22bb", "solve_33cc44dd", "solve_7"]);
    let (_, document) = folder.run_json("--tasks data --programs attempts/11aa22bb --quiet");
    assert_eq!(document["results"][0]["program"], "solve_11aa22bb");
    // Named by themselves, as a shell names them.
    let (done, document) = folder.run_json(
        "--tasks data/11aa22bb/task.json data/33cc44dd/task.json --programs sol/11aa22bb/solution.py --quiet",
    );
    assert_eq!(
        (done.code, outcomes(&document)),
        (0, vec![format!("11aa22bb: {RIGHT}")]),
        "{}",
        done.stderr
    );
    // A folder that was named says nothing, and neither does one like `data`.
    folder
        .write("x/task.json", mirror_task())
        .write("y/data/task.json", mirror_task());
    for options in ["--tasks x/task.json", "--tasks x", "--tasks y"] {
        let (_, document) = run(&folder, options);
        assert_eq!(outcomes(&document), [format!("task: {RIGHT}")], "{options}");
    }
}

/// As ARC-AGI-2 contains tasks of ARC-AGI-1.
#[test]
fn pairs_in_another_order_are_no_contradiction() {
    let one =
        json!({ "train": [pair(1, 2), pair(5, 6)], "test": [pair(3, 4), { "input": [[7, 8]] }] });
    let other =
        json!({ "train": [pair(5, 6), pair(1, 2)], "test": [pair(7, 8), { "input": [[3, 4]] }] });
    let folder = Folder::new();
    folder
        .write("1/a.json", one.to_string())
        .write("2/a.json", other.to_string());
    let (done, document) = run(&folder, "--tasks 1 2");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        outcomes(&document),
        ["a: train match train match test match test match"]
    );
    let done = folder.run("run --tasks 1 2 --programs mirror.py");
    let note = "note: 2/a.json: 1 of the tasks are in another file too, with their pairs in another \
                order: the order that was read first is used; the first is a\n";
    assert!(done.stderr.contains(note), "{}", done.stderr);
}

#[test]
fn the_same_error_many_times_is_told_once() {
    let folder = Folder::new();
    for at in 0..30 {
        folder.write(
            &format!("data/{at:02}a.json"),
            "{\"trian\": [{\"input\": [[1]]}], \"test_\": 1}",
        );
    }
    let (done, document) = run(&folder, "--tasks data");
    assert_eq!(document["input_errors"].as_array().unwrap().len(), 30);
    let lines: Vec<_> = done.stderr.lines().collect();
    assert_eq!(
        lines[0],
        "data/00a.json:1:1: expected a task: an object with the keys `train` and `test`, found the keys \
         `trian`, `test_` (30 times)"
    );
    assert_eq!(
        (lines[1], lines[10]),
        ("  data/01a.json:1:1", "  and 20 more")
    );
    assert_eq!((done.code, lines.len()), (2, 11));
}

#[test]
fn tasks_are_chosen_by_their_ids() {
    let files = ["a", "b", "c"].map(|id| (format!("data/{id}.json"), mirror_task().into_bytes()));
    let mut files: Vec<_> = files
        .iter()
        .map(|(name, text)| (&**name, text.clone()))
        .collect();
    files.push(("ids.txt", b"c\n\"a\", ".to_vec()));
    let (a, b, c) = (
        format!("a: {RIGHT}"),
        format!("b: {RIGHT}"),
        format!("c: {RIGHT}"),
    );
    check(&files, "--tasks data --ids c,b", &[&b, &c]);
    check(&files, "--tasks data --ids-file ids.txt", &[&a, &c]);
    let files = [("data/007bbfb7.json", mirror_task().into_bytes())];
    let options = "--tasks data --ids training/007bbfb7";
    check(&files, options, &[&format!("007bbfb7: {RIGHT}")]);
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    let (done, document) = run(&folder, "--tasks a.json --ids a,nn");
    let expected = "--ids: nn: no task of this id among the tasks\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, expected));
    assert_eq!(outcomes(&document), [a]);
}

#[test]
fn text_in_other_forms_is_named() {
    let folder = Folder::new();
    folder.write("a.json", mirror_task());
    for (name, text, found) in [
        ("a.csv", "id,input\n1,2\n", "a CSV file"),
        ("a.tsv", "id\tinput\n", "a table with tabs"),
        ("a.yaml", "a: 1\n", "a YAML file"),
        ("a.pkl", "(dp0\nV1\n", "a pickle of Python"),
    ] {
        folder.write(name, text);
        let of_tasks = format!("run --tasks {name} --all-pairs");
        let of_programs = format!("run --tasks a.json --programs {name}");
        for command in [
            of_tasks,
            of_programs,
            format!("score {name} --tasks a.json"),
        ] {
            let done = folder.run(&command);
            let first = done.stderr.lines().next().unwrap_or_default();
            let is_told = first.starts_with(name) && first.contains(&format!("found {found}"));
            assert!(done.code == 2 && is_told, "{command}: {}", done.stderr);
        }
    }
}

#[test]
fn a_task_without_test_pairs_is_searched() {
    let folder = Folder::new();
    folder.write(
        "a.json",
        json!({ "train": [pair(1, 2), pair(3, 4)] }).to_string(),
    );
    let done =
        folder.run("search --tasks a.json --nodes 300 --workers 1 --programs-out found.py --quiet");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let (_, document) = folder.run_json("--tasks a.json --programs found.py --quiet");
    assert_eq!(document["tasks_solved"], 1, "{document}");
}

/// Lists of ids by split, as some data sets have them, are no tasks.
#[test]
fn lists_of_ids_in_a_folder_are_passed_over() {
    let folder = Folder::new();
    folder.write("data/a.json", mirror_task());
    folder.write("data/split.json", r#"{"train": ["a", "b"], "test": ["c"]}"#);
    let (done, document) = run(&folder, "--tasks data");
    assert_eq!((done.code, document["tasks"].as_u64()), (0, Some(1)));
    folder.write("p.py", mirror_program("p"));
    let done = folder.run("run --tasks data --programs p.py --all-pairs");
    assert!(
        done.stderr
            .contains("found lists of text, as of the ids of tasks"),
        "{}",
        done.stderr
    );
}
