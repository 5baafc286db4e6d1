//! Searches as a user runs them.

use std::fs;

use serde_json::{Value, json};

use super::support::{Folder, mirror_task};

/// Mirror images, a tile repeated four times, and rows that cannot be computed from the input; the outputs of `d` are
/// not known.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("tasks/a.json", mirror_task());
    let tiled =
        |a: i32, b: i32| json!({ "input": [[a, b]], "output": [[a, b, a, b], [a, b, a, b]] });
    let b = json!({ "train": [tiled(1, 2), tiled(0, 5), tiled(7, 7)], "test": [tiled(3, 4), tiled(6, 1)] });
    folder.write("tasks/b.json", b.to_string());
    let odd =
        |a: i32, b: i32| json!({ "input": [[a, b]], "output": [[9, a, 8], [b, 8, 8], [8, 8, 8]] });
    let c = json!({ "train": [odd(1, 2), odd(0, 5)], "test": [odd(3, 4)] });
    folder.write("tasks/c.json", c.to_string());
    let turned = |a: i32, b: i32| json!({ "input": [[a, b], [b, b]], "output": [[b, b], [a, b]] });
    let d =
        json!({ "train": [turned(1, 2), turned(0, 5)], "test": [{ "input": [[3, 4], [4, 4]] }] });
    folder.write("tasks/d.json", d.to_string());
    folder
}

/// The limits of these tests, which keep them short.
const SMALL: &str = "--nodes 300";

/// The document without what varies from run to run.
fn without_times(folder: &Folder, file: &str) -> Value {
    let text = fs::read(folder.path().join(file)).unwrap();
    let mut document: Value = serde_json::from_slice(&text).unwrap();
    let object = document.as_object_mut().unwrap();
    for key in ["seconds", "work_seconds", "most_bytes", "workers"] {
        object.remove(key).unwrap();
    }
    for result in object["results"].as_array_mut().unwrap() {
        for key in ["seconds", "bytes"] {
            result.as_object_mut().unwrap().remove(key).unwrap();
        }
    }
    document
}

fn read(folder: &Folder, file: &str) -> String {
    fs::read_to_string(folder.path().join(file)).unwrap()
}

#[test]
fn workers_change_nothing_but_times() {
    let folder = folder();
    for workers in [1, 2] {
        let done = folder.run(&format!(
            "search --tasks tasks {SMALL} --workers {workers} --submission {workers}.sub --json {workers}.json \
             --programs-out {workers}.py"
        ));
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        for line in [
            "tasks                                      4",
            "test outputs known",
            "slowest tasks",
        ] {
            assert!(done.stdout.contains(line), "{}", done.stdout);
        }
    }
    assert_eq!(read(&folder, "1.sub"), read(&folder, "2.sub"));
    assert_eq!(read(&folder, "1.py"), read(&folder, "2.py"));
    let document = without_times(&folder, "1.json");
    assert_eq!(document, without_times(&folder, "2.json"));

    assert_eq!(document["kind"], json!("search"));
    let results = document["results"].as_array().unwrap();
    let of = |id: &str| results.iter().find(|it| it["task"] == json!(id)).unwrap();
    let states = ["a", "b", "d"].map(|id| of(id)["state"].as_str().unwrap());
    assert_eq!(states, ["solved", "solved", "fits"]);
    assert_eq!(of("b")["sizes"], json!([[2, 4], [2, 4]]));
    assert_eq!(of("a")["test"][0]["output"], json!([[4, 3]]));
    assert_eq!(of("d")["test"][0]["output"], Value::Null);
    let best = &of("a")["attempts"][0];
    assert_eq!(
        (&best["fits"], &best["outputs"]),
        (&json!(2), &json!([[[4, 3]]]))
    );
    let layer = &best["layers"][0];
    assert!(
        layer["part"].is_string() && layer["expression"].is_string(),
        "{layer}"
    );
    assert_eq!(document["totals"]["tests_known"], json!(4));
    let done = folder.run("score 1.sub --tasks tasks/a.json tasks/b.json");
    assert!(
        done.stdout.contains("test inputs right  3 of 3"),
        "{}",
        done.stdout
    );
}

