//! Runs that are interrupted and resumed, submissions and their scores.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::support::{Folder, mirror_program, mirror_task};

/// How many runs are killed; `KILLS=100` sets it.
fn kills() -> u32 {
    let kills = std::env::var("KILLS").ok();
    kills.map_or(4, |kills| kills.parse().unwrap())
}

/// The document without what varies from run to run.
fn without_times(folder: &Folder, file: &str) -> Value {
    let text = fs::read(folder.path().join(file)).unwrap();
    let mut document: Value = serde_json::from_slice(&text).unwrap();
    let object = document.as_object_mut().unwrap();
    for key in [
        "seconds",
        "evaluation_seconds",
        "compile_seconds",
        "evaluations_per_second",
        "backend",
        "mode",
        "workers",
    ] {
        object.remove(key).unwrap();
    }
    if let Some(slowest) = object.remove("slowest_programs") {
        assert!(!slowest.as_array().unwrap().is_empty());
    }
    document
}

/// A submission as our checker reads it: by task the two attempts of each test input.
fn submission(folder: &Folder, file: &str) -> BTreeMap<String, Vec<[Value; 2]>> {
    let text = fs::read(folder.path().join(file)).unwrap();
    let document: BTreeMap<String, Vec<BTreeMap<String, Value>>> =
        serde_json::from_slice(&text).unwrap();
    let attempts = |mut it: BTreeMap<String, Value>| {
        let mut take = |name: &str| {
            let grid = it.remove(name).unwrap();
            let rows = grid.as_array().unwrap();
            assert!((1..=30).contains(&rows.len()));
            for row in rows {
                let row = row.as_array().unwrap();
                assert!(
                    row.len() == rows[0].as_array().unwrap().len() && (1..=30).contains(&row.len())
                );
                assert!(row.iter().all(|cell| cell.as_u64().unwrap() < 10));
            }
            grid
        };
        let pair = [take("attempt_1"), take("attempt_2")];
        assert!(it.is_empty());
        pair
    };
    let tasks = document.into_iter();
    tasks
        .map(|(id, tests)| (id, tests.into_iter().map(attempts).collect()))
        .collect()
}

/// Many evaluations of built-in programs.
const WORK: &str = "--all-pairs --pairs 8";

#[test]
fn what_is_killed_is_gone_on_with() {
    let folder = Folder::new();
    let whole = "run --json whole.json --attempts --submission whole.sub --quiet";
    let done = folder.run(&format!("{whole} {WORK}"));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let expected = without_times(&folder, "whole.json");
    let evaluations = expected["evaluations"].as_u64().unwrap();
    assert!(evaluations > 50_000, "{evaluations}");
    folder.run(&format!("{whole} --checkpoint whole.ckpt {WORK}"));
    let all = fs::metadata(folder.path().join("whole.ckpt"))
        .unwrap()
        .len();
    let ids: Vec<_> = submission(&folder, "whole.sub").into_keys().collect();
    for at in 0..kills() {
        let file = format!("{at}.ckpt");
        // The resuming run uses another mode than the first.
        let mode = ["sequential", "parallel", "auto"][at as usize % 3];
        let command = format!(
            "run --json cut.json --attempts --submission cut.sub --checkpoint {file} --resume \
             --mode {mode} {WORK}"
        );
        // Irregular moments, in the first nine tenths of the work.
        let part = all * (u64::from(at) * 7919 % 1000) * 9 / 10_000;
        let resumed = folder.kill_when_written(&command, &file, part);
        assert!(resumed >= part, "{resumed} of {all} bytes");
        // From the moment it exists the submission is always complete.
        if folder.path().join("cut.sub").exists() {
            let keys: Vec<_> = submission(&folder, "cut.sub").into_keys().collect();
            assert_eq!(keys, ids);
        }
        let done = folder.run(&command);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(without_times(&folder, "cut.json"), expected);
        assert_eq!(
            submission(&folder, "cut.sub"),
            submission(&folder, "whole.sub")
        );
        fs::remove_file(folder.path().join(&file)).unwrap();
    }
}

