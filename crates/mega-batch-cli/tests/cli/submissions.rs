//! Submissions: written by a run, scored, and checked as a competition would.

use std::fs;

use serde_json::{Value, json};

use super::layouts::{outcomes, pair, run};
use super::support::Folder;

/// A submission has attempts even for a test input that could not be read, so that the others keep their positions.
const SOLUTIONS: &str = "{\"a\": [[[9, 8]]], \"b\": [[[9, 8]], [[7]]]}";

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