#[test]
fn programs_give_in_a_run_what_was_submitted() {
    let folder = folder();
    let done = folder.run(&format!(
        "search --tasks tasks {SMALL} --attempts 3 --json search.json --programs-out programs.py --quiet"
    ));
    assert_eq!((done.code, done.stdout.as_str()), (0, ""));
    let (done, ran) = folder.run_json("--tasks tasks --programs programs.py --outputs");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let found = without_times(&folder, "search.json");
    let mut attempts = Vec::new();
    for result in found["results"].as_array().unwrap() {
        let names = ["solve", "second", "third"].into_iter();
        for (name, attempt) in names.zip(result["attempts"].as_array().unwrap()) {
            let name = format!("{name}_{}", result["task"].as_str().unwrap());
            attempts.push((name, attempt["outputs"].clone()));
        }
    }
    let mut programs = Vec::new();
    for result in ran["results"].as_array().unwrap() {
        let pairs = result["pairs"].as_array().unwrap();
        let tests = pairs.iter().filter(|pair| pair["split"] == json!("test"));
        let outputs: Vec<_> = tests.map(|pair| pair["output"].clone()).collect();
        programs.push((
            result["program"].as_str().unwrap().to_owned(),
            json!(outputs),
        ));
    }
    attempts.sort_by(|a, b| a.0.cmp(&b.0));
    programs.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(attempts.len() > 3, "{attempts:?}");
    assert_eq!(programs, attempts);
}

#[test]
fn what_is_killed_is_gone_on_with() {
    let folder = folder();
    for at in 0..12 {
        let task = read(
            &folder,
            ["tasks/a.json", "tasks/b.json", "tasks/d.json"][at % 3],
        );
        // Other colours, so that no two are the same.
        folder.write(&format!("tasks/e{at}.json"), task);
    }
    let search = "search --tasks tasks --nodes 1500";
    let whole = format!(
        "{search} --submission whole.sub --json whole.json --checkpoint whole.ckpt --quiet --workers 1"
    );
    assert_eq!(folder.run(&whole).code, 0);
    let all = fs::metadata(folder.path().join("whole.ckpt"))
        .unwrap()
        .len();
    let cut = format!("{search} --submission cut.sub --json cut.json --checkpoint a.ckpt --resume");
    for part in [all * 3 / 10, all * 6 / 10] {
        let command = format!("{cut} --workers 1");
        let resumed = folder.kill_when_written(&command, "a.ckpt", part);
        assert!(resumed >= part, "{resumed} of {all} bytes");
    }
    let done = folder.run(&cut);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(read(&folder, "whole.sub"), read(&folder, "cut.sub"));
    assert_eq!(
        without_times(&folder, "whole.json"),
        without_times(&folder, "cut.json")
    );
    // The checkpoint fits this language and these limits, and no others.
    folder.write("small.txt", "[calls]\n2 grid -> grid: vmirror hmirror\n");
    for (options, message) in [
        (
            "--nodes 1500 --language small.txt",
            "found another language",
        ),
        ("--nodes 1501", "found other options"),
        ("--nodes 1500 --attempts 3", "found other options"),
    ] {
        let done = folder.run(&format!(
            "search --tasks tasks --checkpoint a.ckpt --resume {options}"
        ));
        assert_eq!(done.code, 2, "{options}");
        assert!(done.stderr.contains(message), "{}", done.stderr);
    }
    let done = folder.run(&format!("{search} --checkpoint a.ckpt"));
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("there is a checkpoint already"),
        "{}",
        done.stderr
    );
}

#[test]
fn one_task_is_explained() {
    let folder = folder();
    let done = folder.run(&format!("search tasks/b.json --explain {SMALL}"));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    for line in [
        "b: 3 train pairs, 2 test pairs\n",
        "output sizes  2x4, 2x4\n",
        "attempt 1: a ",
        " 3 of 3 train pairs, score ",
        "  answer 1 to test[0], which is right\n",
        "  layer 1: ",
        "\ntest[1]\ninput 1x2   layer 1 2x4    output 2x4     expected 2x4\n",
        "\ndef solve_b(I):\n",
    ] {
        assert!(done.stdout.contains(line), "{line}\n{}", done.stdout);
    }
}

#[test]
fn one_task_is_answered() {
    let folder = folder();
    let done = folder.run(&format!(
        "search tasks/b.json {SMALL} --submission s.json --programs-out p.py"
    ));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    for line in [
        "b: 3 train pairs, 2 test pairs\n",
        "\ntest[1]\ninput 1x2   answer 1, right 2x4",
        "expected 2x4\n",
        "\n# answer 1 to test[0], answer 1 to test[1], right on 3 of 3 train pairs\ndef solve_b(I):\n",
    ] {
        assert!(done.stdout.contains(line), "{line}\n{}", done.stdout);
    }
    let document = read(&folder, "s.json");
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["b"].as_array().unwrap().len(), 2);
    assert!(folder.path().join("p.py").exists());
    let done = folder.run(&format!("search tasks --id a {SMALL} --json -"));
    assert_eq!(done.code, 0);
    assert!(serde_json::from_str::<Value>(&done.stdout).is_ok());
    assert!(done.stderr.starts_with("a: "), "{}", done.stderr);
}