/// Two tasks with mirror images, one of them with a program that is right.
fn folder() -> Folder {
    let folder = Folder::new();
    let task: Value = serde_json::from_str(&mirror_task()).unwrap();
    let mut hidden = task.clone();
    hidden["test"][0].as_object_mut().unwrap().remove("output");
    folder.write(
        "ch.json",
        json!({ "a": hidden, "b": hidden, "c": hidden }).to_string(),
    );
    let output = &task["test"][0]["output"];
    folder.write(
        "so.json",
        json!({ "a": [output], "b": [output], "c": [output] }).to_string(),
    );
    let wrong = "def solve_b(I):\n    x1 = hmirror(I)\n    return x1\n";
    let second = "def other_b(I):\n    x1 = hmirror(I)\n    x2 = vmirror(x1)\n    return x2\n";
    let same = "def same_b(I):\n    x1 = hmirror(I)\n    x2 = hmirror(x1)\n    return x2\n";
    let programs = [&mirror_program("solve_a"), wrong, second, same].join("\n\n");
    folder.write("programs.py", programs);
    folder
}

#[test]
fn a_submission_has_the_best_two_attempts_of_each_test_input() {
    let folder = folder();
    let run = "run --tasks ch.json --programs programs.py --submission sub.json";
    assert_eq!(folder.run(run).code, 0);
    let found = submission(&folder, "sub.json");
    let right = json!([[4, 3]]);
    let input = json!([[3, 4]]);
    assert_eq!(found["a"], [[right.clone(), input.clone()]]);
    // First the program that is right on the train pairs; the others return the input.
    assert_eq!(found["b"], [[right.clone(), input.clone()]]);
    // No program belongs to it.
    assert_eq!(found["c"], [[input, json!([[0]])]]);

    let done = folder.run("score sub.json --solutions so.json --json -");
    let worth: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        (
            worth["test_inputs"].as_u64(),
            worth["test_inputs_right"].as_u64()
        ),
        (Some(3), Some(2))
    );
    let done = folder.run("score sub.json --solutions so.json");
    assert_eq!(
        done.stdout,
        "test inputs right  2 of 3 (66.67%)\ntasks right        2 of 3\nmean by task       66.67%\n"
    );
    folder.write("less.json", "{\"a\": [], \"z\": []}");
    let done = folder.run("score less.json --solutions so.json");
    for note in [
        "2 of the tasks are not in the submission; the first is b",
        "1 of the tasks have attempts for another number of test inputs; the first is a",
        "1 of the submission's tasks have no solution; the first is z",
    ] {
        assert!(done.stdout.contains(note), "{}", done.stdout);
    }
    folder.write("bad.json", "{\"a\": [{\"attempt_1\": 1}]}");
    let done = folder.run("score bad.json --solutions so.json");
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains(
            "bad.json:1:22: a[0].attempt_1: expected a grid: a list of rows, found integer"
        ),
        "{}",
        done.stderr
    );
}

