//! Tasks, solutions and submissions in the layouts in use, and what the command does with each.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::support::{Done, Folder, gzipped, mirror_program, mirror_task, zipped};

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
fn check(files: &[(&str, Vec<u8>)], options: &str, expected: &[&str]) {
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
fn packed_tasks_are_known_by_their_content() {
    let task = mirror_task();
    let a = format!("a: {RIGHT}");
    check(&[("a.json.gz", gzipped(&task))], "--tasks a.json.gz", &[&a]);
    check(&[("x/a.json", gzipped(&task))], "--tasks x", &[&a]);
    let files = [
        ("x/a.json", &*task),
        ("__MACOSX/x/._a.json", "?"),
        ("x/readme.txt", "?"),
    ];
    check(&[("data/t.zip", zipped(&files))], "--tasks data", &[&a]);
    let mark = format!("\u{feff}{task}").into_bytes();
    check(&[("a.json", mark)], "--tasks a.json", &[&a]);

    let folder = Folder::new();
    let wide: Vec<u8> = task.encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder
        .write("a.json", wide)
        .write("b.json.gz", &gzipped(&task)[..20]);
    folder.write("c.zip", &zipped(&files)[..40]);
    let (done, _) = run(&folder, "--tasks a.json b.json.gz c.zip");
    let lines: Vec<_> = done.stderr.lines().collect();
    assert_eq!(lines[0], "a.json:1:1: UTF-16 text: expected UTF-8");
    assert!(
        lines[1].starts_with("b.json.gz: cannot be unpacked: "),
        "{}",
        done.stderr
    );
    assert!(
        lines[2].starts_with("c.zip: broken zip archive: "),
        "{}",
        done.stderr
    );
    assert_eq!((done.code, lines.len()), (2, 3));
}

/// A task of one pair, as xz, zstd and bzip2 pack it.
const PACKED: [(&str, &str); 3] = [
    (
        "xz",
        "fd377a585a000004e6d6b446020021011c00000010cf58cce0003700305d003d888a876381965a9edb2a2dba57e4c32f1b72 \
         d04bf0475adde3ed52075b79f4d23acfb67f07f55548da3fb490a051e00011d0bceb5f296fe700014c38bc0d48541fb6f37d \
         010000000004595a",
    ),
    (
        "zst",
        "28b52ffd00688d010012430a0fc0eb749935a22d9bfaaf0f05752d2fcd277845cebad9a0e1ebb07628b813fc42a6909da029 \
         239d2c010053369d",
    ),
    (
        "bz2",
        "425a6839314159265359c286a75f00001a9b8010043010000a2221de0a200054532626419182553f526d4f4d4f5321e9ef13 \
         fdc503bc32580b101d53bf2df4f91a166e6a8a6b2a2a63b6a177245385090c286a75f0",
    ),
];

fn packed_task(digits: &str) -> Vec<u8> {
    let digits = digits.replace(' ', "");
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn tarred(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn tasks_are_unpacked_however_they_are_packed() {
    let train = "a: train match";
    for (extension, digits) in PACKED {
        let packed = packed_task(digits);
        let name = format!("a.json.{extension}");
        check(
            &[(&*name, packed.clone())],
            &format!("--tasks {name}"),
            &[train],
        );
        // Known by its content, found by its name.
        check(&[("a.json", packed.clone())], "--tasks a.json", &[train]);
        check(
            &[(&*format!("x/{name}"), packed.clone())],
            "--tasks x",
            &[train],
        );
        // Several streams after each other are one.
        let twice = [packed.clone(), packed.clone()].concat();
        let folder = Folder::new();
        folder
            .write("a.json", twice)
            .write("b.json", &packed[..packed.len() - 9]);
        let (done, _) = run(&folder, "--tasks a.json b.json");
        let lines: Vec<_> = done.stderr.lines().collect();
        assert!(
            lines[0].contains("expected nothing more behind the value"),
            "{extension}: {}",
            done.stderr
        );
        assert!(
            lines[1].starts_with("b.json: cannot be unpacked: "),
            "{extension}: {}",
            done.stderr
        );
    }
}

#[test]
fn tar_archives_are_read_as_zip_archives_are() {
    let task = mirror_task();
    let packed = packed_task(PACKED[0].1);
    let files = [
        ("./x/a.json", task.as_bytes()),
        ("x/b.json.xz", &packed),
        ("x/._a.json", b"?"),
        ("x/readme.txt", b"?"),
    ];
    let (a, b) = (format!("a: {RIGHT}"), "b: train match");
    let plain = tarred(&files);
    let mut zipped = GzEncoder::new(Vec::new(), Compression::default());
    zipped.write_all(&plain).unwrap();
    let zipped = zipped.finish().unwrap();
    for (name, bytes) in [("t.tar", &plain), ("t.tar.gz", &zipped), ("t.tgz", &zipped)] {
        check(
            &[(name, bytes.clone())],
            &format!("--tasks {name}"),
            &[&a, b],
        );
        check(
            &[(&*format!("x/{name}"), bytes.clone())],
            "--tasks x",
            &[&a, b],
        );
    }
    let folder = Folder::new();
    let other = task.replace("[0,5]", "[0,6]");
    let program = mirror_program("solve_a");
    let files = [
        ("a.json", other.as_bytes()),
        ("a.json", task.as_bytes()),
        ("a.py", program.as_bytes()),
        ("inner.7z", b""),
    ];
    let whole = tarred(&files);
    folder
        .write("t.tar", &whole)
        .write("cut.tar", &whole[..700])
        .write("none.tar", tarred(&files[2..]));
    let (done, document) = folder.run_json("--tasks t.tar --programs t.tar");
    let differ = "t.tar/a.json: 2 files of this name in the archive, which differ: expected one, the last one is read\n";
    assert!(done.stderr.contains(differ), "{}", done.stderr);
    assert!(
        done.stderr
            .contains("archives within archives are not read: inner.7z"),
        "{}",
        done.stderr
    );
    assert_eq!((done.code, outcomes(&document)), (2, vec![a]));
    let (done, _) = run(&folder, "--tasks cut.tar none.tar");
    assert_eq!(
        done.stderr,
        "cut.tar: broken tar archive\nnone.tar: no task files in this tar archive, but `a.py`\n"
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
    ] {
        folder.write(&format!("data/{name}"), "?");
    }
    folder
        .write("data/readme.txt", "A [list]")
        .write("data/e.txt", format!(" {}", mirror_task()));
    let told = "data: 10 files of data in a form that is not read: 66cc44dd, a.csv, d.ipynb, a.npz, train.orc, a.pkl, \
                c.json.txt, x/t.xlsx and 2 more of these kinds";
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
        ("readme.txt", ""),
    ];
    folder.write("t.zip", zipped(&files));
    files[0].0 = "b.json";
    let files = files.map(|(name, text)| (name, text.as_bytes()));
    folder.write("t.tar", tarred(&files));
    let done = folder.run("run --tasks t.zip t.tar --programs mirror.py --all-pairs");
    for name in ["t.zip", "t.tar"] {
        let told = format!(
            "note: {name}: 3 files of data in a form that is not read: x/a.csv, b.pkl and 1 more of these kinds\n"
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
fn archives_that_are_not_read_are_said_to_be_packed() {
    let folder = Folder::new();
    folder
        .write("t.7z", b"7z\xbc\xaf\x27\x1c...")
        .write("a.py", mirror_program("solve_a"))
        .write("a.json", mirror_task());
    let message = "t.7z: expected text, as it is or packed with gzip, xz, zstd or bzip2, found a 7z archive, which has to \
                   be unpacked first\n";
    for options in [
        "--tasks t.7z --programs a.py",
        "--tasks a.json --programs t.7z",
    ] {
        let done = folder.run(&format!("run {options}"));
        assert_eq!((done.code, done.stderr.as_str()), (2, message), "{options}");
    }
}

#[test]
fn what_of_an_archive_is_not_read_is_told() {
    let folder = Folder::new();
    let task = mirror_task();
    let other = task.replace("[0,5]", "[0,6]");
    let program = mirror_program("solve_a");
    let wrong = program.replace("vmirror", "hmirror");
    // No archiver gives two files one name: the archive is patched afterwards.
    let files = [
        ("a.json", &*other),
        ("b.json", &task),
        ("c.json", &task),
        ("d.json", &task),
        ("a.py", &wrong),
        ("b.py", &program),
        ("inner.zip", ""),
        ("inner.tar.gz", ""),
    ];
    let mut packed = zipped(&files);
    for (name, instead) in [("b.json", "a.json"), ("d.json", "c.json"), ("b.py", "a.py")] {
        while let Some(at) = packed
            .windows(name.len())
            .position(|part| part == name.as_bytes())
        {
            packed[at..at + name.len()].copy_from_slice(instead.as_bytes());
        }
    }
    folder.write("t.zip", &packed).write("x/t.zip", &packed);
    folder.write("x/u.rar", "").write("x/v.7z", "");
    for place in ["t.zip", "x"] {
        let (done, document) = folder.run_json(&format!("--tasks {place} --programs {place}"));
        let archive = if place == "x" { "x/t.zip" } else { place };
        let differ =
            "2 files of this name in the archive, which differ: expected one, the last one is read";
        for line in [
            format!("note: {archive}: archives within archives are not read: inner.zip and 1 more"),
            format!("{archive}/a.json: {differ}"),
            format!("{archive}/a.py: {differ}"),
        ] {
            let count = done.stderr.lines().filter(|it| **it == line).count();
            assert_eq!(count, 1, "{line}\n{}", done.stderr);
        }
        // Identical entries are no loss.
        assert!(!done.stderr.contains("c.json: 2 files"), "{}", done.stderr);
        let folder_told = "note: x/u.rar: this archive and 1 more in the folder are not read here: they have to \
                           be unpacked first\n";
        assert_eq!(
            done.stderr.contains(folder_told),
            place == "x",
            "{}",
            done.stderr
        );
        assert_eq!(
            (done.code, outcomes(&document)),
            (2, vec![format!("a: {RIGHT}")])
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
fn a_small_file_does_not_unpack_to_more_than_a_file_may_have() {
    let folder = Folder::new();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    // Not so alike that it is refused for how small it is packed.
    let noise = (0..1_u32 << 14).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8);
    let block: Vec<u8> = noise.chain(vec![b' '; 1 << 20]).collect();
    for _ in 0..=1024 {
        packed.write_all(&block).unwrap();
    }
    folder.write("a.json.gz", packed.finish().unwrap());
    let (done, _) = run(&folder, "--tasks a.json.gz");
    let expected =
        "a.json.gz: unpacks to more than 1073741824 bytes: expected 1073741824 at most\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, expected));
}

#[test]
fn a_file_is_not_unpacked_to_many_times_its_size() {
    // Blocks of zstd that each repeat a space 2^17 times.
    let mut packed = b"\x28\xb5\x2f\xfd\x00\x38".to_vec();
    for left in (0..600).rev() {
        let head = (1_u32 << 17) << 3 | 1 << 1 | u32::from(left == 0);
        packed.extend(&head.to_le_bytes()[..3]);
        packed.push(b' ');
    }
    let folder = Folder::new();
    folder.write("a.json.zst", &packed);
    folder.write("a.py", mirror_program("solve_a"));
    let told = "unpacks to more than 67108864 bytes: expected 67108864 at most";
    for options in [
        "--tasks a.json.zst --programs a.py",
        "--tasks x --programs a.json.zst",
    ] {
        let done = folder.run(&format!("run {options}"));
        assert_eq!(done.code, 2);
        let told = format!("a.json.zst: {told}\n");
        assert!(done.stderr.contains(&told), "{}", done.stderr);
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

/// A submission has attempts even for a test input that could not be read, so that the others keep their positions.
#[test]
fn a_submission_keeps_the_places_of_test_inputs() {
    let folder = Folder::new();
    let bad = json!({ "input": [[1, "x"]] });
    let task = json!({ "train": [pair(1, 2)], "test": [bad, { "input": [[3, 4]] }] });
    folder.write("a.json", task.to_string());
    folder.write("sols.json", r#"{"a": [[[9]], [[4, 3]]]}"#);
    let (done, document) = run(
        &folder,
        "--tasks a.json --solutions sols.json --submission sub.json",
    );
    assert_eq!(done.code, 2);
    assert_eq!(
        outcomes(&document),
        ["a: train match test match"],
        "{}",
        done.stderr
    );
    let submission: Value =
        serde_json::from_slice(&fs::read(folder.path().join("sub.json")).unwrap()).unwrap();
    let tests = submission["a"].as_array().unwrap();
    assert_eq!(tests.len(), 2);
    assert_eq!(tests[1]["attempt_1"], json!([[4, 3]]));
    let done = folder.run("check sub.json --tasks a.json");
    assert!(!done.stderr.contains("sub.json"), "{}", done.stderr);
    let done = folder.run("score sub.json --solutions sols.json");
    assert!(done.stdout.contains("1 of 2"), "{}", done.stdout);
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
            .write(&format!("sol/{name}/solution.py"), mirror_program("solve"));
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

const SOLUTIONS: &str = "{\"a\": [[[9, 8]]], \"b\": [[[9, 8]], [[7]]]}";

#[test]
fn submissions_are_scored_as_far_as_they_can_be_read() {
    let score = |text: &str| {
        let folder = Folder::new();
        folder.write("so.json", SOLUTIONS).write("sub", text);
        let done = folder.run("score sub --solutions so.json");
        let right = done.stdout.lines().next().unwrap_or_default();
        (
            done.code,
            right.trim_start_matches("test inputs right  ").to_owned(),
            done.stderr,
        )
    };
    let right = r#"{"attempt_1": [[0]], "attempt_2": [[9, 8]]}"#;
    let whole = format!(
        "{{\"a\": [{right}], \"b\": [{right}, {{\"attempt_1\": [[7]], \"attempt_2\": [[0]]}}]}}"
    );
    assert_eq!(score(&whole), (0, "3 of 3 (100.00%)".into(), String::new()));
    assert_eq!(score(&format!("\u{feff}{whole}")).1, "3 of 3 (100.00%)");
    let (code, scored, told) = score(&whole.replace("[[0]]", "null"));
    assert_eq!((code, &*scored), (0, "3 of 3 (100.00%)"));
    assert!(
        told.starts_with("note: sub:1:22: a[0].attempt_1: no grid but null: it counts as wrong\n"),
        "{told}"
    );
    let (code, scored, told) = score(&whole.replace("[[9, 8]]", "[[9.5, 8]]"));
    assert_eq!((code, &*scored), (2, "1 of 3 (33.33%)"));
    let expected = "a[0].attempt_2[0][0]: expected a colour: an integer from -128 to 127, found number `9.5`\n";
    assert!(told.contains(expected), "{told}");
    let csv = "output_id,output\na_0,\"|98| |0|\"\nb_1,|1| |2| |7|\nb_0,|x|\n";
    let (code, scored, told) = score(csv);
    assert_eq!((code, &*scored), (2, "2 of 3 (66.67%)"));
    assert_eq!(
        told,
        "sub:4:1: b_0 attempt 1: expected a grid: rows of digits, as |12|34|, found \"|x|\"\n"
    );
    let (code, scored, told) = score(&whole.replace("\"a\"", "\"y\"").replace("\"b\"", "\"z\""));
    assert_eq!((code, &*scored), (2, "0 of 3 (0.00%)"));
    assert_eq!(
        told,
        "sub: none of its tasks is among those whose outputs are known\n"
    );
}

#[test]
fn a_folder_of_attempts_by_task_is_a_submission() {
    let folder = Folder::new();
    folder.write("so.json", SOLUTIONS);
    let answer = json!({ "answer": [[9, 8]], "metadata": { "pair_index": 0 } });
    folder.write(
        "sub/a.json",
        json!([{ "attempt_1": answer, "attempt_2": null }]).to_string(),
    );
    let done = folder.run("score sub --solutions so.json");
    assert_eq!(done.code, 0);
    assert!(
        done.stdout.starts_with("test inputs right  1 of 3"),
        "{}",
        done.stdout
    );
}

/// As ARC Prize's own harness writes them.
#[test]
fn a_pair_index_decides_which_test_input_is_scored() {
    let folder = Folder::new();
    let task = json!({ "train": [pair(1, 2)], "test": [pair(5, 6), pair(7, 8)] });
    let attempts = |answers: [(Value, u32); 2]| {
        let [one, two] = answers.map(
            |(answer, index)| json!({ "answer": answer, "metadata": { "pair_index": index } }),
        );
        json!({ "attempt_1": one, "attempt_2": two })
    };
    let of = |first, second| json!([attempts(first), attempts(second)]).to_string();
    let second = [(json!([[8, 7]]), 1), (json!([]), 1)];
    folder
        .write("tasks/a.json", task.to_string())
        .write(
            "sub/a.json",
            of(second.clone(), [(json!([]), 0), (json!([[6, 5]]), 0)]),
        )
        .write(
            "sub/results.json",
            r#"{"score": 1.0, "task_results": {"a": {"score": 1.0}}}"#,
        )
        .write(
            "beyond/a.json",
            of(second.clone(), [(json!([[6, 5]]), 0), (json!([[6, 5]]), 2)]),
        );
    let done = folder.run("score sub --tasks tasks");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.starts_with("test inputs right  2 of 2"),
        "{}",
        done.stdout
    );
    let passed_over = "note: sub/results.json:1:1: passed over: expected a submission: an object that holds for each \
                       task a list of attempts, found the keys `score`, `task_results`\n";
    assert!(done.stderr.starts_with(passed_over), "{}", done.stderr);
    assert_eq!(
        done.stderr
            .matches("no grid but []: it counts as wrong")
            .count(),
        2
    );
    let beyond = "[1].attempt_2.answer: the `pair_index` 2 is of no test input: the task has 2 test inputs, counted \
                  from 0\n";
    for command in ["score", "check"] {
        let done = folder.run(&format!("{command} beyond --tasks tasks"));
        assert_eq!(
            (done.code, done.stderr.matches(beyond).count()),
            (2, 1),
            "{}",
            done.stderr
        );
    }
    // By itself, such a file is told as an error.
    let done = folder.run("score sub/results.json --tasks tasks");
    assert_eq!(
        (done.code, done.stderr.lines().count()),
        (2, 1),
        "{}",
        done.stderr
    );
}

#[test]
fn an_empty_list_is_no_answer_and_two_attempts_count() {
    let folder = Folder::new();
    let tasks = json!({ "a": { "train": [pair(1, 2)], "test": [pair(5, 6)] } });
    let all = (1..9).map(|at| (format!("attempt_{at}"), json!([[at]])));
    let eight: serde_json::Map<_, _> = all.collect();
    folder
        .write("tasks.json", tasks.to_string())
        .write(
            "empty.json",
            r#"{"a": [{"attempt_1": [], "attempt_2": [[6, 5]]}]}"#,
        )
        .write("eight.json", json!({ "a": [eight] }).to_string());
    let done = folder.run("score empty.json --tasks tasks.json");
    let no_grid = "empty.json:1:22: a[0].attempt_1: no grid but []";
    assert_eq!(
        (done.code, done.stderr),
        (0, format!("note: {no_grid}: it counts as wrong\n"))
    );
    assert!(
        done.stdout.starts_with("test inputs right  1 of 1"),
        "{}",
        done.stdout
    );
    let done = folder.run("check empty.json --tasks tasks.json");
    assert_eq!(
        (done.code, done.stderr),
        (2, format!("{no_grid}: it counts as wrong\n"))
    );
    let search = "search --tasks tasks.json --nodes 300 --workers 1 --submission out.json --over";
    let done = folder.run(&format!("{search} empty.json"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr
            .starts_with(&format!("note: {no_grid}: it is taken for none")),
        "{}",
        done.stderr
    );
    let out: Value =
        serde_json::from_slice(&fs::read(folder.path().join("out.json")).unwrap()).unwrap();
    assert!(out["a"][0].to_string().contains("[[6,5]]"), "{out}");

    for (command, code) in [("score", 0), ("check", 2), (search, 0)] {
        let options = if command == search {
            "eight.json".to_owned()
        } else {
            "eight.json --tasks tasks.json".to_owned()
        };
        let done = folder.run(&format!("{command} {options}"));
        assert_eq!(
            (done.code, done.stderr.matches("more attempts than").count()),
            (code, 1),
            "{}",
            done.stderr
        );
        assert!(
            done.stderr.contains("a[0].attempt_3: more attempts than"),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn a_submission_is_checked_as_a_competition_would() {
    let folder = Folder::new();
    let test = json!({ "input": [[1]] });
    let tasks = json!({
        "a": { "train": [pair(1, 2)], "test": [test] },
        "b": { "train": [pair(1, 2)], "test": [test, test] },
    });
    folder.write("tasks.json", tasks.to_string());
    let both = json!({ "attempt_1": [[1]], "attempt_2": [[2]] });
    folder.write(
        "good.json",
        json!({ "a": [both], "b": [both, both] }).to_string(),
    );
    let done = folder.run("check good.json --tasks tasks.json");
    let expected = "a competition would take it: 2 tasks, 3 test inputs\n";
    assert_eq!((done.code, done.stdout.as_str()), (0, expected));
    let long = vec![[0]; 31];
    let bad = json!({ "b": [{ "attempt_1": long, "attempt_2": [[10]] }], "c": [both] });
    folder.write("bad.json", bad.to_string());
    let done = folder.run("check bad.json --tasks tasks.json");
    let places = [
        "b: attempts for 1 test inputs: expected 2",
        "b[0].attempt_1: grid of 31 rows: expected 1 to 30",
        "b[0].attempt_2: colour 10: expected 0 to 9",
        "c: no task of this id among the tasks",
        "a: no attempts for this task",
    ];
    for (line, place) in done.stderr.lines().zip(places) {
        assert!(line.ends_with(place), "{line}: {place}");
    }
    assert_eq!((done.code, done.stderr.lines().count()), (2, 5));
    assert_eq!(done.stdout, "a competition would not take it: 5 faults\n");
    // Layouts of other programs are scored, but no competition takes them.
    let answers = json!({ "attempt_1": { "answer": [[1]] }, "attempt_2": { "answer": [[2]] } });
    folder.write("x/a.json", json!([answers]).to_string());
    folder.write("x/b.json", json!([answers, answers]).to_string());
    folder.write(
        "numbered.json",
        json!({ "a": { "0": both }, "b": [both, both] }).to_string(),
    );
    folder.write(
        "answers.json",
        json!({ "a": [answers], "b": [both, both] }).to_string(),
    );
    for (file, expected) in [
        (
            "x",
            "x: a folder: expected one file, as competitions have it",
        ),
        ("numbered.json", "found test inputs by their numbers"),
        ("answers.json", "found an object in place of a grid"),
    ] {
        let done = folder.run(&format!("check {file} --tasks tasks.json"));
        assert!(
            done.code == 2 && done.stderr.trim_end().ends_with(expected),
            "{}",
            done.stderr
        );
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    }
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
fn names_in_an_archive_do_not_lead_out_of_it() {
    let task = mirror_task();
    let packed = zipped(&[
        ("../a.json", &task),
        ("/x/../../b.json", &task),
        ("./.c.json", &task),
    ]);
    let tar = tarred(&[("c/d.json", task.as_bytes())]);
    let files = [("t.zip", packed), ("u.tar", tar)];
    let [a, b, d] = ["a", "b", "d"].map(|id| format!("{id}: {RIGHT}"));
    let folder = Folder::new();
    for (name, bytes) in files {
        folder.write(name, bytes);
    }
    let (done, document) = run(&folder, "--tasks t.zip u.tar");
    assert_eq!((done.code, outcomes(&document)), (0, vec![a, b, d]));
    assert!(!done.stderr.contains(".."), "{}", done.stderr);
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