#[test]
fn another_language_is_searched_in() {
    let folder = folder();
    folder.write(
        "derived.py",
        "def beside(a, b):\n    return hconcat(a, b)\n",
    );
    folder.write(
        "table.txt",
        "[calls]\n2 grid -> grid: vmirror\n2 grid grid -> grid: beside\n[seeds]\n1 grid: I\n",
    );
    let search = "search --tasks tasks --language table.txt --derived derived.py --json - --quiet";
    let done = folder.run(search);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let document: Value = serde_json::from_str(&done.stdout).unwrap();
    let first = &document["results"][0]["attempts"][0]["layers"][0]["expression"];
    assert_eq!(first, &json!("vmirror(I)"));
    folder.write("table.txt", "[calls]\n2 grid -> grid: vmiror\n");
    let done = folder.run(search);
    assert_eq!(done.code, 2);
    let message = "table.txt: line 2 of the table: expected a primitive or a derived operation, found `vmiror`";
    assert!(done.stderr.contains(message), "{}", done.stderr);
    folder.write(
        "derived.py",
        "def beside(a, b):\n    return hconcatt(a, b)\n",
    );
    let done = folder.run(search);
    assert!(
        done.stderr
            .starts_with("derived.py: derived operations: line 2"),
        "{}",
        done.stderr
    );
    let done = folder.run("search --tasks tasks --language none.txt");
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (2, "none.txt: no such file or folder\n")
    );
}

#[test]
fn bad_options_and_files_are_told_and_the_others_searched() {
    let folder = folder();
    for (arguments, message) in [
        ("search", "--tasks"),
        (
            "search tasks",
            "4 tasks in this folder; --id says which is meant",
        ),
        ("search tasks/a.json --ids a", "--ids"),
        ("search --explain --tasks tasks", "TASK.json"),
        ("search --tasks tasks --nodes 0", "--nodes"),
        ("search --tasks tasks --attempts 0", "--attempts"),
        (
            "search --tasks tasks --seconds-per-task=-1",
            "--seconds-per-task",
        ),
        ("search --tasks tasks --resume", "--checkpoint"),
        ("search --tasks tasks --derived a.py", "--language"),
        (
            "search --tasks tasks --json - --programs-out -",
            "expected one of them at most",
        ),
    ] {
        let done = folder.run(arguments);
        assert_eq!(done.code, 2, "{arguments}: {}", done.stdout);
        assert!(
            done.stderr.contains(message),
            "{arguments}: {}",
            done.stderr
        );
    }
    let done = folder.run("search --tasks tasks --submission no/such/sub.json");
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("cannot be written"), "{}", done.stderr);

    folder.write(
        "tasks/f.json",
        "{\"train\": [{\"input\": [[1]]}], \"test\": []}",
    );
    folder.write("tasks/g.json", "{\"train\": 7}");
    folder.write("tasks/my_task.json", mirror_task());
    let done = folder.run(&format!(
        "search --tasks tasks {SMALL} --programs-out p.py --submission s.json"
    ));
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("tasks/g.json:1:"), "{}", done.stderr);
    let submission: Value = serde_json::from_str(&read(&folder, "s.json")).unwrap();
    assert_eq!(submission["a"][0]["attempt_1"], json!([[4, 3]]));
    let programs = read(&folder, "p.py");
    for program in ["def solve_a(I):", "def solve_my_task(I):"] {
        assert!(programs.contains(program), "{programs}");
    }
}

#[test]
fn the_time_for_a_task_is_counted() {
    let folder = folder();
    let done = folder.run("search --tasks tasks --seconds-per-task 0 --json late.json");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout
            .contains("  ended by time                            4\n"),
        "{}",
        done.stdout
    );
    let document = without_times(&folder, "late.json");
    assert_eq!(document["totals"]["interrupted"], json!(4));
    assert_eq!(document["results"][0]["stopped"], json!("interrupted"));
}

#[test]
fn the_page_shows_attempts_layer_by_layer() {
    let folder = folder();
    let search = format!("search --tasks tasks {SMALL} --json search.json --quiet");
    assert_eq!(folder.run(&search).code, 0);
    let done = folder.run("report search.json --html page.html");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stdout, "page.html: a search of 4 tasks\n");
    let page = read(&folder, "page.html");
    for part in [
        "data-state=\"solved\"",
        "data-state=\"fits\"",
        "<span>fits all pairs <b>1</b></span>",
        "<code>pieces of one colour; each: ",
        "def solve_a(I):",
        "test 1 of 1",
        "\"layers\":[[[",
        "Tasks solved",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("{{"));
    let text = read(&folder, "search.json");
    folder.write("cut.json", &text[..text.len() / 2]);
    let done = folder.run("report cut.json --html page.html");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("broken JSON"), "{}", done.stderr);
}