#[test]
fn the_document_has_tasks_and_their_best_candidates() {
    let folder = folder();
    let (done, document) = folder.run_json(
        "--tasks ch.json --solutions so.json --programs programs.py --attempts --all-pairs",
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let task = &document["by_task"][1];
    assert_eq!(
        (
            &task["task"],
            &task["state"],
            &task["candidates"],
            &task["behaviours"]
        ),
        (&json!("b"), &json!("solved"), &json!(4), &json!(2))
    );
    let best = task["best"].as_array().unwrap();
    assert_eq!(best.len(), 2);
    assert_eq!(
        best[0],
        json!({
            "program": "solve_a", "file": "programs.py", "steps": 1, "candidates": 2,
            "train_right": 2, "train_cells_right": 4, "train_cells": 4,
            "train": [[[2, 1]], [[5, 0]]], "test": [[[4, 3]]],
        })
    );
    assert_eq!(task["attempts"], json!([[[[4, 3]], [[3, 4]]]]));
    assert_eq!(
        task["train"][0],
        json!({ "input": [[1, 2]], "output": [[2, 1]] })
    );
    let pair = &document["results"][0]["pairs"][0];
    assert_eq!(pair["cells_right"], json!(2));
    // Outputs are written only on request.
    assert_eq!(pair.get("output"), None);
    let slowest = document["slowest_programs"].as_array().unwrap();
    assert_eq!(slowest.len(), 4);
}

#[test]
fn all_modes_give_the_same_document() {
    let folder = Folder::new();
    let run = |options: &str, file: &str| {
        let done = folder.run(&format!(
            "run --pairs 3 --all-pairs --attempts --submission {file}.sub --json {file} {options}"
        ));
        assert_eq!(done.code, 0, "{}", done.stderr);
        (
            without_times(&folder, file),
            submission(&folder, &format!("{file}.sub")),
        )
    };
    let expected = run("--mode sequential", "sequential");
    for (at, options) in [
        "--mode parallel --workers 3",
        "--mode auto",
        "--mode gpu",
        "--mode gpu --backend emulated",
        "--mode auto --backend emulated",
        "--mode parallel --merging always",
    ]
    .iter()
    .enumerate()
    {
        assert!(run(options, &format!("{at}")) == expected, "{options}");
    }
}

#[test]
fn checkpoints_that_do_not_fit_are_refused() {
    let folder = folder();
    let run = "run --tasks ch.json --programs programs.py --quiet";
    let refused = |options: &str, message: &str| {
        let done = folder.run(&format!("{run} {options}"));
        assert_eq!(done.code, 2, "{options}");
        assert!(done.stderr.contains(message), "{}", done.stderr);
    };
    assert_eq!(folder.run(&format!("{run} --checkpoint a.ckpt")).code, 0);
    refused(
        "--checkpoint a.ckpt",
        "a.ckpt: there is a checkpoint already",
    );
    refused(
        "--checkpoint a.ckpt --resume --all-pairs",
        "found other programs on other tasks",
    );
    refused(
        "--checkpoint a.ckpt --resume --max-steps 7 --stop-after-wrong",
        "found other options: max_steps 10000000, here 7; stop_after_wrong false, here true",
    );
    refused(
        "--checkpoint so.json --resume",
        "found a file that is no checkpoint",
    );
    refused("--resume", "--checkpoint");
    let resumed = folder.run(&format!(
        "{run} --checkpoint a.ckpt --resume --mode sequential"
    ));
    assert_eq!((resumed.code, resumed.stderr.as_str()), (0, ""));
    for (option, bad) in [
        ("--submission", "-"),
        ("--submission", "no/such/folder/sub.json"),
        ("--submission", "."),
        ("--checkpoint", "no/such/folder/ckpt"),
        ("--checkpoint", "."),
        ("--json", "no/such/folder/out.json"),
    ] {
        let done = folder.run(&format!("{run} {option} {bad}"));
        assert_eq!(done.code, 1, "{option} {bad}");
        let told = format!("mega-batch: {bad}: cannot be written: ");
        assert!(done.stderr.starts_with(&told), "{}", done.stderr);
    }
    let searched = folder.run("search --tasks ch.json --quiet --checkpoint no/such/folder/ckpt");
    let told =
        "mega-batch: no/such/folder/ckpt: cannot be written: there is no folder no/such/folder\n";
    assert_eq!((searched.code, searched.stderr.as_str()), (1, told));
}

#[test]
fn the_log_has_lines_of_json() {
    let folder = folder();
    let run = "run --tasks ch.json --programs programs.py --quiet --log log.jsonl";
    for runs in 1..=2 {
        assert_eq!(folder.run(run).code, 0);
        let text = fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<Value> = lines.collect();
        let messages = lines.iter().map(|line| line["message"].as_str().unwrap());
        let messages: Vec<_> = messages.collect();
        assert_eq!(
            messages,
            ["the run begins", "progress", "the run ends"].repeat(runs)
        );
        let progress = &lines[1];
        assert_eq!(progress["evaluations"], progress["of"]);
        assert_eq!(progress["seconds_left"], json!(0.0));
    }
    let done = folder.run(&format!("{run} --log-level loud"));
    assert_eq!(done.code, 2);
}