#[test]
fn a_submission_of_others_is_begun_with_as_far_as_it_goes() {
    let folder = folder();
    let over = json!({
        "a": [{ "attempt_1": null, "attempt_2": [[7, 7]] }],
        "b": [{ "attempt_1": [[5]] }, { "attempt_1": [[12]], "attempt_2": [[1]] }],
        "c": [{ "attempt_1": [[11]], "attempt_2": null }],
        "z": [{ "attempt_1": [[1]], "attempt_2": [[2]] }],
    });
    folder.write("over.json", over.to_string());
    let search = format!("search --tasks tasks --ids a,c {SMALL} --over over.json --submission");
    let done = folder.run(&format!("{search} new.json"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let none = "it is taken for none, and an answer that is found, the input or a single cell stands in its place";
    let copied = "copied into the submission as it is, for the task is not searched";
    for note in [
        format!("a[0].attempt_1: no grid but null: {none}"),
        format!("b[0]: no `attempt_2`: {none}"),
        format!("c[0].attempt_2: no grid but null: {none}"),
        format!("b[1].attempt_1: colour 12: expected 0 to 9: {copied}"),
        "c[0].attempt_1: colour 11: expected 0 to 9: it is left out, and".to_owned(),
        format!("z: no task of this id among the tasks: {copied}"),
    ] {
        let mut notes = done.stderr.lines();
        let found = notes.any(|it| it.starts_with("note: over.json:1:") && it.contains(&note));
        assert!(found, "{note}\n{}", done.stderr);
    }
    let new: Value = serde_json::from_str(&read(&folder, "new.json")).unwrap();
    // Found answers come first, then known ones; malformed ones are not submitted.
    assert_eq!(new["a"][0]["attempt_1"], json!([[4, 3]]));
    assert!(new["c"][0]["attempt_1"] != json!([[11]]) && new["c"][0]["attempt_2"] != json!([[11]]));
    // Copied, with a black cell for missing attempts.
    let b = json!([{ "attempt_1": [[5]], "attempt_2": [[0]] }, over["b"][1]]);
    assert_eq!((&new["b"], &new["z"]), (&b, &over["z"]));
    let done = folder.run(&format!("{search} quiet.json --quiet"));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(read(&folder, "quiet.json"), read(&folder, "new.json"));
}

/// As in the notebook for Kaggle: given programs first, a search for the rest, one submission.
#[test]
fn a_search_takes_up_where_a_run_has_left() {
    let folder = folder();
    folder.write(
        "p.py",
        "def solve_b(I):\n    return hconcat(vconcat(I, I), vconcat(I, I))\n",
    );
    let done = folder.run(
        "run --tasks tasks --programs p.py --all-pairs --submission one.json --unsolved rest.txt --quiet",
    );
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(read(&folder, "rest.txt"), "a\nc\nd\n");
    let done = folder
        .run("run --tasks tasks --programs p.py --all-pairs --train-only --unsolved - --quiet");
    assert_eq!((done.code, done.stdout.as_str()), (0, "a\nc\nd\n"));
    folder.write("none.txt", "");
    let done = folder.run(
        "search --tasks tasks --ids-file none.txt --over one.json --submission none.json --quiet",
    );
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(read(&folder, "none.json"), read(&folder, "one.json"));
    let done = folder.run(&format!(
        "search --tasks tasks --ids-file rest.txt {SMALL} --over one.json --submission both.json --quiet"
    ));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let submission = |name: &str| -> Value { serde_json::from_str(&read(&folder, name)).unwrap() };
    let (one, both) = (submission("one.json"), submission("both.json"));
    let ids: Vec<_> = both.as_object().unwrap().keys().collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    assert_eq!(both["b"], one["b"]);
    assert_eq!(
        both["b"][1]["attempt_1"],
        json!([[6, 1, 6, 1], [6, 1, 6, 1]])
    );
    assert_eq!(both["d"][0]["attempt_1"], json!([[4, 4], [3, 4]]));
    folder.write("bad.json", "{");
    let done = folder.run(&format!(
        "search --tasks tasks {SMALL} --over bad.json --submission both.json --quiet"
    ));
    assert_eq!(done.code, 2);
    assert!(done.stderr.starts_with("bad.json:1:"), "{}", done.stderr);
    // The submission to add to is not lost.
    let kept = read(&folder, "both.json");
    let half = kept.replacen("attempt_2", "attempt_3", 1);
    folder.write("half.json", &half);
    let done = folder.run(&format!(
        "search --tasks tasks --ids a {SMALL} --over half.json --submission half.json --quiet"
    ));
    assert_eq!(done.code, 2);
    assert_eq!(read(&folder, "half.json"), half);
    folder.write("task.json", mirror_task());
    let done = folder.run(&format!(
        "search --tasks tasks {SMALL} --over task.json --submission both.json --quiet"
    ));
    let message = "task.json:1:1: expected a submission: an object that holds for each task a list of attempts, found a task\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, message));
    assert_eq!(read(&folder, "both.json"), kept);
}
